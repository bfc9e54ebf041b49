#include "base/block_kernels.hpp"

#include <algorithm>
#include <vector>

#include "base/simd.hpp"

namespace ellzero {
namespace {

constexpr Index kGroups = 8;  // that are worked on at a time

// By elimination without square roots: u(i, j) is what is left of D_ij when columns before j are
// gone, and z(i) of c_i.
template <Index W>
ELLZERO_INLINE void score_some(const double* c, const double* d, Index width, Index count,
                               Index begin, double floor, double* u, double* score, double* rank,
                               double* least) {
  double* z = u + triangle(width) * W;
  double* share = z + width * W;  // one over the pivot, 0 where it is no pivot
  double sums[W] = {}, ranks[W] = {}, determinant[W], trace[W] = {};
  for (Index n = 0; n < W; ++n) determinant[n] = 1;
  const Index here = std::min(W, count - begin);
  for (Index i = 0; i < width; ++i) {
    double* zi = z + i * W;
    for (Index n = 0; n < W; ++n) zi[n] = n < here ? c[i * count + begin + n] : 0.0;
    for (Index j = 0; j <= i; ++j) {
      double* uij = u + triangle(i, j) * W;
      const double* from = d + triangle(i, j) * count + begin;
      for (Index n = 0; n < W; ++n) uij[n] = n < here ? from[n] : 0.0;
      for (Index l = 0; l < j; ++l) {
        const double *uil = u + triangle(i, l) * W, *ujl = u + triangle(j, l) * W;
        const double* by = share + l * W;
        for (Index n = 0; n < W; ++n) uij[n] -= uil[n] * (ujl[n] * by[n]);
      }
    }
    for (Index l = 0; l < i; ++l) {
      const double *uil = u + triangle(i, l) * W, *zl = z + l * W, *by = share + l * W;
      for (Index n = 0; n < W; ++n) zi[n] -= uil[n] * (zl[n] * by[n]);
    }
    const double* pivot = u + triangle(i, i) * W;
    for (Index n = 0; n < W; ++n) {
      const double by = pivot[n] > floor ? 1 / pivot[n] : 0.0;
      share[i * W + n] = by;
      sums[n] += zi[n] * zi[n] * by;
      ranks[n] += pivot[n] > floor ? 1.0 : 0.0;
      determinant[n] *= pivot[n] > floor ? pivot[n] : 0.0;
    }
    if (!least) continue;
    for (Index n = 0; n < here; ++n) trace[n] += d[triangle(i, i) * count + begin + n];
  }
  for (Index n = 0; n < here; ++n) {
    score[begin + n] = ranks[n] > 0 ? sums[n] : -1.0;
    rank[begin + n] = ranks[n];
  }
  if (!least) return;
  // By Gershgorin's circles, and since the other eigenvalues are greatest, for what they sum to, if
  // they are equal.
  double circle[W];
  for (Index n = 0; n < W; ++n) circle[n] = determinant[n] > 0 ? 1e300 : 0.0;
  for (Index i = 0; i < width; ++i) {
    double edge[W];
    for (Index n = 0; n < here; ++n) edge[n] = d[triangle(i, i) * count + begin + n];
    for (Index j = 0; j < width; ++j) {
      if (j == i) continue;
      const double* from = d + triangle(std::max(i, j), std::min(i, j)) * count + begin;
      for (Index n = 0; n < here; ++n) edge[n] -= from[n] < 0 ? -from[n] : from[n];
    }
    for (Index n = 0; n < here; ++n) circle[n] = std::min(circle[n], edge[n]);
  }
  for (Index n = 0; n < here; ++n) {
    double bound = determinant[n];
    for (Index i = 1; i < width; ++i) bound *= static_cast<double>(width - 1) / trace[n];
    least[begin + n] = std::max(bound, circle[n]);
  }
}

// The same for one group by itself, in the same order of sums: column after column is eliminated
// from the rows below it.
ELLZERO_INLINE void score_one(const double* c, const double* d, Index width, double floor,
                              double* u, double* score, double* rank) {
  double* z = u + triangle(width);
  double* column = z + width;
  std::copy(d, d + triangle(width), u);
  std::copy(c, c + width, z);
  double sum = 0, pivots = 0;
  for (Index l = 0; l < width; ++l) {
    const double pivot = u[triangle(l, l)];
    if (!(pivot > floor)) continue;
    const double by = 1 / pivot, left = z[l] * by;
    sum += z[l] * z[l] * by;
    pivots += 1;
    for (Index i = l + 1; i < width; ++i) {
      const double uil = u[triangle(i, l)];
      column[i] = uil * by;
      z[i] -= uil * left;
      double* row = u + triangle(i, 0);
      for (Index j = l + 1; j <= i; ++j) row[j] -= uil * column[j];
    }
  }
  *score = pivots > 0 ? sum : -1.0;
  *rank = pivots;
}

}  // namespace

ELLZERO_MULTIVERSION
void update_blocks(const double* t, Index stride, const double* q, Index rows, double sign,
                   Index width, Index count, double* c, double* d) {
  for (Index r = 0; r < rows; ++r) {
    const double* row = t + r * stride;
    const double factor = sign * q[r];
    for (Index n = 0; n < width * count; ++n) c[n] += factor * row[n];
  }
  if (count == 1) {  // a row of the block at a time: the columns of a lone group lie together
    for (Index i = 0; i < width; ++i) {
      double* at = d + triangle(i, 0);
      Index r = 0;
      for (; r + 4 <= rows; r += 4) {
        const double* b = t + r * stride;
        const double a0 = b[i], a1 = b[stride + i], a2 = b[2 * stride + i], a3 = b[3 * stride + i];
        for (Index j = 0; j <= i; ++j) {
          const double sum =
              a0 * b[j] + a1 * b[stride + j] + a2 * b[2 * stride + j] + a3 * b[3 * stride + j];
          at[j] += sign * sum;
        }
      }
      for (; r < rows; ++r) {
        const double* b = t + r * stride;
        for (Index j = 0; j <= i; ++j) at[j] += sign * (b[i] * b[j]);
      }
    }
    return;
  }
  for (Index i = 0; i < width; ++i) {
    for (Index j = 0; j <= i; ++j) {
      double* at = d + triangle(i, j) * count;
      Index r = 0;
      for (; r + 4 <= rows; r += 4) {
        const double *a = t + r * stride + i * count, *b = t + r * stride + j * count;
        for (Index n = 0; n < count; ++n) {
          const double sum = a[n] * b[n] + a[stride + n] * b[stride + n] +
                             a[2 * stride + n] * b[2 * stride + n] +
                             a[3 * stride + n] * b[3 * stride + n];
          at[n] += sign * sum;
        }
      }
      for (; r < rows; ++r) {
        const double *a = t + r * stride + i * count, *b = t + r * stride + j * count;
        for (Index n = 0; n < count; ++n) at[n] += sign * (a[n] * b[n]);
      }
    }
  }
}

ELLZERO_MULTIVERSION
void block_scores(const double* c, const double* d, Index width, Index count, double floor,
                  double* score, double* rank, double* least) {
  const Index needed = (triangle(width) + 2 * width) * kGroups;
  constexpr Index kNarrow = 8;
  double narrow[(kNarrow * (kNarrow + 1) / 2 + 2 * kNarrow) * kGroups];
  std::vector<double> wide;
  double* room = narrow;
  if (width > kNarrow) {
    wide.resize(needed);
    room = wide.data();
  }
  if (count == 1 && !least) {
    score_one(c, d, width, floor, room, score, rank);
    return;
  }
  if (count < 3) {  // most lanes would be idle
    for (Index g = 0; g < count; ++g) {
      score_some<1>(c, d, width, count, g, floor, room, score, rank, least);
    }
    return;
  }
  for (Index begin = 0; begin < count; begin += kGroups) {
    score_some<kGroups>(c, d, width, count, begin, floor, room, score, rank, least);
  }
}

ELLZERO_MULTIVERSION
void lower_bands(const double* m, Index stride, Index k, Index width, double* out) {
  std::fill(out, out + width * k, 0.0);
  for (Index r = 0; r < k; ++r) {
    const double* row = m + r * stride;
    for (Index o = 0; o < width && o <= r; ++o) {
      double* to = out + o * k;
      const double* shifted = row + o;
      for (Index s = 0; s <= r - o; ++s) to[s] += row[s] * shifted[s];
    }
  }
}

ELLZERO_MULTIVERSION
void lower_block(const double* m, Index stride, Index k, Index begin, Index width, double* out) {
  for (Index r = begin; r < k; ++r) {
    const double* row = m + r * stride + begin;
    double* to = out;
    for (Index i = 0; i < width && i <= r - begin; ++i) {
      const double value = row[i];
      for (Index j = 0; j <= i; ++j) to[j] += value * row[j];
      to += i + 1;
    }
  }
}

// Eight rows at a time, and eight columns: what is beyond the diagonal adds zeros.
ELLZERO_MULTIVERSION
void lower_times_panel(const double* m, Index stride, Index k, const double* v, double* out) {
  constexpr Index kRows = 8;
  for (Index r = 0; r < k; r += kRows) {
    Lanes sums[kRows] = {};
    for (Index s = 0; s < r + kRows && s < k; ++s) {
      const Lanes x = load(v + s * kPanelVectors);
      const double* column = m + r * stride + s;
      for (Index l = 0; l < kRows; ++l) sums[l] += broadcast(column[l * stride]) * x;
    }
    for (Index l = 0; l < kRows && r + l < k; ++l) store(out + (r + l) * kPanelVectors, sums[l]);
  }
}

ELLZERO_MULTIVERSION
void lower_transposed_times_panel(const double* m, Index stride, Index k, const double* v,
                                  double* out) {
  constexpr Index kColumns = 8;
  for (Index s = 0; s < k; s += kColumns) {
    Lanes sums[kColumns] = {};
    for (Index r = s; r < k; ++r) {
      const Lanes x = load(v + r * kPanelVectors);
      const double* row = m + r * stride + s;
      for (Index l = 0; l < kColumns; ++l) sums[l] += broadcast(row[l]) * x;
    }
    for (Index l = 0; l < kColumns && s + l < k; ++l) {
      store(out + (s + l) * kPanelVectors, sums[l]);
    }
  }
}

ELLZERO_MULTIVERSION
void panel_products(const double* v, Index k, double* out) {
  Lanes sums[kPanelVectors] = {};
  for (Index s = 0; s < k; ++s) {
    const Lanes x = load(v + s * kPanelVectors);
    for (Index i = 0; i < kPanelVectors; ++i) sums[i] += broadcast(x[i]) * x;
  }
  for (Index i = 0; i < kPanelVectors; ++i) store(out + i * kPanelVectors, sums[i]);
}

ELLZERO_MULTIVERSION
void lower_blocks_times(const double* b, const double* v, Index width, Index count, double* out) {
  if (count == 1) {
    for (Index i = 0; i < width; ++i) out[i] = dot(b + triangle(i, 0), v, i + 1);
    return;
  }
  for (Index i = 0; i < width; ++i) {
    double* to = out + i * count;
    for (Index n = 0; n < count; ++n) to[n] = 0;
    for (Index j = 0; j <= i; ++j) {
      const double *bij = b + triangle(i, j) * count, *vj = v + j * count;
      for (Index n = 0; n < count; ++n) to[n] += bij[n] * vj[n];
    }
  }
}

}  // namespace ellzero
