// What drivers walk on: a support S of units, its energy E(S), and what inserting, removing or
// swapping a unit would do to that.
//
// A unit is what is flipped, priced and counted: one column of X today. Drivers (core/search) know
// neither the loss behind the energy nor where X is. An engine may promise a gain approximately:
// drivers take a move only if the energy keeps the promise. It must end with the same energy
// whatever way it came to a support, up to rounding().
//
// A call that changes the engine may throw: Interrupted, or ColumnMissing where the making of Gram
// columns is put off (core/data). Then the engine stands at some support, not always at the one
// before the call, and can be used again. So a driver that is to go on after a throw keeps in its
// own members how far it has come, and begins every step with move_to() or start_at().
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "base/parallel.hpp"
#include "engine/solution.hpp"

namespace ellzero {

// Units that are always in, and the largest size.
struct Limits {
  std::vector<char> forced;  // by unit: never removed, pays no price; empty for none
  Index max_size = 0;

  bool is_forced(Index unit) const { return !forced.empty() && forced[unit]; }
};

// An insertion, and by how much it lowers the energy; unit -1 if there is none.
struct Insertion {
  Index unit = -1;
  double gain = -1;
  bool completes = false;  // whether nothing but rounding is left of the energy
};

// The member at a position leaves, and by how much that raises the energy; position -1 if none may.
struct Removal {
  Index position = -1;
  double cost = std::numeric_limits<double>::infinity();
};

// The member at a position leaves and a unit comes in; position -1 if no swap lowers the energy.
struct Swap {
  Index position = -1;
  Index unit = -1;
  double gain = 0;
};

// Scores closer than this, relatively, are equal but for rounding: the first unit wins.
inline constexpr double kTie = 1e-12;

class Engine {
 public:
  // Where an engine stands, to come back to.
  struct State {
    virtual ~State() = default;
  };

  virtual ~Engine() = default;

  virtual Index units() const = 0;
  virtual Index size() const = 0;
  // In the order in which they were inserted; positions refer to it.
  virtual const std::vector<Index>& members() const = 0;
  virtual bool contains(Index unit) const = 0;
  virtual double energy() const = 0;
  // The part of it that is loss, not a penalty on coefficients.
  virtual double loss() const = 0;
  // What energies differ by through rounding.
  virtual double rounding() const = 0;

  // For every unit, by how much its insertion lowers the energy; negative if it can't be inserted.
  virtual void insertion_gains(double* gain) const = 0;
  // The insertion that lowers the energy most, the first of equals. Of those that complete an exact
  // fit, which differ by rounding alone, the one that the engine knows best.
  virtual Insertion best_insertion() const = 0;
  // The few that lower it most, the best first, by their gains alone.
  virtual std::vector<Insertion> best_insertions(Index count) const {
    std::vector<double> gains(units());
    insertion_gains(gains.data());
    std::vector<Insertion> best;
    for (Index place = 0; place < count; ++place) {
      const auto next = std::max_element(gains.begin(), gains.end());
      if (next == gains.end() || !(*next > 0)) break;
      best.push_back({next - gains.begin(), *next});
      *next = -1;
    }
    return best;
  }
  // By how much removing the member at a position raises the energy.
  virtual double removal_cost(Index position) const = 0;
  // The removal that raises the energy least, the first of equals; forced units stay.
  virtual Removal cheapest_removal(const Limits& limits) const {
    Removal best;
    for (Index r = 0; r < size(); ++r) {
      const double cost = removal_cost(r);
      if (cost < best.cost && !limits.is_forced(members()[r])) best = {r, cost};
    }
    return best;
  }
  // The swap that lowers the energy most; forced units stay.
  virtual Swap best_swap(const Limits& limits, const Context& context) const = 0;

  // Whether insert(unit) would succeed. One that would not is no best insertion again until the
  // support has changed.
  virtual bool can_insert(Index unit) = 0;
  // False, and nothing changed, if the unit adds nothing to what the members span.
  virtual bool insert(Index unit) = 0;
  virtual void remove(Index position) = 0;
  // Flips to the given units, less those that depend on the ones before them.
  virtual void move_to(const std::vector<Index>& target) = 0;
  // The same with everything computed from scratch: the bits depend on the target and its order,
  // not on the way.
  virtual void start_at(const std::vector<Index>& target) = 0;
  // Computes everything anew where it stands: rounding accumulates over flips.
  virtual void refresh() = 0;

  // An excluded unit is not inserted, swapped in or moved to until it is allowed again.
  virtual void exclude(Index unit) = 0;
  virtual void allow(Index unit) = 0;

  virtual std::unique_ptr<State> save() const = 0;
  // The same, in place of what it saved before, if that is not null.
  virtual void save_over(std::unique_ptr<State>& state) const { state = save(); }
  virtual void restore(const State& state) = 0;

  // Coefficients of where it stands, to the accuracy of the data.
  virtual Solution solve(const Context& context) const = 0;
  // The same, in the order of members() and without costs of removal, where that takes no work;
  // false if it would.
  virtual bool solve_at_once(Solution& solution) const = 0;

  // What a driver knows of its own future, so that an engine can save work. Until restore():
  // nothing will be asked about units that are not members.
  virtual void ignore_outsiders() {}
  // Whether walks through worse supports are worth their cost if they set out by a removal.
  virtual bool walks_down() const { return true; }
  // Until restore(): gains and costs need not be as sure as elsewhere; the energy is.
  virtual void explore() {}
  // These units will be inserted sooner or later.
  virtual void prepare(const std::vector<Index>&) {}
  // Insertions that gain less than this are not to be expected.
  virtual void expect_gains_above(double) {}
  // Whether there may be engines of some of the units alone.
  virtual bool has_some() const { return false; }
  // One of these, at none of its units, which moves in less time; null if there is none. Unit i of
  // it is units[i] of this one, which has to outlive it. `known`, if not null, is one that was made
  // so of the first of these units: what it knows need not be found out again.
  virtual std::unique_ptr<Engine> on_some(const std::vector<Index>& /*units*/,
                                          std::unique_ptr<Engine> /*known*/, const Context&) const {
    return nullptr;
  }

  Index position(Index unit) const {
    return std::find(members().begin(), members().end(), unit) - members().begin();
  }
  bool flip(Index unit) {
    const Index at = position(unit);
    if (at == size()) return insert(unit);
    remove(at);
    return true;
  }
};

// Leaves an engine for a while: wherever it goes meanwhile, it comes back.
class Excursion {
 public:
  explicit Excursion(Engine& engine) : engine_(engine), home_(engine.save()) {}
  Excursion(const Excursion&) = delete;
  Excursion& operator=(const Excursion&) = delete;
  ~Excursion() {
    try {
      come_back();
    } catch (...) {  // interrupted once more: at least all that it says is true of where it stands
      engine_.refresh();
    }
  }
  void come_back() {
    if (!home_) return engine_.refresh();
    engine_.restore(*home_);
  }
  // From now on it comes back to where it stands now.
  void move_home() {
    auto room = std::move(home_);  // of no use if it is not written to the end
    engine_.save_over(room);
    home_ = std::move(room);
  }

 private:
  Engine& engine_;
  std::unique_ptr<Engine::State> home_;
};

// Units that are excluded for a while.
class Exclusions {
 public:
  explicit Exclusions(Engine& engine) : engine_(engine) {}
  Exclusions(const Exclusions&) = delete;
  Exclusions& operator=(const Exclusions&) = delete;
  ~Exclusions() { end(); }
  void add(Index unit) {
    engine_.exclude(unit);
    units_.push_back(unit);
  }
  void end() {
    for (const Index unit : units_) engine_.allow(unit);
    units_.clear();
  }

 private:
  Engine& engine_;
  std::vector<Index> units_;
};

}  // namespace ellzero
