// Z and y, row by row: columns of X seen through their preparation.
#pragma once

#include <algorithm>
#include <vector>

#include "data/columns.hpp"

namespace ellzero {

class PreparedColumns {
 public:
  // All are kept by the caller for as long as this lives.
  PreparedColumns(const Columns& columns, const Standardisation& standardisation,
                  const double* response)
      : columns_(columns), standardisation_(standardisation), response_(response) {}

  Index rows() const { return columns_.rows(); }
  const Columns& columns() const { return columns_; }
  const Standardisation& standardisation() const { return standardisation_; }
  const double* response() const { return response_; }

  // These columns are about to be read.
  void bring(const Index* which, Index count) const { columns_.bring(which, count); }

  // out[r] = Z(row + r, j)
  void read(Index j, Index row, Index rows, double* out) const {
    columns_.read(j, row, rows, out);
    standardise(j, row, rows, out);
  }
  // out[c * rows + r] = Z(row + r, which[c])
  void read_some(const Index* which, Index count, Index row, Index rows, double* out) const {
    columns_.read_some(which, count, row, rows, out);
    for (Index c = 0; c < count; ++c) standardise(which[c], row, rows, out + c * rows);
  }

  // out[b] = Z'V(:, b)
  void products(const Operand& v, double* const* out, const Context& context) const {
    columns_.products(standardisation_, v, out, context);
  }

  // out[a * count + b] = Z(:, which[a])'Z(:, which[b])
  void cross_products(const Index* which, Index count, double* out) const {
    bring(which, count);
    std::vector<double> columns(count * kTileRows);
    std::fill(out, out + count * count, 0.0);
    for (Index row = 0; row < this->rows(); row += kTileRows) {
      const Index rows = std::min(kTileRows, this->rows() - row);
      for (Index a = 0; a < count; ++a) {
        read(which[a], row, rows, columns.data() + a * kTileRows);
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

  // With r = y - Z_S beta: fills products = Z_S'r and returns r'r.
  double residual_products(const std::vector<Index>& support, const double* beta, double* products,
                           const Context& context) const {
    const Index k = static_cast<Index>(support.size());
    const Index stride = std::min(kTileRows, this->rows());
    bring(support.data(), k);
    std::vector<double> columns(k * stride), residual(stride);
    std::fill(products, products + k, 0.0);
    double rss = 0;
    for (Index row = 0; row < this->rows(); row += kTileRows) {
      context.check();
      const Index rows = std::min(kTileRows, this->rows() - row);
      std::copy_n(response_ + row, rows, residual.data());
      read_some(support.data(), k, row, rows, columns.data());
      for (Index s = 0; s < k; ++s) {
        const double* column = columns.data() + s * rows;
        for (Index r = 0; r < rows; ++r) residual[r] -= beta[s] * column[r];
      }
      rss += dot(residual.data(), residual.data(), rows);
      for (Index s = 0; s < k; ++s) {
        products[s] += dot(columns.data() + s * rows, residual.data(), rows);
      }
    }
    return rss;
  }

  double entries() const { return columns_.entries(); }

 private:
  // Entries of X, of column j from a row on, become those of Z.
  void standardise(Index j, Index row, Index rows, double* values) const {
    const double m = standardisation_.mean[j], f = standardisation_.inverse_scale[j];
    if (const double* root_weight = standardisation_.root_weight_at(row)) {
      for (Index r = 0; r < rows; ++r) values[r] = (values[r] - m) * f * root_weight[r];
    } else {
      for (Index r = 0; r < rows; ++r) values[r] = (values[r] - m) * f;
    }
  }

  const Columns& columns_;
  const Standardisation standardisation_;
  const double* const response_;
};

// Some columns of Z as the V of a product: Z'V is then a part of Z'Z.
class ChosenColumns final : public Operand {
 public:
  ChosenColumns(const PreparedColumns& z, const Index* which, Index count)
      : Operand(count), z_(z), which_(which) {}

  void read(Index b, Index row, Index rows, double* out) const override {
    z_.read(which_[b], row, rows, out);
  }

 private:
  const PreparedColumns& z_;
  const Index* const which_;
};

}  // namespace ellzero
