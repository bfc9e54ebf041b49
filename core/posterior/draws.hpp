// What a sampler keeps of its draws.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "posterior/chain_state.hpp"
#include "posterior/spike_slab.hpp"

namespace ellzero {

struct Draws {
  std::vector<Index> begins{0};  // where the support of each draw begins, and the end
  std::vector<Index> support;
  std::vector<double> beta;  // for columns of unit norm
  std::vector<double> theta, s2, slab_variance;
  // By draw and column: the probability that the column is in, given all others.
  std::vector<float> conditional;
  // By column, sums over draws of that probability, and of what it makes of the mean of the
  // coefficient and of the mean square of what it differs by from a reference.
  std::vector<double> inclusion, mean, square;
  ChainState state;  // of the chain, at the last boundary that it came to
  Index count() const { return static_cast<Index>(begins.size()) - 1; }

  // After the first of so many draws: room for the others.
  void reserve(Index count) { conditional.reserve(conditional.size() * count); }
  // The sums, with which a chain goes on.
  template <class Fields>
  void remember(Fields& fields) {
    fields.sums("inclusion", inclusion);
    fields.sums("mean", mean);
    fields.sums("square", square);
  }
};

// The support in increasing order with its coefficients, and the hyperparameters.
// `columns`, if not null, are what the model's columns are called.
inline void keep_state(const SpikeSlab& model, Random& random, Draws& draws,
                       const Index* columns = nullptr) {
  const double s2 = model.draw_s2(random);
  const std::vector<double> beta = model.draw_beta(s2, random);
  std::vector<std::pair<Index, double>> members;
  members.reserve(beta.size());
  for (std::size_t s = 0; s < beta.size(); ++s) {
    const Index j = model.support().members()[s];
    members.emplace_back(columns ? columns[j] : j, beta[s]);
  }
  std::sort(members.begin(), members.end());
  for (const auto& [j, value] : members) {
    draws.support.push_back(j);
    draws.beta.push_back(value);
  }
  draws.begins.push_back(static_cast<Index>(draws.support.size()));
  draws.s2.push_back(s2);
  const bool gaussian = model.prior().slab == Slab::gaussian;
  draws.slab_variance.push_back(gaussian ? s2 / model.tau() : model.slab_variance());
  if (model.prior().learn_theta) draws.theta.push_back(model.draw_theta(random));
}

// Rao and Blackwell: every column's indicator is replaced by its probability given the others, and
// its coefficient by its mean and mean square given the others' indicators. Squares are of
// differences from a reference near the mean, so that a variance can be far below the square.
class Conditionals {
 public:
  explicit Conditionals(const std::vector<double>& reference)
      : inclusion(reference.size()),
        mean(reference.size()),
        square(reference.size()),
        reference_(reference),
        odds_(reference.size()),
        p_(reference.size()) {}

  // `odds` may hold the log-odds of all columns already. Model is SpikeSlab, or another on a
  // support with c and d.
  template <class Model>
  void add(const Model& model, double weight, const double* odds = nullptr) {
    const Index p = model.columns();
    const auto& support = model.support();
    if (odds) {
      logistic(odds, p, p_.data());
    } else {
      all_probabilities(model, p_.data());
    }
    if (model.is_laplace()) {
      for (Index i = 0; i < p; ++i) inclusion[i] += weight * p_[i];
      for (Index i = 0; i < p; ++i) {
        if (support.contains(i)) continue;
        double m = 0, variance = 0;
        if (model.is_free(i)) {
          model.laplace_slab(i).moments(support.c()[i], support.d()[i], m, variance);
        }
        add_one(i, weight, m, variance);
      }
    } else {
      const double base = model.mean_s2() / model.alpha();
      const double slope = model.integrated() ? base * 0.5 / (model.alpha() * model.total()) : 0;
      add_moments(weight, p_.data(), support.c().data(), support.d().data(), 1 / model.alpha(),
                  base, slope, 0, reference_.data(), p, inclusion.data(), mean.data(),
                  square.data());
    }
    for (Index s = 0; s < support.size(); ++s) add_member(model, s, weight);
  }

  // The log-odds of inclusion of every column, given the others.
  template <class Model>
  static void all_log_odds(const Model& model, double* odds) {
    model.insertion_log_odds(0, model.columns(), odds);
    model.member_log_odds(0, model.columns(), [&](Index j, double value) { odds[j] = value; });
  }

  // The probability of inclusion of every column, given the others.
  template <class Model>
  void all_probabilities(const Model& model, double* out) {
    model.inclusion_probabilities(out);
    Index count = 0;
    members_.resize(model.size());
    model.member_log_odds(0, model.columns(), [&](Index j, double value) {
      members_[count] = j;
      odds_[count++] = value;
    });
    logistic(odds_.data(), count, odds_.data());
    for (Index s = 0; s < count; ++s) out[members_[s]] = odds_[s];
  }

  // Ends a draw: what was added since the last.
  void move_to(Draws& draws) {
    const std::size_t p = inclusion.size(), kept = draws.conditional.size();
    draws.inclusion.resize(p), draws.mean.resize(p), draws.square.resize(p);
    draws.conditional.resize(kept + p);
    double* const from[3] = {inclusion.data(), mean.data(), square.data()};
    double* const to[3] = {draws.inclusion.data(), draws.mean.data(), draws.square.data()};
    move_sums(static_cast<Index>(p), from, to, draws.conditional.data() + kept);
  }
  void clear() {
    std::fill(inclusion.begin(), inclusion.end(), 0.0);
    std::fill(mean.begin(), mean.end(), 0.0);
    std::fill(square.begin(), square.end(), 0.0);
  }

  std::vector<double> inclusion, mean, square;

 private:
  // A coefficient that is in with probability p_, and then has this mean and variance.
  void add_one(Index i, double weight, double m, double variance) {
    const double share = weight * p_[i], off = reference_[i];
    mean[i] += share * m;
    square[i] += share * ((m - off) * (m - off) + variance) + (weight - share) * off * off;
  }

  template <class Model>
  void add_member(const Model& model, Index s, double weight) {
    const auto& support = model.support();
    const Index j = support.members()[s];
    const double inverse = support.inverse_diagonal()[s], beta = support.beta()[s];
    double m = beta / model.alpha(), variance = model.mean_s2() * inverse / model.alpha();
    if (model.is_laplace()) {
      model.laplace_slab(j).moments(beta / inverse, 1 / inverse - support.ridge_of(j), m, variance);
    }
    add_one(j, weight, m, variance);
  }

  const std::vector<double>& reference_;
  std::vector<double> odds_, p_;
  std::vector<Index> members_;
};

}  // namespace ellzero
