// Sums of products of the columns of a block of rows, fold by fold: what statistics of any number
// of rows are put together of.
//
// With u = root weight x (v - middle) the deviations of a row, the response last, and a root weight
// w, every fold of its rows gives s = sum of w u, W = sum of w^2 and
//
//   C = sum of u u' - s s' / W,
//
// the products of deviations from the means of the fold, which are middle + s / W. Some rows at a
// time are brought into the order of their folds, so that they are read once and all folds together
// cost as many products as one.
#pragma once

#include <algorithm>
#include <vector>

#include "base/large_array.hpp"
#include "base/triangle_kernels.hpp"

namespace ellzero {

// Rows as they were read: a table whose rows lie together, and columns after those of the table.
template <class T>
struct BlockRows {
  const T* table;  // null if there is none
  Index table_columns;
  Index row_stride;
  std::vector<const double*> columns;
  Index rows;

  Index width() const { return table_columns + static_cast<Index>(columns.size()); }
};

template <class T>
class BlockProducts {
 public:
  // `fold` (null: all are in the only one) and `root_weight` (null: all ones) are by row.
  BlockProducts(const BlockRows<T>& block, const double* middle, const Index* fold, Index folds,
                const double* root_weight)
      : block_(block),
        middle_(middle),
        fold_(fold),
        folds_(folds),
        root_weight_(root_weight),
        columns_(block.width() + 1),
        stride_(round_up(columns_, kStripColumns)),
        rows_at_once_(std::min(block.rows, columns_ > kFew ? block.rows : kCached / stride_)),
        strips_(room_for<kStrips>(rows_at_once_ * stride_)) {}

  // products[f] is the upper triangle of the C of fold f, packed, and sums[f] its s.
  void sum(double* products, double* sums) {
    const Index packed = packed_size(block_.width());
    // Of many columns all rows are taken at once: the triangle of one fold after the other.
    const bool at_once = rows_at_once_ >= block_.rows;
    const Index size = stride_ * stride_;
    double* triangles = room_for<kTriangles>(at_once ? size : folds_ * size);
    for (Index first = 0; first < block_.rows; first += rows_at_once_) {
      const Index rows = std::min(rows_at_once_, block_.rows - first);
      sort(first, rows);
      pack(rows);
      for (Index f = 0; f < folds_; ++f) {
        double* triangle = triangles + (at_once ? 0 : f * size);
        add_triangle(strips_, rows, begins_[f], begins_[f + 1], columns_, first == 0, triangle,
                     stride_);
        if (at_once) finish(f, triangle, products + f * packed, sums);
      }
    }
    if (at_once) return;
    for (Index f = 0; f < folds_; ++f) {
      finish(f, triangles + f * size, products + f * packed, sums);
    }
  }

 private:
  // Of few columns so many numbers are brought into order at a time, and stay in a cache.
  static constexpr Index kFew = 256;
  static constexpr Index kCached = Index{1} << 18;

  // Room that a thread uses again and again: fresh memory costs as much as filling it.
  enum Purpose { kStrips, kTriangles };
  template <Purpose purpose>
  static double* room_for(Index count) {
    static thread_local LargeArray<double> room;
    static thread_local Index size = 0;
    if (size < count) {
      room.reset();
      room = make_large_array<double>(count);
      size = count;
    }
    return room.get();
  }

  // order_ = the rows by fold, those of fold f from begins_[f].
  void sort(Index first, Index rows) {
    begins_.assign(folds_ + 1, 0);
    order_.resize(rows);
    const auto fold_of = [&](Index r) { return fold_ ? fold_[first + r] : 0; };
    for (Index r = 0; r < rows; ++r) ++begins_[fold_of(r) + 1];
    for (Index f = 0; f < folds_; ++f) begins_[f + 1] += begins_[f];
    std::vector<Index> place(begins_.begin(), begins_.end() - 1);
    for (Index r = 0; r < rows; ++r) order_[place[fold_of(r)]++] = first + r;
  }

  // Brings the deviations into strips, in that order.
  void pack(Index rows) {
    double* out = strips_;
    const Index first = block_.table_columns;
    if (first > 0) {
      pack_table(block_.table, block_.row_stride, order_.data(), rows, first, middle_, out);
    }
    pack_columns(block_.columns.data(), static_cast<Index>(block_.columns.size()), order_.data(),
                 rows, first, middle_ + first, out);
    double* ones = out + strip_place(0, columns_ - 1, rows);
    for (Index r = 0; r < rows; ++r) ones[r * kStripColumns] = 1;
    for (Index j = columns_; j < stride_; ++j) {
      double* filling = out + strip_place(0, j, rows);
      for (Index r = 0; r < rows; ++r) filling[r * kStripColumns] = 0;
    }
    if (!root_weight_) return;
    for (Index j = 0; j < columns_; j += kStripColumns) {
      double* strip = out + strip_place(0, j, rows);
      for (Index r = 0; r < rows; ++r) {
        for (Index c = 0; c < kStripColumns; ++c) {
          strip[r * kStripColumns + c] *= root_weight_[order_[r]];
        }
      }
    }
  }

  void finish(Index f, const double* triangle, double* products, double* sums) {
    const Index count = block_.width();
    for (Index i = 0; i < count; ++i) sums[f * count + i] = triangle[i * stride_ + count];
    const double weight = triangle[count * stride_ + count];
    const double factor = weight > 0 ? -1 / weight : 0;
    pack_triangle(triangle, stride_, sums + f * count, factor, count, products);
  }

  const BlockRows<T>& block_;
  const double* const middle_;
  const Index* const fold_;
  const Index folds_;
  const double* const root_weight_;
  const Index columns_;  // with the response, and the ones
  const Index stride_;
  const Index rows_at_once_;
  double* const strips_;
  std::vector<Index> order_, begins_;
};

}  // namespace ellzero
