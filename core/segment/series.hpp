// A series as the solvers of core/segment/ see it: what was observed, in units of its own.
//
//   minimise over c   1/2 sum_t w_t (y_t - c_t)^2 + lam * #{t > 0 : c_t != decay * c_{t-1}}
//
// and, for positive jumps, subject to c_t >= decay * c_{t-1}. Samples that are NaN or weigh nothing
// cost nothing, and a jump inside a gap can be put off to its end at no cost; so only the observed
// samples are kept, each with the decay since the one before. y is divided by a power of two near
// its largest value, so that squares neither overflow nor vanish.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace ellzero {

using Index = std::ptrdiff_t;

struct SegmentTask {
  const double* y = nullptr;        // NaN where nothing was observed
  const double* weights = nullptr;  // nullptr: all one
  Index length = 0;
  double lam = 0;
  double decay = 1;
  bool positive = false;
  double phi = 0;  // correlation of the noise, for free jumps and decay 1: see correlated.hpp
};

struct Series {
  std::vector<double> y;
  std::vector<double> weights;  // empty: all one
  std::vector<double> decays;   // since the sample before; empty: `decay` throughout
  std::vector<Index> times;     // empty: 0, 1, 2, ...
  double decay = 1;
  double lam = 0;
  bool positive = false;
  double energy = 0;       // 1/2 sum w y^2
  double moment = 0;       // sum w |y|
  double unit = 1;         // of y
  double weight_unit = 1;  // of the weights

  Index size() const { return static_cast<Index>(y.size()); }
  double weight(Index i) const { return weights.empty() ? 1.0 : weights[i]; }
  double decay_to(Index i) const { return decays.empty() ? decay : decays[i]; }
  Index time(Index i) const { return times.empty() ? i : times[i]; }
};

inline double power_of_two_near(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return std::ldexp(1.0, std::max(-1021, std::min(1023, exponent)));
}

inline Series make_series(const SegmentTask& task) {
  // Lighter than this beside the heaviest, a sample could not move anything.
  constexpr double kLightest = 1e-200;
  // A level that has decayed by this much is zero; kept above it so that nothing is denormal.
  constexpr double kDecayed = 1e-100;

  Series s;
  s.decay = std::max(task.decay, kDecayed);
  s.positive = task.positive;
  double largest = 0, heaviest = task.weights ? 0.0 : 1.0;
  bool gaps = false;
  Index count = 0;
  for (Index t = 0; task.weights && t < task.length; ++t) {
    if (!std::isnan(task.y[t])) heaviest = std::max(heaviest, task.weights[t]);
  }
  const auto observed = [&](Index t) {
    return !std::isnan(task.y[t]) && (!task.weights || task.weights[t] > kLightest * heaviest);
  };
  for (Index t = 0; t < task.length; ++t) {
    if (!observed(t)) continue;
    gaps = gaps || t != count;
    largest = std::max(largest, std::abs(task.y[t]));
    ++count;
  }
  if (count == 0) return s;
  if (largest > 0) s.unit = power_of_two_near(largest);
  if (task.weights) s.weight_unit = power_of_two_near(heaviest);

  s.y.reserve(count);
  if (task.weights) s.weights.reserve(count);
  if (gaps) {
    s.decays.reserve(count);
    s.times.reserve(count);
  }
  Index before = 0;
  for (Index t = 0; t < task.length; ++t) {
    if (!observed(t)) continue;
    s.y.push_back(task.y[t] / s.unit);
    if (task.weights) s.weights.push_back(task.weights[t] / s.weight_unit);
    if (gaps) {
      const double gap = static_cast<double>(t - before);
      s.decays.push_back(std::max(std::pow(task.decay, gap), kDecayed));
      s.times.push_back(t);
      before = t;
    }
    const Index i = s.size() - 1;
    s.energy += 0.5 * s.weight(i) * s.y[i] * s.y[i];
    s.moment += s.weight(i) * std::abs(s.y[i]);
  }
  // No jump can gain more than the energy: a larger lam only loses digits.
  // In correlated noise it can gain four times that.
  s.lam = std::min(task.lam / s.unit / s.unit / s.weight_unit, (task.phi > 0 ? 8 : 2) * s.energy);
  return s;
}

}  // namespace ellzero
