// The bridge where rows are few (row_chain.hpp): alpha, tau and the local scales given beta
// (bridge.hpp), then s2 and tau with beta integrated out, given the local scales. A sweep over the
// local scales with beta integrated out, as the horseshoe has it, was tried: coefficients mix twice
// as well for the time, sigma_e, which is slowest here, half as well.
#pragma once

#include "posterior/row_chain.hpp"

namespace ellzero {

class BridgeRows final : public RowChain {
 public:
  BridgeRows(const GaussianProblem& problem, const ScaleMixturePrior& prior, Index columns,
             std::uint64_t seed, std::uint64_t stream)
      : RowChain(problem, prior, columns, seed, stream),
        scales_(prior.bridge, problem.size()),
        log_precision_(problem.size()) {}

  void start_anywhere(const Context& context) override { draw_anywhere(context); }

  void start_from(const ScaleMixtureState& state) override {
    set_coefficients(state);
    scales_.set_alpha(state.alpha);
  }

  void iterate(const Context& context) override {
    scales_.draw(beta_.data(), random_, log_precision_.data());
    const double log_s2 = std::log(s2_);
    for (std::size_t j = 0; j < h_.size(); ++j) h_[j] = h_of(-log_precision_[j] - log_s2);
    set_ratios(context);
    double step = 0;  // of log h since
    if (learns_noise()) step += draw_noise_given_tau(step, context);
    if (prior_.bridge.learn_tau) {
      step += draw_tau(step, context);
      if (learns_noise()) draw_noise_given_h(sampler_.squares());
    }
    factorise(step, context);
    draw_coefficients();
  }

  double tau() const override { return scales_.tau(); }
  double alpha() const override { return scales_.alpha(); }

 protected:
  std::vector<double> scales() const override { return {scales_.alpha(), scales_.log_tau()}; }
  void set_scales(const std::vector<double>& scales) override {
    scales_.set_alpha(scales[0]);
    scales_.set_log_tau(scales[1]);
  }

 private:
  // With tau / sigma_e given, so that H is.
  void draw_noise_given_h(double squares) {
    const double l = std::log(s2_), log_tau = scales_.log_tau();
    const double shape = noise_shape(), rate = noise_rate(squares);
    const auto density = [&](double x) {
      return -shape * (l + x) - rate * std::exp(-l - x) + scales_.tau_log_prior(log_tau + 0.5 * x);
    };
    const double x = slice_step(0, density(0), -10, 10, density, random_, 1);
    set_s2(std::exp(l + x));
    scales_.set_log_tau(log_tau + 0.5 * x);
  }

  // Both return the step of log h.
  double draw_tau(double from, const Context& context) {
    const double log_tau = scales_.log_tau();
    const auto density = [&](double x) {
      factorise(from + 2 * x, context);
      return -0.5 * (sampler_.log_determinant() + sampler_.squares() / s2_) +
             scales_.tau_log_prior(log_tau + x);
    };
    const double x = slice_step(0, density(0), -10, 10, density, random_, 1);
    factorise(from + 2 * x, context);
    scales_.set_log_tau(log_tau + x);
    return 2 * x;
  }

  double draw_noise_given_tau(double from, const Context& context) {
    const double l = std::log(s2_);
    const auto density = [&](double x) {
      factorise(from - x, context);
      return -0.5 * sampler_.log_determinant() - noise_shape() * (l + x) -
             noise_rate(sampler_.squares()) * std::exp(-l - x);
    };
    const double x = slice_step(0, density(0), -10, 10, density, random_, 1);
    set_s2(std::exp(l + x));
    return -x;
  }

  BridgeScales scales_;
  std::vector<double> log_precision_;
};

}  // namespace ellzero
