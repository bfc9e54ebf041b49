#include "base/triangle_kernels.hpp"

#include <algorithm>

namespace ellzero {
namespace {

constexpr Index kDepth = 256;     // rows whose products are summed at a time
constexpr Index kTogether = 120;  // columns that stay in the second cache meanwhile
constexpr Index kMirrored = 32;   // entries of a row that are mirrored at a time
constexpr Index kPacked = 16;     // rows of a table that are packed at a time

template <class T>
ELLZERO_INLINE void pack_table_any(const T* table, Index stride, const Index* order, Index rows,
                                   Index columns, const double* middle, double* strips) {
  for (Index begin = 0; begin < rows; begin += kPacked) {
    const Index end = std::min(rows, begin + kPacked);
    for (Index j = 0; j < columns; j += kStripColumns) {
      const Index width = std::min(kStripColumns, columns - j);
      for (Index r = begin; r < end; ++r) {
        const T* source = table + order[r] * stride + j;
        double* target = strips + strip_place(r, j, rows);
        const T* next = table + order[std::min(r + kPacked, rows - 1)] * stride + j;
        ELLZERO_PREFETCH(next);
        ELLZERO_PREFETCH(next + width - 1);
        if (width == kStripColumns) {
          for (Index c = 0; c < kStripColumns; c += kLanes) {
            store(target + c, load(source + c) - load(middle + j + c));
          }
        } else {
          for (Index c = 0; c < width; ++c) {
            target[c] = static_cast<double>(source[c]) - middle[j + c];
          }
        }
      }
    }
  }
}

// Columns by vectors in a tile of products: as many as there are registers.
template <class V>
inline constexpr Index kHeight = kLanesOf<V> > kLanes ? 8 : 4;
inline constexpr Index kAcross = 3;

// A tile of N vectors: a and b are the first rows of its columns.
template <class V, int N>
ELLZERO_INLINE void add_tile(const double* a, const double* b, Index rows, bool fresh, double* out,
                             Index stride) {
  V sums[kHeight<V>][N] = {};
  for (int i = 0; i < kHeight<V> && !fresh; ++i) {
    for (int v = 0; v < N; ++v) sums[i][v] = load_as<V>(out + i * stride + v * kLanesOf<V>);
  }
  for (Index r = 0; r < rows; ++r) {
    V x[N];
    for (int v = 0; v < N; ++v) x[v] = load_as<V>(b + r * kStripColumns + v * kLanesOf<V>);
    for (int i = 0; i < kHeight<V>; ++i) {
      const V w = broadcast_as<V>(a[r * kStripColumns + i]);
      for (int v = 0; v < N; ++v) sums[i][v] += w * x[v];
    }
  }
  for (int i = 0; i < kHeight<V>; ++i) {
    for (int v = 0; v < N; ++v) store(out + i * stride + v * kLanesOf<V>, sums[i][v]);
  }
}

// The products of columns top .. last with those of a strip from column j on, at most N vectors.
template <class V, int N>
ELLZERO_INLINE void add_strip(const double* strips, Index all, Index first, Index rows, Index j,
                              Index width, Index top, Index last, bool fresh, double* out,
                              Index stride) {
  if constexpr (N > 1) {
    if (width <= (N - 1) * kLanesOf<V>) {
      add_strip<V, N - 1>(strips, all, first, rows, j, width, top, last, fresh, out, stride);
      return;
    }
  }
  const double* b = strips + strip_place(first, j, all);
  for (Index i = top; i < last; i += kHeight<V>) {
    add_tile<V, N>(strips + strip_place(first, i, all), b, rows, fresh, out + i * stride + j,
                   stride);
  }
}

template <class V>
ELLZERO_INLINE void add_triangle_any(const double* strips, Index rows, Index begin, Index end,
                                     Index columns, bool fresh, double* out, Index stride,
                                     Index from) {
  constexpr Index kStep = kAcross * kLanesOf<V>;
  static_assert(kStripColumns % kStep == 0 && kStripColumns % kHeight<V> == 0 &&
                kTogether % kStripColumns == 0);
  // Once at least: no rows have products, too, which are zero
  for (Index first = begin; first < std::max(end, begin + 1); first += kDepth) {
    const Index depth = std::min(kDepth, end - first);
    const bool anew = fresh && first == begin;
    for (Index top = 0; top < columns; top += kTogether) {
      for (Index j = std::max(top, from); j < columns; j += kStep) {
        const Index width = std::min(kStep, columns - j);
        const Index last = std::min(top + kTogether, j + width);
        add_strip<V, kAcross>(strips, rows, first, depth, j, width, top, last, anew, out, stride);
      }
    }
  }
}

template <class V>
ELLZERO_INLINE void strip_products_any(const double* strips, Index rows, Index columns, Index top,
                                       double* out, Index stride) {
  for (Index first = 0; first == 0 || first < rows; first += kDepth) {
    const Index depth = std::min(kDepth, rows - first);
    for (Index j = top; j < columns; j += kAcross * kLanesOf<V>) {
      const double* b = strips + strip_place(first, j, rows);
      for (Index i = 0; i < kStripColumns; i += kHeight<V>) {
        add_tile<V, kAcross>(strips + strip_place(first, top + i, rows), b, depth, first == 0,
                             out + i * stride + j, stride);
      }
    }
  }
}

// The square of kLanes entries at (i, j), to its place on the other side of the diagonal.
ELLZERO_INLINE void mirror_square(double* out, Index stride, Index i, Index j) {
  const double* from = out + i * stride + j;
  Lanes a = load(from), b = load(from + stride), c = load(from + 2 * stride),
        d = load(from + 3 * stride);
  transpose(a, b, c, d);
  double* to = out + j * stride + i;
  store(to, a);
  store(to + stride, b);
  store(to + 2 * stride, c);
  store(to + 3 * stride, d);
}

// Entries j .. j + W kLanes of two rows of pooled products.
template <int W>
ELLZERO_INLINE void pool_entries(const double* const* products, Index stride, const double* v,
                                 Index v_stride, const double (*factor)[2], Index parts,
                                 const double* scale, const double* own, Index j, double* out) {
  Lanes sums[2][W] = {};
  for (Index b = 0; b < parts; ++b) {
    const double* row = products[b] + j;
    for (int w = 0; w < W; ++w) {
      const Lanes x = load(v + b * v_stride + j + w * kLanes);
      for (int i = 0; i < 2; ++i) {
        sums[i][w] += load(row + i * stride + w * kLanes);
        sums[i][w] += broadcast(factor[b][i]) * x;
      }
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int w = 0; w < W; ++w) {
      const Index at = j + w * kLanes;
      store(out + i * v_stride + at, sums[i][w] * (load(scale + at) * broadcast(own[i])));
    }
  }
}

}  // namespace

ELLZERO_BY_LANES(strip_products,
                 (const double* strips, Index rows, Index columns, Index top, double* out,
                  Index stride),
                 (strips, rows, columns, top, out, stride))

ELLZERO_MULTIVERSION
void pool_products(const double* const* products, Index stride, const double* v,
                   const double* weight, Index parts, const double* scale, Index columns, Index top,
                   double* out, Index out_stride) {
  const double* rows[kMostPooled];
  double factor[kMostPooled][2];
  const Index end = round_up(columns, kLanes), bottom = std::min(end, top + kStripColumns);
  for (Index i = top; i < bottom; i += 2) {
    for (Index b = 0; b < parts; ++b) {
      rows[b] = products[b] + (i - top) * stride;
      for (Index l = 0; l < 2; ++l) factor[b][l] = weight[b] * v[b * out_stride + i + l];
    }
    double* row = out + i * out_stride;
    // Those of a square on the diagonal are there on both sides of it.
    Index j = i / kLanes * kLanes;
    for (; j + 2 * kLanes <= end; j += 2 * kLanes) {
      pool_entries<2>(rows, stride, v, out_stride, factor, parts, scale, scale + i, j, row);
    }
    for (; j < end; j += kLanes) {
      pool_entries<1>(rows, stride, v, out_stride, factor, parts, scale, scale + i, j, row);
    }
  }
  for (Index j = top + kLanes; j < end; j += kLanes) {
    for (Index i = top; i < std::min(bottom, j); i += kLanes) mirror_square(out, out_stride, i, j);
  }
}

ELLZERO_MULTIVERSION
void mirror_columns(double* out, Index stride, Index from) {
  for (Index j = from; j < stride; j += kLanes) {
    for (Index i = 0; i < j; i += kLanes) mirror_square(out, stride, i, j);
    // On the diagonal one side of the square is kept.
    for (Index i = j; i < j + kLanes; ++i) {
      for (Index l = j; l < i; ++l) out[i * stride + l] = out[l * stride + i];
    }
  }
}

ELLZERO_MULTIVERSION
void pack_table(const double* table, Index stride, const Index* order, Index rows, Index columns,
                const double* middle, double* strips) {
  pack_table_any(table, stride, order, rows, columns, middle, strips);
}

ELLZERO_MULTIVERSION
void pack_table(const float* table, Index stride, const Index* order, Index rows, Index columns,
                const double* middle, double* strips) {
  pack_table_any(table, stride, order, rows, columns, middle, strips);
}

ELLZERO_MULTIVERSION
void pack_columns(const double* const* columns, Index count, const Index* order, Index rows,
                  Index first, const double* middle, double* strips) {
  for (Index c = 0; c < count;) {
    double* target = strips + strip_place(0, first + c, rows);
    const double* m = middle + c;
    if ((first + c) % kLanes == 0 && c + kLanes <= count) {
      const double *x0 = columns[c], *x1 = columns[c + 1], *x2 = columns[c + 2],
                   *x3 = columns[c + 3];
      const Lanes shift = load(m);
      for (Index r = 0; r < rows; ++r) {
        const Index row = order[r];
        store(target + r * kStripColumns, Lanes{x0[row], x1[row], x2[row], x3[row]} - shift);
      }
      c += kLanes;
    } else {
      const double* x = columns[c];
      for (Index r = 0; r < rows; ++r) target[r * kStripColumns] = x[order[r]] - *m;
      ++c;
    }
  }
}

ELLZERO_BY_LANES(add_triangle,
                 (const double* strips, Index rows, Index begin, Index end, Index columns,
                  bool fresh, double* out, Index stride, Index from),
                 (strips, rows, begin, end, columns, fresh, out, stride, from))

ELLZERO_MULTIVERSION
void pack_triangle(const double* triangle, Index stride, const double* v, double factor,
                   Index count, double* packed) {
  for (Index i = 0; i < count; ++i) {
    const double* row = triangle + i * stride;
    const double own = v[i];
    for (Index j = i; j < count; ++j) *packed++ = row[j] + factor * (own * v[j]);
  }
}

ELLZERO_MULTIVERSION
void mirror_triangle(const double* packed, Index count, double* out) {
  for (Index begin = 0; begin < count; begin += kMirrored) {
    const Index end = std::min(count, begin + kMirrored);
    for (Index i = 0; i < end; ++i) {
      // Where column 0 of the row would be
      const double* row = packed + i * count - packed_size(i);
      for (Index j = std::max(i, begin); j < end; ++j) {
        out[i * count + j] = row[j];
        out[j * count + i] = row[j];
      }
    }
  }
}

ELLZERO_MULTIVERSION
void merge_products(double* one, const double* other, const double* v, double factor, Index count,
                    bool packed) {
  for (Index i = 0; i < count; ++i) {
    const double own = v[i];
    for (Index j = packed ? i : 0; j < count; ++j) *one++ += *other++ + factor * (own * v[j]);
  }
}

}  // namespace ellzero
