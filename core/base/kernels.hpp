// The hot loops, each compiled with and without AVX2. They work on tiles: a few hundred rows of a
// few dozen columns, brought into one layout (float64, column by column) whatever the layout of X.
//
// Every number they return is computed by the same operations in the same order wherever its column
// stands in a tile and whatever its neighbours are. BLAS does not promise that: its bits change
// with the width of a product.
#pragma once

#include <cstddef>

#include "base/simd.hpp"

namespace ellzero {

using Index = std::ptrdiff_t;

inline constexpr Index kTileRows = 256;
// Eight more than the rows: columns a power of two apart would share the same lines of the cache.
inline constexpr Index kTileStride = kTileRows + 8;
// Multiples of the register tile, three columns of X by four of V.
inline constexpr Index kTileColumns = 48;
inline constexpr Index kBlockColumns = 16;

struct Tile {
  alignas(64) double values[kTileColumns * kTileStride];
  double* column(Index j) { return values + j * kTileStride; }
  const double* column(Index j) const { return values + j * kTileStride; }
};

inline Index round_up(Index value, Index multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// A rectangle of a strided matrix. Strides are in elements and may be negative.
template <class T>
struct Strided {
  const T* data;
  Index row_stride;
  Index column_stride;

  const T* at(Index row, Index column) const {
    return data + row * row_stride + column * column_stride;
  }
};

// tile(r, j) = root_weight[r] * (x(r, j) - shift[j]), with zeros in the rows up to the next
// multiple of kLanes and in the columns up to the next multiple of three. `root_weight` may be
// null: all ones.
void pack(const Strided<double>& x, Index rows, Index columns, const double* shift,
          const double* root_weight, Tile& tile);
void pack(const Strided<float>& x, Index rows, Index columns, const double* shift,
          const double* root_weight, Tile& tile);

// Where the next tile will be read from, so that it can be on its way meanwhile.
struct Upcoming {
  const char* begin = nullptr;
  Index run = 0;   // bytes that lie together
  Index jump = 0;  // bytes from one run to the next
  Index runs = 0;
};

// out[b][j] += tile(:, j)' v(:, b) for `columns` columns of the tile and `width` of v (a multiple
// of four; the tile is read up to the next multiple of three columns).
void multiply(const Tile& tile, Index columns, const double* v, Index width, Index rows,
              const Upcoming& upcoming, double* const* out);

// out[b][j] += root_weight x (x(:, j) - shift[j])' v[b] for a few v, at most kUnpackedColumns,
// straight from x and to the same bits: packing would cost more than the product. Either the rows
// or the columns of x must lie together.
inline constexpr Index kUnpackedColumns = 4;
void multiply_unpacked(const Strided<double>& x, Index rows, Index columns, const double* shift,
                       const double* root_weight, const double* const* v, Index width,
                       double* const* out);
void multiply_unpacked(const Strided<float>& x, Index rows, Index columns, const double* shift,
                       const double* root_weight, const double* const* v, Index width,
                       double* const* out);

// The rows that the moments of all columns are taken over: y, the weights (null: all ones), the sum
// of the weights and the weighted mean of y. Without centring the mean is taken as zero.
struct Stretch {
  const double* y;
  const double* w;
  Index rows;
  bool centred;
  double weight;
  double mean_y;
};
Stretch stretch(const double* y, const double* w, Index rows, bool centred);

// Weighted means, and sums of products of deviations from them.
struct Moments {
  double weight = 0;
  double mean_x = 0;
  double mean_y = 0;
  double xx = 0;
  double xy = 0;

  // The moments of both stretches together (Chan, Golub and LeVeque 1983).
  void merge(const Moments& other);
};
Moments moments(const double* x, const Stretch& over);

// A panel is kPanelColumns columns of some rows, row after row. The moments of each of its columns:
inline constexpr Index kPanelColumns = 8;
void panel_moments(const double* panel, const Stretch& over, Moments* out);
void panel_moments(const float* panel, const Stretch& over, Moments* out);

// out(b, j) = sum over rows of (panel(r, j) - shift[j]) v(r, b), for at most kPanelProducts columns
// of v, all row by row.
inline constexpr Index kPanelProducts = 6;
void multiply_panel(const double* panel, Index rows, const double* shift, const double* v,
                    Index width, double* out);
void multiply_panel(const float* panel, Index rows, const double* shift, const double* v,
                    Index width, double* out);

// out[j] = scale[j] x_j'v with x_j less shift[j], for all columns of an X in panels of kWidePanel
// columns, row after row, the last filled up with zeros: to the bits of multiply_unpacked().
inline constexpr Index kWidePanel = 32;
void multiply_wide_panels(const double* panels, Index rows, Index columns, const double* shift,
                          const double* scale, const double* v, double* out);
void multiply_wide_panels(const float* panels, Index rows, Index columns, const double* shift,
                          const double* scale, const double* v, double* out);

// Adds the same to out[b][j] for rows that lie apart, for at most kRowProducts columns of v.
inline constexpr Index kRowProducts = 3;
void multiply_rows(const double* const* rows, Index count, Index columns, const double* shift,
                   const double* v, Index width, double* const* out);
void multiply_rows(const float* const* rows, Index count, Index columns, const double* shift,
                   const double* v, Index width, double* const* out);

// For rows that lie apart, with z = (row[j] - shift[j]) scale[j] root[r]: takes the sums over rows
// of z^2, of z y[r] and of z root[r] from three numbers for each column.
void subtract_rows(const double* const* rows, Index count, Index columns, const double* shift,
                   const double* scale, const double* root, const double* y, double* squares,
                   double* along, double* sums);
void subtract_rows(const float* const* rows, Index count, Index columns, const double* shift,
                   const double* scale, const double* root, const double* y, double* squares,
                   double* along, double* sums);

// out[i] = sum over s of coefficient[s] * column[s][i], for begin <= i < end, written from out[0].
void combine(const double* const* columns, const double* coefficients, Index count, Index begin,
             Index end, double* out);

// The same for several rows of coefficients, at most four and `stride` apart; those of out are
// `out_stride` apart.
void combine_rows(const double* const* columns, const double* coefficients, Index stride,
                  Index rows, Index count, Index begin, Index end, double* out, Index out_stride);

// out[i] = scale[i] * own * sum over b of inside[b][i] + factor[b] * between[b][i]
void pool(const double* const* inside, const double* const* between, const double* factor,
          Index parts, const double* scale, double own, Index count, double* out);

// One flip's change: c += sign * t * q, d += sign * t * t.
void apply_flip(const double* t, double q, double sign, Index count, double* c, double* d);

// The same with t[i] = sum over s of a[s] columns[s][i], which is not kept.
void flip_columns(const double* const* columns, const double* a, Index count, double q, double sign,
                  Index length, double* c, double* d);

// Both in one pass: that, and e[i] += sign (sum over s of b[s] others[s][i])^2, where `others` may
// be the same columns.
void flip_columns_beside(const double* const* columns, const double* a, const double* const* others,
                         const double* b, Index count, double q, double sign, Index length,
                         double* c, double* d, double* e);

// score[i] = c[i]^2 / d[i] where d[i] > floor, else -1; returns the highest, or -1.
double insertion_scores(const double* c, const double* d, double floor, Index count, double* score);
// The first that is no less than the bar; `count` if none is.
Index first_of_at_least(double bar, const double* score, Index count);

// cost[i] = 1/2 beta[i]^2 / inverse[i]
void removal_costs(const double* beta, const double* inverse, Index count, double* cost);

// What c, d and t may be wrong by.
struct SwapSlack {
  double c = 0, d = 0, t = 0;
};

// score[i] = (c[i] + t[i] rho)^2 / (d[i] + t[i]^2) - rho^2, twice what swapping the member of rho
// and t for column i would gain; -infinity where d[i] + t[i]^2 <= floor. With slack, if not null,
// the most that it may be.
void swap_scores(const double* c, const double* d, const double* t, double rho, double floor,
                 const SwapSlack* slack, Index count, double* score);

// Whether any of the columns would score more than `least` that way, without a division.
bool any_swap_above(double least, const double* c, const double* d, const double* t, double rho,
                    double floor, const SwapSlack* slack, Index count);

// within[i]: for how many of kReaches |rho|, which increase, a swap of column i for a member of no
// less can gain anything, whatever its t is; `whole` is what d is of a column that no member
// explains. c and d may be wrong by so much.
inline constexpr Index kReaches = 4;
void swap_reach(const double* c, const double* d, double slack_c, double slack_d, double whole,
                const double* rho, double floor, Index count, double* within);

// t(m, i) = sum over s of a(m, s) gathered(s, i) for the first `columns` of kSwapColumns columns
// (up to the next multiple of eight); all row by row.
inline constexpr Index kSwapColumns = 128;
void combine_gathered(const double* gathered, Index rows, Index columns, const double* a,
                      Index count, double* t);

double dot(const double* a, const double* b, Index count);
// out[i] = a'b[i]
void dots(const double* a, const double* const* b, Index vectors, Index count, double* out);

// out = M v, and out = M'v, for a lower triangular M of k rows that are `stride` apart, a multiple
// of eight. M has that many rows, with zeros beyond the diagonal, so that lanes need not stop
// there; those from k on may hold anything finite.
void lower_times(const double* m, Index stride, Index k, const double* v, double* out);
void lower_transposed_times(const double* m, Index stride, Index k, const double* v, double* out);
// M'v, and the sums of squares of the columns of M.
void lower_column_sums(const double* m, Index stride, Index k, const double* v, double* out,
                       double* squares);

// u = M'w of w = M v, and what is asked of both.
struct LowerSolved {
  double ww;  // w'w
  double uu;  // u'u
  double ub;  // u'b
};
LowerSolved lower_solve(const double* m, Index stride, Index k, const double* v, const double* b,
                        double* w, double* u);

// Takes column r out of M, and a row: rows r .. k-1 are rotated until the column is zero but in the
// last of them, which goes, to `row`. z, one number for each row, is rotated with them: its last is
// the one of that row. `row` and `room` have space for k and for 2 k numbers.
void drop_column(double* m, Index stride, Index k, Index r, double* z, double* row, double* room);

}  // namespace ellzero
