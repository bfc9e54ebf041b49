// The engine: a support S, and what inserting, removing or swapping any column would do.
//
// With G = Z'Z, b = Z'y, a ridge tau >= 0 (one number, or one a column) and A = G_SS + diag(tau_S),
// the energy of S is
//
//   E(S) = min over beta of 1/2 |y - Z_S beta|^2 + 1/2 sum tau_i beta_i^2 = 1/2 (y'y - b_S'A^-1
//   b_S)
//
// Kept for every column i:  c_i = z_i'(y - Z_S beta)  and  d_i = G_ii + tau_i - G_iS A^-1 G_Si.
// Then inserting i lowers E by c_i^2 / (2 d_i), and removing r raises it by beta_r^2 / (2
// [A^-1]_rr).
//
// Kept of A: a lower triangular M with A^-1 = M'M, and z = M b_S. A flip is one row of M. Inserting
// j appends the row a = [-A^-1 G_Sj; 1] / sqrt(d_j); removing r rotates the rows until column r is
// zero but in the last, which is then a = A^-1 e_r / sqrt([A^-1]_rr), and drops that. Rotations are
// orthogonal: nothing is subtracted, so a nearly collinear column leaves no trace when it goes.
// With t = G_{:,S} a and q = a'b_S, an insertion takes t q from c, t^2 from d and q^2/2 from E; a
// removal gives them back. Both cost O(pk).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "data/gram_cache.hpp"

namespace ellzero {

class Support {
 public:
  // A column with d_i below this (of G_ii = 1) counts as lying in the span of S. A Gram matrix
  // knows d_i to about 1e-16; below this too few of its digits would be right to go on from.
  static constexpr double kSpan = 1e-9;
  // A column that is in already is kept down to this.
  static constexpr double kKept = 1e-3 * kSpan;
  // Scores closer than this, relatively, are equal but for rounding: the first column wins.
  static constexpr double kTie = 1e-12;
  // Pivots closer than this, relatively, are equal but for rounding.
  static constexpr double kSamePivot = 1e-6;
  // Energies are known to about this share of y'y/2.
  static constexpr double kRounding = 1e-14;

  Support(const Design& design, GramCache& cache, std::vector<double> ridge)
      : design_(design), cache_(cache), ridge_(std::move(ridge)), c_(design.zy) {
    d_.resize(c_.size());
    for (Index i = 0; i < columns(); ++i) d_[i] = whole(i);
  }
  Support(const Support&) = delete;
  Support& operator=(const Support&) = delete;
  ~Support() {
    for (const Index j : members_) cache_.release(j);
  }

  Index columns() const { return static_cast<Index>(c_.size()); }
  Index size() const { return static_cast<Index>(members_.size()); }
  // In the order in which they were inserted; beta, inverse_diagonal and swaps follow it.
  const std::vector<Index>& members() const { return members_; }
  const std::vector<double>& beta() const { return beta_; }
  const std::vector<double>& inverse_diagonal() const { return inverse_diagonal_; }
  const std::vector<double>& c() const { return c_; }
  const std::vector<double>& d() const { return d_; }
  double ridge_of(Index i) const { return ridge_.size() == 1 ? ridge_[0] : ridge_[i]; }
  bool contains(Index j) const { return d_[j] == -std::numeric_limits<double>::infinity(); }
  Index position(Index j) const {
    return std::find(members_.begin(), members_.end(), j) - members_.begin();
  }

  double energy() const { return std::max(0.0, 0.5 * (design_.yy - squared(z_))); }

  // The part of the energy of coefficients `beta` that is 1/2 sum tau_i beta_i^2.
  double ridge_energy(const std::vector<double>& beta) const {
    double sum = 0;
    for (Index s = 0; s < size(); ++s) sum += 0.5 * ridge_of(members_[s]) * beta[s] * beta[s];
    return sum;
  }

  // log det A
  double log_determinant() const {
    double sum = 0;
    for (Index r = 0; r < size(); ++r) sum -= 2 * std::log(std::fabs(row(r)[r]));
    return sum;
  }

  // Half c_i^2 / d_i for every column; negative for those that can't be inserted.
  void insertion_gains(double* gain) const {
    insertion_scores(c_.data(), d_.data(), kSpan, columns(), gain);
    for (Index i = 0; i < columns(); ++i) gain[i] *= 0.5;
  }

  // What removing each member would cost, in the order of members().
  double removal_cost(Index position) const {
    return 0.5 * beta_[position] * beta_[position] / inverse_diagonal_[position];
  }

  struct Candidate {
    Index column = -1;
    double gain = -1;
    bool completes = false;  // whether nothing but rounding is left of the energy
  };
  // The column whose insertion lowers the energy most, the first of equals; of those that complete
  // an exact fit, the one that the members explain least. Column -1 if none can be inserted.
  Candidate best_insertion() const;

  // What swapping member r for column i would gain, for every i: the member's column of the table.
  // -infinity where i is a member or would depend on the others.
  void swap_gains(Index position, double* gain) const;

  struct Swap {
    Index position = -1;
    Index column = -1;
    double gain = 0;
  };
  // c and d as they would be without member r.
  void columns_without(Index position, double* c, double* d) const;

  // The swap that lowers the energy most; position -1 if none does. `forced` marks columns that
  // stay (empty for none).
  Swap best_swap(const std::vector<char>& forced, const Context& context) const;

  // Whether insert(j) would succeed.
  bool can_insert(Index j) {
    if (contains(j)) return false;
    double q = 0;
    const bool can = new_row(j, acquire(j), kSpan, row_, q) > 0;
    cache_.release(j);
    return can;
  }
  // False, and nothing changed, if column j is down to rounding in the span of the support.
  bool insert(Index j, double least_pivot = kSpan);
  void remove(Index position);
  bool flip(Index j) {
    const Index at = position(j);
    if (at == size()) return insert(j);
    remove(at);
    return true;
  }

  // Flips to the given columns, less those that depend on the ones before them.
  void move_to(const std::vector<Index>& target) {
    if (neglected_) refresh();
    go_to(target);
  }
  // The same, while c and d may be left behind.
  void go_to(const std::vector<Index>& target);

  // Stands at the given columns, less those that depend on the ones before them, everything
  // computed from scratch: the bits depend on the columns and their order, not on what was flipped
  // before.
  void start_at(const std::vector<Index>& target);

  // Where the support stands, to come back to after an excursion: cheaper than flipping back.
  struct State {
    std::vector<Index> members;
    std::vector<double> m, z, beta, inverse_diagonal, c, d;
    Index capacity = 0;
    double drift = 0;
    int flips = 0;
  };
  State save() const;
  void restore(const State& state);

  // From now on and until restore(), flips leave c and d behind: removals need neither, and most of
  // a flip is the price of keeping them.
  void neglect_columns() { neglected_ = true; }

  // Takes column j out of the running for insertion until it is flipped or refreshed.
  void rule_out(Index j, double least_pivot = kSpan) { d_[j] = std::min(d_[j], least_pivot); }

  // Insertions that gain less than this are not to be expected: no need to prepare for them.
  void expect_gains_above(double gain) { expected_gain_ = gain; }

  // Columns that will be inserted sooner or later: one pass over X can make several.
  void prepare(const std::vector<Index>& columns) { cache_.prepare(columns); }

  // Everything anew from the Gram columns: rounding accumulates over flips.
  void refresh();

  // Another ridge, the same for all columns; everything is computed anew.
  void set_ridge(double ridge) {
    ridge_.assign(1, ridge);
    refresh();
  }
  // Another ridge for column j, which is not a member; there is one a column.
  void set_ridge_of(Index j, double ridge) {
    d_[j] += ridge - ridge_[j];
    ridge_[j] = ridge;
  }
  // The same for the members, in their order; everything is computed anew.
  void set_member_ridges(const std::vector<double>& ridges) {
    for (Index s = 0; s < size(); ++s) ridge_[members_[s]] = ridges[s];
    refresh();
  }

  // From now on a Gram column that has to be made brings along those of the most promising others,
  // as many as one pass can make: sooner or later most of them will be wanted.
  void fetch_in_bulk() { bulk_ = true; }

  // A^-1 v, in the order of members().
  std::vector<double> solve(const std::vector<double>& v) const {
    return transposed_times(times(v.data()));
  }

  // M'v: of covariance A^-1 if v is of covariance I.
  std::vector<double> transposed_times(const std::vector<double>& v) const {
    std::vector<double> out(size());
    lower_transposed_times(m_.data(), capacity_, size(), v.data(), out.data());
    return out;
  }

  // G(members, members), row by row.
  void member_gram(double* out) const {
    for (Index r = 0; r < size(); ++r) {
      for (Index s = 0; s < size(); ++s) out[r * size() + s] = gram_[r][members_[s]];
    }
  }

 private:
  static constexpr Index kChunk = 512;
  static constexpr Index kPool = 48;  // columns looked at when looking ahead
  // Flips add up rounding of about epsilon / pivot each: refresh before it could matter.
  static constexpr double kDriftBound = 2e4;
  static constexpr int kFlipBound = 500;

  // d_i of the empty support. A dead column has none, ridge or not: it can't be inserted.
  double whole(Index i) const { return design_.inverse_scale[i] > 0 ? 1 + ridge_of(i) : 0; }
  static double squared(const std::vector<double>& v) {
    return dot(v.data(), v.data(), static_cast<Index>(v.size()));
  }
  double* row(Index r) { return m_.data() + r * capacity_; }
  const double* row(Index r) const { return m_.data() + r * capacity_; }

  // M v
  std::vector<double> times(const double* v) const {
    std::vector<double> out(size());
    lower_times(m_.data(), capacity_, size(), v, out.data());
    return out;
  }
  // A^-1, row by row
  std::vector<double> inverse() const {
    std::vector<double> out(size() * size(), 0.0);
    for (Index r = 0; r < size(); ++r) {
      for (Index s = 0; s <= r; ++s) {
        const double factor = row(r)[s];
        for (Index i = 0; i <= s; ++i) out[s * size() + i] += factor * row(r)[i];
      }
    }
    for (Index s = 0; s < size(); ++s) {
      for (Index i = 0; i < s; ++i) out[i * size() + s] = out[s * size() + i];
    }
    return out;
  }

  // What a swap of member r is made of: rho_r = beta_r / sqrt([A^-1]_rr), and the row a with
  // T_{:,r} = G_{:,S} a = G_{:,S} A^-1 e_r / sqrt([A^-1]_rr).
  void swap_row(Index r, std::vector<double>& a, double& rho) const;
  void reserve(Index rows);
  // Makes other columns the members, with nothing computed for them; unchanged if one can't be had.
  void hold(const std::vector<Index>& members);
  // The row that column j, whose Gram column is `gram`, would append to M, and its q; the pivot d_j
  // is returned: not positive if j depends on the members.
  double new_row(Index j, const double* gram, double least_pivot, std::vector<double>& a,
                 double& q);
  void append_row(const std::vector<double>& a, double q);
  // c += sign t q, d += sign t^2 with t = G_{:,S} a
  void update_columns(const std::vector<double>& a, double q, double sign);
  void update_members();
  void account_for(double pivot);
  // While columns are put off, flips are noted down; catch_up() applies them to c and d.
  void put_off_columns();
  void put_off(const std::vector<double>& a, double q, double sign);
  void catch_up(bool sound);
  const double* acquire(Index j) {
    if (cache_.has(j)) return cache_.acquire(j);
    return cache_.acquire(j, bulk_ ? most_promising_after(j) : likely_after(j));
  }
  std::vector<Index> most_promising_after(Index j) const;
  std::vector<Index> likely_after(Index j) const;
  std::vector<Index> promising(Index j, double& next_score) const;

  const Design& design_;
  GramCache& cache_;
  std::vector<double> ridge_;
  std::vector<Index> members_;
  std::vector<const double*> gram_;  // Gram columns of the members
  std::vector<double> m_;            // rows of M, capacity_ apart
  Index capacity_ = 0;
  std::vector<double> z_;
  std::vector<double> beta_;
  std::vector<double> inverse_diagonal_;
  std::vector<double> c_;
  std::vector<double> d_;   // -infinity for members: adding to it changes nothing
  bool neglected_ = false;  // whether c and d are out of date
  bool bulk_ = false;       // whether Gram columns are fetched in bulk
  double expected_gain_ = 0;
  double drift_ = 0;
  int flips_ = 0;

  struct Flip {
    double q, sign;
  };
  struct Left {
    double c, d;
  };
  struct Pending {
    bool on = false;
    std::vector<const double*> gram;  // Gram columns that the rows combine
    std::vector<Index> slots;         // where the members are among these
    Index width = 0;                  // how many there will be
    std::vector<double> rows;         // one a flip
    std::vector<Flip> flips;
    std::vector<Left> left;
  };
  // Room to work in, so that a flip need not ask for memory.
  Pending pending_;
  std::vector<char> marked_;
  std::vector<Index> leaving_, entering_;
  std::vector<double> cross_, w_, u_, row_;
};

inline void Support::reserve(Index rows) {
  if (rows <= capacity_) return;
  const Index capacity = std::max<Index>(16, round_up(rows * 3 / 2, 8));
  std::vector<double> grown(capacity * capacity, 0.0);
  for (Index r = 0; r < size(); ++r) std::copy_n(row(r), r + 1, grown.data() + r * capacity);
  m_ = std::move(grown);
  capacity_ = capacity;
}

inline double Support::new_row(Index j, const double* gram, double least_pivot,
                               std::vector<double>& a, double& q) {
  const Index k = size();
  cross_.resize(k);
  w_.resize(k);
  u_.resize(k);
  for (Index s = 0; s < k; ++s) cross_[s] = gram[members_[s]];
  lower_times(m_.data(), capacity_, k, cross_.data(), w_.data());
  lower_transposed_times(m_.data(), capacity_, k, w_.data(), u_.data());
  const double pivot = whole(j) - squared(w_);
  // Rounding in the Gram matrix moves the pivot by epsilon |u|^2.
  if (!(pivot > least_pivot * std::max(1.0, 1e-4 * squared(u_)))) return 0;
  const double root = std::sqrt(pivot);
  a.resize(k + 1);
  q = design_.zy[j];
  for (Index s = 0; s < k; ++s) {
    a[s] = -u_[s] / root;
    q -= u_[s] * design_.zy[members_[s]];
  }
  a[size()] = 1 / root;
  q /= root;
  return pivot;
}

inline void Support::append_row(const std::vector<double>& a, double q) {
  const Index k = size();
  reserve(k + 1);
  std::copy(a.begin(), a.end(), row(k));
  z_.push_back(q);
}

inline void Support::update_columns(const std::vector<double>& a, double q, double sign) {
  if (neglected_) return;
  if (pending_.on) {
    put_off(a, q, sign);
    return;
  }
  double t[kChunk];
  for (Index begin = 0; begin < columns(); begin += kChunk) {
    const Index end = std::min(columns(), begin + kChunk);
    combine(gram_.data(), a.data(), static_cast<Index>(a.size()), begin, end, t);
    apply_flip(t, q, sign, end - begin, c_.data() + begin, d_.data() + begin);
  }
}

inline void Support::update_members() {
  beta_.resize(size());
  inverse_diagonal_.resize(size());
  lower_column_sums(m_.data(), capacity_, size(), z_.data(), beta_.data(),
                    inverse_diagonal_.data());
}

inline void Support::account_for(double pivot) {
  drift_ += 1 / pivot;
  if ((++flips_ >= kFlipBound || drift_ > kDriftBound) && !pending_.on) refresh();
}

inline bool Support::insert(Index j, double least_pivot) {
  if (contains(j)) return false;
  const double* gram = acquire(j);
  std::vector<double>& a = row_;
  double q = 0;
  const double pivot = new_row(j, gram, least_pivot, a, q);
  if (!(pivot > 0)) {
    cache_.release(j);
    rule_out(j, least_pivot);
    return false;
  }
  append_row(a, q);
  members_.push_back(j);
  gram_.push_back(gram);
  if (pending_.on) {
    pending_.slots.push_back(static_cast<Index>(pending_.gram.size()));
    pending_.gram.push_back(gram);
  }
  d_[j] = -std::numeric_limits<double>::infinity();
  update_columns(a, q, -1);
  beta_.push_back(0);
  inverse_diagonal_.push_back(0);
  for (Index s = 0; s < size(); ++s) {
    beta_[s] += a[s] * q;
    inverse_diagonal_[s] += a[s] * a[s];
  }
  account_for(pivot);
  return true;
}

inline void Support::remove(Index r) {
  const Index last = size() - 1;
  for (Index i = r; i < last; ++i) {
    double *upper = row(i), *lower = row(i + 1);
    const double length = std::sqrt(upper[r] * upper[r] + lower[r] * lower[r]);
    const double cosine = lower[r] / length, sine = upper[r] / length;
    upper[i + 1] = 0;
    rotate_rows(upper, lower, cosine, sine, i + 2);
    const double u = z_[i], l = z_[i + 1];
    z_[i] = cosine * u - sine * l;
    z_[i + 1] = sine * u + cosine * l;
  }
  std::vector<double>& a = row_;
  a.assign(row(last), row(last) + last + 1);
  const double q = z_[last];
  update_columns(a, q, +1);
  const Index j = members_[r];
  c_[j] = q / a[r];
  d_[j] = 1 / (a[r] * a[r]);

  for (Index i = r; i < last; ++i) std::copy(row(i) + r + 1, row(i) + i + 2, row(i) + r);
  z_.pop_back();
  gram_.erase(gram_.begin() + r);
  if (pending_.on) pending_.slots.erase(pending_.slots.begin() + r);
  members_.erase(members_.begin() + r);
  cache_.release(j);
  update_members();
  account_for(d_[j]);
}

inline void Support::refresh() {
  const std::vector<Index> members = std::move(members_);
  const std::vector<const double*> gram = std::move(gram_);
  members_.clear();
  gram_.clear();
  z_.clear();
  for (std::size_t s = 0; s < members.size(); ++s) {
    std::vector<double> a;
    double q = 0;
    // They passed a stricter test when they entered, with more members before them.
    if (!(new_row(members[s], gram[s], kKept, a, q) > 0)) {
      cache_.release(members[s]);
      continue;
    }
    append_row(a, q);
    members_.push_back(members[s]);
    gram_.push_back(gram[s]);
  }
  update_members();

  double t[kChunk];
  for (Index begin = 0; begin < columns(); begin += kChunk) {
    const Index end = std::min(columns(), begin + kChunk);
    for (Index i = begin; i < end; ++i) d_[i] = whole(i);
    for (Index r = 0; r < size(); ++r) {
      combine(gram_.data(), row(r), r + 1, begin, end, t);
      for (Index i = begin; i < end; ++i) d_[i] -= t[i - begin] * t[i - begin];
    }
    combine(gram_.data(), beta_.data(), size(), begin, end, t);
    for (Index i = begin; i < end; ++i) c_[i] = design_.zy[i] - t[i - begin];
  }
  for (const Index j : members_) d_[j] = -std::numeric_limits<double>::infinity();
  drift_ = 0;
  flips_ = 0;
  neglected_ = false;
}

inline Support::Candidate Support::best_insertion() const {
  Candidate best;
  double score[kChunk];
  double highest = -1;
  Index where = -1, scored = -1;  // the chunk that the highest is in, and the one in `score`
  const auto score_chunk = [&](Index begin) {
    scored = begin;
    return insertion_scores(c_.data() + begin, d_.data() + begin, kSpan,
                            std::min(columns() - begin, kChunk), score);
  };
  for (Index begin = 0; begin < columns(); begin += kChunk) {
    const double most = score_chunk(begin);
    if (!(most > highest + kTie * std::fabs(highest))) continue;
    highest = most;
    where = begin;
  }
  if (where < 0) return best;
  if (scored != where) score_chunk(where);
  best.column = where;
  for (const double* at = score; !(*at >= highest - kTie * highest); ++at) ++best.column;
  best.gain = 0.5 * highest;
  const double left = energy();
  // What is left of the energy is known the less the smaller the pivot.
  const auto completes = [&](double gain, double pivot) {
    return left - gain <= 0.5 * design_.yy * (kRounding + 0.1 * kRounding / pivot);
  };
  if (!completes(best.gain, d_[best.column])) return best;
  // Whatever completes an exact fit gains the same, so rounding would choose among these. The one
  // with the largest pivot has the least coefficient, and its pivot is known to the most digits.
  best.completes = true;
  double widest = 0;
  for (Index i = 0; i < columns(); ++i) {
    if (!(d_[i] > kSpan)) continue;
    const double gain = 0.5 * c_[i] * c_[i] / d_[i];
    if (completes(gain, d_[i]) && d_[i] > widest + kSamePivot * widest) {
      widest = d_[i];
      best.column = i;
      best.gain = gain;
    }
  }
  return best;
}

}  // namespace ellzero

#include "engine/excursion.hpp"
#include "engine/look_ahead.hpp"
#include "engine/moves.hpp"
#include "engine/swaps.hpp"
