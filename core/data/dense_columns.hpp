// A dense X, float64 or float32, in any layout: a tile at a time is centred and brought into one
// layout, and all sums are in float64. It is not copied, but where it is small and one product
// after another is asked for: in panels it is read in half the time.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

#include "base/large_array.hpp"
#include "data/tiled_products.hpp"

namespace ellzero {

template <class T>
class DenseColumns final : public Columns {
 public:
  DenseColumns(const Strided<T>& x, Index rows, Index columns) : Columns(rows, columns), x_(x) {}

  double entries() const override {
    return static_cast<double>(rows_) * static_cast<double>(columns_);
  }

  void read(Index j, Index row, Index rows, double* out) const override {
    if (x_.row_stride == 1) {  // said once, and not at every number
      std::copy_n(x_.at(row, j), rows, out);
      return;
    }
    for (Index r = 0; r < rows; ++r) out[r] = static_cast<double>(*x_.at(row + r, j));
  }

  // Where columns of a row lie together, of a few rows at a time: each line of the processor's
  // cache serves several columns.
  void read_some(const Index* which, Index count, Index row, Index rows,
                 double* out) const override {
    const Index step = x_.row_stride == 1 ? rows : 8;
    for (Index begin = 0; begin < rows; begin += step) {
      const Index length = std::min(step, rows - begin);
      for (Index c = 0; c < count; ++c) {
        read(which[c], row + begin, length, out + c * rows + begin);
      }
    }
  }

  void read_rows(Index j, const Index* which, Index count, double* out) const override {
    for (Index r = 0; r < count; ++r) out[r] = static_cast<double>(*x_.at(which[r], j));
  }

  bool is_dense() const override { return true; }
  void fill_panel(const Standardisation& standardisation, Index first, Index count,
                  float* panel) const override {
    if (x_.column_stride != 1) {
      Columns::fill_panel(standardisation, first, count, panel);
      return;
    }
    pack_float_panel(x_at(0, first), rows_, count, standardisation.mean + first,
                     standardisation.inverse_scale + first, standardisation.root_weight, panel);
  }

  void products(const Standardisation& standardisation, const Operand& v, double* const* out,
                const Context& context) const override {
    const double* inverse_scale = standardisation.inverse_scale;
    const T* panels = v.width() == 1 && !standardisation.root_weight ? in_panels() : nullptr;
    if (panels) {
      std::vector<double> own(rows_);
      v.read(0, 0, rows_, own.data());
      multiply_wide_panels(panels, rows_, columns_, standardisation.mean, inverse_scale, own.data(),
                           out[0]);
      return;
    }
    for (Index b = 0; b < v.width(); ++b) std::fill(out[b], out[b] + columns_, 0.0);
    if (v.width() <= kUnpackedColumns && (x_.row_stride == 1 || x_.column_stride == 1)) {
      add_few_products(standardisation, v, out, context);
    } else {
      add_products(standardisation, v, out, context);
    }
    for (Index b = 0; b < v.width(); ++b) {
      for (Index i = 0; i < columns_; ++i) out[b][i] *= inverse_scale[i];
    }
  }

  void take_moments(const Response& response, const TakeMoments& take,
                    const Context& context) const override {
    parallel_ranges(tiles(), worth_sharing(1, context), [&](Index begin, Index end, auto poll) {
      const auto tile = make_tile();
      std::vector<Moments> total(kTileColumns);
      for (Index tile_index = begin; tile_index < end; ++tile_index) {
        if (poll()) return;
        const Index first = tile_index * kTileColumns, count = tile_width(tile_index);
        add_moments(first, count, response, *tile, total.data());
        for (Index j = 0; j < count; ++j) {
          take(first + j, safe_moments(first + j, total[j], response));
        }
      }
    });
  }

 private:
  // X in panels, into which it is copied at some product; null before, and if it does not stay in
  // the second cache.
  const T* in_panels() const {
    constexpr Index kCached = 524288 / sizeof(T), kProducts = 4;
    const Index size = rows_ * round_up(columns_, kWidePanel);
    if (size > kCached || products_made_++ < kProducts) return nullptr;
    std::call_once(panels_made_, [&] {
      panels_ = make_large_array<T>(size);
      T* to = panels_.get();
      for (Index first = 0; first < columns_; first += kWidePanel) {
        const Index count = std::min(kWidePanel, columns_ - first);
        for (Index r = 0; r < rows_; ++r, to += kWidePanel) {
          if (x_.column_stride == 1) {  // said once, and not at every number
            std::copy_n(x_.at(r, first), count, to);
          } else {
            for (Index j = 0; j < count; ++j) to[j] = *x_.at(r, first + j);
          }
          std::fill(to + count, to + kWidePanel, T{0});
        }
      }
    });
    return panels_.get();
  }

  Index tiles() const { return tile_count(columns_); }
  Index tile_width(Index tile_index) const {
    return std::min(kTileColumns, columns_ - tile_index * kTileColumns);
  }
  Strided<T> x_at(Index row, Index column) const {
    return {x_.at(row, column), x_.row_stride, x_.column_stride};
  }

  // out[b](i) += x_i'v_b with x_i centred and weighted, not scaled.
  void add_products(const Standardisation& standardisation, const Operand& operand,
                    double* const* out, const Context& context) const {
    // Whoever reads X along its columns does well to stay in the columns of a tile for many rows;
    // whoever reads it along its rows, to go through all columns first.
    const Index stretches = x_.row_stride == 1 ? 8 : 1;
    const auto fill = [&](Index row, Index rows, Index first, Index columns, Tile& tile) {
      pack(x_at(row, first), rows, columns, standardisation.mean + first,
           standardisation.root_weight_at(row), tile);
    };
    const auto coming = [&](Index row, Index first) { return upcoming(row, first); };
    add_tiled_products(rows_, columns_, stretches, operand, fill, coming, out,
                       worth_sharing(operand.width(), context));
  }

  // The same for at most kUnpackedColumns columns of V.
  void add_few_products(const Standardisation& standardisation, const Operand& operand,
                        double* const* out, const Context& context) const {
    const Index width = operand.width();
    const auto work = [&](Index begin, Index end, auto poll) {
      const Index last = std::min(columns_, end * kTileColumns);
      // A few columns from top to bottom, or all columns of a stretch of rows: as they lie.
      const bool upright = x_.row_stride == 1;
      const Index step = upright ? 6 : columns_;
      const Index stretches = upright ? 8 : 1;
      std::vector<double> v(width * stretches * kTileRows);
      const double* v_at[kUnpackedColumns];
      double* target[kUnpackedColumns];
      for (Index top = 0; top < rows_; top += stretches * kTileRows) {
        const Index bottom = std::min(rows_, top + stretches * kTileRows);
        for (Index b = 0; b < width; ++b) {
          operand.read(b, top, bottom - top, v.data() + b * stretches * kTileRows);
        }
        for (Index first = begin * kTileColumns; first < last; first += step) {
          if (first % kTileColumns == 0 && poll()) return;
          for (Index row = top; row < bottom; row += kTileRows) {
            for (Index b = 0; b < width; ++b) {
              v_at[b] = v.data() + b * stretches * kTileRows + (row - top);
              target[b] = out[b] + first;
            }
            multiply_unpacked(x_at(row, first), std::min(kTileRows, rows_ - row),
                              std::min(step, last - first), standardisation.mean + first,
                              standardisation.root_weight_at(row), v_at, width, target);
          }
        }
      }
    };
    parallel_ranges(tiles(), worth_sharing(width, context), work);
  }

  // The tile that will be packed next begins at this row and column, if there is one.
  Upcoming upcoming(Index row, Index first) const {
    if (row >= rows_ || first >= columns_) return {};
    const Index size = static_cast<Index>(sizeof(T));
    const Index rows = std::min(kTileRows, rows_ - row);
    const Index width = std::min(kTileColumns, columns_ - first);
    const char* begin = reinterpret_cast<const char*>(x_.at(row, first));
    if (x_.row_stride == 1) return {begin, rows * size, x_.column_stride * size, width};
    if (x_.column_stride == 1) return {begin, width * size, x_.row_stride * size, rows};
    return {};
  }

  // total = moments of columns first .. first + count
  void add_moments(Index first, Index count, const Response& response, Tile& tile,
                   Moments* total) const {
    std::fill(total, total + count, Moments());
    if constexpr (std::is_same_v<T, double>) {
      if (x_.row_stride == 1) {  // nothing to bring into order
        for (Index j = 0; j < count; ++j) {
          const double* column = x_.at(0, first + j);
          for (const Stretch& over : response.stretches()) {
            total[j].merge(moments(column, over));
            column += over.rows;
          }
        }
        return;
      }
    }
    const std::vector<double> shift(count, 0.0);
    Index row = 0;
    for (const Stretch& over : response.stretches()) {
      pack(x_at(row, first), over.rows, count, shift.data(), nullptr, tile);
      for (Index j = 0; j < count; ++j) total[j].merge(moments(tile.column(j), over));
      row += over.rows;
    }
  }

  const Strided<T> x_;
  mutable std::atomic<Index> products_made_{0};
  mutable std::once_flag panels_made_;
  mutable LargeArray<T> panels_;
};

}  // namespace ellzero
