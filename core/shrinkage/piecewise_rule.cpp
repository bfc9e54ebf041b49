#include "shrinkage/piecewise_rule.hpp"

#include <cmath>

#include "base/simd.hpp"

namespace ellzero {

ELLZERO_MULTIVERSION
void apply(const PiecewiseRule& rule, const double* x, std::ptrdiff_t count, double* out) {
  const PiecewiseRule r = rule;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const double size = std::fabs(x[i]);
    // The last piece also takes what is not a number, and passes it on.
    const double slope = size < r.knot[0]   ? r.slope[0]
                         : size < r.knot[1] ? r.slope[1]
                         : size < r.knot[2] ? r.slope[2]
                                            : r.slope[3];
    const double shift = size < r.knot[0]   ? r.shift[0]
                         : size < r.knot[1] ? r.shift[1]
                         : size < r.knot[2] ? r.shift[2]
                                            : r.shift[3];
    out[i] = std::copysign(slope * size + shift, x[i]) + 0.0;  // no negative zeros
  }
}

}  // namespace ellzero
