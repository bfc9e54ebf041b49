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
    std::vector<Index> runners_up;  // once tried: whose insertion is second and third best
  };

  // The support stands at the forced columns.
  Frontier(Support& support, std::vector<char> forced, bool swaps, double floor)
      : support_(support), limits_{std::move(forced), 0}, swaps_(swaps), floor_(floor) {
    least_ = support_.size();
    models_.resize(least_ + 1);
    models_[least_] = {support_.members(), support_.energy()};
  }

  // Extends the table to max_size, or as far as columns can be inserted, and closes it.
  void grow(Index max_size, const Context& context, const Progress& progress = {}) {
    if (max_size + 1 > static_cast<Index>(models_.size())) {
      models_.back().tried = false;  // it may now be inserted into
      models_.resize(max_size + 1);
    }
    // Without swaps first: the table only gets better, so with them it can't end up worse.
    close(false, context, progress);
    if (swaps_) {
      for (Model& model : models_) model.tried = model.swapped;
      do {
        close(true, context, progress);
      } while (wander(context, progress));
    }
    while (models_.back().support.empty() && static_cast<Index>(models_.size()) > least_ + 1) {
      models_.pop_back();  // the rank is less than that
    }
  }

  Index least_size() const { return least_; }
  const std::vector<Model>& models() const { return models_; }
  Index tried() const { return tried_; }

 private:
  static constexpr Index kSteps = 2;

  void close(bool with_swaps, const Context& context, const Progress& progress) {
    const Index last = static_cast<Index>(models_.size()) - 1;
    for (bool any = true; any;) {
      any = false;
      for (Index k = least_; k <= last; ++k) any |= settle(k, with_swaps, context, progress);
      for (Index k = last; k >= least_; --k) any |= settle(k, with_swaps, context, progress);
    }
  }

  // Sets out from every support not yet left that way, and offers what is met: the best insertions
  // and then as many cheapest removals; the other way round; and a start with the second or third
  // best insertion instead. True if anything beats the table.
  bool wander(const Context& context, const Progress& progress) {
    bool any = false;
    std::vector<Index> wanted;
    for (const Model& model : models_) {
      if (!model.wandered) wanted.insert(wanted.end(), model.runners_up.begin(), model.runners_up.end());
    }
    support_.prepare(wanted);
    for (Index k = least_; k < static_cast<Index>(models_.size()); ++k) {
      if (models_[k].wandered || models_[k].energy == std::numeric_limits<double>::infinity())
        continue;
      context.check();
      if (progress) progress(k);
      models_[k].wandered = true;
      const std::vector<Index> home = models_[k].support;
      for (const bool up : {true, false}) {
        stand_at(home);
        any |= walk(up, kSteps);
        any |= walk(!up, kSteps);
      }
      for (const Index i : std::vector<Index>(models_[k].runners_up)) {
        stand_at(home);
        if (!support_.insert(i)) continue;
        any |= offer(support_.members(), support_.energy());
        any |= walk(true, 1);
        any |= walk(false, 2);
      }
    }
    return any;
  }

  // The columns whose insertion is second and third best.
  std::vector<Index> runners_up() const {
    std::vector<double> gains(support_.columns());
    support_.insertion_gains(gains.data());
    std::vector<Index> order;
    for (int place = 0; place < 3; ++place) {
      const auto best = std::max_element(gains.begin(), gains.end());
      if (best == gains.end() || !(*best > 0)) break;
      if (place > 0) order.push_back(best - gains.begin());
      *best = -1;
    }
    return order;
  }

  bool walk(bool up, Index steps) {
    bool any = false;
    for (Index step = 0; step < steps; ++step) {
      if (up) {
        const Support::Candidate best = support_.best_insertion();
        if (best.column < 0 || !support_.insert(best.column)) return any;
      } else {
        const Index cheapest = cheapest_removal();
        if (cheapest < 0) return any;
        support_.remove(cheapest);
      }
      any |= offer(support_.members(), support_.energy());
    }
    return any;
  }

  Index cheapest_removal() const {
    Index cheapest = -1;
    for (Index r = 0; r < support_.size(); ++r) {
      if (limits_.is_forced(support_.members()[r])) continue;
      if (cheapest < 0 || support_.removal_cost(r) < support_.removal_cost(cheapest)) cheapest = r;
    }
    return cheapest;
  }

  // Tries the support of size k, and again while a swap betters it. False if there is nothing new.
  bool settle(Index k, bool with_swaps, const Context& context, const Progress& progress) {
    bool any = false;
    while (!models_[k].tried && models_[k].energy < std::numeric_limits<double>::infinity()) {
      context.check();
      if (progress) progress(k);
      stand_at(models_[k].support);
      models_[k].energy = support_.energy();
      models_[k].tried = true;
      models_[k].runners_up = runners_up();
      ++tried_;
      any = true;
      try_insertion(k);
      try_removals(k);
      if (with_swaps) {
        models_[k].swapped = true;
        try_swaps();
      }
    }
    return any;
  }

  void stand_at(const std::vector<Index>& target) {
    const auto in = [&](Index j) {
      return std::find(target.begin(), target.end(), j) != target.end();
    };
    for (Index r = support_.size() - 1; r >= 0; --r) {
      if (!in(support_.members()[r])) support_.remove(r);
    }
    for (const Index j : target) support_.insert(j);
  }

  bool offer(std::vector<Index> support, double energy) {
    if (support.size() >= models_.size()) return false;
    Model& model = models_[support.size()];
    if (!(energy < model.energy - floor_ - 1e-12 * std::min(energy, model.energy))) return false;
    model = {std::move(support), energy};
    return true;
  }

  void try_insertion(Index k) {
    if (k + 1 >= static_cast<Index>(models_.size())) return;
    const Support::Candidate best = support_.best_insertion();
    if (best.column < 0) return;
    std::vector<Index> larger = support_.members();
    larger.push_back(best.column);
    offer(std::move(larger), support_.energy() - best.gain);
  }

  void try_removals(Index k) {
    const Index cheapest = k > least_ ? cheapest_removal() : -1;
    if (cheapest < 0) return;
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
};

}  // namespace ellzero
