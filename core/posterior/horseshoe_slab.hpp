// The slab of the regularised horseshoe (Piironen and Vehtari 2017): beta_j ~ N(0, v_j),
//
//   1 / v_j = 1 / (tau lambda_j)^2 + 1 / c^2,   c^2 ~ InvGamma(df / 2, df scale^2 / 2),
//
// so that no coefficient, however large its lambda_j, escapes a Student-t slab.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/slice.hpp"
#include "posterior/horseshoe.hpp"

namespace ellzero {

// In log c^2, up to a constant.
inline double slab_log_prior(const HorseshoePrior& prior, double log_slab) {
  const double half = 0.5 * prior.slab_df;
  return -half * (log_slab + prior.slab_scale * prior.slab_scale * std::exp(-log_slab));
}

// u = 1 / lambda_j^2 given beta_j: of density proportional to exp(-x u) sqrt(1 + e / u) / (1 + u),
// where x = beta_j^2 / (2 tau^2) and e = (tau / c)^2. The root is below 1 + sqrt(e / u), which
// leaves two densities to draw from, the plain horseshoe's and, in sqrt(u), a half-Cauchy times a
// half-normal.
inline double draw_regularised_precision(double x, double e, Random& random) {
  constexpr double kPi = 3.14159265358979323846;
  const double root_x = std::sqrt(x), root_e = std::sqrt(e);
  const double plain = std::exp(log_scaled_e1(x));
  // exp(x) erfc(sqrt(x)) pi, which overflows where it is sqrt(pi / x) to rounding
  const double other = root_e * (x < 400 ? kPi * std::exp(x) * std::erfc(root_x)
                                         : std::sqrt(kPi) / root_x * (1 - 0.5 / x));
  for (;;) {
    double u;
    if (random.uniform() * (plain + other) < plain) {
      u = draw_horseshoe_precision(x, random);
    } else if (x < 1) {
      double v;
      do {
        v = std::tan(0.5 * kPi * random.uniform());
      } while (random.uniform() >= std::exp(-x * v * v));
      u = v * v;
    } else {
      do {
        const double v = random.normal();
        u = 0.5 * v * v / x;
      } while (random.uniform() * (1 + u) >= 1);
    }
    u = std::max(u, 1e-300);
    if (random.uniform() * (1 + std::sqrt(e / u)) < std::sqrt(1 + e / u)) return u;
  }
}

// log c^2 given the coefficients and log (tau lambda_j)^2, in the units of the coefficients.
inline double draw_slab(const HorseshoePrior& prior, const std::vector<double>& log_wide,
                        const std::vector<double>& beta, double log_slab, Random& random) {
  const auto density = [&](double l) {
    const double own = std::exp(-l);
    double sum = slab_log_prior(prior, l);
    for (std::size_t j = 0; j < beta.size(); ++j) {
      const double precision = std::exp(-std::max(log_wide[j], -600.0)) + own;
      // The part of the other term does not depend on c.
      sum += 0.5 * (std::log(precision) - own * beta[j] * beta[j]);
    }
    return sum;
  };
  return slice_step(log_slab, density(log_slab), log_slab - 10, log_slab + 10, density, random, 3);
}

// All scales given the coefficients: the local ones exactly, then tau given lambda, tau given tau
// lambda, and the slab. Fills log(1 / variance) of every coefficient and returns log c^2.
inline double draw_regularised_scales(HorseshoeScales& scales, const HorseshoePrior& prior,
                                      const std::vector<double>& beta, double s2, double log_slab,
                                      Random& random, std::vector<double>& log_precision) {
  const double log_s2 = std::log(s2), own = std::exp(-log_slab);
  const auto p = beta.size();
  std::vector<double> u(p), log_wide(p);  // 1 / lambda_j^2, log (tau lambda_j)^2
  const double log_tau = scales.log_tau();
  for (std::size_t j = 0; j < p; ++j) {
    const double x = 0.5 * beta[j] * beta[j] * std::exp(-2 * log_tau);
    u[j] = draw_regularised_precision(std::min(std::max(x, 1e-300), 1e300),
                                      std::exp(2 * log_tau - log_slab), random);
  }
  if (prior.learn_tau) {
    const auto given_lambda = [&](double l) {
      const double inverse = std::exp(-2 * l);
      double sum = scales.tau_log_prior(l, log_s2);
      for (std::size_t j = 0; j < p; ++j) {
        const double precision = u[j] * inverse;
        sum += 0.5 * (std::log(precision + own) - precision * beta[j] * beta[j]);
      }
      return sum;
    };
    const double now = slice_step(log_tau, given_lambda(log_tau), log_tau - 10, log_tau + 10,
                                  given_lambda, random, 1);
    const auto given_both = [&](double l) {
      const double factor = std::exp(2 * (now - l));  // lambda^2 is this much larger
      double sum = scales.tau_log_prior(l, log_s2) - static_cast<double>(p) * l;
      for (const double value : u) sum -= std::log1p(factor / value);
      return sum;
    };
    const double then = slice_step(now, given_both(now), now - 10, now + 10, given_both, random, 1);
    scales.set_log_tau(then);
    for (std::size_t j = 0; j < p; ++j) log_wide[j] = 2 * now - std::log(u[j]);
  } else {
    for (std::size_t j = 0; j < p; ++j) log_wide[j] = 2 * log_tau - std::log(u[j]);
  }
  log_slab = draw_slab(prior, log_wide, beta, log_slab, random);
  for (std::size_t j = 0; j < p; ++j) {
    log_precision[j] = std::log(std::exp(-std::max(log_wide[j], -600.0)) + std::exp(-log_slab));
  }
  return log_slab;
}

}  // namespace ellzero
