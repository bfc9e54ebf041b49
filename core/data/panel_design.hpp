// Some rows of a dense X, float64 or float32, copied into panels of eight columns, row after row: a
// part of the rows in a cross-validation. Of so few rows a product of columns is mostly the sum
// over lanes at its end; with lanes across columns there is none.
#pragma once

#include "base/large_array.hpp"
#include "data/row_design.hpp"

namespace ellzero {

template <class T>
class PanelDesign final : public RowDesign {
 public:
  // Row r is row which[r] of x; y and weights are those of the rows chosen.
  PanelDesign(const Strided<T>& x, const Index* which, Index rows, Index columns, const double* y,
              const double* weights, bool centred, const Context& context)
      : RowDesign(rows, columns, y, weights, centred),
        values_(make_large_array<T>(rows * panels() * kPanelColumns)) {
    copy(x, which, context);
    std::vector<double> column(rows);
    Index row = 0;
    Moments total[kPanelColumns], part[kPanelColumns];
    for (Index panel = 0; panel < panels(); ++panel) {
      std::fill(total, total + kPanelColumns, Moments());
      row = 0;
      for (const Stretch& over : stretches_) {
        panel_moments(at(panel, row), over, part);
        for (Index c = 0; c < kPanelColumns; ++c) total[c].merge(part[c]);
        row += over.rows;
      }
      const Index first = panel * kPanelColumns;
      for (Index c = 0; c < panel_width(panel); ++c) {
        if (squares_are_safe(total[c].xx)) {
          set_column(first + c, total[c], 0);
        } else {
          for (Index r = 0; r < rows; ++r) column[r] = value(r, first + c);
          rescale(first + c, column);
        }
      }
    }
    padded_mean_ = mean;
    padded_mean_.resize(panels() * kPanelColumns, 0.0);
  }

  void gram_columns(const Index* which, Index count, double* const* out,
                    const Context& context) const override {
    for (Index begin = 0; begin < count; begin += kPanelProducts) {
      add_products(which + begin, std::min(kPanelProducts, count - begin), out + begin, context);
    }
  }

  void raw_values(Index j, const Index* rows, Index count, double* out) const override {
    for (Index r = 0; r < count; ++r) out[r] = value(rows[r], j);
  }

  double entries() const override {
    return static_cast<double>(rows_) * static_cast<double>(columns());
  }

 protected:
  void read_column(Index j, Index row, Index rows, double* out) const override {
    const double m = mean[j], f = inverse_scale[j];
    const T* source = at(j / kPanelColumns, row) + j % kPanelColumns;
    for (Index r = 0; r < rows; ++r) {
      out[r] = (static_cast<double>(source[r * kPanelColumns]) - m) * f;
    }
    if (const double* root_weight = root_weight_at(row)) {
      for (Index r = 0; r < rows; ++r) out[r] *= root_weight[r];
    }
  }

 private:
  Index panels() const { return (columns() + kPanelColumns - 1) / kPanelColumns; }
  Index panel_width(Index panel) const {
    return std::min(kPanelColumns, columns() - panel * kPanelColumns);
  }
  T* at(Index panel, Index row) const {
    return values_.get() + (panel * rows_ + row) * kPanelColumns;
  }
  double value(Index r, Index j) const {
    return static_cast<double>(at(j / kPanelColumns, r)[j % kPanelColumns]);
  }

  void copy(const Strided<T>& x, const Index* which, const Context& context) {
    // A few rows at a time: what lies together in X is read together, and written so too.
    constexpr Index kRows = 8;
    for (Index row = 0; row < rows_; row += kRows) {
      context.check();
      const Index end = std::min(rows_, row + kRows);
      for (Index panel = 0; panel < panels(); ++panel) {
        const Index first = panel * kPanelColumns, width = panel_width(panel);
        for (Index r = row; r < end; ++r) {
          T* target = at(panel, r);
          const T* source = x.at(which[r], first);
          for (Index c = 0; c < width; ++c) target[c] = source[c * x.column_stride];
          for (Index c = width; c < kPanelColumns; ++c) target[c] = 0;
        }
      }
    }
  }

  void add_products(const Index* which, Index count, double* const* out,
                    const Context& context) const {
    const Index stretches = static_cast<Index>(stretches_.size());
    std::vector<double> v(rows_ * count), column(std::min(rows_, kTileRows));
    for (Index b = 0; b < count; ++b) {
      for (Index row = 0; row < rows_; row += kTileRows) {
        const Index rows = std::min(kTileRows, rows_ - row);
        read_column(which[b], row, rows, column.data());
        const double* root_weight = root_weight_at(row);
        for (Index r = 0; r < rows; ++r) {
          v[(row + r) * count + b] = column[r] * (root_weight ? root_weight[r] : 1.0);
        }
      }
    }
    Context sharing = context;
    if (entries() * static_cast<double>(4 + count) < 4e6) sharing.threads = 1;
    parallel_ranges(panels(), sharing, [&](Index begin, Index end, auto poll) {
      double sums[kPanelProducts * kPanelColumns], total[kPanelProducts * kPanelColumns];
      for (Index panel = begin; panel < end; ++panel) {
        if (panel % 64 == 0 && poll()) return;
        const Index first = panel * kPanelColumns, width = panel_width(panel);
        for (Index s = 0; s < stretches; ++s) {
          const Index row = s * kTileRows;
          multiply_panel(at(panel, row), stretches_[s].rows, padded_mean_.data() + first,
                         v.data() + row * count, count, s == 0 ? total : sums);
          if (s == 0) continue;
          for (Index i = 0; i < count * kPanelColumns; ++i) total[i] += sums[i];
        }
        for (Index b = 0; b < count; ++b) {
          const double* sum = total + b * kPanelColumns;
          Index c = 0;
          for (; c + kLanes <= width; c += kLanes) {
            store(out[b] + first + c, load(sum + c) * load(inverse_scale.data() + first + c));
          }
          for (; c < width; ++c) out[b][first + c] = sum[c] * inverse_scale[first + c];
        }
      }
    });
  }

  LargeArray<T> values_;
  std::vector<double> padded_mean_;  // zeros for the columns that fill the last panel
};

}  // namespace ellzero
