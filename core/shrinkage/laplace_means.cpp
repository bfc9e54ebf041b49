#include "shrinkage/laplace_means.hpp"

#include <algorithm>
#include <cmath>

#include "base/mills.hpp"

namespace ellzero {

namespace {

// Few enough for the cache; exp is called apart, so that the rest becomes vector code.
constexpr std::ptrdiff_t kBlock = 256;

void scales(const double* u, std::ptrdiff_t count, double rate, double* scale) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const double beyond = std::max(u[i] - rate, 0.0);
    scale[i] = std::exp(-0.5 * beyond * beyond);
  }
}

// f I_0(a), f I_1(a) and f I_2(a) for a of either sign, f as above.
template <int kOrder>
ELLZERO_INLINE Mills scaled_mills(double a, double f) {
  const double x = std::fabs(a);
  const Mills m = mills<kOrder>(x);
  const double i0 = kHalfCircle - f * m.i0;
  const double i1 = f + x * i0;
  const double i2 = i0 + x * i1;
  const bool below = a < 0;
  return {below ? i0 : m.i0, below ? i1 : m.i1, below ? i2 : m.i2};
}

ELLZERO_MULTIVERSION
void terms_block(const double* u, std::ptrdiff_t count, double rate, const double* scale,
                 double* total, double* zeroth, double* first) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const double f = scale[i];
    const Mills near = scaled_mills<1>(rate - u[i], f);
    const Mills far = mills<1>(rate + u[i]);
    total[i] = near.i0 + f * far.i0;
    zeroth[i] = near.i0 - f * far.i0;
    first[i] = near.i1 - f * far.i1;
  }
}

// The distribution of b is a mixture of b > 0 and b < 0, each a truncated normal.
ELLZERO_MULTIVERSION
void variance_block(const double* u, std::ptrdiff_t count, double rate, const double* scale,
                    double* out) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const double a = rate - u[i], f = scale[i];
    const Mills near = scaled_mills<2>(a, f);
    const Mills far = mills<2>(rate + u[i]);
    const double total = near.i0 + f * far.i0;
    const double share = near.i0 / total, other = f * far.i0 / total;
    const double mean_near = near.i1 / near.i0, mean_far = far.i1 / far.i0;
    // 1 - m (m + a) and E[b^2] - m^2 are the same; each cancels where the other does not.
    const double hazard = f / near.i0;
    const double variance_near =
        a < 0 ? 1 - mean_near * hazard : near.i2 / near.i0 - mean_near * mean_near;
    const double variance_far = far.i2 / far.i0 - mean_far * mean_far;
    const double apart = mean_near + mean_far;
    out[i] = share * variance_near + other * variance_far + share * other * apart * apart;
  }
}

}  // namespace

LaplaceMeans::LaplaceMeans(double rate) : rate_(rate), series_end_(0.3 * std::max(1.0, rate)) {
  // I_k decays like k! / rate^(k+1); in units of the rate nothing underflows.
  unit_ = std::max(1.0, rate);
  const std::vector<double> moments = mills_sequence(rate, 2 * kSeries + 1, unit_);
  double factorial = 1;
  for (int j = 0; j < kSeries; ++j) {
    if (j) factorial *= (2.0 * j) * (2.0 * j + 1);
    zeroth_[j] = 2 * moments[2 * j + 1] / factorial;
    first_[j] = 2 * moments[2 * j + 2] / (unit_ * factorial);
  }
}

void LaplaceMeans::terms(const double* u, std::ptrdiff_t count, double* scale, double* total,
                         double* zeroth, double* first) const {
  for (std::ptrdiff_t begin = 0; begin < count; begin += kBlock) {
    const std::ptrdiff_t length = std::min(kBlock, count - begin);
    const double* v = u + begin;
    scales(v, length, rate_, scale + begin);
    terms_block(v, length, rate_, scale + begin, total + begin, zeroth + begin, first + begin);
    for (std::ptrdiff_t i = 0; i < length; ++i) {
      if (v[i] >= series_end_) continue;
      const double step = v[i] / unit_, square = step * step;
      double odd = zeroth_[kSeries - 1], even = first_[kSeries - 1];
      for (int j = kSeries - 2; j >= 0; --j) {
        odd = odd * square + zeroth_[j];
        even = even * square + first_[j];
      }
      // The block's values are times f, which is less than one if u > rate.
      zeroth[begin + i] = scale[begin + i] * step * odd;
      first[begin + i] = scale[begin + i] * step * even;
    }
  }
}

void LaplaceMeans::variance(const double* u, std::ptrdiff_t count, double* out) const {
  double scale[kBlock];
  for (std::ptrdiff_t begin = 0; begin < count; begin += kBlock) {
    const std::ptrdiff_t length = std::min(kBlock, count - begin);
    scales(u + begin, length, rate_, scale);
    variance_block(u + begin, length, rate_, scale, out + begin);
  }
}

}  // namespace ellzero
