// Loops over numbers in float32: a quarter of the bytes of a copy of X and its products, and twice
// as many at a time. They serve to tell which few columns are worth being measured in float64.
#pragma once

#include <vector>

#include "base/kernels.hpp"

namespace ellzero {

// A panel is so many columns of all rows, row after row; the last is filled up with zeros.
inline constexpr Index kFloatPanel = 32;
// Vectors that a panel is multiplied with at a time.
inline constexpr Index kFloatVectors = 12;
// Rows whose products are added up by themselves: sums of fewer terms are rounded less.
inline constexpr Index kFloatRows = 32;

inline constexpr double kFloatRounding = 0x1p-24;  // of a number, relatively

// Terms of a combination of columns that are.
inline constexpr Index kFloatTerms = 8;
// What a combination of so many columns, of entries of at most one, may be wrong by, if the
// coefficients' sizes sum up to `length`.
inline double float_sum_error(Index columns, double length) {
  const Index sums = (columns + kFloatTerms - 1) / kFloatTerms;
  return 1.01 * static_cast<double>(kFloatTerms + sums + 1) * kFloatRounding * length;
}

// What a sum of products of so many rows may be wrong by, for vectors of unit norm that were
// rounded to float32 themselves, if it is multiplied once (Higham 2002, section 3.1).
inline double float_product_error(Index rows) {
  const double terms = static_cast<double>(kFloatRows + (rows + kFloatRows - 1) / kFloatRows + 5);
  return 1.01 * terms * kFloatRounding;
}

// out[b][j] = sum over rows of x(r, j) v(r, b), for x the columns of panels that follow each other
// and `width` columns of v, at most kFloatVectors; v is row by row.
void multiply_float_panels(const float* panel, Index rows, Index columns, const float* v,
                           Index width, float* const* out);

// panel(r, j) = (x(r, j) - mean[j]) scale[j] root_weight[r], for columns that lie beside each other
// in a row, at most kFloatPanel; zeros beyond them. `root_weight` may be null: all ones.
void pack_float_panel(const Strided<double>& x, Index rows, Index columns, const double* mean,
                      const double* scale, const double* root_weight, float* panel);
void pack_float_panel(const Strided<float>& x, Index rows, Index columns, const double* mean,
                      const double* scale, const double* root_weight, float* panel);

// The same as in kernels.hpp, for columns in float32. Sums are in float32, what they are added to
// is not.
void combine(const float* const* columns, const double* coefficients, Index count, Index begin,
             Index end, double* out);
void combine_rows(const float* const* columns, const double* coefficients, Index stride, Index rows,
                  Index count, Index begin, Index end, double* out, Index out_stride);
void flip_columns(const float* const* columns, const double* a, Index count, double q, double sign,
                  Index length, double* c, double* d);

// Columns of a lower triangular matrix of k rows that are `stride` apart, in float32.
class FloatTriangle {
 public:
  FloatTriangle(const double* m, Index stride, Index k);
  Index size() const { return size_; }
  const float* row(Index r) const { return values_.data() + r * size_; }

 private:
  const Index size_;
  std::vector<float> values_;
};

// d[i] -= sum over r of (sum over s of m(r, s) columns[s][i])^2, for begin <= i < end.
void subtract_explained(const float* const* columns, const FloatTriangle& m, Index begin, Index end,
                        double* d);

// Where (c_i unit)^2 / d_i is highest, to float32, of columns with d_i more than `floor`: at most
// so many, the highest first, of equals the first. `unit` makes of all c numbers of at most one.
void seek_insertions(const double* c, const double* d, double unit, double floor, Index count,
                     Index most, std::vector<Index>& best);

// Columns whose score may be more than `least`, if c and d are known to within so much, in their
// order: where (|c_i| + slack_c)^2 > least (d_i - slack_d) and d_i is not -infinity. Returns how
// many they are, or one more than `most` if they are more than that; `places` has room for so many.
Index possible_insertions(const double* c, const double* d, double slack_c, double slack_d,
                          double least, Index count, Index most, Index* places);

}  // namespace ellzero
