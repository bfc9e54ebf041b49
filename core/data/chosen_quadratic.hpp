// The quadratic of some of the columns of another one: of a few all products are made at once, more
// are copied, in float32 where the other one has such a copy, so that passes over them are short. A
// search can look far around among these.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/spare_array.hpp"
#include "base/triangle_kernels.hpp"
#include "data/dense_columns.hpp"
#include "data/float_grams.hpp"
#include "data/prepared_columns.hpp"
#include "data/quadratic.hpp"

namespace ellzero {

class ChosenQuadratic final : public Quadratic {
 public:
  // The other one, whose columns are at hand, outlives this. `known`, if not null, has the products
  // of the first of these columns, which are not made again.
  ChosenQuadratic(const Quadratic& whole, std::vector<Index> which, const ChosenQuadratic* known,
                  const Context& context)
      : Quadratic(chosen(whole, which), kBytes),
        whole_(whole),
        which_(std::move(which)),
        rows_(whole.prepared_columns()->rows()),
        shift_(columns(), 0.0),
        scale_(columns(), 1.0) {
    whole.prepared_columns()->bring(which_.data(), columns());
    if (columns() <= kAtOnce) multiply_all(known, context);
  }

  bool has_products() const { return products_ != nullptr; }

  void gram_columns(const Index* which, Index count, double* const* out,
                    const Context& context) const override {
    if (products_) {
      for (Index b = 0; b < count; ++b) {
        std::copy_n(products_.get() + which[b] * stride_, columns(), out[b]);
      }
      return;
    }
    const PreparedColumns z(copied(), {shift_.data(), scale_.data(), nullptr}, nullptr);
    z.products(ChosenColumns(z, which, count), out, context);
  }

  Index rows() const override { return rows_; }
  void read_column(Index j, double* out) const override { whole_.read_column(which_[j], out); }
  bool has_float_grams() const override { return !products_ && whole_.has_float_grams(); }
  const FloatGrams* float_grams(const Context& context) const override {
    if (!has_float_grams()) return nullptr;
    std::call_once(floats_made_, [&] {
      const FloatPanels& panels = *whole_.float_grams(context)->panels();
      floats_ = std::make_unique<FloatGrams>(std::make_shared<FloatPanels>(panels, which_), kBytes);
    });
    return floats_.get();
  }

  Matrix gram_matrix(const Context&) const override { return {products_.get(), stride_}; }

  void cross_products(const Index* which, Index count, double* out) const override {
    whole_.cross_products(in_whole(which, count).data(), count, out);
  }

  double entries() const override {
    return products_ ? 0 : static_cast<double>(rows_) * static_cast<double>(columns());
  }

  double residual_products(const std::vector<Index>& support, const double* beta, double* products,
                           const Context& context) const override {
    const Index count = static_cast<Index>(support.size());
    return whole_.residual_products(in_whole(support.data(), count), beta, products, context);
  }

 private:
  static constexpr double kBytes = 1e9;
  // A product in a pass of its own costs several of those made at once, and of so few columns a
  // large share will be wanted.
  static constexpr Index kAtOnce = 400;

  static Preparation chosen(const Quadratic& whole, const std::vector<Index>& which) {
    Preparation out(static_cast<Index>(which.size()), whole.weight, whole.mean_y, whole.yy);
    for (std::size_t i = 0; i < which.size(); ++i) {
      out.mean[i] = whole.mean[which[i]];
      out.inverse_scale[i] = whole.inverse_scale[which[i]];
      out.zy[i] = whole.zy[which[i]];
    }
    return out;
  }

  // All products; no copy is kept of the columns.
  void multiply_all(const ChosenQuadratic* known, const Context& context) {
    const PreparedColumns& z = *whole_.prepared_columns();
    // Whole strips, and whole lines of the processor's cache.
    constexpr Index kWhole = 24;
    static_assert(kWhole % 8 == 0 && kWhole % kStripColumns == 0);
    stride_ = round_up(columns(), kWhole);
    products_ = make_spare_array(stride_ * stride_);
    const Index from = known ? known->columns() / kWhole * kWhole : 0;
    for (Index i = 0; i < from; ++i) {
      std::copy_n(known->products_.get() + i * known->stride_, from, products_.get() + i * stride_);
    }
    const Index most = std::min(rows_, kTileRows);
    const std::shared_ptr<double[]> tile = make_spare_array(most * columns());
    const std::shared_ptr<double[]> strips = make_spare_array(most * stride_);
    const Index last = columns() / kStripColumns * kStripColumns;
    std::fill(strips.get() + last * most, strips.get() + stride_ * most, 0.0);
    std::vector<const double*> column(columns());
    std::vector<Index> order(most);
    for (Index r = 0; r < most; ++r) order[r] = r;
    for (Index row = 0; row < rows_; row += kTileRows) {
      context.check();
      const Index rows = std::min(rows_ - row, kTileRows);
      z.read_some(which_.data(), columns(), row, rows, tile.get());
      for (Index i = 0; i < columns(); ++i) column[i] = tile.get() + i * rows;
      pack_columns(column.data(), columns(), order.data(), rows, 0, shift_.data(), strips.get());
      add_triangle(strips.get(), rows, 0, rows, columns(), row == 0, products_.get(), stride_,
                   from);
    }
    // So far they are above the diagonal.
    mirror_columns(products_.get(), stride_, from);
  }

  const Columns& copied() const {
    std::call_once(copy_made_, [&] {
      values_.resize(rows_ * columns());
      whole_.prepared_columns()->read_some(which_.data(), columns(), 0, rows_, values_.data());
      const Strided<double> z{values_.data(), 1, rows_};
      copied_ = std::make_unique<DenseColumns<double>>(z, rows_, columns());
    });
    return *copied_;
  }

  std::vector<Index> in_whole(const Index* which, Index count) const {
    std::vector<Index> out(which, which + count);
    for (Index& j : out) j = which_[j];
    return out;
  }

  const Quadratic& whole_;
  const std::vector<Index> which_;
  const Index rows_;
  std::shared_ptr<double[]> products_;  // of all columns, stride_ apart; none if they are many
  Index stride_ = 0;
  const std::vector<double> shift_, scale_;
  mutable std::once_flag copy_made_, floats_made_;
  mutable std::vector<double> values_;  // of Z, column by column
  mutable std::unique_ptr<Columns> copied_;
  mutable std::unique_ptr<const FloatGrams> floats_;
};

}  // namespace ellzero
