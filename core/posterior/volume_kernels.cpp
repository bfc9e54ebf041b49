#include "posterior/volume_kernels.hpp"

namespace ellzero {
namespace {

template <int W>
ELLZERO_INLINE void add_squares_of(const double* const* columns, const double* a, Index count,
                                   double sign, Index i, double* out) {
  Lanes sums[W] = {};
  for (Index s = 0; s < count; ++s) {
    const Lanes factor = broadcast(a[s]);
    for (int w = 0; w < W; ++w) sums[w] += factor * load(columns[s] + i + w * kLanes);
  }
  for (int w = 0; w < W; ++w) {
    Lanes value = load(out + i + w * kLanes);
    value += broadcast(sign) * sums[w] * sums[w];
    store(out + i + w * kLanes, value);
  }
}

}  // namespace

ELLZERO_MULTIVERSION
void symmetric_times(const double* m, Index stride, Index k, const double* v, double* out) {
  for (Index i = 0; i < k; i += kLanes) {
    Lanes sum = {};
    for (Index r = 0; r < k; ++r) sum += broadcast(v[r]) * load(m + r * stride + i);
    store(out + i, sum);
  }
}

ELLZERO_MULTIVERSION
void add_outer(double* a, double sign, Index k, double* m, Index stride) {
  for (Index s = k; s < round_up(k, kLanes); ++s) a[s] = 0;
  for (Index r = 0; r < k; ++r) {
    const Lanes factor = broadcast(sign * a[r]);
    double* row = m + r * stride;
    for (Index i = 0; i < k; i += kLanes) {
      Lanes value = load(row + i);
      value += factor * load(a + i);
      store(row + i, value);
    }
  }
}

ELLZERO_MULTIVERSION
void add_squares(const double* const* columns, const double* a, Index count, double sign,
                 Index length, double* out) {
  Index i = 0;
  for (; i + 12 * kLanes <= length; i += 12 * kLanes) {
    add_squares_of<12>(columns, a, count, sign, i, out);
  }
  for (; i + 4 * kLanes <= length; i += 4 * kLanes) {
    add_squares_of<4>(columns, a, count, sign, i, out);
  }
  for (; i + kLanes <= length; i += kLanes) add_squares_of<1>(columns, a, count, sign, i, out);
  for (; i < length; ++i) {
    double sum = 0;
    for (Index s = 0; s < count; ++s) sum += a[s] * columns[s][i];
    out[i] += sign * sum * sum;
  }
}

}  // namespace ellzero
