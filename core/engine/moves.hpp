// From one support to another by several flips: the members first, one flip after the other, then
// what all flips together change for every column. One pass over the Gram columns serves them all.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/support.hpp"

namespace ellzero {

inline void Support::go_to(const std::vector<Index>& target) {
  marked_.resize(c_.size(), 0);
  for (const Index j : target) marked_[j] = 1;
  leaving_.clear();
  for (const Index j : members_) {
    if (!marked_[j]) leaving_.push_back(j);
  }
  for (const Index j : target) marked_[j] = 0;
  entering_.clear();
  for (const Index j : target) {
    if (!contains(j)) entering_.push_back(j);
  }
  const bool together = !neglected_ && leaving_.size() + entering_.size() > 1;
  if (together) put_off_columns();
  bool all = true;
  try {
    for (auto j = leaving_.rbegin(); j != leaving_.rend(); ++j) remove(position(*j));
    for (const Index j : entering_) all &= contains(j) || insert(j);
  } catch (...) {  // a Gram column that can't be had now
    if (together) catch_up(false);
    throw;
  }
  if (together) catch_up(all);
  if (all) return;
  // Whether nearly dependent columns can be inserted depends on their order: once more from the
  // start, in the order given, and with the tolerance that refreshing has.
  while (size() > 0) remove(size() - 1);
  for (const Index j : target) insert(j, kKept);
}

inline void Support::put_off_columns() {
  pending_.on = true;
  pending_.gram = gram_;
  pending_.width = size() + static_cast<Index>(entering_.size());
  pending_.slots.resize(size());
  for (Index s = 0; s < size(); ++s) pending_.slots[s] = s;
  pending_.flips.clear();
  pending_.rows.clear();
  // They are combined after their removal.
  for (const Index j : leaving_) cache_.acquire(j);
}

inline void Support::put_off(const std::vector<double>& a, double q, double sign) {
  const std::size_t begin = pending_.rows.size();
  pending_.rows.resize(begin + pending_.width, 0.0);
  for (std::size_t s = 0; s < a.size(); ++s) pending_.rows[begin + pending_.slots[s]] = a[s];
  pending_.flips.push_back({q, sign});
}

// Applies the flips put off to c and d, or, unless they are `sound`, computes everything anew.
inline void Support::catch_up(bool sound) {
  constexpr Index kRows = 4, kChunk = 128;
  pending_.on = false;
  const Index flips = static_cast<Index>(pending_.flips.size());
  const Index width = static_cast<Index>(pending_.gram.size()), stride = pending_.width;
  if (!sound || flips_ >= kFlipBound || drift_ > kDriftBound) {
    refresh();
  } else {
    // c and d of a column that left are known since; only what was flipped after it counts.
    pending_.left.clear();
    for (Index m = 0; m < static_cast<Index>(leaving_.size()); ++m) {
      const Index j = leaving_[leaving_.size() - 1 - m];
      double c = c_[j], d = d_[j];
      for (Index later = m + 1; later < flips; ++later) {
        const double* row = pending_.rows.data() + later * stride;
        double t = 0;
        for (Index s = 0; s < width; ++s) t += row[s] * pending_.gram[s][j];
        c += pending_.flips[later].sign * pending_.flips[later].q * t;
        d += pending_.flips[later].sign * t * t;
      }
      pending_.left.push_back({c, d});
    }
    double t[kRows * kChunk];
    for (Index begin = 0; begin < columns(); begin += kChunk) {
      const Index end = std::min(columns(), begin + kChunk);
      for (Index m = 0; m < flips; m += kRows) {
        const Index rows = std::min(kRows, flips - m);
        combine_rows(pending_.gram.data(), pending_.rows.data() + m * stride, stride, rows, width,
                     begin, end, t, kChunk);
        for (Index r = 0; r < rows; ++r) {
          apply_flip(t + r * kChunk, pending_.flips[m + r].q, pending_.flips[m + r].sign,
                     end - begin, c_.data() + begin, d_.data() + begin);
        }
      }
    }
    for (std::size_t m = 0; m < leaving_.size(); ++m) {
      const Index j = leaving_[leaving_.size() - 1 - m];
      c_[j] = pending_.left[m].c;
      d_[j] = pending_.left[m].d;
    }
  }
  for (const Index j : leaving_) cache_.release(j);
}

}  // namespace ellzero
