// The k-by-k part of least squares on a support: with A = G_SS + diag(tau_S) and b_S = Z_S'y,
// a lower triangular M with A^-1 = M'M, and z = M b_S.
//
// A flip is one row of M. Inserting j appends the row a = [-A^-1 G_Sj; 1] / sqrt(d_j); removing r
// rotates the rows until column r is zero but in the last, which is then a = A^-1 e_r /
// sqrt([A^-1]_rr), and drops that. Rotations are orthogonal: nothing is subtracted, so a nearly
// collinear column leaves no trace when it goes.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/block_kernels.hpp"
#include "base/kernels.hpp"

namespace ellzero {

// The row that a flip appends to M or drops from it, and q = a'b_S: what the flip does to all else.
struct FlipRow {
  std::vector<double> a;  // in the order of the members, the one that is flipped among them
  double q = 0;
};

class Factor {
 public:
  Factor() = default;
  Factor(const Factor&) = default;
  // Rows beyond the last are not copied where there are so many.
  Factor& operator=(const Factor& other) {
    if (capacity_ == other.capacity_) {
      std::copy_n(other.m_.begin(), other.size() * capacity_, m_.begin());
    } else {
      m_ = other.m_;
      capacity_ = other.capacity_;
    }
    z_ = other.z_;
    explained_ = other.explained_;
    b_ = other.b_;
    beta_ = other.beta_;
    inverse_diagonal_ = other.inverse_diagonal_;
    return *this;
  }

  Index size() const { return static_cast<Index>(z_.size()); }
  const std::vector<double>& beta() const { return beta_; }
  const std::vector<double>& inverse_diagonal() const { return inverse_diagonal_; }
  // b_S'A^-1 b_S
  double explained() const {
    if (!(explained_ >= 0)) explained_ = dot(z_.data(), z_.data(), size());
    return explained_;
  }
  double log_determinant() const {
    double sum = 0;
    for (Index r = 0; r < size(); ++r) sum -= 2 * std::log(std::fabs(row(r)[r]));
    return sum;
  }

  void clear() {
    explained_ = -1;
    z_.clear();
    b_.clear();
    beta_.clear();
    inverse_diagonal_.clear();
  }

  // The row that a column would append: `cross` are its products with the members, `whole` its own
  // and its ridge, b its product with y. Returns the pivot d_j; 0 if the column depends on the
  // members, its pivot not above `least_pivot`.
  double new_row(const double* cross, double whole, double b, double least_pivot, FlipRow& out) {
    const Index k = size();
    w_.resize(k);
    u_.resize(k);
    const LowerSolved solved =
        lower_solve(m_.data(), capacity_, k, cross, b_.data(), w_.data(), u_.data());
    const double pivot = whole - solved.ww;
    // Rounding in the Gram matrix moves the pivot by epsilon |u|^2.
    if (!(pivot > least_pivot * std::max(1.0, 1e-4 * solved.uu))) return 0;
    const double inverse = 1 / std::sqrt(pivot);
    out.a.resize(k + 1);
    for (Index s = 0; s < k; ++s) out.a[s] = -u_[s] * inverse;
    out.a[k] = inverse;
    out.q = (b - solved.ub) * inverse;
    return pivot;
  }

  // The products of the members with y.
  const std::vector<double>& products() const { return b_; }
  // M b_S
  const std::vector<double>& z() const { return z_; }

  // Appends it; beta and the diagonal of the inverse follow by update() or by add().
  void append(const FlipRow& flip, double b) {
    const Index k = size();
    reserve(k + 1);
    std::copy(flip.a.begin(), flip.a.end(), row(k));
    explained_ = -1;
    z_.push_back(flip.q);
    b_.push_back(b);
  }
  void add(const FlipRow& flip) {
    beta_.push_back(0);
    inverse_diagonal_.push_back(0);
    for (Index s = 0; s < size(); ++s) {
      beta_[s] += flip.a[s] * flip.q;
      inverse_diagonal_[s] += flip.a[s] * flip.a[s];
    }
  }
  void update() {
    beta_.resize(size());
    inverse_diagonal_.resize(size());
    lower_column_sums(m_.data(), capacity_, size(), z_.data(), beta_.data(),
                      inverse_diagonal_.data());
  }

  // Other products of the members with y; everything else stays.
  void set_products(const std::vector<double>& b) {
    b_ = b;
    explained_ = -1;
    lower_times(m_.data(), capacity_, size(), b_.data(), z_.data());
    update();
  }

  // Removes the member at position r; `out` is the row that goes, with that member in it.
  void remove(Index r, FlipRow& out) {
    const Index k = size();
    out.a.resize(k);
    w_.resize(2 * k);
    drop_column(m_.data(), capacity_, k, r, z_.data(), out.a.data(), w_.data());
    out.q = z_.back();
    explained_ = -1;
    z_.pop_back();
    b_.erase(b_.begin() + r);
    update();
  }

  // Row r of M, of r + 1 numbers.
  const double* row(Index r) const { return m_.data() + r * capacity_; }

  Index stride() const { return capacity_; }

  // M v
  std::vector<double> times(const double* v) const {
    std::vector<double> out(size());
    lower_times(m_.data(), capacity_, size(), v, out.data());
    return out;
  }
  // M'v: of covariance A^-1 if v is of covariance I.
  std::vector<double> transposed_times(const std::vector<double>& v) const {
    std::vector<double> out(size());
    lower_transposed_times(m_.data(), capacity_, size(), v.data(), out.data());
    return out;
  }
  // A^-1 v
  std::vector<double> solve(const std::vector<double>& v) const {
    return transposed_times(times(v.data()));
  }
  // M V and A^-1 V for kPanelVectors vectors side by side, row by row.
  void solve_panel(const std::vector<double>& v, std::vector<double>& w,
                   std::vector<double>& solved) const {
    w.resize(v.size());
    solved.resize(v.size());
    lower_times_panel(m_.data(), capacity_, size(), v.data(), w.data());
    lower_transposed_times_panel(m_.data(), capacity_, size(), w.data(), solved.data());
  }
  // The rows of A^-1 at some places, increasing.
  void inverse_rows(const std::vector<Index>& places, std::vector<double>& out) const {
    const Index k = size(), count = static_cast<Index>(places.size());
    const Index begin = count ? places[0] : 0, rows = k - begin;
    std::vector<const double*> below(rows);
    for (Index r = 0; r < rows; ++r) below[r] = row(begin + r);
    std::vector<double> own(kRows * rows);
    out.resize(count * k);
    for (Index i = 0; i < count; i += kRows) {
      const Index some = std::min(kRows, count - i);
      for (Index m = 0; m < some; ++m) {
        for (Index r = 0; r < rows; ++r) own[m * rows + r] = below[r][places[i + m]];
      }
      combine_rows(below.data(), own.data(), rows, some, rows, 0, k, out.data() + i * k, k);
    }
  }
  // A^-1, row by row
  std::vector<double> inverse() const {
    const Index k = size();
    std::vector<double> out(k * k), own(kRows * k);
    std::vector<const double*> rows(k);
    for (Index r = 0; r < k; ++r) rows[r] = row(r);
    // Some rows at a time, up to the diagonal: rows of M before these have nothing there.
    for (Index s = 0; s < k; s += kRows) {
      const Index some = std::min(kRows, k - s), below = k - s;
      for (Index m = 0; m < some; ++m) {
        for (Index r = 0; r < below; ++r) own[m * below + r] = rows[s + r][s + m];
      }
      combine_rows(rows.data() + s, own.data(), below, some, below, 0, s + some, out.data() + s * k,
                   k);
    }
    for (Index s = 0; s < k; ++s) {
      for (Index i = 0; i < s; ++i) out[i * k + s] = out[s * k + i];
    }
    return out;
  }

 private:
  static constexpr Index kRows = 4;  // that combine_rows() makes at a time

  double* row(Index r) { return m_.data() + r * capacity_; }

  void reserve(Index rows) {
    if (rows <= capacity_) return;
    const Index capacity = std::max<Index>(16, round_up(rows * 3 / 2, 8));
    std::vector<double> grown(capacity * capacity, 0.0);
    for (Index r = 0; r < size(); ++r) std::copy_n(row(r), r + 1, grown.data() + r * capacity);
    m_ = std::move(grown);
    capacity_ = capacity;
    // What belongs to rows grows with them, not one by one.
    for (auto* each : {&z_, &b_, &beta_, &inverse_diagonal_, &w_, &u_}) each->reserve(capacity);
  }

  std::vector<double> m_;  // rows of M, capacity_ of them and apart, zero beyond the diagonal
  Index capacity_ = 0;
  std::vector<double> z_;
  mutable double explained_ = -1;  // |z|^2; less than 0 if not known
  std::vector<double> b_;
  std::vector<double> beta_;
  std::vector<double> inverse_diagonal_;
  std::vector<double> w_, u_;  // room to work in
};

}  // namespace ellzero
