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
#include <memory>
#include <utility>
#include <vector>

#include "engine/blocks.hpp"
#include "engine/factor.hpp"
#include "engine/group_costs.hpp"
#include "engine/group_swaps.hpp"
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
        place_(bases_.units.size(), Place::out),
        blocks_(bases_),
        swaps_(bases_),
        joint_(quadratic, cache) {
    blocks_.reset(quadratic_.zy, 1 + ridge_);
  }
  GroupSquares(const GroupSquares&) = delete;
  GroupSquares& operator=(const GroupSquares&) = delete;
  ~GroupSquares() override {
    for (const Index j : columns_) cache_.release(j);
  }

  Index units() const override { return static_cast<Index>(bases_.units.size()); }
  Index size() const override { return static_cast<Index>(members_.size()); }
  const std::vector<Index>& members() const override { return members_; }
  bool contains(Index unit) const override { return place_[unit] == Place::in; }
  double energy() const override {
    return std::max(0.0, 0.5 * (quadratic_.yy - factor_.explained()));
  }
  double loss() const override { return energy() - ridge_energy(factor_.beta()); }
  double rounding() const override { return Scores::kRounding * 0.5 * quadratic_.yy; }
  Index columns_in() const override { return static_cast<Index>(columns_.size()); }
  Index columns_of(Index position) const override {
    return static_cast<Index>(places_of({members_[position]}).size());
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
    if (removal_costs_.empty()) costs_.of_all(stand(), members_, removal_costs_);
    return removal_costs_[position];
  }
  Swap best_swap(const Limits& limits, const Context& context) const override;

  double joint_gain(const std::vector<Index>& units, Index* rank, double above) override {
    if (joint_.bound(stand(), units) <= above) return -0.5;
    return joint_(stand(), units, nullptr, rank);
  }
  double joint_removal_cost(const std::vector<Index>& units) const override {
    return costs_(stand(), places_of(units));
  }
  const Outlook& outlook_without(const std::vector<Index>& leaving, bool lowering) override {
    leave_out(leaving, lowering);
    return without_;
  }
  double joint_gain_without(const std::vector<Index>& units, Index* rank) override {
    return joint_(stand(), units, &swaps_.rows(), rank);
  }

  bool can_insert(Index unit) override;
  bool insert(Index unit) override { return insert(unit, kSpan); }
  void remove(Index position) override;
  void move_to(const std::vector<Index>& target) override;
  void start_at(const std::vector<Index>& target) override {
    hold_independent(target);
    compute_blocks();
  }
  // Coefficients and costs at some units, and nothing about others: it is left without members.
  template <class Look>
  void look_at(const std::vector<Index>& target, Look&& look) {
    hold_independent(target);
    look();
    start_at({});
  }
  void refresh() override { start_at(std::vector<Index>(members_)); }

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
    quadratic_.to_base(columns_, factor_.beta().data(), columns, beta);
  }
  Index unit_of_column(Index column) const override { return bases_.home[column]; }
  // A unit of one column is not offered if it would enter with the wrong sign; by column of X.
  void set_signs(const std::vector<signed char>& signs) {
    signs_.assign(units(), 0);
    for (Index unit = 0; unit < units(); ++unit) {
      const std::vector<Index>& own = bases_.units[unit].columns;
      if (own.size() == 1) signs_[unit] = signs[own[0]];
    }
    forget();
  }
  // Of columns of the base, without costs of removal: those belong to units.
  Solution solve(const Context& context) const override;
  bool solve_at_once(Solution&) const override { return false; }

  void ignore_outsiders() override { ignores_outsiders_ = true; }
  void prepare(const std::vector<Index>& units) override {
    std::vector<Index> columns;
    for (const Index unit : units) {
      for (Index i = 0; i < bases_.units[unit].width(); ++i) {
        columns.push_back(bases_.column(unit, i));
      }
    }
    cache_.prepare(columns);
  }

 private:
  // Flips add up rounding of about epsilon / pivot each: refresh before it could matter.
  static constexpr double kDriftBound = 2e4;
  static constexpr int kFlipBound = 500;

  enum class Place : char { out, in, excluded };

  struct Standing : State {
    explicit Standing(const GroupSquares& e)
        : members(e.members_),
          columns(e.columns_),
          factor(e.factor_),
          blocks(e.bases_),
          outlook(e.outlook_),
          knows_outlook(e.knows_outlook_),
          removal_costs(e.removal_costs_),
          drift(e.drift_),
          flips(e.flips_) {
      blocks.copy_from(e.blocks_);
    }
    std::vector<Index> members, columns;
    Factor factor;
    Blocks blocks;
    Outlook outlook;
    bool knows_outlook;
    std::vector<double> removal_costs;
    double drift;
    int flips;
  };

  double ridge_energy(const std::vector<double>& beta) const {
    return 0.5 * ridge_ * dot(beta.data(), beta.data(), static_cast<Index>(beta.size()));
  }
  // Where the columns of some members are among columns_.
  std::vector<Index> places_of(const std::vector<Index>& units) const {
    std::vector<Index> places;
    for (std::size_t s = 0; s < columns_.size(); ++s) {
      const Index own = bases_.unit_of[columns_[s]];
      if (std::find(units.begin(), units.end(), own) != units.end()) {
        places.push_back(static_cast<Index>(s));
      }
    }
    return places;
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
    ruled_out_.clear();
    swaps_.forget();
    joint_.forget();
  }

  const double* acquire(Index column);
  double new_row(Index column, const double* gram, double least_pivot) {
    cross_room_.resize(columns_.size());
    for (std::size_t s = 0; s < columns_.size(); ++s) cross_room_[s] = gram[columns_[s]];
    return factor_.new_row(cross_room_.data(), 1 + ridge_, quadratic_.zy[column], least_pivot,
                           row_);
  }
  bool insert(Index unit, double least_pivot);
  // Columns of members that depended on others when they came may be independent now.
  void complete_members();
  // Inserts what is independent of some columns; rows_ are their flips.
  Index insert_columns(const std::vector<Index>& columns, double least_pivot);
  void apply(double sign) {
    if (ignores_outsiders_ || rows_.count() == 0) return;
    blocks_.combine(gram_, rows_, t_);
    blocks_.apply(t_, rows_, sign);
  }
  void compute_block(Index unit);
  std::vector<const double*> acquire_all(const std::vector<Index>& columns);
  // Holds the columns of some units instead, with nothing computed for them; the same with the
  // factor of those that are independent.
  void hold(const std::vector<Index>& members);
  void hold_independent(const std::vector<Index>& members);
  void compute_blocks();
  GroupStand stand() const { return {bases_, factor_, columns_, gram_, blocks_, 1 + ridge_}; }
  void leave_out(const std::vector<Index>& leaving, bool lowering) const;
  bool well_conditioned() const;

  const GroupedQuadratic& quadratic_;
  const GroupBases& bases_;
  const GramUser cache_;
  double ridge_;
  std::vector<Place> place_;
  std::vector<signed char> signs_;  // by unit; empty if they don't matter
  std::vector<Index> members_;
  std::vector<Index> columns_;       // of the members, in the order of the factor
  std::vector<const double*> gram_;  // their Gram columns
  Factor factor_;
  Blocks blocks_;
  std::vector<Index> ruled_out_;  // units that turned out to depend on the members
  bool ignores_outsiders_ = false;
  double drift_ = 0;
  int flips_ = 0;
  // What was worked out for where it stands.
  mutable Outlook outlook_;
  mutable bool knows_outlook_ = false;
  mutable std::vector<double> removal_costs_;
  mutable Outlook without_;
  mutable GroupSwaps swaps_;
  mutable GroupCosts costs_;
  JointGains joint_;
  // Room to work in.
  FlipRow row_;
  FlipRows rows_;
  std::vector<double> t_, cross_room_;
};

inline const double* GroupSquares::acquire(Index column) {
  if (cache_.has(column)) return cache_.acquire(column);
  // What else is likely to be wanted comes along: the rest of the group, then the best of others.
  std::vector<Index> companions;
  const auto add = [&](Index unit) {
    const Index width = bases_.units[unit].width();
    for (Index i = 0; i < width; ++i) {
      const Index j = bases_.column(unit, i);
      if (j == column || cache_.has(j)) continue;
      if (static_cast<Index>(companions.size()) + 1 < kBlockColumns) companions.push_back(j);
    }
  };
  const Index own = bases_.unit_of[column];
  add(own);
  if (!ignores_outsiders_) {
    std::vector<double> gain = outlook().gain;
    gain[own] = -1;
    while (static_cast<Index>(companions.size()) + 1 < kBlockColumns) {
      const auto best = std::max_element(gain.begin(), gain.end());
      if (!(*best > 0)) break;
      *best = -1;
      add(best - gain.begin());
    }
  }
  return cache_.acquire(column, companions);
}

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
  double least = std::numeric_limits<double>::infinity();
  if (lowering) {
    for (Index r = 0; r < size(); ++r) least = std::min(least, removal_cost(r));
  }
  const Blocks& left =
      swaps_.without(stand(), places_of(leaving), lowering, least, without_.gain, without_.rank);
  close_others(left, without_);
}

inline Swap GroupSquares::best_swap(const Limits& limits, const Context& context) const {
  Swap best;
  for (Index r = 0; r < size(); ++r) {
    if (limits.is_forced(members_[r])) continue;
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
  for (Index i = 0; i < bases_.units[unit].width(); ++i) {
    const Index column = bases_.column(unit, i);
    const bool can = new_row(column, acquire(column), kSpan) > 0;
    cache_.release(column);
    if (can) return true;
  }
  ruled_out_.push_back(unit);
  if (knows_outlook_) outlook_.gain[unit] = -0.5;
  return false;
}

inline Index GroupSquares::insert_columns(const std::vector<Index>& columns, double least_pivot) {
  // All Gram columns first: one that can't be had now must not leave half a group behind.
  const std::vector<const double*> grams = acquire_all(columns);
  rows_.clear(columns_in() + static_cast<Index>(columns.size()));
  Index entered = 0;
  double least = 1;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const double pivot = new_row(columns[i], grams[i], least_pivot);
    if (!(pivot > 0)) {
      cache_.release(columns[i]);
      continue;
    }
    least = std::min(least, pivot);
    factor_.append(row_, quadratic_.zy[columns[i]]);
    factor_.add(row_);
    columns_.push_back(columns[i]);
    gram_.push_back(grams[i]);
    std::copy(row_.a.begin(), row_.a.end(), rows_.add(row_.q));
    ++entered;
  }
  drift_ += static_cast<double>(entered) / least;
  flips_ += static_cast<int>(entered);
  rows_.shorten(columns_in());  // by the places of those that stayed out
  return entered;
}

inline bool GroupSquares::insert(Index unit, double least_pivot) {
  if (place_[unit] != Place::out) return false;
  std::vector<Index> columns;
  for (Index i = 0; i < bases_.units[unit].width(); ++i) columns.push_back(bases_.column(unit, i));
  if (insert_columns(columns, least_pivot) == 0) {
    ruled_out_.push_back(unit);
    if (knows_outlook_) outlook_.gain[unit] = -0.5;
    return false;
  }
  members_.push_back(unit);
  place_[unit] = Place::in;
  apply(-1);
  forget();
  if (flips_ >= kFlipBound || drift_ > kDriftBound) refresh();
  return true;
}

inline void GroupSquares::remove(Index at) {
  const Index unit = members_[at];
  const std::vector<Index> places = places_of({unit});
  const std::vector<const double*> gram = gram_;
  // Rows are those of the members of their time: where these were at first.
  std::vector<Index> slots(columns_.size());
  for (std::size_t s = 0; s < slots.size(); ++s) slots[s] = static_cast<Index>(s);
  FlipRows rows;
  rows.clear(columns_in());
  double least = 1;
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    factor_.remove(*place, row_);
    double* row = rows.add(row_.q);
    for (std::size_t s = 0; s < row_.a.size(); ++s) row[slots[s]] = row_.a[s];
    least = std::min(least, 1 / (row_.a[*place] * row_.a[*place]));
    slots.erase(slots.begin() + *place);
    gram_.erase(gram_.begin() + *place);
  }
  if (!ignores_outsiders_) {
    blocks_.combine(gram, rows, t_);
    blocks_.apply(t_, rows, +1);
  }
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    cache_.release(columns_[*place]);
    columns_.erase(columns_.begin() + *place);
  }
  members_.erase(members_.begin() + at);
  place_[unit] = Place::out;
  drift_ += static_cast<double>(places.size()) / least;
  flips_ += static_cast<int>(places.size());
  // Of a member the block was down to rounding.
  if (!ignores_outsiders_) compute_block(unit);
  forget();
  complete_members();
  if (flips_ >= kFlipBound || drift_ > kDriftBound) refresh();
}

inline void GroupSquares::complete_members() {
  Index wanted = 0;
  for (const Index unit : members_) wanted += bases_.units[unit].width();
  if (wanted == columns_in()) return;
  std::vector<char> in(bases_.columns, 0);
  for (const Index j : columns_) in[j] = 1;
  std::vector<Index> missing;
  for (const Index unit : members_) {
    for (Index i = 0; i < bases_.units[unit].width(); ++i) {
      if (!in[bases_.column(unit, i)]) missing.push_back(bases_.column(unit, i));
    }
  }
  if (insert_columns(missing, kSpan) == 0) return;
  apply(-1);
  forget();
}

inline void GroupSquares::compute_block(Index unit) {
  const Index width = bases_.units[unit].width(), k = columns_in();
  std::vector<std::vector<double>> w;
  std::vector<double> with(k);
  for (Index i = 0; i < width; ++i) {
    const Index column = bases_.column(unit, i);
    double c = quadratic_.zy[column];
    for (Index s = 0; s < k; ++s) {
      with[s] = gram_[s][column];
      c -= with[s] * factor_.beta()[s];
    }
    blocks_.c(unit, i) = c;
    w.push_back(factor_.times(with.data()));
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
  for (const Index unit : entering) all &= contains(unit) || insert(unit, kSpan);
  // Whether nearly dependent units can be inserted depends on their order: once more, in that given
  if (!all) start_at(target);
}

inline std::vector<const double*> GroupSquares::acquire_all(const std::vector<Index>& columns) {
  std::vector<const double*> gram;
  try {
    for (const Index column : columns) gram.push_back(acquire(column));
  } catch (...) {
    for (std::size_t s = 0; s < gram.size(); ++s) cache_.release(columns[s]);
    throw;
  }
  return gram;
}

inline void GroupSquares::hold(const std::vector<Index>& members) {
  std::vector<Index> columns;
  for (const Index unit : members) {
    if (place_[unit] == Place::excluded) continue;
    for (Index i = 0; i < bases_.units[unit].width(); ++i) {
      columns.push_back(bases_.column(unit, i));
    }
  }
  std::vector<const double*> gram = acquire_all(columns);
  for (const Index j : columns_) cache_.release(j);
  columns_ = std::move(columns);
  gram_ = std::move(gram);
}

inline void GroupSquares::hold_independent(const std::vector<Index>& target) {
  hold(target);
  const std::vector<Index> columns = std::move(columns_);
  const std::vector<const double*> gram = std::move(gram_);
  members_.clear();
  columns_.clear();
  gram_.clear();
  factor_.clear();
  for (Place& place : place_) {
    if (place == Place::in) place = Place::out;
  }
  for (std::size_t s = 0; s < columns.size(); ++s) {
    // They passed a stricter test when they entered, with more members before them.
    if (!(new_row(columns[s], gram[s], kKept) > 0)) {
      cache_.release(columns[s]);
      continue;
    }
    factor_.append(row_, quadratic_.zy[columns[s]]);
    columns_.push_back(columns[s]);
    gram_.push_back(gram[s]);
    const Index unit = bases_.unit_of[columns[s]];
    if (place_[unit] == Place::out) members_.push_back(unit);
    place_[unit] = Place::in;
  }
  factor_.update();
  drift_ = 0;
  flips_ = 0;
  forget();
}

inline void GroupSquares::compute_blocks() {
  ignores_outsiders_ = false;
  blocks_.reset(quadratic_.zy, 1 + ridge_);
  rows_.clear(columns_in());
  const Factor& factor = factor_;
  for (Index r = 0; r < columns_in(); ++r) {
    double q = 0;
    for (Index s = 0; s <= r; ++s) q += factor.row(r)[s] * quadratic_.zy[columns_[s]];
    std::copy_n(factor.row(r), r + 1, rows_.add(q));
  }
  apply(-1);
}

inline void GroupSquares::restore(const State& state) {
  const Standing& then = static_cast<const Standing&>(state);
  std::vector<const double*> gram = acquire_all(then.columns);
  for (const Index j : columns_) cache_.release(j);
  for (const Index unit : members_) place_[unit] = Place::out;
  members_ = then.members;
  for (const Index unit : members_) place_[unit] = Place::in;
  columns_ = then.columns;
  gram_ = std::move(gram);
  factor_ = then.factor;
  blocks_.copy_from(then.blocks);
  forget();
  outlook_ = then.outlook;
  knows_outlook_ = then.knows_outlook;
  removal_costs_ = then.removal_costs;
  drift_ = then.drift;
  flips_ = then.flips;
  ignores_outsiders_ = false;
}

inline bool GroupSquares::well_conditioned() const {
  constexpr double kInflation = 100, kUnexplained = 1e-3;
  for (const Index unit : members_) {
    if (!(bases_.units[unit].inflation < kInflation)) return false;
  }
  for (const double inflation : factor_.inverse_diagonal()) {
    if (!(inflation < kInflation)) return false;
  }
  return energy() > kUnexplained * 0.5 * quadratic_.yy;
}

inline Solution GroupSquares::solve(const Context& context) const {
  std::vector<double> beta = factor_.beta();
  double rss = std::numeric_limits<double>::quiet_NaN();
  if (!well_conditioned()) {
    const std::vector<double> ridges(beta.size(), ridge_);
    rss = refine(quadratic_, factor_, columns_, ridges, beta, context);
  }
  Solution solution;
  solution.ridge_energy = ridge_energy(beta);
  solution.rss = rss;
  if (std::isnan(rss)) solution.set_energy(energy());
  quadratic_.to_base(columns_, beta.data(), solution.support, solution.beta);
  return solution;
}

}  // namespace ellzero
