// Compiled without contraction to fused operations: the errors of sums and products are computed.
#include "proof/safe_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ellzero {
namespace {

constexpr double kUnit = 0x1p-53;
constexpr double kTiny = 1e-290;  // more than what underflow can do

// A sum of products, with a bound on its error.
class Sum {
 public:
  ELLZERO_INLINE void add(double a, double b) {
    const double product = a * b;
    const double error = std::fma(a, b, -product);
    const double sum = value_ + product;
    const double part = sum - value_;
    low_ += ((value_ - (sum - part)) + (product - part)) + error;
    value_ = sum;
    size_ += std::fabs(product);
    ++count_;
  }
  double value() const { return value_ + low_; }
  double error() const {
    const double gamma = static_cast<double>(count_ + 4) * kUnit;
    return 2 * kUnit * std::fabs(value()) + 4 * gamma * gamma * size_ + kTiny;
  }

 private:
  double value_ = 0, low_ = 0, size_ = 0;
  Index count_ = 0;
};

// v = c - Qu of one column
ELLZERO_MULTIVERSION
void add_products(const double* row, const int* columns, const double* u, Index count, Sum& v) {
  Sum sum = v;
  for (Index j = 0; j < count; ++j) sum.add(-row[columns[j]], u[j]);
  v = sum;
}

// The columns where u is not zero, and u; those of u_low follow.
struct Used {
  std::vector<int> columns;
  std::vector<double> u;

  explicit Used(const Evidence& evidence) {
    for (std::size_t j = 0; j < evidence.columns.size(); ++j)
      add(evidence.columns[j], evidence.u[j]);
    for (Index j = 0; j < evidence.in; ++j) add(evidence.columns[j], evidence.u_low[j]);
  }
  void add(int column, double value) {
    if (value == 0) return;
    columns.push_back(column);
    u.push_back(value);
  }
  // c_i - (Gu)_i
  Sum residual(const ProofProblem& problem, int column) const {
    Sum v;
    v.add(1, problem.c[column]);
    add_products(problem.g.row(column), columns.data(), u.data(), static_cast<Index>(u.size()), v);
    return v;
  }
};

}  // namespace

std::vector<double> residuals_inside(const ProofProblem& problem, const Evidence& evidence) {
  const Used used(evidence);
  std::vector<double> out(evidence.in);
  for (Index i = 0; i < evidence.in; ++i)
    out[i] = used.residual(problem, evidence.columns[i]).value();
  return out;
}

bool is_semidefinite(const ProofProblem& problem, const Evidence& evidence, Square& room) {
  const Index m = static_cast<Index>(evidence.columns.size());
  bool below = problem.floor > 0;
  for (Index i = 0; i < m && below; ++i)
    below = evidence.d[i] > 0 && evidence.d[i] <= problem.floor;
  if (below) return true;
  room.resize(m);
  double trace = 0;
  for (Index i = 0; i < m; ++i) {
    const double* row = problem.g.row(evidence.columns[i]);
    double* out = room.row(i);
    for (Index j = i; j < m; ++j) out[j] = row[evidence.columns[j]];
    if (!(evidence.d[i] > 0)) return false;
    trace += std::fabs(out[i]) + evidence.d[i];
  }
  const double shift = 4 * static_cast<double>(m + 4) * kUnit * trace;
  for (Index i = 0; i < m; ++i) {
    double& pivot = room.row(i)[i];
    pivot = (pivot - evidence.d[i]) - shift;
  }
  return std::isfinite(trace) && factorise(room);
}

SafeBound safe_bound(const ProofProblem& problem, const Evidence& evidence) {
  const Index m = static_cast<Index>(evidence.columns.size()), in = evidence.in, free = m - in;
  SafeBound out{-std::numeric_limits<double>::infinity(), std::vector<double>(free),
                std::vector<double>(free)};
  // LB = 1/2 y'y - 1/2 c'u + 1/2 v'u + ...
  Sum total;
  total.add(1, problem.half_yy);
  double off = 0;  // errors that are not of this sum
  std::vector<double> t(m);
  const Used used(evidence);
  for (Index i = 0; i < m; ++i) {
    const int column = evidence.columns[i];
    const double u = evidence.u[i], low = i < in ? evidence.u_low[i] : 0;
    Sum v = used.residual(problem, column);
    v.add(evidence.d[i], u);
    v.add(evidence.d[i], low);
    for (const double part : {u, low}) {
      total.add(-0.5 * part, problem.c[column]);
      total.add(0.5 * part, v.value());
    }
    off += (std::fabs(u) + std::fabs(low)) * v.error();
    const double largest = (std::fabs(v.value()) + v.error()) * (1 + 4 * kUnit);
    t[i] = largest * largest / (2 * evidence.d[i]) * (1 + 8 * kUnit) + kTiny;
    if (i < in) {
      total.add(1, problem.price[column]);
      total.add(-1, t[i]);
    }
  }
  const Index cap = std::min(problem.cap - in, free);
  if (cap < 0) {  // more are in than there may be: nothing is left
    out.value = std::numeric_limits<double>::infinity();
    std::fill(out.if_out.begin(), out.if_out.end(), out.value);
    out.if_in = out.if_out;
    return out;
  }
  std::vector<double> w(free), sorted;
  for (Index i = 0; i < free; ++i)
    w[i] = std::max(0.0, t[in + i] - problem.price[evidence.columns[in + i]]) * (1 + 2 * kUnit);
  sorted = w;
  std::sort(sorted.begin(), sorted.end(), std::greater<double>());
  double taken = 0;
  for (Index r = 0; r < cap; ++r) taken += sorted[r];
  taken *= 1 + 2 * static_cast<double>(cap + 2) * kUnit;
  const double start = total.value() - total.error() - 2 * off;
  // What is left are a few sums of numbers of known size.
  const double slack = 16 * kUnit * (std::fabs(start) + taken + 2 * off);
  if (!std::isfinite(start) || !std::isfinite(slack)) return out;
  out.value = start - taken - slack;
  const double next = cap < free ? sorted[cap] : 0, last = cap > 0 ? sorted[cap - 1] : 0;
  for (Index i = 0; i < free; ++i) {
    const double price = problem.price[evidence.columns[in + i]];
    // Out: if it is among the cap largest, the next takes its place.
    out.if_out[i] = out.value + std::max(0.0, w[i] - next) * (1 - 4 * kUnit) - slack;
    if (cap == 0) {
      out.if_in[i] = std::numeric_limits<double>::infinity();
      continue;
    }
    // In: it pays price - t itself, and cap - 1 are left for the others.
    const double leaves = w[i] >= last ? w[i] : last;
    out.if_in[i] =
        out.value + (leaves + price - t[in + i]) - slack - 4 * kUnit * (t[in + i] + price);
  }
  return out;
}

Fit fit(const ProofProblem& problem, const std::vector<int>& columns) {
  const Index m = static_cast<Index>(columns.size());
  Fit out{std::vector<double>(m), std::numeric_limits<double>::infinity()};
  Square a;
  a.resize(m);
  for (Index i = 0; i < m; ++i) {
    for (Index j = i; j < m; ++j) a.row(i)[j] = problem.g.row(columns[i])[columns[j]];
    out.b[i] = problem.c[columns[i]];
  }
  if (!factorise(a)) return out;
  solve_factored(a, out.b.data(), out.b.data());
  Sum total;
  total.add(1, problem.half_yy);
  double off = 0;
  for (Index i = 0; i < m; ++i) {
    Sum product;
    for (Index j = 0; j < m; ++j) product.add(problem.g.row(columns[i])[columns[j]], out.b[j]);
    total.add(-out.b[i], problem.c[columns[i]]);
    total.add(0.5 * out.b[i], product.value());
    total.add(1, problem.price[columns[i]]);
    off += std::fabs(out.b[i]) * product.error();
  }
  out.value = total.value() + total.error() + off;
  return out;
}

}  // namespace ellzero
