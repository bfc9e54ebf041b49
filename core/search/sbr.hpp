// Single best replacement (Soussen, Idier, Brie and Duan 2011; Polson and Sun, Section 5).
//
//   minimise over S   f(S) = E(S) + lam * |S \ forced|
//
// by flipping, again and again, the one column whose flip lowers f most, until none lowers it.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "engine/engine.hpp"

namespace ellzero {

// Told the size of the support now and then.
using Progress = std::function<void(Index)>;

struct SbrRun {
  Index replacements = 0;
  // The insertion that would have lowered f further, had the support not been at max_size.
  Insertion held_back;
  // For every lam between these the run makes the same replacements.
  double lam_low = 0;
  double lam_high = std::numeric_limits<double>::infinity();
  double stop_low = 0;  // it stops at the same support for every lam above this
};

// A replacement that was made: for no lam below `low`, or one made before would have been another.
struct SbrDecision {
  Index unit;
  double low;
};

// The replacement that lowers f most; of equals, the one of the first unit.
struct Replacement {
  double gain;
  Index unit = -1;
  Index position = -1;  // in the support, if it is a removal
  double insertion_gain =
      -std::numeric_limits<double>::infinity();                   // of the best, if there is room
  double next_gain = insertion_gain;                              // the same, room or not
  double removal_cost = std::numeric_limits<double>::infinity();  // of the cheapest removal
};

inline Replacement best_replacement(const Engine& engine, double lam, const Limits& limits,
                                    Insertion& held_back) {
  const double floor = engine.rounding();  // what gains less is rounding
  Replacement best{floor};
  held_back = {};
  const Insertion insertion = engine.best_insertion();
  const bool room = engine.size() < limits.max_size;
  if (insertion.unit >= 0) best.next_gain = insertion.gain;
  if (room) best.insertion_gain = best.next_gain;
  if (insertion.unit >= 0 && insertion.gain - lam > floor) {
    if (room) {
      best.gain = insertion.gain - lam;
      best.unit = insertion.unit;
    } else {
      held_back = insertion;
    }
  }
  for (Index r = 0; r < engine.size(); ++r) {
    const Index j = engine.members()[r];
    if (limits.is_forced(j)) continue;
    best.removal_cost = std::min(best.removal_cost, engine.removal_cost(r));
    const double gain = lam - engine.removal_cost(r);
    const double tie = kTie * lam;
    if (gain > best.gain + tie || (best.unit > j && gain > floor && gain > best.gain - tie)) {
      best.gain = gain;
      best.unit = j;
      best.position = r;
    }
  }
  return best;
}

// Runs from where the engine stands; the replacements made are added to `decisions`, if given.
inline SbrRun run_sbr(Engine& engine, double lam, const Limits& limits, const Context& context,
                      const Progress& progress = {},
                      std::vector<SbrDecision>* decisions = nullptr) {
  SbrRun run;
  const double floor = engine.rounding();
  const auto objective = [&] {
    Index priced = 0;
    for (const Index j : engine.members()) priced += !limits.is_forced(j);
    return engine.energy() + (priced > 0 ? lam * static_cast<double>(priced) : 0.0);
  };
  double value = objective();
  bool fresh = false;  // whether nothing has been flipped since the last refresh
  for (;;) {
    context.check();
    if (progress) progress(engine.size());
    const Replacement best = best_replacement(engine, lam, limits, run.held_back);
    // An insertion gains insertion_gain - lam, a removal lam - removal_cost; the better is made, if
    // it gains anything.
    const double balance = 0.5 * (best.insertion_gain + best.removal_cost);
    if (best.unit < 0) {
      run.stop_low = best.next_gain;
      run.lam_low = std::max(run.lam_low, best.next_gain);
      run.lam_high = std::min(run.lam_high, best.removal_cost);
      return run;
    }
    if (best.position >= 0) {
      run.lam_low = std::max({run.lam_low, best.removal_cost, balance});
    } else {
      run.lam_high = std::min({run.lam_high, best.insertion_gain, balance});
    }
    if (best.position >= 0) {
      engine.remove(best.position);
    } else if (!engine.insert(best.unit)) {
      continue;  // it depends on the support after all; it is out of the running now
    }
    const double now = objective();
    if (now < value - 0.5 * floor || (std::isinf(lam) && best.position >= 0)) {
      value = now;
      fresh = false;
      ++run.replacements;
      if (decisions) {
        const double before = decisions->empty() ? 0 : decisions->back().low;
        const double own = best.position >= 0 ? std::max(best.removal_cost, balance) : 0;
        decisions->push_back({best.unit, std::max(before, own)});
      }
      continue;
    }
    // Among nearly collinear columns rounding can promise a gain that is not there: take it back,
    // and look once more with everything computed anew.
    engine.flip(best.unit);
    engine.refresh();
    if (fresh) return run;
    value = objective();
    fresh = true;
  }
}

// A support at which SBR stops for every lam between lam_low and lam_high.
struct SbrStop {
  std::vector<Index> support;
  double energy;
  double loss;  // the part of the energy that is no penalty on coefficients
  double lam_high;
  double lam_low;
};

struct SbrPath {
  std::vector<SbrStop> stops;
  Index replacements = 0;
  double next_gain = 0;    // of the best insertion where the path ends, 0 if there is none
  bool held_back = false;  // whether the last is no stop, but where max_size was reached
};

inline bool same_set(std::vector<Index> a, std::vector<Index> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

// SBR by continuation (Soussen, Idier, Duan and Brie 2015): from each stop, lam falls to the best
// insertion gain there, that insertion is made, and SBR runs on at the new lam.
inline SbrPath sbr_path(Engine& engine, const Limits& limits, const Context& context,
                        const Progress& progress = {}) {
  SbrPath path;
  const double floor = engine.rounding();
  double lam = std::numeric_limits<double>::infinity();
  Exclusions led_back(engine);  // units that gain nothing at the support that stands
  for (;;) {
    context.check();
    const Insertion next = engine.best_insertion();
    const bool exhausted = next.unit < 0 || !(next.gain > floor);
    const bool full = engine.size() >= limits.max_size;
    path.next_gain = exhausted ? 0 : next.gain;
    path.held_back = full && path.next_gain > lam + floor;
    const double low = std::min(lam, path.next_gain);
    path.stops.push_back({engine.members(), engine.energy(), engine.loss(), lam, low});
    if (exhausted || full) return path;
    if (!engine.insert(next.unit)) {
      path.stops.pop_back();  // it depends on the support after all: look again
      continue;
    }
    // What the insertion gained, and what its removal would cost, differ by rounding: at a lam
    // between the two it would be undone at once.
    const double before_lam = lam;
    lam = std::min(low, engine.removal_cost(engine.size() - 1));
    ++path.replacements;
    path.replacements += run_sbr(engine, lam, limits, context, progress).replacements;
    if (same_set(engine.members(), path.stops.back().support)) {
      // Only rounding leads back: the column gains nothing here.
      path.stops.pop_back();
      lam = before_lam;
      led_back.add(next.unit);
    } else {
      led_back.end();
    }
  }
}

}  // namespace ellzero
