// Exponentially tilted positive stable variables: S of density proportional to f(s) exp(-tilt s),
// where f has the Laplace transform exp(-t^a), 0 < a < 1. Exact for every index a and every tilt;
// the number of trials is bounded over all of them.
//
// After Zolotarev, with U uniform on (0, pi) and W exponential, S = (A(U) / W)^b is stable, where
// b = (1 - a) / a, A(u)^(1-a) = (1 - a)^(1-a) a^a B(u) and
//
//   B(u) = sinc(a u)^a sinc((1 - a) u)^(1-a) / sinc(u),  from 1 at u = 0 to infinity at pi.
//
// The tilt makes the density of (U, W) proportional to exp(-w - tilt (A(u) / w)^b). Given u it is
// log-concave in w, with its mode at theta = (1 - a) g B(u), g = tilt^a, where it is exp(-g B(u)).
// With w = theta (1 + z) it is, over that mode, exp(-theta phi(z)), and S = a tilt^(a-1) B(u)
// (1 + z)^-b, with
//
//   phi(z) = z + ((1 + z)^-b - 1) / b.
//
// Small tilts, g below 1.3: draw (U, W) without the tilt and reject, which accepts exp(-g).
// Others: double rejection (Devroye 2009). With d = sqrt(a / theta), exp(-theta phi) is below
//   a half-normal of standard deviation d  for z < 0,  since phi'' >= 1 / a there;
//   1                                      for 0 < z < d;
//   its tangent exponential at d           beyond, phi being convex.
// Their masses, times theta, are sqrt(pi a theta / 2), sqrt(a theta) and some T(theta); T over
// sqrt(theta) falls in theta, so all are at most sqrt(B(u)) times what they are at u = 0. That
// leaves sqrt(B) exp(-g (B - 1)) to be drawn u from, which is below a half-normal of precision
// (g - 1/2) a (1 - a), since log B(u) >= a (1 - a) u^2 / 2, and below 1.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace ellzero {

class TiltedStable {
 public:
  explicit TiltedStable(double a)
      : a_(a),
        b_((1 - a) / a),
        log_a_(std::log(a)),
        log_start_((1 - a) * std::log(1 - a) + a * std::log(a)) {
    // log(sin(x) / x) = -sum over k of c_k x^(2k)
    constexpr double c[kTerms] = {1.0 / 6, 1.0 / 180, 1.0 / 2835, 1.0 / 37800, 1.0 / 467775};
    for (int k = 0; k < kTerms; ++k) {
      const int power = 2 * k + 3;
      series_[k] = c[k] * (1 - std::pow(a, power) - std::pow(1 - a, power));
    }
    series_[0] = 0.5 * a * (1 - a);
  }

  // The logarithm of a draw: S itself may be beyond all numbers. The tilt is zero if its logarithm
  // is minus infinity.
  double log_draw(double log_tilt, Random& random) const {
    const double g = std::exp(a_ * log_tilt);
    return g < kPlain ? draw_plain(log_tilt, random) : draw_doubly(log_tilt, g, random);
  }

 private:
  static constexpr int kTerms = 5;
  static constexpr double kPi = 3.141592653589793238;
  static constexpr double kRootHalfPi = 1.2533141373155002512;
  static constexpr double kPlain = 1.3;

  double log_b_of(double u) const {
    if (u < 0.1) {  // where the logarithms would cancel
      const double x = u * u;
      double sum = 0;
      for (int k = kTerms - 1; k >= 0; --k) sum = sum * x + series_[k];
      return sum * x;
    }
    return a_ * std::log(std::sin(a_ * u)) + (1 - a_) * std::log(std::sin((1 - a_) * u)) -
           std::log(std::sin(u)) - log_start_;
  }

  // phi and its derivative at z, and log(1 + z).
  struct Point {
    double phi, slope, log1p;
  };
  Point at(double z) const {
    const double l = std::log1p(z), power = std::expm1(-b_ * l);  // (1 + z)^-b - 1
    Point point{z + power / b_, (z - power) / (1 + z), l};
    if (std::fabs(z) * (b_ + 2) < 1e-3) {  // where the two terms would cancel
      const double c2 = -(b_ + 2) / 3, c3 = (b_ + 2) * (b_ + 3) / 12;
      const double c4 = -(b_ + 2) * (b_ + 3) * (b_ + 4) / 60;
      point.phi = 0.5 * (b_ + 1) * z * z * (1 + z * (c2 + z * (c3 + z * c4)));
    }
    return point;
  }

  double draw_plain(double log_tilt, Random& random) const {
    for (;;) {
      const double log_b = log_b_of(kPi * random.uniform());
      const double log_s = (log_b + log_start_) / a_ - b_ * std::log(random.exponential());
      if (random.uniform() < std::exp(-std::exp(log_tilt + log_s))) return log_s;
    }
  }

  double draw_doubly(double log_tilt, double g, Random& random) const {
    const double theta0 = (1 - a_) * g, root = std::sqrt(a_ * theta0);
    const double d0 = std::sqrt(a_ / theta0);
    const double left = kRootHalfPi * root, centre = root;
    const Point start = at(d0);
    const double tail = std::exp(-theta0 * start.phi) / start.slope;
    const double total = left + centre + tail;
    const double deviation = 1 / std::sqrt((g - 0.5) * a_ * (1 - a_));
    const bool concentrated = kRootHalfPi * deviation < kPi;
    for (;;) {
      double u, excess = 0;
      if (concentrated) {
        const double normal = random.normal();
        u = deviation * std::fabs(normal);
        excess = 0.5 * normal * normal;
        if (u >= kPi) continue;
      } else {
        u = kPi * random.uniform();
      }
      const double log_b = log_b_of(u), beyond = std::expm1(log_b);  // B - 1
      if (random.uniform() >= std::exp(0.5 * log_b - g * beyond + excess)) continue;
      const double theta = theta0 * (1 + beyond), d = std::sqrt(a_ / theta);
      const double part = total * random.uniform();
      double z, log_accept = 0;
      if (part < left) {
        const double normal = random.normal();
        z = -d * std::fabs(normal);
        if (z <= -1) continue;
        log_accept = 0.5 * normal * normal;
      } else if (part < left + centre) {
        z = d * random.uniform();
      } else {
        const double slope = at(d).slope, step = random.exponential();
        z = d + step / (theta * slope);
        log_accept = step - std::log(slope * tail) - 0.5 * log_b;
      }
      const Point point = at(z);
      if (random.uniform() < std::exp(log_accept - theta * point.phi)) {
        return log_b + log_a_ - (1 - a_) * log_tilt - b_ * point.log1p;
      }
    }
  }

  double a_, b_, log_a_, log_start_;
  double series_[kTerms];
};

}  // namespace ellzero
