// The prior over sets of units under heredity (Chipman 1996): every unit that may be in, because it
// has the parents it needs, is in with probability theta, and the others are out. With k units in
// of the m that may be,
//
//   p(S | theta) = theta^k (1 - theta)^(m - k),   p(S) = B(a + k, b + m - k) / B(a, b)
//
// where theta ~ Beta(a, b) is integrated out; m depends on S. Taken in an order in which parents
// come first it is a chain of coins, so it sums to one. Units that are always in or never are no
// part of it; the former count as parents even where they could not be entered.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "posterior/slab_state.hpp"
#include "search/unit_rules.hpp"

namespace ellzero {

class UnitPrior {
 public:
  enum class Choice : char { free, in, out };

  // `rules` say who needs whom; both have to outlive it.
  UnitPrior(const SpikeSlabPrior& prior, const UnitRules& rules, std::vector<Choice> choice)
      : prior_(prior), rules_(rules), choice_(std::move(choice)), in_(choice_.size(), 0) {
    for (Index u = 0; u < units(); ++u) in_[u] = choice_[u] == Choice::in;
    if (rules_.has_heredity()) {
      children_.resize(choice_.size());
      for (Index u = 0; u < units(); ++u) {
        if (!is_free(u)) continue;
        for (const Index parent : rules_.parents[u]) children_[parent].push_back(u);
      }
    }
    Index free = 0;
    for (Index u = 0; u < units(); ++u) {
      free += is_free(u);
      may_ += is_free(u) && rules_.enters_alone(u, in_);
    }
    for (Index k = 0; prior.learn_theta && k <= free; ++k) {
      const double more = static_cast<double>(k);
      log_gamma_a_.push_back(std::lgamma(prior.theta_a + more));
      log_gamma_b_.push_back(std::lgamma(prior.theta_b + more));
      log_gamma_sum_.push_back(std::lgamma(prior.theta_a + prior.theta_b + more));
    }
  }

  Index units() const { return static_cast<Index>(choice_.size()); }
  bool is_free(Index unit) const { return choice_[unit] == Choice::free; }
  bool is_forced(Index unit) const { return choice_[unit] == Choice::in; }
  bool is_in(Index unit) const { return in_[unit] != 0; }
  // Free units that are in, and that may be.
  Index members() const { return members_; }
  Index candidates() const { return may_; }
  // Whether every free member has the parents it needs.
  bool is_closed() const { return orphans_ == 0; }

  // To be told of every flip of a free unit; sets on the way need not be closed.
  void flip(Index unit) {
    const bool was_orphan = !rules_.enters_alone(unit, in_);
    before_.clear();
    for (const Index child : children_of(unit)) before_.push_back(rules_.enters_alone(child, in_));
    in_[unit] ^= 1;
    const Index sign = in_[unit] ? 1 : -1;
    members_ += sign;
    if (was_orphan) orphans_ += sign;
    for (std::size_t c = 0; c < before_.size(); ++c) {
      const Index child = children_[unit][c];
      const bool may = rules_.enters_alone(child, in_);
      if (may == (before_[c] != 0)) continue;
      may_ += may ? 1 : -1;
      if (in_[child]) orphans_ += may ? -1 : 1;
    }
  }

  // log p(S): never, of a set that is not closed.
  double log_prior() const {
    if (!is_closed()) return SlabState::kNever;
    if (prior_.learn_theta) return log_beta(members_, may_) - log_beta(0, 0);
    double value = 0;
    for (Index u = 0; u < units(); ++u) {
      if (!is_free(u) || !rules_.enters_alone(u, in_)) continue;
      value += in_[u] ? log_in(u) : log_out(u);
    }
    return value;
  }

  // The log of p(S with a free unit) / p(S without it), for the other units as they are, a closed
  // set: never if it lacks parents, always if a member needs it.
  double log_odds(Index unit) const {
    if (!rules_.enters_alone(unit, in_)) return SlabState::kNever;
    // Others that may be in only if this one is.
    Index more = 0;
    double out = 0;
    for (const Index child : children_of(unit)) {
      const bool with = enters_beside(child, unit, 1), without = enters_beside(child, unit, 0);
      if (with == without) continue;
      if (in_[child]) return -SlabState::kNever;
      ++more;
      if (!prior_.learn_theta) out += log_out(child);
    }
    if (!prior_.learn_theta) return prior_.log_odds[unit] + out;
    const Index k = members_ - in_[unit], m = may_ - (in_[unit] ? more : 0);
    if (more == 0) {
      return std::log((prior_.theta_a + static_cast<double>(k)) /
                      (prior_.theta_b + static_cast<double>(m - 1 - k)));
    }
    return log_beta(k + 1, m + more) - log_beta(k, m);
  }

  double draw_theta(Random& random) const {
    const double k = static_cast<double>(members_), rest = static_cast<double>(may_ - members_);
    return random.beta(prior_.theta_a + k, prior_.theta_b + rest);
  }

 private:
  const std::vector<Index>& children_of(Index unit) const {
    return children_.empty() ? none_ : children_[unit];
  }
  bool enters_beside(Index child, Index unit, char in) const {
    const char now = in_[unit];
    in_[unit] = in;
    const bool may = rules_.enters_alone(child, in_);
    in_[unit] = now;
    return may;
  }
  double log_beta(Index k, Index m) const {
    return log_gamma_a_[k] + log_gamma_b_[m - k] - log_gamma_sum_[m];
  }
  // log(1 + e^x), for x of any size
  static double softplus(double x) {
    return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
  }
  double log_in(Index unit) const { return -softplus(-prior_.log_odds[unit]); }
  double log_out(Index unit) const { return -softplus(prior_.log_odds[unit]); }

  const SpikeSlabPrior& prior_;
  const UnitRules& rules_;
  std::vector<Choice> choice_;
  mutable std::vector<char> in_;
  std::vector<std::vector<Index>> children_;  // the free ones, by unit; empty without heredity
  std::vector<Index> none_;
  std::vector<double> log_gamma_a_, log_gamma_b_, log_gamma_sum_;  // if theta is learned
  Index members_ = 0, may_ = 0, orphans_ = 0;
  std::vector<char> before_;  // room to work in
};

}  // namespace ellzero
