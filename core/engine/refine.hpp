// The coefficients of a support to the accuracy of the data rather than of the Gram matrix.
//
// Normal equations square the condition number. Iterative refinement on true residuals gives the
// digits back, where there are rows to take residuals of. Energies do not tell whether a step is
// good: near the least one they differ by the square of what coefficients do, which rounding hides.
// That steps become shorter does.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "data/quadratic.hpp"
#include "engine/factor.hpp"

namespace ellzero {

// Refines beta, in the order of the members; `ridges` are theirs. Returns |y - Z_S beta|^2, NaN
// where there are no rows.
inline double refine(const Quadratic& quadratic, const Factor& factor,
                     const std::vector<Index>& members, const std::vector<double>& ridges,
                     std::vector<double>& beta, const Context& context) {
  // Relative steps: one that is none, and one after which there is none, since a round leaves about
  // such a share of what is wrong as it was of the coefficients.
  constexpr double kNone = 1e-14, kLast = 1e-7;
  constexpr double kRounding = 1e-12;  // of energies
  const Index k = factor.size();
  std::vector<double> products(k), refined(k);
  double rss = quadratic.residual_products(members, beta.data(), products.data(), context);
  if (std::isnan(rss) || k == 0) return rss;
  const auto energy_of = [&](double its_rss, const std::vector<double>& at) {
    double sum = its_rss;
    for (Index s = 0; s < k; ++s) sum += ridges[s] * at[s] * at[s];
    return 0.5 * sum;
  };
  double energy = energy_of(rss, beta);
  double last = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 4; ++round) {
    for (Index s = 0; s < k; ++s) products[s] -= ridges[s] * beta[s];
    const std::vector<double> step = factor.solve(products);
    double change = 0, length = 0;
    for (Index s = 0; s < k; ++s) {
      change = std::max(change, std::fabs(step[s]));
      length = std::max(length, std::fabs(beta[s]));
      refined[s] = beta[s] + step[s];
    }
    if (change <= kNone * length || !(change < 0.5 * last)) break;
    // The energy falls by half of this, and that of the ridges is known.
    const double lower = dot(step.data(), products.data(), k);
    if (change <= kLast * length && lower <= kLast * energy) {
      const double before = energy_of(0, beta);
      beta = refined;
      return rss - lower - 2 * (energy_of(0, beta) - before);
    }
    const double refined_rss =
        quadratic.residual_products(members, refined.data(), products.data(), context);
    const double refined_energy = energy_of(refined_rss, refined);
    if (!(refined_energy <= (1 + kRounding) * energy)) break;
    beta = refined;
    rss = refined_rss;
    energy = refined_energy;
    last = change;
  }
  return rss;
}

}  // namespace ellzero
