#include "likelihood/row_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/vector_math.hpp"

namespace ellzero {

namespace {

// Each loop is so simple that a compiler computes several rows of it at once; `loss` is without
// weights. At most kTileRows rows.
ELLZERO_MULTIVERSION
void logistic_rows(const double* __restrict eta, const double* __restrict y,
                   const double* __restrict weight, Index rows, double* __restrict loss,
                   double* __restrict residual, double* __restrict curvature) {
  double u[kTileRows];  // e^-|eta|
  for (Index r = 0; r < rows; ++r) u[r] = fast_exp(-std::fabs(eta[r]));
  for (Index r = 0; r < rows; ++r) loss[r] = fast_log(1 + u[r]);
  for (Index r = 0; r < rows; ++r) {
    const double larger = 1 / (1 + u[r]), smaller = u[r] * larger;
    const bool up = eta[r] > 0;
    const double p = up ? larger : smaller, q = up ? smaller : larger;
    const double other = 1 - y[r];
    residual[r] = weight[r] * (y[r] * q - other * p);
    curvature[r] = weight[r] * (larger * smaller);
    // max(eta, 0) - y eta, of which one part is zero where y is 0 or 1
    loss[r] += (up ? other : -y[r]) * eta[r];
  }
}

ELLZERO_MULTIVERSION
void poisson_rows(const double* __restrict eta, const double* __restrict y,
                  const double* __restrict weight, Index rows, double* __restrict loss,
                  double* __restrict residual, double* __restrict curvature) {
  constexpr double kLargest = 300;  // beyond that a step is taken back anyway
  double mu[kTileRows];
  for (Index r = 0; r < rows; ++r) mu[r] = fast_exp(eta[r] < kLargest ? eta[r] : kLargest);
  for (Index r = 0; r < rows; ++r) {
    residual[r] = weight[r] * (y[r] - mu[r]);
    curvature[r] = weight[r] * mu[r];
    loss[r] = mu[r] - y[r] * eta[r];
  }
}

template <class Kernel>
double sum_over_tiles(Kernel&& kernel, const double* eta, const double* y, const double* weight,
                      Index rows, double* residual, double* curvature) {
  double total = 0, loss[kTileRows];
  for (Index row = 0; row < rows; row += kTileRows) {
    const Index length = std::min(kTileRows, rows - row);
    kernel(eta + row, y + row, weight + row, length, loss, residual + row, curvature + row);
    total += dot(weight + row, loss, length);
  }
  return total;
}

}  // namespace

double logistic_loss(const double* eta, const double* y, const double* weight, Index rows,
                     double* residual, double* curvature) {
  return sum_over_tiles(logistic_rows, eta, y, weight, rows, residual, curvature);
}

double poisson_loss(const double* eta, const double* y, const double* weight, Index rows,
                    double* residual, double* curvature) {
  return sum_over_tiles(poisson_rows, eta, y, weight, rows, residual, curvature);
}

ELLZERO_MULTIVERSION
void column_dots(const double* const* columns, Index count, const double* v, Index rows,
                 double* out) {
  const Index whole = rows / kLanes * kLanes;
  Index s = 0;
  for (; s + 4 <= count; s += 4) {
    const double *x0 = columns[s], *x1 = columns[s + 1], *x2 = columns[s + 2], *x3 = columns[s + 3];
    Lanes a0 = {}, a1 = {}, a2 = {}, a3 = {};
    for (Index r = 0; r < whole; r += kLanes) {
      const Lanes w = load(v + r);
      a0 += load(x0 + r) * w, a1 += load(x1 + r) * w;
      a2 += load(x2 + r) * w, a3 += load(x3 + r) * w;
    }
    double t0 = sum(a0), t1 = sum(a1), t2 = sum(a2), t3 = sum(a3);
    for (Index r = whole; r < rows; ++r) {
      t0 += x0[r] * v[r], t1 += x1[r] * v[r], t2 += x2[r] * v[r], t3 += x3[r] * v[r];
    }
    out[s] = t0, out[s + 1] = t1, out[s + 2] = t2, out[s + 3] = t3;
  }
  for (; s < count; ++s) {
    const double* x = columns[s];
    Lanes a = {};
    for (Index r = 0; r < whole; r += kLanes) a += load(x + r) * load(v + r);
    double t = sum(a);
    for (Index r = whole; r < rows; ++r) t += x[r] * v[r];
    out[s] = t;
  }
}

namespace {

// Adds the products of one tile: rows of `weighted` and of `plain`, kTileStride apart, padded with
// zeros to a multiple of four columns and of kLanes rows.
ELLZERO_MULTIVERSION
void add_tile_products(const double* plain, const double* weighted, Index count, Index rows,
                       double* out, Index stride) {
  constexpr Index s = kTileStride;
  for (Index i = 0; i < count; i += 2) {
    const double* x = plain + i * s;
    for (Index j = i / 4 * 4; j < count; j += 4) {
      const double* w = weighted + j * s;
      Lanes a0 = {}, a1 = {}, a2 = {}, a3 = {}, b0 = {}, b1 = {}, b2 = {}, b3 = {};
      for (Index r = 0; r < rows; r += kLanes) {
        const Lanes x0 = load(x + r), x1 = load(x + s + r);
        const Lanes w0 = load(w + r), w1 = load(w + s + r);
        a0 += x0 * w0, b0 += x1 * w0;
        a1 += x0 * w1, b1 += x1 * w1;
        const Lanes w2 = load(w + 2 * s + r), w3 = load(w + 3 * s + r);
        a2 += x0 * w2, b2 += x1 * w2;
        a3 += x0 * w3, b3 += x1 * w3;
      }
      const double sums[2][4] = {{sum(a0), sum(a1), sum(a2), sum(a3)},
                                 {sum(b0), sum(b1), sum(b2), sum(b3)}};
      for (Index a = 0; a < 2 && i + a < count; ++a) {
        for (Index b = 0; b < 4 && j + b < count; ++b) {
          if (j + b >= i + a) out[(i + a) * stride + j + b] += sums[a][b];
        }
      }
    }
  }
}

}  // namespace

void weighted_products(const double* const* columns, Index count, const double* weight, Index rows,
                       double* out, Index stride) {
  const Index padded = round_up(count, 4);
  std::vector<double> plain(padded * kTileStride, 0.0), weighted(padded * kTileStride, 0.0);
  for (Index s = 0; s < count; ++s) std::fill_n(out + s * stride + s, count - s, 0.0);
  for (Index row = 0; row < rows; row += kTileRows) {
    const Index length = std::min(kTileRows, rows - row), filled = round_up(length, kLanes);
    for (Index s = 0; s < count; ++s) {
      const double* source = columns[s] + row;
      double *x = plain.data() + s * kTileStride, *w = weighted.data() + s * kTileStride;
      for (Index r = 0; r < length; ++r) {
        x[r] = source[r];
        w[r] = source[r] * weight[row + r];
      }
      std::fill(x + length, x + filled, 0.0);
      std::fill(w + length, w + filled, 0.0);
    }
    add_tile_products(plain.data(), weighted.data(), count, filled, out, stride);
  }
}

}  // namespace ellzero
