// The errors of all folds as lam falls, on the intervals between the lam at which any of them
// changes its solution, and their mean.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "base/kernels.hpp"

namespace ellzero {

// The solutions of one fold as lam falls, in terms of the lam of all rows.
//
// With r what a solution leaves of the test rows and f what it predicts, as deviations from the
// mean, the mean squared error of s f is error - 2 (s - 1) along + (s - 1)^2 square.
struct FoldPath {
  std::vector<double> lambdas;  // where they change, decreasing
  double end = 0;               // the least lam that something is known about
  std::vector<double> sizes;
  std::vector<double> errors;  // mean of r^2
  std::vector<double> along;   // mean of r f
  std::vector<double> square;  // mean of f^2
  double weight = 0;           // of the test rows
};

// From the largest lam to the smallest; each ends where the one before it begins.
struct Intervals {
  std::vector<double> low, high;
};

// Those on which no fold changes its solution.
inline Intervals intervals_of(const std::vector<const FoldPath*>& paths) {
  Intervals out;
  double end = -std::numeric_limits<double>::infinity();
  for (const FoldPath* path : paths) end = std::max(end, path->end);
  for (const FoldPath* path : paths) {
    for (const double lambda : path->lambdas) {
      if (lambda > end) out.low.push_back(lambda);
    }
  }
  std::sort(out.low.begin(), out.low.end(), std::greater<double>());
  out.low.erase(std::unique(out.low.begin(), out.low.end()), out.low.end());
  out.high.reserve(out.low.size() + 1);
  out.high.push_back(std::numeric_limits<double>::infinity());
  out.high.insert(out.high.end(), out.low.begin(), out.low.end());
  out.low.push_back(end);
  return out;
}

// The folds of one repeat on some intervals that follow each other. They count by the weight of
// their test rows.
class FoldTable {
 public:
  // `low` is where the intervals end, decreasing. The paths are kept by the caller.
  FoldTable(std::vector<const FoldPath*> paths, const double* low, Index intervals)
      : paths_(std::move(paths)), intervals_(intervals) {
    double total = 0;
    for (const FoldPath* path : paths_) total += path->weight;
    for (const FoldPath* path : paths_) {
      share_.push_back(path->weight / total);
      Index begin = 0;  // a solution begins at the first interval below its breakpoint
      for (const double lambda : path->lambdas) {
        while (begin < intervals && low[begin] >= lambda) ++begin;
        ends_.push_back(begin);
      }
      ends_.push_back(intervals);
    }
  }

  Index folds() const { return static_cast<Index>(paths_.size()); }
  Index intervals() const { return intervals_; }
  const std::vector<double>& share() const { return share_; }

  // Something of every solution, by fold and interval.
  std::vector<double> spread(const std::vector<double> FoldPath::* what) const {
    std::vector<double> out;
    out.reserve(folds() * intervals_);
    each_stretch([&](Index f, Index s, Index begin, Index end) {
      out.insert(out.end(), end - begin, (paths_[f]->*what)[s]);
    });
    return out;
  }

  // Of the numbers of variables.
  std::vector<double> mean_sizes() const {
    std::vector<double> out(intervals_, 0.0);
    each_stretch([&](Index f, Index s, Index begin, Index end) {
      const double own = share_[f] * paths_[f]->sizes[s];
      for (Index i = begin; i < end; ++i) out[i] += own;
    });
    return out;
  }

  struct MeanAndError {
    std::vector<double> mean, error;
  };
  // The mean over folds on every interval and its standard error: of values by fold and interval,
  // or of how much less than `base` of their fold they are, if that is not null. Where the mean is
  // not finite the error is infinite: predictions may be too large to be squared. That of one fold
  // has none.
  MeanAndError mean_and_error(const double* values, const double* base) const {
    const Index count = intervals_;
    MeanAndError out{std::vector<double>(count, 0.0), std::vector<double>(count, 0.0)};
    std::vector<double> own(count), unit(count, std::numeric_limits<double>::min());
    double *mean = out.mean.data(), *error = out.error.data(), *row = own.data(),
           *largest = unit.data();
    const auto read = [&](Index f) {
      const double *from = values + f * count, sign = base ? -1 : 1, shift = base ? base[f] : 0;
      for (Index i = 0; i < count; ++i) row[i] = shift + sign * from[i];
    };
    for (Index f = 0; f < folds(); ++f) {
      read(f);
      for (Index i = 0; i < count; ++i) {
        mean[i] += share_[f] * row[i];
        largest[i] = std::max(largest[i], std::fabs(row[i]));
      }
    }
    if (folds() < 2) {
      out.error.assign(count, std::numeric_limits<double>::quiet_NaN());
      return out;
    }
    for (Index f = 0; f < folds(); ++f) {
      read(f);
      for (Index i = 0; i < count; ++i) {
        const double deviation = (row[i] - mean[i]) / largest[i];  // squares might overflow
        error[i] += share_[f] * deviation * deviation;
      }
    }
    const double degrees = static_cast<double>(folds() - 1);
    for (Index i = 0; i < count; ++i) {
      error[i] = std::isfinite(mean[i]) ? largest[i] * std::sqrt(error[i] / degrees)
                                        : std::numeric_limits<double>::infinity();
    }
    return out;
  }

 private:
  // Calls work(fold, solution, begin, end) for the intervals that each solution holds on.
  template <class Work>
  void each_stretch(Work&& work) const {
    std::size_t place = 0;
    for (Index f = 0; f < folds(); ++f) {
      const Index solutions = static_cast<Index>(paths_[f]->lambdas.size()) + 1;
      Index begin = 0;
      for (Index s = 0; s < solutions; ++s) {
        const Index end = ends_[place++];
        work(f, s, begin, end);
        begin = end;
      }
    }
  }

  std::vector<const FoldPath*> paths_;
  Index intervals_;
  std::vector<double> share_;
  std::vector<Index> ends_;  // where each solution of each fold ends, fold after fold
};

}  // namespace ellzero
