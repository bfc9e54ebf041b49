// A penalised likelihood on a few columns, and Newton's method on it:
//
//   minimise over b   sum over rows of w l(y, eta) + 1/2 sum tau_s b_s^2,   eta = offset + Z_S b
//
// The intercept, where there is one, is the first column: all ones, without a penalty.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/dense.hpp"
#include "likelihood/rows.hpp"

namespace ellzero {

// The columns of a fit.
struct Basis {
  std::vector<Rows::Column> held;
  std::vector<const double*> columns;
  std::vector<double> ridge;

  Index size() const { return static_cast<Index>(columns.size()); }
  void add(Rows::Column column, double tau) {
    columns.push_back(column->data());
    held.push_back(std::move(column));
    ridge.push_back(tau);
  }
};

// A likelihood at some coefficients.
struct Point {
  std::vector<double> b;  // in the order of the basis
  double loss = std::numeric_limits<double>::infinity();
  double penalty = 0;
  std::vector<double> eta, residual, curvature;  // by row

  double energy() const { return loss + penalty; }
};

class Newton {
 public:
  Newton(const Rows& rows, std::vector<double> weights)
      : rows_(rows), weights_(std::move(weights)) {
    for (Index r = 0; r < rows.rows(); ++r) least_ += weights_[r] * rows.loss().least(rows.y()[r]);
  }

  const std::vector<double>& weights() const { return weights_; }

  // Everything that follows from point.b.
  void evaluate(const Basis& basis, Point& point) const {
    const Index n = rows_.rows();
    point.eta.resize(n);
    point.residual.resize(n);
    point.curvature.resize(n);
    point.loss = -least_;
    for (Index row = 0; row < n; row += kTileRows) {
      const Index end = std::min(n, row + kTileRows);
      double* eta = point.eta.data() + row;
      combine(basis.columns.data(), point.b.data(), basis.size(), row, end, eta);
      if (const double* offset = rows_.offset()) {
        for (Index r = row; r < end; ++r) eta[r - row] += offset[r];
      }
      point.loss +=
          rows_.loss().evaluate(eta, rows_.y() + row, weights_.data() + row, end - row,
                                point.residual.data() + row, point.curvature.data() + row);
    }
    point.loss = std::max(point.loss, 0.0);
    point.penalty = 0;
    for (Index s = 0; s < basis.size(); ++s) {
      point.penalty += 0.5 * basis.ridge[s] * point.b[s] * point.b[s];
    }
    if (!std::isfinite(point.loss)) point.loss = std::numeric_limits<double>::infinity();
  }

  // By how fast the energy falls in the direction of each column.
  void descent(const Basis& basis, const Point& point, std::vector<double>& out) const {
    out.resize(basis.size());
    column_dots(basis.columns.data(), basis.size(), point.residual.data(), rows_.rows(),
                out.data());
    for (Index s = 0; s < basis.size(); ++s) out[s] -= basis.ridge[s] * point.b[s];
  }

  // Its second derivatives, the upper triangle.
  void hessian(const Basis& basis, const Point& point, Square& out) const {
    out.resize(basis.size());
    weighted_products(basis.columns.data(), basis.size(), point.curvature.data(), rows_.rows(),
                      out.values.data(), out.stride);
    for (Index s = 0; s < basis.size(); ++s) out.row(s)[s] += basis.ridge[s];
  }

  // Goes from point.b to the minimum: until a step promises less than `tolerance`. Leaves the
  // second derivatives there in `hessian`, and their factor in `factor`; false where columns depend
  // on each other. `next` is room to work in.
  bool minimise(const Basis& basis, Point& point, double tolerance, Square& hessian_there,
                Square& factor, Point& next) const {
    std::vector<double> down, step;
    evaluate(basis, point);
    for (int round = 0;; ++round) {
      descent(basis, point, down);
      hessian(basis, point, hessian_there);
      factor = hessian_there;
      if (!independent(hessian_there, factor)) return false;
      step.resize(basis.size());
      solve_factored(factor, down.data(), step.data());
      const double promise = 0.5 * dot(down.data(), step.data(), basis.size());
      if (!(promise > tolerance) || round == kRounds) return true;
      if (!go(basis, point, step, promise, next)) return true;
    }
  }

  // Takes a step, or a part of it, that keeps a share of what it promises; false if none does.
  bool go(const Basis& basis, Point& point, const std::vector<double>& step, double promise,
          Point& next) const {
    constexpr double kShare = 1e-3;
    double length = 1;
    for (int halvings = 0; halvings < 40; ++halvings, length *= 0.5) {
      next.b = point.b;
      for (Index s = 0; s < basis.size(); ++s) next.b[s] += length * step[s];
      evaluate(basis, next);
      if (next.energy() <= point.energy() - kShare * length * promise) {
        std::swap(point, next);
        return true;
      }
    }
    return false;
  }

  // Factorises, and says whether every pivot keeps some digits of its diagonal.
  static bool independent(const Square& hessian, Square& factor) {
    constexpr double kLeast = 1e-11;
    if (!factorise(factor)) return false;
    for (Index s = 0; s < factor.size; ++s) {
      const double pivot = factor.row(s)[s] * factor.row(s)[s];
      if (!(pivot > kLeast * hessian.row(s)[s])) return false;
    }
    return true;
  }

 private:
  static constexpr int kRounds = 60;

  const Rows& rows_;
  const std::vector<double> weights_;
  double least_ = 0;  // the loss of rows that are fitted exactly
};

}  // namespace ellzero
