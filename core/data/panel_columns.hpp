// Some rows of a dense X, float64 or float32, copied into panels of eight columns, row after row: a
// part of the rows in a cross-validation. Of so few rows a product of columns is mostly the sum
// over lanes at its end; with lanes across columns there is none.
#pragma once

#include <algorithm>
#include <vector>

#include "base/large_array.hpp"
#include "data/columns.hpp"

namespace ellzero {

template <class T>
class PanelColumns final : public Columns {
 public:
  // Row r is row which[r] of x.
  PanelColumns(const Strided<T>& x, const Index* which, Index rows, Index columns,
               const Context& context)
      : Columns(rows, columns), values_(make_large_array<T>(rows * panels() * kPanelColumns)) {
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

  double entries() const override {
    return static_cast<double>(rows_) * static_cast<double>(columns_);
  }

  void read(Index j, Index row, Index rows, double* out) const override {
    const T* source = at(j / kPanelColumns, row) + j % kPanelColumns;
    for (Index r = 0; r < rows; ++r) out[r] = static_cast<double>(source[r * kPanelColumns]);
  }

  void read_rows(Index j, const Index* which, Index count, double* out) const override {
    const T* source = at(j / kPanelColumns, 0) + j % kPanelColumns;
    for (Index r = 0; r < count; ++r) {
      out[r] = static_cast<double>(source[which[r] * kPanelColumns]);
    }
  }

  void products(const Standardisation& standardisation, const Operand& v, double* const* out,
                const Context& context) const override {
    for (Index first = 0; first < v.width(); first += kPanelProducts) {
      const Index count = std::min(kPanelProducts, v.width() - first);
      make_products(standardisation, v, first, count, out + first, context);
    }
  }

  void take_moments(const Response& response, const TakeMoments& take,
                    const Context& context) const override {
    Moments total[kPanelColumns], part[kPanelColumns];
    for (Index panel = 0; panel < panels(); ++panel) {
      if (panel % 64 == 0) context.check();
      std::fill(total, total + kPanelColumns, Moments());
      Index row = 0;
      for (const Stretch& over : response.stretches()) {
        panel_moments(at(panel, row), over, part);
        for (Index c = 0; c < kPanelColumns; ++c) total[c].merge(part[c]);
        row += over.rows;
      }
      const Index first = panel * kPanelColumns;
      for (Index c = 0; c < panel_width(panel); ++c) {
        take(first + c, safe_moments(first + c, total[c], response));
      }
    }
  }

 private:
  Index panels() const { return (columns_ + kPanelColumns - 1) / kPanelColumns; }
  Index panel_width(Index panel) const {
    return std::min(kPanelColumns, columns_ - panel * kPanelColumns);
  }
  T* at(Index panel, Index row) const {
    return values_.get() + (panel * rows_ + row) * kPanelColumns;
  }

  // `count` columns of Z'V from the one of V that is `begin_v`.
  void make_products(const Standardisation& standardisation, const Operand& operand, Index begin_v,
                     Index count, double* const* out, const Context& context) const {
    std::vector<double> v(rows_ * count), part(std::min(rows_, kTileRows));
    for (Index b = 0; b < count; ++b) {
      for (Index row = 0; row < rows_; row += kTileRows) {
        const Index rows = std::min(kTileRows, rows_ - row);
        const double* root_weight = standardisation.root_weight_at(row);
        operand.read(begin_v + b, row, rows, part.data());
        for (Index r = 0; r < rows; ++r) {
          v[(row + r) * count + b] = part[r] * (root_weight ? root_weight[r] : 1.0);
        }
      }
    }
    const double* inverse_scale = standardisation.inverse_scale;
    const auto work = [&](Index begin, Index end, auto poll) {
      double sums[kPanelProducts * kPanelColumns], total[kPanelProducts * kPanelColumns];
      double last_mean[kPanelColumns] = {};  // zeros for the columns that fill the last panel
      for (Index panel = begin; panel < end; ++panel) {
        if (panel % 64 == 0 && poll()) return;
        const Index first = panel * kPanelColumns, width = panel_width(panel);
        const double* mean = standardisation.mean + first;
        if (width < kPanelColumns) {
          std::copy_n(mean, width, last_mean);
          mean = last_mean;
        }
        for (Index row = 0; row < rows_; row += kTileRows) {
          multiply_panel(at(panel, row), std::min(kTileRows, rows_ - row), mean,
                         v.data() + row * count, count, row == 0 ? total : sums);
          if (row == 0) continue;
          for (Index i = 0; i < count * kPanelColumns; ++i) total[i] += sums[i];
        }
        for (Index b = 0; b < count; ++b) {
          const double* sum = total + b * kPanelColumns;
          Index c = 0;
          for (; c + kLanes <= width; c += kLanes) {
            store(out[b] + first + c, load(sum + c) * load(inverse_scale + first + c));
          }
          for (; c < width; ++c) out[b][first + c] = sum[c] * inverse_scale[first + c];
        }
      }
    };
    parallel_ranges(panels(), worth_sharing(count, context), work);
  }

  const LargeArray<T> values_;
};

}  // namespace ellzero
