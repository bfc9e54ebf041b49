// Draws of the coefficients from their Gaussian conditional: under y ~ N(Z beta, s2 I) and beta_j ~
// N(0, s2 / ratio_j), independently,
//
//   beta ~ N(A^-1 Z'y, s2 A^-1),   A = Z'Z + diag(ratio).
//
// Either by Cholesky's factor of A, p x p, from products of columns alone; or, where rows are few,
// by one of n x n (Bhattacharya, Chakraborty and Mallick 2016): with u ~ N(0, s2 H), H =
// diag(1 / ratio), and d ~ N(0, I),
//
//   beta = u + s H Z'w,   (I + Z H Z') w = (y - Z u) / s - d,
//
// whose residuals y - Z beta are s (w + d).
//
// Columns without spread are left out: they have no coefficient.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "data/prepared_columns.hpp"
#include "data/quadratic.hpp"
#include "posterior/strips.hpp"

namespace ellzero {

enum class GaussianForm { automatic, columns, rows };

// What all chains read.
struct GaussianProblem {
  GaussianProblem(const Quadratic& design, GaussianForm form, const Context& context)
      : yy(design.yy) {
    for (Index j = 0; j < design.columns(); ++j) {
      if (design.inverse_scale[j] > 0) live.push_back(j);
    }
    for (const Index j : live) zy.push_back(design.zy[j]);
    const double p = static_cast<double>(live.size());
    const PreparedColumns* z = design.prepared_columns();
    const double n = z ? static_cast<double>(z->rows()) : 0;
    // Multiplications: n^2 p / 2 + n^3 / 6 against p^3 / 6. Small problems stay with products of
    // columns, which are the same for a row of weight two and for two rows.
    by_rows = form == GaussianForm::rows || (form == GaussianForm::automatic && p >= 64 && n > 0 &&
                                             n * n * (3 * p + n) < p * p * p);
    if (by_rows) {
      read_rows(*z, context);
    } else {
      make_gram(design, context);
    }
  }

  Index size() const { return static_cast<Index>(live.size()); }

  // |y - Z beta|^2, by y'y - 2 b'beta + beta'G beta where rows are not at hand.
  double squared_residuals(const double* beta) const {
    double sum = by_rows ? 0 : yy;
    const Strips& matrix = by_rows ? rows : gram;
    for (Index i = 0; i < matrix.count(); ++i) {
      double minus[kStrip] = {};
      subtract_times(matrix.strip(i), beta, size(), minus);
      const Index end = std::min((i + 1) * kStrip, by_rows ? row_count() : size());
      for (Index r = i * kStrip; r < end; ++r) {
        const double value = minus[r - i * kStrip];
        sum += by_rows ? (response[r] + value) * (response[r] + value)
                       : -beta[r] * (2 * zy[r] + value);
      }
    }
    return std::max(0.0, sum);
  }
  Index row_count() const { return static_cast<Index>(response.size()); }

  std::vector<Index> live;  // the columns that have a coefficient
  std::vector<double> zy;   // of those
  double yy;
  bool by_rows;
  Strips gram;                   // p x p, if by columns
  Strips rows;                   // n x p, if by rows
  std::vector<double> response;  // n, if by rows

 private:
  void make_gram(const Quadratic& design, const Context& context) {
    gram = Strips::square(size());
    std::vector<double> block(kBlockColumns * design.columns());
    std::vector<double*> out;
    for (Index b = 0; b < kBlockColumns; ++b) out.push_back(block.data() + b * design.columns());
    for (Index k = 0; k < size(); k += kBlockColumns) {
      context.check();
      const Index count = std::min(kBlockColumns, size() - k);
      design.gram_columns(live.data() + k, count, out.data(), context);
      for (Index b = 0; b < count; ++b) {
        for (Index i = 0; i < size(); ++i) gram.at(i, k + b) = out[b][live[i]];
        gram.at(k + b, k + b) = 1;  // to rounding, it is
      }
    }
  }

  void read_rows(const PreparedColumns& z, const Context& context) {
    rows = Strips(z.rows(), size());
    response.assign(z.response(), z.response() + z.rows());
    std::vector<double> column(z.rows());
    for (Index k = 0; k < size(); ++k) {
      context.check();
      z.read(live[k], 0, z.rows(), column.data());
      for (Index i = 0; i < z.rows(); ++i) rows.at(i, k) = column[i];
    }
  }
};

class GaussianSampler {
 public:
  virtual ~GaussianSampler() = default;
  // To be called when the ratios have changed other than by a common factor.
  virtual void set_ratios(const double* ratio, const Context& context) = 0;
  // Factorises at ratios that are `factor` times those set.
  virtual void factorise(double factor, const Context& context) = 0;
  // log |A| - log |diag(ratio)|, and y'y - b'A^-1 b: with beta integrated out, the density of y is
  // proportional to exp(-(log_determinant + squares / s2) / 2).
  virtual double log_determinant() const = 0;
  virtual double squares() const = 0;
  // Fills beta with a draw at the ratios last factorised at, and returns |y - Z beta|^2.
  virtual double draw(double s2, Random& random, double* beta) = 0;
};

class ColumnSampler final : public GaussianSampler {
 public:
  explicit ColumnSampler(const GaussianProblem& problem)
      : problem_(problem),
        p_(problem.size()),
        cholesky_(p_),
        ratio_(p_),
        scale_(cholesky_.padded(), 0.0),
        floor_(p_),
        right_(cholesky_.padded()),
        v_(cholesky_.padded()) {}

  void set_ratios(const double* ratio, const Context&) override {
    std::copy_n(ratio, p_, ratio_.data());
  }

  void factorise(double factor, const Context& context) override {
    // A is factorised with a diagonal of ones: then its pivots say what is left of a column that
    // others explain, however far apart the ratios are. The prior's share is always left, or what
    // rounding leaves: divided by less, rounding would grow from pivot to pivot.
    for (Index j = 0; j < p_; ++j) {
      const double ratio = std::max(factor * ratio_[j], kRounding);
      scale_[j] = 1 / std::sqrt(1 + ratio);
      floor_[j] = ratio / (1 + ratio);
    }
    fill_matrix();
    cholesky_.factorise(floor_.data(), context);
    for (Index j = 0; j < p_; ++j) right_[j] = scale_[j] * problem_.zy[j];
    cholesky_.solve(right_.data());
  }

  double log_determinant() const override {
    double sum = cholesky_.log_determinant();
    for (const double share : floor_) sum -= std::log(share);
    return sum;
  }
  double squares() const override {
    return std::max(0.0, problem_.yy - dot(right_.data(), right_.data(), p_));
  }

  double draw(double s2, Random& random, double* beta) override {
    const double sigma = std::sqrt(s2);
    for (Index j = 0; j < p_; ++j) v_[j] = right_[j] + sigma * random.normal();
    cholesky_.solve_transposed(v_.data());
    for (Index j = 0; j < p_; ++j) beta[j] = scale_[j] * v_[j];
    return problem_.squared_residuals(beta);
  }

 private:
  static constexpr double kRounding = 1e-13;

  void fill_matrix() {
    Strips& matrix = cholesky_.matrix();
    for (Index i = 0; i < matrix.count(); ++i) {
      const double* own = scale_.data() + i * kStrip;
      for (Index k = 0; k < (i + 1) * kStrip; ++k) {
        const double* from = problem_.gram.strip(i, k);
        double* to = matrix.strip(i, k);
        for (Index r = 0; r < kStrip; ++r) to[r] = scale_[k] * own[r] * from[r];
      }
    }
    for (Index j = 0; j < p_; ++j) matrix.at(j, j) = 1;
  }

  const GaussianProblem& problem_;
  Index p_;
  Cholesky cholesky_;
  std::vector<double> ratio_, scale_, floor_;
  std::vector<double> right_;  // L^-1 b, scaled
  std::vector<double> v_;
};

class RowSampler final : public GaussianSampler {
 public:
  explicit RowSampler(const GaussianProblem& problem)
      : problem_(problem),
        n_(problem.row_count()),
        p_(problem.size()),
        outer_(Strips::square(n_)),
        cholesky_(n_),
        chunk_(n_, kChunk),
        floor_(n_, 1.0),
        root_(p_),
        noise_(n_),
        minus_(p_),
        w_(cholesky_.padded()) {}

  void set_ratios(const double* ratio, const Context& context) override {
    least_ = std::numeric_limits<double>::infinity();
    for (Index j = 0; j < p_; ++j) {
      const double own = std::max(ratio[j], kLeastRatio);
      root_[j] = 1 / std::sqrt(own);
      least_ = std::min(least_, own);
    }
    multiply_out(context);
  }

  void factorise(double factor, const Context& context) override {
    factor_ = std::max(factor, kRounding / least_);
    Strips& matrix = cholesky_.matrix();
    const double inverse = 1 / factor_;
    for (Index i = 0; i < matrix.count(); ++i) {
      const double* from = outer_.strip(i);
      double* to = matrix.strip(i);
      for (Index k = 0; k < (i + 1) * kStrip * kStrip; ++k) to[k] = -inverse * from[k];
    }
    for (Index i = 0; i < n_; ++i) matrix.at(i, i) += 1;
    cholesky_.factorise(floor_.data(), context);
    std::copy_n(problem_.response.data(), n_, w_.data());
    cholesky_.solve(w_.data());
    squares_ = dot(w_.data(), w_.data(), n_);
  }

  double log_determinant() const override { return cholesky_.log_determinant(); }
  double squares() const override { return squares_; }

  double draw(double s2, Random& random, double* beta) override {
    const double sigma = std::sqrt(s2), inverse = 1 / sigma, scale = 1 / std::sqrt(factor_);
    for (Index j = 0; j < p_; ++j) beta[j] = scale * root_[j] * random.normal();  // u / s
    for (Index i = 0; i < n_; ++i) {
      noise_[i] = random.normal();
      w_[i] = problem_.response[i] * inverse - noise_[i];
    }
    for (Index i = 0; i < problem_.rows.count(); ++i) {
      subtract_times(problem_.rows.strip(i), beta, p_, w_.data() + i * kStrip);
    }
    cholesky_.solve(w_.data());
    cholesky_.solve_transposed(w_.data());
    std::fill(minus_.begin(), minus_.end(), 0.0);  // -Z'w
    for (Index i = 0; i < problem_.rows.count(); ++i) {
      subtract_transposed_times(problem_.rows.strip(i), w_.data() + i * kStrip, p_, minus_.data());
    }
    for (Index j = 0; j < p_; ++j) {
      const double deviation = scale * root_[j];
      beta[j] = sigma * (beta[j] - deviation * deviation * minus_[j]);
    }
    double sum = 0;
    for (Index i = 0; i < n_; ++i) sum += (w_[i] + noise_[i]) * (w_[i] + noise_[i]);
    return s2 * sum;
  }

 private:
  static constexpr Index kChunk = 120;
  // Below this the prior no longer matters to a coefficient that the data know of, and beside Z H
  // Z' the identity would be lost to rounding.
  static constexpr double kLeastRatio = 1e-10;
  // The same for the ratios times a factor, which is tried far from one.
  static constexpr double kRounding = 1e-13;

  // -Z H Z', a stretch of columns at a time.
  void multiply_out(const Context& context) {
    for (Index i = 0; i < outer_.count(); ++i) {
      std::fill(outer_.strip(i), outer_.strip(i, (i + 1) * kStrip), 0.0);
    }
    for (Index first = 0; first < p_; first += kChunk) {
      context.check();
      const Index width = std::min(kChunk, p_ - first);
      for (Index i = 0; i < chunk_.count(); ++i) {
        for (Index k = 0; k < width; ++k) {
          const double* from = problem_.rows.strip(i, first + k);
          double* to = chunk_.strip(i, k);
          for (Index r = 0; r < kStrip; ++r) to[r] = from[r] * root_[first + k];
        }
      }
      for (Index i = 0; i < chunk_.count(); ++i) {
        for (Index j = 0; j <= i; ++j) {
          subtract_products(chunk_.strip(i), chunk_.strip(j), width, outer_.strip(i, j * kStrip));
        }
      }
    }
  }

  const GaussianProblem& problem_;
  Index n_, p_;
  Strips outer_;  // -Z H Z'
  Cholesky cholesky_;
  Strips chunk_;
  double factor_ = 1, squares_ = 0, least_ = 1;
  std::vector<double> floor_, root_, noise_, minus_, w_;
};

inline std::unique_ptr<GaussianSampler> make_sampler(const GaussianProblem& problem) {
  if (problem.by_rows) return std::make_unique<RowSampler>(problem);
  return std::make_unique<ColumnSampler>(problem);
}

}  // namespace ellzero
