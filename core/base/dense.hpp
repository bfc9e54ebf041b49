// Small dense symmetric matrices, row by row, rows `stride` apart.
//
// Everything works on the upper triangle in runs along rows, several pivots at a time: no BLAS, and
// the same operations in the same order whatever the threads.
#pragma once

#include <vector>

#include "base/kernels.hpp"

namespace ellzero {

// A square matrix with room for rows of a multiple of four numbers.
struct Square {
  Index size = 0;
  Index stride = 0;
  std::vector<double> values;

  void resize(Index rows) {
    size = rows;
    stride = round_up(rows, kLanes);
    values.resize(static_cast<std::size_t>(size * stride));
  }
  double* row(Index i) { return values.data() + i * stride; }
  const double* row(Index i) const { return values.data() + i * stride; }
};

// A = U'U, U in place of the upper triangle of A; false if a pivot is not positive.
bool factorise(Square& a);
// x = A^-1 b, given U.
void solve_factored(const Square& u, const double* b, double* x);
// inverse = A^-1, both triangles, given U; `room` is to work in.
void invert_factored(const Square& u, Square& room, Square& inverse);
// out = A x for a matrix with both triangles.
void times(const Square& a, const double* x, double* out);
// Subtracts row' row / pivot from both triangles: the Schur complement of one column.
void eliminate(Square& a, const double* row, double pivot);

}  // namespace ellzero
