// What the folds of a cross-validation find, as Python sees it.
#pragma once

#include <vector>

#include "bindings/bindings.hpp"
#include "search/fold_search.hpp"

namespace ellzero {

inline std::vector<Index> to_vector(const Vector<Index>& values) {
  return {values.data(), values.data() + values.size()};
}

// What one fold has found: where each model begins among the columns, its energy and its error.
struct FoldModels {
  FoldModels(FoldSearch::Found found, double what_differs)
      : models(std::move(found.models)),
        next_gain(found.next_gain),
        lows(std::move(found.lows)),
        rounding(what_differs) {
    begins.reserve(models.size() + 1);
    energies.reserve(models.size());
    begins.push_back(0);
    for (const Solution& model : models) {
      begins.push_back(begins.back() + static_cast<Index>(model.support.size()));
      energies.push_back(model.energy());
    }
  }

  // Of all models, the columns of each sorted: few ask for them.
  template <class T>
  std::vector<T> of_columns(const std::vector<T> Solution::* what) const {
    std::vector<T> out;
    out.reserve(begins.back());
    for (Solution model : models) {
      sort_by_column(model);
      out.insert(out.end(), (model.*what).begin(), (model.*what).end());
    }
    return out;
  }
  std::vector<Index> support() const { return of_columns(&Solution::support); }
  std::vector<double> beta() const { return of_columns(&Solution::beta); }

  std::vector<Solution> models;  // coefficients are for columns of unit norm
  std::vector<Index> begins;
  std::vector<double> energies;
  std::vector<double> errors, along, square;  // HeldOut::Verdict, of least squares
  std::vector<double>
      predictors;            // of a likelihood: of the rows held out, one model after the other
  double next_gain = 0;      // of a frontier: what one more variable would gain in the largest
  std::vector<double> lows;  // of SBR: the least lam that each is the solution at
  double rounding = 0;       // what energies differ by through rounding
};

}  // namespace ellzero
