// What all groups would see of a support without some of its members. With C C' = [A^-1]_hh for
// those that leave, W = C^-1 [A^-1]_h: and rho = C^-1 beta_h, and T = G_{:,S} W',
//
//   c + T rho   and   D_g + T_g T_g'
//
// So all swaps for h are one pass over the Gram columns of S and one elimination per group.
//
// Most groups need no T where only a gain matters: since T_g T_g' <= (1 + tau) I - D_g, swapping h
// for g gains nothing unless
//
//   |rho| < sqrt(c_g' D_g^-1 c_g) (s + sqrt(1 + s^2)),   s^2 = (1 + tau) / least eigenvalue of D_g
//                                                              - 1
//
// Members for which that holds for no group need no more, and of those groups for which it holds
// for some member swap_bounds.hpp may rule out others. What is left is taken out, and T is made for
// it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/group_stand.hpp"
#include "engine/swap_bounds.hpp"

namespace ellzero {

class GroupSwaps {
 public:
  explicit GroupSwaps(const GroupBases& bases) : some_(bases), left_(bases) {}

  // Nothing that was worked out is true any more.
  void forget() { knows_reach_ = knows_pairs_ = selected_ = false; }

  // Whether a member whose removal costs as much may be swapped for some group at a gain.
  bool reaches(const GroupStand& at, double cost) {
    if (!knows_reach_) find_reach(at);
    return 2 * cost < furthest_;
  }
  // Whether a unit may be; `least_cost` is that of the member whose removal costs least.
  bool may_leave(const GroupStand& at, Index unit, double least_cost) {
    if (!knows_pairs_) find_pairs(at, least_cost);
    return may_leave_[unit] != 0;
  }

  // The rows of W, and rho for their q, for the members at some places.
  const FlipRows& rows_without(const GroupStand& at, const std::vector<Index>& places) {
    const Index k = at.size(), m = static_cast<Index>(places.size());
    at.factor.inverse_rows(places, inverse_);
    rows_.clear(k);
    c_.resize(triangle(m));
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j <= i; ++j) {
        double sum = inverse_[i * k + places[j]];
        for (Index l = 0; l < j; ++l) sum -= c_[triangle(i, l)] * c_[triangle(j, l)];
        // Of independent columns no pivot is down to rounding.
        c_[triangle(i, j)] = i == j ? std::sqrt(std::max(sum, 1e-300)) : sum / c_[triangle(j, j)];
      }
      double* row = rows_.add(0);
      double q = at.factor.beta()[places[i]];
      std::copy_n(inverse_.data() + i * k, k, row);
      for (Index l = 0; l < i; ++l) {
        const double *before = rows_.row(l), factor = c_[triangle(i, l)];
        for (Index s = 0; s < k; ++s) row[s] -= factor * before[s];
        q -= factor * rows_.q[l];
      }
      for (Index s = 0; s < k; ++s) row[s] /= c_[triangle(i, i)];
      rows_.q[i] = q / c_[triangle(i, i)];
    }
    return rows_;
  }

  // The gains of all groups without them; if only swaps matter that lower the energy, those that
  // can't are left at -1/2. `least_cost` is that of the member whose removal costs least.
  const Blocks& without(const GroupStand& at, const std::vector<Index>& places, bool lowering,
                        double least_cost, std::vector<double>& gain, std::vector<double>& rank) {
    rows_without(at, places);
    if (!lowering) {
      left_.copy_from(at.blocks);
      left_.combine(at.gram, rows_, t_);
      left_.apply(t_, rows_, +1);
      left_.gains(gain, rank);
      return left_;
    }
    if (!selected_) select(at, least_cost);
    moved_.copy_layout(some_);
    moved_.copy_from(some_);
    moved_.combine(gathered_columns_, rows_, t_);
    moved_.apply(t_, rows_, +1);
    moved_.gains(gain, rank);
    return moved_;
  }

 private:
  // How large |rho|^2 may be for every group.
  void find_reach(const GroupStand& at) {
    at.blocks.gains(gain_, rank_, &least_);
    furthest_ = 0;
    reach_.assign(gain_.size(), 0);
    for (std::size_t unit = 0; unit < gain_.size(); ++unit) {
      if (!(gain_[unit] > 0)) continue;
      const double ratio = least_[unit] > 0 ? std::max(0.0, at.whole / least_[unit] - 1)
                                            : std::numeric_limits<double>::infinity();
      const double stretch = std::sqrt(ratio) + std::sqrt(1 + ratio);
      reach_[unit] = 2 * gain_[unit] * stretch * stretch * (1 + 1e-9);
      furthest_ = std::max(furthest_, reach_[unit]);
    }
    knows_reach_ = true;
  }

  // Who may be swapped for whom. Where groups in reach have more columns than the members, bounds
  // take longer than they save.
  void find_pairs(const GroupStand& at, double least_cost) {
    if (!knows_reach_) find_reach(at);
    wanted_.clear();
    Index columns = 0;
    for (std::size_t unit = 0; unit < reach_.size(); ++unit) {
      wanted_.push_back(reach_[unit] > 2 * least_cost);
      if (wanted_[unit]) columns += at.bases.units[unit].width();
    }
    may_leave_.assign(wanted_.size(), 1);
    if (columns <= at.size()) {
      in_reach_.swap(wanted_);
      bounds_.find(at, in_reach_, gain_, may_leave_, wanted_);
    }
    knows_pairs_ = true;
  }

  // Takes out the groups that can gain anything for some member.
  void select(const GroupStand& at, double least_cost) {
    if (!knows_pairs_) find_pairs(at, least_cost);
    some_.select(at.blocks, wanted_, selected_columns_);
    const Index count = static_cast<Index>(selected_columns_.size()), k = at.size();
    gathered_.resize(k * count);
    gathered_columns_.resize(k);
    for (Index s = 0; s < k; ++s) {
      double* to = gathered_.data() + s * count;
      const double* from = at.gram[s];
      for (Index i = 0; i < count; ++i) to[i] = from[selected_columns_[i]];
      gathered_columns_[s] = to;
    }
    selected_ = true;
  }

  std::vector<double> inverse_;
  FlipRows rows_;
  std::vector<double> c_, t_;
  bool knows_reach_ = false, knows_pairs_ = false, selected_ = false;
  double furthest_ = 0;  // |rho|^2 above this is beyond the reach of every group
  std::vector<double> gain_, rank_, least_, reach_;
  std::vector<char> in_reach_, wanted_, may_leave_;
  SwapBounds bounds_;
  std::vector<Index> selected_columns_;
  std::vector<double> gathered_;
  std::vector<const double*> gathered_columns_;
  Blocks some_, left_;
  Blocks moved_{left_.bases()};
};

}  // namespace ellzero
