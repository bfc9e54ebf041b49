// What least squares on a support says of every group g, in its orthonormal basis:
//
//   c_g = Z_g'(y - Z_S beta)   and   D_g = (1 + tau) I - G_gS A^-1 G_Sg
//
// the block Schur complement. Inserting g lowers the energy by half of c_g' D_g^-1 c_g; columns of
// g whose pivot is down to rounding lie in the span of S and of those before them, and stay out.
// With T = G_{:,S} a, one column for each row a and q of a flipped column (factor.hpp), an
// insertion takes T q from c and T_g T_g' from D_g; a removal gives them back.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "data/grouped_quadratic.hpp"
#include "engine/scores.hpp"

namespace ellzero {

// Flips whose effect on all groups is taken at once: rows of equal length, and their q.
struct FlipRows {
  Index length = 0;
  std::vector<double> a, q;
  double drift =
      0;  // the sum of 1 / pivot: times epsilon, what their effect on others is rounded by

  void clear(Index row_length) {
    length = row_length;
    drift = 0;
    a.clear();
    q.clear();
  }
  Index count() const { return static_cast<Index>(q.size()); }
  double* add(double its_q) {
    a.resize(a.size() + length, 0.0);
    q.push_back(its_q);
    return a.data() + a.size() - length;
  }
  const double* row(Index r) const { return a.data() + r * length; }
  // Cuts what is beyond a length off all rows.
  void shorten(Index shorter) {
    if (shorter >= length) return;
    for (Index r = 0; r < count(); ++r) {
      std::copy_n(a.data() + r * length, shorter, a.data() + r * shorter);
    }
    length = shorter;
    a.resize(count() * length);
  }
};

class Blocks {
 public:
  static constexpr Index kRows = 4;  // that are combined in one pass over the Gram columns

  explicit Blocks(const GroupBases& bases) : bases_(&bases) { lay_out(bases.layout); }

  // Takes the blocks of some units out of others: those that `wanted` says, by unit.
  void select(const Blocks& all, const std::vector<char>& wanted, std::vector<Index>& columns) {
    const GroupLayout& from = *all.layout_;
    own_ = std::make_unique<GroupLayout>();
    columns.clear();
    std::vector<std::vector<Index>> places;
    for (const GroupLayout::Class& c : from.classes) {
      std::vector<Index> units, where;
      for (Index n = 0; n < c.count; ++n) {
        if (!wanted[c.units[n]]) continue;
        units.push_back(c.units[n]);
        where.push_back(n);
      }
      own_->add(c.width, std::move(units));
      places.push_back(std::move(where));
    }
    lay_out(*own_);
    for (std::size_t k = 0; k < from.classes.size(); ++k) {
      const GroupLayout::Class &c = from.classes[k], &to = own_->classes[k];
      for (Index i = 0; i < c.width; ++i) {
        for (const Index n : places[k]) columns.push_back(c.begin + i * c.count + n);
      }
      for (Index e = 0; e < triangle(c.width); ++e) {
        for (Index n = 0; n < to.count; ++n) {
          d_[begins_[k] + e * to.count + n] = all.d_[all.begins_[k] + e * c.count + places[k][n]];
        }
      }
    }
    for (std::size_t s = 0; s < columns.size(); ++s) c_[s] = all.c_[columns[s]];
  }
  Index columns() const { return layout_->columns; }
  const GroupBases& bases() const { return *bases_; }
  // Takes the layout of others, which have to outlive it.
  void copy_layout(const Blocks& other) { lay_out(*other.layout_); }
  // Takes the numbers of others of the same layout.
  void copy_from(const Blocks& other) {
    c_ = other.c_;
    d_ = other.d_;
  }

  // Of the empty support.
  void reset(const std::vector<double>& zy, double whole) {
    c_ = zy;
    std::fill(d_.begin(), d_.end(), 0.0);
    for (std::size_t k = 0; k < begins_.size(); ++k) {
      const GroupLayout::Class& c = layout_->classes[k];
      for (Index i = 0; i < c.width; ++i) {
        std::fill_n(d_.begin() + begins_[k] + triangle(i, i) * c.count, c.count, whole);
      }
    }
  }

  // Another c, of all columns.
  void set_c(std::vector<double> c) { c_ = std::move(c); }

  // T, one row for each flip, of all columns; or of those classes that are said to be open.
  void combine(const std::vector<const double*>& gram, const FlipRows& flips,
               std::vector<double>& t, const std::vector<char>& open = {}) const {
    const Index p = layout_->columns;
    if (static_cast<Index>(t.size()) < flips.count() * p) t.resize(flips.count() * p);
    for (std::size_t k = 0, next = 0; k < begins_.size(); k = next) {
      const bool wanted = is_open(open, k);
      for (next = k + 1; next < begins_.size() && is_open(open, next) == wanted;) ++next;
      if (!wanted) continue;
      const Index begin = layout_->classes[k].begin;
      const Index end = next < begins_.size() ? layout_->classes[next].begin : p;
      for (Index r = 0; r < flips.count(); r += kRows) {
        combine_rows(gram.data(), flips.row(r), flips.length, std::min(kRows, flips.count() - r),
                     flips.length, begin, end, t.data() + r * p + begin, p);
      }
    }
  }
  // `sign` is -1 for insertions, +1 for removals.
  void apply(const std::vector<double>& t, const FlipRows& flips, double sign,
             const std::vector<char>& open = {}) {
    for (std::size_t k = 0; k < begins_.size(); ++k) {
      const GroupLayout::Class& c = layout_->classes[k];
      if (c.width == 0 || !is_open(open, k)) continue;
      update_blocks(t.data() + c.begin, layout_->columns, flips.q.data(), flips.count(), sign,
                    c.width, c.count, c_.data() + c.begin, d_.data() + begins_[k]);
    }
  }

  // Nothing of a unit is left to be inserted.
  void close(Index unit) {
    for (Index i = 0; i < bases_->units[unit].width(); ++i) {
      c(unit, i) = 0;
      for (Index j = 0; j <= i; ++j) d(unit, i, j) = 0;
    }
  }
  double& c(Index unit, Index i) { return c_[bases_->column(unit, i)]; }
  double c(Index unit, Index i) const { return c_[bases_->column(unit, i)]; }
  double& d(Index unit, Index i, Index j) { return d_[at(unit, i, j)]; }
  double d(Index unit, Index i, Index j) const { return d_[at(unit, i, j)]; }

  // By unit: half of c_g' D_g^-1 c_g, or -1/2 if it can't be inserted, and how many of its columns
  // can.
  void gains(std::vector<double>& gain, std::vector<double>& rank,
             std::vector<double>* least = nullptr) const {
    gain.assign(bases_->units.size(), -0.5);
    rank.assign(bases_->units.size(), 0.0);
    if (least) least->assign(bases_->units.size(), 0.0);
    for (std::size_t k = 0; k < begins_.size(); ++k) {
      const GroupLayout::Class& c = layout_->classes[k];
      if (c.width == 0 || c.count == 0) continue;
      score_.resize(c.count);
      rank_.resize(c.count);
      least_.resize(c.count);
      block_scores(c_.data() + c.begin, d_.data() + begins_[k], c.width, c.count, Scores::kSpan,
                   score_.data(), rank_.data(), least ? least_.data() : nullptr);
      for (Index n = 0; n < c.count; ++n) {
        gain[c.units[n]] = 0.5 * score_[n];
        rank[c.units[n]] = rank_[n];
        if (least) (*least)[c.units[n]] = least_[n];
      }
    }
  }

 private:
  static bool is_open(const std::vector<char>& open, std::size_t kind) {
    return open.empty() || open[kind];
  }
  Index at(Index unit, Index i, Index j) const {
    const GroupBases::Unit& u = bases_->units[unit];
    return begins_[u.kind] + triangle(i, j) * layout_->classes[u.kind].count + u.place;
  }
  void lay_out(const GroupLayout& layout) {
    layout_ = &layout;
    begins_.clear();
    Index length = 0;
    for (const GroupLayout::Class& c : layout.classes) {
      begins_.push_back(length);
      length += triangle(c.width) * c.count;
    }
    d_.resize(length);
    c_.resize(layout.columns);
  }

  const GroupBases* bases_;
  const GroupLayout* layout_;         // of all units, or of those selected
  std::unique_ptr<GroupLayout> own_;  // of those selected
  std::vector<Index> begins_;         // of each class in d_
  std::vector<double> c_, d_;
  mutable std::vector<double> score_, rank_, least_;  // room to work in
};

// Half of c' D^-1 c by elimination, over the columns whose pivots are above the floor. D is n by n,
// its lower triangle row by row; both are overwritten.
inline double eliminate(std::vector<double>& d, std::vector<double>& c, double floor,
                        Index* rank = nullptr) {
  const Index n = static_cast<Index>(c.size());
  double sum = 0;
  Index pivots = 0;
  for (Index i = 0; i < n; ++i) {
    const double pivot = d[triangle(i, i)];
    if (!(pivot > floor)) continue;
    ++pivots;
    sum += c[i] * c[i] / pivot;
    for (Index a = i + 1; a < n; ++a) {
      const double factor = d[triangle(a, i)] / pivot;
      if (factor == 0) continue;
      c[a] -= factor * c[i];
      for (Index b = i + 1; b <= a; ++b) d[triangle(a, b)] -= factor * d[triangle(b, i)];
    }
  }
  if (rank) *rank = pivots;
  return pivots > 0 ? 0.5 * sum : -0.5;
}

}  // namespace ellzero
