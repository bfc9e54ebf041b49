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

  // Goes from a point, evaluated, to the minimum: until a step promises less than `tolerance`.
  // Leaves the second derivatives there in `hessian`, and their factor in `factor`; false where
  // columns depend on each other, whatever the curvature of the rows. `next` is room to work in.
  bool minimise(const Basis& basis, Point& point, double tolerance, Square& hessian_there,
                Square& factor, Point& next) const {
    std::vector<double> down, step;
    bool sound = false;  // whether the columns are known not to depend on each other
    for (int round = 0;; ++round) {
      descent(basis, point, down);
      hessian(basis, point, hessian_there);
      factor = hessian_there;
      const bool stiff = !independent(hessian_there, factor);
      if (stiff) {
        sound = sound || columns_independent(basis);
        if (!sound) return false;
        stiffen(hessian_there, factor);
      }
      step.resize(basis.size());
      solve_factored(factor, down.data(), step.data());
      const double promise = 0.5 * dot(down.data(), step.data(), basis.size());
      // No more can be gained than there is: without that, separated fits would run on for ever.
      if (!(std::min(promise, point.energy()) > tolerance) || round == kRounds) return true;
      if (!go(basis, point, step, promise, stiff, next)) return true;
    }
  }

  // The share of a step that moves no predictor far.
  double safe_share(const std::vector<double>& from, const std::vector<double>& to) const {
    constexpr double kFar = 30;
    double largest = 0;
    for (Index r = 0; r < rows_.rows(); ++r) {
      if (weights_[r] > 0) largest = std::max(largest, std::fabs(to[r] - from[r]));
    }
    return largest > kFar ? kFar / largest : 1;
  }

  // Takes a step, or a part of it, that keeps a share of what it promises; false if none does.
  // Where the quadratic had to be stiffened it says nothing of what is far.
  bool go(const Basis& basis, Point& point, const std::vector<double>& step, double promise,
          bool stiff, Point& next) const {
    constexpr double kShare = 1e-3;
    double length = 1;
    for (int halvings = 0; halvings < 40; ++halvings, length *= 0.5) {
      next.b = point.b;
      for (Index s = 0; s < basis.size(); ++s) next.b[s] += length * step[s];
      evaluate(basis, next);
      if (stiff && halvings == 0) {
        const double share = safe_share(point.eta, next.eta);
        if (share < 1) {
          length = 2 * share;  // it is halved at once
          continue;
        }
      }
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

  // Where the fit runs off to infinity, as where classes are separated, rows lose their curvature,
  // and columns that differ in these rows alone look as if they depended on each other. Adds a
  // little to the diagonal, so that steps stay finite, and factorises.
  static void stiffen(Square& hessian, Square& factor) {
    constexpr double kShare = 1e-10, kTiny = 1e-300;
    for (Index s = 0; s < hessian.size; ++s) {
      hessian.row(s)[s] += kShare * hessian.row(s)[s] + kTiny;
    }
    factor = hessian;
    factorise(factor);
  }

 private:
  // The same as independent() with the weights of the rows for their curvature.
  bool columns_independent(const Basis& basis) const {
    Square gram;
    gram.resize(basis.size());
    weighted_products(basis.columns.data(), basis.size(), weights_.data(), rows_.rows(),
                      gram.values.data(), gram.stride);
    for (Index s = 0; s < basis.size(); ++s) gram.row(s)[s] += basis.ridge[s];
    Square factor = gram;
    return independent(gram, factor);
  }

  static constexpr int kRounds = 60;

  const Rows& rows_;
  const std::vector<double> weights_;
  double least_ = 0;  // the loss of rows that are fitted exactly
};

}  // namespace ellzero
