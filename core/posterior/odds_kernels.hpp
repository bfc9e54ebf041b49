// The hot loops of the samplers: odds of inclusion of many columns at once.
#pragma once

#include "base/kernels.hpp"

namespace ellzero {

// How the log-odds of inclusion of a column that is out follow from its c and d:
//
//   prior + 1/2 log(numerator / d) + gain term,   g = half_gain c^2 / d
//
// where the gain term is g rate with the noise variance given (rate is one over it), and
// -rate log(1 - g / total) with it integrated out. d at or below `floor` means that the column
// can't come in: minus infinity.
struct OddsRule {
  double prior = 0;      // log-odds before the data
  double numerator = 1;  // what the slab leaves of d, or that over what is given by column
  bool compares = true;  // false: the ratio of determinants is part of `prior`
  bool integrated = false;
  double half_gain = 0.5;
  double rate = 1;
  double total = 1;
  double floor = 0;
};

// `prior` (by column, added to the rule's) and `numerator` (multiplies the rule's) may be null.
void log_odds(const OddsRule& rule, const double* c, const double* d, const double* prior,
              const double* numerator, Index count, double* out);

// 1 / (1 + exp(-x)) of these log-odds x; zero where the column can't come in.
void inclusion_probabilities(const OddsRule& rule, const double* c, const double* d,
                             const double* prior, const double* numerator, Index count,
                             double* out);

// The same log-odds of members, given the others: with a gain half_gain beta^2 / inverse, which
// removal would take, and the ratio numerator / d.
void member_log_odds(const OddsRule& rule, const double* gain, const double* ratio, Index count,
                     double* out);

// Log-odds that a column must exceed to come in, from below: log u, or where `anew` is true
// log(u / (1 - u)), of uniforms u.
void least_log_odds(const double* u, bool anew, Index count, double* out);

// What the log-odds exceed `least` by, from above and without a logarithm: where it is not positive
// they don't, for certain. Positive for members, which a d of minus infinity marks.
void greatest_excess(const OddsRule& rule, const double* c, const double* d, const double* prior,
                     const double* numerator, const double* least, Index count, double* out);

// out = exp(min(x, 0))
void exp_below_one(const double* x, Index count, double* out);

// out = exp(x - shift), for x at most shift
void exp_shifted(const double* x, double shift, Index count, double* out);

// out = 1 / (1 + exp(-x))
void logistic(const double* x, Index count, double* out);

// out = (p + e) (1 + exp(x)) exp(-shift) with p = 1 / (1 + exp(-x)): the rate at which a column of
// log-odds x that is out comes in, in units of exp(shift). x is at most 700 above that.
void jump_rates(const double* x, double e, double shift, Index count, double* out);

// What is known of the coefficients of columns that are out, given the others: with probability p
// it is not zero, and then has mean m = scale c / d and variance
//
//   (base - slope c^2 / d) / d
//
// Adds weight p to `inclusion`, weight p m to `mean`, and to `square` weight times the mean square
// of what the coefficient differs by from `reference`; but for the first, nothing where d is minus
// infinity, which marks members.
void add_moments(double weight, const double* p, const double* c, const double* d, double scale,
                 double base, double slope, double floor, const double* reference, Index count,
                 double* inclusion, double* mean, double* square);

// Adds each of three sums to another and sets it to zero; the first is kept in `row`, too.
void move_sums(Index count, double* const from[3], double* const to[3], float* row);

}  // namespace ellzero
