// What insertions, removals and swaps would gain.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/bits.hpp"
#include "base/kernels.hpp"

namespace ellzero {

ELLZERO_MULTIVERSION_WIDE
double insertion_scores(const double* c, const double* d, double floor, Index count,
                        double* score) {
  auto highest = bits::ordered(-1.0);
  for (Index i = 0; i < count; ++i) {
    const bool open = d[i] > floor;
    const double ratio = c[i] * c[i] / (open ? d[i] : 1.0);
    score[i] = open ? ratio : -1.0;
    highest = std::max(highest, bits::ordered(score[i]));
  }
  return bits::from_ordered(highest);
}

ELLZERO_MULTIVERSION_WIDE
Index first_of_at_least(double bar, const double* score, Index count) {
  constexpr Index kTogether = 32;
  Index i = 0;
  for (; i + kTogether <= count; i += kTogether) {
    Index found = 0;
    for (Index l = 0; l < kTogether; ++l) found += score[i + l] >= bar;
    if (found > 0) break;
  }
  while (i < count && !(score[i] >= bar)) ++i;
  return i;
}

ELLZERO_MULTIVERSION_WIDE
void removal_costs(const double* beta, const double* inverse, Index count, double* cost) {
  for (Index i = 0; i < count; ++i) cost[i] = 0.5 * beta[i] * beta[i] / inverse[i];
}

namespace {

struct Moved {
  double square;  // (c + t rho)^2
  double left;    // d + t^2
};
template <bool kSlack>
ELLZERO_INLINE Moved swap(double c, double d, double t, double rho, const SwapSlack& slack) {
  if constexpr (kSlack) {
    const double moved = std::fabs(c + t * rho) + (slack.c + slack.t * std::fabs(rho));
    return {moved * moved, d + t * t - (slack.d + 2 * slack.t * std::fabs(t))};
  }
  const double moved = c + t * rho;
  return {moved * moved, d + t * t};
}

template <bool kSlack>
ELLZERO_INLINE void score_swaps(const double* c, const double* d, const double* t, double rho,
                                double floor, const SwapSlack& slack, Index count, double* score) {
  constexpr double kClosed = -std::numeric_limits<double>::infinity();
  for (Index i = 0; i < count; ++i) {
    const Moved moved = swap<kSlack>(c[i], d[i], t[i], rho, slack);
    const bool open = moved.left > floor;
    const double gained = moved.square / (open ? moved.left : 1.0) - rho * rho;
    score[i] = open ? gained : kClosed;
  }
}

template <bool kSlack>
ELLZERO_INLINE bool any_above(double least, const double* c, const double* d, const double* t,
                              double rho, double floor, const SwapSlack& slack, Index count) {
  const double bar = rho * rho + least;
  Index above = 0;
  for (Index i = 0; i < count; ++i) {
    const Moved moved = swap<kSlack>(c[i], d[i], t[i], rho, slack);
    above += (moved.left > floor) & (moved.square > bar * moved.left);
  }
  return above > 0;
}

}  // namespace

ELLZERO_MULTIVERSION_WIDE
void swap_scores(const double* c, const double* d, const double* t, double rho, double floor,
                 const SwapSlack* slack, Index count, double* score) {
  if (slack) {
    score_swaps<true>(c, d, t, rho, floor, *slack, count, score);
  } else {
    score_swaps<false>(c, d, t, rho, floor, {}, count, score);
  }
}

ELLZERO_MULTIVERSION_WIDE
bool any_swap_above(double least, const double* c, const double* d, const double* t, double rho,
                    double floor, const SwapSlack* slack, Index count) {
  if (slack) return any_above<true>(least, c, d, t, rho, floor, *slack, count);
  return any_above<false>(least, c, d, t, rho, floor, {}, count);
}

ELLZERO_MULTIVERSION_WIDE
void swap_reach(const double* c, const double* d, double slack_c, double slack_d, double whole,
                const double* rho, double floor, Index count, double* within) {
  static_assert(kReaches == 4);
  const double root = std::sqrt(whole);
  const double rho0 = rho[0], rho1 = rho[1], rho2 = rho[2], rho3 = rho[3];
  for (Index i = 0; i < count; ++i) {
    const double least = d[i] - slack_d, explained = whole - least;
    // The bound is left some room for rounding.
    const double reach = (std::fabs(c[i]) + slack_c) *
                         (std::sqrt(explained > 0 ? explained : 0.0) + root) * (1 + 1e-9);
    const double own = least > floor ? least : 0.0;
    const double reached = (reach >= rho0 * own ? 1.0 : 0.0) + (reach >= rho1 * own ? 1.0 : 0.0) +
                           (reach >= rho2 * own ? 1.0 : 0.0) + (reach >= rho3 * own ? 1.0 : 0.0);
    // A member's d is -infinity.
    within[i] = d[i] > -std::numeric_limits<double>::infinity() ? reached : 0.0;
  }
}

namespace {

// kRows rows of t.
template <class V, int kRows>
ELLZERO_INLINE void combine_gathered_rows(const double* gathered, Index rows, Index columns,
                                          const double* a, double* t) {
  constexpr int kWide = 8 / kLanesOf<V>;
  for (Index i = 0; i < columns; i += 8) {
    V sums[kRows][kWide] = {};
    for (Index s = 0; s < rows; ++s) {
      V x[kWide];
      for (int w = 0; w < kWide; ++w) {
        x[w] = load_as<V>(gathered + s * kSwapColumns + i + w * kLanesOf<V>);
      }
      for (int m = 0; m < kRows; ++m) {
        const V factor = broadcast_as<V>(a[m * rows + s]);
        for (int w = 0; w < kWide; ++w) sums[m][w] += factor * x[w];
      }
    }
    for (int m = 0; m < kRows; ++m) {
      for (int w = 0; w < kWide; ++w) {
        store(t + m * kSwapColumns + i + w * kLanesOf<V>, sums[m][w]);
      }
    }
  }
}

template <class V>
ELLZERO_INLINE void combine_gathered_any(const double* gathered, Index rows, Index columns,
                                         const double* a, Index count, double* t) {
  Index m = 0;
  for (; m + 4 <= count; m += 4) {
    combine_gathered_rows<V, 4>(gathered, rows, columns, a + m * rows, t + m * kSwapColumns);
  }
  for (; m < count; ++m) {
    combine_gathered_rows<V, 1>(gathered, rows, columns, a + m * rows, t + m * kSwapColumns);
  }
}

}  // namespace

ELLZERO_BY_LANES(combine_gathered,
                 (const double* gathered, Index rows, Index columns, const double* a, Index count,
                  double* t),
                 (gathered, rows, columns, a, count, t))

}  // namespace ellzero
