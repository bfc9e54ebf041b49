// Small symmetric blocks, one for each of `count` groups of the same width, side by side: entry
// (i, j) of all the blocks lies together, and so does entry i of all the vectors. So one loop over
// groups does the same step of all of them, in lanes.
#pragma once

#include "base/kernels.hpp"

namespace ellzero {

// Where entry (i, j), j <= i, of a symmetric block is; of `width` rows there are triangle(width).
inline Index triangle(Index i, Index j = 0) { return i * (i + 1) / 2 + j; }

// What some flips do to every group: c_g += sign * sum of q_r t_rg, D_g += sign * sum of t_rg
// t_rg'. Row r of t begins at t + r * stride.
void update_blocks(const double* t, Index stride, const double* q, Index rows, double sign,
                   Index width, Index count, double* c, double* d);

// score[g] = c_g' D_g^-1 c_g over those columns of the group whose pivots, taken in their order,
// are above `floor`, and rank[g] their number; -1 and 0 if there is none. least[g], if asked for,
// is a lower bound on the least eigenvalue of D_g: 0 if any pivot is not above the floor.
void block_scores(const double* c, const double* d, Index width, Index count, double floor,
                  double* score, double* rank, double* least = nullptr);

// The diagonal of M'M and the bands below it, for a lower triangular M of k rows that are `stride`
// apart: out[o * k + s] = sum over rows r of M(r, s) M(r, s + o), for o < width and s + o < k.
void lower_bands(const double* m, Index stride, Index k, Index width, double* out);

// Adds a block along the diagonal of M'M to out, a triangle: that of `width` columns from `begin`.
void lower_block(const double* m, Index stride, Index k, Index begin, Index width, double* out);

// out = M V and out = M'V for kPanelVectors vectors side by side, row by row; M is as of
// lower_times().
inline constexpr Index kPanelVectors = 4;
void lower_times_panel(const double* m, Index stride, Index k, const double* v, double* out);
void lower_transposed_times_panel(const double* m, Index stride, Index k, const double* v,
                                  double* out);

// out = V'V for such vectors of k numbers, row by row.
void panel_products(const double* v, Index k, double* out);

// out_i = sum over j <= i of b_ij v_j, for every group.
void lower_blocks_times(const double* b, const double* v, Index width, Index count, double* out);

}  // namespace ellzero
