// Learning the variances, given the support.
//
// Under a Gaussian slab all that is not integrated out is tau = s2 / sigma_beta^2, whose density
// given the support, coefficients integrated out, is a curve of one variable. It is sampled, and
// integrated by quadrature, in x = log tau. With E(tau) and D(tau) the energy and log-determinant
// of the support at that ridge, the log of its density is, up to a constant,
//
//   k x / 2 - D / 2 + {  -(a + a2 + N/2) log(b + b2 tau + E) + a2 x        both variances learned
//                     {  -(a + N/2) log s2 - (b + E) / s2,  s2 = tau sigma_beta^2   noise learned
//                     {  -E / s2 + a2 x - b2 tau / s2                        slab learned
//
// for sigma_e^2 ~ IG(a, b) and sigma_beta^2 ~ IG(a2, b2). Where it is 1 / tau that is IG(a2, b2),
//
//   k x / 2 - D / 2 + {  -(a + N/2) log(b + E) + a2 x - b2 tau             both variances learned
//                     {  -E / s2 + a2 x - b2 tau                             slab learned
//
// which with a2 = 1/2 and b2 = n/2 is the prior of Zellner and Siow (1980) on independent slabs.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/slice.hpp"
#include "posterior/spike_slab.hpp"

namespace ellzero {

// Energy and log-determinant of one support as functions of the ridge.
class RidgeCurve {
 public:
  RidgeCurve(const LeastSquares& support, const Quadratic& design)
      : k_(support.size()),
        gram_(k_ * k_),
        b_(k_),
        diagonal_(k_, 1.0),
        factor_(k_ * k_),
        inverse_(k_),
        solved_(k_),
        yy_(design.yy) {
    support.member_gram(gram_.data());
    for (Index s = 0; s < k_; ++s) b_[s] = design.zy[support.members()[s]];
  }

  // Of columns with this Gram matrix, row by row, and these products with y.
  RidgeCurve(std::vector<double> gram, std::vector<double> b, double yy)
      : k_(static_cast<Index>(b.size())),
        gram_(std::move(gram)),
        b_(std::move(b)),
        diagonal_(k_),
        factor_(k_ * k_),
        inverse_(k_),
        solved_(k_),
        yy_(yy) {
    for (Index s = 0; s < k_; ++s) diagonal_[s] = gram_[s * k_ + s];
  }

  struct Value {
    double energy, log_determinant;
  };
  // By a Cholesky factor L of G + tau I, and L^-1 b beside it.
  Value at(double tau) {
    double log_determinant = 0, product = 1, explained = 0;
    for (Index r = 0; r < k_; ++r) {
      double* row = factor_.data() + r * k_;
      double pivot = diagonal_[r] + tau, right = b_[r];
      for (Index s = 0; s < r; ++s) {
        const double* other = factor_.data() + s * k_;
        double value = gram_[r * k_ + s];
        for (Index i = 0; i < s; ++i) value -= row[i] * other[i];
        row[s] = value * inverse_[s];
        pivot -= row[s] * row[s];
        right -= row[s] * solved_[s];
      }
      pivot = std::max(pivot, 1e-3 * tau);
      inverse_[r] = 1 / std::sqrt(pivot);
      solved_[r] = right * inverse_[r];
      explained += solved_[r] * solved_[r];
      product *= pivot;
      // A logarithm now and then, before the product leaves the range of numbers.
      if (r % 8 == 7 || r + 1 == k_) {
        log_determinant += std::log(product);
        product = 1;
      }
    }
    return {std::max(0.0, 0.5 * (yy_ - explained)), log_determinant};
  }

  Index size() const { return k_; }

 private:
  Index k_;
  std::vector<double> gram_, b_, diagonal_, factor_, inverse_, solved_;
  double yy_;
};

inline bool learns_tau(const SpikeSlabPrior& prior) {
  return prior.slab == Slab::gaussian && (prior.noise.learned || prior.slab_variance.learned);
}

// The part of the log-density of x = log tau that the support's energy enters, and the prior.
// What has the unit of a variance is taken in the given one.
inline double tau_log_density(const SpikeSlabPrior& prior, double x, double energy, double unit) {
  const Variance &noise = prior.noise, &slab_variance = prior.slab_variance;
  const double tau = std::exp(x);
  if (noise.learned && slab_variance.learned) {
    if (slab_variance.relative) {
      return slab_variance.shape * x - slab_variance.rate * tau -
             (noise.shape + 0.5 * prior.degrees) * std::log((noise.rate + energy) / unit);
    }
    const double shape = noise.shape + slab_variance.shape + 0.5 * prior.degrees;
    return slab_variance.shape * x -
           shape * std::log((noise.rate + slab_variance.rate * tau + energy) / unit);
  }
  if (noise.learned) {
    const double s2 = tau * slab_variance.value;
    return -(noise.shape + 0.5 * prior.degrees) * std::log(s2 / unit) - (noise.rate + energy) / s2;
  }
  const double rate = slab_variance.rate / (slab_variance.relative ? 1 : noise.value);
  return -energy / noise.value + slab_variance.shape * x - rate * tau;
}

// Where slabs have scales of their own it is that of the columns times these.
inline RidgeCurve ridge_curve(const SpikeSlab& model, const Quadratic& design) {
  const LeastSquares& support = model.support();
  if (!model.is_scaled()) return RidgeCurve(support, design);
  const Index k = support.size();
  std::vector<double> gram(k * k), b(k);
  support.member_gram(gram.data());
  for (Index r = 0; r < k; ++r) {
    const Index j = support.members()[r];
    b[r] = model.scale_of(j) * design.zy[j];
    for (Index s = 0; s < k; ++s) {
      gram[r * k + s] *= model.scale_of(j) * model.scale_of(support.members()[s]);
    }
  }
  return RidgeCurve(std::move(gram), std::move(b), design.yy);
}

// Model is SpikeSlab, or another with a ridge_curve().
template <class Model>
void learn_tau(Model& model, const Quadratic& design, Random& random) {
  const SpikeSlabPrior& prior = model.prior();
  RidgeCurve curve = ridge_curve(model, design);
  const auto density = [&](double x, const RidgeCurve::Value& value) {
    return 0.5 * (static_cast<double>(curve.size()) * x - value.log_determinant) +
           tau_log_density(prior, x, value.energy, model.unit());
  };
  const double now = std::log(model.tau());
  const double here = density(now, {model.energy(), model.log_determinant()});
  const double tau = std::exp(slice_step(
      now, here, std::log(SpikeSlab::kLeastTau), std::log(SpikeSlab::kGreatestTau),
      [&](double x) { return density(x, curve.at(std::exp(x))); }, random));
  model.set_tau(tau);
}

// Under a Laplace slab the coefficients are drawn, then sigma_beta^2 and sigma_e^2 given them, and
// then the variance of each in the mixture of Gaussians that the Laplace distribution is.
inline void learn_scales(SpikeSlab& model, const Quadratic& design, Random& random) {
  const SpikeSlabPrior& prior = model.prior();
  const LeastSquares& support = model.support();
  const Index k = support.size();
  const std::vector<double> beta = model.draw_beta(model.s2(), random);
  const Variance& slab_variance = prior.slab_variance;
  const bool tied = slab_variance.learned && slab_variance.relative;
  const double unit = model.unit();
  if (slab_variance.learned) {
    const double rate = slab_variance.rate * (tied ? model.s2() : 1) / unit;
    double sum = 0;
    for (Index s = 0; s < k; ++s) sum += std::fabs(beta[s]) / model.scale_of(support.members()[s]);
    sum /= std::sqrt(unit);
    // In x = log sigma_beta^2; the Laplace density is (2 / variance)^(1/2) / 2 exp(-...).
    const auto log_density = [&](double x) {
      return -0.5 * static_cast<double>(k) * x - sum * std::sqrt(2.0) * std::exp(-0.5 * x) -
             slab_variance.shape * x - rate * std::exp(-x);
    };
    const double x = std::log(model.slab_variance() / unit);
    model.set_slab_variance(
        unit * std::exp(slice_step(x, log_density(x), -690, 690, log_density, random)));
  }
  if (prior.noise.learned) {
    // |y - Z_S beta|^2 = y'y - 2 b'beta + beta'G beta
    double half_rss = 0.5 * design.yy;
    std::vector<double> gram(k * k);
    support.member_gram(gram.data());
    for (Index s = 0; s < k; ++s) {
      half_rss += beta[s] * (0.5 * dot(gram.data() + s * k, beta.data(), k) -
                             design.zy[support.members()[s]]);
    }
    const double shape = prior.noise.shape + 0.5 * prior.degrees;
    const double rate = prior.noise.rate + std::max(0.0, half_rss);
    if (tied) {
      // In x = log s2; sigma_beta^2 given it is IG(a2, b2 s2).
      const double inverse = rate / unit,
                   direct = slab_variance.rate * unit / model.slab_variance();
      const auto log_density = [&](double x) {
        return (slab_variance.shape - shape) * x - inverse * std::exp(-x) - direct * std::exp(x);
      };
      const double x = std::log(model.s2() / unit);
      model.set_s2(unit * std::exp(slice_step(x, log_density(x), -690, 690, log_density, random)));
    } else {
      model.set_s2(random.inverse_gamma(shape, rate));
    }
  }
  std::vector<double> precisions;
  for (Index s = 0; s < k; ++s) {
    const LaplaceSlab slab = model.laplace_slab(support.members()[s]);
    precisions.push_back(slab.precision_given(beta[s], random));
  }
  model.set_precisions(precisions);
}

}  // namespace ellzero
