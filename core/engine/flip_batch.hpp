// Several flips whose effect on the scores of all columns is put off: one pass over the Gram
// columns then serves them all.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/scores.hpp"

namespace ellzero {

// Gram columns are in numbers of type T.
template <class T>
class FlipBatch {
 public:
  // Begins with the Gram columns of the members; `entering` more will come in.
  void begin(const std::vector<const T*>& gram, Index entering) {
    gram_ = gram;
    width_ = static_cast<Index>(gram.size()) + entering;
    slots_.resize(gram.size());
    for (std::size_t s = 0; s < gram.size(); ++s) slots_[s] = static_cast<Index>(s);
    flips_.clear();
    rows_.clear();
    left_.clear();
  }

  void insert(const T* gram, const FlipRow& flip) {
    slots_.push_back(static_cast<Index>(gram_.size()));
    gram_.push_back(gram);
    note(flip, -1);
  }
  // The member at a position, column j, leaves with these scores.
  void remove(Index position, const FlipRow& flip, Index j, double c, double d) {
    note(flip, +1);
    slots_.erase(slots_.begin() + position);
    left_.push_back({j, static_cast<Index>(flips_.size()), c, d});
  }

  void apply_to(Scores& scores) {
    constexpr Index kRows = 4, kColumns = 128;
    const Index flips = static_cast<Index>(flips_.size());
    const Index width = static_cast<Index>(gram_.size());
    // Scores of a column that left are known since; only what was flipped after it counts.
    for (Left& left : left_) {
      for (Index later = left.flips; later < flips; ++later) {
        const double* row = rows_.data() + later * width_;
        double t = 0;
        for (Index s = 0; s < width; ++s) t += row[s] * gram_[s][left.column];
        left.c += flips_[later].sign * flips_[later].q * t;
        left.d += flips_[later].sign * t * t;
      }
    }
    double t[kRows * kColumns];
    for (Index begin = 0; begin < scores.columns(); begin += kColumns) {
      const Index end = std::min(scores.columns(), begin + kColumns);
      for (Index m = 0; m < flips; m += kRows) {
        const Index rows = std::min(kRows, flips - m);
        combine_rows(gram_.data(), rows_.data() + m * width_, width_, rows, width, begin, end, t,
                     kColumns);
        for (Index r = 0; r < rows; ++r) {
          scores.apply(t + r * kColumns, flips_[m + r].q, flips_[m + r].sign, begin, end - begin);
        }
      }
    }
    for (const Left& left : left_) scores.open(left.column, left.c, left.d);
  }

 private:
  struct Flip {
    double q, sign;
  };
  struct Left {
    Index column;
    Index flips;  // that had been made when it had left
    double c, d;
  };

  void note(const FlipRow& flip, double sign) {
    const std::size_t begin = rows_.size();
    rows_.resize(begin + width_, 0.0);
    for (std::size_t s = 0; s < flip.a.size(); ++s) rows_[begin + slots_[s]] = flip.a[s];
    flips_.push_back({flip.q, sign});
  }

  std::vector<const T*> gram_;  // Gram columns that the rows combine
  std::vector<Index> slots_;    // where the members are among these
  Index width_ = 0;             // how many there will be
  std::vector<double> rows_;    // one for each flip
  std::vector<Flip> flips_;
  std::vector<Left> left_;
};

}  // namespace ellzero
