// Rows to be judged by that are known by their statistics alone.
//
// With c the coefficients of a model, d what it leaves of the mean row and e what it predicts
// there, both as deviations from the means of the rows that it was fitted on, and C the products of
// deviations from the means of these rows,
//
//   sum of r^2 = C_yy - 2 c'C_xy + c'C_xx c + W d^2,   sum of f^2 = c'C_xx c + W e^2
//   sum of r f = c'C_xy - c'C_xx c + W d e
//
// Beside a fit that is all but exact, the first is a small difference of large numbers: it is right
// to rounding of the variance of y, not of itself.
#pragma once

#include <algorithm>
#include <vector>

#include "search/held_out.hpp"

namespace ellzero {

class HeldOutStatistics final : public HeldOut {
 public:
  // The quadratic is kept by the caller for as long as this lives.
  explicit HeldOutStatistics(const Quadratic& rows) : rows_(rows) {}

  double weight() const override { return rows_.weight; }

  std::vector<double> residuals(const Quadratic&, const Solution&) const override { return {}; }

  std::vector<Verdict> judge(const Quadratic& fitted_on, const std::vector<Solution>& models,
                             const Context& context) const override {
    const auto [used, place] = used_by(models, fitted_on.columns());
    const Index count = static_cast<Index>(used.size());
    std::vector<double> gram(count * count);
    if (count > 0) rows_.cross_products(used.data(), count, gram.data());
    std::vector<Verdict> out;
    std::vector<double> b;
    for (const Solution& model : models) {
      context.check();
      const std::size_t k = model.support.size();
      double left = rows_.mean_y - fitted_on.mean_y, predicted = 0, along = 0, square = 0;
      b.assign(k, 0);  // in terms of columns of unit norm over these rows
      for (std::size_t s = 0; s < k; ++s) {
        const Index j = model.support[s];
        const double coefficient = model.beta[s] * fitted_on.inverse_scale[j];
        predicted += coefficient * (rows_.mean[j] - fitted_on.mean[j]);
        if (rows_.inverse_scale[j] > 0) b[s] = coefficient / rows_.inverse_scale[j];
        along += b[s] * rows_.zy[j];
      }
      left -= predicted;
      for (std::size_t s = 0; s < k; ++s) {
        const double* row = gram.data() + place[model.support[s]] * count;
        double sum = 0;
        for (std::size_t t = 0; t < k; ++t) sum += row[place[model.support[t]]] * b[t];
        square += b[s] * sum;
      }
      const double weight = rows_.weight;
      Verdict verdict;
      verdict.error = std::max(0.0, rows_.yy - 2 * along + square) / weight + left * left;
      verdict.along = (along - square) / weight + left * predicted;
      verdict.square = square / weight + predicted * predicted;
      out.push_back(verdict);
    }
    return out;
  }

 private:
  const Quadratic& rows_;
};

}  // namespace ellzero
