// Steps in noise that is correlated from sample to sample (Romano, Rigaill, Runge and Fearnhead
// 2022, without their random walk):
//
//   y_t = mu_t + e_t / sqrt(w_t),   e_t = phi e_{t-1} + innovation of variance one
//   minimise over mu   1/2 sum_i (a_i (y_i - mu_i) - b_i (y_{i-1} - mu_{i-1}))^2 + lam * #jumps
//
// over the samples i that were observed, where for a sample that comes g after the one before
//
//   a_i^2 = w_i v_g,  b_i^2 = phi^(2 g) w_{i-1} v_g,  v_g = (1 - phi^2) / (1 - phi^(2 g)),
//
// and a_0^2 = w_0 (1 - phi^2), b_0 = 0, since the noise has no beginning. This is the likelihood of
// what was observed. With phi = 0 it is least squares.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "segment/series.hpp"

namespace ellzero {

// A sample and the one before it, as their joint term in the objective sees them.
struct SamplePair {
  double y, last;
  double a, b;

  // What the levels before and now leave of the innovation.
  double innovation(double level_before, double level) const {
    return a * (y - level) - b * (last - level_before);
  }
};

class CorrelatedSeries {
 public:
  CorrelatedSeries(const Series& series, double phi) : series_(series) {
    // A correlation below this is none; kept above it so that nothing is denormal.
    constexpr double kNone = 1e-100;
    const double rate = 2 * std::log(phi);
    own_.reserve(series.size());
    carried_.reserve(series.size());
    for (Index i = 0; i < series.size(); ++i) {
      const double gap = i > 0 ? static_cast<double>(series.time(i) - series.time(i - 1)) : 0.0;
      const double kept = i > 0 ? std::pow(phi, gap) : 0.0;
      const double known = i == 0     ? -std::expm1(rate)
                           : gap == 1 ? 1.0
                                      : std::expm1(rate) / std::expm1(rate * gap);
      own_.push_back(std::sqrt(known * series.weight(i)));
      carried_.push_back(kept > kNone ? kept * std::sqrt(known * series.weight(i - 1)) : 0.0);
    }
  }

  // No level of the optimum is further from zero. It costs no more than no signal at all does,
  // four times the energy at most, so no innovation is larger than the root of twice that, and
  // noise a_i e_i = b_i e_{i-1} + innovation that starts from nothing stays within bounds.
  double reach() const {
    const double most = std::sqrt(8 * series_.energy);
    double noise = 0, reach = 1;
    for (Index i = 0; i < size(); ++i) {
      noise = (most + carried_[i] * noise) / own_[i];
      reach = std::max(reach, std::abs(series_.y[i]) + noise);
    }
    return reach;
  }

  Index size() const { return series_.size(); }
  const Series& series() const { return series_; }
  SamplePair pair(Index i) const {
    return {series_.y[i], i > 0 ? series_.y[i - 1] : 0.0, own_[i], carried_[i]};
  }

 private:
  const Series& series_;
  std::vector<double> own_, carried_;  // a and b
};

// The least cost of the samples so far as a function of the present level:
// (level - vertex)^2 / (2 width) + least, with precision = 1 / width.
struct LevelCost {
  double vertex;
  double width, precision;
  double least;

  static LevelCost begin(const SamplePair& first) {
    const double precision = first.a * first.a;
    return {first.y, 1 / precision, precision, 0.0};
  }

  double at(double level) const {
    const double off = level - vertex;
    return off == 0 ? least : least + 0.5 * off * off * precision;
  }

  // The next sample, at the same level.
  void stay(const SamplePair& next) {
    const double slope = next.a - next.b;
    const double surprise = next.innovation(vertex, vertex);
    const double total = precision + slope * slope;
    width = 1 / total;
    least += 0.5 * surprise * surprise * precision * width;
    vertex += slope * width * surprise;
    precision = total;
  }

  // The next sample, at whatever level; a function of that level, without the price of the jump.
  LevelCost jump(const SamplePair& next) const {
    const double variance = 1 + next.b * next.b * width, square = next.a * next.a;
    return {next.y - next.b / next.a * (next.last - vertex), variance / square, square / variance,
            least};
  }

  // The level before a jump that goes best with the level after it.
  double before(const SamplePair& next, double level) const {
    const double pull = next.b * width;
    return vertex - pull * next.innovation(vertex, level) / (1 + pull * next.b);
  }

  // The inverse of that: the level after a jump with which a level before goes best. next.b > 0.
  double after(const SamplePair& next, double level_before) const {
    const double slope = (level_before - vertex) * precision;
    return next.y - (next.b * (next.last - level_before) - slope / next.b) / next.a;
  }
};

}  // namespace ellzero
