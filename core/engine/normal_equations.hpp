// Least squares on a support, as far as other columns are not asked for: a unit is a column, and
// with G = Z'Z, b = Z'y, a ridge tau >= 0 (one number, or one per column) and A = G_SS +
// diag(tau_S), the energy of S is
//
//   E(S) = min over beta of 1/2 |y - Z_S beta|^2 + 1/2 sum tau_i beta_i^2
//        = 1/2 (y'y - b_S'A^-1 b_S)
//
// Removing r raises it by beta_r^2 / (2 [A^-1]_rr).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "data/quadratic.hpp"
#include "engine/engine.hpp"
#include "engine/factor.hpp"
#include "engine/refine.hpp"
#include "engine/scores.hpp"

namespace ellzero {

class NormalEquations : public Engine {
 public:
  static constexpr double kSpan = Scores::kSpan;
  // A column that is in already is kept down to this.
  static constexpr double kKept = 1e-3 * kSpan;

  Index columns() const { return quadratic_.columns(); }
  Index units() const override { return columns(); }
  Index size() const override { return static_cast<Index>(members_.size()); }
  const std::vector<Index>& members() const override { return members_; }
  double energy() const override { return std::max(0.0, 0.5 * (yy_ - factor_.explained())); }
  double loss() const override { return energy() - ridge_energy(beta()); }
  double rounding() const override { return Scores::kRounding * 0.5 * yy_; }

  // In the order of members().
  const std::vector<double>& beta() const { return factor_.beta(); }
  const std::vector<double>& inverse_diagonal() const { return factor_.inverse_diagonal(); }
  double ridge_of(Index i) const { return ridge_.size() == 1 ? ridge_[0] : ridge_[i]; }
  // log det A
  double log_determinant() const { return factor_.log_determinant(); }
  // The part of the energy of coefficients `beta` that is 1/2 sum tau_i beta_i^2.
  double ridge_energy(const std::vector<double>& beta) const {
    double sum = 0;
    if (ridge_.size() == 1 && ridge_[0] == 0) return sum;
    for (Index s = 0; s < size(); ++s) sum += 0.5 * ridge_of(members_[s]) * beta[s] * beta[s];
    return sum;
  }
  // M'v: of covariance A^-1 if v is of covariance I.
  std::vector<double> transposed_times(const std::vector<double>& v) const {
    return factor_.transposed_times(v);
  }

  double removal_cost(Index position) const override {
    return 0.5 * beta()[position] * beta()[position] / inverse_diagonal()[position];
  }
  Removal cheapest_removal(const Limits& limits) const override {
    constexpr Index kTogether = 64;
    double cost[kTogether];
    Removal best;
    for (Index begin = 0; begin < size(); begin += kTogether) {
      const Index count = std::min(kTogether, size() - begin);
      removal_costs(beta().data() + begin, inverse_diagonal().data() + begin, count, cost);
      for (Index r = 0; r < count; ++r) {
        if (cost[r] < best.cost && !limits.is_forced(members_[begin + r])) {
          best = {begin + r, cost[r]};
        }
      }
    }
    return best;
  }

  Solution solve(const Context& context) const override {
    Solution solution{members_, beta(), {}, 0, 0, 0};
    double rss = std::numeric_limits<double>::quiet_NaN();
    if (!well_conditioned()) {
      std::vector<double> ridges;
      for (const Index j : members_) ridges.push_back(ridge_of(j));
      rss = refine(quadratic_, factor_, members_, ridges, solution.beta, context);
    }
    solution.ridge_energy = ridge_energy(solution.beta);
    solution.rss = rss;
    if (std::isnan(rss)) solution.set_energy(energy());
    solution.removal_cost.reserve(members_.size());
    for (Index s = 0; s < size(); ++s) {
      solution.removal_cost.push_back(NormalEquations::removal_cost(s));
    }
    sort_by_column(solution);
    return solution;
  }
  // For comparisons between models: it need not have all the digits of the data.
  bool solve_at_once(Solution& solution) const override {
    if (!predicts_well()) return false;
    solution.support = members_;
    solution.beta = beta();
    solution.removal_cost.clear();
    solution.ridge_energy = ridge_energy(beta());
    solution.set_energy(energy());
    return true;
  }

 protected:
  // `ridge` is one number, or one per column. The quadratic outlives this.
  NormalEquations(const Quadratic& quadratic, std::vector<double> ridge)
      : quadratic_(quadratic), ridge_(std::move(ridge)), yy_(quadratic.yy) {}
  NormalEquations(const NormalEquations&) = delete;
  NormalEquations& operator=(const NormalEquations&) = delete;

  const std::vector<double>& zy() const { return zy_.empty() ? quadratic_.zy : zy_; }

  // Positions of the members that may leave.
  std::vector<Index> movable(const Limits& limits) const {
    std::vector<Index> out;
    out.reserve(members_.size());
    for (Index r = 0; r < size(); ++r) {
      if (!limits.is_forced(members_[r])) out.push_back(r);
    }
    return out;
  }

  // d_i of the empty support. A dead column has none, ridge or not: it can't be inserted.
  double whole(Index i) const { return quadratic_.inverse_scale[i] > 0 ? 1 + ridge_of(i) : 0; }
  std::vector<double> wholes() const {
    std::vector<double> out(columns());
    for (Index i = 0; i < columns(); ++i) out[i] = whole(i);
    return out;
  }
  double largest_whole() const { return 1 + *std::max_element(ridge_.begin(), ridge_.end()); }
  // Of A^-1.
  double trace() const {
    double sum = 0;
    for (const double inverse : inverse_diagonal()) sum += inverse;
    return sum;
  }

  double largest_inflation() const {
    const std::vector<double>& inflation = inverse_diagonal();
    return inflation.empty() ? 0 : *std::max_element(inflation.begin(), inflation.end());
  }
  // Whether normal equations leave all but two or three digits: no member is nearly explained by
  // the others, and y not nearly by them all.
  bool well_conditioned() const {
    constexpr double kInflation = 100, kUnexplained = 1e-3;
    return largest_inflation() < kInflation && energy() > kUnexplained * 0.5 * yy_;
  }
  // Whether they leave six digits or more of the error of predictions. With an error E of the Gram
  // matrix, of some ten epsilon, that of the fit is Z A^-1 E beta: at most about |E| |beta| times
  // the root of the largest inflation; that of the energy is epsilon y'y.
  bool predicts_well() const {
    constexpr double kDigits = 1e-8, kEpsilon = std::numeric_limits<double>::epsilon();
    const double square = dot(beta().data(), beta().data(), size());
    const double error = kEpsilon * std::sqrt(largest_inflation() * square);
    return error < kDigits * std::sqrt(2 * energy()) && kEpsilon * yy_ < kDigits * 2 * energy();
  }

  const Quadratic& quadratic_;
  std::vector<double> ridge_;
  std::vector<double> zy_;  // of another response than the quadratic's; else empty
  double yy_;
  std::vector<Index> members_;
  Factor factor_;
};

}  // namespace ellzero
