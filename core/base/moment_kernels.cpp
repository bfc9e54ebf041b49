// Means and moments of a column.
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

}  // namespace ellzero
