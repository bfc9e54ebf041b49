// A Markov chain over supports: sweeps of single flips, swaps, and exchanges between modes. How
// many moves which columns are worth is learned while it warms up (restless.hpp).
#pragma once

#include <algorithm>
#include <vector>

#include "posterior/draws.hpp"
#include "posterior/exchanges.hpp"
#include "posterior/hyperparameters.hpp"
#include "posterior/restless.hpp"

namespace ellzero {

class Chain {
 public:
  Chain(const Quadratic& design, const GramUser& cache, const SpikeSlabPrior& prior,
        const std::vector<Index>& start, const std::vector<Exchange>& exchanges,
        const std::vector<double>& reference, std::uint64_t seed, std::uint64_t stream,
        SpikeSlab::Fetch fetch = SpikeSlab::Fetch::bulk)
      : design_(design),
        model_(design, cache, prior, fetch),
        random_(seed, stream),
        restless_(design.columns()),
        exchanges_(model_, exchanges),
        odds_(design.columns()),
        weights_(design.columns()),
        uniform_(design.columns()),
        here_(reference) {
    for (const Index j : start) {
      if (model_.is_free(j) && !model_.support().contains(j)) model_.insert(j, &random_);
    }
  }

  // What the chain remembers, see chain_state.hpp.
  template <class Fields>
  void remember(Fields& fields) {
    fields("random", random_);
    fields("iterations", iterations_);
    model_.remember(fields);
    restless_.remember(fields);
  }

  // One iteration; what it finds counts with the weight, but while warming up.
  void advance(bool warming, double weight, const Context& context) {
    if (!warming) restless_.settle();
    iterate(context);
    if (warming) {
      Conditionals::all_log_odds(model_, odds_.data());
      logistic(odds_.data(), model_.columns(), weights_.data());
      restless_.observe(weights_);
    } else {
      record(weight);
    }
  }

  // One iteration of the Gibbs sampler.
  void iterate(const Context& context) {
    learn();
    sweep_and_swap(context);
    exchange(context);
  }
  void sweep_and_swap(const Context& context) {
    sweep(++iterations_ % 4 == 0, context);
    if (restless_.swaps_at(iterations_)) swap();
    if (restless_.revisits()) revisit(iterations_ % 2 == 1, context);
  }

  // The same by the jump process that follows, for a stretch of its time. What it meets on the way
  // is averaged and counts with the weight.
  void jump_for(double time, double weight, const Context& context);

  // What is known of every column here counts with the weight.
  void record(double weight) { here_.add(model_, weight); }

  // Ends a draw: the state, and the average of what was recorded since the last.
  void keep(Draws& draws) {
    keep_state(model_, random_, draws);
    here_.move_to(draws);
  }

  void learn() {
    if (learns_tau(model_.prior())) learn_tau(model_, design_, random_);
    if (model_.is_laplace()) learn_scales(model_, design_, random_);
  }

  void exchange(const Context& context) { exchanges_.iterate(random_, context); }

  // Stands where another chain does, whose members are these here, and takes its random numbers.
  void stand_like(const Chain& other, const std::vector<Index>& members) {
    random_ = other.random_;
    model_.stand_like(other.model_, members);
  }

  const SpikeSlab& model() const { return model_; }
  Conditionals& here() { return here_; }
  Random& random() { return random_; }
  Index flips() const { return flips_; }

 private:
  // Columns that are looked at together: a flip makes odds anew for those that are left.
  static constexpr Index kChunk = 16;

  // Every column in turn is flipped with probability min(1, odds of the flip): the Metropolised
  // Gibbs sampler (Liu 1996), which leaves a state more readily than one that draws it anew. Where
  // odds are near one all columns would flip to and fro: now and then they are drawn anew.
  void sweep(bool anew, const Context& context) {
    const Index p = model_.columns();
    random_.fill_uniform(uniform_.data(), p);
    least_log_odds(uniform_.data(), anew, p, odds_.data());
    SpikeSlab::Rules rules = model_.rules();
    double excess[kChunk];
    for (Index begin = 0, i = 0; begin < p; begin = i) {
      const Index end = std::min(p, begin + kChunk);
      model_.greatest_excess(rules.out, begin, end, odds_.data() + begin, excess);
      for (bool flipped = false; i < end && !flipped; ++i) {
        if (!(excess[i - begin] > 0) || !would_flip(i, rules, anew)) continue;
        context.check();
        flip(i);
        rules = model_.rules();
        flipped = true;
      }
    }
  }

  // Whether column i is flipped; odds_ holds the least log-odds of flips.
  bool would_flip(Index i, const SpikeSlab::Rules& rules, bool anew) const {
    double odds, accept;
    if (model_.contains(i)) {
      const Index position = model_.support().position(i);
      const SpikeSlab::Above above = model_.leaves(rules.in, position, odds_[i]);
      if (above != SpikeSlab::Above::unclear) return above == SpikeSlab::Above::yes;
      odds = -model_.log_odds_at(rules.in, position);
    } else {
      if (model_.enters(rules.out, i, odds_[i]) == SpikeSlab::Above::yes) return true;
      model_.insertion_log_odds(rules.out.total, i, i + 1, &odds);
    }
    (anew ? logistic : exp_below_one)(&odds, 1, &accept);
    return uniform_[i] < accept;
  }

  // Restless columns once more. Those that would flip to and fro are where they were after a second
  // visit: every other time they are drawn anew.
  void revisit(bool anew, const Context& context) {
    SpikeSlab::Rules rules = model_.rules();
    for (const Index i : restless_.columns()) {
      uniform_[i] = random_.uniform();
      least_log_odds(&uniform_[i], anew, 1, &odds_[i]);
      if (!would_flip(i, rules, anew)) continue;
      context.check();
      flip(i);
      rules = model_.rules();
    }
  }

  bool flip(Index j) {
    ++flips_;
    const Index position = model_.support().position(j);
    if (position == model_.size()) return model_.insert(j, &random_);
    model_.remove(position);
    return true;
  }

  // A member chosen at random leaves, and any column comes in with its probability given that just
  // one does: nothing is rejected. Members are chosen in proportion to a weight w. With W the sum
  // over the members, S and the leaver l together have the density p(S | y) w_l / W(S); given all
  // but l, B, column i is l with probability proportional to
  //
  //   p(B + i | y) w_i / (W(B) + w_i)
  //
  // from which the one that comes in is drawn.
  void swap() {
    const Index movable = model_.free_members();
    if (movable == 0) return;
    const std::vector<double>& weight = restless_.weights();
    const Index position = choose_leaver();
    const Index leaver = model_.support().members()[position];
    double others = 0;  // W(B)
    for (const Index j : model_.support().members()) {
      if (model_.is_free(j) && j != leaver) others += weight[j];
    }
    const double u = random_.uniform();
    model_.look_without(position, without_);
    if (surely_comes_back(position, u, weight[leaver] * (others + 1) / (others + weight[leaver]))) {
      return;
    }
    model_.look_without_prior(position, without_);
    const Index p = model_.columns();
    model_.log_odds_of(without_.c.data(), without_.d.data(), model_.prior_d_or_null(without_),
                       movable - 1, without_.total, 0, p, odds_.data());
    const double highest = *std::max_element(odds_.begin(), odds_.end());
    exp_shifted(odds_.data(), highest, p, weights_.data());
    if (restless_.weighted()) {
      for (Index i = 0; i < p; ++i) weights_[i] *= weight[i] / (others + weight[i]);
    }
    const Index comer = choose(weights_, u, leaver);
    if (comer == leaver) return;
    ++flips_;
    model_.remove(position);
    if (!model_.insert(comer, &random_)) model_.insert(leaver, &random_);
  }

  // The position of a free member, of which there is one at least.
  Index choose_leaver() {
    const std::vector<double>& weight = restless_.weights();
    const std::vector<Index>& members = model_.support().members();
    double sum = 0;
    for (const Index j : members) sum += model_.is_free(j) ? weight[j] : 0;
    double left = sum * random_.uniform();
    Index last = 0;
    for (Index position = 0; position < model_.size(); ++position) {
      const Index j = members[position];
      if (!model_.is_free(j)) continue;
      last = position;
      left -= weight[j];
      if (left < 0) break;
    }
    return last;
  }

  // Whether the member that has just left is the one that u chooses, for certain: it is if the
  // others have together less than the part min(u, 1 - u) of its odds, which count by `least_share`
  // of what any other's do.
  bool surely_comes_back(Index position, double u, double least_share) {
    const SpikeSlab::Rules rules = model_.rules();
    const double p = static_cast<double>(model_.columns());
    const double least =
        model_.log_odds_at(rules.in, position) + std::log(std::min(u, 1 - u) * least_share / p);
    std::fill(odds_.begin(), odds_.end(), least - 1e-6);
    model_.greatest_excess_without(without_, odds_.data(), weights_.data());
    for (Index i = 0; i < model_.columns(); ++i) {
      if (weights_[i] > 0 && !model_.contains(i)) return false;
    }
    return true;
  }

  // A column with probability proportional to its weight, for a uniform u.
  static Index choose(const std::vector<double>& weights, double u, Index otherwise) {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    double left = sum * u;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      left -= weights[i];
      if (left < 0) return static_cast<Index>(i);
    }
    return otherwise;
  }

  const Quadratic& design_;
  SpikeSlab model_;
  Random random_;
  Restless restless_;
  Exchanges<SpikeSlab> exchanges_;
  std::vector<double> odds_, weights_, uniform_;
  SpikeSlab::Without without_;
  Conditionals here_;
  Index flips_ = 0;
  Index iterations_ = 0;
};

// Weighted tempered Gibbs (Zanella and Roberts 2019) as a process in continuous time: column i is
// flipped at the rate
//
//   (p_i + e) / p(gamma_i | the others),   p_i = p(gamma_i = 1 | the others),  e > 0
//
// Since p(gamma) times that does not depend on gamma_i, the posterior is its stationary law: where
// it stands after a given time is a draw, with no weights to carry.
inline void Chain::jump_for(double time, double weight, const Context& context) {
  const Index p = model_.columns();
  const double e = std::min(0.5, 5.0 / static_cast<double>(std::max<Index>(p, 1)));
  const double whole = time;
  while (time > 0) {
    context.check();
    Conditionals::all_log_odds(model_, odds_.data());
    // Rates are taken in units of exp(shift), so that all are numbers and compare as they should:
    // were two of them cut off at the same height, either column would come in as often.
    double highest = 0;
    for (Index i = 0; i < p; ++i) {
      const bool inside = model_.contains(i);
      if (model_.is_free(i)) highest = std::max(highest, inside ? -odds_[i] : odds_[i]);
    }
    const double shift = std::max(highest - 600, 0.0), unit = std::exp(-shift);
    jump_rates(odds_.data(), e, shift, p, weights_.data());
    for (const Index j : model_.support().members()) {
      weights_[j] = model_.is_free(j) ? unit * (1 + e) + e * std::exp(-odds_[j] - shift) : 0;
    }
    for (Index i = 0; i < p; ++i) {
      if (!model_.is_free(i)) weights_[i] = 0;
    }
    double sum = 0;
    for (const double weight : weights_) sum += weight;
    const double stay = sum > 0 ? std::min(time, unit * random_.exponential() / sum) : time;
    if (weight > 0) here_.add(model_, weight * stay / whole, odds_.data());
    time -= stay;
    if (time > 0) {
      const Index next = choose(weights_, random_.uniform(), -1);
      if (next >= 0) flip(next);  // a column that depends on the others stays out
    }
  }
}

}  // namespace ellzero
