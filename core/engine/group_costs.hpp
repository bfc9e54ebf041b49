// What removing members costs: half of beta_h' ([A^-1]_hh)^-1 beta_h, where [A^-1]_hh = M_h'M_h.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/group_swaps.hpp"

namespace ellzero {

class GroupCosts {
 public:
  // Of the columns at some places, increasing, together.
  double operator()(const GroupStand& at, const std::vector<Index>& places) {
    const Index m = static_cast<Index>(places.size());
    block_.assign(triangle(m), 0.0);
    beta_.resize(m);
    for (Index i = 0; i < m; ++i) beta_[i] = at.factor.beta()[places[i]];
    if (places.back() - places.front() + 1 == m) {
      lower_block(at.factor.row(0), at.factor.stride(), at.size(), places.front(), m,
                  block_.data());
      return std::max(0.0, eliminate(block_, beta_, 0.0));
    }
    for (Index r = places.front(); r < at.size(); ++r) {
      const double* row = at.factor.row(r);
      double* to = block_.data();
      for (Index i = 0; i < m && places[i] <= r; ++i) {
        const double value = row[places[i]];
        for (Index j = 0; j <= i; ++j) *to++ += value * row[places[j]];
      }
    }
    return std::max(0.0, eliminate(block_, beta_, 0.0));
  }

  // Of every member by itself. Where the columns of each are together and few, their blocks lie
  // along the diagonal of A^-1, and all are made at once; elsewhere none is: false.
  bool of_all(const GroupStand& at, const std::vector<Index>& members, std::vector<double>& costs) {
    if (!lie_together(at, members)) return false;
    costs.clear();
    const Index k = at.size(), widest = *std::max_element(widths_.begin(), widths_.end());
    bands_.resize(widest * k);
    lower_bands(at.factor.row(0), at.factor.stride(), k, widest, bands_.data());
    Index begin = 0;
    for (const Index m : widths_) {
      block_.resize(triangle(m));
      beta_.assign(at.factor.beta().begin() + begin, at.factor.beta().begin() + begin + m);
      for (Index i = 0; i < m; ++i) {
        for (Index j = 0; j <= i; ++j) {
          block_[triangle(i, j)] = bands_[(i - j) * k + begin + j];
        }
      }
      costs.push_back(std::max(0.0, eliminate(block_, beta_, 0.0)));
      begin += m;
    }
    return true;
  }

  // No more than the cost of every member, by unit: to remove one of its columns costs no more.
  void bounds(const GroupStand& at, std::vector<double>& bounds) const {
    constexpr double kRounded = 1 - 1e-6;
    bounds.assign(at.bases.units.size(), 0.0);
    for (Index s = 0; s < at.size(); ++s) {
      double& bound = bounds[at.bases.unit_of[at.columns[s]]];
      const double beta = at.factor.beta()[s];
      bound = std::max(bound, kRounded * 0.5 * beta * beta / at.factor.inverse_diagonal()[s]);
    }
  }

 private:
  static constexpr Index kBands = 8;

  bool lie_together(const GroupStand& at, const std::vector<Index>& members) {
    widths_.clear();
    Index begin = 0;
    for (const Index unit : members) {
      Index end = begin;
      while (end < at.size() && at.bases.unit_of[at.columns[end]] == unit) ++end;
      if (end == begin || end - begin > kBands) return false;
      widths_.push_back(end - begin);
      begin = end;
    }
    return begin == at.size() && begin > 0;
  }

  std::vector<Index> widths_;
  std::vector<double> block_, beta_, bands_;
};

}  // namespace ellzero
