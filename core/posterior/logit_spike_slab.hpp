// The spike-and-slab posterior of a logistic regression, given Polya-Gamma weights.
//
//   successes_i ~ Binomial(counts_i, 1 / (1 + exp(-psi_i))),   psi = mu + Z beta
//   mu ~ N(0, 1 / pi),   beta_j ~ N(0, sigma_beta^2) for j in S,   beta_j = 0 else
//
// With omega_i ~ PG(counts_i, psi_i) given psi (Polson, Scott and Windle 2013), the likelihood
// given omega is, in psi,
//
//   exp(kappa'psi - psi'diag(omega) psi / 2),   kappa = successes - counts / 2,
//
// that of least squares with the weights omega and noise of variance 1. With tau = 1 /
// sigma_beta^2, and G, b and A = G_SS + tau I with the intercept integrated out as in
// weighted_support.hpp, the coefficients integrate out:
//
//   log p(S | omega, tau, y) = log p(S) + (k/2) log tau - 1/2 log det A + 1/2 b_S'A^-1 b_S
//
// A column that is out comes in with the log-odds
//
//   logit(theta) + 1/2 log(tau / d_i) + c_i^2 / (2 d_i)
//
// and sigma_beta^2 ~ InvGamma(a, r), where it is learned, has given S and omega the density, in
// x = log tau,
//
//   a x - r tau + (k/2) x - 1/2 log det A(tau) + 1/2 b_S'A(tau)^-1 b_S.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/dense.hpp"
#include "base/slice.hpp"
#include "base/vector_math.hpp"
#include "posterior/inclusion_prior.hpp"
#include "posterior/logit_rows.hpp"
#include "posterior/odds_kernels.hpp"
#include "posterior/spike_slab.hpp"
#include "posterior/weighted_support.hpp"

namespace ellzero {

struct LogitPrior {
  Variance slab_variance;          // sigma_beta^2
  double intercept_precision = 0;  // pi
  bool learn_theta = false;
  double theta_a = 1, theta_b = 1;
  std::vector<double> log_odds;  // by column, as SpikeSlabPrior has them

  InclusionPrior inclusion(const LogitRows& rows) const {
    std::vector<double> odds = log_odds;
    for (Index j = 0; j < rows.columns(); ++j) {
      if (rows.is_dead(j)) odds[j] = InclusionPrior::kNever;
    }
    return InclusionPrior(std::move(odds), learn_theta, theta_a, theta_b);
  }
};

class LogitSpikeSlab {
 public:
  static constexpr double kLeastTau = SpikeSlab::kLeastTau, kGreatestTau = SpikeSlab::kGreatestTau;
  static constexpr double kNever = InclusionPrior::kNever;

  LogitSpikeSlab(const LogitRows& rows, const LogitPrior& prior)
      : prior_(prior),
        inclusion_(prior.inclusion(rows)),
        support_(rows, prior.intercept_precision, kFloor),
        tau_(SpikeSlab::bounded_tau(1 / prior.slab_variance.value)) {
    support_.set_kappa(rows.products(), rows.kappa_sum());
  }

  Index columns() const { return support_.columns(); }
  Index size() const { return support_.size(); }
  WeightedSupport& support() { return support_; }
  const WeightedSupport& support() const { return support_; }
  const LogitPrior& prior() const { return prior_; }
  const InclusionPrior& inclusion() const { return inclusion_; }
  double tau() const { return tau_; }
  bool is_free(Index j) const { return inclusion_.is_free(j); }
  Index free_members() const { return free_in_; }

  // Other weights, and a support to stand at.
  void reset(const std::vector<double>& weights, std::vector<Index> members) {
    support_.reset(weights, std::move(members), tau_);
    recount();
  }

  // Log-odds of inclusion of columns begin .. end that are out (what comes out for members means
  // nothing), for the c and d of all columns of a support with `others` free members.
  void log_odds_of(const double* c, const double* d, Index others, Index begin, Index end,
                   double* out) const {
    OddsRule rule;
    rule.prior = inclusion_.log_odds(others);
    rule.numerator = tau_;
    rule.floor = kFloor;
    const double* offsets = inclusion_.offsets();
    log_odds(rule, c + begin, d + begin, offsets ? offsets + begin : nullptr, nullptr, end - begin,
             out);
  }
  void insertion_log_odds(Index begin, Index end, double* out) const {
    log_odds_of(support_.c().data(), support_.d().data(), free_in_, begin, end, out);
  }

  // The same of all columns, without the member at a position; c and d are room to work in.
  void log_odds_without(Index position, double* c, double* d, double* out) const {
    support_.columns_without(position, c, d);
    log_odds_of(c, d, free_in_ - is_free(support_.members()[position]), 0, columns(), out);
  }

  // Log-odds of inclusion of every member whose column is from begin to end, given the others:
  // calls use(column, log-odds).
  template <class Use>
  void member_log_odds(Index begin, Index end, Use&& use) const {
    const double before = inclusion_.log_odds(std::max<Index>(free_in_ - 1, 0));
    for (Index s = 0; s < size(); ++s) {
      const Index j = support_.members()[s];
      if (j < begin || j >= end) continue;
      if (!is_free(j)) {
        use(j, -kNever);
        continue;
      }
      const double inverse = support_.inverse_diagonal()[s], beta = support_.beta()[s];
      use(j, before + inclusion_.offset(j) + 0.5 * fast_log(tau_ * inverse) +
                 0.5 * beta * beta / inverse);
    }
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

  void learn_tau(Random& random) {
    const Variance& variance = prior_.slab_variance;
    if (!variance.learned) return;
    if (size() == 0) {
      tau_ = SpikeSlab::bounded_tau(random.gamma(variance.shape) / variance.rate);
    } else {
      const auto density = [&](double x, double curve) {
        return variance.shape * x - variance.rate * std::exp(x) + curve +
               0.5 * static_cast<double>(size()) * x;
      };
      take_gram();
      const double now = std::log(tau_);
      const double here = 0.5 * (support_.explained() - support_.log_determinant());
      tau_ = std::exp(slice_step(
          now, density(now, here), std::log(kLeastTau), std::log(kGreatestTau),
          [&](double x) { return density(x, curve_at(std::exp(x))); }, random));
    }
    support_.set_ridge(tau_);
    recount();
  }

  // What the next reset() goes on from.
  void set_tau(double tau) { tau_ = SpikeSlab::bounded_tau(tau); }

  // Coefficients of the members, in their order.
  std::vector<double> draw_beta(Random& random) const {
    std::vector<double> noise(size());
    for (double& value : noise) value = random.normal();
    std::vector<double> beta = support_.transposed_times(noise);
    for (Index s = 0; s < size(); ++s) beta[s] += support_.beta()[s];
    return beta;
  }

 private:
  // Pivots are at least tau, but for rounding.
  static constexpr double kFloor = 1e-3 * kLeastTau;

  void recount() {
    free_in_ = 0;
    for (const Index j : support_.members()) free_in_ += is_free(j);
  }

  void take_gram() {
    gram_.resize(size() * size());
    b_.resize(size());
    solved_.resize(size());
    support_.member_gram(gram_.data(), b_.data());
  }
  // (b'A^-1 b - log det A) / 2 at another tau.
  double curve_at(double tau) {
    const Index k = size();
    factor_.resize(k);
    for (Index r = 0; r < k; ++r) {
      std::copy_n(gram_.data() + r * k, k, factor_.row(r));
      factor_.row(r)[r] += tau;
    }
    if (!factorise(factor_)) return kNever;  // not met but for rounding
    double log_determinant = 0;
    for (Index r = 0; r < k; ++r) log_determinant += 2 * std::log(factor_.row(r)[r]);
    solve_factored(factor_, b_.data(), solved_.data());
    return 0.5 * (dot(b_.data(), solved_.data(), k) - log_determinant);
  }

  const LogitPrior& prior_;
  const InclusionPrior inclusion_;
  WeightedSupport support_;
  double tau_;
  Index free_in_ = 0;
  std::vector<double> gram_, b_, solved_;
  Square factor_;
};

}  // namespace ellzero
