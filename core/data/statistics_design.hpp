// A design known only by its sufficient statistics: the sums of products of deviations from the
// means. It is how data that does not fit in memory, or lives elsewhere, gets in.
#pragma once

#include <algorithm>

#include "data/design.hpp"

namespace ellzero {

class StatisticsDesign final : public Design {
 public:
  StatisticsDesign(const Strided<double>& xx, const double* xy, double yy_given,
                   const double* mean_x, double mean_y_given, double weight_given, Index columns)
      : xx_(xx) {
    resize(columns);
    yy = yy_given;
    mean_y = mean_y_given;
    weight = weight_given;
    for (Index j = 0; j < columns; ++j) {
      Moments m;
      m.weight = weight;
      m.mean_x = mean_x[j];
      m.xx = *xx_.at(j, j);
      m.xy = yy > 0 ? xy[j] : 0;
      set_column(j, m, 0);
    }
  }

  void gram_columns(const Index* which, Index count, double* const* out,
                    const Context&) const override {
    for (Index b = 0; b < count; ++b) {
      const Index j = which[b];
      for (Index i = 0; i < columns(); ++i) {
        out[b][i] = *xx_.at(i, j) * inverse_scale[i] * inverse_scale[j];
      }
    }
  }

  void cross_products(const Index* which, Index count, double* out) const override {
    for (Index a = 0; a < count; ++a) {
      for (Index b = 0; b < count; ++b) {
        out[a * count + b] =
            *xx_.at(which[a], which[b]) * inverse_scale[which[a]] * inverse_scale[which[b]];
      }
    }
  }

  double entries() const override { return 0; }

  double residual_products(const std::vector<Index>&, const double*, double*,
                           const Context&) const override {
    return std::numeric_limits<double>::quiet_NaN();
  }

 private:
  Strided<double> xx_;
};

}  // namespace ellzero
