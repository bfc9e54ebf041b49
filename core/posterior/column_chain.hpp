// Gibbs sampling of the bridge and the horseshoe given the coefficients, by products of columns. In
// turn:
//
//   the scales given beta and sigma_e, in one block (bridge.hpp, horseshoe.hpp);
//   sigma_e^2 given beta and tau, with its inverse-gamma prior;
//   beta given scales and sigma_e, from its Gaussian (gaussian.hpp).
//
// That Gaussian costs p^3 / 6 multiplications. Where columns are many, sweeps over coefficients
// with their scales integrated out (coefficient_sweep.hpp) cost little beside it, and tau and
// sigma_e are drawn before each of them; where they are very many, one iteration in three, at
// random, has the Gaussian too.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "posterior/bridge_local.hpp"
#include "posterior/coefficient_sweep.hpp"
#include "posterior/horseshoe_local.hpp"
#include "posterior/horseshoe_slab.hpp"
#include "posterior/scale_mixture_model.hpp"

namespace ellzero {

class ColumnChain final : public MixtureChain {
 public:
  // `sweeps` over coefficients an iteration, negative: as many as pay.
  ColumnChain(const GaussianProblem& problem, const ScaleMixturePrior& prior, Index columns,
              Index sweeps, std::uint64_t seed, std::uint64_t stream)
      : MixtureChain(problem, prior, columns, seed, stream),
        sweeps_(sweeps < 0 ? usual_sweeps() : sweeps),
        share_(sweeps_ > 0 && problem.size() >= kMany ? 1.0 / 3 : 1),
        sampler_(problem),
        sweep_(problem),
        bridge_(prior.bridge, problem.size()),
        horseshoe_(prior.horseshoe, problem.size()),
        log_precision_(problem.size()),
        ratio_(problem.size()) {}

  void start_anywhere(const Context& context) override {
    for (double& ratio : ratio_) ratio = std::exp(2 * random_.normal());
    draw_beta(context);
    horseshoe_.set_tau(std::sqrt(s2_));
    log_slab_ = 2 * std::log(prior_.horseshoe.slab_scale);
  }

  void start_from(const ScaleMixtureState& state) override {
    set_coefficients(state);
    bridge_.set_alpha(state.alpha);
    horseshoe_.set_tau(state.tau);
    log_slab_ = 2 * std::log(state.slab);
    rss_ = problem_.squared_residuals(beta_.data());
  }

  void iterate(const Context& context) override {
    if (sweeps_ > 0) sweep_.set(beta_.data());
    for (Index k = 0; k < sweeps_; ++k) draw_one_by_one(context);
    if (share_ < 1 && random_.uniform() >= share_) return;
    if (is_regularised()) {
      log_slab_ = draw_regularised_scales(horseshoe_, prior_.horseshoe, beta_, s2_, log_slab_,
                                          random_, log_precision_);
    } else if (prior_.is_horseshoe) {
      horseshoe_.draw(beta_.data(), s2_, random_, log_precision_.data());
    } else {
      bridge_.draw(beta_.data(), random_, log_precision_.data());
    }
    draw_noise();
    const double log_s2 = std::log(s2_);
    for (std::size_t j = 0; j < ratio_.size(); ++j) {
      ratio_[j] = std::exp(std::min(std::max(log_precision_[j] + log_s2, -kFarthest), kFarthest));
    }
    draw_beta(context);
  }

  double tau() const override { return prior_.is_horseshoe ? horseshoe_.tau() : bridge_.tau(); }
  double alpha() const override { return bridge_.alpha(); }
  double slab() const override { return std::exp(0.5 * log_slab_); }

 protected:
  std::vector<double> scales() const override {
    return {bridge_.alpha(), bridge_.log_tau(), horseshoe_.log_tau(), log_slab_};
  }
  void set_scales(const std::vector<double>& scales) override {
    bridge_.set_alpha(scales[0]);
    bridge_.set_log_tau(scales[1]);
    horseshoe_.set_log_tau(scales[2]);
    log_slab_ = scales[3];
  }

 private:
  // A ratio of e^600 leaves a coefficient of 1e-130 sigma_e.
  static constexpr double kFarthest = 600;

  // Of 400 columns a sweep takes a third of the time of the Gaussian, of 2000 a fifteenth. Powers
  // above one hold no coefficient near zero.
  Index usual_sweeps() const {
    const Index p = problem_.size();
    const bool holds = prior_.is_horseshoe || prior_.bridge.learn_alpha || prior_.bridge.alpha <= 1;
    return p < kSome || !holds ? 0 : p < kMany ? 2 : 10;
  }

  static constexpr Index kSome = 400, kMany = 800;

  bool is_regularised() const { return prior_.is_horseshoe && prior_.horseshoe.regularised; }

  void draw_noise() {
    if (!prior_.noise.learned) return;
    const double shape = prior_.noise.shape + 0.5 * prior_.degrees;
    const double rate = prior_.noise.rate + 0.5 * rss_;
    s2_ = prior_.is_horseshoe ? horseshoe_.draw_s2(shape, rate, s2_, random_)
                              : random_.inverse_gamma(shape, rate);
    s2_ = std::min(std::max(s2_, 1e-250), 1e250);
  }

  // tau (which under a slab would need the local scales) and sigma_e, then every coefficient.
  void draw_one_by_one(const Context& context) {
    if (!prior_.is_horseshoe) {
      bridge_.draw_global(beta_.data(), random_);
    } else if (!is_regularised()) {
      horseshoe_.draw_tau(beta_.data(), s2_, random_);
    }
    draw_noise();
    const double sigma = std::sqrt(s2_);
    if (prior_.is_horseshoe) {
      const double unit = 2 * horseshoe_.log_tau() - std::log(s2_);
      const double ridge = is_regularised() ? s2_ * std::exp(-log_slab_) : 0;
      sweep_.run(
          beta_.data(),
          [&](double c) { return draw_horseshoe_coefficient(1, c, s2_, unit, ridge, random_); },
          context);
    } else {
      const BridgeCoefficient coefficient(bridge_.alpha());
      const double t =
          std::exp(std::min(std::max(bridge_.log_tau(), -kFarthest), kFarthest)) / sigma;
      sweep_.run(
          beta_.data(), [&](double c) { return sigma * coefficient.draw(c / sigma, t, random_); },
          context);
    }
    rss_ = sweep_.squared_residuals(beta_.data());
    check_finite();
  }

  void draw_beta(const Context& context) {
    sampler_.set_ratios(ratio_.data(), context);
    sampler_.factorise(1, context);
    rss_ = sampler_.draw(s2_, random_, beta_.data());
    check_finite();
  }

  const Index sweeps_;
  const double share_;  // of iterations that draw all coefficients at once
  ColumnSampler sampler_;
  CoefficientSweep sweep_;
  BridgeScales bridge_;
  HorseshoeScales horseshoe_;
  double log_slab_ = 0;  // log c^2
  std::vector<double> log_precision_, ratio_;
};

}  // namespace ellzero
