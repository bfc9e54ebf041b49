// What a spike-and-slab posterior holds beside the support, whatever its units are: the prior, and
// the variances where they are not integrated out.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/kernels.hpp"
#include "base/random.hpp"

namespace ellzero {

enum class Slab { gaussian, laplace, zellner, boom };

// A positive parameter: given, or inverse gamma.
struct Variance {
  bool learned = false;
  double value = 1;  // if given; else where to start
  double shape = 0;
  double rate = 0;
  bool relative = false;  // of sigma_beta^2: whether it is over sigma_e^2 that it is inverse gamma
};

struct SpikeSlabPrior {
  Slab slab = Slab::gaussian;
  Variance noise;          // sigma_e^2
  Variance slab_variance;  // sigma_beta^2: of gaussian and laplace
  bool learn_theta = false;
  double theta_a = 1, theta_b = 1;
  // By unit: the log-odds of inclusion if theta is given, else zero; infinite for units that are
  // always in, or never.
  std::vector<double> log_odds;
  // By unit, of gaussian and laplace: its slab's standard deviation over sigma_beta. Empty if that
  // is one for all.
  std::vector<double> scales;
  double degrees = 0;  // N: n - 1 under a flat intercept, else n
  double g = 1;
  double information = 1, diagonal = 0.5;
};

class SlabState {
 public:
  // tau is kept between these: beyond them a Gram matrix can't tell it from zero or infinity.
  static constexpr double kLeastTau = 1e-10, kGreatestTau = 1e10;
  static constexpr double kNever = -std::numeric_limits<double>::infinity();

  SlabState(const SpikeSlabPrior& prior, double yy) : prior_(prior), yy_(yy) {
    s2_ = prior.noise.value;
    slab_variance_ = prior.slab_variance.value;
    if (prior.slab == Slab::gaussian) tau_ = bounded_tau(s2_ / slab_variance_);
    if (prior.slab == Slab::zellner) alpha_ = 1 + 1 / prior.g;
    if (prior.slab == Slab::boom) alpha_ = 1 + prior.information * (1 - prior.diagonal);
  }

  const SpikeSlabPrior& prior() const { return prior_; }
  double alpha() const { return alpha_; }
  double tau() const { return tau_; }
  double s2() const { return s2_; }
  double slab_variance() const { return slab_variance_; }
  bool is_laplace() const { return prior_.slab == Slab::laplace; }

  // What variances are compared with where their logarithm is taken, so that y in other units
  // gives the same bits, if these are a power of two apart.
  double unit() const { return yy_ > 0 ? yy_ : 1; }

  // Whether s2 is integrated out of the odds.
  bool integrated() const {
    if (!prior_.noise.learned || is_laplace()) return false;
    return prior_.slab != Slab::gaussian || prior_.slab_variance.learned;
  }
  double noise_shape() const {
    return prior_.noise.shape + (slab_tells_noise() ? prior_.slab_variance.shape : 0) +
           0.5 * prior_.degrees;
  }
  double noise_rate() const {
    return prior_.noise.rate + (slab_tells_noise() ? prior_.slab_variance.rate * tau_ : 0);
  }
  template <class Fields>
  void remember(Fields& fields) {
    fields("tau", tau_);
    fields("s2", s2_);
    fields("slab_variance", slab_variance_);
  }
  static double bounded_tau(double tau) { return std::min(std::max(tau, kLeastTau), kGreatestTau); }

 protected:
  // H at a least-squares energy, and with s2 integrated out the prior's rate too.
  double total_at(double energy) const {
    const double half = 0.5 * yy_ * (1 - 1 / alpha_) + energy / alpha_;
    return integrated() ? noise_rate() + half : half;
  }
  // The mean of s2 given the support; zero where it has none.
  double mean_s2_at(double total) const {
    if (!integrated()) return s2_;
    return noise_shape() > 1 ? total / (noise_shape() - 1) : 0;
  }
  // Of the Gaussian slab: with it goes the variance that is learned, if one is given.
  void take_tau(double tau) {
    tau_ = bounded_tau(tau);
    if (!prior_.slab_variance.learned) s2_ = tau_ * prior_.slab_variance.value;
    if (!prior_.noise.learned) slab_variance_ = prior_.noise.value / tau_;
  }
  double draw_s2_at(double total, Random& random) const {
    return integrated() ? random.inverse_gamma(noise_shape(), total) : s2_;
  }

  const SpikeSlabPrior& prior_;
  const double yy_;
  double alpha_ = 1;
  double tau_ = 1;
  double s2_ = 1;
  double slab_variance_ = 1;

 private:
  // Whether the prior of sigma_beta^2 = s2 / tau is one of s2, given tau.
  bool slab_tells_noise() const {
    return prior_.slab == Slab::gaussian && !prior_.slab_variance.relative;
  }
};

}  // namespace ellzero
