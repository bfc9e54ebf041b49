// Numbers as their bits, and back.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/simd.hpp"

namespace ellzero::bits {

template <class To, class From>
ELLZERO_INLINE To copied(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

ELLZERO_INLINE std::uint64_t of(double x) { return copied<std::uint64_t>(x); }
ELLZERO_INLINE double from(std::uint64_t u) { return copied<double>(u); }

// Numbers from 0 on are in the order of these integers, and any below 0 come before them. Compilers
// know how to find the highest of many integers, but not, where NaN has to be minded, of numbers.
ELLZERO_INLINE std::int64_t ordered(double x) { return copied<std::int64_t>(x); }
ELLZERO_INLINE std::int32_t ordered(float x) { return copied<std::int32_t>(x); }
ELLZERO_INLINE double from_ordered(std::int64_t i) { return copied<double>(i); }
ELLZERO_INLINE float from_ordered(std::int32_t i) { return copied<float>(i); }

}  // namespace ellzero::bits
