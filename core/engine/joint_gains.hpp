// What inserting several groups together gains: half of c' D^-1 c over the columns of them all,
// where D between two groups is
//
//   D_gh = G_gh - G_gS A^-1 G_Sh
//
// Most need no D_gh. With l_g the least eigenvalue of D_g, z_g = D_g^-1/2 c_g and R the matrix of
// the D_g^-1/2 D_gh D_h^-1/2,
//
//   z'R^-1 z <= |z|^2 / (1 - max over g of the sum over h of r_gh),
//   r_gh = (|G_gh| + sqrt((1 + tau - l_g) (1 + tau - l_h))) / sqrt(l_g l_h)
//
// since G_gS A^-1 G_Sg <= (1 + tau - l_g) I.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "data/gram_cache.hpp"
#include "engine/group_swaps.hpp"

namespace ellzero {

class JointGains {
 public:
  JointGains(const GroupedQuadratic& quadratic, const GramUser& cache)
      : cache_(cache), gram_(quadratic.columns(), nullptr), solved_(quadratic.columns()) {}
  JointGains(const JointGains&) = delete;
  JointGains& operator=(const JointGains&) = delete;
  ~JointGains() {
    for (std::size_t j = 0; j < gram_.size(); ++j) {
      if (gram_[j]) cache_.release(static_cast<Index>(j));
    }
  }

  void forget() {
    for (const Index j : known_) solved_[j].clear();
    known_.clear();
    knows_gains_ = false;
  }

  // No less than what the units gain together.
  double bound(const GroupStand& at, const std::vector<Index>& units) {
    if (!knows_gains_) {
      at.blocks.gains(gain_, rank_, &least_);
      knows_gains_ = true;
    }
    constexpr std::size_t kMost = 16;
    const double none = std::numeric_limits<double>::infinity();
    if (units.size() > kMost) return none;
    double sums[kMost] = {}, gains = 0;
    for (std::size_t a = 0; a < units.size(); ++a) {
      const double least = least_[units[a]];
      if (!(least > 0)) return none;
      gains += std::max(0.0, gain_[units[a]]);
      for (std::size_t b = a + 1; b < units.size(); ++b) {
        const double other = least_[units[b]];
        if (!(other > 0)) return none;
        const double apart =
            std::sqrt(std::max(0.0, at.whole - least) * std::max(0.0, at.whole - other));
        const double r = (gram_norm(at, units[a], units[b]) + apart) / std::sqrt(least * other);
        sums[a] += r;
        sums[b] += r;
      }
    }
    const double most = *std::max_element(sums, sums + units.size());
    return most < 1 ? gains / (1 - most) * (1 + 1e-9) : none;
  }

  // Of some units; all but the first should be few, for their Gram columns are kept. -1/2 if
  // nothing can be inserted; `rank` is how many columns can.
  double operator()(const GroupStand& at, const std::vector<Index>& units, Index* rank) {
    columns_.clear();
    // The last come first, so that the column of the first unit is the last to be eliminated.
    for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
      for (Index i = 0; i < at.bases.units[*unit].width(); ++i) {
        columns_.push_back(at.bases.column(*unit, i));
      }
    }
    const Index n = static_cast<Index>(columns_.size()), k = at.size();
    d_.resize(triangle(n));
    c_.resize(n);
    row_.resize(k);
    for (Index i = 0; i < n; ++i) {
      const Index unit = at.bases.unit_of[columns_[i]], own = at.bases.rank_of[columns_[i]];
      c_[i] = at.blocks.c(unit, own);
      bool gathered = false;
      for (Index j = 0; j <= i; ++j) {
        double& entry = d_[triangle(i, j)];
        if (at.bases.unit_of[columns_[j]] == unit) {
          entry = at.blocks.d(unit, own, at.bases.rank_of[columns_[j]]);
          continue;
        }
        if (!gathered) {
          for (Index s = 0; s < k; ++s) row_[s] = at.gram[s][columns_[i]];
          gathered = true;
        }
        entry = gram_of(columns_[j])[columns_[i]] - dot(row_.data(), solved(at, columns_[j]), k);
      }
    }
    return eliminate(d_, c_, Scores::kSpan, rank);
  }

 private:
  // |G_gh|, by its entries; Gram columns of h are kept.
  double gram_norm(const GroupStand& at, Index g, Index h) {
    double sum = 0;
    for (Index j = 0; j < at.bases.units[h].width(); ++j) {
      const double* column = gram_of(at.bases.column(h, j));
      for (Index i = 0; i < at.bases.units[g].width(); ++i) {
        const double entry = column[at.bases.column(g, i)];
        sum += entry * entry;
      }
    }
    return std::sqrt(sum);
  }
  const double* gram_of(Index j) {
    if (!gram_[j]) gram_[j] = cache_.acquire(j);
    return gram_[j];
  }
  // A^-1 G_Sj
  const double* solved(const GroupStand& at, Index j) {
    std::vector<double>& y = solved_[j];
    const Index k = at.size();
    if (y.empty() && k > 0) {
      with_.resize(k);
      for (Index s = 0; s < k; ++s) with_[s] = at.gram[s][j];
      y = at.factor.solve(with_);
      known_.push_back(j);
    }
    return y.data();
  }

  const GramUser cache_;
  std::vector<const double*> gram_;          // by column, where it is kept
  std::vector<std::vector<double>> solved_;  // by column: A^-1 G_Sj, where it is known
  std::vector<Index> known_;
  bool knows_gains_ = false;
  std::vector<double> gain_, rank_, least_;  // by unit
  std::vector<Index> columns_;
  std::vector<double> d_, c_, with_, row_;
};

}  // namespace ellzero
