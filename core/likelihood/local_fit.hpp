// A fit on a few columns, and what its curvature says of supports that differ by a few others.
//
// Around the fit the energy is a quadratic with the exact second derivatives there. Its minimum
// over another support, one step of Newton's method, tells what a move would gain to second order,
// and is where a refit of that support starts.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "engine/scores.hpp"
#include "likelihood/newton.hpp"

namespace ellzero {

class LocalFit {
 public:
  // `weights` are those of the rows; `ridge` is for columns of unit norm under these.
  LocalFit(const Rows& rows, std::vector<double> weights, double ridge)
      : rows_(rows),
        newton_(rows, std::move(weights)),
        ridge_(ridge),
        ridges_(rows.columns(), std::numeric_limits<double>::quiet_NaN()) {
    at_.basis = empty_basis();
    at_.point.b = start();
    newton_.evaluate(at_.basis, at_.point);
    newton_.minimise(at_.basis, at_.point, 1e-14, at_.hessian, at_.factor, next_);
    null_intercept_ = intercept();
    null_energy_ = energy();
    null_curvature_ = mean_curvature();
  }

  // Where it stands, to come back to.
  struct State {
    Basis basis;  // the intercept, and the columns in their order
    Point point;
    Square hessian, factor;  // there
  };
  const State& state() const { return at_; }
  void restore(const State& state) { at_ = state; }

  const Point& point() const { return at_.point; }
  double energy() const { return at_.point.energy(); }
  double intercept() const { return rows_.ones() ? at_.point.b[0] : 0; }
  Index first() const { return rows_.ones() ? 1 : 0; }  // where the columns begin
  Index size() const { return at_.basis.size() - first(); }
  // Of the columns, without the intercept.
  std::vector<double> beta() const { return {at_.point.b.begin() + first(), at_.point.b.end()}; }
  // Of the fit without columns.
  double null_energy() const { return null_energy_; }
  double null_intercept() const { return null_intercept_; }
  double null_curvature() const { return null_curvature_; }

  // The curvature of a row of weight one in the Gram matrix, on average.
  double mean_curvature() const {
    const double mean = sum_of(at_.point.curvature) / rows_.quadratic().weight;
    return std::max(mean, std::numeric_limits<double>::min());
  }
  // By how much a predictor differs most from that without columns, of rows that have a weight.
  double farthest() const {
    double largest = 0;
    for (Index r = 0; r < rows_.rows(); ++r) {
      if (!(newton_.weights()[r] > 0)) continue;
      const double before = null_intercept_ + (rows_.offset() ? rows_.offset()[r] : 0);
      largest = std::max(largest, std::fabs(at_.point.eta[r] - before));
    }
    return largest;
  }
  // The largest standard error of a coefficient, for columns of unit norm, as many times what it
  // would be with the mean curvature without columns in every row.
  double largest_error() const {
    const Square inverse = inverse_hessian();
    double largest = 0;
    for (Index at = first(); at < inverse.size; ++at) {
      largest = std::max(largest, inverse.row(at)[at]);
    }
    return std::sqrt(largest * null_curvature_);
  }

  // The ridge of a column that has unit norm under the weights of the Gram matrix.
  double ridge_of(Index j, const std::vector<double>& column) const {
    if (ridge_ == 0) return 0;
    if (!std::isnan(ridges_[j])) return ridges_[j];
    const double* w = newton_.weights().data();
    double weight = 0, mean = 0, square = 0;
    for (Index r = 0; r < rows_.rows(); ++r) {
      weight += w[r];
      mean += w[r] * column[r];
      square += w[r] * column[r] * column[r];
    }
    if (rows_.ones()) square -= mean * mean / weight;
    return ridges_[j] = ridge_ * square;
  }

  // Fits some columns, to `tolerance`, starting from coefficients b with the intercept first, or
  // from nothing if that is better. False, with no fit, if they depend on each other.
  bool fit(const std::vector<Index>& columns, std::vector<double> b, double tolerance) {
    at_.basis = empty_basis();
    for (const Index j : columns) add_column(at_.basis, j);
    at_.point.b = std::move(b);
    newton_.evaluate(at_.basis, at_.point);
    if (!(energy() <= null_energy_)) {
      at_.point.b.assign(at_.basis.size(), 0.0);
      if (first()) at_.point.b[0] = null_intercept_;
      newton_.evaluate(at_.basis, at_.point);
    }
    return newton_.minimise(at_.basis, at_.point, tolerance, at_.hessian, at_.factor, next_);
  }

  // The fit ends when its energy has all digits, to `rounding`, which coefficients have only half
  // of: one more step of Newton's method gives them the other half.
  const Point& refined(double rounding) const {
    std::vector<double> down, step(at_.basis.size());
    newton_.descent(at_.basis, at_.point, down);
    solve_factored(at_.factor, down.data(), step.data());
    there_.b = at_.point.b;
    for (Index s = 0; s < at_.basis.size(); ++s) there_.b[s] += step[s];
    newton_.evaluate(at_.basis, there_);
    return there_.energy() <= energy() + 1e-4 * rounding ? there_ : at_.point;
  }

  // Another support: columns that enter, and positions of those that leave.
  struct Change {
    std::vector<Index> entering, leaving;

    bool leaves(Index position) const {
      return std::find(leaving.begin(), leaving.end(), position) != leaving.end();
    }
    std::size_t flips() const { return entering.size() + leaving.size(); }
  };
  // Its columns, first those that stay; its coefficients where the quadratic has its minimum, and
  // the curvature of that.
  struct Leap {
    Basis basis;
    std::vector<double> b;
    std::vector<double> from;  // those of the fit, if none leaves; else empty
    Square hessian, factor;
    bool sound = false;  // false if they depend on each other
  };
  Leap leap(const Change& change) const;

  // How good another support is found to be.
  struct Trial {
    double energy = std::numeric_limits<double>::infinity();
    bool settled = false;   // whether that is the least
    double left = 0;        // else, about how much is left to be gained
    std::vector<double> b;  // in the order of the leap
  };
  // When a refit ends: if less is left than a share of what it has changed, or than rounding; or if
  // it can't be seen to come below a bar.
  struct Aim {
    double share;
    double rounding;
    double bar = std::numeric_limits<double>::infinity();
  };
  // What is left to gain is less than so many times what a step promises.
  static constexpr double kReach = 2;
  // Refits from there, with the same curvature, or with that where it has come to if that goes
  // slowly.
  Trial refit(Leap& there, const Aim& aim) const { return approach(there, aim, there_); }
  // The same, and stands there.
  Trial land(Leap& there, const Aim& aim) {
    Trial trial = approach(there, aim, there_);
    // Good enough to walk on, but not to be taken for the least later.
    trial.energy = there_.energy();
    trial.settled = false;
    std::swap(at_.point, there_);
    at_.basis = std::move(there.basis);
    at_.hessian = std::move(there.hessian);
    at_.factor = std::move(there.factor);
    return trial;
  }

  // To second order, what inserting each of some columns gains, and what swapping it for each
  // member does; negative where that can't be. It costs a fraction of a refit.
  struct Gains {
    std::vector<double> insertions;
    std::vector<Swap> swaps;
  };
  Gains gains(const std::vector<Index>& columns) const;
  // To second order, what removing each costs.
  std::vector<double> removal_costs() const {
    const Square inverse = inverse_hessian();
    std::vector<double> costs;
    for (Index at = first(); at < inverse.size; ++at) {
      costs.push_back(0.5 * at_.point.b[at] * at_.point.b[at] / inverse.row(at)[at]);
    }
    return costs;
  }

 private:
  // No coefficient of a column of unit norm is as large as this, but for want of curvature.
  static constexpr double kAbsurd = 1e12;

  static double sum_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double each : values) sum += each;
    return sum;
  }

  std::vector<double> start() const {
    double weight = 0, sum = 0, offset = 0;
    for (Index r = 0; r < rows_.rows(); ++r) {
      weight += newton_.weights()[r];
      sum += newton_.weights()[r] * rows_.y()[r];
      if (rows_.offset()) offset += newton_.weights()[r] * rows_.offset()[r];
    }
    if (!rows_.ones()) return {};
    return {rows_.loss().link(sum / weight) - offset / weight};
  }

  void add_column(Basis& basis, Index j) const {
    Rows::Column column = rows_.column(j);
    const double tau = ridge_of(j, *column);
    basis.add(std::move(column), tau);
  }
  Basis empty_basis() const {
    Basis basis;
    if (rows_.ones()) basis.add(rows_.ones(), 0);
    return basis;
  }
  Square inverse_hessian() const {
    Square room, inverse;
    invert_factored(at_.factor, room, inverse);
    return inverse;
  }
  Trial approach(Leap& there, const Aim& aim, Point& point) const;

  const Rows& rows_;
  const Newton newton_;
  const double ridge_;
  double null_energy_ = std::numeric_limits<double>::infinity();
  double null_intercept_ = 0;
  double null_curvature_ = 0;
  State at_;
  mutable std::vector<double> ridges_;  // by column; NaN where it has not been needed
  mutable Point there_, next_;          // room to work in
};

inline LocalFit::Leap LocalFit::leap(const Change& change) const {
  const Basis& basis = at_.basis;
  const Point& point = at_.point;
  const Index whole = basis.size(), added = static_cast<Index>(change.entering.size());
  Leap out;
  std::vector<Index> kept;  // places in the basis
  for (Index s = 0; s < whole; ++s) {
    if (s >= first() && change.leaves(s - first())) continue;
    kept.push_back(s);
    out.basis.add(basis.held[s], basis.ridge[s]);
  }
  const Index stay = out.basis.size();
  out.hessian.resize(stay + added);
  std::vector<double> down(stay + added, 0.0), cross(whole + added);
  out.b.assign(stay + added, 0.0);
  const auto at_fit = [&](Index s, Index t) {
    return at_.hessian.row(std::min(s, t))[std::max(s, t)];
  };
  for (Index s = 0; s < stay; ++s) {
    for (Index t = s; t < stay; ++t) out.hessian.row(s)[t] = at_fit(kept[s], kept[t]);
    for (const Index r : change.leaving) {
      down[s] += at_fit(kept[s], first() + r) * point.b[first() + r];
    }
  }
  std::vector<double> weighted(added > 0 ? rows_.rows() : 0);
  std::vector<const double*> columns = basis.columns;
  for (Index e = 0; e < added; ++e) {
    add_column(out.basis, change.entering[e]);
    const double* column = out.basis.columns.back();
    columns.push_back(column);
    for (Index r = 0; r < rows_.rows(); ++r) weighted[r] = column[r] * point.curvature[r];
    column_dots(columns.data(), whole + e + 1, weighted.data(), rows_.rows(), cross.data());
    const Index at = stay + e;
    for (Index s = 0; s < stay; ++s) out.hessian.row(s)[at] = cross[kept[s]];
    for (Index f = 0; f <= e; ++f) out.hessian.row(stay + f)[at] = cross[whole + f];
    out.hessian.row(at)[at] += out.basis.ridge[at];
    down[at] = dot(column, point.residual.data(), rows_.rows());
    for (const Index r : change.leaving) down[at] += cross[first() + r] * point.b[first() + r];
  }
  out.factor = out.hessian;
  out.sound = Newton::independent(out.hessian, out.factor);
  if (!out.sound) return out;
  solve_factored(out.factor, down.data(), out.b.data());
  for (Index s = 0; s < stay; ++s) out.b[s] += point.b[kept[s]];
  if (change.leaving.empty()) {
    out.from = point.b;
    out.from.resize(stay + added, 0.0);
  }
  // Where the curvature is gone the quadratic may have its minimum anywhere.
  for (const double b : out.b) out.sound = out.sound && std::fabs(b) < kAbsurd;
  return out;
}

inline LocalFit::Trial LocalFit::approach(Leap& there, const Aim& aim, Point& point) const {
  constexpr int kRounds = 30;
  Trial trial;
  point.b = there.b;
  newton_.evaluate(there.basis, point);
  if (!(point.energy() <= energy()) && !there.from.empty()) {
    point.b = there.from;  // that was too far: some part of the way will do
    newton_.evaluate(there.basis, point);
  }
  double before = std::numeric_limits<double>::infinity(), curvature = sum_of(at_.point.curvature);
  bool stiff = false;
  std::vector<double> down, step(there.basis.size());
  for (int round = 0; round < kRounds; ++round) {
    newton_.descent(there.basis, point, down);
    solve_factored(there.factor, down.data(), step.data());
    const double promise = 0.5 * dot(down.data(), step.data(), there.basis.size());
    // The curvature may have fallen since: then more is left than it promises.
    const double fall = curvature / sum_of(point.curvature);
    trial.left = promise * std::max(1.0, fall * fall);
    const double moved = std::fabs(point.energy() - energy());
    const double gainable = std::min(promise, point.energy());
    trial.settled = !(gainable > std::max(0.01 * aim.rounding, aim.share * moved));
    if (trial.settled || point.energy() - kReach * trial.left > aim.bar) break;
    if (promise > 0.25 * before) {
      newton_.hessian(there.basis, point, there.hessian);
      there.factor = there.hessian;
      stiff = !Newton::independent(there.hessian, there.factor);
      if (stiff) Newton::stiffen(there.hessian, there.factor);
      solve_factored(there.factor, down.data(), step.data());
      curvature = sum_of(point.curvature);
    }
    before = promise;
    if (!newton_.go(there.basis, point, step, promise, stiff, next_)) break;
  }
  trial.energy = point.energy() - (trial.settled ? trial.left : 0);
  trial.b = point.b;
  return trial;
}

inline LocalFit::Gains LocalFit::gains(const std::vector<Index>& columns) const {
  const Basis& basis = at_.basis;
  const Point& point = at_.point;
  const Index whole = basis.size();
  Gains out;
  const Square inverse = inverse_hessian();
  std::vector<double> weighted(rows_.rows()), cross(whole), solved(whole);
  for (const Index j : columns) {
    const Rows::Column column = rows_.column(j);
    for (Index r = 0; r < rows_.rows(); ++r) weighted[r] = (*column)[r] * point.curvature[r];
    column_dots(basis.columns.data(), whole, weighted.data(), rows_.rows(), cross.data());
    times(inverse, cross.data(), solved.data());
    const double c = dot(column->data(), point.residual.data(), rows_.rows());
    const double own = dot(column->data(), weighted.data(), rows_.rows()) + ridge_of(j, *column);
    const double d = own - dot(cross.data(), solved.data(), whole);
    const double floor = Scores::kSpan * own;
    out.insertions.push_back(d > floor ? 0.5 * c * c / d : -1);
    for (Index at = first(); at < whole; ++at) {
      const double root = std::sqrt(inverse.row(at)[at]);
      const double rho = point.b[at] / root, t = solved[at] / root;
      const double across = c + t * rho, pivot = d + t * t;
      const double gain = pivot > floor ? 0.5 * (across * across / pivot - rho * rho)
                                        : -std::numeric_limits<double>::infinity();
      out.swaps.push_back({at - first(), j, gain});
    }
  }
  return out;
}

}  // namespace ellzero
