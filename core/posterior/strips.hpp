// Matrices in strips of twelve rows, each kept column after column: a product of two strips then
// reads both from one end to the other. Cholesky's factor of such a matrix, and what solves with
// it.
//
// One thread, one order of operations: the bits depend on the matrix alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/kernels.hpp"
#include "base/parallel.hpp"

namespace ellzero {

inline constexpr Index kStrip = 12;

// c(i, j) -= sum over k of a(i, k) b(j, k) for two strips of `count` columns and a square c.
void subtract_products(const double* a, const double* b, Index count, double* c);
// c becomes c L^-T, for a square c and the lower triangle L, of diagonal 1 / inverse.
void solve_square(const double* l, const double* inverse, double* c);
// out(i) -= sum over k of a(i, k) v(k)
void subtract_times(const double* a, const double* v, Index count, double* out);
// v(k) -= sum over i of a(i, k) x(i)
void subtract_transposed_times(const double* a, const double* x, Index count, double* v);

class Strips {
 public:
  Strips() = default;
  // All zero. Rows are there up to the next multiple of kStrip; as many more columns may be.
  Strips(Index rows, Index columns)
      : strips_(round_up(rows, kStrip) / kStrip),
        columns_(columns),
        values_(strips_ * kStrip * columns_, 0.0) {}
  static Strips square(Index n) { return Strips(n, round_up(n, kStrip)); }

  Index count() const { return strips_; }
  Index columns() const { return columns_; }
  double* strip(Index i, Index column = 0) {
    return values_.data() + (i * columns_ + column) * kStrip;
  }
  const double* strip(Index i, Index column = 0) const {
    return values_.data() + (i * columns_ + column) * kStrip;
  }
  double& at(Index row, Index column) { return strip(row / kStrip, column)[row % kStrip]; }
  double at(Index row, Index column) const { return strip(row / kStrip, column)[row % kStrip]; }

 private:
  Index strips_ = 0, columns_ = 0;
  std::vector<double> values_;
};

// Makes a square matrix symmetric by what is on and below its diagonal of squares.
inline void copy_lower_to_upper(Strips& matrix) {
  for (Index i = 0; i < matrix.count(); ++i) {
    for (Index j = 0; j < i; ++j) {
      const double* from = matrix.strip(i, j * kStrip);
      double* to = matrix.strip(j, i * kStrip);
      for (Index r = 0; r < kStrip; ++r) {
        for (Index k = 0; k < kStrip; ++k) to[r * kStrip + k] = from[k * kStrip + r];
      }
    }
  }
}

// The factor L of a symmetric positive definite matrix, A = L L'.
class Cholesky {
 public:
  explicit Cholesky(Index n) : n_(n), factor_(Strips::square(n)), inverse_(factor_.columns(), 1) {}

  // The lower triangle of A is to be written here, and the squares on the diagonal of strips whole.
  Strips& matrix() { return factor_; }

  // No pivot is taken for less than its `floor`: what is known to be below it, whatever rounding
  // leaves.
  void factorise(const double* floor, const Context& context) {
    const Index count = factor_.count();
    for (Index i = n_; i < factor_.columns(); ++i) factor_.at(i, i) = 1;
    for (Index first = 0; first < count; first += kBlock) {
      const Index last = std::min(count, first + kBlock), done = first * kStrip;
      for (Index k = 0; k < done; k += kDepth) {
        context.check();
        const Index depth = std::min(kDepth, done - k);
        for (Index i = first; i < count; ++i) {
          for (Index j = first; j < std::min(last, i + 1); ++j) update(i, j, k, depth);
        }
      }
      for (Index j = first; j < last; ++j) {
        const Index column = j * kStrip;
        for (Index i = j; i < count; ++i) update(i, j, done, column - done);
        factorise_square(factor_.strip(j, column), column, floor);
        for (Index i = j + 1; i < count; ++i) {
          solve_square(factor_.strip(j, column), inverse_.data() + column,
                       factor_.strip(i, column));
        }
      }
    }
  }

  // v becomes L^-1 v, and L^-T v. It has room for a multiple of kStrip; what is there beyond n is
  // left as zeros.
  void solve(double* v) const {
    std::fill(v + n_, v + factor_.columns(), 0.0);
    for (Index j = 0; j < factor_.count(); ++j) {
      const Index column = j * kStrip;
      subtract_times(factor_.strip(j), v, column, v + column);
      const double* l = factor_.strip(j, column);
      for (Index k = 0; k < kStrip; ++k) {
        const double x = v[column + k] *= inverse_[column + k];
        for (Index i = k + 1; i < kStrip; ++i) v[column + i] -= l[k * kStrip + i] * x;
      }
    }
  }
  void solve_transposed(double* v) const {
    std::fill(v + n_, v + factor_.columns(), 0.0);
    for (Index j = factor_.count(); j-- > 0;) {
      const Index column = j * kStrip;
      const double* l = factor_.strip(j, column);
      for (Index k = kStrip; k-- > 0;) {
        double x = v[column + k];
        for (Index i = k + 1; i < kStrip; ++i) x -= l[k * kStrip + i] * v[column + i];
        v[column + k] = x * inverse_[column + k];
      }
      subtract_transposed_times(factor_.strip(j), v + column, column, v);
    }
  }

  // Fills `out` with A^-1 = L^-T L^-1, both of its triangles; `root` is given L^-T.
  void invert(Strips& root, Strips& out) const {
    const Index count = factor_.count();
    for (Index i = 0; i < count; ++i) {
      std::fill(root.strip(i), root.strip(i, factor_.columns()), 0.0);
      for (Index r = 0; r < kStrip; ++r) root.at(i * kStrip + r, i * kStrip + r) = 1;
      for (Index j = i; j < count; ++j) {
        const Index column = j * kStrip;
        subtract_products(root.strip(i, i * kStrip), factor_.strip(j, i * kStrip),
                          column - i * kStrip, root.strip(i, column));
        solve_square(factor_.strip(j, column), inverse_.data() + column, root.strip(i, column));
      }
    }
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j <= i; ++j) {
        double* square = out.strip(i, j * kStrip);
        std::fill(square, square + kStrip * kStrip, 0.0);
        subtract_products(root.strip(i, i * kStrip), root.strip(j, i * kStrip),
                          factor_.columns() - i * kStrip, square);
        for (Index k = 0; k < kStrip * kStrip; ++k) square[k] = -square[k];
      }
    }
    copy_lower_to_upper(out);
  }

  // log |A|
  double log_determinant() const {
    double sum = 0;
    for (Index i = 0; i < n_; ++i) sum -= 2 * std::log(inverse_[i]);
    return sum;
  }

  Index padded() const { return factor_.columns(); }

 private:
  // Strips that are updated together by what is to their left, as many of its columns at a time.
  static constexpr Index kBlock = 4;
  static constexpr Index kDepth = 120;

  void update(Index i, Index j, Index k, Index depth) {
    subtract_products(factor_.strip(i, k), factor_.strip(j, k), depth,
                      factor_.strip(i, j * kStrip));
  }

  void factorise_square(double* c, Index first, const double* floor) {
    for (Index k = 0; k < kStrip; ++k) {
      double* column = c + k * kStrip;
      const double least = first + k < n_ ? floor[first + k] : 1;
      const double pivot = column[k] > least ? column[k] : least;
      const double inverse = inverse_[first + k] = 1 / std::sqrt(pivot);
      column[k] = pivot * inverse;
      for (Index i = k + 1; i < kStrip; ++i) column[i] *= inverse;
      for (Index j = k + 1; j < kStrip; ++j) {
        const double factor = column[j];
        double* target = c + j * kStrip;
        for (Index i = j; i < kStrip; ++i) target[i] -= column[i] * factor;
      }
    }
  }

  Index n_;
  Strips factor_;
  std::vector<double> inverse_;  // of the diagonal
};

}  // namespace ellzero
