// Rows of a factor (factor.hpp) for several columns P that are appended one after the other, with
// one pass over M for all of them. With U = A^-1 G_SP and W = M G_SP, what the members leave of the
// columns is D = G_PP + tau - W'W = L L', and the rows are L^-1 [-U' I].
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/factor.hpp"

namespace ellzero {

class RowPanel {
 public:
  // Up to kPanelVectors columns, given by their Gram columns; `members` are those of the factor.
  void begin(const Factor& factor, const std::vector<Index>& members, const Index* columns,
             const double* const* gram, Index count) {
    const Index k = factor.size();
    before_ = k;
    count_ = next_ = 0;
    cross_.assign(k * kPanelVectors, 0.0);
    for (Index i = 0; i < count; ++i) {
      for (Index s = 0; s < k; ++s) cross_[s * kPanelVectors + i] = gram[i][members[s]];
      for (Index j = 0; j < i; ++j) d_[i][j] = gram[i][columns[j]];
      d_[i][i] = 0;
    }
    factor.solve_panel(cross_, w_, solved_);
    double squares[kPanelVectors * kPanelVectors];
    panel_products(w_.data(), k, squares);
    length_ = k + kPanelVectors;
    u_.assign(count * length_, 0.0);
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j <= i; ++j) d_[i][j] -= squares[i * kPanelVectors + j];
      for (Index s = 0; s < k; ++s) u_[i * length_ + s] = solved_[s * kPanelVectors + i];
    }
  }

  // The row of the next of them, as Factor::new_row() gives it: 0 if the column depends on those
  // before it. If it does not, it is to be appended before the next.
  double next_row(const Factor& factor, double whole, double b, double least_pivot, FlipRow& out) {
    const Index i = next_++, k = before_, size = factor.size();
    const double* u = u_.data() + i * length_;
    double *own = l_[count_], pivot = whole + d_[i][i];
    for (Index j = 0; j < count_; ++j) {  // those that were appended
      double left = d_[i][kept_[j]];
      for (Index t = 0; t < j; ++t) left -= own[t] * l_[j][t];
      own[j] = left / l_[j][j];
      pivot -= own[j] * own[j];
    }
    if (!(pivot > 0)) return 0;
    const double root = std::sqrt(pivot);
    const double* rows[kPanelVectors] = {u};
    double shares[kPanelVectors] = {-1 / root};
    out.q = b - dot(u, factor.products().data(), k);
    for (Index j = 0; j < count_; ++j) {
      rows[j + 1] = factor.row(k + j);
      shares[j + 1] = -own[j] / root;
      out.q -= own[j] * factor.z()[k + j];
    }
    out.q /= root;
    out.a.resize(size + 1);
    combine(rows, shares, count_ + 1, 0, size, out.a.data());
    // Rounding in the Gram matrix moves the pivot by epsilon |u|^2.
    const double squares = pivot * dot(out.a.data(), out.a.data(), size);
    if (!(pivot > least_pivot * std::max(1.0, 1e-4 * squares))) return 0;
    out.a[size] = 1 / root;
    own[count_] = root;
    kept_[count_++] = i;
    return pivot;
  }

 private:
  Index before_ = 0, next_ = 0, count_ = 0;  // members, columns looked at, and appended
  Index length_ = 0;                         // of the rows of U'
  double d_[kPanelVectors][kPanelVectors], l_[kPanelVectors][kPanelVectors];
  Index kept_[kPanelVectors];
  std::vector<double> cross_, w_, solved_, u_;
};

}  // namespace ellzero
