// The hot loop over rows under Student's noise.
#pragma once

#include "base/kernels.hpp"

namespace ellzero {

// The sum over rows of counts log(1 + scale squares).
double sum_of_logs(const double* squares, const double* counts, double scale, Index rows);

}  // namespace ellzero
