// States of chains as Python sees them: arrays by name. Among what a chain drew, their names have
// "state:" before them.
#pragma once

#include <nanobind/stl/string.h>

#include <string>

#include "bindings/bindings.hpp"
#include "posterior/chain_state.hpp"

namespace ellzero {

inline void add_state(nb::dict& out, const ChainState& state, const std::string& prefix) {
  const auto add = [&](const auto& fields) {
    for (const auto& [name, values] : fields) out[(prefix + name).c_str()] = to_array(values);
  };
  add(state.numbers);
  add(state.integers);
}

inline nb::dict to_dict(const ChainState& state) {
  nb::dict out;
  add_state(out, state, "");
  return out;
}

inline ChainState to_state(const nb::dict& arrays) {
  ChainState state;
  for (const auto& [key, array] : arrays) {
    const std::string name = nb::cast<std::string>(key);
    Vector<double> numbers;
    Vector<std::int64_t> integers;
    if (nb::try_cast(array, numbers, false)) {
      state.numbers[name].assign(numbers.data(), numbers.data() + numbers.size());
    } else if (nb::try_cast(array, integers, false)) {
      state.integers[name].assign(integers.data(), integers.data() + integers.size());
    } else {
      throw nb::value_error("states: arrays of float64 or int64");
    }
  }
  return state;
}

inline std::vector<ChainState> to_states(const nb::list& all) {
  std::vector<ChainState> states;
  for (const nb::handle one : all) states.push_back(to_state(nb::cast<nb::dict>(one)));
  return states;
}

}  // namespace ellzero
