// Least squares over many dense columns, as an engine: Sifting as long as it helps, and
// LeastSquares from then on. So it answers as LeastSquares would, with half of the bytes.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/least_squares.hpp"
#include "engine/sifting.hpp"

namespace ellzero {

class SiftedSquares final : public Engine {
 public:
  // So many columns are many, and so many are in folds, which share the products of all rows
  // otherwise. Measured from 60 x 1000 to 2000 x 5000.
  static constexpr Index kMany = 1000, kManyInFolds = 2000;
  // Whether columns are many and rows are not, so that measuring some costs little, and a copy of
  // them in float32 takes no more than a bound.
  static bool pays(Index rows, Index columns, Index many) {
    const double bytes = 4.0 * static_cast<double>(rows) * static_cast<double>(columns);
    return columns >= many && rows <= columns && bytes <= kMostBytes;
  }
  static bool pays(const Quadratic& quadratic, Index many) {
    return quadratic.has_float_grams() && pays(quadratic.rows(), quadratic.columns(), many);
  }

  // Without sifting where a quadratic has no such Gram columns. `ridge` is one number, or one per
  // column.
  SiftedSquares(const Quadratic& quadratic, const Context& context, std::vector<double> ridge)
      : quadratic_(quadratic), context_(context), ridge_(std::move(ridge)) {
    if (const FloatGrams* grams = quadratic.float_grams(context)) {
      sifting_ = std::make_unique<Sifting>(quadratic, *grams, context, ridge_);
    } else {
      exact_ = make_exact();
    }
  }
  // The same on a quadratic of its own.
  SiftedSquares(std::unique_ptr<const ChosenQuadratic> own, const Context& context,
                std::vector<double> ridge)
      : SiftedSquares(*own, context, std::move(ridge)) {
    own_ = std::move(own);
  }
  ~SiftedSquares() override {  // before their quadratic
    sifting_.reset();
    exact_.reset();
  }
  SiftedSquares(const SiftedSquares&) = delete;
  SiftedSquares& operator=(const SiftedSquares&) = delete;

  Index units() const override { return quadratic_.columns(); }
  Index size() const override { return now().size(); }
  const std::vector<Index>& members() const override { return now().members(); }
  bool contains(Index j) const override { return now().contains(j); }
  double energy() const override { return now().energy(); }
  double loss() const override { return now().loss(); }
  double rounding() const override { return now().rounding(); }

  // To a tenth of what they are.
  void insertion_gains(double* gain) const override {
    if (!sifting_ || !sifting_->find_gains(gain)) exact().insertion_gains(gain);
  }
  Insertion best_insertion() const override {
    Insertion best;
    return sifting_ && sifting_->find_insertion(best) ? best : exact().best_insertion();
  }
  std::vector<Insertion> best_insertions(Index count) const override {
    std::vector<Insertion> best;
    return sifting_ && sifting_->find_insertions(count, best) ? best
                                                              : exact().best_insertions(count);
  }
  double removal_cost(Index position) const override { return now().removal_cost(position); }
  Removal cheapest_removal(const Limits& limits) const override {
    return now().cheapest_removal(limits);
  }
  Swap best_swap(const Limits& limits, const Context& context) const override {
    Swap best;
    if (sifting_ && sifting_->find_swap(limits, context, best)) return best;
    return exact().best_swap(limits, context);
  }

  bool can_insert(Index j) override { return now().can_insert(j); }
  bool insert(Index j) override { return now().insert(j); }
  void remove(Index position) override { now().remove(position); }
  void move_to(const std::vector<Index>& target) override { now().move_to(target); }
  void start_at(const std::vector<Index>& target) override { now().start_at(target); }
  void refresh() override { now().refresh(); }
  void exclude(Index j) override {
    excluded_.push_back(j);
    now().exclude(j);
  }
  void allow(Index j) override {
    excluded_.erase(std::remove(excluded_.begin(), excluded_.end(), j), excluded_.end());
    now().allow(j);
  }

  std::unique_ptr<State> save() const override {
    auto place = std::make_unique<Place>();
    place->sifting = sifting_ != nullptr;
    place->members = members();
    place->inner = now().save();
    return place;
  }
  void restore(const State& state) override {
    const Place& then = static_cast<const Place&>(state);
    if (then.sifting == (sifting_ != nullptr)) {
      now().restore(*then.inner);
    } else {  // it has given up since
      now().start_at(then.members);
    }
  }

  Solution solve(const Context& context) const override { return now().solve(context); }
  bool solve_at_once(Solution& solution) const override { return now().solve_at_once(solution); }

  void ignore_outsiders() override { now().ignore_outsiders(); }
  bool has_some() const override { return quadratic_.prepared_columns() != nullptr; }
  std::unique_ptr<Engine> on_some(const std::vector<Index>& units, std::unique_ptr<Engine> known,
                                  const Context& context) const override {
    const auto* before = static_cast<const SiftedSquares*>(known.get());
    const ChosenQuadratic* chosen = before ? before->own_.get() : nullptr;
    ChosenProblem some(quadratic_, ridge_, units, chosen, context);
    if (!some.quadratic) return nullptr;
    return std::make_unique<SiftedSquares>(std::move(some.quadratic), context,
                                           std::move(some.ridge));
  }

  // Whether it still is of help.
  bool sifts() const { return sifting_ != nullptr; }
  const std::vector<double>& beta() const { return least_squares().beta(); }
  double log_determinant() const { return least_squares().log_determinant(); }
  // The same without sifting, to be asked about every column.
  const LeastSquares& on_all() const {
    if (!sifting_) return *exact_;
    if (!exact_) exact_ = make_exact();
    if (exact_->members() != members()) exact_->start_at(members());
    for (const Index j : excluded_) exact_->exclude(j);
    return *exact_;
  }
  // d of the columns for which it is no more than `most`, and perhaps of others.
  std::vector<double> small_d(double most) const {
    std::vector<double> small;
    return sifting_ && sifting_->find_small_d(most, small) ? small : exact().d();
  }

 private:
  static constexpr double kMostBytes = 5e8;

  struct Place : State {
    bool sifting;
    std::vector<Index> members;
    std::unique_ptr<State> inner;
  };

  const NormalEquations& least_squares() const {
    return sifting_ ? static_cast<const NormalEquations&>(*sifting_) : *exact_;
  }
  Engine& now() const { return sifting_ ? static_cast<Engine&>(*sifting_) : *exact_; }

  std::unique_ptr<LeastSquares> make_exact() const {
    return std::make_unique<LeastSquares>(quadratic_, GramUser(quadratic_.cache(), context_),
                                          ridge_);
  }
  // Gives up sifting.
  LeastSquares& exact() const {
    if (sifting_) {
      auto made = exact_ ? std::move(exact_) : make_exact();
      made->start_at(sifting_->members());
      for (const Index j : excluded_) made->exclude(j);
      exact_ = std::move(made);
      sifting_.reset();
    }
    return *exact_;
  }

  std::unique_ptr<const ChosenQuadratic> own_;  // if nobody else keeps it
  const Quadratic& quadratic_;
  const Context context_;
  const std::vector<double> ridge_;
  // What is asked changes what is known, not what is answered.
  mutable std::unique_ptr<Sifting> sifting_;
  mutable std::unique_ptr<LeastSquares> exact_;
  std::vector<Index> excluded_;
};

}  // namespace ellzero
