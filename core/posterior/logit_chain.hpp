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

#include "base/polya_gamma.hpp"
#include "likelihood/row_kernels.hpp"
#include "posterior/draws.hpp"
#include "posterior/flip_moves.hpp"
#include "posterior/logit_jumps.hpp"
#include "posterior/logit_spike_slab.hpp"
#include "posterior/sampler.hpp"

namespace ellzero {

// Draws without noise of their own, and with intercepts.
struct LogitDraws : Draws {
  std::vector<double> intercept;  // of the columns of Z
  double intercept_sum = 0;       // over draws, of its mean given the support and the weights
};

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
    for (Index i = 0; i < p; ++i) inclusion[i] += weight * p_[i];
    add_moments(weight, p_.data(), support.c().data(), support.d().data(), 1, 1, 0, 0,
                reference_.data(), p, mean.data(), square.data());
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
    for (std::size_t i = 0; i < p; ++i) {
      draws.conditional[kept + i] = static_cast<float>(inclusion[i]);
      draws.inclusion[i] += inclusion[i];
      draws.mean[i] += mean[i];
      draws.square[i] += square[i];
    }
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

class LogitChain {
 public:
  LogitChain(const LogitRows& rows, const LogitPrior& prior, const LogitStart& start,
             const std::vector<double>& reference, std::uint64_t seed, std::uint64_t stream)
      : rows_(rows),
        model_(rows, prior),
        random_(seed, stream),
        moves_(model_, random_),
        jumps_(rows, prior, model_.inclusion()),
        here_(reference),
        share_(rows.rows()),
        omega_(rows.rows()),
        psi_(rows.rows()),
        column_(rows.rows()),
        moved_(rows.rows()),
        unused_(rows.rows()) {
    for (Index r = 0; r < rows.rows(); ++r) share_[r] = rows.successes()[r] / rows.counts()[r];
    for (Index j = 0; j < rows.columns(); ++j) {
      if (model_.inclusion().is_forced(j)) take(j, start);
    }
    for (const Index j : start.support) {
      if (model_.is_free(j)) take(j, start);
    }
    intercept_ = rows.intercept() ? start.intercept : 0;
    predict();
  }

  void iterate(const Context& context) {
    jump();
    stretch();
    if (rows_.intercept()) shift();
    for (Index r = 0; r < rows_.rows(); ++r) {
      omega_[r] = draw_polya_gamma(static_cast<Index>(rows_.counts()[r]), psi_[r], random_);
    }
    model_.reset(omega_, members_);
    model_.learn_tau(random_);
    moves_.sweep(++iterations_ % 4 == 0, context);
    const Index swaps = std::min<Index>(std::max<Index>(model_.free_members(), 1), kMostSwaps);
    for (Index i = 0; i < swaps; ++i) moves_.swap();
    members_ = model_.support().members();
    beta_ = model_.draw_beta(random_);
    if (rows_.intercept()) {
      const WeightedSupport& support = model_.support();
      intercept_ =
          support.intercept_given(beta_) + random_.normal() / std::sqrt(support.total_precision());
    }
    predict();
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
    std::vector<Index> order(members_.size());
    for (std::size_t s = 0; s < order.size(); ++s) order[s] = static_cast<Index>(s);
    std::sort(order.begin(), order.end(),
              [&](Index a, Index b) { return members_[a] < members_[b]; });
    for (const Index s : order) {
      draws.support.push_back(members_[s]);
      draws.beta.push_back(beta_[s]);
    }
    draws.begins.push_back(static_cast<Index>(draws.support.size()));
    draws.intercept.push_back(intercept_);
    draws.slab_variance.push_back(1 / model_.tau());
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

  void predict() {
    std::fill(psi_.begin(), psi_.end(), intercept_);
    for (std::size_t s = 0; s < members_.size(); ++s) {
      rows_.read(members_[s], column_.data());
      for (Index r = 0; r < rows_.rows(); ++r) psi_[r] += beta_[s] * column_[r];
    }
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

  // log p(y | psi) for psi = factor psi_ + by
  double log_likelihood(double factor, double by) {
    for (Index r = 0; r < rows_.rows(); ++r) moved_[r] = factor * psi_[r] + by;
    return -logistic_loss(moved_.data(), share_.data(), rows_.counts().data(), rows_.rows(),
                          unused_.data(), omega_.data());
  }

  // A step of slice sampling along x, with intercept and coefficients e^x times what they are, and
  // sigma_beta too where it is learned. The volume of what is moved changes by e^x for each of
  // them, which the slab takes back if it moves along.
  void stretch() {
    const Variance& variance = model_.prior().slab_variance;
    const double tau = model_.tau(), precision = model_.prior().intercept_precision;
    const double k = static_cast<double>(beta_.size()), moved = rows_.intercept();
    const double square = dot(beta_.data(), beta_.data(), static_cast<Index>(beta_.size()));
    if (beta_.empty()) return;
    const auto log_density = [&](double x) {
      const double g = std::exp(x);
      const double slab = variance.learned ? -2 * variance.shape * x - variance.rate * tau / (g * g)
                                           : k * x - 0.5 * tau * g * g * square;
      return log_likelihood(g, 0) + moved * x - 0.5 * precision * g * g * intercept_ * intercept_ +
             slab;
    };
    double low = -5, high = 5;
    if (variance.learned) {
      low = std::max(low, 0.5 * std::log(tau / LogitSpikeSlab::kGreatestTau));
      high = std::min(high, 0.5 * std::log(tau / LogitSpikeSlab::kLeastTau));
    }
    const double g = std::exp(slice_step(0, log_density(0), low, high, log_density, random_, 1));
    intercept_ *= g;
    for (double& value : beta_) value *= g;
    for (double& value : psi_) value *= g;
    if (variance.learned) model_.set_tau(tau / (g * g));
  }

  // The same along x for another intercept, x more than it is.
  void shift() {
    const double precision = model_.prior().intercept_precision;
    const auto log_density = [&](double x) {
      return log_likelihood(1, x) - 0.5 * precision * (intercept_ + x) * (intercept_ + x);
    };
    const double x = slice_step(0, log_density(0), -100, 100, log_density, random_, 2);
    intercept_ += x;
    for (double& value : psi_) value += x;
  }

  const LogitRows& rows_;
  LogitSpikeSlab model_;
  Random random_;
  FlipMoves<LogitSpikeSlab> moves_;
  LogitJumps jumps_;
  LogitConditionals here_;
  std::vector<double> share_, omega_, psi_, column_, moved_, unused_;
  std::vector<Index> members_;
  std::vector<double> beta_;
  double intercept_ = 0;
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
  std::vector<LogitDraws> draws(starts.size());
  const auto count = static_cast<Index>(starts.size());
  parallel_ranges(count, context, [&](Index begin, Index end, auto&&) {
    for (Index i = begin; i < end; ++i) {
      const Context own = context.single(begin == 0);  // the calling thread has the first range
      LogitChain chain(rows, prior, starts[i], reference, seed, static_cast<std::uint64_t>(i));
      for (Index t = 0; t < schedule.iterations(); ++t) {
        own.check();
        if (begin == 0 && progress) progress(i * schedule.iterations() + t);
        chain.iterate(own);
        if (t < schedule.warmup) {
          chain.learn();
          continue;
        }
        chain.record(1 / static_cast<double>(schedule.thin));
        if ((t - schedule.warmup + 1) % schedule.thin == 0) chain.keep(draws[i]);
      }
    }
  });
  return draws;
}

}  // namespace ellzero
