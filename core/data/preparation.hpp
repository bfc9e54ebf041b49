// What is made of X and y before anything is fitted. With an intercept, y and the columns of X are
// centred at their weighted means; every column is scaled to unit l2 norm; a row of weight w is
// multiplied by sqrt(w). With Z the columns so prepared, Z'y is known from the same pass.
//
// A column whose spread is down to rounding is dead: it can't be told from the intercept, and is
// all zero in Z.
#pragma once

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/columns.hpp"

namespace ellzero {

// A column so large that its spread is not a number.
struct ColumnOverflow : std::overflow_error {
  explicit ColumnOverflow(Index j)
      : std::overflow_error("column " + std::to_string(j)), column(j) {}
  Index column;
};

struct Preparation {
  // Of y: the sum of the weights, the mean, and the squares of deviations from it. All columns are
  // dead until they are set.
  Preparation(Index columns, double weight_given, double mean_y_given, double yy_given)
      : mean(columns, 0.0),
        inverse_scale(columns, 0.0),
        zy(columns, 0.0),
        yy(yy_given),
        mean_y(mean_y_given),
        weight(weight_given) {}

  // Takes the moments of column j as the user gave it.
  void set_column(Index j, const ScaledMoments& scaled) {
    const Moments& m = scaled.moments;
    const double norm = std::sqrt(m.xx);
    // Rounding leaves a constant column with a spread of an ulp or so of its mean.
    const double rounding = 8 * std::numeric_limits<double>::epsilon() * std::fabs(m.mean_x);
    const double scale = std::ldexp(norm, scaled.exponent);
    const double inverse = 1 / scale;
    if (!std::isfinite(scale)) throw ColumnOverflow(j);
    mean[j] = std::ldexp(m.mean_x, scaled.exponent);
    const bool dead = !(norm > rounding * std::sqrt(m.weight)) || !std::isfinite(inverse);
    inverse_scale[j] = dead ? 0 : inverse;
    zy[j] = dead || yy == 0 ? 0 : m.xy / norm;
  }

  std::vector<double> mean;           // of the columns, in the user's units; 0 without an intercept
  std::vector<double> inverse_scale;  // a coefficient of Z times this is one of X; 0 if dead
  std::vector<double> zy;             // Z'y
  double yy;                          // y'y
  double mean_y;
  double weight;  // n, or the sum of the weights
};

// Of columns that are all dead yet, against a response.
inline Preparation unprepared(const Columns& columns, const Response& response) {
  return {columns.columns(), response.weight(), response.mean(), response.squares()};
}

inline void set_column_if_safe(Preparation& out, Index j, const ScaledMoments& scaled) {
  if (exponent_is_safe(scaled.exponent)) {
    out.set_column(j, scaled);
  } else if (scaled.exponent > 0) {
    throw ColumnOverflow(j);
  }  // else too small for its inverse to be a number: dead
}

// Of all columns against a response, in one pass over X.
inline Preparation prepare(const Columns& columns, const Response& response,
                           const Context& context) {
  Preparation out = unprepared(columns, response);
  const auto set = [&](Index j, const ScaledMoments& scaled) {
    set_column_if_safe(out, j, scaled);
  };
  columns.take_moments(response, set, context);
  return out;
}

}  // namespace ellzero
