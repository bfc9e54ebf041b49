// Moves between supports without Polya-Gamma weights: these hold psi fast where probabilities are
// near 0 or 1, and with it the support.
//
// From a support S with theta = (beta_S, mu) to S' by a flip or a swap, theta' is proposed from
// Student's t about the mode of S' (logit_model.hpp) whatever theta was, and accepted with
// probability
//
//   min(1, W(S', theta') q(S' to S) / (W(S, theta) q(S to S'))),   W = p(S) p(y, theta | S) /
//   t_S(theta)
//
// (Metropolis and Hastings). W hardly hangs on theta, so this is nearly a comparison of the models'
// evidence. sigma_beta is integrated out, and has to be drawn anew where a move was made.
//
// Columns are chosen by fixed weights: for a flip by v_j = p_j (1 - p_j) + e, for a swap the leaver
// at random and the comer by u_j (r_ij^2 + .01), u_j = p_j + e, where r are correlations and p_j
// the inclusion probabilities that were met while the chain warmed up.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "posterior/logit_model.hpp"

namespace ellzero {

class LogitJumps {
 public:
  LogitJumps(const LogitRows& rows, const LogitPrior& prior, const InclusionPrior& inclusion)
      : rows_(rows),
        prior_(prior),
        inclusion_(inclusion),
        cache_(rows.quadratic().cache(), Context()),
        met_(rows.columns(), 0.0),
        flip_(rows.columns()),
        come_(rows.columns()),
        chance_(rows.columns()) {
    set_weights();
  }

  // While warming up: the inclusion probabilities of an iteration.
  void learn(const std::vector<double>& inclusion) {
    for (std::size_t j = 0; j < met_.size(); ++j) met_[j] += inclusion[j];
    if (++learned_ % 16 == 0) set_weights();
  }

  template <class Fields>
  void remember(Fields& fields) {
    fields("met", met_);
    fields("learned", learned_);
    fields("flip_weights", flip_);
    fields("come_weights", come_);
  }

  // Whether it moved; then members, beta and the intercept are others.
  bool jump(std::vector<Index>& members, std::vector<double>& beta, double& intercept,
            Random& random) {
    std::vector<Index> next = members;
    const double log_ratio = random.uniform() < 0.5 ? flip(next, random) : swap(next, random);
    if (next == members) return false;
    LogitModel here(rows_, prior_, members), there(rows_, prior_, next);
    std::vector<double> theta = beta;
    if (rows_.intercept()) theta.push_back(intercept);
    LogitModel::Pair pair;
    there.propose(random, pair);
    const double forward = pair.log_weight[0] + log_prior(next);
    const double back =
        here.log_density(theta.data()) - here.log_proposal(theta) + log_prior(members);
    if (!(std::log(random.uniform()) < forward - back + log_ratio)) return false;
    members = std::move(next);
    beta.assign(pair.theta[0].begin(), pair.theta[0].begin() + members.size());
    if (rows_.intercept()) intercept = pair.theta[0].back();
    return true;
  }

 private:
  static constexpr double kFar = 0.01;  // added to squared correlations

  void set_weights() {
    const double share = 1 / std::max(static_cast<double>(learned_), 1.0);
    const double e = 1 / static_cast<double>(std::max<Index>(inclusion_.free_columns(), 1));
    for (std::size_t j = 0; j < met_.size(); ++j) {
      const double p = std::min(met_[j] * share, 1.0);
      const bool free = inclusion_.is_free(static_cast<Index>(j));
      flip_[j] = free ? p * (1 - p) + 0.1 * e : 0;
      come_[j] = free ? p + 0.1 * e : 0;
    }
  }

  double log_prior(const std::vector<Index>& members) const {
    std::vector<Index> free;
    for (const Index j : members) {
      if (inclusion_.is_free(j)) free.push_back(j);
    }
    return inclusion_.log_prior(free);
  }

  // Each changes the members and returns log(q(back) / q(there)).
  double flip(std::vector<Index>& members, Random& random) {
    const Index j = choose(flip_, random);
    if (j < 0) return 0;
    const auto at = std::find(members.begin(), members.end(), j);
    if (at == members.end()) {
      members.push_back(j);
    } else {
      members.erase(at);
    }
    return 0;
  }

  double swap(std::vector<Index>& members, Random& random) {
    std::vector<std::size_t> movable;
    for (std::size_t s = 0; s < members.size(); ++s) {
      if (inclusion_.is_free(members[s])) movable.push_back(s);
    }
    if (movable.empty()) return 0;
    const std::size_t at =
        movable[static_cast<std::size_t>(random.uniform() * static_cast<double>(movable.size()))];
    const Index leaver = members[at];
    const double out = comers(leaver, members);
    const Index comer = choose(chance_, random);
    if (comer < 0) return 0;
    const double there = std::log(chance_[comer] / out);
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(at));
    members.push_back(comer);
    const double back = comers(comer, members);
    return std::log(chance_[leaver] / back) - there;
  }

  // What each column that is out weighs as a comer for a leaver; returns the sum.
  double comers(Index leaver, const std::vector<Index>& members) {
    const double* gram = cache_.acquire(leaver);
    for (std::size_t j = 0; j < come_.size(); ++j) {
      chance_[j] = come_[j] * (gram[j] * gram[j] + kFar);
    }
    cache_.release(leaver);
    for (const Index j : members) chance_[j] = 0;
    double sum = 0;
    for (const double chance : chance_) sum += chance;
    return sum;
  }

  static Index choose(const std::vector<double>& weights, Random& random) {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    double left = sum * random.uniform();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      left -= weights[i];
      if (left < 0) return static_cast<Index>(i);
    }
    return -1;
  }

  const LogitRows& rows_;
  const LogitPrior& prior_;
  const InclusionPrior& inclusion_;
  const GramUser cache_;
  std::vector<double> met_, flip_, come_, chance_;
  Index learned_ = 0;
};

}  // namespace ellzero
