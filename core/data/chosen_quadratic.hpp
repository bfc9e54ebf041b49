// The quadratic of some of the columns of another one, copied: passes over them are short, so that
// a search can look far around among these.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "data/dense_columns.hpp"
#include "data/prepared_columns.hpp"
#include "data/quadratic.hpp"

namespace ellzero {

class ChosenQuadratic final : public Quadratic {
 public:
  // The other one, whose columns are at hand, outlives this.
  ChosenQuadratic(const Quadratic& whole, std::vector<Index> which)
      : Quadratic(chosen(whole, which), kBytes),
        whole_(whole),
        which_(std::move(which)),
        rows_(whole.prepared_columns()->rows()),
        values_(rows_ * columns()),
        shift_(columns(), 0.0),
        scale_(columns(), 1.0) {
    whole.prepared_columns()->bring(which_.data(), columns());
    for (Index i = 0; i < columns(); ++i) {
      whole.prepared_columns()->read(which_[i], 0, rows_, values_.data() + i * rows_);
    }
    const Strided<double> z{values_.data(), 1, rows_};
    copied_ = std::make_unique<DenseColumns<double>>(z, rows_, columns());
  }

  void gram_columns(const Index* which, Index count, double* const* out,
                    const Context& context) const override {
    const PreparedColumns z(*copied_, {shift_.data(), scale_.data(), nullptr}, nullptr);
    z.products(ChosenColumns(z, which, count), out, context);
  }

  void cross_products(const Index* which, Index count, double* out) const override {
    whole_.cross_products(in_whole(which, count).data(), count, out);
  }

  double entries() const override { return copied_->entries(); }

  double residual_products(const std::vector<Index>& support, const double* beta, double* products,
                           const Context& context) const override {
    const Index count = static_cast<Index>(support.size());
    return whole_.residual_products(in_whole(support.data(), count), beta, products, context);
  }

 private:
  static constexpr double kBytes = 1e9;

  static Preparation chosen(const Quadratic& whole, const std::vector<Index>& which) {
    Preparation out(static_cast<Index>(which.size()), whole.weight, whole.mean_y, whole.yy);
    for (std::size_t i = 0; i < which.size(); ++i) {
      out.mean[i] = whole.mean[which[i]];
      out.inverse_scale[i] = whole.inverse_scale[which[i]];
      out.zy[i] = whole.zy[which[i]];
    }
    return out;
  }

  std::vector<Index> in_whole(const Index* which, Index count) const {
    std::vector<Index> out(which, which + count);
    for (Index& j : out) j = which_[j];
    return out;
  }

  const Quadratic& whole_;
  const std::vector<Index> which_;
  const Index rows_;
  std::vector<double> values_;  // of Z, column by column
  const std::vector<double> shift_, scale_;
  std::unique_ptr<Columns> copied_;
};

}  // namespace ellzero
