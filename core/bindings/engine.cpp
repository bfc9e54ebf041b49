// Engines as Python sees them, and the drivers as methods.
#include "bindings/python_engine.hpp"
#include "search/frontier.hpp"
#include "search/sbr.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>

namespace ellzero {
namespace {

Limits limits_of(const PythonEngine& e, const std::optional<Vector<bool>>& forced, Index max_size) {
  Limits limits;
  require(!forced || static_cast<Index>(forced->size()) == e.quadratic_.columns(),
          "forced: a mask, one per column");
  if (forced) limits.forced.assign(forced->data(), forced->data() + forced->size());
  limits.max_size = max_size;
  return limits;
}

// The coefficients of one support or of several, one after the other, and what turns them into the
// user's units.
struct Coefficients {
  Solution solution;
  std::vector<double> inverse_scale, mean;
  double intercept;

  Coefficients(Solution found, const PythonEngine& e)
      : solution(std::move(found)), intercept(e.intercept_of(solution)) {
    for (const Index j : solution.support) {
      inverse_scale.push_back(e.quadratic_.inverse_scale[j]);
      mean.push_back(e.quadratic_.mean[j]);
    }
  }
};

// Those of every model of a frontier: where each begins, and its own numbers.
struct AllCoefficients {
  Coefficients flat;
  std::vector<Index> begins;
  std::vector<double> rss, ridge_energy, intercept;
};

struct SizedModel {
  std::vector<Index> support;
  double energy;
};

Coefficients solution(PythonEngine& e) {
  Solution found = e.released([&] { return e.engine().solve(e.context_); });
  return {std::move(found), e};
}

SbrRun sbr(PythonEngine& e, double lam, const std::optional<Vector<bool>>& forced, Index max_size,
           const nb::object& progress) {
  const Limits limits = limits_of(e, forced, max_size);
  return e.released([&] {
    e.engine().expect_gains_above(lam);
    return run_sbr(e.engine(), lam, limits, e.context_, progress_of(progress));
  });
}

SbrPath path(PythonEngine& e, const std::optional<Vector<bool>>& forced, Index max_size,
             const nb::object& progress) {
  const Limits limits = limits_of(e, forced, max_size);
  return e.released([&] {
    e.engine().expect_gains_above(0);
    return sbr_path(e.engine(), limits, e.context_, progress_of(progress));
  });
}

// Leaves the engine at the given columns, less those that depend on the ones before them.
void move_to(PythonEngine& e, const Vector<Index>& target) {
  e.require_columns(target);
  e.released([&] {
    e.engine().move_to(std::vector<Index>(target.data(), target.data() + target.size()));
    return 0;
  });
}

// The same, with bits that depend on the columns alone.
void start_at(PythonEngine& e, const Vector<Index>& target) {
  e.require_columns(target);
  e.released([&] {
    e.engine().start_at(std::vector<Index>(target.data(), target.data() + target.size()));
    return 0;
  });
}

// Columns of the Gram matrix, a row each; those that are missing are made in one pass.
nb::object gram_columns(PythonEngine& e, const Vector<Index>& which) {
  const std::size_t p = e.quadratic_.columns(), count = which.size();
  e.require_columns(which);
  require(static_cast<Index>(count) <= e.quadratic_.pass_columns(),
          "too many columns for one pass");
  std::vector<Index> missing;
  for (std::size_t b = 0; b < count; ++b) {
    if (!e.cache_.has(which(b))) missing.push_back(which(b));
  }
  std::vector<double> out(count * p);
  e.released([&] {
    if (!missing.empty()) {
      e.cache_.acquire(missing[0], std::vector<Index>(missing.begin() + 1, missing.end()));
      e.cache_.release(missing[0]);
    }
    for (std::size_t b = 0; b < count; ++b) {
      std::copy_n(e.cache_.acquire(which(b)), p, out.data() + b * p);
      e.cache_.release(which(b));
    }
    return 0;
  });
  return to_array(out.data(), {count, p});
}

nb::object swap_table(PythonEngine& e) {
  const std::size_t k = e.engine().size(), p = e.engine().units();
  std::vector<double> table(k * p);
  for (std::size_t r = 0; r < k; ++r) e.swap_gains(r, table.data() + r * p);
  return to_array(table.data(), {k, p});
}

// A frontier on an engine, which it moves about.
class EngineFrontier {
  // What comes along is likelier to be needed here, sooner or later, than on one run of SBR.
  static constexpr Index kSpareColumns = 128;

 public:
  EngineFrontier(PythonEngine& engine, const std::optional<Vector<bool>>& forced, bool swaps)
      : engine_(engine), frontier_(engine.engine(), limits_of(engine, forced, 0).forced, swaps) {}

  void grow(Index max_size, const nb::object& progress, const EngineFrontier* neighbour) {
    require(!neighbour || neighbour->frontier_.least_size() == frontier_.least_size(),
            "a neighbour with the same forced columns");
    engine_.released([&] {
      engine_.engine().expect_gains_above(0);
      engine_.quadratic_.cache().keep_spare(kSpareColumns);
      frontier_.grow(max_size, engine_.context_, progress_of(progress),
                     neighbour ? &neighbour->frontier_ : nullptr);
      return 0;
    });
  }

  // Leaves the engine at the model of that size.
  void visit(Index size) {
    require(size >= frontier_.least_size() && size < static_cast<Index>(frontier_.models().size()),
            "no model of that size");
    engine_.released([&] {
      frontier_.visit(size);
      return 0;
    });
  }

  // What Engine.solution() says at every model, the smallest first; the engine is left at the last.
  AllCoefficients solutions() {
    Solution all;
    std::vector<Index> begins{0};
    std::vector<double> rss, ridge_energy, intercept;
    engine_.released([&] {
      const Excursion excursion(engine_.engine());
      const std::size_t least = frontier_.least_size();
      frontier_.visit_next(least);
      engine_.engine().ignore_outsiders();
      for (std::size_t k = least; k < frontier_.models().size(); ++k) {
        engine_.context_.check();
        if (k > least) frontier_.visit_next(k);
        const Solution s = engine_.solve_one_of_many();
        all.support.insert(all.support.end(), s.support.begin(), s.support.end());
        all.beta.insert(all.beta.end(), s.beta.begin(), s.beta.end());
        all.removal_cost.insert(all.removal_cost.end(), s.removal_cost.begin(),
                                s.removal_cost.end());
        begins.push_back(static_cast<Index>(all.support.size()));
        rss.push_back(s.rss);
        ridge_energy.push_back(s.ridge_energy);
        intercept.push_back(engine_.intercept_of(s));
      }
      return 0;
    });
    return {{std::move(all), engine_}, begins, rss, ridge_energy, intercept};
  }

  std::vector<SizedModel> models() const {
    std::vector<SizedModel> out;
    for (std::size_t k = frontier_.least_size(); k < frontier_.models().size(); ++k) {
      out.push_back({frontier_.models()[k].support, frontier_.models()[k].energy});
    }
    return out;
  }

  std::vector<double> energies() const {
    std::vector<double> out;
    for (std::size_t k = frontier_.least_size(); k < frontier_.models().size(); ++k) {
      out.push_back(frontier_.models()[k].energy);
    }
    return out;
  }
  const std::vector<Index>& largest() const { return frontier_.models().back().support; }

  Index tried() const { return frontier_.tried(); }

 private:
  PythonEngine& engine_;
  Frontier frontier_;
};

template <class T>
void bind_columns_of(nb::class_<T>& bound, const Coefficients& (*of)(const T&)) {
  bound.def_prop_ro("support", [of](const T& c) { return to_array(of(c).solution.support); })
      .def_prop_ro("beta", [of](const T& c) { return to_array(of(c).solution.beta); })
      .def_prop_ro("removal_cost",
                   [of](const T& c) { return to_array(of(c).solution.removal_cost); })
      .def_prop_ro("inverse_scale", [of](const T& c) { return to_array(of(c).inverse_scale); })
      .def_prop_ro("mean", [of](const T& c) { return to_array(of(c).mean); });
}

void bind_results(nb::module_& m) {
  nb::class_<Coefficients> one(m, "Coefficients");
  bind_columns_of<Coefficients>(one,
                                [](const Coefficients& c) -> const Coefficients& { return c; });
  one.def_prop_ro("rss", [](const Coefficients& c) { return c.solution.rss; })
      .def_prop_ro("ridge_energy", [](const Coefficients& c) { return c.solution.ridge_energy; })
      .def_ro("intercept", &Coefficients::intercept);
  nb::class_<AllCoefficients> all(m, "AllCoefficients");
  bind_columns_of<AllCoefficients>(
      all, [](const AllCoefficients& c) -> const Coefficients& { return c.flat; });
  all.def_prop_ro("begins", [](const AllCoefficients& c) { return to_array(c.begins); })
      .def_prop_ro("rss", [](const AllCoefficients& c) { return to_array(c.rss); })
      .def_prop_ro("ridge_energy",
                   [](const AllCoefficients& c) { return to_array(c.ridge_energy); })
      .def_prop_ro("intercept", [](const AllCoefficients& c) { return to_array(c.intercept); });
  nb::class_<SizedModel>(m, "SizedModel")
      .def_prop_ro("support", [](const SizedModel& model) { return to_array(model.support); })
      .def_ro("energy", &SizedModel::energy);
  nb::class_<Insertion>(m, "Insertion")
      .def_ro("unit", &Insertion::unit)
      .def_ro("gain", &Insertion::gain);
  nb::class_<SbrRun>(m, "SbrRun")
      .def_ro("replacements", &SbrRun::replacements)
      .def_ro("held_back", &SbrRun::held_back)
      .def_ro("lam_low", &SbrRun::lam_low)
      .def_ro("lam_high", &SbrRun::lam_high);
  nb::class_<SbrStop>(m, "SbrStop")
      .def_prop_ro("support", [](const SbrStop& stop) { return to_array(stop.support); })
      .def_ro("energy", &SbrStop::energy)
      .def_ro("loss", &SbrStop::loss)
      .def_ro("lam_low", &SbrStop::lam_low)
      .def_ro("lam_high", &SbrStop::lam_high);
  nb::class_<SbrPath>(m, "SbrPath")
      .def_ro("stops", &SbrPath::stops)
      .def_ro("replacements", &SbrPath::replacements)
      .def_ro("next_gain", &SbrPath::next_gain)
      .def_ro("held_back", &SbrPath::held_back);
}

}  // namespace

void bind_engine(nb::module_& m) {
  bind_results(m);
  m.attr("SPAN") = LeastSquares::kSpan;
  nb::class_<PythonEngine>(m, "Engine")
      .def("insert",
           [](PythonEngine& e, Index j) {
             e.require_column(j);
             return e.released([&] { return e.engine().insert(j); });
           })
      .def("flip",
           [](PythonEngine& e, Index j) {
             e.require_column(j);
             return e.released([&] { return e.engine().flip(j); });
           })
      .def("refresh", [](PythonEngine& e) { e.engine().refresh(); })
      .def("move_to", &move_to, nb::arg("target").noconvert())
      .def("start_at", &start_at, nb::arg("target").noconvert())
      .def("exclude",
           [](PythonEngine& e, Index j) {
             e.require_column(j);
             e.engine().exclude(j);
           })
      .def("allow",
           [](PythonEngine& e, Index j) {
             e.require_column(j);
             e.engine().allow(j);
           })
      .def("drop_unused_columns", [](PythonEngine& e) { e.quadratic_.cache().clear(); })
      .def("gram_columns", &gram_columns, nb::arg("which").noconvert())
      .def_prop_ro("members", [](PythonEngine& e) { return to_array(e.engine().members()); })
      .def_prop_ro("energy", [](PythonEngine& e) { return e.engine().energy(); })
      .def_prop_ro("rounding", [](PythonEngine& e) { return e.engine().rounding(); })
      .def_prop_ro("d", [](PythonEngine& e) { return to_array(e.d()); })
      .def_prop_ro("columns_made",
                   [](PythonEngine& e) { return e.quadratic_.cache().columns_made(); })
      .def_prop_ro("columns_held",
                   [](PythonEngine& e) { return e.quadratic_.cache().columns_held(); })
      .def_prop_ro("passes", [](PythonEngine& e) { return e.quadratic_.cache().passes(); })
      .def("insertion_gains",
           [](PythonEngine& e) {
             std::vector<double> gains(e.engine().units());
             e.insertion_gains(gains.data());
             return to_array(gains);
           })
      .def(
          "best_insertions",
          [](PythonEngine& e, Index count) {
            return e.released([&] { return e.engine().best_insertions(count); });
          },
          nb::arg("count"))
      .def(
          "nearly_dependent",
          [](PythonEngine& e, double least) {
            return e.released([&] {
              const std::vector<double> d = e.small_d(LeastSquares::kSpan);
              return std::any_of(d.begin(), d.end(), [&](double d_i) {
                return d_i > least && d_i <= LeastSquares::kSpan;
              });
            });
          },
          nb::arg("least"))
      .def("removal_costs",
           [](PythonEngine& e) {
             std::vector<double> costs(e.engine().size());
             for (Index r = 0; r < e.engine().size(); ++r) costs[r] = e.engine().removal_cost(r);
             return to_array(costs);
           })
      .def("swap_gains", &swap_table)
      .def("sbr", &sbr, nb::arg("lam"), nb::arg("forced").none(), nb::arg("max_size"),
           nb::arg("progress").none())
      .def("sbr_path", &path, nb::arg("forced").none(), nb::arg("max_size"),
           nb::arg("progress").none())
      .def("solution", &solution);
  nb::class_<LeastSquaresEngine, PythonEngine>(m, "LeastSquares")
      .def(nb::init<const Quadratic&, const Vector<double>&, int>(), nb::arg("design"),
           nb::arg("ridge").noconvert(), nb::arg("threads"), nb::keep_alive<1, 2>())
      .def_prop_ro("beta",
                   [](const LeastSquaresEngine& e) { return to_array(e.least_squares_.beta()); })
      .def_prop_ro("log_determinant",
                   [](const LeastSquaresEngine& e) { return e.least_squares_.log_determinant(); })
      .def_prop_ro("c", [](const LeastSquaresEngine& e) { return to_array(e.least_squares_.c()); });
  m.def(
      "screening_pays",
      [](Index rows, Index columns, Index entries) {
        return ScreenedSquares::pays(rows, columns, static_cast<double>(entries));
      },
      nb::arg("rows"), nb::arg("columns"), nb::arg("entries"));
  nb::class_<ScreenedEngine, PythonEngine>(m, "ScreenedSquares")
      .def(nb::init<const Quadratic&, const Vector<double>&, int>(), nb::arg("design"),
           nb::arg("ridge").noconvert(), nb::arg("threads"), nb::keep_alive<1, 2>())
      .def_static(
          "pays", [](const Quadratic& design) { return ScreenedSquares::pays(design); },
          nb::arg("design"))
      .def_prop_ro("beta", [](const ScreenedEngine& e) { return to_array(e.screened_->beta()); })
      .def_prop_ro("log_determinant",
                   [](const ScreenedEngine& e) { return e.screened_->log_determinant(); })
      .def_prop_ro("c", [](const ScreenedEngine& e) { return to_array(e.screened_->on_all().c()); })
      .def_prop_ro("active", [](const ScreenedEngine& e) { return e.screened_->active(); });

  m.def(
      "sifting_pays_in_folds",
      [](Index rows, Index columns) {
        return SiftedSquares::pays(rows, columns, SiftedSquares::kManyInFolds);
      },
      nb::arg("rows"), nb::arg("columns"));
  nb::class_<SiftedEngine, PythonEngine>(m, "SiftedSquares")
      .def(nb::init<const Quadratic&, const Vector<double>&, int>(), nb::arg("design"),
           nb::arg("ridge").noconvert(), nb::arg("threads"), nb::keep_alive<1, 2>())
      .def_static(
          "pays",
          [](const Quadratic& design) { return SiftedSquares::pays(design, SiftedSquares::kMany); },
          nb::arg("design"))
      .def_prop_ro("beta", [](const SiftedEngine& e) { return to_array(e.sifted_->beta()); })
      .def_prop_ro("log_determinant",
                   [](const SiftedEngine& e) { return e.sifted_->log_determinant(); })
      .def_prop_ro("c", [](const SiftedEngine& e) { return to_array(e.sifted_->on_all().c()); })
      .def_prop_ro("sifts", [](const SiftedEngine& e) { return e.sifted_->sifts(); });

  nb::class_<EngineFrontier>(m, "Frontier")
      .def(nb::init<PythonEngine&, const std::optional<Vector<bool>>&, bool>(), nb::arg("engine"),
           nb::arg("forced").none(), nb::arg("swaps"), nb::keep_alive<1, 2>())
      .def("grow", &EngineFrontier::grow, nb::arg("max_size"), nb::arg("progress").none(),
           nb::arg("neighbour").none() = nb::none())
      .def_prop_ro("tried", &EngineFrontier::tried)
      .def("models", &EngineFrontier::models)
      .def_prop_ro("energies", [](const EngineFrontier& f) { return to_array(f.energies()); })
      .def_prop_ro("largest", [](const EngineFrontier& f) { return to_array(f.largest()); })
      .def("visit", &EngineFrontier::visit, nb::arg("size"))
      .def("solutions", &EngineFrontier::solutions);
}

}  // namespace ellzero
