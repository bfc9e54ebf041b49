#include "base/kernels.hpp"

namespace ellzero {
namespace {

// Vectors across a panel.
template <class V>
inline constexpr Index kAcross = kPanelColumns / kLanesOf<V>;

template <class T>
ELLZERO_INLINE void panel_moments_any(const T* panel, const Stretch& over, Moments* out) {
  for (Index c = 0; c < kPanelColumns; ++c) {
    out[c] = {};
    out[c].weight = over.weight;
    out[c].mean_y = over.mean_y;
  }
  if (over.weight == 0) return;
  constexpr Index kHalves = kAcross<Lanes>;
  const Lanes inverse = broadcast(1 / over.weight);
  Lanes first[kHalves] = {}, left[kHalves] = {}, xx[kHalves] = {}, xy[kHalves] = {};
  if (over.centred) {
    for (Index r = 0; r < over.rows; ++r) {
      const Lanes w = broadcast(over.w ? over.w[r] : 1.0);
      for (Index h = 0; h < kHalves; ++h) {
        first[h] += w * load(panel + r * kPanelColumns + h * kLanes);
      }
    }
    for (Index h = 0; h < kHalves; ++h) first[h] *= inverse;
  }
  for (Index r = 0; r < over.rows; ++r) {
    const Lanes w = broadcast(over.w ? over.w[r] : 1.0), y = broadcast(over.y[r] - over.mean_y);
    for (Index h = 0; h < kHalves; ++h) {
      const Lanes u = load(panel + r * kPanelColumns + h * kLanes) - first[h];
      const Lanes wu = w * u;
      left[h] += wu;
      xx[h] += wu * u;
      xy[h] += wu * y;
    }
  }
  for (Index c = 0; c < kPanelColumns; ++c) {
    const Index h = c / kLanes, l = c % kLanes;
    out[c].xx = xx[h][l];
    out[c].xy = xy[h][l];
    if (!over.centred) continue;
    // What the rounding of the first mean left, as in moments().
    const double correction = left[h][l] / over.weight;
    out[c].mean_x = first[h][l] + correction;
    const double excess = left[h][l] * correction;
    out[c].xx = out[c].xx > excess ? out[c].xx - excess : 0;
  }
}

template <class V, int N, class T>
ELLZERO_INLINE void multiply_panel_n(const T* panel, Index rows, const double* shift,
                                     const double* v, double* out) {
  constexpr Index kVectors = kAcross<V>;
  V m[kVectors], a[N][kVectors] = {};
  for (Index h = 0; h < kVectors; ++h) m[h] = load_as<V>(shift + h * kLanesOf<V>);
  for (Index r = 0; r < rows; ++r) {
    V x[kVectors];
    for (Index h = 0; h < kVectors; ++h) {
      x[h] = load_as<V>(panel + r * kPanelColumns + h * kLanesOf<V>) - m[h];
    }
    for (int b = 0; b < N; ++b) {
      const V w = broadcast_as<V>(v[r * N + b]);
      for (Index h = 0; h < kVectors; ++h) a[b][h] += x[h] * w;
    }
  }
  for (int b = 0; b < N; ++b) {
    for (Index h = 0; h < kVectors; ++h) {
      store(out + b * kPanelColumns + h * kLanesOf<V>, a[b][h]);
    }
  }
}

template <class V, class T>
ELLZERO_INLINE void multiply_panel_any(const T* panel, Index rows, const double* shift,
                                       const double* v, Index width, double* out) {
  static_assert(kPanelProducts == 6, "as many cases as that");
  switch (width) {
    case 1:
      return multiply_panel_n<V, 1>(panel, rows, shift, v, out);
    case 2:
      return multiply_panel_n<V, 2>(panel, rows, shift, v, out);
    case 3:
      return multiply_panel_n<V, 3>(panel, rows, shift, v, out);
    case 4:
      return multiply_panel_n<V, 4>(panel, rows, shift, v, out);
    case 5:
      return multiply_panel_n<V, 5>(panel, rows, shift, v, out);
    default:
      return multiply_panel_n<V, 6>(panel, rows, shift, v, out);
  }
}

// W vectors of columns of a panel, with sums over rows that are put together as those of
// multiply_unpacked().
template <class V, int W, class T>
ELLZERO_INLINE void multiply_wide_panel_n(const T* panel, Index rows, const double* shift,
                                          const double* scale, const double* v, double* out) {
  V m[W], total[W] = {};
  for (int w = 0; w < W; ++w) m[w] = load_as<V>(shift + w * kLanesOf<V>);
  for (Index row = 0; row < rows; row += kTileRows) {
    const Index end = rows - row < kTileRows ? rows : row + kTileRows;
    V a[kLanes][W] = {};
    const auto add = [&](Index r, Index i) {
      const V factor = broadcast_as<V>(v[r]);
      for (int w = 0; w < W; ++w) {
        a[i][w] += (load_as<V>(panel + r * kWidePanel + w * kLanesOf<V>) - m[w]) * factor;
      }
    };
    Index r = row;
    for (; r + kLanes <= end; r += kLanes) {
      for (Index i = 0; i < kLanes; ++i) add(r + i, i);
    }
    for (Index i = 0; r + i < end; ++i) add(r + i, i);
    for (int w = 0; w < W; ++w) {
      a[0][w] += a[2][w];
      a[1][w] += a[3][w];
      a[0][w] += a[1][w];
      total[w] += a[0][w];
    }
  }
  for (int w = 0; w < W; ++w) {
    store(out + w * kLanesOf<V>, total[w] * load_as<V>(scale + w * kLanesOf<V>));
  }
}

template <class V, class T>
ELLZERO_INLINE void multiply_wide_panels_any(const T* panels, Index rows, Index columns,
                                             const double* shift, const double* scale,
                                             const double* v, double* out) {
  constexpr int kVectors = kLanesOf<V> > kLanes ? 4 : 2;  // as there are registers
  constexpr Index kAtOnce = kVectors * kLanesOf<V>;
  const auto multiply = [&](const double* shift, const double* scale, double* out) {
    for (Index j = 0; j < kWidePanel; j += kAtOnce) {
      multiply_wide_panel_n<V, kVectors>(panels + j, rows, shift + j, scale + j, v, out + j);
    }
    panels += rows * kWidePanel;
  };
  Index first = 0;
  for (; first + kWidePanel <= columns; first += kWidePanel) {
    multiply(shift + first, scale + first, out + first);
  }
  if (first == columns) return;
  double last_shift[kWidePanel] = {}, last_scale[kWidePanel] = {}, last_out[kWidePanel];
  for (Index j = first; j < columns; ++j) {
    last_shift[j - first] = shift[j];
    last_scale[j - first] = scale[j];
  }
  multiply(last_shift, last_scale, last_out);
  for (Index j = first; j < columns; ++j) out[j] = last_out[j - first];
}

template <int N, class T>
ELLZERO_INLINE void multiply_rows_n(const T* const* rows, Index count, Index columns,
                                    const double* shift, const double* v, double* const* out) {
  Index j = 0;
  for (; j + 2 * kLanes <= columns; j += 2 * kLanes) {
    const Lanes m[2] = {load(shift + j), load(shift + j + kLanes)};
    Lanes a[N][2];
    for (int b = 0; b < N; ++b) {
      for (int h = 0; h < 2; ++h) a[b][h] = load(out[b] + j + h * kLanes);
    }
    for (Index r = 0; r < count; ++r) {
      const Lanes x[2] = {load(rows[r] + j) - m[0], load(rows[r] + j + kLanes) - m[1]};
      for (int b = 0; b < N; ++b) {
        const Lanes w = broadcast(v[r * N + b]);
        for (int h = 0; h < 2; ++h) a[b][h] += x[h] * w;
      }
    }
    for (int b = 0; b < N; ++b) {
      for (int h = 0; h < 2; ++h) store(out[b] + j + h * kLanes, a[b][h]);
    }
  }
  for (; j < columns; ++j) {
    for (int b = 0; b < N; ++b) {
      for (Index r = 0; r < count; ++r) {
        out[b][j] += (static_cast<double>(rows[r][j]) - shift[j]) * v[r * N + b];
      }
    }
  }
}

template <class T>
ELLZERO_INLINE void multiply_rows_any(const T* const* rows, Index count, Index columns,
                                      const double* shift, const double* v, Index width,
                                      double* const* out) {
  static_assert(kRowProducts == 3, "as many cases as that");
  switch (width) {
    case 1:
      return multiply_rows_n<1>(rows, count, columns, shift, v, out);
    case 2:
      return multiply_rows_n<2>(rows, count, columns, shift, v, out);
    default:
      return multiply_rows_n<3>(rows, count, columns, shift, v, out);
  }
}

template <class T>
ELLZERO_INLINE void subtract_rows_any(const T* const* rows, Index count, Index columns,
                                      const double* shift, const double* scale, const double* root,
                                      const double* y, double* squares_out, double* along_out,
                                      double* sums_out) {
  double* __restrict squares = squares_out;
  double* __restrict along = along_out;
  double* __restrict sums = sums_out;
  for (Index r = 0; r < count; ++r) {
    const T* row = rows[r];
    const double own = root[r], response = y[r];
    for (Index j = 0; j < columns; ++j) {
      const double z = (static_cast<double>(row[j]) - shift[j]) * scale[j] * own;
      squares[j] -= z * z;
      along[j] -= z * response;
      sums[j] -= z * own;
    }
  }
}

}  // namespace

ELLZERO_MULTIVERSION_WIDE
void subtract_rows(const double* const* rows, Index count, Index columns, const double* shift,
                   const double* scale, const double* root, const double* y, double* squares,
                   double* along, double* sums) {
  subtract_rows_any(rows, count, columns, shift, scale, root, y, squares, along, sums);
}

ELLZERO_MULTIVERSION_WIDE
void subtract_rows(const float* const* rows, Index count, Index columns, const double* shift,
                   const double* scale, const double* root, const double* y, double* squares,
                   double* along, double* sums) {
  subtract_rows_any(rows, count, columns, shift, scale, root, y, squares, along, sums);
}

ELLZERO_MULTIVERSION
void panel_moments(const double* panel, const Stretch& over, Moments* out) {
  panel_moments_any(panel, over, out);
}

ELLZERO_MULTIVERSION
void panel_moments(const float* panel, const Stretch& over, Moments* out) {
  panel_moments_any(panel, over, out);
}

ELLZERO_BY_LANES(multiply_wide_panels,
                 (const double* panels, Index rows, Index columns, const double* shift,
                  const double* scale, const double* v, double* out),
                 (panels, rows, columns, shift, scale, v, out))
ELLZERO_BY_LANES(multiply_wide_panels,
                 (const float* panels, Index rows, Index columns, const double* shift,
                  const double* scale, const double* v, double* out),
                 (panels, rows, columns, shift, scale, v, out))

ELLZERO_BY_LANES(multiply_panel,
                 (const double* panel, Index rows, const double* shift, const double* v,
                  Index width, double* out),
                 (panel, rows, shift, v, width, out))
ELLZERO_BY_LANES(multiply_panel,
                 (const float* panel, Index rows, const double* shift, const double* v, Index width,
                  double* out),
                 (panel, rows, shift, v, width, out))

ELLZERO_MULTIVERSION
void multiply_rows(const double* const* rows, Index count, Index columns, const double* shift,
                   const double* v, Index width, double* const* out) {
  multiply_rows_any(rows, count, columns, shift, v, width, out);
}

ELLZERO_MULTIVERSION
void multiply_rows(const float* const* rows, Index count, Index columns, const double* shift,
                   const double* v, Index width, double* const* out) {
  multiply_rows_any(rows, count, columns, shift, v, width, out);
}

}  // namespace ellzero
