// Runs chains of the bridge or the horseshoe.
#pragma once

#include <memory>
#include <vector>

#include "posterior/bridge_rows.hpp"
#include "posterior/column_chain.hpp"
#include "posterior/horseshoe_rows.hpp"
#include "posterior/sampler.hpp"
#include "posterior/scale_mixture_model.hpp"

namespace ellzero {

inline std::unique_ptr<MixtureChain> make_chain(const GaussianProblem& problem,
                                                const ScaleMixturePrior& prior, Index columns,
                                                Index sweeps, std::uint64_t seed,
                                                std::uint64_t stream) {
  if (!problem.by_rows) {
    return std::make_unique<ColumnChain>(problem, prior, columns, sweeps, seed, stream);
  }
  if (prior.is_horseshoe) {
    return std::make_unique<HorseshoeRows>(problem, prior, columns, seed, stream);
  }
  return std::make_unique<BridgeRows>(problem, prior, columns, seed, stream);
}

// What the chains draw does not depend on the number of threads. `start`, if there is one, is where
// all of them begin; `sweeps` see ColumnChain.
inline std::vector<ScaleMixtureDraws> run_scale_mixture(
    const Quadratic& design, const ScaleMixturePrior& prior, Index chains, GaussianForm form,
    Index sweeps, const Schedule& schedule, std::uint64_t seed, const ScaleMixtureState* start,
    const Context& context, const DrawProgress& progress) {
  const GaussianProblem problem(design, form, context);
  return run_each<ScaleMixtureDraws>(
      chains, schedule, context, progress, [&](Index i, bool begins, const Context& own) {
        auto chain = make_chain(problem, prior, design.columns(), sweeps, seed,
                                static_cast<std::uint64_t>(i));
        if (begins && start) {
          chain->start_from(*start);
        } else if (begins) {
          chain->start_anywhere(own);
        }
        return chain;
      });
}

}  // namespace ellzero
