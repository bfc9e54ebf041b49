// Moves between modes of the posterior: a set of units is exchanged for another, all at once.
//
// Where {a, b} and {c, d} explain the same thing, every model on the way from one to the other by
// flips and swaps may be hopeless. Two modes differ by A, what only the first has, and B, what only
// the second has. From any S that holds all of A and nothing of B, or the other way about,
//
//   S -> S xor (A u B)
//
// leads to such an S again, and the same exchange back. It carries along all units that are in
// neither set. One of the m(S) exchanges that S allows is chosen at random and accepted with
// probability
//
//   r / (1 + r),   r = p(S' | y) / m(S')  /  (p(S | y) / m(S))
//
// given the hyperparameters. (Barker's rule: of two modes one is drawn anew. Where attempts come in
// pairs, min(1, r) would lead from a mode as probable to the other and back again.) Modes are found
// before the chain starts: the move is exact however good they are.
//
// Under a Laplace slab members carry scales, v. Those of B are drawn one by one, each given the
// units that are in by then, its coefficient integrated out; what is accepted is the ratio of the
// weights
//
//   w(B) = prod over b in B of p(y, b in | S_<b, v_<b) / p(y | S_<b, v_<b)
//
// which is p(S', v' | y) over the density that v_B is drawn from. The weight of A is that of
// drawing, in the same order, the scales that it has.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "posterior/spike_slab.hpp"

namespace ellzero {

// Two sets of units without one in common, each in increasing order.
struct Exchange {
  std::vector<Index> first, second;

  std::size_t size() const { return first.size() + second.size(); }
  bool operator==(const Exchange& other) const {
    return first == other.first && second == other.second;
  }
};

// What pairs of modes differ by, each once, the least differences first.
inline std::vector<Exchange> exchanges_between(std::vector<std::vector<Index>> modes) {
  constexpr std::size_t kMost = 64;
  std::vector<Exchange> out;
  for (auto& mode : modes) std::sort(mode.begin(), mode.end());
  for (std::size_t i = 0; i < modes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      Exchange found;
      std::set_difference(modes[i].begin(), modes[i].end(), modes[j].begin(), modes[j].end(),
                          std::back_inserter(found.first));
      std::set_difference(modes[j].begin(), modes[j].end(), modes[i].begin(), modes[i].end(),
                          std::back_inserter(found.second));
      if (found.second < found.first) std::swap(found.first, found.second);
      // One flip, or a swap, is a move that chains make anyway.
      if (found.size() < 2 || (found.first.size() == 1 && found.second.size() == 1)) continue;
      if (std::find(out.begin(), out.end(), found) == out.end()) out.push_back(std::move(found));
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Exchange& a, const Exchange& b) { return a.size() < b.size(); });
  if (out.size() > kMost) out.resize(kMost);
  return out;
}

// Units leave a model and others come in. Model has log_posterior(), minus infinity where the prior
// does not allow it, enter() and leave(); columns, which may have a Laplace slab, see below.
template <class Model>
class ExchangeOf {
 public:
  explicit ExchangeOf(Model& model) : model_(model) {}

  // Returns the log of p(S' | y) / p(S | y); minus infinity if there is no such model.
  double take(const std::vector<Index>& leaving, const std::vector<Index>& coming, Random&) {
    const double before = model_.log_posterior();
    leaving_ = &leaving;
    for (const Index u : leaving) model_.leave(u);
    entered_.clear();
    for (const Index u : coming) {
      if (!model_.enter(u)) return SlabState::kNever;
      entered_.push_back(u);
    }
    return model_.log_posterior() - before;
  }
  void undo() {
    for (const Index u : entered_) model_.leave(u);
    for (const Index u : *leaving_) model_.enter(u);
  }

 private:
  Model& model_;
  const std::vector<Index>* leaving_ = nullptr;
  std::vector<Index> entered_;
};

template <>
class ExchangeOf<SpikeSlab> {
 public:
  explicit ExchangeOf(SpikeSlab& model) : model_(model) {}

  double take(const std::vector<Index>& leaving, const std::vector<Index>& coming, Random& random) {
    double log_ratio = 0;
    leaving_ = &leaving;
    entered_.clear();
    ridges_.clear();
    for (auto j = leaving.rbegin(); j != leaving.rend(); ++j) {
      model_.member_log_odds(*j, *j + 1, [&](Index, double odds) { log_ratio -= odds; });
      ridges_.push_back(model_.support().ridge_of(*j));
      model_.leave(*j);
    }
    for (const Index j : coming) {
      double odds;
      model_.insertion_log_odds(j, j + 1, &odds);
      if (!(odds > SlabState::kNever) || !model_.insert(j, &random)) return SlabState::kNever;
      entered_.push_back(j);
      log_ratio += odds;
    }
    return log_ratio;
  }
  void undo() {
    for (auto j = entered_.rbegin(); j != entered_.rend(); ++j) model_.leave(*j);
    for (std::size_t i = ridges_.size(); i-- > 0;) {
      const Index j = (*leaving_)[ridges_.size() - 1 - i];
      if (model_.is_laplace()) {
        model_.put_back(j, ridges_[i]);
      } else {
        model_.enter(j);
      }
    }
  }

 private:
  SpikeSlab& model_;
  const std::vector<Index>* leaving_ = nullptr;
  std::vector<Index> entered_;
  std::vector<double> ridges_;  // of those that left, the last of them first
};

template <class Model>
class Exchanges {
 public:
  Exchanges(Model& model, const std::vector<std::vector<Index>>& modes)
      : Exchanges(model, exchanges_between(modes)) {}
  Exchanges(Model& model, std::vector<Exchange> exchanges)
      : model_(model), move_(model), all_(std::move(exchanges)) {
    const auto is_fixed = [&](Index u) { return !model.is_free(u); };
    const auto has_fixed = [&](const Exchange& e) {
      return std::any_of(e.first.begin(), e.first.end(), is_fixed) ||
             std::any_of(e.second.begin(), e.second.end(), is_fixed);
    };
    all_.erase(std::remove_if(all_.begin(), all_.end(), has_fixed), all_.end());
  }

  // Returns how many exchanges were made.
  Index iterate(Random& random, const Context& context) {
    Index made = 0;
    for (int i = 0; i < kAttempts && !all_.empty(); ++i) made += attempt(random, context);
    return made;
  }

 private:
  static constexpr int kAttempts = 2;

  bool attempt(Random& random, const Context& context) {
    collect_possible();
    if (possible_.empty()) return false;
    context.check();
    const double count = static_cast<double>(possible_.size());
    const auto which = static_cast<std::size_t>(random.uniform() * count);
    const Exchange& chosen = all_[possible_[std::min(which, possible_.size() - 1)]];
    const bool forth = has_none(chosen.second);  // which is never empty
    const auto &leaving = forth ? chosen.first : chosen.second,
               &coming = forth ? chosen.second : chosen.first;
    double log_ratio = move_.take(leaving, coming, random);
    if (log_ratio > SlabState::kNever) {
      collect_possible();
      log_ratio += std::log(count / static_cast<double>(possible_.size()));
      if (random.uniform() < 1 / (1 + std::exp(-log_ratio))) return true;
    }
    move_.undo();
    return false;
  }

  void collect_possible() {
    possible_.clear();
    for (std::size_t e = 0; e < all_.size(); ++e) {
      const Exchange& own = all_[e];
      if ((has_all(own.first) && has_none(own.second)) ||
          (has_all(own.second) && has_none(own.first))) {
        possible_.push_back(e);
      }
    }
  }
  bool has_all(const std::vector<Index>& some) const {
    return std::all_of(some.begin(), some.end(), [&](Index u) { return model_.contains(u); });
  }
  bool has_none(const std::vector<Index>& some) const {
    return std::none_of(some.begin(), some.end(), [&](Index u) { return model_.contains(u); });
  }

  Model& model_;
  ExchangeOf<Model> move_;
  std::vector<Exchange> all_;
  std::vector<std::size_t> possible_;
};

}  // namespace ellzero
