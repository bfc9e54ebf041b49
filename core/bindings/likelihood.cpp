// Likelihoods as Python sees them: the rows they are taken over, and their engine.
#include "bindings/fold_models.hpp"
#include "bindings/python_engine.hpp"
#include "search/folds.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>

namespace ellzero {
namespace {

std::unique_ptr<Loss> loss_named(const std::string& name) {
  if (name == "logistic") return std::make_unique<LogisticLoss>();
  require(name == "poisson", "no such loss");
  return std::make_unique<PoissonLoss>();
}

std::unique_ptr<Rows> make_rows(const Columns& columns, const Quadratic& quadratic,
                                const std::string& loss, const Vector<double>& y,
                                const std::optional<Vector<double>>& offset, bool intercept) {
  require(static_cast<Index>(y.size()) == columns.rows() && (!offset || offset->size() == y.size()),
          "as many rows of X as of y and of offsets");
  require(columns.columns() == quadratic.columns(), "the quadratic of the same columns");
  std::vector<double> offsets;
  if (offset) offsets.assign(offset->data(), offset->data() + offset->size());
  return std::make_unique<Rows>(columns, quadratic, loss_named(loss),
                                std::vector<double>(y.data(), y.data() + y.size()),
                                std::move(offsets), intercept);
}

// Appends the predictors of some rows.
void predict(const Rows& rows, const std::vector<Index>& which, const Solution& model,
             std::vector<double>& out) {
  const std::size_t begin = out.size();
  out.resize(begin + which.size(), model.intercept);
  for (std::size_t s = 0; s < model.support.size(); ++s) {
    const Rows::Column column = rows.column(model.support[s]);
    for (std::size_t r = 0; r < which.size(); ++r) {
      out[begin + r] += model.beta[s] * (*column)[which[r]];
    }
  }
  if (!rows.offset()) return;
  for (std::size_t r = 0; r < which.size(); ++r) out[begin + r] += rows.offset()[which[r]];
}

// The folds of a cross-validation: each has weights for the rows, zero for those it does not train
// on, and rows that it is judged by.
class LikelihoodFolds {
 public:
  LikelihoodFolds(const nb::list& rows, const nb::list& weights, const nb::list& tests, bool sbr,
                  double ridge, const Vector<Index>& forced, int threads, int pass_threads)
      : held_(rows) {
    require(
        nb::len(rows) > 0 && nb::len(rows) == nb::len(weights) && nb::len(rows) == nb::len(tests),
        "rows, weights and rows held out for every fold");
    const Context context{threads, &interrupt_}, passes{pass_threads, &interrupt_};
    const Context making = threads > 1 ? passes.single(false) : passes;
    std::vector<std::vector<double>> given;
    for (std::size_t f = 0; f < nb::len(rows); ++f) {
      rows_.push_back(nb::cast<const Rows*>(rows[f]));
      const auto weight = nb::cast<Vector<double>>(weights[f]);
      require(static_cast<Index>(weight.size()) == rows_[f]->rows(), "a weight for every row");
      given.emplace_back(weight.data(), weight.data() + weight.size());
      tests_.push_back(to_vector(nb::cast<Vector<Index>>(tests[f])));
      for (const Index r : tests_[f]) require(r >= 0 && r < rows_[f]->rows(), "no such row");
    }
    for (std::size_t i = 0; i < forced.size(); ++i) {
      require(forced(i) >= 0 && forced(i) < rows_[0]->columns(), "no such column");
    }
    run_released(interrupt_, [&] {
      std::vector<Fold> folds;
      for (std::size_t f = 0; f < rows_.size(); ++f) {
        folds.push_back(
            {std::make_unique<Likelihood>(*rows_[f], std::move(given[f]), ridge, making), nullptr,
             nullptr});
        rounding_.push_back(folds.back().engine->rounding());
      }
      folds_ = std::make_unique<Folds>(std::move(folds), nullptr, sbr, to_vector(forced), context,
                                       passes);
      return 0;
    });
  }

  void search(Index max_size, const nb::object& progress, const LikelihoodFolds* neighbour) {
    require(!neighbour || neighbour->rows_.size() == rows_.size(), "a neighbour of the same folds");
    run_released(interrupt_, [&] {
      folds_->search(max_size, progress_of(progress),
                     neighbour ? neighbour->folds_.get() : nullptr);
      return 0;
    });
  }

  std::vector<FoldModels> judge() {
    std::vector<std::optional<FoldModels>> found(rows_.size());
    run_released(interrupt_, [&] {
      folds_->collect([&](Index f, FoldSearch::Found models, const Context& context) {
        found[f].emplace(models, rounding_[f]);
        for (const Solution& model : models.models) {
          context.check();
          predict(*rows_[f], tests_[f], model, found[f]->predictors);
        }
      });
      return 0;
    });
    std::vector<FoldModels> out;
    for (auto& models : found) out.push_back(std::move(*models));
    return out;
  }

 private:
  nb::list held_;  // kept alive
  std::vector<const Rows*> rows_;
  std::vector<std::vector<Index>> tests_;
  std::vector<double> rounding_;
  PythonInterrupt interrupt_;
  std::unique_ptr<Folds> folds_;
};

}  // namespace

void bind_likelihood(nb::module_& m) {
  nb::class_<Rows>(m, "Rows").def(
      "predict",
      [](const Rows& rows, const Vector<Index>& support, const Vector<double>& beta,
         double intercept, const Vector<Index>& which) {
        require(support.size() == beta.size(), "as many coefficients as columns");
        Solution model;
        model.support = to_vector(support);
        model.beta.assign(beta.data(), beta.data() + beta.size());
        model.intercept = intercept;
        for (const Index j : model.support) {
          require(j >= 0 && j < rows.columns(), "no such column");
        }
        const std::vector<Index> places = to_vector(which);
        for (const Index r : places) require(r >= 0 && r < rows.rows(), "no such row");
        std::vector<double> out;
        predict(rows, places, model, out);
        return to_array(out);
      },
      nb::arg("support").noconvert(), nb::arg("beta").noconvert(), nb::arg("intercept"),
      nb::arg("which").noconvert());
  m.def("make_rows", &make_rows, nb::arg("columns"), nb::arg("design"), nb::arg("loss"),
        nb::arg("y").noconvert(), nb::arg("offset").noconvert().none(), nb::arg("intercept"),
        nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>());
  nb::class_<LikelihoodEngine, PythonEngine>(m, "Likelihood")
      .def(nb::init<const Rows&, const Vector<double>&, double, int>(), nb::arg("rows"),
           nb::arg("weights").noconvert(), nb::arg("ridge"), nb::arg("threads"),
           nb::keep_alive<1, 2>())
      .def_prop_ro("null_energy",
                   [](const LikelihoodEngine& e) { return e.likelihood_->fit().null_energy(); })
      .def_prop_ro("largest_error",
                   [](const LikelihoodEngine& e) { return e.likelihood_->fit().largest_error(); })
      .def_prop_ro("farthest",
                   [](const LikelihoodEngine& e) { return e.likelihood_->fit().farthest(); });
  nb::class_<LikelihoodFolds>(m, "LikelihoodFolds")
      .def(nb::init<const nb::list&, const nb::list&, const nb::list&, bool, double,
                    const Vector<Index>&, int, int>(),
           nb::arg("rows"), nb::arg("weights"), nb::arg("tests"), nb::arg("sbr"), nb::arg("ridge"),
           nb::arg("forced").noconvert(), nb::arg("threads"), nb::arg("pass_threads"))
      .def("search", &LikelihoodFolds::search, nb::arg("max_size"), nb::arg("progress").none(),
           nb::arg("neighbour").none() = nb::none())
      .def("judge", &LikelihoodFolds::judge);
}

}  // namespace ellzero
