// A Markov chain on supports, coefficients and Polya-Gamma weights. One iteration:
//
//   1. without omega: S and its coefficients (logit_jumps.hpp), and given S the scale of psi and
//      the intercept, see stretch() and shift()
//   2. omega given psi: PG(counts_i, psi_i)
//   3. tau given omega and S, coefficients and intercept integrated out
//   4. S given omega and tau, likewise: a sweep of single flips, and swaps
//   5. intercept and coefficients given all that: psi
//
// Without the first, chains are slow where probabilities are near 0 or 1: omega hardly lets psi
// move as a whole.
#pragma once

#include <algorithm>
#include <vector>

#include "posterior/flip_moves.hpp"
#include "posterior/logit_jumps.hpp"
#include "posterior/logit_walk.hpp"

namespace ellzero {

// Where a chain starts: coefficients of the support, or none, which are taken for zero.
struct LogitStart {
  std::vector<Index> support;
  std::vector<double> beta;
  double intercept = 0;
};

// Rao and Blackwell, given omega: every column's indicator is replaced by its probability given the
// others, and its coefficient by its mean and mean square given the others' indicators.
class LogitConditionals {
 public:
  explicit LogitConditionals(const std::vector<double>& reference)
      : inclusion(reference.size()),
        mean(reference.size()),
        square(reference.size()),
        reference_(reference),
        odds_(reference.size()),
        p_(reference.size()) {}

  void add(const LogitSpikeSlab& model, double weight) {
    const Index p = model.columns();
    const WeightedSupport& support = model.support();
    model.insertion_log_odds(0, p, odds_.data());
    model.member_log_odds(0, p, [&](Index j, double value) { odds_[j] = value; });
    logistic(odds_.data(), p, p_.data());
    add_moments(weight, p_.data(), support.c().data(), support.d().data(), 1, 1, 0, 0,
                reference_.data(), p, inclusion.data(), mean.data(), square.data());
    for (Index s = 0; s < support.size(); ++s) {
      const Index j = support.members()[s];
      const double share = weight * p_[j], off = reference_[j], m = support.beta()[s];
      mean[j] += share * m;
      square[j] += share * ((m - off) * (m - off) + support.inverse_diagonal()[s]) +
                   (weight - share) * off * off;
    }
    if (support.has_intercept()) intercept += weight * support.intercept_given(support.beta());
  }

  void move_to(LogitDraws& draws) {
    const std::size_t p = inclusion.size(), kept = draws.conditional.size();
    draws.inclusion.resize(p), draws.mean.resize(p), draws.square.resize(p);
    draws.conditional.resize(kept + p);
    double* const from[3] = {inclusion.data(), mean.data(), square.data()};
    double* const to[3] = {draws.inclusion.data(), draws.mean.data(), draws.square.data()};
    move_sums(static_cast<Index>(p), from, to, draws.conditional.data() + kept);
    draws.intercept_sum += intercept;
    clear();
  }
  void clear() {
    for (auto* sums : {&inclusion, &mean, &square}) std::fill(sums->begin(), sums->end(), 0.0);
    intercept = 0;
  }

  std::vector<double> inclusion, mean, square;
  double intercept = 0;

 private:
  const std::vector<double>& reference_;
  std::vector<double> odds_, p_;
};

class LogitChain : private LogitWalk {
 public:
  LogitChain(const LogitRows& rows, const LogitPrior& prior, const LogitStart& start,
             const std::vector<double>& reference, std::uint64_t seed, std::uint64_t stream)
      : LogitWalk(rows, prior, seed, stream),
        moves_(model_, random_),
        jumps_(rows, prior, model_.inclusion()),
        here_(reference) {
    for (Index j = 0; j < rows.columns(); ++j) {
      if (model_.inclusion().is_forced(j)) take(j, start);
    }
    for (const Index j : start.support) {
      if (model_.is_free(j)) take(j, start);
    }
    intercept_ = rows.intercept() ? start.intercept : 0;
    predict();
  }

  // What the chain remembers, see chain_state.hpp.
  template <class Fields>
  void remember(Fields& fields) {
    LogitWalk::remember(fields);
    jumps_.remember(fields);
    fields("iterations", iterations_);
    fields("jump_every", jump_every_);
    fields("held", held_);
    fields("told", told_);
  }

  // One iteration; what it finds counts with the weight, but while warming up: then it is learnt
  // from.
  void advance(bool warming, double weight, const Context& context) {
    iterate(context);
    if (warming) {
      learn();
    } else {
      record(weight);
    }
  }

  void iterate(const Context& context) {
    jump();
    stretch();
    if (rows_.intercept()) shift();
    draw_omega();
    model_.reset(omega_, members_);
    model_.learn_tau(random_);
    moves_.sweep(++iterations_ % 4 == 0, context);
    const Index swaps = std::min<Index>(std::max<Index>(model_.free_members(), 1), kMostSwaps);
    for (Index i = 0; i < swaps; ++i) moves_.swap();
    draw_coefficients();
  }

  void record(double weight) { here_.add(model_, weight); }
  // While warming up: what is met here says which columns jumps should try, and how often they are
  // worth their while. That is where omega holds more information on psi than the classes do, which
  // have counts p (1 - p): there sweeps given omega take small steps.
  void learn() {
    here_.add(model_, 1);
    jumps_.learn(here_.inclusion);
    here_.clear();
    for (Index r = 0; r < rows_.rows(); ++r) {
      const double p = 1 / (1 + std::exp(-psi_[r]));
      held_ += omega_[r];
      told_ += rows_.counts()[r] * p * (1 - p);
    }
    jump_every_ = held_ > kHeldFast * told_ ? 1 : kSeldom;
  }

  // Ends a draw: the state, and the average of what was recorded since the last.
  void keep(LogitDraws& draws) {
    keep_state(draws);
    if (model_.inclusion().learned()) {
      draws.theta.push_back(model_.inclusion().draw_theta(model_.free_members(), random_));
    }
    here_.move_to(draws);
  }

 private:
  static constexpr Index kMostSwaps = 10;
  static constexpr double kHeldFast = 3;
  static constexpr Index kSeldom = 8;

  void take(Index j, const LogitStart& start) {
    if (std::find(members_.begin(), members_.end(), j) != members_.end()) return;
    const auto found = std::find(start.support.begin(), start.support.end(), j);
    const auto at = static_cast<std::size_t>(found - start.support.begin());
    members_.push_back(j);
    beta_.push_back(at < start.beta.size() ? start.beta[at] : 0.0);
  }

  void jump() {
    if (iterations_ % jump_every_ != 0) return;
    if (!jumps_.jump(members_, beta_, intercept_, random_)) return;
    const Variance& variance = model_.prior().slab_variance;
    if (variance.learned) {
      const auto k = static_cast<Index>(beta_.size());
      model_.set_tau(random_.gamma(variance.shape + 0.5 * static_cast<double>(k)) /
                     (variance.rate + 0.5 * dot(beta_.data(), beta_.data(), k)));
    }
    predict();
  }

  FlipMoves<LogitSpikeSlab> moves_;
  LogitJumps jumps_;
  LogitConditionals here_;
  Index iterations_ = 0;
  Index jump_every_ = 1;
  double held_ = 0, told_ = 0;
};

// As many chains as there are starts; what they draw does not depend on the number of threads.
inline std::vector<LogitDraws> run_logit_chains(const LogitRows& rows, const LogitPrior& prior,
                                                const std::vector<LogitStart>& starts,
                                                const std::vector<double>& reference,
                                                std::uint64_t seed, const Schedule& schedule,
                                                const Context& context,
                                                const DrawProgress& progress) {
  return run_each<LogitDraws>(static_cast<Index>(starts.size()), schedule, context, progress,
                              [&](Index i, bool begins, const Context&) {
                                return std::make_unique<LogitChain>(
                                    rows, prior, begins ? starts[i] : LogitStart(), reference, seed,
                                    static_cast<std::uint64_t>(i));
                              });
}

}  // namespace ellzero
