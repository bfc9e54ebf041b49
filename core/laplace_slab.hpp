// One coefficient under a Laplace slab, the others given or integrated out.
//
// With likelihood proportional to exp((c b - d b^2 / 2) / s2) and prior density
// lambda / 2 exp(-lambda |b|), lambda^2 = 2 / variance, each half line is a truncated Gaussian:
//
//   int over b > 0 of exp(-lambda b + (c b - d b^2 / 2) / s2) db = sqrt(pi v / 2) erfcx(z_+)
//
// with v = s2 / d, m = c / d and z_+- = (lambda v -+ m) / sqrt(2 v).
#pragma once

#include <algorithm>
#include <cmath>

#include "random.hpp"

namespace ellzero {

// log(exp(z^2) erfc(z))
inline double log_erfcx(double z) {
  constexpr double kLogRootPi = 0.57236494292470008707;
  if (z < 20) return std::log(std::erfc(z)) + z * z;
  const double x = 1 / (z * z);
  const double series =
      x * (-0.5 + x * (0.75 + x * (-1.875 + x * (6.5625 + x * (-29.53125 + x * 162.421875)))));
  return -kLogRootPi - std::log(z) + std::log1p(series);
}

class LaplaceSlab {
 public:
  LaplaceSlab(double variance, double s2) : lambda_(std::sqrt(2 / variance)), s2_(s2) {}

  // The log of what inclusion multiplies the likelihood by.
  double log_ratio(double c, double d) const {
    const Halves h = halves(c, d);
    const double greater = std::max(h.log_plus, h.log_minus);
    const double sum = std::exp(h.log_plus - greater) + std::exp(h.log_minus - greater);
    constexpr double kHalfLogHalfPi = 0.22579135264472743;  // log(pi / 2) / 2
    return std::log(0.5 * lambda_) + kHalfLogHalfPi + 0.5 * std::log(h.v) + greater + std::log(sum);
  }

  // Mean and variance of the coefficient, if it is included.
  void moments(double c, double d, double& mean, double& variance) const {
    const Halves h = halves(c, d);
    const double plus = 1 / (1 + std::exp(h.log_minus - h.log_plus));
    const double minus = 1 / (1 + std::exp(h.log_plus - h.log_minus));
    const Half up = half(h.z_plus, h.log_plus), down = half(h.z_minus, h.log_minus);
    mean = std::sqrt(2 * h.v) * (plus * up.mean - minus * down.mean);
    const double apart = up.mean + down.mean;
    variance =
        h.v * (plus * up.variance + minus * down.variance + 2 * plus * minus * apart * apart);
  }

  // One over the variance that the coefficient has in the mixture of Gaussians, given that it is
  // included: first the coefficient, then its variance.
  double draw_precision(double c, double d, Random& random) const {
    const Halves h = halves(c, d);
    const double plus = 1 / (1 + std::exp(h.log_minus - h.log_plus));
    const bool positive = random.uniform() < plus;
    const double z = positive ? h.z_plus : h.z_minus;
    return precision_given(std::sqrt(h.v) * truncated_normal(1.4142135623730951 * z, random),
                           random);
  }
  double precision_given(double beta, Random& random) const {
    const double size = std::max(lambda_ * std::fabs(beta), 1e-100);  // has no unit
    return lambda_ * lambda_ * random.inverse_gaussian(1 / size, 1);
  }

 private:
  struct Halves {
    double v, z_plus, z_minus, log_plus, log_minus;
  };
  Halves halves(double c, double d) const {
    Halves h;
    h.v = s2_ / std::max(d, 1e-13);
    const double root = std::sqrt(2 * h.v), m = c / std::max(d, 1e-13);
    h.z_plus = (lambda_ * h.v - m) / root;
    h.z_minus = (lambda_ * h.v + m) / root;
    h.log_plus = log_erfcx(h.z_plus);
    h.log_minus = log_erfcx(h.z_minus);
    return h;
  }

  // A Gaussian of mean -z sqrt(2 v) and variance v, given that it is positive: its mean over
  // sqrt(2 v), and its variance over v. With m = 1 / (sqrt(pi) erfcx(z)) these are m - z and
  // 1 + 2 z m - 2 m^2, which far out are differences of large numbers: hence the series.
  struct Half {
    double mean, variance;
  };
  static Half half(double z, double log_erfcx_z) {
    constexpr double kLogRootPi = 0.57236494292470008707;
    if (z < 20) {
      const double m = std::exp(-log_erfcx_z - kLogRootPi);
      return {m - z, 1 + 2 * m * (z - m)};
    }
    const double x = 1 / (z * z);
    const double mean =
        (0.5 + x * (-0.5 + x * (1.25 + x * (-4.625 + x * (22.0625 - x * 127.53125))))) / z;
    const double square =
        x * (1 + x * (-2.5 + x * (9.25 + x * (-44.125 + x * (255.0625 - x * 1725.15625)))));
    return {mean, square - 2 * mean * mean};
  }

  // What a standard Gaussian exceeds `bound` by, given that it does (Robert 1995).
  static double truncated_normal(double bound, Random& random) {
    if (bound <= 0.5) {
      for (;;) {
        const double x = random.normal();
        if (x > bound) return x - bound;
      }
    }
    const double rate = 0.5 * (bound + std::sqrt(bound * bound + 4));
    for (;;) {
      const double x = random.exponential() / rate;
      const double miss = bound + x - rate;
      if (random.uniform() <= std::exp(-0.5 * miss * miss)) return x;
    }
  }

  double lambda_;
  double s2_;
};

}  // namespace ellzero
