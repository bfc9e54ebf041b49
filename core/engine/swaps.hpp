// What swaps would gain, and the best of them all: what k (p - k) regressions would say, from one
// product of matrices.
//
// Swapping member r for column i gains half of
//
//   (c_i + T_ir rho_r)^2 / (d_i + T_ir^2) - rho_r^2
//
// Most columns need no T: since T_ir^2 <= u_i = G_ii + tau_i - d_i, the gain can be positive only
// if
//
//   |rho_r| < |c_i| (sqrt(u_i) + sqrt(u_i + d_i)) / d_i
//
// The columns for which that holds for some r are gathered into panels, and T is made for those.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/support.hpp"

namespace ellzero {

inline void Support::swap_row(Index r, std::vector<double>& a, double& rho) const {
  const double root = std::sqrt(inverse_diagonal_[r]);
  rho = beta_[r] / root;
  std::vector<double> unit(size(), 0.0);
  unit[r] = 1 / root;
  a = solve(unit);
}

inline void Support::swap_gains(Index r, double* gain) const {
  std::vector<double> a;
  double rho = 0;
  swap_row(r, a, rho);
  double t[kChunk];
  for (Index begin = 0; begin < columns(); begin += kChunk) {
    const Index end = std::min(columns(), begin + kChunk);
    combine(gram_.data(), a.data(), size(), begin, end, t);
    swap_scores(c_.data() + begin, d_.data() + begin, t, rho, kSpan, end - begin, gain + begin);
  }
  for (Index i = 0; i < columns(); ++i) gain[i] *= 0.5;
}

inline void Support::columns_without(Index r, double* c, double* d) const {
  std::vector<double> a;
  double rho = 0;
  swap_row(r, a, rho);
  double t[kChunk];
  for (Index begin = 0; begin < columns(); begin += kChunk) {
    const Index end = std::min(columns(), begin + kChunk);
    combine(gram_.data(), a.data(), size(), begin, end, t);
    std::copy(c_.begin() + begin, c_.begin() + end, c + begin);
    std::copy(d_.begin() + begin, d_.begin() + end, d + begin);
    apply_flip(t, rho, +1, end - begin, c + begin, d + begin);
  }
  c[members_[r]] = beta_[r] / inverse_diagonal_[r];
  d[members_[r]] = 1 / inverse_diagonal_[r];
}

inline Support::Swap Support::best_swap(const std::vector<char>& forced,
                                        const Context& context) const {
  std::vector<Index> movable;
  double least_rho = std::numeric_limits<double>::infinity();
  for (Index r = 0; r < size(); ++r) {
    if (!forced.empty() && forced[members_[r]]) continue;
    movable.push_back(r);
    least_rho = std::min(least_rho, std::fabs(beta_[r]) / std::sqrt(inverse_diagonal_[r]));
  }
  const Index count = static_cast<Index>(movable.size());
  if (count == 0) return {};
  std::vector<double> a(count * size()), rho(count), t(count * kPanel), panel(size() * kPanel);
  const std::vector<double> inverse_a = inverse();
  for (Index m = 0; m < count; ++m) {
    const double* row = inverse_a.data() + movable[m] * size();
    const double root = std::sqrt(row[movable[m]]);
    rho[m] = beta_[movable[m]] / root;
    for (Index s = 0; s < size(); ++s) a[m * size() + s] = row[s] / root;
  }

  Swap best;
  Index columns_in[kPanel], filled = 0;
  double c[kPanel], d[kPanel], score[kPanel];
  const auto try_panel = [&] {
    context.check();
    for (Index s = 0; s < size(); ++s) {
      for (Index i = 0; i < filled; ++i) panel[s * kPanel + i] = gram_[s][columns_in[i]];
    }
    combine_panel(panel.data(), size(), filled, a.data(), count, t.data());
    for (Index m = 0; m < count; ++m) {
      const double* t_m = t.data() + m * kPanel;
      if (!any_swap_above(best.gain, c, d, t_m, rho[m], kSpan, filled)) continue;
      swap_scores(c, d, t_m, rho[m], kSpan, filled, score);
      for (Index i = 0; i < filled; ++i) {
        if (score[i] > best.gain + kTie * best.gain) best = {movable[m], columns_in[i], score[i]};
      }
    }
    filled = 0;
  };
  const double whole = 1 + *std::max_element(ridge_.begin(), ridge_.end());
  unsigned char within[kChunk];
  for (Index begin = 0; begin < columns(); begin += kChunk) {
    const Index length = std::min(columns() - begin, kChunk);
    swap_reach(c_.data() + begin, d_.data() + begin, whole, least_rho, kSpan, length, within);
    for (Index i = 0; i < length; ++i) {
      if (!within[i]) continue;
      columns_in[filled] = begin + i;
      c[filled] = c_[begin + i];
      d[filled] = d_[begin + i];
      if (++filled == kPanel) try_panel();
    }
  }
  if (filled > 0) try_panel();
  best.gain *= 0.5;
  return best;
}

}  // namespace ellzero
