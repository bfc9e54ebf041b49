// Moments of a column whose squares may overflow or underflow: those of the column divided by a
// power of two, which costs no digits.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/response.hpp"

namespace ellzero {

struct ScaledMoments {
  Moments moments;   // of the column divided by 2^exponent
  int exponent = 0;  // 0 where squares are safe without
};

// Beyond these exponents 2^-exponent, or a deviation from the mean, may not be a number.
inline constexpr int kGreatestExponent = 1000;
inline bool exponent_is_safe(int exponent) { return std::abs(exponent) <= kGreatestExponent; }

// A sum of squares outside this range has lost digits to overflow or underflow.
inline bool squares_are_safe(double xx) { return xx > 1e-250 && xx < 1e250; }

// Of a column whose squares are not safe. Where its exponent is not either, there are no moments.
inline ScaledMoments rescaled_moments(std::vector<double> column, const Response& response) {
  double largest = 0;
  for (Index r = 0; r < response.rows(); ++r) {
    if (response.counts(r)) largest = std::max(largest, std::fabs(column[r]));
  }
  ScaledMoments out;
  if (largest == 0) return out;
  out.exponent = std::ilogb(largest);
  if (!exponent_is_safe(out.exponent)) return out;
  const double factor = std::ldexp(1.0, -out.exponent);
  for (double& value : column) value *= factor;
  const double* row = column.data();
  for (const Stretch& over : response.stretches()) {
    out.moments.merge(moments(row, over));
    row += over.rows;
  }
  return out;
}

}  // namespace ellzero
