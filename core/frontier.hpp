// The frontier: the best support known of every size from the forced columns to max_size.
//
//   f_k = min over supports S of size k of E(S)
//
// is approached from above: a table holds one support a size, and every support in it is tried,
// once it is new, for its best insertion, removal and swap; each of these that beats the table's
// support of its size takes its place. When the table is closed, so that no insertion, removal or
// swap of any support in it improves any support in it, short walks through worse supports look for
// a way on; it ends when they find none.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "sbr.hpp"

namespace ellzero {

class Frontier {
 public:
  struct Model {
    std::vector<Index> support;
    double energy = std::numeric_limits<double>::infinity();
    bool tried = false;     // whether its neighbours have been looked at
    bool swapped = false;   // those by a swap too
    bool wandered = false;  // whether walks have set out from it
    std::vector<Index> best_insertions, cheapest_removals;  // once tried, and best first

    bool known() const { return energy < std::numeric_limits<double>::infinity(); }
  };

  // The support stands at the forced columns.
  Frontier(Support& support, std::vector<char> forced, bool swaps, double floor)
      : support_(support), limits_{std::move(forced), 0}, swaps_(swaps), floor_(floor) {
    least_ = support_.size();
    models_.resize(least_ + 1);
    models_[least_] = {support_.members(), support_.energy()};
    waiting_.resize(models_.size());
  }

  // Extends the table to max_size, or as far as columns can be inserted, and closes it.
  void grow(Index max_size, const Context& context, const Progress& progress = {}) {
    if (max_size + 1 > static_cast<Index>(models_.size())) {
      models_.back().tried = false;  // it may now be inserted into
      models_.resize(max_size + 1);
      waiting_.resize(max_size + 1);
    }
    // Without swaps first: the table only gets better, so with them it can't end up worse.
    close(false, context, progress);
    if (swaps_) {
      for (Model& model : models_) model.tried = model.swapped;
      do {
        close(true, context, progress);
      } while (wander(context, progress));
    }
    const auto end = std::find_if(models_.begin() + least_ + 1, models_.end(),
                                  [](const Model& model) { return !model.known(); });
    models_.erase(end, models_.end());  // the rank is less than that
    waiting_.resize(models_.size());
  }

  // Stands at the support of size k, so that the engine can be asked about it.
  void visit(Index k) { support_.move_to(models_[k].support); }

  Index least_size() const { return least_; }
  const std::vector<Model>& models() const { return models_; }
  Index tried() const { return tried_; }

 private:
  // Measured on collinear designs: more of each finds more, at a cost that grows as fast.
  static constexpr Index kInsertions = 3, kRemovals = 2, kFurther = 2;

  void close(bool with_swaps, const Context& context, const Progress& progress) {
    const Index last = static_cast<Index>(models_.size()) - 1;
    for (bool any = true; any;) {
      any = false;
      for (Index k = least_; k <= last; ++k) any |= settle(k, with_swaps, context, progress);
      for (Index k = last; k >= least_; --k) any |= settle(k, with_swaps, context, progress);
    }
  }

  // Sets out from every support not yet left that way, by one of its best insertions or cheapest
  // removals, goes on that way for a few steps, and as many back, offering what is met. True if
  // anything beats the table.
  bool wander(const Context& context, const Progress& progress) {
    std::vector<Index> wanted;
    for (const Model& model : models_) {
      if (model.wandered) continue;
      wanted.insert(wanted.end(), model.best_insertions.begin(), model.best_insertions.end());
    }
    support_.prepare(wanted);
    bool any = false;
    for (Index k = least_; k < static_cast<Index>(models_.size()); ++k) {
      if (models_[k].wandered || !models_[k].known()) continue;
      context.check();
      if (progress) progress(k);
      models_[k].wandered = true;
      const Model home = models_[k];
      for (const Index i : home.best_insertions) any |= set_out(home.support, i, true);
      for (const Index j : home.cheapest_removals) any |= set_out(home.support, j, false);
    }
    return any;
  }

  bool set_out(const std::vector<Index>& home, Index first, bool up) {
    support_.move_to(home);
    if (!support_.flip(first)) return false;
    bool any = offer(support_.members(), support_.energy());
    any |= walk(up, kFurther);
    any |= walk(!up, kFurther + 1);
    return any;
  }

  bool walk(bool up, Index steps) {
    bool any = false;
    for (Index step = 0; step < steps; ++step) {
      if (up) {
        const Support::Candidate best = support_.best_insertion();
        if (best.column < 0 || !support_.insert(best.column)) return any;
      } else {
        const std::vector<Index> cheapest = cheapest_removals();
        if (cheapest.empty()) return any;
        support_.remove(support_.position(cheapest[0]));
      }
      any |= offer(support_.members(), support_.energy());
    }
    return any;
  }

  // The columns whose insertion lowers the energy most, best first.
  std::vector<Index> best_insertions() const {
    std::vector<double> gains(support_.columns());
    support_.insertion_gains(gains.data());
    std::vector<Index> best;
    for (Index place = 0; place < kInsertions; ++place) {
      const auto next = std::max_element(gains.begin(), gains.end());
      if (next == gains.end() || !(*next > 0)) break;
      best.push_back(next - gains.begin());
      *next = -1;
    }
    return best;
  }

  // The members whose removal costs least, cheapest first.
  std::vector<Index> cheapest_removals() const {
    std::vector<std::pair<double, Index>> costs;
    for (Index r = 0; r < support_.size(); ++r) {
      const Index j = support_.members()[r];
      if (!limits_.is_forced(j)) costs.emplace_back(support_.removal_cost(r), j);
    }
    std::sort(costs.begin(), costs.end());
    std::vector<Index> cheapest;
    for (const auto& [cost, j] : costs) {
      if (static_cast<Index>(cheapest.size()) == kRemovals) break;
      cheapest.push_back(j);
    }
    return cheapest;
  }

  // Tries the support of size k, and again while a swap betters it. False if there is nothing new.
  bool settle(Index k, bool with_swaps, const Context& context, const Progress& progress) {
    bool any = false;
    for (;;) {
      any |= take_up(k);
      if (models_[k].tried || !models_[k].known()) return any;
      context.check();
      if (progress) progress(k);
      any = true;
      ++tried_;
      support_.move_to(models_[k].support);
      models_[k].tried = true;
      models_[k].best_insertions = best_insertions();
      models_[k].cheapest_removals = cheapest_removals();
      if (k + 1 < static_cast<Index>(models_.size())) try_insertion();
      try_removal(models_[k]);
      if (with_swaps) {
        models_[k].swapped = true;
        try_swaps();
      }
    }
  }

  // Puts the support that is waiting for its turn into the table, if it keeps what it promised: it
  // may not, by rounding, among nearly dependent columns.
  bool take_up(Index k) {
    if (!waiting_[k].known()) return false;
    const std::vector<Index> support = std::move(waiting_[k].support);
    waiting_[k] = {};
    support_.move_to(support);
    if (support_.size() != k || !beats(support_.energy(), models_[k].energy)) return false;
    models_[k] = {support_.members(), support_.energy()};
    return true;
  }

  bool beats(double energy, double old) const {
    return energy < old - floor_ - 1e-12 * std::min(energy, old);
  }

  double best_energy(Index k) const { return std::min(models_[k].energy, waiting_[k].energy); }

  bool offer(std::vector<Index> support, double energy) {
    if (support.size() >= models_.size()) return false;
    const std::size_t k = support.size();
    if (!beats(energy, best_energy(k))) return false;
    waiting_[k] = {std::move(support), energy};
    return true;
  }

  void try_insertion() {
    for (;;) {
      const Support::Candidate best = support_.best_insertion();
      const double energy = support_.energy() - best.gain;
      if (best.column < 0 || !beats(energy, best_energy(support_.size() + 1))) return;
      if (support_.can_insert(best.column)) {
        std::vector<Index> larger = support_.members();
        larger.push_back(best.column);
        offer(std::move(larger), energy);
        return;
      }
      support_.rule_out(best.column);
    }
  }

  void try_removal(const Model& model) {
    if (model.cheapest_removals.empty()) return;
    const Index cheapest = support_.position(model.cheapest_removals[0]);
    std::vector<Index> smaller = support_.members();
    smaller.erase(smaller.begin() + cheapest);
    offer(std::move(smaller), support_.energy() + support_.removal_cost(cheapest));
  }

  void try_swaps() {
    const Support::Swap best = support_.best_swap(limits_.forced);
    if (best.column < 0) return;
    std::vector<Index> swapped = support_.members();
    swapped[best.position] = best.column;
    offer(std::move(swapped), support_.energy() - best.gain);
  }

  Support& support_;
  SbrLimits limits_;
  bool swaps_;
  double floor_;
  Index least_ = 0;
  Index tried_ = 0;
  std::vector<Model> models_;
  std::vector<Model> waiting_;  // by size, the best that was found since
};

}  // namespace ellzero
