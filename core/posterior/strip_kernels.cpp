#include "posterior/strips.hpp"

namespace ellzero {

static_assert(kStrip == 3 * kLanes, "three vectors a column");

ELLZERO_MULTIVERSION
void subtract_products(const double* a, const double* b, Index count, double* c) {
  for (Index j = 0; j < kStrip; j += 4) {
    Lanes s00 = {}, s01 = {}, s02 = {}, s10 = {}, s11 = {}, s12 = {};
    Lanes s20 = {}, s21 = {}, s22 = {}, s30 = {}, s31 = {}, s32 = {};
    const double *x = a, *y = b + j;
    for (Index k = 0; k < count; ++k, x += kStrip, y += kStrip) {
      const Lanes x0 = load(x), x1 = load(x + 4), x2 = load(x + 8);
      const Lanes y0 = broadcast(y[0]);
      s00 += x0 * y0, s01 += x1 * y0, s02 += x2 * y0;
      const Lanes y1 = broadcast(y[1]);
      s10 += x0 * y1, s11 += x1 * y1, s12 += x2 * y1;
      const Lanes y2 = broadcast(y[2]);
      s20 += x0 * y2, s21 += x1 * y2, s22 += x2 * y2;
      const Lanes y3 = broadcast(y[3]);
      s30 += x0 * y3, s31 += x1 * y3, s32 += x2 * y3;
    }
    double* o = c + j * kStrip;
    store(o, load(o) - s00), store(o + 4, load(o + 4) - s01), store(o + 8, load(o + 8) - s02);
    o += kStrip;
    store(o, load(o) - s10), store(o + 4, load(o + 4) - s11), store(o + 8, load(o + 8) - s12);
    o += kStrip;
    store(o, load(o) - s20), store(o + 4, load(o + 4) - s21), store(o + 8, load(o + 8) - s22);
    o += kStrip;
    store(o, load(o) - s30), store(o + 4, load(o + 4) - s31), store(o + 8, load(o + 8) - s32);
  }
}

ELLZERO_MULTIVERSION
void solve_square(const double* l, const double* inverse, double* c) {
  for (Index j = 0; j < kStrip; ++j) {
    double* o = c + j * kStrip;
    Lanes s0 = load(o), s1 = load(o + 4), s2 = load(o + 8);
    for (Index k = 0; k < j; ++k) {
      const Lanes factor = broadcast(l[k * kStrip + j]);
      const double* x = c + k * kStrip;
      s0 = s0 - load(x) * factor, s1 = s1 - load(x + 4) * factor, s2 = s2 - load(x + 8) * factor;
    }
    const Lanes f = broadcast(inverse[j]);
    store(o, s0 * f), store(o + 4, s1 * f), store(o + 8, s2 * f);
  }
}

ELLZERO_MULTIVERSION
void subtract_times(const double* a, const double* v, Index count, double* out) {
  // Two sums of each, since one addition has to wait for the one before it.
  Lanes s0 = {}, s1 = {}, s2 = {}, t0 = {}, t1 = {}, t2 = {};
  Index k = 0;
  for (; k + 2 <= count; k += 2, a += 2 * kStrip) {
    const Lanes f = broadcast(v[k]), g = broadcast(v[k + 1]);
    s0 += load(a) * f, s1 += load(a + 4) * f, s2 += load(a + 8) * f;
    t0 += load(a + 12) * g, t1 += load(a + 16) * g, t2 += load(a + 20) * g;
  }
  if (k < count) {
    const Lanes f = broadcast(v[k]);
    s0 += load(a) * f, s1 += load(a + 4) * f, s2 += load(a + 8) * f;
  }
  s0 += t0, s1 += t1, s2 += t2;
  store(out, load(out) - s0), store(out + 4, load(out + 4) - s1),
      store(out + 8, load(out + 8) - s2);
}

ELLZERO_MULTIVERSION
void subtract_transposed_times(const double* a, const double* x, Index count, double* v) {
  const Lanes x0 = load(x), x1 = load(x + 4), x2 = load(x + 8);
  for (Index k = 0; k < count; ++k) {
    const double* column = a + k * kStrip;
    Lanes s = load(column) * x0;
    s += load(column + 4) * x1;
    s += load(column + 8) * x2;
    v[k] -= sum(s);
  }
}

}  // namespace ellzero
