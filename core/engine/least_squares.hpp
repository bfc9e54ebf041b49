// Least squares as an engine: a unit is a column, and with G = Z'Z, b = Z'y, a ridge tau >= 0 (one
// number, or one per column) and A = G_SS + diag(tau_S), the energy of S is
//
//   E(S) = min over beta of 1/2 |y - Z_S beta|^2 + 1/2 sum tau_i beta_i^2
//        = 1/2 (y'y - b_S'A^-1 b_S)
//
// Removing r raises it by beta_r^2 / (2 [A^-1]_rr); what insertions and swaps do is said in
// scores.hpp and swaps.hpp. A flip costs O(pk) once the Gram columns of S are known.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "data/chosen_quadratic.hpp"
#include "engine/engine.hpp"
#include "engine/factor.hpp"
#include "engine/flip_batch.hpp"
#include "engine/look_ahead.hpp"
#include "engine/refine.hpp"
#include "engine/scores.hpp"
#include "engine/swaps.hpp"

namespace ellzero {

class LeastSquares final : public Engine {
 public:
  static constexpr double kSpan = Scores::kSpan;
  // A column that is in already is kept down to this.
  static constexpr double kKept = 1e-3 * kSpan;

  // Which Gram columns come along with one that has to be made: those that are likely to be
  // inserted next, or as many of the most promising as one pass can make, since sooner or later
  // most of them will be wanted; or none, where the next is anybody's guess.
  enum class Fetch { likely, bulk, alone };

  // `cache` is what this engine uses of the quadratic's Gram columns.
  LeastSquares(const Quadratic& quadratic, const GramUser& cache, std::vector<double> ridge,
               Fetch fetch = Fetch::likely)
      : quadratic_(quadratic),
        cache_(cache),
        ridge_(std::move(ridge)),
        fetch_(fetch),
        yy_(quadratic.yy),
        scores_(quadratic.zy, wholes()) {
    keep_ = std::min(kSmallBytes / (8 * std::max<Index>(columns(), 1)), cache.bound() / 4);
    if (keep_ >= kLeastKept) kept_.assign(columns(), nullptr);
    keeps_all_ = !kept_.empty() && keep_ >= columns();
  }
  // The same on a quadratic of its own.
  LeastSquares(std::unique_ptr<const Quadratic> own, std::vector<double> ridge,
               const Context& context)
      : LeastSquares(*own, GramUser(own->cache(), context), std::move(ridge)) {
    own_ = std::move(own);
  }
  LeastSquares(const LeastSquares&) = delete;
  LeastSquares& operator=(const LeastSquares&) = delete;
  ~LeastSquares() override {
    if (at_once_) return;
    for (const Index j : members_) release(j);
    for (std::size_t j = 0; j < kept_.size(); ++j) {
      if (kept_[j]) cache_.release(static_cast<Index>(j));
    }
  }

  Index columns() const { return scores_.columns(); }
  Index units() const override { return columns(); }
  Index size() const override { return static_cast<Index>(members_.size()); }
  const std::vector<Index>& members() const override { return members_; }
  bool contains(Index j) const override { return scores_.place(j) == Scores::Place::in; }
  double energy() const override { return std::max(0.0, 0.5 * (yy_ - factor_.explained())); }
  double loss() const override { return energy() - ridge_energy(beta()); }
  double rounding() const override { return Scores::kRounding * 0.5 * yy_; }

  // In the order of members().
  const std::vector<double>& beta() const { return factor_.beta(); }
  const std::vector<double>& inverse_diagonal() const { return factor_.inverse_diagonal(); }
  const std::vector<double>& c() const { return scores_.c(); }
  const std::vector<double>& d() const { return scores_.d(); }
  double ridge_of(Index i) const { return ridge_.size() == 1 ? ridge_[0] : ridge_[i]; }
  // log det A
  double log_determinant() const { return factor_.log_determinant(); }
  // The part of the energy of coefficients `beta` that is 1/2 sum tau_i beta_i^2.
  double ridge_energy(const std::vector<double>& beta) const {
    double sum = 0;
    if (ridge_.size() == 1 && ridge_[0] == 0) return sum;
    for (Index s = 0; s < size(); ++s) sum += 0.5 * ridge_of(members_[s]) * beta[s] * beta[s];
    return sum;
  }
  // M'v: of covariance A^-1 if v is of covariance I.
  std::vector<double> transposed_times(const std::vector<double>& v) const {
    return factor_.transposed_times(v);
  }
  // The Gram column of the member at a position.
  const double* gram_of(Index position) const { return gram_[position]; }
  // Whether all Gram columns are kept in use once they were wanted; if so, that of any column.
  bool keeps_all_gram() const { return keeps_all_; }
  const double* kept_gram(Index j) { return acquire(j); }
  // G(members, members), row by row.
  void member_gram(double* out) const {
    for (Index r = 0; r < size(); ++r) {
      for (Index s = 0; s < size(); ++s) out[r * size() + s] = gram_[r][members_[s]];
    }
  }

  void insertion_gains(double* gain) const override { scores_.insertion_gains(gain); }
  Insertion best_insertion() const override { return scores_.best_insertion(energy(), yy_); }
  std::vector<Insertion> best_insertions(Index count) const override {
    return scores_.best_insertions(count);
  }
  double removal_cost(Index position) const override {
    return 0.5 * beta()[position] * beta()[position] / inverse_diagonal()[position];
  }
  Removal cheapest_removal(const Limits& limits) const override {
    constexpr Index kTogether = 64;
    double cost[kTogether];
    Removal best;
    for (Index begin = 0; begin < size(); begin += kTogether) {
      const Index count = std::min(kTogether, size() - begin);
      removal_costs(beta().data() + begin, inverse_diagonal().data() + begin, count, cost);
      for (Index r = 0; r < count; ++r) {
        if (cost[r] < best.cost && !limits.is_forced(members_[begin + r])) {
          best = {begin + r, cost[r]};
        }
      }
    }
    return best;
  }
  Swap best_swap(const Limits& limits, const Context& context) const override {
    return ellzero::best_swap(factor_, scores_, gram_, movable(limits), largest_whole(), context);
  }
  // What swapping the member at a position for each column would gain.
  void swap_gains(Index position, double* gain) const {
    ellzero::swap_gains(factor_, scores_, gram_, position, gain);
  }
  // c and d as they would be without the member at a position.
  void columns_without(Index position, double* c, double* d) const;

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
  // Stands where another engine does, on fewer of these columns: number[i] is its column i here.
  void adopt(const LeastSquares& other, const std::vector<Index>& number);

  void exclude(Index j) override {
    if (contains(j)) remove(position(j));
    scores_.exclude(j);
  }
  void allow(Index j) override;

  std::unique_ptr<State> save() const override { return std::make_unique<Place>(*this); }
  void restore(const State& state) override;

  Solution solve(const Context& context) const override;
  bool solve_at_once(Solution& solution) const override;

  void ignore_outsiders() override { ignores_outsiders_ = true; }
  void prepare(const std::vector<Index>& columns) override { cache_.prepare(columns); }
  void expect_gains_above(double gain) override { expected_gain_ = gain; }
  bool has_some() const override { return quadratic_.prepared_columns() && zy_.empty(); }
  std::unique_ptr<Engine> on_some(const std::vector<Index>& units, std::unique_ptr<Engine> known,
                                  const Context& context) const override {
    if (!has_some()) return nullptr;
    const PreparedColumns* z = quadratic_.prepared_columns();
    // They are read as dense ones: where that is no fraction of X it is no help.
    const double copied = static_cast<double>(z->rows()) * static_cast<double>(units.size());
    if (copied > 0.5 * z->entries()) return nullptr;
    std::vector<double> ridges = ridge_;
    if (ridge_.size() > 1) {
      ridges.clear();
      for (const Index j : units) ridges.push_back(ridge_[j]);
    }
    const ChosenQuadratic* before = nullptr;
    if (known) {
      const Quadratic* own = static_cast<const LeastSquares&>(*known).own_.get();
      before = static_cast<const ChosenQuadratic*>(own);
      if (!before->has_products()) {
        before = nullptr;
        known.reset();  // it takes memory
      }
    }
    auto chosen = std::make_unique<ChosenQuadratic>(quadratic_, units, before, context);
    return std::make_unique<LeastSquares>(std::move(chosen), std::move(ridges), context);
  }

  // Another response on the same columns: its products with them, and its square. Only solve() goes
  // on with the old one.
  void set_response(std::vector<double> zy, double yy) {
    ready_ = -1;
    zy_ = std::move(zy);
    yy_ = yy;
    b_.resize(members_.size());
    for (Index s = 0; s < size(); ++s) b_[s] = zy_[members_[s]];
    factor_.set_products(b_);
    scores_.set_products(gram_, factor_, zy_);
  }
  // G_{:,S} v, for v in the order of the members.
  std::vector<double> gram_times(const std::vector<double>& v) const {
    std::vector<double> out(columns());
    combine(gram_.data(), v.data(), size(), 0, columns(), out.data());
    return out;
  }
  // The swaps that lower the energy most, the best first, and such that raise it by no more than a
  // share of what removing their member would.
  std::vector<Swap> best_swaps(const Limits& limits, Index count, double share,
                               const Context& context) const {
    return ellzero::best_swaps(factor_, scores_, gram_, movable(limits), largest_whole(), count,
                               share, context);
  }

  // Another ridge, the same for all columns; everything is computed anew.
  void set_ridge(double ridge) {
    ridge_.assign(1, ridge);
    refresh();
  }
  // The same with a ridge for each.
  void set_ridges(std::vector<double> ridges) {
    ridge_ = std::move(ridges);
    refresh();
  }
  // Another ridge for column j, which is not a member; there is one per column.
  void set_ridge_of(Index j, double ridge) {
    ready_ = -1;
    scores_.add_ridge(j, ridge - ridge_[j]);
    ridge_[j] = ridge;
  }
  // The same for the members, in their order; everything is computed anew.
  void set_member_ridges(const std::vector<double>& ridges) {
    for (Index s = 0; s < size(); ++s) ridge_[members_[s]] = ridges[s];
    refresh();
  }

 private:
  // Flips add up rounding of about epsilon / pivot each: refresh before it could matter.
  static constexpr double kDriftBound = 2e4;
  static constexpr int kFlipBound = 500;
  // The first Gram columns that are wanted are kept in use, so many bytes of them, unless these are
  // but a few: asking the cache for one takes a lock, and at every flip that shows.
  static constexpr Index kSmallBytes = 524288, kLeastKept = 32;
  // Among so few columns every flip is made by itself: their Gram columns stay at hand anyway, and
  // each combines its own members only.
  static constexpr Index kFewColumns = 256;

  struct Place : State {
    explicit Place(const LeastSquares& engine)
        : members(engine.members_),
          zy(engine.zy_),
          yy(engine.yy_),
          factor(engine.factor_),
          scores(engine.scores_),
          drift(engine.drift_),
          flips(engine.flips_) {}
    std::vector<Index> members;
    std::vector<double> zy;
    double yy;
    Factor factor;
    Scores scores;
    double drift;
    int flips;
  };

  const std::vector<double>& zy() const { return zy_.empty() ? quadratic_.zy : zy_; }

  // Positions of the members that may leave.
  std::vector<Index> movable(const Limits& limits) const {
    std::vector<Index> out;
    for (Index r = 0; r < size(); ++r) {
      if (!limits.is_forced(members_[r])) out.push_back(r);
    }
    return out;
  }
  double largest_whole() const { return 1 + *std::max_element(ridge_.begin(), ridge_.end()); }

  // d_i of the empty support. A dead column has none, ridge or not: it can't be inserted.
  double whole(Index i) const { return quadratic_.inverse_scale[i] > 0 ? 1 + ridge_of(i) : 0; }
  std::vector<double> wholes() const {
    std::vector<double> out(quadratic_.columns());
    for (Index i = 0; i < quadratic_.columns(); ++i) out[i] = whole(i);
    return out;
  }

  // The row that column j, whose Gram column is `gram`, would append; returns its pivot.
  double new_row(Index j, const double* gram, double least_pivot, FlipRow& out) {
    cross_.resize(members_.size());
    for (Index s = 0; s < size(); ++s) cross_[s] = gram[members_[s]];
    return factor_.new_row(cross_.data(), whole(j), zy()[j], least_pivot, out);
  }

  // Whether insert(j) need not be tried out: the scores say that it would succeed. With u = A^-1
  // G_Sj, which its pivot is held against, |u|^2 is at most u'Au, no more than the column's own
  // square, times the largest eigenvalue of A^-1, no more than its trace. Scores know pivots to
  // about epsilon times the drift. Where its column may have to be made it is tried, so that the
  // column is made in time.
  bool is_surely_independent(Index j) const {
    if (!is_kept(j) || ignores_outsiders_) return false;
    double trace = 0;
    for (const double inverse : inverse_diagonal()) trace += inverse;
    return scores_.d()[j] > 10 * kSpan * std::max(1.0, 1e-4 * whole(j) * trace);
  }

  // Opens a column with what the members say of it.
  void measure(Index j);

  // With a batch, what all other columns see of a flip is put off.
  bool insert(Index j, double least_pivot, FlipBatch* batch, const Beside* beside);
  void remove(Index position, FlipBatch* batch, const Beside* beside);
  bool drifted() const { return flips_ >= kFlipBound || drift_ > kDriftBound; }
  void account_for(double pivot, const FlipBatch* batch) {
    drift_ += 1 / pivot;
    ++flips_;
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
  // Makes other columns the members, with nothing computed for them; unchanged if one can't be had.
  void hold(const std::vector<Index>& members);

  const double* acquire(Index j) {
    if (kept_.empty()) return acquire_from_cache(j);
    return kept_[j] ? kept_[j] : acquire_and_keep(j);
  }
  void release(Index j) {
    if (!is_kept(j)) cache_.release(j);
  }
  bool is_kept(Index j) const { return !kept_.empty() && kept_[j]; }
  const double* acquire_and_keep(Index j) {
    const Quadratic::Matrix all = quadratic_.gram_matrix(cache_.context());
    if (all.values) {
      at_once_ = true;
      for (Index i = 0; i < columns(); ++i) kept_[i] = all.values + i * all.stride;
      return kept_[j];
    }
    const double* column = acquire_from_cache(j);
    if (keep_ > 0) {
      kept_[j] = column;
      --keep_;
    }
    return column;
  }
  const double* acquire_from_cache(Index j) {
    const bool alone = fetch_ == Fetch::alone || quadratic_.at_hand(j);
    if (alone || cache_.has(j)) return cache_.acquire(j);
    const LookAhead ahead(quadratic_, cache_, factor_, scores_, gram_);
    return cache_.acquire(
        j, fetch_ == Fetch::bulk
               ? ahead.most_promising_after(j)
               : ahead.likely_after(j, expected_gain_, [&](Index i) { return ridge_of(i); }));
  }

  double largest_inflation() const {
    const std::vector<double>& inflation = inverse_diagonal();
    return inflation.empty() ? 0 : *std::max_element(inflation.begin(), inflation.end());
  }
  // Whether normal equations leave all but two or three digits: no member is nearly explained by
  // the others, and y not nearly by them all.
  bool well_conditioned() const {
    constexpr double kInflation = 100, kUnexplained = 1e-3;
    return largest_inflation() < kInflation && energy() > kUnexplained * 0.5 * yy_;
  }
  // Whether they leave six digits or more of the error of predictions. With an error E of the Gram
  // matrix, of some ten epsilon, that of the fit is Z A^-1 E beta: at most about |E| |beta| times
  // the root of the largest inflation; that of the energy is epsilon y'y.
  bool predicts_well() const {
    constexpr double kDigits = 1e-8, kEpsilon = std::numeric_limits<double>::epsilon();
    const double square = dot(beta().data(), beta().data(), size());
    const double error = kEpsilon * std::sqrt(largest_inflation() * square);
    return error < kDigits * std::sqrt(2 * energy()) && kEpsilon * yy_ < kDigits * 2 * energy();
  }

  std::unique_ptr<const Quadratic> own_;  // if nobody else keeps it
  const Quadratic& quadratic_;
  const GramUser cache_;
  std::vector<double> ridge_;
  Fetch fetch_;
  Index keep_;                       // how many more columns are to be kept in use
  std::vector<const double*> kept_;  // these, by column; empty if none are to be
  bool keeps_all_ = false;           // whether all will be, once they were wanted
  bool at_once_ = false;             // whether they are all of the quadratic's own matrix
  std::vector<double> zy_;           // of another response than the quadratic's; else empty
  double yy_;
  std::vector<Index> members_;
  std::vector<const double*> gram_;  // Gram columns of the members
  Factor factor_;
  Scores scores_;
  bool ignores_outsiders_ = false;  // then the scores are out of date
  double expected_gain_ = 0;
  double drift_ = 0;
  int flips_ = 0;
  // Room to work in, so that a flip need not ask for memory.
  FlipRow row_;
  Index ready_ = -1;  // the column whose row that is, as it would be inserted here; -1 if of none
  double ready_pivot_ = 0;
  FlipBatch batch_;
  std::vector<char> marked_;
  std::vector<const double*> held_, held_gram_;
  std::vector<Index> leaving_, entering_;
  std::vector<double> cross_, b_;
};

inline bool LeastSquares::insert(Index j, double least_pivot, FlipBatch* batch,
                                 const Beside* beside) {
  if (scores_.place(j) != Scores::Place::out) return false;
  const double* gram = acquire(j);
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
    scores_.apply(gram_, row_, -1, beside);
  }
  factor_.add(row_);
  account_for(pivot, batch);
  return true;
}

inline void LeastSquares::remove(Index position, FlipBatch* batch, const Beside* beside) {
  const Index j = members_[position];
  ready_ = -1;
  factor_.remove(position, row_);
  const double own = row_.a[position], c = row_.q / own, d = 1 / (own * own);
  if (batch) {
    batch->remove(position, row_, j, c, d);
  } else {
    if (!ignores_outsiders_) scores_.apply(gram_, row_, +1, beside);
    scores_.open(j, c, d);
  }
  gram_.erase(gram_.begin() + position);
  members_.erase(members_.begin() + position);
  release(j);
  account_for(d, batch);
}

inline void LeastSquares::move_to(const std::vector<Index>& target) {
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
  FlipBatch* batch = nullptr;
  if (!ignores_outsiders_ && columns() > kFewColumns && leaving_.size() + entering_.size() > 1) {
    batch = &batch_;
    batch_.begin(gram_, static_cast<Index>(entering_.size()));
    for (const Index j : leaving_) {
      if (!is_kept(j)) cache_.acquire(j);  // combined after its removal
    }
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

inline void LeastSquares::refresh() {
  const std::vector<Index> members = std::move(members_);
  const std::vector<const double*> gram = std::move(gram_);
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
  drift_ = 0;
  flips_ = 0;
  ignores_outsiders_ = false;
}

inline void LeastSquares::allow(Index j) {
  if (scores_.place(j) == Scores::Place::excluded) measure(j);
}

inline void LeastSquares::measure(Index j) {
  // c_j = b_j - G_jS beta and d_j by the products of the members with j
  std::vector<double> cross(size());
  double c = zy()[j];
  for (Index s = 0; s < size(); ++s) {
    cross[s] = gram_[s][j];
    c -= cross[s] * beta()[s];
  }
  const std::vector<double> w = factor_.times(cross.data());
  scores_.open(j, c, whole(j) - dot(w.data(), w.data(), size()));
}

inline void LeastSquares::adopt(const LeastSquares& other, const std::vector<Index>& number) {
  std::vector<Index> members;
  for (const Index j : other.members_) members.push_back(number[j]);
  hold(members);
  ready_ = -1;
  factor_ = other.factor_;
  drift_ = other.drift_;
  flips_ = other.flips_;
  ignores_outsiders_ = other.ignores_outsiders_;
  std::vector<char> known(columns(), 0);
  for (Index i = 0; i < other.columns(); ++i) {
    known[number[i]] = 1;
    scores_.open(number[i], other.c()[i], other.d()[i]);
    if (other.scores_.place(i) == Scores::Place::excluded) scores_.exclude(number[i]);
  }
  for (const Index j : members_) scores_.enter(j);
  for (Index j = 0; j < columns(); ++j) {
    if (!known[j]) measure(j);
  }
}

inline void LeastSquares::hold(const std::vector<Index>& members) {
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

inline void LeastSquares::restore(const State& state) {
  const Place& then = static_cast<const Place&>(state);
  hold(then.members);
  ready_ = -1;
  zy_ = then.zy;
  yy_ = then.yy;
  factor_ = then.factor;
  scores_ = then.scores;
  drift_ = then.drift;
  flips_ = then.flips;
  ignores_outsiders_ = false;
}

inline void LeastSquares::columns_without(Index position, double* c, double* d) const {
  const FlipRow row = member_row(factor_, position);
  std::copy(this->c().begin(), this->c().end(), c);
  std::copy(this->d().begin(), this->d().end(), d);
  flip_columns(gram_.data(), row.a.data(), size(), row.q, +1, columns(), c, d);
  c[members_[position]] = beta()[position] / inverse_diagonal()[position];
  d[members_[position]] = 1 / inverse_diagonal()[position];
}

// For comparisons between models: it need not have all the digits of the data.
inline bool LeastSquares::solve_at_once(Solution& solution) const {
  if (!predicts_well()) return false;
  solution.support = members_;
  solution.beta = beta();
  solution.removal_cost.clear();
  solution.ridge_energy = ridge_energy(beta());
  solution.set_energy(energy());
  return true;
}

inline Solution LeastSquares::solve(const Context& context) const {
  Solution solution{members_, beta(), {}, 0, 0, 0};
  double rss = std::numeric_limits<double>::quiet_NaN();
  if (!well_conditioned()) {
    std::vector<double> ridges;
    for (const Index j : members_) ridges.push_back(ridge_of(j));
    rss = refine(quadratic_, factor_, members_, ridges, solution.beta, context);
  }
  solution.ridge_energy = ridge_energy(solution.beta);
  solution.rss = rss;
  if (std::isnan(rss)) solution.set_energy(energy());
  for (Index s = 0; s < size(); ++s) solution.removal_cost.push_back(removal_cost(s));
  sort_by_column(solution);
  return solution;
}

}  // namespace ellzero
