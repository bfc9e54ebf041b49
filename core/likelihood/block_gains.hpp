// What the curvature at a fit says of groups of columns, to second order: as local_fit.hpp does of
// single ones. With H the second derivatives at the fit, on the columns that are in, b their
// coefficients, W the curvature of the rows, r their residuals and Z_g the columns of a group,
//
//   c = Z_g'r,   T = H^-1 Z_S'W Z_g   and   D = Z_g'W Z_g + tau - T'H T
//
// inserting it gains half of c'D^-1 c; removing columns h costs half of b_h'([H^-1]_hh)^-1 b_h; and
// with C C' = [H^-1]_hh and U = C^-1 T_h, what was c and D becomes c + U'C^-1 b_h and D + U'U.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "engine/scores.hpp"
#include "likelihood/grouped_rows.hpp"
#include "likelihood/local_fit.hpp"

namespace ellzero {

class BlockGains {
 public:
  BlockGains(const GroupedRows& rows, const LocalFit& fit) : rows_(rows), fit_(fit) {}

  // The fit has changed.
  void forget() {
    views_.clear();
    inverse_.resize(0);
    leaving_.clear();
  }

  // What units gain together, by those of their columns that are independent of what is in and of
  // those before them; negative if none is.
  struct Gain {
    double gain = -1;
    std::vector<Index> columns;
  };
  Gain of(const std::vector<Index>& units) {
    const View& view = view_of(units);
    return eliminated(view, view.d, view.c);
  }
  // The same once the columns at some places in the fit have left.
  Gain without(const std::vector<Index>& leaving, const std::vector<Index>& units) {
    leave(leaving);
    const View& view = view_of(units);
    const Index m = view.size(), h = static_cast<Index>(leaving.size()), first = fit_.first();
    std::vector<double> d = view.d, c = view.c, u(h * m);
    for (Index i = 0; i < m; ++i) {
      for (Index a = 0; a < h; ++a) {
        double sum = view.solved[i][first + leaving[a]];
        for (Index l = 0; l < a; ++l) sum -= root_[triangle(a, l)] * u[l * m + i];
        u[a * m + i] = sum / root_[triangle(a, a)];
        c[i] += u[a * m + i] * rho_[a];
      }
      for (Index j = 0; j <= i; ++j) {
        for (Index a = 0; a < h; ++a) d[triangle(i, j)] += u[a * m + i] * u[a * m + j];
      }
    }
    return eliminated(view, std::move(d), std::move(c));
  }
  // What removing the columns at some places costs.
  double cost(const std::vector<Index>& leaving) {
    leave(leaving);
    double sum = 0;
    for (const double each : rho_) sum += each * each;
    return 0.5 * sum;
  }

 private:
  struct View {
    std::vector<Index> columns;
    std::vector<double> c, d, own;            // d by its lower triangle
    std::vector<std::vector<double>> solved;  // T, by column; the intercept, if there is one, first
    Index size() const { return static_cast<Index>(columns.size()); }
  };

  static Gain eliminated(const View& view, std::vector<double> d, std::vector<double> c) {
    Gain out;
    double sum = 0;
    const Index m = view.size();
    for (Index i = 0; i < m; ++i) {
      const double pivot = d[triangle(i, i)];
      if (!(pivot > Scores::kSpan * view.own[i])) continue;
      out.columns.push_back(view.columns[i]);
      sum += c[i] * c[i] / pivot;
      for (Index a = i + 1; a < m; ++a) {
        const double factor = d[triangle(a, i)] / pivot;
        c[a] -= factor * c[i];
        for (Index b = i + 1; b <= a; ++b) d[triangle(a, b)] -= factor * d[triangle(b, i)];
      }
    }
    if (!out.columns.empty()) out.gain = 0.5 * sum;
    return out;
  }

  const Square& inverse() {
    if (inverse_.size == 0) {
      Square room;
      invert_factored(fit_.state().factor, room, inverse_);
    }
    return inverse_;
  }

  // C and C^-1 b_h of those that leave.
  void leave(const std::vector<Index>& leaving) {
    if (leaving == leaving_ && !leaving.empty()) return;
    const Index h = static_cast<Index>(leaving.size()), first = fit_.first();
    leaving_ = leaving;
    root_.resize(triangle(h));
    rho_.resize(h);
    for (Index a = 0; a < h; ++a) {
      for (Index b = 0; b <= a; ++b) {
        double sum = inverse().row(first + leaving[a])[first + leaving[b]];
        for (Index l = 0; l < b; ++l) sum -= root_[triangle(a, l)] * root_[triangle(b, l)];
        // Of independent columns no pivot is down to rounding.
        root_[triangle(a, b)] = a == b
                                    ? std::sqrt(std::max(sum, std::numeric_limits<double>::min()))
                                    : sum / root_[triangle(b, b)];
      }
      double sum = fit_.point().b[first + leaving[a]];
      for (Index l = 0; l < a; ++l) sum -= root_[triangle(a, l)] * rho_[l];
      rho_[a] = sum / root_[triangle(a, a)];
    }
  }

  const View& view_of(const std::vector<Index>& units) {
    const auto found = views_.find(units);
    if (found != views_.end()) return found->second;
    View& view = views_[units];
    const GroupBases& bases = rows_.grouped().bases();
    const Basis& basis = fit_.state().basis;
    const Point& point = fit_.point();
    const Index n = rows_.rows(), whole = basis.size();
    std::vector<Rows::Column> held;
    std::vector<const double*> columns = basis.columns;
    std::vector<double> weighted(n), cross;
    for (const Index unit : units) {
      for (Index i = 0; i < bases.units[unit].width(); ++i) {
        const Index j = bases.column(unit, i);
        held.push_back(rows_.column(j));
        const std::vector<double>& column = *held.back();
        columns.push_back(column.data());
        view.columns.push_back(j);
        for (Index r = 0; r < n; ++r) weighted[r] = column[r] * point.curvature[r];
        cross.resize(columns.size());
        column_dots(columns.data(), static_cast<Index>(columns.size()), weighted.data(), n,
                    cross.data());
        view.solved.emplace_back(whole);
        times(inverse(), cross.data(), view.solved.back().data());
        view.c.push_back(dot(column.data(), point.residual.data(), n));
        for (Index l = 0; l < view.size(); ++l) {
          view.d.push_back(cross[whole + l] - dot(cross.data(), view.solved[l].data(), whole));
        }
        const double ridge = fit_.ridge_of(j, column);
        view.d.back() += ridge;
        view.own.push_back(cross.back() + ridge);
      }
    }
    return view;
  }

  const GroupedRows& rows_;
  const LocalFit& fit_;
  Square inverse_;  // of no rows if it is not known
  std::map<std::vector<Index>, View> views_;
  std::vector<Index> leaving_;  // those that root_ and rho_ are of
  std::vector<double> root_, rho_;
};

}  // namespace ellzero
