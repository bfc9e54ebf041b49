// A design whose rows are at hand: what dense and sparse X have in common.
#pragma once

#include <algorithm>
#include <memory>

#include "data/design.hpp"

namespace ellzero {

class RowDesign : public Design {
 public:
  double residual_products(const std::vector<Index>& support, const double* beta, double* products,
                           const Context& context) const override {
    const Index k = static_cast<Index>(support.size());
    const Index stride = std::min(kTileRows, rows_);
    std::vector<double> columns(k * stride), residual(stride);
    std::fill(products, products + k, 0.0);
    double rss = 0;
    for (Index row = 0; row < rows_; row += kTileRows) {
      context.check();
      const Index rows = std::min(kTileRows, rows_ - row);
      std::copy_n(response_.data() + row, rows, residual.data());
      for (Index s = 0; s < k; ++s) {
        double* column = columns.data() + s * stride;
        read_column(support[s], row, rows, column);
        for (Index r = 0; r < rows; ++r) residual[r] -= beta[s] * column[r];
      }
      rss += dot(residual.data(), residual.data(), rows);
      for (Index s = 0; s < k; ++s) {
        products[s] += dot(columns.data() + s * stride, residual.data(), rows);
      }
    }
    return rss;
  }

  Index rows() const override { return rows_; }
  void read_whole_column(Index j, double* out) const override { read_column(j, 0, rows_, out); }
  const double* response() const override { return response_.data(); }

  void cross_products(const Index* which, Index count, double* out) const override {
    std::vector<double> columns(count * kTileRows);
    std::fill(out, out + count * count, 0.0);
    for (Index row = 0; row < rows_; row += kTileRows) {
      const Index rows = std::min(kTileRows, rows_ - row);
      for (Index a = 0; a < count; ++a) {
        read_column(which[a], row, rows, columns.data() + a * kTileRows);
        for (Index b = 0; b <= a; ++b) {
          out[a * count + b] +=
              dot(columns.data() + a * kTileRows, columns.data() + b * kTileRows, rows);
        }
      }
    }
    for (Index a = 0; a < count; ++a) {
      for (Index b = 0; b < a; ++b) out[b * count + a] = out[a * count + b];
    }
  }

  // Column j of the user's X at some of the rows.
  virtual void raw_values(Index j, const Index* rows, Index count, double* out) const = 0;
  double raw_response(Index row) const { return y_[row]; }
  double row_weight(Index row) const { return weights_ ? weights_[row] : 1.0; }

 protected:
  RowDesign(Index rows, Index columns, const double* y, const double* weights, bool centred)
      : rows_(rows), y_(y), weights_(weights), centred_(centred) {
    resize(columns);
    Moments total;
    for (Index row = 0; row < rows_; row += kTileRows) {
      stretches_.push_back(stretch(y_ + row, weights_ ? weights_ + row : nullptr,
                                   std::min(kTileRows, rows_ - row), centred_));
      total.merge(moments(y_ + row, stretches_.back()));
    }
    weight = total.weight;
    mean_y = total.mean_x;
    if (!std::isfinite(total.xx)) throw ResponseOutOfRange(true);
    const double rounding = 8 * std::numeric_limits<double>::epsilon() * std::fabs(mean_y);
    const bool constant = !(std::sqrt(total.xx) > rounding * std::sqrt(weight));
    yy = constant ? 0 : total.xx;
    double farthest = 0;
    for (Index r = 0; r < rows_; ++r) {
      if (!weights_ || weights_[r] > 0) farthest = std::max(farthest, std::fabs(y_[r] - mean_y));
    }
    // Of squares that underflow nothing is known, so that each row has to be within rounding.
    if (total.xx < 1e-290 && farthest > rounding) throw ResponseOutOfRange(farthest > 1);
    response_.resize(rows_);
    if (weights_) root_weight_.resize(rows_);
    for (Index r = 0; r < rows_; ++r) {
      if (weights_) root_weight_[r] = std::sqrt(weights_[r]);
      response_[r] = constant ? 0 : (y_[r] - mean_y) * (weights_ ? root_weight_[r] : 1.0);
    }
  }

  const double* root_weight_at(Index row) const {
    return weights_ ? root_weight_.data() + row : nullptr;
  }

  // Rows row .. row + rows of column j of Z.
  virtual void read_column(Index j, Index row, Index rows, double* out) const = 0;

  // A column so large or so small that its squares are not numbers.
  void rescale(Index j, std::vector<double>& column) {
    double largest = 0;
    for (Index r = 0; r < rows_; ++r) {
      if (!weights_ || weights_[r] > 0) largest = std::max(largest, std::fabs(column[r]));
    }
    if (largest == 0) return;  // all zero: dead, as resize() left it
    const int exponent = std::ilogb(largest);
    if (exponent < -1000) return;                  // 2^-exponent would overflow: dead too
    if (exponent > 1000) throw ColumnOverflow(j);  // deviations from the mean might overflow
    const double factor = std::ldexp(1.0, -exponent);
    for (double& value : column) value *= factor;
    Moments total;
    const double* row = column.data();
    for (const Stretch& over : stretches_) {
      total.merge(moments(row, over));
      row += over.rows;
    }
    set_column(j, total, exponent);
  }

  // The four-fold padded columns `which` of Z, a stretch of rows of each: the v of kernels.hpp.
  void read_block(const Index* which, Index count, Index row, double* v) const {
    const Index rows = std::min(kTileRows, rows_ - row);
    const Index width = round_up(count, 4);
    for (Index b = 0; b < width; ++b) {
      double* target = v + b * kTileStride;
      if (b < count) {
        read_column(which[b], row, rows, target);
        std::fill(target + rows, target + round_up(rows, kLanes), 0.0);
      } else {
        std::fill(target, target + round_up(rows, kLanes), 0.0);
      }
    }
  }

  Index rows_;
  const double* y_;
  const double* weights_;
  bool centred_;
  std::vector<double> root_weight_;
  std::vector<Stretch> stretches_;  // of kTileRows rows each
  std::vector<double> response_;    // y of the design: centred, times sqrt(weight)
};

}  // namespace ellzero
