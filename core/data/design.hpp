// Where Gram columns come from.
//
// A design is the problem after preprocessing. With an intercept, y and the columns of X are
// centred at their weighted means; every column is scaled to unit l2 norm; a row of weight w is
// multiplied by sqrt(w), so that from here on nothing knows of weights. With Z the columns so
// prepared, a design gives columns of G = Z'Z, all of Z'y and y'y.
//
// A column whose spread is down to rounding is all zero: G_jj = 0, and it can't be told from the
// intercept. So is such a y: y'y = 0 and Z'y = 0.
#pragma once

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/kernels.hpp"
#include "base/parallel.hpp"

namespace ellzero {

// A column so large that its spread is not a number.
struct ColumnOverflow : std::overflow_error {
  explicit ColumnOverflow(Index j)
      : std::overflow_error("column " + std::to_string(j)), column(j) {}
  Index column;
};

// A response whose sum of squares is not a number, or has lost its digits to underflow.
struct ResponseOutOfRange : std::range_error {
  explicit ResponseOutOfRange(bool large) : std::range_error("response"), too_large(large) {}
  bool too_large;
};

class Design {
 public:
  virtual ~Design() = default;

  Index columns() const { return static_cast<Index>(inverse_scale.size()); }
  double gram_diagonal(Index j) const { return inverse_scale[j] > 0 ? 1.0 : 0.0; }

  // out[b] = G(:, which[b]). The bits of a column depend on nothing but the design.
  virtual void gram_columns(const Index* which, Index count, double* const* out,
                            const Context& context) const = 0;

  // out[a * count + b] = G(which[a], which[b]), for a few columns.
  virtual void cross_products(const Index* which, Index count, double* out) const = 0;

  // Numbers that a pass over X reads.
  virtual double entries() const = 0;

  // With r = y - Z_S beta: fills products = Z_S'r and returns r'r. A design that has no rows
  // returns NaN.
  virtual double residual_products(const std::vector<Index>& support, const double* beta,
                                   double* products, const Context& context) const = 0;

  // Rows that are at hand; 0 for a design that knows products of columns only.
  virtual Index rows() const { return 0; }
  // Column j of Z, and y of the design, where rows are at hand.
  virtual void read_whole_column(Index, double*) const {}
  virtual const double* response() const { return nullptr; }

  std::vector<double> mean;  // of the columns, in the user's units; zero without an intercept
  std::vector<double>
      inverse_scale;       // a coefficient of Z times this is one of X; 0 for a dead column
  std::vector<double> zy;  // Z'y
  double yy = 0;           // y'y
  double mean_y = 0;
  double weight = 0;  // n, or the sum of the weights

 protected:
  // Takes the moments of column j as the user gave it, divided by 2^exponent; y'y is known.
  void set_column(Index j, const Moments& m, int exponent) {
    const double norm = std::sqrt(m.xx);
    // Rounding leaves a constant column with a spread of an ulp or so of its mean.
    const double rounding = 8 * std::numeric_limits<double>::epsilon() * std::fabs(m.mean_x);
    const double scale = std::ldexp(norm, exponent);
    const double inverse = 1 / scale;
    if (!std::isfinite(scale)) throw ColumnOverflow(j);
    mean[j] = std::ldexp(m.mean_x, exponent);
    const bool dead = !(norm > rounding * std::sqrt(m.weight)) || !std::isfinite(inverse);
    inverse_scale[j] = dead ? 0 : inverse;
    zy[j] = dead || yy == 0 ? 0 : m.xy / norm;
  }

  void resize(Index p) {
    mean.assign(p, 0);
    inverse_scale.assign(p, 0);
    zy.assign(p, 0);
  }
};

// A sum of squares outside this range has lost digits to overflow or underflow.
inline bool squares_are_safe(double xx) { return xx > 1e-250 && xx < 1e250; }

}  // namespace ellzero
