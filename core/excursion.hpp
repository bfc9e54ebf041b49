// Leaving a support for a while: where it stands is saved, and restored after a few flips.
#pragma once

#include <utility>
#include <vector>

#include "support.hpp"

namespace ellzero {

inline Support::State Support::save() const {
  return {members_, m_, z_, beta_, inverse_diagonal_, c_, d_, capacity_, drift_, flips_};
}

inline void Support::restore(const State& state) {
  std::vector<const double*> gram;
  for (const Index j : state.members) gram.push_back(acquire(j));
  for (const Index j : members_) cache_.release(j);
  gram_ = std::move(gram);
  members_ = state.members;
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
