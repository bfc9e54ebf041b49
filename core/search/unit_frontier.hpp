// The frontier over models that keep rules: the best support known of every size, where moves may
// take several units, sizes may count columns, and a size may have no model at all; and, if units
// differ in price, the supports on the lower convex hull of
//
//   (price of S, E(S))
//
// which need not be the best of their sizes. A table holds one support per size, and a list those
// on the hull; every support in either is tried, once it is new, for all insertions, removals and
// swaps, and what is better than the table or below the hull takes its place there. Then short
// walks through worse supports look for a way on, as in frontier.hpp.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "engine/unit_engine.hpp"
#include "search/sbr.hpp"
#include "search/unit_rules.hpp"

namespace ellzero {

class UnitFrontier {
 public:
  struct Step {
    std::vector<Index> units;  // that are flipped together
    double energy = std::numeric_limits<double>::infinity();
    bool known() const { return !units.empty(); }
  };

  struct Model {
    std::vector<Index> units;
    double energy = std::numeric_limits<double>::infinity();
    double price = 0;
    bool tried = false;
    bool swapped = false;
    bool wandered = false;
    std::vector<Step> starts;

    bool known() const { return energy < std::numeric_limits<double>::infinity(); }
  };

  // The engine stands at the forced units, whose signs and heredity are as they should be.
  UnitFrontier(UnitEngine& engine, UnitRules rules, bool swaps)
      : engine_(engine),
        rules_(std::move(rules)),
        swaps_(swaps),
        floor_(engine.rounding()),
        in_(engine.units(), 0) {
    Index columns = engine_.columns_in();
    for (const double rank : engine_.outlook().rank) columns += static_cast<Index>(rank);
    insertions_ = std::clamp<Index>(kStarts / std::max<Index>(columns, 1), 2, kMostStarts);
    // Where much is forbidden, the ways on are fewer.
    if (!rules_.signs.empty() || !rules_.caps.empty()) insertions_ = kMostStarts;
    least_ = size_here();
    table_.resize(least_ + 1);
    waiting_.resize(least_ + 1);
    table_[least_].units = engine_.members();
    table_[least_].energy = engine_.energy();
    if (rules_.has_heredity()) {  // of parents much will be asked
      std::vector<char> is_parent(engine_.units(), 0);
      for (const std::vector<Index>& parents : rules_.parents) {
        for (const Index parent : parents) is_parent[parent] = 1;
      }
      std::vector<Index> all;
      for (Index unit = 0; unit < engine_.units(); ++unit) {
        if (is_parent[unit]) all.push_back(unit);
      }
      engine_.prepare(all);
    }
    if (rules_.is_priced()) hull_.push_back(table_[least_]);
  }

  void grow(Index max_size, const Context& context, const Progress& progress = {}) {
    if (max_size + 1 > static_cast<Index>(table_.size())) {
      table_.resize(max_size + 1);
      waiting_.resize(max_size + 1);
      for (Model& model : table_) model.tried = model.swapped = false;
      for (Model& model : hull_) model.tried = model.swapped = false;
    }
    // First without what needs company: a table that is filled tells which of that can matter.
    with_company_ = false;
    close(false, context, progress);
    with_company_ = true;
    if (!swaps_ && !rules_.has_heredity()) return;
    for (Model& model : table_) model.tried = model.swapped;
    for (Model& model : hull_) model.tried = model.swapped;
    if (!swaps_) {
      close(false, context, progress);
      return;
    }
    do {
      close(true, context, progress);
    } while (wander(context, progress));
  }

  void visit(const std::vector<Index>& units) {
    std::vector<Index> sorted = units;
    std::sort(sorted.begin(), sorted.end());
    engine_.start_at(sorted);
    if (engine_.size() < static_cast<Index>(units.size())) engine_.start_at(units);
  }

  Index least_size() const { return least_; }
  // By size; those that are not known are gaps.
  const std::vector<Model>& table() const { return table_; }
  // The sizes whose support is better than those of all smaller ones. Of others, as signs or sizes
  // in columns can make them, little is known: nothing leads there.
  std::vector<Index> sizes_worth_having() const {
    std::vector<Index> out;
    double least = std::numeric_limits<double>::infinity();
    for (Index size = least_; size < sizes(); ++size) {
      if (!table_[size].known() || (size > least_ && !beats(table_[size].energy, least))) continue;
      least = table_[size].energy;
      out.push_back(size);
    }
    return out;
  }
  // By price, increasing.
  const std::vector<Model>& hull() const { return hull_; }
  Index tried() const { return tried_; }

 private:
  // How far walks go, and by how many insertions they set out from a support, the more the fewer
  // columns there are. Measured on groups of four: longer walks, and more of them, found no more.
  static constexpr Index kFurther = 2, kStarts = 256, kMostStarts = 8;
  // An energy below so many times its rounding is that of an exact fit.
  static constexpr double kExact = 100;
  // Candidates whose signs are looked at, of each support and size.
  static constexpr Index kSignTries = 12;

  // A support one move away from where the engine stands.
  struct Candidate {
    std::vector<Index> leaving, entering;
    double energy = std::numeric_limits<double>::infinity();
    double price = 0;
    Index size = 0;
    bool known() const { return energy < std::numeric_limits<double>::infinity(); }
  };

  Index size_here() const { return rules_.by_columns ? engine_.columns_in() : engine_.size(); }
  bool is_exact(double energy) const { return energy <= kExact * floor_; }
  bool beats(double energy, double old) const {
    return !is_exact(old) && energy < old - floor_ - 1e-12 * std::min(energy, old);
  }
  double best_energy(Index size) const {
    return std::min(table_[size].energy, waiting_[size].energy);
  }
  Index sizes() const { return static_cast<Index>(table_.size()); }

  // The energy of the hull at a price.
  double hull_at(double price) const {
    const auto above =
        std::upper_bound(hull_.begin(), hull_.end(), price,
                         [](double value, const Model& model) { return value < model.price; });
    if (above == hull_.begin()) return std::numeric_limits<double>::infinity();
    const Model& low = *(above - 1);
    if (above == hull_.end()) return low.energy;
    const double share = (price - low.price) / (above->price - low.price);
    return low.energy + share * (above->energy - low.energy);
  }
  bool below_hull(double price, double energy) const {
    return rules_.is_priced() && beats(energy, hull_at(price));
  }

  bool signs_hold() const {
    if (rules_.signs.empty()) return true;
    engine_.coefficients(columns_, beta_);
    for (std::size_t s = 0; s < columns_.size(); ++s) {
      if (rules_.signs[columns_[s]] * beta_[s] < 0) return false;
    }
    return true;
  }

  // Up and down through the sizes, and along the hull, until nothing changes.
  void close(bool with_swaps, const Context& context, const Progress& progress) {
    for (bool changed = true; changed;) {
      changed = false;
      for (Index step = least_; step < 2 * sizes() - least_; ++step) {
        const Index size = std::min(step, 2 * sizes() - 1 - step);
        while (true) {
          if (take_up(size)) changed = true;
          if (!table_[size].known() || table_[size].tried) break;
          changed = true;
          if (progress) progress(size);
          try_out(table_[size].units, with_swaps, context, table_[size].starts);
          table_[size].tried = true;
          table_[size].swapped |= with_swaps;
        }
      }
      if (rules_.is_priced()) changed |= close_hull(with_swaps, context);
    }
  }

  bool close_hull(bool with_swaps, const Context& context) {
    bool any = false;
    for (bool changed = true; changed;) {
      changed = take_up_priced();
      for (std::size_t place = 0; place < hull_.size(); ++place) {
        if (hull_[place].tried) continue;
        hull_[place].tried = true;
        hull_[place].swapped |= with_swaps;
        changed = true;
        std::vector<Step> starts;
        try {
          try_out(hull_[place].units, with_swaps, context, starts);
        } catch (...) {
          hull_[place].tried = false;
          throw;
        }
        break;  // the hull may be another now
      }
      any |= changed;
    }
    return any;
  }

  // Puts the support that is waiting for its turn into the table, if it keeps what it promised.
  bool take_up(Index size) {
    if (!waiting_[size].known()) return false;
    engine_.move_to(waiting_[size].units);
    waiting_[size] = {};
    if (size_here() != size || !beats(engine_.energy(), table_[size].energy) || !signs_hold()) {
      return false;
    }
    table_[size] = {};
    table_[size].units = engine_.members();
    table_[size].energy = engine_.energy();
    table_[size].price = rules_.price_of(engine_.members());
    if (rules_.is_priced()) join_hull(table_[size]);
    return true;
  }

  bool take_up_priced() {
    bool any = false;
    std::vector<Model> waiting = std::move(waiting_priced_);
    waiting_priced_.clear();
    for (const Model& model : waiting) {
      if (!below_hull(model.price, model.energy)) continue;
      engine_.move_to(model.units);
      if (engine_.size() != static_cast<Index>(model.units.size()) || !signs_hold()) continue;
      Model found;
      found.units = engine_.members();
      found.energy = engine_.energy();
      found.price = rules_.price_of(found.units);
      any |= join_hull(found);
      const Index size = size_here();
      if (size < sizes() && beats(found.energy, best_energy(size))) waiting_[size] = found;
    }
    return any;
  }

  // Takes a support into the hull, if it is below it; those above go.
  bool join_hull(const Model& model) {
    if (!below_hull(model.price, model.energy)) return false;
    Model taken = model;
    taken.tried = taken.swapped = taken.wandered = false;
    hull_.push_back(std::move(taken));
    std::sort(hull_.begin(), hull_.end(), [](const Model& a, const Model& b) {
      return a.price != b.price ? a.price < b.price : a.energy < b.energy;
    });
    std::vector<Model> kept;
    for (Model& next : hull_) {
      if (!kept.empty() && !(next.energy < kept.back().energy)) continue;  // dearer, and no better
      while (kept.size() > 1) {
        const Model &a = kept[kept.size() - 2], &b = kept.back();
        const double bend = (b.energy - a.energy) * (next.price - a.price) -
                            (next.energy - a.energy) * (b.price - a.price);
        if (bend < 0) break;
        kept.pop_back();
      }
      kept.push_back(std::move(next));
    }
    hull_ = std::move(kept);
    return true;
  }

  void mark_members() {
    std::fill(in_.begin(), in_.end(), 0);
    for (const Index unit : engine_.members()) in_[unit] = 1;
  }

  // Whether caps leave room for units to enter, once some have left; in_ says who is in.
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

  // Looks at all moves from a support, and puts the best of them on the waiting lists.
  void try_out(const std::vector<Index>& units, bool with_swaps, const Context& context,
               std::vector<Step>& starts) {
    context.check();
    engine_.move_to(units);
    ++tried_;
    mark_members();
    found_.assign(sizes(), {});
    listed_.clear();
    deepest_ = {};
    depth_ = 0;
    consider_insertions();
    if (swaps_) starts = best_starts();
    consider_removals();
    if (with_swaps) consider_swaps(context);
    if (rules_.signs.empty()) {
      for (const Candidate& candidate : found_) {
        if (candidate.known()) offer(candidate);
      }
      if (deepest_.known()) offer(deepest_);
    } else {
      offer_of_right_signs(context);
    }
  }

  // Whether a support of that size and energy may be worth a look; most are not.
  bool may_matter(double energy, Index size) const {
    return rules_.is_priced() || !rules_.signs.empty() ||
           (size < sizes() && energy < std::min(best_energy(size), found_[size].energy));
  }

  // Remembers a move if what it leads to is better than what is known.
  void consider(const std::vector<Index>& leaving, const std::vector<Index>& entering,
                double energy, Index size, double price) {
    if (size < least_ || size >= sizes()) return;
    const bool better = beats(energy, std::min(best_energy(size), found_[size].energy));
    const double depth = rules_.is_priced() ? hull_at(price) - energy : 0;
    const bool deeper = depth > depth_ && below_hull(price, energy);
    const bool listed =
        !rules_.signs.empty() && (beats(energy, best_energy(size)) || below_hull(price, energy));
    if (!better && !deeper && !listed) return;
    if (!rules_.caps.empty() && !has_room(entering, leaving)) return;
    const Candidate candidate{leaving, entering, energy, price, size};
    if (listed) {
      listed_.push_back(candidate);
      return;
    }
    if (better) found_[size] = candidate;
    if (deeper) {
      deepest_ = candidate;
      depth_ = depth;
    }
  }

  // Units that can't enter alone, and what they enter with; each with its joint gain.
  struct Entry {
    std::vector<Index> units;
    double gain = 0;
    Index rank = 0;
  };

  // What so many units have to gain together for a model of theirs to be better than those known,
  // if they enter or if they do for one member.
  double least_useful_gain(std::size_t entering) const {
    if (rules_.by_columns || rules_.is_priced()) return -1;
    const Index size = engine_.size() + static_cast<Index>(entering);
    double worst = size - 1 < sizes() ? best_energy(size - 1) : -1;
    if (size < sizes()) worst = std::max(worst, best_energy(size));
    return worst < 0 ? std::numeric_limits<double>::infinity() : engine_.energy() - worst;
  }

  void consider_insertions() {
    const UnitEngine::Outlook& outlook = engine_.outlook();
    const double energy = engine_.energy(), price = rules_.price_of(engine_.members());
    const Index size = size_here();
    n_entries_ = 0;
    alone_.assign(engine_.units(), 1);
    for (Index unit = 0; unit < engine_.units(); ++unit) {
      if (rules_.has_heredity() && !in_[unit] && !rules_.enters_alone(unit, in_)) {
        alone_[unit] = 0;
        if (!with_company_ || !(outlook.rank[unit] > 0)) continue;
        rules_.ways_in(unit, in_, ways_);
        for (const std::vector<Index>& way : ways_) {
          if (n_entries_ == entries_.size()) entries_.emplace_back();
          Entry& entry = entries_[n_entries_];
          entry.gain = engine_.joint_gain(way, &entry.rank, least_useful_gain(way.size()));
          if (!(entry.gain > 0)) continue;
          entry.units.assign(way.begin(), way.end());
          ++n_entries_;
        }
        continue;
      }
      if (!(outlook.gain[unit] > 0)) continue;
      const Index more = rules_.by_columns ? static_cast<Index>(outlook.rank[unit]) : 1;
      if (!may_matter(energy - outlook.gain[unit], size + more)) continue;
      one_[0] = unit;
      consider(none_, one_, energy - outlook.gain[unit], size + more,
               price + rules_.price_of(unit));
    }
    for (std::size_t e = 0; e < n_entries_; ++e) {
      const Entry& entry = entries_[e];
      const Index more = rules_.by_columns ? entry.rank : static_cast<Index>(entry.units.size());
      if (!may_matter(energy - entry.gain, size + more)) continue;
      consider(none_, entry.units, energy - entry.gain, size + more,
               price + rules_.price_of(entry.units));
    }
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

  void consider_removals() {
    const double energy = engine_.energy(), price = rules_.price_of(engine_.members());
    for (const Index unit : engine_.members()) {
      const std::vector<Index> leaving = rules_.way_out(unit, engine_.members(), in_);
      if (leaving.empty()) continue;
      consider(leaving, none_, energy + cost_of(leaving), size_here() - size_of(leaving),
               price - rules_.price_of(leaving));
    }
  }

  void consider_swaps(const Context& context) {
    const double energy = engine_.energy(), price = rules_.price_of(engine_.members());
    const Index here = size_here();
    std::vector<char> without = in_;
    // Without those that leave, what enters with others gains no more, net of their cost, than it
    // does with them.
    std::vector<std::size_t> promising;
    const auto is_promising = [&](const Entry& entry, Index size, double left_price) {
      const Index more = rules_.by_columns ? entry.rank : static_cast<Index>(entry.units.size());
      const double reached = energy - entry.gain;
      return size + more < sizes() &&
             (beats(reached, best_energy(size + more)) ||
              (rules_.is_priced() &&
               below_hull(left_price + rules_.price_of(entry.units), reached)));
    };
    const bool alike = !rules_.by_columns && !rules_.is_priced();
    for (std::size_t e = 0; alike && e < n_entries_; ++e) {
      if (is_promising(entries_[e], here - 1, 0)) promising.push_back(e);
    }
    for (const Index unit : engine_.members()) {
      const std::vector<Index> leaving = rules_.way_out(unit, engine_.members(), in_);
      if (leaving.empty()) continue;
      context.check();
      const double cost = cost_of(leaving);
      const Index size = here - size_of(leaving);
      const double left_price = price - rules_.price_of(leaving);
      // One for one, what does not lower the energy is no better than the table.
      const bool lowering = leaving.size() == 1 && !rules_.by_columns && !rules_.is_priced();
      const UnitEngine::Outlook& outlook = engine_.outlook_without(leaving, lowering);
      for (const Index other : leaving) without[other] = 0;
      for (Index entering = 0; entering < engine_.units(); ++entering) {
        if (!(outlook.gain[entering] > 0) || !alone_[entering]) continue;
        const Index more = rules_.by_columns ? static_cast<Index>(outlook.rank[entering]) : 1;
        if (!may_matter(energy + cost - outlook.gain[entering], size + more)) continue;
        if (rules_.has_heredity() && !rules_.enters_alone(entering, without)) continue;
        one_[0] = entering;
        consider(leaving, one_, energy + cost - outlook.gain[entering], size + more,
                 left_price + rules_.price_of(entering));
      }
      const bool usual = alike && leaving.size() == 1;
      for (std::size_t place = 0; place < (usual ? promising.size() : n_entries_); ++place) {
        const Entry& entry = entries_[usual ? promising[place] : place];
        if (!usual && !is_promising(entry, size, left_price)) continue;
        const double new_price = left_price + rules_.price_of(entry.units);
        const auto needs_a_leaving_one = [&](Index one) {
          return std::any_of(rules_.parents[one].begin(), rules_.parents[one].end(),
                             [&](Index p) { return in_[p] && !without[p]; });
        };
        if (std::any_of(entry.units.begin(), entry.units.end(), needs_a_leaving_one)) continue;
        Index rank = 0;
        const double gain = engine_.joint_gain_without(entry.units, &rank);
        if (!(gain > 0)) continue;
        consider(leaving, entry.units, energy + cost - gain,
                 size + (rules_.by_columns ? rank : static_cast<Index>(entry.units.size())),
                 new_price);
      }
      for (const Index other : leaving) without[other] = 1;
    }
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

  bool offer(const Candidate& candidate) {
    return offer(after(candidate), candidate.energy, candidate.size);
  }
  bool offer(const std::vector<Index>& units, double energy, Index size) {
    if (size < least_ || size >= sizes()) return false;
    Model model;
    model.units = units;
    model.energy = energy;
    model.price = rules_.price_of(units);
    const bool priced = below_hull(model.price, energy);
    if (priced) waiting_priced_.push_back(model);
    if (!beats(energy, best_energy(size))) return priced;
    waiting_[size] = std::move(model);
    return true;
  }
  bool offer_here() {
    const double energy = engine_.energy();
    const Index size = size_here();
    if (size < least_ || size >= sizes()) return false;
    const bool better =
        beats(energy, best_energy(size)) || below_hull(rules_.price_of(engine_.members()), energy);
    if (!better || !signs_hold() || !has_room_here()) return false;
    return offer(engine_.members(), energy, size);
  }
  bool has_room_here() const {
    for (const UnitRules::Cap& cap : rules_.caps) {
      Index count = 0;
      for (const Index unit : cap.units) count += engine_.contains(unit);
      if (count > cap.most) return false;
    }
    return true;
  }

  // The best candidates first, those whose coefficients have the signs they should have; of others,
  // what is left when those go that have not.
  void offer_of_right_signs(const Context& context) {
    std::stable_sort(listed_.begin(), listed_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.energy < b.energy; });
    std::vector<Index> tries(sizes(), 0);
    std::vector<char> settled(sizes(), 0);
    std::vector<std::vector<Index>> targets;
    std::vector<Index> sizes_of;
    for (const Candidate& candidate : listed_) {
      if (tries[candidate.size]++ >= kSignTries) continue;
      targets.push_back(after(candidate));
      sizes_of.push_back(candidate.size);
    }
    Excursion excursion(engine_);
    for (std::size_t t = 0; t < targets.size(); ++t) {
      if (settled[sizes_of[t]]) continue;
      context.check();
      engine_.ignore_outsiders();
      engine_.move_to(targets[t]);
      if (drop_wrong_signs()) settled[sizes_of[t]] |= offer_here();
    }
  }

  // Removes units, and what needs them, until all coefficients have the right signs; false if
  // forced ones are in the way.
  bool drop_wrong_signs() {
    while (!signs_hold()) {
      Index wrong = -1;
      double worst = 0;
      for (Index at = 0; at < engine_.size(); ++at) {
        const Index unit = engine_.members()[at];
        if (rules_.is_forced(unit) || !has_wrong_sign(unit)) continue;
        if (wrong < 0 || engine_.removal_cost(at) < worst) {
          wrong = unit;
          worst = engine_.removal_cost(at);
        }
      }
      if (wrong < 0) return false;
      std::vector<char> in(engine_.units(), 0);
      for (const Index unit : engine_.members()) in[unit] = 1;
      const std::vector<Index> leaving = rules_.way_out(wrong, engine_.members(), in);
      if (leaving.empty()) return false;
      for (const Index unit : leaving) engine_.remove(engine_.position(unit));
    }
    return true;
  }
  // As of the coefficients that signs_hold() looked at.
  bool has_wrong_sign(Index unit) const {
    for (std::size_t s = 0; s < columns_.size(); ++s) {
      if (rules_.signs[columns_[s]] * beta_[s] < 0 && engine_.unit_of_column(columns_[s]) == unit) {
        return true;
      }
    }
    return false;
  }

  // Sets out from every support not yet left that way: as in frontier.hpp.
  bool wander(const Context& context, const Progress& progress) {
    std::vector<Index> wanted;
    for (const Model& model : table_) {
      if (model.wandered) continue;
      for (const Step& start : model.starts) {
        wanted.insert(wanted.end(), start.units.begin(), start.units.end());
      }
    }
    engine_.prepare(wanted);
    bool any = false;
    for (Index size = least_; size < sizes(); ++size) {
      if (table_[size].wandered || !table_[size].known()) continue;
      context.check();
      if (progress) progress(size);
      const std::vector<Step> starts = table_[size].starts;
      engine_.move_to(table_[size].units);
      {
        Excursion excursion(engine_);
        for (const Step& start : starts) {
          // Walks set out from the table's own supports anyway.
          if (equals_table(start.energy)) continue;
          excursion.come_back();
          any |= walk(start, context);
        }
      }
      table_[size].wandered = true;
    }
    return any;
  }

  bool walk(const Step& start, const Context& context) {
    const bool up = !engine_.contains(start.units[0]);
    bool any = false, retraced = true;
    Step next = start;
    for (int step = 0; step <= kFurther; ++step) {
      context.check();
      if (up && step == kFurther) engine_.ignore_outsiders();
      if (!next.known() || !flip(next.units)) break;
      any |= offer_here();
      mark_members();
      const Step back = best_step(!up);
      retraced &= back.known() && same_set(back.units, next.units);
      if (step < kFurther) next = best_step(up);
    }
    if (retraced) return any;
    for (int step = 0; step <= kFurther; ++step) {
      context.check();
      mark_members();
      next = best_step(!up);
      if (!next.known() || !flip(next.units)) return any;
      any |= offer_here();
    }
    return any;
  }

  bool flip(const std::vector<Index>& units) {
    if (engine_.contains(units[0])) {
      for (const Index unit : units) engine_.remove(engine_.position(unit));
      return true;
    }
    bool all = true;
    for (auto unit = units.rbegin(); unit != units.rend(); ++unit) all &= engine_.insert(*unit);
    return all;
  }

  bool equals_table(double energy) const {
    for (const Model& model : table_) {
      if (model.known() && !beats(energy, model.energy) && !beats(model.energy, energy)) {
        return true;
      }
    }
    return false;
  }

  // The best insertion, or the cheapest removal; in_ says who is in.
  Step best_step(bool up) {
    Step best;
    if (up) {
      const UnitEngine::Outlook& outlook = engine_.outlook();
      double most = 0;
      for (Index unit = 0; unit < engine_.units(); ++unit) {
        if (!(outlook.gain[unit] > most)) continue;
        if (rules_.has_heredity() && !rules_.enters_alone(unit, in_)) continue;
        if (!rules_.caps.empty() && !has_room({unit}, none_)) continue;
        most = outlook.gain[unit];
        best.units.assign(1, unit);
      }
      best.energy = engine_.energy() - most;
      return best;
    }
    double cheapest = std::numeric_limits<double>::infinity();
    for (const Index unit : engine_.members()) {
      const std::vector<Index> leaving = rules_.way_out(unit, engine_.members(), in_);
      if (leaving.empty()) continue;
      const double cost = cost_of(leaving);
      if (!(cost < cheapest)) continue;
      cheapest = cost;
      best.units = leaving;
    }
    best.energy = engine_.energy() + cheapest;
    return best;
  }

  // The best few insertions, and the cheapest few removals.
  std::vector<Step> best_starts() {
    const double energy = engine_.energy();
    std::vector<Step> steps, removals;
    const UnitEngine::Outlook& outlook = engine_.outlook();
    const auto lower = [](const Step& a, const Step& b) { return a.energy < b.energy; };
    const auto keep = [&](std::vector<Step>& some, Index count) {
      count = std::min<Index>(count, some.size());
      std::partial_sort(some.begin(), some.begin() + count, some.end(), lower);
      some.resize(count);
    };
    std::vector<std::pair<double, Index>> gains;  // units, then entries
    for (Index unit = 0; unit < engine_.units(); ++unit) {
      if (alone_[unit] && outlook.gain[unit] > 0) gains.emplace_back(-outlook.gain[unit], unit);
    }
    for (std::size_t e = 0; e < n_entries_; ++e) {
      gains.emplace_back(-entries_[e].gain, engine_.units() + static_cast<Index>(e));
    }
    const Index count = std::min<Index>(insertions_, gains.size());
    std::partial_sort(gains.begin(), gains.begin() + count, gains.end());
    for (Index place = 0; place < count; ++place) {
      const auto [gain, which] = gains[place];
      if (which < engine_.units()) {
        steps.push_back({{which}, energy + gain});
      } else {
        steps.push_back({entries_[which - engine_.units()].units, energy + gain});
      }
    }
    for (const Index unit : engine_.members()) {
      const std::vector<Index> leaving = rules_.way_out(unit, engine_.members(), in_);
      if (!leaving.empty()) removals.push_back({leaving, energy + cost_of(leaving)});
    }
    keep(removals, insertions_ > 2 ? insertions_ / 2 : 0);
    steps.insert(steps.end(), removals.begin(), removals.end());
    return steps;
  }

  UnitEngine& engine_;
  const UnitRules rules_;
  bool swaps_;
  bool with_company_ = true;  // whether units that can't enter alone are tried
  double floor_;
  Index insertions_;
  Index least_ = 0;
  Index tried_ = 0;
  std::vector<Model> table_, waiting_;  // by size
  std::vector<Model> hull_, waiting_priced_;
  // Of the support that is being tried.
  std::vector<char> in_, alone_;
  std::vector<Candidate> found_;   // the best of each size
  std::vector<Candidate> listed_;  // all that are better than what is known, if signs matter
  Candidate deepest_;              // below the hull
  double depth_ = 0;
  std::vector<Entry> entries_;  // the first n_entries_
  std::size_t n_entries_ = 0;
  std::vector<std::vector<Index>> ways_;
  const std::vector<Index> none_;
  std::vector<Index> one_{0};
  mutable std::vector<Index> columns_;
  mutable std::vector<double> beta_;
};

}  // namespace ellzero
