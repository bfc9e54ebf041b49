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
  FoldModels(const FoldSearch::Found& found, double what_differs)
      : next_gain(found.next_gain), lows(found.lows), rounding(what_differs) {
    for (const Solution& model : found.models) {
      support.insert(support.end(), model.support.begin(), model.support.end());
      beta.insert(beta.end(), model.beta.begin(), model.beta.end());
      begins.push_back(static_cast<Index>(support.size()));
      energies.push_back(model.energy());
    }
  }

  std::vector<Index> begins{0}, support;
  std::vector<double> beta;  // of the columns, for columns of unit norm
  std::vector<double> energies;
  std::vector<double> errors, along, square;  // HeldOut::Verdict, of least squares
  std::vector<double>
      predictors;            // of a likelihood: of the rows held out, one model after the other
  double next_gain = 0;      // of a frontier: what one more variable would gain in the largest
  std::vector<double> lows;  // of SBR: the least lam that each is the solution at
  double rounding = 0;       // what energies differ by through rounding
};

}  // namespace ellzero
