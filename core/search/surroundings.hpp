// Some of an engine's units, with an engine of their own that moves in less time: those among which
// a search looks further around.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/engine.hpp"

namespace ellzero {

class Surroundings {
 public:
  // Chooses the marked units of an engine that outlives this, and keeps those from before if most
  // of them are among these. There may be no engine of them alone.
  void choose(const Engine& whole, const std::vector<char>& marked, const Limits& limits,
              const Context& context) {
    const auto wanted = [&](Index unit) { return marked[unit] != 0; };
    if (2 * std::count_if(units_.begin(), units_.end(), wanted) <
        static_cast<std::ptrdiff_t>(units_.size())) {
      units_.clear();
      engine_.reset();
    }
    place_.assign(whole.units(), -1);
    for (std::size_t i = 0; i < units_.size(); ++i) place_[units_[i]] = static_cast<Index>(i);
    for (Index unit = 0; unit < whole.units(); ++unit) {
      if (!marked[unit] || place_[unit] >= 0) continue;
      place_[unit] = static_cast<Index>(units_.size());
      units_.push_back(unit);
    }
    limits_ = {std::vector<char>(limits.forced.empty() ? 0 : units_.size(), 0), limits.max_size};
    for (std::size_t i = 0; i < limits_.forced.size(); ++i) {
      limits_.forced[i] = limits.forced[units_[i]];
    }
    engine_ = whole.on_some(units_, std::move(engine_), context);
  }

  // Null if there is none.
  Engine* engine() const { return engine_.get(); }
  const Limits& limits() const { return limits_; }
  bool holds(const std::vector<Index>& support) const {
    const auto here = [&](Index unit) { return place_[unit] >= 0; };
    return engine_ && std::all_of(support.begin(), support.end(), here);
  }

  // A support as the units are numbered here, and as the whole engine numbers them.
  std::vector<Index> inside(const std::vector<Index>& support) const {
    return renamed(support, place_);
  }
  std::vector<Index> outside(const std::vector<Index>& support) const {
    return renamed(support, units_);
  }

 private:
  static std::vector<Index> renamed(std::vector<Index> support, const std::vector<Index>& names) {
    for (Index& unit : support) unit = names[unit];
    return support;
  }

  std::vector<Index> units_;
  std::vector<Index> place_;  // of every unit among these; -1 if it is not
  Limits limits_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace ellzero
