// A quadratic known by its sufficient statistics alone: the sums of products of deviations from the
// means. It is how data that does not fit in memory, or lives elsewhere, gets in.
#pragma once

#include <limits>
#include <vector>

#include "data/quadratic.hpp"

namespace ellzero {

// Products of deviations from the means, in the user's units.
struct Statistics {
  Strided<double> xx;    // of columns with columns
  const double* xy;      // of columns with y
  double yy;             // of y with y
  const double* mean_x;  // per column
  double mean_y;
  double weight;  // n, or the sum of the weights
};

class StatisticsQuadratic final : public Quadratic {
 public:
  // The products of columns are kept by the caller for as long as this lives.
  StatisticsQuadratic(const Statistics& statistics, Index columns, double cache_bytes)
      : Quadratic(prepare_statistics(statistics, columns), cache_bytes), xx_(statistics.xx) {}

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
  bool has_residuals() const override { return false; }

 private:
  static Preparation prepare_statistics(const Statistics& s, Index columns) {
    Preparation out(columns, s.weight, s.mean_y, s.yy);
    for (Index j = 0; j < columns; ++j) {
      Moments m;
      m.weight = s.weight;
      m.mean_x = s.mean_x[j];
      m.xx = *s.xx.at(j, j);
      m.xy = s.yy > 0 ? s.xy[j] : 0;
      out.set_column(j, {m, 0});
    }
    return out;
  }

  const Strided<double> xx_;
};

}  // namespace ellzero
