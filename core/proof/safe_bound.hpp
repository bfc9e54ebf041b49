// A lower bound that holds in exact arithmetic for G, c and y'y as they are stored.
//
// Given columns that are in, columns that are free (the others are out), any u and any d > 0 on
// both, and Q = G - D on both with Q >= 0, every b that vanishes elsewhere has
//
//   1/2 y'y - c'b + 1/2 b'G b  >=  1/2 y'y - 1/2 u'Qu - v'b + 1/2 b'D b,   v = c - Qu,
//
// and minimising over each b_i alone, with t_i = v_i^2 / (2 d_i), gives
//
//   LB = 1/2 y'y - 1/2 u'Qu + sum over those in of (price_i - t_i)
//        - sum of the cap largest, over those free, of max(0, t_i - price_i).
//
// So there is no Schur complement, no inverse and no least squares in what has to be believed. For
// columns that are in d costs nothing: if (c - Gu)_i = 0 there, d_i drops out of LB.
//
// Q >= 0 is shown by a factorisation: if that of Q - delta I runs to its end in floating point, the
// matrix it is exact for differs by at most gamma_(m+1) / (1 - gamma_(m+1)) trace(Q) in norm (Rump
// 2006), and delta is more than that and the rounding of the diagonal. Products are summed with
// their errors (Dot2 of Ogita, Rump and Oishi 2005), and what is left of those is taken off.
#pragma once

#include <vector>

#include "base/dense.hpp"

namespace ellzero {

// What is minimised, over supports that hold the forced columns: 1/2 y'y - c'b + 1/2 b'G b plus the
// prices of the columns in use, at most `cap` of them, the forced counted.
struct ProofProblem {
  // Rows of a matrix that somebody else keeps.
  struct Rows {
    const double* values = nullptr;
    Index stride = 0;
    const double* row(Index i) const { return values + i * stride; }
  };
  Rows g;            // with the ridge on its diagonal
  double floor = 0;  // G - floor I is known to be positive semidefinite, if this is positive
  std::vector<double> c;
  double half_yy = 0;
  std::vector<double> price;  // per column; 0 for the forced
  Index cap = 0;

  Index columns() const { return static_cast<Index>(c.size()); }
};

// Some columns and what a bound is made of: those that are in come first.
struct Evidence {
  std::vector<int> columns;
  Index in = 0;
  std::vector<double> u, d;
  // More digits of u for those in, where (c - Gu)_i = 0 matters most: what is left of it is squared
  // and divided by d, which is small if columns nearly depend on each other.
  std::vector<double> u_low;
};

// (c - Gu)_i for the columns that are in, to full precision.
std::vector<double> residuals_inside(const ProofProblem& problem, const Evidence& evidence);

struct SafeBound {
  double value;                       // -infinity if nothing is shown
  std::vector<double> if_out, if_in;  // per free column, given that it is out, or in
};

// Whether G - D on the columns is positive semidefinite; false also if that is not known.
bool is_semidefinite(const ProofProblem& problem, const Evidence& evidence, Square& room);

// The bound, given that G - D is positive semidefinite.
SafeBound safe_bound(const ProofProblem& problem, const Evidence& evidence);

// Coefficients of some columns, the others zero, and an upper bound on their value: infinity if the
// columns depend on each other. The least squares need not be exact for that to hold.
struct Fit {
  std::vector<double> b;
  double value;
};
Fit fit(const ProofProblem& problem, const std::vector<int>& columns);

}  // namespace ellzero
