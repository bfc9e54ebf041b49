// The units that are worth a closer look, by what is said of all of them.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "engine/unit_engine.hpp"

namespace ellzero {

// What a unit competes with: those of its rank, if the best of every rank are looked for, or all.
inline Index class_of(const UnitEngine::Outlook& outlook, const UnitEngine::Wants& wants,
                      Index unit) {
  return wants.of_each_rank ? static_cast<Index>(outlook.rank[unit]) : 0;
}

// Those of a positive score, the best first.
template <class Score>
std::vector<Index> order_by(const std::vector<Index>& units, Score&& score) {
  std::vector<Index> order;
  for (const Index unit : units) {
    if (score(unit) > 0) order.push_back(unit);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return score(a) > score(b); });
  return order;
}

// The first `count` of those that could enter, by what they gain and by that for their price; where
// the best of every rank are looked for, also the first few of each.
inline std::vector<Index> shortlist(const std::vector<Index>& units,
                                    const UnitEngine::Outlook& outlook,
                                    const UnitEngine::Wants& wants, Index count, Index of_rank) {
  std::vector<Index> out;
  const auto add = [&](Index unit) {
    if (std::find(out.begin(), out.end(), unit) == out.end()) out.push_back(unit);
  };
  const auto gain = [&](Index unit) {
    return wants.share.empty() || wants.share[unit] > 0 ? outlook.gain[unit] : -1;
  };
  std::map<Index, Index> seen;
  Index place = 0;
  for (const Index unit : order_by(units, gain)) {
    if (place++ < count) add(unit);
    if (wants.of_each_rank && seen[class_of(outlook, wants, unit)]++ < of_rank) add(unit);
  }
  if (wants.share.empty()) return out;
  place = 0;
  for (const Index unit :
       order_by(units, [&](Index unit) { return outlook.gain[unit] * wants.share[unit]; })) {
    if (place++ < count) add(unit);
  }
  return out;
}

}  // namespace ellzero
