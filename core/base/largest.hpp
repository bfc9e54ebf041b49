// The places of the largest of many numbers.
#pragma once

#include <algorithm>
#include <vector>

#include "base/kernels.hpp"

namespace ellzero {

// At most `count` places of 0 .. size with the largest value(i), in no order; of equals the first.
template <class Value>
std::vector<Index> places_of_largest(Index size, Index count, Value&& value) {
  std::vector<Index> out(size);
  for (Index i = 0; i < size; ++i) out[i] = i;
  if (count >= size) return out;
  std::nth_element(out.begin(), out.begin() + count, out.end(), [&](Index a, Index b) {
    const double x = value(a), y = value(b);
    return x > y || (x == y && a < b);
  });
  out.resize(count);
  return out;
}

}  // namespace ellzero
