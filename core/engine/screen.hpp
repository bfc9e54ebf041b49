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
#include <cstdint>
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
        ranks_(entries_.ranks()),
        columns_(quadratic.columns()),
        known_(z.response(), z.response() + z.rows()),
        residual_(known_),
        leverage_(z.rows(), 0.0),
        work_(z.rows()) {
    const Index p = quadratic.columns();
    std::vector<double> length(p), size(p);
    for (Index r = 0; r < z_.rows(); ++r) work_[r] = root_weight(r);
    entries_.column_sums(work_.data(), SparseEntries::Sign::dropped, length.data(), context_);
    for (Index j = 0; j < p; ++j) {
      length[j] *= quadratic.inverse_scale[j];
      size[j] = std::fabs(quadratic.zy[j]);
    }
    const Index few = entries_.frequent();
    std::vector<double> order(size);
    highest_ = largest_but(order, few);
    std::vector<Index> first;
    for (Index j = 0; j < p; ++j) {
      const bool many = ranks_[j] < few;
      if (many || size[j] > highest_) first.push_back(j);
      if (!many && !active_.has(j)) longest_ = std::max(longest_, length[j]);
    }
    // Room for leverage, that of some members spread evenly, so that the first cost nothing.
    const double room = std::sqrt(kExpected / static_cast<double>(z_.rows()));
    root_leverage_.assign(z_.rows(), std::min(room, 0.7 * kShare / longest_));
    for (Index j = 0; j < p; ++j) {
      column(j) = {quadratic.zy[j], length[j] * root_leverage_[0], quadratic.inverse_scale[j], j};
    }
    active_.join(first);
    leave_out(active_.columns());
  }

  // These are active now.
  void leave_out(const std::vector<Index>& columns) {
    for (const Index j : columns) column(j) = {0, 0, 0, j};
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
    std::sort(joining.begin(), joining.end());
    joining.erase(std::unique(joining.begin(), joining.end()), joining.end());
    return joining;
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
      if (touched > kManyRows * z_.columns().entries()) {
        know_all();
      } else {
        know_rows(far);
      }
    }
    if (reach() < bound) return joining;
    const double least = 0.65 * bound;
    highest_ = 0;
    for (const Column& at : columns_) {
      if (std::fabs(at.c) > least) {
        joining.push_back(at.column);
      } else {
        highest_ = std::max(highest_, std::fabs(at.c));
      }
    }
    std::sort(joining.begin(), joining.end());
    return joining;
  }

 private:
  static constexpr double kExpected = 32;  // members
  // If rows hold more of the entries than this, all are gone through, column by column.
  static constexpr double kManyRows = 0.15, kManyRaised = 0.05;
  // Bounds are known to rounding only, their own and that of what was added to them.
  static constexpr double kInflated = 1 + 1e-9, kRounding = 1e-12;
  // Of columns that depend on others nothing new is known.
  static constexpr double kLeastPivot = 1e-13;

  // What is known of a column; all is zero of those that are active.
  struct Column {
    double c;          // c^_i
    double explained;  // no less than |P z_i|
    double scale;
    Index column;
  };

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

  // Hands the sum over rows of x~ work, or of |x~| work, to take(column), of all but active
  // columns.
  template <class Take>
  void sum_all(SparseEntries::Sign sign, Take&& take) {
    for (Index r = 0; r < z_.rows(); ++r) work_[r] *= root_weight(r);
    std::vector<double> sums(columns_.size());
    entries_.column_sums(work_.data(), sign, sums.data(), context_);
    for (Index j = 0; j < quadratic_.columns(); ++j) {
      Column& at = column(j);
      if (at.scale > 0) take(at, sums[j] * at.scale);
    }
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
    work_ = known_ = residual_;
    farthest_ = highest_ = 0;
    sum_all(SparseEntries::Sign::kept, [&](Column& at, double c) {
      at.c = c;
      highest_ = std::max(highest_, std::fabs(c));
    });
  }

  void know_rows(double far) {
    farthest_ = 0;
    for (Index r = 0; r < z_.rows(); ++r) {
      const double change = residual_[r] - known_[r];
      if (!is_far(r, far)) {
        farthest_ = std::max(farthest_, std::fabs(change));
        continue;
      }
      known_[r] = residual_[r];
      const double weighted = change * root_weight(r);
      for (const auto& entry : entries_.row(r).others) {
        Column& at = columns_[entry.rank];
        at.c += weighted * entry.value * at.scale;
        highest_ = std::max(highest_, std::fabs(at.c));
      }
    }
  }

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
    // Some more than that, so that the next member need not go through the same rows.
    const auto bound = [&](Index r) { return 1.1 * std::sqrt(leverage_[r]); };
    if (touched > kManyRaised * z_.columns().entries()) {
      const double mean = static_cast<double>(basis_of_.size()) / static_cast<double>(z_.rows());
      for (Index r = 0; r < z_.rows(); ++r) {
        const double ample = 1.5 * std::max(bound(r), std::sqrt(mean));
        work_[r] = root_leverage_[r] = std::max(root_leverage_[r], ample);
      }
      sum_all(SparseEntries::Sign::dropped, [&](Column& at, double explained) {
        at.explained = explained;
        if (explained > kShare) joining.push_back(at.column);
      });
      return;
    }
    for (const Index r : raised) {
      const double rise = (bound(r) - root_leverage_[r]) * root_weight(r);
      root_leverage_[r] = bound(r);
      for (const auto& entry : entries_.row(r).others) {
        Column& at = columns_[entry.rank];
        at.explained += rise * std::fabs(entry.value) * at.scale;
        if (at.explained > kShare) joining.push_back(at.column);
      }
    }
  }

  const Quadratic& quadratic_;
  const PreparedColumns& z_;
  const SparseEntries& entries_;
  ActiveColumns& active_;
  const Context context_;
  const std::vector<std::int32_t>& ranks_;
  Column& column(Index j) { return columns_[ranks_[j]]; }
  std::vector<Column> columns_;  // by rank
  double longest_ = 1e-300;      // l_i of the columns that are not active
  double highest_ = 0;           // and their |c^_i|
  std::vector<double> known_;    // r^
  // r where the members stand, and how far that is from r^ in any row
  std::vector<double> residual_;
  double farthest_ = 0;
  // Columns that have been members; of those that do not depend on others, an orthonormal basis
  std::vector<Index> ever_, basis_of_;
  Factor basis_;
  std::vector<double> leverage_;       // h
  std::vector<double> root_leverage_;  // no less than its root
  std::vector<double> work_;
};

}  // namespace ellzero
