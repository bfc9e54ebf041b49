// A Markov chain over sets of groups: sweeps of single flips, swaps, exchanges between modes and,
// under heredity, products together with their parents.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "posterior/exchanges.hpp"
#include "posterior/group_spike_slab.hpp"
#include "posterior/sampler.hpp"

namespace ellzero {

// Rao and Blackwell, as Conditionals in draws.hpp: inclusion by group, moments by column of X.
class GroupConditionals {
 public:
  GroupConditionals(Index units, const std::vector<double>& reference)
      : inclusion(units), mean(reference.size()), square(reference.size()), reference_(reference) {}

  void add(const GroupSpikeSlab& model, double weight) {
    for (Index u = 0; u < model.units(); ++u) {
      const double odds = model.log_odds(u, block_);
      const double share = weight / (1 + std::exp(-odds));
      inclusion[u] += share;
      const std::vector<Index>& columns = model.support().bases().units[u].columns;
      if (share > 0) model.moments(u, block_, own_mean_, own_variance_);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const Index j = columns[i];
        const double off = reference_[j];
        square[j] += (weight - share) * off * off;
        if (!(share > 0)) continue;
        const double m = own_mean_[i];
        mean[j] += share * m;
        square[j] += share * ((m - off) * (m - off) + own_variance_[i]);
      }
    }
  }
  void clear() {
    for (auto* sums : {&inclusion, &mean, &square}) std::fill(sums->begin(), sums->end(), 0.0);
  }

  std::vector<double> inclusion, mean, square;

 private:
  const std::vector<double>& reference_;
  GroupBlock block_;
  std::vector<double> own_mean_, own_variance_;
};

class GroupChain {
 public:
  GroupChain(const GroupProblem& problem, const GramUser& cache, const std::vector<Index>& start,
             const std::vector<std::vector<Index>>& modes, const std::vector<double>& reference,
             std::uint64_t seed, std::uint64_t stream)
      : problem_(problem),
        model_(problem, cache),
        random_(seed, stream),
        exchanges_(model_, modes),
        odds_(model_.units()),
        here_(model_.units(), reference) {
    model_.enter_all(start);
    for (Index u = 0; problem.rules.has_heredity() && u < model_.units(); ++u) {
      if (model_.is_free(u) && !problem.rules.parents[u].empty()) products_.push_back(u);
    }
  }

  const GroupSpikeSlab& model() const { return model_; }

  // What the chain remembers, see chain_state.hpp.
  template <class Fields>
  void remember(Fields& fields) {
    fields("random", random_);
    fields("iterations", iterations_);
    model_.remember(fields);
  }

  // One iteration; what it finds counts with the weight, but while warming up.
  void advance(bool warming, double weight, const Context& context) {
    iterate(context);
    if (!warming) record(weight);
  }

  void iterate(const Context& context) {
    if (learns_tau(model_.prior())) learn_tau(model_, problem_.quadratic, random_);
    sweep(++iterations_ % 4 == 0, context);
    swap(context);
    for (Index i = 0; i < kFamilies && !products_.empty(); ++i) redraw_family(context);
    exchanges_.iterate(random_, context);
  }

  // What is known of every group here counts with the weight.
  void record(double weight) { here_.add(model_, weight); }

  // Ends a draw: the state, and the average of what was recorded since the last.
  void keep(Draws& draws) {
    keep_state(model_, random_, draws);
    const auto add = [](std::vector<double>& to, const std::vector<double>& from) {
      to.resize(from.size());
      for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
    };
    for (const double p : here_.inclusion) draws.conditional.push_back(static_cast<float>(p));
    add(draws.inclusion, here_.inclusion);
    add(draws.mean, here_.mean);
    add(draws.square, here_.square);
    here_.clear();
  }

 private:
  static constexpr Index kFamilies = 12;
  static constexpr std::size_t kMostParents = 3;  // redrawn with a product

  // As Chain::sweep has it of columns.
  void sweep(bool anew, const Context& context) {
    for (Index u = 0; u < model_.units(); ++u) {
      if (!model_.is_free(u)) continue;
      const double odds = model_.log_odds(u, block_);
      const double of_flip = model_.contains(u) ? -odds : odds;
      const double accept = anew ? 1 / (1 + std::exp(-of_flip)) : std::exp(std::min(of_flip, 0.0));
      if (random_.uniform() >= accept) continue;
      context.check();
      model_.flip(u);
    }
  }

  // A member chosen at random leaves, and any group that may comes in with its probability given
  // that just one does: nothing is rejected. If others need the member, only one that they can do
  // with instead may come, another parent.
  void swap(const Context& context) {
    const Index movable = model_.unit_prior().members();
    if (movable == 0) return;
    context.check();
    Index which = draw_below(movable), leaver = -1;
    for (const Index u : model_.support().members()) {
      if (model_.is_free(u) && which-- == 0) leaver = u;
    }
    if (leaver < 0) return;
    const bool needed = model_.unit_prior().log_odds(leaver) == -SlabState::kNever;
    if (needed && problem_.rules.strong) return;
    model_.leave(leaver);
    double highest = SlabState::kNever;
    for (Index u = 0; u < model_.units(); ++u) {
      odds_[u] = SlabState::kNever;
      if (!model_.is_free(u) || model_.contains(u)) continue;
      odds_[u] = needed ? model_.log_weight_with(u, block_) : model_.log_odds(u, block_);
      highest = std::max(highest, odds_[u]);
    }
    for (double& value : odds_) value = std::exp(value - highest);
    const Index comer = choose(odds_);
    if (comer < 0 || !model_.enter(comer)) model_.enter(leaver);
  }

  // A product and some of its parents are drawn anew together, for the other groups as they are:
  // where neither pays by itself, single flips would not find both.
  void redraw_family(const Context& context) {
    context.check();
    const Index product = products_[draw_below(static_cast<Index>(products_.size()))];
    family_.assign(1, product);
    std::vector<Index> parents;
    for (const Index u : problem_.rules.parents[product]) {
      if (model_.is_free(u)) parents.push_back(u);
    }
    while (!parents.empty() && family_.size() <= kMostParents) {
      const auto next = parents.begin() + draw_below(static_cast<Index>(parents.size()));
      family_.push_back(*next);
      parents.erase(next);
    }
    const std::size_t before = code_of_family();
    model_.set_silent(true);
    weights_.clear();
    double highest = SlabState::kNever;
    for (std::size_t code = 0; code < std::size_t{1} << family_.size(); ++code) {
      const bool possible = set_family(code) && model_.is_model();
      weights_.push_back(possible ? model_.log_posterior() : SlabState::kNever);
      highest = std::max(highest, weights_.back());
    }
    const bool returned = set_family(before);
    model_.set_silent(false, returned);
    for (double& value : weights_) value = std::exp(value - highest);
    const Index chosen = choose(weights_);
    if (chosen >= 0 && !set_family(chosen)) set_family(before);
  }
  std::size_t code_of_family() const {
    std::size_t code = 0;
    for (std::size_t b = 0; b < family_.size(); ++b) {
      if (model_.contains(family_[b])) code |= std::size_t{1} << b;
    }
    return code;
  }
  // Bit b says whether the b-th of the family is in; false if they depend on others.
  bool set_family(std::size_t code) {
    for (std::size_t b = 0; b < family_.size(); ++b) {
      if (model_.contains(family_[b]) && !((code >> b) & 1)) model_.leave(family_[b]);
    }
    bool all = true;
    for (std::size_t b = 0; b < family_.size(); ++b) {
      if (((code >> b) & 1) && !model_.contains(family_[b])) all &= model_.enter(family_[b]);
    }
    return all;
  }

  Index draw_below(Index count) {
    return static_cast<Index>(random_.uniform() * static_cast<double>(count));
  }
  // A place with probability proportional to its weight; -1 if rounding leaves none.
  Index choose(const std::vector<double>& weights) {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    double left = sum * random_.uniform();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      left -= weights[i];
      if (left < 0) return static_cast<Index>(i);
    }
    return -1;
  }

  const GroupProblem& problem_;
  GroupSpikeSlab model_;
  Random random_;
  Exchanges<GroupSpikeSlab> exchanges_;
  std::vector<double> odds_, weights_;
  std::vector<Index> products_;  // free units that have parents
  std::vector<Index> family_;
  GroupConditionals here_;
  GroupBlock block_;
  Index iterations_ = 0;
};

// As many chains as there are starts, on one cache; what they draw does not depend on the number of
// threads.
inline std::vector<Draws> run_group_chains(const GroupProblem& problem, const GramUser& cache,
                                           const std::vector<std::vector<Index>>& starts,
                                           const std::vector<std::vector<Index>>& modes,
                                           const std::vector<double>& reference, std::uint64_t seed,
                                           const Schedule& schedule, const Context& context,
                                           const DrawProgress& progress) {
  return run_each<Draws>(static_cast<Index>(starts.size()), schedule, context, progress,
                         [&](Index i, bool begins, const Context&) {
                           return std::make_unique<GroupChain>(
                               problem, cache, begins ? starts[i] : std::vector<Index>(), modes,
                               reference, seed, static_cast<std::uint64_t>(i));
                         });
}

}  // namespace ellzero
