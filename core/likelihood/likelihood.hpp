// A penalised likelihood as an engine: a unit is a column, and the energy of S is
//
//   E(S) = min over b0, b of sum over rows of w l(y, b0 + Z_S b) + 1/2 sum tau_i b_i^2
//
// found by Newton's method on the columns of S (newton.hpp). What moves would do is promised by a
// quadratic that touches E at the fit: its slope is the exact c_i = z_i'(residual), one pass over
// X per support, and its curvature is that of least squares, omega G, with omega the mean curvature
// of the rows. So it is least squares on another response, on the same Gram matrix whatever the
// fit, and its engine ranks the moves. Those that are ranked first are looked at with the exact
// curvature (local_fit.hpp), and the best few of these refitted before anything is promised.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/least_squares.hpp"
#include "likelihood/refits.hpp"

namespace ellzero {

class Likelihood final : public Engine {
 public:
  // `weights` are those of the rows, which may be others than those that the Gram matrix was made
  // with; `ridge` is for columns of unit norm under these weights.
  Likelihood(const Rows& rows, std::vector<double> weights, double ridge, const Context& context)
      : rows_(rows),
        context_(context),
        refits_(rows, std::move(weights), ridge, kFlips),
        model_(rows.quadratic(), GramUser(rows.quadratic().cache(), context),
               {ridge / fit().null_curvature()}) {}

  Index units() const override { return model_.units(); }
  Index size() const override { return model_.size(); }
  const std::vector<Index>& members() const override { return model_.members(); }
  bool contains(Index j) const override { return model_.contains(j); }
  double energy() const override { return fit().energy(); }
  double loss() const override { return fit().point().loss; }
  double rounding() const override { return refits_.rounding(); }
  // The coefficients, and how far they are from being known.
  const LocalFit& fit() const { return refits_.fit(); }

  void insertion_gains(double* gain) const override {
    look();
    model_.insertion_gains(gain);
    for (Index i = 0; i < units(); ++i) gain[i] *= omega_;
    const Insertion best = best_insertion();
    if (best.unit < 0) return;
    // What has not been refitted is less, if only just: the first of equals would be taken.
    const double less = std::nextafter(best.gain, -1.0);
    for (Index i = 0; i < units(); ++i) gain[i] = std::min(gain[i], less);
    gain[best.unit] = best.gain;
  }
  Insertion best_insertion() const override;
  double removal_cost(Index position) const override {
    price_removals();
    return removals_[position].cost;
  }
  Swap best_swap(const Limits& limits, const Context& context) const override;
  // What swapping the member at a position for each column would gain, by the quadratic.
  void swap_gains(Index position, double* gain) const {
    look();
    model_.swap_gains(position, gain);
    for (Index i = 0; i < units(); ++i) gain[i] *= omega_;
  }
  // d_i of least squares on the members.
  const std::vector<double>& d() const { return model_.d(); }

  bool can_insert(Index j) override {
    const bool can = model_.can_insert(j);
    if (!can) inserted_ = false;  // another is the best now
    return can;
  }
  bool insert(Index j) override;
  void remove(Index position) override;
  void move_to(const std::vector<Index>& target) override;
  void start_at(const std::vector<Index>& target) override {
    moving([&] { model_.start_at(target); });
    settle({}, target);
  }
  void refresh() override {
    model_.refresh();
    settle({}, std::vector<Index>(members()));
  }

  void exclude(Index j) override {
    if (contains(j)) remove(position(j));
    model_.exclude(j);
    inserted_ = false;
  }
  void allow(Index j) override {
    model_.allow(j);
    looked_ = inserted_ = false;
  }

  std::unique_ptr<State> save() const override { return std::make_unique<Place>(*this); }
  void restore(const State& state) override {
    const Place& then = static_cast<const Place&>(state);
    moving([&] { model_.restore(*then.model); });
    refits_.restore(then.fit);
    removals_ = then.removals;
    insertion_ = then.insertion;
    looked_ = then.looked;
    inserted_ = then.inserted;
    omega_ = then.omega;
  }

  Solution solve(const Context& context) const override;
  // The same with costs of removal to second order.
  Solution solve_quickly() const {
    Solution solution = solution_at(fit().refined(rounding()));
    solution.removal_cost = fit().removal_costs();
    sort_by_column(solution);
    return solution;
  }
  bool solve_at_once(Solution& solution) const override {
    solution = solution_at(fit().point());
    return true;
  }

  void ignore_outsiders() override { model_.ignore_outsiders(); }
  // One in forty was seen to find anything, and one in three of the others.
  bool walks_down() const override { return false; }
  void explore() override { refits_.explore(); }
  void prepare(const std::vector<Index>& columns) override { model_.prepare(columns); }
  void expect_gains_above(double gain) override {
    model_.expect_gains_above(omega_ > 0 ? gain / omega_ : gain);
  }

 private:
  using Change = LocalFit::Change;
  using Trial = LocalFit::Trial;
  using Start = Refits::Start;

  // Moves that are refitted before one is promised. More were measured to change next to nothing.
  static constexpr Index kInsertions = 2, kSwaps = 6, kRemovals = 2;
  // Few members make refits cheap, and the first choices matter most.
  Index more() const { return size() < 3 ? 4 : 1; }
  // Columns that are looked at with the exact curvature: to be inserted, also while exploring, and
  // pairs to be swapped, of which each column counts once.
  static constexpr Index kConsidered = 16, kGlanced = 8, kRanked = 60;
  // Pairs among them lose no more than this share of what the least member is worth.
  static constexpr double kSwapShare = 0.3;
  // Columns whose slopes are exact while exploring.
  static constexpr Index kGlance = 64;
  // Insertions that promise less than the best has kept, even so many times, are not tried.
  static constexpr double kSurprise = 1.5;
  // Columns are weighed for steps of the logarithm of the mean curvature, of this length.
  static constexpr double kWeighedFor = 0.3;
  // Fits that differ by more flips do not start from each other.
  static constexpr std::size_t kFlips = 6;
  static constexpr double kInfinity = Refits::kInfinity;

  struct Removal {
    double cost;
    bool refitted;
  };

  struct Place : State {
    explicit Place(const Likelihood& engine)
        : model(engine.model_.save()),
          fit(engine.refits_.save()),
          removals(engine.removals_),
          insertion(engine.insertion_),
          looked(engine.looked_),
          inserted(engine.inserted_),
          omega(engine.omega_) {}
    std::unique_ptr<State> model;
    Refits::State fit;
    std::vector<Removal> removals;
    Insertion insertion;
    bool looked, inserted;
    double omega;
  };

  // Fits the members. False, with no fit, if they depend on each other.
  bool fit_from(const Start& start) {
    looked_ = inserted_ = false;
    removals_.clear();
    return refits_.fit_at(members(), start);
  }
  // The same; where they do, the last ones of the target leave.
  void settle(const Start& start, std::vector<Index> target) {
    if (fit_from(start)) return;
    do {
      target.pop_back();
      model_.move_to(target);
    } while (!fit_from({}));
  }
  // Moves the model. If it is interrupted on its way, the fit follows to where it stands.
  template <class Move>
  auto moving(Move&& move) -> decltype(move()) {
    try {
      return move();
    } catch (...) {
      settle({}, std::vector<Index>(members()));
      throw;
    }
  }

  // Puts the quadratic that ranks moves to the fit.
  void look() const;
  void weigh_columns() const;
  std::shared_ptr<const std::vector<double>> glance() const;
  // The columns that the quadratic ranks first, to be inserted.
  std::vector<Index> promising(Index count) const;
  void price_removals() const;
  // Stands where a leap leads, once the members are those of it.
  bool land(LocalFit::Leap& there) {
    refits_.land(there, members());
    looked_ = inserted_ = false;
    removals_.clear();
    return true;
  }

  Solution solution_at(const Point& point) const {
    Solution solution;
    solution.support = members();
    solution.beta.assign(point.b.begin() + fit().first(), point.b.end());
    solution.intercept = fit().first() ? point.b[0] : 0;
    solution.rss = 2 * point.loss;
    solution.ridge_energy = point.penalty;
    return solution;
  }

  const Rows& rows_;
  const Context context_;
  Refits refits_;
  mutable LeastSquares model_;  // the quadratic that ranks moves
  // Known once they have been asked for:
  mutable bool looked_ = false, inserted_ = false;
  mutable double omega_ = 0;
  mutable Insertion insertion_;
  mutable std::vector<Removal> removals_;  // by position
  // Sums of squares of columns under the curvature at some fit, by its mean; and those for where it
  // stands, or null
  mutable std::map<long, std::vector<double>> weighed_;
  mutable const std::vector<double>* squares_ = nullptr;
};

inline bool Likelihood::insert(Index j) {
  if (refits_.explores()) {
    LocalFit::Leap there = fit().leap({{j}, {}});
    return there.sound && moving([&] { return model_.insert(j); }) && land(there);
  }
  const std::vector<Index> before = members();
  const Start start = refits_.start_after({{j}, {}});
  if (!moving([&] { return model_.insert(j); })) {
    inserted_ = false;
    return false;
  }
  if (fit_from(start)) return true;
  moving([&] { model_.move_to(before); });
  settle({}, before);
  model_.rule_out(j);
  return false;
}

inline void Likelihood::remove(Index position) {
  if (refits_.explores()) {
    LocalFit::Leap there = fit().leap({{}, {position}});
    if (there.sound) {
      model_.remove(position);
      land(there);
      return;
    }
  }
  const Start start = refits_.start_after({{}, {position}});
  model_.remove(position);
  settle(start, std::vector<Index>(members()));
}

inline void Likelihood::move_to(const std::vector<Index>& target) {
  Change change;
  for (const Index j : target) {
    if (!contains(j)) change.entering.push_back(j);
  }
  for (Index r = 0; r < size(); ++r) {
    if (std::find(target.begin(), target.end(), members()[r]) == target.end()) {
      change.leaving.push_back(r);
    }
  }
  if (change.flips() == 0) return;
  const Start start = refits_.start_after(change);
  moving([&] { model_.move_to(target); });
  settle(start, target);
}

inline void Likelihood::look() const {
  if (looked_) return;
  const FitMemory::Entry* known = refits_.entry_here();
  std::shared_ptr<const std::vector<double>> slopes = known ? known->descents : nullptr;
  if (!slopes && refits_.explores()) {
    slopes = glance();
  } else if (!slopes) {
    auto made = std::make_shared<std::vector<double>>(units());
    rows_.products(fit().point().residual.data(), made->data(), context_);
    slopes = made;
    refits_.keep_descents(slopes);
  }
  omega_ = fit().mean_curvature();
  if (!refits_.explores()) weigh_columns();
  const std::vector<double> beta = fit().beta();
  std::vector<double> zy = model_.gram_times(beta);
  for (Index i = 0; i < units(); ++i) zy[i] += (*slopes)[i] / omega_;
  double explained = 0;
  for (Index s = 0; s < size(); ++s) {
    // (G + tau) beta, whatever the ridge of the model is
    const Index j = members()[s];
    zy[j] += model_.ridge_of(j) * beta[s] - (*slopes)[j] / omega_;
    explained += zy[j] * beta[s];
  }
  model_.set_response(std::move(zy), 2 * energy() / omega_ + explained);
  looked_ = true;
}

// Where the curvature is far from even, columns have most of theirs in different rows: then their
// own sums of squares under it, over what the mean would make them, are part of the ranking. They
// change slowly with the fit: those of about the same mean curvature are taken for the same.
inline void Likelihood::weigh_columns() const {
  const long step = std::lround(std::log(omega_ / fit().null_curvature()) / kWeighedFor);
  squares_ = nullptr;
  if (step == 0) return;
  std::vector<double>& squares = weighed_[step];
  if (squares.empty()) {
    squares = rows_.squares(fit().point().curvature, context_);
    for (double& square : squares) square /= omega_;
  }
  squares_ = &squares;
}

// The slopes of the columns that the quadratic ranks first; of the others, what it says itself.
inline std::shared_ptr<const std::vector<double>> Likelihood::glance() const {
  auto slopes = std::make_shared<std::vector<double>>(model_.c());
  for (double& c : *slopes) c *= omega_;
  const std::vector<Index> order = promising(kGlance);
  const Index count = static_cast<Index>(order.size());
  std::vector<Rows::Column> held;
  std::vector<const double*> columns;
  for (const Index j : order) {
    held.push_back(rows_.column(j));
    columns.push_back(held.back()->data());
  }
  std::vector<double> exact(count);
  const double* residual = fit().point().residual.data();
  column_dots(columns.data(), count, residual, rows_.rows(), exact.data());
  for (Index i = 0; i < count; ++i) (*slopes)[order[i]] = exact[i];
  return slopes;
}

inline std::vector<Index> Likelihood::promising(Index count) const {
  std::vector<double> gains(units());
  model_.insertion_gains(gains.data());
  if (squares_) {
    for (Index i = 0; i < units(); ++i) gains[i] /= std::max((*squares_)[i], 1e-6);
  }
  std::vector<Index> order;
  for (Index i = 0; i < units(); ++i) {
    if (gains[i] >= 0) order.push_back(i);
  }
  count = std::min<Index>(count, order.size());
  std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](Index a, Index b) {
    return gains[a] > gains[b] || (gains[a] == gains[b] && a < b);
  });
  order.resize(count);
  return order;
}

inline Insertion Likelihood::best_insertion() const {
  if (inserted_) return insertion_;
  look();
  insertion_ = {};
  const std::vector<Index> columns =
      promising(refits_.explores() ? kGlanced : kConsidered * more());
  std::vector<double> gains = fit().gains(columns).insertions;
  double bar = kInfinity;
  for (Index place = 0; place < kInsertions * more(); ++place) {
    const auto next = std::max_element(gains.begin(), gains.end());
    if (next == gains.end() || !(*next >= 0)) break;
    const Index j = columns[next - gains.begin()];
    if (refits_.explores()) {
      insertion_ = {j, *next, false};
      break;
    }
    if (*next * kSurprise < insertion_.gain) break;
    *next = -1;
    const Trial trial = refits_.attempt({{j}, {}}, bar);
    if (!(trial.energy < bar)) continue;
    bar = trial.energy;
    insertion_ = {j, energy() - trial.energy, trial.energy <= rounding()};
  }
  inserted_ = true;
  return insertion_;
}

inline Swap Likelihood::best_swap(const Limits& limits, const Context& context) const {
  look();
  std::vector<Index> columns;
  const auto add = [&](Index j) {
    if (std::find(columns.begin(), columns.end(), j) == columns.end()) columns.push_back(j);
  };
  for (const Swap& swap : model_.best_swaps(limits, kRanked, kSwapShare, context)) add(swap.unit);
  for (const Index j : promising(kConsidered)) add(j);
  std::vector<Swap> swaps;
  for (const Swap& swap : fit().gains(columns).swaps) {
    if (!limits.is_forced(members()[swap.position])) swaps.push_back(swap);
  }
  const Index count = std::min<Index>(kSwaps * more(), swaps.size());
  std::partial_sort(swaps.begin(), swaps.begin() + count, swaps.end(),
                    [](const Swap& a, const Swap& b) { return a.gain > b.gain; });
  swaps.resize(count);
  Swap best;
  double bar = energy();
  for (const Swap& swap : swaps) {
    const Trial trial = refits_.attempt({{swap.unit}, {swap.position}}, bar);
    if (!(trial.energy < bar)) continue;
    bar = trial.energy;
    best = {swap.position, swap.unit, energy() - trial.energy};
  }
  return best;
}

inline void Likelihood::price_removals() const {
  if (static_cast<Index>(removals_.size()) == size()) return;
  removals_.clear();
  for (const double cost : fit().removal_costs()) removals_.push_back({cost, false});
  if (refits_.explores()) return;
  // What the engine has come from is known, and must cost what the insertion has gained.
  for (Index r = 0; r < size(); ++r) {
    const double known = refits_.known_energy({{}, {r}});
    if (known < kInfinity) removals_[r] = {std::max(0.0, known - energy()), true};
  }
  for (Index count = 0; count < std::min(kRemovals, size()); ++count) {
    const auto cheapest =
        std::min_element(removals_.begin(), removals_.end(),
                         [](const Removal& a, const Removal& b) { return a.cost < b.cost; });
    if (cheapest->refitted) return;
    const Trial trial = refits_.attempt({{}, {cheapest - removals_.begin()}}, kInfinity);
    *cheapest = {std::max(0.0, trial.energy - energy()), true};
  }
}

inline Solution Likelihood::solve(const Context& context) const {
  Solution solution = solution_at(fit().refined(rounding()));
  for (Index r = 0; r < size(); ++r) {
    context.check();
    const Trial trial = refits_.attempt({{}, {r}}, kInfinity);
    solution.removal_cost.push_back(std::max(0.0, trial.energy - energy()));
  }
  sort_by_column(solution);
  return solution;
}

}  // namespace ellzero
