// Inequality pruning (Killick, Fearnhead and Eckley 2012), with decay.
//
// A candidate is a beginning of the last segment, after the best of what can come before. One whose
// cost exceeds the least by more than lam will never be better than a jump from the least, and is
// dropped.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "segment/cost.hpp"
#include "segment/history.hpp"
#include "segment/series.hpp"

namespace ellzero {

class InequalityPruning {
 public:
  explicit InequalityPruning(const Series& series) : series_(series) {}

  // The first sample of each segment. `poll` is called now and then and says whether to give up.
  template <class Poll>
  std::vector<Index> solve(Poll&& poll) {
    if (series_.size() == 0) return {};
    candidates_ = {{SegmentCost::begin(series_.y[0], series_.weight(0), 0.0),
                    history_.add(0, SegmentHistory::kNone)}};
    std::size_t work = 0;
    for (Index i = 1; i < series_.size(); ++i) {
      work += candidates_.size();
      if (work > kPollEvery) {
        work = 0;
        if (poll()) return {};
      }
      step(i);
    }
    return history_.starts(cheapest().node);
  }

 private:
  static constexpr double kVanished = 1e-200;
  static constexpr std::size_t kPollEvery = 1 << 18;

  struct Candidate {
    SegmentCost cost;
    SegmentHistory::Node node;
  };

  void step(Index i) {
    const double y = series_.y[i], weight = series_.weight(i), factor = series_.decay_to(i);
    const Candidate best = cheapest();
    const double base = best.cost.least;
    std::size_t kept = 0;
    for (const Candidate& candidate : candidates_) {
      if (candidate.cost.least > base + series_.lam) continue;
      Candidate& c = candidates_[kept++];
      c = candidate;
      c.cost.decay(factor);
      if (c.cost.width < kVanished) c.cost.width = 0;  // denormals are slow
      if (std::abs(c.cost.vertex) < kVanished) c.cost.vertex = 0;
      c.cost.least -= base;
      c.cost.observe(y, weight);
    }
    candidates_.resize(kept);
    candidates_.push_back({SegmentCost::begin(y, weight, series_.lam), history_.add(i, best.node)});
    if (history_.crowded()) {
      history_.forget_the_dead([this](auto&& f) {
        for (Candidate& c : candidates_) f(c.node);
      });
    }
  }

  const Candidate& cheapest() const {
    return *std::min_element(
        candidates_.begin(), candidates_.end(),
        [](const Candidate& a, const Candidate& b) { return a.cost.least < b.cost.least; });
  }

  const Series& series_;
  std::vector<Candidate> candidates_;
  SegmentHistory history_;
};

}  // namespace ellzero
