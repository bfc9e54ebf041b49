// Four doubles that are added and multiplied together, and the mark that compiles a hot loop twice,
// for any x86-64 processor and for those with AVX2 and FMA; which one runs is decided at load time.
// The wide mark is for loops full of divisions and polynomials, which gain by AVX-512, too.
#pragma once

#include <cstddef>
#include <cstdlib>  // defines __GLIBC__

// GCC 12 and glibc can do that; elsewhere the baseline is compiled alone. So it is for the thread
// sanitizer, which is not there yet when the choice is made.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && __GNUC__ >= 12 && \
    !defined(__SANITIZE_THREAD__)
#define ELLZERO_MULTIVERSION __attribute__((target_clones("default", "arch=x86-64-v3")))
#define ELLZERO_MULTIVERSION_WIDE \
  __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define ELLZERO_MULTIVERSION
#define ELLZERO_MULTIVERSION_WIDE
#endif

#if defined(__GNUC__)
#define ELLZERO_INLINE inline __attribute__((always_inline))
#define ELLZERO_PREFETCH(pointer) __builtin_prefetch(pointer)
#else
#define ELLZERO_INLINE inline
#define ELLZERO_PREFETCH(pointer) ((void)(pointer))
#endif

namespace ellzero {

inline constexpr std::ptrdiff_t kLanes = 4;

// What follows must be inlined: each clone would pass a vector in registers of its own.
#if defined(__GNUC__) && !defined(ELLZERO_PORTABLE_LANES)
typedef double Lanes __attribute__((vector_size(32)));

ELLZERO_INLINE Lanes load(const double* from) {
  typedef double Unaligned __attribute__((vector_size(32), aligned(8), may_alias));
  return *reinterpret_cast<const Unaligned*>(from);
}
ELLZERO_INLINE Lanes load(const float* from) {
  typedef float Unaligned __attribute__((vector_size(16), aligned(4), may_alias));
  return __builtin_convertvector(*reinterpret_cast<const Unaligned*>(from), Lanes);
}
ELLZERO_INLINE void store(double* to, Lanes v) {
  typedef double Unaligned __attribute__((vector_size(32), aligned(8), may_alias));
  *reinterpret_cast<Unaligned*>(to) = v;
}
#else
struct Lanes {
  double lane[4];
  double operator[](std::ptrdiff_t i) const { return lane[i]; }
  double& operator[](std::ptrdiff_t i) { return lane[i]; }
  Lanes& operator+=(const Lanes& o) {
    for (int i = 0; i < 4; ++i) lane[i] += o.lane[i];
    return *this;
  }
  Lanes& operator*=(const Lanes& o) {
    for (int i = 0; i < 4; ++i) lane[i] *= o.lane[i];
    return *this;
  }
  friend Lanes operator-(Lanes a, const Lanes& b) {
    for (int i = 0; i < 4; ++i) a.lane[i] -= b.lane[i];
    return a;
  }
  friend Lanes operator*(Lanes a, const Lanes& b) { return a *= b; }
};

template <class T>
inline Lanes load(const T* from) {
  return {{double(from[0]), double(from[1]), double(from[2]), double(from[3])}};
}
inline void store(double* to, const Lanes& v) {
  for (int i = 0; i < 4; ++i) to[i] = v.lane[i];
}
#endif

ELLZERO_INLINE Lanes broadcast(double value) { return Lanes{value, value, value, value}; }

// Four rows of four become four columns.
ELLZERO_INLINE void transpose(Lanes& a, Lanes& b, Lanes& c, Lanes& d) {
#if defined(__GNUC__) && !defined(ELLZERO_PORTABLE_LANES) && (defined(__clang__) || __GNUC__ >= 12)
  const Lanes ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6);
  const Lanes ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Lanes cd_even = __builtin_shufflevector(c, d, 0, 4, 2, 6);
  const Lanes cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  a = __builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5);
  c = __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7);
  d = __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7);
#else
  const Lanes rows[4] = {a, b, c, d};
  a = Lanes{rows[0][0], rows[1][0], rows[2][0], rows[3][0]};
  b = Lanes{rows[0][1], rows[1][1], rows[2][1], rows[3][1]};
  c = Lanes{rows[0][2], rows[1][2], rows[2][2], rows[3][2]};
  d = Lanes{rows[0][3], rows[1][3], rows[2][3], rows[3][3]};
#endif
}

// One fixed order, so that a sum is the same whichever tile it was computed in.
ELLZERO_INLINE double sum(Lanes v) { return (v[0] + v[2]) + (v[1] + v[3]); }

}  // namespace ellzero
