// The scales of a Bayesian bridge (Polson, Scott and Windle 2014):
//
//   p(beta_j) = alpha nu^(1/alpha) / (2 Gamma(1/alpha)) exp(-nu |beta_j|^alpha),  nu = tau^-alpha,
//
// nu ~ Gamma(shape, rate) and alpha uniform. By the Laplace transform of a stable variable of index
// alpha / 2, exp(-|t|^alpha) is the mean of exp(-s t^2) over it: given s_j and tau, beta_j is
// Gaussian of precision 2 s_j / tau^2, and given beta_j, s_j is stable tilted by (beta_j / tau)^2.
//
// Everything is drawn in one block given beta: alpha with nu and s integrated out, nu with s
// integrated out, then s. With R = sum over j of |beta_j|^alpha,
//
//   p(alpha | beta) ~ alpha^p Gamma(1/alpha)^-p Gamma(p/alpha + shape) (rate + R)^-(p/alpha +
//   shape) nu | alpha, beta ~ Gamma(p/alpha + shape, rate + R)
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/kernels.hpp"
#include "base/slice.hpp"
#include "posterior/tilted_stable.hpp"

namespace ellzero {

struct BridgePrior {
  static constexpr double kLeastAlpha = 0.01;

  bool learn_alpha = false;
  double least_alpha = kLeastAlpha, greatest_alpha = 1;  // uniform between, if learned
  double alpha = 0.5;
  bool learn_tau = true;
  double tau = 1;
  double nu_shape = 2, nu_rate = 2;
};

class BridgeScales {
 public:
  BridgeScales(const BridgePrior& prior, Index p)
      : prior_(prior), p_(static_cast<double>(p)), log_size_(p), alpha_(prior.alpha) {
    log_tau_ = std::log(prior.tau);
  }

  // Draws alpha and tau given beta.
  void draw_global(const double* beta, Random& random) {
    for (std::size_t j = 0; j < log_size_.size(); ++j) {
      log_size_[j] = std::log(std::max(std::fabs(beta[j]), 1e-300));
    }
    if (prior_.learn_alpha) {
      const auto density = [this](double alpha) { return alpha_log_density(alpha); };
      alpha_ = slice_step(alpha_, density(alpha_), prior_.least_alpha, prior_.greatest_alpha,
                          density, random, 0.5);
    }
    if (prior_.learn_tau) {
      const double shape = prior_.nu_shape + p_ / alpha_;
      const double nu = random.gamma(shape) / (prior_.nu_rate + sum_of_powers(alpha_));
      log_tau_ = -std::log(std::max(nu, 1e-300)) / alpha_;
    }
  }

  // The local scales too; fills log(1 / variance) of every coefficient.
  void draw(const double* beta, Random& random, double* log_precision) {
    draw_global(beta, random);
    const TiltedStable stable(0.5 * alpha_);
    for (std::size_t j = 0; j < log_size_.size(); ++j) {
      const double log_s = stable.log_draw(2 * (log_size_[j] - log_tau_), random);
      log_precision[j] = kLog2 + log_s - 2 * log_tau_;
    }
  }

  void set_alpha(double alpha) { alpha_ = prior_.learn_alpha ? alpha : prior_.alpha; }
  double alpha() const { return alpha_; }
  double tau() const { return std::exp(std::min(std::max(log_tau_, -700.0), 700.0)); }
  double log_tau() const { return log_tau_; }
  void set_log_tau(double log_tau) { log_tau_ = log_tau; }
  // Of log tau, whatever its value, up to a constant.
  double tau_log_prior(double log_tau) const {
    const double log_nu = -alpha_ * log_tau;
    return prior_.nu_shape * log_nu - prior_.nu_rate * std::exp(log_nu);
  }

 private:
  static constexpr double kLog2 = 0.69314718055994530942;

  double sum_of_powers(double alpha, double shift = 0) const {
    double sum = 0;
    for (const double log_size : log_size_) sum += std::exp(alpha * (log_size - shift));
    return sum;
  }

  double alpha_log_density(double alpha) const {
    const double prior = p_ * (std::log(alpha) - std::lgamma(1 / alpha));
    if (!prior_.learn_tau) return prior - sum_of_powers(alpha, log_tau_);
    const double shape = prior_.nu_shape + p_ / alpha;
    return prior + std::lgamma(shape) - shape * std::log(prior_.nu_rate + sum_of_powers(alpha));
  }

  BridgePrior prior_;
  double p_;
  std::vector<double> log_size_;  // log |beta_j|
  double alpha_, log_tau_;
};

}  // namespace ellzero
