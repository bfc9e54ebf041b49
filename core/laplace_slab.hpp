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
  return -kLogRootPi - std::log(z) + std::log1p(x * (-0.5 + x * (0.75 - 1.875 * x)));
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

  // Mean and mean square of the coefficient, if it is included.
  void moments(double c, double d, double& mean, double& square) const {
    const Halves h = halves(c, d);
    const double plus = 1 / (1 + std::exp(h.log_minus - h.log_plus));
    const double e_plus = excess(h.z_plus, h.log_plus), e_minus = excess(h.z_minus, h.log_minus);
    const double root = std::sqrt(2 * h.v);
    mean = root * (plus * e_plus - (1 - plus) * e_minus);
    square = h.v * (plus * second(h.z_plus, e_plus) + (1 - plus) * second(h.z_minus, e_minus));
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
    const double size = std::max(std::fabs(beta), 1e-150);
    return random.inverse_gaussian(lambda_ / size, lambda_ * lambda_);
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

  // A Gaussian of mean -z sqrt(2 v) and variance v, given that it is positive, has the mean
  // sqrt(2 v) e and the mean square v (1 - 2 z e).
  static double excess(double z, double log_erfcx_z) {
    constexpr double kLogRootPi = 0.57236494292470008707;
    if (z < 20) return -z + std::exp(-log_erfcx_z - kLogRootPi);
    const double x = 1 / (z * z);
    return (0.5 - x * (0.5 - 1.25 * x)) / z;
  }
  static double second(double z, double e) {
    if (z < 20) return 1 - 2 * z * e;
    const double x = 1 / (z * z);
    return x * (1 - 2.5 * x);
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
