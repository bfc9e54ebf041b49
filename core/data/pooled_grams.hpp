// Gram matrices of pools of parts, where columns and rows are few: all that were asked for are made
// in one go, some rows of the matrices at a time. So the products of parts, which are made on the
// way, stay in a cache and are not kept.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "base/spare_array.hpp"
#include "base/triangle_kernels.hpp"
#include "data/prepared_columns.hpp"
#include "data/quadratic.hpp"

namespace ellzero {

// The matrix of one pool. With C_b the products of deviations of part b, and v_b what its means
// deviate from those of the pool, it is scale_i scale_j times the sum of C_b + weight_b v_b v_b'.
struct PooledGram {
  std::vector<Index> which;  // parts
  std::vector<double> weight;
  std::vector<double> v;                   // one after the other, `stride` numbers each
  std::vector<double> scale;               // `stride` numbers
  Index stride = 0;                        // as PooledGrams wants it
  const double* values = nullptr;          // columns, `stride` apart; null until it is made
  std::shared_ptr<const double[]> memory;  // that they are in
};

// Several threads may ask at once.
class PooledGrams {
 public:
  // Whether it is little work to make them: of columns that are made one by one each costs more.
  static bool pays(const std::vector<const Quadratic*>& parts) {
    const auto p = static_cast<double>(parts[0]->columns());
    double rows = 0;
    for (const Quadratic* part : parts) {
      const PreparedColumns* z = part->prepared_columns();
      if (!z) return false;
      rows += static_cast<double>(z->rows());
    }
    return static_cast<Index>(parts.size()) <= kMostPooled && p <= kMostColumns &&
           rows * p * p < kLittleWork;
  }

  // Both are kept by the caller. `share`, by part and column, is what columns of a part are
  // multiplied by.
  PooledGrams(const std::vector<const Quadratic*>& parts, const double* share)
      : parts_(parts), share_(share) {}

  // What v, scale and the matrix have to be padded to.
  Index stride() const { return round_up(columns(), kLine); }

  // It will be wanted; unless it is dropped, it is kept by the caller.
  void expect(PooledGram& gram) {
    const std::lock_guard<std::mutex> guard(lock_);
    expected_.push_back(&gram);
  }
  void drop(PooledGram& gram) {
    const std::lock_guard<std::mutex> guard(lock_);
    expected_.erase(std::remove(expected_.begin(), expected_.end(), &gram), expected_.end());
  }

  // Makes all that are expected; how many these are.
  Index make(const Context& context) {
    const std::lock_guard<std::mutex> guard(lock_);
    const Index count = static_cast<Index>(expected_.size());
    if (count > 0) fill(context);
    expected_.clear();
    return count;
  }

 private:
  static constexpr double kLittleWork = 2e7, kMostColumns = 256;
  // Columns begin where a line of the processor's cache does, in whole strips.
  static constexpr Index kLine = 24;
  static_assert(kLine % 8 == 0 && kLine % kStripColumns == 0, "whole lines, and whole strips");

  Index columns() const { return parts_[0]->columns(); }

  void fill(const Context& context) const {
    const Index p = columns(), stride = this->stride(), size = stride * stride;
    const Index count = static_cast<Index>(parts_.size());
    const Index wanted = static_cast<Index>(expected_.size());
    const std::shared_ptr<double[]> memory = make_spare_array(wanted * size);
    std::vector<Index> rows(count), begins(count + 1, 0);
    for (Index b = 0; b < count; ++b) {
      rows[b] = parts_[b]->prepared_columns()->rows();
      begins[b + 1] = begins[b] + rows[b] * stride;
    }
    const Index block = kStripColumns * stride;
    const std::shared_ptr<double[]> room = make_spare_array(begins[count] + count * block);
    double *strips = room.get(), *products = strips + begins[count];
    for (Index b = 0; b < count; ++b) bring(b, strips + begins[b]);
    for (Index top = 0; top < p; top += kStripColumns) {
      context.check();
      for (Index b = 0; b < count; ++b) {
        strip_products(strips + begins[b], rows[b], p, top, products + b * block, stride);
      }
      std::vector<const double*> own;
      for (Index g = 0; g < wanted; ++g) {
        const PooledGram& gram = *expected_[g];
        own.clear();
        for (const Index b : gram.which) own.push_back(products + b * block);
        pool_products(own.data(), stride, gram.v.data(), gram.weight.data(),
                      static_cast<Index>(own.size()), gram.scale.data(), p, top,
                      memory.get() + g * size, stride);
      }
    }
    for (Index g = 0; g < wanted; ++g) {
      expected_[g]->values = memory.get() + g * size;
      expected_[g]->memory = memory;
    }
  }

  // Brings the columns of part b into strips.
  void bring(Index b, double* strips) const {
    const PreparedColumns& z = *parts_[b]->prepared_columns();
    const Index rows = z.rows(), p = columns();
    std::vector<double> column(rows);
    std::vector<Index> all(p);
    for (Index j = 0; j < p; ++j) all[j] = j;
    z.bring(all.data(), p);
    for (Index j = 0; j < p; ++j) {
      z.read(j, 0, rows, column.data());
      const double own = share_[b * p + j];
      double* to = strips + strip_place(0, j, rows);
      for (Index r = 0; r < rows; ++r) to[r * kStripColumns] = column[r] * own;
    }
    for (Index j = p; j < round_up(p, kStripColumns); ++j) {
      double* to = strips + strip_place(0, j, rows);
      for (Index r = 0; r < rows; ++r) to[r * kStripColumns] = 0;
    }
  }

  const std::vector<const Quadratic*>& parts_;
  const double* const share_;
  std::mutex lock_;
  std::vector<PooledGram*> expected_;
};

}  // namespace ellzero
