// The columns that are in, their Gram columns, and the factor of least squares on them
// (factor.hpp). A call that makes Gram columns may throw; then nothing is changed.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "engine/blocks.hpp"
#include "engine/factor.hpp"
#include "engine/row_panel.hpp"

namespace ellzero {

class HeldColumns {
 public:
  // The gains of all units, asked for if Gram columns have to be made: the best come along.
  using Gains = std::function<std::vector<double>()>;

  // What can be come back to.
  struct Snapshot {
    std::vector<Index> columns;
    Factor factor;
    double drift;
    int flips;
  };

  // `zy` are the products of all columns with the response, wherever that may change.
  HeldColumns(const GroupBases& bases, const std::vector<double>& zy, const GramUser& cache,
              double whole)
      : bases_(bases), zy_(zy), cache_(cache), whole_(whole) {}
  HeldColumns(const HeldColumns&) = delete;
  HeldColumns& operator=(const HeldColumns&) = delete;
  ~HeldColumns() {
    for (const Index j : columns_) cache_.release(j);
  }

  Index size() const { return static_cast<Index>(columns_.size()); }
  const std::vector<Index>& columns() const { return columns_; }
  const std::vector<const double*>& gram() const { return gram_; }
  const Factor& factor() const { return factor_; }
  // Flips add up rounding of about epsilon / sqrt(pivot) each, from the first removal on: begin
  // anew before it could matter.
  bool drifted() const { return flips_ >= kFlipBound || drift_ > kDriftBound; }

  // Where the columns of some units are, increasing.
  std::vector<Index> places_of(const std::vector<Index>& units) const {
    std::vector<Index> places;
    for (std::size_t s = 0; s < columns_.size(); ++s) {
      const Index own = bases_.unit_of[columns_[s]];
      if (std::find(units.begin(), units.end(), own) != units.end()) {
        places.push_back(static_cast<Index>(s));
      }
    }
    return places;
  }

  bool could_insert(Index column, double least_pivot, const Gains& gains) {
    const double* gram = acquire(column, gains);
    const bool can = new_row(column, gram, least_pivot) > 0;
    cache_.release(column);
    return can;
  }

  // Inserts those columns that are independent of the ones before them; `rows` are their flips.
  // Returns how many there are.
  Index insert(const std::vector<Index>& columns, double least_pivot, const Gains& gains,
               FlipRows& rows) {
    const std::vector<const double*> gram = acquire_all(columns, gains);
    rows.clear(size() + static_cast<Index>(columns.size()));
    double drift = 0;
    append_all(columns, gram, least_pivot, [&](double pivot) {
      factor_.add(row_);
      rows.drift += 1 / std::min(pivot, 1.0);
      drift += 1 / std::sqrt(std::min(pivot, 1.0));
      std::copy(row_.a.begin(), row_.a.end(), rows.add(row_.q));
    });
    rows.shorten(size());  // by the places of those that stayed out
    // To append columns to a sound factor is what a fresh start does too: it would be no sounder.
    account_for(rows.count(), drift_ > 0 ? drift : 0);
    return rows.count();
  }

  // Removes the columns at some places, increasing; `rows` are their flips, in the order of the
  // columns before, and `gram` are the Gram columns of these, good until let_go().
  void remove(const std::vector<Index>& places, FlipRows& rows, std::vector<const double*>& gram) {
    gram = gram_;
    rows.clear(size());
    std::vector<Index> slots(columns_.size());
    for (std::size_t s = 0; s < slots.size(); ++s) slots[s] = static_cast<Index>(s);
    double drift = 0;
    for (auto place = places.rbegin(); place != places.rend(); ++place) {
      factor_.remove(*place, row_);
      double* row = rows.add(row_.q);
      for (std::size_t s = 0; s < row_.a.size(); ++s) row[slots[s]] = row_.a[s];
      const double own = std::max(std::fabs(row_.a[*place]), 1.0);
      rows.drift += own * own;
      drift += own;
      slots.erase(slots.begin() + *place);
      left_.push_back(columns_[*place]);
      gram_.erase(gram_.begin() + *place);
      columns_.erase(columns_.begin() + *place);
    }
    account_for(rows.count(), drift);
  }
  void let_go() {
    for (const Index column : left_) cache_.release(column);
    left_.clear();
  }

  // Holds other columns instead, those that are independent of the ones before them.
  void start_at(const std::vector<Index>& columns, double least_pivot, const Gains& gains) {
    const std::vector<const double*> gram = acquire_all(columns, gains);
    drop_all();
    append_all(columns, gram, least_pivot, [](double) {});
    factor_.update();
  }
  // The rows of M, as if all were inserted one after the other.
  void all_rows(FlipRows& rows) const {
    rows.clear(size());
    for (Index r = 0; r < size(); ++r) {
      double q = 0;
      for (Index s = 0; s <= r; ++s) q += factor_.row(r)[s] * zy_[columns_[s]];
      std::copy_n(factor_.row(r), r + 1, rows.add(q));
    }
  }

  // After the response has changed: the columns and their factor stay.
  void take_response() {
    std::vector<double> b;
    for (const Index column : columns_) b.push_back(zy_[column]);
    factor_.set_products(b);
  }

  Snapshot save() const { return {columns_, factor_, drift_, flips_}; }
  void restore(const Snapshot& then, const Gains& gains) {
    std::vector<const double*> gram = acquire_all(then.columns, gains);
    drop_all();
    columns_ = then.columns;
    gram_ = std::move(gram);
    factor_ = then.factor;
    drift_ = then.drift;
    flips_ = then.flips;
  }

  static constexpr double kDriftBound = 2e4;

 private:
  static constexpr int kFlipBound = 500;

  void account_for(Index flips, double drift) {
    drift_ += drift;
    flips_ += static_cast<int>(flips);
  }
  void drop_all() {
    for (const Index j : columns_) cache_.release(j);
    columns_.clear();
    gram_.clear();
    factor_.clear();
    drift_ = 0;
    flips_ = 0;
  }

  double new_row(Index column, const double* gram, double least_pivot) {
    cross_.resize(columns_.size());
    for (std::size_t s = 0; s < columns_.size(); ++s) cross_[s] = gram[columns_[s]];
    return factor_.new_row(cross_.data(), whole_, zy_[column], least_pivot, row_);
  }
  // Appends columns that were acquired, those that are independent of the ones before them, and
  // lets the others go. After each, `appended` is given its pivot.
  template <class Appended>
  void append_all(const std::vector<Index>& columns, const std::vector<const double*>& gram,
                  double least_pivot, const Appended& appended) {
    const Index count = static_cast<Index>(columns.size());
    for (Index begin = 0; begin < count; begin += kPanelVectors) {
      const Index some = std::min(kPanelVectors, count - begin);
      if (some > 1)
        panel_.begin(factor_, columns_, columns.data() + begin, gram.data() + begin, some);
      for (Index i = 0; i < some; ++i) {
        const Index column = columns[begin + i];
        const double pivot = some > 1
                                 ? panel_.next_row(factor_, whole_, zy_[column], least_pivot, row_)
                                 : new_row(column, gram[begin], least_pivot);
        if (!(pivot > 0)) {
          cache_.release(column);
          continue;
        }
        factor_.append(row_, zy_[column]);
        columns_.push_back(column);
        gram_.push_back(gram[begin + i]);
        appended(pivot);
      }
    }
  }

  std::vector<const double*> acquire_all(const std::vector<Index>& columns, const Gains& gains) {
    std::vector<const double*> gram;
    try {
      for (const Index column : columns) gram.push_back(acquire(column, gains));
    } catch (...) {
      for (std::size_t s = 0; s < gram.size(); ++s) cache_.release(columns[s]);
      throw;
    }
    return gram;
  }
  // If it has to be made, the rest of its group comes along, then the best of others.
  const double* acquire(Index column, const Gains& gains) {
    if (cache_.has(column)) return cache_.acquire(column);
    std::vector<Index> companions;
    const auto is_full = [&] { return static_cast<Index>(companions.size()) + 1 >= kBlockColumns; };
    const auto add = [&](Index unit) {
      for (Index i = 0; i < bases_.units[unit].width() && !is_full(); ++i) {
        const Index j = bases_.column(unit, i);
        if (j != column && !cache_.has(j)) companions.push_back(j);
      }
    };
    const Index own = bases_.unit_of[column];
    add(own);
    std::vector<double> gain = gains();
    while (!gain.empty() && !is_full()) {
      const auto best = std::max_element(gain.begin(), gain.end());
      if (!(*best > 0)) break;
      *best = -1;
      if (best - gain.begin() != own) add(best - gain.begin());
    }
    return cache_.acquire(column, companions);
  }

  const GroupBases& bases_;
  const std::vector<double>& zy_;
  const GramUser cache_;
  const double whole_;
  std::vector<Index> columns_;       // in the order of the factor
  std::vector<const double*> gram_;  // their Gram columns
  Factor factor_;
  std::vector<Index> left_;  // removed, and not let go yet
  double drift_ = 0;
  int flips_ = 0;
  FlipRow row_;  // room to work in
  std::vector<double> cross_;
  RowPanel panel_;
};

}  // namespace ellzero
