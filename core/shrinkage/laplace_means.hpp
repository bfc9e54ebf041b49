// A Laplace slab seen through unit normal noise: y = b + e, b ~ (rate / 2) exp(-rate |b|).
//
// With u = |y|, a = rate - u, A = rate + u and the integrals I_k of mills.hpp (at a negative
// argument by I_0(-x) = sqrt(2 pi) exp(x^2 / 2) - I_0(x), and so on, times exp(-x^2 / 2) to stay
// finite),
//
//   density of y  =  (rate / 2) (I_0(a) + I_0(A)) x normal density of y
//   E[b | y]      =  (I_1(a) - I_1(A)) / (I_0(a) + I_0(A))          has the sign of y
//   y - E[b | y]  =  rate (I_0(a) - I_0(A)) / (I_0(a) + I_0(A))
//
// For small u the differences cancel, and are summed as their series in u instead.
#pragma once

#include <cstddef>
#include <vector>

namespace ellzero {

class LaplaceMeans {
 public:
  explicit LaplaceMeans(double rate);

  // Where the series end: below it they are used.
  double series_end() const { return series_end_; }

  // For u >= 0. With f = exp(-(u - rate)^2 / 2) for u > rate, else 1:
  //   scale = f,  total = f (I_0(a) + I_0(A)),  zeroth = f (I_0(a) - I_0(A)),
  //   first = f (I_1(a) - I_1(A)).
  void terms(const double* u, std::ptrdiff_t count, double* scale, double* total, double* zeroth,
             double* first) const;

  // Var[b | y], for u >= 0.
  void variance(const double* u, std::ptrdiff_t count, double* out) const;

 private:
  static constexpr int kSeries = 14;
  double rate_, series_end_, unit_;
  double zeroth_[kSeries], first_[kSeries];  // of (u / unit)^(2j+1)
};

}  // namespace ellzero
