#include "posterior/logit_kernels.hpp"

namespace ellzero {

ELLZERO_MULTIVERSION
void add_weighted_squares(const Tile& tile, Index columns, const double* weight, Index rows,
                          double* out) {
  constexpr Index s = kTileStride;
  // The tile has columns of zeros up to a multiple of three.
  for (Index j = 0; j < columns; j += 3) {
    const double* x = tile.column(j);
    Lanes a0 = {}, a1 = {}, a2 = {};
    for (Index r = 0; r < rows; r += kLanes) {
      const Lanes w = load(weight + r);
      const Lanes x0 = load(x + r), x1 = load(x + s + r), x2 = load(x + 2 * s + r);
      a0 += x0 * x0 * w, a1 += x1 * x1 * w, a2 += x2 * x2 * w;
    }
    const double sums[3] = {sum(a0), sum(a1), sum(a2)};
    for (Index k = 0; k < 3 && j + k < columns; ++k) out[j + k] += sums[k];
  }
}

}  // namespace ellzero
