// The hot loops of a determinant that follows flips: see ridge_volume.hpp.
#pragma once

#include "base/kernels.hpp"

namespace ellzero {

// out = M v for a symmetric M of k rows, `stride` apart; returns v'M v. Rows, v and out are read
// and written up to the next multiple of kLanes, M with zeros and v with finite numbers there.
double symmetric_times(const double* m, Index stride, Index k, const double* v, double* out);

// M += sign a a', up to the next multiple of kLanes in every row, where `a` is taken to be zero.
void add_outer(double* a, double sign, Index k, double* m, Index stride);

// out[i] += sign (sum over s of a[s] columns[s][i])^2
void add_squares(const double* const* columns, const double* a, Index count, double sign,
                 Index length, double* out);

}  // namespace ellzero
