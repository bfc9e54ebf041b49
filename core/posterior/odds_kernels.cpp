#include "posterior/odds_kernels.hpp"

#include <cmath>
#include <limits>

#include "base/vector_math.hpp"

namespace ellzero {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

template <bool kIntegrated, bool kCompares, bool kNumerators>
ELLZERO_INLINE void log_odds_inline(const OddsRule& rule, const double* c, const double* d,
                                    const double* numerator, Index count, double* out) {
  const double inverse_total = 1 / rule.total;
  for (Index i = 0; i < count; ++i) {
    const bool open = d[i] > rule.floor;
    const double safe = open ? d[i] : 1.0;
    const double gain = rule.half_gain * c[i] * c[i] / safe;
    double value = rule.prior;
    if (kIntegrated) {
      const double left = 1 - gain * inverse_total;
      // Rounding may leave nothing of what only noise can explain.
      value -= rule.rate * fast_log(left > 1e-15 ? left : 1e-15);
    } else {
      value += gain * rule.rate;
    }
    if (kCompares)
      value +=
          0.5 * fast_log((kNumerators ? rule.numerator * numerator[i] : rule.numerator) / safe);
    out[i] = open ? value : kNever;
  }
}

// Probabilities at once: the root of the ratio needs no logarithm.
template <bool kIntegrated, bool kCompares, bool kNumerators>
ELLZERO_INLINE void probabilities_inline(const OddsRule& rule, const double* c, const double* d,
                                         const double* numerator, Index count, double* out) {
  constexpr double kMost = 700;
  const double inverse_total = 1 / rule.total;
  for (Index i = 0; i < count; ++i) {
    const bool open = d[i] > rule.floor;
    const double inverse = 1 / (open ? d[i] : 1.0);
    const double gain = rule.half_gain * c[i] * c[i] * inverse;
    double value = rule.prior;
    if (kIntegrated) {
      const double left = 1 - gain * inverse_total;
      value -= rule.rate * fast_log(left > 1e-15 ? left : 1e-15);
    } else {
      value += gain * rule.rate;
    }
    double odds = fast_exp(value < kMost ? value : kMost);
    if (kCompares)
      odds *= std::sqrt((kNumerators ? rule.numerator * numerator[i] : rule.numerator) * inverse);
    out[i] = open ? odds / (1 + odds) : 0.0;
  }
}

// The same from above, less `least`: logarithms are replaced by what is a little more.
template <bool kIntegrated, bool kCompares, bool kNumerators>
ELLZERO_INLINE void excess_inline(const OddsRule& rule, const double* c, const double* d,
                                  const double* numerator, const double* least, Index count,
                                  double* out) {
  constexpr double kAway = std::numeric_limits<double>::max(), kSlack = 1e-6;
  const double inverse_total = 1 / rule.total;
  for (Index i = 0; i < count; ++i) {
    const bool open = d[i] > rule.floor;
    const double inverse = 1 / (open ? d[i] : 1.0);
    const double gain = rule.half_gain * c[i] * c[i] * inverse;
    double value = rule.prior + kSlack - least[i];
    if (kIntegrated) {
      // -log(1 - x) is at most x (1 - x / 2) / (1 - x)
      const double x = gain * inverse_total, left = 1 - x;
      value += rule.rate * x * (1 - 0.5 * x) / (left > 1e-15 ? left : 1e-15);
    } else {
      value += gain * rule.rate;
    }
    if (kCompares) {
      const double ratio = (kNumerators ? rule.numerator * numerator[i] : rule.numerator) * inverse;
      value += 0.5 * (rough_log(ratio) + kRoughLog);
    }
    out[i] = open ? value : d[i] < -kAway ? kAway : -kAway;
  }
}

}  // namespace

ELLZERO_MULTIVERSION
void least_log_odds(const double* u, bool anew, Index count, double* out) {
  if (anew) {
    for (Index i = 0; i < count; ++i) out[i] = rough_log(u[i] / (1 - u[i]));
  } else {
    for (Index i = 0; i < count; ++i) out[i] = rough_log(u[i]);
  }
}

ELLZERO_MULTIVERSION
void greatest_excess(const OddsRule& rule, const double* c, const double* d, const double* prior,
                     const double* numerator, const double* least, Index count, double* out) {
  if (rule.integrated && numerator) {
    excess_inline<true, true, true>(rule, c, d, numerator, least, count, out);
  } else if (rule.integrated && rule.compares) {
    excess_inline<true, true, false>(rule, c, d, numerator, least, count, out);
  } else if (rule.integrated) {
    excess_inline<true, false, false>(rule, c, d, numerator, least, count, out);
  } else if (numerator) {
    excess_inline<false, true, true>(rule, c, d, numerator, least, count, out);
  } else if (rule.compares) {
    excess_inline<false, true, false>(rule, c, d, numerator, least, count, out);
  } else {
    excess_inline<false, false, false>(rule, c, d, numerator, least, count, out);
  }
  if (prior) {
    for (Index i = 0; i < count; ++i) out[i] += prior[i];
  }
}

ELLZERO_MULTIVERSION_WIDE
void log_odds(const OddsRule& rule, const double* c, const double* d, const double* prior,
              const double* numerator, Index count, double* out) {
  if (rule.integrated && numerator) {
    log_odds_inline<true, true, true>(rule, c, d, numerator, count, out);
  } else if (rule.integrated && rule.compares) {
    log_odds_inline<true, true, false>(rule, c, d, numerator, count, out);
  } else if (rule.integrated) {
    log_odds_inline<true, false, false>(rule, c, d, numerator, count, out);
  } else if (numerator) {
    log_odds_inline<false, true, true>(rule, c, d, numerator, count, out);
  } else if (rule.compares) {
    log_odds_inline<false, true, false>(rule, c, d, numerator, count, out);
  } else {
    log_odds_inline<false, false, false>(rule, c, d, numerator, count, out);
  }
  if (prior) {
    for (Index i = 0; i < count; ++i) out[i] += prior[i];
  }
}

ELLZERO_MULTIVERSION_WIDE
void inclusion_probabilities(const OddsRule& rule, const double* c, const double* d,
                             const double* prior, const double* numerator, Index count,
                             double* out) {
  if (prior) {
    log_odds(rule, c, d, prior, numerator, count, out);
    logistic(out, count, out);
  } else if (rule.integrated && numerator) {
    probabilities_inline<true, true, true>(rule, c, d, numerator, count, out);
  } else if (rule.integrated && rule.compares) {
    probabilities_inline<true, true, false>(rule, c, d, numerator, count, out);
  } else if (rule.integrated) {
    probabilities_inline<true, false, false>(rule, c, d, numerator, count, out);
  } else if (numerator) {
    probabilities_inline<false, true, true>(rule, c, d, numerator, count, out);
  } else if (rule.compares) {
    probabilities_inline<false, true, false>(rule, c, d, numerator, count, out);
  } else {
    probabilities_inline<false, false, false>(rule, c, d, numerator, count, out);
  }
}

ELLZERO_MULTIVERSION_WIDE
void member_log_odds(const OddsRule& rule, const double* gain, const double* ratio, Index count,
                     double* out) {
  if (rule.integrated) {
    const double inverse_total = 1 / rule.total;
    for (Index i = 0; i < count; ++i) {
      out[i] = rule.prior + rule.rate * fast_log(1 + gain[i] * inverse_total);
    }
  } else {
    for (Index i = 0; i < count; ++i) out[i] = rule.prior + rule.rate * gain[i];
  }
  if (rule.compares) {
    for (Index i = 0; i < count; ++i) out[i] += 0.5 * fast_log(ratio[i]);
  }
}

ELLZERO_MULTIVERSION
void exp_below_one(const double* x, Index count, double* out) {
  for (Index i = 0; i < count; ++i) out[i] = fast_exp(x[i] < 0 ? x[i] : 0.0);
}

ELLZERO_MULTIVERSION_WIDE
void exp_shifted(const double* x, double shift, Index count, double* out) {
  for (Index i = 0; i < count; ++i) out[i] = fast_exp(x[i] - shift);
}

ELLZERO_MULTIVERSION_WIDE
void logistic(const double* x, Index count, double* out) {
  for (Index i = 0; i < count; ++i) {
    const double small = fast_exp(x[i] < 0 ? x[i] : -x[i]);
    out[i] = (x[i] < 0 ? small : 1.0) / (1 + small);
  }
}

ELLZERO_MULTIVERSION_WIDE
void jump_rates(const double* x, double e, double shift, Index count, double* out) {
  const double least = e * std::exp(-shift);
  for (Index i = 0; i < count; ++i) out[i] = least + (1 + e) * fast_exp(x[i] - shift);
}

ELLZERO_MULTIVERSION_WIDE
void add_moments(double weight, const double* p, const double* c, const double* d, double scale,
                 double base, double slope, double floor, const double* reference, Index count,
                 double* inclusion, double* mean, double* square) {
  // By itself: with one more array a compiler would not look for those that overlap.
  for (Index i = 0; i < count; ++i) inclusion[i] += weight * p[i];
  for (Index i = 0; i < count; ++i) {
    const bool open = d[i] > floor;
    const double inverse = 1 / (open ? d[i] : 1.0);
    const double m = scale * c[i] * inverse;
    const double variance = (base - slope * c[i] * c[i] * inverse) * inverse;
    const double share = open ? weight * p[i] : 0.0, off = reference[i];
    const double out = d[i] > kNever ? weight - share : 0.0;
    mean[i] += share * m;
    square[i] += share * ((m - off) * (m - off) + variance) + out * off * off;
  }
}

ELLZERO_MULTIVERSION
void move_sums(Index count, double* const from[3], double* const to[3], float* row) {
  for (Index i = 0; i < count; ++i) row[i] = static_cast<float>(from[0][i]);
  for (int s = 0; s < 3; ++s) {
    double *own = from[s], *sum = to[s];
    for (Index i = 0; i < count; ++i) {
      sum[i] += own[i];
      own[i] = 0;
    }
  }
}

}  // namespace ellzero
