// A dense X, float64 or float32, in any layout, never copied: a tile at a time is centred, scaled
// and brought into one layout, and all sums are in float64.
#pragma once

#include <type_traits>

#include "data/row_design.hpp"

namespace ellzero {

template <class T>
class DenseDesign final : public RowDesign {
 public:
  DenseDesign(const Strided<T>& x, Index rows, Index columns, const double* y,
              const double* weights, bool centred, const Context& context)
      : RowDesign(rows, columns, y, weights, centred), x_(x) {
    parallel_ranges(panels(), worth_sharing(1, context), [&](Index begin, Index end, auto poll) {
      const auto tile = std::make_unique<Tile>();  // too large for some stacks
      std::vector<Moments> total(kTileColumns);
      for (Index panel = begin; panel < end; ++panel) {
        if (poll()) return;
        const Index first = panel * kTileColumns, count = panel_width(panel);
        take_moments(first, count, *tile, total.data());
        for (Index j = 0; j < count; ++j) {
          if (squares_are_safe(total[j].xx)) {
            set_column(first + j, total[j], 0);
          } else {
            std::vector<double> column(rows_);
            for (Index r = 0; r < rows_; ++r) column[r] = static_cast<double>(*x_.at(r, first + j));
            rescale(first + j, column);
          }
        }
      }
    });
  }

  void gram_columns(const Index* which, Index count, double* const* out,
                    const Context& context) const override {
    for (Index b = 0; b < count; ++b) std::fill(out[b], out[b] + columns(), 0.0);
    if (count <= kUnpackedColumns && (x_.row_stride == 1 || x_.column_stride == 1)) {
      add_few_products(which, count, out, context);
    } else {
      add_products(which, count, out, context);
    }
    for (Index b = 0; b < count; ++b) {
      for (Index i = 0; i < columns(); ++i) out[b][i] *= inverse_scale[i];
    }
  }

  void raw_values(Index j, const Index* rows, Index count, double* out) const override {
    for (Index r = 0; r < count; ++r) out[r] = static_cast<double>(*x_.at(rows[r], j));
  }

  double entries() const override {
    return static_cast<double>(rows_) * static_cast<double>(columns());
  }

 protected:
  void read_column(Index j, Index row, Index rows, double* out) const override {
    const double m = mean[j], f = inverse_scale[j];
    for (Index r = 0; r < rows; ++r) out[r] = (static_cast<double>(*x_.at(row + r, j)) - m) * f;
    if (const double* root_weight = root_weight_at(row)) {
      for (Index r = 0; r < rows; ++r) out[r] *= root_weight[r];
    }
  }

 private:
  Index panels() const { return (columns() + kTileColumns - 1) / kTileColumns; }
  Index panel_width(Index panel) const {
    return std::min(kTileColumns, columns() - panel * kTileColumns);
  }
  Strided<T> x_at(Index row, Index column) const {
    return {x_.at(row, column), x_.row_stride, x_.column_stride};
  }

  // Starting a thread costs as much as some hundred thousand multiplications.
  Context worth_sharing(Index width, Context context) const {
    if (entries() * static_cast<double>(4 + width) < 4e6) context.threads = 1;
    return context;
  }

  // out[b](i) += x_i'z_b with x_i centred, not scaled.
  void add_products(const Index* which, Index count, double* const* out,
                    const Context& context) const {
    const Index width = round_up(count, 4);
    const auto work = [&](Index begin, Index end, auto poll) {
      const auto tile = std::make_unique<Tile>();
      // Whoever reads X along its columns does well to stay in a panel for many rows; whoever reads
      // it along its rows, to go through all panels first.
      const Index stretches = x_.row_stride == 1 ? 8 : 1;
      const Index v_size = width * kTileStride;
      std::vector<double> v(std::min(stretches * kTileRows, round_up(rows_, kTileRows)) /
                            kTileRows * v_size);
      std::vector<double*> target(width, nullptr);
      for (Index top = 0; top < rows_; top += stretches * kTileRows) {
        const Index bottom = std::min(rows_, top + stretches * kTileRows);
        const auto v_at = [&](Index row) { return v.data() + (row - top) / kTileRows * v_size; };
        for (Index row = top; row < bottom; row += kTileRows) {
          read_block(which, count, row, v_at(row));
        }
        for (Index panel = begin; panel < end; ++panel) {
          if (poll()) return;
          const Index first = panel * kTileColumns, columns = panel_width(panel);
          for (Index b = 0; b < count; ++b) target[b] = out[b] + first;
          for (Index row = top; row < bottom; row += kTileRows) {
            const Index rows = std::min(kTileRows, rows_ - row);
            pack(x_at(row, first), rows, columns, mean.data() + first, root_weight_at(row), *tile);
            const bool stay = row + kTileRows < bottom;
            multiply(*tile, columns, v_at(row), width, round_up(rows, kLanes),
                     stay ? upcoming(row + kTileRows, first) : upcoming(top, first + columns),
                     target.data());
          }
        }
      }
    };
    parallel_ranges(panels(), worth_sharing(count, context), work);
  }

  // The same for at most kUnpackedColumns columns.
  void add_few_products(const Index* which, Index count, double* const* out,
                        const Context& context) const {
    const auto work = [&](Index begin, Index end, auto poll) {
      const Index last = std::min(columns(), end * kTileColumns);
      // A few columns from top to bottom, or all columns of a stretch of rows: as they lie.
      const bool upright = x_.row_stride == 1;
      const Index step = upright ? 3 : columns();
      const Index stretches = upright ? 8 : 1;
      std::vector<double> v(count * stretches * kTileRows);
      const double* v_at[kUnpackedColumns];
      double* target[kUnpackedColumns];
      for (Index top = 0; top < rows_; top += stretches * kTileRows) {
        const Index bottom = std::min(rows_, top + stretches * kTileRows);
        for (Index b = 0; b < count; ++b) {
          read_column(which[b], top, bottom - top, v.data() + b * stretches * kTileRows);
        }
        for (Index first = begin * kTileColumns; first < last; first += step) {
          if (first % kTileColumns == 0 && poll()) return;
          for (Index row = top; row < bottom; row += kTileRows) {
            for (Index b = 0; b < count; ++b) {
              v_at[b] = v.data() + b * stretches * kTileRows + (row - top);
              target[b] = out[b] + first;
            }
            multiply_unpacked(x_at(row, first), std::min(kTileRows, rows_ - row),
                              std::min(step, last - first), mean.data() + first,
                              root_weight_at(row), v_at, count, target);
          }
        }
      }
    };
    parallel_ranges(panels(), worth_sharing(count, context), work);
  }

  // The tile that will be packed next begins at this row and column, if there is one.
  Upcoming upcoming(Index row, Index first) const {
    if (row >= rows_ || first >= columns()) return {};
    const Index size = static_cast<Index>(sizeof(T));
    const Index rows = std::min(kTileRows, rows_ - row);
    const Index width = std::min(kTileColumns, columns() - first);
    const char* begin = reinterpret_cast<const char*>(x_.at(row, first));
    if (x_.row_stride == 1) return {begin, rows * size, x_.column_stride * size, width};
    if (x_.column_stride == 1) return {begin, width * size, x_.row_stride * size, rows};
    return {};
  }

  // Moments of columns first .. first + count.
  void take_moments(Index first, Index count, Tile& tile, Moments* total) const {
    std::fill(total, total + count, Moments());
    if constexpr (std::is_same_v<T, double>) {
      if (x_.row_stride == 1) {  // nothing to bring into order
        for (Index j = 0; j < count; ++j) {
          const double* column = x_.at(0, first + j);
          for (const Stretch& over : stretches_) {
            total[j].merge(moments(column, over));
            column += over.rows;
          }
        }
        return;
      }
    }
    const std::vector<double> shift(count, 0.0);
    Index row = 0;
    for (const Stretch& over : stretches_) {
      pack(x_at(row, first), over.rows, count, shift.data(), nullptr, tile);
      for (Index j = 0; j < count; ++j) total[j].merge(moments(tile.column(j), over));
      row += over.rows;
    }
  }

  Strided<T> x_;
};

}  // namespace ellzero
