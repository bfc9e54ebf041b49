// The spike-and-slab posterior over groups as Python sees it: a problem, and what is computed of
// it.
#include "bindings/posterior_results.hpp"
#include "posterior/group_chain.hpp"
#include "posterior/group_enumerate.hpp"
#include "posterior/group_mode.hpp"
#include "posterior/mode_search.hpp"

#include <nanobind/stl/vector.h>

#include <cmath>
#include <utility>

namespace ellzero {
namespace {

using Lists = std::vector<std::vector<Index>>;

// Where a climb ended: the groups, the columns of X with their coefficients for columns of unit
// norm, and log p(S | y).
struct GroupModeFound {
  std::vector<Index> units, columns;
  std::vector<double> beta;
  double log_posterior;
};

class GroupPosterior {
 public:
  // `shared` says whether the columns of a group share the variance of one.
  GroupPosterior(const Quadratic& design, const Lists& groups, bool shared,
                 const SpikeSlabPrior& prior, Lists parents, bool strong, double cache_bytes)
      : quadratic_(design, groups, cache_bytes), prior_(prior) {
    require(prior.scales.empty() || prior.scales.size() == groups.size(), "one per group");
    for (const Index width : widths()) {
      scales_.push_back(shared && width > 0 ? 1 / std::sqrt(static_cast<double>(width)) : 1);
    }
    for (std::size_t u = 0; u < prior.scales.size(); ++u) scales_[u] *= prior.scales[u];
    require(prior.slab == Slab::gaussian || prior.slab == Slab::zellner, "not for that slab");
    require(prior.log_odds.size() == groups.size() &&
                (parents.empty() || parents.size() == groups.size()),
            "one per group");
    for (const auto& group : groups) {
      for (const Index j : group) require(j >= 0 && j < design.columns(), "no such column");
    }
    for (const auto& of : parents) require_units(of);
    rules_.parents = std::move(parents);
    rules_.strong = strong;
  }

  std::vector<Index> widths() const {
    std::vector<Index> out;
    for (const GroupBases::Unit& unit : quadratic_.bases().units) out.push_back(unit.width());
    return out;
  }

 private:
  template <class Work>
  auto run(int threads, Work&& work) {
    PythonInterrupt interrupt;
    const Context context{threads, &interrupt};
    return run_released(interrupt, [&] {
      // Any thread may make a column: none of them may ask the interpreter.
      const GramUser cache(quadratic_.cache(), context.single(false));
      quadratic_.cache().keep_spare(quadratic_.columns());
      return work(context, cache);
    });
  }

 public:
  GroupModeFound climb_from(const std::vector<Index>& start, int threads) {
    require_units(start);
    return run(threads, [&](const Context& context, const GramUser& cache) {
      GroupSpikeSlab model(problem_, cache);
      model.enter_all(start);
      GroupModeFound found;
      found.log_posterior = GroupMode(model).climb(false, context);
      found.units = model.support().members();
      std::vector<double> own;
      for (const Index u : found.units) {
        const GroupSupport& support = model.support();
        const std::vector<Index>& columns = support.bases().units[u].columns;
        own.resize(columns.size());
        support.to_base(u, support.factor().beta().data() + support.first_place(u), own.data());
        for (std::size_t j = 0; j < own.size(); ++j) {
          found.columns.push_back(columns[j]);
          found.beta.push_back(own[j] / model.alpha());
        }
      }
      return found;
    });
  }

  // Modes of p(S | y) at a ratio tau of the variances, if it is learned; the best first.
  std::vector<ModeFound> search_modes(const Lists& starts, double tau, Index climbs, double depth,
                                      Index modes, int threads) {
    for (const auto& start : starts) require_units(start);
    return run(threads, [&](const Context& context, const GramUser& cache) {
      GroupSpikeSlab model(problem_, cache);
      if (learns_tau(prior_)) model.set_tau(tau);
      ModeSearch<GroupSpikeSlab, GroupMode> search(
          model, {climbs, depth, static_cast<std::size_t>(modes)});
      return search.run(starts, context);
    });
  }

  nb::list sample(const Lists& starts, const std::vector<double>& reference, std::uint64_t seed,
                  const Schedule& schedule, int threads, const nb::object& progress,
                  const Lists& modes) {
    for (const auto& start : starts) require_units(start);
    for (const auto& mode : modes) require_units(mode);
    require_reference(reference);
    require(!schedule.tempered, "not tempered");
    std::vector<Draws> chains = run(threads, [&](const Context& context, const GramUser& cache) {
      return run_group_chains(problem_, cache, starts, modes, reference, seed, schedule, context,
                              progress_of(progress));
    });
    nb::list out;
    for (Draws& chain : chains) out.append(to_dict(chain, units()));
    return out;
  }

  EnumeratedPosterior enumerate(const std::vector<double>& reference, Index draws,
                                std::uint64_t seed, int threads) {
    require_reference(reference);
    Draws drawn;
    double log_evidence = 0;
    const Masses sums = run(threads, [&](const Context& context, const GramUser& cache) {
      Enumeration<GroupSpikeSlab> enumeration(quadratic_, cache, prior_, [&] {
        auto model = std::make_unique<GroupSpikeSlab>(problem_, cache);
        model->set_silent(true);  // it is asked of its members only
        return model;
      });
      Masses found = enumeration.run(reference, draws, seed, context, drawn);
      log_evidence = enumeration.log_evidence(found);
      return found;
    });
    return to_shares(sums, drawn, log_evidence);
  }

 private:
  Index units() const { return static_cast<Index>(quadratic_.bases().units.size()); }
  void require_units(const std::vector<Index>& some) const {
    for (const Index u : some) require(u >= 0 && u < units(), "no such group");
  }
  void require_reference(const std::vector<double>& reference) const {
    require(static_cast<Index>(reference.size()) == quadratic_.base().columns(),
            "one number per column");
  }
  GroupedQuadratic quadratic_;
  std::vector<double> scales_;
  const SpikeSlabPrior prior_;
  UnitRules rules_;
  const GroupProblem problem_{quadratic_, prior_, rules_, scales_};
};

}  // namespace

void bind_group_posterior(nb::module_& m) {
  nb::class_<GroupModeFound>(m, "GroupModeFound")
      .def_prop_ro("units", [](const GroupModeFound& found) { return to_array(found.units); })
      .def_prop_ro("columns", [](const GroupModeFound& found) { return to_array(found.columns); })
      .def_prop_ro("beta", [](const GroupModeFound& found) { return to_array(found.beta); })
      .def_ro("log_posterior", &GroupModeFound::log_posterior);
  nb::class_<GroupPosterior>(m, "GroupPosterior")
      .def(nb::init<const Quadratic&, const Lists&, bool, const SpikeSlabPrior&, Lists, bool,
                    double>(),
           nb::arg("design"), nb::arg("groups"), nb::arg("shared"), nb::arg("prior"),
           nb::arg("parents"), nb::arg("strong"), nb::arg("cache_bytes"), nb::keep_alive<1, 2>())
      .def_prop_ro("widths", [](const GroupPosterior& p) { return to_array(p.widths()); })
      .def("climb", &GroupPosterior::climb_from, nb::arg("start"), nb::arg("threads"))
      .def("sample", &GroupPosterior::sample, nb::arg("starts"), nb::arg("reference"),
           nb::arg("seed"), nb::arg("schedule"), nb::arg("threads"), nb::arg("progress").none(),
           nb::arg("modes") = Lists())
      .def("search_modes", &GroupPosterior::search_modes, nb::arg("starts"), nb::arg("tau"),
           nb::arg("climbs"), nb::arg("depth"), nb::arg("modes"), nb::arg("threads"))
      .def("enumerate", &GroupPosterior::enumerate, nb::arg("reference"), nb::arg("draws"),
           nb::arg("seed"), nb::arg("threads"));
}

}  // namespace ellzero
