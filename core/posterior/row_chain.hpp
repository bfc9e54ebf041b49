// What samplers of the horseshoe and the bridge have in common where rows are few: with h_j the
// prior variance of beta_j over s2 = sigma_e^2 and beta integrated out, y ~ N(0, s2 M), M = I + Z H
// Z'. tau and s2 given the local scales are drawn from that: H is multiplied and M factorised at
// every trial; or, with tau in proportion to sigma_e, not even that. Then beta (gaussian.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/slice.hpp"
#include "posterior/gaussian.hpp"
#include "posterior/scale_mixture_model.hpp"

namespace ellzero {

class RowChain : public MixtureChain {
 public:
  RowChain(const GaussianProblem& problem, const ScaleMixturePrior& prior, Index columns,
           std::uint64_t seed, std::uint64_t stream)
      : MixtureChain(problem, prior, columns, seed, stream),
        sampler_(problem),
        h_(problem.size()),
        ratio_(problem.size()) {}

 protected:
  // h of e^23 is beyond what the n x n matrix can tell from infinity.
  static constexpr double kLeastLogH = -600, kMostLogH = 23;

  static double h_of(double log_h) {
    return std::exp(std::min(std::max(log_h, kLeastLogH), kMostLogH));
  }

  bool learns_noise() const { return prior_.noise.learned; }
  double noise_shape() const { return prior_.noise.shape + 0.5 * prior_.degrees; }
  double noise_rate(double squares) const { return prior_.noise.rate + 0.5 * squares; }
  void set_s2(double s2) { s2_ = std::min(std::max(s2, 1e-250), 1e250); }

  void draw_anywhere(const Context& context) {
    for (double& h : h_) h = std::exp(2 * random_.normal());
    set_ratios(context);
    factorise(0, context);
    draw_coefficients();
  }

  void set_ratios(const Context& context) {
    for (std::size_t j = 0; j < h_.size(); ++j) ratio_[j] = 1 / h_[j];
    sampler_.set_ratios(ratio_.data(), context);
    at_ = std::numeric_limits<double>::quiet_NaN();
  }

  // With log h_j, for all j, greater by `step` than at set_ratios.
  void factorise(double step, const Context& context) {
    if (step != at_) sampler_.factorise(std::exp(-step), context);
    at_ = step;
  }

  void draw_coefficients() {
    rss_ = sampler_.draw(s2_, random_, beta_.data());
    check_finite();
  }

  RowSampler sampler_;
  std::vector<double> h_, ratio_;

 private:
  double at_ = 0;
};

}  // namespace ellzero
