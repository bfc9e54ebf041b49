// Least squares on a support with weights omega that change from sweep to sweep, the intercept
// integrated out: with W = sum omega, g = Z'omega, pi the precision of the intercept and k0 the sum
// of kappa,
//
//   G = Z'diag(omega) Z - g g' / (W + pi),   b = Z'kappa - g k0 / (W + pi)
//
// and, for A = G_SS + tau I, the quadratic form b_S'A^-1 b_S, log det A, and c and d of every
// column as in engine/scores.hpp. Without an intercept g counts as zero. Nothing is centred anew:
// an intercept that is integrated out is a column that is always in. kappa is given once and for
// all (two classes), or with every change of the weights (kappa = omega y).
//
// New weights cost a pass over Z that makes g, the diagonal of G, Z'kappa if that changes, and the
// Gram columns of the members, and of columns that were needed often of late. Other Gram columns
// are made when they are needed, four to a pass since that costs the same as one, and last until
// the weights change.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/scores.hpp"
#include "engine/swaps.hpp"
#include "posterior/weighted_rows.hpp"

namespace ellzero {

class WeightedSupport {
 public:
  // `least_pivot`: columns with a pivot below depend on the members.
  WeightedSupport(const WeightedRows& rows, double intercept_precision, double least_pivot)
      : rows_(rows),
        intercept_precision_(intercept_precision),
        least_pivot_(least_pivot),
        scores_(std::vector<double>(rows.columns(), 0.0), std::vector<double>(rows.columns(), 0.0)),
        g_(rows.columns(), 0.0),
        diagonal_(rows.columns(), 0.0),
        b_(rows.columns(), 0.0),
        products_(rows.columns(), 0.0),
        slot_(rows.columns(), -1),
        demand_(rows.columns(), 0.0) {}

  Index columns() const { return scores_.columns(); }
  Index size() const { return static_cast<Index>(members_.size()); }
  const std::vector<Index>& members() const { return members_; }
  bool contains(Index j) const { return scores_.place(j) == Scores::Place::in; }
  // Where column j stands among the members; size() if it is none.
  Index position(Index j) const {
    return std::find(members_.begin(), members_.end(), j) - members_.begin();
  }
  const std::vector<double>& beta() const { return factor_.beta(); }
  const std::vector<double>& inverse_diagonal() const { return factor_.inverse_diagonal(); }
  const std::vector<double>& c() const { return scores_.c(); }
  const std::vector<double>& d() const { return scores_.d(); }
  double explained() const { return factor_.explained(); }
  double log_determinant() const { return factor_.log_determinant(); }
  double ridge() const { return ridge_; }
  double ridge_of(Index) const { return ridge_; }
  double kappa_sum() const { return kappa_sum_; }
  bool has_intercept() const { return rows_.intercept(); }
  // M'v: of covariance A^-1 if v is of covariance I.
  std::vector<double> transposed_times(const std::vector<double>& v) const {
    return factor_.transposed_times(v);
  }
  // G_SS, row by row, and b_S.
  void member_gram(double* gram, double* b) const {
    for (Index r = 0; r < size(); ++r) {
      for (Index s = 0; s < size(); ++s) gram[r * size() + s] = gram_[r][members_[s]];
      gram[r * size() + r] = diagonal_[members_[r]];
      b[r] = b_[members_[r]];
    }
  }
  // M G_Sj of a column that is out, and of two columns' products what the intercept takes.
  std::vector<double> reach(Index j) const {
    std::vector<double> cross(members_.size());
    for (Index s = 0; s < size(); ++s) cross[s] = gram_[s][j];
    return factor_.times(cross.data());
  }
  double taken_by_intercept(Index i, Index j) const { return g_[i] * g_[j] / total_precision_; }
  double diagonal(Index j) const { return diagonal_[j]; }
  // A^-1, row by row.
  std::vector<double> inverse() const { return factor_.inverse(); }
  // Of the intercept, given coefficients of the members: its mean, and its precision.
  double intercept_given(const std::vector<double>& beta) const {
    double left = kappa_sum_;
    for (Index s = 0; s < size(); ++s) left -= g_[members_[s]] * beta[s];
    return left / total_precision_;
  }
  double total_precision() const { return total_precision_; }

  // Z'kappa and the sum of kappa, where no reset() brings others.
  void set_kappa(const std::vector<double>& products, double sum) {
    products_ = products;
    kappa_sum_ = sum;
  }

  // Starts anew: other weights, other members, another ridge, and another kappa if one is given. Of
  // the members those that depend on others before them are dropped.
  void reset(const std::vector<double>& weights, std::vector<Index> members, double ridge,
             const std::vector<double>* kappa = nullptr) {
    weights_ = &weights;
    kappa_ = kappa;
    for (const Index j : held_) slot_[j] = -1;
    held_.clear();
    wanted_ = members;
    add_demanded();
    make(wanted_, true);
    members_ = std::move(members);
    ridge_ = ridge;
    refresh();
  }
  void set_ridge(double ridge) {
    ridge_ = ridge;
    refresh();
  }

  // Makes Gram columns that will be needed, in one pass.
  void prepare(const std::vector<Index>& columns) {
    wanted_.clear();
    for (const Index j : columns) {
      demand_[j] += 1;
      if (slot_[j] < 0) wanted_.push_back(j);
    }
    if (!wanted_.empty()) make(wanted_, false);
  }

  // False, and nothing changed, if column j depends on the members.
  bool insert(Index j) {
    if (scores_.place(j) != Scores::Place::out) return false;
    demand_[j] += 1;
    const double* gram = gram_of(j);
    if (!(new_row(j, gram) > 0)) {
      scores_.rule_out(j, 0);
      return false;
    }
    factor_.append(row_, b_[j]);
    members_.push_back(j);
    gram_.push_back(gram);
    scores_.enter(j);
    scores_.apply(gram_, row_, -1);
    factor_.add(row_);
    return true;
  }
  void remove(Index position) {
    const Index j = members_[position];
    factor_.remove(position, row_);
    const double own = row_.a[position];
    scores_.apply(gram_, row_, +1);
    scores_.open(j, row_.q / own, 1 / (own * own));
    gram_.erase(gram_.begin() + position);
    members_.erase(members_.begin() + position);
  }

  // c and d as they would be without the member at a position.
  void columns_without(Index position, double* c, double* d) const {
    const FlipRow row = member_row(factor_, position);
    double t[Scores::kChunk];
    for (Index begin = 0; begin < columns(); begin += Scores::kChunk) {
      const Index end = std::min(columns(), begin + Scores::kChunk);
      combine(gram_.data(), row.a.data(), size(), begin, end, t);
      std::copy(this->c().begin() + begin, this->c().begin() + end, c + begin);
      std::copy(this->d().begin() + begin, this->d().begin() + end, d + begin);
      apply_flip(t, row.q, +1, end - begin, c + begin, d + begin);
    }
    c[members_[position]] = beta()[position] / inverse_diagonal()[position];
    d[members_[position]] = 1 / inverse_diagonal()[position];
  }

 private:
  static constexpr Index kCompanions = 3;
  static constexpr Index kDemanded = 16;
  static constexpr double kFading = 0.8, kOften = 1.0;

  double whole(Index i) const { return rows_.is_dead(i) ? 0 : diagonal_[i] + ridge_; }

  double new_row(Index j, const double* gram) {
    cross_.resize(members_.size());
    for (Index s = 0; s < size(); ++s) cross_[s] = gram[members_[s]];
    return factor_.new_row(cross_.data(), whole(j), b_[j], least_pivot_, row_);
  }

  const double* gram_of(Index j) {
    if (slot_[j] < 0) {
      companions_of(j);
      make(wanted_, false);
    }
    return pool_[slot_[j]].data();
  }

  // Columns that were needed in about one iteration in five or more come along with the members:
  // in a pass of their own they would cost more than that.
  void add_demanded() {
    const std::size_t members = wanted_.size();
    for (Index j = 0; j < columns(); ++j) {
      demand_[j] *= kFading;
      if (demand_[j] < kOften || wanted_.size() >= members + kDemanded) continue;
      if (std::find(wanted_.begin(), wanted_.begin() + static_cast<std::ptrdiff_t>(members), j) ==
          wanted_.begin() + static_cast<std::ptrdiff_t>(members)) {
        wanted_.push_back(j);
      }
    }
  }

  // Column j, and those that explain most among columns that are out and not made yet.
  void companions_of(Index j) {
    double score[kCompanions];
    Index which[kCompanions], count = 0;
    for (Index i = 0; i < columns(); ++i) {
      if (i == j || slot_[i] >= 0 || !(d()[i] > ridge_)) continue;
      const double own = c()[i] * c()[i] / d()[i];
      if (count == kCompanions && !(own > score[count - 1])) continue;
      Index at = count < kCompanions ? count++ : count - 1;
      for (; at > 0 && score[at - 1] < own; --at)
        score[at] = score[at - 1], which[at] = which[at - 1];
      score[at] = own, which[at] = i;
    }
    wanted_.assign(1, j);
    wanted_.insert(wanted_.end(), which, which + count);
  }

  // The Gram columns of some, and if the weights are new all that depends on them alone.
  void make(const std::vector<Index>& which, bool anew) {
    const std::vector<double>& weights = *weights_;
    const Index n = rows_.rows(), count = static_cast<Index>(which.size());
    std::vector<const double*> v;
    std::vector<double*> out;
    if (anew) v.push_back(weights.data()), out.push_back(g_.data());
    if (anew && kappa_) {
      v.push_back(kappa_->data()), out.push_back(products_.data());
      kappa_sum_ = 0;
      for (const double value : *kappa_) kappa_sum_ += value;
    }
    weighted_.resize(static_cast<std::size_t>(count * n));
    while (static_cast<Index>(pool_.size()) < static_cast<Index>(held_.size()) + count) {
      pool_.emplace_back(columns());
    }
    for (Index b = 0; b < count; ++b) {
      double* column = weighted_.data() + b * n;
      rows_.read(which[b], column);
      for (Index r = 0; r < n; ++r) column[r] *= weights[r];
      v.push_back(column);
      slot_[which[b]] = static_cast<Index>(held_.size());
      held_.push_back(which[b]);
      out.push_back(pool_[slot_[which[b]]].data());
    }
    rows_.multiply_all(v.data(), static_cast<Index>(v.size()), out.data(),
                       anew ? weights.data() : nullptr, anew ? diagonal_.data() : nullptr);
    if (anew) take_out_intercept();
    for (Index b = 0; b < count && rows_.intercept(); ++b) {
      double* gram = pool_[slot_[which[b]]].data();
      const double factor = g_[which[b]] / total_precision_;
      for (Index i = 0; i < columns(); ++i) gram[i] -= factor * g_[i];
    }
  }

  void take_out_intercept() {
    double sum = 0;
    for (const double weight : *weights_) sum += weight;
    total_precision_ = sum + intercept_precision_;
    if (!rows_.intercept()) {
      std::fill(g_.begin(), g_.end(), 0.0);
      b_ = products_;
      return;
    }
    for (Index i = 0; i < columns(); ++i) {
      diagonal_[i] -= g_[i] * g_[i] / total_precision_;
      b_[i] = products_[i] - g_[i] * kappa_sum_ / total_precision_;
    }
  }

  void refresh() {
    const std::vector<Index> members = std::move(members_);
    members_.clear();
    gram_.clear();
    factor_.clear();
    for (const Index j : members) {
      const double* gram = pool_[slot_[j]].data();
      if (!(new_row(j, gram) > 0)) continue;
      factor_.append(row_, b_[j]);
      members_.push_back(j);
      gram_.push_back(gram);
    }
    factor_.update();
    scores_.place_members(members_);
    scores_.compute(gram_, factor_, b_, [&](Index i) { return whole(i); });
  }

  const WeightedRows& rows_;
  const double intercept_precision_, least_pivot_;
  const std::vector<double>* weights_ = nullptr;
  const std::vector<double>* kappa_ = nullptr;
  double kappa_sum_ = 0;
  double ridge_ = 1;
  double total_precision_ = 1;
  Factor factor_;
  Scores scores_;
  std::vector<Index> members_;
  std::vector<const double*> gram_;  // Gram columns of the members
  std::vector<double> g_, diagonal_, b_, products_;
  std::vector<std::vector<double>> pool_;  // Gram columns at these weights
  std::vector<Index> slot_;                // where in the pool a column is; -1 if nowhere
  std::vector<Index> held_;                // columns that are in the pool
  std::vector<double> demand_;             // how often each was needed of late
  // Room to work in.
  FlipRow row_;
  std::vector<Index> wanted_;
  std::vector<double> cross_, weighted_;
};

}  // namespace ellzero
