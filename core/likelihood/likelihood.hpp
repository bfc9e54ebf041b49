// A penalised likelihood as an engine: a unit is a column, and the energy of S is
//
//   E(S) = min over b0, b of sum over rows of w l(y, b0 + Z_S b) + 1/2 sum tau_i b_i^2
//
// found by Newton's method on the columns of S (newton.hpp). What moves would do is promised by a
// quadratic that touches E at the fit: its slope is the exact c_i = z_i'(residual), one pass over
// X per support, and its curvature is that of least squares, omega G, with omega the mean curvature
// of the rows. So it is least squares on another response, on the same Gram matrix whatever the
// fit, and its engine ranks the moves. The few that are ranked first are refitted, starting from
// the exact curvature at the fit, before anything is promised of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/least_squares.hpp"
#include "likelihood/fit_memory.hpp"
#include "likelihood/newton.hpp"

namespace ellzero {

class Likelihood final : public Engine {
 public:
  // `weights` are those of the rows, which may be others than those that the Gram matrix was made
  // with; `ridge` is for columns of unit norm under these weights.
  Likelihood(const Rows& rows, std::vector<double> weights, double ridge, const Context& context)
      : rows_(rows),
        newton_(rows, std::move(weights)),
        ridge_(ridge),
        context_(context),
        ridges_(rows.columns(), std::numeric_limits<double>::quiet_NaN()),
        memory_(rows.columns()) {
    basis_ = empty_basis();
    point_.b = start();
    newton_.evaluate(basis_, point_);
    newton_.minimise(basis_, point_, 1e-14, hessian_, factor_, next_);
    null_intercept_ = intercept();
    null_energy_ = energy();
    const double omega = std::max(mean_curvature(), std::numeric_limits<double>::min());
    null_omega_ = omega;
    model_ = std::make_unique<LeastSquares>(rows.quadratic(),
                                            GramUser(rows.quadratic().cache(), context),
                                            std::vector<double>{ridge / omega});
    remember({}, {}, {energy(), true, 0, point_.b}, true);
  }

  Index units() const override { return model_->units(); }
  Index size() const override { return model_->size(); }
  const std::vector<Index>& members() const override { return model_->members(); }
  bool contains(Index j) const override { return model_->contains(j); }
  double energy() const override { return point_.energy(); }
  double loss() const override { return point_.loss; }
  double rounding() const override { return kRounding * null_energy_; }
  // The energy without any unit.
  double null_energy() const { return null_energy_; }
  // By how much a predictor differs most from that without units, of rows that have a weight.
  double farthest() const {
    double largest = 0;
    for (Index r = 0; r < rows_.rows(); ++r) {
      if (!(newton_.weights()[r] > 0)) continue;
      const double before = null_intercept_ + (rows_.offset() ? rows_.offset()[r] : 0);
      largest = std::max(largest, std::fabs(point_.eta[r] - before));
    }
    return largest;
  }
  double intercept() const { return rows_.ones() ? point_.b[0] : 0; }
  // The largest standard error of a coefficient, for columns of unit norm, as many times what it
  // would be with the mean curvature without units in every row.
  double largest_error() const {
    Square room, inverse;
    invert_factored(factor_, room, inverse);
    double largest = 0;
    for (Index at = first(); at < basis_.size(); ++at) {
      largest = std::max(largest, inverse.row(at)[at]);
    }
    return std::sqrt(largest * null_omega_);
  }

  void insertion_gains(double* gain) const override {
    look();
    model_->insertion_gains(gain);
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
    model_->swap_gains(position, gain);
    for (Index i = 0; i < units(); ++i) gain[i] *= omega_;
  }
  // d_i of least squares on the members.
  const std::vector<double>& d() const { return model_->d(); }

  bool can_insert(Index j) override {
    const bool can = model_->can_insert(j);
    if (!can) inserted_ = false;  // another is the best now
    return can;
  }
  bool insert(Index j) override {
    if (explores_) {
      Leap there = leap({j}, {});
      return there.sound && model_->insert(j) && land(there);
    }
    const std::vector<Index> before = members();
    const Start start = start_with({j}, {});
    if (!model_->insert(j)) {
      inserted_ = false;
      return false;
    }
    if (fit_from(start)) return true;
    model_->move_to(before);
    fit_from({});
    model_->rule_out(j);
    return false;
  }
  void remove(Index position) override {
    if (explores_) {
      Leap there = leap({}, {position});
      if (there.sound) {
        model_->remove(position);
        land(there);
        return;
      }
    }
    const Start start = start_with({}, {position});
    model_->remove(position);
    fit_from(start);
  }
  void move_to(const std::vector<Index>& target) override {
    std::vector<Index> entering, leaving;
    for (const Index j : target) {
      if (!contains(j)) entering.push_back(j);
    }
    for (Index r = 0; r < size(); ++r) {
      if (std::find(target.begin(), target.end(), members()[r]) == target.end()) {
        leaving.push_back(r);
      }
    }
    if (entering.empty() && leaving.empty()) return;
    const Start start = start_with(entering, leaving);
    model_->move_to(target);
    settle(start, target);
  }
  void start_at(const std::vector<Index>& target) override {
    model_->start_at(target);
    settle({}, target);
  }
  void refresh() override {
    model_->refresh();
    fit_from({});
  }

  void exclude(Index j) override {
    if (contains(j)) remove(position(j));
    model_->exclude(j);
    inserted_ = false;
  }
  void allow(Index j) override {
    model_->allow(j);
    looked_ = inserted_ = false;
  }

  std::unique_ptr<State> save() const override { return std::make_unique<Place>(*this); }
  void restore(const State& state) override;

  Solution solve(const Context& context) const override;
  // The same with costs of removal by the quadratic that has the curvature at the fit.
  Solution solve_quickly() const;
  bool solve_at_once(Solution& solution) const override {
    solution = solution_here();
    return true;
  }

  void ignore_outsiders() override { model_->ignore_outsiders(); }
  // One in forty was seen to find anything, and one in three of the others.
  bool walks_down() const override { return false; }
  void hurry(bool hurries) override {
    if (hurries_ && !hurries) looked_ = inserted_ = false;
    hurries_ = hurries;
  }
  void explore() override { explores_ = true; }
  void prepare(const std::vector<Index>& columns) override { model_->prepare(columns); }
  void expect_gains_above(double gain) override {
    model_->expect_gains_above(omega_ > 0 ? gain / omega_ : gain);
  }

 private:
  // Energies are known to about this share of the one without units.
  static constexpr double kRounding = 1e-10;
  // Moves that are refitted before one is promised. More were measured to change next to nothing.
  static constexpr Index kInsertions = 2, kSwaps = 6, kRemovals = 2;
  // Few members make trials cheap, and the first choices matter most.
  Index more() const { return size() < 3 ? 4 : 1; }
  // What is left to gain is less than so many times what a step promises.
  static constexpr double kReach = 2;
  // Columns are weighed for steps of the logarithm of the mean curvature, of this length.
  static constexpr double kWeighedFor = 0.3;
  // Insertions that promise less than the best has kept, even so many times, are not tried.
  static constexpr double kSurprise = 1.5;
  // A trial ends when less than this share of what it has changed is left.
  static constexpr double kSettled = 1e-5, kNearlySettled = 1e-3;
  // No coefficient of a column of unit norm is as large as this, but for want of curvature.
  static constexpr double kAbsurd = 1e12;
  static constexpr Index kGlance = 64;
  static constexpr Index kGlanced = 8, kConsidered = 16, kRanked = 60;
  static constexpr std::size_t kLeap = 6;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // Swaps are refitted that are promised to lose no more than this share of their member's worth.
  static constexpr double kSwapShare = 0.3;

  struct Removal {
    double cost;
    bool refitted;
  };

  struct Place : State {
    explicit Place(const Likelihood& engine)
        : model(engine.model_->save()),
          point(engine.point_),
          hessian(engine.hessian_),
          factor(engine.factor_),
          removals(engine.removals_),
          insertion(engine.insertion_),
          looked(engine.looked_),
          inserted(engine.inserted_),
          omega(engine.omega_) {}
    std::unique_ptr<State> model;
    Point point;
    Square hessian, factor;
    std::vector<Removal> removals;
    Insertion insertion;
    bool looked, inserted;
    double omega;
  };

  // A support that differs by a few flips, and how good it is found to be.
  struct Trial {
    double energy = kInfinity;
    bool settled = false;   // whether that is the least
    double left = 0;        // else, about how much is left to be gained
    std::vector<double> b;  // in the order of the members that stay, then of those that enter
  };

  // The columns of another support, its coefficients by the quadratic that has the curvature at the
  // fit, and that curvature's factor.
  struct Leap {
    Basis basis;
    std::vector<double> b;
    std::vector<double> from;  // those at the fit, where they are of that support too, or empty
    Square hessian, factor;
    bool sound = false;
  };

  std::vector<double> start() const {
    double weight = 0, sum = 0, offset = 0;
    for (Index r = 0; r < rows_.rows(); ++r) {
      weight += newton_.weights()[r];
      sum += newton_.weights()[r] * rows_.y()[r];
      if (rows_.offset()) offset += newton_.weights()[r] * rows_.offset()[r];
    }
    if (!rows_.ones()) return {};
    return {rows_.loss().link(sum / weight) - offset / weight};
  }

  // The ridge of a column that has unit norm under the weights of the Gram matrix.
  double ridge_of(const std::vector<double>& column) const {
    if (ridge_ == 0) return 0;
    const double* w = newton_.weights().data();
    double weight = 0, mean = 0, square = 0;
    for (Index r = 0; r < rows_.rows(); ++r) {
      weight += w[r];
      mean += w[r] * column[r];
      square += w[r] * column[r] * column[r];
    }
    if (rows_.ones()) square -= mean * mean / weight;
    return ridge_ * square;
  }
  double ridge_of(Index j, const std::vector<double>& column) const {
    if (std::isnan(ridges_[j])) ridges_[j] = ridge_of(column);
    return ridges_[j];
  }
  void add_column(Basis& basis, Index j) const {
    Rows::Column column = rows_.column(j);
    const double tau = ridge_of(j, *column);
    basis.add(std::move(column), tau);
  }
  Basis empty_basis() const {
    Basis basis;
    if (rows_.ones()) basis.add(rows_.ones(), 0);
    return basis;
  }
  Index first() const { return rows_.ones() ? 1 : 0; }  // where the members begin

  static double sum_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double each : values) sum += each;
    return sum;
  }
  double mean_curvature() const { return sum_of(point_.curvature) / rows_.quadratic().weight; }

  // Coefficients by column to start from; 0 for those that have none.
  struct Start {
    double intercept = 0;
    bool known = false;
    std::vector<std::pair<Index, double>> beta;  // sorted by column
  };
  // Where a fit with some units entering and the members at some positions leaving starts: where it
  // was left, or else at the minimum of the quadratic that has the curvature at this fit.
  Start start_with(const std::vector<Index>& entering, const std::vector<Index>& leaving) const;
  // Fits the members. False, with no fit, if they depend on each other.
  bool fit_from(const Start& start);
  // The same; where they do, the last ones of the target leave.
  void settle(const Start& start, const std::vector<Index>& target) {
    if (fit_from(start)) return;
    std::vector<Index> kept = target;
    do {
      kept.pop_back();
      model_->move_to(kept);
    } while (!fit_from({}));
  }

  // Puts the quadratic that ranks moves to the fit.
  void look() const;
  void weigh_columns() const;
  std::shared_ptr<const std::vector<double>> glance() const;
  // The columns that the quadratic ranks first, to be inserted.
  std::vector<Index> promising(Index count) const;
  // By position and column, what is gained.
  struct Close {
    std::vector<double> insertions;
    std::vector<Swap> swaps;
  };
  Close look_closely(const std::vector<Index>& columns) const;
  void price_removals() const;
  std::vector<double> removal_promises() const;
  std::vector<Index> changed(const std::vector<Index>& entering,
                             const std::vector<Index>& leaving) const;
  Leap leap(const std::vector<Index>& entering, const std::vector<Index>& leaving) const;
  Trial attempt(const std::vector<Index>& entering, const std::vector<Index>& leaving,
                double bar) const;
  Trial approach(Leap& there, double bar, Point& point) const;
  bool land(Leap& there);
  // A fit takes the place of what is known; a trial does so if it is better.
  void remember(const std::vector<Index>& entering, const std::vector<Index>& leaving,
                const Trial& trial, bool fitted = false) const;
  Solution solution_here() const;

  const Rows& rows_;
  const Newton newton_;
  const double ridge_;
  const Context context_;
  double null_energy_ = kInfinity;
  double null_intercept_ = 0;
  std::unique_ptr<LeastSquares> model_;
  Basis basis_;  // the intercept, and the members in their order
  Point point_;
  Square hessian_, factor_;             // at the fit
  mutable std::vector<double> ridges_;  // by column; NaN where it has not been needed
  mutable Point point_there_, next_;    // room to work in
  // Known once they have been asked for:
  mutable bool looked_ = false, inserted_ = false;
  bool explores_ = false, hurries_ = false;
  mutable double omega_ = 0;
  double null_omega_ = 0;
  // Of columns under the curvature at some fit, by its mean; and those for where it stands, or null
  mutable std::map<long, std::vector<double>> weighed_;
  mutable const std::vector<double>* squares_ = nullptr;
  mutable Insertion insertion_;
  mutable std::vector<Removal> removals_;  // by position
  mutable FitMemory memory_;
};

inline Likelihood::Start Likelihood::start_with(const std::vector<Index>& entering,
                                                const std::vector<Index>& leaving) const {
  const std::vector<Index> support = changed(entering, leaving);
  Start start;
  start.known = true;
  if (const FitMemory::Entry* known = memory_.find(support)) {
    start.intercept = known->intercept;
    for (std::size_t s = 0; s < support.size(); ++s) {
      start.beta.emplace_back(support[s], known->beta[s]);
    }
    return start;
  }
  if (entering.size() + leaving.size() > kLeap) return {};
  const Leap leap = this->leap(entering, leaving);
  if (!leap.sound) return {};
  if (first()) start.intercept = leap.b[0];
  Index s = first();
  for (Index r = 0; r < size(); ++r) {
    if (std::find(leaving.begin(), leaving.end(), r) == leaving.end()) {
      start.beta.emplace_back(members()[r], leap.b[s++]);
    }
  }
  for (const Index j : entering) start.beta.emplace_back(j, leap.b[s++]);
  std::sort(start.beta.begin(), start.beta.end());
  return start;
}

inline bool Likelihood::fit_from(const Start& start) {
  basis_ = empty_basis();
  for (const Index j : members()) add_column(basis_, j);
  point_.b.assign(basis_.size(), 0.0);
  if (first()) point_.b[0] = start.known ? start.intercept : null_intercept_;
  for (Index s = 0; s < size(); ++s) {
    const auto at = std::lower_bound(start.beta.begin(), start.beta.end(),
                                     std::make_pair(members()[s], -kInfinity));
    if (at != start.beta.end() && at->first == members()[s]) point_.b[first() + s] = at->second;
  }
  looked_ = inserted_ = false;
  removals_.clear();
  newton_.evaluate(basis_, point_);
  if (!(energy() <= null_energy_)) {  // it is better to start from nothing
    point_.b.assign(basis_.size(), 0.0);
    if (first()) point_.b[0] = null_intercept_;
    newton_.evaluate(basis_, point_);
  }
  if (!newton_.minimise(basis_, point_, 0.01 * rounding(), hessian_, factor_, next_)) return false;
  remember({}, {}, {energy(), true, 0, point_.b}, true);
  return true;
}

inline void Likelihood::look() const {
  if (looked_) return;
  const std::vector<Index> sorted = changed({}, {});
  const FitMemory::Entry* known = memory_.find(sorted);
  std::shared_ptr<const std::vector<double>> descents = known ? known->descents : nullptr;
  if (!descents && (explores_ || (hurries_ && omega_ > 0))) {
    descents = glance();
  } else if (!descents) {
    auto made = std::make_shared<std::vector<double>>(units());
    rows_.products(point_.residual.data(), made->data(), context_);
    descents = made;
    if (known) {
      FitMemory::Entry entry = *known;
      entry.descents = descents;
      memory_.put(sorted, std::move(entry));
    }
  }
  omega_ = std::max(mean_curvature(), std::numeric_limits<double>::min());
  if (!explores_) weigh_columns();
  const std::vector<double> beta(point_.b.begin() + first(), point_.b.end());
  std::vector<double> zy = model_->gram_times(beta);
  for (Index i = 0; i < units(); ++i) zy[i] += (*descents)[i] / omega_;
  double explained = 0;
  for (Index s = 0; s < size(); ++s) {
    // (G + tau) beta, whatever the ridge of the model is
    const Index j = members()[s];
    zy[j] += model_->ridge_of(j) * beta[s] - (*descents)[j] / omega_;
    explained += zy[j] * beta[s];
  }
  model_->set_response(std::move(zy), 2 * energy() / omega_ + explained);
  looked_ = true;
}

// Where the curvature is far from even, columns have most of theirs in different rows: then their
// own sums of squares under it, less what the mean would make them, are part of the ranking. They
// change slowly with the fit: those of about the same mean curvature are taken for the same.
inline void Likelihood::weigh_columns() const {
  const long step = std::lround(std::log(omega_ / null_omega_) / kWeighedFor);
  squares_ = nullptr;
  if (step == 0) return;
  std::vector<double>& squares = weighed_[step];
  if (squares.empty()) {
    squares = rows_.squares(point_.curvature, context_);
    for (double& square : squares) square /= omega_;
  }
  squares_ = &squares;
}

// The descents of the columns that the quadratic ranks first; of the others, what it says itself.
inline std::shared_ptr<const std::vector<double>> Likelihood::glance() const {
  auto descents = std::make_shared<std::vector<double>>(model_->c());
  for (double& c : *descents) c *= omega_;
  const std::vector<Index> order = promising(kGlance);
  const Index count = static_cast<Index>(order.size());
  std::vector<Rows::Column> held;
  std::vector<const double*> columns;
  for (const Index j : order) {
    held.push_back(rows_.column(j));
    columns.push_back(held.back()->data());
  }
  std::vector<double> exact(count);
  column_dots(columns.data(), count, point_.residual.data(), rows_.rows(), exact.data());
  for (Index i = 0; i < count; ++i) (*descents)[order[i]] = exact[i];
  return descents;
}

// Gains of insertions and of swaps by the quadratic that has the curvature at the fit, not just its
// mean, for a few columns. It costs a fraction of trying them.
inline Likelihood::Close Likelihood::look_closely(const std::vector<Index>& columns) const {
  const Index count = static_cast<Index>(columns.size()), whole = basis_.size();
  Close out;
  Square room, inverse;
  invert_factored(factor_, room, inverse);
  std::vector<double> weighted(rows_.rows()), cross(whole), solved(whole);
  for (Index i = 0; i < count; ++i) {
    const Rows::Column column = rows_.column(columns[i]);
    for (Index r = 0; r < rows_.rows(); ++r) weighted[r] = (*column)[r] * point_.curvature[r];
    column_dots(basis_.columns.data(), whole, weighted.data(), rows_.rows(), cross.data());
    times(inverse, cross.data(), solved.data());
    const double c = dot(column->data(), point_.residual.data(), rows_.rows());
    const double own =
        dot(column->data(), weighted.data(), rows_.rows()) + ridge_of(columns[i], *column);
    const double d = own - dot(cross.data(), solved.data(), whole);
    const double floor = LeastSquares::kSpan * own;
    out.insertions.push_back(d > floor ? 0.5 * c * c / d : -1);
    for (Index r = 0; r < size(); ++r) {
      const Index at = first() + r;
      const double root = std::sqrt(inverse.row(at)[at]);
      const double rho = point_.b[at] / root, t = solved[at] / root;
      const double across = c + t * rho, pivot = d + t * t;
      const double gain = pivot > floor ? 0.5 * (across * across / pivot - rho * rho) : -kInfinity;
      out.swaps.push_back({r, columns[i], gain});
    }
  }
  return out;
}

inline std::vector<Index> Likelihood::promising(Index count) const {
  std::vector<double> gains(units());
  model_->insertion_gains(gains.data());
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
  const std::vector<Index> columns = promising(explores_ ? kGlanced : kConsidered * more());
  std::vector<double> gains = look_closely(columns).insertions;
  double bar = kInfinity;
  for (Index place = 0; place < kInsertions * more(); ++place) {
    const auto next = std::max_element(gains.begin(), gains.end());
    if (next == gains.end() || !(*next >= 0)) break;
    const Index j = columns[next - gains.begin()];
    if (explores_) {
      insertion_ = {j, *next, false};
      break;
    }
    if (*next * kSurprise < insertion_.gain) break;
    *next = -1;
    const Trial trial = attempt({j}, {}, bar);
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
  for (const Swap& swap : model_->best_swaps(limits, kRanked, kSwapShare, context)) {
    if (std::find(columns.begin(), columns.end(), swap.unit) == columns.end()) {
      columns.push_back(swap.unit);
    }
  }
  for (const Index j : promising(kConsidered)) {
    if (std::find(columns.begin(), columns.end(), j) == columns.end()) columns.push_back(j);
  }
  std::vector<Swap> swaps;
  for (const Swap& swap : look_closely(columns).swaps) {
    if (!limits.is_forced(members()[swap.position])) swaps.push_back(swap);
  }
  const Index count = std::min<Index>(kSwaps * more(), swaps.size());
  std::partial_sort(swaps.begin(), swaps.begin() + count, swaps.end(),
                    [](const Swap& a, const Swap& b) { return a.gain > b.gain; });
  swaps.resize(count);
  Swap best;
  double bar = energy();
  for (const Swap& swap : swaps) {
    const Trial trial = attempt({swap.unit}, {swap.position}, bar);
    if (!(trial.energy < bar)) continue;
    bar = trial.energy;
    best = {swap.position, swap.unit, energy() - trial.energy};
  }
  return best;
}

inline std::vector<double> Likelihood::removal_promises() const {
  Square room, inverse;
  invert_factored(factor_, room, inverse);
  std::vector<double> costs;
  for (Index at = first(); at < basis_.size(); ++at) {
    costs.push_back(0.5 * point_.b[at] * point_.b[at] / inverse.row(at)[at]);
  }
  return costs;
}

inline void Likelihood::price_removals() const {
  if (static_cast<Index>(removals_.size()) == size()) return;
  removals_.clear();
  for (const double cost : removal_promises()) removals_.push_back({cost, false});
  // What the engine has come from is known, and must cost what the insertion has gained.
  for (Index r = 0; r < size() && !explores_; ++r) {
    const FitMemory::Entry* known = memory_.find(changed({}, {r}));
    if (known && known->settled) removals_[r] = {std::max(0.0, known->energy - energy()), true};
  }
  for (Index count = 0; count < std::min(kRemovals, size()) && !explores_; ++count) {
    const auto cheapest =
        std::min_element(removals_.begin(), removals_.end(),
                         [](const Removal& a, const Removal& b) { return a.cost < b.cost; });
    if (cheapest->refitted) return;
    const Trial trial = attempt({}, {cheapest - removals_.begin()}, kInfinity);
    *cheapest = {std::max(0.0, trial.energy - energy()), true};
  }
}

// The support with some units entering and the members at some positions leaving.
inline std::vector<Index> Likelihood::changed(const std::vector<Index>& entering,
                                              const std::vector<Index>& leaving) const {
  std::vector<Index> support;
  for (Index r = 0; r < size(); ++r) {
    if (std::find(leaving.begin(), leaving.end(), r) == leaving.end()) {
      support.push_back(members()[r]);
    }
  }
  support.insert(support.end(), entering.begin(), entering.end());
  std::sort(support.begin(), support.end());
  return support;
}

inline Likelihood::Leap Likelihood::leap(const std::vector<Index>& entering,
                                         const std::vector<Index>& leaving) const {
  const Index whole = basis_.size(), added = static_cast<Index>(entering.size());
  Leap out;
  std::vector<Index> kept;  // places in basis_
  for (Index s = 0; s < whole; ++s) {
    const auto goes = std::find(leaving.begin(), leaving.end(), s - first());
    if (s >= first() && goes != leaving.end()) continue;
    kept.push_back(s);
    out.basis.add(basis_.held[s], basis_.ridge[s]);
  }
  const Index stay = out.basis.size();
  out.hessian.resize(stay + added);
  std::vector<double> down(stay + added, 0.0), cross(whole + added);
  out.b.assign(stay + added, 0.0);
  const auto at_fit = [&](Index s, Index t) {
    return hessian_.row(std::min(s, t))[std::max(s, t)];
  };
  for (Index s = 0; s < stay; ++s) {
    for (Index t = s; t < stay; ++t) out.hessian.row(s)[t] = at_fit(kept[s], kept[t]);
    for (const Index r : leaving) {
      down[s] += at_fit(kept[s], first() + r) * point_.b[first() + r];
    }
  }
  std::vector<double> weighted(added > 0 ? rows_.rows() : 0);
  std::vector<const double*> columns = basis_.columns;
  for (Index e = 0; e < added; ++e) {
    add_column(out.basis, entering[e]);
    const double* column = out.basis.columns.back();
    columns.push_back(column);
    for (Index r = 0; r < rows_.rows(); ++r) weighted[r] = column[r] * point_.curvature[r];
    column_dots(columns.data(), whole + e + 1, weighted.data(), rows_.rows(), cross.data());
    const Index at = stay + e;
    for (Index s = 0; s < stay; ++s) out.hessian.row(s)[at] = cross[kept[s]];
    for (Index f = 0; f <= e; ++f) out.hessian.row(stay + f)[at] = cross[whole + f];
    out.hessian.row(at)[at] += out.basis.ridge[at];
    down[at] = dot(column, point_.residual.data(), rows_.rows());
    for (const Index r : leaving) down[at] += cross[first() + r] * point_.b[first() + r];
  }
  out.factor = out.hessian;
  out.sound = Newton::independent(out.hessian, out.factor);
  if (!out.sound) return out;
  solve_factored(out.factor, down.data(), out.b.data());
  for (Index s = 0; s < stay; ++s) out.b[s] += point_.b[kept[s]];
  if (leaving.empty()) {
    out.from = point_.b;
    out.from.resize(stay + added, 0.0);
  }
  // Where the curvature is gone the quadratic may have its minimum anywhere.
  for (const double b : out.b) out.sound = out.sound && std::fabs(b) < kAbsurd;
  return out;
}

// How good that support is, refitted from where the quadratic has its minimum. Where it can't be
// seen to come below `bar` it is left early.
inline Likelihood::Trial Likelihood::attempt(const std::vector<Index>& entering,
                                             const std::vector<Index>& leaving, double bar) const {
  if (const FitMemory::Entry* known = memory_.find(changed(entering, leaving))) {
    if (known->settled || known->energy - kReach * known->left > bar) {
      return {known->energy, known->settled, known->left, {}};
    }
  }
  Leap there = leap(entering, leaving);
  if (!there.sound) return {};
  const Trial trial = approach(there, bar, point_there_);
  if (std::isfinite(trial.energy)) remember(entering, leaving, trial);
  return trial;
}

// Goes to the minimum from there, with the same curvature, or with that where it has come to if
// that goes slowly. Where it can't be seen to come below `bar` it is left early.
inline Likelihood::Trial Likelihood::approach(Leap& there, double bar, Point& point) const {
  constexpr int kRounds = 30;
  const double tolerance = explores_ ? kNearlySettled : kSettled;
  Trial trial;
  point.b = there.b;
  newton_.evaluate(there.basis, point);
  if (!(point.energy() <= energy()) &&
      !there.from.empty()) {  // too far: some part of the way will do
    point.b = there.from;
    newton_.evaluate(there.basis, point);
  }
  double before = kInfinity, curvature = sum_of(point_.curvature);
  bool stiff = false;
  std::vector<double> down, step(there.basis.size());
  for (int round = 0; round < kRounds; ++round) {
    newton_.descent(there.basis, point, down);
    solve_factored(there.factor, down.data(), step.data());
    const double promise = 0.5 * dot(down.data(), step.data(), there.basis.size());
    // The curvature may have fallen since: then more is left than it promises.
    const double fall = curvature / sum_of(point.curvature);
    trial.left = promise * std::max(1.0, fall * fall);
    const double moved = std::fabs(point.energy() - energy());
    const double gainable = std::min(promise, point.energy());
    trial.settled = !(gainable > std::max(0.01 * rounding(), tolerance * moved));
    if (trial.settled || point.energy() - kReach * trial.left > bar) break;
    if (promise > 0.25 * before) {
      newton_.hessian(there.basis, point, there.hessian);
      there.factor = there.hessian;
      stiff = !Newton::independent(there.hessian, there.factor);
      if (stiff) Newton::stiffen(there.hessian, there.factor);
      solve_factored(there.factor, down.data(), step.data());
      curvature = sum_of(point.curvature);
    }
    before = promise;
    if (!newton_.go(there.basis, point, step, promise, stiff, next_)) break;
  }
  trial.energy = point.energy() - (trial.settled ? trial.left : 0);
  trial.b = point.b;
  return trial;
}

// Stands there, once the members are those of the leap.
inline bool Likelihood::land(Leap& there) {
  Trial trial = approach(there, kInfinity, point_there_);
  // Good enough to walk on, but not to be taken for the least later.
  trial.energy = point_there_.energy();
  trial.settled = false;
  std::swap(point_, point_there_);
  basis_ = std::move(there.basis);
  hessian_ = std::move(there.hessian);
  factor_ = std::move(there.factor);
  looked_ = inserted_ = false;
  removals_.clear();
  remember({}, {}, trial);
  return true;
}

inline void Likelihood::remember(const std::vector<Index>& entering,
                                 const std::vector<Index>& leaving, const Trial& trial,
                                 bool fitted) const {
  std::vector<std::pair<Index, double>> pairs;
  Index s = first();
  for (Index r = 0; r < size(); ++r) {
    if (std::find(leaving.begin(), leaving.end(), r) != leaving.end()) continue;
    pairs.emplace_back(members()[r], trial.b[s++]);
  }
  for (const Index j : entering) pairs.emplace_back(j, trial.b[s++]);
  std::sort(pairs.begin(), pairs.end());
  std::vector<Index> sorted;
  FitMemory::Entry entry;
  if (first()) entry.intercept = trial.b[0];
  for (const auto& pair : pairs) {
    sorted.push_back(pair.first);
    entry.beta.push_back(pair.second);
  }
  entry.energy = trial.energy;
  entry.settled = trial.settled;
  entry.left = trial.left;
  if (const FitMemory::Entry* known = memory_.find(sorted)) {
    const bool better = known->energy <= entry.energy && (known->settled || !entry.settled);
    if (better && !fitted) return;
    entry.descents = known->descents;
  }
  memory_.put(sorted, std::move(entry));
}

inline void Likelihood::restore(const State& state) {
  const Place& then = static_cast<const Place&>(state);
  model_->restore(*then.model);
  basis_ = empty_basis();
  for (const Index j : members()) add_column(basis_, j);
  point_ = then.point;
  hessian_ = then.hessian;
  factor_ = then.factor;
  removals_ = then.removals;
  insertion_ = then.insertion;
  looked_ = then.looked;
  inserted_ = then.inserted;
  omega_ = then.omega;
  explores_ = false;
}

inline Solution Likelihood::solution_here() const {
  Solution solution;
  solution.support = members();
  solution.beta.assign(point_.b.begin() + first(), point_.b.end());
  solution.intercept = intercept();
  solution.rss = 2 * point_.loss;
  solution.ridge_energy = point_.penalty;
  return solution;
}

inline Solution Likelihood::solve_quickly() const {
  Solution solution = solution_here();
  solution.removal_cost = removal_promises();
  sort_by_column(solution);
  return solution;
}

inline Solution Likelihood::solve(const Context& context) const {
  Solution solution = solution_here();
  for (Index r = 0; r < size(); ++r) {
    context.check();
    const Trial trial = attempt({}, {r}, kInfinity);
    solution.removal_cost.push_back(std::max(0.0, trial.energy - energy()));
  }
  sort_by_column(solution);
  return solution;
}

}  // namespace ellzero
