// A coefficient under the bridge with its local scale integrated out.
//
// Given all other coefficients, and in units of sigma_e, y knows of beta_j by exp(-(b - m)^2 / 2),
// m = z_j'(y - Z_-j beta_-j): its density is proportional to
//
//   exp(-(b - m)^2 / 2 - U(|b|)),   U(b) = (b / t)^alpha,  t = tau / sigma_e.
//
// On each side of zero it is covered by pieces of exponentials and drawn by rejection: U is
// concave, so above its chord, and the parabola is below any of its tangents. Pieces end where U
// has grown by one or by half, and around the mode away from zero, if there is one.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.hpp"

namespace ellzero {

class BridgeCoefficient {
 public:
  // 0 < alpha <= 1
  explicit BridgeCoefficient(double alpha) : alpha_(alpha) {
    double level = 1;
    for (double& root : root_) {
      root = std::pow(level, 1 / alpha);
      level += std::max(1.0, 0.5 * level);
    }
  }

  double draw(double m, double scale, Random& random) const {
    const double t = std::min(std::max(scale, 1e-30), 1e30);
    const double size = std::fabs(m), sign = m < 0 ? -1 : 1;
    Piece pieces[2 * kMost];
    const int near = cover(size, t, pieces), count = near + cover(-size, t, pieces + near);
    double top = pieces[0].top(), total = 0;
    for (int k = 1; k < count; ++k) top = std::max(top, pieces[k].top());
    for (int k = 0; k < count; ++k) total += pieces[k].weigh(top);
    for (int tries = 0;; ++tries) {
      double part = total * random.uniform();
      int k = 0;
      while (k + 1 < count && part >= pieces[k].mass) part -= pieces[k++].mass;
      const Piece& own = pieces[k];
      const double step = own.step(random.uniform()), b = own.from + step;
      const double side = k < near ? 1 : -1, away = b - side * size;
      const double value = -0.5 * away * away - power(b / t);
      // One or two tries, unless numbers are so far apart that rounding decides.
      const double excess = value - (own.height + own.slope * step);
      if (-random.exponential() < excess || tries == 1000) return sign * side * b;
    }
  }

 private:
  static constexpr int kRoots = 40, kMost = kRoots + 8;
  static constexpr double kReach = 6;     // of the parabola, beyond which the last piece has no end
  static constexpr double kMargin = 0.7;  // a tangent at so much from an end is close to all of two

  // exp(height + slope (b - from)) for b up to from + width
  struct Piece {
    double from, width, height, slope, mass;

    double top() const { return height + std::max(slope * width, 0.0); }
    // The mass over exp(top_of_all).
    double weigh(double top_of_all) {
      const double steep = std::fabs(slope * width);
      const double share = steep < 1e-8 ? width : -std::expm1(-steep) / std::fabs(slope);
      return mass = std::exp(top() - top_of_all) * share;
    }
    double step(double u) const {
      const double rise = slope * width;
      if (std::fabs(rise) < 1e-8) return u * width;
      if (rise > 0) return width + std::log(u + (1 - u) * std::exp(-rise)) / slope;
      return std::log1p(u * std::expm1(rise)) / slope;
    }
  };

  double power(double x) const { return alpha_ == 0.5 ? std::sqrt(x) : std::pow(x, alpha_); }

  // The side on which the parabola has its top at m, which may be below zero.
  int cover(double m, double t, Piece* out) const {
    const double reach = std::max(m, 0.0) + kReach;
    double edge[kMost];
    int edges = 0;
    edge[edges++] = 0;
    for (int k = 0; k < kRoots && t * root_[k] < reach; ++k) edge[edges++] = t * root_[k];
    const int of_prior = edges;
    double mode = m;
    for (int k = 0; k < 8 && mode > 0.25 * m; ++k) mode = m - alpha_ * power(mode / t) / mode;
    if (m > 0 && mode > 0.25 * m) {
      for (const double x : {-4.0, -2.0, -kMargin, kMargin, 2.0, 4.0}) {
        if (mode + x > 0) edge[edges++] = mode + x;
      }
    } else {
      edge[edges++] = 1;
      edge[edges++] = 3;
    }
    edge[edges++] = reach;
    std::inplace_merge(edge, edge + of_prior, edge + edges);

    int count = 0;
    double u = 0;
    for (int k = 0; k + 1 < edges; ++k) {
      const double from = edge[k], width = edge[k + 1] - from;
      if (!(width > 0)) continue;
      const double next = power(edge[k + 1] / t), chord = (next - u) / width;
      const double margin = std::min(0.5 * width, kMargin);
      const double at = std::min(std::max(m - chord, from + margin), edge[k + 1] - margin);
      out[count++] = {from, width, (at - m) * (0.5 * (at + m) - from) - u, m - at - chord, 0};
      u = next;
    }
    const double last = reach - m;
    out[count] = {reach, std::numeric_limits<double>::infinity(), -0.5 * last * last - u, -last, 0};
    return count + 1;
  }

  double alpha_;
  double root_[kRoots];  // where U is 1, 2, 3, 4.5, ...
};

}  // namespace ellzero
