// Columns of the Gram matrix, made when first needed and kept.
//
// A column costs a pass over X, and a pass that makes sixteen costs about four times one that makes
// one. So whoever needs a column also says which others will be needed soon, and those come along.
// Columns that came along and were not needed are few: the longest waiting make room for new ones.
// Columns that were needed are kept until the memory bound is reached, the longest unused going
// first; those in use are never dropped, even beyond it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "design.hpp"

namespace ellzero {

class GramCache {
 public:
  GramCache(const Design& design, double memory_bound_bytes, const Context& context)
      : design_(design), context_(context) {
    const double column_bytes = 8.0 * static_cast<double>(std::max<Index>(design.columns(), 1));
    bound_ = static_cast<Index>(std::min(memory_bound_bytes / column_bytes, 1e15));
    // On small designs whatever was made is kept: half a megabyte is nothing.
    spare_bound_ = std::max<Index>(kBlockColumns - 1, static_cast<Index>(524288 / column_bytes));
  }

  bool has(Index j) const { return entries_.count(j) > 0; }

  // Column j, in use until release(j). If it has to be made, `companions` are made with it: columns
  // that are not here yet, at most kBlockColumns - 1, the likeliest first.
  const double* acquire(Index j, const std::vector<Index>& companions = {}) {
    auto found = entries_.find(j);
    if (found == entries_.end()) {
      make(j, companions);
      found = entries_.find(j);
    }
    Entry& entry = found->second;
    if (!entry.needed) {
      entry.needed = true;
      --spare_;
    }
    entry.last_use = ++clock_;
    ++entry.users;
    return entry.values.get();
  }

  void release(Index j) { --entries_.at(j).users; }

  // Makes those of the columns that are not here, several in a pass: they will be needed.
  void prepare(const std::vector<Index>& columns) {
    std::vector<Index> missing;
    for (const Index j : columns) {
      if (!has(j) && std::find(missing.begin(), missing.end(), j) == missing.end()) {
        missing.push_back(j);
      }
    }
    for (std::size_t begin = 0; begin < missing.size(); begin += kBlockColumns) {
      const std::size_t end = std::min(missing.size(), begin + kBlockColumns);
      make(missing[begin], {missing.begin() + begin + 1, missing.begin() + end});
    }
  }

  // How many columns that came along may wait for being needed.
  void keep_spare(Index columns) { spare_bound_ = std::max(spare_bound_, columns); }

  // Drops every column that nobody uses.
  void clear() {
    for (auto it = entries_.begin(); it != entries_.end();) {
      if (it->second.users > 0) {
        ++it;
        continue;
      }
      if (!it->second.needed) --spare_;
      it = entries_.erase(it);
    }
  }

  Index columns_held() const { return static_cast<Index>(entries_.size()); }
  Index columns_made() const { return made_; }
  Index passes() const { return passes_; }

 private:
  using Values = std::unique_ptr<double[]>;
  struct Entry {
    Values values;
    Index users = 0;
    std::uint64_t last_use = 0;
    bool needed = false;
  };

  void make(Index j, const std::vector<Index>& companions) {
    std::vector<Index> wanted{j};
    wanted.insert(wanted.end(), companions.begin(), companions.end());
    const Index count = static_cast<Index>(wanted.size());
    std::vector<Values> storage;
    make_room(count, storage);
    while (static_cast<Index>(storage.size()) < count) {
      storage.emplace_back(new double[design_.columns()]);
    }
    std::vector<double*> out;
    for (Index b = 0; b < count; ++b) out.push_back(storage[b].get());
    design_.gram_columns(wanted.data(), count, out.data(), context_);
    // The first is the likeliest to be needed: it is to be the last to go.
    for (Index b = count - 1; b >= 0; --b) {
      Entry entry;
      entry.values = std::move(storage[b]);
      entry.last_use = ++clock_;
      entries_.emplace(wanted[b], std::move(entry));
    }
    spare_ += count;
    made_ += count;
    ++passes_;
  }

  // Frees columns for `count` new ones, of which all but one are spare; their storage is handed on.
  void make_room(Index count, std::vector<Values>& storage) {
    while (spare_ + count - 1 > spare_bound_ && drop_oldest(false, storage)) {
    }
    while (columns_held() + count > bound_ &&
           (drop_oldest(false, storage) || drop_oldest(true, storage))) {
    }
  }

  bool drop_oldest(bool needed, std::vector<Values>& storage) {
    auto oldest = entries_.end();
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      const Entry& entry = it->second;
      if (entry.users > 0 || entry.needed != needed) continue;
      if (oldest == entries_.end() || entry.last_use < oldest->second.last_use) oldest = it;
    }
    if (oldest == entries_.end()) return false;
    if (!needed) --spare_;
    storage.push_back(std::move(oldest->second.values));
    entries_.erase(oldest);
    return true;
  }

  const Design& design_;
  Context context_;
  Index bound_;
  Index spare_bound_;
  Index spare_ = 0;  // columns held that nobody has needed yet
  Index made_ = 0;
  Index passes_ = 0;
  std::uint64_t clock_ = 0;
  std::unordered_map<Index, Entry> entries_;
};

}  // namespace ellzero
