// Gibbs sampling of the bridge and the horseshoe given the coefficients, by products of columns. In
// turn:
//
//   the scales given beta and sigma_e, in one block (bridge.hpp, horseshoe.hpp);
//   sigma_e^2 given beta and tau, with its inverse-gamma prior;
//   beta given scales and sigma_e, from its Gaussian (gaussian.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "posterior/horseshoe_slab.hpp"
#include "posterior/scale_mixture_model.hpp"

namespace ellzero {

class ColumnChain final : public MixtureChain {
 public:
  ColumnChain(const GaussianProblem& problem, const ScaleMixturePrior& prior, Index columns,
              std::uint64_t seed, std::uint64_t stream)
      : MixtureChain(problem, prior, columns, seed, stream),
        sampler_(problem),
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
    if (prior_.is_horseshoe && prior_.horseshoe.regularised) {
      log_slab_ = draw_regularised_scales(horseshoe_, prior_.horseshoe, beta_, s2_, log_slab_,
                                          random_, log_precision_);
    } else if (prior_.is_horseshoe) {
      horseshoe_.draw(beta_.data(), s2_, random_, log_precision_.data());
    } else {
      bridge_.draw(beta_.data(), random_, log_precision_.data());
    }
    if (prior_.noise.learned) {
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

  void draw_beta(const Context& context) {
    sampler_.set_ratios(ratio_.data(), context);
    sampler_.factorise(1, context);
    rss_ = sampler_.draw(s2_, random_, beta_.data());
    check_finite();
  }

  ColumnSampler sampler_;
  BridgeScales bridge_;
  HorseshoeScales horseshoe_;
  double log_slab_ = 0;  // log c^2
  std::vector<double> log_precision_, ratio_;
};

}  // namespace ellzero
