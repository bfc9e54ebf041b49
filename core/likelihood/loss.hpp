// What a row loses, by its response y and its linear predictor eta: convex in eta, and known with
// its first two derivatives. A new loss is a class like the two below, and a line where it is
// bound.
#pragma once

#include <cmath>

#include "likelihood/row_kernels.hpp"

namespace ellzero {

class Loss {
 public:
  virtual ~Loss() = default;
  // Summed over rows, with weights; residual and curvature as in row_kernels.hpp.
  virtual double evaluate(const double* eta, const double* y, const double* weight, Index rows,
                          double* residual, double* curvature) const = 0;
  // What a row loses at its best, which counts from there.
  virtual double least(double y) const = 0;
  // The eta of a mean response.
  virtual double link(double mean) const = 0;
};

// A response of 0 or 1; the probability of 1 is 1 / (1 + e^-eta).
class LogisticLoss final : public Loss {
 public:
  double evaluate(const double* eta, const double* y, const double* weight, Index rows,
                  double* residual, double* curvature) const override {
    return logistic_loss(eta, y, weight, rows, residual, curvature);
  }
  double least(double) const override { return 0; }
  double link(double mean) const override { return std::log(mean / (1 - mean)); }
};

// A count or a rate, from 0; its mean is e^eta.
class PoissonLoss final : public Loss {
 public:
  double evaluate(const double* eta, const double* y, const double* weight, Index rows,
                  double* residual, double* curvature) const override {
    return poisson_loss(eta, y, weight, rows, residual, curvature);
  }
  double least(double y) const override { return y > 0 ? y - y * std::log(y) : 0; }
  double link(double mean) const override { return std::log(mean); }
};

}  // namespace ellzero
