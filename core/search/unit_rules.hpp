// Which sets of units are models, and how they are counted and priced.
//
// Heredity makes moves of closures. Strong: a unit needs all its parents, so it enters with those
// that it lacks, and theirs, and leaves with all that need it. Weak: it needs one of them, so it
// enters with one if it has none, and those leave that lose their last one.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/engine.hpp"

namespace ellzero {

struct UnitRules {
  // Of the units in a set, at most so many.
  struct Cap {
    std::vector<Index> units;
    Index most;
  };

  std::vector<char> forced;                 // by unit; empty for none
  std::vector<double> price;                // by unit; empty for one each. Forced ones are free
  bool by_columns = false;                  // sizes count independent columns, not units
  std::vector<std::vector<Index>> parents;  // by unit; empty for none
  bool strong = true;
  std::vector<Cap> caps;
  std::vector<signed char> signs;  // by column of X: that of its coefficient, 0 for any; or empty

  bool is_forced(Index unit) const { return !forced.empty() && forced[unit]; }
  bool has_heredity() const { return !parents.empty(); }
  bool is_priced() const { return !price.empty(); }
  double price_of(Index unit) const {
    if (is_forced(unit)) return 0;
    return price.empty() ? 1 : price[unit];
  }
  double price_of(const std::vector<Index>& units) const {
    double sum = 0;
    for (const Index unit : units) sum += price_of(unit);
    return sum;
  }

  // The ways in which a unit outside a support can enter: sets of units, itself the first.
  void ways_in(Index unit, const std::vector<char>& in,
               std::vector<std::vector<Index>>& ways) const {
    if (enters_alone(unit, in)) {
      ways.resize(1);
      ways[0].assign(1, unit);
      return;
    }
    if (strong) {
      ways.resize(1);
      std::vector<Index>& all = ways[0];
      all.assign(1, unit);
      for (std::size_t next = 0; next < all.size(); ++next) {
        for (const Index parent : parents[all[next]]) {
          if (!in[parent] && std::find(all.begin(), all.end(), parent) == all.end()) {
            all.push_back(parent);
          }
        }
      }
      return;
    }
    ways.clear();
    std::vector<std::vector<Index>> of_parent;
    for (const Index parent : parents[unit]) {
      ways_in(parent, in, of_parent);
      for (const std::vector<Index>& way : of_parent) {
        ways.push_back({unit});
        ways.back().insert(ways.back().end(), way.begin(), way.end());
      }
    }
  }

  // Whether it can enter alone.
  bool enters_alone(Index unit, const std::vector<char>& in) const {
    if (parents.empty() || parents[unit].empty()) return true;
    const auto is_in = [&](Index parent) { return in[parent] != 0; };
    const std::vector<Index>& own = parents[unit];
    return strong ? std::all_of(own.begin(), own.end(), is_in)
                  : std::any_of(own.begin(), own.end(), is_in);
  }

  // Whether every member has the parents that it needs.
  bool is_closed(const std::vector<Index>& members, const std::vector<char>& in) const {
    return std::all_of(members.begin(), members.end(),
                       [&](Index unit) { return enters_alone(unit, in); });
  }

  bool needed_by(Index unit, Index other) const {
    const std::vector<Index>& of = parents[other];
    return std::find(of.begin(), of.end(), unit) != of.end();
  }

  // The members that leave with one of them, itself the first; empty if a forced one would. `in`
  // says who the members are, and is left as it is.
  std::vector<Index> way_out(Index unit, const std::vector<Index>& members,
                             std::vector<char>& in) const {
    if (is_forced(unit)) return {};
    std::vector<Index> all{unit};
    if (parents.empty() || std::none_of(members.begin(), members.end(),
                                        [&](Index other) { return needed_by(unit, other); })) {
      return all;
    }
    in[unit] = 0;
    bool forced_too = false;
    for (bool more = true; more;) {
      more = false;
      for (const Index other : members) {
        if (!in[other] || enters_alone(other, in)) continue;
        forced_too |= is_forced(other);
        in[other] = 0;
        all.push_back(other);
        more = true;
      }
    }
    for (const Index other : all) in[other] = 1;
    if (forced_too) all.clear();
    return all;
  }
};

}  // namespace ellzero
