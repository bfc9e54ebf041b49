#include <algorithm>
#include <cmath>
#include <limits>

#include "base/bits.hpp"
#include "base/kernels.hpp"

namespace ellzero {

void Moments::merge(const Moments& other) {
  if (other.weight == 0) return;
  if (weight == 0) {
    *this = other;
    return;
  }
  const double total = weight + other.weight;
  const double dx = other.mean_x - mean_x, dy = other.mean_y - mean_y;
  const double share = other.weight / total;
  xx += other.xx + dx * dx * weight * share;
  xy += other.xy + dx * dy * weight * share;
  mean_x += dx * share;
  mean_y += dy * share;
  weight = total;
}

namespace {

ELLZERO_INLINE Lanes weighted(Lanes v, const double* w) { return w ? load(w) * v : v; }

// Weighted mean, to a few ulps of the largest deviation from `shift`. Several partial sums, since
// one addition has to wait for the one before it.
ELLZERO_INLINE double mean_about(double shift, const double* x, const double* w, double weight,
                                 Index rows) {
  constexpr int kSums = 4;
  const Lanes m = broadcast(shift);
  Lanes s[kSums] = {};
  Index r = 0;
  for (; r + kSums * kLanes <= rows; r += kSums * kLanes) {
    for (int i = 0; i < kSums; ++i) {
      const Index at = r + i * kLanes;
      s[i] += weighted(load(x + at) - m, w ? w + at : w);
    }
  }
  s[0] += s[2], s[1] += s[3], s[0] += s[1];
  double total = sum(s[0]);
  for (; r < rows; ++r) total += (x[r] - shift) * (w ? w[r] : 1.0);
  return shift + total / weight;
}

}  // namespace

ELLZERO_MULTIVERSION
Stretch stretch(const double* y, const double* w, Index rows, bool centred) {
  Stretch over{y, w, rows, centred, static_cast<double>(rows), 0};
  if (w) {
    over.weight = 0;
    for (Index r = 0; r < rows; ++r) over.weight += w[r];
  }
  if (centred && over.weight > 0) {
    over.mean_y = mean_about(mean_about(0, y, w, over.weight, rows), y, w, over.weight, rows);
  }
  return over;
}

ELLZERO_MULTIVERSION
Moments moments(const double* x, const Stretch& over) {
  Moments m;
  m.weight = over.weight;
  if (m.weight == 0) return m;
  const double* w = over.w;
  m.mean_y = over.mean_y;
  const double first = over.centred ? mean_about(0, x, w, over.weight, over.rows) : 0;
  const Lanes mean_x = broadcast(first), mean_y = broadcast(over.mean_y);
  constexpr int kSums = 3;
  Lanes sum_u[kSums] = {}, sum_uu[kSums] = {}, sum_uy[kSums] = {};
  Index r = 0;
  for (; r + kSums * kLanes <= over.rows; r += kSums * kLanes) {
    for (int i = 0; i < kSums; ++i) {
      const Index at = r + i * kLanes;
      const Lanes u = load(x + at) - mean_x;
      const Lanes wu = weighted(u, w ? w + at : w);
      sum_u[i] += wu;
      sum_uu[i] += wu * u;
      sum_uy[i] += wu * (load(over.y + at) - mean_y);
    }
  }
  for (int i = 1; i < kSums; ++i) {
    sum_u[0] += sum_u[i], sum_uu[0] += sum_uu[i], sum_uy[0] += sum_uy[i];
  }
  double left = sum(sum_u[0]);
  m.xx = sum(sum_uu[0]);
  m.xy = sum(sum_uy[0]);
  for (; r < over.rows; ++r) {
    const double u = x[r] - first, wu = u * (w ? w[r] : 1.0);
    left += wu;
    m.xx += wu * u;
    m.xy += wu * (over.y[r] - over.mean_y);
  }
  if (over.centred) {
    // What the rounding of the first mean left. The deviations of y sum to rounding, so xy needs
    // no such correction.
    const double correction = left / m.weight;
    m.mean_x = first + correction;
    m.xx = m.xx > left * correction ? m.xx - left * correction : 0;
  }
  return m;
}

namespace {

// Vectors of columns from i on, W of them, of N rows of sums, kept in registers.
template <class V, int N, int W>
ELLZERO_INLINE void combine_block(const double* const* columns, const double* coefficients,
                                  Index stride, Index count, Index i, double* out,
                                  Index out_stride) {
  V sums[N][W] = {};
  for (Index s = 0; s < count; ++s) {
    V x[W];
    for (int w = 0; w < W; ++w) x[w] = load_as<V>(columns[s] + i + w * kLanesOf<V>);
    for (int m = 0; m < N; ++m) {
      const V factor = broadcast_as<V>(coefficients[m * stride + s]);
      for (int w = 0; w < W; ++w) sums[m][w] += factor * x[w];
    }
  }
  for (int m = 0; m < N; ++m) {
    for (int w = 0; w < W; ++w) store(out + m * out_stride + w * kLanesOf<V>, sums[m][w]);
  }
}

// The same for `width` vectors, at most W.
template <class V, int N, int W>
ELLZERO_INLINE void combine_up_to(Index width, const double* const* columns,
                                  const double* coefficients, Index stride, Index count, Index i,
                                  double* out, Index out_stride) {
  if (width == W) {
    combine_block<V, N, W>(columns, coefficients, stride, count, i, out, out_stride);
  } else if constexpr (W > 1) {
    combine_up_to<V, N, W - 1>(width, columns, coefficients, stride, count, i, out, out_stride);
  }
}

template <class V, int N, int W>
ELLZERO_INLINE void combine_n(const double* const* columns, const double* coefficients,
                              Index stride, Index count, Index begin, Index end, double* out,
                              Index out_stride) {
  Index i = begin;
  for (; i + W * kLanesOf<V> <= end; i += W * kLanesOf<V>) {
    combine_block<V, N, W>(columns, coefficients, stride, count, i, out + (i - begin), out_stride);
  }
  if constexpr (W > 1) {
    const Index left = (end - i) / kLanesOf<V>;
    combine_up_to<V, N, W - 1>(left, columns, coefficients, stride, count, i, out + (i - begin),
                               out_stride);
    i += left * kLanesOf<V>;
  }
  if (i == end) return;
  // The last few in lanes too, with some before them, as far as there are any: alone they would be
  // rounded otherwise.
  if (end - begin >= kLanesOf<V>) {
    const Index last = end - kLanesOf<V>;
    combine_block<V, N, 1>(columns, coefficients, stride, count, last, out + (last - begin),
                           out_stride);
    return;
  }
  V sums[N] = {};
  for (Index s = 0; s < count; ++s) {
    V x = {};
    for (Index l = 0; l < end - i; ++l) x[l] = columns[s][i + l];
    for (int m = 0; m < N; ++m) sums[m] += broadcast_as<V>(coefficients[m * stride + s]) * x;
  }
  for (int m = 0; m < N; ++m) {
    for (Index l = 0; l < end - i; ++l) out[m * out_stride + (i - begin) + l] = sums[m][l];
  }
}

template <class V>
ELLZERO_INLINE void combine_any(const double* const* columns, const double* coefficients,
                                Index count, Index begin, Index end, double* out) {
  combine_n<V, 1, 8>(columns, coefficients, 0, count, begin, end, out, 0);
}

template <class V>
ELLZERO_INLINE void combine_rows_any(const double* const* columns, const double* coefficients,
                                     Index stride, Index rows, Index count, Index begin, Index end,
                                     double* out, Index out_stride) {
  switch (rows) {
    case 1:
      return combine_n<V, 1, 8>(columns, coefficients, stride, count, begin, end, out, out_stride);
    case 2:
      return combine_n<V, 2, 4>(columns, coefficients, stride, count, begin, end, out, out_stride);
    case 3:
      return combine_n<V, 3, 3>(columns, coefficients, stride, count, begin, end, out, out_stride);
    default:
      return combine_n<V, 4, 2>(columns, coefficients, stride, count, begin, end, out, out_stride);
  }
}

}  // namespace

ELLZERO_BY_LANES(combine,
                 (const double* const* columns, const double* coefficients, Index count,
                  Index begin, Index end, double* out),
                 (columns, coefficients, count, begin, end, out))

ELLZERO_BY_LANES(combine_rows,
                 (const double* const* columns, const double* coefficients, Index stride,
                  Index rows, Index count, Index begin, Index end, double* out, Index out_stride),
                 (columns, coefficients, stride, rows, count, begin, end, out, out_stride))

namespace {

template <class V, int W>
ELLZERO_INLINE void pool_block(const double* const* inside, const double* const* between,
                               const double* factor, Index parts, Index i, V* sums) {
  for (Index b = 0; b < parts; ++b) {
    const V f = broadcast_as<V>(factor[b]);
    for (int w = 0; w < W; ++w) {
      sums[w] += load_as<V>(inside[b] + i + w * kLanesOf<V>);
      sums[w] += f * load_as<V>(between[b] + i + w * kLanesOf<V>);
    }
  }
}

template <class V>
ELLZERO_INLINE void pool_any(const double* const* inside, const double* const* between,
                             const double* factor, Index parts, const double* scale, double own,
                             Index count, double* out) {
  constexpr int kWide = 4;
  Index i = 0;
  for (; i + kWide * kLanesOf<V> <= count; i += kWide * kLanesOf<V>) {
    V sums[kWide] = {};
    pool_block<V, kWide>(inside, between, factor, parts, i, sums);
    for (int w = 0; w < kWide; ++w) {
      const Index at = i + w * kLanesOf<V>;
      store(out + at, sums[w] * (load_as<V>(scale + at) * broadcast_as<V>(own)));
    }
  }
  for (; i < count; ++i) {
    double sum = 0;
    for (Index b = 0; b < parts; ++b) {
      sum += inside[b][i];
      sum += factor[b] * between[b][i];
    }
    out[i] = sum * (scale[i] * own);
  }
}

}  // namespace

ELLZERO_BY_LANES(pool,
                 (const double* const* inside, const double* const* between, const double* factor,
                  Index parts, const double* scale, double own, Index count, double* out),
                 (inside, between, factor, parts, scale, own, count, out))

ELLZERO_MULTIVERSION_WIDE
void apply_flip(const double* t, double q, double sign, Index count, double* c, double* d) {
  const double step = sign * q;
  for (Index i = 0; i < count; ++i) {
    c[i] += step * t[i];
    d[i] += sign * t[i] * t[i];
  }
}

namespace {

// Vectors of columns from i on, W of them, whose t stay in registers.
template <class V, int W>
ELLZERO_INLINE void flip_block(const double* const* columns, const double* a, Index count,
                               double step, double sign, Index i, double* c, double* d) {
  V t[W] = {};
  for (Index s = 0; s < count; ++s) {
    const V factor = broadcast_as<V>(a[s]);
    const double* column = columns[s] + i;
    for (int w = 0; w < W; ++w) t[w] += factor * load_as<V>(column + w * kLanesOf<V>);
  }
  c += i;
  d += i;
  const V steps = broadcast_as<V>(step), signs = broadcast_as<V>(sign);
  for (int w = 0; w < W; ++w) {
    const Index at = w * kLanesOf<V>;
    V own_c = load_as<V>(c + at), own_d = load_as<V>(d + at);
    own_c += steps * t[w];
    own_d += signs * t[w] * t[w];
    store(c + at, own_c);
    store(d + at, own_d);
  }
}

// The same for `width` vectors, at most W.
template <class V, int W>
ELLZERO_INLINE void flip_block_up_to(Index width, const double* const* columns, const double* a,
                                     Index count, double step, double sign, Index i, double* c,
                                     double* d) {
  if (width == W) {
    flip_block<V, W>(columns, a, count, step, sign, i, c, d);
  } else if constexpr (W > 1) {
    flip_block_up_to<V, W - 1>(width, columns, a, count, step, sign, i, c, d);
  }
}

template <class V>
ELLZERO_INLINE void flip_columns_any(const double* const* columns, const double* a, Index count,
                                     double q, double sign, Index length, double* c, double* d) {
  constexpr Index kWidest = 13;
  const double step = sign * q;
  Index i = 0;
  // Blocks as wide as there are registers, and of about the same width: narrow ones wait for their
  // sums.
  for (Index vectors = length / kLanesOf<V>, blocks = (vectors + kWidest - 1) / kWidest; blocks > 0;
       --blocks) {
    const Index width = (vectors + blocks - 1) / blocks;
    flip_block_up_to<V, kWidest>(width, columns, a, count, step, sign, i, c, d);
    vectors -= width;
    i += width * kLanesOf<V>;
  }
  if (i == length) return;
  double t[kLanesOf<V>];
  const Index last = std::max<Index>(0, length - kLanesOf<V>);
  combine_n<V, 1, 1>(columns, a, 0, count, last, length, t, 0);
  for (; i < length; ++i) {
    c[i] += step * t[i - last];
    d[i] += sign * t[i - last] * t[i - last];
  }
}

}  // namespace

ELLZERO_BY_LANES(flip_columns,
                 (const double* const* columns, const double* a, Index count, double q, double sign,
                  Index length, double* c, double* d),
                 (columns, a, count, q, sign, length, c, d))

namespace {

template <class V, int W>
ELLZERO_INLINE void flip_block_beside(const double* const* columns, const double* a,
                                      const double* const* others, const double* b, Index count,
                                      double step, double sign, Index i, double* c, double* d,
                                      double* e) {
  V t[W] = {}, u[W] = {};
  for (Index s = 0; s < count; ++s) {
    const double *column = columns[s] + i, *other = others[s] + i;
    const V of_t = broadcast_as<V>(a[s]), of_u = broadcast_as<V>(b[s]);
    for (int w = 0; w < W; ++w) {
      t[w] += of_t * load_as<V>(column + w * kLanesOf<V>);
      u[w] += of_u * load_as<V>(other + w * kLanesOf<V>);
    }
  }
  const V steps = broadcast_as<V>(step), signs = broadcast_as<V>(sign);
  for (int w = 0; w < W; ++w) {
    const Index at = i + w * kLanesOf<V>;
    V own_c = load_as<V>(c + at), own_d = load_as<V>(d + at), own_e = load_as<V>(e + at);
    own_c += steps * t[w];
    own_d += signs * t[w] * t[w];
    own_e += signs * u[w] * u[w];
    store(c + at, own_c);
    store(d + at, own_d);
    store(e + at, own_e);
  }
}

// The same for `width` vectors, at most W.
template <class V, int W>
ELLZERO_INLINE void flip_beside_up_to(Index width, const double* const* columns, const double* a,
                                      const double* const* others, const double* b, Index count,
                                      double step, double sign, Index i, double* c, double* d,
                                      double* e) {
  if (width == W) {
    flip_block_beside<V, W>(columns, a, others, b, count, step, sign, i, c, d, e);
  } else if constexpr (W > 1) {
    flip_beside_up_to<V, W - 1>(width, columns, a, others, b, count, step, sign, i, c, d, e);
  }
}

template <class V>
ELLZERO_INLINE void flip_columns_beside_any(const double* const* columns, const double* a,
                                            const double* const* others, const double* b,
                                            Index count, double q, double sign, Index length,
                                            double* c, double* d, double* e) {
  constexpr Index kWidest = 6;
  const double step = sign * q;
  Index i = 0;
  for (Index vectors = length / kLanesOf<V>, blocks = (vectors + kWidest - 1) / kWidest; blocks > 0;
       --blocks) {
    const Index width = (vectors + blocks - 1) / blocks;
    flip_beside_up_to<V, kWidest>(width, columns, a, others, b, count, step, sign, i, c, d, e);
    vectors -= width;
    i += width * kLanesOf<V>;
  }
  if (i == length) return;
  double t[kLanesOf<V>], u[kLanesOf<V>];
  const Index last = std::max<Index>(0, length - kLanesOf<V>);
  combine_n<V, 1, 1>(columns, a, 0, count, last, length, t, 0);
  combine_n<V, 1, 1>(others, b, 0, count, last, length, u, 0);
  for (; i < length; ++i) {
    c[i] += step * t[i - last];
    d[i] += sign * t[i - last] * t[i - last];
    e[i] += sign * u[i - last] * u[i - last];
  }
}

}  // namespace

ELLZERO_BY_LANES(flip_columns_beside,
                 (const double* const* columns, const double* a, const double* const* others,
                  const double* b, Index count, double q, double sign, Index length, double* c,
                  double* d, double* e),
                 (columns, a, others, b, count, q, sign, length, c, d, e))

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

namespace {

ELLZERO_INLINE double dot_inline(const double* a, const double* b, Index count) {
  Lanes low = {}, high = {};
  Index r = 0;
  for (; r + 8 <= count; r += 8) {
    low += load(a + r) * load(b + r);
    high += load(a + r + kLanes) * load(b + r + kLanes);
  }
  double s[8] = {low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]};
  // Those that are left, each in its own sum: places that a compiler knows stay in registers.
  if (r + 0 < count) s[0] += a[r] * b[r];
  if (r + 1 < count) s[1] += a[r + 1] * b[r + 1];
  if (r + 2 < count) s[2] += a[r + 2] * b[r + 2];
  if (r + 3 < count) s[3] += a[r + 3] * b[r + 3];
  if (r + 4 < count) s[4] += a[r + 4] * b[r + 4];
  if (r + 5 < count) s[5] += a[r + 5] * b[r + 5];
  if (r + 6 < count) s[6] += a[r + 6] * b[r + 6];
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

// Columns i .. i + W kLanes of M'v, and the sums of their squares. Rows before i have nothing
// there.
template <int W, bool kSquares>
ELLZERO_INLINE void lower_columns(const double* m, Index stride, Index k, const double* v, Index i,
                                  double* out, double* squares) {
  Lanes sum[W] = {}, square[W] = {};
  for (Index r = i; r < k; ++r) {
    const Lanes factor = broadcast(v[r]);
    for (int w = 0; w < W; ++w) {
      const Lanes x = load(m + r * stride + i + w * kLanes);
      sum[w] += x * factor;
      if (kSquares) square[w] += x * x;
    }
  }
  for (Index w = 0; w < W; ++w) {
    for (Index l = 0, s = i + w * kLanes; l < kLanes && s < k; ++l, ++s) {
      out[s] = sum[w][l];
      if (kSquares) squares[s] = square[w][l];
    }
  }
}

template <bool kSquares>
ELLZERO_INLINE void all_lower_columns(const double* m, Index stride, Index k, const double* v,
                                      double* out, double* squares) {
  Index i = 0;
  for (; i + 3 * kLanes < k; i += 4 * kLanes) {
    lower_columns<4, kSquares>(m, stride, k, v, i, out, squares);
  }
  for (; i + kLanes < k; i += 2 * kLanes) {
    lower_columns<2, kSquares>(m, stride, k, v, i, out, squares);
  }
  for (; i < k; i += kLanes) lower_columns<1, kSquares>(m, stride, k, v, i, out, squares);
}

// Four rows at a time, each summed as dot() does: what is beyond the diagonal adds zeros.
ELLZERO_INLINE void lower_times_inline(const double* m, Index stride, Index k, const double* v,
                                       double* out) {
  const Index whole = k / 8 * 8;
  double rest[8] = {};
  for (Index s = whole; s < k; ++s) rest[s - whole] = v[s];
  for (Index r = 0; r < k; r += kLanes) {
    Lanes low[kLanes] = {}, high[kLanes] = {};
    for (Index i = 0; i <= r; i += 8) {
      const double* part = i < whole ? v + i : rest;
      const Lanes first = load(part), second = load(part + kLanes);
      for (Index l = 0; l < kLanes; ++l) {
        const double* row = m + (r + l) * stride + i;
        low[l] += load(row) * first;
        high[l] += load(row + kLanes) * second;
      }
    }
    for (Index l = 0; l < kLanes; ++l) low[l] += high[l];
    transpose(low[0], low[1], low[2], low[3]);
    low[0] += low[2];
    low[1] += low[3];
    low[0] += low[1];
    for (Index l = 0; l < kLanes && r + l < k; ++l) out[r + l] = low[0][l];
  }
}

// upper, lower = cosine upper - sine lower, sine upper + cosine lower; the first goes to `to`.
ELLZERO_INLINE void rotate(double cosine, double sine, double* upper, const double* lower,
                           double* to, Index count) {
  const Lanes c = broadcast(cosine), s = broadcast(sine);
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Lanes u = load(upper + i), l = load(lower + i);
    store(to + i, c * u - s * l);
    Lanes sum = s * u;
    sum += c * l;
    store(upper + i, sum);
  }
  for (; i < count; ++i) {
    const double u = upper[i], l = lower[i];
    to[i] = cosine * u - sine * l;
    upper[i] = sine * u + cosine * l;
  }
}

}  // namespace

namespace {

// N of them at a time: one sum has to wait for itself.
template <int N>
ELLZERO_INLINE void dots_n(const double* a, const double* const* b, Index count, double* out) {
  Lanes sums[N][2] = {};
  Index r = 0;
  for (; r + 2 * kLanes <= count; r += 2 * kLanes) {
    const Lanes low = load(a + r), high = load(a + r + kLanes);
    for (int i = 0; i < N; ++i) {
      sums[i][0] += low * load(b[i] + r);
      sums[i][1] += high * load(b[i] + r + kLanes);
    }
  }
  for (int i = 0; i < N; ++i) {
    sums[i][0] += sums[i][1];
    double total = sum(sums[i][0]);
    for (Index l = r; l < count; ++l) total += a[l] * b[i][l];
    out[i] = total;
  }
}

}  // namespace

ELLZERO_MULTIVERSION
void dots(const double* a, const double* const* b, Index vectors, Index count, double* out) {
  Index i = 0;
  for (; i + 4 <= vectors; i += 4) dots_n<4>(a, b + i, count, out + i);
  for (; i < vectors; ++i) dots_n<1>(a, b + i, count, out + i);
}

ELLZERO_MULTIVERSION
double dot(const double* a, const double* b, Index count) { return dot_inline(a, b, count); }

ELLZERO_MULTIVERSION
void lower_times(const double* m, Index stride, Index k, const double* v, double* out) {
  lower_times_inline(m, stride, k, v, out);
}

ELLZERO_MULTIVERSION
void lower_transposed_times(const double* m, Index stride, Index k, const double* v, double* out) {
  all_lower_columns<false>(m, stride, k, v, out, nullptr);
}

ELLZERO_MULTIVERSION
void lower_column_sums(const double* m, Index stride, Index k, const double* v, double* out,
                       double* squares) {
  all_lower_columns<true>(m, stride, k, v, out, squares);
}

ELLZERO_MULTIVERSION
LowerSolved lower_solve(const double* m, Index stride, Index k, const double* v, const double* b,
                        double* w, double* u) {
  lower_times_inline(m, stride, k, v, w);
  all_lower_columns<false>(m, stride, k, w, u, nullptr);
  return {dot_inline(w, w, k), dot_inline(u, u, k), dot_inline(u, b, k)};
}

ELLZERO_MULTIVERSION
void drop_column(double* m, Index stride, Index k, Index r, double* z, double* row, double* room) {
  const Index last = k - 1;
  // The rotations are known from the start: what is in column r of the rows so far has the length
  // that each begins with.
  double *cosine = room, *sine = room + k;
  double sum = 0;
  for (Index i = r; i <= last; ++i) {
    const double own = m[i * stride + r];
    sum += own * own;
    cosine[i] = own;
    sine[i] = sum;
  }
  for (Index i = r; i <= last; ++i) sine[i] = std::sqrt(sine[i]);
  const double first = cosine[r], length = last > r ? sine[last] : first;
  for (Index i = last; i > r; --i) {
    const double inverse = 1 / sine[i];
    cosine[i] *= inverse;
    sine[i] = (i == r + 1 ? first : sine[i - 1]) * inverse;
  }
  // `row` is the row that is rotated down, without column r until the end.
  const double* top = m + r * stride;
  for (Index s = 0; s < r; ++s) row[s] = top[s];
  for (Index s = r; s < last; ++s) row[s] = 0;
  for (Index i = r + 1; i <= last; ++i) {
    const double* lower = m + i * stride;
    double* to = m + (i - 1) * stride;
    rotate(cosine[i], sine[i], row, lower, to, r);
    rotate(cosine[i], sine[i], row + r, lower + r + 1, to + r, i - r);
    const double u = z[i - 1], l = z[i];
    z[i - 1] = cosine[i] * u - sine[i] * l;
    z[i] = sine[i] * u + cosine[i] * l;
  }
  for (Index s = last; s > r; --s) row[s] = row[s - 1];
  row[r] = length;
}

}  // namespace ellzero
