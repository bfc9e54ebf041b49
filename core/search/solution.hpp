// The coefficients of a support, to the accuracy of the data rather than of the Gram matrix.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "engine/support.hpp"

namespace ellzero {

struct Solution {
  std::vector<Index> support;        // sorted
  std::vector<double> beta;          // for columns of unit norm
  std::vector<double> removal_cost;  // by how much removing each would raise the energy
  double rss = 0;                    // |y - Z_S beta|^2
  double ridge_energy = 0;           // 1/2 sum tau_i beta_i^2
};

// Whether normal equations leave all but two or three digits: no member is nearly explained by the
// others, and y not nearly by them all.
inline bool well_conditioned(const Design& design, double inflation, double energy) {
  constexpr double kInflation = 100, kUnexplained = 1e-3;
  return inflation < kInflation && energy > kUnexplained * 0.5 * design.yy;
}
inline bool well_conditioned(const Design& design, const Support& support) {
  double largest = 0;
  for (const double inflation : support.inverse_diagonal()) largest = std::max(largest, inflation);
  return well_conditioned(design, largest, support.energy());
}

// Normal equations square the condition number. Iterative refinement on true residuals gives the
// digits back, where the design has rows to take residuals of; a step that does not lower the
// energy is not taken.
inline Solution solve(const Design& design, const Support& support, const Context& context) {
  const Index k = support.size();
  std::vector<double> beta = support.beta(), products(k);
  double rss = std::numeric_limits<double>::quiet_NaN();
  if (!well_conditioned(design, support)) {
    rss = design.residual_products(support.members(), beta.data(), products.data(), context);
  }
  if (std::isnan(rss)) {
    rss = std::max(0.0, 2 * (support.energy() - support.ridge_energy(beta)));
  } else if (k > 0) {
    double energy = 0.5 * rss + support.ridge_energy(beta);
    for (int round = 0; round < 3; ++round) {
      for (Index s = 0; s < k; ++s) {
        products[s] -= support.ridge_of(support.members()[s]) * beta[s];
      }
      std::vector<double> refined = support.solve(products);
      double change = 0, length = 0;
      for (Index s = 0; s < k; ++s) {
        change = std::max(change, std::fabs(refined[s]));
        length = std::max(length, std::fabs(beta[s]));
        refined[s] += beta[s];
      }
      if (change <= 1e-14 * length) break;
      const double refined_rss =
          design.residual_products(support.members(), refined.data(), products.data(), context);
      const double refined_energy = 0.5 * refined_rss + support.ridge_energy(refined);
      if (!(refined_energy < energy)) break;
      const bool settled = energy - refined_energy <= 1e-12 * energy;
      beta = refined;
      rss = refined_rss;
      energy = refined_energy;
      if (settled) break;
    }
  }

  std::vector<Index> order(k);
  for (Index s = 0; s < k; ++s) order[s] = s;
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return support.members()[a] < support.members()[b]; });
  Solution solution;
  solution.rss = rss;
  solution.ridge_energy = support.ridge_energy(beta);
  for (const Index s : order) {
    solution.support.push_back(support.members()[s]);
    solution.beta.push_back(beta[s]);
    solution.removal_cost.push_back(support.removal_cost(s));
  }
  return solution;
}

}  // namespace ellzero
