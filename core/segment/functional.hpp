// Functional pruning (Rigaill 2015; Maidstone, Hocking, Rigaill and Fearnhead 2017; with decay and
// positive jumps Jewell, Hocking, Fearnhead and Witten 2020).
//
//   f_t(a) = 1/2 w_t (y_t - a)^2 + min{ f_{t-1}(a / decay), lam + min f_{t-1} }
//
// is the least cost of the first t samples that ends at level a; for positive jumps the last
// minimum runs over levels up to a / decay. f_t is kept as the quadratic that is least on each of a
// list of intervals. A jump costs a constant on an interval: lam and the lowest point of f_{t-1},
// for positive jumps the lowest to the left, which is why the list is swept from left to right.
//
// f_t is continuous, and where two quadratics meet it bends down: its local minima are vertices.
//
// With decay < 1 all levels shrink, and old candidates crowd at zero where the future hardly tells
// them apart. Those whose whole intervals lie in a narrow zone around zero are merged into the
// cheapest of them, now a point. A level that is wrong by at most 2 d, d half the zone's width,
// changes the cost of the samples by at most 2 d sum w |y|; the zone is as wide as keeps that
// within kTolerance * lam + kRounding * energy.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "segment/cost.hpp"
#include "segment/history.hpp"
#include "segment/series.hpp"

namespace ellzero {

class FunctionalPruning {
 public:
  explicit FunctionalPruning(const Series& series)
      : series_(series),
        zone_(series.decay < 1 && series.moment > 0
                  ? (kTolerance * series.lam + kRounding * series.energy) / (2 * series.moment)
                  : -1.0) {}

  // The first sample of each segment. `poll` is called now and then and says whether to give up.
  // `minima`, if not null, is filled with min f_t of every t, for free jumps: the least cost of the
  // samples up to t.
  template <class Poll>
  std::vector<Index> solve(Poll&& poll, std::vector<double>* minima = nullptr) {
    if (series_.size() == 0) return {};
    pieces_.resize(kRoom);
    pieces_[0] = {kInfinity, SegmentCost::begin(series_.y[0], series_.weight(0), 0.0),
                  history_.add(0, SegmentHistory::kNone)};
    count_ = 1;
    lowest_ = 0;
    double gone = 0;  // what values are relative to
    if (minima) minima->assign(series_.size(), 0.0);
    for (Index i = 1; i < series_.size(); ++i) {
      if (i % kPollEvery == 0 && poll()) return {};
      gone += base_;
      if (series_.positive) {
        work_ += count_;
        if (count_ > kManyPieces &&
            work_ > patience_ * static_cast<std::size_t>(series_.size() - i)) {
          const std::size_t before = count_;
          drop_hopeless(i);
          patience_ = 2 * count_ < before ? kLeastPatience : std::min(2 * patience_, kMostPatience);
          work_ = 0;
        }
        step<true>(i);
      } else {
        step<false>(i);
      }
      if (minima) (*minima)[i] = gone + base_;
      if (history_.crowded()) {
        history_.forget_the_dead([this](auto&& f) {
          for (std::size_t k = 0; k < count_; ++k) f(pieces_[k].node);
        });
      }
    }
    return history_.starts(pieces_[cheapest()].node);
  }

 private:
  static constexpr double kTolerance = 1e-10;
  static constexpr double kRounding = 1e-15;
  static constexpr double kVanished = 1e-200;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr Index kPollEvery = 1024;
  static constexpr std::size_t kRoom = 64;
  static constexpr std::size_t kManyPieces = 128;
  static constexpr std::size_t kLeastPatience = 4, kMostPatience = 256;

  struct Piece {
    double right;  // end of its interval; it begins where the one before ends
    SegmentCost cost;
    SegmentHistory::Node node;

    bool is_point() const { return cost.width == 0; }
  };

  // Where a jump to sample i would come from: the lowest point of f_{i-1} so far in the sweep.
  struct Source {
    double value;
    SegmentHistory::Node parent;
    SegmentHistory::Node node;  // kNone until a piece needs it
  };

  template <bool positive>
  void step(Index i) {
    const double y = series_.y[i], weight = series_.weight(i);
    const double factor = series_.decay_to(i), lam = series_.lam;
    if (next_.size() < 3 * count_ + 1) next_.resize(6 * count_ + kRoom);
    Piece* const out = next_.data();
    std::size_t made = 0;
    // Values are kept relative to the lowest of the sample before, so that they stay near lam.
    const double base = base_;
    Source source{kInfinity, SegmentHistory::kNone, SegmentHistory::kNone};
    if (!positive) {
      source.value = pieces_[lowest_].cost.least - base;
      source.parent = pieces_[lowest_].node;
    }

    const auto emit_jump = [&](double right) {
      if (source.node == SegmentHistory::kNone) source.node = history_.add(i, source.parent);
      if (made > 0 && out[made - 1].node == source.node) {
        out[made - 1].right = right;
      } else {
        out[made++] = {right, SegmentCost::begin(y, weight, lam + source.value), source.node};
      }
    };
    const auto emit = [&](Piece piece, double right) {
      const bool same = made > 0 && out[made - 1].node == piece.node;
      if (same && !piece.is_point() && !out[made - 1].is_point()) {
        out[made - 1].right = right;
      } else {
        piece.right = right;
        piece.cost.observe(y, weight);
        out[made++] = piece;
      }
    };

    double left = left_ * factor;
    if (positive) left_ = left;
    const Piece* falling = nullptr;  // the piece before, if it still falls at its right end
    Piece piece, before;
    for (std::size_t k = 0; k < count_; left = piece.right) {
      piece = pieces_[k++];
      piece.right *= factor;
      piece.cost.decay(factor);
      piece.cost.least -= base;
      if (left >= -zone_ && piece.right <= zone_) {
        k = merge_zone(k, left, factor, base, piece);
        falling = nullptr;
        if (piece.cost.least > lam + source.value) {
          emit_jump(piece.right);
          continue;
        }
        emit(piece, piece.right);
        if (positive && piece.cost.least < source.value) {
          source = {piece.cost.least, piece.node, SegmentHistory::kNone};
        }
        continue;
      }
      const SegmentCost& q = piece.cost;
      if (positive && made == 0 && source.value == kInfinity && q.vertex < left) {
        source = {q.at(left), piece.node, SegmentHistory::kNone};
      }
      if (positive && falling != nullptr && q.vertex < left) {
        // Rounding has put a vertex between two pieces that both disown it.
        const double one = falling->cost.at(left), other = q.at(left);
        const double value = std::min(one, other);
        if (value < source.value) {
          source = {value, one <= other ? falling->node : piece.node, SegmentHistory::kNone};
        }
      }
      const double room = lam + source.value - q.least;
      if (!(room >= 0)) {
        emit_jump(piece.right);
        falling = nullptr;
        continue;
      }
      // The interval on which no jump is better; to the right of the vertex the bar may be lower.
      // Most intervals stay as they are, which squares tell sooner than roots.
      double limit = 2 * q.width * room;
      double low = left;
      if (q.vertex > left && (q.vertex - left) * (q.vertex - left) > limit) {
        low = std::max(left, q.vertex - std::sqrt(limit));
        if (low > left) emit_jump(std::min(low, piece.right));
      }
      if (low >= piece.right) {
        falling = nullptr;
        continue;
      }
      if (positive && q.least < source.value && q.vertex >= left && q.vertex <= piece.right) {
        source = {q.least, piece.node, SegmentHistory::kNone};
        limit = 2 * q.width * lam;
      }
      double high = piece.right;
      if (high > q.vertex && (high - q.vertex) * (high - q.vertex) > limit) {
        high = std::min(piece.right, q.vertex + std::sqrt(limit));
      }
      if (high > low) emit(piece, high);
      if (piece.right > high && piece.right > low) emit_jump(piece.right);
      if (positive) {
        before = piece;
        falling = q.vertex > piece.right ? &before : nullptr;
      }
    }

    std::swap(pieces_, next_);
    count_ = made;
    if (!positive) find_lowest();
    base_ = positive ? source.value : pieces_[lowest_].cost.least;
  }

  // No quadratic is below the lowest vertex of all, so that one lies inside its own interval.
  void find_lowest() {
    lowest_ = 0;
    for (std::size_t k = 1; k < count_; ++k) {
      if (pieces_[k].cost.least < pieces_[lowest_].cost.least) lowest_ = k;
    }
  }

  // Takes all pieces that lie in the zone together with `piece`, the first of them; returns which
  // comes next.
  std::size_t merge_zone(std::size_t k, double left, double factor, double base, Piece& piece) {
    const auto to_point = [&](Piece& p, double from) {
      const double level = std::min(std::max(p.cost.vertex, from), p.right);
      p.cost = {level, 0.0, p.is_point() ? p.cost.least : p.cost.at(level)};
      if (std::abs(p.cost.vertex) < kVanished) p.cost.vertex = 0;
      if (std::abs(p.right) < kVanished) p.right = 0;
    };
    to_point(piece, left);
    for (; k < count_ && pieces_[k].right * factor <= zone_; ++k) {
      Piece other = pieces_[k];
      other.right *= factor;
      other.cost.decay(factor);
      other.cost.least -= base;
      to_point(other, piece.right);
      if (other.cost.least < piece.cost.least) {
        piece = other;
      } else {
        piece.right = other.right;
      }
    }
    return k;
  }

  // Positive jumps: low levels are kept however much they cost, since the series may yet fall. But
  // what will be observed is known. From a lower level one can do better than from the level x of
  // the lowest point by at most
  //   sum over the samples to come of  1/2 w (x' - y)^2 where x' > y,  x' being what is left of x:
  // follow the path from below where it is above x', and x' elsewhere. Pieces at the low end that
  // cost more than that beyond the lowest point will not be needed. They are looked for so seldom
  // that going through the samples takes less than the steps since the last time, and more seldom
  // still where that has been in vain.
  void drop_hopeless(Index i) {
    const std::size_t best = cheapest();
    const Low lowest = lowest_on(best);
    double most = 0;
    for (std::size_t k = 0; k < best; ++k) most = std::max(most, lowest_on(k).value - lowest.value);
    double gain = series_.lam + kRounding * series_.energy, level = lowest.level;
    for (Index u = i; u < series_.size() && gain < most; ++u) {
      level *= series_.decay_to(u);
      const double above = std::max(level - series_.y[u], 0.0);
      gain += 0.5 * series_.weight(u) * above * above;
    }
    std::size_t dropped = 0;
    while (dropped < best && lowest_on(dropped).value - lowest.value > gain) ++dropped;
    if (dropped == 0) return;
    left_ = pieces_[dropped - 1].right;
    std::move(pieces_.begin() + dropped, pieces_.begin() + count_, pieces_.begin());
    count_ -= dropped;
  }

  struct Low {
    double level, value;
  };

  // The lowest point of a piece on its interval.
  Low lowest_on(std::size_t k) const {
    const Piece& piece = pieces_[k];
    const double left = k > 0 ? pieces_[k - 1].right : left_;
    const double level = std::min(std::max(piece.cost.vertex, left), piece.right);
    return {level, piece.is_point() ? piece.cost.least : piece.cost.at(level)};
  }

  // The piece that holds the lowest point of the last f.
  std::size_t cheapest() const {
    std::size_t best = 0;
    for (std::size_t k = 1; k < count_; ++k) {
      if (lowest_on(k).value < lowest_on(best).value) best = k;
    }
    return best;
  }

  const Series& series_;
  const double zone_;
  std::vector<Piece> pieces_, next_;
  std::size_t count_ = 0;
  std::size_t lowest_ = 0;  // free jumps: the piece of the lowest vertex
  double base_ = 0;
  double left_ = -kInfinity;  // positive jumps: no level below this is kept
  std::size_t work_ = 0;      // pieces gone through since hopeless ones were looked for
  std::size_t patience_ = kLeastPatience;  // so many for each sample ahead, before the next time
  SegmentHistory history_;
};

}  // namespace ellzero
