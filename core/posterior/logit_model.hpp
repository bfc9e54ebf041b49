// One model of a logistic regression by itself: its mode, and its evidence by importance sampling.
//
// Of a support S with k members, theta = (mu, beta_S), d = k + 1 numbers (k without an intercept),
// the density to be integrated is
//
//   p(y | theta) N(mu; 0, 1 / pi) p(beta),   p(beta) = product of N(beta_j; 0, sigma_beta^2)
//
// or, where sigma_beta^2 ~ InvGamma(a, r) is learned and integrated out,
//
//   p(beta) = Gamma(a + k/2) / Gamma(a) (2 pi r)^(-k/2) (1 + |beta|^2 / (2 r))^-(a + k/2).
//
// Proposals are Student's t about the mode, with the curvature there (Laplace's approximation, with
// tails), in pairs on either side of it: what is odd about the mode cancels. One in five has no
// more than 2 a - 1 degrees of freedom, so that the tails of the mixture are no lighter than the
// prior's and weights are bounded even where classes are separated and the likelihood does not fall
// off.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/dense.hpp"
#include "likelihood/row_kernels.hpp"
#include "posterior/logit_spike_slab.hpp"

namespace ellzero {

class LogitModel {
 public:
  LogitModel(const LogitRows& rows, const LogitPrior& prior, const std::vector<Index>& support)
      : rows_(rows),
        prior_(prior),
        k_(static_cast<Index>(support.size())),
        d_(k_ + rows.intercept()),
        share_(rows.rows()),
        eta_(rows.rows()),
        residual_(rows.rows()),
        curvature_(rows.rows()),
        storage_(d_, std::vector<double>(rows.rows(), 1.0)),
        mode_(d_, 0.0) {
    // The intercept comes last.
    for (Index s = 0; s < k_; ++s) rows.read(support[s], storage_[s].data());
    for (const auto& column : storage_) columns_.push_back(column.data());
    for (Index r = 0; r < rows.rows(); ++r) share_[r] = rows.successes()[r] / rows.counts()[r];
    const Variance& variance = prior.slab_variance;
    wide_degrees_ = variance.learned ? std::max(2 * variance.shape - 1, 1.0) : 5;
    find_mode();
  }

  Index dimensions() const { return d_; }
  const std::vector<double>& mode() const { return mode_; }

  // Laplace's approximation to the log of the evidence: weights are of about that size.
  double laplace() {
    constexpr double kLogTwoPi = 1.83787706640934548356;
    return log_density(mode_.data()) + 0.5 * static_cast<double>(d_) * kLogTwoPi -
           log_root_determinant_;
  }

  // The log of the density above, but for binomial coefficients.
  double log_density(const double* theta) {
    std::fill(eta_.begin(), eta_.end(), 0.0);
    if (d_ > 0) combine(columns_.data(), theta, d_, 0, rows_.rows(), eta_.data());
    const double loss = logistic_loss(eta_.data(), share_.data(), rows_.counts().data(),
                                      rows_.rows(), residual_.data(), curvature_.data());
    return log_prior(theta) - loss;
  }

  // A pair of proposals, and for each the log of its density over that of the proposal. The
  // evidence is the mean of the exponentials.
  struct Pair {
    std::vector<double> theta[2];
    double log_weight[2];
  };
  void propose(Random& random, Pair& pair) {
    noise_.resize(d_);
    double square = 0;
    for (double& value : noise_) {
      value = random.normal();
      square += value * value;
    }
    const double degrees = random.uniform() < kWideShare ? wide_degrees_ : kNarrowDegrees;
    const double stretch = std::sqrt(0.5 * degrees / random.gamma(0.5 * degrees));
    back_substitute(noise_);
    const double log_proposal = log_proposal_at(stretch * stretch * square);
    for (int side = 0; side < 2; ++side) {
      pair.theta[side].resize(d_);
      for (Index i = 0; i < d_; ++i) {
        pair.theta[side][i] = mode_[i] + (side == 0 ? stretch : -stretch) * noise_[i];
      }
      pair.log_weight[side] = log_density(pair.theta[side].data()) - log_proposal;
    }
  }

  // The log of the density of proposals.
  double log_proposal(const std::vector<double>& theta) const {
    double square = 0;
    for (Index i = 0; i < d_; ++i) {
      double sum = 0;
      for (Index j = i; j < d_; ++j) sum += root_.row(i)[j] * (theta[j] - mode_[j]);
      square += sum * sum;
    }
    return log_proposal_at(square);
  }

  // sigma_beta^2 given coefficients.
  double draw_slab_variance(const double* beta, Random& random) const {
    const Variance& variance = prior_.slab_variance;
    if (!variance.learned) return variance.value;
    return random.inverse_gamma(variance.shape + 0.5 * static_cast<double>(k_),
                                variance.rate + 0.5 * dot(beta, beta, k_));
  }

 private:
  static constexpr int kMostSteps = 200;
  static constexpr double kNear = 1e-4;
  static constexpr double kWideShare = 0.2, kNarrowDegrees = 20;

  double log_proposal_at(double square) const {
    const double wide = std::log(kWideShare) + log_student(wide_degrees_, square);
    const double narrow = std::log1p(-kWideShare) + log_student(kNarrowDegrees, square);
    return std::max(wide, narrow) + std::log1p(std::exp(-std::fabs(wide - narrow)));
  }

  // Student's t at a squared distance from the mode, in units of the curvature there.
  double log_student(double degrees, double square) const {
    const double d = static_cast<double>(d_);
    return std::lgamma(0.5 * (degrees + d)) - std::lgamma(0.5 * degrees) -
           0.5 * d * std::log(degrees * 3.14159265358979323846) + log_root_determinant_ -
           0.5 * (degrees + d) * std::log1p(square / degrees);
  }

  double log_prior(const double* theta) const {
    const double k = static_cast<double>(k_), square = dot(theta, theta, k_);
    const Variance& variance = prior_.slab_variance;
    constexpr double kTwoPi = 6.28318530717958647692;
    double value = 0;
    if (k_ < d_) {
      const double precision = prior_.intercept_precision;
      value = 0.5 * (std::log(precision / kTwoPi) - precision * theta[k_] * theta[k_]);
    }
    if (!variance.learned) {
      return value - 0.5 * (k * std::log(kTwoPi * variance.value) + square / variance.value);
    }
    const double power = variance.shape + 0.5 * k;
    return value + std::lgamma(power) - std::lgamma(variance.shape) -
           0.5 * k * std::log(kTwoPi * variance.rate) -
           power * std::log1p(0.5 * square / variance.rate);
  }

  // Of the quadratic that touches the log of the prior from below.
  double prior_precision(Index i, double square) const {
    if (i == k_) return prior_.intercept_precision;
    const Variance& variance = prior_.slab_variance;
    if (!variance.learned) return 1 / variance.value;
    return (variance.shape + 0.5 * static_cast<double>(k_)) / (variance.rate + 0.5 * square);
  }

  // The curvature at theta, and the gradient; the rows are those of the last log_density.
  void take_curvature(const std::vector<double>& theta) {
    const double square = dot(theta.data(), theta.data(), k_);
    root_.resize(d_);
    gradient_.resize(d_);
    if (d_ == 0) return;
    weighted_products(columns_.data(), d_, curvature_.data(), rows_.rows(), root_.values.data(),
                      root_.stride);
    column_dots(columns_.data(), d_, residual_.data(), rows_.rows(), gradient_.data());
    for (Index i = 0; i < d_; ++i) {
      const double precision = prior_precision(i, square);
      root_.row(i)[i] += precision;
      gradient_[i] -= precision * theta[i];
    }
    factorise(root_);
  }

  // Newton's method, steps halved until they gain. A hundredth of a standard deviation from the
  // mode is near enough for proposals.
  void find_mode() {
    double here = log_density(mode_.data());
    std::vector<double> step(d_), next(d_);
    take_curvature(mode_);
    for (int t = 0; t < kMostSteps && d_ > 0; ++t) {
      solve_factored(root_, gradient_.data(), step.data());
      if (dot(step.data(), gradient_.data(), d_) < kNear) break;
      double there = here, length = 1;
      for (int halving = 0; halving < 40; ++halving, length *= 0.5) {
        for (Index i = 0; i < d_; ++i) next[i] = mode_[i] + length * step[i];
        there = log_density(next.data());
        if (there > here) break;
      }
      if (!(there > here)) {  // rounding; the rows are those of a step not taken
        log_density(mode_.data());
        take_curvature(mode_);
        break;
      }
      mode_ = next;
      here = there;
      take_curvature(mode_);
    }
    log_root_determinant_ = 0;
    for (Index i = 0; i < d_; ++i) log_root_determinant_ += std::log(root_.row(i)[i]);
  }

  // x = U^-1 x
  void back_substitute(std::vector<double>& x) const {
    for (Index i = d_ - 1; i >= 0; --i) {
      for (Index j = i + 1; j < d_; ++j) x[i] -= root_.row(i)[j] * x[j];
      x[i] /= root_.row(i)[i];
    }
  }

  const LogitRows& rows_;
  const LogitPrior& prior_;
  const Index k_, d_;
  std::vector<double> share_, eta_, residual_, curvature_;
  std::vector<std::vector<double>> storage_;
  std::vector<const double*> columns_;
  std::vector<double> mode_, gradient_, noise_;
  Square root_;  // U with U'U the curvature at the mode
  double log_root_determinant_ = 0;
  double wide_degrees_ = 1;
};

}  // namespace ellzero
