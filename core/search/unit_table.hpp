// What a search over units keeps: the best support known of every size and, if units differ in
// price, the supports on the lower convex hull of
//
//   (price of S, E(S))
//
// which need not be the best of their sizes. What was found since waits for its turn.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "search/unit_rules.hpp"

namespace ellzero {

// Units that are flipped together, and the energy of the support that has them flipped.
struct UnitStep {
  std::vector<Index> units;
  double energy = std::numeric_limits<double>::infinity();
  bool known() const { return !units.empty(); }
};

struct UnitModel {
  std::vector<Index> units;
  double energy = std::numeric_limits<double>::infinity();
  double price = 0;
  bool tried = false;            // whether its neighbours have been looked at
  bool swapped = false;          // those by a swap too
  bool wandered = false;         // whether walks have set out from it
  std::vector<UnitStep> starts;  // of walks; known once it has been tried

  bool known() const { return energy < std::numeric_limits<double>::infinity(); }
};

class UnitTable {
 public:
  // Begins with one model; `floor` is what energies differ by through rounding.
  UnitTable(const UnitRules& rules, double floor, Index least, UnitModel first)
      : rules_(rules), floor_(floor), least_(least), models_(least + 1), waiting_(least + 1) {
    if (rules_.is_priced()) hull_.push_back(first);
    models_[least] = std::move(first);
  }

  Index least() const { return least_; }
  Index sizes() const { return static_cast<Index>(models_.size()); }
  std::vector<UnitModel>& models() { return models_; }
  const std::vector<UnitModel>& models() const { return models_; }
  std::vector<UnitModel>& hull() { return hull_; }
  const std::vector<UnitModel>& hull() const { return hull_; }

  // Makes room for larger sizes. Supports that have a move to one of them are to be tried anew: all
  // but those that are more than `reach` below, the most that a move can add.
  void extend(Index max_size, Index reach) {
    if (max_size + 1 <= sizes()) return;
    for (Index size = std::max<Index>(0, sizes() - reach); size < sizes(); ++size) {
      models_[size].tried = models_[size].swapped = false;
    }
    for (UnitModel& model : hull_) model.tried = model.swapped = false;
    models_.resize(max_size + 1);
    waiting_.resize(max_size + 1);
  }
  // All that were not tried with swaps are to be tried.
  void try_anew() {
    for (UnitModel& model : models_) model.tried = model.swapped;
    for (UnitModel& model : hull_) model.tried = model.swapped;
  }

  // Exact fits are equal.
  bool beats(double energy, double old) const {
    return old > kExact * floor_ && energy < old - floor_ - 1e-12 * std::min(energy, old);
  }
  double best_energy(Index size) const {
    return std::min(models_[size].energy, waiting_[size].energy);
  }
  // The energy of the hull at a price.
  double hull_at(double price) const {
    const auto above =
        std::upper_bound(hull_.begin(), hull_.end(), price,
                         [](double value, const UnitModel& model) { return value < model.price; });
    if (above == hull_.begin()) return std::numeric_limits<double>::infinity();
    const UnitModel& low = *(above - 1);
    if (above == hull_.end()) return low.energy;
    const double share = (price - low.price) / (above->price - low.price);
    return low.energy + share * (above->energy - low.energy);
  }
  bool below_hull(double price, double energy) const {
    return rules_.is_priced() && beats(energy, hull_at(price));
  }
  // Whether a support of that size and energy is one that the table has.
  bool has(double energy) const {
    return std::any_of(models_.begin(), models_.end(), [&](const UnitModel& model) {
      return model.known() && !beats(energy, model.energy) && !beats(model.energy, energy);
    });
  }

  // Puts a support on the waiting lists that it is good enough for; whether it is for any.
  bool offer(const std::vector<Index>& units, double energy, Index size) {
    if (size < least_ || size >= sizes()) return false;
    UnitModel model;
    model.units = units;
    model.energy = energy;
    model.price = rules_.price_of(units);
    const bool priced = below_hull(model.price, energy);
    if (priced) waiting_priced_.push_back(model);
    return offer_for_size(std::move(model), size) || priced;
  }
  // The same for the table alone.
  bool offer_for_size(UnitModel model, Index size) {
    if (size < least_ || size >= sizes() || !beats(model.energy, best_energy(size))) return false;
    waiting_[size] = std::move(model);
    return true;
  }
  std::vector<UnitModel>& waiting() { return waiting_; }
  std::vector<UnitModel>& waiting_priced() { return waiting_priced_; }

  void put(Index size, const UnitModel& model) {
    models_[size] = model;
    join_hull(model);
  }
  // Takes a support into the hull, if it is below it; those above go.
  bool join_hull(const UnitModel& model) {
    if (!below_hull(model.price, model.energy)) return false;
    hull_.push_back(model);
    std::sort(hull_.begin(), hull_.end(), [](const UnitModel& a, const UnitModel& b) {
      return a.price != b.price ? a.price < b.price : a.energy < b.energy;
    });
    std::vector<UnitModel> kept;
    for (UnitModel& next : hull_) {
      if (!kept.empty() && !(next.energy < kept.back().energy)) continue;  // dearer, and no better
      while (kept.size() > 1) {
        const UnitModel &a = kept[kept.size() - 2], &b = kept.back();
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

  // The sizes whose support is better than those of all smaller ones. Of others, as signs or sizes
  // in columns can make them, little is known: nothing leads there.
  std::vector<Index> sizes_worth_having() const {
    std::vector<Index> out;
    double least = std::numeric_limits<double>::infinity();
    for (Index size = least_; size < sizes(); ++size) {
      const double energy = models_[size].energy;
      if (!models_[size].known() || (size > least_ && !beats(energy, least))) continue;
      least = energy;
      out.push_back(size);
    }
    return out;
  }

 private:
  // An energy below so many times its rounding is that of an exact fit.
  static constexpr double kExact = 100;

  const UnitRules& rules_;
  const double floor_;
  const Index least_;
  std::vector<UnitModel> models_, waiting_;  // by size
  std::vector<UnitModel> hull_;              // by price, increasing
  std::vector<UnitModel> waiting_priced_;
};

}  // namespace ellzero
