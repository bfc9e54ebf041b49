// What is known of supports that have been fitted: where the fit was, to start from there again,
// and what all columns had to say to it.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/kernels.hpp"

namespace ellzero {

class FitMemory {
 public:
  struct Entry {
    double energy = 0;
    bool settled = false;  // whether that is the least, and not just where a trial was left
    double left = 0;       // else, about how much is left to be gained
    double intercept = 0;
    std::vector<double> beta;                             // in the order of the sorted support
    std::shared_ptr<const std::vector<double>> descents;  // of all columns; null if not known
  };

  explicit FitMemory(Index columns)
      : with_descents_(std::clamp<Index>(kBytes / (8 * std::max<Index>(columns, 1)), 2, kEntries)) {
  }

  // Null if it is not known.
  Entry* find(const std::vector<Index>& sorted) {
    const auto found = entries_.find(sorted);
    if (found == entries_.end()) return nullptr;
    found->second.last_use = ++clock_;
    return &found->second.entry;
  }

  // Keeps the latest used.
  Entry& put(const std::vector<Index>& sorted, Entry entry) {
    if (entries_.size() > kEntries) drop_half();
    if (entry.descents && ++descents_ > with_descents_) drop_descents();
    Kept& kept = entries_[sorted];
    kept = {std::move(entry), ++clock_};
    return kept.entry;
  }

 private:
  static constexpr Index kEntries = 512, kBytes = 16'000'000;

  struct Kept {
    Entry entry;
    long last_use = 0;
  };

  void drop_half() {
    std::vector<long> uses;
    for (const auto& each : entries_) uses.push_back(each.second.last_use);
    std::nth_element(uses.begin(), uses.begin() + uses.size() / 2, uses.end());
    const long middle = uses[uses.size() / 2];
    for (auto it = entries_.begin(); it != entries_.end();) {
      it = it->second.last_use < middle ? entries_.erase(it) : std::next(it);
    }
  }
  void drop_descents() {
    for (auto& each : entries_) each.second.entry.descents.reset();
    descents_ = 1;
  }

  const Index with_descents_;
  Index descents_ = 0;
  long clock_ = 0;
  std::map<std::vector<Index>, Kept> entries_;
};

}  // namespace ellzero
