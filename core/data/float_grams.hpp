// Gram columns in float32, of all rows of a table or of some of them, and what they are wrong by at
// most. Several who want some can wait for each other, so that one pass makes them all.
//
// With Z^ the columns of all rows as preparation left them there, rounded to float32, and z_j those
// of a design of some of the rows, with zeros where it has none,
//
//   G_ij = z_i'z_j = ratio_i z^_i'z_j,   ratio_i the norm of column i over all rows over that here
//
// since z_j sums to zero over the rows of the design: the means of z^_i there do not matter. z_j is
// made of z^_j, which is rounded, so that ratio_j roundings come to what the product is wrong by.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "data/column_passes.hpp"
#include "data/float_panels.hpp"
#include "data/gram_cache.hpp"

namespace ellzero {

class FloatGrams;

// What several designs of rows of the same table want.
class FloatRequests {
 public:
  void add(const FloatGrams* whose, Index j) {
    const std::lock_guard<std::mutex> guard(lock_);
    wanted_.push_back({whose, j});
  }
  // Makes them all.
  void serve(const Context& context);

 private:
  struct Request {
    const FloatGrams* whose;
    Index column;
  };
  std::mutex lock_;
  std::vector<Request> wanted_;
};

class FloatGrams {
 public:
  // Of all rows.
  FloatGrams(std::shared_ptr<const FloatPanels> panels, double cache_bytes)
      : FloatGrams(std::move(panels), {}, nullptr, nullptr, nullptr, cache_bytes) {}

  // Makes the column j of the design of what it is among all rows.
  using Narrow = std::function<void(Index j, float* column)>;
  // Of some of them. Where `passes` are put off, what is missing is left to `requests`. All are
  // kept by the caller for as long as this lives.
  FloatGrams(std::shared_ptr<const FloatPanels> panels, std::vector<float> ratio, Narrow narrow,
             const ColumnPasses* passes, FloatRequests* requests, double cache_bytes)
      : panels_(std::move(panels)),
        ratio_(std::move(ratio)),
        narrow_(std::move(narrow)),
        passes_(passes),
        requests_(requests),
        error_(bound_on_error(panels_->rows(), ratio_)),
        cache_(panels_->columns(), kBlockColumns, cache_bytes,
               [this](const Index* which, Index count, float* const* out, const Context& context) {
                 make(which, count, out, context);
               }) {}

  const std::shared_ptr<const FloatPanels>& panels() const { return panels_; }
  GramCacheOf<float>& cache() const { return cache_; }
  // Of an entry.
  double error() const { return error_; }
  // Whether what is missing is left for later.
  bool are_put_off() const { return passes_ && passes_->is_put_off(); }
  // Leaves a column for later that is not in the cache.
  [[noreturn]] void wait_for(Index j) const {
    requests_->add(this, j);
    throw ColumnMissing{{j}};
  }

 private:
  friend class FloatRequests;

  static double bound_on_error(Index rows, const std::vector<float>& ratio) {
    if (ratio.empty()) return float_product_error(rows);
    const double widest = *std::max_element(ratio.begin(), ratio.end());
    return widest * (float_product_error(rows) + 1.01 * widest * kFloatRounding);
  }

  void make(const Index* which, Index count, float* const* out, const Context& context) {
    std::vector<std::vector<float>> v;
    std::vector<FloatPanels::Product> products;
    for (Index b = 0; b < count; ++b) {
      v.push_back(read(which[b]));
      products.push_back({v.back().data(), ratio(), out[b]});
    }
    panels_->multiply(products, context);
  }

  std::vector<float> read(Index j) const {
    std::vector<float> column(panels_->rows());
    panels_->read(j, column.data());
    if (narrow_) narrow_(j, column.data());
    return column;
  }
  const float* ratio() const { return ratio_.empty() ? nullptr : ratio_.data(); }

  const std::shared_ptr<const FloatPanels> panels_;
  const std::vector<float> ratio_;  // empty for all rows
  const Narrow narrow_;
  const ColumnPasses* const passes_;
  FloatRequests* const requests_;
  const double error_;
  mutable GramCacheOf<float> cache_;
};

inline void FloatRequests::serve(const Context& context) {
  std::vector<Request> wanted;
  {
    const std::lock_guard<std::mutex> guard(lock_);
    wanted.swap(wanted_);
  }
  if (wanted.empty()) return;
  std::vector<GramCacheOf<float>::Values> made;
  std::vector<std::vector<float>> v;
  std::vector<FloatPanels::Product> products;
  for (const Request& each : wanted) {
    v.push_back(each.whose->read(each.column));
    made.push_back(each.whose->cache().new_column());
    products.push_back({v.back().data(), each.whose->ratio(), made.back().get()});
  }
  wanted[0].whose->panels_->multiply(products, context);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    wanted[i].whose->cache().put(wanted[i].column, std::move(made[i]));
  }
}

}  // namespace ellzero
