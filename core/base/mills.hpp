// The integrals behind a Laplace slab: for a >= 0,
//
//   I_k(a) = integral over b > 0 of b^k exp(-a b - b^2 / 2)
//
// I_0 is Mills' ratio, sqrt(pi/2) erfcx(a / sqrt 2). The three below are good to a few ulps each:
// I_1 = 1 - a I_0 and I_2 = I_0 - a I_1, computed like that, would cancel.
#pragma once

#include <cmath>
#include <vector>

#include "base/simd.hpp"

namespace ellzero {

inline constexpr double kHalfCircle = 2.5066282746310005024;  // sqrt(2 pi)

// (a + 6)^(k+1) I_k(a) in powers of s = (a - 6) / (a + 6): tests/reference/mills.py prints it.
inline constexpr int kMillsTerms = 29;
inline constexpr double kMills[3][kMillsTerms] = {
    {1.9485319307624096,      -1.7571690543441034,     1.4261935116084028,
     -1.0375024310762313,     0.6717118214996534,      -0.3827125866708749,
     0.18842804927302442,     -0.07766866793633048,    0.02514103201918443,
     -0.005343142012517865,   8.239281812099014e-05,   0.00045460381262907415,
     -0.00016230863051303903, 2.6939338201454525e-06,  1.7033885835474446e-05,
     -4.506845649488107e-06,  -1.0718134110430328e-06, 7.73303490367054e-07,
     1.180376355630201e-08,   -1.0667172061928229e-07, 1.1003580822017181e-08,
     1.4256614481521107e-08,  -2.6940806275639204e-09, -1.9060539452293777e-09,
     4.67561939251718e-10,    2.2714162268642823e-10,  -6.167806360884023e-11,
     -1.671451407161093e-11,  4.646127918713142e-12},
    {3.705700985106513,      -6.366725131905013,     7.3910878280539025,     -6.836857010303537,
     5.272122040852632,      -3.4268438156634455,    1.8626770204657375,     -0.8224775996432324,
     0.2743575662817329,     -0.054255348315223696,  -0.004094320909224619,  0.007402949372463074,
     -0.0021450335022889307, -0.0002007595521983347, 0.00032311158615763567, -5.49598903310512e-05,
     -3.136856556551923e-05, 1.370578383957577e-05,  2.2538855213004075e-06, -2.351880454793285e-06,
     -7.192035562840169e-08, 3.7143204322790765e-07, -1.49980066641156e-08,  -5.608900885350598e-08,
     4.241224662922128e-09,  7.2055353198157e-09,    -6.254321400990969e-10, -5.514366531789462e-10,
     4.7452440818163066e-11},
    {13.778127102118038,      -33.882351051822845,    50.074922343126225,
     -55.27277321492817,      48.76695132343271,      -35.16396883244,
     20.658759361236978,      -9.59715892701718,      3.2318737975354757,
     -0.5558656226320228,     -0.1305642930089789,    0.12197874546107974,
     -0.02742060027744932,    -0.007534961999395767,  0.005994203680842893,
     -0.00043240290683425474, -0.0007976835193771956, 0.00021980474923737387,
     8.985516298589025e-05,   -4.790383641027796e-05, -9.497836189170666e-06,
     8.829784252391321e-06,   1.0298343040841188e-06, -1.4785035142611063e-06,
     -1.2609871297041906e-07, 2.0198199721073802e-07, 1.6019553188580458e-08,
     -1.596422281486931e-08,  -1.3323749221876367e-09},
};

struct Mills {
  double i0, i1, i2;
};

// Without a branch, so that a loop over it becomes vector code. Orders above `kOrder` are left
// zero.
template <int kOrder>
ELLZERO_INLINE Mills mills(double a) {
  const double t = 1 / (a + 6), s = (a - 6) * t;
  double p0 = kMills[0][kMillsTerms - 1], p1 = kMills[1][kMillsTerms - 1],
         p2 = kMills[2][kMillsTerms - 1];
#if defined(__GNUC__)
#pragma GCC unroll 28
#endif
  for (int m = kMillsTerms - 2; m >= 0; --m) {
    p0 = p0 * s + kMills[0][m];
    p1 = p1 * s + kMills[1][m];
    if (kOrder > 1) p2 = p2 * s + kMills[2][m];
  }
  return {p0 * t, p1 * t * t, kOrder > 1 ? p2 * t * t * t : 0.0};
}

// I_k unit^k for k below `count`, at one a >= 0, good to 1e-13 for count up to 30. Upwards the
// recurrence I_(k+1) = k I_(k-1) - a I_k is unstable. For small a, Taylor's series; otherwise the
// ratios I_k / I_(k-1) = k / (a + I_(k+1) / I_k) downwards, from so far up that the start is
// forgotten.
inline std::vector<double> mills_sequence(double a, int count, double unit) {
  std::vector<double> out(count);
  if (a < 0.5) {
    constexpr int kOrders = 40;
    std::vector<double> at_zero(count + kOrders);  // I_k(0) = 2^((k-1)/2) Gamma((k+1)/2)
    at_zero[0] = kHalfCircle / 2;
    at_zero[1] = 1;
    for (int k = 2; k < count + kOrders; ++k) at_zero[k] = (k - 1) * at_zero[k - 2];
    for (int k = 0; k < count; ++k) {
      double term = 1, total = 0;
      for (int j = 0; j < kOrders; ++j) {
        total += term * at_zero[k + j];
        term *= -a / (j + 1);
      }
      out[k] = total * std::pow(unit, k);
    }
    return out;
  }
  const double root = std::sqrt(count + 1.0) + 19 / a;
  const int top = count + static_cast<int>(root * root);
  double ratio = (std::sqrt(a * a + 4.0 * top) - a) / 2;
  for (int k = top; k >= 1; --k) {
    ratio = k / (a + ratio);
    if (k < count) out[k] = ratio;
  }
  out[0] = mills<1>(a).i0;
  for (int k = 1; k < count; ++k) out[k] *= unit * out[k - 1];
  return out;
}

}  // namespace ellzero
