// Products of all columns with all columns, the upper triangle alone.
#pragma once

#include "base/kernels.hpp"

namespace ellzero {

// Columns lie in strips of so many, each strip row after row: entry (r, j) of `rows` rows is at
// strips[strip_place(r, j, rows)]. The last strip is filled up with anything finite.
inline constexpr Index kStripColumns = 24;
inline Index strip_place(Index row, Index column, Index rows) {
  return (column / kStripColumns * rows + row) * kStripColumns + column % kStripColumns;
}

// Brings rows order[0], order[1], .. of a table into strips, counted from a middle. Rows of the
// table are `stride` apart.
void pack_table(const double* table, Index stride, const Index* order, Index rows, Index columns,
                const double* middle, double* strips);
void pack_table(const float* table, Index stride, const Index* order, Index rows, Index columns,
                const double* middle, double* strips);

// The same for columns that lie apart, the first of them column `first` of the strips.
void pack_columns(const double* const* columns, Index count, const Index* order, Index rows,
                  Index first, const double* middle, double* strips);

// out(i, j) += sum over rows begin .. end of v_i v_j, for i <= j < columns, or = that if `fresh`;
// rows of out are `stride` apart, which is `columns` rounded up to whole strips, and there are as
// many of them. What else is in these columns of out is overwritten with anything. The bits depend
// on the values alone. With `from`, a multiple of kStripColumns, only for from <= j.
void add_triangle(const double* strips, Index rows, Index begin, Index end, Index columns,
                  bool fresh, double* out, Index stride, Index from = 0);

// out(j, i) = out(i, j) for i < j < stride and from <= j, both multiples of kLanes.
void mirror_columns(double* out, Index stride, Index from);

// The same for rows top .. top + kStripColumns of the triangle, which begin at out: out(i - top, j)
// for top <= i, j. `top` is a multiple of kStripColumns.
void strip_products(const double* strips, Index rows, Index columns, Index top, double* out,
                    Index stride);

// Products of how many parts can be pooled.
inline constexpr Index kMostPooled = 64;

// out(i, j) = out(j, i) = scale_i scale_j sum over parts of products_b(i - top, j) + weight_b v_bi
// v_bj, for those rows and i <= j < columns. Rows of out and the v of parts are `out_stride` apart,
// a multiple of kStripColumns, and out has as many rows: what is beyond `columns` is filled with
// something if v and scale are.
void pool_products(const double* const* products, Index stride, const double* v,
                   const double* weight, Index parts, const double* scale, Index columns, Index top,
                   double* out, Index out_stride);

// A triangle is packed if its rows follow each other without what is left of the diagonal.
inline Index packed_size(Index count) { return count * (count + 1) / 2; }

// packed(i, j) = triangle(i, j) + factor * v_i v_j, for i <= j < count.
void pack_triangle(const double* triangle, Index stride, const double* v, double factor,
                   Index count, double* packed);

// out(i, j) = out(j, i) = packed(i, j), for i <= j < count.
void mirror_triangle(const double* packed, Index count, double* out);

// one(i, j) += other(i, j) + factor * v_i v_j for all i, j < count, or for those of two triangles
// that are packed. The bits of an entry are the same either way.
void merge_products(double* one, const double* other, const double* v, double factor, Index count,
                    bool packed);

}  // namespace ellzero
