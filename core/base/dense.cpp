#include "base/dense.hpp"

#include <algorithm>
#include <cmath>

namespace ellzero {
namespace {

constexpr Index kPivots = 8;

// target[j] -= sum over b of factor[b] * rows[b][j], for begin <= j < end
ELLZERO_MULTIVERSION
void subtract_rows(const double* const* rows, const double* factor, Index count, Index begin,
                   Index end, double* target) {
  if (count == kPivots) {
    const double *r0 = rows[0], *r1 = rows[1], *r2 = rows[2], *r3 = rows[3];
    const double *r4 = rows[4], *r5 = rows[5], *r6 = rows[6], *r7 = rows[7];
    const Lanes f0 = broadcast(factor[0]), f1 = broadcast(factor[1]), f2 = broadcast(factor[2]),
                f3 = broadcast(factor[3]), f4 = broadcast(factor[4]), f5 = broadcast(factor[5]),
                f6 = broadcast(factor[6]), f7 = broadcast(factor[7]);
    Index j = begin;
    for (; j + kLanes <= end; j += kLanes) {
      Lanes sum = f0 * load(r0 + j);
      sum += f1 * load(r1 + j);
      sum += f2 * load(r2 + j);
      sum += f3 * load(r3 + j);
      sum += f4 * load(r4 + j);
      sum += f5 * load(r5 + j);
      sum += f6 * load(r6 + j);
      sum += f7 * load(r7 + j);
      store(target + j, load(target + j) - sum);
    }
    for (; j < end; ++j) {
      target[j] -= factor[0] * r0[j] + factor[1] * r1[j] + factor[2] * r2[j] + factor[3] * r3[j] +
                   factor[4] * r4[j] + factor[5] * r5[j] + factor[6] * r6[j] + factor[7] * r7[j];
    }
    return;
  }
  for (Index b = 0; b < count; ++b) {
    const double f = factor[b];
    const double* r = rows[b];
    for (Index j = begin; j < end; ++j) target[j] -= f * r[j];
  }
}

}  // namespace

bool factorise(Square& a) {
  const Index m = a.size;
  for (Index first = 0; first < m; first += kPivots) {
    const Index count = std::min(kPivots, m - first);
    const double* rows[kPivots];
    double factor[kPivots];
    for (Index b = 0; b < count; ++b) {
      const Index k = first + b;
      double* row = a.row(k);
      for (Index s = 0; s < b; ++s) factor[s] = rows[s][k];
      subtract_rows(rows, factor, b, k, m, row);
      const double pivot = row[k];
      if (!(pivot > 0) || !std::isfinite(pivot)) return false;
      const double root = std::sqrt(pivot), inverse = 1 / root;
      row[k] = root;
      for (Index j = k + 1; j < m; ++j) row[j] *= inverse;
      rows[b] = row;
    }
    for (Index i = first + count; i < m; ++i) {
      for (Index s = 0; s < count; ++s) factor[s] = rows[s][i];
      subtract_rows(rows, factor, count, i, m, a.row(i));
    }
  }
  return true;
}

void solve_factored(const Square& u, const double* b, double* x) {
  const Index m = u.size;
  if (x != b) std::copy_n(b, m, x);
  for (Index i = 0; i < m; ++i) {  // U'z = b
    const double* row = u.row(i);
    const double z = x[i] / row[i];
    x[i] = z;
    for (Index j = i + 1; j < m; ++j) x[j] -= z * row[j];
  }
  for (Index i = m; i-- > 0;) {
    const double* row = u.row(i);
    x[i] = (x[i] - dot(row + i + 1, x + i + 1, m - i - 1)) / row[i];
  }
}

void invert_factored(const Square& u, Square& room, Square& inverse) {
  const Index m = u.size;
  room.resize(m);
  inverse.resize(m);
  // Row i of M = U^-T: (e_i - sum over k < i of U_ki M_k) / U_ii, of i + 1 numbers.
  const double* rows[kPivots];
  double factor[kPivots];
  for (Index i = 0; i < m; ++i) {
    double* row = room.row(i);
    std::fill(row, row + room.stride, 0.0);
    for (Index first = 0; first < i; first += kPivots) {
      const Index count = std::min(kPivots, i - first);
      for (Index b = 0; b < count; ++b) {
        rows[b] = room.row(first + b);
        factor[b] = u.row(first + b)[i];
      }
      // Rows of M are zero beyond their diagonal.
      subtract_rows(rows, factor, count, 0, first + count, row);
    }
    row[i] = 1;
    const double pivot = 1 / u.row(i)[i];
    for (Index j = 0; j <= i; ++j) row[j] *= pivot;
  }
  // A^-1 = M'M, the lower triangle: row j gets sum over k >= j of M_kj M_k, up to j.
  for (Index j = 0; j < m; ++j) {
    double* out = inverse.row(j);
    std::fill(out, out + inverse.stride, 0.0);
    for (Index first = j; first < m; first += kPivots) {
      const Index count = std::min(kPivots, m - first);
      for (Index b = 0; b < count; ++b) {
        rows[b] = room.row(first + b);
        factor[b] = -rows[b][j];
      }
      subtract_rows(rows, factor, count, 0, j + 1, out);
    }
  }
  for (Index j = 0; j < m; ++j) {
    for (Index i = 0; i < j; ++i) inverse.row(i)[j] = inverse.row(j)[i];
  }
}

void times(const Square& a, const double* x, double* out) {
  for (Index i = 0; i < a.size; ++i) out[i] = dot(a.row(i), x, a.size);
}

void eliminate(Square& a, const double* row, double pivot) {
  for (Index i = 0; i < a.size; ++i) {
    const double factor = row[i] / pivot;
    double* target = a.row(i);
    for (Index j = 0; j < a.size; ++j) target[j] -= factor * row[j];
  }
}

}  // namespace ellzero
