// Polya-Gamma numbers PG(n, z), n = 1, 2, ... (Polson, Scott and Windle 2013): those of mean
// n tanh(z / 2) / (2 z) whose Laplace transform is
//
//   E exp(-t x) = (cosh(z / 2) / cosh(sqrt(z^2 / 4 + t / 2)))^n.
//
// Exact: no sum is cut off, and nothing is approximately normal. PG(n, z) is the sum of n
// independent PG(1, z). With c = |z| / 2, four times a PG(1, z) has the density of Jacobi, tilted,
//
//   f(x) = cosh(c) exp(-c^2 x / 2) sum over i = 0, 1, ... of (-1)^i a_i(x)
//
//   a_i(x) = pi (i + 1/2) (2 / (pi x))^(3/2) exp(-2 (i + 1/2)^2 / x)     for x <= t
//          = pi (i + 1/2) exp(-(i + 1/2)^2 pi^2 x / 2)                   for x > t
//
// two expansions of one function, both of terms that fall from the first on if t is .64 (Devroye
// 2009). So the first term alone lies above f: an inverse Gaussian cut off at t on the left, an
// exponential on the right. What is proposed from there is accepted if a uniform number is below
// the sum over a_0, and partial sums of alternating terms lie by turns above and below it: a few
// of them decide.
#pragma once

#include <cmath>

#include "base/kernels.hpp"
#include "base/random.hpp"

namespace ellzero {

namespace polya_gamma {

constexpr double kPi = 3.14159265358979323846;
constexpr double kCut = 0.64;

inline double normal_cdf(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }

// An inverse Gaussian of mean 1 / c and shape 1, given that it is at most kCut.
inline double left_of_cut(double c, Random& random) {
  if (c * kCut > 1) {  // the mean is to the left: most are
    for (;;) {
      const double x = random.inverse_gaussian(1 / c, 1);
      if (x <= kCut) return x;
    }
  }
  // One over the square of a normal number beyond 1 / sqrt(kCut) (Devroye 1986, IX.1), tilted.
  for (;;) {
    const double e = random.exponential();
    if (e * e > 2 * random.exponential() / kCut) continue;
    const double root = 1 + kCut * e, x = kCut / (root * root);
    if (random.uniform() <= std::exp(-0.5 * c * c * x)) return x;
  }
}

// Whether a number from the first term is kept.
inline bool keep(double x, Random& random) {
  const double u = random.uniform();
  // a_i / a_0 = (2 i + 1) exp(-i (i + 1) rate)
  const double rate = x <= kCut ? 2 / x : 0.5 * kPi * kPi * x;
  double sum = 1;
  for (int i = 1;; ++i) {
    const double term = (2 * i + 1) * std::exp(-static_cast<double>(i) * (i + 1) * rate);
    if (i % 2 == 1) {
      sum -= term;
      if (u <= sum) return true;
    } else {
      sum += term;
      if (u > sum) return false;
    }
    if (term == 0) return u <= sum;
  }
}

}  // namespace polya_gamma

// Draws PG(1, z) for one z, again and again.
class PolyaGammaOne {
 public:
  explicit PolyaGammaOne(double z) : c_(0.5 * std::fabs(z)) {
    using namespace polya_gamma;
    slope_ = 0.125 * kPi * kPi + 0.5 * c_ * c_;
    // The masses of the first term to the right and to the left of the cut, times exp(c).
    const double right = 0.5 * kPi / slope_ * std::exp(c_ - slope_ * kCut);
    const double root = std::sqrt(1 / kCut);
    double left = normal_cdf(root * (kCut * c_ - 1));
    // Beyond that the product is below all digits of the sum, though its factors are not.
    if (c_ < 40) left += std::exp(2 * c_) * normal_cdf(-root * (kCut * c_ + 1));
    right_ = right / (right + 2 * left);
  }

  double draw(Random& random) const {
    for (;;) {
      const double x = random.uniform() < right_ ? polya_gamma::kCut + random.exponential() / slope_
                                                 : polya_gamma::left_of_cut(c_, random);
      if (polya_gamma::keep(x, random)) return 0.25 * x;
    }
  }

 private:
  double c_, slope_, right_;
};

inline double draw_polya_gamma(Index n, double z, Random& random) {
  const PolyaGammaOne one(z);
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += one.draw(random);
  return sum;
}

}  // namespace ellzero
