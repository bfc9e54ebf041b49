// What a chain over models of two classes is at: a support with its coefficients, and psi. And the
// steps that do not depend on what supports are made of.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/polya_gamma.hpp"
#include "likelihood/row_kernels.hpp"
#include "posterior/draws.hpp"
#include "posterior/logit_spike_slab.hpp"
#include "posterior/sampler.hpp"

namespace ellzero {

// Draws without noise of their own, and with intercepts.
struct LogitDraws : Draws {
  std::vector<double> intercept;  // of the columns of Z
  double intercept_sum = 0;       // over draws, of its mean given the support and the weights

  template <class Fields>
  void remember(Fields& fields) {
    Draws::remember(fields);
    fields("intercept_sum", intercept_sum);
  }
};

class LogitWalk {
 protected:
  LogitWalk(const LogitRows& rows, const LogitPrior& prior, std::uint64_t seed,
            std::uint64_t stream)
      : rows_(rows),
        model_(rows, prior),
        random_(seed, stream),
        share_(rows.rows()),
        omega_(rows.rows()),
        psi_(rows.rows()),
        column_(rows.rows()),
        moved_(rows.rows()),
        unused_(rows.rows()) {
    for (Index r = 0; r < rows.rows(); ++r) share_[r] = rows.successes()[r] / rows.counts()[r];
  }

  // What the walk remembers, see chain_state.hpp: omega is drawn anew.
  template <class Fields>
  void remember(Fields& fields) {
    fields("random", random_);
    fields.indices("members", members_, rows_.columns());
    beta_.resize(members_.size());
    fields("beta", beta_);
    fields("intercept", intercept_);
    double tau = model_.tau();
    fields("tau", tau);
    if (!Fields::kReads) return;
    model_.set_tau(tau);
    predict();
  }

  void draw_omega() {
    for (Index r = 0; r < rows_.rows(); ++r) {
      omega_[r] = draw_polya_gamma(static_cast<Index>(rows_.counts()[r]), psi_[r], random_);
    }
  }

  // Intercept and coefficients given the support, omega and tau: psi.
  void draw_coefficients() {
    members_ = model_.support().members();
    beta_ = model_.draw_beta(random_);
    if (rows_.intercept()) {
      const WeightedSupport& support = model_.support();
      intercept_ =
          support.intercept_given(beta_) + random_.normal() / std::sqrt(support.total_precision());
    }
    predict();
  }

  // The state as a draw, but for theta and averages.
  void keep_state(LogitDraws& draws) const {
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
  }

  void predict() {
    std::fill(psi_.begin(), psi_.end(), intercept_);
    for (std::size_t s = 0; s < members_.size(); ++s) {
      rows_.read(members_[s], column_.data());
      for (Index r = 0; r < rows_.rows(); ++r) psi_[r] += beta_[s] * column_[r];
    }
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
  std::vector<double> share_, omega_, psi_, column_, moved_, unused_;
  std::vector<Index> members_;
  std::vector<double> beta_;
  double intercept_ = 0;
};

}  // namespace ellzero
