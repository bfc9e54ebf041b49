// Columns of the Gram matrix, made when first needed and kept.
//
// A column costs a pass over X, and a pass that makes sixteen costs two or three times one that
// makes one. So whoever needs a column also says which others look promising, and of those some
// come along: the more, the better earlier promises were kept. Columns that came along and were not
// needed are few: they make room for more promising ones. Columns that were needed are kept until
// the memory bound is reached, the longest unused going first; those in use are never dropped, even
// beyond it.
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

  // Column j, in use until release(j). `promising` is in order, best first.
  const double* acquire(Index j, const std::vector<Index>& promising) {
    auto found = entries_.find(j);
    if (found == entries_.end()) {
      make(j, promising);
      found = entries_.find(j);
    } else if (was_promised(j)) {
      ++kept_;
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

  bool was_promised(Index j) const {
    return std::find(promised_.begin(), promised_.end(), j) != promised_.end();
  }

  // How many columns to make, given how many of the columns promised last time were needed since:
  // j itself is one of them if it was promised and not made.
  Index block_width(Index j) {
    if (was_promised(j)) ++kept_;
    // Two to four columns cost the same, so between one and eight there is only four.
    if (2 * kept_ >= width_) {
      width_ = width_ == 1 ? 4 : std::min(2 * width_, kBlockColumns);
    } else if (4 * kept_ < width_) {
      width_ = width_ <= 4 ? 1 : width_ / 2;
    }
    return width_;
  }

  void make(Index j, const std::vector<Index>& promising) {
    const Index width = passes_ == 0 ? width_ : block_width(j);
    promised_ = promising;
    kept_ = 0;
    std::vector<Index> wanted{j};
    for (const Index i : promising) {
      auto found = entries_.find(i);
      if (found != entries_.end()) {
        found->second.last_use = ++clock_;
      } else if (i != j && static_cast<Index>(wanted.size()) < width) {
        wanted.push_back(i);
      }
    }
    const Index count = static_cast<Index>(wanted.size());
    std::vector<Values> storage;
    make_room(count, storage);
    while (static_cast<Index>(storage.size()) < count) {
      storage.emplace_back(new double[design_.columns()]);
    }
    std::vector<double*> out;
    for (Index b = 0; b < count; ++b) out.push_back(storage[b].get());
    design_.gram_columns(wanted.data(), count, out.data(), context_);
    // The first is the most promising: it is to be the last to go.
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
  Index width_ = 4;
  Index kept_ = 0;  // promised columns that were needed since
  std::vector<Index> promised_;
  Index spare_ = 0;  // columns held that nobody has needed yet
  Index made_ = 0;
  Index passes_ = 0;
  std::uint64_t clock_ = 0;
  std::unordered_map<Index, Entry> entries_;
};

}  // namespace ellzero
