// The response and the weights of the rows, prepared: with an intercept y is centred at its
// weighted mean, and a row of weight w is multiplied by sqrt(w), so that sums of squares over the
// rows need no weights any more.
//
// A y whose spread is down to rounding is all zero: y'y = 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/kernels.hpp"

namespace ellzero {

// A response whose sum of squares is not a number, or has lost its digits to underflow.
struct ResponseOutOfRange : std::range_error {
  explicit ResponseOutOfRange(bool large) : std::range_error("response"), too_large(large) {}
  bool too_large;
};

class Response {
 public:
  // `y` and `weights` (null: all ones) are kept by the caller for as long as this lives.
  Response(const double* y, const double* weights, Index rows, bool centred)
      : weights_(weights), centred_(centred) {
    Moments total;
    for (Index row = 0; row < rows; row += kTileRows) {
      stretches_.push_back(stretch(y + row, weights ? weights + row : nullptr,
                                   std::min(kTileRows, rows - row), centred));
      total.merge(moments(y + row, stretches_.back()));
    }
    weight_ = total.weight;
    mean_ = total.mean_x;
    if (!std::isfinite(total.xx)) throw ResponseOutOfRange(true);
    const double rounding = 8 * std::numeric_limits<double>::epsilon() * std::fabs(mean_);
    const bool constant = !(std::sqrt(total.xx) > rounding * std::sqrt(weight_));
    squares_ = constant ? 0 : total.xx;
    double farthest = 0;
    for (Index r = 0; r < rows; ++r) {
      if (counts(r)) farthest = std::max(farthest, std::fabs(y[r] - mean_));
    }
    // Of squares that underflow nothing is known, so that each row has to be within rounding.
    if (total.xx < 1e-290 && farthest > rounding) throw ResponseOutOfRange(farthest > 1);
    values_.resize(rows);
    if (weights) root_weight_.resize(rows);
    for (Index r = 0; r < rows; ++r) {
      if (weights) root_weight_[r] = std::sqrt(weights[r]);
      values_[r] = constant ? 0 : (y[r] - mean_) * root_weight(r);
    }
  }

  Index rows() const { return static_cast<Index>(values_.size()); }
  bool centred() const { return centred_; }
  double mean() const { return mean_; }        // 0 without an intercept
  double weight() const { return weight_; }    // the sum of the weights
  double squares() const { return squares_; }  // y'y of the values
  const double* values() const { return values_.data(); }

  double weight(Index row) const { return weights_ ? weights_[row] : 1.0; }
  bool counts(Index row) const { return !weights_ || weights_[row] > 0; }
  double root_weight(Index row) const { return weights_ ? root_weight_[row] : 1.0; }
  // Per row; null if all are one.
  const double* root_weights() const { return weights_ ? root_weight_.data() : nullptr; }

  // The rows as moments are taken over them, kTileRows at a time, with y as it was given.
  const std::vector<Stretch>& stretches() const { return stretches_; }

 private:
  const double* weights_;
  bool centred_;
  double weight_ = 0;
  double mean_ = 0;
  double squares_ = 0;
  std::vector<Stretch> stretches_;
  std::vector<double> values_;
  std::vector<double> root_weight_;
};

}  // namespace ellzero
