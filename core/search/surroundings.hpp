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
  // Chooses these units, in any order, of an engine that outlives this. There may be no engine of
  // them alone.
  void choose(const Engine& whole, std::vector<Index> units, const Limits& limits,
              const Context& context) {
    std::sort(units.begin(), units.end());
    units.erase(std::unique(units.begin(), units.end()), units.end());
    units_ = std::move(units);
    place_.assign(whole.units(), -1);
    for (std::size_t i = 0; i < units_.size(); ++i) place_[units_[i]] = static_cast<Index>(i);
    limits_ = {std::vector<char>(limits.forced.empty() ? 0 : units_.size(), 0), limits.max_size};
    for (std::size_t i = 0; i < limits_.forced.size(); ++i) {
      limits_.forced[i] = limits.forced[units_[i]];
    }
    engine_.reset();  // before there is another: they take memory
    engine_ = whole.on_some(units_, context);
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

  std::vector<Index> units_;  // sorted
  std::vector<Index> place_;  // of every unit among these; -1 if it is not
  Limits limits_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace ellzero
