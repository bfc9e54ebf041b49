// Slice sampling in one dimension.
#pragma once

#include <algorithm>

#include "base/random.hpp"

namespace ellzero {

// One step of slice sampling (Neal 2003) on a log-density whose value at x is `here`: an interval
// of fixed width about x, shrunk towards it until a point of the slice is met.
template <class LogDensity>
double slice_step(double x, double here, double low, double high, LogDensity&& log_density,
                  Random& random, double width = 5) {
  const double level = here - random.exponential();
  double left = x - width * random.uniform(), right = left + width;
  left = std::max(left, low);
  right = std::min(right, high);
  for (int tries = 0; tries < 100; ++tries) {
    const double proposed = left + (right - left) * random.uniform();
    if (log_density(proposed) > level) return proposed;
    (proposed < x ? left : right) = proposed;
  }
  return x;
}

}  // namespace ellzero
