// The horseshoe where rows are few (row_chain.hpp), in units of sigma_e: t = tau / sigma_e,
// h_j = (t lambda_j)^2, or 1 / h_j = 1 / (t lambda_j)^2 + 1 / C with a slab, C = c^2 / s2. The
// prior of t does not know of sigma_e. Everything but the coefficients is drawn with these
// integrated out:
//
//   every lambda_j (row_sweep.hpp); between blocks of them s2 given H;
//   t given all lambda_j, with s2 integrated out, and s2;
//   t given H;
//   the slab given the coefficients.
//
// Given H and C, the prior of c^2 adds df / 2 to the shape of s2 and df scale^2 / (2 C) to its
// rate.
#pragma once

#include "posterior/horseshoe_local.hpp"
#include "posterior/horseshoe_slab.hpp"
#include "posterior/row_chain.hpp"
#include "posterior/row_sweep.hpp"

namespace ellzero {

class HorseshoeRows final : public RowChain {
 public:
  HorseshoeRows(const GaussianProblem& problem, const ScaleMixturePrior& prior, Index columns,
                std::uint64_t seed, std::uint64_t stream)
      : RowChain(problem, prior, columns, seed, stream),
        own_(prior.horseshoe),
        sweep_(problem),
        wide_(problem.size()) {}

  void start_anywhere(const Context& context) override {
    draw_anywhere(context);
    log_t_ = own_.learn_tau ? 0 : std::log(own_.tau) - 0.5 * std::log(s2_);
    log_slab_ = 2 * std::log(own_.slab_scale) - std::log(s2_);
    draw_scales_given_coefficients();
  }

  void start_from(const ScaleMixtureState& state) override {
    set_coefficients(state);
    log_t_ = std::log(own_.learn_tau ? state.tau : own_.tau) - 0.5 * std::log(s2_);
    log_slab_ = 2 * std::log(state.slab) - std::log(s2_);
    draw_scales_given_coefficients();
  }

  void iterate(const Context& context) override {
    for (std::size_t j = 0; j < h_.size(); ++j) h_[j] = h_within_slab(wide_[j]);
    sweep_.run(
        h_.data(),
        [&](Index j, double a, double c) {
          wide_[j] = draw_horseshoe_scale(a, c, s2_, 2 * log_t_, ridge(), random_) + 2 * log_t_;
          return h_within_slab(wide_[j]);
        },
        [&](double squares) {
          if (own_.learn_tau && learns_noise()) draw_noise(squares);
        },
        context);
    set_ratios(context);
    if (own_.learn_tau) {
      draw_t_given_lambda(context);
      draw_t_given_h();
    } else if (learns_noise()) {
      draw_noise_given_tau(context);
    } else {
      factorise(0, context);
    }
    draw_coefficients();
    if (own_.regularised) draw_slab_given_coefficients();
  }

  double tau() const override { return std::exp(log_t_ + 0.5 * std::log(s2_)); }
  double slab() const override { return std::exp(0.5 * (log_slab_ + std::log(s2_))); }

 protected:
  // log t, the slab's, and the local ones: they are not drawn anew from the coefficients.
  std::vector<double> scales() const override {
    std::vector<double> out = wide_;
    out.insert(out.end(), {log_t_, log_slab_});
    return out;
  }
  void set_scales(const std::vector<double>& scales) override {
    wide_.assign(scales.begin(), scales.end() - 2);
    log_t_ = scales[wide_.size()];
    log_slab_ = scales.back();
  }

 private:
  static constexpr double kFarthest = 300;

  double ridge() const { return own_.regularised ? std::exp(-log_slab_) : 0; }
  double h_within_slab(double wide) const {
    if (!own_.regularised) return h_of(wide);
    const double larger = std::max(wide, log_slab_), smaller = std::min(wide, log_slab_);
    return h_of(smaller - std::log1p(std::exp(smaller - larger)));
  }

  // What the slab adds to the shape and the rate of s2, at C of logarithm `log_slab`.
  double slab_shape() const { return own_.regularised ? 0.5 * own_.slab_df : 0; }
  double slab_rate(double log_slab) const {
    return slab_shape() * own_.slab_scale * own_.slab_scale * std::exp(-log_slab);
  }

  double t_log_prior(double log_t) const {
    const double x = log_t - std::log(own_.tau_scale);
    return x - std::log1p(std::exp(2 * std::min(x, kFarthest)));
  }

  void draw_scales_given_coefficients() {
    const double log_tau = log_t_ + 0.5 * std::log(s2_);
    for (std::size_t j = 0; j < wide_.size(); ++j) {
      const double x = 0.5 * beta_[j] * beta_[j] * std::exp(-2 * log_tau);
      const double bounded = std::min(std::max(x, 1e-300), 1e300);
      const double u = own_.regularised ? draw_regularised_precision(
                                              bounded, std::exp(2 * log_t_ - log_slab_), random_)
                                        : draw_horseshoe_precision(bounded, random_);
      wide_[j] = 2 * log_t_ - std::log(u);
    }
  }

  void draw_noise(double squares) {
    set_s2(random_.inverse_gamma(noise_shape() + slab_shape(),
                                 noise_rate(squares) + slab_rate(log_slab_)));
  }

  // lambda_j^2 = wide_j / t^2
  void draw_t_given_h() {
    squares_.resize(wide_.size());
    for (std::size_t j = 0; j < wide_.size(); ++j) {
      squares_[j] = std::exp(std::min(wide_[j] - 2 * log_t_, 150.0));
    }
    const double p = static_cast<double>(wide_.size());
    const auto density = [&](double x) {
      double sum = 0;
      const double factor = std::exp(-2 * x);
      for (const double v : squares_) sum += std::log1p(v * factor);
      return t_log_prior(log_t_ + x) - p * x - sum;
    };
    log_t_ += slice_step(0, density(0), -5, 5, density, random_, 4 / std::sqrt(1 + p));
  }

  // C keeps its ratio to t^2, so that H is multiplied.
  void draw_t_given_lambda(const Context& context) {
    const double shape = noise_shape() + slab_shape();
    const auto density = [&](double x) {
      factorise(2 * x, context);
      const double slab = slab_rate(log_slab_ + 2 * x);
      const double noise = learns_noise() ? -shape * std::log(noise_rate(sampler_.squares()) + slab)
                                          : -(0.5 * sampler_.squares() + slab) / s2_;
      return noise - 0.5 * sampler_.log_determinant() + t_log_prior(log_t_ + x) -
             slab_shape() * 2 * x;
    };
    const double x = slice_step(0, density(0), -10, 10, density, random_, 1);
    factorise(2 * x, context);
    log_t_ += x;
    log_slab_ += 2 * x;
    for (double& wide : wide_) wide += 2 * x;
    if (learns_noise()) draw_noise(sampler_.squares());
  }

  void draw_slab_given_coefficients() {
    const double log_s2 = std::log(s2_);
    squares_ = wide_;
    for (double& wide : squares_) wide += log_s2;
    log_slab_ = draw_slab(own_, squares_, beta_, log_slab_ + log_s2, random_) - log_s2;
  }

  // tau, lambda and c are given: H is inversely proportional to s2.
  void draw_noise_given_tau(const Context& context) {
    const double log_s2 = std::log(s2_);
    const auto density = [&](double x) {
      factorise(-x, context);
      return -0.5 * sampler_.log_determinant() - noise_shape() * (log_s2 + x) -
             noise_rate(sampler_.squares()) * std::exp(-log_s2 - x);
    };
    const double x = slice_step(0, density(0), -10, 10, density, random_, 1);
    factorise(-x, context);
    set_s2(std::exp(log_s2 + x));
    log_t_ -= 0.5 * x;
    log_slab_ -= x;
    for (double& wide : wide_) wide -= x;
  }

  const HorseshoePrior& own_;
  RowSweep sweep_;
  double log_t_ = 0, log_slab_ = 0;  // log C
  std::vector<double> wide_;         // log (t lambda_j)^2
  std::vector<double> squares_;
};

}  // namespace ellzero
