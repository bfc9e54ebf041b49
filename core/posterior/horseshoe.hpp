// The scales of a horseshoe (Carvalho, Polson and Scott 2010):
//
//   beta_j ~ N(0, lambda_j^2 tau^2),  lambda_j ~ C+(0, 1),  tau ~ C+(0, tau_scale sigma_e).
//
// tau and sigma_e are drawn with the lambda_j integrated out: with x = beta_j^2 / (2 tau^2) the
// density of beta_j given tau is exp(x) E1(x) / (sqrt(2 pi^3) tau), E1 the exponential integral.
// Given beta_j and tau, u = 1 / lambda_j^2 has density proportional to exp(-x u) / (1 + u).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/kernels.hpp"
#include "base/slice.hpp"

namespace ellzero {

struct HorseshoePrior {
  bool learn_tau = true;
  double tau = 1;
  double tau_scale = 1;
  bool regularised = false;  // horseshoe_slab.hpp
  double slab_df = 4, slab_scale = 1;
};

// log(exp(x) E1(x)) for x > 0.
inline double log_scaled_e1(double x) {
  if (x < 1.5) {
    double sum = 0, power = 1;
    for (int k = 1; k < 40; ++k) {
      power *= -x / k;
      sum += power / k;
      if (std::fabs(power) < 1e-17) break;
    }
    return x + std::log(-0.57721566490153286061 - std::log(x) - sum);
  }
  // Continued fraction 1 / (x + 1 - 1 / (x + 3 - 4 / (x + 5 - ...))), by Lentz's method.
  double b = x + 1, c = 1e300, d = 1 / b, h = d;
  for (int k = 1; k < 200; ++k) {
    const double a = -static_cast<double>(k) * k;
    b += 2;
    d = 1 / (a * d + b);
    c = b + a / c;
    const double change = c * d;
    h *= change;
    if (std::fabs(change - 1) < 1e-15) break;
  }
  return std::log(h);
}

// A draw of density proportional to exp(-x u) / (1 + u), u > 0, x > 0.
inline double draw_horseshoe_precision(double x, Random& random) {
  if (x >= 1) {
    for (;;) {
      const double u = random.exponential() / x;
      if (random.uniform() * (1 + u) < 1) return u;
    }
  }
  // v = log(1 + u) has density exp(-x (exp(v) - 1)), which is log-concave: below 1 up to the point
  // where it is exp(-1), and below its tangent beyond.
  const double edge = std::log1p(1 / x), rate = 1 + x, tail = std::exp(-1.0) / rate;
  for (;;) {
    double v, log_bound = 0;
    if (random.uniform() * (edge + tail) < edge) {
      v = edge * random.uniform();
    } else {
      const double step = random.exponential();
      v = edge + step / rate;
      log_bound = -1 - step;
    }
    const double u = std::expm1(v);
    if (random.uniform() < std::exp(-x * u - log_bound)) return u;
  }
}

class HorseshoeScales {
 public:
  HorseshoeScales(const HorseshoePrior& prior, Index p) : prior_(prior), squares_(p) {
    log_tau_ = std::log(prior.tau);
  }

  void draw_tau(const double* beta, double s2, Random& random) {
    for (std::size_t j = 0; j < squares_.size(); ++j) squares_[j] = 0.5 * beta[j] * beta[j];
    if (prior_.learn_tau) {
      const double log_s2 = std::log(s2);
      const auto density = [&](double x) { return tau_log_density(x, log_s2); };
      log_tau_ = slice_step(log_tau_, density(log_tau_), -kFarthest, kFarthest, density, random, 2);
    }
  }

  // The local scales too; fills log(1 / variance) of every coefficient.
  void draw(const double* beta, double s2, Random& random, double* log_precision) {
    draw_tau(beta, s2, random);
    for (std::size_t j = 0; j < squares_.size(); ++j) {
      const double u = draw_horseshoe_precision(scaled_square(squares_[j], log_tau_), random);
      log_precision[j] = std::log(u) - 2 * log_tau_;
    }
  }

  // tau's prior knows of sigma_e: in l = log sigma_e^2 its density is proportional to sigma_e /
  // (tau_scale^2 sigma_e^2 + tau^2).
  double draw_s2(double shape, double rate, double s2, Random& random) const {
    if (!prior_.learn_tau) return random.inverse_gamma(shape, rate);
    const double log_unit = 2 * (log_tau_ - std::log(prior_.tau_scale));
    const auto density = [&](double l) {
      const double larger = std::max(l, log_unit), smaller = std::min(l, log_unit);
      return -shape * l - rate * std::exp(-l) + 0.5 * l - larger -
             std::log1p(std::exp(smaller - larger));
    };
    const double l = std::log(s2);
    return std::exp(slice_step(l, density(l), -2 * kFarthest, 2 * kFarthest, density, random, 2));
  }

  void set_tau(double tau) { log_tau_ = std::log(prior_.learn_tau ? tau : prior_.tau); }
  double tau() const { return std::exp(log_tau_); }
  double log_tau() const { return log_tau_; }
  void set_log_tau(double log_tau) { log_tau_ = log_tau; }
  // Half-Cauchy, in log tau.
  double tau_log_prior(double log_tau, double log_s2) const {
    const double x = log_tau - std::log(prior_.tau_scale) - 0.5 * log_s2;
    return x - std::log1p(std::exp(2 * std::min(x, 300.0)));
  }

 private:
  static constexpr double kFarthest = 300;

  static double scaled_square(double square, double log_tau) {
    return std::min(std::max(square * std::exp(-2 * log_tau), 1e-300), 1e300);
  }

  double tau_log_density(double log_tau, double log_s2) const {
    double sum = tau_log_prior(log_tau, log_s2);
    for (const double square : squares_) {
      sum += log_scaled_e1(scaled_square(square, log_tau)) - log_tau;
    }
    return sum;
  }

  HorseshoePrior prior_;
  std::vector<double> squares_;  // beta_j^2 / 2
  double log_tau_;
};

}  // namespace ellzero
