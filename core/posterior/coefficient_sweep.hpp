// Coefficients drawn one at a time given all others, with their local scales integrated out: one
// that scale and coefficient in turn would hold near zero leaves in one step. Of y each has to know
// c_j = z_j'(y - Z_-j beta_-j) alone, columns being of unit norm.
//
// Columns come by twelve. What they do to each other is a matter of a small square of products;
// what they do to all others is subtracted for the twelve at once.
#pragma once

#include <algorithm>
#include <vector>

#include "posterior/gaussian.hpp"

namespace ellzero {

class CoefficientSweep {
 public:
  explicit CoefficientSweep(const GaussianProblem& problem)  // by products of columns
      : problem_(problem), left_(problem.gram.count() * kStrip, 0.0) {}

  // To be called when the coefficients have changed otherwise.
  void set(const double* beta) {
    std::copy(problem_.zy.begin(), problem_.zy.end(), left_.begin());
    subtract(0, beta, problem_.size());
  }

  // `draw` is given c_j and returns the coefficient.
  template <class Draw>
  void run(double* beta, Draw&& draw, const Context& context) {
    for (Index first = 0; first < problem_.size(); first += kStrip) {
      context.check();
      const Index width = std::min(kStrip, problem_.size() - first);
      double c[kStrip], change[kStrip];
      std::copy_n(left_.data() + first, kStrip, c);
      for (Index k = 0; k < width; ++k) {
        const double now = beta[first + k], drawn = draw(c[k] + now);
        change[k] = drawn - now;
        beta[first + k] = drawn;
        const double* own = problem_.gram.strip(first / kStrip, first + k);
        for (Index l = k + 1; l < width; ++l) c[l] -= change[k] * own[l];
      }
      subtract(first, change, width);
    }
  }

  // |y - Z beta|^2
  double squared_residuals(const double* beta) const {
    double sum = problem_.yy;
    for (Index j = 0; j < problem_.size(); ++j) sum -= beta[j] * (problem_.zy[j] + left_[j]);
    return std::max(0.0, sum);
  }

 private:
  void subtract(Index first, const double* change, Index width) {
    for (Index i = 0; i < problem_.gram.count(); ++i) {
      subtract_times(problem_.gram.strip(i, first), change, width, left_.data() + i * kStrip);
    }
  }

  const GaussianProblem& problem_;
  std::vector<double> left_;  // Z'(y - Z beta)
};

}  // namespace ellzero
