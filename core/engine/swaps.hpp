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
#include <tuple>
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
                nullptr, end - begin, gain + begin);
  }
  for (Index i = 0; i < scores.columns(); ++i) gain[i] *= 0.5;
}

// Looks at every swap of a movable member, by position, for a column that scores more than bar:
// take(score, position, column), twice the gain, may raise the bar. `whole` is the largest G_ii +
// tau_i; columns out of reach of a member of |rho| times `reach` are passed over. What is known may
// be wrong by `slack`, if not null, with one t for each position: then a score is the most that it
// may be, and columns of which d may be no more than the floor are not among them.
template <class T, class Take>
void search_swaps(const Factor& factor, const Scores& scores, const std::vector<const T*>& gram,
                  const std::vector<Index>& movable, double whole, double reach,
                  const std::vector<SwapSlack>* slack, const double& bar, const Context& context,
                  Take&& take) {
  const Index count = static_cast<Index>(movable.size()), k = factor.size();
  if (count == 0) return;
  // Members in the order of |rho|, so that those within reach of a column come first.
  struct Member {
    double rho;
    Index position;
  };
  std::vector<Member> members;
  members.reserve(count);
  for (const Index r : movable) {
    members.push_back({factor.beta()[r] / std::sqrt(factor.inverse_diagonal()[r]), r});
  }
  std::sort(members.begin(), members.end(),
            [](const Member& a, const Member& b) { return std::fabs(a.rho) < std::fabs(b.rho); });
  const std::vector<double> inverse = factor.inverse();
  std::vector<double> a(count * k);
  for (Index m = 0; m < count; ++m) {
    const Index r = members[m].position;
    const double* row = inverse.data() + r * k;
    const double scale = 1 / std::sqrt(row[r]);
    for (Index s = 0; s < k; ++s) a[m * k + s] = row[s] * scale;
  }
  // Groups of members, each tried with the columns within reach of its first. Four are combined at
  // a time.
  Index begins[kReaches + 1] = {0};
  double least[kReaches];
  for (Index g = 0; g < kReaches; ++g) {
    begins[g + 1] = std::min(count, round_up(count * (g + 1) / kReaches, 4));
    least[g] = begins[g] < count ? reach * std::fabs(members[begins[g]].rho)
                                 : std::numeric_limits<double>::max();
  }

  // Not filled with anything before it is written to.
  const std::unique_ptr<double[]> t(new double[4 * kSwapColumns]);
  const std::unique_ptr<double[]> gathered(new double[k * kSwapColumns]);
  // These, and how many groups each reaches.
  Index columns_in[kSwapColumns], reached[kSwapColumns], filled = 0;
  double c[kSwapColumns], d[kSwapColumns], score[kSwapColumns];
  const auto try_gathered = [&] {
    context.check();
    // Those that reach most come first: widths[g] of them reach group g.
    Index widths[kReaches] = {}, next[kReaches] = {}, which[kSwapColumns];
    for (Index i = 0; i < filled; ++i) ++widths[reached[i] - 1];
    for (Index g = kReaches - 2; g >= 0; --g) {
      next[g] = widths[g + 1];
      widths[g] += widths[g + 1];
    }
    for (Index i = 0; i < filled; ++i) which[next[reached[i] - 1]++] = columns_in[i];
    for (Index i = 0; i < filled; ++i) {
      c[i] = scores.c()[which[i]];
      d[i] = scores.d()[which[i]];
    }
    for (Index s = 0; s < k; ++s) {
      for (Index i = 0; i < filled; ++i) gathered[s * kSwapColumns + i] = gram[s][which[i]];
    }
    for (Index g = 0; g < kReaches && widths[g] > 0; ++g) {
      for (Index first = begins[g]; first < begins[g + 1]; first += 4) {
        const Index some = std::min<Index>(4, begins[g + 1] - first);
        combine_gathered(gathered.get(), k, widths[g], a.data() + first * k, some, t.get());
        for (Index m = first; m < first + some; ++m) {
          const double* t_m = t.get() + (m - first) * kSwapColumns;
          const double rho = members[m].rho;
          const SwapSlack* own = slack ? &(*slack)[members[m].position] : nullptr;
          if (!any_swap_above(bar, c, d, t_m, rho, Scores::kSpan, own, widths[g])) continue;
          swap_scores(c, d, t_m, rho, Scores::kSpan, own, widths[g], score);
          for (Index i = 0; i < widths[g]; ++i) {
            if (score[i] > bar) take(score[i], members[m].position, which[i]);
          }
        }
      }
    }
    filled = 0;
  };
  double within[Scores::kChunk];
  const double slack_c = slack ? slack->front().c : 0, slack_d = slack ? slack->front().d : 0;
  for (Index begin = 0; begin < scores.columns(); begin += Scores::kChunk) {
    const Index length = std::min(scores.columns() - begin, Scores::kChunk);
    swap_reach(scores.c().data() + begin, scores.d().data() + begin, slack_c, slack_d, whole, least,
               Scores::kSpan, length, within);
    for (Index i = 0; i < length; ++i) {
      // Without a branch that nobody could foresee.
      columns_in[filled] = begin + i;
      reached[filled] = static_cast<Index>(within[i]);
      filled += within[i] > 0;
      if (filled == kSwapColumns) try_gathered();
    }
  }
  if (filled > 0) try_gathered();
}

// The swap that lowers the energy most, the first of equals. `movable` are the positions that may
// leave; `whole` is the largest G_ii + tau_i.
template <class T>
Swap best_swap(const Factor& factor, const Scores& scores, const std::vector<const T*>& gram,
               const std::vector<Index>& movable, double whole, const Context& context) {
  Swap best;
  double bar = 0;
  search_swaps(factor, scores, gram, movable, whole, 1, nullptr, bar, context,
               [&](double score, Index position, Index column) {
                 const bool first = std::tie(position, column) < std::tie(best.position, best.unit);
                 if (!first && !(score > best.gain + kTie * best.gain)) return;
                 best = {position, column, score};
                 bar = score - kTie * score;
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
  search_swaps(factor, scores, gram, movable, whole, 1 - share, nullptr, bar, context,
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
