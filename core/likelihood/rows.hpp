// The rows that a likelihood is taken over: columns of Z, centred and of unit norm as preparation
// left them (weights are not in them), a response y and what is known of each row's predictor
// beforehand. Several engines share them, each with weights of its own.
#pragma once

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "data/quadratic.hpp"
#include "likelihood/loss.hpp"

namespace ellzero {

class Rows {
 public:
  using Column = std::shared_ptr<const std::vector<double>>;

  // The quadratic is that of the same columns, with weights for all rows; its Gram matrix serves
  // those who rank moves. `offset` (empty: all zero) is added to the predictor of each row.
  Rows(const Columns& columns, const Quadratic& quadratic, std::unique_ptr<Loss> loss,
       std::vector<double> y, std::vector<double> offset, bool intercept)
      : columns_(columns),
        quadratic_(quadratic),
        loss_(std::move(loss)),
        y_(std::move(y)),
        offset_(std::move(offset)),
        ones_(intercept ? std::make_shared<std::vector<double>>(y_.size(), 1.0) : nullptr) {}
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  virtual ~Rows() = default;

  Index rows() const { return static_cast<Index>(y_.size()); }
  Index columns() const { return quadratic_.columns(); }
  const Quadratic& quadratic() const { return quadratic_; }
  const Loss& loss() const { return *loss_; }
  const double* y() const { return y_.data(); }
  const double* offset() const { return offset_.empty() ? nullptr : offset_.data(); }
  // A column of ones, or null.
  const Column& ones() const { return ones_; }

  // Column j of Z; made when first needed, and kept while there is room.
  Column column(Index j) const {
    const std::lock_guard<std::mutex> guard(lock_);
    const auto found = kept_.find(j);
    if (found != kept_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      return found->second->second;
    }
    auto made = std::make_shared<std::vector<double>>(rows());
    make_column(j, made->data());
    order_.emplace_front(j, made);
    kept_[j] = order_.begin();
    const double most = std::max(kRoomBytes / (8.0 * static_cast<double>(rows())), 16.0);
    while (static_cast<double>(order_.size()) > most) {
      kept_.erase(order_.back().first);
      order_.pop_back();
    }
    return made;
  }

  // Of every column of Z, the sum of squares under some weights, centred if there is an intercept.
  std::vector<double> squares(const std::vector<double>& weights, const Context& context) const {
    std::vector<double> out(columns(), 0.0);
    // Of no response in particular: y may be out of range under these weights.
    const std::vector<double> nothing(rows(), 0.0);
    const Response response(nothing.data(), weights.data(), rows(), ones_ != nullptr);
    columns_.take_moments(
        response,
        [&](Index j, const ScaledMoments& scaled) {
          const double norm = std::ldexp(std::sqrt(scaled.moments.xx), scaled.exponent);
          out[j] = norm * quadratic_.inverse_scale[j] * norm * quadratic_.inverse_scale[j];
        },
        context);
    return out;
  }

  // out = Z'v
  virtual void products(const double* v, double* out, const Context& context) const {
    const Standardisation unweighted{quadratic_.mean.data(), quadratic_.inverse_scale.data(),
                                     nullptr};
    columns_.products(unweighted, OneVector(v), &out, context);
  }

 protected:
  // The same rows with columns that are made of those of others.
  Rows(const Rows& base, const Quadratic& quadratic)
      : columns_(base.columns_),
        quadratic_(quadratic),
        loss_(base.loss_),
        y_(base.y_),
        offset_(base.offset_),
        ones_(base.ones_) {}

  virtual void make_column(Index j, double* out) const {
    columns_.read(j, 0, rows(), out);
    const double mean = quadratic_.mean[j], inverse_scale = quadratic_.inverse_scale[j];
    for (Index r = 0; r < rows(); ++r) out[r] = (out[r] - mean) * inverse_scale;
  }

 private:
  static constexpr double kRoomBytes = 5e8;

  class OneVector final : public Operand {
   public:
    explicit OneVector(const double* v) : Operand(1), v_(v) {}
    void read(Index, Index row, Index rows, double* out) const override {
      std::copy_n(v_ + row, rows, out);
    }

   private:
    const double* v_;
  };

  const Columns& columns_;
  const Quadratic& quadratic_;
  const std::shared_ptr<const Loss> loss_;
  const std::vector<double> y_;
  const std::vector<double> offset_;
  const Column ones_;
  using Order = std::list<std::pair<Index, Column>>;  // the latest used first
  mutable std::mutex lock_;
  mutable Order order_;
  mutable std::unordered_map<Index, Order::iterator> kept_;
};

}  // namespace ellzero
