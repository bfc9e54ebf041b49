// Where else a jump could be: with the jumps before and after it held fixed, the loss
//
//   L(t) = least 1/2 sum w (y - c)^2 over the samples between those, c jumping at t only
//
// is computed for every t, and a jump could be at any t with L(t) <= min L + slack.
#pragma once

#include <algorithm>
#include <vector>

#include "segment/cost.hpp"
#include "segment/series.hpp"

namespace ellzero {

struct JumpLocations {
  std::vector<Index> first, last;  // times, one pair per jump
};

namespace detail {

// L(t) for begin < t < end, as `loss[t - begin - 1]`.
inline void profile_jump(const Series& s, Index begin, Index end, std::vector<double>& loss) {
  loss.assign(end - begin - 1, 0.0);
  SegmentCost before = SegmentCost::begin(s.y[begin], s.weight(begin), 0.0);
  for (Index t = begin + 1; t < end; ++t) {
    loss[t - begin - 1] = before.least;
    before.decay(s.decay_to(t));
    before.observe(s.y[t], s.weight(t));
  }
  // From the end on: what the samples from t on cost in terms of the level at t is
  // precision / 2 (level - pull / precision)^2 + least.
  double precision = 0, pull = 0, least = 0;
  for (Index t = end; --t > begin;) {
    const double g = t + 1 < end ? s.decay_to(t + 1) : 1.0;
    precision *= g * g;
    pull *= g;
    const double w = s.weight(t);
    if (precision > 0) {
      const double off = s.y[t] - pull / precision;
      least += 0.5 * off * off * w * precision / (w + precision);
    }
    precision += w;
    pull += w * s.y[t];
    loss[t - begin - 1] += least;
  }
}

}  // namespace detail

// The times at which a jump after `begin` loses at most `slack`, by the losses L(begin + 1), ...
inline void add_range(const Series& s, const std::vector<double>& loss, Index begin, Index jump,
                      double slack, JumpLocations& found) {
  const double bar = *std::min_element(loss.begin(), loss.end()) + slack;
  // The jump itself counts even if rounding puts it above the bar.
  Index first = jump, last = jump;
  for (std::size_t k = 0; k < loss.size(); ++k) {
    if (!(loss[k] <= bar)) continue;
    const Index t = begin + 1 + static_cast<Index>(k);
    first = std::min(first, t);
    last = std::max(last, t);
  }
  found.first.push_back(s.time(first));
  found.last.push_back(s.time(last));
}

// `starts` are the first samples of all segments, 0 among them.
inline JumpLocations locate_jumps(const Series& s, const std::vector<Index>& starts, double slack) {
  JumpLocations found;
  std::vector<double> loss;
  for (std::size_t k = 1; k < starts.size(); ++k) {
    const Index begin = starts[k - 1];
    const Index end = k + 1 < starts.size() ? starts[k + 1] : s.size();
    detail::profile_jump(s, begin, end, loss);
    add_range(s, loss, begin, starts[k], slack, found);
  }
  return found;
}

}  // namespace ellzero
