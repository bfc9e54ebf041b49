#include "base/kernels.hpp"

namespace ellzero {
namespace {

template <class T>
ELLZERO_INLINE void pack_any(const Strided<T>& x, Index rows, Index columns, const double* shift,
                             const double* root_weight, Tile& tile) {
  if (x.row_stride == 1) {
    for (Index j = 0; j < columns; ++j) {
      const T* source = x.at(0, j);
      double* target = tile.column(j);
      const double m = shift[j];
      for (Index r = 0; r < rows; ++r) target[r] = static_cast<double>(source[r]) - m;
    }
  } else {
    // Whole blocks of four by four where rows lie together, the rest one by one.
    const Index block_rows = x.column_stride == 1 ? rows / kLanes * kLanes : 0;
    const Index block_columns = columns / kLanes * kLanes;
    for (Index r = 0; r < block_rows; r += kLanes) {
      const T *x0 = x.at(r, 0), *x1 = x.at(r + 1, 0), *x2 = x.at(r + 2, 0), *x3 = x.at(r + 3, 0);
      double* target = tile.values + r;
      for (Index j = 0; j < block_columns; j += kLanes, target += kLanes * kTileStride) {
        if (j % (64 / sizeof(T)) == 0) {  // the tile to the right will be next
          ELLZERO_PREFETCH(x0 + j + kTileColumns);
          ELLZERO_PREFETCH(x1 + j + kTileColumns);
          ELLZERO_PREFETCH(x2 + j + kTileColumns);
          ELLZERO_PREFETCH(x3 + j + kTileColumns);
        }
        const Lanes m = load(shift + j);
        Lanes z0 = load(x0 + j) - m, z1 = load(x1 + j) - m, z2 = load(x2 + j) - m,
              z3 = load(x3 + j) - m;
        transpose(z0, z1, z2, z3);
        store(target, z0);
        store(target + kTileStride, z1);
        store(target + 2 * kTileStride, z2);
        store(target + 3 * kTileStride, z3);
      }
    }
    for (Index j = 0; j < columns; ++j) {
      for (Index r = j < block_columns ? block_rows : 0; r < rows; ++r) {
        tile.column(j)[r] = static_cast<double>(*x.at(r, j)) - shift[j];
      }
    }
  }
  const Index padded = round_up(rows, kLanes);
  for (Index j = 0; j < columns; ++j) {
    double* target = tile.column(j);
    if (root_weight) {
      for (Index r = 0; r < rows; ++r) target[r] *= root_weight[r];
    }
    for (Index r = rows; r < padded; ++r) target[r] = 0;
  }
  for (Index j = columns; j < round_up(columns, 3); ++j) {
    for (Index r = 0; r < padded; ++r) tile.column(j)[r] = 0;
  }
}

}  // namespace

ELLZERO_MULTIVERSION
void pack(const Strided<double>& x, Index rows, Index columns, const double* shift,
          const double* root_weight, Tile& tile) {
  pack_any(x, rows, columns, shift, root_weight, tile);
}

ELLZERO_MULTIVERSION
void pack(const Strided<float>& x, Index rows, Index columns, const double* shift,
          const double* root_weight, Tile& tile) {
  pack_any(x, rows, columns, shift, root_weight, tile);
}

ELLZERO_MULTIVERSION
void multiply(const Tile& tile, Index columns, const double* v, Index width, Index rows,
              const Upcoming& upcoming, double* const* out) {
  constexpr Index s = kTileStride;
  const char* next = upcoming.begin;
  const char* end = next + upcoming.run;
  Index runs = upcoming.runs;
  for (Index j = 0; j < columns; j += 3) {
    const double* x = tile.column(j);
    for (Index b = 0; b < width; b += 4) {
      const double* w = v + b * s;
      Lanes a00 = {}, a01 = {}, a02 = {}, a10 = {}, a11 = {}, a12 = {};
      Lanes a20 = {}, a21 = {}, a22 = {}, a30 = {}, a31 = {}, a32 = {};
      for (Index r = 0; r < rows; r += kLanes) {
        if (runs > 0) {
          ELLZERO_PREFETCH(next);
          next += 64;
          if (next >= end && --runs > 0) {
            end += upcoming.jump;
            next = end - upcoming.run;
          }
        }
        const Lanes x0 = load(x + r), x1 = load(x + s + r), x2 = load(x + 2 * s + r);
        const Lanes w0 = load(w + r);
        a00 += x0 * w0, a01 += x1 * w0, a02 += x2 * w0;
        const Lanes w1 = load(w + s + r);
        a10 += x0 * w1, a11 += x1 * w1, a12 += x2 * w1;
        const Lanes w2 = load(w + 2 * s + r);
        a20 += x0 * w2, a21 += x1 * w2, a22 += x2 * w2;
        const Lanes w3 = load(w + 3 * s + r);
        a30 += x0 * w3, a31 += x1 * w3, a32 += x2 * w3;
      }
      const double sums[4][3] = {{sum(a00), sum(a01), sum(a02)},
                                 {sum(a10), sum(a11), sum(a12)},
                                 {sum(a20), sum(a21), sum(a22)},
                                 {sum(a30), sum(a31), sum(a32)}};
      const Index last = columns - j < 3 ? columns - j : 3;
      for (Index i = 0; i < 4; ++i) {
        double* o = out[b + i];
        if (!o) continue;
        for (Index k = 0; k < last; ++k) o[j + k] += sums[i][k];
      }
    }
  }
}

namespace {

// Rows begin .. end of column j into the lanes they belong to.
template <int N, class T>
ELLZERO_INLINE void multiply_one_by_one(const Strided<T>& x, Index j, Index begin, Index end,
                                        const double* shift, const double* root_weight,
                                        const double* const* v, Lanes* a) {
  for (Index r = begin; r < end; ++r) {
    double z = static_cast<double>(*x.at(r, j)) - shift[j];
    if (root_weight) z *= root_weight[r];
    for (int b = 0; b < N; ++b) a[b][r % kLanes] += z * v[b][r];
  }
}

// Rows of a column lie together: lanes run along the rows, and a few columns at a time are enough
// sums that need not wait for each other.
template <int N, class T>
ELLZERO_INLINE void multiply_along_columns(const Strided<T>& x, Index rows, Index columns,
                                           const double* shift, const double* root_weight,
                                           const double* const* v, double* const* out) {
  constexpr int kWide = N == 1 ? 6 : 3;
  const Index whole = rows / kLanes * kLanes;
  for (Index j = 0; j < columns; j += kWide) {
    const Index last = columns - j < kWide ? columns - j : kWide;
    const T* column[kWide];
    Lanes m[kWide];
    for (int k = 0; k < kWide; ++k) {
      const Index at = j + (k < last ? k : last - 1);  // the last one stands in for the missing
      column[k] = x.at(0, at);
      m[k] = broadcast(shift[at]);
    }
    Lanes a[kWide][N] = {};
    for (Index r = 0; r < whole; r += kLanes) {
      Lanes z[kWide];
      for (int k = 0; k < kWide; ++k) z[k] = load(column[k] + r) - m[k];
      if (root_weight) {
        const Lanes root = load(root_weight + r);
        for (int k = 0; k < kWide; ++k) z[k] *= root;
      }
      for (int b = 0; b < N; ++b) {
        const Lanes w = load(v[b] + r);
        for (int k = 0; k < kWide; ++k) a[k][b] += z[k] * w;
      }
    }
    for (Index k = 0; k < last; ++k) {
      multiply_one_by_one<N>(x, j + k, whole, rows, shift, root_weight, v, a[k]);
      for (int b = 0; b < N; ++b) out[b][j + k] += sum(a[k][b]);
    }
  }
}

// Adds kTurns of every fourth row, of W vectors of columns, to their partial sums.
template <class V, int W, int kTurns, class T>
ELLZERO_INLINE void add_every_fourth(const T* row, Index stride, const double* shift,
                                     const double* v, double* sums) {
  V a[W], m[W];
  for (int w = 0; w < W; ++w) {
    a[w] = load_as<V>(sums + w * kLanesOf<V>);
    m[w] = load_as<V>(shift + w * kLanesOf<V>);
  }
  for (int turn = 0; turn < kTurns; ++turn, row += kLanes * stride, v += kLanes) {
    const V factor = broadcast_as<V>(*v);
    for (int w = 0; w < W; ++w) a[w] += (load_as<V>(row + w * kLanesOf<V>) - m[w]) * factor;
  }
  for (int w = 0; w < W; ++w) store(sums + w * kLanesOf<V>, a[w]);
}

// Adds kTurns times four rows to the four partial sums of all columns.
template <class V, int kWide, int kTurns, class T>
ELLZERO_INLINE void add_rows(const T* first, Index stride, Index columns, const double* shift,
                             const double* v, double* const* sums) {
  Index k = 0;
  for (; k + kWide * kLanesOf<V> <= columns; k += kWide * kLanesOf<V>) {
    for (Index i = 0; i < kLanes; ++i) {
      add_every_fourth<V, kWide, kTurns>(first + i * stride + k, stride, shift + k, v + i,
                                         sums[i] + k);
    }
  }
  for (; k + kLanes <= columns; k += kLanes) {
    for (Index i = 0; i < kLanes; ++i) {
      add_every_fourth<Lanes, 1, kTurns>(first + i * stride + k, stride, shift + k, v + i,
                                         sums[i] + k);
    }
  }
  for (; k < columns; ++k) {
    for (Index r = 0; r < kTurns * kLanes; ++r) {
      sums[r % kLanes][k] += (static_cast<double>(first[r * stride + k]) - shift[k]) * v[r];
    }
  }
}

// Columns of a row lie together, one v: lanes run along the columns, and the partial sums of rows
// 0, 1, 2, 3 modulo four are kept apart, as the lanes above keep them.
template <class V, class T>
ELLZERO_INLINE void multiply_along_rows(const Strided<T>& x, Index rows, Index columns,
                                        const double* shift, const double* root_weight,
                                        const double* v, double* out) {
  constexpr Index kWidth = 512;
  double a0[kWidth], a1[kWidth], a2[kWidth], a3[kWidth];
  double* const a[kLanes] = {a0, a1, a2, a3};
  const Index whole = root_weight ? 0 : rows / kLanes * kLanes;
  for (Index j = 0; j < columns; j += kWidth) {
    const Index count = columns - j < kWidth ? columns - j : kWidth;
    const double* m = shift + j;
    for (Index k = 0; k < count; ++k) a0[k] = a1[k] = a2[k] = a3[k] = 0;
    // Many rows at a time: less often to the partial sums and back. Of those that don't stay in the
    // second cache, which come from afar, so many at once come slowly.
    constexpr Index kCached = 524288 / sizeof(T);
    Index r = 0;
    for (; r + 8 * kLanes <= whole && rows * x.row_stride <= kCached; r += 8 * kLanes) {
      add_rows<V, 4, 8>(x.at(r, j), x.row_stride, count, m, v + r, a);
    }
    for (; r + 2 * kLanes <= whole; r += 2 * kLanes) {
      add_rows<V, 1, 2>(x.at(r, j), x.row_stride, count, m, v + r, a);
    }
    if (r < whole) add_rows<V, 1, 1>(x.at(r, j), x.row_stride, count, m, v + r, a);
    for (Index r = whole; r < rows; ++r) {
      const T* source = x.at(r, j);
      double* target = a[r % kLanes];
      const double w = v[r];
      if (root_weight) {
        const double root = root_weight[r];
        for (Index k = 0; k < count; ++k) {
          target[k] += (static_cast<double>(source[k]) - m[k]) * root * w;
        }
      } else {
        for (Index k = 0; k < count; ++k) {
          target[k] += (static_cast<double>(source[k]) - m[k]) * w;
        }
      }
    }
    for (Index k = 0; k < count; ++k) out[j + k] += (a0[k] + a2[k]) + (a1[k] + a3[k]);
  }
}

// Columns of a row lie together, several v: blocks of four by four are turned in registers.
template <int N, class T>
ELLZERO_INLINE void multiply_turning(const Strided<T>& x, Index rows, Index columns,
                                     const double* shift, const double* root_weight,
                                     const double* const* v, double* const* out) {
  const Index whole = rows / kLanes * kLanes, blocks = columns / kLanes * kLanes;
  for (Index j = 0; j < blocks; j += kLanes) {
    const Lanes m = load(shift + j);
    Lanes a0[N] = {}, a1[N] = {}, a2[N] = {}, a3[N] = {};
    for (Index r = 0; r < whole; r += kLanes) {
      const T *x0 = x.at(r, j), *x1 = x.at(r + 1, j), *x2 = x.at(r + 2, j), *x3 = x.at(r + 3, j);
      constexpr Index kAhead = 128 / sizeof(T);
      ELLZERO_PREFETCH(x0 + kAhead);
      ELLZERO_PREFETCH(x1 + kAhead);
      ELLZERO_PREFETCH(x2 + kAhead);
      ELLZERO_PREFETCH(x3 + kAhead);
      Lanes z0 = load(x0) - m, z1 = load(x1) - m, z2 = load(x2) - m, z3 = load(x3) - m;
      transpose(z0, z1, z2, z3);
      if (root_weight) {
        const Lanes root = load(root_weight + r);
        z0 *= root, z1 *= root, z2 *= root, z3 *= root;
      }
      for (int b = 0; b < N; ++b) {
        const Lanes w = load(v[b] + r);
        a0[b] += z0 * w, a1[b] += z1 * w, a2[b] += z2 * w, a3[b] += z3 * w;
      }
    }
    Lanes* const a[4] = {a0, a1, a2, a3};
    for (Index k = 0; k < kLanes; ++k) {
      multiply_one_by_one<N>(x, j + k, whole, rows, shift, root_weight, v, a[k]);
      for (int b = 0; b < N; ++b) out[b][j + k] += sum(a[k][b]);
    }
  }
  for (Index j = blocks; j < columns; ++j) {
    Lanes a[N] = {};
    multiply_one_by_one<N>(x, j, 0, rows, shift, root_weight, v, a);
    for (int b = 0; b < N; ++b) out[b][j] += sum(a[b]);
  }
}

template <class V, int N, class T>
ELLZERO_INLINE void multiply_unpacked_n(const Strided<T>& x, Index rows, Index columns,
                                        const double* shift, const double* root_weight,
                                        const double* const* v, double* const* out) {
  if (x.row_stride == 1) {
    multiply_along_columns<N>(x, rows, columns, shift, root_weight, v, out);
  } else if (N == 1) {
    multiply_along_rows<V>(x, rows, columns, shift, root_weight, v[0], out[0]);
  } else {
    multiply_turning<N>(x, rows, columns, shift, root_weight, v, out);
  }
}

template <class V, class T>
ELLZERO_INLINE void multiply_unpacked_any(const Strided<T>& x, Index rows, Index columns,
                                          const double* shift, const double* root_weight,
                                          const double* const* v, Index width, double* const* out) {
  static_assert(kUnpackedColumns == 4, "as many cases as that");
  switch (width) {
    case 1:
      return multiply_unpacked_n<V, 1>(x, rows, columns, shift, root_weight, v, out);
    case 2:
      return multiply_unpacked_n<V, 2>(x, rows, columns, shift, root_weight, v, out);
    case 3:
      return multiply_unpacked_n<V, 3>(x, rows, columns, shift, root_weight, v, out);
    default:
      return multiply_unpacked_n<V, 4>(x, rows, columns, shift, root_weight, v, out);
  }
}

}  // namespace

ELLZERO_BY_LANES(multiply_unpacked,
                 (const Strided<double>& x, Index rows, Index columns, const double* shift,
                  const double* root_weight, const double* const* v, Index width,
                  double* const* out),
                 (x, rows, columns, shift, root_weight, v, width, out))
ELLZERO_BY_LANES(multiply_unpacked,
                 (const Strided<float>& x, Index rows, Index columns, const double* shift,
                  const double* root_weight, const double* const* v, Index width,
                  double* const* out),
                 (x, rows, columns, shift, root_weight, v, width, out))

}  // namespace ellzero
