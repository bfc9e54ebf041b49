// Least squares over many columns by Gram columns in float32, which tell what few columns may be
// the answer to a question; these are measured in float64. Members are known in float64 throughout,
// so that energies, coefficients and costs of removal are as exact as elsewhere.
//
// If an entry of the Gram columns is wrong by e at most, then with u_i = A^-1 G_Si
//
//   |c~_i - c_i| <= e |beta|_1
//   |d~_i - d_i| <= 2 e |u_i|_1 + e^2 1'|A^-1|1 <= 2 e sqrt(k tr) + e^2 k tr
//
// where tr is the trace of A^-1, since |u_i|^2 <= tr u_i'A u_i <= tr. To this comes what rounding
// adds at every flip, whose t is summed in float32. Where that leaves too many columns to be
// measured this is no help, and says so.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "data/float_grams.hpp"
#include "engine/known_columns.hpp"
#include "engine/scored_squares.hpp"
#include "engine/swaps.hpp"

namespace ellzero {

class Sifting final : public ScoredSquares<float> {
 public:
  // `grams` are those of the quadratic, which has rows.
  Sifting(const Quadratic& quadratic, const FloatGrams& grams, const Context& context,
          std::vector<double> ridge)
      : ScoredSquares(quadratic, std::move(ridge)),
        grams_(grams),
        error_(grams.error()),
        last_c_(std::sqrt(quadratic.yy)),
        user_(grams.cache(), context),
        known_(quadratic) {}
  ~Sifting() override { release_all(); }

  // The few insertions that lower the energy most, the best first. False, here and below, if it
  // can't be told.
  bool find_insertions(Index count, std::vector<Insertion>& best) {
    best.clear();
    if (count == 0) return true;
    const Slack slack = this->slack();
    // What the best of those that can be trusted gain, at least.
    double least = std::numeric_limits<double>::infinity();
    Measured last{-1, -1, 0};
    Index seeming = 0;
    for (const Index i : seek(count, trusted(slack))) {
      last = measure(i);
      least = std::min(least, last.score);
      ++seeming;
    }
    if (seeming < count || !(least > 0)) least = 0;
    places_.resize(kMost + 1);
    const Index found =
        possible_insertions(c().data(), d().data(), slack.c, slack.d, least * (1 - 2 * kTie),
                            columns(), kMost, places_.data());
    if (!may_measure(found)) return false;
    for (Index i = 0; i < found; ++i) {
      if (places_[i] != last.unit) last = measure(places_[i]);
      const double gain = 0.5 * last.score;
      if (!(gain > 0)) continue;
      const auto less = [&](const Insertion& other) {
        return gain > other.gain + kTie * other.gain;
      };
      best.insert(std::find_if(best.begin(), best.end(), less), {places_[i], gain});
      if (static_cast<Index>(best.size()) > count) best.pop_back();
    }
    if (!best.empty()) {
      last_d_ = std::max(d()[best[0].unit], kSpan);
      last_c_ = std::sqrt(2 * best[0].gain * last_d_);
    }
    return true;
  }

  // The one that lowers it most. It can't be told either where that completes an exact fit: which
  // column does is a matter of rounding.
  bool find_insertion(Insertion& best) {
    best = Insertion();
    if (!find_insertions(1, found_)) return false;
    if (found_.empty()) return true;
    best = found_[0];
    return energy() - best.gain > kNothing * 0.5 * yy_;
  }

  // By how much each insertion lowers the energy, to a tenth of that.
  bool find_gains(double* gain) {
    const Slack slack = this->slack();
    insertion_scores(c().data(), d().data(), trusted(slack), columns(), gain);
    for (Index i = 0; i < columns(); ++i) gain[i] *= 0.5;
    if (!find_doubtful(trusted(slack))) return false;
    for (const Index i : places_) gain[i] = 0.5 * measure(i).score;
    return true;
  }

  // d of the columns for which it is no more than `most`, in any order.
  bool find_small_d(double most, std::vector<double>& small) {
    if (!find_doubtful(most + slack().d)) return false;
    small.clear();
    for (const Index i : places_) {
      const double pivot = measure(i).pivot;
      if (pivot <= most) small.push_back(pivot);
    }
    return true;
  }

  bool find_swap(const Limits& limits, const Context& context, Swap& best);

  // Scores say what may be the answer, not what it is.
  void insertion_gains(double* gain) const override { scores_.insertion_gains(gain); }
  Insertion best_insertion() const override { return scores_.best_insertion(energy(), yy_); }
  Swap best_swap(const Limits& limits, const Context& context) const override {
    return ellzero::best_swap(factor_, scores_, gram_, movable(limits), largest_whole(), context);
  }

  bool can_insert(Index j) override {
    if (scores_.place(j) != Scores::Place::out) return false;
    ready_ = -1;
    ready_pivot_ = new_row(j, nullptr, kSpan, row_);
    if (!(ready_pivot_ > 0)) {
      scores_.rule_out(j, kSpan);
      return false;
    }
    ready_ = j;
    return true;
  }

 private:
  // So many columns are measured for an answer at most, and so many for all answers.
  static constexpr Index kMost = 64, kAtFirst = 512, kOnAverage = 16;
  static constexpr Index kMostKnown = 2000;
  // A d that is so many times what it may be wrong by can be trusted.
  static constexpr double kTrusted = 16;
  // Of y'y: below that an energy is rounding.
  static constexpr double kNothing = 1e-11;
  static constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

  struct Slack {
    double c, d;
  };
  // What the Gram columns' errors come to where the engine stands.
  Slack of_columns() const {
    double sum = 0;
    for (const double b : beta()) sum += std::fabs(b);
    const double spread = static_cast<double>(size()) * trace();
    return {error_ * sum, 2 * error_ * std::sqrt(spread) + error_ * error_ * spread};
  }
  Slack slack() const {
    const Slack own = of_columns();
    return {own.c + drift_.c + kFewEpsilon * std::sqrt(yy_), own.d + drift_.d + kFewEpsilon};
  }
  static constexpr double kFewEpsilon = 100 * kEpsilon;
  double trusted(const Slack& slack) const { return std::max(kSpan, kTrusted * slack.d); }

  void note_flip(const FlipRow& row) override {
    double length = 0;
    for (const double a : row.a) length += std::fabs(a);
    const double of_t = float_sum_error(static_cast<Index>(row.a.size()), length);
    drift_.c += of_t * std::fabs(row.q);
    drift_.d += (2 + of_t) * of_t;  // no t is more than one
  }
  void note_anew() override {
    double length = 0;
    for (const double b : beta()) length += std::fabs(b);
    drift_.c = float_sum_error(size(), length);
    drift_.d = 2 * float_sum_error(size(), std::sqrt(static_cast<double>(size()) * trace()));
  }
  bool drifted() const override {
    if (ScoredSquares::drifted()) return true;
    // Beyond that more columns are measured than it would take to begin anew.
    constexpr double kShare = 0.03;
    const Slack own = of_columns();
    return drift_.d > std::max(own.d, kShare * last_d_) ||
           drift_.c > std::max(own.c, kShare * last_c_);
  }

  // A pass of one's own makes some more of the most promising columns in about the same time.
  const float* acquire(Index j) override {
    if (user_.has(j)) return user_.acquire(j);
    if (grams_.are_put_off()) grams_.wait_for(j);
    constexpr Index kAlong = 3;
    std::vector<Index> along;
    for (const Index next : seek(kAlong + 1, trusted(slack()))) {
      const bool wanted = next != j && !user_.has(next);
      if (wanted && static_cast<Index>(along.size()) < kAlong) along.push_back(next);
    }
    return user_.acquire(j, along);
  }
  void release(Index j) override { user_.release(j); }
  void cross(Index j, const float*, double* out) override {
    if (known_.count() > kMostKnown) known_.forget();
    for (const Index member : members_) known_.learn(member);
    known_.learn(j);
    known_.products(j, members_, out);
  }

  struct Measured {
    Index unit;
    double score;  // twice what an insertion gains; -1 if it depends on the members
    double pivot;  // d, 0 then
  };
  Measured measure(Index j) {
    const double pivot = new_row(j, nullptr, kSpan, measured_);
    return pivot > 0 ? Measured{j, measured_.q * measured_.q, pivot} : Measured{j, -1, 0};
  }
  // The few that seem to lower the energy most.
  const std::vector<Index>& seek(Index count, double floor) {
    const double unit = yy_ > 0 ? 1 / std::sqrt(yy_) : 0;
    seek_insertions(c().data(), d().data(), unit, floor, columns(), count, places_);
    return places_;
  }

  // Whether so many more may be measured.
  bool may_measure(Index count) {
    ++answers_;
    measured_in_all_ += count;
    return count <= kMost && measured_in_all_ <= kAtFirst + kOnAverage * answers_;
  }

  // Places of the columns of which d seems to be no more than `most`; false if they are too many.
  bool find_doubtful(double most) {
    constexpr double kClosed = -std::numeric_limits<double>::infinity();
    places_.clear();
    for (Index i = 0; i < columns(); ++i) {
      const double own = d()[i];
      if (own <= most && own > kClosed) places_.push_back(i);
      if (static_cast<Index>(places_.size()) > kMost) return false;
    }
    return may_measure(static_cast<Index>(places_.size()));
  }

  // A column as members see it, for swaps.
  struct Candidate {
    Index column;
    double c, d;
    std::vector<double> u;  // A^-1 G_Si
  };
  Candidate look_at(Index j) {
    std::vector<double> products(size());
    cross(j, nullptr, products.data());
    const std::vector<double> w = factor_.times(products.data());
    double c = zy()[j];
    for (Index s = 0; s < size(); ++s) c -= products[s] * beta()[s];
    return {j, c, whole(j) - dot(w.data(), w.data(), size()), factor_.transposed_times(w)};
  }
  // Twice what swapping the member at a position for it gains.
  double swap_score(const Candidate& candidate, Index position) const {
    const double inverse = inverse_diagonal()[position], root = std::sqrt(inverse);
    const double rho = beta()[position] / root, t = candidate.u[position] / root;
    const double left = candidate.d + t * t, moved = candidate.c + t * rho;
    if (!(left > kSpan)) return -std::numeric_limits<double>::infinity();
    return moved * moved / left - rho * rho;
  }

  const FloatGrams& grams_;
  const double error_;
  // Of the best insertion that was asked for last.
  double last_c_, last_d_ = 1;
  const GramUserOf<float> user_;
  KnownColumns known_;
  Index answers_ = 0, measured_in_all_ = 0;
  FlipRow measured_;
  std::vector<Index> places_;
  std::vector<Insertion> found_;
};

inline bool Sifting::find_swap(const Limits& limits, const Context& context, Swap& best) {
  best = Swap();
  const std::vector<Index> movable = this->movable(limits);
  if (movable.empty()) return true;
  const Slack slack = this->slack();
  std::vector<SwapSlack> slacks(size(), {slack.c, slack.d, 0});
  const std::vector<double> inverse = factor_.inverse();
  double widest = 0;
  for (Index r = 0; r < size(); ++r) {
    double length = 0;
    for (Index s = 0; s < size(); ++s) length += std::fabs(inverse[r * size() + s]);
    slacks[r].t = error_ * length / std::sqrt(inverse[r * size() + r]) + kFewEpsilon;
    widest = std::max(widest, slacks[r].t);
  }
  double bar = 0;
  const auto consider = [&](double score, Index position, Index column) {
    if (!(score > bar)) return;
    const bool first = std::tie(position, column) < std::tie(best.position, best.unit);
    if (!first && !(score > best.gain + kTie * best.gain)) return;
    best = {position, column, score};
    bar = score - kTie * score;
  };
  // Those of which nothing can be told are looked at with all members.
  if (!find_doubtful(kSpan + slack.d + widest * widest)) return false;
  for (const Index i : places_) {
    const Candidate candidate = look_at(i);
    for (const Index r : movable) consider(swap_score(candidate, r), r, i);
  }
  std::vector<Candidate> candidates;
  search_swaps(factor_, scores_, gram_, movable, largest_whole(), 1, &slacks, bar, context,
               [&](double, Index position, Index column) {
                 if (static_cast<Index>(candidates.size()) > kMost) return;
                 const auto is_it = [&](const Candidate& c) { return c.column == column; };
                 auto known = std::find_if(candidates.begin(), candidates.end(), is_it);
                 if (known == candidates.end()) {
                   candidates.push_back(look_at(column));
                   known = candidates.end() - 1;
                 }
                 consider(swap_score(*known, position), position, column);
               });
  best.gain *= 0.5;
  return may_measure(static_cast<Index>(candidates.size()));
}

}  // namespace ellzero
