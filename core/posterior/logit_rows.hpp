// The rows of a logistic regression: row i was met counts[i] times, successes[i] of them with a
// one. The counts were the weights of the preparation, and there is one row of Z for every distinct
// row of X; the counts are not in Z.
#pragma once

#include <utility>
#include <vector>

#include "posterior/weighted_rows.hpp"

namespace ellzero {

class LogitRows : public WeightedRows {
 public:
  LogitRows(const Columns& columns, const Quadratic& quadratic, std::vector<double> counts,
            std::vector<double> successes, bool intercept, double room_bytes,
            std::vector<double> norms = {})
      : WeightedRows(columns, quadratic, static_cast<Index>(counts.size()), intercept, room_bytes,
                     std::move(norms)),
        counts_(std::move(counts)),
        successes_(std::move(successes)) {
    std::vector<double> kappa(rows());
    for (Index r = 0; r < rows(); ++r) {
      kappa[r] = successes_[r] - 0.5 * counts_[r];
      kappa_sum_ += kappa[r];
    }
    products_.resize(this->columns());
    const double* v = kappa.data();
    double* out = products_.data();
    multiply_all(&v, 1, &out, nullptr, nullptr);
  }

  const std::vector<double>& counts() const { return counts_; }
  const std::vector<double>& successes() const { return successes_; }
  // kappa = successes - counts / 2, its sum, and Z'kappa
  double kappa_sum() const { return kappa_sum_; }
  const std::vector<double>& products() const { return products_; }

 private:
  const std::vector<double> counts_, successes_;
  std::vector<double> products_;
  double kappa_sum_ = 0;
};

}  // namespace ellzero
