// Leaving a support for a while: where it stands is saved, and restored after a few flips.
#pragma once

#include <utility>
#include <vector>

#include "engine/support.hpp"

namespace ellzero {

inline Support::State Support::save() const {
  return {members_, m_, z_, beta_, inverse_diagonal_, c_, d_, capacity_, drift_, flips_};
}

inline void Support::hold(const std::vector<Index>& members) {
  std::vector<const double*> gram;
  try {
    for (const Index j : members) gram.push_back(acquire(j));
  } catch (...) {
    for (std::size_t s = 0; s < gram.size(); ++s) cache_.release(members[s]);
    throw;
  }
  for (const Index j : members_) cache_.release(j);
  gram_ = std::move(gram);
  members_ = members;
}

inline void Support::start_at(const std::vector<Index>& target) {
  hold(target);
  refresh();
}

inline void Support::restore(const State& state) {
  hold(state.members);
  m_ = state.m;
  z_ = state.z;
  beta_ = state.beta;
  inverse_diagonal_ = state.inverse_diagonal;
  c_ = state.c;
  d_ = state.d;
  capacity_ = state.capacity;
  drift_ = state.drift;
  flips_ = state.flips;
  neglected_ = false;
}

}  // namespace ellzero
