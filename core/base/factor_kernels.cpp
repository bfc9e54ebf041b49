// Products with a triangular factor, and dot products.
#include <cmath>

#include "base/kernels.hpp"

namespace ellzero {

namespace {

ELLZERO_INLINE double dot_inline(const double* a, const double* b, Index count) {
  Lanes low = {}, high = {};
  Index r = 0;
  for (; r + 8 <= count; r += 8) {
    low += load(a + r) * load(b + r);
    high += load(a + r + kLanes) * load(b + r + kLanes);
  }
  double s[8] = {low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]};
  // Those that are left, each in its own sum: places that a compiler knows stay in registers.
  if (r + 0 < count) s[0] += a[r] * b[r];
  if (r + 1 < count) s[1] += a[r + 1] * b[r + 1];
  if (r + 2 < count) s[2] += a[r + 2] * b[r + 2];
  if (r + 3 < count) s[3] += a[r + 3] * b[r + 3];
  if (r + 4 < count) s[4] += a[r + 4] * b[r + 4];
  if (r + 5 < count) s[5] += a[r + 5] * b[r + 5];
  if (r + 6 < count) s[6] += a[r + 6] * b[r + 6];
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

// Columns i .. i + W kLanes of M'v, and the sums of their squares. Rows before i have nothing
// there.
template <int W, bool kSquares>
ELLZERO_INLINE void lower_columns(const double* m, Index stride, Index k, const double* v, Index i,
                                  double* out, double* squares) {
  Lanes sum[W] = {}, square[W] = {};
  for (Index r = i; r < k; ++r) {
    const Lanes factor = broadcast(v[r]);
    for (int w = 0; w < W; ++w) {
      const Lanes x = load(m + r * stride + i + w * kLanes);
      sum[w] += x * factor;
      if (kSquares) square[w] += x * x;
    }
  }
  for (Index w = 0; w < W; ++w) {
    for (Index l = 0, s = i + w * kLanes; l < kLanes && s < k; ++l, ++s) {
      out[s] = sum[w][l];
      if (kSquares) squares[s] = square[w][l];
    }
  }
}

template <bool kSquares>
ELLZERO_INLINE void all_lower_columns(const double* m, Index stride, Index k, const double* v,
                                      double* out, double* squares) {
  Index i = 0;
  for (; i + 3 * kLanes < k; i += 4 * kLanes) {
    lower_columns<4, kSquares>(m, stride, k, v, i, out, squares);
  }
  for (; i + kLanes < k; i += 2 * kLanes) {
    lower_columns<2, kSquares>(m, stride, k, v, i, out, squares);
  }
  for (; i < k; i += kLanes) lower_columns<1, kSquares>(m, stride, k, v, i, out, squares);
}

// Four rows at a time, each summed as dot() does: what is beyond the diagonal adds zeros.
ELLZERO_INLINE void lower_times_inline(const double* m, Index stride, Index k, const double* v,
                                       double* out) {
  const Index whole = k / 8 * 8;
  double rest[8] = {};
  for (Index s = whole; s < k; ++s) rest[s - whole] = v[s];
  for (Index r = 0; r < k; r += kLanes) {
    Lanes low[kLanes] = {}, high[kLanes] = {};
    for (Index i = 0; i <= r; i += 8) {
      const double* part = i < whole ? v + i : rest;
      const Lanes first = load(part), second = load(part + kLanes);
      for (Index l = 0; l < kLanes; ++l) {
        const double* row = m + (r + l) * stride + i;
        low[l] += load(row) * first;
        high[l] += load(row + kLanes) * second;
      }
    }
    for (Index l = 0; l < kLanes; ++l) low[l] += high[l];
    transpose(low[0], low[1], low[2], low[3]);
    low[0] += low[2];
    low[1] += low[3];
    low[0] += low[1];
    for (Index l = 0; l < kLanes && r + l < k; ++l) out[r + l] = low[0][l];
  }
}

// upper, lower = cosine upper - sine lower, sine upper + cosine lower; the first goes to `to`.
ELLZERO_INLINE void rotate(double cosine, double sine, double* upper, const double* lower,
                           double* to, Index count) {
  const Lanes c = broadcast(cosine), s = broadcast(sine);
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Lanes u = load(upper + i), l = load(lower + i);
    store(to + i, c * u - s * l);
    Lanes sum = s * u;
    sum += c * l;
    store(upper + i, sum);
  }
  for (; i < count; ++i) {
    const double u = upper[i], l = lower[i];
    to[i] = cosine * u - sine * l;
    upper[i] = sine * u + cosine * l;
  }
}

// N of them at a time: one sum has to wait for itself.
template <int N>
ELLZERO_INLINE void dots_n(const double* a, const double* const* b, Index count, double* out) {
  Lanes sums[N][2] = {};
  Index r = 0;
  for (; r + 2 * kLanes <= count; r += 2 * kLanes) {
    const Lanes low = load(a + r), high = load(a + r + kLanes);
    for (int i = 0; i < N; ++i) {
      sums[i][0] += low * load(b[i] + r);
      sums[i][1] += high * load(b[i] + r + kLanes);
    }
  }
  for (int i = 0; i < N; ++i) {
    sums[i][0] += sums[i][1];
    double total = sum(sums[i][0]);
    for (Index l = r; l < count; ++l) total += a[l] * b[i][l];
    out[i] = total;
  }
}

}  // namespace

ELLZERO_MULTIVERSION
void dots(const double* a, const double* const* b, Index vectors, Index count, double* out) {
  Index i = 0;
  for (; i + 4 <= vectors; i += 4) dots_n<4>(a, b + i, count, out + i);
  for (; i < vectors; ++i) dots_n<1>(a, b + i, count, out + i);
}

ELLZERO_MULTIVERSION
double dot(const double* a, const double* b, Index count) { return dot_inline(a, b, count); }

ELLZERO_MULTIVERSION
void lower_times(const double* m, Index stride, Index k, const double* v, double* out) {
  lower_times_inline(m, stride, k, v, out);
}

ELLZERO_MULTIVERSION
void lower_transposed_times(const double* m, Index stride, Index k, const double* v, double* out) {
  all_lower_columns<false>(m, stride, k, v, out, nullptr);
}

ELLZERO_MULTIVERSION
void lower_column_sums(const double* m, Index stride, Index k, const double* v, double* out,
                       double* squares) {
  all_lower_columns<true>(m, stride, k, v, out, squares);
}

ELLZERO_MULTIVERSION
LowerSolved lower_solve(const double* m, Index stride, Index k, const double* v, const double* b,
                        double* w, double* u) {
  lower_times_inline(m, stride, k, v, w);
  all_lower_columns<false>(m, stride, k, w, u, nullptr);
  return {dot_inline(w, w, k), dot_inline(u, u, k), dot_inline(u, b, k)};
}

ELLZERO_MULTIVERSION
void drop_column(double* m, Index stride, Index k, Index r, double* z, double* row, double* room) {
  const Index last = k - 1;
  // The rotations are known from the start: what is in column r of the rows so far has the length
  // that each begins with.
  double *cosine = room, *sine = room + k;
  double sum = 0;
  for (Index i = r; i <= last; ++i) {
    const double own = m[i * stride + r];
    sum += own * own;
    cosine[i] = own;
    sine[i] = sum;
  }
  for (Index i = r; i <= last; ++i) sine[i] = std::sqrt(sine[i]);
  const double first = cosine[r], length = last > r ? sine[last] : first;
  for (Index i = last; i > r; --i) {
    const double inverse = 1 / sine[i];
    cosine[i] *= inverse;
    sine[i] = (i == r + 1 ? first : sine[i - 1]) * inverse;
  }
  // `row` is the row that is rotated down, without column r until the end.
  const double* top = m + r * stride;
  for (Index s = 0; s < r; ++s) row[s] = top[s];
  for (Index s = r; s < last; ++s) row[s] = 0;
  for (Index i = r + 1; i <= last; ++i) {
    const double* lower = m + i * stride;
    double* to = m + (i - 1) * stride;
    rotate(cosine[i], sine[i], row, lower, to, r);
    rotate(cosine[i], sine[i], row + r, lower + r + 1, to + r, i - r);
    const double u = z[i - 1], l = z[i];
    z[i - 1] = cosine[i] * u - sine[i] * l;
    z[i] = sine[i] * u + cosine[i] * l;
  }
  for (Index s = last; s > r; --s) row[s] = row[s - 1];
  row[r] = length;
}

}  // namespace ellzero
