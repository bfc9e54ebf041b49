// exp and log without a branch or a table, so that a compiler can compute several at once. Good to
// about an ulp.
#pragma once

#include <cstdint>

#include "base/bits.hpp"

namespace ellzero {

// 0 below -708; x must not exceed 709. NaN is not kept.
ELLZERO_INLINE double fast_exp(double x) {
  constexpr double kLog2E = 1.4426950408889634074, kMagic = 0x1.8p52;
  constexpr double kHigh = 6.93147180369123816490e-01, kLow = 1.90821492927058770002e-10;
  const double bounded = x > -708.0 ? x : -708.0;
  const double shifted = bounded * kLog2E + kMagic;
  const double n = shifted - kMagic;
  const double r = (bounded - n * kHigh) - n * kLow;  // |r| <= log(2) / 2
  // Taylor's polynomial: the first term left out is below 1e-17.
  double sum = 1.0 / 6227020800.0;
  sum = sum * r + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  const double power = bits::from((bits::of(shifted) << 52) + 0x3ff0000000000000u);
  const double result = sum * power;
  return x > -708.0 ? result : 0.0;
}

// Of a normal positive number.
ELLZERO_INLINE double fast_log(double x) {
  constexpr double kHigh = 6.93147180369123816490e-01, kLow = 1.90821492927058770002e-10;
  // x = m 2^e with m between sqrt(1/2) and sqrt(2)
  const std::uint64_t u = bits::of(x) - 0x3fe6a09e667f3bcdu;
  const std::uint64_t exponent = (u >> 52) ^ 0x800u;  // shifted to be positive
  const double e = bits::from(exponent | 0x4330000000000000u) - (0x1p52 + 0x800);
  const double m = bits::from(bits::of(x) - (u & 0xfff0000000000000u));
  // log(m) = 2 atanh(f) with f = (m - 1) / (m + 1)
  const double f = (m - 1) / (m + 1), s = f * f;  // |f| < 0.1716
  double sum = 2.0 / 23.0;
  sum = sum * s + 2.0 / 21.0;
  sum = sum * s + 2.0 / 19.0;
  sum = sum * s + 2.0 / 17.0;
  sum = sum * s + 2.0 / 15.0;
  sum = sum * s + 2.0 / 13.0;
  sum = sum * s + 2.0 / 11.0;
  sum = sum * s + 2.0 / 9.0;
  sum = sum * s + 2.0 / 7.0;
  sum = sum * s + 2.0 / 5.0;
  sum = sum * s + 2.0 / 3.0;
  // 2 f = (m - 1) - f (m - 1), whose first term is exact
  return e * kHigh + ((m - 1) + (f * (s * sum - (m - 1)) + e * kLow));
}

// The logarithm of a positive number that is not denormal, from below and to within kRoughLog:
// between powers of two it is taken to be straight.
inline constexpr double kRoughLog = 0.0597;
ELLZERO_INLINE double rough_log(double x) {
  constexpr double kLog2 = 6.93147180559945309417e-01;
  const double scaled = bits::from(bits::of(x) >> 12 | 0x4330000000000000u);
  return (scaled - (0x1p52 + 1023 * 0x1p40)) * (kLog2 * 0x1p-40);
}

}  // namespace ellzero
