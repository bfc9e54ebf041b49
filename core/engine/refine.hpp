// The coefficients of a support to the accuracy of the data rather than of the Gram matrix.
//
// Normal equations square the condition number. Iterative refinement on true residuals gives the
// digits back, where there are rows to take residuals of; a step that does not lower the energy is
// not taken.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/quadratic.hpp"
#include "engine/factor.hpp"

namespace ellzero {

// Refines beta, in the order of the members; `ridges` are theirs. Returns |y - Z_S beta|^2, NaN
// where there are no rows.
inline double refine(const Quadratic& quadratic, const Factor& factor,
                     const std::vector<Index>& members, const std::vector<double>& ridges,
                     std::vector<double>& beta, const Context& context) {
  const Index k = factor.size();
  const auto energy_of = [&](double rss, const std::vector<double>& at) {
    double ridge_energy = 0;
    for (Index s = 0; s < k; ++s) ridge_energy += 0.5 * ridges[s] * at[s] * at[s];
    return 0.5 * rss + ridge_energy;
  };
  std::vector<double> products(k);
  double rss = quadratic.residual_products(members, beta.data(), products.data(), context);
  if (std::isnan(rss) || k == 0) return rss;
  double energy = energy_of(rss, beta);
  for (int round = 0; round < 3; ++round) {
    for (Index s = 0; s < k; ++s) products[s] -= ridges[s] * beta[s];
    std::vector<double> refined = factor.solve(products);
    double change = 0, length = 0;
    for (Index s = 0; s < k; ++s) {
      change = std::max(change, std::fabs(refined[s]));
      length = std::max(length, std::fabs(beta[s]));
      refined[s] += beta[s];
    }
    if (change <= 1e-14 * length) break;
    const double refined_rss =
        quadratic.residual_products(members, refined.data(), products.data(), context);
    const double refined_energy = energy_of(refined_rss, refined);
    if (!(refined_energy < energy)) break;
    const bool settled = energy - refined_energy <= 1e-12 * energy;
    beta = refined;
    rss = refined_rss;
    energy = refined_energy;
    if (settled) break;
  }
  return rss;
}

}  // namespace ellzero
