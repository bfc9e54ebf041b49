// The frontier: the best support known of every size from the forced columns to max_size.
//
//   f_k = min over supports S of size k of E(S)
//
// is approached from above: a table holds one support per size, and every support in it is tried,
// once it is new, for its best insertion, removal and swap; each of these that beats the table's
// support of its size takes its place. When the table is closed, so that no insertion, removal or
// swap of any support in it improves any support in it, short walks through worse supports look for
// a way on; it ends when they find none. Among many units these walks keep to the most promising.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "search/sbr.hpp"
#include "search/surroundings.hpp"

namespace ellzero {

class Frontier {
 public:
  // A unit to flip, and the energy of the support that has it flipped.
  struct Step {
    Index unit = -1;
    double energy = std::numeric_limits<double>::infinity();
  };

  struct Model {
    std::vector<Index> support;
    double energy = std::numeric_limits<double>::infinity();
    bool tried = false;        // whether its neighbours have been looked at
    bool swapped = false;      // those by a swap too
    bool wandered = false;     // whether walks have set out from it
    bool ordered = false;      // whether it was chosen among exact fits by their order
    std::vector<Step> starts;  // of walks; known once it has been tried
    std::vector<Index> near;   // the units that gain most there, where walks keep to these
    // Known once it has been tried, without swaps, where it takes no work:
    bool solved = false;
    Solution solution;      // but for the support
    double next_gain = -1;  // of the largest size: of one more unit; negative if not known

    bool known() const { return energy < std::numeric_limits<double>::infinity(); }
    void renew(const std::vector<Index>& members, double its_energy) {
      support.assign(members.begin(), members.end());
      energy = its_energy;
      tried = swapped = wandered = ordered = false;
      next_gain = -1;
    }
  };

  // The engine stands at the forced units.
  Frontier(Engine& engine, std::vector<char> forced, bool swaps)
      : engine_(engine), limits_{std::move(forced), 0}, swaps_(swaps), floor_(engine.rounding()) {
    least_ = engine_.size();
    models_.resize(least_ + 1);
    models_[least_].renew(engine_.members(), engine_.energy());
    waiting_.resize(models_.size());
  }

  // Extends the table to max_size, or as far as columns can be inserted, and closes it. What a
  // neighbour has found, if there is one, is suggested.
  void grow(Index max_size, const Context& context, const Progress& progress = {},
            const Frontier* neighbour = nullptr) {
    grow_from(neighbour ? &neighbour->models_ : nullptr, max_size, context, progress);
  }

  // The same without swaps in three steps, for whoever has to leave close() on its way: what it
  // throws changes nothing, and the next call goes on from there.
  void extend(Index max_size) {
    cut();  // what an interrupted call left open
    if (max_size + 1 > static_cast<Index>(models_.size())) {
      models_.back().tried = false;  // it may now be inserted into
      models_.resize(max_size + 1);
      waiting_.resize(max_size + 1);
      solution_.support.reserve(max_size);
      solution_.beta.reserve(max_size);
    }
    sweep_ = {};
  }
  void close(const Context& context, const Progress& progress) { close(false, context, progress); }
  // Tries supports that may be good, as those of a problem that differs by its ridge are: one per
  // size. What betters the table waits for close(). If it throws, it can be called again.
  void suggest(const std::vector<Model>& others, const Context& context) {
    Excursion excursion(engine_);
    engine_.ignore_outsiders();
    const std::size_t sizes = std::min(others.size(), models_.size());
    for (std::size_t k = least_ + 1; k < sizes; ++k) {
      context.check();
      if (!models_[k].known() || same_set(others[k].support, models_[k].support)) continue;
      engine_.move_to(others[k].support);
      if (static_cast<std::size_t>(engine_.size()) == k) offer(engine_.members(), engine_.energy());
    }
  }
  // Ends the table before the first size that is not known, or worse than the one before it: the
  // rank is less than that, but for columns too near to dependence to tell.
  void cut() {
    std::size_t end = least_ + 1;
    while (end < models_.size() && models_[end].known() &&
           !beats(models_[end - 1].energy, models_[end].energy)) {
      ++end;
    }
    models_.resize(end);
    waiting_.resize(end);
    for (Model& model : waiting_) model.energy = std::numeric_limits<double>::infinity();
  }

  // Stands at the support of size k, so that the engine can be asked about it.
  void visit(Index k) {
    engine_.start_at(sorted(models_[k].support));
    // Among nearly dependent columns the order matters: in that of the model it is known to do.
    if (engine_.size() < k) engine_.start_at(models_[k].support);
  }
  // The same on the way from one size to the next, which is cheaper; the bits depend on the models
  // alone if it begins with the least size.
  void visit_next(Index k) {
    if (k > least_) engine_.move_to(sorted(models_[k].support));
    if (k == least_ || engine_.size() < k) visit(k);
  }

  Index least_size() const { return least_; }
  const std::vector<Model>& models() const { return models_; }
  // Back to what models() was before it was extended.
  void go_back(std::vector<Model> models) {
    models_ = std::move(models);
    waiting_.assign(models_.size(), {});
  }
  Index tried() const { return tried_; }

 private:
  static std::vector<Index> sorted(std::vector<Index> units) {
    std::sort(units.begin(), units.end());
    return units;
  }

  // How many walks set out from a support by an insertion (half as many do by a removal), and how
  // many steps they go on. Measured on collinear designs: more walks, and longer ones, find more at
  // a cost that grows as fast. Where moves cost little there are more of them.
  struct Reach {
    Index insertions, further;
  };
  static constexpr Reach kFar{3, 5}, kMiddle{2, 5}, kShort{2, 3};
  // With few units there are more: about so many over their number.
  static constexpr Index kStarts = 256, kMostInsertions = 8;
  // An energy below so many times its rounding is that of an exact fit.
  static constexpr double kExact = 100;

  // From so many units on walks keep to those of which an insertion gains more than a share of the
  // best one's, at any support of the table, and to a hundredth of all, the best, but no more than
  // so many: measured, they find as much in half the time.
  static constexpr Index kMany = 300, kHundredth = 100, kMostOfHundredth = 100;
  static constexpr double kNear = 0.6;
  // Gains closer than this, relatively, are equal but for rounding.
  static constexpr double kSameGain = 1e-9;
  static constexpr double kLeastGain = std::numeric_limits<double>::min();

  // Where walks are made: on the engine of the table, or on one of some of its units.
  struct Ground {
    Engine& engine;
    const Limits& limits;
    const Surroundings* part;  // null if it is the table's own
  };
  Ground whole() const { return {engine_, limits_, nullptr}; }

  void grow_from(const std::vector<Model>* others, Index max_size, const Context& context,
                 const Progress& progress) {
    extend(max_size);
    // Without swaps first: the table only gets better, so with them it can't end up worse.
    close(false, context, progress);
    if (others) {
      suggest(*others, context);
      close(false, context, progress);
    }
    if (swaps_) {
      for (Model& model : models_) model.tried = model.swapped;
      Surroundings nearby;
      do {
        close(true, context, progress);
      } while (wander(nearby, context, progress));
    }
    cut();
  }

  bool stays_near() const { return engine_.units() >= kMany && engine_.has_some(); }
  Reach reach(const Ground& ground) const {
    const Index units = ground.engine.units();
    Reach out = ground.part ? kFar : units < kMany && engine_.walks_down() ? kMiddle : kShort;
    out.insertions =
        std::clamp(kStarts / std::max<Index>(units, 1), out.insertions, kMostInsertions);
    return out;
  }

  // Up and down through the sizes until nothing changes.
  void close(bool with_swaps, const Context& context, const Progress& progress) {
    const Index sizes = static_cast<Index>(models_.size()) - least_;
    do {
      for (bool changed = true; changed; sweep_ = {}) {
        for (; sweep_.step < 2 * sizes; ++sweep_.step) {
          const Index place = std::min(sweep_.step, 2 * sizes - 1 - sweep_.step);
          settle(least_ + place, with_swaps, context, progress);
        }
        changed = sweep_.changed;
      }
    } while (order_exact_fits(context));
  }

  // Supports that fit exactly differ in energy by rounding alone, and which of them came first
  // depends on the way. So each becomes the support of one less and what best completes it, where
  // that fits exactly too. True if that changed any: there may be something to close again.
  bool order_exact_fits(const Context& context) {
    bool changed = false;
    for (Index k = least_ + 1; k < static_cast<Index>(models_.size()); ++k) {
      if (models_[k].ordered || !is_exact(models_[k].energy)) continue;
      context.check();
      engine_.move_to(models_[k - 1].support);
      const Insertion best = engine_.best_insertion();
      if (best.completes && engine_.can_insert(best.unit)) {
        flipped_.assign(engine_.members().begin(), engine_.members().end());
        flipped_.push_back(best.unit);
        if (!same_set(flipped_, models_[k].support)) {
          engine_.move_to(flipped_);
          if (engine_.size() == k && is_exact(engine_.energy())) {
            put(k);
            changed = true;
          }
        }
      }
      models_[k].ordered = true;
    }
    return changed;
  }

  // Where the support stands becomes the model of its size.
  void put(Index k) {
    models_[k].renew(engine_.members(), engine_.energy());
    if (k + 1 < static_cast<Index>(models_.size())) models_[k + 1].ordered = false;
  }

  // Sets out from every support not yet left that way, by one of its best insertions or cheapest
  // removals, goes on that way for a few steps, and as many back, offering what is met. True if
  // anything beats the table.
  bool wander(Surroundings& nearby, const Context& context, const Progress& progress) {
    std::vector<Index> fresh, wanted;
    for (Index k = least_; k < static_cast<Index>(models_.size()); ++k) {
      if (models_[k].wandered || !models_[k].known()) continue;
      fresh.push_back(k);
      for (const Step& start : models_[k].starts) wanted.push_back(start.unit);
    }
    if (fresh.empty()) return false;
    const Ground ground = ground_for(fresh, nearby, context);
    engine_.prepare(wanted);
    bool any = false;
    Excursion excursion(ground.engine);
    for (const Index k : fresh) {
      context.check();
      if (progress) progress(k);
      const std::vector<Index>& support = models_[k].support;
      ground.engine.move_to(ground.part ? ground.part->inside(support) : support);
      const std::vector<Step> starts = stays_near() ? this->starts(ground) : models_[k].starts;
      const Index size = ground.engine.size();
      excursion.move_home();
      for (const Step& start : starts) {
        const bool up = !ground.engine.contains(start.unit);
        // Walks set out from the table's own supports anyway.
        if (equals_table(size + (up ? 1 : -1), start.energy)) continue;
        any |= walk(ground, up, start, context);
        excursion.come_back();
      }
      models_[k].wandered = true;
    }
    if (ground.part) {
      wanted.clear();
      for (const Model& found : waiting_) {
        if (found.known()) {
          wanted.insert(wanted.end(), found.support.begin(), found.support.end());
        }
      }
      engine_.prepare(wanted);
    }
    return any;
  }

  // For walks from the supports of these sizes.
  Ground ground_for(const std::vector<Index>& sizes, Surroundings& nearby, const Context& context) {
    if (!stays_near()) return whole();
    const auto held = [&](Index k) { return nearby.holds(models_[k].support); };
    if (!std::all_of(sizes.begin(), sizes.end(), held)) {
      std::vector<char> units(engine_.units(), 0);
      for (const Model& model : models_) {
        for (const Index unit : model.support) units[unit] = 1;
        for (const Index unit : model.near) units[unit] = 1;
      }
      nearby.choose(engine_, units, limits_, context);
    }
    if (!nearby.engine()) return whole();
    return {*nearby.engine(), nearby.limits(), &nearby};
  }

  // Goes up or down, and back again; it ends anywhere.
  bool walk(const Ground& ground, bool up, const Step& start, const Context& context) {
    Engine& engine = ground.engine;
    engine.explore();
    const Index further = reach(ground).further;
    bool any = false, retraced = true;
    Step next = start;
    for (Index step = 0; step <= further; ++step) {
      context.check();
      if (up && step == further) engine.ignore_outsiders();  // only removals follow
      if (next.unit < 0 || !engine.flip(next.unit)) break;
      if (equals_table(engine.size(), engine.energy())) return any;
      any |= offer(ground, engine.members(), engine.energy());
      retraced = retraced && best_step(ground, !up).unit == next.unit;
      if (step < further) next = best_step(ground, up);
    }
    if (retraced) return any;
    for (Index step = 0; step < further; ++step) {
      context.check();
      next = best_step(ground, !up);
      if (next.unit < 0 || !engine.flip(next.unit)) return any;
      if (equals_table(engine.size(), engine.energy())) return any;
      any |= offer(ground, engine.members(), engine.energy());
    }
    return offer_flip(ground, best_step(ground, !up)) || any;
  }

  // The best insertion, or the cheapest removal.
  Step best_step(const Ground& ground, bool up) const {
    const Engine& engine = ground.engine;
    Step best;
    if (up) {
      const Insertion insertion = engine.best_insertion();
      if (insertion.unit >= 0) best = {insertion.unit, engine.energy() - insertion.gain};
      return best;
    }
    const Removal removal = engine.cheapest_removal(ground.limits);
    if (removal.position >= 0) {
      best = {engine.members()[removal.position], engine.energy() + removal.cost};
    }
    return best;
  }

  // The best few insertions, and the cheapest few removals.
  std::vector<Step> starts(const Ground& ground) const {
    const Engine& engine = ground.engine;
    const double energy = engine.energy();
    const Index insertions = reach(ground).insertions;
    std::vector<Step> best;
    best.reserve(insertions + insertions / 2);
    for (const Insertion& insertion : engine.best_insertions(insertions)) {
      best.push_back({insertion.unit, energy - insertion.gain});
    }
    if (!engine.walks_down()) return best;
    std::vector<Step> removals;
    removals.reserve(engine.size());
    for (Index r = 0; r < engine.size(); ++r) {
      const Index j = engine.members()[r];
      if (!ground.limits.is_forced(j)) removals.push_back({j, energy + engine.removal_cost(r)});
    }
    const Index count = std::min<Index>(insertions / 2, removals.size());
    std::partial_sort(removals.begin(), removals.begin() + count, removals.end(),
                      [](const Step& a, const Step& b) { return a.energy < b.energy; });
    best.insert(best.end(), removals.begin(), removals.begin() + count);
    return best;
  }

  // The units of which the insertion gains nearly as much as the best one's, or most; of equals
  // all.
  std::vector<Index> nearest() {
    const Index units = engine_.units();
    gains_.resize(units);
    engine_.insertion_gains(gains_.data());
    // What can't be inserted gains less than nothing.
    double bar = std::max(kNear * highest_gain(), kLeastGain);
    std::vector<Index> out(units);
    const auto take = [&] {
      Index count = 0;
      for (Index i = 0; i < units; ++i) {  // without a branch that nobody could foresee
        out[count] = i;
        count += gains_[i] >= bar;
      }
      return count;
    };
    Index count = take();
    const Index least = std::min(units / kHundredth, kMostOfHundredth);
    if (count < least) {
      std::vector<double> most(least);
      std::partial_sort_copy(gains_.begin(), gains_.end(), most.begin(), most.end(),
                             std::greater<double>());
      bar = std::max(most.back() - kSameGain * std::fabs(most.back()), kLeastGain);
      count = take();
    }
    out.resize(count);
    return out;
  }
  double highest_gain() const {
    constexpr std::size_t kSums = 8;  // that need not wait for each other
    double highest[kSums] = {};
    std::size_t i = 0;
    for (; i + kSums <= gains_.size(); i += kSums) {
      for (std::size_t l = 0; l < kSums; ++l) highest[l] = std::max(highest[l], gains_[i + l]);
    }
    for (; i < gains_.size(); ++i) highest[0] = std::max(highest[0], gains_[i]);
    return *std::max_element(highest, highest + kSums);
  }

  // What walks from the support need to know.
  void note_ways_on(Model& model) {
    if (stays_near()) {
      model.near = nearest();
    } else {
      model.starts = starts(whole());
    }
  }

  // Tries the support of size k, and again while a swap betters it.
  void settle(Index k, bool with_swaps, const Context& context, const Progress& progress) {
    for (;;) {
      if (take_up(k)) sweep_.changed = true;
      if (models_[k].tried || !models_[k].known()) return;
      context.check();
      if (progress) progress(k);
      sweep_.changed = true;
      engine_.move_to(models_[k].support);
      if (swaps_) {
        if (with_swaps) note_ways_on(models_[k]);  // walks come after swaps
      } else {
        models_[k].support = engine_.members();
        models_[k].solved = engine_.solve_at_once(solution_);
        solution_.support.clear();
        models_[k].solution = solution_;
      }
      if (k + 1 < static_cast<Index>(models_.size())) {
        try_insertion(context);
      } else if (!swaps_) {
        models_[k].next_gain = std::max(0.0, engine_.best_insertion().gain);
      }
      if (k > least_) offer_flip(whole(), best_step(whole(), false));
      if (with_swaps) try_swaps(context);
      models_[k].tried = true;  // not before: an interrupt may come at any time
      ++tried_;
      models_[k].swapped |= with_swaps;
    }
  }

  // Puts the support that is waiting for its turn into the table, if it keeps what it promised: it
  // may not, by rounding, among nearly dependent columns.
  bool take_up(Index k) {
    if (!waiting_[k].known()) return false;
    engine_.move_to(waiting_[k].support);
    waiting_[k].energy = std::numeric_limits<double>::infinity();
    if (engine_.size() != k || !beats(engine_.energy(), models_[k].energy)) return false;
    models_[k].support.swap(waiting_[k].support);  // which has room for it
    put(k);
    return true;
  }

  bool is_exact(double energy) const { return energy <= kExact * floor_; }

  // Exact fits are equal: which of them is in the table is settled by their order.
  bool beats(double energy, double old) const {
    return !is_exact(old) && energy < old - floor_ - 1e-12 * std::min(energy, old);
  }

  double best_energy(Index k) const { return std::min(models_[k].energy, waiting_[k].energy); }

  // Whether a support of that size and energy is better than any known.
  bool is_wanted(std::size_t k, double energy) const {
    return k < models_.size() && beats(energy, best_energy(k));
  }
  bool offer(const std::vector<Index>& support, double energy) {
    const std::size_t k = support.size();
    if (!is_wanted(k, energy)) return false;
    waiting_[k].renew(support, energy);
    return true;
  }
  // The same for one that was met on some ground.
  bool offer(const Ground& ground, const std::vector<Index>& support, double energy) {
    if (!ground.part) return offer(support, energy);
    if (!is_wanted(support.size(), energy)) return false;
    return offer(ground.part->outside(support), energy);
  }

  // Whether a support of that size and energy is the one the table has.
  bool equals_table(std::size_t k, double energy) const {
    return k < models_.size() && models_[k].known() && !beats(energy, models_[k].energy) &&
           !beats(models_[k].energy, energy);
  }

  bool offer_flip(const Ground& ground, const Step& step) {
    if (step.unit < 0) return false;
    const Engine& engine = ground.engine;
    const bool up = !engine.contains(step.unit);
    if (!is_wanted(engine.size() + (up ? 1 : -1), step.energy)) return false;
    std::vector<Index>& flipped = flipped_;
    flipped.assign(engine.members().begin(), engine.members().end());
    if (up) {
      flipped.push_back(step.unit);
    } else {
      flipped.erase(std::find(flipped.begin(), flipped.end(), step.unit));
    }
    return offer(ground, flipped, step.energy);
  }

  void try_insertion(const Context& context) {
    for (;;) {
      context.check();
      const Step best = best_step(whole(), true);
      if (best.unit < 0 || !beats(best.energy, best_energy(engine_.size() + 1))) return;
      if (engine_.can_insert(best.unit)) {
        offer_flip(whole(), best);
        return;
      }
    }
  }

  void try_swaps(const Context& context) {
    const Swap best = engine_.best_swap(limits_, context);
    if (best.unit < 0) return;
    std::vector<Index> swapped = engine_.members();
    swapped[best.position] = best.unit;
    offer(swapped, engine_.energy() - best.gain);
  }

  Engine& engine_;
  Limits limits_;
  bool swaps_;
  double floor_;  // what energies differ by through rounding
  Index least_ = 0;
  Index tried_ = 0;
  struct Sweep {
    Index step = 0;  // sizes settled on the way up and down
    bool changed = false;
  } sweep_;
  std::vector<Model> models_;
  std::vector<Model> waiting_;  // by size, the best that was found since
  std::vector<Index> flipped_;  // room to work in
  Solution solution_;
  std::vector<double> gains_;
};

}  // namespace ellzero
