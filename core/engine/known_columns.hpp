// Some columns of a quadratic of rows in float64, and their products with each other: what a
// support and those that may join it have to know of themselves. A column is read once, when it is
// learnt.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "data/quadratic.hpp"

namespace ellzero {

class KnownColumns {
 public:
  // The quadratic has rows, and outlives this.
  explicit KnownColumns(const Quadratic& quadratic)
      : quadratic_(quadratic), place_(quadratic.columns(), -1) {}

  Index count() const { return static_cast<Index>(columns_.size()); }
  bool has(Index j) const { return place_[j] >= 0; }

  void learn(Index j) {
    if (has(j)) return;
    Values own(new double[quadratic_.rows()]);
    quadratic_.read_column(j, own.get());
    place_[j] = count();
    columns_.push_back({j, std::move(own), std::vector<double>(count() + 1, kUnknown)});
  }

  // out[s] = G(j, which[s]), all of which are known and none of which is j.
  void products(Index j, const std::vector<Index>& which, double* out) {
    const Index own = place_[j];
    missing_.clear();
    others_.clear();
    for (std::size_t s = 0; s < which.size(); ++s) {
      out[s] = product(own, place_[which[s]]);
      if (out[s] == out[s]) continue;
      missing_.push_back(s);
      others_.push_back(columns_[place_[which[s]]].values.get());
    }
    if (missing_.empty()) return;
    made_.resize(missing_.size());
    dots(columns_[own].values.get(), others_.data(), static_cast<Index>(others_.size()),
         quadratic_.rows(), made_.data());
    for (std::size_t i = 0; i < missing_.size(); ++i) {
      out[missing_[i]] = made_[i];
      product(own, place_[which[missing_[i]]]) = made_[i];
    }
  }

  void forget() {
    for (const Column& column : columns_) place_[column.number] = -1;
    columns_.clear();
  }

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  using Values = std::unique_ptr<double[]>;
  struct Column {
    Index number;
    Values values;
    std::vector<double> products;  // with those that were learnt before it, and with itself
  };

  double& product(Index one, Index other) {
    return columns_[std::max(one, other)].products[std::min(one, other)];
  }

  const Quadratic& quadratic_;
  std::vector<Index> place_;  // of every column among those that are known; -1 of the others
  std::vector<Column> columns_;
  // Room to work in.
  std::vector<std::size_t> missing_;
  std::vector<const double*> others_;
  std::vector<double> made_;
};

}  // namespace ellzero
