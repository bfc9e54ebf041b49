// Least squares whose unit is a group of columns, in an orthonormal basis each
// (data/grouped_quadratic.hpp):
//
//   E(S) = min over beta of 1/2 |y - Z_S beta|^2 + 1/2 tau sum over g in S of |Z_g beta_g|^2
//
// Removing h raises it by 1/2 beta_h' ([A^-1]_hh)^-1 beta_h; insertions are in blocks.hpp, swaps in
// group_swaps.hpp, insertions of several groups together in joint_gains.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "engine/blocks.hpp"
#include "engine/factor.hpp"
#include "engine/group_costs.hpp"
#include "engine/group_swaps.hpp"
#include "engine/held_columns.hpp"
#include "engine/joint_gains.hpp"
#include "engine/refine.hpp"
#include "engine/unit_engine.hpp"

namespace ellzero {

class GroupSquares final : public UnitEngine {
 public:
  static constexpr double kSpan = Scores::kSpan;
  static constexpr double kKept = 1e-3 * kSpan;

  GroupSquares(const GroupedQuadratic& quadratic, const GramUser& cache, double ridge)
      : quadratic_(quadratic),
        bases_(quadratic.bases()),
        cache_(cache),
        ridge_(ridge),
        zy_(quadratic.zy),
        yy_(quadratic.yy),
        held_(bases_, zy_, cache, 1 + ridge),
        shown_(bases_, zy_, cache, 1 + ridge),
        place_(bases_.units.size(), Place::out),
        blocks_(bases_),
        swaps_(bases_),
        joint_(quadratic, cache) {
    blocks_.reset(zy_, 1 + ridge_);
  }
  GroupSquares(const GroupSquares&) = delete;
  GroupSquares& operator=(const GroupSquares&) = delete;

  Index units() const override { return static_cast<Index>(bases_.units.size()); }
  Index size() const override { return static_cast<Index>(members_.size()); }
  const std::vector<Index>& members() const override { return members_; }
  bool contains(Index unit) const override { return place_[unit] == Place::in; }
  double energy() const override { return energy_at(held_); }
  double loss() const override { return energy() - ridge_energy(held_.factor().beta()); }
  double rounding() const override { return Scores::kRounding * 0.5 * yy_; }
  Index columns_in() const override { return held_.size(); }
  Index columns_of(Index position) const override {
    return static_cast<Index>(held_.places_of({members_[position]}).size());
  }

  const Outlook& outlook() const override {
    if (!knows_outlook_) {
      blocks_.gains(outlook_.gain, outlook_.rank);
      close_others(blocks_, outlook_);
      knows_outlook_ = true;
    }
    return outlook_;
  }
  void insertion_gains(double* gain) const override {
    std::copy(outlook().gain.begin(), outlook().gain.end(), gain);
  }
  Insertion best_insertion() const override;
  double removal_cost(Index position) const override {
    if (removal_costs_.empty() && !costs_.of_all(stand(), members_, removal_costs_)) {
      removal_costs_.assign(members_.size(), kUnknown);
    }
    double& cost = removal_costs_[position];
    if (cost == kUnknown) cost = joint_removal_cost({members_[position]});
    return cost;
  }
  double removal_bound(Index position) const override {
    if (removal_bounds_.empty()) costs_.bounds(stand(), removal_bounds_);
    return removal_bounds_[members_[position]];
  }
  Swap best_swap(const Limits& limits, const Context& context) const override;

  double joint_gain(const std::vector<Index>& units, Index* rank, double above) override {
    if (joint_.bound(stand(), units) <= above) return -0.5;
    return joint_(stand(), units, rank);
  }
  double joint_removal_cost(const std::vector<Index>& units) const override {
    return costs_(stand(), held_.places_of(units));
  }
  // A unit that would enter with the wrong sign may be turned round by who leaves.
  bool may_be_swapped(Index position) const override {
    if (!signs_.empty()) return true;
    return swaps_.reaches(stand(), removal_bound(position)) &&
           swaps_.reaches(stand(), removal_cost(position)) &&
           swaps_.may_leave(stand(), members_[position], least_removal_cost());
  }
  const Outlook& outlook_without(const std::vector<Index>& leaving, bool lowering) override {
    leave_out(leaving, lowering);
    return without_;
  }

  bool can_insert(Index unit) override;
  bool insert(Index unit) override;
  void remove(Index position) override;
  void move_to(const std::vector<Index>& target) override;
  void start_at(const std::vector<Index>& target) override {
    hold(target);
    compute_blocks();
  }
  // Coefficients and costs at some units, and nothing about others: it is left without members.
  template <class Look>
  void look_at(const std::vector<Index>& target, Look&& look) {
    hold(target);
    try {
      look();
    } catch (...) {
      start_at({});
      throw;
    }
    start_at({});
  }
  // Where nobody asks about others, they stay unknown.
  void refresh() override {
    hold(std::vector<Index>(members_));
    if (!ignores_outsiders_) compute_blocks();
  }

  void exclude(Index unit) override {
    if (contains(unit)) remove(position(unit));
    place_[unit] = Place::excluded;
    forget();
  }
  void allow(Index unit) override {
    if (place_[unit] != Place::excluded) return;
    place_[unit] = Place::out;
    compute_block(unit);
    forget();
  }

  std::unique_ptr<State> save() const override { return std::make_unique<Standing>(*this); }
  void restore(const State& state) override;

  void coefficients(std::vector<Index>& columns, std::vector<double>& beta) const override {
    quadratic_.to_base(held_.columns(), held_.factor().beta().data(), columns, beta);
  }
  Index unit_of_column(Index column) const override { return bases_.home[column]; }
  // The columns that the members hold, in the order of the factor.
  const std::vector<Index>& columns() const { return held_.columns(); }
  std::vector<Index> places_of(const std::vector<Index>& members) const {
    return held_.places_of(members);
  }
  double ridge() const { return ridge_; }
  // Another response, by its products with all columns and with itself.
  void set_response(std::vector<double> zy, double yy) {
    zy_ = std::move(zy);
    yy_ = yy;
    held_.take_response();
    shown_.start_at({}, kKept, {});
    std::vector<double> c = gram_times(held_.factor().beta());
    for (std::size_t j = 0; j < c.size(); ++j) c[j] = zy_[j] - c[j];
    blocks_.set_c(std::move(c));
    std::vector<Index> dependent = std::move(ruled_out_);  // whatever the response
    forget();
    ruled_out_ = std::move(dependent);
  }
  // G_{:,S} v, for v in the order of the columns.
  std::vector<double> gram_times(const std::vector<double>& v) const {
    std::vector<double> out(bases_.columns);
    combine(held_.gram().data(), v.data(), held_.size(), 0, bases_.columns, out.data());
    return out;
  }
  // Takes a unit out of the running until the support changes.
  void rule_out(Index unit) {
    ruled_out_.push_back(unit);
    if (knows_outlook_) outlook_.gain[unit] = -0.5;
  }

  void set_signs(const std::vector<signed char>& signs) override {
    signs_.assign(units(), 0);
    for (Index unit = 0; unit < units(); ++unit) {
      const std::vector<Index>& own = bases_.units[unit].columns;
      if (own.size() == 1) signs_[unit] = signs[own[0]];
    }
    forget();
  }
  // Of columns of the base, without costs of removal: those belong to units.
  Solution solve(const Context& context) const override { return solve(held_, context); }
  // The same at other units, wherever the engine stands; quickest if those asked for last are among
  // them.
  Solution solution_at(const std::vector<Index>& target, const Context& context);
  // The columns that were fitted there.
  Index columns_shown() const { return shown_.size(); }
  bool solve_at_once(Solution&) const override { return false; }

  void ignore_outsiders() override { ignores_outsiders_ = true; }
  void prepare(const std::vector<Index>& units) override {
    cache_.prepare(columns_of_units(units));
  }

 private:
  enum class Place : char { out, in, excluded };
  static constexpr double kUnknown = -1;

  struct Standing : State {
    explicit Standing(const GroupSquares& e)
        : members(e.members_),
          held(e.held_.save()),
          blocks(e.bases_),
          drift(e.drift_),
          outlook(e.outlook_),
          knows_outlook(e.knows_outlook_),
          removal_costs(e.removal_costs_) {
      blocks.copy_from(e.blocks_);
    }
    std::vector<Index> members;
    HeldColumns::Snapshot held;
    Blocks blocks;
    double drift;
    Outlook outlook;
    bool knows_outlook;
    std::vector<double> removal_costs;
  };

  double ridge_energy(const std::vector<double>& beta) const {
    return 0.5 * ridge_ * dot(beta.data(), beta.data(), static_cast<Index>(beta.size()));
  }
  std::vector<Index> allowed(const std::vector<Index>& units) const {
    std::vector<Index> out;
    for (const Index unit : units) {
      if (place_[unit] != Place::excluded) out.push_back(unit);
    }
    return out;
  }
  std::vector<Index> columns_of_units(const std::vector<Index>& units) const {
    std::vector<Index> columns;
    for (const Index unit : units) {
      for (Index i = 0; i < bases_.units[unit].width(); ++i) {
        columns.push_back(bases_.column(unit, i));
      }
    }
    return columns;
  }
  void close_others(const Blocks& blocks, Outlook& outlook) const {
    for (Index unit = 0; unit < units(); ++unit) {
      if (place_[unit] != Place::out) outlook.gain[unit] = -0.5;
      if (!signs_.empty() && signs_[unit] != 0 && signs_[unit] * blocks.c(unit, 0) < 0) {
        outlook.gain[unit] = -0.5;
      }
    }
    for (const Index unit : ruled_out_) outlook.gain[unit] = -0.5;
  }
  // After a flip, nothing that was worked out for where it stood is true.
  void forget() {
    knows_outlook_ = false;
    removal_costs_.clear();
    removal_bounds_.clear();
    ruled_out_.clear();
    swaps_.forget();
    joint_.forget();
  }

  // What Gram columns come along with those that have to be made.
  HeldColumns::Gains likely() const {
    return [this] { return ignores_outsiders_ ? std::vector<double>() : outlook().gain; };
  }
  // Columns of members that depended on others when they came may be independent now. As apply().
  bool complete_members();
  // Brings the blocks up to date with flips; false if too many digits would have been lost on the
  // way, and they are to be computed anew.
  bool apply(const std::vector<const double*>& gram, double sign) {
    if (ignores_outsiders_ || rows_.count() == 0) return true;
    // From the first removal on, as of HeldColumns
    if (sign > 0 || drift_ > 0) drift_ += rows_.drift;
    if (drift_ > HeldColumns::kDriftBound) return false;
    // Classes without outsiders are passed over, and members stay closed.
    open_.assign(bases_.layout.classes.size(), 0);
    for (Index unit = 0; unit < units(); ++unit) {
      if (!contains(unit)) open_[bases_.units[unit].kind] = 1;
    }
    blocks_.combine(gram, rows_, t_, open_);
    blocks_.apply(t_, rows_, sign, open_);
    for (const Index unit : members_) blocks_.close(unit);
    return true;
  }
  // After a flip.
  void settle(bool applied) {
    if (held_.drifted()) {
      refresh();
    } else if (!applied) {
      compute_blocks();
    }
  }
  void compute_block(Index unit);
  // Holds the columns of some units instead, with nothing known of others.
  void hold(const std::vector<Index>& members);
  void compute_blocks();
  GroupStand stand() const {
    return {bases_, held_.factor(), held_.columns(), held_.gram(), blocks_, 1 + ridge_};
  }
  void leave_out(const std::vector<Index>& leaving, bool lowering) const;
  double least_removal_cost() const {
    double least = std::numeric_limits<double>::infinity();
    for (Index r = 0; r < size(); ++r) {
      if (removal_bound(r) < least) least = std::min(least, removal_cost(r));
    }
    return least;
  }
  double energy_at(const HeldColumns& held) const {
    return std::max(0.0, 0.5 * (yy_ - held.factor().explained()));
  }
  bool well_conditioned(const HeldColumns& held) const;
  Solution solve(const HeldColumns& held, const Context& context) const;

  const GroupedQuadratic& quadratic_;
  const GroupBases& bases_;
  const GramUser cache_;
  double ridge_;
  std::vector<double> zy_;  // Z'y and y'y
  double yy_;
  HeldColumns held_, shown_;  // where it stands, and where coefficients were asked for
  std::vector<Place> place_;
  std::vector<signed char> signs_;  // by unit; empty if they don't matter
  std::vector<Index> members_;
  Blocks blocks_;
  double drift_ = 0;              // of the blocks: see FlipRows
  std::vector<Index> ruled_out_;  // units that turned out to depend on the members
  bool ignores_outsiders_ = false;
  // What was worked out for where it stands.
  mutable Outlook outlook_;
  mutable bool knows_outlook_ = false;
  mutable std::vector<double> removal_costs_;   // by position, kUnknown until it is asked for
  mutable std::vector<double> removal_bounds_;  // by unit
  mutable Outlook without_;
  mutable GroupSwaps swaps_;
  mutable GroupCosts costs_;
  JointGains joint_;
  // Room to work in.
  FlipRows rows_;
  std::vector<const double*> gram_before_;
  std::vector<double> t_;
  std::vector<char> open_;
};

inline Insertion GroupSquares::best_insertion() const {
  Insertion best;
  const std::vector<double>& gain = outlook().gain;
  for (Index unit = 0; unit < units(); ++unit) {
    if (gain[unit] > best.gain + kTie * std::fabs(best.gain) && gain[unit] >= 0) {
      best.unit = unit;
      best.gain = gain[unit];
    }
  }
  best.completes = best.unit >= 0 && energy() - best.gain <= rounding();
  return best;
}

inline void GroupSquares::leave_out(const std::vector<Index>& leaving, bool lowering) const {
  lowering = lowering && signs_.empty();
  const Blocks& left =
      swaps_.without(stand(), held_.places_of(leaving), lowering,
                     lowering ? least_removal_cost() : 0.0, without_.gain, without_.rank);
  close_others(left, without_);
}

inline Swap GroupSquares::best_swap(const Limits& limits, const Context& context) const {
  Swap best;
  for (Index r = 0; r < size(); ++r) {
    if (limits.is_forced(members_[r]) || !may_be_swapped(r)) continue;
    context.check();
    leave_out({members_[r]}, true);
    const double cost = removal_cost(r);
    for (Index unit = 0; unit < units(); ++unit) {
      const double gain = without_.gain[unit] - cost;
      if (gain > best.gain + kTie * best.gain) best = {r, unit, gain};
    }
  }
  return best;
}

inline bool GroupSquares::can_insert(Index unit) {
  if (place_[unit] != Place::out) return false;
  for (const Index column : columns_of_units({unit})) {
    if (held_.could_insert(column, kSpan, likely())) return true;
  }
  rule_out(unit);
  return false;
}

inline bool GroupSquares::insert(Index unit) {
  if (place_[unit] != Place::out) return false;
  if (held_.insert(columns_of_units({unit}), kSpan, likely(), rows_) == 0) {
    rule_out(unit);
    return false;
  }
  members_.push_back(unit);
  place_[unit] = Place::in;
  const bool applied = apply(held_.gram(), -1);
  forget();
  settle(applied);
  return true;
}

inline void GroupSquares::remove(Index at) {
  const Index unit = members_[at];
  held_.remove(held_.places_of({unit}), rows_, gram_before_);
  bool applied = apply(gram_before_, +1);
  held_.let_go();
  members_.erase(members_.begin() + at);
  place_[unit] = Place::out;
  // Of a member the block was down to rounding.
  if (!ignores_outsiders_) compute_block(unit);
  forget();
  applied = complete_members() && applied;
  settle(applied);
}

inline bool GroupSquares::complete_members() {
  std::vector<Index> missing = columns_of_units(members_);
  if (static_cast<Index>(missing.size()) == held_.size()) return true;
  std::vector<char> in(bases_.columns, 0);
  for (const Index j : held_.columns()) in[j] = 1;
  missing.erase(std::remove_if(missing.begin(), missing.end(), [&](Index j) { return in[j] != 0; }),
                missing.end());
  if (held_.insert(missing, kSpan, likely(), rows_) == 0) return true;
  const bool applied = apply(held_.gram(), -1);
  forget();
  return applied;
}

inline void GroupSquares::compute_block(Index unit) {
  const Index k = held_.size();
  const Factor& factor = held_.factor();
  std::vector<std::vector<double>> w;
  std::vector<double> with(k);
  for (Index i = 0; i < bases_.units[unit].width(); ++i) {
    const Index column = bases_.column(unit, i);
    double c = zy_[column];
    for (Index s = 0; s < k; ++s) {
      with[s] = held_.gram()[s][column];
      c -= with[s] * factor.beta()[s];
    }
    blocks_.c(unit, i) = c;
    w.push_back(factor.times(with.data()));
    for (Index j = 0; j <= i; ++j) {
      blocks_.d(unit, i, j) = (i == j ? 1 + ridge_ : 0.0) - dot(w[i].data(), w[j].data(), k);
    }
  }
}

inline void GroupSquares::move_to(const std::vector<Index>& target) {
  std::vector<char> wanted(units(), 0);
  for (const Index unit : target) wanted[unit] = 1;
  std::vector<Index> leaving, entering;
  for (const Index unit : members_) {
    if (!wanted[unit]) leaving.push_back(unit);
  }
  for (const Index unit : target) {
    if (!contains(unit) && place_[unit] == Place::out) entering.push_back(unit);
  }
  const std::size_t flips = leaving.size() + entering.size();
  if (flips == 0) return;
  if (2 * flips > target.size() + 2 && !ignores_outsiders_) {  // as cheap from the start
    start_at(target);
    return;
  }
  bool all = true;
  for (const Index unit : leaving) remove(position(unit));
  for (const Index unit : entering) all &= contains(unit) || insert(unit);
  // Whether nearly dependent units can be inserted depends on their order: once more, in that given
  if (!all) start_at(target);
}

inline void GroupSquares::hold(const std::vector<Index>& members) {
  // Those that are in passed a stricter test when they entered, with more members before them.
  held_.start_at(columns_of_units(allowed(members)), kKept, likely());
  for (const Index unit : members_) place_[unit] = Place::out;
  members_.clear();
  for (const Index column : held_.columns()) {
    const Index unit = bases_.unit_of[column];
    if (place_[unit] == Place::out) members_.push_back(unit);
    place_[unit] = Place::in;
  }
  forget();
}

inline void GroupSquares::compute_blocks() {
  ignores_outsiders_ = false;
  drift_ = 0;
  blocks_.reset(zy_, 1 + ridge_);
  held_.all_rows(rows_);
  apply(held_.gram(), -1);
}

inline void GroupSquares::restore(const State& state) {
  const Standing& then = static_cast<const Standing&>(state);
  held_.restore(then.held, likely());
  for (const Index unit : members_) place_[unit] = Place::out;
  members_ = then.members;
  for (const Index unit : members_) place_[unit] = Place::in;
  blocks_.copy_from(then.blocks);
  drift_ = then.drift;
  forget();
  outlook_ = then.outlook;
  knows_outlook_ = then.knows_outlook;
  removal_costs_ = then.removal_costs;
  ignores_outsiders_ = false;
}

inline bool GroupSquares::well_conditioned(const HeldColumns& held) const {
  constexpr double kInflation = 100, kUnexplained = 1e-3;
  for (const Index column : held.columns()) {
    if (!(bases_.units[bases_.unit_of[column]].inflation < kInflation)) return false;
  }
  for (const double inflation : held.factor().inverse_diagonal()) {
    if (!(inflation < kInflation)) return false;
  }
  return energy_at(held) > kUnexplained * 0.5 * yy_;
}

inline Solution GroupSquares::solve(const HeldColumns& held, const Context& context) const {
  std::vector<double> beta = held.factor().beta();
  double rss = std::numeric_limits<double>::quiet_NaN();
  if (!well_conditioned(held)) {
    const std::vector<double> ridges(beta.size(), ridge_);
    rss = refine(quadratic_, held.factor(), held.columns(), ridges, beta, context);
  }
  Solution solution;
  solution.ridge_energy = ridge_energy(beta);
  solution.rss = rss;
  if (std::isnan(rss)) solution.set_energy(energy_at(held));
  quadratic_.to_base(held.columns(), beta.data(), solution.support, solution.beta);
  return solution;
}

inline Solution GroupSquares::solution_at(const std::vector<Index>& target,
                                          const Context& context) {
  const std::vector<Index> wanted = columns_of_units(allowed(target));
  const HeldColumns::Gains nothing = [] { return std::vector<double>(); };
  std::vector<char> missing(bases_.columns, 0);
  for (const Index column : wanted) missing[column] = 1;
  bool goes_on = !shown_.drifted();
  for (const Index column : shown_.columns()) {
    goes_on = goes_on && missing[column];
    missing[column] = 0;
  }
  if (goes_on) {
    std::vector<Index> others;
    std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(others),
                 [&](Index column) { return missing[column] != 0; });
    shown_.insert(others, kKept, nothing, rows_);
  }
  // Which columns depend on others is a matter of their order.
  if (!goes_on || shown_.size() < static_cast<Index>(wanted.size())) {
    shown_.start_at(wanted, kKept, nothing);
  }
  return solve(shown_, context);
}

}  // namespace ellzero
