// The determinant of G_SS + ridge I for a support S that least squares holds, and by column i what
// inserting i would multiply it by:
//
//   d_i = G_ii + ridge - G_iS B G_Si,   B = (G_SS + ridge I)^-1
//
// B is kept as it is, and a flip is a vector: inserting j adds a a' to B, with a = [-B G_Sj; 1] /
// sqrt(d_j), and takes (G_iS a)^2 from every d_i; removing r gives both back, a = B e_r /
// sqrt(B_rr). That subtracts: it is for ridges that are no small part of G_ii = 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "data/quadratic.hpp"
#include "engine/least_squares.hpp"
#include "posterior/volume_kernels.hpp"

namespace ellzero {

class RidgeVolume {
 public:
  RidgeVolume(const Quadratic& design, double ridge) : ridge_(ridge) {
    for (const double scale : design.inverse_scale) whole_.push_back(scale > 0 ? 1 + ridge : 0);
    d_ = whole_;
    place_.resize(whole_.size());
  }

  // The most that d is of any column.
  double greatest() const { return 1 + ridge_; }
  Index size() const { return static_cast<Index>(members_.size()); }
  // By column; minus infinity for members.
  const std::vector<double>& d() const { return d_; }
  // That of B, at member j.
  double inverse_diagonal(Index j) const { return inverse_[place_[j] * (stride_ + 1)]; }
  double log_determinant() const { return log_determinant_ + std::log(product_); }

  // A flip is made in two steps, since what it does to d is made by whoever passes over the Gram
  // columns. The first says what that is, by members in the order given; a is null, and there is no
  // second step, if the d of column j is at most `least`.
  Beside insertion(Index j, const std::vector<Index>& members, double least) {
    if (!prepare_insertion(j, least)) return {};
    in_order(members);
    ordered_.push_back(a_[size()]);
    return {ordered_.data(), d_.data()};
  }
  // Afterwards: the Gram column of j, as long as it is a member.
  void insert(Index j, const double* gram) {
    const Index k = size();
    place_[j] = k;
    members_.push_back(j);
    gram_.push_back(gram);
    add_outer(a_.data(), +1, k + 1, inverse_.data(), stride_);
    d_[j] = -std::numeric_limits<double>::infinity();
    multiply(pivot_);
    drift_ += 1 / pivot_;
  }

  Beside removal(Index j, const std::vector<Index>& members) {
    flip_of(j);
    in_order(members);
    return {ordered_.data(), d_.data()};
  }
  void remove(Index j) {
    const Index last = size() - 1, place = place_[j];
    const double own = inverse_diagonal(j);
    d_[j] = 1 / own;
    multiply(own);
    add_outer(a_.data(), -1, last + 1, inverse_.data(), stride_);
    // The last of them takes its place.
    double* to = inverse_.data() + place * stride_;
    double* from = inverse_.data() + last * stride_;
    for (Index s = 0; s < last; ++s) to[s] = inverse_[s * stride_ + place] = from[s];
    to[place] = from[last];
    for (Index s = 0; s <= last; ++s) from[s] = inverse_[s * stride_ + last] = 0;
    members_[place] = members_[last];
    gram_[place] = gram_[last];
    place_[members_[place]] = place;
    members_.pop_back();
    gram_.pop_back();
    drift_ += own;
    if (drift_ > kDriftBound) refresh();
  }

  // d as it would be without member j.
  void look_without(Index j, double* d) const {
    const double own = flip_of(j);
    std::copy(d_.begin(), d_.end(), d);
    add_squares(gram_.data(), a_.data(), size(), +1, columns(), d);
    d[j] = 1 / own;
  }

  // The members of `support`, everything computed anew.
  void stand_like(const LeastSquares& support) {
    members_ = support.members();
    gram_.clear();
    for (Index s = 0; s < size(); ++s) gram_.push_back(support.gram_of(s));
    refresh();
  }

 private:
  // Flips add up rounding: everything is computed anew before it could matter.
  static constexpr double kDriftBound = 1000;

  Index columns() const { return static_cast<Index>(d_.size()); }

  // Makes the vector of an insertion and its pivot; false if that is at most `least`.
  bool prepare_insertion(Index j, double least) {
    const Index k = size();
    reserve(k + 1);
    for (Index s = 0; s < k; ++s) a_[s] = gram_[s][j];
    pivot_ = whole_[j] - symmetric_times(inverse_.data(), stride_, k, a_.data(), u_.data());
    if (!(pivot_ > least)) return false;
    const double inverse = 1 / std::sqrt(pivot_);
    for (Index s = 0; s < k; ++s) a_[s] = -u_[s] * inverse;
    a_[k] = inverse;
    return true;
  }
  // The vector of a flip, of all members there are so far, in the order given.
  void in_order(const std::vector<Index>& members) {
    ordered_.resize(members.size());
    for (std::size_t s = 0; s < members.size(); ++s) ordered_[s] = a_[place_[members[s]]];
  }

  // The determinant by `factor`. Logarithms are taken before the product leaves the range of
  // numbers.
  void multiply(double factor) {
    product_ *= factor;
    if (product_ > 1e-100 && product_ < 1e100) return;
    log_determinant_ += std::log(product_);
    product_ = 1;
  }

  // Makes the vector of a removal; returns B_rr.
  double flip_of(Index j) const {
    const double own = inverse_diagonal(j), inverse = 1 / std::sqrt(own);
    const double* row = inverse_.data() + place_[j] * stride_;
    for (Index s = 0; s < size(); ++s) a_[s] = row[s] * inverse;
    return own;
  }

  void refresh() {
    const std::vector<Index> members = std::move(members_);
    const std::vector<const double*> gram = std::move(gram_);
    members_.clear();
    gram_.clear();
    std::fill(inverse_.begin(), inverse_.end(), 0.0);
    d_ = whole_;
    log_determinant_ = 0;
    product_ = 1;
    for (std::size_t s = 0; s < members.size(); ++s) {
      if (!prepare_insertion(members[s], 0)) continue;
      insert(members[s], gram[s]);
      add_squares(gram_.data(), a_.data(), size(), -1, columns(), d_.data());
    }
    drift_ = 0;
  }

  void reserve(Index rows) {
    if (rows <= stride_) return;
    const Index stride = round_up(std::max<Index>(16, rows * 3 / 2), kLanes);
    std::vector<double> grown(stride * stride, 0.0);
    for (Index r = 0; r < size(); ++r) {
      std::copy_n(inverse_.data() + r * stride_, size(), grown.data() + r * stride);
    }
    inverse_ = std::move(grown);
    stride_ = stride;
    a_.assign(stride, 0.0);
    u_.assign(stride, 0.0);
  }

  const double ridge_;
  std::vector<double> whole_;  // d of the empty support; of a dead column zero
  std::vector<double> d_;
  std::vector<Index> members_;       // in an order of their own
  std::vector<Index> place_;         // of each column among them, if it is one
  std::vector<const double*> gram_;  // Gram columns of the members
  std::vector<double> inverse_;      // B, rows stride_ apart, zeros beyond
  Index stride_ = 0;
  double log_determinant_ = 0, product_ = 1;
  double drift_ = 0;
  double pivot_ = 0;  // of the insertion that is under way
  // Room to work in; a_ is the vector of the flip that is under way.
  mutable std::vector<double> a_, u_;
  std::vector<double> ordered_;
};

}  // namespace ellzero
