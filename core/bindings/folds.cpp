// Cross-validation as Python sees it: the rows held out, and the searches of all folds.
#include "search/folds.hpp"
#include "bindings/fold_models.hpp"
#include "engine/least_squares.hpp"
#include "engine/screened_squares.hpp"
#include "engine/sifted_squares.hpp"
#include "search/fold_curve.hpp"
#include "search/held_out_statistics.hpp"
#include "search/hull.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <optional>

namespace ellzero {
namespace {

// Row i is row places[i] of the columns of part parts[i]; y and weights are as the user gave them,
// one per row.
std::unique_ptr<HeldOut> make_held_out(const nb::list& columns, const Vector<Index>& parts,
                                       const Vector<Index>& places, const Vector<double>& y,
                                       const std::optional<Vector<double>>& weights) {
  std::vector<const Columns*> tables;
  for (nb::handle part : columns) tables.push_back(nb::cast<const Columns*>(part));
  require(parts.size() == places.size() && parts.size() == y.size() &&
              (!weights || weights->size() == y.size()),
          "a part, a place, a response and a weight for every row");
  std::vector<HeldOutRows::Row> rows;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    require(parts(i) >= 0 && parts(i) < static_cast<Index>(tables.size()), "no such part");
    const Columns* table = tables[parts(i)];
    require(places(i) >= 0 && places(i) < table->rows(), "no such row");
    rows.push_back({table, places(i), y(i), weights ? (*weights)(i) : 1.0});
  }
  return std::make_unique<HeldOutRows>(rows);
}

// All rows of some columns, in their order.
std::unique_ptr<HeldOut> hold_out_all(const Columns& columns, const Vector<double>& y,
                                      const std::optional<Vector<double>>& weights) {
  const Index count = columns.rows();
  require(static_cast<Index>(y.size()) == count && (!weights || weights->size() == y.size()),
          "a response and a weight for every row");
  std::vector<HeldOutRows::Row> rows;
  rows.reserve(count);
  for (Index i = 0; i < count; ++i) {
    rows.push_back({&columns, i, y(i), weights ? (*weights)(i) : 1.0});
  }
  return std::make_unique<HeldOutRows>(rows);
}

// A model of a design's rows: its columns, and their coefficients for columns of unit norm.
Solution to_model(const Quadratic& design, const Vector<Index>& support,
                  const Vector<double>& beta) {
  require(support.size() == beta.size(), "as many coefficients as columns");
  for (std::size_t s = 0; s < support.size(); ++s) {
    require(support(s) >= 0 && support(s) < design.columns(), "no such column");
  }
  Solution model;
  model.support = to_vector(support);
  model.beta.assign(beta.data(), beta.data() + beta.size());
  return model;
}

double error_of(const HeldOut& held_out, const Quadratic& design, const Vector<Index>& support,
                const Vector<double>& beta) {
  return held_out.judge(design, {to_model(design, support, beta)}, Context())[0].error;
}

// Of several models, a row for each.
nb::object verdicts_of(const HeldOut& held_out, const Quadratic& design,
                       const std::vector<Vector<Index>>& supports,
                       const std::vector<Vector<double>>& betas) {
  require(supports.size() == betas.size(), "coefficients for every model");
  std::vector<Solution> models;
  for (std::size_t m = 0; m < supports.size(); ++m) {
    models.push_back(to_model(design, supports[m], betas[m]));
  }
  std::vector<double> out;
  for (const HeldOut::Verdict& found : held_out.judge(design, models, Context())) {
    out.insert(out.end(), {found.error, found.along, found.square});
  }
  return to_array(out.data(), {models.size(), 3});
}

auto residuals_of(const HeldOut& held_out, const Quadratic& design, const Vector<Index>& support,
                  const Vector<double>& beta) {
  return to_array(held_out.residuals(design, to_model(design, support, beta)));
}

// The engine that searches a design quickest.
std::unique_ptr<Engine> search_engine(const Quadratic& quadratic, const Context& context,
                                      double ridge) {
  if (ScreenedSquares::pays(quadratic)) {
    return std::make_unique<ScreenedSquares>(quadratic, context, std::vector<double>{ridge});
  }
  if (SiftedSquares::pays(quadratic, SiftedSquares::kManyInFolds)) {
    return std::make_unique<SiftedSquares>(quadratic, context, std::vector<double>{ridge});
  }
  return std::make_unique<LeastSquares>(quadratic, GramUser(quadratic.cache(), context),
                                        std::vector<double>{ridge});
}

nb::tuple hull_of(const Vector<double>& energies, double next, double floor) {
  require(energies.size() > 0, "an energy");
  const Hull hull = lower_hull(energies.data(), energies.size(), next, floor);
  return nb::make_tuple(to_array(hull.places), to_array(hull.slopes), hull.end);
}

// The models of a frontier that are solutions at some lam, in terms of a lam that is so many times
// theirs; they are judged by rows of that weight.
FoldPath path_of(const FoldModels& found, double factor, double weight) {
  const std::vector<double>& energies = found.energies;
  require(!energies.empty() && found.errors.size() == energies.size(), "models that were judged");
  Hull hull = lower_hull(energies.data(), static_cast<Index>(energies.size()),
                         energies.back() - found.next_gain, found.rounding);
  for (double& slope : hull.slopes) slope *= factor;
  const auto chosen = [&](const std::vector<double>& values) {
    std::vector<double> out;
    out.reserve(hull.places.size());
    for (const Index place : hull.places) out.push_back(values[place]);
    return out;
  };
  std::vector<double> sizes;  // from that of the first
  sizes.reserve(hull.places.size());
  for (const Index place : hull.places) {
    sizes.push_back(static_cast<double>(place + found.begins[1]));
  }
  return {std::move(hull.slopes),
          hull.end * factor,
          std::move(sizes),
          chosen(found.errors),
          chosen(found.along),
          chosen(found.square),
          weight};
}

class PythonFolds {
 public:
  // `begun` has, for every fold, None or the Folds that have begun its search, and its place there:
  // these give it away.
  PythonFolds(const nb::list& designs, const nb::list& held_out, ColumnPasses* shared, bool sbr,
              double ridge, const Vector<Index>& forced, int threads, int pass_threads,
              const nb::list& begun)
      : designs_(designs), held_out_(held_out), begun_(begun), sbr_(sbr) {
    require(nb::len(designs) > 0 && nb::len(designs) == nb::len(held_out), "rows for every fold");
    const Context context{threads, &interrupt_}, passes{pass_threads, &interrupt_};
    // In threads, any of them may make a column.
    const Context making = threads > 1 ? passes.single(false) : passes;
    std::vector<Fold> folds;
    for (std::size_t f = 0; f < nb::len(designs); ++f) {
      const Quadratic* quadratic = nb::cast<const Quadratic*>(designs[f]);
      const HeldOut* judges = nb::cast<const HeldOut*>(held_out[f]);
      if (f < nb::len(begun) && !begun[f].is_none()) {
        const auto [other, place] = nb::cast<std::pair<PythonFolds*, Index>>(begun[f]);
        folds.push_back(other->give(place, *quadratic, sbr));
        folds.back().held_out = judges;
      } else {
        folds.push_back({search_engine(*quadratic, making, ridge), quadratic, judges});
      }
    }
    for (std::size_t i = 0; i < forced.size(); ++i) {
      require(forced(i) >= 0 && forced(i) < folds[0].quadratic->columns(), "no such column");
    }
    run_released(interrupt_, [&] {
      folds_ = std::make_unique<Folds>(std::move(folds), shared, sbr, to_vector(forced), context,
                                       passes);
      return 0;
    });
  }

  void keep_for_others(Index fold) {
    require(fold >= 0 && fold < static_cast<Index>(nb::len(designs_)), "no such fold");
    folds_->keep_for_others(fold);
  }
  Fold give(Index fold, const Quadratic& quadratic, bool sbr) {
    require(fold >= 0 && fold < static_cast<Index>(nb::len(designs_)) && sbr == sbr_ &&
                nb::cast<const Quadratic*>(designs_[fold]) == &quadratic,
            "a search of the same kind on the same rows");
    return folds_->give(fold);
  }

  void search(Index max_size, const nb::object& progress, const PythonFolds* neighbour) {
    require(folds_->is_complete() && (!neighbour || neighbour->folds_->is_complete()),
            "searches that were not given away");
    require(!neighbour ||
                (nb::len(neighbour->designs_) == nb::len(designs_) && neighbour->sbr_ == sbr_),
            "a neighbour with the same folds");
    run_released(interrupt_, [&] {
      folds_->search(max_size, progress_of(progress),
                     neighbour ? neighbour->folds_.get() : nullptr);
      return 0;
    });
  }

  std::vector<FoldModels> judge() {
    require(folds_->is_complete(), "searches that were not given away");
    auto judged = run_released(interrupt_, [&] { return folds_->judge(); });
    std::vector<FoldModels> out;
    out.reserve(judged.size());
    for (Folds::Judged& fold : judged) {
      FoldModels models(std::move(fold.found), fold.rounding);
      for (std::vector<double>* each : {&models.errors, &models.along, &models.square}) {
        each->reserve(fold.verdicts.size());
      }
      for (const HeldOut::Verdict& verdict : fold.verdicts) {
        models.errors.push_back(verdict.error);
        models.along.push_back(verdict.along);
        models.square.push_back(verdict.square);
      }
      out.push_back(std::move(models));
    }
    return out;
  }

 private:
  nb::list designs_, held_out_, begun_;  // kept alive: engines look to who made them for Ctrl-C
  bool sbr_;
  PythonInterrupt interrupt_;
  std::unique_ptr<Folds> folds_;
};

}  // namespace

void bind_folds(nb::module_& m) {
  nb::class_<HeldOut>(m, "HeldOut")
      .def_prop_ro("weight", &HeldOut::weight)
      .def("error", &error_of, nb::arg("design"), nb::arg("support").noconvert(),
           nb::arg("beta").noconvert())
      .def("verdicts", &verdicts_of, nb::arg("design"), nb::arg("supports"), nb::arg("betas"))
      .def("residuals", &residuals_of, nb::arg("design"), nb::arg("support").noconvert(),
           nb::arg("beta").noconvert());
  m.def("held_out", &make_held_out, nb::arg("columns"), nb::arg("parts").noconvert(),
        nb::arg("places").noconvert(), nb::arg("y").noconvert(),
        nb::arg("weights").noconvert().none(), nb::keep_alive<0, 1>());
  m.def("hold_out_all", &hold_out_all, nb::arg("columns"), nb::arg("y").noconvert(),
        nb::arg("weights").noconvert().none(), nb::keep_alive<0, 1>());
  m.def(
      "held_out_statistics",
      [](const Quadratic& rows) -> std::unique_ptr<HeldOut> {
        return std::make_unique<HeldOutStatistics>(rows);
      },
      nb::arg("rows"), nb::keep_alive<0, 1>());
  m.def("lower_hull", &hull_of, nb::arg("energies").noconvert(), nb::arg("next_energy"),
        nb::arg("floor"));
  nb::class_<FoldModels>(m, "FoldModels")
      .def_prop_ro("begins", [](const FoldModels& f) { return to_array(f.begins); })
      .def_prop_ro("support", [](const FoldModels& f) { return to_array(f.support()); })
      .def_prop_ro("beta", [](const FoldModels& f) { return to_array(f.beta()); })
      .def_prop_ro("energies", [](const FoldModels& f) { return to_array(f.energies); })
      .def_prop_ro("errors", [](const FoldModels& f) { return to_array(f.errors); })
      .def_prop_ro("along", [](const FoldModels& f) { return to_array(f.along); })
      .def_prop_ro("square", [](const FoldModels& f) { return to_array(f.square); })
      .def_prop_ro("predictors",
                   [](const FoldModels& f) {
                     const std::size_t models = f.energies.size();
                     return to_array(f.predictors.data(), {models, f.predictors.size() / models});
                   })
      .def("path", &path_of, nb::arg("factor"), nb::arg("weight"))
      .def_ro("next_gain", &FoldModels::next_gain)
      .def_prop_ro("lows", [](const FoldModels& f) { return to_array(f.lows); })
      .def_ro("rounding", &FoldModels::rounding);
  nb::class_<PythonFolds>(m, "Folds")
      .def(nb::init<const nb::list&, const nb::list&, ColumnPasses*, bool, double,
                    const Vector<Index>&, int, int, const nb::list&>(),
           nb::arg("designs"), nb::arg("held_out"), nb::arg("shared").none(), nb::arg("sbr"),
           nb::arg("ridge"), nb::arg("forced").noconvert(), nb::arg("threads"),
           nb::arg("pass_threads"), nb::arg("begun") = nb::list(), nb::keep_alive<1, 4>())
      .def("search", &PythonFolds::search, nb::arg("max_size"), nb::arg("progress").none(),
           nb::arg("neighbour").none() = nb::none())
      .def("judge", &PythonFolds::judge)
      .def("keep_for_others", &PythonFolds::keep_for_others, nb::arg("fold"));
}

}  // namespace ellzero
