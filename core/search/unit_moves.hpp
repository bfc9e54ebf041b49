// All moves from a support to another that keeps the rules: insertions of units with what they
// need, removals with what needs them, and swaps of one unit that can enter alone for a member and
// what needs that. (Swaps for units with what they need were tried: they took half as long again,
// and found better models in 17 of 504 sizes, worse ones in 11.) What is kept of them is the best
// of each size that is better than the table has, and what is deepest below the hull.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "engine/unit_engine.hpp"
#include "search/unit_table.hpp"

namespace ellzero {

class UnitMoves {
 public:
  // A support one move away from where the engine stands.
  struct Candidate {
    std::vector<Index> leaving, entering;
    double energy = std::numeric_limits<double>::infinity();
    double price = 0;
    Index size = 0;
    bool known() const { return energy < std::numeric_limits<double>::infinity(); }
  };

  UnitMoves(UnitEngine& engine, const UnitRules& rules, const UnitTable& table)
      : engine_(engine), rules_(rules), table_(table), in_(engine.units(), 0) {}

  Index size_here() const { return rules_.by_columns ? engine_.columns_in() : engine_.size(); }

  // Looks at all moves from where the engine stands. Without company, those units are passed over
  // that can't enter alone.
  void look(bool swaps, bool company, const Context& context) {
    mark_members();
    best_.assign(table_.sizes(), {});
    listed_.clear();
    deepest_ = {};
    depth_ = 0;
    energy_ = engine_.energy();
    price_ = rules_.price_of(engine_.members());
    say_what_is_wanted(in_, none_);
    look_at_insertions(company);
    look_at_removals();
    if (swaps) look_at_swaps(context);
  }
  // What was found: by size, and below the hull; or all that is better than what is known, the best
  // first, if signs are yet to be looked at.
  const std::vector<Candidate>& best() const { return best_; }
  const Candidate& deepest() const { return deepest_; }
  const std::vector<Candidate>& listed() {
    std::stable_sort(listed_.begin(), listed_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.energy < b.energy; });
    return listed_;
  }
  std::vector<Index> after(const Candidate& candidate) const {
    std::vector<Index> units;
    for (const Index unit : engine_.members()) {
      const auto& leaving = candidate.leaving;
      if (std::find(leaving.begin(), leaving.end(), unit) == leaving.end()) units.push_back(unit);
    }
    // Parents first: they are the last of those that enter.
    units.insert(units.end(), candidate.entering.rbegin(), candidate.entering.rend());
    return units;
  }

  // The best few insertions and the cheapest few removals, once look() has seen them.
  std::vector<UnitStep> best_steps(Index insertions, Index removals) {
    std::vector<std::pair<double, Index>> order;  // units, then entries
    const UnitEngine::Outlook& outlook = engine_.outlook();
    for (Index unit = 0; unit < engine_.units(); ++unit) {
      if (alone_[unit] && outlook.gain[unit] > 0) order.emplace_back(-outlook.gain[unit], unit);
    }
    for (std::size_t e = 0; e < n_entries_; ++e) {
      order.emplace_back(-entries_[e].gain, engine_.units() + static_cast<Index>(e));
    }
    const Index count = std::min<Index>(insertions, order.size());
    std::partial_sort(order.begin(), order.begin() + count, order.end());
    std::vector<UnitStep> steps;
    for (Index place = 0; place < count; ++place) {
      const auto [gain, which] = order[place];
      const bool is_entry = which >= engine_.units();
      steps.push_back({is_entry ? entries_[which - engine_.units()].units : std::vector{which},
                       energy_ + gain});
    }
    if (removals == 0) return steps;
    std::vector<UnitStep> out;
    for (const Index unit : engine_.members()) {
      const std::vector<Index> leaving = rules_.way_out(unit, engine_.members(), in_);
      if (!leaving.empty()) out.push_back({leaving, energy_ + cost_of(leaving)});
    }
    const Index fewest = std::min<Index>(removals, out.size());
    std::partial_sort(out.begin(), out.begin() + fewest, out.end(),
                      [](const UnitStep& a, const UnitStep& b) { return a.energy < b.energy; });
    steps.insert(steps.end(), out.begin(), out.begin() + fewest);
    return steps;
  }

  // The best insertion of one unit, or the cheapest removal, from where the engine stands now.
  UnitStep best_step(bool up) {
    mark_members();
    UnitStep best;
    if (up) {
      say_what_is_wanted(in_, none_);
      const UnitEngine::Outlook& outlook = engine_.outlook();
      double most = 0;
      for (Index unit = 0; unit < engine_.units(); ++unit) {
        if (!(outlook.gain[unit] > most) || !rules_.enters_alone(unit, in_)) continue;
        if (!rules_.caps.empty() && !has_room({unit}, none_)) continue;
        most = outlook.gain[unit];
        best.units.assign(1, unit);
      }
      best.energy = engine_.energy() - most;
      return best;
    }
    std::vector<std::vector<Index>> ways;
    std::vector<double> bounds;
    for (const Index unit : engine_.members()) {
      ways.push_back(rules_.way_out(unit, engine_.members(), in_));
      bounds.push_back(ways.back().empty() ? std::numeric_limits<double>::infinity()
                                           : bound_of(ways.back()));
    }
    // The one that may cost least leaves few others that may cost less.
    double cheapest = std::numeric_limits<double>::infinity(), known = cheapest;
    const auto least = std::min_element(bounds.begin(), bounds.end());
    if (least != bounds.end() && *least < known) known = cost_of(ways[least - bounds.begin()]);
    for (std::size_t way = 0; way < ways.size(); ++way) {
      if (ways[way].empty() || bounds[way] > known) continue;
      const double cost = cost_of(ways[way]);
      if (!(cost < cheapest)) continue;
      cheapest = cost;
      known = std::min(known, cost);
      best.units = ways[way];
    }
    best.energy = engine_.energy() + cheapest;
    return best;
  }

 private:
  // Units that can't enter alone, with what they enter with, and what that gains.
  struct Entry {
    std::vector<Index> units;
    double gain = 0;
    Index rank = 0;
  };

  void mark_members() {
    std::fill(in_.begin(), in_.end(), 0);
    for (const Index unit : engine_.members()) in_[unit] = 1;
  }

  // Tells the engine which units could enter once some have left, and what they cost.
  void say_what_is_wanted(const std::vector<char>& in, const std::vector<Index>& leaving) {
    if (!engine_.heeds_wants()) return;
    std::vector<double>& share = wants_.share;
    share.clear();
    if (rules_.has_heredity() || rules_.is_priced() || !rules_.caps.empty()) {
      share.assign(engine_.units(), 0.0);
      for (Index unit = 0; unit < engine_.units(); ++unit) {
        one_[0] = unit;
        if (in_[unit] || !rules_.enters_alone(unit, in) || !has_room(one_, leaving)) continue;
        share[unit] = 1 / std::max(rules_.price_of(unit), 1e-300);
      }
    }
    wants_.of_each_rank = rules_.by_columns;
    engine_.want(wants_);
  }

  // Whether caps leave room for units to enter, once some have left.
  bool has_room(const std::vector<Index>& entering, const std::vector<Index>& leaving) const {
    for (const UnitRules::Cap& cap : rules_.caps) {
      const auto of_cap = [&](Index unit) {
        return std::find(cap.units.begin(), cap.units.end(), unit) != cap.units.end();
      };
      Index count = std::count_if(entering.begin(), entering.end(), of_cap) -
                    std::count_if(leaving.begin(), leaving.end(), of_cap);
      for (const Index unit : cap.units) count += in_[unit];
      if (count > cap.most) return false;
    }
    return true;
  }

  Index size_of(const std::vector<Index>& members) const {
    if (!rules_.by_columns) return static_cast<Index>(members.size());
    Index sum = 0;
    for (const Index unit : members) sum += engine_.columns_of(engine_.position(unit));
    return sum;
  }
  double cost_of(const std::vector<Index>& leaving) const {
    return leaving.size() == 1 ? engine_.removal_cost(engine_.position(leaving[0]))
                               : engine_.joint_removal_cost(leaving);
  }
  // No more than that.
  double bound_of(const std::vector<Index>& leaving) const {
    double bound = 0;
    for (const Index unit : leaving) {
      bound = std::max(bound, engine_.removal_bound(engine_.position(unit)));
    }
    return bound;
  }
  Index size_of(const Entry& entry) const {
    return rules_.by_columns ? entry.rank : static_cast<Index>(entry.units.size());
  }

  // Whether a support of that size and energy may be worth a look; most are not.
  bool may_matter(double energy, Index size) const {
    return rules_.is_priced() || !rules_.signs.empty() ||
           (size < table_.sizes() &&
            energy < std::min(table_.best_energy(size), best_[size].energy));
  }

  // Remembers a move if what it leads to is better than what is known.
  void consider(const std::vector<Index>& leaving, const std::vector<Index>& entering,
                double energy, Index size, double price) {
    if (size < table_.least() || size >= table_.sizes()) return;
    const double known = table_.best_energy(size);
    const bool better = table_.beats(energy, std::min(known, best_[size].energy));
    const bool below = table_.below_hull(price, energy);
    const double depth = below ? table_.hull_at(price) - energy : 0;
    const bool listed = !rules_.signs.empty() && (table_.beats(energy, known) || below);
    if (!better && !(depth > depth_) && !listed) return;
    if (!rules_.caps.empty() && !has_room(entering, leaving)) return;
    const Candidate candidate{leaving, entering, energy, price, size};
    if (listed) {
      listed_.push_back(candidate);
      return;
    }
    if (better) best_[size] = candidate;
    if (depth > depth_) {
      deepest_ = candidate;
      depth_ = depth;
    }
  }

  // What so many units have to gain together for a model of theirs to be better than those known.
  double least_useful_gain(std::size_t entering) const {
    if (rules_.by_columns || rules_.is_priced()) return -1;
    const Index size = engine_.size() + static_cast<Index>(entering);
    if (size >= table_.sizes()) return std::numeric_limits<double>::infinity();
    return energy_ - table_.best_energy(size);
  }

  void look_at_insertions(bool company) {
    const UnitEngine::Outlook& outlook = engine_.outlook();
    const Index size = size_here();
    n_entries_ = 0;
    alone_.assign(engine_.units(), 1);
    for (Index unit = 0; unit < engine_.units(); ++unit) {
      if (!in_[unit] && !rules_.enters_alone(unit, in_)) {
        alone_[unit] = 0;
        if (company && outlook.rank[unit] > 0) add_entries(unit);
        continue;
      }
      if (!(outlook.gain[unit] > 0)) continue;
      const Index more = rules_.by_columns ? static_cast<Index>(outlook.rank[unit]) : 1;
      if (!may_matter(energy_ - outlook.gain[unit], size + more)) continue;
      one_[0] = unit;
      consider(none_, one_, energy_ - outlook.gain[unit], size + more,
               price_ + rules_.price_of(unit));
    }
    for (std::size_t e = 0; e < n_entries_; ++e) {
      const Entry& entry = entries_[e];
      if (!may_matter(energy_ - entry.gain, size + size_of(entry))) continue;
      consider(none_, entry.units, energy_ - entry.gain, size + size_of(entry),
               price_ + rules_.price_of(entry.units));
    }
  }
  void add_entries(Index unit) {
    rules_.ways_in(unit, in_, ways_);
    for (const std::vector<Index>& way : ways_) {
      if (n_entries_ == entries_.size()) entries_.emplace_back();
      Entry& entry = entries_[n_entries_];
      entry.gain = engine_.joint_gain(way, &entry.rank, least_useful_gain(way.size()));
      if (!(entry.gain > 0)) continue;
      entry.units.assign(way.begin(), way.end());
      ++n_entries_;
    }
  }

  void look_at_removals() {
    for (const Index unit : engine_.members()) {
      const std::vector<Index> leaving = rules_.way_out(unit, engine_.members(), in_);
      if (leaving.empty()) continue;
      const Index size = size_here() - size_of(leaving);
      if (!may_matter(energy_ + bound_of(leaving), size)) continue;
      consider(leaving, none_, energy_ + cost_of(leaving), size, price_ - rules_.price_of(leaving));
    }
  }

  void look_at_swaps(const Context& context) {
    const Index here = size_here();
    without_ = in_;
    for (const Index unit : engine_.members()) {
      const std::vector<Index> leaving = rules_.way_out(unit, engine_.members(), in_);
      if (leaving.empty()) continue;
      context.check();
      // One for one, what does not lower the energy is no better than the table.
      const bool lowering = leaving.size() == 1 && !rules_.by_columns && !rules_.is_priced();
      if (lowering && !engine_.may_be_swapped(engine_.position(unit))) continue;
      const Left left{leaving, cost_of(leaving), here - size_of(leaving),
                      price_ - rules_.price_of(leaving)};
      for (const Index other : leaving) without_[other] = 0;
      say_what_is_wanted(without_, leaving);
      const UnitEngine::Outlook& outlook = engine_.outlook_without(leaving, lowering);
      look_at_entering(outlook, left);
      for (const Index other : leaving) without_[other] = 1;
    }
  }
  // Those that leave in a swap, what that costs, and the size and price that are left.
  struct Left {
    const std::vector<Index>& leaving;
    double cost;
    Index size;
    double price;
  };
  void look_at_entering(const UnitEngine::Outlook& outlook, const Left& left) {
    for (Index unit = 0; unit < engine_.units(); ++unit) {
      if (!(outlook.gain[unit] > 0) || !alone_[unit]) continue;
      const double energy = energy_ + left.cost - outlook.gain[unit];
      const Index more = rules_.by_columns ? static_cast<Index>(outlook.rank[unit]) : 1;
      if (!may_matter(energy, left.size + more) || !rules_.enters_alone(unit, without_)) continue;
      one_[0] = unit;
      consider(left.leaving, one_, energy, left.size + more, left.price + rules_.price_of(unit));
    }
  }

  UnitEngine& engine_;
  const UnitRules& rules_;
  const UnitTable& table_;
  std::vector<char> in_;       // by unit: whether it is a member
  std::vector<char> alone_;    // whether it is one, or could enter alone
  std::vector<char> without_;  // whether it is one that does not leave
  double energy_ = 0, price_ = 0;
  std::vector<Entry> entries_;  // the first n_entries_
  std::size_t n_entries_ = 0;
  std::vector<std::vector<Index>> ways_;
  std::vector<Candidate> best_, listed_;
  Candidate deepest_;
  double depth_ = 0;
  const std::vector<Index> none_;
  std::vector<Index> one_{0};
  UnitEngine::Wants wants_;
};

}  // namespace ellzero
