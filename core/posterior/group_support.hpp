// A support of groups, for a posterior: least squares in an orthonormal basis of each group
// (data/grouped_quadratic.hpp) with a ridge tau / s_g^2, which is the ridge tau on the basis scaled
// by s_g. Determinants and the Gram matrix are those of the scaled bases, so that one tau serves
// all.
//
// Of the groups outside, blocks (engine/blocks.hpp) are kept up to date by flips, or made anew
// where one is asked for after flips in silence: whoever asks for none should be silent.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "data/grouped_quadratic.hpp"
#include "engine/blocks.hpp"
#include "engine/factor.hpp"

namespace ellzero {

// What the other members and y say of one group: its coefficients in the basis are normal with this
// mean and with covariance D^-1 times the noise's variance.
struct GroupBlock {
  bool open = false;           // whether it is independent of the other members
  double gain = 0;             // half of c' D^-1 c: what it takes from the energy
  double log_determinant = 0;  // of D in the scaled basis
  std::vector<double> mean;    // D^-1 c
  // D^-1 = R'R, row by row, R triangular: upper for a member, lower otherwise.
  std::vector<double> root;
};

class GroupSupport {
 public:
  // Columns whose pivot is not above the floor depend on others: their group can't be entered.
  GroupSupport(const GroupedQuadratic& quadratic, const GramUser& cache, std::vector<double> scales,
               double tau, double floor)
      : quadratic_(quadratic),
        bases_(quadratic.bases()),
        cache_(cache),
        scales_(std::move(scales)),
        tau_(tau),
        floor_(floor),
        is_in_(bases_.units.size(), 0),
        blocks_(bases_) {}
  GroupSupport(const GroupSupport&) = delete;
  GroupSupport& operator=(const GroupSupport&) = delete;
  ~GroupSupport() {
    for (const Index j : columns_) cache_.release(j);
  }

  Index units() const { return static_cast<Index>(bases_.units.size()); }
  const GroupBases& bases() const { return bases_; }
  const std::vector<Index>& members() const { return members_; }
  bool contains(Index unit) const { return is_in_[unit] != 0; }
  Index width(Index unit) const { return bases_.units[unit].width(); }
  // How many columns are in.
  Index rank() const { return static_cast<Index>(columns_.size()); }
  double energy() const { return std::max(0.0, 0.5 * (quadratic_.yy - factor_.explained())); }
  double log_determinant() const {
    double sum = factor_.log_determinant();
    for (const Index unit : members_) sum += log_scale(unit);
    return sum;
  }
  const Factor& factor() const { return factor_; }

  // False, and nothing changed, if it depends on the members.
  bool insert(Index unit) {
    if (!enter(unit, floor_)) return false;
    refresh_if_drifted();
    return true;
  }
  void remove(Index unit) {
    const Index begin = first_place(unit);
    for (Index i = width(unit); i-- > 0;) drop(begin + i);
    members_.erase(std::find(members_.begin(), members_.end(), unit));
    is_in_[unit] = 0;
    if (knows_outsiders_ && !silent_) compute_block(unit);  // of a member it was down to rounding
    refresh_if_drifted();
  }
  void set_tau(double tau) {
    tau_ = tau;
    refresh();
  }

  // Until it is no longer silent, flips leave alone what is known of groups outside: then it has to
  // stand where it stood, or nothing is known.
  void set_silent(bool silent, bool stands_as_before) {
    silent_ = silent;
    if (!silent && !stands_as_before) knows_outsiders_ = false;
  }

  // Of a group, given the other members.
  void look_at(Index unit, GroupBlock& out) const {
    if (contains(unit)) {
      look_inside(unit, out);
    } else {
      look_outside(unit, out);
    }
  }

  // The Gram matrix of the columns that are in, scaled, row by row, and their products with y.
  void gram(std::vector<double>& out, std::vector<double>& b) const {
    const Index k = rank();
    out.resize(k * k);
    b.resize(k);
    for (Index r = 0; r < k; ++r) {
      const double own = scales_[bases_.unit_of[columns_[r]]];
      b[r] = own * quadratic_.zy[columns_[r]];
      for (Index s = 0; s < k; ++s) {
        out[r * k + s] = own * scales_[bases_.unit_of[columns_[s]]] * gram_[r][columns_[s]];
      }
    }
  }

  // The place of a member's first column among those that are in; the others follow it.
  Index first_place(Index unit) const {
    Index place = 0;
    for (const Index member : members_) {
      if (member == unit) break;
      place += width(member);
    }
    return place;
  }

  // Coefficients of the columns of X that a group is made of, from those in its basis.
  void to_base(Index unit, const double* beta, double* out) const {
    const std::vector<double>& b = bases_.units[unit].b;
    const Index r = width(unit);
    for (Index j = 0; j < r; ++j) {
      double sum = 0;
      for (Index i = j; i < r; ++i) sum += beta[i] * b[triangle(i, j)];
      out[j] = sum;
    }
  }
  // Their variances over the noise's: the diagonal of B' D^-1 B.
  void variances(Index unit, const GroupBlock& block, double* out) const {
    const std::vector<double>& b = bases_.units[unit].b;
    const Index r = width(unit);
    for (Index j = 0; j < r; ++j) {
      out[j] = 0;
      for (Index a = 0; a < r; ++a) {
        double sum = 0;
        for (Index i = j; i < r; ++i) sum += block.root[a * r + i] * b[triangle(i, j)];
        out[j] += sum * sum;
      }
    }
  }

 private:
  static constexpr Index kFlipBound = 500;
  static constexpr double kDriftBound = 2e4;
  static constexpr double kKept = 1e-3;

  double ridge_of(Index unit) const { return tau_ / (scales_[unit] * scales_[unit]); }
  // log of the determinant of s_g^2 I
  double log_scale(Index unit) const {
    return 2 * static_cast<double>(width(unit)) * std::log(scales_[unit]);
  }

  bool enter(Index unit, double floor) {
    const Index before = rank();
    for (Index i = 0; i < width(unit); ++i) {
      if (append(bases_.column(unit, i), 1 + ridge_of(unit), floor)) continue;
      while (rank() > before) drop(rank() - 1);
      if (knows_outsiders_ && !silent_) compute_block(unit);
      return false;
    }
    members_.push_back(unit);
    is_in_[unit] = 1;
    return true;
  }
  bool append(Index column, double whole, double floor) {
    const double* gram = acquire(column);
    cross_.resize(columns_.size());
    for (std::size_t s = 0; s < columns_.size(); ++s) cross_[s] = gram[columns_[s]];
    const double b = quadratic_.zy[column];
    const double pivot = factor_.new_row(cross_.data(), whole, b, floor, row_);
    if (!(pivot > 0)) {
      cache_.release(column);
      return false;
    }
    factor_.append(row_, b);
    factor_.add(row_);
    columns_.push_back(column);
    gram_.push_back(gram);
    tell_outsiders(-1);
    account_for(pivot);
    return true;
  }
  void drop(Index place) {
    factor_.remove(place, row_);
    tell_outsiders(+1);
    account_for(1 / (row_.a[place] * row_.a[place]));
    cache_.release(columns_[place]);
    columns_.erase(columns_.begin() + place);
    gram_.erase(gram_.begin() + place);
  }
  // What the flip of row_, over the columns with its own among them, does to the blocks.
  void tell_outsiders(double sign) {
    if (!knows_outsiders_ || silent_) return;
    rows_.clear(rank());
    std::copy(row_.a.begin(), row_.a.end(), rows_.add(row_.q));
    blocks_.combine(gram_, rows_, t_);
    blocks_.apply(t_, rows_, sign);
  }
  // The rest of its group is made along with it.
  const double* acquire(Index column) {
    std::vector<Index> companions;
    if (!cache_.has(column)) {
      const Index unit = bases_.unit_of[column];
      for (Index i = 0; i < width(unit); ++i) {
        const Index j = bases_.column(unit, i);
        if (j != column && !cache_.has(j) &&
            static_cast<Index>(companions.size()) + 1 < kBlockColumns) {
          companions.push_back(j);
        }
      }
    }
    return cache_.acquire(column, companions);
  }

  // Flips add up rounding of about epsilon / pivot each: begin anew before it could matter.
  void account_for(double pivot) {
    drift_ += 1 / pivot;
    ++flips_;
  }
  void refresh_if_drifted() {
    if (flips_ > kFlipBound || drift_ > kDriftBound) refresh();
  }
  // Computes everything anew. Those that are in passed a stricter test when they entered.
  void refresh() {
    knows_outsiders_ = false;
    const std::vector<Index> before = std::move(members_);
    const std::vector<Index> columns = std::move(columns_);
    members_.clear();
    columns_.clear();
    gram_.clear();
    factor_.clear();
    std::fill(is_in_.begin(), is_in_.end(), 0);
    for (const Index unit : before) enter(unit, kKept * floor_);
    for (const Index j : columns) cache_.release(j);
    flips_ = 0;
    drift_ = 0;
  }

  void compute_blocks() const {
    blocks_.reset(quadratic_.zy, 1.0);
    rows_.clear(rank());
    for (Index r = 0; r < rank(); ++r) {
      double q = 0;
      for (Index s = 0; s <= r; ++s) q += factor_.row(r)[s] * quadratic_.zy[columns_[s]];
      std::copy_n(factor_.row(r), r + 1, rows_.add(q));
    }
    if (rank() > 0) {
      blocks_.combine(gram_, rows_, t_);
      blocks_.apply(t_, rows_, -1);
    }
    knows_outsiders_ = true;
  }
  void compute_block(Index unit) const {
    const Index k = rank(), r = width(unit);
    w_.resize(r * k);
    with_.resize(k);
    for (Index i = 0; i < r; ++i) {
      const Index column = bases_.column(unit, i);
      double c = quadratic_.zy[column];
      for (Index s = 0; s < k; ++s) {
        with_[s] = gram_[s][column];
        c -= with_[s] * factor_.beta()[s];
      }
      blocks_.c(unit, i) = c;
      lower_times(factor_.row(0), factor_.stride(), k, with_.data(), w_.data() + i * k);
      for (Index j = 0; j <= i; ++j) {
        const double explained = dot(w_.data() + i * k, w_.data() + j * k, k);
        blocks_.d(unit, i, j) = (i == j ? 1.0 : 0.0) - explained;
      }
    }
  }

  void look_outside(Index unit, GroupBlock& out) const {
    if (!knows_outsiders_) compute_blocks();
    const Index r = width(unit);
    const double ridge = ridge_of(unit);
    const Blocks& blocks = blocks_;
    d_.resize(r * r);
    out.mean.resize(r);
    for (Index i = 0; i < r; ++i) {
      out.mean[i] = blocks.c(unit, i);
      for (Index j = 0; j <= i; ++j) d_[i * r + j] = blocks.d(unit, i, j);
      d_[i * r + i] += ridge;
    }
    // A ridge is always left of a pivot, but for rounding; without one, columns may depend on
    // others.
    out.open = factorise(r, 1e-3 * ridge, ridge > 0 ? 0 : floor_);
    if (!out.open) return;
    // With D = L L': R = L^-1, and the mean is R'R c.
    out.root.assign(r * r, 0.0);
    for (Index i = 0; i < r; ++i) {
      for (Index j = 0; j <= i; ++j) {
        double sum = i == j ? 1 : 0;
        for (Index a = j; a < i; ++a) sum -= d_[i * r + a] * out.root[a * r + j];
        out.root[i * r + j] = sum / d_[i * r + i];
      }
    }
    out.gain = 0;
    out.log_determinant = log_scale(unit);
    w_.assign(r, 0.0);
    for (Index i = 0; i < r; ++i) {
      for (Index j = 0; j <= i; ++j) w_[i] += out.root[i * r + j] * out.mean[j];
      out.gain += 0.5 * w_[i] * w_[i];
      out.log_determinant -= 2 * std::log(out.root[i * r + i]);
    }
    for (Index j = 0; j < r; ++j) {
      out.mean[j] = 0;
      for (Index i = j; i < r; ++i) out.mean[j] += out.root[i * r + j] * w_[i];
    }
  }

  // D^-1 is the block of A^-1.
  void look_inside(Index unit, GroupBlock& out) const {
    const Index r = width(unit), k = rank(), begin = first_place(unit);
    d_.assign(r * r, 0.0);
    for (Index s = begin; s < k; ++s) {
      const double* row = factor_.row(s) + begin;
      const Index end = std::min(r, s - begin + 1);
      for (Index i = 0; i < end; ++i) {
        for (Index j = 0; j <= i; ++j) d_[i * r + j] += row[i] * row[j];
      }
    }
    out.mean.assign(factor_.beta().begin() + begin, factor_.beta().begin() + begin + r);
    factorise(r, 1e-300, 0);
    // With D^-1 = K K': R = K', and the gain is half of |K^-1 beta|^2.
    out.open = true;
    out.gain = 0;
    out.log_determinant = log_scale(unit);
    out.root.assign(r * r, 0.0);
    w_.resize(r);
    for (Index i = 0; i < r; ++i) {
      double sum = out.mean[i];
      for (Index j = 0; j < i; ++j) sum -= d_[i * r + j] * w_[j];
      w_[i] = sum / d_[i * r + i];
      out.gain += 0.5 * w_[i] * w_[i];
      out.log_determinant -= 2 * std::log(d_[i * r + i]);
      for (Index j = 0; j <= i; ++j) out.root[j * r + i] = d_[i * r + j];
    }
  }

  // Cholesky's factor of d_ in its place, with pivots of at least so much; false if one is not
  // above the floor.
  bool factorise(Index r, double least, double floor) const {
    for (Index i = 0; i < r; ++i) {
      for (Index j = 0; j <= i; ++j) {
        double sum = d_[i * r + j];
        for (Index a = 0; a < j; ++a) sum -= d_[i * r + a] * d_[j * r + a];
        if (j < i) {
          d_[i * r + j] = sum / d_[j * r + j];
          continue;
        }
        sum = std::max(sum, least);
        if (!(sum > floor)) return false;
        d_[i * r + i] = std::sqrt(sum);
      }
    }
    return true;
  }

  const GroupedQuadratic& quadratic_;
  const GroupBases& bases_;
  const GramUser cache_;
  const std::vector<double> scales_;  // s_g
  double tau_;
  const double floor_;
  std::vector<Index> members_;       // in the order in which they came
  std::vector<char> is_in_;          // by unit
  std::vector<Index> columns_;       // of the bases, those of a member together
  std::vector<const double*> gram_;  // their Gram columns
  Factor factor_;
  double drift_ = 0;
  Index flips_ = 0;
  bool silent_ = false;
  // Of the groups outside, without a ridge; of members they mean nothing.
  mutable Blocks blocks_;
  mutable bool knows_outsiders_ = false;
  // Room to work in.
  FlipRow row_;
  std::vector<double> cross_;
  mutable FlipRows rows_;
  mutable std::vector<double> t_, with_, w_, d_;
};

}  // namespace ellzero
