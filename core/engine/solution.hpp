// The coefficients of a support.
#pragma once

#include <algorithm>
#include <vector>

#include "base/kernels.hpp"

namespace ellzero {

struct Solution {
  std::vector<Index> support;        // sorted
  std::vector<double> beta;          // for columns of unit norm
  std::vector<double> removal_cost;  // by how much removing each would raise the energy
  double rss = 0;                    // |y - Z_S beta|^2, or twice the loss of another kind
  double ridge_energy = 0;           // 1/2 sum tau_i beta_i^2
  double intercept = 0;              // of centred columns; that of least squares is the mean of y

  double energy() const { return 0.5 * rss + ridge_energy; }
  void set_energy(double energy) { rss = std::max(0.0, 2 * (energy - ridge_energy)); }
};

// Puts columns and what belongs to them in the order of the columns.
inline void sort_by_column(Solution& solution) {
  struct Entry {
    Index column;
    double beta, cost;
  };
  const std::size_t k = solution.support.size();
  const bool costs = !solution.removal_cost.empty();
  std::vector<Entry> entries(k);
  for (std::size_t s = 0; s < k; ++s) {
    entries[s] = {solution.support[s], solution.beta[s], costs ? solution.removal_cost[s] : 0};
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.column < b.column; });
  for (std::size_t s = 0; s < k; ++s) {
    solution.support[s] = entries[s].column;
    solution.beta[s] = entries[s].beta;
    if (costs) solution.removal_cost[s] = entries[s].cost;
  }
}

}  // namespace ellzero
