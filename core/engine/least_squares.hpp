// Least squares as an engine: a unit is a column, and the Gram columns of the members say all that
// is asked of the others. What insertions do is said in scores.hpp, what swaps do in swaps.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "data/chosen_quadratic.hpp"
#include "engine/look_ahead.hpp"
#include "engine/scored_squares.hpp"
#include "engine/swaps.hpp"

namespace ellzero {

// Some columns of a quadratic alone, and their ridges, where that takes less time.
struct ChosenProblem {
  std::unique_ptr<const ChosenQuadratic> quadratic;  // null where it does not
  std::vector<double> ridge;

  // `known`, if not null, is one that was made so of the first of these columns.
  ChosenProblem(const Quadratic& whole, const std::vector<double>& ridges,
                const std::vector<Index>& columns, const ChosenQuadratic* known,
                const Context& context)
      : ridge(ridges) {
    // They are read as dense ones: where that is no fraction of X it is no help.
    const PreparedColumns* z = whole.prepared_columns();
    const double copied = static_cast<double>(z->rows()) * static_cast<double>(columns.size());
    if (copied > 0.5 * z->entries()) return;
    if (ridges.size() > 1) {
      ridge.clear();
      for (const Index j : columns) ridge.push_back(ridges[j]);
    }
    if (known && !known->has_products()) known = nullptr;
    quadratic = std::make_unique<ChosenQuadratic>(whole, columns, known, context);
  }
};

class LeastSquares final : public ScoredSquares<double> {
 public:
  // Which Gram columns come along with one that has to be made: those that are likely to be
  // inserted next, or as many of the most promising as one pass can make, since sooner or later
  // most of them will be wanted; or none, where the next is anybody's guess.
  enum class Fetch { likely, bulk, alone };

  // `cache` is what this engine uses of the quadratic's Gram columns.
  LeastSquares(const Quadratic& quadratic, const GramUser& cache, std::vector<double> ridge,
               Fetch fetch = Fetch::likely)
      : ScoredSquares(quadratic, std::move(ridge)), cache_(cache), fetch_(fetch) {
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
  ~LeastSquares() override {
    if (at_once_) return;
    release_all();
    for (std::size_t j = 0; j < kept_.size(); ++j) {
      if (kept_[j]) cache_.release(static_cast<Index>(j));
    }
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
  Swap best_swap(const Limits& limits, const Context& context) const override {
    return ellzero::best_swap(factor_, scores_, gram_, movable(limits), largest_whole(), context);
  }
  // What swapping the member at a position for each column would gain.
  void swap_gains(Index position, double* gain) const {
    ellzero::swap_gains(factor_, scores_, gram_, position, gain);
  }
  // c and d as they would be without the member at a position.
  void columns_without(Index position, double* c, double* d) const;

  // Stands where another engine does, on fewer of these columns: number[i] is its column i here.
  void adopt(const LeastSquares& other, const std::vector<Index>& number);

  void prepare(const std::vector<Index>& columns) override { cache_.prepare(columns); }
  void expect_gains_above(double gain) override { expected_gain_ = gain; }
  bool has_some() const override { return quadratic_.prepared_columns() && zy_.empty(); }
  std::unique_ptr<Engine> on_some(const std::vector<Index>& units, std::unique_ptr<Engine> known,
                                  const Context& context) const override {
    if (!has_some()) return nullptr;
    ChosenProblem some(quadratic_, ridge_, units, chosen_by(known.get()), context);
    if (!some.quadratic) return nullptr;
    return std::make_unique<LeastSquares>(std::move(some.quadratic), std::move(some.ridge),
                                          context);
  }
  // The quadratic of its own that an engine on some columns has; null for none.
  static const ChosenQuadratic* chosen_by(const Engine* engine) {
    return engine ? static_cast<const ChosenQuadratic*>(
                        static_cast<const LeastSquares*>(engine)->own_.get())
                  : nullptr;
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
  // The first Gram columns that are wanted are kept in use, so many bytes of them, unless these are
  // but a few: asking the cache for one takes a lock, and at every flip that shows.
  static constexpr Index kSmallBytes = 524288, kLeastKept = 32;

  // With u = A^-1 G_Sj, which the pivot of j is held against, |u|^2 is at most u'Au, no more than
  // the column's own square, times the largest eigenvalue of A^-1, no more than its trace. Scores
  // know pivots to about epsilon times the drift. Where its column may have to be made it is tried,
  // so that the column is made in time.
  bool is_surely_independent(Index j) const override {
    if (!is_kept(j) || ignores_outsiders_) return false;
    return scores_.d()[j] > 10 * kSpan * std::max(1.0, 1e-4 * whole(j) * trace());
  }

  void cross(Index j, const double* gram, double* out) override {
    for (Index s = 0; s < size(); ++s) out[s] = gram ? gram[members_[s]] : gram_[s][j];
  }

  const double* acquire(Index j) override {
    if (kept_.empty()) return acquire_from_cache(j);
    return kept_[j] ? kept_[j] : acquire_and_keep(j);
  }
  void release(Index j) override {
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

  std::unique_ptr<const Quadratic> own_;  // if nobody else keeps it
  const GramUser cache_;
  Fetch fetch_;
  Index keep_;                       // how many more columns are to be kept in use
  std::vector<const double*> kept_;  // these, by column; empty if none are to be
  bool keeps_all_ = false;           // whether all will be, once they were wanted
  bool at_once_ = false;             // whether they are all of the quadratic's own matrix
  double expected_gain_ = 0;
  std::vector<double> b_;  // room to work in
};

inline void LeastSquares::adopt(const LeastSquares& other, const std::vector<Index>& number) {
  std::vector<Index> members;
  for (const Index j : other.members_) members.push_back(number[j]);
  hold(members);
  ready_ = -1;
  factor_ = other.factor_;
  drift_ = other.drift_;
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

inline void LeastSquares::columns_without(Index position, double* c, double* d) const {
  const FlipRow row = member_row(factor_, position);
  std::copy(this->c().begin(), this->c().end(), c);
  std::copy(this->d().begin(), this->d().end(), d);
  flip_columns(gram_.data(), row.a.data(), size(), row.q, +1, columns(), c, d);
  c[members_[position]] = beta()[position] / inverse_diagonal()[position];
  d[members_[position]] = 1 / inverse_diagonal()[position];
}

}  // namespace ellzero
