#include "base/float_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "base/bits.hpp"

namespace ellzero {
namespace {

// As many floats as there are doubles twice in a vector.
#if defined(__GNUC__) && !defined(ELLZERO_PORTABLE_LANES)
template <class V>
struct Floats {
  typedef float type __attribute__((vector_size(sizeof(V))));
};
template <class F>
inline constexpr Index kFloatsOf = sizeof(F) / sizeof(float);

template <class F>
ELLZERO_INLINE F load_floats(const float* from) {
  typedef float Unaligned __attribute__((vector_size(sizeof(F)), aligned(4), may_alias));
  return *reinterpret_cast<const Unaligned*>(from);
}
template <class F>
ELLZERO_INLINE void store_floats(float* to, F v) {
  typedef float Unaligned __attribute__((vector_size(sizeof(F)), aligned(4), may_alias));
  *reinterpret_cast<Unaligned*>(to) = v;
}
template <class F>
ELLZERO_INLINE F broadcast_float(float value, F zeros = F{}) {
  return value - zeros;
}
#else
struct EightFloats {
  float lane[8] = {};
  EightFloats& operator+=(const EightFloats& o) {
    for (int i = 0; i < 8; ++i) lane[i] += o.lane[i];
    return *this;
  }
  friend EightFloats operator*(EightFloats a, const EightFloats& b) {
    for (int i = 0; i < 8; ++i) a.lane[i] *= b.lane[i];
    return a;
  }
};
template <class V>
struct Floats {
  using type = EightFloats;
};
template <class F>
inline constexpr Index kFloatsOf = 8;

template <class F>
inline F load_floats(const float* from) {
  F out;
  for (int i = 0; i < 8; ++i) out.lane[i] = from[i];
  return out;
}
template <class F>
inline void store_floats(float* to, const F& v) {
  for (int i = 0; i < 8; ++i) to[i] = v.lane[i];
}
template <class F>
inline F broadcast_float(float value) {
  F out;
  for (float& lane : out.lane) lane = value;
  return out;
}
#endif

constexpr Index kAhead = 128;  // rows

// N columns of v, which are `stride` numbers apart from row to row, with two vectors of columns of
// a panel. What is there already is added to, unless all is `fresh`.
template <class F, int N>
ELLZERO_INLINE void multiply_float_n(const float* panel, Index rows, const float* v, Index stride,
                                     bool fresh, float* out) {
  for (Index begin = 0; begin == 0 || begin < rows; begin += kFloatRows) {
    const Index end = std::min(rows, begin + kFloatRows);
    F sums[N][2] = {};
    for (Index r = begin; r < end; ++r) {
      // The panels that follow come from afar.
      ELLZERO_PREFETCH(panel + (r + kAhead) * kFloatPanel);
      ELLZERO_PREFETCH(panel + (r + kAhead) * kFloatPanel + kFloatPanel / 2);
      const F x0 = load_floats<F>(panel + r * kFloatPanel);
      const F x1 = load_floats<F>(panel + r * kFloatPanel + kFloatsOf<F>);
      for (int b = 0; b < N; ++b) {
        const F w = broadcast_float<F>(v[r * stride + b]);
        sums[b][0] += x0 * w;
        sums[b][1] += x1 * w;
      }
    }
    for (int b = 0; b < N; ++b) {
      for (int h = 0; h < 2; ++h) {
        float* to = out + b * kFloatPanel + h * kFloatsOf<F>;
        if (begin > 0 || !fresh) sums[b][h] += load_floats<F>(to);
        store_floats<F>(to, sums[b][h]);
      }
    }
  }
}

// At most N of them at a time.
template <class F, int N>
ELLZERO_INLINE void multiply_float_up_to(const float* panel, Index rows, const float* v,
                                         Index stride, Index width, bool fresh, float* out) {
  if (width >= N) {
    multiply_float_n<F, N>(panel, rows, v, stride, fresh, out);
  } else if constexpr (N > 1) {
    multiply_float_up_to<F, N - 1>(panel, rows, v, stride, width, fresh, out);
  }
}

template <class V>
ELLZERO_INLINE void multiply_float_panels_any(const float* panel, Index rows, Index columns,
                                              const float* v, Index width, float* const* out) {
  using F = typename Floats<V>::type;
  constexpr Index kMost = kFloatsOf<F> > 8 ? 12 : 6;  // as there are registers
  const Index groups = (width + kMost - 1) / kMost, most = (width + groups - 1) / groups;
  constexpr Index kTogether = 4 * kFloatRows;  // rows that stay in the first cache
  float sums[kFloatVectors * kFloatPanel];
  for (Index first = 0; first < columns; first += kFloatPanel, panel += rows * kFloatPanel) {
    for (Index row = 0; row == 0 || row < rows; row += kTogether) {
      for (Index b = 0; b < width; b += most) {
        for (Index column = 0; column < kFloatPanel; column += 2 * kFloatsOf<F>) {
          multiply_float_up_to<F, kMost>(panel + row * kFloatPanel + column,
                                         std::min(kTogether, rows - row), v + row * width + b,
                                         width, std::min(most, width - b), row == 0,
                                         sums + b * kFloatPanel + column);
        }
      }
    }
    const Index last = std::min(kFloatPanel, columns - first);
    for (Index b = 0; b < width; ++b) {
      const float* own = sums + b * kFloatPanel;
      if (last == kFloatPanel) {  // said once, and not at every number
        std::memcpy(out[b] + first, own, sizeof(float) * kFloatPanel);
      } else {
        std::memcpy(out[b] + first, own, sizeof(float) * last);
      }
    }
  }
}

template <class V, class T>
ELLZERO_INLINE void pack_float_panel_any(const Strided<T>& x, Index rows, Index columns,
                                         const double* mean, const double* scale,
                                         const double* root_weight, float* panel) {
  for (Index r = 0; r < rows; ++r, panel += kFloatPanel) {
    const T* row = x.at(r, 0);
    const double root = root_weight ? root_weight[r] : 1.0;
    if (columns == kFloatPanel) {
      for (Index j = 0; j < kFloatPanel; ++j) {
        panel[j] = static_cast<float>((static_cast<double>(row[j]) - mean[j]) * scale[j] * root);
      }
      continue;
    }
    for (Index j = 0; j < columns; ++j) {
      panel[j] = static_cast<float>((static_cast<double>(row[j]) - mean[j]) * scale[j] * root);
    }
    for (Index j = columns; j < kFloatPanel; ++j) panel[j] = 0;
  }
}

constexpr Index kApart = 256;  // rows of sums

// Vectors of columns from i on, W of them, of N rows of sums; kFloatTerms terms are added up by
// themselves.
template <class F, int N, int W>
ELLZERO_INLINE void combine_floats(const float* const* columns, const float* coefficients,
                                   Index stride, Index count, Index i, float* out) {
  F sums[N][W] = {};
  for (Index begin = 0; begin < count; begin += kFloatTerms) {
    const Index end = std::min(count, begin + kFloatTerms);
    F some[N][W] = {};
    for (Index s = begin; s < end; ++s) {
      F x[W];
      for (int w = 0; w < W; ++w) x[w] = load_floats<F>(columns[s] + i + w * kFloatsOf<F>);
      for (int m = 0; m < N; ++m) {
        const F factor = broadcast_float<F>(coefficients[m * stride + s]);
        for (int w = 0; w < W; ++w) some[m][w] += factor * x[w];
      }
    }
    for (int m = 0; m < N; ++m) {
      for (int w = 0; w < W; ++w) sums[m][w] += some[m][w];
    }
  }
  for (int m = 0; m < N; ++m) {
    for (int w = 0; w < W; ++w) {
      store_floats<F>(out + m * kApart + w * kFloatsOf<F>, sums[m][w]);
    }
  }
}

// The same for `width` vectors, at most W.
template <class F, int N, int W>
ELLZERO_INLINE void combine_floats_up_to(Index width, const float* const* columns,
                                         const float* coefficients, Index stride, Index count,
                                         Index i, float* out) {
  if (width == W) {
    combine_floats<F, N, W>(columns, coefficients, stride, count, i, out);
  } else if constexpr (W > 1) {
    combine_floats_up_to<F, N, W - 1>(width, columns, coefficients, stride, count, i, out);
  }
}

// Hands t of columns begin .. end, some at a time, to take(t, from, to): row m of t is m kApart
// numbers beyond the first.
template <class F, int N, class Take>
ELLZERO_INLINE void each_stretch(const float* const* columns, const float* coefficients,
                                 Index stride, Index count, Index begin, Index end, Take&& take) {
  constexpr int kWide = kFloatsOf<F> > 8 ? (N == 1 ? 13 : 3) : (N == 1 ? 6 : 1);
  static_assert(kWide * kFloatsOf<F> <= kApart);
  alignas(64) float t[N * kApart];
  Index i = begin;
  for (Index vectors = (end - begin) / kFloatsOf<F>, blocks = (vectors + kWide - 1) / kWide;
       blocks > 0; --blocks) {
    const Index width = (vectors + blocks - 1) / blocks;
    combine_floats_up_to<F, N, kWide>(width, columns, coefficients, stride, count, i, t);
    take(t, i, i + width * kFloatsOf<F>);
    vectors -= width;
    i += width * kFloatsOf<F>;
  }
  if (i == end) return;
  for (Index m = 0; m < N; ++m) {
    for (Index l = 0; l < end - i; ++l) t[m * kApart + l] = 0;
    for (Index s = 0; s < count; ++s) {
      for (Index l = 0; l < end - i; ++l) {
        t[m * kApart + l] += coefficients[m * stride + s] * columns[s][i + l];
      }
    }
  }
  take(t, i, end);
}

// Coefficients in float32, without asking for memory where they are few.
class FloatCoefficients {
 public:
  FloatCoefficients(const double* from, Index stride, Index rows, Index count, double unit = 1)
      : values_(rows * count <= kFew ? few_ : new float[rows * count]) {
    for (Index m = 0; m < rows; ++m) {
      for (Index s = 0; s < count; ++s) {
        values_[m * count + s] = static_cast<float>(from[m * stride + s] * unit);
      }
    }
  }
  FloatCoefficients(const FloatCoefficients&) = delete;
  FloatCoefficients& operator=(const FloatCoefficients&) = delete;
  ~FloatCoefficients() {
    if (values_ != few_) delete[] values_;
  }
  const float* get() const { return values_; }

 private:
  static constexpr Index kFew = 512;
  float few_[kFew];
  float* values_;
};

template <class V, int N>
ELLZERO_INLINE void combine_n(const float* const* columns, const float* coefficients, Index count,
                              Index begin, Index end, double* out, Index out_stride) {
  using F = typename Floats<V>::type;
  each_stretch<F, N>(columns, coefficients, count, count, begin, end,
                     [&](const float* t, Index from, Index to) {
                       for (Index m = 0; m < N; ++m) {
                         double* row = out + m * out_stride - begin;
                         for (Index i = from; i < to; ++i) row[i] = t[m * kApart + i - from];
                       }
                     });
}

template <class V>
ELLZERO_INLINE void combine_float_rows_any(const float* const* columns, const float* coefficients,
                                           Index rows, Index count, Index begin, Index end,
                                           double* out, Index out_stride) {
  switch (rows) {
    case 1:
      return combine_n<V, 1>(columns, coefficients, count, begin, end, out, out_stride);
    case 2:
      return combine_n<V, 2>(columns, coefficients, count, begin, end, out, out_stride);
    case 3:
      return combine_n<V, 3>(columns, coefficients, count, begin, end, out, out_stride);
    default:
      return combine_n<V, 4>(columns, coefficients, count, begin, end, out, out_stride);
  }
}

template <class V>
ELLZERO_INLINE void flip_float_columns_any(const float* const* columns, const float* a, Index count,
                                           double q, double sign, Index length, double* c,
                                           double* d) {
  using F = typename Floats<V>::type;
  const double step = sign * q;
  each_stretch<F, 1>(columns, a, count, count, 0, length,
                     [&](const float* t, Index from, Index to) {
                       for (Index i = from; i < to; ++i) {
                         const double own = t[i - from];
                         c[i] += step * own;
                         d[i] += sign * own * own;
                       }
                     });
}

// N rows of the coefficients.
template <class V, int N>
ELLZERO_INLINE void subtract_squares_n(const float* const* columns, const float* coefficients,
                                       Index stride, Index count, Index begin, Index end,
                                       double* d) {
  using F = typename Floats<V>::type;
  each_stretch<F, N>(columns, coefficients, stride, count, begin, end,
                     [&](const float* t, Index from, Index to) {
                       for (Index m = 0; m < N; ++m) {
                         for (Index i = from; i < to; ++i) {
                           const double own = t[m * kApart + i - from];
                           d[i] -= own * own;
                         }
                       }
                     });
}

template <class V>
ELLZERO_INLINE void subtract_squares_any(const float* const* columns, const float* triangle,
                                         Index size, Index begin, Index end, double* d) {
  Index r = 0;
  for (; r + 4 <= size; r += 4) {
    subtract_squares_n<V, 4>(columns, triangle + r * size, size, r + 4, begin, end, d);
  }
  for (; r < size; ++r) {
    subtract_squares_n<V, 1>(columns, triangle + r * size, size, r + 1, begin, end, d);
  }
}

ELLZERO_BY_LANES(subtract_squares,
                 (const float* const* columns, const float* triangle, Index size, Index begin,
                  Index end, double* d),
                 (columns, triangle, size, begin, end, d))
ELLZERO_BY_LANES(combine_float_rows,
                 (const float* const* columns, const float* coefficients, Index rows, Index count,
                  Index begin, Index end, double* out, Index out_stride),
                 (columns, coefficients, rows, count, begin, end, out, out_stride))
ELLZERO_BY_LANES(flip_float_columns,
                 (const float* const* columns, const float* a, Index count, double q, double sign,
                  Index length, double* c, double* d),
                 (columns, a, count, q, sign, length, c, d))

// Whether there is any.
ELLZERO_MULTIVERSION_WIDE
bool any_possible(const double* c, const double* d, double slack_c, double slack_d, double least,
                  Index count) {
  constexpr double kClosed = -std::numeric_limits<double>::infinity();
  Index found = 0;
  for (Index i = 0; i < count; ++i) {
    const double reach = std::fabs(c[i]) + slack_c;
    found += (d[i] > kClosed) & (reach * reach > least * (d[i] - slack_d));
  }
  return found > 0;
}

// Scores to float32, -1 of columns that are closed; returns the highest.
ELLZERO_MULTIVERSION_WIDE
float score_in_floats(const double* c, const double* d, double unit, double floor, Index count,
                      float* score) {
  auto highest = bits::ordered(-1.0f);
  for (Index i = 0; i < count; ++i) {
    const bool open = d[i] > floor;
    const float own = static_cast<float>(c[i] * unit);
    const float ratio = own * own / static_cast<float>(open ? d[i] : 1.0);
    score[i] = open ? ratio : -1.0f;
    highest = std::max(highest, bits::ordered(score[i]));
  }
  return bits::from_ordered(highest);
}

}  // namespace

ELLZERO_BY_LANES(multiply_float_panels,
                 (const float* panel, Index rows, Index columns, const float* v, Index width,
                  float* const* out),
                 (panel, rows, columns, v, width, out))
ELLZERO_BY_LANES(pack_float_panel,
                 (const Strided<double>& x, Index rows, Index columns, const double* mean,
                  const double* scale, const double* root_weight, float* panel),
                 (x, rows, columns, mean, scale, root_weight, panel))
ELLZERO_BY_LANES(pack_float_panel,
                 (const Strided<float>& x, Index rows, Index columns, const double* mean,
                  const double* scale, const double* root_weight, float* panel),
                 (x, rows, columns, mean, scale, root_weight, panel))

void combine(const float* const* columns, const double* coefficients, Index count, Index begin,
             Index end, double* out) {
  // They may be out of a float's range, as y may be: in units of the largest's power of two.
  double largest = 0;
  for (Index s = 0; s < count; ++s) largest = std::max(largest, std::fabs(coefficients[s]));
  const int power = largest > 0 ? std::clamp(std::ilogb(largest), -1000, 1000) : 0;
  const FloatCoefficients own(coefficients, 0, 1, count, std::ldexp(1.0, -power));
  combine_float_rows(columns, own.get(), 1, count, begin, end, out, 0);
  if (power == 0) return;
  const double unit = std::ldexp(1.0, power);
  for (Index i = 0; i < end - begin; ++i) out[i] *= unit;
}

void combine_rows(const float* const* columns, const double* coefficients, Index stride, Index rows,
                  Index count, Index begin, Index end, double* out, Index out_stride) {
  const FloatCoefficients own(coefficients, stride, rows, count);
  combine_float_rows(columns, own.get(), rows, count, begin, end, out, out_stride);
}

FloatTriangle::FloatTriangle(const double* m, Index stride, Index k)
    : size_(k), values_(k * k, 0.0f) {
  for (Index r = 0; r < k; ++r) {
    for (Index s = 0; s <= r; ++s) values_[r * k + s] = static_cast<float>(m[r * stride + s]);
  }
}

void subtract_explained(const float* const* columns, const FloatTriangle& m, Index begin, Index end,
                        double* d) {
  subtract_squares(columns, m.row(0), m.size(), begin, end, d);
}

void flip_columns(const float* const* columns, const double* a, Index count, double q, double sign,
                  Index length, double* c, double* d) {
  const FloatCoefficients own(a, 0, 1, count);
  flip_float_columns(columns, own.get(), count, q, sign, length, c, d);
}

void seek_insertions(const double* c, const double* d, double unit, double floor, Index count,
                     Index most, std::vector<Index>& best) {
  constexpr Index kTogether = 128;  // few of these have one of the best
  float score[kTogether];
  std::vector<float> scores;  // of the best, which they are to be held against
  best.clear();
  for (Index begin = 0; begin < count && most > 0; begin += kTogether) {
    const Index length = std::min(kTogether, count - begin);
    const auto bar = [&] { return static_cast<Index>(best.size()) < most ? -1 : scores.back(); };
    const float highest = score_in_floats(c + begin, d + begin, unit, floor, length, score);
    if (!(highest > bar())) continue;
    for (Index i = 0; i < length; ++i) {
      if (!(score[i] > bar())) continue;
      const auto place =
          std::upper_bound(scores.begin(), scores.end(), score[i], std::greater<float>()) -
          scores.begin();
      scores.insert(scores.begin() + place, score[i]);
      best.insert(best.begin() + place, begin + i);
      if (static_cast<Index>(best.size()) > most) {
        scores.pop_back();
        best.pop_back();
      }
    }
  }
}

Index possible_insertions(const double* c, const double* d, double slack_c, double slack_d,
                          double least, Index count, Index most, Index* places) {
  constexpr Index kTogether = 256;
  constexpr double kClosed = -std::numeric_limits<double>::infinity();
  Index found = 0;
  for (Index begin = 0; begin < count && found <= most; begin += kTogether) {
    const Index end = std::min(count, begin + kTogether);
    if (!any_possible(c + begin, d + begin, slack_c, slack_d, least, end - begin)) continue;
    for (Index i = begin; i < end && found <= most; ++i) {
      const double reach = std::fabs(c[i]) + slack_c;
      if (d[i] > kClosed && reach * reach > least * (d[i] - slack_d)) places[found++] = i;
    }
  }
  return found;
}

}  // namespace ellzero
