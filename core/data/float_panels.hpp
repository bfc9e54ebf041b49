// Columns as preparation left them, in float32 and in panels (float_kernels.hpp), and their
// products with any vectors: a pass over half of the bytes, at twice the speed.
#pragma once

#include <algorithm>
#include <vector>

#include "base/float_kernels.hpp"
#include "base/large_array.hpp"
#include "data/prepared_columns.hpp"

namespace ellzero {

class FloatPanels {
 public:
  FloatPanels(const PreparedColumns& z, const Context& context)
      : rows_(z.rows()),
        columns_(z.columns().columns()),
        values_(make_large_array<float>(rows_ * panels() * kFloatPanel)) {
    parallel_ranges(panels(), context, [&](Index begin, Index end, auto poll) {
      for (Index panel = begin; panel < end; ++panel) {
        if (panel % 16 == 0 && poll()) return;
        const Index first = panel * kFloatPanel;
        z.columns().fill_panel(z.standardisation(), first, panel_width(panel), at(panel));
      }
    });
  }

  // Some of the columns of others.
  FloatPanels(const FloatPanels& others, const std::vector<Index>& which)
      : rows_(others.rows_),
        columns_(static_cast<Index>(which.size())),
        values_(make_large_array<float>(rows_ * panels() * kFloatPanel)) {
    for (Index panel = 0; panel < panels(); ++panel) {
      const Index first = panel * kFloatPanel, width = panel_width(panel);
      const float* from[kFloatPanel];
      for (Index j = 0; j < width; ++j) {
        const Index column = which[first + j];
        from[j] = others.at(column / kFloatPanel) + column % kFloatPanel;
      }
      float* to = at(panel);
      for (Index r = 0; r < rows_; ++r, to += kFloatPanel) {
        for (Index j = 0; j < width; ++j) to[j] = from[j][r * kFloatPanel];
        for (Index j = width; j < kFloatPanel; ++j) to[j] = 0;
      }
    }
  }

  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  double bytes() const { return 4.0 * static_cast<double>(rows_ * panels() * kFloatPanel); }

  // Column j, in all rows.
  void read(Index j, float* out) const {
    const float* from = at(j / kFloatPanel) + j % kFloatPanel;
    for (Index r = 0; r < rows_; ++r) out[r] = from[r * kFloatPanel];
  }

  // One of several products: out[i] = z_i'v, times ratio[i] if that is not null.
  struct Product {
    const float* v;
    const float* ratio;
    float* out;
  };

  // All of them in one pass.
  void multiply(const std::vector<Product>& products, const Context& context) const {
    const Index count = static_cast<Index>(products.size());
    // Some of the v at a time, row by row.
    std::vector<float> v(rows_ * count);
    for (Index b = 0; b < count; ++b) {
      const Index first = b - b % kFloatVectors, width = std::min(kFloatVectors, count - first);
      float* to = v.data() + rows_ * first + (b - first);
      for (Index r = 0; r < rows_; ++r) to[r * width] = products[b].v[r];
    }
    Context shared = context;
    if (bytes() * static_cast<double>(2 + count) < kLittleWork) shared.threads = 1;
    parallel_ranges(panels(), shared, [&](Index begin, Index end, auto poll) {
      // So many panels at a time stay in the second cache.
      const Index step = std::max<Index>(1, kCached / (4 * rows_ * kFloatPanel));
      float* out[kFloatVectors];
      for (Index panel = begin; panel < end; panel += step) {
        if (poll()) return;
        const Index start = first_column(panel);
        const Index columns = first_column(std::min(end, panel + step)) - start;
        for (Index first = 0; first < count; first += kFloatVectors) {
          const Index width = std::min(kFloatVectors, count - first);
          for (Index b = 0; b < width; ++b) out[b] = products[first + b].out + start;
          multiply_float_panels(at(panel), rows_, columns, v.data() + rows_ * first, width, out);
        }
      }
      for (const Product& product : products) {
        if (!product.ratio) continue;
        for (Index j = first_column(begin); j < first_column(end); ++j) {
          product.out[j] *= product.ratio[j];
        }
      }
    });
  }

 private:
  Index panels() const { return (columns_ + kFloatPanel - 1) / kFloatPanel; }
  Index first_column(Index panel) const { return std::min(columns_, panel * kFloatPanel); }
  Index panel_width(Index panel) const { return first_column(panel + 1) - first_column(panel); }
  float* at(Index panel) const { return values_.get() + panel * rows_ * kFloatPanel; }

  static constexpr Index kCached = 262144;
  static constexpr double kLittleWork = 3e7;

  const Index rows_;
  const Index columns_;
  const LargeArray<float> values_;
};

}  // namespace ellzero
