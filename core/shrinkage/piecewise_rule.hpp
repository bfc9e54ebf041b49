// A shrinkage rule that is odd and piecewise linear: what the proximal operators of l0, l1, l2, the
// elastic net, SCAD and MCP come to. One pass, where numpy would need one for every piece.
//
//   x  ->  sign(x) (slope_j |x| + shift_j)   for knot_(j-1) <= |x| < knot_j
#pragma once

#include <cstddef>

namespace ellzero {

struct PiecewiseRule {
  double knot[3];  // ascending; infinite where there are fewer pieces
  double slope[4];
  double shift[4];
};

void apply(const PiecewiseRule& rule, const double* x, std::ptrdiff_t count, double* out);

}  // namespace ellzero
