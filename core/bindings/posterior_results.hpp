// What posteriors over columns and over groups hand to Python.
#pragma once

#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/chain_states.hpp"
#include "posterior/enumerate.hpp"

namespace ellzero {

// What takes most memory is handed on and dropped.
inline nb::dict to_dict(Draws& draws, Index units) {
  nb::dict out;
  out["begins"] = to_array(draws.begins);
  out["support"] = to_array(draws.support);
  out["beta"] = to_array(draws.beta);
  out["theta"] = to_array(draws.theta);
  out["s2"] = to_array(draws.s2);
  out["slab_variance"] = to_array(draws.slab_variance);
  out["inclusion"] = to_array(draws.inclusion);
  out["mean"] = to_array(draws.mean);
  out["square"] = to_array(draws.square);
  add_state(out, draws.state, "state:");
  const std::size_t p = units, rows = p ? draws.conditional.size() / p : 0;
  out["conditional"] = to_array(std::move(draws.conditional), {rows, p});
  return out;
}

// What enumeration gives: draws and averages over all supports, the mass of every support by its
// code, and the log of the evidence.
struct EnumeratedPosterior {
  nb::dict draws;
  std::vector<double> masses;
  double log_evidence;
};

inline EnumeratedPosterior to_shares(const Masses& sums, Draws& drawn, double log_evidence) {
  drawn.inclusion = sums.inclusion;
  drawn.mean = sums.mean;
  drawn.square = sums.square;
  for (auto* values : {&drawn.inclusion, &drawn.mean, &drawn.square}) {
    for (double& value : *values) value /= sums.total;
  }
  std::vector<double> masses = sums.by_code;
  for (double& mass : masses) mass /= sums.total;
  return {to_dict(drawn, static_cast<Index>(sums.inclusion.size())), masses, log_evidence};
}

}  // namespace ellzero
