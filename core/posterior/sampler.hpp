// Runs chains.
#pragma once

#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "posterior/active_chain.hpp"

namespace ellzero {

struct Schedule {
  Index warmup = 0;
  Index draws = 0;
  Index thin = 1;         // iterations for every draw kept
  bool tempered = false;  // the jump process rather than sweeps and swaps
  // If only some columns are active: draws for every sweep over all columns, and iterations within
  // the active ones for each of the others.
  Index batch = 1, within = 1;
  Index stop = -1;  // the iteration to end before; -1: when all draws are made
  // Where the chains stand, if they go on from somewhere: at a boundary each.
  std::vector<ChainState> states;

  Index iterations() const { return stop >= 0 ? stop : warmup + draws * thin; }
  // Iterations between boundaries: whole batches, 500 iterations or more. Making a chain anew costs
  // about as much as five of the quickest.
  Index stretch() const {
    const Index whole = thin * batch;
    return whole * ((500 + whole - 1) / whole);
  }
  // Whether chains are made anew from their state before iteration t: at the first draw, and every
  // stretch before and after.
  bool is_boundary(Index t) const { return (t - warmup) % stretch() == 0; }
};

// Told, by the thread that called, how many iterations all chains together have done.
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
  template <class Fields>
  void remember(Fields& fields) {
    fields("log_time", log_time_);
    fields("time_steps", steps_);
  }

 private:
  double log_time_ = -7;
  double steps_ = 0;
};

// A chain that runs by the jump process.
class TemperedChain : public Chain {
 public:
  using Chain::Chain;

  template <class Fields>
  void remember(Fields& fields) {
    Chain::remember(fields);
    time_.remember(fields);
  }
  void advance(bool warming, double weight, const Context& context) {
    const Index before = flips();
    learn();
    exchange(context);
    jump_for(time_.next(), warming ? 0 : weight, context);
    if (warming) time_.adapt(flips() - before, model().size());
  }

 private:
  JumpTime time_;
};

// Runs a chain from where it stands, or from its beginning, and keeps its draws. make(begins) makes
// the chain: where it begins, or one that is about to read its state.
template <class Kept, class Make>
void run_one(const Schedule& schedule, const ChainState* state, const Context& context,
             const std::function<void()>& tick, Make&& make, Kept& kept) {
  Index t = 0;
  auto chain = make(state == nullptr);
  using Own = std::remove_reference_t<decltype(*chain)>;
  const auto read = [&](Own& into) {
    StateReader fields(kept.state);
    into.remember(fields);
    fields("iteration", t);
  };
  const auto write = [&] {
    StateWriter fields(kept.state);
    chain->remember(fields);
    kept.remember(fields);
    fields("iteration", t);
  };
  if (state) {
    kept.state = *state;
    read(*chain);
    StateReader fields(kept.state);
    kept.remember(fields);
  }
  const double share = 1 / static_cast<double>(schedule.thin);
  bool roomy = false;
  for (const Index end = schedule.iterations(), begin = t; t < end; ++t) {
    context.check();
    tick();
    if (schedule.is_boundary(t) && !(state && t == begin)) {
      write();
      chain = make(false);
      read(*chain);
    }
    const bool warming = t < schedule.warmup;
    chain->advance(warming, share, context);
    if (warming || (t - schedule.warmup + 1) % schedule.thin != 0) continue;
    chain->keep(kept);
    if (!roomy) kept.reserve(1 + (end - t - 1) / schedule.thin);
    roomy = true;
  }
  if (schedule.is_boundary(t)) write();
}

// The same for many chains; what they draw does not depend on the number of threads. make(i,
// begins, context) makes a chain by its number.
template <class Kept, class Make>
std::vector<Kept> run_each(Index count, const Schedule& schedule, const Context& context,
                           const DrawProgress& progress, Make&& make) {
  std::vector<Kept> kept(count);
  if (!schedule.states.empty() && static_cast<Index>(schedule.states.size()) != count) {
    throw std::invalid_argument("one state for every chain");
  }
  std::atomic<Index> done{0};
  parallel_ranges(count, context, [&](Index begin, Index end, auto&&) {
    // The calling thread has the first range.
    const Context own = context.single(begin == 0);
    const auto tick = [&] {
      const Index now = done.fetch_add(1, std::memory_order_relaxed);
      if (begin == 0 && progress) progress(now);
    };
    for (Index i = begin; i < end; ++i) {
      run_one(
          schedule, schedule.states.empty() ? nullptr : &schedule.states[i], own, tick,
          [&](bool begins) { return make(i, begins, own); }, kept[i]);
    }
  });
  return kept;
}

// As many chains as there are starts, on one cache; between the modes they exchange sets. If some
// columns are active, sweeps are over these alone but for one in a batch of draws.
inline std::vector<Draws> run_chains(const Quadratic& design, const GramUser& cache,
                                     const SpikeSlabPrior& prior,
                                     const std::vector<std::vector<Index>>& starts,
                                     const std::vector<std::vector<Index>>& modes,
                                     const std::vector<double>& reference, std::uint64_t seed,
                                     const Schedule& schedule, const Context& context,
                                     const DrawProgress& progress = {},
                                     const std::vector<Index>& active = {}) {
  const std::vector<Exchange> exchanges = exchanges_between(modes);
  // Of so many columns most are never wanted.
  constexpr Index kMany = 2000;
  const auto fetch = design.columns() > kMany ? SpikeSlab::Fetch::alone : SpikeSlab::Fetch::bulk;
  const auto run = [&](auto make) {
    return run_each<Draws>(static_cast<Index>(starts.size()), schedule, context, progress,
                           [&](Index i, bool begins, const Context&) {
                             return make(design, cache, prior,
                                         begins ? starts[i] : std::vector<Index>(), exchanges,
                                         reference, seed, static_cast<std::uint64_t>(i), fetch);
                           });
  };
  if (schedule.tempered) {
    return run([](auto&&... of) { return std::make_unique<TemperedChain>(of...); });
  }
  if (!active.empty()) {
    const ActiveColumns columns(design, prior, active, modes);
    const Index batch = schedule.batch * schedule.thin;
    cache.prepare(active);
    return run([&](auto&&... of) {
      return std::make_unique<ActiveChain>(std::make_unique<Chain>(of...), design, reference,
                                           columns, batch, schedule.within);
    });
  }
  return run([](auto&&... of) { return std::make_unique<Chain>(of...); });
}

}  // namespace ellzero
