// The quadratic of rows that are at hand, whatever way their columns are stored. Where all products
// of columns have been summed already, Gram columns are read from them; all else is asked of the
// rows.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "data/float_grams.hpp"
#include "data/prepared_columns.hpp"
#include "data/quadratic.hpp"

namespace ellzero {

class RowQuadratic final : public Quadratic {
 public:
  // The columns, y and the weights (null: all ones) are kept by the caller for as long as this
  // lives, and so are products of deviations of columns from their means (from zero, if they are
  // not centred), row after row: null if they are to be made.
  RowQuadratic(const Columns& columns, const double* y, const double* weights, bool centred,
               const double* products, double cache_bytes, const Context& context)
      : RowQuadratic(columns, Response(y, weights, columns.rows(), centred), products, cache_bytes,
                     context) {}

  RowQuadratic(const Columns& columns, Response response, const double* products,
               double cache_bytes, const Context& context)
      : RowQuadratic(columns, response, prepare(columns, response, context), products,
                     cache_bytes) {}

  // The same where preparation is done.
  RowQuadratic(const Columns& columns, Response response, Preparation prepared,
               const double* products, double cache_bytes)
      : Quadratic(std::move(prepared), cache_bytes, columns.pass_columns()),
        products_(products),
        cache_bytes_(cache_bytes),
        response_(std::move(response)),
        z_(columns, {mean.data(), inverse_scale.data(), response_.root_weights()},
           response_.values()) {}

  void gram_columns(const Index* which, Index count, double* const* out,
                    const Context& context) const override {
    if (products_) {
      for (Index b = 0; b < count; ++b) {
        const Index j = which[b];
        for (Index i = 0; i < columns(); ++i) out[b][i] = ready(i, j);
      }
      return;
    }
    const auto make = [&](const std::vector<Index>& missing, const std::vector<double*>& places) {
      const Index wanted = static_cast<Index>(missing.size());
      z_.bring(missing.data(), wanted);
      z_.products(ChosenColumns(z_, missing.data(), wanted), places.data(), context);
    };
    load_or_make(file_.get(), which, count, out, make);
  }

  void cross_products(const Index* which, Index count, double* out) const override {
    if (products_) {
      for (Index a = 0; a < count; ++a) {
        for (Index b = 0; b < count; ++b) out[a * count + b] = ready(which[a], which[b]);
      }
      return;
    }
    z_.cross_products(which, count, out);
  }

  double entries() const override { return products_ ? 0 : z_.entries(); }

  double residual_products(const std::vector<Index>& support, const double* beta, double* products,
                           const Context& context) const override {
    return z_.residual_products(support, beta, products, context);
  }

  const PreparedColumns* prepared_columns() const override { return &z_; }

  Index rows() const override { return z_.rows(); }
  void read_column(Index j, double* out) const override { z_.read(j, 0, z_.rows(), out); }
  bool has_float_grams() const override { return !products_ && z_.columns().is_dense(); }
  const FloatGrams* float_grams(const Context& context) const override {
    if (!has_float_grams()) return nullptr;
    std::call_once(floats_made_, [&] {
      floats_ =
          std::make_unique<FloatGrams>(std::make_shared<FloatPanels>(z_, context), cache_bytes_);
    });
    return floats_.get();
  }

  bool keep_in(std::shared_ptr<ColumnFile> file) override {
    file_ = std::move(file);
    return true;
  }

 private:
  double ready(Index i, Index j) const {
    return products_[j * columns() + i] * inverse_scale[i] * inverse_scale[j];
  }

  const double* const products_;
  const double cache_bytes_;
  std::shared_ptr<ColumnFile> file_;
  const Response response_;
  const PreparedColumns z_;
  mutable std::once_flag floats_made_;
  mutable std::unique_ptr<const FloatGrams> floats_;
};

}  // namespace ellzero
