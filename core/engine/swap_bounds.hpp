// Which members could be swapped for which groups at a gain. With g in the support beside h, that
// is so if removing h costs less than g has gained, and removing h costs no less than removing any
// of its columns i,
//
//   1/2 (beta_i - V_i z)^2 / ([A^-1]_ii + |V_i|^2),   V = A^-1 G_Sg L^-T,  z = L^-1 c_g,
//                                                     D_g = L L'
//
// So one solution by A for each column of g bounds its swaps for all members.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/group_stand.hpp"

namespace ellzero {

class SwapBounds {
 public:
  // By unit: whether it may leave for some of the groups that are wanted, and whether it is one of
  // these and may enter for some member. `gain` is what each group gains.
  void find(const GroupStand& at, const std::vector<char>& wanted, const std::vector<double>& gain,
            std::vector<char>& may_leave, std::vector<char>& may_enter) {
    may_leave.assign(wanted.size(), 0);
    may_enter.assign(wanted.size(), 0);
    for (std::size_t g = 0; g < wanted.size(); ++g) {
      if (!wanted[g]) continue;
      const double known = insert(at, static_cast<Index>(g));
      least_.assign(wanted.size(), 0.0);
      for (Index s = 0; s < at.size() && known > 0; ++s) {
        double& least = least_[at.bases.unit_of[at.columns[s]]];
        least = std::max(least, known * 0.5 * beta_[s] * beta_[s] / diagonal_[s]);
      }
      for (const Index column : at.columns) {
        const Index h = at.bases.unit_of[column];
        if (least_[h] >= gain[g]) continue;
        may_leave[h] = may_enter[g] = 1;
      }
    }
  }

 private:
  // Pivots are known to about the first; of those below the second too few digits are.
  static constexpr double kRounding = 1e-10, kSound = 1e-8;

  // Coefficients of the members and the diagonal of A^-1 with a group among them. Returns what
  // share of a bound is sure: less the smaller a pivot is, 0 if one is too small.
  double insert(const GroupStand& at, Index unit) {
    const Index k = at.size(), width = at.bases.units[unit].width();
    beta_ = at.factor.beta();
    diagonal_ = at.factor.inverse_diagonal();
    l_.resize(triangle(width));
    z_.resize(width);
    v_.resize(width * k);
    double least = 1;
    for (Index i = 0; i < width; ++i) {
      if (i % kPanelVectors == 0) solve_some(at, unit, i, std::min(width, i + kPanelVectors));
      double *own = l_.data() + triangle(i), pivot = 0;
      for (Index j = 0; j <= i; ++j) {
        const double* other = l_.data() + triangle(j);
        const double left = at.blocks.d(unit, i, j) - dot(own, other, j);
        if (j == i) {
          pivot = left;
        } else {
          own[j] = left / other[j];
        }
      }
      if (!(pivot > kSound)) return 0;
      least = std::min(least, pivot);
      own[i] = std::sqrt(pivot);
      z_[i] = (at.blocks.c(unit, i) - dot(own, z_.data(), i)) / own[i];
      double* v = v_.data() + i * k;
      for (Index s = 0; s < k; ++s) v[s] = solved_[s * kPanelVectors + i % kPanelVectors];
      for (Index j = 0; j < i; ++j) {
        const double* before = v_.data() + j * k;
        for (Index s = 0; s < k; ++s) v[s] -= own[j] * before[s];
      }
      for (Index s = 0; s < k; ++s) {
        v[s] /= own[i];
        beta_[s] -= v[s] * z_[i];
        diagonal_[s] += v[s] * v[s];
      }
    }
    return 1 - 1e-6 - kRounding / least;
  }
  // A^-1 G_Sg for some columns of a group.
  void solve_some(const GroupStand& at, Index unit, Index begin, Index end) {
    with_.assign(at.size() * kPanelVectors, 0.0);
    for (Index i = begin; i < end; ++i) {
      const Index column = at.bases.column(unit, i);
      for (Index s = 0; s < at.size(); ++s) {
        with_[s * kPanelVectors + i - begin] = at.gram[s][column];
      }
    }
    at.factor.solve_panel(with_, w_, solved_);
  }

  std::vector<double> beta_, diagonal_, least_;  // room to work in
  std::vector<double> l_, z_, v_, with_, w_, solved_;
};

}  // namespace ellzero
