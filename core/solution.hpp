// The coefficients of a support, to the accuracy of the data rather than of the Gram matrix.
#pragma once

#include <cmath>
#include <vector>

#include "support.hpp"

namespace ellzero {

struct Solution {
  std::vector<Index> support;        // sorted
  std::vector<double> beta;          // for columns of unit norm
  std::vector<double> removal_cost;  // by how much removing each would raise the energy
  double rss = 0;                    // |y - Z_S beta|^2
  double ridge_energy = 0;           // 1/2 sum tau_i beta_i^2
};

// Normal equations square the condition number. One step of iterative refinement on true residuals
// gives the digits back, where the design has rows to take residuals of.
inline Solution solve(const Design& design, const Support& support, const Context& context) {
  const Index k = support.size();
  std::vector<double> beta = support.beta(), products(k);
  double rss = design.residual_products(support.members(), beta.data(), products.data(), context);
  if (std::isnan(rss)) {
    rss = std::max(0.0, 2 * (support.energy() - support.ridge_energy(beta)));
  } else if (k > 0) {
    for (Index s = 0; s < k; ++s) {
      products[s] -= support.ridge_of(support.members()[s]) * beta[s];
    }
    const std::vector<double> step = support.solve(products);
    for (Index s = 0; s < k; ++s) beta[s] += step[s];
    rss = design.residual_products(support.members(), beta.data(), products.data(), context);
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
