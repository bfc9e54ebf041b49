// The spike-and-slab posterior of a linear model with Student's noise, given the rows' weights w.
//
//   y_i = mu + z_i'beta + e_i,   e_i ~ N(0, s2 / w_i),   mu flat
//   beta_j ~ N(0, s2 / tau) for j in S,   beta_j = 0 else
//
// That is least squares with weights: spike_slab.hpp's posterior under a Gaussian slab, with G,
// b = Z'diag(w) y and y'y replaced by what w and the intercept, integrated out, make of them
// (weighted_support.hpp). So the odds are those of OddsRule, with s2 integrated out where both
// variances are learned.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/vector_math.hpp"
#include "posterior/hyperparameters.hpp"
#include "posterior/inclusion_prior.hpp"
#include "posterior/odds_kernels.hpp"
#include "posterior/slab_state.hpp"
#include "posterior/student_rows.hpp"
#include "posterior/weighted_support.hpp"

namespace ellzero {

class StudentSpikeSlab : public SlabState {
 public:
  // Variances are compared with `unit`.
  StudentSpikeSlab(const StudentRows& rows, const SpikeSlabPrior& prior, double unit)
      : SlabState(prior, unit),
        rows_(rows),
        inclusion_(live_odds(rows, prior), prior.learn_theta, prior.theta_a, prior.theta_b),
        support_(rows, 0, kFloor),
        response_(rows.rows()) {}

  Index columns() const { return support_.columns(); }
  Index size() const { return support_.size(); }
  WeightedSupport& support() { return support_; }
  const WeightedSupport& support() const { return support_; }
  const InclusionPrior& inclusion() const { return inclusion_; }
  bool is_free(Index j) const { return inclusion_.is_free(j); }
  bool contains(Index j) const { return support_.contains(j); }
  Index free_members() const { return free_in_; }

  // y'y under the weights, half of what the members leave of it, and with s2 integrated out the
  // prior's rate too.
  double yy() const { return weighted_yy_; }
  double energy() const { return std::max(0.0, 0.5 * (weighted_yy_ - support_.explained())); }
  double total() const { return total_at(energy()); }
  double log_determinant() const { return support_.log_determinant(); }
  double mean_s2() const { return mean_s2_at(total()); }
  double draw_s2(Random& random) const { return draw_s2_at(total(), random); }

  // log p(S | w, y) given the hyperparameters, up to a constant.
  double log_posterior() const {
    std::vector<Index> free;
    for (const Index j : support_.members()) {
      if (is_free(j)) free.push_back(j);
    }
    return inclusion_.log_prior(free) +
           0.5 * (static_cast<double>(size()) * std::log(tau()) - log_determinant()) +
           (integrated() ? -noise_shape() * std::log(total() / unit()) : -total() / s2());
  }

  // Other weights, and a support to stand at.
  void reset(const std::vector<double>& weights, std::vector<Index> members) {
    double square = 0, sum = 0;
    for (Index r = 0; r < rows_.rows(); ++r) {
      response_[r] = weights[r] * rows_.y()[r];
      square += response_[r] * rows_.y()[r];
      sum += response_[r];
    }
    support_.reset(weights, std::move(members), tau(), &response_);
    weighted_yy_ = square - (rows_.intercept() ? sum * sum / support_.total_precision() : 0);
    recount();
  }
  void set_tau(double tau) {
    take_tau(tau);
    support_.set_ridge(this->tau());
    recount();
  }
  // What the next reset() goes on from.
  void prepare_tau(double tau) { take_tau(tau); }

  // As in logit_spike_slab.hpp.
  void insertion_log_odds(Index begin, Index end, double* out) const {
    log_odds_of(support_.c().data(), support_.d().data(), rule_at(free_in_, total()), begin, end,
                out);
  }
  void inclusion_probabilities(double* out) const {
    insertion_log_odds(0, columns(), out);
    logistic(out, columns(), out);
  }
  template <class Use>
  void member_log_odds(Index begin, Index end, Use&& use) const {
    const OddsRule rule = rule_at(std::max<Index>(free_in_ - 1, 0), total());
    for (Index s = 0; s < size(); ++s) {
      const Index j = support_.members()[s];
      if (j < begin || j >= end) continue;
      if (!is_free(j)) {
        use(j, -kNever);
        continue;
      }
      const double inverse = support_.inverse_diagonal()[s], beta = support_.beta()[s];
      const double gain = rule.half_gain * beta * beta / inverse;
      use(j, rule.prior + inclusion_.offset(j) + 0.5 * fast_log(tau() * inverse) +
                 rule.rate * (rule.integrated ? fast_log(1 + gain / rule.total) : gain));
    }
  }
  void log_odds_without(Index position, double* c, double* d, double* out) const {
    support_.columns_without(position, c, d);
    const double beta = support_.beta()[position];
    const double cost = 0.5 * beta * beta / support_.inverse_diagonal()[position];
    const Index others = free_in_ - is_free(support_.members()[position]);
    log_odds_of(c, d, rule_at(others, total() + cost), 0, columns(), out);
  }

  bool insert(Index j) {
    if (!support_.insert(j)) return false;
    free_in_ += is_free(j);
    return true;
  }
  void remove(Index position) {
    free_in_ -= is_free(support_.members()[position]);
    support_.remove(position);
  }

  bool enter(Index j) { return insert(j); }
  void leave(Index j) { remove(support_.position(j)); }

  double draw_theta(Random& random) const { return inclusion_.draw_theta(free_in_, random); }
  // The slab is Gaussian: nobody asks for another.
  LaplaceSlab laplace_slab(Index) const { return LaplaceSlab(slab_variance(), s2()); }

  // Coefficients of the members, in their order.
  std::vector<double> draw_beta(double s2, Random& random) const {
    std::vector<double> noise(size());
    for (double& value : noise) value = random.normal();
    std::vector<double> beta = support_.transposed_times(noise);
    const double sd = std::sqrt(s2);
    for (Index s = 0; s < size(); ++s) beta[s] = support_.beta()[s] + sd * beta[s];
    return beta;
  }

 private:
  // Pivots are at least tau, but for rounding.
  static constexpr double kFloor = 1e-3 * kLeastTau;

  static std::vector<double> live_odds(const StudentRows& rows, const SpikeSlabPrior& prior) {
    std::vector<double> odds = prior.log_odds;
    for (Index j = 0; j < rows.columns(); ++j) {
      if (rows.is_dead(j)) odds[j] = kNever;
    }
    return odds;
  }

  OddsRule rule_at(Index others, double total) const {
    OddsRule rule;
    rule.prior = inclusion_.log_odds(others);
    rule.numerator = tau();
    rule.integrated = integrated();
    rule.rate = rule.integrated ? noise_shape() : 1 / s2();
    rule.total = total;
    rule.floor = kFloor;
    return rule;
  }
  void log_odds_of(const double* c, const double* d, const OddsRule& rule, Index begin, Index end,
                   double* out) const {
    const double* offsets = inclusion_.offsets();
    log_odds(rule, c + begin, d + begin, offsets ? offsets + begin : nullptr, nullptr, end - begin,
             out);
  }

  void recount() {
    free_in_ = 0;
    for (const Index j : support_.members()) free_in_ += is_free(j);
  }

  const StudentRows& rows_;
  const InclusionPrior inclusion_;
  WeightedSupport support_;
  std::vector<double> response_;  // w y
  double weighted_yy_ = 0;
  Index free_in_ = 0;
};

// For learn_tau().
inline RidgeCurve ridge_curve(const StudentSpikeSlab& model, const Quadratic&) {
  const Index k = model.size();
  std::vector<double> gram(k * k), b(k);
  model.support().member_gram(gram.data(), b.data());
  return RidgeCurve(std::move(gram), std::move(b), model.yy());
}

}  // namespace ellzero
