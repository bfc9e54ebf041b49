// Functional pruning where neighbouring levels are coupled by the noise: see correlated.hpp for
// the objective.
//
//   Q_t(m) = min{ Q_{t-1}(m) + 1/2 (z - (a - b) m)^2,                          the level stays,
//                 lam + min over m' of Q_{t-1}(m') + 1/2 (z - a m + b m')^2 }  or jumps
//
// with z = a y_t - b y_{t-1}, is the least cost of the first t samples that ends at level m. Q is
// kept as the quadratic that is least on each of a list of intervals. Every quadratic is the cost
// of some segmentation at all levels, so none is below Q anywhere; where two meet, Q bends down.
//
// Both operations keep order: what is nowhere below the others has descendants that are nowhere
// below theirs. So quadratics that are least nowhere are dropped, and nothing is lost.
//
// Levels that no optimum can have are not looked at: far out, quadratics that hardly differ would
// be told apart by their rounding alone.
//
// Jumps. For piece k, that is a quadratic and its interval, let
//   E_k(m) = min over m' in the interval of k of  q_k(m') + 1/2 (z - a m + b m')^2.
// Its derivative falls as m' rises, so that for pieces j < k, E_j - E_k rises in m: they cross once
// at most. Going through the pieces from left to right, a stack holds those that are least so
// far. Where E_k is least its m' is inside the interval, since Q + 1/2 (...)^2 bends down at the
// ends of it; there E_k is a quadratic in closed form (LevelCost::jump).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "segment/correlated.hpp"
#include "segment/history.hpp"

namespace ellzero {

class CorrelatedPruning {
 public:
  explicit CorrelatedPruning(const CorrelatedSeries& series)
      : series_(series), lam_(series.series().lam), reach_(series.reach()) {}

  // The first sample of each segment. `poll` is called now and then and says whether to give up.
  template <class Poll>
  std::vector<Index> solve(Poll&& poll) {
    if (series_.size() == 0) return {};
    pieces_ = {
        {kInfinity, LevelCost::begin(series_.pair(0)), history_.add(0, SegmentHistory::kNone)}};
    for (Index i = 1; i < series_.size(); ++i) {
      if (i % kPollEvery == 0 && poll()) return {};
      const SamplePair next = series_.pair(i);
      // Values are kept relative to the lowest, so that they stay near lam.
      const double base = pieces_[lowest()].cost.least;
      for (Piece& piece : pieces_) piece.cost.least -= base;
      find_jumps(next);
      take_least(next, i);
      if (history_.crowded()) {
        history_.forget_the_dead([this](auto&& f) {
          for (Piece& piece : pieces_) f(piece.node);
        });
      }
    }
    return history_.starts(pieces_[lowest()].node);
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr Index kPollEvery = 1024;

  struct Piece {
    double right;  // end of its interval; it begins where the one before ends
    LevelCost cost;
    SegmentHistory::Node node;
  };

  struct Jump {
    double left;    // from this level on, a jump from this piece is the cheapest
    std::size_t k;  // the piece
    // The levels to which the best jump from the piece begins inside its interval; and
    // 1 / (1 + b^2 width).
    double first, last, share;
    LevelCost cost;
    SegmentHistory::Node node;  // kNone until it is needed
  };

  // f - g as a function of s, the distance from the vertex of f: 1/2 steep s^2 + slope s + level.
  // `wider` is g.width - f.width, `apart` and `higher` the differences g.vertex - f.vertex and
  // f.least - g.least, of which callers know more digits than could be told from f and g.
  struct Difference {
    double steep, slope, level, square;

    Difference(double f_precision, double g_precision, double wider, double apart, double higher)
        : steep(wider * f_precision * g_precision),
          slope(apart * g_precision),
          level(higher - 0.5 * apart * slope),
          square(apart * f_precision * slope - 2 * steep * higher) {}

    bool crosses() const { return square >= 0; }

    // Where it is zero and its slope is of the sign given; if it never is, where it is nearest.
    double zero(double sign) const {
      const double root = sign * std::sqrt(std::max(square, 0.0));
      // Of two ways to write the solution, that without a difference of like numbers.
      return root * slope > 0 ? -2 * level / (slope + root) : (root - slope) / steep;
    }
  };

  // The level from which on jumps from piece k are cheaper than those of `last`, to the left of
  // it, if both may come from anywhere. In terms of the x for which a level is y - b / a (last -
  // x), a jump costs (x - vertex)^2 / (2 (width + 1 / b^2)) + least.
  double meet(const Jump& last, std::size_t k, double share, const SamplePair& next) const {
    const LevelCost &f = pieces_[last.k].cost, &g = pieces_[k].cost;
    const double b2 = next.b * next.b;
    const Difference gap(last.share, share, b2 * (g.width - f.width), g.vertex - f.vertex,
                         (f.least - g.least) / b2);
    return next.y - next.b / next.a * (next.last - f.vertex - gap.zero(1));
  }

  // No quadratic is below the lowest vertex of all, so that one lies inside its own interval.
  std::size_t lowest() const {
    std::size_t best = 0;
    for (std::size_t k = 1; k < pieces_.size(); ++k) {
      if (pieces_[k].cost.least < pieces_[best].cost.least) best = k;
    }
    return best;
  }

  double left_of(std::size_t k) const { return k > 0 ? pieces_[k - 1].right : -kInfinity; }

  // E_k - E_j at a level, by their definition, without the difference of two large squares.
  double dearer(std::size_t k, std::size_t j, const SamplePair& next, double level) const {
    const auto before = [&](std::size_t piece) {
      const double free = pieces_[piece].cost.before(next, level);
      return std::min(std::max(free, left_of(piece)), pieces_[piece].right);
    };
    const double at_k = before(k), at_j = before(j);
    const double innovations = next.innovation(at_k, level) + next.innovation(at_j, level);
    return pieces_[k].cost.at(at_k) - pieces_[j].cost.at(at_j) +
           0.5 * next.b * (at_k - at_j) * innovations;
  }

  // The cheapest jumps to every level, from left to right.
  void find_jumps(const SamplePair& next) {
    jumps_.clear();
    if (next.b == 0) {
      const std::size_t k = lowest();
      jumps_.push_back({-kInfinity, k, 0, 0, 1, pieces_[k].cost.jump(next), SegmentHistory::kNone});
      return;
    }
    for (std::size_t k = 0; k < pieces_.size(); ++k) {
      const LevelCost& q = pieces_[k].cost;
      const bool bounded = k + 1 < pieces_.size();
      const double share = 1 / (1 + next.b * next.b * q.width);
      const double first = k > 0 ? q.after(next, left_of(k)) : -kInfinity;
      const double end = bounded ? q.after(next, pieces_[k].right) : kInfinity;
      double left = -kInfinity;
      bool needed = true;
      while (!jumps_.empty()) {
        const Jump& last = jumps_.back();
        left = meet(last, k, share, next);
        // Where both come from inside their intervals this is where they cross, and there is no
        // other place. Elsewhere what they cost has to be looked at.
        if (!(left >= first && left <= end && left >= last.first && left <= last.last)) {
          if (jumps_.size() > 1 && dearer(k, last.k, next, last.left) <= 0) {
            jumps_.pop_back();
            continue;
          }
          // Beyond `end` jumps are held by the end of the interval, and the next piece is better.
          needed = !bounded || dearer(k, last.k, next, end) < 0;
          // Not a number if they are the same; then either will do.
          left = std::isnan(left) ? last.left : std::max(std::min(left, end), last.left);
          break;
        }
        if (left > last.left || jumps_.size() == 1) break;
        jumps_.pop_back();
      }
      if (needed) {
        jumps_.push_back({left, k, first, end, share, q.jump(next), SegmentHistory::kNone});
      }
    }
  }

  // Q_t: on each interval the least of what stays and what jumps.
  void take_least(const SamplePair& next, Index i) {
    made_.clear();
    const auto emit = [&](double right, const LevelCost& cost, SegmentHistory::Node node) {
      if (!made_.empty() && made_.back().node == node) {
        made_.back().right = right;
      } else if (made_.empty() || right > made_.back().right) {
        made_.push_back({right, cost, node});
      }
    };
    std::size_t j = 0;
    double left = -reach_;
    for (const Piece& stays : pieces_) {
      const double end = std::min(stays.right, reach_);
      LevelCost stay = stays.cost;
      stay.stay(next);
      while (left < end) {
        while (j + 1 < jumps_.size() && jumps_[j + 1].left <= left) ++j;
        Jump& jump = jumps_[j];
        const double right = j + 1 < jumps_.size() ? std::min(end, jumps_[j + 1].left) : end;
        LevelCost leap = jump.cost;
        leap.least += lam_;
        const auto keep = [&](double to) {
          if (to > left) emit(left = std::min(to, right), stay, stays.node);
        };
        const auto leave = [&](double to) {
          if (!(to > left)) return;
          if (jump.node == SegmentHistory::kNone) {
            jump.node = history_.add(i, pieces_[jump.k].node);
          }
          emit(left = std::min(to, right), leap, jump.node);
        };
        const double wider = leap.width - stay.width, apart = leap.vertex - stay.vertex;
        const Difference gap(stay.precision, leap.precision, wider, apart, stay.least - leap.least);
        const auto falling = [&] { return stay.vertex + gap.zero(-1); };
        const auto rising = [&] { return stay.vertex + gap.zero(1); };
        if (wider > 0) {  // staying is cheaper inside, if anywhere
          if (gap.crosses()) {
            leave(falling());
            keep(rising());
          }
          leave(right);
        } else if (wider < 0) {  // or dearer inside
          if (gap.crosses()) {
            keep(rising());
            leave(falling());
          }
          keep(right);
        } else if (apart > 0) {  // the difference is a straight line
          keep(rising());
          leave(right);
        } else if (apart < 0) {
          leave(falling());
          keep(right);
        } else {
          stay.least <= leap.least ? keep(right) : leave(right);
        }
      }
    }
    made_.back().right = kInfinity;
    std::swap(pieces_, made_);
  }

  const CorrelatedSeries& series_;
  const double lam_;
  const double reach_;  // levels further from zero are not looked at
  std::vector<Piece> pieces_, made_;
  std::vector<Jump> jumps_;
  SegmentHistory history_;
};

}  // namespace ellzero
