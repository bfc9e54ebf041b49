// Groups of columns as Python sees them: engines, and the frontier under rules.
#include "bindings/python_units.hpp"
#include "search/unit_frontier.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <utility>

namespace ellzero {
namespace {

std::vector<Index> to_vector(const Vector<Index>& values) {
  return {values.data(), values.data() + values.size()};
}

// Lists that lie one after the other: each begins where `begins` says, and ends where the next
// does.
Lists to_lists(const Vector<Index>& begins, const Vector<Index>& values, Index least, Index most) {
  Lists out;
  for (std::size_t b = 0; b + 1 < begins.size(); ++b) {
    require(begins(b) >= 0 && begins(b) <= begins(b + 1) &&
                begins(b + 1) <= static_cast<Index>(values.size()),
            "begins: increasing, up to the length");
    out.emplace_back(values.data() + begins(b), values.data() + begins(b + 1));
    for (const Index value : out.back()) require(value >= least && value < most, "out of range");
  }
  return out;
}

// What searches keep to: by unit, where it is a vector that is not empty.
UnitRules rules_of(PythonUnits& e, std::vector<bool> forced, std::vector<double> price,
                   bool by_columns, Lists parents, bool strong,
                   const std::vector<std::pair<std::vector<Index>, Index>>& caps,
                   const std::vector<int>& signs) {
  const std::size_t units = e.engine().units();
  const auto sound = [&](std::size_t length) { return length == 0 || length == units; };
  require(sound(forced.size()) && sound(price.size()) && sound(parents.size()), "one per group");
  require(signs.empty() || static_cast<Index>(signs.size()) == e.quadratic_.base().columns(),
          "signs: one per column");
  UnitRules rules;
  rules.forced.assign(forced.begin(), forced.end());
  rules.price = std::move(price);
  rules.by_columns = by_columns;
  rules.parents = std::move(parents);
  rules.strong = strong;
  for (const auto& [of, most] : caps) {
    e.require_units(of);
    rules.caps.push_back({of, most});
  }
  rules.signs.assign(signs.begin(), signs.end());
  return rules;
}

struct GroupModel {
  std::vector<Index> units;
  Index size;
  double price, energy;
};

class GroupFrontier {
 public:
  GroupFrontier(PythonUnits& engine, std::vector<bool> forced, std::vector<double> price,
                bool by_columns, const Vector<Index>& parent_begins, const Vector<Index>& parents,
                bool strong, const std::vector<std::pair<std::vector<Index>, Index>>& caps,
                const std::vector<int>& signs, bool swaps)
      : engine_(engine),
        rules_(rules_of(engine, std::move(forced), std::move(price), by_columns,
                        to_lists(parent_begins, parents, 0, engine.engine().units()), strong, caps,
                        signs)),
        frontier_(engine.engine(), rules_, swaps) {
    if (!rules_.signs.empty()) engine_.engine().set_signs(rules_.signs);
  }

  void grow(Index max_size, const nb::object& progress) {
    engine_.released([&] {
      frontier_.grow(max_size, engine_.context_, progress_of(progress));
      return 0;
    });
  }

  std::vector<GroupModel> models() const {
    std::vector<GroupModel> out;
    for (const Index size : frontier_.table().sizes_worth_having()) {
      out.push_back(describe(frontier_.table().models()[size], size));
    }
    return out;
  }
  std::vector<GroupModel> hull() const {
    std::vector<GroupModel> out;
    for (const UnitModel& model : frontier_.table().hull()) out.push_back(describe(model, -1));
    return out;
  }
  Index tried() const { return frontier_.tried(); }

 private:
  GroupModel describe(const UnitModel& model, Index size) const {
    GroupModel out{model.units, size, rules_.price_of(model.units), model.energy};
    std::sort(out.units.begin(), out.units.end());
    return out;
  }

  PythonUnits& engine_;
  const UnitRules rules_;
  UnitFrontier frontier_;
};

// What each member's removal would leave the gains of all groups at, a row for each; if only what
// lowers the energy matters, others may be at -1/2.
nb::object gains_without(PythonUnits& e, bool lowering) {
  const std::size_t k = e.engine().size(), units = e.engine().units();
  std::vector<double> table;
  for (std::size_t r = 0; r < k; ++r) {
    if (lowering && !e.engine().may_be_swapped(r)) {
      table.insert(table.end(), units, -0.5);
      continue;
    }
    const auto& outlook = e.engine().outlook_without({e.engine().members()[r]}, lowering);
    table.insert(table.end(), outlook.gain.begin(), outlook.gain.end());
  }
  return to_array(table.data(), {k, units});
}

}  // namespace

void bind_groups(nb::module_& m) {
  nb::class_<GroupSolution>(m, "GroupSolution")
      .def_prop_ro("support", [](const GroupSolution& s) { return to_array(s.solution.support); })
      .def_prop_ro("beta", [](const GroupSolution& s) { return to_array(s.solution.beta); })
      .def_prop_ro("inverse_scale",
                   [](const GroupSolution& s) { return to_array(s.inverse_scale); })
      .def_prop_ro("mean", [](const GroupSolution& s) { return to_array(s.mean); })
      .def_prop_ro("units", [](const GroupSolution& s) { return to_array(s.units); })
      .def_prop_ro("ranks", [](const GroupSolution& s) { return to_array(s.ranks); })
      .def_prop_ro("removal_cost", [](const GroupSolution& s) { return to_array(s.removal_cost); })
      .def_prop_ro("intercept", [](const GroupSolution& s) { return s.solution.intercept; })
      .def_ro("columns", &GroupSolution::columns)
      .def_prop_ro("rss", [](const GroupSolution& s) { return s.solution.rss; })
      .def_prop_ro("ridge_energy", [](const GroupSolution& s) { return s.solution.ridge_energy; });

  nb::class_<GroupCoefficients>(m, "GroupCoefficients")
      .def_prop_ro("support",
                   [](const GroupCoefficients& s) { return to_array(s.solution.support); })
      .def_prop_ro("beta", [](const GroupCoefficients& s) { return to_array(s.solution.beta); })
      .def_prop_ro("intercept", [](const GroupCoefficients& s) { return s.solution.intercept; })
      .def_prop_ro("rss", [](const GroupCoefficients& s) { return s.solution.rss; })
      .def_ro("columns", &GroupCoefficients::columns);

  nb::class_<PythonUnits>(m, "UnitEngine")
      .def("flip",
           [](PythonUnits& e, Index unit) {
             e.require_units({unit});
             return e.released([&] { return e.engine().flip(unit); });
           })
      .def(
          "move_to",
          [](PythonUnits& e, const Vector<Index>& units) {
            e.require_units(to_vector(units));
            e.released([&] {
              e.engine().move_to(to_vector(units));
              return 0;
            });
          },
          nb::arg("units").noconvert())
      .def(
          "start_at",
          [](PythonUnits& e, const Vector<Index>& units) {
            e.require_units(to_vector(units));
            e.released([&] {
              e.engine().start_at(to_vector(units));
              return 0;
            });
          },
          nb::arg("units").noconvert())
      .def("refresh", [](PythonUnits& e) { e.engine().refresh(); })
      .def(
          "solution_of",
          [](PythonUnits& e, const Vector<Index>& units) {
            return e.solution_of(to_vector(units));
          },
          nb::arg("units").noconvert())
      .def_prop_ro("members", [](PythonUnits& e) { return to_array(e.engine().members()); })
      .def_prop_ro("energy", [](PythonUnits& e) { return e.engine().energy(); })
      .def_prop_ro("rounding", [](PythonUnits& e) { return e.engine().rounding(); })
      .def_prop_ro("rank", [](PythonUnits& e) { return e.engine().columns_in(); })
      .def_prop_ro("widths",
                   [](PythonUnits& e) {
                     std::vector<Index> widths;
                     for (const GroupBases::Unit& unit : e.quadratic_.bases().units) {
                       widths.push_back(unit.width());
                     }
                     return to_array(widths);
                   })
      .def("insertion_gains", [](PythonUnits& e) { return to_array(e.engine().outlook().gain); })
      .def("removal_costs",
           [](PythonUnits& e) {
             std::vector<double> costs;
             for (Index r = 0; r < e.engine().size(); ++r) {
               costs.push_back(e.engine().removal_cost(r));
             }
             return to_array(costs);
           })
      .def("gains_without", &gains_without, nb::arg("lowering") = false)
      .def(
          "joint_gain",
          [](PythonUnits& e, const Vector<Index>& units, double above) {
            e.require_units(to_vector(units));
            return e.released(
                [&] { return e.engine().joint_gain(to_vector(units), nullptr, above); });
          },
          nb::arg("units").noconvert(), nb::arg("above") = -1.0)
      .def(
          "joint_removal_cost",
          [](PythonUnits& e, const Vector<Index>& units) {
            e.require_units(to_vector(units));
            return e.engine().joint_removal_cost(to_vector(units));
          },
          nb::arg("units").noconvert())
      .def(
          "sbr",
          [](PythonUnits& e, double lam, const std::vector<bool>& forced, Index max_size,
             const nb::object& progress) {
            Limits limits;
            limits.forced.assign(forced.begin(), forced.end());
            limits.max_size = max_size;
            return e.released([&] {
              return run_sbr(e.engine(), lam, limits, e.context_, progress_of(progress));
            });
          },
          nb::arg("lam"), nb::arg("forced"), nb::arg("max_size"), nb::arg("progress").none());

  nb::class_<GroupEngine, PythonUnits>(m, "GroupEngine")
      .def(
          "__init__",
          [](GroupEngine* self, const Quadratic& design, const Vector<Index>& begins,
             const Vector<Index>& columns, double ridge, double cache_bytes, int threads) {
            new (self) GroupEngine(design, to_lists(begins, columns, 0, design.columns()), ridge,
                                   cache_bytes, threads);
          },
          nb::arg("design"), nb::arg("begins").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("ridge"), nb::arg("cache_bytes"), nb::arg("threads"), nb::keep_alive<1, 2>())
      .def(
          "coefficients_of",
          [](GroupEngine& e, const Vector<Index>& units) {
            return e.coefficients_of(to_vector(units));
          },
          nb::arg("units").noconvert());
  nb::class_<GroupLikelihoodEngine, PythonUnits>(m, "GroupLikelihood")
      .def(
          "__init__",
          [](GroupLikelihoodEngine* self, const Rows& rows, const Vector<double>& weights,
             const Vector<Index>& begins, const Vector<Index>& columns, double ridge,
             double cache_bytes, int threads) {
            new (self) GroupLikelihoodEngine(
                rows, std::vector<double>(weights.data(), weights.data() + weights.size()),
                to_lists(begins, columns, 0, rows.columns()), ridge, cache_bytes, threads);
          },
          nb::arg("rows"), nb::arg("weights").noconvert(), nb::arg("begins").noconvert(),
          nb::arg("columns").noconvert(), nb::arg("ridge"), nb::arg("cache_bytes"),
          nb::arg("threads"), nb::keep_alive<1, 2>())
      .def_prop_ro("null_energy",
                   [](const GroupLikelihoodEngine& e) { return e.fit().null_energy(); })
      .def_prop_ro("largest_error",
                   [](const GroupLikelihoodEngine& e) { return e.fit().largest_error(); })
      .def_prop_ro("farthest", [](const GroupLikelihoodEngine& e) { return e.fit().farthest(); });

  nb::class_<GroupModel>(m, "GroupModel")
      .def_prop_ro("units", [](const GroupModel& model) { return to_array(model.units); })
      .def_ro("size", &GroupModel::size)
      .def_ro("price", &GroupModel::price)
      .def_ro("energy", &GroupModel::energy);

  nb::class_<GroupFrontier>(m, "GroupFrontier")
      .def(nb::init<PythonUnits&, std::vector<bool>, std::vector<double>, bool,
                    const Vector<Index>&, const Vector<Index>&, bool,
                    const std::vector<std::pair<std::vector<Index>, Index>>&,
                    const std::vector<int>&, bool>(),
           nb::arg("engine"), nb::kw_only(), nb::arg("forced"), nb::arg("price"),
           nb::arg("by_columns"), nb::arg("parent_begins").noconvert(),
           nb::arg("parents").noconvert(), nb::arg("strong"), nb::arg("caps"), nb::arg("signs"),
           nb::arg("swaps"), nb::keep_alive<1, 2>())
      .def("grow", &GroupFrontier::grow, nb::arg("max_size"), nb::arg("progress").none())
      .def("models", &GroupFrontier::models)
      .def("hull", &GroupFrontier::hull)
      .def_prop_ro("tried", &GroupFrontier::tried);
}

}  // namespace ellzero
