// A penalised likelihood whose unit is a group of columns, in an orthonormal basis each:
//
//   E(S) = min over b0, b of sum over rows of w l(y, b0 + Z_S b)
//                            + 1/2 tau sum over g in S of |Z_g b_g|^2
//
// It is to GroupSquares what Likelihood is to LeastSquares: the fit is Newton's, on the columns of
// the members; what moves would do is ranked by least squares on groups, with a response that makes
// it touch E at the fit; those that are ranked first are looked at with the exact curvature
// (block_gains.hpp), and the best few of these refitted before anything is promised.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/group_squares.hpp"
#include "likelihood/block_gains.hpp"
#include "likelihood/refits.hpp"
#include "likelihood/shortlist.hpp"

namespace ellzero {

class GroupLikelihood final : public UnitEngine {
 public:
  // `weights` are those of the rows, and those that the Gram matrix was made with.
  GroupLikelihood(const GroupedRows& rows, std::vector<double> weights, double ridge,
                  const Context& context)
      : rows_(rows),
        context_(context),
        refits_(rows, std::move(weights), ridge, kFlips),
        model_(rows.grouped(), GramUser(rows.grouped().cache(), context),
               ridge / fit().null_curvature()),
        blocks_(rows, fit()) {}
  GroupLikelihood(const GroupLikelihood&) = delete;
  GroupLikelihood& operator=(const GroupLikelihood&) = delete;

  Index units() const override { return model_.units(); }
  Index size() const override { return model_.size(); }
  const std::vector<Index>& members() const override { return model_.members(); }
  bool contains(Index unit) const override { return model_.contains(unit); }
  double energy() const override { return fit().energy(); }
  double loss() const override { return fit().point().loss; }
  double rounding() const override { return refits_.rounding(); }
  Index columns_in() const override { return model_.columns_in(); }
  Index columns_of(Index position) const override { return model_.columns_of(position); }
  const LocalFit& fit() const { return refits_.fit(); }

  const Outlook& outlook() const override {
    if (!surveyed_) survey();
    return outlook_;
  }
  void insertion_gains(double* gain) const override {
    std::copy(outlook().gain.begin(), outlook().gain.end(), gain);
  }
  Insertion best_insertion() const override {
    const std::vector<double>& gain = outlook().gain;
    const auto best = std::max_element(gain.begin(), gain.end());
    if (best == gain.end() || !(*best >= 0)) return {};
    return {best - gain.begin(), *best, energy() - *best <= rounding()};
  }
  double removal_cost(Index position) const override {
    price_removals();
    return removals_[position].cost;
  }
  Swap best_swap(const Limits& limits, const Context& context) const override;

  double joint_gain(const std::vector<Index>& units, Index* rank, double above) override;
  double joint_removal_cost(const std::vector<Index>& units) const override {
    return blocks_.cost(model_.places_of(units));
  }
  const Outlook& outlook_without(const std::vector<Index>& leaving, bool lowering) override {
    leave_out(leaving, lowering);
    return without_;
  }
  bool heeds_wants() const override { return true; }
  void want(const Wants& wants) override { wants_ = wants; }

  bool can_insert(Index unit) override {
    const bool can = model_.can_insert(unit);
    if (!can) surveyed_ = false;
    return can;
  }
  bool insert(Index unit) override;
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

  void exclude(Index unit) override {
    if (contains(unit)) remove(position(unit));
    model_.exclude(unit);
    surveyed_ = false;
  }
  void allow(Index unit) override {
    model_.allow(unit);
    looked_ = surveyed_ = false;
  }
  void set_signs(const std::vector<signed char>& signs) override {
    model_.set_signs(signs);
    surveyed_ = false;
  }

  std::unique_ptr<State> save() const override { return std::make_unique<Place>(*this); }
  void restore(const State& state) override {
    const Place& then = static_cast<const Place&>(state);
    moving([&] { model_.restore(*then.model); });
    refits_.restore(then.fit);
    forget();
    outlook_ = then.outlook;
    surveyed_ = then.surveyed;
    removals_ = then.removals;
  }

  void coefficients(std::vector<Index>& columns, std::vector<double>& beta) const override {
    rows_.grouped().to_base(model_.columns(), fit().beta().data(), columns, beta);
  }
  Index unit_of_column(Index column) const override { return model_.unit_of_column(column); }
  // Of columns of the base, without costs of removal: those belong to units.
  Solution solve(const Context&) const override {
    const Point& point = fit().refined(rounding());
    Solution solution;
    solution.intercept = fit().first() ? point.b[0] : 0;
    solution.rss = 2 * point.loss;
    solution.ridge_energy = point.penalty;
    rows_.grouped().to_base(model_.columns(), point.b.data() + fit().first(), solution.support,
                            solution.beta);
    return solution;
  }
  bool solve_at_once(Solution&) const override { return false; }
  // What removing the member at a position costs, refitted.
  double exact_removal_cost(Index position) const {
    const Trial trial = refits_.attempt({{}, model_.places_of({members()[position]})}, kInfinity);
    return std::max(0.0, trial.energy - energy());
  }

  void ignore_outsiders() override { model_.ignore_outsiders(); }
  // As of single columns, where few of them find anything; it was not measured of groups.
  bool walks_down() const override { return false; }
  // Measured: eight per support find little more than four, and two miss a tenth of the sizes where
  // columns are correlated by .8.
  Index least_walks() const override { return 4; }
  void explore() override { refits_.explore(); }
  void prepare(const std::vector<Index>& units) override { model_.prepare(units); }

 private:
  using Change = LocalFit::Change;
  using Trial = LocalFit::Trial;
  using Start = Refits::Start;

  // How many units are looked at with the exact curvature, and how many of these are refitted;
  // where the best of every rank are looked for, also how many of each are looked at, and one is
  // refitted.
  struct Effort {
    Index looks, looks_of_rank, refits;
    double least = 0;                // what gains less is not refitted
    double bar = Refits::kInfinity;  // what can't come below this need not be
  };
  // Twice as many looks, and a third to twice as many refits, were measured to find no more.
  // Moves that are considered: insertions, also while exploring, and swaps for a member.
  static constexpr Index kInsertions = 16, kGlanced = 4, kSwaps = 8, kOfRank = 3;
  // Moves that are refitted: insertions, swaps for a member, and removals.
  static constexpr Index kInserted = 3, kSwapped = 3, kRemoved = 3;
  // Few members make refits cheap, and the first choices matter most.
  Index more() const { return size() < 3 ? 4 : 1; }
  // What is ranked, or looked at with the exact curvature, may gain so many times as much as that.
  static constexpr double kRankedSlack = 2, kCurvedSlack = 1.2;
  // Units are weighed for steps of the logarithm of the mean curvature, of this length.
  static constexpr double kWeighedFor = 0.3;
  // Fits that differ by more columns do not start from each other.
  static constexpr std::size_t kFlips = 40;
  static constexpr double kInfinity = Refits::kInfinity;

  struct Removal {
    double cost;
    bool refitted;
  };

  struct Place : State {
    explicit Place(const GroupLikelihood& engine)
        : model(engine.model_.save()),
          fit(engine.refits_.save()),
          outlook(engine.outlook_),
          surveyed(engine.surveyed_),
          removals(engine.removals_) {}
    std::unique_ptr<State> model;
    Refits::State fit;
    Outlook outlook;
    bool surveyed;
    std::vector<Removal> removals;
  };

  void forget() {
    looked_ = surveyed_ = false;
    removals_.clear();
    joint_best_.clear();
    wants_ = {};
    blocks_.forget();
  }
  // Fits the columns of the members. False, with no fit, if they depend on each other.
  bool fit_from(const Start& start) {
    forget();
    return refits_.fit_at(model_.columns(), start);
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
  // Fits the members after a change that the model has made; where that is what a leap was for, by
  // landing there.
  bool follow(const Change& change, LocalFit::Leap& there, const Start& start) {
    if (there.sound && model_.columns() == refits_.after(change)) {
      refits_.land(there, model_.columns());
      forget();
      return true;
    }
    return fit_from(start);
  }
  std::vector<Index> columns_of_units(const std::vector<Index>& units) const {
    const GroupBases& bases = rows_.grouped().bases();
    std::vector<Index> columns;
    for (const Index unit : units) {
      for (Index i = 0; i < bases.units[unit].width(); ++i) {
        columns.push_back(bases.column(unit, i));
      }
    }
    return columns;
  }

  // Puts the quadratic that ranks moves to the fit.
  void look() const;
  void weigh_units() const;
  // What it says, in units of the likelihood.
  void take_ranking(const Outlook& from, Outlook& to) const;
  // Makes sure of what is ranked first. Columns at some places leave, which costs `cost`, by the
  // curvature at the fit `curved_cost`.
  void make_sure(Outlook& outlook, const std::vector<Index>& leaving, double cost,
                 double curved_cost, const Effort& effort) const;
  void survey() const;
  void leave_out(const std::vector<Index>& leaving, bool lowering) const;
  void price_removals() const;

  const GroupedRows& rows_;
  const Context context_;
  Refits refits_;
  mutable GroupSquares model_;  // the quadratic that ranks moves
  mutable BlockGains blocks_;
  Wants wants_;
  // Known once they have been asked for:
  mutable bool looked_ = false, surveyed_ = false;
  mutable double omega_ = 0;
  mutable Outlook outlook_, without_;
  mutable std::vector<Removal> removals_;       // by position
  mutable std::map<Index, double> joint_best_;  // by rank, what units gain together at best
  // Sums of squares of units under the curvature at some fit, by its mean; and those for where it
  // stands, or null
  mutable std::map<long, std::vector<double>> weighed_;
  mutable const std::vector<double>* squares_ = nullptr;
};

inline bool GroupLikelihood::insert(Index unit) {
  const std::vector<Index> before = members();
  const Change change{blocks_.of({unit}).columns, {}};
  if (change.entering.empty()) return false;
  LocalFit::Leap there;
  Start start;
  if (refits_.explores()) {
    there = fit().leap(change);
  } else {
    start = refits_.start_after(change);
  }
  if (!moving([&] { return model_.insert(unit); })) {
    surveyed_ = false;
    return false;
  }
  if (follow(change, there, start)) return true;
  moving([&] { model_.move_to(before); });
  settle({}, before);
  model_.rule_out(unit);
  return false;
}

inline void GroupLikelihood::remove(Index position) {
  const Change change{{}, model_.places_of({members()[position]})};
  LocalFit::Leap there;
  Start start;
  if (refits_.explores()) {
    there = fit().leap(change);
  } else {
    start = refits_.start_after(change);
  }
  moving([&] { model_.remove(position); });
  if (!follow(change, there, start)) settle({}, std::vector<Index>(members()));
}

inline void GroupLikelihood::move_to(const std::vector<Index>& target) {
  std::vector<Index> entering, leaving;
  for (const Index unit : target) {
    if (!contains(unit)) entering.push_back(unit);
  }
  for (const Index unit : members()) {
    if (std::find(target.begin(), target.end(), unit) == target.end()) leaving.push_back(unit);
  }
  if (entering.empty() && leaving.empty()) return;
  const Start start = refits_.start_after({columns_of_units(entering), model_.places_of(leaving)});
  moving([&] { model_.move_to(target); });
  settle(start, target);
}

inline void GroupLikelihood::look() const {
  if (looked_) return;
  const FitMemory::Entry* known = refits_.entry_here();
  std::shared_ptr<const std::vector<double>> slopes = known ? known->descents : nullptr;
  if (!slopes) {
    auto made = std::make_shared<std::vector<double>>(rows_.columns());
    rows_.products(fit().point().residual.data(), made->data(), context_);
    slopes = made;
    refits_.keep_descents(slopes);
  }
  omega_ = fit().mean_curvature();
  weigh_units();
  const std::vector<Index>& columns = model_.columns();
  const std::vector<double> beta = fit().beta();
  std::vector<double> zy = model_.gram_times(beta);
  for (std::size_t j = 0; j < zy.size(); ++j) zy[j] += (*slopes)[j] / omega_;
  double explained = 0;
  for (std::size_t s = 0; s < columns.size(); ++s) {
    // (G + tau) beta, whatever the ridge of the model is
    zy[columns[s]] += model_.ridge() * beta[s] - (*slopes)[columns[s]] / omega_;
    explained += zy[columns[s]] * beta[s];
  }
  model_.set_response(std::move(zy), 2 * energy() / omega_ + explained);
  looked_ = true;
}

// Where the curvature is far from even, as in likelihood.hpp.
inline void GroupLikelihood::weigh_units() const {
  const long step = std::lround(std::log(omega_ / fit().null_curvature()) / kWeighedFor);
  squares_ = nullptr;
  if (step == 0) return;
  std::vector<double>& squares = weighed_[step];
  if (squares.empty()) {
    squares = rows_.unit_squares(fit().point().curvature, context_);
    for (double& square : squares) square /= omega_;
  }
  squares_ = &squares;
}

inline void GroupLikelihood::take_ranking(const Outlook& from, Outlook& to) const {
  to = from;
  for (Index unit = 0; unit < units(); ++unit) {
    to.gain[unit] *= omega_;
    if (squares_) to.gain[unit] /= std::max((*squares_)[unit], 1e-6);
  }
}

inline void GroupLikelihood::make_sure(Outlook& outlook, const std::vector<Index>& leaving,
                                       double cost, double curved_cost,
                                       const Effort& effort) const {
  std::vector<Index> all(units());
  for (Index unit = 0; unit < units(); ++unit) all[unit] = unit;
  const std::vector<Index> considered =
      shortlist(all, outlook, wants_, effort.looks, effort.looks_of_rank);
  std::map<Index, std::vector<Index>> columns;
  std::map<Index, double> most;  // by rank: what can be promised
  std::vector<char> sure(units(), 0);
  for (const Index unit : considered) {
    BlockGains::Gain found =
        leaving.empty() ? blocks_.of({unit}) : blocks_.without(leaving, {unit});
    outlook.gain[unit] = found.gain >= 0 ? found.gain + cost - curved_cost : -0.5;
    columns[unit] = std::move(found.columns);
    double& best = most[class_of(outlook, wants_, unit)];
    best = std::max(best, outlook.gain[unit]);
    sure[unit] = effort.refits == 0;
  }
  std::map<Index, double> refitted;
  const std::vector<Index> chosen = effort.refits == 0
                                        ? std::vector<Index>()
                                        : shortlist(considered, outlook, wants_, effort.refits, 1);
  for (const Index unit : chosen) {
    if (!(outlook.gain[unit] > effort.least)) continue;
    const Trial trial = refits_.attempt({columns[unit], leaving}, effort.bar);
    outlook.gain[unit] = std::isfinite(trial.energy) ? cost + energy() - trial.energy : -0.5;
    sure[unit] = 1;
    const auto [at, first] = refitted.emplace(class_of(outlook, wants_, unit), outlook.gain[unit]);
    if (!first) at->second = std::max(at->second, outlook.gain[unit]);
  }
  for (const auto& [rank, gain] : refitted) most[rank] = gain;
  // What is not sure is less, if only just: the first of equals would be taken.
  for (Index unit = 0; unit < units(); ++unit) {
    if (sure[unit] || !(outlook.gain[unit] > 0)) continue;
    const auto limit = most.find(class_of(outlook, wants_, unit));
    if (limit == most.end()) continue;
    outlook.gain[unit] = std::min(outlook.gain[unit], std::nextafter(limit->second, -1.0));
  }
}

inline void GroupLikelihood::survey() const {
  look();
  take_ranking(model_.outlook(), outlook_);
  if (refits_.explores()) {
    make_sure(outlook_, {}, 0, 0, {kGlanced, 0, 0});
  } else {
    make_sure(outlook_, {}, 0, 0, {kInsertions * more(), kOfRank, kInserted * more()});
  }
  surveyed_ = true;
}

inline void GroupLikelihood::leave_out(const std::vector<Index>& leaving, bool lowering) const {
  look();
  const std::vector<Index> places = model_.places_of(leaving);
  const double curved_cost = blocks_.cost(places);
  const double cost =
      leaving.size() == 1 ? removal_cost(position(leaving[0])) : joint_removal_cost(leaving);
  // What the quadratic would leave out as no gain may be one.
  take_ranking(model_.outlook_without(leaving, false), without_);
  Effort effort{kSwaps, kOfRank, kSwapped};
  if (lowering) {
    effort.least = cost / kCurvedSlack;
    effort.bar = energy();
  }
  make_sure(without_, places, cost, curved_cost, effort);
}

inline Swap GroupLikelihood::best_swap(const Limits& limits, const Context& context) const {
  Swap best;
  for (Index r = 0; r < size(); ++r) {
    if (limits.is_forced(members()[r])) continue;
    context.check();
    leave_out({members()[r]}, true);
    const double cost = removal_cost(r);
    for (Index unit = 0; unit < units(); ++unit) {
      const double gain = without_.gain[unit] - cost;
      if (gain > best.gain) best = {r, unit, gain};
    }
  }
  return best;
}

inline double GroupLikelihood::joint_gain(const std::vector<Index>& units, Index* rank,
                                          double above) {
  look();
  const double ranked = model_.joint_gain(units, rank, above / (omega_ * kRankedSlack));
  if (!(ranked > 0) || omega_ * ranked * kRankedSlack <= above) return -0.5;
  const BlockGains::Gain curved = blocks_.of(units);
  const Index brought = static_cast<Index>(curved.columns.size());
  if (rank) *rank = brought;
  // If nothing is said of what it has to gain, the best so far is made sure of.
  double& best = joint_best_[wants_.of_each_rank ? brought : 0];
  const double least = above > 0 ? above : best;
  if (curved.gain * kCurvedSlack <= least || refits_.explores()) return curved.gain;
  const Trial trial = refits_.attempt({curved.columns, {}}, kInfinity);
  if (!std::isfinite(trial.energy)) return -0.5;
  best = std::max(best, energy() - trial.energy);
  return energy() - trial.energy;
}

inline void GroupLikelihood::price_removals() const {
  if (static_cast<Index>(removals_.size()) == size()) return;
  removals_.clear();
  std::vector<std::vector<Index>> places;
  for (const Index unit : members()) {
    places.push_back(model_.places_of({unit}));
    removals_.push_back({blocks_.cost(places.back()), false});
  }
  if (refits_.explores()) return;
  // What the engine has come from is known, and must cost what the insertion has gained.
  for (Index r = 0; r < size(); ++r) {
    const double known = refits_.known_energy({{}, places[r]});
    if (known < kInfinity) removals_[r] = {std::max(0.0, known - energy()), true};
  }
  std::map<Index, Index> refitted;  // by columns that leave, how many have been
  std::vector<Index> order(size());
  for (Index r = 0; r < size(); ++r) order[r] = r;
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return removals_[a].cost < removals_[b].cost; });
  for (Index place = 0; place < size(); ++place) {
    const Index r = order[place];
    const bool first = wants_.of_each_rank && refitted[static_cast<Index>(places[r].size())]++ == 0;
    if (removals_[r].refitted || !(first || place < kRemoved)) continue;
    const Trial trial = refits_.attempt({{}, places[r]}, kInfinity);
    removals_[r] = {std::max(0.0, trial.energy - energy()), true};
  }
}

}  // namespace ellzero
