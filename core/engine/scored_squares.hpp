// Least squares on a support and what it says of all other columns, which flips keep up to date by
// the Gram columns of the members, in numbers of type T. A flip costs O(pk) once these are known.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/flip_batch.hpp"
#include "engine/normal_equations.hpp"

namespace ellzero {

template <class T>
class ScoredSquares : public NormalEquations {
 public:
  bool contains(Index j) const override { return scores_.place(j) == Scores::Place::in; }
  const std::vector<double>& c() const { return scores_.c(); }
  const std::vector<double>& d() const { return scores_.d(); }

  bool can_insert(Index j) override {
    if (scores_.place(j) != Scores::Place::out) return false;
    if (is_surely_independent(j)) return true;
    ready_ = -1;
    const double pivot = new_row(j, acquire(j), kSpan, row_);
    release(j);
    if (!(pivot > 0)) {
      scores_.rule_out(j, kSpan);
      return false;
    }
    ready_ = j;
    ready_pivot_ = pivot;
    return true;
  }
  // Takes a column out of the running until the support has changed.
  void rule_out(Index j) { scores_.rule_out(j, kSpan); }
  bool insert(Index j) override { return insert(j, kSpan); }
  // The same for a column whose pivot is above `least_pivot`.
  bool insert(Index j, double least_pivot) { return insert(j, least_pivot, nullptr, nullptr); }
  void remove(Index position) override { remove(position, nullptr, nullptr); }
  // The same with numbers that go along.
  bool insert(Index j, double least_pivot, const Beside& beside) {
    return insert(j, least_pivot, nullptr, &beside);
  }
  void remove(Index position, const Beside& beside) { remove(position, nullptr, &beside); }
  void move_to(const std::vector<Index>& target) override;
  void start_at(const std::vector<Index>& target) override {
    hold(target);
    refresh();
  }
  void refresh() override;

  void exclude(Index j) override {
    if (contains(j)) remove(position(j));
    scores_.exclude(j);
  }
  void allow(Index j) override {
    if (scores_.place(j) == Scores::Place::excluded) measure(j);
  }

  std::unique_ptr<State> save() const override {
    std::unique_ptr<State> state;
    save_over(state);
    return state;
  }
  void save_over(std::unique_ptr<State>& state) const override {
    if (!state) state = std::make_unique<Place>();
    Place& place = static_cast<Place&>(*state);
    place.members = members_;
    place.zy = zy_;
    place.yy = yy_;
    place.factor = factor_;
    place.scores = scores_;
    place.drift = drift_;
  }
  void restore(const State& state) override;

  void ignore_outsiders() override { ignores_outsiders_ = true; }

 protected:
  ScoredSquares(const Quadratic& quadratic, std::vector<double> ridge)
      : NormalEquations(quadratic, std::move(ridge)), scores_(quadratic.zy, wholes()) {
    constexpr Index kMembers = 32;  // so many, and vectors need not grow one by one
    members_.reserve(kMembers);
    gram_.reserve(kMembers);
    row_.a.reserve(kMembers);
    cross_.reserve(kMembers);
  }

  // The Gram column j, in use until release(j).
  virtual const T* acquire(Index j) = 0;
  virtual void release(Index j) = 0;
  // The products of column j with the members; `gram` is its Gram column, null if it is not held.
  virtual void cross(Index j, const T* gram, double* out) = 0;
  // Whether insert(j) need not be tried out: the scores say that it would succeed.
  virtual bool is_surely_independent(Index /*j*/) const { return false; }
  // What rounding has added up to since all was computed anew.
  struct Drift {
    int flips = 0;
    double pivots = 0;    // the sum of one over each
    double c = 0, d = 0;  // that of numbers of type T, where they are counted
  };
  // Whether it is time to compute everything anew.
  virtual bool drifted() const { return drift_.flips >= kFlipBound || drift_.pivots > kDriftBound; }
  // What came of a flip, or of computing everything anew.
  virtual void note_flip(const FlipRow& /*row*/) {}
  virtual void note_anew() {}

  // The row that column j would append; returns its pivot.
  double new_row(Index j, const T* gram, double least_pivot, FlipRow& out) {
    cross_.resize(members_.size());
    cross(j, gram, cross_.data());
    return factor_.new_row(cross_.data(), whole(j), zy()[j], least_pivot, out);
  }

  // Opens a column with what the members say of it.
  void measure(Index j) {
    // c_j = b_j - G_jS beta and d_j by the products of the members with j
    std::vector<double> products(size());
    cross(j, nullptr, products.data());
    double c = zy()[j];
    for (Index s = 0; s < size(); ++s) c -= products[s] * beta()[s];
    const std::vector<double> w = factor_.times(products.data());
    scores_.open(j, c, whole(j) - dot(w.data(), w.data(), size()));
  }

  // Makes other columns the members, with nothing computed for them; unchanged if one can't be had.
  void hold(const std::vector<Index>& members);
  void release_all() {
    for (const Index j : members_) release(j);
  }

  std::vector<const T*> gram_;  // Gram columns of the members
  Scores scores_;
  bool ignores_outsiders_ = false;  // then the scores are out of date
  Drift drift_;
  // Room to work in, so that a flip need not ask for memory.
  FlipRow row_;
  Index ready_ = -1;  // the column whose row that is, as it would be inserted here; -1 if of none
  double ready_pivot_ = 0;

 private:
  // Flips add up rounding of about epsilon / pivot each: refresh before it could matter.
  static constexpr double kDriftBound = 2e4;
  static constexpr int kFlipBound = 500;
  // Among so few columns every flip is made by itself: their Gram columns stay at hand anyway, and
  // each combines its own members only.
  static constexpr Index kFewColumns = 256;

  struct Place : State {
    std::vector<Index> members;
    std::vector<double> zy;
    double yy;
    Factor factor;
    Scores scores;
    Drift drift;
  };

  // With a batch, what all other columns see of a flip is put off.
  bool insert(Index j, double least_pivot, FlipBatch<T>* batch, const Beside* beside);
  void remove(Index position, FlipBatch<T>* batch, const Beside* beside);
  void apply(double sign, const Beside* beside) {
    if constexpr (std::is_same_v<T, double>) {
      if (beside) {
        scores_.apply_beside(gram_, row_, sign, *beside);
        return;
      }
    }
    scores_.apply(gram_, row_, sign);
  }
  void account_for(double pivot, const FlipBatch<T>* batch) {
    drift_.pivots += 1 / pivot;
    ++drift_.flips;
    if (drifted() && !batch) refresh();
  }
  // Whether to flip those that leave and enter is more work than to begin anew: columns that are
  // combined with each other, in both cases.
  bool is_far() const {
    if (ignores_outsiders_) return false;
    const std::size_t flips = leaving_.size() + entering_.size();
    const std::size_t then = members_.size() - leaving_.size() + entering_.size();
    if (2 * flips * (members_.size() + entering_.size()) <= then * (then + 3)) return false;
    return flips > 1 && std::all_of(entering_.begin(), entering_.end(), [&](Index j) {
             return scores_.place(j) == Scores::Place::out;
           });
  }

  FlipBatch<T> batch_;
  std::vector<char> marked_;
  std::vector<const T*> held_, held_gram_;
  std::vector<Index> leaving_, entering_;
  std::vector<double> cross_;
  std::vector<Index> members_before_;  // while everything is computed anew
  std::vector<const T*> gram_before_;
};

template <class T>
bool ScoredSquares<T>::insert(Index j, double least_pivot, FlipBatch<T>* batch,
                              const Beside* beside) {
  if (scores_.place(j) != Scores::Place::out) return false;
  const T* gram = acquire(j);
  const bool ready = ready_ == j && least_pivot <= kSpan;
  const double pivot = ready ? ready_pivot_ : new_row(j, gram, least_pivot, row_);
  ready_ = -1;
  if (!(pivot > 0)) {
    release(j);
    scores_.rule_out(j, least_pivot);
    return false;
  }
  factor_.append(row_, zy()[j]);
  members_.push_back(j);
  gram_.push_back(gram);
  scores_.enter(j);
  if (batch) {
    batch->insert(gram, row_);
  } else if (!ignores_outsiders_) {
    apply(-1, beside);
  }
  note_flip(row_);
  factor_.add(row_);
  account_for(pivot, batch);
  return true;
}

template <class T>
void ScoredSquares<T>::remove(Index position, FlipBatch<T>* batch, const Beside* beside) {
  const Index j = members_[position];
  ready_ = -1;
  factor_.remove(position, row_);
  const double own = row_.a[position], c = row_.q / own, d = 1 / (own * own);
  if (batch) {
    batch->remove(position, row_, j, c, d);
  } else {
    if (!ignores_outsiders_) apply(+1, beside);
    scores_.open(j, c, d);
  }
  note_flip(row_);
  gram_.erase(gram_.begin() + position);
  members_.erase(members_.begin() + position);
  release(j);
  account_for(d, batch);
}

template <class T>
void ScoredSquares<T>::move_to(const std::vector<Index>& target) {
  if (target == members_) return;
  // One more is what searches ask for most.
  if (target.size() == members_.size() + 1 &&
      std::equal(members_.begin(), members_.end(), target.begin()) &&
      insert(target.back(), kSpan)) {
    return;
  }
  marked_.resize(columns(), 0);
  for (const Index j : target) marked_[j] = 1;
  leaving_.clear();
  for (const Index j : members_) {
    if (!marked_[j]) leaving_.push_back(j);
  }
  for (const Index j : target) marked_[j] = 0;
  entering_.clear();
  for (const Index j : target) {
    if (!contains(j)) entering_.push_back(j);
  }
  if (is_far()) {
    start_at(target);
    return;
  }
  FlipBatch<T>* batch = nullptr;
  if (!ignores_outsiders_ && columns() > kFewColumns && leaving_.size() + entering_.size() > 1) {
    batch = &batch_;
    batch_.begin(gram_, static_cast<Index>(entering_.size()));
    for (const Index j : leaving_) acquire(j);  // combined after its removal
  }
  bool all = true;
  const auto finish = [&](bool sound) {
    if (!batch) return;
    if (!sound || drifted()) {
      refresh();
    } else {
      batch->apply_to(scores_);
    }
    for (const Index j : leaving_) release(j);
  };
  try {
    for (auto j = leaving_.rbegin(); j != leaving_.rend(); ++j)
      remove(position(*j), batch, nullptr);
    for (const Index j : entering_) all &= contains(j) || insert(j, kSpan, batch, nullptr);
  } catch (...) {  // a Gram column that can't be had now
    finish(false);
    throw;
  }
  finish(all);
  if (all) return;
  // Whether nearly dependent columns can be inserted depends on their order: once more from the
  // start, in the order given, and with the tolerance that refreshing has.
  while (size() > 0) remove(size() - 1);
  for (const Index j : target) insert(j, kKept);
}

template <class T>
void ScoredSquares<T>::refresh() {
  std::vector<Index>& members = members_before_;
  std::vector<const T*>& gram = gram_before_;
  members.swap(members_);
  gram.swap(gram_);
  members_.clear();
  gram_.clear();
  factor_.clear();
  ready_ = -1;
  for (std::size_t s = 0; s < members.size(); ++s) {
    // They passed a stricter test when they entered, with more members before them.
    if (!(new_row(members[s], gram[s], kKept, row_) > 0)) {
      release(members[s]);
      continue;
    }
    factor_.append(row_, zy()[members[s]]);
    members_.push_back(members[s]);
    gram_.push_back(gram[s]);
  }
  factor_.update();
  scores_.place_members(members_);
  scores_.compute(gram_, factor_, zy(), [&](Index i) { return whole(i); });
  drift_ = {};
  ignores_outsiders_ = false;
  note_anew();
}

template <class T>
void ScoredSquares<T>::hold(const std::vector<Index>& members) {
  // Those that stay are not given back and asked for again.
  held_.resize(columns(), nullptr);
  for (Index s = 0; s < size(); ++s) held_[members_[s]] = gram_[s];
  held_gram_.clear();
  entering_.clear();
  const auto forget = [&] {
    for (const Index j : members_) held_[j] = nullptr;
  };
  try {
    for (const Index j : members) {
      if (!held_[j]) {
        held_[j] = acquire(j);
        entering_.push_back(j);
      }
      held_gram_.push_back(held_[j]);
    }
  } catch (...) {
    for (const Index j : entering_) {
      release(j);
      held_[j] = nullptr;
    }
    forget();
    throw;
  }
  for (const Index j : members) held_[j] = nullptr;
  for (const Index j : members_) {
    if (held_[j]) release(j);
  }
  forget();
  gram_.swap(held_gram_);
  members_ = members;
}

template <class T>
void ScoredSquares<T>::restore(const State& state) {
  const Place& then = static_cast<const Place&>(state);
  hold(then.members);
  ready_ = -1;
  zy_ = then.zy;
  yy_ = then.yy;
  factor_ = then.factor;
  scores_ = then.scores;
  drift_ = then.drift;
  ignores_outsiders_ = false;
}

}  // namespace ellzero
