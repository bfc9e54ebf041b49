// Combinations of columns, and what flips do by them.
#include <algorithm>

#include "base/kernels.hpp"

namespace ellzero {

namespace {

// Vectors of columns from i on, W of them, of N rows of sums, kept in registers.
template <class V, int N, int W>
ELLZERO_INLINE void combine_block(const double* const* columns, const double* coefficients,
                                  Index stride, Index count, Index i, double* out,
                                  Index out_stride) {
  V sums[N][W] = {};
  for (Index s = 0; s < count; ++s) {
    V x[W];
    for (int w = 0; w < W; ++w) x[w] = load_as<V>(columns[s] + i + w * kLanesOf<V>);
    for (int m = 0; m < N; ++m) {
      const V factor = broadcast_as<V>(coefficients[m * stride + s]);
      for (int w = 0; w < W; ++w) sums[m][w] += factor * x[w];
    }
  }
  for (int m = 0; m < N; ++m) {
    for (int w = 0; w < W; ++w) store(out + m * out_stride + w * kLanesOf<V>, sums[m][w]);
  }
}

// The same for `width` vectors, at most W.
template <class V, int N, int W>
ELLZERO_INLINE void combine_up_to(Index width, const double* const* columns,
                                  const double* coefficients, Index stride, Index count, Index i,
                                  double* out, Index out_stride) {
  if (width == W) {
    combine_block<V, N, W>(columns, coefficients, stride, count, i, out, out_stride);
  } else if constexpr (W > 1) {
    combine_up_to<V, N, W - 1>(width, columns, coefficients, stride, count, i, out, out_stride);
  }
}

template <class V, int N, int W>
ELLZERO_INLINE void combine_n(const double* const* columns, const double* coefficients,
                              Index stride, Index count, Index begin, Index end, double* out,
                              Index out_stride) {
  Index i = begin;
  for (; i + W * kLanesOf<V> <= end; i += W * kLanesOf<V>) {
    combine_block<V, N, W>(columns, coefficients, stride, count, i, out + (i - begin), out_stride);
  }
  if constexpr (W > 1) {
    const Index left = (end - i) / kLanesOf<V>;
    combine_up_to<V, N, W - 1>(left, columns, coefficients, stride, count, i, out + (i - begin),
                               out_stride);
    i += left * kLanesOf<V>;
  }
  if (i == end) return;
  // The last few in lanes too, with some before them, as far as there are any: alone they would be
  // rounded otherwise.
  if (end - begin >= kLanesOf<V>) {
    const Index last = end - kLanesOf<V>;
    combine_block<V, N, 1>(columns, coefficients, stride, count, last, out + (last - begin),
                           out_stride);
    return;
  }
  V sums[N] = {};
  for (Index s = 0; s < count; ++s) {
    V x = {};
    for (Index l = 0; l < end - i; ++l) x[l] = columns[s][i + l];
    for (int m = 0; m < N; ++m) sums[m] += broadcast_as<V>(coefficients[m * stride + s]) * x;
  }
  for (int m = 0; m < N; ++m) {
    for (Index l = 0; l < end - i; ++l) out[m * out_stride + (i - begin) + l] = sums[m][l];
  }
}

template <class V>
ELLZERO_INLINE void combine_any(const double* const* columns, const double* coefficients,
                                Index count, Index begin, Index end, double* out) {
  combine_n<V, 1, 8>(columns, coefficients, 0, count, begin, end, out, 0);
}

template <class V>
ELLZERO_INLINE void combine_rows_any(const double* const* columns, const double* coefficients,
                                     Index stride, Index rows, Index count, Index begin, Index end,
                                     double* out, Index out_stride) {
  switch (rows) {
    case 1:
      return combine_n<V, 1, 8>(columns, coefficients, stride, count, begin, end, out, out_stride);
    case 2:
      return combine_n<V, 2, 4>(columns, coefficients, stride, count, begin, end, out, out_stride);
    case 3:
      return combine_n<V, 3, 3>(columns, coefficients, stride, count, begin, end, out, out_stride);
    default:
      return combine_n<V, 4, 2>(columns, coefficients, stride, count, begin, end, out, out_stride);
  }
}

}  // namespace

ELLZERO_BY_LANES(combine,
                 (const double* const* columns, const double* coefficients, Index count,
                  Index begin, Index end, double* out),
                 (columns, coefficients, count, begin, end, out))

ELLZERO_BY_LANES(combine_rows,
                 (const double* const* columns, const double* coefficients, Index stride,
                  Index rows, Index count, Index begin, Index end, double* out, Index out_stride),
                 (columns, coefficients, stride, rows, count, begin, end, out, out_stride))

namespace {

template <class V, int W>
ELLZERO_INLINE void pool_block(const double* const* inside, const double* const* between,
                               const double* factor, Index parts, Index i, V* sums) {
  for (Index b = 0; b < parts; ++b) {
    const V f = broadcast_as<V>(factor[b]);
    for (int w = 0; w < W; ++w) {
      sums[w] += load_as<V>(inside[b] + i + w * kLanesOf<V>);
      sums[w] += f * load_as<V>(between[b] + i + w * kLanesOf<V>);
    }
  }
}

template <class V>
ELLZERO_INLINE void pool_any(const double* const* inside, const double* const* between,
                             const double* factor, Index parts, const double* scale, double own,
                             Index count, double* out) {
  constexpr int kWide = 4;
  Index i = 0;
  for (; i + kWide * kLanesOf<V> <= count; i += kWide * kLanesOf<V>) {
    V sums[kWide] = {};
    pool_block<V, kWide>(inside, between, factor, parts, i, sums);
    for (int w = 0; w < kWide; ++w) {
      const Index at = i + w * kLanesOf<V>;
      store(out + at, sums[w] * (load_as<V>(scale + at) * broadcast_as<V>(own)));
    }
  }
  for (; i < count; ++i) {
    double sum = 0;
    for (Index b = 0; b < parts; ++b) {
      sum += inside[b][i];
      sum += factor[b] * between[b][i];
    }
    out[i] = sum * (scale[i] * own);
  }
}

}  // namespace

ELLZERO_BY_LANES(pool,
                 (const double* const* inside, const double* const* between, const double* factor,
                  Index parts, const double* scale, double own, Index count, double* out),
                 (inside, between, factor, parts, scale, own, count, out))

ELLZERO_MULTIVERSION_WIDE
void apply_flip(const double* t, double q, double sign, Index count, double* c, double* d) {
  const double step = sign * q;
  for (Index i = 0; i < count; ++i) {
    c[i] += step * t[i];
    d[i] += sign * t[i] * t[i];
  }
}

namespace {

// Vectors of columns from i on, W of them, whose t stay in registers.
template <class V, int W>
ELLZERO_INLINE void flip_block(const double* const* columns, const double* a, Index count,
                               double step, double sign, Index i, double* c, double* d) {
  V t[W] = {};
  for (Index s = 0; s < count; ++s) {
    const V factor = broadcast_as<V>(a[s]);
    const double* column = columns[s] + i;
    for (int w = 0; w < W; ++w) t[w] += factor * load_as<V>(column + w * kLanesOf<V>);
  }
  c += i;
  d += i;
  const V steps = broadcast_as<V>(step), signs = broadcast_as<V>(sign);
  for (int w = 0; w < W; ++w) {
    const Index at = w * kLanesOf<V>;
    V own_c = load_as<V>(c + at), own_d = load_as<V>(d + at);
    own_c += steps * t[w];
    own_d += signs * t[w] * t[w];
    store(c + at, own_c);
    store(d + at, own_d);
  }
}

// The same for `width` vectors, at most W.
template <class V, int W>
ELLZERO_INLINE void flip_block_up_to(Index width, const double* const* columns, const double* a,
                                     Index count, double step, double sign, Index i, double* c,
                                     double* d) {
  if (width == W) {
    flip_block<V, W>(columns, a, count, step, sign, i, c, d);
  } else if constexpr (W > 1) {
    flip_block_up_to<V, W - 1>(width, columns, a, count, step, sign, i, c, d);
  }
}

template <class V>
ELLZERO_INLINE void flip_columns_any(const double* const* columns, const double* a, Index count,
                                     double q, double sign, Index length, double* c, double* d) {
  constexpr Index kWidest = 13;
  const double step = sign * q;
  Index i = 0;
  // Blocks as wide as there are registers, and of about the same width: narrow ones wait for their
  // sums.
  for (Index vectors = length / kLanesOf<V>, blocks = (vectors + kWidest - 1) / kWidest; blocks > 0;
       --blocks) {
    const Index width = (vectors + blocks - 1) / blocks;
    flip_block_up_to<V, kWidest>(width, columns, a, count, step, sign, i, c, d);
    vectors -= width;
    i += width * kLanesOf<V>;
  }
  if (i == length) return;
  double t[kLanesOf<V>];
  const Index last = std::max<Index>(0, length - kLanesOf<V>);
  combine_n<V, 1, 1>(columns, a, 0, count, last, length, t, 0);
  for (; i < length; ++i) {
    c[i] += step * t[i - last];
    d[i] += sign * t[i - last] * t[i - last];
  }
}

}  // namespace

ELLZERO_BY_LANES(flip_columns,
                 (const double* const* columns, const double* a, Index count, double q, double sign,
                  Index length, double* c, double* d),
                 (columns, a, count, q, sign, length, c, d))

namespace {

template <class V, int W>
ELLZERO_INLINE void flip_block_beside(const double* const* columns, const double* a,
                                      const double* const* others, const double* b, Index count,
                                      double step, double sign, Index i, double* c, double* d,
                                      double* e) {
  V t[W] = {}, u[W] = {};
  for (Index s = 0; s < count; ++s) {
    const double *column = columns[s] + i, *other = others[s] + i;
    const V of_t = broadcast_as<V>(a[s]), of_u = broadcast_as<V>(b[s]);
    for (int w = 0; w < W; ++w) {
      t[w] += of_t * load_as<V>(column + w * kLanesOf<V>);
      u[w] += of_u * load_as<V>(other + w * kLanesOf<V>);
    }
  }
  const V steps = broadcast_as<V>(step), signs = broadcast_as<V>(sign);
  for (int w = 0; w < W; ++w) {
    const Index at = i + w * kLanesOf<V>;
    V own_c = load_as<V>(c + at), own_d = load_as<V>(d + at), own_e = load_as<V>(e + at);
    own_c += steps * t[w];
    own_d += signs * t[w] * t[w];
    own_e += signs * u[w] * u[w];
    store(c + at, own_c);
    store(d + at, own_d);
    store(e + at, own_e);
  }
}

// The same for `width` vectors, at most W.
template <class V, int W>
ELLZERO_INLINE void flip_beside_up_to(Index width, const double* const* columns, const double* a,
                                      const double* const* others, const double* b, Index count,
                                      double step, double sign, Index i, double* c, double* d,
                                      double* e) {
  if (width == W) {
    flip_block_beside<V, W>(columns, a, others, b, count, step, sign, i, c, d, e);
  } else if constexpr (W > 1) {
    flip_beside_up_to<V, W - 1>(width, columns, a, others, b, count, step, sign, i, c, d, e);
  }
}

template <class V>
ELLZERO_INLINE void flip_columns_beside_any(const double* const* columns, const double* a,
                                            const double* const* others, const double* b,
                                            Index count, double q, double sign, Index length,
                                            double* c, double* d, double* e) {
  constexpr Index kWidest = 6;
  const double step = sign * q;
  Index i = 0;
  for (Index vectors = length / kLanesOf<V>, blocks = (vectors + kWidest - 1) / kWidest; blocks > 0;
       --blocks) {
    const Index width = (vectors + blocks - 1) / blocks;
    flip_beside_up_to<V, kWidest>(width, columns, a, others, b, count, step, sign, i, c, d, e);
    vectors -= width;
    i += width * kLanesOf<V>;
  }
  if (i == length) return;
  double t[kLanesOf<V>], u[kLanesOf<V>];
  const Index last = std::max<Index>(0, length - kLanesOf<V>);
  combine_n<V, 1, 1>(columns, a, 0, count, last, length, t, 0);
  combine_n<V, 1, 1>(others, b, 0, count, last, length, u, 0);
  for (; i < length; ++i) {
    c[i] += step * t[i - last];
    d[i] += sign * t[i - last] * t[i - last];
    e[i] += sign * u[i - last] * u[i - last];
  }
}

}  // namespace

ELLZERO_BY_LANES(flip_columns_beside,
                 (const double* const* columns, const double* a, const double* const* others,
                  const double* b, Index count, double q, double sign, Index length, double* c,
                  double* d, double* e),
                 (columns, a, others, b, count, q, sign, length, c, d, e))

}  // namespace ellzero
