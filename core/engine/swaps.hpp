// What swaps would gain, and the best of them all: what k (p - k) regressions would say, from one
// product of matrices.
//
// With rho_r = beta_r / sqrt([A^-1]_rr) and T_{:,r} = G_{:,S} A^-1 e_r / sqrt([A^-1]_rr), swapping
// member r for column i gains half of
//
//   (c_i + T_ir rho_r)^2 / (d_i + T_ir^2) - rho_r^2
//
// Most columns need no T: since T_ir^2 <= u_i = G_ii + tau_i - d_i, the gain can be positive only
// if
//
//   |rho_r| < |c_i| (sqrt(u_i) + sqrt(u_i + d_i)) / d_i
//
// The columns for which that holds for some r are gathered, some at a time, and T is made for
// those.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "engine/scores.hpp"

namespace ellzero {

// The row of member r alone, as if it were the last, and rho_r for its q: its removal as a flip.
inline FlipRow member_row(const Factor& factor, Index r) {
  const double root = std::sqrt(factor.inverse_diagonal()[r]);
  std::vector<double> unit(factor.size(), 0.0);
  unit[r] = 1 / root;
  return {factor.solve(unit), factor.beta()[r] / root};
}

// What swapping member r for column i would gain, for every i; -infinity where i is a member or
// would depend on the others.
inline void swap_gains(const Factor& factor, const Scores& scores,
                       const std::vector<const double*>& gram, Index r, double* gain) {
  const FlipRow row = member_row(factor, r);
  double t[Scores::kChunk];
  for (Index begin = 0; begin < scores.columns(); begin += Scores::kChunk) {
    const Index end = std::min(scores.columns(), begin + Scores::kChunk);
    combine(gram.data(), row.a.data(), factor.size(), begin, end, t);
    swap_scores(scores.c().data() + begin, scores.d().data() + begin, t, row.q, Scores::kSpan,
                end - begin, gain + begin);
  }
  for (Index i = 0; i < scores.columns(); ++i) gain[i] *= 0.5;
}

// Looks at every swap of a movable member, by position, for a column that scores more than bar:
// take(score, position, column), twice the gain, may raise the bar. `whole` is the largest G_ii +
// tau_i; columns out of reach of a member of |rho| times `reach` are passed over.
template <class Take>
void search_swaps(const Factor& factor, const Scores& scores,
                  const std::vector<const double*>& gram, const std::vector<Index>& movable,
                  double whole, double reach, const double& bar, const Context& context,
                  Take&& take) {
  const Index count = static_cast<Index>(movable.size()), k = factor.size();
  if (count == 0) return;
  double least_rho = std::numeric_limits<double>::infinity();
  for (const Index r : movable) {
    const double root = std::sqrt(factor.inverse_diagonal()[r]);
    least_rho = std::min(least_rho, std::fabs(factor.beta()[r]) / root);
  }
  std::vector<double> a(count * k), rho(count);
  // Not filled with anything before it is written to.
  const std::unique_ptr<double[]> t(new double[count * kSwapColumns]);
  const std::unique_ptr<double[]> gathered(new double[k * kSwapColumns]);
  const std::vector<double> inverse = factor.inverse();
  for (Index m = 0; m < count; ++m) {
    const double* row = inverse.data() + movable[m] * k;
    const double root = std::sqrt(row[movable[m]]);
    rho[m] = factor.beta()[movable[m]] / root;
    for (Index s = 0; s < k; ++s) a[m * k + s] = row[s] / root;
  }

  Index columns_in[kSwapColumns], filled = 0;
  double c[kSwapColumns], d[kSwapColumns], score[kSwapColumns];
  const auto try_gathered = [&] {
    context.check();
    for (Index s = 0; s < k; ++s) {
      for (Index i = 0; i < filled; ++i) gathered[s * kSwapColumns + i] = gram[s][columns_in[i]];
    }
    combine_gathered(gathered.get(), k, filled, a.data(), count, t.get());
    for (Index m = 0; m < count; ++m) {
      const double* t_m = t.get() + m * kSwapColumns;
      if (!any_swap_above(bar, c, d, t_m, rho[m], Scores::kSpan, filled)) continue;
      swap_scores(c, d, t_m, rho[m], Scores::kSpan, filled, score);
      for (Index i = 0; i < filled; ++i) {
        if (score[i] > bar) take(score[i], movable[m], columns_in[i]);
      }
    }
    filled = 0;
  };
  unsigned char within[Scores::kChunk];
  for (Index begin = 0; begin < scores.columns(); begin += Scores::kChunk) {
    const Index length = std::min(scores.columns() - begin, Scores::kChunk);
    swap_reach(scores.c().data() + begin, scores.d().data() + begin, whole, reach * least_rho,
               Scores::kSpan, length, within);
    for (Index i = 0; i < length; ++i) {
      if (!within[i]) continue;
      columns_in[filled] = begin + i;
      c[filled] = scores.c()[begin + i];
      d[filled] = scores.d()[begin + i];
      if (++filled == kSwapColumns) try_gathered();
    }
  }
  if (filled > 0) try_gathered();
}

// The swap that lowers the energy most, the first of equals. `movable` are the positions that may
// leave; `whole` is the largest G_ii + tau_i.
inline Swap best_swap(const Factor& factor, const Scores& scores,
                      const std::vector<const double*>& gram, const std::vector<Index>& movable,
                      double whole, const Context& context) {
  Swap best;
  search_swaps(factor, scores, gram, movable, whole, 1, best.gain, context,
               [&](double score, Index position, Index column) {
                 if (score > best.gain + kTie * best.gain) best = {position, column, score};
               });
  best.gain *= 0.5;
  return best;
}

// The best few, the best first: `count` of those that lose less than a share of rho_r^2, the least
// of all members.
inline std::vector<Swap> best_swaps(const Factor& factor, const Scores& scores,
                                    const std::vector<const double*>& gram,
                                    const std::vector<Index>& movable, double whole, Index count,
                                    double share, const Context& context) {
  double least = std::numeric_limits<double>::infinity();
  for (const Index r : movable) {
    least = std::min(least, factor.beta()[r] * factor.beta()[r] / factor.inverse_diagonal()[r]);
  }
  double bar = -share * least;
  std::vector<Swap> best;
  search_swaps(factor, scores, gram, movable, whole, 1 - share, bar, context,
               [&](double score, Index position, Index column) {
                 const auto better = [&](const Swap& other) { return score > other.gain; };
                 best.insert(std::find_if(best.begin(), best.end(), better),
                             {position, column, score});
                 if (static_cast<Index>(best.size()) > count) best.pop_back();
                 if (static_cast<Index>(best.size()) == count) bar = best.back().gain;
               });
  for (Swap& swap : best) swap.gain *= 0.5;
  return best;
}

}  // namespace ellzero
