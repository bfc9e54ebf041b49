// Gibbs sampling of a linear model whose coefficients are Gaussian given scales: the bridge and the
// horseshoe. In turn:
//
//   the scales given beta and sigma_e, in one block (bridge.hpp, horseshoe.hpp);
//   sigma_e^2 given beta and tau, with its inverse-gamma prior;
//   beta given scales and sigma_e, from its Gaussian (gaussian.hpp).
//
// Where rows are few, sigma_e and then tau once more are drawn with beta integrated out, given the
// local scales.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "posterior/bridge.hpp"
#include "posterior/gaussian.hpp"
#include "posterior/horseshoe.hpp"
#include "posterior/spike_slab.hpp"

namespace ellzero {

struct ScaleMixturePrior {
  bool is_horseshoe = false;
  BridgePrior bridge;
  HorseshoePrior horseshoe;
  Variance noise;
  double degrees = 0;  // n, less one under a flat intercept
};

// Where a chain is: everything else is drawn given this.
struct ScaleMixtureState {
  std::vector<double> beta;  // by column of the design, for columns of unit norm
  double s2 = 1;
  double alpha = 0.5;
  double tau = 1;
};

struct ScaleMixtureDraws {
  std::vector<double> beta;  // by draw and column
  std::vector<double> s2, tau, alpha;
};

class ScaleMixtureChain {
 public:
  ScaleMixtureChain(const GaussianProblem& problem, const ScaleMixturePrior& prior,
                    std::uint64_t seed, std::uint64_t stream)
      : problem_(problem),
        prior_(prior),
        random_(seed, stream),
        sampler_(make_sampler(problem)),
        bridge_(prior.bridge, problem.size()),
        horseshoe_(prior.horseshoe, problem.size()),
        beta_(problem.size()),
        log_precision_(problem.size()),
        ratio_(problem.size()),
        s2_(prior.noise.value) {}

  // From ridges that differ between columns and chains.
  void start_anywhere(const Context& context) {
    for (double& ratio : ratio_) ratio = std::exp(2 * random_.normal());
    draw_beta(context);
    horseshoe_.set_tau(std::sqrt(s2_));
  }

  void start_from(const ScaleMixtureState& state) {
    for (Index k = 0; k < problem_.size(); ++k) beta_[k] = state.beta[problem_.live[k]];
    s2_ = state.s2;
    bridge_.set_alpha(state.alpha);
    horseshoe_.set_tau(state.tau);
    rss_ = problem_.squared_residuals(beta_.data());
  }

  void iterate(const Context& context) {
    if (prior_.is_horseshoe) {
      horseshoe_.draw(beta_.data(), s2_, random_, log_precision_.data());
    } else {
      bridge_.draw(beta_.data(), random_, log_precision_.data());
    }
    if (prior_.noise.learned && !collapses()) {
      const double shape = prior_.noise.shape + 0.5 * prior_.degrees;
      const double rate = prior_.noise.rate + 0.5 * rss_;
      s2_ = prior_.is_horseshoe ? horseshoe_.draw_s2(shape, rate, s2_, random_)
                                : random_.inverse_gamma(shape, rate);
      s2_ = std::min(std::max(s2_, 1e-250), 1e250);
    }
    const double log_s2 = std::log(s2_);
    for (std::size_t j = 0; j < ratio_.size(); ++j) {
      ratio_[j] = std::exp(std::min(std::max(log_precision_[j] + log_s2, -kFarthest), kFarthest));
    }
    if (collapses()) {
      draw_collapsed(context);
    } else {
      draw_beta(context);
    }
    // Given a coefficient that is no number, what draws by rejection would go on for ever.
    if (!std::isfinite(rss_)) {
      throw std::range_error(
          "the coefficients drawn are not finite: y and the scales of the prior are too far apart");
    }
  }

  void keep(Index columns, ScaleMixtureDraws& draws) const {
    const std::size_t begin = draws.beta.size();
    draws.beta.resize(begin + columns, 0.0);
    for (Index k = 0; k < problem_.size(); ++k) draws.beta[begin + problem_.live[k]] = beta_[k];
    draws.s2.push_back(s2_);
    draws.tau.push_back(prior_.is_horseshoe ? horseshoe_.tau() : bridge_.tau());
    draws.alpha.push_back(bridge_.alpha());
  }

 private:
  // A ratio of e^600 leaves a coefficient of 1e-130 sigma_e.
  static constexpr double kFarthest = 600;

  // By rows a factor at another common factor of the ratios costs little beside the ratios, and
  // sigma_e, which then knows of many coefficients and few rows, hardly moves given beta.
  bool collapses() const { return problem_.by_rows; }

  void draw_beta(const Context& context) {
    sampler_->set_ratios(ratio_.data(), context);
    sampler_->factorise(1, context);
    rss_ = sampler_->draw(s2_, random_, beta_.data());
  }

  // sigma_e^2 and tau with beta integrated out, given the local scales, then beta.
  void draw_collapsed(const Context& context) {
    sampler_->set_ratios(ratio_.data(), context);
    // By how much log sigma_e^2 and log tau differ from what the ratios were set at.
    double noise = 0, tau = 0;
    const double log_s2 = std::log(s2_), log_tau = current_log_tau();
    double at = std::numeric_limits<double>::quiet_NaN();  // where it was factorised last
    const auto density = [&](double noise_step, double tau_step) {
      at = noise_step - 2 * tau_step;
      sampler_->factorise(std::exp(at), context);
      const double l = log_s2 + noise_step, inverse = std::exp(-l);
      double sum =
          -0.5 * (prior_.degrees * l + sampler_->log_determinant() + sampler_->squares() * inverse);
      if (prior_.noise.learned) sum -= prior_.noise.shape * l + prior_.noise.rate * inverse;
      return sum + tau_log_prior(log_tau + tau_step, l);
    };
    if (prior_.noise.learned) {
      noise = slice_step(
          0, density(0, 0), -10, 10, [&](double x) { return density(x, 0); }, random_, 1);
    }
    if (learns_tau()) {
      tau = slice_step(
          0, density(noise, 0), -10, 10, [&](double x) { return density(noise, x); }, random_, 1);
    }
    if (at != noise - 2 * tau) density(noise, tau);
    s2_ = std::exp(log_s2 + noise);
    if (learns_tau()) set_log_tau(log_tau + tau);
    rss_ = sampler_->draw(s2_, random_, beta_.data());
  }

  bool learns_tau() const {
    return prior_.is_horseshoe ? prior_.horseshoe.learn_tau : prior_.bridge.learn_tau;
  }
  double current_log_tau() const {
    return prior_.is_horseshoe ? horseshoe_.log_tau() : bridge_.log_tau();
  }
  void set_log_tau(double log_tau) {
    if (prior_.is_horseshoe) {
      horseshoe_.set_log_tau(log_tau);
    } else {
      bridge_.set_log_tau(log_tau);
    }
  }
  double tau_log_prior(double log_tau, double log_s2) const {
    if (!learns_tau()) return 0;
    return prior_.is_horseshoe ? horseshoe_.tau_log_prior(log_tau, log_s2)
                               : bridge_.tau_log_prior(log_tau);
  }

  const GaussianProblem& problem_;
  const ScaleMixturePrior& prior_;
  Random random_;
  std::unique_ptr<GaussianSampler> sampler_;
  BridgeScales bridge_;
  HorseshoeScales horseshoe_;
  std::vector<double> beta_, log_precision_, ratio_;
  double s2_, rss_ = 0;
};

struct ScaleMixtureSchedule {
  Index warmup = 0;
  Index draws = 0;
  Index chains = 1;
  GaussianForm form = GaussianForm::automatic;
};

// What the chains draw does not depend on the number of threads. `start`, if there is one, is where
// all of them begin. `progress` is told, by the calling thread, how many iterations it has done.
inline std::vector<ScaleMixtureDraws> run_scale_mixture(
    const Quadratic& design, const ScaleMixturePrior& prior, const ScaleMixtureSchedule& schedule,
    std::uint64_t seed, const ScaleMixtureState* start, const Context& context,
    const std::function<void(Index)>& progress) {
  const GaussianProblem problem(design, schedule.form, context);
  const Index total = schedule.warmup + schedule.draws;
  std::vector<ScaleMixtureDraws> out(schedule.chains);
  parallel_ranges(schedule.chains, context, [&](Index begin, Index end, auto&&) {
    for (Index i = begin; i < end; ++i) {
      const Context own = context.single(begin == 0);  // the calling thread has the first range
      ScaleMixtureChain chain(problem, prior, seed, static_cast<std::uint64_t>(i));
      if (start) {
        chain.start_from(*start);
      } else {
        chain.start_anywhere(own);
      }
      out[i].beta.reserve(schedule.draws * design.columns());
      for (Index t = 0; t < total; ++t) {
        own.check();
        if (begin == 0 && progress) progress(i * total + t);
        chain.iterate(own);
        if (t >= schedule.warmup) chain.keep(design.columns(), out[i]);
      }
    }
  });
  return out;
}

}  // namespace ellzero
