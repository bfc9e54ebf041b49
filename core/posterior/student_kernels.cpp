#include "posterior/student_kernels.hpp"

#include "base/vector_math.hpp"

namespace ellzero {

ELLZERO_MULTIVERSION
double sum_of_logs(const double* squares, const double* counts, double scale, Index rows) {
  constexpr Index kWide = 8;
  double sums[kWide] = {};
  Index r = 0;
  for (; r + kWide <= rows; r += kWide) {
    for (Index i = 0; i < kWide; ++i) {
      sums[i] += counts[r + i] * fast_log(1 + scale * squares[r + i]);
    }
  }
  double sum = 0;
  for (; r < rows; ++r) sum += counts[r] * fast_log(1 + scale * squares[r]);
  for (const double own : sums) sum += own;
  return sum;
}

}  // namespace ellzero
