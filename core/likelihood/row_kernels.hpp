// The loops over rows of a likelihood, each compiled with and without AVX2.
#pragma once

#include "base/kernels.hpp"

namespace ellzero {

// Sums weight * loss over rows, with the linear predictor eta; residual = -weight * (its first
// derivative by eta), curvature = weight * (its second).
//
// Logistic: log(1 + e^eta) - y eta, y between 0 and 1.
double logistic_loss(const double* eta, const double* y, const double* weight, Index rows,
                     double* residual, double* curvature);
// Poisson, with a log link: e^eta - y eta.
double poisson_loss(const double* eta, const double* y, const double* weight, Index rows,
                    double* residual, double* curvature);

// out[s] = columns[s]'v
void column_dots(const double* const* columns, Index count, const double* v, Index rows,
                 double* out);

// out(s, t) = sum over rows of weight columns[s] columns[t], for t >= s, rows of out `stride`
// apart.
void weighted_products(const double* const* columns, Index count, const double* weight, Index rows,
                       double* out, Index stride);

}  // namespace ellzero
