// Coordinate descent on the relaxed coefficients for a D that is given.
//
// With price q per column, best for D is the b that minimises
//
//   1/2 b'G b - c'b + sum of h(b_i),   h(b) = sqrt(2 q d) |b| - 1/2 d b^2 as far as it rises, then
//   q
//
// (MC+, Zhang 2010), which is convex as G - D >= 0; and u = b.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "proof/relaxation.hpp"
#include "proof/safe_bound.hpp"

namespace ellzero {

class CoordinateDescent {
 public:
  // Moves b towards the best for D as it is, and returns the bound of u = b; ends early if that
  // reaches the target, or will not.
  double descend(const FreeProblem& free, const std::vector<double>& d, double nu,
                 std::vector<double>& b, double target) {
    const Index m = free.size();
    const double price = free.lam + (free.capped() ? nu : 0);
    gradient_.resize(m);
    times(free.g, b.data(), gradient_.data());
    for (Index i = 0; i < m; ++i) gradient_[i] = free.c[i] - gradient_[i];
    double value = -std::numeric_limits<double>::infinity();
    for (int sweep = 1; sweep <= kSweeps; ++sweep) {
      for (Index i = 0; i < m; ++i) {
        const double whole = free.g.row(i)[i], own = gradient_[i] + whole * b[i];
        const double size = std::fabs(own), low = std::sqrt(2 * price * d[i]);
        double next = 0;
        if (size > low) {
          next = size * d[i] > whole * low ? size / whole : (size - low) / (whole - d[i]);
          if (own < 0) next = -next;
        }
        const double change = next - b[i];
        if (change == 0) continue;
        b[i] = next;
        const double* row = free.g.row(i);
        for (Index j = 0; j < m; ++j) gradient_[j] -= change * row[j];
      }
      if (sweep % 8) continue;
      const double before = value;
      value = approximate(free, d, b);
      if (value >= target) break;
      // Where it is going, if it goes on as it did
      if (value + 10 * (value - before) < target) break;
    }
    return value;
  }

  // Minimises 1/2 b'G b - c'b + the relaxed price of the free columns, into out, one per column: of
  // all columns, those that are not zero at the start, and those that want to be something else.
  void relax(const ProofProblem& problem, const std::vector<int>& in, const std::vector<int>& free,
             const std::vector<std::pair<int, float>>& warm, double d, double price,
             std::vector<double>& out) {
    const Index p = problem.columns();
    const double low = std::sqrt(2 * price * d);
    out.assign(p, 0);
    std::vector<int> active = in;
    std::vector<char> state(p, 0);  // 1 free, 2 active
    for (const int j : free) state[j] = 1;
    for (const int j : in) state[j] = 2;
    const auto enter = [&](int j) {
      if (state[j] != 1) return;
      state[j] = 2;
      active.push_back(j);
    };
    const Index k = static_cast<Index>(in.size());
    for (const auto& [j, b] : warm) {
      enter(j);
      if (state[j] == 2) out[j] = b;
    }
    std::vector<double> full(p);
    std::vector<std::pair<double, int>> wanted;
    for (int round_of = 0; round_of < 20; ++round_of) {
      // Of the free columns, those that are not active and whose gradient is beyond the threshold
      std::copy(problem.c.begin(), problem.c.end(), full.begin());
      for (const int a : active) {
        if (out[a] == 0) continue;
        const double factor = out[a], *row = problem.g.row(a);
        for (Index j = 0; j < p; ++j) full[j] -= factor * row[j];
      }
      wanted.clear();
      for (const int j : free) {
        if (state[j] == 1 && std::fabs(full[j]) > low * (1 + 1e-9))
          wanted.emplace_back(-std::fabs(full[j]), j);
      }
      if (round_of > 0 && wanted.empty()) return;
      std::sort(wanted.begin(), wanted.end());
      for (std::size_t i = 0; i < std::min<std::size_t>(wanted.size(), 40); ++i)
        enter(wanted[i].second);
      const Index m = static_cast<Index>(active.size());
      Square& local = local_;
      local.resize(m);
      std::vector<double> gradient(m), b(m);
      for (Index i = 0; i < m; ++i) {
        const double* row = problem.g.row(active[i]);
        for (Index j = 0; j < m; ++j) local.row(i)[j] = row[active[j]];
        gradient[i] = full[active[i]];
        b[i] = out[active[i]];
      }
      for (int sweep = 0; sweep < kWideSweeps; ++sweep) {
        double moved = 0;
        for (Index i = 0; i < m; ++i) {
          const double* row = local.row(i);
          const double whole = row[i], own = gradient[i] + whole * b[i], size = std::fabs(own);
          double next = 0;
          if (i < k) {
            next = own / whole;
          } else if (size > low) {
            next = size * d > whole * low ? size / whole : (size - low) / (whole - d);
            if (own < 0) next = -next;
          }
          const double change = next - b[i];
          if (change == 0) continue;
          moved = std::max(moved, std::fabs(change));
          b[i] = next;
          for (Index j = 0; j < m; ++j) gradient[j] -= change * row[j];
        }
        if (moved < 1e-7) break;
      }
      for (Index i = 0; i < m; ++i) out[active[i]] = b[i];
    }
  }

 private:
  // The bound of u = b, whose gradient is known.
  double approximate(const FreeProblem& free, const std::vector<double>& d,
                     const std::vector<double>& b) {
    const Index m = free.size();
    double sum = free.base;
    weights_.resize(m);
    for (Index i = 0; i < m; ++i) {
      const double v = gradient_[i] + d[i] * b[i];
      weights_[i] = std::max(0.0, 0.5 * v * v / d[i] - free.lam);
      sum -= 0.5 * b[i] * (free.c[i] - v);  // 1/2 u'Qu = 1/2 u'(c - v)
    }
    if (free.capped())
      std::nth_element(weights_.begin(), weights_.begin() + free.cap, weights_.end(),
                       std::greater<double>());
    for (Index i = 0; i < std::min(free.cap, m); ++i) sum -= weights_[i];
    return sum;
  }

  static constexpr int kSweeps = 64;
  static constexpr int kWideSweeps = 200;

  Square local_;
  std::vector<double> gradient_, weights_;
};

}  // namespace ellzero
