// Four or eight doubles that are added and multiplied together, and marks that compile a hot loop
// more than once: for any x86-64 processor, and for those with AVX2 and FMA. Which one runs is
// decided at load time. The wide mark adds AVX-512, for loops that compilers know how to widen:
// with divisions and polynomials. Where lanes run along columns, a loop is written for vectors V of
// any width, and ELLZERO_BY_LANES makes a function of it that takes the widest there is; each
// column has sums of its own, so that the bits are the same.
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
#define ELLZERO_WIDE __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))
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

inline constexpr std::ptrdiff_t kLanes = 4, kWideLanes = 8;

// What follows must be inlined: each clone would pass a vector in registers of its own.
#if defined(__GNUC__) && !defined(ELLZERO_PORTABLE_LANES)
typedef double Lanes __attribute__((vector_size(32)));
typedef double WideLanes __attribute__((vector_size(64)));

template <class V>
inline constexpr std::ptrdiff_t kLanesOf = sizeof(V) / sizeof(double);

template <class V>
ELLZERO_INLINE V load_as(const double* from) {
  typedef double Unaligned __attribute__((vector_size(sizeof(V)), aligned(8), may_alias));
  return *reinterpret_cast<const Unaligned*>(from);
}
template <class V>
ELLZERO_INLINE V load_as(const float* from) {
  typedef float Unaligned __attribute__((vector_size(sizeof(V) / 2), aligned(4), may_alias));
  return __builtin_convertvector(*reinterpret_cast<const Unaligned*>(from), V);
}
template <class V>
ELLZERO_INLINE void store(double* to, V v) {
  typedef double Unaligned __attribute__((vector_size(sizeof(V)), aligned(8), may_alias));
  *reinterpret_cast<Unaligned*>(to) = v;
}
template <class V>
ELLZERO_INLINE V broadcast_as(double value, V zeros = V{}) {
  return value - zeros;
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

template <class V>
inline constexpr std::ptrdiff_t kLanesOf = kLanes;

template <class V, class T>
inline V load_as(const T* from) {
  return {{double(from[0]), double(from[1]), double(from[2]), double(from[3])}};
}
inline void store(double* to, const Lanes& v) {
  for (int i = 0; i < 4; ++i) to[i] = v.lane[i];
}
template <class V>
inline V broadcast_as(double value) {
  return {{value, value, value, value}};
}
#endif

template <class T>
ELLZERO_INLINE Lanes load(const T* from) {
  return load_as<Lanes>(from);
}
ELLZERO_INLINE Lanes broadcast(double value) { return broadcast_as<Lanes>(value); }

// Whether functions made by ELLZERO_BY_LANES take eight lanes: where the processor has them, and
// does not slow down by much for them, as the first that had them did.
#if defined(ELLZERO_WIDE)
inline bool has_wide_lanes() {
  return __builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512vnni");
}
inline bool takes_wide_lanes = has_wide_lanes();

// void name parameters { name_any<V> arguments; }
#define ELLZERO_BY_LANES(name, parameters, arguments)                                 \
  namespace {                                                                         \
  ELLZERO_MULTIVERSION void name##_narrow parameters { name##_any<Lanes> arguments; } \
  ELLZERO_WIDE void name##_wide parameters { name##_any<WideLanes> arguments; }       \
  }                                                                                   \
  void name parameters {                                                              \
    if (takes_wide_lanes) return name##_wide arguments;                               \
    name##_narrow arguments;                                                          \
  }
#else
inline bool has_wide_lanes() { return false; }
inline bool takes_wide_lanes = false;
#define ELLZERO_BY_LANES(name, parameters, arguments) \
  ELLZERO_MULTIVERSION void name parameters { name##_any<Lanes> arguments; }
#endif

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
