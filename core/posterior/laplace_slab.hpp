// One coefficient under a Laplace slab, the others given or integrated out.
//
// With likelihood proportional to exp((c b - d b^2 / 2) / s2) and prior density
// lambda / 2 exp(-lambda |b|), lambda^2 = 2 / variance, each half line is a truncated Gaussian:
//
//   int over b > 0 of exp(-lambda b + (c b - d b^2 / 2) / s2) db = sqrt(v) I_0(a_+)
//
// with v = s2 / d, a_+- = lambda sqrt(v) -+ c / sqrt(d s2) and the integrals I_k of mills.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/mills.hpp"
#include "base/random.hpp"

namespace ellzero {

class LaplaceSlab {
 public:
  LaplaceSlab(double variance, double s2) : lambda_(std::sqrt(2 / variance)), s2_(s2) {}

  // The log of what inclusion multiplies the likelihood by.
  double log_ratio(double c, double d) const {
    const Halves h = halves(c, d);
    const double greater = std::max(h.up.log_mass, h.down.log_mass);
    const double sum = std::exp(h.up.log_mass - greater) + std::exp(h.down.log_mass - greater);
    return std::log(0.5 * lambda_ * h.root) + greater + std::log(sum);
  }

  // Mean and variance of the coefficient, if it is included.
  void moments(double c, double d, double& mean, double& variance) const {
    const Halves h = halves(c, d);
    const double plus = 1 / (1 + std::exp(h.down.log_mass - h.up.log_mass));
    const double minus = 1 / (1 + std::exp(h.up.log_mass - h.down.log_mass));
    const double apart = h.up.mean + h.down.mean;
    mean = h.root * (plus * h.up.mean - minus * h.down.mean);
    variance = h.root * h.root *
               (plus * h.up.variance + minus * h.down.variance + plus * minus * apart * apart);
  }

  // One over the variance that the coefficient has in the mixture of Gaussians, given that it is
  // included: first the coefficient, then its variance.
  double draw_precision(double c, double d, Random& random) const {
    const Halves h = halves(c, d);
    const double plus = 1 / (1 + std::exp(h.down.log_mass - h.up.log_mass));
    const double bound = random.uniform() < plus ? h.up.a : h.down.a;
    return precision_given(h.root * truncated_normal(bound, random), random);
  }
  double precision_given(double beta, Random& random) const {
    const double size = std::max(lambda_ * std::fabs(beta), 1e-100);  // has no unit
    return lambda_ * lambda_ * random.inverse_gaussian(1 / size, 1);
  }

 private:
  // A Gaussian of mean -a and variance 1, given that it is positive: the log of I_0(a), its mean
  // I_1 / I_0 and its variance.
  struct Half {
    double a, log_mass, mean, variance;
  };
  struct Halves {
    double root;  // sqrt(v)
    Half up, down;
  };
  Halves halves(double c, double d) const {
    const double precision = std::max(d, 1e-13);
    const double root = std::sqrt(s2_ / precision), shift = c / (precision * root);
    return {root, half(lambda_ * root - shift), half(lambda_ * root + shift)};
  }
  static Half half(double a) {
    const Mills m = mills<2>(std::fabs(a));
    if (a >= 0) {
      const double mean = m.i1 / m.i0;
      return {a, std::log(m.i0), mean, m.i2 / m.i0 - mean * mean};
    }
    // I_0(-x) = sqrt(2 pi) exp(x^2 / 2) - I_0(x), and the hazard 1 / I_0 is the mean less x.
    const double f = std::exp(-0.5 * a * a), rest = kHalfCircle - f * m.i0, hazard = f / rest;
    return {a, std::log(rest) + 0.5 * a * a, hazard - a, 1 - hazard * (hazard - a)};
  }

  // What a standard Gaussian exceeds `bound` by, given that it does (Robert 1995).
  static double truncated_normal(double bound, Random& random) {
    if (bound <= 0.5) {
      for (;;) {
        const double x = random.normal();
        if (x > bound) return x - bound;
      }
    }
    // So far out it is exponential, and squares would overflow.
    if (!(bound < 1e9)) return random.exponential() / bound;
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
