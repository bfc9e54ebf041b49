// Exact segmentation of one series or of many: see series.hpp for the objective.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "base/parallel.hpp"
#include "segment/correlated_functional.hpp"
#include "segment/correlated_refit.hpp"
#include "segment/functional.hpp"
#include "segment/pelt.hpp"
#include "segment/pelt_positive.hpp"
#include "segment/refit.hpp"
#include "segment/series.hpp"

namespace ellzero {

enum class SegmentSolver { functional, pelt, given, given_tidied };

// What is asked for beside the changepoints and the loss.
struct SegmentWants {
  bool signal = false;
  bool minima = false;  // of the functional solver, for free jumps in white noise
};

struct Segmented {
  std::vector<Index> changepoints;  // times
  std::vector<double> signal;       // this and the next two are empty unless asked for
  std::vector<double> jumps;
  std::vector<double> minima;  // the least cost of the samples up to each that was observed
  double loss = 0;             // 1/2 sum w (y - c)^2, or that of correlated.hpp
};

// c_t at every time, by the recursion itself, so that c_t = decay * c_{t-1} holds to the bit inside
// a segment. Before the first sample observed it runs backward. NaN if nothing was observed.
inline std::vector<double> expand(const SegmentTask& task, const Series& s, const Segments& found) {
  std::vector<double> c(task.length, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t k = 0; k < found.starts.size(); ++k) {
    const bool last = k + 1 == found.starts.size();
    const Index begin = s.time(found.starts[k]);
    const Index end = last ? task.length : s.time(found.starts[k + 1]);
    c[begin] = found.levels[k] * s.unit;
    for (Index t = begin + 1; t < end; ++t) c[t] = task.decay * c[t - 1];
  }
  if (!found.starts.empty()) {
    for (Index t = s.time(0); t-- > 0;) c[t] = c[t + 1] / task.decay;
  }
  return c;
}

// Beginnings of segments that are given as times; one with nothing observed stands for the next
// that has something.
inline std::vector<Index> starts_of(const Series& s, const std::vector<Index>& given) {
  if (s.size() == 0) return {};
  std::vector<Index> starts{0};
  for (const Index time : given) {
    Index i = time;
    if (!s.times.empty()) {
      i = std::lower_bound(s.times.begin(), s.times.end(), time) - s.times.begin();
    }
    if (i > starts.back() && i < s.size()) starts.push_back(i);
  }
  return starts;
}

template <class Poll>
std::vector<Index> find_starts(const Series& s, SegmentSolver solver,
                               const std::vector<Index>& given, std::vector<double>* minima,
                               Poll&& poll) {
  if (solver == SegmentSolver::functional) return tidy(s, FunctionalPruning(s).solve(poll, minima));
  if (solver == SegmentSolver::pelt) {
    return tidy(s, s.positive ? PositiveInequalityPruning(s).solve(poll)
                              : InequalityPruning(s).solve(poll));
  }
  const std::vector<Index> starts = starts_of(s, given);
  return solver == SegmentSolver::given_tidied ? tidy(s, starts) : starts;
}

template <class Poll>
Segments find_segments(const Series& s, double phi, SegmentSolver solver,
                       const std::vector<Index>& given, std::vector<double>* minima, Poll&& poll) {
  if (phi == 0) return refit(s, find_starts(s, solver, given, minima, poll));
  const CorrelatedSeries correlated(s, phi);
  return refit(correlated, solver == SegmentSolver::functional
                               ? CorrelatedPruning(correlated).solve(poll)
                               : starts_of(s, given));
}

template <class Poll>
Segmented segment_one(const SegmentTask& task, SegmentSolver solver, SegmentWants wants,
                      const std::vector<Index>& given, Poll&& poll) {
  const Series s = make_series(task);
  Segmented out;
  const Segments found =
      find_segments(s, task.phi, solver, given, wants.minima ? &out.minima : nullptr, poll);
  out.loss = found.loss * s.weight_unit * s.unit * s.unit;
  for (double& least : out.minima) least = least * s.weight_unit * s.unit * s.unit;
  for (std::size_t k = 1; k < found.starts.size(); ++k) {
    out.changepoints.push_back(s.time(found.starts[k]));
  }
  if (!wants.signal) return out;
  out.signal = expand(task, s, found);
  for (const Index t : out.changepoints) {
    out.jumps.push_back(out.signal[t] - task.decay * out.signal[t - 1]);
  }
  return out;
}

// All tasks, each by one thread; which thread takes which changes nothing in the result.
inline std::vector<Segmented> segment_many(const std::vector<SegmentTask>& tasks,
                                           SegmentSolver solver, SegmentWants wants,
                                           const Context& context) {
  std::vector<Segmented> results(tasks.size());
  const auto crew = std::min<std::ptrdiff_t>(context.threads, tasks.size());
  std::atomic<std::size_t> next{0};
  std::atomic<std::ptrdiff_t> busy{crew};
  std::mutex door;
  std::condition_variable left;
  parallel_ranges(crew, context, [&](std::ptrdiff_t first, std::ptrdiff_t end, auto&& poll) {
    const auto leave = [&](void*) {
      {
        const std::lock_guard<std::mutex> lock(door);
        busy -= end - first;
      }
      left.notify_all();
    };
    {
      const std::unique_ptr<void, decltype(leave)> guard(&busy, leave);  // exceptions included
      for (std::size_t k; (k = next++) < tasks.size();) {
        if (poll()) return;
        results[k] = segment_one(tasks[k], solver, wants, {}, poll);
      }
    }
    if (first > 0) return;
    // The calling thread, the only one that can see Ctrl-C, waits for the others awake.
    std::unique_lock<std::mutex> lock(door);
    while (busy > 0) {
      left.wait_for(lock, std::chrono::milliseconds(50));
      lock.unlock();
      poll();
      lock.lock();
    }
  });
  return results;
}

}  // namespace ellzero
