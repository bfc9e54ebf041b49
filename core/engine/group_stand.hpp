// Where least squares on groups stands, for those who work something out there.
#pragma once

#include <vector>

#include "engine/blocks.hpp"
#include "engine/factor.hpp"

namespace ellzero {

struct GroupStand {
  const GroupBases& bases;
  const Factor& factor;
  const std::vector<Index>& columns;       // of the members, in the order of the factor
  const std::vector<const double*>& gram;  // their Gram columns
  const Blocks& blocks;
  double whole;  // 1 + tau
  Index size() const { return static_cast<Index>(columns.size()); }
};

}  // namespace ellzero
