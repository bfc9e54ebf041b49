// Where SBR stops when it is run from the forced columns alone, for every lam.
//
// A run makes the same replacements for all lam in an interval. Just below it, one decision is the
// first to change: to stop, or to remove a variable. (An insertion that is best at some lam is best
// at any lower one.) The run at the lower lam is the same up to there, so it goes on from there.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "search/sbr.hpp"

namespace ellzero {

class SbrTrail {
 public:
  // The engine stands at the forced units.
  SbrTrail(Engine& engine, const Limits& limits)
      : engine_(engine), limits_(limits), start_(engine.members()) {}

  // Begins anew, at infinite lam.
  void restart(Index max_size) {
    engine_.move_to(start_);
    limits_.max_size = max_size;
    lam_ = std::numeric_limits<double>::infinity();
    ended_ = false;
    decisions_.clear();
  }

  // Goes on to where the run at the next lower lam stops. False if there is none: lam has come down
  // to zero, or max_size is in the way. It may be left by what a flip throws, and called again.
  bool next(const Context& context, const Progress& progress) {
    if (ended_) return false;
    while (!decisions_.empty() && lowest_kept() > lam_) {
      context.check();
      undo();
    }
    const SbrRun run = run_sbr(engine_, lam_, limits_, context, progress, &decisions_);
    if (run.held_back.unit >= 0) {  // what it would do is not known
      ended_ = true;
      return false;
    }
    low_ = std::max(run.stop_low, decisions_.empty() ? 0.0 : lowest_kept());
    // A little below, by more than what gains are known to.
    lam_ = std::min(low_ * (1 - 1e-9), low_ - 2 * engine_.rounding());
    if (!(lam_ > 0)) {
      low_ = 0;
      ended_ = true;
    }
    return true;
  }

  // The least lam at which the run stops here.
  double low() const { return low_; }

 private:
  // The least lam at which all decisions are what they are.
  double lowest_kept() const { return decisions_.back().low; }

  void undo() {
    if (engine_.flip(decisions_.back().unit)) {
      decisions_.pop_back();
    } else {  // among nearly dependent columns the way back may be closed
      engine_.move_to(start_);
      decisions_.clear();
    }
  }

  Engine& engine_;
  Limits limits_;
  std::vector<Index> start_;
  double lam_ = std::numeric_limits<double>::infinity();
  double low_ = 0;
  bool ended_ = false;
  std::vector<SbrDecision> decisions_;
};

}  // namespace ellzero
