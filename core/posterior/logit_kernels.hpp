// The hot loop over tiles that only weights which change need.
#pragma once

#include "base/kernels.hpp"

namespace ellzero {

// out[j] += sum over rows of weight[r] tile(r, j)^2; rows up to a multiple of kLanes, the weights
// of those that are none being zero.
void add_weighted_squares(const Tile& tile, Index columns, const double* weight, Index rows,
                          double* out);

}  // namespace ellzero
