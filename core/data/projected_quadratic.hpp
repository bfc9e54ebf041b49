// What is left of a quadratic once some columns K, whose coefficients are under no prior and no
// ridge, are taken out of y and of all other columns (Frisch and Waugh 1933): with H the projection
// on what K spans,
//
//   y~ = (I - H) y,   z~_j = (I - H) z_j / a_j,   a_j = |(I - H) z_j|
//
// Least squares on Z~_S has the energy of least squares on Z_S and K. With Q = Z_K M', orthonormal,
// M'M = G_KK^-1, and T = Q'Z, all of it follows from Gram columns: nothing is copied, and sparse
// columns stay sparse.
//
//   G~_ij = (G_ij - T_i'T_j) / (a_i a_j),   b~_j = (b_j - T_j'Q'y) / a_j
//
// K itself is dead here, and so are columns that lie in its span.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "data/quadratic.hpp"

namespace ellzero {

// The columns to take out, those that depend on the ones before them left aside, and what the
// others and y have in common with them.
class TakenOut {
 public:
  // A column whose pivot is not above this depends on the ones before it.
  static constexpr double kDependent = 1e-9;

  TakenOut(const Quadratic& base, const std::vector<Index>& columns, const Context& context)
      : left(base.columns(), 1.0) {
    for (const Index j : columns) add(base, j, context);
    for (std::size_t a = 0; a < kept.size(); ++a) {
      for (Index j = 0; j < base.columns(); ++j) left[j] -= t[a][j] * t[a][j];
    }
    for (Index j = 0; j < base.columns(); ++j) {
      const bool dead = !(base.inverse_scale[j] > 0) || !(left[j] > kDependent);
      left[j] = dead ? 0 : std::sqrt(left[j]);
    }
    for (const Index j : columns) left[j] = 0;
    fit_response(base, context);
  }

  Index rank() const { return static_cast<Index>(kept.size()); }

  // M'v: coefficients of the kept columns, from those of their orthonormal basis.
  std::vector<double> to_columns(const std::vector<double>& v) const {
    std::vector<double> out(v.size(), 0.0);
    for (std::size_t a = 0; a < v.size(); ++a) {
      for (std::size_t s = 0; s <= a; ++s) out[s] += m[a][s] * v[a];
    }
    return out;
  }
  // M v: products with the basis, from those with the kept columns.
  std::vector<double> to_basis(const std::vector<double>& v) const {
    std::vector<double> out(v.size(), 0.0);
    for (std::size_t a = 0; a < v.size(); ++a) {
      for (std::size_t s = 0; s <= a; ++s) out[a] += m[a][s] * v[s];
    }
    return out;
  }

  std::vector<Index> kept;
  std::vector<std::vector<double>> m;  // M, row by row: a + 1 numbers in row a
  std::vector<std::vector<double>> t;  // T, row by row
  std::vector<double> left;            // a_j; 0 of dead columns
  std::vector<double> qy;              // Q'y
  std::vector<double> beta;            // of y on the kept columns
  double yy = 0;                       // y~'y~

 private:
  void add(const Quadratic& base, Index j, const Context& context) {
    if (!(base.inverse_scale[j] > 0)) return;
    double pivot = 1;
    for (const std::vector<double>& row : t) pivot -= row[j] * row[j];
    if (!(pivot > kDependent)) return;
    std::vector<double> gram(base.columns());
    double* out = gram.data();
    base.gram_columns(&j, 1, &out, context);
    // The new column of the basis is what the old ones leave of column j, of unit norm.
    const double root = std::sqrt(pivot);
    std::vector<double> own(kept.size() + 1, 0.0);
    own.back() = 1 / root;
    for (std::size_t a = 0; a < kept.size(); ++a) {
      const double along = t[a][j];
      for (std::size_t s = 0; s <= a; ++s) own[s] -= along * m[a][s] / root;
      for (Index i = 0; i < base.columns(); ++i) gram[i] -= along * t[a][i];
    }
    for (double& value : gram) value /= root;
    kept.push_back(j);
    m.push_back(std::move(own));
    t.push_back(std::move(gram));
  }

  void fit_response(const Quadratic& base, const Context& context) {
    std::vector<double> b;
    for (const Index j : kept) b.push_back(base.zy[j]);
    qy = to_basis(b);
    beta = to_columns(qy);
    yy = base.yy;
    for (const double value : qy) yy -= value * value;
    // Where there are rows, their residuals say it to more digits.
    std::vector<double> products(kept.size());
    double rss = base.residual_products(kept, beta.data(), products.data(), context);
    if (!std::isnan(rss) && !kept.empty()) {
      const std::vector<double> change = to_columns(to_basis(products));
      std::vector<double> refined = beta;
      for (std::size_t s = 0; s < kept.size(); ++s) refined[s] += change[s];
      const double again = base.residual_products(kept, refined.data(), products.data(), context);
      if (again < rss) {
        rss = again;
        beta = std::move(refined);
      }
      yy = rss;
    }
    yy = std::max(yy, 0.0);
  }
};

class ProjectedQuadratic final : public Quadratic {
 public:
  // The base has to outlive it.
  ProjectedQuadratic(const Quadratic& base, const std::vector<Index>& columns, double cache_bytes,
                     const Context& context)
      : ProjectedQuadratic(base, TakenOut(base, columns, context), cache_bytes) {}

  const TakenOut& taken_out() const { return taken_; }

  void gram_columns(const Index* which, Index count, double* const* out,
                    const Context& context) const override {
    base_.gram_columns(which, count, out, context);
    for (Index b = 0; b < count; ++b) {
      const Index j = which[b];
      for (const std::vector<double>& row : taken_.t) {
        for (Index i = 0; i < columns(); ++i) out[b][i] -= row[j] * row[i];
      }
      for (Index i = 0; i < columns(); ++i) out[b][i] *= over_left_[i] * over_left_[j];
      if (taken_.left[j] > 0) out[b][j] = 1;
    }
  }

  void cross_products(const Index* which, Index count, double* out) const override {
    base_.cross_products(which, count, out);
    for (Index a = 0; a < count; ++a) {
      for (Index b = 0; b < count; ++b) {
        const Index i = which[a], j = which[b];
        double& value = out[a * count + b];
        for (const std::vector<double>& row : taken_.t) value -= row[i] * row[j];
        value *= over_left_[i] * over_left_[j];
        if (i == j && taken_.left[j] > 0) value = 1;
      }
    }
  }

  double entries() const override { return base_.entries(); }

  double residual_products(const std::vector<Index>& support, const double* beta, double* products,
                           const Context& context) const override {
    const std::size_t k = support.size(), r = taken_.kept.size();
    // y - Z_S b_S and what the columns taken out explain of it
    std::vector<Index> all = support;
    std::vector<double> coefficients(k), along = taken_.qy;
    for (std::size_t s = 0; s < k; ++s) {
      coefficients[s] = beta[s] * over_left_[support[s]];
      for (std::size_t a = 0; a < r; ++a) along[a] -= taken_.t[a][support[s]] * coefficients[s];
    }
    const std::vector<double> rest = taken_.to_columns(along);
    all.insert(all.end(), taken_.kept.begin(), taken_.kept.end());
    coefficients.insert(coefficients.end(), rest.begin(), rest.end());
    std::vector<double> own(k + r);
    const double rss = base_.residual_products(all, coefficients.data(), own.data(), context);
    // The residuals are orthogonal to the columns taken out but for rounding.
    const std::vector<double> rounding =
        taken_.to_basis(std::vector<double>(own.begin() + static_cast<Index>(k), own.end()));
    for (std::size_t s = 0; s < k; ++s) {
      products[s] = own[s];
      for (std::size_t a = 0; a < r; ++a) products[s] -= taken_.t[a][support[s]] * rounding[a];
      products[s] *= over_left_[support[s]];
    }
    return rss;
  }

 private:
  ProjectedQuadratic(const Quadratic& base, TakenOut taken, double cache_bytes)
      : Quadratic(prepare_left(base, taken), cache_bytes), base_(base), taken_(std::move(taken)) {
    for (const double left : taken_.left) over_left_.push_back(left > 0 ? 1 / left : 0);
  }

  static Preparation prepare_left(const Quadratic& base, const TakenOut& taken) {
    Preparation out(base.columns(), base.weight, base.mean_y, taken.yy);
    out.mean = base.mean;
    for (Index j = 0; j < base.columns(); ++j) {
      if (!(taken.left[j] > 0)) continue;
      out.inverse_scale[j] = base.inverse_scale[j] / taken.left[j];
      double zy = base.zy[j];
      for (std::size_t a = 0; a < taken.kept.size(); ++a) zy -= taken.t[a][j] * taken.qy[a];
      out.zy[j] = taken.yy > 0 ? zy / taken.left[j] : 0;
    }
    return out;
  }

  const Quadratic& base_;
  const TakenOut taken_;
  std::vector<double> over_left_;  // 1 / a_j; 0 of dead columns
};

}  // namespace ellzero
