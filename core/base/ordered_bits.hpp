// Numbers from 0 on are in the order of their bits, and any below 0 come before them. Compilers
// know how to find the highest of many integers, but not, where NaN has to be minded, of numbers.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/simd.hpp"

namespace ellzero {

ELLZERO_INLINE std::int64_t ordered_bits(double number) {
  std::int64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}
ELLZERO_INLINE std::int32_t ordered_bits(float number) {
  std::int32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}
ELLZERO_INLINE double number_of(std::int64_t bits) {
  double number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}
ELLZERO_INLINE float number_of(std::int32_t bits) {
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

}  // namespace ellzero
