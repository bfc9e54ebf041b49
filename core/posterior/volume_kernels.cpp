#include "posterior/volume_kernels.hpp"

namespace ellzero {
namespace {

template <int W>
ELLZERO_INLINE void add_squares_of(const double* const* columns, const double* a, Index count,
                                   double sign, Index i, double* out) {
  Lanes sums[W];
  for (int w = 0; w < W; ++w) sums[w] = broadcast(0);
  for (Index s = 0; s < count; ++s) {
    const Lanes factor = broadcast(a[s]);
    const double* column = columns[s] + i;
    for (int w = 0; w < W; ++w) sums[w] += factor * load(column + w * kLanes);
  }
  out += i;
  for (int w = 0; w < W; ++w) {
    Lanes value = load(out + w * kLanes);
    value += broadcast(sign) * sums[w] * sums[w];
    store(out + w * kLanes, value);
  }
}

// A block of `width` lanes, at most W.
template <int W>
ELLZERO_INLINE void add_squares_up_to(Index width, const double* const* columns, const double* a,
                                      Index count, double sign, Index i, double* out) {
  if (width == W) {
    add_squares_of<W>(columns, a, count, sign, i, out);
  } else if constexpr (W > 1) {
    add_squares_up_to<W - 1>(width, columns, a, count, sign, i, out);
  }
}

// Columns i .. i + W kLanes of M, whose share of v'M v is added to `product`.
template <int W>
ELLZERO_INLINE void symmetric_times_of(const double* m, Index stride, Index k, const double* v,
                                       Index i, double* out, Lanes& product) {
  Lanes sums[W] = {};
  for (Index r = 0; r < k; ++r) {
    const Lanes factor = broadcast(v[r]);
    for (int w = 0; w < W; ++w) sums[w] += factor * load(m + r * stride + i + w * kLanes);
  }
  for (int w = 0; w < W; ++w) {
    store(out + i + w * kLanes, sums[w]);
    product += sums[w] * load(v + i + w * kLanes);
  }
}

// Columns i .. i + W kLanes of all rows.
template <int W>
ELLZERO_INLINE void add_outer_of(const double* a, double sign, Index k, Index i, double* m,
                                 Index stride) {
  Lanes own[W];
  for (int w = 0; w < W; ++w) own[w] = load(a + i + w * kLanes);
  for (Index r = 0; r < k; ++r) {
    const Lanes factor = broadcast(sign * a[r]);
    double* row = m + r * stride + i;
    for (int w = 0; w < W; ++w) {
      Lanes value = load(row + w * kLanes);
      value += factor * own[w];
      store(row + w * kLanes, value);
    }
  }
}

}  // namespace

ELLZERO_MULTIVERSION
double symmetric_times(const double* m, Index stride, Index k, const double* v, double* out) {
  Lanes product = {};
  Index i = 0;
  for (; i + 3 * kLanes < k; i += 4 * kLanes) {
    symmetric_times_of<4>(m, stride, k, v, i, out, product);
  }
  for (; i + kLanes < k; i += 2 * kLanes) {
    symmetric_times_of<2>(m, stride, k, v, i, out, product);
  }
  for (; i < k; i += kLanes) symmetric_times_of<1>(m, stride, k, v, i, out, product);
  return sum(product);
}

ELLZERO_MULTIVERSION
void add_outer(double* a, double sign, Index k, double* m, Index stride) {
  for (Index s = k; s < round_up(k, kLanes); ++s) a[s] = 0;
  Index i = 0;
  for (; i + 3 * kLanes < k; i += 4 * kLanes) add_outer_of<4>(a, sign, k, i, m, stride);
  for (; i + kLanes < k; i += 2 * kLanes) add_outer_of<2>(a, sign, k, i, m, stride);
  for (; i < k; i += kLanes) add_outer_of<1>(a, sign, k, i, m, stride);
}

ELLZERO_MULTIVERSION
void add_squares(const double* const* columns, const double* a, Index count, double sign,
                 Index length, double* out) {
  Index i = 0;
  // Blocks as wide as there are registers, and of about the same width: narrow ones wait for their
  // sums.
  for (Index lanes = length / kLanes, blocks = (lanes + 12) / 13; blocks > 0; --blocks) {
    const Index width = (lanes + blocks - 1) / blocks;
    add_squares_up_to<13>(width, columns, a, count, sign, i, out);
    lanes -= width;
    i += width * kLanes;
  }
  for (; i < length; ++i) {
    double sum = 0;
    for (Index s = 0; s < count; ++s) sum += a[s] * columns[s][i];
    out[i] += sign * sum * sum;
  }
}

}  // namespace ellzero
