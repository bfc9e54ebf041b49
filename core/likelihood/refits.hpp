// A fit that goes from support to support, and remembers the supports it has been to or has tried:
// where their fits were, to start from there again, and how good they are.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "likelihood/fit_memory.hpp"
#include "likelihood/local_fit.hpp"

namespace ellzero {

class Refits {
 public:
  using Change = LocalFit::Change;
  using Trial = LocalFit::Trial;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  // Fits that differ by more than `flips` columns do not start from each other.
  Refits(const Rows& rows, std::vector<double> weights, double ridge, std::size_t flips)
      : fit_(rows, std::move(weights), ridge), memory_(rows.columns()), flips_(flips) {
    remember({}, {fit_.energy(), true, 0, fit_.point().b}, true);
  }

  // Where it stands, to come back to.
  struct State {
    LocalFit::State fit;
    std::vector<Index> columns;
  };
  State save() const { return {fit_.state(), columns_}; }
  void restore(const State& state) {
    fit_.restore(state.fit);
    columns_ = state.columns;
    explores_ = false;
  }

  const LocalFit& fit() const { return fit_; }
  // In the order of the fit.
  const std::vector<Index>& columns() const { return columns_; }
  // Energies are known to about this.
  double rounding() const { return kRounding * fit_.null_energy(); }
  // Until restore(), fits need not be as sure as elsewhere.
  void explore() { explores_ = true; }
  bool explores() const { return explores_; }

  // Coefficients by column to start from; 0 for those that have none.
  struct Start {
    double intercept = 0;
    bool known = false;
    std::vector<std::pair<Index, double>> beta;  // sorted by column
  };
  // Where a fit after a change starts: where it was left, or else where the quadratic that has the
  // curvature at this fit has its minimum.
  Start start_after(const Change& change) const {
    const std::vector<Index> support = after(change), key = sorted(support);
    if (const FitMemory::Entry* known = memory_.find(key)) {
      return start_of(key, known->intercept, known->beta.data());
    }
    if (change.flips() > flips_) return {};
    const LocalFit::Leap leap = fit_.leap(change);
    if (!leap.sound) return {};
    return start_of(support, fit_.first() ? leap.b[0] : 0, leap.b.data() + fit_.first());
  }
  // Fits some columns. False, with no fit, if they depend on each other.
  bool fit_at(const std::vector<Index>& columns, const Start& start) {
    std::vector<double> b;
    if (fit_.first()) b.push_back(start.known ? start.intercept : fit_.null_intercept());
    for (const Index j : columns) {
      const auto at =
          std::lower_bound(start.beta.begin(), start.beta.end(), std::make_pair(j, -kInfinity));
      b.push_back(at != start.beta.end() && at->first == j ? at->second : 0);
    }
    columns_ = columns;
    if (!fit_.fit(columns, std::move(b), 0.01 * rounding())) return false;
    remember({}, {fit_.energy(), true, 0, fit_.point().b}, true);
    return true;
  }
  // Stands where a leap leads, whose columns are these.
  void land(LocalFit::Leap& there, const std::vector<Index>& columns) {
    const Trial trial = fit_.land(there, aim());
    columns_ = columns;
    remember({}, trial);
  }

  // The columns after a change, those that stay first.
  std::vector<Index> after(const Change& change) const {
    std::vector<Index> support;
    for (Index r = 0; r < static_cast<Index>(columns_.size()); ++r) {
      if (!change.leaves(r)) support.push_back(columns_[r]);
    }
    support.insert(support.end(), change.entering.begin(), change.entering.end());
    return support;
  }
  // How good the support after a change is. Where it can't be seen to come below `bar` its refit is
  // left early.
  Trial attempt(const Change& change, double bar) const {
    if (const FitMemory::Entry* known = memory_.find(sorted(after(change)))) {
      if (known->settled || known->energy - LocalFit::kReach * known->left > bar) {
        return {known->energy, known->settled, known->left, {}};
      }
    }
    LocalFit::Leap there = fit_.leap(change);
    if (!there.sound) return {};
    const Trial trial = fit_.refit(there, aim(bar));
    if (std::isfinite(trial.energy)) remember(change, trial);
    return trial;
  }
  // The energy after a change, if it is known; else infinite.
  double known_energy(const Change& change) const {
    const FitMemory::Entry* known = memory_.find(sorted(after(change)));
    return known && known->settled ? known->energy : kInfinity;
  }

  // What is remembered of where it stands; null if nothing is.
  const FitMemory::Entry* entry_here() const { return memory_.find(sorted(columns_)); }
  // How fast the energy falls there in the direction of every column.
  void keep_descents(std::shared_ptr<const std::vector<double>> descents) const {
    const std::vector<Index> key = sorted(columns_);
    const FitMemory::Entry* known = memory_.find(key);
    if (!known) return;
    FitMemory::Entry entry = *known;
    entry.descents = std::move(descents);
    memory_.put(key, std::move(entry));
  }

 private:
  // Energies are known to about this share of the one without units.
  static constexpr double kRounding = 1e-10;
  // A refit ends when less than this share of what it has changed is left.
  static constexpr double kSettled = 1e-5, kNearlySettled = 1e-3;

  LocalFit::Aim aim(double bar = kInfinity) const {
    return {explores_ ? kNearlySettled : kSettled, rounding(), bar};
  }
  // Those of some columns, in their order.
  static Start start_of(const std::vector<Index>& columns, double intercept, const double* beta) {
    Start start{intercept, true, {}};
    for (std::size_t s = 0; s < columns.size(); ++s) start.beta.emplace_back(columns[s], beta[s]);
    std::sort(start.beta.begin(), start.beta.end());
    return start;
  }
  static std::vector<Index> sorted(std::vector<Index> columns) {
    std::sort(columns.begin(), columns.end());
    return columns;
  }
  // A fit takes the place of what is known; a trial does so if it is better.
  void remember(const Change& change, const Trial& trial, bool fitted = false) const {
    const Start start =
        start_of(after(change), fit_.first() ? trial.b[0] : 0, trial.b.data() + fit_.first());
    std::vector<Index> key;
    FitMemory::Entry entry;
    entry.intercept = start.intercept;
    for (const auto& pair : start.beta) {
      key.push_back(pair.first);
      entry.beta.push_back(pair.second);
    }
    entry.energy = trial.energy;
    entry.settled = trial.settled;
    entry.left = trial.left;
    if (const FitMemory::Entry* known = memory_.find(key)) {
      const bool better = known->energy <= entry.energy && (known->settled || !entry.settled);
      if (better && !fitted) return;
      entry.descents = known->descents;
    }
    memory_.put(key, std::move(entry));
  }

  LocalFit fit_;
  mutable FitMemory memory_;
  const std::size_t flips_;
  std::vector<Index> columns_;
  bool explores_ = false;
};

}  // namespace ellzero
