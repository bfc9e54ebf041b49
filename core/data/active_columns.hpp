// Some columns of a sparse X, more and more of them, and their products with each other. With f the
// inverse scales, m the means, w the weights of rows and W their sum,
//
//   G_ij = f_i f_j (sum over rows of w x_i x_j  -  W m_i m_j)
//
// The columns of most entries are active. With these, sums are made of the rows in which column j
// is not zero, and cost the entries of these rows; with any other active column they cost the
// entries of that. Where means are large beside deviations from them the difference would lose
// digits: products with such heavy columns, which are few, are those of deviations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/prepared_columns.hpp"
#include "data/quadratic.hpp"
#include "data/sparse_entries.hpp"

namespace ellzero {

class ActiveColumns {
 public:
  // Columns whose mean is so large: the share of the mean in their sum of squares. Dead ones are
  // none.
  static bool is_heavy(const Quadratic& whole, Index j) {
    constexpr double kHeavy = 5;
    const double mean = whole.mean[j] * whole.inverse_scale[j];
    return whole.weight * mean * mean > kHeavy * kHeavy;
  }

  // All are kept by the caller for as long as this lives.
  ActiveColumns(const Quadratic& whole, const PreparedColumns& z, const SparseEntries& entries)
      : whole_(whole),
        z_(z),
        entries_(entries),
        ranks_(entries.ranks()),
        number_(whole.columns(), -1),
        sums_(entries.frequent(), 0.0),
        dense_(z.rows(), 0.0) {
    for (Index j = 0; j < whole.columns(); ++j) {
      if (is_heavy(whole, j)) heavy_.push_back(j);
    }
    join(heavy_);
  }

  const Quadratic& whole() const { return whole_; }
  const SparseEntries& entries() const { return entries_; }
  Index size() const { return static_cast<Index>(sorted_.size()); }
  bool has(Index j) const { return number_[j] >= 0; }
  // Active columns are numbered in the order of all: of equals, the first stays the first.
  Index number(Index j) const { return number_[j]; }
  Index column(Index number) const { return sorted_[number]; }
  const std::vector<Index>& columns() const { return sorted_; }

  void join(const std::vector<Index>& columns) {
    const std::size_t before = joined_.size();
    for (const Index j : columns) {
      if (has(j)) continue;
      number_[j] = 0;
      joined_.push_back(j);
      if (ranks_[j] >= entries_.frequent()) {
        entries_.read_column(j, column_);
        rare_.insert(rare_.end(), column_.begin(), column_.end());
      }
      rare_ends_.push_back(rare_.size());
    }
    sorted_ = joined_;
    std::sort(sorted_.begin(), sorted_.end());
    for (Index i = 0; i < size(); ++i) number_[sorted_[i]] = static_cast<std::int32_t>(i);
    order_.resize(joined_.size());
    for (std::size_t i = 0; i < joined_.size(); ++i) order_[i] = number_[joined_[i]];
    // What is known is completed from the side of the new columns, if they are the fewer.
    if (joined_.size() > 2 * before) known_.clear();
    if (known_.empty()) return;
    for (std::size_t i = before; i < joined_.size(); ++i) {
      const Index j = joined_[i];
      sum_with(j);
      for (auto& [other, products] : known_) {
        const bool frequent = ranks_[other] < entries_.frequent();
        const double sum =
            frequent ? sums_[ranks_[other]] : entries_.column_sum(other, dense_.data());
        products.push_back(product(other, j, sum));
      }
      forget_sums();
    }
  }

  // out[i] = G(column(i), j), for a column that is active.
  void gram_column(Index j, double* out, const Context& context) {
    const std::vector<double>& products = known(j, context);
    for (std::size_t i = 0; i < products.size(); ++i) out[order_[i]] = products[i];
  }

 private:
  static constexpr double kKept = 3e7;  // numbers

  const std::vector<double>& known(Index j, const Context& context) {
    const auto found = known_.find(j);
    if (found != known_.end()) return found->second;
    context.check();
    if (static_cast<double>(known_.size()) * static_cast<double>(size()) > kKept) known_.clear();
    sum_with(j);
    std::vector<double> products(joined_.size());
    for (std::size_t i = 0; i < joined_.size(); ++i) {
      products[i] = product(joined_[i], j, sum_of(i));
    }
    forget_sums();
    return known_.emplace(j, std::move(products)).first->second;
  }

  // The sums of products of column j with every frequent one, and what makes any other.
  void sum_with(Index j) {
    entries_.read_column(j, column_);
    for (const auto& [x, r] : column_) {
      const double weighted = dense_[r] = x * weight(r);
      for (const auto& entry : entries_.row(r).frequent) {
        sums_[entry.rank] += weighted * entry.value;
      }
    }
  }
  void forget_sums() {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    for (const auto& place : column_) dense_[place.row] = 0;
  }
  double weight(Index r) const {
    const double* root = z_.standardisation().root_weight;
    return root ? root[r] * root[r] : 1.0;
  }

  // With the column that joined as the i-th.
  double sum_of(std::size_t i) const {
    const std::int32_t rank = ranks_[joined_[i]];
    if (rank < entries_.frequent()) return sums_[rank];
    double sum = 0;
    for (std::size_t e = i > 0 ? rare_ends_[i - 1] : 0; e < rare_ends_[i]; ++e) {
      sum += rare_[e].value * dense_[rare_[e].row];
    }
    return sum;
  }

  // Of two columns, of which that is the sum of products.
  double product(Index i, Index j, double sum) {
    if (!heavy_.empty()) {
      if (is_heavy(whole_, j)) return heavy_product(j, i);
      if (is_heavy(whole_, i)) return heavy_product(i, j);
    }
    const double scales = whole_.inverse_scale[i] * whole_.inverse_scale[j];
    return scales * (sum - whole_.weight * (whole_.mean[i] * whole_.mean[j]));
  }

  // Of a heavy column with any other: of deviations, for all others at once.
  double heavy_product(Index heavy, Index other) {
    if (is_heavy(whole_, other) && other < heavy) std::swap(heavy, other);
    std::vector<double>& products = heavy_products_[heavy];
    if (products.empty()) {
      products.resize(whole_.columns());
      double* out = products.data();
      z_.products(ChosenColumns(z_, &heavy, 1), &out, Context{1, nullptr});
    }
    return products[other];
  }

  const Quadratic& whole_;
  const PreparedColumns& z_;
  const SparseEntries& entries_;
  const std::vector<std::int32_t>& ranks_;
  std::vector<Index> heavy_;
  std::vector<std::int32_t> number_;        // by column; -1 where it is not active
  std::vector<Index> joined_;               // in the order in which they came
  std::vector<SparseEntries::Place> rare_;  // the entries of those that are not frequent
  std::vector<std::size_t> rare_ends_;      // where those of each end
  std::vector<Index> sorted_;
  std::vector<std::int32_t> order_;                       // the numbers of joined_
  std::unordered_map<Index, std::vector<double>> known_;  // Gram columns, by joined_
  std::unordered_map<Index, std::vector<double>> heavy_products_;
  // Zero but while they are used: sums by rank, and the column that they are made with, by row
  std::vector<double> sums_, dense_;
  std::vector<SparseEntries::Place> column_;
};

// The quadratic of the columns that are active when it is made.
class ActiveQuadratic final : public Quadratic {
 public:
  explicit ActiveQuadratic(ActiveColumns& active)
      : Quadratic(preparation(active), kCacheBytes), active_(active), columns_(active.columns()) {}

  // Which they are, among all.
  const std::vector<Index>& chosen() const { return columns_; }

  void gram_columns(const Index* which, Index count, double* const* out,
                    const Context& context) const override {
    for (Index b = 0; b < count; ++b) active_.gram_column(columns_[which[b]], out[b], context);
  }
  void cross_products(const Index* which, Index count, double* out) const override {
    std::vector<double> column(columns());
    for (Index a = 0; a < count; ++a) {
      active_.gram_column(columns_[which[a]], column.data(), Context{1, nullptr});
      for (Index b = 0; b < count; ++b) out[a * count + b] = column[which[b]];
    }
  }
  // Making several columns together costs what making each alone does.
  double entries() const override { return 0; }
  double residual_products(const std::vector<Index>& support, const double* beta, double* products,
                           const Context& context) const override {
    std::vector<Index> columns;
    for (const Index i : support) columns.push_back(columns_[i]);
    return active_.whole().residual_products(columns, beta, products, context);
  }

 private:
  static constexpr double kCacheBytes = 5e8;

  static Preparation preparation(const ActiveColumns& active) {
    const Quadratic& whole = active.whole();
    Preparation out(active.size(), whole.weight, whole.mean_y, whole.yy);
    for (Index i = 0; i < active.size(); ++i) {
      const Index j = active.column(i);
      out.mean[i] = whole.mean[j];
      out.inverse_scale[i] = whole.inverse_scale[j];
      out.zy[i] = whole.zy[j];
    }
    return out;
  }

  ActiveColumns& active_;
  const std::vector<Index> columns_;
};

}  // namespace ellzero
