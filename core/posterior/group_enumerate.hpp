// The whole posterior over sets of groups: what enumerate.hpp asks beyond GroupSpikeSlab itself.
#pragma once

#include <vector>

#include "posterior/enumerate.hpp"
#include "posterior/group_spike_slab.hpp"

namespace ellzero {

inline void add_members(const GroupSpikeSlab& model, double w, const std::vector<double>& reference,
                        Masses& sums) {
  GroupBlock block;
  std::vector<double> mean, variance;
  for (const Index unit : model.support().members()) {
    sums.inclusion[unit] += w;
    model.support().look_at(unit, block);
    model.moments(unit, block, mean, variance);
    const std::vector<Index>& columns = model.support().bases().units[unit].columns;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Index j = columns[i];
      const double off = mean[i] - reference[j];
      sums.mean[j] += w * mean[i];
      sums.square[j] += w * (off * off + variance[i]);
    }
  }
}

}  // namespace ellzero
