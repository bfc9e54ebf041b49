// What least squares on a support says of every column i:
//
//   c_i = z_i'(y - Z_S beta)   and   d_i = G_ii + tau_i - G_iS A^-1 G_Si
//
// Inserting i lowers the energy by c_i^2 / (2 d_i). With t = G_{:,S} a of the row a and the q of a
// flip (factor.hpp), an insertion takes t q from c and t^2 from d; a removal gives them back.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/float_kernels.hpp"
#include "engine/engine.hpp"
#include "engine/factor.hpp"

namespace ellzero {

// What a flip does to other numbers by column, in the same pass over the Gram columns: an insertion
// takes (G_{:,S} a)^2 from them, a removal gives it back.
struct Beside {
  const double* a = nullptr;  // in the order of the members, the one that is flipped among them
  double* d = nullptr;
  // If the first few of these need not be combined: how many, and what stands for the Gram columns
  // of those that follow, here and beside.
  Index first = 0;
  const double* const* columns = nullptr;
  const double* const* others = nullptr;
};

// What the members explain of other columns, from scratch: sums of squares of rows of the factor
// times Gram columns.
template <class T>
class Explained;

template <>
class Explained<double> {
 public:
  Explained(const std::vector<const double*>& gram, const Factor& factor)
      : gram_(gram), factor_(factor) {}

  // For columns begin .. end, few of them.
  void subtract(Index begin, Index end, double* d) const {
    constexpr Index kRows = 4, kColumns = 128;
    double t[kRows * kColumns];
    for (Index r = 0; r < factor_.size(); r += kRows) {
      // Rows of the factor are zero beyond the diagonal.
      const Index rows = std::min(kRows, factor_.size() - r);
      combine_rows(gram_.data(), factor_.row(r), factor_.stride(), rows, r + rows, begin, end, t,
                   kColumns);
      for (Index m = 0; m < rows; ++m) {
        const double* own = t + m * kColumns;
        for (Index i = begin; i < end; ++i) d[i] -= own[i - begin] * own[i - begin];
      }
    }
  }

 private:
  const std::vector<const double*>& gram_;
  const Factor& factor_;
};

template <>
class Explained<float> {
 public:
  Explained(const std::vector<const float*>& gram, const Factor& factor)
      : gram_(gram), rows_(factor.row(0), factor.stride(), factor.size()) {}

  void subtract(Index begin, Index end, double* d) const {
    subtract_explained(gram_.data(), rows_, begin, end, d);
  }

 private:
  const std::vector<const float*>& gram_;
  const FloatTriangle rows_;
};

class Scores {
 public:
  // A column with d_i below this (of G_ii = 1) counts as lying in the span of S. A Gram matrix
  // knows d_i to about 1e-16; below this too few of its digits would be right to go on from.
  static constexpr double kSpan = 1e-9;
  // Energies are known to about this share of y'y/2.
  static constexpr double kRounding = 1e-14;
  // Columns that are worked on at a time.
  static constexpr Index kChunk = 512;

  enum class Place : char { out, in, excluded };

  Scores() = default;
  Scores(std::vector<double> c, std::vector<double> d)
      : c_(std::move(c)), d_(std::move(d)), place_(c_.size(), Place::out) {}

  Index columns() const { return static_cast<Index>(c_.size()); }
  // Those of members and of excluded columns say nothing: d is -infinity, which no flip changes.
  const std::vector<double>& c() const { return c_; }
  const std::vector<double>& d() const { return d_; }
  Place place(Index j) const { return place_[j]; }

  // Says anew which columns are members; excluded ones stay excluded.
  void place_members(const std::vector<Index>& members) {
    for (Place& place : place_) {
      if (place == Place::in) place = Place::out;
    }
    for (const Index j : members) place_[j] = Place::in;
  }
  void enter(Index j) { close(j, Place::in); }
  void exclude(Index j) { close(j, Place::excluded); }
  void open(Index j, double c, double d) {
    place_[j] = Place::out;
    c_[j] = c;
    d_[j] = d;
  }
  // Takes column j out of the running until it is flipped or computed anew: its pivot turned out to
  // be no more than this.
  void rule_out(Index j, double pivot) { d_[j] = std::min(d_[j], pivot); }
  void add_ridge(Index j, double change) { d_[j] += change; }

  // Of a flip: `sign` is -1 for an insertion, +1 for a removal. `gram` are the Gram columns of the
  // members, in the order of the row.
  template <class T>
  void apply(const std::vector<const T*>& gram, const FlipRow& flip, double sign) {
    flip_columns(gram.data(), flip.a.data(), static_cast<Index>(flip.a.size()), flip.q, sign,
                 columns(), c_.data(), d_.data());
  }
  // The same with what goes along.
  void apply_beside(const std::vector<const double*>& gram, const FlipRow& flip, double sign,
                    const Beside& beside) {
    const Index k = static_cast<Index>(flip.a.size()), first = beside.first;
    flip_columns_beside(first ? beside.columns : gram.data(), flip.a.data() + first,
                        first ? beside.others : gram.data(), beside.a + first, k - first, flip.q,
                        sign, columns(), c_.data(), d_.data(), beside.d);
  }
  // The same with t already made, for columns begin .. begin + count.
  void apply(const double* t, double q, double sign, Index begin, Index count) {
    apply_flip(t, q, sign, count, c_.data() + begin, d_.data() + begin);
  }

  // Everything anew: c from zy, d from whole(i), less what the members explain.
  template <class T, class Whole>
  void compute(const std::vector<const T*>& gram, const Factor& factor,
               const std::vector<double>& zy, Whole&& whole) {
    constexpr Index kColumns = std::is_same_v<T, double> ? 128 : 512;
    double t[kColumns];
    const Explained<T> explained(gram, factor);
    for (Index begin = 0; begin < columns(); begin += kColumns) {
      const Index end = std::min(columns(), begin + kColumns);
      for (Index i = begin; i < end; ++i) d_[i] = whole(i);
      explained.subtract(begin, end, d_.data());
      combine(gram.data(), factor.beta().data(), factor.size(), begin, end, t);
      for (Index i = begin; i < end; ++i) c_[i] = zy[i] - t[i - begin];
    }
    for (Index i = 0; i < columns(); ++i) {
      if (place_[i] != Place::out) d_[i] = kClosed;
    }
  }

  // c alone anew, from other products with y.
  void set_products(const std::vector<const double*>& gram, const Factor& factor,
                    const std::vector<double>& zy) {
    combine(gram.data(), factor.beta().data(), factor.size(), 0, columns(), c_.data());
    for (Index i = 0; i < columns(); ++i) c_[i] = zy[i] - c_[i];
  }

  // Half c_i^2 / d_i for every column; negative for those that can't be inserted.
  void insertion_gains(double* gain) const {
    insertion_scores(c_.data(), d_.data(), kSpan, columns(), gain);
    for (Index i = 0; i < columns(); ++i) gain[i] *= 0.5;
  }

  // The few insertions that lower the energy most, the best first, of equals those of the first
  // columns; d is more than `floor` of those.
  std::vector<Insertion> best_insertions(Index count, double floor = kSpan) const {
    std::vector<Insertion> best;
    if (count == 0) return best;
    best.reserve(std::min(count, columns()) + 1);
    double score[kChunk], bar = 0;  // twice what a gain has to be more than
    for (Index begin = 0; begin < columns(); begin += kChunk) {
      const Index length = std::min(columns() - begin, kChunk);
      const double most =
          insertion_scores(c_.data() + begin, d_.data() + begin, floor, length, score);
      if (!(most > bar)) continue;
      for (Index i = 0; i < length; ++i) {
        if (!(score[i] > bar)) continue;
        const double gain = 0.5 * score[i];
        const auto less = [&](const Insertion& other) {
          return gain > other.gain + kTie * other.gain;
        };
        best.insert(std::find_if(best.begin(), best.end(), less), {begin + i, gain});
        if (static_cast<Index>(best.size()) > count) best.pop_back();
        if (static_cast<Index>(best.size()) == count) {
          bar = 2 * (best.back().gain + kTie * best.back().gain);
        }
      }
    }
    return best;
  }

  // The insertion that lowers the energy most, with `energy` left and `total` = y'y.
  Insertion best_insertion(double energy, double total) const {
    Insertion best;
    double score[kChunk];
    double highest = -1;
    Index where = -1, scored = -1;  // the chunk that the highest is in, and the one in `score`
    const auto score_chunk = [&](Index begin) {
      scored = begin;
      return insertion_scores(c_.data() + begin, d_.data() + begin, kSpan,
                              std::min(columns() - begin, kChunk), score);
    };
    for (Index begin = 0; begin < columns(); begin += kChunk) {
      const double most = score_chunk(begin);
      if (!(most > highest + kTie * std::fabs(highest))) continue;
      highest = most;
      where = begin;
    }
    if (where < 0) return best;
    if (scored != where) score_chunk(where);
    best.unit = where + first_of_at_least(highest - kTie * highest, score,
                                          std::min(columns() - where, kChunk));
    best.gain = 0.5 * highest;
    // What is left of the energy is known the less the smaller the pivot.
    const auto completes = [&](double gain, double pivot) {
      return energy - gain <= 0.5 * total * (kRounding + 0.1 * kRounding / pivot);
    };
    if (!completes(best.gain, d_[best.unit])) return best;
    // Whatever completes an exact fit gains the same, so rounding would choose among these. The one
    // with the largest pivot has the least coefficient, and its pivot is known to the most digits.
    best.completes = true;
    double widest = 0;
    for (Index i = 0; i < columns(); ++i) {
      if (!(d_[i] > kSpan)) continue;
      const double gain = 0.5 * c_[i] * c_[i] / d_[i];
      if (completes(gain, d_[i]) && d_[i] > widest + kSamePivot * widest) {
        widest = d_[i];
        best.unit = i;
        best.gain = gain;
      }
    }
    return best;
  }

 private:
  static constexpr double kClosed = -std::numeric_limits<double>::infinity();
  // Pivots closer than this, relatively, are equal but for rounding.
  static constexpr double kSamePivot = 1e-6;

  void close(Index j, Place place) {
    place_[j] = place;
    d_[j] = kClosed;
  }

  std::vector<double> c_;
  std::vector<double> d_;
  std::vector<Place> place_;
};

}  // namespace ellzero
