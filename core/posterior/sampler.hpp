// Runs chains.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "base/parallel.hpp"
#include "posterior/chain.hpp"

namespace ellzero {

struct Schedule {
  Index warmup = 0;
  Index draws = 0;
  Index thin = 1;         // iterations for every draw kept
  bool tempered = false;  // the jump process rather than sweeps and swaps

  Index iterations() const { return warmup + draws * thin; }
};

// Told, by the thread that called, how many iterations its chains have done.
using DrawProgress = std::function<void(Index)>;

// How long the jump process should run for a draw: adapted while it warms up, then fixed.
class JumpTime {
 public:
  double next() const { return std::exp(log_time_); }
  // After `flips` in that time, towards two for every member and ten more.
  void adapt(Index flips, Index size) {
    const double wanted = static_cast<double>(10 + 2 * size);
    const double step = std::log((wanted + 1) / (static_cast<double>(flips) + 1));
    log_time_ += std::min(std::max(step, -0.7), 0.7) / std::sqrt(1 + 0.05 * steps_++);
  }

 private:
  double log_time_ = -7;
  double steps_ = 0;
};

inline Draws run_chain(Chain& chain, const Schedule& schedule, const Context& context,
                       const DrawProgress& progress) {
  Draws draws;
  const std::size_t total = static_cast<std::size_t>(schedule.draws * chain.model().columns());
  draws.conditional.reserve(total);
  JumpTime time;
  const double share = 1 / static_cast<double>(schedule.thin);
  for (Index t = 0; t < schedule.iterations(); ++t) {
    context.check();
    if (progress) progress(t);
    const bool recording = t >= schedule.warmup;
    if (schedule.tempered) {
      const Index before = chain.flips();
      chain.learn();
      chain.jump_for(time.next(), recording ? share : 0, context);
      if (!recording) time.adapt(chain.flips() - before, chain.model().size());
    } else {
      chain.iterate(context);
      if (recording) chain.record(share);
    }
    if (recording && (t - schedule.warmup + 1) % schedule.thin == 0) chain.keep(draws);
  }
  return draws;
}

// As many chains as there are starts, on one cache; what they draw does not depend on the number of
// threads.
inline std::vector<Draws> run_chains(const Quadratic& design, const GramUser& cache,
                                     const SpikeSlabPrior& prior,
                                     const std::vector<std::vector<Index>>& starts,
                                     const std::vector<double>& reference, std::uint64_t seed,
                                     const Schedule& schedule, const Context& context,
                                     const DrawProgress& progress = {}) {
  std::vector<Draws> draws(starts.size());
  const auto count = static_cast<Index>(starts.size());
  parallel_ranges(count, context, [&](Index begin, Index end, auto&&) {
    for (Index i = begin; i < end; ++i) {
      // The calling thread has the first range.
      const Context own = context.single(begin == 0);
      Chain chain(design, cache, prior, starts[i], reference, seed, static_cast<std::uint64_t>(i));
      draws[i] = run_chain(chain, schedule, own,
                           begin == 0 && progress
                               ? [&](Index t) { progress(i * schedule.iterations() + t); }
                               : DrawProgress());
    }
  });
  return draws;
}

}  // namespace ellzero
