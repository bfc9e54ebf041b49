// The rows of a regression with Student's noise: row i has the response y[i] and was met counts[i]
// times, which may be zero, or no whole number. The counts were the weights of the preparation.
// y should be taken from somewhere in its middle. `norms` are those of the columns, if not all are
// one: a column of norm s under a slab is one of unit norm whose slab is s times as wide.
#pragma once

#include <utility>
#include <vector>

#include "posterior/weighted_rows.hpp"

namespace ellzero {

class StudentRows : public WeightedRows {
 public:
  StudentRows(const Columns& columns, const Quadratic& quadratic, std::vector<double> counts,
              std::vector<double> y, bool intercept, double room_bytes,
              std::vector<double> norms = {})
      : WeightedRows(columns, quadratic, static_cast<Index>(counts.size()), intercept, room_bytes,
                     std::move(norms)),
        counts_(std::move(counts)),
        y_(std::move(y)) {}

  const std::vector<double>& counts() const { return counts_; }
  const std::vector<double>& y() const { return y_; }

 private:
  const std::vector<double> counts_, y_;
};

}  // namespace ellzero
