// From the beginnings of segments to levels: least squares in closed form.
//
// The level at the first sample s of a segment is B_s / A_s, from the filters
//   A_s = w_s + g^2 A_{s+1},   B_s = w_s y_s + g B_{s+1},   g the decay from s to s + 1,
// run backward so that nothing overflows.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "segment/series.hpp"

namespace ellzero {

struct Segments {
  std::vector<Index> starts;  // as numbers of observed samples
  std::vector<double> levels;
  double loss = 0;  // 1/2 sum w (y - c)^2
};

namespace detail {

struct Pooled {
  Index start;
  double precision;  // A
  double level;
  double size;  // the same of |y|: what rounding is relative to
  double age;   // decay from its first sample to that of the next segment
};

inline std::vector<Pooled> pool(const Series& s, const std::vector<Index>& starts) {
  std::vector<Pooled> pooled(starts.size());
  Index end = s.size();
  for (std::size_t k = starts.size(); k-- > 0;) {
    double a = 0, b = 0, size = 0, age = 1;
    for (Index i = end; i-- > starts[k];) {
      const double g = i + 1 < s.size() ? s.decay_to(i + 1) : 1.0;
      a = s.weight(i) + g * g * a;
      b = s.weight(i) * s.y[i] + g * b;
      size = s.weight(i) * std::abs(s.y[i]) + g * size;
      age *= g;
    }
    pooled[k] = {starts[k], a, b / a, size / a, age};
    end = starts[k];
  }
  return pooled;
}

}  // namespace detail

// Leaves out jumps that are not worth lam, or don't exist: ties, what rounding puts on the wrong
// side, and for positive jumps any that point down. So of two solutions that cost the same and
// differ by a jump, the one without it is chosen.
inline std::vector<Index> tidy(const Series& s, const std::vector<Index>& starts) {
  constexpr double kTie = 1e-12, kZero = 1e-14;
  std::vector<detail::Pooled> kept;
  for (detail::Pooled next : detail::pool(s, starts)) {
    while (!kept.empty()) {
      detail::Pooled& last = kept.back();
      const double arrival = last.age * last.level;
      const double jump = next.level - arrival;
      // What one level for both adds to the loss.
      const double merged = last.precision + last.age * last.age * next.precision;
      const double saving = 0.5 * jump * jump * next.precision * last.precision / merged;
      const bool nothing = std::abs(jump) <= kZero * (next.size + last.age * last.size);
      if (!nothing && !(s.positive && jump < 0) && saving > s.lam * (1 + kTie)) break;
      const double share = last.age * next.precision / merged;
      last.level += share * jump;
      last.size += share * (next.size - last.age * last.size);
      last.precision = merged;
      last.age *= next.age;
      next = last;
      kept.pop_back();
    }
    kept.push_back(next);
  }
  std::vector<Index> left;
  for (const detail::Pooled& segment : kept) left.push_back(segment.start);
  return left;
}

inline Segments refit(const Series& s, std::vector<Index> starts) {
  Segments out;
  for (const detail::Pooled& segment : detail::pool(s, starts)) {
    const Index end =
        out.levels.size() + 1 < starts.size() ? starts[out.levels.size() + 1] : s.size();
    // One step of refinement: sums of many large numbers have lost digits.
    double shift = 0, factor = 1;
    for (Index i = segment.start; i < end; ++i) {
      if (i > segment.start) factor *= s.decay_to(i);
      shift += factor * s.weight(i) * (s.y[i] - segment.level * factor);
    }
    const double level = segment.level + shift / segment.precision;
    double c = level, loss = 0;
    for (Index i = segment.start; i < end; ++i) {
      if (i > segment.start) c *= s.decay_to(i);
      loss += 0.5 * s.weight(i) * (s.y[i] - c) * (s.y[i] - c);
    }
    out.levels.push_back(level);
    out.loss += loss;
  }
  out.starts = std::move(starts);
  return out;
}

}  // namespace ellzero
