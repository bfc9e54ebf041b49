// A Markov chain on supports, coefficients, Student's noise and the rows' weights. One iteration:
//
//   1. s2 and nu given the residuals, weights integrated out (student_noise.hpp)
//   2. the weights given these
//   3. tau = s2 / sigma_beta^2 given the weights and S, coefficients, intercept and, where both
//      variances are learned, s2 integrated out
//   4. S given the weights and tau, likewise: a sweep of single flips, swaps, and exchanges
//      between modes
//   5. s2, coefficients and intercept given all that: residuals
//
// An iteration costs a pass over Z for the Gram columns of the members under the new weights,
// O(n p k), where noise that is normal has them from a cache.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "posterior/draws.hpp"
#include "posterior/exchanges.hpp"
#include "posterior/flip_moves.hpp"
#include "posterior/logit_chain.hpp"
#include "posterior/student_noise.hpp"
#include "posterior/student_spike_slab.hpp"

namespace ellzero {

struct StudentDraws : Draws {
  std::vector<double> intercept;   // of the columns of Z, and y as it came
  double intercept_sum = 0;        // over draws, of its mean given the support and the weights
  std::vector<double> degrees;     // of freedom
  std::vector<double> row_weight;  // by row, sums over draws of the mean of one weight

  template <class Fields>
  void remember(Fields& fields) {
    Draws::remember(fields);
    fields("intercept_sum", intercept_sum);
    fields.sums("row_weight", row_weight);
  }
};

class StudentChain {
 public:
  StudentChain(const StudentRows& rows, const SpikeSlabPrior& prior, const DegreesPrior& degrees,
               double unit, const LogitStart& start, const std::vector<std::vector<Index>>& modes,
               const std::vector<double>& reference, std::uint64_t seed, std::uint64_t stream)
      : rows_(rows),
        model_(rows, prior, unit),
        noise_(degrees, rows.counts(), unit),
        random_(seed, stream),
        moves_(model_, random_),
        exchanges_(model_, modes),
        here_(reference),
        weights_(rows.rows()),
        residuals_(rows.rows()),
        column_(rows.rows()),
        row_weight_(rows.rows(), 0.0),
        s2_(prior.noise.value) {
    for (Index j = 0; j < rows.columns(); ++j) {
      if (model_.inclusion().is_forced(j)) take(j, start);
    }
    for (const Index j : start.support) {
      if (model_.is_free(j)) take(j, start);
    }
    intercept_ = rows.intercept() ? start.intercept : 0;
    take_residuals();
  }

  // What the chain remembers, see chain_state.hpp: weights are drawn anew.
  template <class Fields>
  void remember(Fields& fields) {
    fields("random", random_);
    fields("iterations", iterations_);
    fields.indices("members", members_, rows_.columns());
    beta_.resize(members_.size());
    fields("beta", beta_);
    fields("intercept", intercept_);
    fields("noise", s2_);
    double degrees = noise_.degrees();
    fields("degrees", degrees);
    model_.remember(fields);
    if (!Fields::kReads) return;
    noise_.set_degrees(degrees);
    take_residuals();
  }

  // One iteration; what it finds counts with the weight, but while warming up.
  void advance(bool warming, double weight, const Context& context) {
    iterate(context);
    if (!warming) record(weight);
  }

  void iterate(const Context& context) {
    learn_noise();
    noise_.draw_weights(s2_, random_, weights_);
    model_.reset(weights_, members_);
    if (learns_tau(model_.prior())) learn_tau(model_, rows_.quadratic(), random_);
    moves_.sweep(++iterations_ % 4 == 0, context);
    const Index swaps = std::min<Index>(std::max<Index>(model_.free_members(), 1), kMostSwaps);
    for (Index i = 0; i < swaps; ++i) moves_.swap();
    exchanges_.iterate(random_, context);
    draw_coefficients();
  }

  void record(double weight) {
    here_.add(model_, weight);
    const WeightedSupport& support = model_.support();
    if (rows_.intercept()) mean_intercept_ += weight * support.intercept_given(support.beta());
    noise_.add_mean_weights(s2_, weight, row_weight_);
  }

  // Ends a draw: the state, and the average of what was recorded since the last.
  void keep(StudentDraws& draws) {
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
    draws.s2.push_back(s2_);
    draws.slab_variance.push_back(s2_ / model_.tau());
    draws.degrees.push_back(noise_.degrees());
    if (model_.inclusion().learned()) draws.theta.push_back(model_.draw_theta(random_));
    here_.move_to(draws);
    draws.intercept_sum += mean_intercept_;
    mean_intercept_ = 0;
    draws.row_weight.resize(row_weight_.size());
    for (std::size_t i = 0; i < row_weight_.size(); ++i) draws.row_weight[i] += row_weight_[i];
    std::fill(row_weight_.begin(), row_weight_.end(), 0.0);
  }

 private:
  static constexpr Index kMostSwaps = 10;

  void take(Index j, const LogitStart& start) {
    if (std::find(members_.begin(), members_.end(), j) != members_.end()) return;
    const auto found = std::find(start.support.begin(), start.support.end(), j);
    const auto at = static_cast<std::size_t>(found - start.support.begin());
    members_.push_back(j);
    beta_.push_back(at < start.beta.size() ? start.beta[at] : 0.0);
  }

  // s2 and nu without the weights: sigma_beta stays where it is, or tau if the slab is in units of
  // noise.
  void learn_noise() {
    const Variance &noise = model_.prior().noise, &slab = model_.prior().slab_variance;
    if (!noise.learned) return noise_.learn_degrees(s2_, random_);
    const double unit = model_.unit(), tau = model_.tau();
    const bool relative = slab.learned && slab.relative;
    const double slab_variance = slab.learned ? s2_ / tau : slab.value;
    const double k = static_cast<double>(beta_.size());
    const double square = dot(beta_.data(), beta_.data(), static_cast<Index>(beta_.size()));
    const auto log_prior = [&](double s2) {
      const double value = -(noise.shape + 1) * std::log(s2 / unit) - noise.rate / s2;
      return relative ? value - 0.5 * (k * std::log(s2 / unit) + tau * square / s2) : value;
    };
    double low = 1e-30 * unit, high = 1e30 * unit;
    if (!relative) {
      low = std::max(low, SlabState::kLeastTau * slab_variance);
      high = std::min(high, SlabState::kGreatestTau * slab_variance);
    }
    s2_ = noise_.learn_scale(s2_, low, high, log_prior, random_);
    s2_ = noise_.learn_both(s2_, low, high, log_prior, random_);
    noise_.learn_degrees(s2_, random_);
    if (!relative) model_.prepare_tau(s2_ / slab_variance);
  }

  void draw_coefficients() {
    members_ = model_.support().members();
    s2_ = model_.draw_s2(random_);
    beta_ = model_.draw_beta(s2_, random_);
    if (rows_.intercept()) {
      const WeightedSupport& support = model_.support();
      intercept_ = support.intercept_given(beta_) +
                   random_.normal() * std::sqrt(s2_ / support.total_precision());
    }
    take_residuals();
  }

  void take_residuals() {
    for (Index r = 0; r < rows_.rows(); ++r) residuals_[r] = rows_.y()[r] - intercept_;
    for (std::size_t s = 0; s < members_.size(); ++s) {
      rows_.read(members_[s], column_.data());
      for (Index r = 0; r < rows_.rows(); ++r) residuals_[r] -= beta_[s] * column_[r];
    }
    noise_.set_residuals(residuals_);
  }

  const StudentRows& rows_;
  StudentSpikeSlab model_;
  StudentNoise noise_;
  Random random_;
  FlipMoves<StudentSpikeSlab> moves_;
  Exchanges<StudentSpikeSlab> exchanges_;
  Conditionals here_;
  std::vector<double> weights_, residuals_, column_, row_weight_;
  std::vector<Index> members_;
  std::vector<double> beta_;
  double intercept_ = 0, mean_intercept_ = 0;
  double s2_;
  Index iterations_ = 0;
};

// As many chains as there are starts; what they draw does not depend on the number of threads.
inline std::vector<StudentDraws> run_student_chains(
    const StudentRows& rows, const SpikeSlabPrior& prior, const DegreesPrior& degrees, double unit,
    const std::vector<LogitStart>& starts, const std::vector<std::vector<Index>>& modes,
    const std::vector<double>& reference, std::uint64_t seed, const Schedule& schedule,
    const Context& context, const DrawProgress& progress) {
  return run_each<StudentDraws>(static_cast<Index>(starts.size()), schedule, context, progress,
                                [&](Index i, bool begins, const Context&) {
                                  return std::make_unique<StudentChain>(
                                      rows, prior, degrees, unit, begins ? starts[i] : LogitStart(),
                                      modes, reference, seed, static_cast<std::uint64_t>(i));
                                });
}

}  // namespace ellzero
