// Least squares on groups of columns as Python sees it: an engine, and the frontier under rules.
#include "bindings/bindings.hpp"
#include "engine/group_squares.hpp"
#include "search/unit_frontier.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <utility>

namespace ellzero {
namespace {

using Lists = std::vector<std::vector<Index>>;

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

// The coefficients of a set of groups, and what turns them into the user's units.
struct GroupSolution {
  Solution solution;
  std::vector<double> inverse_scale, mean;
  std::vector<Index> units, ranks;   // sorted, and how many columns each brought in
  std::vector<double> removal_cost;  // by how much removing each would raise the energy
};

class GroupEngine {
 public:
  GroupEngine(const Quadratic& base, const Vector<Index>& begins, const Vector<Index>& columns,
              double ridge, double cache_bytes, int threads)
      : context_{threads, &interrupt_},
        quadratic_(base, to_lists(begins, columns, 0, base.columns()), cache_bytes),
        cache_(quadratic_.cache(), context_),
        squares_(quadratic_, cache_, ridge) {}

  template <class Work>
  auto released(Work&& work) {
    return run_released(interrupt_, work);
  }
  void require_units(const std::vector<Index>& units) const {
    for (const Index unit : units) {
      require(unit >= 0 && unit < squares_.units(), "no such group");
    }
  }
  // Of some units; the engine is left without members.
  GroupSolution solution_of(const Vector<Index>& units) {
    const std::vector<Index> target = to_vector(units);
    require_units(target);
    return released([&] {
      GroupSolution out;
      squares_.look_at(target, [&] { out = look(); });
      return out;
    });
  }

  GroupSolution look() const {
    GroupSolution out;
    out.solution = squares_.solve(context_);
    for (const Index j : out.solution.support) {
      out.inverse_scale.push_back(quadratic_.base().inverse_scale[j]);
      out.mean.push_back(quadratic_.base().mean[j]);
    }
    out.units = squares_.members();
    std::sort(out.units.begin(), out.units.end());
    for (const Index unit : out.units) {
      const Index position = squares_.position(unit);
      out.ranks.push_back(squares_.columns_of(position));
      out.removal_cost.push_back(squares_.removal_cost(position));
    }
    return out;
  }

  PythonInterrupt interrupt_;
  Context context_;
  GroupedQuadratic quadratic_;
  const GramUser cache_;
  GroupSquares squares_;
};

// What searches keep to: by unit, where it is a vector that is not empty.
UnitRules rules_of(const GroupEngine& e, std::vector<bool> forced, std::vector<double> price,
                   bool by_columns, Lists parents, bool strong,
                   const std::vector<std::pair<std::vector<Index>, Index>>& caps,
                   const std::vector<int>& signs) {
  const std::size_t units = e.squares_.units();
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
  GroupFrontier(GroupEngine& engine, std::vector<bool> forced, std::vector<double> price,
                bool by_columns, const Vector<Index>& parent_begins, const Vector<Index>& parents,
                bool strong, const std::vector<std::pair<std::vector<Index>, Index>>& caps,
                const std::vector<int>& signs, bool swaps)
      : engine_(engine),
        rules_(rules_of(engine, std::move(forced), std::move(price), by_columns,
                        to_lists(parent_begins, parents, 0, engine.squares_.units()), strong, caps,
                        signs)),
        frontier_(engine.squares_, rules_, swaps) {
    if (!rules_.signs.empty()) engine_.squares_.set_signs(rules_.signs);
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

  GroupEngine& engine_;
  const UnitRules rules_;
  UnitFrontier frontier_;
};

// What each member's removal would leave the gains of all groups at, a row for each.
nb::object gains_without(GroupEngine& e, bool lowering) {
  const std::size_t k = e.squares_.size(), units = e.squares_.units();
  std::vector<double> table;
  for (std::size_t r = 0; r < k; ++r) {
    const auto& outlook = e.squares_.outlook_without({e.squares_.members()[r]}, lowering);
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
      .def_prop_ro("rss", [](const GroupSolution& s) { return s.solution.rss; })
      .def_prop_ro("ridge_energy", [](const GroupSolution& s) { return s.solution.ridge_energy; });

  nb::class_<GroupEngine>(m, "GroupEngine")
      .def(nb::init<const Quadratic&, const Vector<Index>&, const Vector<Index>&, double, double,
                    int>(),
           nb::arg("design"), nb::arg("begins").noconvert(), nb::arg("columns").noconvert(),
           nb::arg("ridge"), nb::arg("cache_bytes"), nb::arg("threads"), nb::keep_alive<1, 2>())
      .def("flip",
           [](GroupEngine& e, Index unit) {
             e.require_units({unit});
             return e.released([&] { return e.squares_.flip(unit); });
           })
      .def(
          "move_to",
          [](GroupEngine& e, const Vector<Index>& units) {
            e.require_units(to_vector(units));
            e.released([&] {
              e.squares_.move_to(to_vector(units));
              return 0;
            });
          },
          nb::arg("units").noconvert())
      .def(
          "start_at",
          [](GroupEngine& e, const Vector<Index>& units) {
            e.require_units(to_vector(units));
            e.released([&] {
              e.squares_.start_at(to_vector(units));
              return 0;
            });
          },
          nb::arg("units").noconvert())
      .def("refresh", [](GroupEngine& e) { e.squares_.refresh(); })
      .def("solution_of", &GroupEngine::solution_of, nb::arg("units").noconvert())
      .def_prop_ro("members", [](const GroupEngine& e) { return to_array(e.squares_.members()); })
      .def_prop_ro("energy", [](const GroupEngine& e) { return e.squares_.energy(); })
      .def_prop_ro("rounding", [](const GroupEngine& e) { return e.squares_.rounding(); })
      .def_prop_ro("rank", [](const GroupEngine& e) { return e.squares_.columns_in(); })
      .def_prop_ro("widths",
                   [](const GroupEngine& e) {
                     std::vector<Index> widths;
                     for (const GroupBases::Unit& unit : e.quadratic_.bases().units) {
                       widths.push_back(unit.width());
                     }
                     return to_array(widths);
                   })
      .def("insertion_gains",
           [](const GroupEngine& e) { return to_array(e.squares_.outlook().gain); })
      .def("removal_costs",
           [](const GroupEngine& e) {
             std::vector<double> costs;
             for (Index r = 0; r < e.squares_.size(); ++r) {
               costs.push_back(e.squares_.removal_cost(r));
             }
             return to_array(costs);
           })
      .def("gains_without", &gains_without, nb::arg("lowering") = false)
      .def(
          "joint_gain",
          [](GroupEngine& e, const Vector<Index>& units, double above) {
            e.require_units(to_vector(units));
            return e.released(
                [&] { return e.squares_.joint_gain(to_vector(units), nullptr, above); });
          },
          nb::arg("units").noconvert(), nb::arg("above") = -1.0)
      .def(
          "joint_removal_cost",
          [](GroupEngine& e, const Vector<Index>& units) {
            e.require_units(to_vector(units));
            return e.squares_.joint_removal_cost(to_vector(units));
          },
          nb::arg("units").noconvert())
      .def(
          "sbr",
          [](GroupEngine& e, double lam, const std::vector<bool>& forced, Index max_size,
             const nb::object& progress) {
            Limits limits;
            limits.forced.assign(forced.begin(), forced.end());
            limits.max_size = max_size;
            return e.released([&] {
              return run_sbr(e.squares_, lam, limits, e.context_, progress_of(progress));
            });
          },
          nb::arg("lam"), nb::arg("forced"), nb::arg("max_size"), nb::arg("progress").none());

  nb::class_<GroupModel>(m, "GroupModel")
      .def_prop_ro("units", [](const GroupModel& model) { return to_array(model.units); })
      .def_ro("size", &GroupModel::size)
      .def_ro("price", &GroupModel::price)
      .def_ro("energy", &GroupModel::energy);

  nb::class_<GroupFrontier>(m, "GroupFrontier")
      .def(nb::init<GroupEngine&, std::vector<bool>, std::vector<double>, bool,
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
