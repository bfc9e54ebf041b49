// Least squares over very many sparse columns, as an engine: LeastSquares on the active columns,
// and a screen that says that none of the others could be the answer. Where it can't say so, more
// columns become active, until they are all. So it answers as LeastSquares on all columns would.
//
// With |c_i| <= C and |P z_i| <= s for a column that is not active, its insertion gains no more
// than half of C^2 / (1 + tau_i - s^2), and its swap for member r no more than half of
//
//   (C + s |rho_r|)^2 / (1 + tau_i - s^2) - rho_r^2
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "data/active_columns.hpp"
#include "engine/least_squares.hpp"
#include "engine/screen.hpp"

namespace ellzero {

class ScreenedSquares final : public Engine {
 public:
  // Whether there are sparse entries to go by, and few columns that have none.
  static bool possible(const Quadratic& quadratic) {
    const PreparedColumns* z = quadratic.prepared_columns();
    if (!z || !z->columns().sparse_entries()) return false;
    if (std::max(z->rows(), quadratic.columns()) > std::numeric_limits<std::int32_t>::max()) {
      return false;
    }
    Index heavy = 0;
    for (Index j = 0; j < quadratic.columns(); ++j) {
      heavy += ActiveColumns::is_heavy(quadratic, j);
    }
    return heavy <= kMostHeavy;
  }
  // Whether that pays: columns are many, and next to nothing in them is not zero. Measured from
  // 300 x 20,000 to 50,000 x 500,000, with columns as frequent as words are and equally frequent.
  static bool pays(Index rows, Index columns, double entries) {
    const double per_column = entries / static_cast<double>(columns);
    return columns >= kFewestColumns && per_column < kMostEntries &&
           per_column < kDensest * static_cast<double>(rows);
  }
  static bool pays(const Quadratic& quadratic) {
    const PreparedColumns* z = quadratic.prepared_columns();
    return z && pays(z->rows(), quadratic.columns(), z->entries()) && possible(quadratic);
  }

  // On a quadratic for which it is possible. `ridge` is one number, or one per column.
  ScreenedSquares(const Quadratic& quadratic, const Context& context, std::vector<double> ridge)
      : quadratic_(quadratic),
        context_(context),
        ridge_(std::move(ridge)),
        least_ridge_(*std::min_element(ridge_.begin(), ridge_.end())),
        active_(quadratic, z(), *z().columns().sparse_entries()),
        screen_(quadratic, z(), active_, context) {
    renew();
  }
  ScreenedSquares(const ScreenedSquares&) = delete;
  ScreenedSquares& operator=(const ScreenedSquares&) = delete;

  Index units() const override { return quadratic_.columns(); }
  Index size() const override { return inner().size(); }
  const std::vector<Index>& members() const override { return members_; }
  bool contains(Index j) const override {
    return active_.has(j) && inner().contains(active_.number(j));
  }
  double energy() const override { return inner().energy(); }
  double loss() const override { return inner().loss(); }
  double rounding() const override { return inner().rounding(); }

  void insertion_gains(double* gain) const override { on_all().insertion_gains(gain); }
  Insertion best_insertion() const override {
    for (;;) {
      Insertion best = inner().best_insertion();
      if (!none_gains_more(best.gain)) continue;
      if (best.unit >= 0) best.unit = active_.column(best.unit);
      return best;
    }
  }
  std::vector<Insertion> best_insertions(Index count) const override {
    for (;;) {
      std::vector<Insertion> best = inner().best_insertions(count);
      const bool all = static_cast<Index>(best.size()) == count;
      if (count > 0 && !none_gains_more(all ? best.back().gain : 0)) continue;
      for (Insertion& insertion : best) insertion.unit = active_.column(insertion.unit);
      return best;
    }
  }
  double removal_cost(Index position) const override { return inner().removal_cost(position); }
  Swap best_swap(const Limits& limits, const Context& context) const override {
    for (;;) {
      Swap best = inner().best_swap({active_limits(limits), limits.max_size}, context);
      if (!no_swap_gains_more(limits, best.gain)) continue;
      if (best.unit >= 0) best.unit = active_.column(best.unit);
      return best;
    }
  }

  bool can_insert(Index j) override {
    activate({j});
    return inner().can_insert(active_.number(j));
  }
  bool insert(Index j) override {
    activate({j});
    if (!inner().insert(active_.number(j))) return false;
    note_members();
    return true;
  }
  void remove(Index position) override {
    inner().remove(position);
    note_members();
  }
  void move_to(const std::vector<Index>& target) override {
    go([&] { inner().move_to(numbers(target)); }, target);
  }
  void start_at(const std::vector<Index>& target) override {
    go([&] { inner().start_at(numbers(target)); }, target);
  }
  void refresh() override {
    inner().refresh();
    note_members();
  }

  void exclude(Index j) override {
    excluded_.push_back(j);
    if (active_.has(j)) inner().exclude(active_.number(j));
    note_members();
  }
  void allow(Index j) override {
    excluded_.erase(std::remove(excluded_.begin(), excluded_.end(), j), excluded_.end());
    if (active_.has(j)) inner().allow(active_.number(j));
    all_.reset();
    all_stands_ = false;
  }

  std::unique_ptr<State> save() const override {
    auto place = std::make_unique<Place>();
    place->members = members_;
    place->active = active_.size();
    place->inner = inner().save();
    return place;
  }
  void restore(const State& state) override {
    const Place& then = static_cast<const Place&>(state);
    if (then.active == active_.size()) {
      inner().restore(*then.inner);
    } else {  // more columns are active since
      inner().start_at(numbers(then.members));
    }
    note_members();
  }

  Solution solve(const Context& context) const override { return of_all(inner().solve(context)); }
  bool solve_at_once(Solution& solution) const override {
    if (!inner().solve_at_once(solution)) return false;
    solution = of_all(std::move(solution));
    return true;
  }

  void ignore_outsiders() override { inner().ignore_outsiders(); }
  void prepare(const std::vector<Index>& columns) override {
    activate(columns);
    inner().prepare(numbers(columns));
  }
  void expect_gains_above(double gain) override {
    expected_gain_ = gain;
    inner().expect_gains_above(gain);
  }

  Index active() const { return active_.size(); }
  // The same on all columns, to be asked about every one of them.
  const LeastSquares& on_all() const {
    if (!all_) {
      all_ = std::make_unique<LeastSquares>(quadratic_, GramUser(quadratic_.cache(), context_),
                                            ridge_);
    }
    if (!all_stands_) {
      all_->start_at(members_);
      for (const Index j : excluded_) all_->exclude(j);
      all_stands_ = true;
    }
    return *all_;
  }
  // d of the active columns; that of all others is near one or more.
  const std::vector<double>& d_of_active() const {
    none_beyond(std::numeric_limits<double>::infinity());
    return inner().d();
  }
  const std::vector<double>& beta() const { return inner().beta(); }
  double log_determinant() const { return inner().log_determinant(); }

 private:
  static constexpr Index kFewestColumns = 20000, kMostHeavy = 32;
  static constexpr double kDensest = 0.004, kMostEntries = 16;
  // What is equal but for rounding is not left to the bounds.
  static constexpr double kBelow = 1 - 1e-9;

  struct Place : State {
    std::vector<Index> members;
    Index active;
    std::unique_ptr<State> inner;
  };
  struct Inner {
    Inner(ActiveColumns& active, const Context& context, std::vector<double> ridge)
        : quadratic(active), engine(quadratic, GramUser(quadratic.cache(), context), ridge) {}
    ActiveQuadratic quadratic;
    LeastSquares engine;
  };

  const PreparedColumns& z() const { return *quadratic_.prepared_columns(); }
  LeastSquares& inner() const { return inner_->engine; }

  std::vector<Index> numbers(const std::vector<Index>& columns) const {
    std::vector<Index> out;
    for (const Index j : columns) out.push_back(active_.number(j));
    return out;
  }
  Solution of_all(Solution solution) const {
    for (Index& j : solution.support) j = active_.column(j);
    return solution;
  }
  void note_members() const {
    screened_ = all_stands_ = false;
    members_ = inner().members();
    for (Index& j : members_) j = active_.column(j);
  }
  template <class Move>
  void go(Move&& move, const std::vector<Index>& target) {
    activate(target);
    try {
      move();
    } catch (...) {
      note_members();
      throw;
    }
    note_members();
  }
  std::vector<char> active_limits(const Limits& limits) const {
    std::vector<char> forced;
    if (limits.forced.empty()) return forced;
    for (const Index j : active_.columns()) forced.push_back(limits.forced[j]);
    return forced;
  }

  // Puts an engine on the columns that are active, where the one before it stands.
  void renew() const {
    std::vector<double> ridge = ridge_;
    if (ridge.size() > 1) {
      ridge.clear();
      for (const Index j : active_.columns()) ridge.push_back(ridge_[j]);
    }
    auto next = std::make_unique<Inner>(active_, context_, std::move(ridge));
    next->engine.expect_gains_above(expected_gain_);
    if (inner_) next->engine.adopt(inner(), numbers(inner_->quadratic.chosen()));
    inner_ = std::move(next);
    for (const Index j : excluded_) {
      if (active_.has(j)) inner().exclude(active_.number(j));
    }
  }

  // False if there is nothing to do.
  bool activate(const std::vector<Index>& columns) const {
    const auto has = [&](Index j) { return active_.has(j); };
    if (std::all_of(columns.begin(), columns.end(), has)) return false;
    active_.join(columns);
    screen_.leave_out(columns);
    renew();
    return true;
  }

  bool all_active() const { return active_.size() == units(); }

  // Whether no column that is not active has |c_i| as large as a bound. If not, more columns have
  // become active.
  bool none_beyond(double bound) const {
    if (all_active()) return true;
    if (!screened_) {
      const bool more = activate(screen_.stand_at(members_, inner().beta()));
      screened_ = true;
      if (more) return false;
    }
    if (screen_.reach() < bound) return true;
    if (activate(screen_.tighten(bound))) return false;
    if (screen_.reach() < bound) return true;
    std::vector<Index> all(units());
    for (Index j = 0; j < units(); ++j) all[j] = j;
    activate(all);
    return false;
  }

  double least_remainder() const { return 1 + least_ridge_ - Screen::kShare * Screen::kShare; }

  bool none_gains_more(double gain) const {
    return none_beyond(kBelow * std::sqrt(2 * std::max(0.0, gain) * least_remainder()));
  }
  bool no_swap_gains_more(const Limits& limits, double gain) const {
    double bound = std::numeric_limits<double>::infinity();
    for (Index r = 0; r < size(); ++r) {
      if (limits.is_forced(members_[r])) continue;
      const double square = 2 * inner().removal_cost(r);
      const double root = std::sqrt((2 * gain + square) * least_remainder());
      bound = std::min(bound, root - Screen::kShare * std::sqrt(square));
    }
    return none_beyond(kBelow * std::max(0.0, bound));
  }

  const Quadratic& quadratic_;
  const Context context_;
  const std::vector<double> ridge_;
  const double least_ridge_;
  // What is asked changes what is known, not what is answered.
  mutable ActiveColumns active_;
  mutable Screen screen_;
  mutable std::unique_ptr<Inner> inner_;
  mutable std::vector<Index> members_;
  mutable bool screened_ = false;  // whether the screen knows where they stand
  mutable std::unique_ptr<LeastSquares> all_;
  mutable bool all_stands_ = false;  // where they do
  std::vector<Index> excluded_;
  double expected_gain_ = 0;
};

}  // namespace ellzero
