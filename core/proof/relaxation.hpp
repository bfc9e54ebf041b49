// The best bound of one kind, approximately: nothing here is relied on (safe_bound.hpp is).
//
// With some columns in and some out, what is left to choose is, over the m free columns,
//
//   min over b of  base - c'b + 1/2 b'G b + lam |b|_0,   |b|_0 <= cap,
//
// G and c being Schur complements. For a diagonal D > 0 with Q = G - D >= 0 it is at least
//
//   base - 1/2 (c - v)'Q^-1 (c - v) - sum of the cap largest max(0, v_i^2 / (2 d_i) - lam)
//
// for every v: replace 1/2 b'Qb by its tangent at u = Q^-1 (c - v), then minimise column by column.
// In D and v together that is concave: (c - v)'Q^-1 (c - v) and v_i^2 / d_i are matrix fractional
// functions. Its maximum is the perspective relaxation with the best D (Dong, Chen and Linderoth
// 2015). The cap is a price nu more: the cap largest of w_i sum to min over nu >= 0 of
// cap nu + sum of max(0, w_i - nu).
//
// A barrier makes it smooth: + mu [log det Q + sum log d_i (+ log nu)], and for max(0, a) the
// least s - mu log s - mu log(s - a). Newton's step, with W = Q^-1, x = W (c - v) and e = dv - x
// dd,
//
//   [ W + A      K     ] [ e  ]   [ g_v         ]
//   [   K    mu W.W + C ] [ dd ] = [ g_d + x g_v ]
//
// with A, K, C diagonal, and a border for nu: two factorisations of m by m and two inverses.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "base/dense.hpp"

namespace ellzero {

// What is left to choose at a node.
struct FreeProblem {
  Square g;
  std::vector<double> c;
  double base = 0;
  double lam = 0;
  Index cap = 0;  // of free columns; at least m if there is none

  Index size() const { return static_cast<Index>(c.size()); }
  bool capped() const { return cap < size(); }
};

// Where the maximum is looked for: one d and one v per free column.
struct RelaxationPoint {
  std::vector<double> d, v;
  double nu = 0;
};

class Relaxation {
 public:
  std::vector<double> x;      // u, the relaxed coefficients
  std::vector<double> share;  // in [0, 1]: how far in each column is
  double value = -std::numeric_limits<double>::infinity();

  // Asked before every step: whether to leave it at that. It may throw.
  std::function<bool()> pause;

  // A point in the interior, or false if G is too near to singular for one.
  bool start(const FreeProblem& problem, RelaxationPoint& at) {
    const Index m = problem.size();
    factor_ = problem.g;
    at.d.assign(m, 0);
    at.v.assign(m, 0);
    if (!factorise(factor_)) return false;
    invert_factored(factor_, room_, inverse_);
    for (double theta = 0.9; theta > 1e-9; theta *= 0.5) {
      for (Index i = 0; i < m; ++i) at.d[i] = theta / inverse_.row(i)[i];
      if (!factorise_at(problem, at.d)) continue;
      for (Index i = 0; i < m; ++i) at.d[i] *= 0.7;
      // From b = G^-1 c: v = c - Qb = D b
      times(inverse_, problem.c.data(), at.v.data());
      for (Index i = 0; i < m; ++i) at.v[i] *= at.d[i];
      at.nu = problem.lam;
      return true;
    }
    return false;
  }

  // Newton's method until the bound reaches `target`, or is known to within `slack` or so, or for
  // `steps`. Leaves value, x and share. False if it could not be computed.
  bool improve(const FreeProblem& problem, RelaxationPoint& at, double target, double mu,
               Index steps) {
    const Index m = problem.size();
    const bool capped = problem.capped();
    if (capped && !(at.nu > 0)) at.nu = std::max(problem.lam, 1e-8 * std::fabs(target)) + mu;
    double here = barrier(problem, at, mu);
    if (!std::isfinite(here)) return false;
    look(problem, at);
    resize(m);
    for (Index step = 0; step < steps && value < target && !(pause && pause()); ++step) {
      invert_factored(factor_, room_, inverse_);
      const double decrement = newton_step(problem, at, mu);
      if (!std::isfinite(decrement) || decrement < 0) break;
      double length = 1;
      for (Index i = 0; i < m; ++i) {
        if (dd_[i] < 0) length = std::min(length, -0.9 * at.d[i] / dd_[i]);
      }
      if (capped && dnu_ < 0) length = std::min(length, -0.9 * at.nu / dnu_);
      RelaxationPoint next;
      double there = -std::numeric_limits<double>::infinity();
      for (; length > 1e-6; length *= 0.5) {
        next = at;
        for (Index i = 0; i < m; ++i) {
          next.d[i] += length * dd_[i];
          next.v[i] += length * dv_[i];
        }
        if (capped) next.nu += length * dnu_;
        there = barrier(problem, next, mu);
        if (there >= here + 1e-4 * length * decrement) break;
      }
      if (!(there > here)) {
        barrier(problem, at, mu);  // factor_ and x of where it stands
        break;
      }
      at = std::move(next);
      here = there;
      look(problem, at);
      ++total_steps;
      if (decrement < 0.05 * static_cast<double>(m) * mu) break;
      // What is to be gained is of the order of the decrement: not worth it if far from the target
      if (length == 1 && decrement < 0.02 * (target - value)) break;
    }
    return true;
  }

  // The bound of the point at hand, and t.
  std::vector<double> t;
  Index total_steps = 0;

 private:
  void resize(Index m) {
    for (auto* some : {&a_, &k_, &c_, &gv_, &ge_, &gd_, &pe_, &pd_, &dd_, &dv_, &e_, &s_})
      some->assign(m, 0);
  }

  bool factorise_at(const FreeProblem& problem, const std::vector<double>& d) {
    factor_ = problem.g;
    for (Index i = 0; i < problem.size(); ++i) factor_.row(i)[i] -= d[i];
    return factorise(factor_);
  }

  // What is maximised; leaves the factor of Q, and x.
  double barrier(const FreeProblem& problem, const RelaxationPoint& at, double mu) {
    const Index m = problem.size();
    const double bad = -std::numeric_limits<double>::infinity();
    for (Index i = 0; i < m; ++i) {
      if (!(at.d[i] > 0)) return bad;
    }
    if (!factorise_at(problem, at.d)) return bad;
    rest_.resize(m);
    x.resize(m);
    for (Index i = 0; i < m; ++i) rest_[i] = problem.c[i] - at.v[i];
    solve_factored(factor_, rest_.data(), x.data());
    double sum = -0.5 * dot(rest_.data(), x.data(), m), logs = 0;
    const double price = problem.lam + (problem.capped() ? at.nu : 0);
    for (Index i = 0; i < m; ++i) {
      sum -= smooth(0.5 * at.v[i] * at.v[i] / at.d[i] - price, mu).value;
      logs += 2 * std::log(factor_.row(i)[i]) + std::log(at.d[i]);
    }
    sum += mu * logs;
    if (problem.capped()) sum += mu * std::log(at.nu) - at.nu * static_cast<double>(problem.cap);
    return sum;
  }

  // The bound itself, without the barrier.
  void look(const FreeProblem& problem, const RelaxationPoint& at) {
    const Index m = problem.size();
    t.resize(m);
    share.resize(m);
    w_.resize(m);
    const double price = problem.lam + (problem.capped() ? at.nu : 0);
    for (Index i = 0; i < m; ++i) {
      t[i] = 0.5 * at.v[i] * at.v[i] / at.d[i];
      w_[i] = std::max(0.0, t[i] - problem.lam);
      const double whole = price > 0 ? std::sqrt(2 * price / at.d[i]) : 0;
      share[i] = std::fabs(x[i]) < whole ? std::fabs(x[i]) / whole : 1;
    }
    if (problem.capped())
      std::nth_element(w_.begin(), w_.begin() + problem.cap, w_.end(), std::greater<double>());
    double sum = 0;
    for (Index i = 0; i < std::min(problem.cap, m); ++i) sum += w_[i];
    value = problem.base - 0.5 * dot(rest_.data(), x.data(), m) - sum;
  }

  struct Smooth {
    double value, slope, curvature;
  };
  // min over s of s - mu log s - mu log(s - a): max(0, a) made smooth.
  static Smooth smooth(double a, double mu) {
    const double root = std::sqrt(a * a + 4 * mu * mu);
    double s, beyond;  // s and s - a, without cancellation
    if (a < 0) {
      beyond = 0.5 * (2 * mu - a + root);
      s = mu + 2 * mu * mu / (root - a);
    } else {
      beyond = mu + 2 * mu * mu / (root + a);
      s = 0.5 * (2 * mu + a + root);
    }
    const double slope = mu / beyond;
    const double fall = a < 0 ? 0.5 * (1 - a / root) : 2 * mu * mu / (root * (root + a));
    return {s - mu * std::log(s) - mu * std::log(beyond), slope, slope * slope / mu * fall};
  }

  // Fills dd_, dv_ and dnu_; returns the decrement.
  double newton_step(const FreeProblem& problem, const RelaxationPoint& at, double mu) {
    const Index m = problem.size();
    const bool capped = problem.capped();
    const double price = problem.lam + (capped ? at.nu : 0);
    double g_nu = 0, m_nu = 0;
    for (Index i = 0; i < m; ++i) {
      const double v = at.v[i], d = at.d[i], ratio = v / d, xi = x[i];
      const Smooth f = smooth(0.5 * v * ratio - price, mu);
      gv_[i] = xi - f.slope * ratio;
      gd_[i] = -0.5 * xi * xi + 0.5 * f.slope * ratio * ratio - mu * inverse_.row(i)[i] + mu / d;
      const double a = f.slope / d + f.curvature * ratio * ratio;
      const double b = -ratio * (f.slope / d + 0.5 * f.curvature * ratio * ratio);
      const double c =
          ratio * ratio * (f.slope / d + 0.25 * f.curvature * ratio * ratio) + mu / (d * d);
      a_[i] = a;
      k_[i] = a * xi + b;
      c_[i] = (a * xi + 2 * b) * xi + c;
      ge_[i] = gd_[i] + xi * gv_[i];
      if (capped) {
        pe_[i] = -f.curvature * ratio;
        pd_[i] = 0.5 * f.curvature * ratio * ratio + xi * pe_[i];
        g_nu += f.slope;
        m_nu += f.curvature;
      }
    }
    // R = (W + A)^-1
    joined_ = inverse_;
    for (Index i = 0; i < m; ++i) joined_.row(i)[i] += a_[i];
    if (!factorise(joined_)) return -1;
    invert_factored(joined_, room_, reduced_);
    // S = mu W.W + C - K R K
    for (Index i = 0; i < m; ++i) {
      const double *w = inverse_.row(i), *r = reduced_.row(i), ki = k_[i];
      double* out = joined_.row(i);
      for (Index j = i; j < m; ++j) out[j] = mu * w[j] * w[j] - ki * r[j] * k_[j];
      out[i] += c_[i];
    }
    if (!factorise(joined_)) return -1;
    solve_block(gv_, ge_, e_, dd_);
    dnu_ = 0;
    if (capped) {
      g_nu += mu / at.nu - static_cast<double>(problem.cap);
      m_nu += mu / (at.nu * at.nu);
      solve_block(pe_, pd_, s_, dv_);  // dv_ is room here
      const double across = dot(pe_.data(), e_.data(), m) + dot(pd_.data(), dd_.data(), m);
      const double own = dot(pe_.data(), s_.data(), m) + dot(pd_.data(), dv_.data(), m);
      if (!(m_nu - own > 0)) return -1;
      dnu_ = (g_nu - across) / (m_nu - own);
      for (Index i = 0; i < m; ++i) {
        e_[i] -= s_[i] * dnu_;
        dd_[i] -= dv_[i] * dnu_;
      }
    }
    double decrement = g_nu * dnu_ * (capped ? 1 : 0);
    for (Index i = 0; i < m; ++i) {
      dv_[i] = e_[i] + x[i] * dd_[i];
      decrement += gv_[i] * dv_[i] + gd_[i] * dd_[i];
    }
    return decrement;
  }

  // [W + A, K; K, mu W.W + C] [e; dd] = [right_e; right_d], by R and the factor of S
  void solve_block(const std::vector<double>& right_e, const std::vector<double>& right_d,
                   std::vector<double>& e, std::vector<double>& dd) {
    const Index m = reduced_.size;
    half_.resize(m);
    times(reduced_, right_e.data(), half_.data());
    for (Index i = 0; i < m; ++i) dd[i] = right_d[i] - k_[i] * half_[i];
    solve_factored(joined_, dd.data(), dd.data());
    for (Index i = 0; i < m; ++i) half_[i] = right_e[i] - k_[i] * dd[i];
    times(reduced_, half_.data(), e.data());
  }

  Square factor_, inverse_, room_, joined_, reduced_;
  std::vector<double> rest_, w_, half_;
  std::vector<double> a_, k_, c_, gv_, ge_, gd_, pe_, pd_, dd_, dv_, e_, s_;
  double dnu_ = 0;
};

}  // namespace ellzero
