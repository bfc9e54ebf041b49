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

  // What every factor saves over the errors of `nothing`, one for each fold, on every interval, and
  // its standard error; one factor after the other. The error of a fold is a quadratic in m, the
  // factor less one, so its mean and its variance over folds are
  //
  //   mean a + 2 m mean b - m^2 mean c,
  //   aa + 4 m ab + m^2 (4 bb - 2 ac) - 4 m^3 bc + m^4 cc
  //
  // with a what the factor 1 saves, b along, c square, and aa to cc their covariances.
  MeanAndError savings(const std::vector<double>& factors, const double* nothing) const {
    const Index count = intervals_;
    double unit = 0;  // squares of errors may overflow, or underflow
    for (Index f = 0; f < folds(); ++f) unit = std::max(unit, std::fabs(nothing[f]));
    if (unit == 0) unit = 1;
    std::vector<double> terms[3] = {spread(&FoldPath::errors), spread(&FoldPath::along),
                                    spread(&FoldPath::square)};
    std::vector<double> means(3 * count, 0.0), products(6 * count, 0.0);
    for (Index f = 0; f < folds(); ++f) {
      double *a = terms[0].data() + f * count, *b = terms[1].data() + f * count,
             *c = terms[2].data() + f * count, *mean = means.data();
      for (Index i = 0; i < count; ++i) {
        a[i] = (nothing[f] - a[i]) / unit;
        b[i] /= unit;
        c[i] /= unit;
        mean[i] += share_[f] * a[i];
        mean[count + i] += share_[f] * b[i];
        mean[2 * count + i] += share_[f] * c[i];
      }
    }
    for (Index f = 0; f < folds(); ++f) {
      const double *a = terms[0].data() + f * count, *b = terms[1].data() + f * count,
                   *c = terms[2].data() + f * count, *mean = means.data(), share = share_[f];
      double* sum = products.data();
      for (Index i = 0; i < count; ++i) {
        const double x = a[i] - mean[i], y = b[i] - mean[count + i], z = c[i] - mean[2 * count + i];
        sum[i] += share * x * x;
        sum[count + i] += share * x * y;
        sum[2 * count + i] += share * y * y;
        sum[3 * count + i] += share * x * z;
        sum[4 * count + i] += share * y * z;
        sum[5 * count + i] += share * z * z;
      }
    }
    MeanAndError out;
    out.mean.resize(factors.size() * count);
    out.error.resize(factors.size() * count);
    const double degrees = std::max(static_cast<double>(folds() - 1), 1.0);
    for (std::size_t s = 0; s < factors.size(); ++s) {
      const double m = factors[s] - 1, *mean = means.data(), *sum = products.data();
      double *saved = out.mean.data() + s * count, *error = out.error.data() + s * count;
      for (Index i = 0; i < count; ++i) {
        saved[i] = unit * (mean[i] + 2 * m * mean[count + i] - m * m * mean[2 * count + i]);
        const double variance = sum[i] + 4 * m * sum[count + i] +
                                m * m * (4 * sum[2 * count + i] - 2 * sum[3 * count + i]) -
                                4 * m * m * m * sum[4 * count + i] +
                                m * m * m * m * sum[5 * count + i];
        error[i] = unit * std::sqrt(std::max(variance, 0.0) / degrees);
      }
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

// How much of what is saved may be luck: its variance over itself. All of it if it is a standard
// error, next to nothing if it is many; infinite if nothing is saved.
inline double luck_of(double saved, double error) {
  if (std::isnan(error) || error == 0) return 0;  // of one fold there is none
  return saved > 0 ? error * (error / saved) : std::numeric_limits<double>::infinity();
}

// On every interval the factor of least error in the mean of some repeats, or of least error and
// luck if it is chosen `cautiously`. `nothing` are, by repeat and fold, the errors that savings are
// counted from.
inline std::vector<double> best_factors(const std::vector<const FoldTable*>& repeats,
                                        const std::vector<const double*>& nothing,
                                        const std::vector<double>& factors, bool cautiously) {
  const Index count = repeats[0]->intervals();
  const std::size_t all = factors.size() * count;
  std::vector<double> saved(all, 0.0), error(all, 0.0);
  double rounding = 0;  // where that alone tells factors apart it is the first
  for (std::size_t r = 0; r < repeats.size(); ++r) {
    const FoldTable::MeanAndError own = repeats[r]->savings(factors, nothing[r]);
    const double share = static_cast<double>(repeats.size());
    for (std::size_t i = 0; i < all; ++i) {
      saved[i] += own.mean[i] / share;  // none of the sums overflows
      error[i] += own.error[i] / share;
    }
    for (Index f = 0; f < repeats[r]->folds(); ++f) {
      rounding = std::max(rounding, 1e-12 * std::fabs(nothing[r][f]));
    }
  }
  std::vector<double> best(count);
  for (Index i = 0; i < count; ++i) {
    const auto value = [&](std::size_t s) {
      const std::size_t at = s * count + i;
      const double own = (cautiously ? luck_of(saved[at], error[at]) : 0.0) - saved[at];
      return std::isfinite(own) ? own : std::numeric_limits<double>::infinity();
    };
    double least = value(0);
    for (std::size_t s = 1; s < factors.size(); ++s) least = std::min(least, value(s));
    std::size_t first = 0;
    while (value(first) > least + rounding) ++first;
    best[i] = factors[first];
  }
  return best;
}

}  // namespace ellzero
