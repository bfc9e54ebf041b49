// Columns of the Gram matrix, made when first needed and kept.
//
// A column costs a pass over X, and a pass that makes sixteen costs about four times one that makes
// one. So whoever needs a column also says which others will be needed soon, and those come along.
// Columns that came along and were not needed are few: the longest waiting make room for new ones.
// Columns that were needed are kept until the memory bound is reached, the longest unused going
// first; those in use are never dropped, even beyond it.
//
// All who work on one Gram matrix share one cache, from several threads if they like. Who makes a
// column changes nothing: its bits depend on the matrix alone. Nobody waits for a column that
// somebody else wants.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/kernels.hpp"
#include "base/parallel.hpp"

namespace ellzero {

// Columns are kept in numbers of type T.
template <class T>
class GramCacheOf {
 public:
  // out[b] = G(:, which[b]) for `count` columns, at most as many as a pass makes.
  using Make =
      std::function<void(const Index* which, Index count, T* const* out, const Context& context)>;

  // For columns of that many entries, so many of which are made in a pass at most.
  GramCacheOf(Index length, Index pass_columns, double memory_bound_bytes, Make make_columns)
      : length_(length), make_columns_(std::move(make_columns)) {
    const double column_bytes =
        static_cast<double>(sizeof(T)) * static_cast<double>(std::max<Index>(length, 1));
    bound_ = static_cast<Index>(std::min(memory_bound_bytes / column_bytes, 1e15));
    // Of a small matrix whatever was made is kept: half a megabyte is nothing.
    spare_bound_ = std::max<Index>(kBlockColumns - 1, static_cast<Index>(524288 / column_bytes));
    pass_columns_ = std::max(kBlockColumns, std::min(pass_columns, bound_ / kPassShare));
    // Where passes are dear, so is what they made.
    if (pass_columns_ > kBlockColumns) spare_bound_ = std::max(spare_bound_, bound_ / 2);
  }
  GramCacheOf(const GramCacheOf&) = delete;
  GramCacheOf& operator=(const GramCacheOf&) = delete;

  // Whether column j is here, or being made.
  bool has(Index j) const {
    const std::lock_guard<std::mutex> guard(lock_);
    return entries_.count(j) > 0;
  }

  // How many columns a pass had better make, and how many there is memory for.
  Index pass_columns() const { return pass_columns_; }
  Index bound() const { return bound_; }

  // Column j, in use until release(j). If it has to be made, `companions` are made with it: columns
  // that are not here yet, at most pass_columns() - 1, the likeliest first.
  const T* acquire(Index j, const std::vector<Index>& companions, const Context& context) {
    std::unique_lock<std::mutex> guard(lock_);
    auto found = entries_.find(j);
    while (found == entries_.end() || !found->second.values) {
      if (found == entries_.end()) {
        std::vector<Index> wanted{j};
        wanted.insert(wanted.end(), companions.begin(), companions.end());
        make(wanted, context, guard);
      } else {
        made_one_.wait(guard);
      }
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

  void release(Index j) {
    const std::lock_guard<std::mutex> guard(lock_);
    --entries_.at(j).users;
  }

  // Columns begin where a line of the processor's cache does: loads of four numbers never straddle
  // two lines, which would make combinations of columns take half as long again.
  static constexpr std::align_val_t kLine{64};
  struct Free {
    void operator()(T* values) const { ::operator delete[](values, kLine); }
  };
  using Values = std::unique_ptr<T[], Free>;
  // Room for a column, and a column that others have filled, which will be needed.
  Values new_column() const { return Values(new (kLine) T[length_]); }
  void put(Index j, Values values) {
    std::vector<Values> dropped;
    const std::lock_guard<std::mutex> guard(lock_);
    const auto [at, is_new] = entries_.try_emplace(j);
    if (!is_new) return;
    ++spare_;
    at->second.values = std::move(values);
    at->second.last_use = ++clock_;
    ++made_;
    make_room(dropped);
  }

  // Makes those of the columns that are not here, several in a pass: they will be needed.
  void prepare(const std::vector<Index>& columns, const Context& context) {
    const std::size_t width = pass_columns();
    std::unique_lock<std::mutex> guard(lock_);
    std::vector<Index> missing;
    for (const Index j : columns) {
      const bool known = entries_.count(j) > 0;
      if (!known && std::find(missing.begin(), missing.end(), j) == missing.end()) {
        missing.push_back(j);
      }
    }
    for (std::size_t begin = 0; begin < missing.size(); begin += width) {
      const std::size_t end = std::min(missing.size(), begin + width);
      make({missing.begin() + begin, missing.begin() + end}, context, guard);
    }
  }

  // How many columns that came along may wait for being needed: the most that any user asks for.
  void keep_spare(Index columns) {
    const std::lock_guard<std::mutex> guard(lock_);
    spare_bound_ = std::max(spare_bound_, columns);
  }

  // Drops every column that nobody uses.
  void clear() {
    const std::lock_guard<std::mutex> guard(lock_);
    for (auto it = entries_.begin(); it != entries_.end();) {
      if (it->second.users > 0 || !it->second.values) {
        ++it;
        continue;
      }
      if (!it->second.needed) --spare_;
      it = entries_.erase(it);
    }
  }

  Index columns_held() const {
    return locked([&] { return static_cast<Index>(entries_.size()); });
  }
  Index columns_made() const {
    return locked([&] { return made_; });
  }
  Index passes() const {
    return locked([&] { return passes_; });
  }

 private:
  struct Entry {
    Values values;  // none while it is being made
    Index users = 0;
    std::uint64_t last_use = 0;
    bool needed = false;
  };

  template <class Look>
  Index locked(Look&& look) const {
    const std::lock_guard<std::mutex> guard(lock_);
    return look();
  }

  // Makes those of the columns that nobody has made or is making; without the lock meanwhile.
  void make(std::vector<Index> wanted, const Context& context,
            std::unique_lock<std::mutex>& guard) {
    const auto present = [&](Index j) { return !entries_.try_emplace(j).second; };
    wanted.erase(std::remove_if(wanted.begin(), wanted.end(), present), wanted.end());
    const Index count = static_cast<Index>(wanted.size());
    if (count == 0) return;
    spare_ += count;
    std::vector<Values> storage;
    make_room(storage);
    guard.unlock();
    try {
      while (static_cast<Index>(storage.size()) < count) {
        storage.push_back(new_column());
      }
      std::vector<T*> out;
      for (Index b = 0; b < count; ++b) out.push_back(storage[b].get());
      make_columns_(wanted.data(), count, out.data(), context);
    } catch (...) {
      guard.lock();
      for (const Index j : wanted) entries_.erase(j);
      spare_ -= count;
      made_one_.notify_all();
      throw;
    }
    guard.lock();
    // The first is the likeliest to be needed: it is to be the last to go.
    for (Index b = count - 1; b >= 0; --b) {
      Entry& entry = entries_.at(wanted[b]);
      entry.values = std::move(storage[b]);
      entry.last_use = ++clock_;
    }
    made_ += count;
    ++passes_;
    made_one_.notify_all();
  }

  // Frees columns for those about to be made, of which all but one are spare; their storage is
  // handed on.
  void make_room(std::vector<Values>& storage) {
    while (spare_ - 1 > spare_bound_ && drop_oldest(false, storage)) {
    }
    while (static_cast<Index>(entries_.size()) > bound_ &&
           (drop_oldest(false, storage) || drop_oldest(true, storage))) {
    }
  }

  bool drop_oldest(bool needed, std::vector<Values>& storage) {
    auto oldest = entries_.end();
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      const Entry& entry = it->second;
      if (entry.users > 0 || !entry.values || entry.needed != needed) continue;
      if (oldest == entries_.end() || entry.last_use < oldest->second.last_use) oldest = it;
    }
    if (oldest == entries_.end()) return false;
    if (!needed) --spare_;
    storage.push_back(std::move(oldest->second.values));
    entries_.erase(oldest);
    return true;
  }

  static constexpr Index kPassShare = 4;  // no pass makes more than this share of all columns kept

  const Index length_;
  const Make make_columns_;
  mutable std::mutex lock_;
  std::condition_variable made_one_;
  Index bound_;
  Index spare_bound_;
  Index pass_columns_;
  Index spare_ = 0;  // columns held that nobody has needed yet
  Index made_ = 0;
  Index passes_ = 0;
  std::uint64_t clock_ = 0;
  std::unordered_map<Index, Entry> entries_;
};

// The cache as one of its users sees it: what is missing is made with the user's own threads and
// interrupt.
template <class T>
class GramUserOf {
 public:
  GramUserOf(GramCacheOf<T>& cache, const Context& context) : cache_(cache), context_(context) {}

  bool has(Index j) const { return cache_.has(j); }
  const T* acquire(Index j, const std::vector<Index>& companions = {}) const {
    return cache_.acquire(j, companions, context_);
  }
  void release(Index j) const { cache_.release(j); }
  const Context& context() const { return context_; }
  Index bound() const { return cache_.bound(); }
  void prepare(const std::vector<Index>& columns) const { cache_.prepare(columns, context_); }

 private:
  GramCacheOf<T>& cache_;
  Context context_;
};

using GramCache = GramCacheOf<double>;
using GramUser = GramUserOf<double>;

}  // namespace ellzero
