// Members that have not moved for a while, and what they leave of the Gram columns of the others:
// flips of the others need to combine no more than that.
//
// With C the settled members of S, A = G_SS + ridge I and
//
//   G' = G - G_{:,C} A_CC^-1 G_{C,:}
//
// the vector a of a flip of a column outside C has A_{C,:} a = 0, hence G_{:,S} a = G'_{:,S-C} a.
// A column of G' is made the first time that it is flipped, and kept until C changes.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/factor.hpp"

namespace ellzero {

// Columns of G', at one ridge.
class ProjectedGram {
 public:
  ProjectedGram(Index columns, double ridge)
      : columns_(columns), stride_(round_up(columns, 8)), ridge_(ridge), made_(columns, 0) {}

  // C, and its Gram columns; false if these depend on each other.
  bool project(const std::vector<Index>& settled, const std::vector<const double*>& gram) {
    gram_ = gram;
    settled_ = settled;
    factor_.clear();
    made_.assign(columns_, 0);
    FlipRow row;
    for (std::size_t s = 0; s < settled.size(); ++s) {
      products_.resize(s);
      for (std::size_t r = 0; r < s; ++r) products_[r] = gram[s][settled[r]];
      if (!(factor_.new_row(products_.data(), 1 + ridge_, 0, 0, row) > 0)) return false;
      factor_.append(row, 0);
    }
    return true;
  }

  // The column of j, which is not in C, for its Gram column.
  const double* column(Index j, const double* gram) {
    double* out = place(j);
    if (made_[j]) return out;
    products_.resize(settled_.size());
    for (std::size_t s = 0; s < settled_.size(); ++s) products_[s] = gram[settled_[s]];
    const std::vector<double> explained = factor_.solve(products_);
    combine(gram_.data(), explained.data(), factor_.size(), 0, columns_, out);
    for (Index i = 0; i < columns_; ++i) out[i] = gram[i] - out[i];
    made_[j] = 1;
    return out;
  }

 private:
  // Columns begin where a line of the processor's cache does, as Gram columns do.
  double* place(Index j) {
    if (values_.empty()) values_.resize(stride_ * columns_ + 7);
    const auto address = reinterpret_cast<std::uintptr_t>(values_.data());
    return values_.data() + (64 - address % 64) % 64 / sizeof(double) + j * stride_;
  }

  const Index columns_, stride_;
  const double ridge_;
  std::vector<char> made_;
  std::vector<double> values_;
  std::vector<Index> settled_;
  std::vector<const double*> gram_;
  Factor factor_;
  std::vector<double> products_;
};

// How many members are settled. Those that come in are the last, so that the ones that have not
// moved since some time are the first few.
class SettledMembers {
 public:
  Index count() const { return settled_; }

  // A flip: of a column that comes in, or of the member at a position. If that was settled none
  // are, and from now on it takes longer until any will be. Returns whether any are.
  void insert() { ++flips_; }
  bool remove(Index position) {
    ++flips_;
    if (position < still_) --still_;
    if (position < settled_) {
      settled_ = 0;
      wait_ *= 2;
    }
    return settled_ > 0;
  }
  void forget() { settled_ = still_ = flips_ = 0; }

  // Whether more are settled than before, of so many members.
  bool look(Index members) {
    if (flips_ < wait_) return false;
    const Index found = still_;
    flips_ = 0;
    still_ = members;
    // One or two more are not worth making all columns anew.
    if (found < settled_ + 3) return false;
    settled_ = found;
    return true;
  }

 private:
  Index settled_ = 0;
  Index still_ = 0;   // have not moved since the last look
  Index flips_ = 0;   // since then
  Index wait_ = 200;  // flips between two looks
};

}  // namespace ellzero
