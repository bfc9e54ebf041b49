// Which columns of a sparse X can't matter, told without looking at them.
//
// Columns are looked at as X~ = diag(sqrt(w)) X diag(f), not centred: residuals and fits are
// orthogonal to sqrt(w), so that x~_i'r = z_i'r for any residual r. With l_i = |x~_i|_1 and r^ a
// residual for which all c^_i = x~_i'r^ are known,
//
//   |c_i| <= |c^_i| + l_i max over rows of |r - r^|
//
// Rows in which r has gone far from r^ are taken into r^ and c^, which costs the entries of these
// rows. And with h the diagonal of the projection P onto all columns that have ever been members,
//
//   d_i >= G_ii + tau_i - |P z_i|^2,   |P z_i| <= sum over rows of |x~_i| sqrt(h)
//
// which is kept as an upper bound, by rows of larger h, in the same way. So a column is either
// active, with its products with the members, or it is known that
//
//   |c_i| <= reach,   |P z_i| <= kShare
//
// Columns with many entries are active from the start, and so are those of large |z_i'y|.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "data/active_columns.hpp"
#include "engine/factor.hpp"

namespace ellzero {

class Screen {
 public:
  // What members explain of a column that is not active is less than the square of this.
  static constexpr double kShare = 0.25;

  Screen(const Quadratic& quadratic, const PreparedColumns& z, ActiveColumns& active,
         const Context& context)
      : quadratic_(quadratic),
        z_(z),
        entries_(active.entries()),
        active_(active),
        context_(context),
        known_(z.response(), z.response() + z.rows()),
        c_(quadratic.zy),
        residual_(known_),
        work_(z.rows()),
        marked_(quadratic.columns(), 0) {
    const Index p = quadratic.columns();
    length_.resize(p);
    explained_.resize(p);
    for (Index r = 0; r < z_.rows(); ++r) work_[r] = root_weight(r);
    sums(work_, SparseEntries::Sign::dropped, length_);
    std::vector<double> order(length_);
    const Index few = std::min(p, std::max(kFewest, p / kFirst));
    longest_ = largest_but(order, few);
    for (Index j = 0; j < p; ++j) order[j] = std::fabs(c_[j]);
    highest_ = largest_but(order, few);
    std::vector<Index> first;
    for (Index j = 0; j < p; ++j) {
      if (length_[j] > longest_ || std::fabs(c_[j]) > highest_) first.push_back(j);
    }
    active_.join(first);
    // Room for leverage, so that the first members cost nothing.
    root_leverage_.assign(z_.rows(), 0.5 * kShare / std::max(longest_, 1e-300));
    for (Index j = 0; j < p; ++j) explained_[j] = length_[j] * root_leverage_[0];
    leverage_.assign(z_.rows(), 0.0);
  }

  // Says what the members are, with their coefficients. The columns that this returns have to be
  // made active.
  std::vector<Index> stand_at(const std::vector<Index>& members, const std::vector<double>& beta) {
    std::vector<Index> joining;
    for (const Index j : members) {
      if (std::find(ever_.begin(), ever_.end(), j) == ever_.end()) widen(j, joining);
    }
    fit(members, beta, residual_);
    const double* y = z_.response();
    farthest_ = 0;
    for (Index r = 0; r < z_.rows(); ++r) {
      residual_[r] = y[r] - residual_[r];
      farthest_ = std::max(farthest_, std::fabs(residual_[r] - known_[r]));
    }
    return finished(joining);
  }

  // No column that is not active has a larger |c_i|.
  double reach() const {
    return kInflated * (highest_ + longest_ * farthest_) + kRounding * std::sqrt(quadratic_.yy);
  }

  // Brings the reach below a bound, if it can be, where the members stand. The columns that this
  // returns have to be made active.
  std::vector<Index> tighten(double bound) {
    std::vector<Index> joining;
    const double far = 0.25 * bound / longest_;
    if (farthest_ > far) {
      double touched = 0;
      for (Index r = 0; r < z_.rows(); ++r) {
        if (is_far(r, far)) touched += static_cast<double>(entries_.row(r).size());
      }
      if (touched > kMostOfThem * z_.columns().entries()) {
        know_all();
      } else {
        know_rows(far);
      }
    }
    if (reach() < bound) return joining;
    const double least = 0.65 * bound;
    highest_ = 0;
    for (Index j = 0; j < quadratic_.columns(); ++j) {
      if (active_.has(j)) continue;
      if (std::fabs(c_[j]) > least) {
        joining.push_back(j);
      } else {
        highest_ = std::max(highest_, std::fabs(c_[j]));
      }
    }
    return joining;
  }

 private:
  // One column in so many is active at first, and no fewer than these.
  static constexpr Index kFirst = 64, kFewest = 256;
  // More of the entries than this are gone through column by column.
  static constexpr double kMostOfThem = 0.3;
  // Bounds are known to rounding only, their own and that of what was added to them.
  static constexpr double kInflated = 1 + 1e-9, kRounding = 1e-12;
  // Of columns that depend on others nothing new is known.
  static constexpr double kLeastPivot = 1e-13;

  double root_weight(Index r) const {
    const double* root = z_.standardisation().root_weight;
    return root ? root[r] : 1.0;
  }

  // The largest number but for `few`; reorders them.
  static double largest_but(std::vector<double>& numbers, Index few) {
    if (few >= static_cast<Index>(numbers.size())) return 0;
    std::nth_element(numbers.begin(), numbers.begin() + few, numbers.end(), std::greater<double>());
    return numbers[few];
  }

  // out_j = sum over rows of x~_j v / sqrt(w), with v already times sqrt(w).
  void sums(const std::vector<double>& v, SparseEntries::Sign sign, std::vector<double>& out) {
    entries_.column_sums(v.data(), sign, out.data(), context_);
    for (Index j = 0; j < quadratic_.columns(); ++j) out[j] *= quadratic_.inverse_scale[j];
  }

  // Z_S beta
  void fit(const std::vector<Index>& members, const std::vector<double>& beta,
           std::vector<double>& out) const {
    std::fill(out.begin(), out.end(), 0.0);
    double shift = 0;
    for (std::size_t s = 0; s < members.size(); ++s) {
      const double coefficient = beta[s] * quadratic_.inverse_scale[members[s]];
      entries_.add_column(members[s], coefficient, out.data());
      shift += coefficient * quadratic_.mean[members[s]];
    }
    for (Index r = 0; r < z_.rows(); ++r) out[r] = (out[r] - shift) * root_weight(r);
  }

  bool is_far(Index r, double far) const { return std::fabs(residual_[r] - known_[r]) > far; }

  void know_all() {
    for (Index r = 0; r < z_.rows(); ++r) work_[r] = residual_[r] * root_weight(r);
    sums(work_, SparseEntries::Sign::kept, c_);
    known_ = residual_;
    farthest_ = highest_ = 0;
    for (Index j = 0; j < quadratic_.columns(); ++j) {
      if (!active_.has(j)) highest_ = std::max(highest_, std::fabs(c_[j]));
    }
  }

  void know_rows(double far) {
    farthest_ = 0;
    std::vector<Index> rows;
    for (Index r = 0; r < z_.rows(); ++r) {
      const double change = residual_[r] - known_[r];
      if (!is_far(r, far)) {
        farthest_ = std::max(farthest_, std::fabs(change));
        continue;
      }
      rows.push_back(r);
      const double weighted = change * root_weight(r);
      for (const auto& entry : entries_.row(r)) {
        c_[entry.column] += weighted * entry.value * inverse_scale(entry.column);
      }
      known_[r] = residual_[r];
    }
    for (const Index r : rows) {
      for (const auto& entry : entries_.row(r)) {
        const double size = std::fabs(c_[entry.column]);
        if (size > highest_ && !active_.has(entry.column)) highest_ = size;
      }
    }
  }

  double inverse_scale(Index j) const { return quadratic_.inverse_scale[j]; }

  // One more column that has been a member: what all of them explain grows.
  void widen(Index j, std::vector<Index>& joining) {
    context_.check();
    ever_.push_back(j);
    std::vector<double> gram(active_.size()), cross;
    active_.gram_column(j, gram.data(), context_);
    for (const Index i : basis_of_) cross.push_back(gram[active_.number(i)]);
    FlipRow row;
    const double pivot = basis_.new_row(cross.data(), 1.0, 0.0, kLeastPivot, row);
    if (!(pivot > 0)) return;
    basis_.append(row, 0.0);
    basis_of_.push_back(j);
    fit(basis_of_, row.a, work_);
    std::vector<Index> raised;
    double touched = 0;
    for (Index r = 0; r < z_.rows(); ++r) {
      leverage_[r] += work_[r] * work_[r];
      if (leverage_[r] <= root_leverage_[r] * root_leverage_[r]) continue;
      raised.push_back(r);
      touched += static_cast<double>(entries_.row(r).size());
    }
    const auto bound = [&](Index r) { return 1.5 * std::sqrt(leverage_[r]); };
    if (touched > kMostOfThem * z_.columns().entries()) {
      for (Index r = 0; r < z_.rows(); ++r) {
        root_leverage_[r] = std::max(root_leverage_[r], bound(r));
        work_[r] = root_leverage_[r] * root_weight(r);
      }
      sums(work_, SparseEntries::Sign::dropped, explained_);
      for (Index i = 0; i < quadratic_.columns(); ++i) {
        if (explained_[i] > kShare) note(i, joining);
      }
      return;
    }
    for (const Index r : raised) {
      const double rise = (bound(r) - root_leverage_[r]) * root_weight(r);
      root_leverage_[r] = bound(r);
      for (const auto& entry : entries_.row(r)) {
        const Index i = entry.column;
        explained_[i] += rise * std::fabs(entry.value) * inverse_scale(i);
        if (explained_[i] > kShare) note(i, joining);
      }
    }
  }

  void note(Index j, std::vector<Index>& joining) {
    if (active_.has(j) || marked_[j]) return;
    marked_[j] = 1;
    joining.push_back(j);
  }
  std::vector<Index> finished(std::vector<Index>& joining) {
    for (const Index j : joining) marked_[j] = 0;
    std::sort(joining.begin(), joining.end());
    return std::move(joining);
  }

  const Quadratic& quadratic_;
  const PreparedColumns& z_;
  const SparseEntries& entries_;
  ActiveColumns& active_;
  const Context context_;
  std::vector<double> length_;  // l_i
  double longest_ = 0;          // of the columns that are not active
  // r^, c^, and the largest |c^_i| of the columns that are not active
  std::vector<double> known_, c_;
  double highest_ = 0;
  // r where the members stand, and how far that is from r^ in any row
  std::vector<double> residual_;
  double farthest_ = 0;
  // Columns that have been members; of those that do not depend on others, an orthonormal basis
  std::vector<Index> ever_, basis_of_;
  Factor basis_;
  std::vector<double> leverage_;       // h
  std::vector<double> root_leverage_;  // no less than its root
  std::vector<double> explained_;      // the sum over rows of |x~_i| times that
  std::vector<double> work_;
  std::vector<char> marked_;
};

}  // namespace ellzero
