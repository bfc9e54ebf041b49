// Inequality pruning for positive jumps.
//
// The segment before must end low enough, and of those that do the cheapest counts. That makes
// stairs: the least cost of what comes before as a function of the highest level allowed. A
// candidate is a beginning of the last segment, its own cost, and the stairs at its beginning. (No
// bound is ever tight in an optimum: a jump of zero would be left out, and lam saved. So a level is
// always the best fit to its own samples, and a candidate below its first stair is no answer yet.)
//
// A stair whose cost exceeds by more than lam that of an answer from which the candidate could be
// reached by a jump is dropped, and the candidate with its last stair.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "segment/cost.hpp"
#include "segment/history.hpp"
#include "segment/series.hpp"

namespace ellzero {

class PositiveInequalityPruning {
 public:
  explicit PositiveInequalityPruning(const Series& series) : series_(series) {}

  template <class Poll>
  std::vector<Index> solve(Poll&& poll) {
    if (series_.size() == 0) return {};
    begin(0, {{-kInfinity, 0.0, SegmentHistory::kNone}});
    for (Index i = 1; i < series_.size(); ++i) {
      if (i % kPollEvery == 0 && poll()) return {};
      step(i);
    }
    return history_.starts(find_stairs().back().node);
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kVanished = 1e-200;
  static constexpr Index kPollEvery = 64;
  static constexpr Index kPruneEvery = 16;  // looking at every stair takes longer than using one

  struct Stair {
    double level;  // as it arrives at the beginning of the candidate
    double cost;
    SegmentHistory::Node node;
  };
  struct Candidate {
    Index start;
    SegmentCost cost;
    double precision, moment;  // its level at its beginning is moment / precision
    double age;                // decay since then
    std::vector<Stair> stairs;
  };

  void begin(Index i, std::vector<Stair> stairs) {
    const double y = series_.y[i], weight = series_.weight(i);
    candidates_.push_back(
        {i, SegmentCost::begin(y, weight, 0.0), weight, weight * y, 1.0, std::move(stairs)});
  }

  void step(Index i) {
    const double y = series_.y[i], weight = series_.weight(i), factor = series_.decay_to(i);
    for (Candidate& c : candidates_) {
      c.cost.decay(factor);
      c.age *= factor;
      if (c.age < kVanished) c.age = 0;  // denormals are slow
      if (c.cost.width < kVanished) c.cost.width = 0;
      if (std::abs(c.cost.vertex) < kVanished) c.cost.vertex = 0;
    }
    std::vector<Stair> stairs = find_stairs();
    prune(i, stairs);
    for (Candidate& c : candidates_) {
      c.cost.observe(y, weight);
      c.precision += weight * c.age * c.age;
      c.moment += weight * c.age * y;
    }
    for (Stair& s : stairs) s.cost += series_.lam;
    begin(i, std::move(stairs));
    if (history_.crowded()) {
      history_.forget_the_dead([this](auto&& f) {
        for (Candidate& c : candidates_) {
          for (Stair& s : c.stairs) {
            if (s.node != SegmentHistory::kNone) f(s.node);
          }
        }
      });
    }
  }

  // The answers that no other undercuts in both level and cost, by rising level.
  std::vector<Stair> find_stairs() {
    struct Answer {
      double level, cost;
      const Candidate* candidate;
      SegmentHistory::Node parent;
    };
    std::vector<Answer> answers;
    for (const Candidate& c : candidates_) {
      const double level = c.moment / c.precision;
      const auto above = first_not_below(c.stairs, level);
      if (above == c.stairs.begin()) continue;
      const Stair& before = *(above - 1);
      answers.push_back({c.cost.vertex, c.cost.least + before.cost, &c, before.node});
    }
    std::sort(answers.begin(), answers.end(), [](const Answer& a, const Answer& b) {
      return a.level != b.level ? a.level < b.level : a.cost < b.cost;
    });
    std::vector<Stair> stairs;
    for (const Answer& a : answers) {
      if (!stairs.empty() && !(a.cost < stairs.back().cost)) continue;
      stairs.push_back({a.level, a.cost, history_.add(a.candidate->start, a.parent)});
    }
    return stairs;
  }

  static std::vector<Stair>::const_iterator first_not_below(const std::vector<Stair>& stairs,
                                                            double level) {
    return std::lower_bound(stairs.begin(), stairs.end(), level,
                            [](const Stair& s, double x) { return s.level < x; });
  }

  void prune(Index i, const std::vector<Stair>& now) {
    const auto done = [&](Candidate& c) {
      if (c.stairs.size() > 1 && (i + c.start) % kPruneEvery != 0) return false;
      const auto hopeless = [&](const Stair& s) {
        const double bound = s.level == -kInfinity ? s.level : s.level * c.age;
        const auto above = std::upper_bound(now.begin(), now.end(), bound,
                                            [](double x, const Stair& t) { return x < t.level; });
        return above != now.begin() && c.cost.least + s.cost > (above - 1)->cost + series_.lam;
      };
      c.stairs.erase(std::remove_if(c.stairs.begin(), c.stairs.end(), hopeless), c.stairs.end());
      return c.stairs.empty();
    };
    candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(), done),
                      candidates_.end());
  }

  const Series& series_;
  std::vector<Candidate> candidates_;
  SegmentHistory history_;
};

}  // namespace ellzero
