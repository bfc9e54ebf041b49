// What samplers of the bridge and the horseshoe have in common: the prior, what is drawn, and where
// a chain is.
#pragma once

#include <cmath>
#include <stdexcept>
#include <vector>

#include "posterior/bridge.hpp"
#include "posterior/chain_state.hpp"
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
  double slab = 1;  // c
};

struct ScaleMixtureDraws {
  std::vector<double> beta;  // by draw and column
  std::vector<double> s2, tau, alpha, slab;
  ChainState state;  // of the chain, at the last boundary that it came to

  void reserve(Index count) { beta.reserve(beta.size() * count); }
  template <class Fields>
  void remember(Fields&) {}  // a chain sums nothing up
};

class MixtureChain {
 public:
  // `columns` are those of the design, some of which may have no coefficient.
  MixtureChain(const GaussianProblem& problem, const ScaleMixturePrior& prior, Index columns,
               std::uint64_t seed, std::uint64_t stream)
      : problem_(problem),
        prior_(prior),
        columns_(columns),
        random_(seed, stream),
        beta_(problem.size()),
        s2_(prior.noise.value) {}
  virtual ~MixtureChain() = default;

  // From ridges that differ between columns and chains.
  virtual void start_anywhere(const Context& context) = 0;
  virtual void start_from(const ScaleMixtureState& state) = 0;
  virtual void iterate(const Context& context) = 0;
  virtual double tau() const = 0;
  virtual double alpha() const { return prior_.bridge.alpha; }
  virtual double slab() const { return 1; }

  // What the chain remembers, see chain_state.hpp.
  template <class Fields>
  void remember(Fields& fields) {
    fields("random", random_);
    fields("beta", beta_);
    fields("s2", s2_);
    fields("rss", rss_);
    std::vector<double> own = scales();
    fields("scales", own);
    if (Fields::kReads) set_scales(own);
  }
  void advance(bool, double, const Context& context) { iterate(context); }

  void keep(ScaleMixtureDraws& draws) const {
    const std::size_t begin = draws.beta.size();
    draws.beta.resize(begin + columns_, 0.0);
    for (Index k = 0; k < problem_.size(); ++k) draws.beta[begin + problem_.live[k]] = beta_[k];
    draws.s2.push_back(s2_);
    draws.tau.push_back(tau());
    draws.alpha.push_back(alpha());
    draws.slab.push_back(slab());
  }

 protected:
  // Those that the next iteration goes on from, in an order of the chain's own.
  virtual std::vector<double> scales() const = 0;
  virtual void set_scales(const std::vector<double>& scales) = 0;

  void set_coefficients(const ScaleMixtureState& state) {
    for (Index k = 0; k < problem_.size(); ++k) beta_[k] = state.beta[problem_.live[k]];
    s2_ = state.s2;
  }

  // Given a coefficient that is no number, what draws by rejection would go on for ever.
  void check_finite() const {
    if (!std::isfinite(rss_)) {
      throw std::range_error(
          "the coefficients drawn are not finite: y and the scales of the prior are too far apart");
    }
  }

  const GaussianProblem& problem_;
  const ScaleMixturePrior& prior_;
  const Index columns_;
  Random random_;
  std::vector<double> beta_;
  double s2_, rss_ = 0;
};

}  // namespace ellzero
