// Single best replacement (Soussen, Idier, Brie and Duan 2011; Polson and Sun, Section 5).
//
//   minimise over S   f(S) = E(S) + lam * |S \ forced|
//
// by flipping, again and again, the one column whose flip lowers f most, until none lowers it.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "support.hpp"

namespace ellzero {

struct SbrLimits {
  std::vector<char> forced;  // by column: never removed, pays no lam; empty for none
  Index max_size = 0;

  bool is_forced(Index j) const { return !forced.empty() && forced[j]; }
};

// Told the size of the support now and then.
using Progress = std::function<void(Index)>;

struct SbrRun {
  Index replacements = 0;
  // The insertion that would have lowered f further, had the support not been at max_size.
  Support::Candidate held_back;
};

// Energies are known to about this share of y'y/2: what gains less is rounding.
inline double least_gain(const Design& design) { return 1e-14 * 0.5 * design.yy; }

inline SbrRun run_sbr(Support& support, double lam, const SbrLimits& limits, double floor,
                      const Context& context, const Progress& progress = {}) {
  SbrRun run;
  for (;;) {
    context.check();
    if (progress) progress(support.size());
    const Support::Candidate insertion = support.best_insertion();
    double best = floor;
    Index column = -1, position = -1;
    run.held_back = {};
    if (insertion.column >= 0 && insertion.gain - lam > best) {
      if (support.size() < limits.max_size) {
        best = insertion.gain - lam;
        column = insertion.column;
      } else {
        run.held_back = insertion;
      }
    }
    for (Index r = 0; r < support.size(); ++r) {
      const Index j = support.members()[r];
      if (limits.is_forced(j)) continue;
      const double gain = lam - support.removal_cost(r);
      if (gain > best || (gain == best && column >= 0 && j < column)) {
        best = gain;
        column = j;
        position = r;
      }
    }
    if (column < 0) return run;
    if (position >= 0) {
      support.remove(position);
    } else if (!support.insert(column)) {
      continue;  // it depends on the support after all; it is out of the running now
    }
    ++run.replacements;
  }
}

// A support at which SBR stops for every lam between lam_low and lam_high.
struct SbrStop {
  std::vector<Index> support;
  double energy;
  double ridge_energy;  // the part of the energy that is 1/2 sum tau_i beta_i^2
  double lam_high;
  double lam_low;
};

struct SbrPath {
  std::vector<SbrStop> stops;
  Index replacements = 0;
  bool capped = false;  // it ended at max_size, not because nothing was left to insert
};

// SBR by continuation (Soussen, Idier, Duan and Brie 2015): from each stop, lam falls to the best
// insertion gain there, that insertion is made, and SBR runs on at the new lam.
inline SbrPath sbr_path(Support& support, const SbrLimits& limits, double floor,
                        const Context& context, const Progress& progress = {}) {
  support.expect_gains_above(0);
  SbrPath path;
  double lam = std::numeric_limits<double>::infinity();
  for (;;) {
    const Support::Candidate next = support.best_insertion();
    const bool exhausted = next.column < 0 || !(next.gain > floor);
    const double low = exhausted ? 0 : std::min(lam, next.gain);
    path.stops.push_back(
        {support.members(), support.energy(), support.ridge_energy(support.beta()), lam, low});
    if (exhausted) return path;
    if (support.size() >= limits.max_size) {
      path.capped = true;
      return path;
    }
    if (!support.insert(next.column)) {
      path.stops.pop_back();  // it depends on the support after all: look again
      continue;
    }
    lam = low;
    ++path.replacements;
    path.replacements += run_sbr(support, lam, limits, floor, context, progress).replacements;
  }
}

}  // namespace ellzero
