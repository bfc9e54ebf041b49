// The spike-and-slab posterior over sets of groups: as spike_slab.hpp has it of columns, with one
// indicator per group and, in an orthonormal basis of what its r columns span, the slab
//
//   gaussian  beta_g ~ N(0, sigma_beta^2 s_g^2 I)
//   zellner   beta_S ~ N(0, g s2 G_SS^-1)
//
// With s_g^2 = 1 / r the fit of a group has the prior variance of that of one column,
// E |Z_g beta_g|^2 = sigma_beta^2. A flip changes log p(S | y) by
//
//   log p(S with g) / p(S) + r/2 log tau - 1/2 log |D_g| + 1/2 c_g' D_g^-1 c_g / s2
//
// in the scaled bases of group_support.hpp. Under a Zellner slab a group that depends on the other
// members, be it in part, can't join them.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "posterior/draws.hpp"
#include "posterior/group_support.hpp"
#include "posterior/hyperparameters.hpp"
#include "posterior/unit_prior.hpp"

namespace ellzero {

// What all chains read.
struct GroupProblem {
  const GroupedQuadratic& quadratic;
  const SpikeSlabPrior& prior;  // gaussian or zellner; its log-odds are by group
  const UnitRules& rules;
  const std::vector<double>& scales;  // s_g, by group
};

class GroupSpikeSlab : public SlabState {
 public:
  GroupSpikeSlab(const GroupProblem& problem, const GramUser& cache)
      : SlabState(problem.prior, problem.quadratic.yy),
        quadratic_(problem.quadratic),
        support_(problem.quadratic, cache, problem.scales,
                 problem.prior.slab == Slab::gaussian ? tau_ : 0.0,
                 problem.prior.slab == Slab::gaussian ? 1e-3 * kLeastTau : Scores::kSpan),
        units_(problem.prior, problem.rules, enter_forced(problem)) {}

  Index units() const { return support_.units(); }
  // Columns of X.
  Index columns() const { return quadratic_.base().columns(); }
  Index rank() const { return support_.rank(); }
  Index size() const { return static_cast<Index>(support_.members().size()); }
  const GroupSupport& support() const { return support_; }
  const UnitPrior& unit_prior() const { return units_; }
  bool contains(Index unit) const { return support_.contains(unit); }
  bool is_free(Index unit) const { return units_.is_free(unit); }
  // Whether it has a prior probability above zero.
  bool is_model() const { return units_.is_closed(); }
  Index greatest_rank() const {
    Index sum = 0;
    for (Index u = 0; u < units(); ++u) sum += is_free(u) || contains(u) ? support_.width(u) : 0;
    return sum;
  }
  Index unit_of(Index column) const { return support_.bases().home[column]; }
  double energy() const { return support_.energy(); }
  double log_determinant() const { return support_.log_determinant(); }
  double total() const { return total_at(energy()); }
  double mean_s2() const { return mean_s2_at(total()); }

  double log_prior() const { return units_.log_prior(); }
  // log p(S | y) given the hyperparameters, up to a constant: the noise, if learned, is in units.
  double log_posterior() const {
    const double k = static_cast<double>(rank());
    const double slab = prior_.slab == Slab::zellner
                            ? -0.5 * k * std::log1p(prior_.g)
                            : 0.5 * (k * std::log(tau_) - log_determinant());
    return slab + log_prior() +
           (integrated() ? -noise_shape() * std::log(total() / unit()) : -total() / s2_);
  }

  // The log-odds of inclusion of a group, given the others, and what they say of it.
  double log_odds(Index unit, GroupBlock& block) const {
    if (!is_free(unit)) {
      if (!contains(unit)) return kNever;
      support_.look_at(unit, block);
      return -kNever;
    }
    const double before = units_.log_odds(unit);
    if (before == kNever) return kNever;
    support_.look_at(unit, block);
    return block.open ? before + log_factor(unit, block) : kNever;
  }

  // log p(S with a free group outside | y), up to what does not depend on the group; S itself need
  // not be closed.
  double log_weight_with(Index unit, GroupBlock& block) {
    units_.flip(unit);
    const double before = log_prior();
    units_.flip(unit);
    if (before == kNever) return kNever;
    support_.look_at(unit, block);
    return block.open ? before + log_factor(unit, block) : kNever;
  }

  // False, and nothing changed, if it depends on the members.
  bool enter(Index unit) {
    if (!support_.insert(unit)) return false;
    if (is_free(unit)) units_.flip(unit);
    return true;
  }
  void leave(Index unit) {
    support_.remove(unit);
    units_.flip(unit);
  }
  bool flip(Index unit) {
    if (!contains(unit)) return enter(unit);
    leave(unit);
    return true;
  }

  // Those that may be in of some groups.
  void enter_all(const std::vector<Index>& some) {
    for (const Index u : some) {
      if (is_free(u) && !contains(u)) enter(u);
    }
    while (!is_model()) {
      for (const Index u : std::vector<Index>(support_.members())) {
        if (is_free(u) && units_.log_odds(u) == kNever) leave(u);
      }
    }
  }

  void set_tau(double tau) {
    take_tau(tau);
    support_.set_tau(tau_);
  }

  // The variances and the members.
  template <class Fields>
  void remember(Fields& fields) {
    SlabState::remember(fields);
    std::vector<Index> members = support_.members();
    fields.indices("members", members, units());
    if (!Fields::kReads) return;
    if (prior_.slab == Slab::gaussian) set_tau(tau_);
    enter_all(members);
  }

  void set_silent(bool silent, bool stands_as_before = false) {
    support_.set_silent(silent, stands_as_before);
  }

  double draw_s2(Random& random) const { return draw_s2_at(total(), random); }
  double draw_theta(Random& random) const { return units_.draw_theta(random); }
  // Coefficients in the bases, in the order of the members.
  std::vector<double> draw_beta(double s2, Random& random) const {
    std::vector<double> noise(rank());
    for (double& value : noise) value = random.normal();
    std::vector<double> beta = support_.factor().transposed_times(noise);
    const double sd = std::sqrt(s2 / alpha_);
    for (Index s = 0; s < rank(); ++s) {
      beta[s] = support_.factor().beta()[s] / alpha_ + sd * beta[s];
    }
    return beta;
  }

  // The mean and the variance of the coefficients of a group's columns of X if it is in, for the
  // other groups as they are.
  void moments(Index unit, const GroupBlock& block, std::vector<double>& mean,
               std::vector<double>& variance) const {
    const Index r = support_.width(unit);
    mean.resize(r);
    variance.resize(r);
    support_.to_base(unit, block.mean.data(), mean.data());
    support_.variances(unit, block, variance.data());
    const double gain = contains(unit) ? 0 : block.gain / alpha_;
    const double s2 = mean_s2_at(total() - gain);
    for (Index j = 0; j < r; ++j) {
      mean[j] /= alpha_;
      variance[j] *= s2 / alpha_;
    }
  }

 private:
  std::vector<UnitPrior::Choice> enter_forced(const GroupProblem& problem) {
    std::vector<UnitPrior::Choice> choice(units(), UnitPrior::Choice::free);
    for (Index u = 0; u < units(); ++u) {
      const double odds = problem.prior.log_odds[u];
      if (std::isinf(odds)) choice[u] = odds > 0 ? UnitPrior::Choice::in : UnitPrior::Choice::out;
      if (support_.width(u) == 0 && odds < -kNever) choice[u] = UnitPrior::Choice::out;
      // One that depends on those before it stays out for good.
      if (choice[u] == UnitPrior::Choice::in && support_.width(u) > 0) support_.insert(u);
    }
    return choice;
  }

  // What the data say: log p(y | S with the unit) / p(y | S without it).
  double log_factor(Index unit, const GroupBlock& block) const {
    const double r = static_cast<double>(support_.width(unit)), gain = block.gain / alpha_;
    const double slab = prior_.slab == Slab::zellner
                            ? -0.5 * r * std::log1p(prior_.g)
                            : 0.5 * (r * std::log(tau_) - block.log_determinant);
    if (!integrated()) return slab + gain / s2_;
    const double without = total() + (contains(unit) ? gain : 0);
    return slab - noise_shape() * std::log1p(-std::min(gain / without, 1 - 1e-15));
  }

  const GroupedQuadratic& quadratic_;
  GroupSupport support_;
  UnitPrior units_;
};

inline RidgeCurve ridge_curve(const GroupSpikeSlab& model, const Quadratic& design) {
  std::vector<double> gram, b;
  model.support().gram(gram, b);
  return RidgeCurve(std::move(gram), std::move(b), design.yy);
}

// The columns of X that are in, in increasing order, with their coefficients, and the
// hyperparameters.
inline void keep_state(const GroupSpikeSlab& model, Random& random, Draws& draws) {
  const double s2 = model.draw_s2(random);
  const std::vector<double> beta = model.draw_beta(s2, random);
  std::vector<std::pair<Index, double>> entries;
  std::vector<double> own;
  for (const Index unit : model.support().members()) {
    const std::vector<Index>& columns = model.support().bases().units[unit].columns;
    own.resize(columns.size());
    model.support().to_base(unit, beta.data() + model.support().first_place(unit), own.data());
    for (std::size_t j = 0; j < columns.size(); ++j) entries.emplace_back(columns[j], own[j]);
  }
  std::sort(entries.begin(), entries.end());
  for (const auto& [column, value] : entries) {
    draws.support.push_back(column);
    draws.beta.push_back(value);
  }
  draws.begins.push_back(static_cast<Index>(draws.support.size()));
  draws.s2.push_back(s2);
  draws.slab_variance.push_back(model.prior().slab == Slab::gaussian ? s2 / model.tau()
                                                                     : model.slab_variance());
  if (model.prior().learn_theta) draws.theta.push_back(model.draw_theta(random));
}

}  // namespace ellzero
