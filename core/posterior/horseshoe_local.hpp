// A local scale of the horseshoe with its coefficient integrated out.
//
// Given all other scales, and with their coefficients integrated out, y knows of beta_j by
// exp((c beta - a beta^2 / 2) / s2), where a = z_j'M^-1 z_j and c = z_j'M^-1 y (row_sweep.hpp).
// Under beta_j ~ N(0, s2 h), 1 / h = 1 / (t lambda)^2 + ridge (for the plain horseshoe the ridge is
// zero), lambda ~ C+(0, 1), that leaves, with
//
//   b = a + ridge,  g = b t^2,  w = g lambda^2 / (1 + g lambda^2),  r = ridge / b,
//
// the density of lambda proportional to sqrt(1 - w + w r) exp(m w) / (1 + lambda^2), where
// m = c^2 / (2 b s2).
//
// The square root falls in w and the tilt rises, so that on any piece of the line their product is
// below the one at its lower end times the other at its upper end: exact by rejection from the
// half-Cauchy on pieces that are short in both.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace ellzero {

// Draws log lambda^2. `unit` is log t^2.
inline double draw_horseshoe_scale(double a, double c, double s2, double unit, double ridge,
                                   Random& random) {
  constexpr double kHalfPi = 1.57079632679489661923;
  constexpr double kFarthest = 60;    // exp(30) is far beyond any lambda drawn
  constexpr double kMostTilt = 1e15;  // beyond it w is one to rounding
  constexpr int kMost = 160;
  struct Point {
    double w, left;  // w and 1 - w, each to its own digits
  };
  const double b = a + ridge, r = ridge / b, m = std::min(0.5 * c * c / (b * s2), kMostTilt);
  const double log_g = std::min(std::max(std::log(b) + unit, -kFarthest), kFarthest);
  const double g = std::exp(log_g), root_g = std::exp(0.5 * log_g);

  // Where w is cut: m w by steps that double from both ends, 1 - w by factors of eight down to
  // where the prior, or r, has no more to say.
  Point edge[kMost + 1];
  int pieces = 0;
  edge[pieces++] = {0, 1};
  const double half = 0.5 * m;
  for (double at = 1, step = 1; at < half; at += step *= 2) {
    edge[pieces++] = {at / m, 1 - at / m};
  }
  for (double at = 1, step = 1; at < half; at += step *= 2) {
    edge[pieces++] = {1 - at / m, at / m};
  }
  const double least = std::max(r, 1 / (1 + g));
  for (double left = 0.125; left > least; left *= 0.125) edge[pieces++] = {1 - left, left};
  if (pieces > 1) {
    std::sort(edge + 1, edge + pieces, [](const Point& x, const Point& y) {
      return x.w < 0.5 || y.w < 0.5 ? x.w < y.w : x.left > y.left;
    });
  }
  edge[pieces] = {1, 0};

  // In the angle x = atan(1 / lambda) the half-Cauchy is uniform; 1 / lambda^2 = g (1 - w) / w.
  double low[kMost], width[kMost], top[kMost], weight[kMost], total = 0, upper = kHalfPi;
  for (int k = 0; k < pieces; ++k) {
    const Point &from = edge[k], &to = edge[k + 1];
    low[k] = k + 1 < pieces ? std::atan(root_g * std::sqrt(to.left / to.w)) : 0;
    width[k] = upper - low[k];
    upper = low[k];
    top[k] = std::sqrt(from.left + from.w * r);
    weight[k] = width[k] * top[k] * std::exp(-m * to.left);
    total += weight[k];
  }
  for (;;) {
    double part = total * random.uniform();
    int k = 0;
    while (k + 1 < pieces && part >= weight[k]) part -= weight[k++];
    const double inverse = std::tan(low[k] + width[k] * random.uniform());  // 1 / lambda
    const double sum = g + inverse * inverse;
    const Point at{g / sum, inverse * inverse / sum};
    const Point& to = edge[k + 1];
    const double rise = m * (to.w < 0.5 ? to.w - at.w : at.left - to.left);
    const double share = std::sqrt(at.left + at.w * r) / top[k] * std::exp(-rise);
    if (random.uniform() < share) return -2 * std::log(inverse);
  }
}

// Draws beta_j, in the units of c / a, with lambda integrated out.
inline double draw_horseshoe_coefficient(double a, double c, double s2, double unit, double ridge,
                                         Random& random) {
  const double log_wide = draw_horseshoe_scale(a, c, s2, unit, ridge, random) + unit;
  const double precision = a + ridge + std::exp(-std::max(log_wide, -600.0));
  return c / precision + std::sqrt(s2 / precision) * random.normal();
}

}  // namespace ellzero
