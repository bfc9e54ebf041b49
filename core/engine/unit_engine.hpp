// What a driver asks of an engine beyond engine.hpp if its moves take several units at a time: a
// product with the parents it lacks, a main effect with the products that need it; and if it counts
// columns rather than units.
#pragma once

#include <vector>

#include "engine/engine.hpp"

namespace ellzero {

class UnitEngine : public Engine {
 public:
  // What can be said of all units outside a support.
  struct Outlook {
    std::vector<double> gain;  // by unit: what its insertion gains; negative if it can't be had
    std::vector<double> rank;  // by unit: how many columns it would bring in
  };

  // Independent columns of the members.
  virtual Index columns_in() const = 0;
  // How many of them a member brought.
  virtual Index columns_of(Index position) const = 0;
  virtual const Outlook& outlook() const = 0;
  // What inserting several units together gains, and how many columns they bring; negative if they
  // can't be inserted, or if it is seen to be no more than `above`. All but the first unit should
  // come up again and again.
  virtual double joint_gain(const std::vector<Index>& units, Index* rank, double above) = 0;
  virtual double joint_removal_cost(const std::vector<Index>& units) const = 0;
  // No more than what removing the member at a position costs, alone or with others; at hand.
  virtual double removal_bound(Index) const { return 0; }
  // Whether swapping the member at a position for some unit may lower the energy; true if unsure.
  virtual bool may_be_swapped(Index) const { return true; }
  // The outlook of the support without some of its members, while it stands where it is. If only
  // swaps matter that lower the energy, units that can't do that may be left out: negative gains.
  virtual const Outlook& outlook_without(const std::vector<Index>& leaving, bool lowering) = 0;

  // How many insertions walks through worse supports set out by, at least.
  virtual Index least_walks() const { return 2; }
  // A hint of what is looked for until the support changes: by unit, 0 if it can't enter, else one
  // over its price (empty: 1 for all); and whether it is the best of every rank or just the best.
  struct Wants {
    std::vector<double> share;
    bool of_each_rank = true;
  };
  virtual bool heeds_wants() const { return false; }
  virtual void want(const Wants&) {}
  // A unit of one column is not offered if it would enter with the wrong sign; by column of X.
  virtual void set_signs(const std::vector<signed char>& signs) = 0;

  // The columns of X that are in, and their coefficients for columns of unit norm.
  virtual void coefficients(std::vector<Index>& columns, std::vector<double>& beta) const = 0;
  // The unit that a column of X belongs to.
  virtual Index unit_of_column(Index column) const = 0;
};

}  // namespace ellzero
