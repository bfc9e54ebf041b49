// Levels of given segments in correlated noise, and where else a jump could be: see correlated.hpp.
//
// With the jumps known the objective is a chain of quadratics, solved by one pass forward, which
// holds the cost so far as a function of the present level, and one back.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "segment/correlated.hpp"
#include "segment/locations.hpp"
#include "segment/refit.hpp"

namespace ellzero {

namespace detail {

// The best levels for a series `y` in place of that of `s`.
inline std::vector<double> levels_of(const CorrelatedSeries& s, const std::vector<Index>& starts,
                                     const std::vector<double>& y) {
  const auto pair = [&](Index i) {
    SamplePair p = s.pair(i);
    p.y = y[i];
    p.last = i > 0 ? y[i - 1] : 0.0;
    return p;
  };
  std::vector<LevelCost> before_jumps;
  LevelCost cost = LevelCost::begin(pair(0));
  for (Index i = 1; i < s.size(); ++i) {
    const std::size_t k = before_jumps.size() + 1;
    if (k < starts.size() && starts[k] == i) {
      before_jumps.push_back(cost);
      cost = cost.jump(pair(i));
    } else {
      cost.stay(pair(i));
    }
  }
  std::vector<double> levels(starts.size());
  levels.back() = cost.vertex;
  for (std::size_t k = starts.size() - 1; k > 0; --k) {
    levels[k - 1] = before_jumps[k - 1].before(pair(starts[k]), levels[k]);
  }
  return levels;
}

// What the samples from t on cost, beyond the term that couples t with t - 1, as a function of the
// level at t: precision / 2 (level - vertex)^2 + least; precision 0 says nothing of the level.
struct CostAhead {
  double vertex = 0, precision = 0, least = 0;

  // From t to t - 1 at the same level, `pair` being that of t.
  void stay(const SamplePair& pair) {
    const double slope = pair.a - pair.b, total = precision + slope * slope;
    if (!(total > 0)) return;
    const double surprise = pair.innovation(vertex, vertex);
    least += 0.5 * surprise * surprise * precision / total;
    vertex += slope * surprise / total;
    precision = total;
  }

  // From t to t - 1 at another level.
  void jump(const SamplePair& pair) {
    const double total = precision + pair.a * pair.a;
    if (!(pair.b > 0 && precision > 0)) {
      *this = {0, 0, least};
      return;
    }
    vertex = pair.last - pair.a / pair.b * (pair.y - vertex);
    precision *= pair.b * pair.b / total;
  }

  // The least of all samples, with the cost of those before t, and a jump at t.
  double with(const LevelCost& before, const SamplePair& pair) const {
    if (!(precision > 0)) return before.least + least;
    const double surprise = pair.innovation(before.vertex, vertex);
    const double variance = 1 + pair.b * pair.b * before.width + pair.a * pair.a / precision;
    return before.least + least + 0.5 * surprise * surprise / variance;
  }
};

}  // namespace detail

// The levels and the loss; jumps that come out as nothing are left out.
inline Segments refit(const CorrelatedSeries& s, std::vector<Index> starts) {
  constexpr double kZero = 1e-14;  // y is at most one
  Segments out;
  if (starts.empty()) return out;
  for (;;) {
    out.levels = detail::levels_of(s, starts, s.series().y);
    // One step of refinement: sums of many large numbers have lost digits.
    std::vector<double> left = s.series().y;
    for (std::size_t k = 0; k < starts.size(); ++k) {
      const Index end = k + 1 < starts.size() ? starts[k + 1] : s.size();
      for (Index i = starts[k]; i < end; ++i) left[i] -= out.levels[k];
    }
    const std::vector<double> more = detail::levels_of(s, starts, left);
    for (std::size_t k = 0; k < more.size(); ++k) out.levels[k] += more[k];
    std::vector<Index> kept{starts[0]};
    for (std::size_t k = 1; k < starts.size(); ++k) {
      if (std::abs(out.levels[k] - out.levels[k - 1]) > kZero) kept.push_back(starts[k]);
    }
    if (kept.size() == starts.size()) break;
    starts = std::move(kept);
  }
  std::size_t k = 0;
  double before = out.levels[0];
  for (Index i = 0; i < s.size(); ++i) {
    if (k + 1 < starts.size() && starts[k + 1] == i) ++k;
    const double innovation = s.pair(i).innovation(before, out.levels[k]);
    out.loss += 0.5 * innovation * innovation;
    before = out.levels[k];
  }
  out.starts = std::move(starts);
  return out;
}

// With the times of all other jumps held fixed, a jump could be at any time that costs at most
// `slack` more than the best; all levels are fitted anew for each.
inline JumpLocations locate_jumps(const CorrelatedSeries& s, const std::vector<Index>& starts,
                                  double slack) {
  const std::size_t count = starts.size();
  JumpLocations found;
  if (count < 2) return found;
  // The cost at the first sample of each segment, and, from there on, of what comes.
  std::vector<LevelCost> behind(count);
  std::vector<detail::CostAhead> ahead(count);
  LevelCost cost = LevelCost::begin(s.pair(0));
  behind[0] = cost;
  for (std::size_t k = 0; k + 1 < count; ++k) {
    for (Index i = starts[k] + 1; i < starts[k + 1]; ++i) cost.stay(s.pair(i));
    cost = behind[k + 1] = cost.jump(s.pair(starts[k + 1]));
  }
  detail::CostAhead rest;
  for (std::size_t k = count; k-- > 0;) {
    const Index end = k + 1 < count ? starts[k + 1] : s.size();
    if (k + 1 < count) rest.jump(s.pair(end));
    ahead[k] = rest;  // at the last sample of segment k
    for (Index i = end; --i > starts[k];) rest.stay(s.pair(i));
  }
  std::vector<double> loss;
  std::vector<LevelCost> before;
  for (std::size_t k = 1; k < count; ++k) {
    const Index begin = starts[k - 1], end = k + 1 < count ? starts[k + 1] : s.size();
    before.clear();
    cost = behind[k - 1];
    for (Index t = begin + 1; t < end; ++t) {
      before.push_back(cost);
      cost.stay(s.pair(t));
    }
    loss.resize(end - begin - 1);
    rest = ahead[k];
    for (Index t = end; --t > begin;) {
      loss[t - begin - 1] = rest.with(before[t - begin - 1], s.pair(t));
      rest.stay(s.pair(t));
    }
    add_range(s.series(), loss, begin, starts[k], slack, found);
  }
  return found;
}

}  // namespace ellzero
