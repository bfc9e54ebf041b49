// An X that lies somewhere else and is read a block of columns at a time. Blocks are multiplied by
// the same kernels as an X in memory, so that products have the same bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "data/dense_columns.hpp"
#include "data/panel_columns.hpp"

namespace ellzero {

// Columns of X that follow each other, in memory for a while.
class ColumnBlock {
 public:
  virtual ~ColumnBlock() = default;
  virtual const Columns& all() const = 0;
  // Some of the rows, copied.
  virtual std::unique_ptr<Columns> rows(const std::vector<Index>& which,
                                        const Context& context) const = 0;
};

template <class T>
class DenseBlock final : public ColumnBlock {
 public:
  DenseBlock(const Strided<T>& x, Index rows, Index columns) : x_(x), all_(x, rows, columns) {}

  const Columns& all() const override { return all_; }
  std::unique_ptr<Columns> rows(const std::vector<Index>& which,
                                const Context& context) const override {
    return std::make_unique<PanelColumns<T>>(x_, which.data(), static_cast<Index>(which.size()),
                                             all_.columns(), context);
  }

 private:
  const Strided<T> x_;
  const DenseColumns<T> all_;
};

// Who reads. Any thread may ask.
class ColumnReader {
 public:
  virtual ~ColumnReader() = default;
  // How many columns are best read at a time.
  virtual Index block_columns() const = 0;
  // Calls work with the columns from begin to end.
  virtual void block(Index begin, Index end,
                     const std::function<void(const ColumnBlock&)>& work) = 0;
  // out = some columns, one after the other
  virtual void columns(const Index* which, Index count, double* out) = 0;
  // Throws: what was read for column j, of the block from begin to end, is not finite.
  virtual void refuse(Index j, Index begin, Index end) = 0;
};

// X by its reader, and the columns of it that were read by themselves, as far as there is room.
class ColumnSource {
 public:
  using Column = std::shared_ptr<const std::vector<double>>;

  ColumnSource(std::unique_ptr<ColumnReader> reader, Index rows, Index columns)
      : rows_(rows), columns_(columns), reader_(std::move(reader)) {
    const double column_bytes = 8.0 * static_cast<double>(std::max<Index>(rows, 1));
    bound_ = std::max<Index>(3 * kBlockColumns, static_cast<Index>(kHeldBytes / column_bytes));
    pass_columns_ = std::clamp(bound_ / 3, kBlockColumns, kPassColumns);
  }

  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  Index pass_columns() const { return pass_columns_; }

  // A pass over X: calls work(begin, end, block) for one block of columns after the other.
  template <class Work>
  void pass(Work&& work, const Context& context) {
    const Index width = std::max<Index>(1, reader_->block_columns());
    for (Index begin = 0; begin < columns_; begin += width) {
      context.check();
      const Index end = std::min(columns_, begin + width);
      reader_->block(begin, end, [&](const ColumnBlock& block) { work(begin, end, block); });
    }
  }

  // Makes sure that column j of a block, of which a sum is not finite, is.
  void check(double sum, Index j, Index begin, Index end, const Columns& block) const {
    if (std::isfinite(sum)) return;
    std::vector<double> column(block.rows());
    block.read(j - begin, 0, block.rows(), column.data());
    for (const double x : column) {
      if (!std::isfinite(x)) reader_->refuse(j, begin, end);
    }
  }

  // Reads those of the columns that are not here, all at once.
  void bring(const Index* which, Index count) {
    std::vector<Index> missing;
    {
      const std::lock_guard<std::mutex> guard(lock_);
      for (Index i = 0; i < count; ++i) {
        const auto found = held_.find(which[i]);
        if (found == held_.end()) {
          missing.push_back(which[i]);
        } else {
          found->second.last_use = ++clock_;
        }
      }
    }
    if (missing.empty()) return;
    std::sort(missing.begin(), missing.end());
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    const Index wanted = static_cast<Index>(missing.size());
    std::vector<double> all(rows_ * wanted);
    reader_->columns(missing.data(), wanted, all.data());  // not under the lock: it may take long
    const std::lock_guard<std::mutex> guard(lock_);
    for (Index i = 0; i < wanted; ++i) {
      const auto begin = all.begin() + i * rows_;
      held_[missing[i]] = {std::make_shared<std::vector<double>>(begin, begin + rows_), ++clock_};
    }
    const Index most = std::max(bound_, count);
    while (static_cast<Index>(held_.size()) > most) drop_oldest();
  }

  Column column(Index j) {
    if (const Column found = find(j)) return found;
    std::vector<double> values(rows_);
    reader_->columns(&j, 1, values.data());
    const Column column = std::make_shared<std::vector<double>>(std::move(values));
    const std::lock_guard<std::mutex> guard(lock_);
    held_[j] = {column, ++clock_};
    if (static_cast<Index>(held_.size()) > bound_) drop_oldest();
    return column;
  }

 private:
  static constexpr Index kPassColumns = 64;
  static constexpr double kHeldBytes = 1 << 26;

  struct Held {
    Column values;
    std::size_t last_use = 0;
  };

  Column find(Index j) {
    const std::lock_guard<std::mutex> guard(lock_);
    const auto found = held_.find(j);
    return found == held_.end() ? nullptr : found->second.values;
  }

  void drop_oldest() {
    held_.erase(std::min_element(held_.begin(), held_.end(), [](const auto& a, const auto& b) {
      return a.second.last_use < b.second.last_use;
    }));
  }

  const Index rows_, columns_;
  const std::unique_ptr<ColumnReader> reader_;
  Index bound_;  // columns held
  Index pass_columns_;
  std::mutex lock_;
  std::unordered_map<Index, Held> held_;
  std::size_t clock_ = 0;
};

}  // namespace ellzero
