// The moments of columns over the rows of several quadratics together (Chan, Golub and LeVeque
// 1983), from the means and norms that each of them knows.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/quadratic.hpp"

namespace ellzero {

// The moments of column j over some parts, divided by 2^exponent.
inline Moments pooled_moments(const std::vector<const Quadratic*>& parts, Index j, int exponent) {
  Moments total;
  for (const Quadratic* part : parts) {
    const double norm =
        part->inverse_scale[j] > 0 ? std::ldexp(1 / part->inverse_scale[j], -exponent) : 0;
    Moments m;
    m.weight = part->weight;
    m.mean_x = std::ldexp(part->mean[j], -exponent);
    m.mean_y = part->mean_y;
    m.xx = norm * norm;
    m.xy = part->zy[j] * norm;
    total.merge(m);
  }
  return total;
}

// The power of two to divide column j by, so that deviations from the mean can be squared.
inline int pooled_exponent(const std::vector<const Quadratic*>& parts, Index j) {
  double largest = 0;
  for (const Quadratic* part : parts) {
    largest = std::max(largest, std::fabs(part->mean[j]));
    if (part->inverse_scale[j] > 0) largest = std::max(largest, 1 / part->inverse_scale[j]);
  }
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  return std::abs(exponent) > 300 ? exponent : 0;
}

// The same for all columns, column by column what pooled_moments does where squares are safe.
struct PooledMoments {
  std::vector<double> mean, xx, xy;
  double weight = 0, mean_y = 0;

  explicit PooledMoments(const std::vector<const Quadratic*>& parts) {
    const Index p = parts[0]->columns();
    mean.assign(p, 0);
    xx.assign(p, 0);
    xy.assign(p, 0);
    for (const Quadratic* part : parts) {
      if (part->weight == 0) continue;
      const double total = weight + part->weight, share = part->weight / total;
      const double dy = part->mean_y - mean_y, factor = weight * share;
      const double *m = part->mean.data(), *inverse = part->inverse_scale.data(),
                   *zy = part->zy.data();
      for (Index j = 0; j < p; ++j) {
        const double norm = 1 / (inverse[j] > 0 ? inverse[j] : 1.0);
        const double own = inverse[j] > 0 ? norm : 0;
        const double dx = m[j] - mean[j];
        xx[j] += own * own + dx * dx * factor;
        xy[j] += zy[j] * own + dx * dy * factor;
        mean[j] += dx * share;
      }
      mean_y += dy * share;
      weight = total;
    }
  }

  // Of column j, divided by a power of two if need be.
  ScaledMoments of(const std::vector<const Quadratic*>& parts, Index j) const {
    if (squares_are_safe(xx[j])) return {{weight, mean[j], mean_y, xx[j], xy[j]}, 0};
    const int exponent = pooled_exponent(parts, j);
    return {pooled_moments(parts, j, exponent), exponent};
  }
};

}  // namespace ellzero
