// The frontier over models that keep rules: the best support known of every size, where moves may
// take several units, sizes may count columns, and a size may have no model at all; and, if units
// differ in price, those on the hull of price and energy (unit_table.hpp). Every support that is
// kept is tried, once it is new, for all moves (unit_moves.hpp); what is better than the table or
// below the hull takes its place there. Then short walks through worse supports look for a way on,
// as in frontier.hpp.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "search/sbr.hpp"
#include "search/unit_moves.hpp"

namespace ellzero {

class UnitFrontier {
 public:
  // The engine stands at the forced units, which keep the rules.
  UnitFrontier(UnitEngine& engine, UnitRules rules, bool swaps)
      : engine_(engine),
        rules_(std::move(rules)),
        swaps_(swaps),
        table_(rules_, engine.rounding(), rules_.by_columns ? engine.columns_in() : engine.size(),
               model_here()),
        moves_(engine, rules_, table_) {
    Index columns = engine_.columns_in();
    for (const double rank : engine_.outlook().rank) columns += static_cast<Index>(rank);
    insertions_ = std::clamp<Index>(kStarts / std::max<Index>(columns, 1), engine_.least_walks(),
                                    kMostStarts);
    // Where much is forbidden, the ways on are fewer.
    if (!rules_.signs.empty() || !rules_.caps.empty()) insertions_ = kMostStarts;
  }

  void grow(Index max_size, const Context& context, const Progress& progress = {}) {
    engine_.prepare(all_parents());  // of these much will be asked
    table_.extend(max_size, reach());
    // First without what needs company: a table that is filled tells which of that can matter.
    close({false, false}, context, progress);
    if (!swaps_ && !rules_.has_heredity()) return;
    table_.try_anew();
    do {
      close({swaps_, true}, context, progress);
    } while (swaps_ && wander(context, progress));
  }

  const UnitTable& table() const { return table_; }
  Index tried() const { return tried_; }

 private:
  // How far walks go, and by how many insertions they set out from a support, the more the fewer
  // columns there are. Measured on groups of four: longer walks, and more of them, found no more.
  static constexpr Index kFurther = 2, kStarts = 256, kMostStarts = 8;
  // Candidates whose signs are looked at, of each support and size.
  static constexpr Index kSignTries = 12;

  // Which moves are tried.
  struct Effort {
    bool swaps;
    bool company;
  };

  // How many sizes a move goes up at most. Where a support is tried for some of its moves only, or
  // the engine promises roughly, all are tried once more: others may be among them by then.
  Index reach() const {
    const bool some = rules_.is_priced() || !rules_.signs.empty() || engine_.heeds_wants();
    return some || rules_.by_columns || rules_.has_heredity() ? table_.sizes() : 1;
  }
  std::vector<Index> all_parents() const {
    std::vector<Index> all;
    for (const std::vector<Index>& parents : rules_.parents) {
      all.insert(all.end(), parents.begin(), parents.end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  UnitModel model_here() const {
    UnitModel model;
    model.units = engine_.members();
    model.energy = engine_.energy();
    model.price = rules_.price_of(model.units);
    return model;
  }

  // Up and down through the sizes, and along the hull, until nothing changes.
  void close(Effort effort, const Context& context, const Progress& progress) {
    for (bool changed = true; changed;) {
      changed = false;
      for (Index step = table_.least(); step < 2 * table_.sizes() - table_.least(); ++step) {
        const Index size = std::min(step, 2 * table_.sizes() - 1 - step);
        changed |= settle(size, effort, context, progress);
      }
      if (rules_.is_priced()) changed |= close_hull(effort, context);
    }
  }
  // Tries the support of a size, and again while a better one is found; whether it did anything.
  bool settle(Index size, Effort effort, const Context& context, const Progress& progress) {
    bool any = false;
    for (;;) {
      any |= take_up(size);
      if (!table_.models()[size].known() || table_.models()[size].tried) return any;
      any = true;
      if (progress) progress(size);
      try_out(table_.models()[size], effort, context);
    }
  }
  bool close_hull(Effort effort, const Context& context) {
    bool any = false;
    for (;;) {
      any |= take_up_priced();
      auto& hull = table_.hull();
      const auto untried = std::find_if(hull.begin(), hull.end(),
                                        [](const UnitModel& model) { return !model.tried; });
      if (untried == hull.end()) return any;
      any = true;
      try_out(*untried, effort, context);
    }
  }

  // Looks at all moves from a support, and puts the best of them on the waiting lists.
  void try_out(UnitModel& model, Effort effort, const Context& context) {
    context.check();
    engine_.move_to(model.units);
    ++tried_;
    moves_.look(effort.swaps, effort.company, context);
    if (effort.swaps) {
      const Index removals = insertions_ > 2 && engine_.walks_down() ? insertions_ / 2 : 0;
      model.starts = moves_.best_steps(insertions_, removals);
    }
    if (rules_.signs.empty()) {
      for (const UnitMoves::Candidate& candidate : moves_.best()) offer(candidate);
      offer(moves_.deepest());
    } else {
      offer_of_right_signs(context);
    }
    model.tried = true;  // not before: an interrupt may come at any time
    model.swapped |= effort.swaps;
  }
  void offer(const UnitMoves::Candidate& candidate) {
    if (candidate.known()) table_.offer(moves_.after(candidate), candidate.energy, candidate.size);
  }

  // Puts the support that is waiting for its turn into the table, if it keeps what it promised.
  bool take_up(Index size) {
    if (!table_.waiting()[size].known()) return false;
    engine_.move_to(table_.waiting()[size].units);
    table_.waiting()[size] = {};
    if (moves_.size_here() != size ||
        !table_.beats(engine_.energy(), table_.models()[size].energy) || !signs_hold()) {
      return false;
    }
    table_.put(size, model_here());
    return true;
  }
  bool take_up_priced() {
    bool any = false;
    std::vector<UnitModel>& waiting = table_.waiting_priced();
    while (!waiting.empty()) {
      const bool below = table_.below_hull(waiting.back().price, waiting.back().energy);
      const std::size_t size = waiting.back().units.size();
      if (below) engine_.move_to(waiting.back().units);
      waiting.pop_back();
      if (!below || engine_.size() != static_cast<Index>(size) || !signs_hold()) continue;
      const UnitModel found = model_here();
      any |= table_.join_hull(found);
      table_.offer_for_size(found, moves_.size_here());
    }
    return any;
  }
  bool offer_here() {
    const double energy = engine_.energy();
    const Index size = moves_.size_here();
    if (size < table_.least() || size >= table_.sizes()) return false;
    const bool better = table_.beats(energy, table_.best_energy(size)) ||
                        table_.below_hull(rules_.price_of(engine_.members()), energy);
    if (!better || !signs_hold() || !caps_hold() || !is_closed()) return false;
    return table_.offer(engine_.members(), energy, size);
  }
  // A unit that depends on others can't be inserted: what came with it may lack it.
  bool is_closed() const {
    if (!rules_.has_heredity()) return true;
    std::vector<char> in(engine_.units(), 0);
    for (const Index unit : engine_.members()) in[unit] = 1;
    return rules_.is_closed(engine_.members(), in);
  }
  bool caps_hold() const {
    return std::all_of(rules_.caps.begin(), rules_.caps.end(), [&](const UnitRules::Cap& cap) {
      const auto is_in = [&](Index unit) { return engine_.contains(unit); };
      return std::count_if(cap.units.begin(), cap.units.end(), is_in) <= cap.most;
    });
  }

  bool signs_hold() const {
    if (rules_.signs.empty()) return true;
    engine_.coefficients(columns_, beta_);
    for (std::size_t s = 0; s < columns_.size(); ++s) {
      if (has_wrong_sign(s)) return false;
    }
    return true;
  }
  // Of the coefficients that signs_hold() looked at.
  bool has_wrong_sign(std::size_t s) const { return rules_.signs[columns_[s]] * beta_[s] < 0; }

  // The best candidates first, those whose coefficients have the signs they should have; of others,
  // what is left when those go that have not.
  void offer_of_right_signs(const Context& context) {
    std::vector<Index> tries(table_.sizes(), 0), sizes;
    std::vector<std::vector<Index>> targets;
    for (const UnitMoves::Candidate& candidate : moves_.listed()) {
      if (tries[candidate.size]++ >= kSignTries) continue;
      targets.push_back(moves_.after(candidate));
      sizes.push_back(candidate.size);
    }
    std::vector<char> settled(table_.sizes(), 0);
    Excursion excursion(engine_);
    for (std::size_t t = 0; t < targets.size(); ++t) {
      if (settled[sizes[t]]) continue;
      context.check();
      engine_.ignore_outsiders();
      engine_.move_to(targets[t]);
      if (drop_wrong_signs()) settled[sizes[t]] |= offer_here();
    }
  }
  // Removes units, and what needs them, until all coefficients have the right signs; false if
  // forced ones are in the way.
  bool drop_wrong_signs() {
    while (!signs_hold()) {
      Index wrong = -1;
      double least = 0;
      for (std::size_t s = 0; s < columns_.size(); ++s) {
        const Index unit = engine_.unit_of_column(columns_[s]);
        if (!has_wrong_sign(s) || rules_.is_forced(unit)) continue;
        const double cost = engine_.removal_cost(engine_.position(unit));
        if (wrong < 0 || cost < least) {
          wrong = unit;
          least = cost;
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

  // Sets out from every support not yet left that way; true if anything is better than what is
  // known.
  bool wander(const Context& context, const Progress& progress) {
    std::vector<Index> wanted;
    for (const UnitModel& model : table_.models()) {
      if (model.wandered) continue;
      for (const UnitStep& start : model.starts) {
        wanted.insert(wanted.end(), start.units.begin(), start.units.end());
      }
    }
    engine_.prepare(wanted);
    bool any = false;
    for (Index size = table_.least(); size < table_.sizes(); ++size) {
      UnitModel& model = table_.models()[size];
      if (model.wandered || !model.known()) continue;
      context.check();
      if (progress) progress(size);
      engine_.move_to(model.units);
      {
        Excursion excursion(engine_);
        bool away = false;
        for (const UnitStep& start : model.starts) {
          // Walks set out from the table's own supports anyway.
          if (table_.has(start.energy)) continue;
          if (away) excursion.come_back();
          away = true;
          any |= walk(start, context);
        }
      }
      model.wandered = true;
    }
    return any;
  }

  // A few steps on the same way, and as many back.
  bool walk(const UnitStep& start, const Context& context) {
    const bool up = !engine_.contains(start.units[0]);
    engine_.explore();
    bool any = false, retraced = true;
    UnitStep next = start;
    for (int step = 0; step <= kFurther; ++step) {
      context.check();
      if (up && step == kFurther) engine_.ignore_outsiders();  // only removals follow
      if (!next.known() || !flip(next.units)) break;
      any |= offer_here();
      const UnitStep back = moves_.best_step(!up);
      retraced &= back.known() && same_set(back.units, next.units);
      if (step < kFurther) next = moves_.best_step(up);
    }
    if (retraced) return any;
    for (int step = 0; step <= kFurther; ++step) {
      context.check();
      next = moves_.best_step(!up);
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

  UnitEngine& engine_;
  const UnitRules rules_;
  const bool swaps_;
  UnitTable table_;
  UnitMoves moves_;
  Index insertions_;
  Index tried_ = 0;
  mutable std::vector<Index> columns_;  // room for coefficients
  mutable std::vector<double> beta_;
};

}  // namespace ellzero
