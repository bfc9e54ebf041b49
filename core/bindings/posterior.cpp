// The spike-and-slab posterior as Python sees it: a prior, and functions from a design to draws.
#include "bindings/posterior_results.hpp"
#include "posterior/mode_search.hpp"
#include "posterior/sampler.hpp"

#include <nanobind/stl/vector.h>

namespace ellzero {
namespace {

using Supports = std::vector<std::vector<Index>>;

void require_one_per_column(const Quadratic& design, const std::vector<double>& values) {
  require(static_cast<Index>(values.size()) == design.columns(), "one number per column");
}

void require_sound(const Quadratic& design, const SpikeSlabPrior& prior) {
  require_one_per_column(design, prior.log_odds);
  if (!prior.scales.empty()) require_one_per_column(design, prior.scales);
}

void require_columns(const Quadratic& design, const Supports& supports) {
  for (const auto& support : supports) {
    for (const Index j : support) require(j >= 0 && j < design.columns(), "no such column");
  }
}

nb::list sample(const Quadratic& design, const SpikeSlabPrior& prior, const Supports& starts,
                const std::vector<double>& reference, std::uint64_t seed, const Schedule& schedule,
                int threads, const nb::object& progress, const Supports& modes,
                const std::vector<Index>& active) {
  require_sound(design, prior);
  require_columns(design, starts);
  require_columns(design, modes);
  require_columns(design, {active});
  require(std::is_sorted(active.begin(), active.end()), "active columns in order");
  require_one_per_column(design, reference);
  PythonInterrupt interrupt;
  const Context context{threads, &interrupt};
  std::vector<Draws> chains = run_released(interrupt, [&] {
    // Any thread may make a column: none of them may ask the interpreter.
    const GramUser cache(design.cache(), context.single(false));
    design.cache().keep_spare(design.columns());
    const auto report = [&](Index done) {
      nb::gil_scoped_acquire gil;
      progress(done);
    };
    return run_chains(design, cache, prior, starts, modes, reference, seed, schedule, context,
                      progress.is_none() ? DrawProgress() : DrawProgress(report), active);
  });
  nb::list out;
  for (Draws& chain : chains) out.append(to_dict(chain, design.columns()));
  return out;
}

EnumeratedPosterior enumerate_all(const Quadratic& design, const SpikeSlabPrior& prior,
                                  const std::vector<double>& reference, Index draws,
                                  std::uint64_t seed, int threads) {
  require_sound(design, prior);
  require_one_per_column(design, reference);
  require(prior.slab != Slab::laplace, "not for a Laplace slab");
  PythonInterrupt interrupt;
  const Context context{threads, &interrupt};
  Draws drawn;
  double log_evidence = 0;
  const Masses sums = run_released(interrupt, [&] {
    const GramUser cache(design.cache(), context.single(false));
    Enumeration<SpikeSlab> enumeration(
        design, cache, prior, [&] { return std::make_unique<SpikeSlab>(design, cache, prior); });
    Masses found = enumeration.run(reference, draws, seed, context, drawn);
    log_evidence = enumeration.log_evidence(found);
    return found;
  });
  return to_shares(sums, drawn, log_evidence);
}

// From every start, where single best replacement on p(S | y) ends, and its log.
std::vector<ModeFound> climb(const Quadratic& design, const SpikeSlabPrior& prior,
                             const Supports& starts, bool swaps, int threads) {
  require_sound(design, prior);
  require_columns(design, starts);
  require(prior.slab != Slab::laplace, "not for a Laplace slab");
  PythonInterrupt interrupt;
  const Context context{threads, &interrupt};
  std::vector<ModeFound> found;
  run_released(interrupt, [&] {
    const GramUser cache(design.cache(), context);
    design.cache().keep_spare(design.columns());
    for (const auto& start : starts) {
      SpikeSlab model(design, cache, prior);
      for (const Index j : start) {
        if (model.is_free(j) && !model.support().contains(j)) model.insert(j, nullptr);
      }
      const double value = MarginalMode(model).climb(swaps, context);
      std::vector<Index> end = model.support().members();
      std::sort(end.begin(), end.end());
      found.push_back({std::move(end), value});
    }
    return 0;
  });
  return found;
}

// Modes of p(S | y), the best first.
std::vector<ModeFound> search(const Quadratic& design, const SpikeSlabPrior& prior,
                              const Supports& starts, Index climbs, double depth, Index modes,
                              int threads) {
  require_sound(design, prior);
  require_columns(design, starts);
  require(prior.slab != Slab::laplace, "not for a Laplace slab");
  PythonInterrupt interrupt;
  const Context context{threads, &interrupt};
  return run_released(interrupt, [&] {
    const GramUser cache(design.cache(), context);
    design.cache().keep_spare(design.columns());
    SpikeSlab model(design, cache, prior);
    ModeSearch<SpikeSlab, MarginalMode> search(model,
                                               {climbs, depth, static_cast<std::size_t>(modes)});
    return search.run(starts, context);
  });
}

}  // namespace

void bind_posterior(nb::module_& m) {
  nb::enum_<Slab>(m, "Slab")
      .value("gaussian", Slab::gaussian)
      .value("laplace", Slab::laplace)
      .value("zellner", Slab::zellner)
      .value("boom", Slab::boom);
  nb::class_<Variance>(m, "Variance")
      .def(nb::init<>())
      .def_rw("learned", &Variance::learned)
      .def_rw("value", &Variance::value)
      .def_rw("shape", &Variance::shape)
      .def_rw("rate", &Variance::rate)
      .def_rw("relative", &Variance::relative);
  nb::class_<SpikeSlabPrior>(m, "SpikeSlabPrior")
      .def(nb::init<>())
      .def_rw("slab", &SpikeSlabPrior::slab)
      .def_rw("noise", &SpikeSlabPrior::noise)
      .def_rw("slab_variance", &SpikeSlabPrior::slab_variance)
      .def_rw("learn_theta", &SpikeSlabPrior::learn_theta)
      .def_rw("theta_a", &SpikeSlabPrior::theta_a)
      .def_rw("theta_b", &SpikeSlabPrior::theta_b)
      .def_rw("log_odds", &SpikeSlabPrior::log_odds)
      .def_rw("scales", &SpikeSlabPrior::scales)
      .def_rw("degrees", &SpikeSlabPrior::degrees)
      .def_rw("g", &SpikeSlabPrior::g)
      .def_rw("information", &SpikeSlabPrior::information)
      .def_rw("diagonal", &SpikeSlabPrior::diagonal);
  nb::class_<Schedule>(m, "Schedule")
      .def(nb::init<>())
      .def_rw("warmup", &Schedule::warmup)
      .def_rw("draws", &Schedule::draws)
      .def_rw("thin", &Schedule::thin)
      .def_rw("tempered", &Schedule::tempered)
      .def_rw("batch", &Schedule::batch)
      .def_rw("within", &Schedule::within)
      .def_rw("stop", &Schedule::stop)
      .def_prop_ro("stretch", &Schedule::stretch)
      .def_prop_rw(
          "states",
          [](const Schedule& schedule) {
            nb::list out;
            for (const ChainState& state : schedule.states) out.append(to_dict(state));
            return out;
          },
          [](Schedule& schedule, const nb::list& states) { schedule.states = to_states(states); });
  nb::class_<EnumeratedPosterior>(m, "EnumeratedPosterior")
      .def_ro("draws", &EnumeratedPosterior::draws)
      .def_prop_ro("masses", [](const EnumeratedPosterior& e) { return to_array(e.masses); })
      .def_ro("log_evidence", &EnumeratedPosterior::log_evidence);
  nb::class_<ModeFound>(m, "ModeFound")
      .def_prop_ro("support", [](const ModeFound& found) { return to_array(found.support); })
      .def_ro("log_posterior", &ModeFound::log_posterior);
  m.def("sample_spike_slab", &sample, nb::arg("design"), nb::arg("prior"), nb::arg("starts"),
        nb::arg("reference"), nb::arg("seed"), nb::arg("schedule"), nb::arg("threads"),
        nb::arg("progress").none(), nb::arg("modes") = Supports(),
        nb::arg("active") = std::vector<Index>());
  m.def("enumerate_spike_slab", &enumerate_all, nb::arg("design"), nb::arg("prior"),
        nb::arg("reference"), nb::arg("draws"), nb::arg("seed"), nb::arg("threads"));
  m.def("climb_spike_slab", &climb, nb::arg("design"), nb::arg("prior"), nb::arg("starts"),
        nb::arg("swaps"), nb::arg("threads"));
  m.def("search_modes", &search, nb::arg("design"), nb::arg("prior"), nb::arg("starts"),
        nb::arg("climbs"), nb::arg("depth"), nb::arg("modes"), nb::arg("threads"));
}

}  // namespace ellzero
