// The quadratic of columns that come in groups, each group as an orthonormal basis of what its
// columns span:
//
//   Z~_g = Z_g B_g',  B_g lower triangular,  Z~_g'Z~_g = I
//
// over those columns of the group that don't depend on the ones before them. Which columns a group
// was given by, dummies against whichever level, changes nothing but the basis: no energy, and no
// ridge, for a ridge here is one on |Z_g beta_g|^2, which of a column of unit norm is beta^2.
//
// The basis comes from the Gram matrix: nothing is copied, and sparse columns stay sparse. Groups
// of one width make a class; in it, the first columns of all groups come first, then all the second
// ones: what is done to every group is done in loops over groups (base/block_kernels.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/block_kernels.hpp"
#include "data/quadratic.hpp"

namespace ellzero {

// Where the columns of some groups are: classes of one width each.
struct GroupLayout {
  struct Class {
    Index width;
    Index count;
    Index begin;  // of its columns
    std::vector<Index> units;
  };
  std::vector<Class> classes;
  Index columns = 0;

  void add(Index width, std::vector<Index> units) {
    const Index count = static_cast<Index>(units.size());
    classes.push_back({width, count, columns, std::move(units)});
    columns += width * count;
  }
};

// The bases of all groups, and where their columns are.
struct GroupBases {
  struct Unit {
    std::vector<Index> columns;  // of the base, that don't depend on the ones before them
    std::vector<double> b;       // B_g, row by row
    Index kind = 0;              // its class
    Index place = 0;             // in its class
    double inflation = 1;        // the most that 1 / pivot is of any of its columns
    Index width() const { return static_cast<Index>(columns.size()); }
  };
  struct ClassBases {
    std::vector<double> b;      // of all its groups, side by side
    std::vector<Index> source;  // the base columns, in the order of its own
  };
  // A column whose pivot is below this depends on the ones before it.
  static constexpr double kDependent = 1e-9;

  GroupBases(const Quadratic& base, const std::vector<std::vector<Index>>& groups) {
    std::map<Index, std::vector<Index>> by_width;
    for (const std::vector<Index>& group : groups) {
      units.push_back(basis(base, group));
      by_width[units.back().width()].push_back(static_cast<Index>(units.size()) - 1);
    }
    for (const auto& [width, members] : by_width) {
      const Index count = static_cast<Index>(members.size());
      ClassBases c;
      c.b.resize(triangle(width) * count);
      c.source.resize(width * count);
      for (Index n = 0; n < count; ++n) {
        Unit& unit = units[members[n]];
        unit.kind = static_cast<Index>(layout.classes.size());
        unit.place = n;
        for (Index i = 0; i < width; ++i) {
          c.source[i * count + n] = unit.columns[i];
          for (Index j = 0; j <= i; ++j) {
            c.b[triangle(i, j) * count + n] = unit.b[triangle(i, j)];
          }
        }
      }
      layout.add(width, members);
      of_classes.push_back(std::move(c));
    }
    columns = layout.columns;
    home.assign(base.columns(), -1);
    for (std::size_t u = 0; u < groups.size(); ++u) {
      for (const Index j : groups[u]) home[j] = static_cast<Index>(u);
    }
    unit_of.resize(columns);
    rank_of.resize(columns);
    for (std::size_t u = 0; u < units.size(); ++u) {
      for (Index i = 0; i < units[u].width(); ++i) {
        unit_of[column(u, i)] = static_cast<Index>(u);
        rank_of[column(u, i)] = i;
      }
    }
  }

  // Column i of the basis of a unit.
  Index column(Index unit, Index i) const {
    const Unit& u = units[unit];
    const GroupLayout::Class& c = layout.classes[u.kind];
    return c.begin + i * c.count + u.place;
  }

  std::vector<Unit> units;
  GroupLayout layout;
  std::vector<ClassBases> of_classes;
  Index columns = 0;
  std::vector<Index> unit_of, rank_of;  // by column: its unit, and which of its columns
  std::vector<Index> home;              // by column of the base: its unit

 private:
  static Unit basis(const Quadratic& base, const std::vector<Index>& group) {
    const Index m = static_cast<Index>(group.size());
    std::vector<double> gram(m * m);
    base.cross_products(group.data(), m, gram.data());
    Unit unit;
    std::vector<Index> kept;  // places in the group
    std::vector<double> w;
    for (Index i = 0; i < m; ++i) {
      if (!(base.inverse_scale[group[i]] > 0)) continue;
      const Index r = static_cast<Index>(kept.size());
      // w = B G_{kept, i}; the pivot is what is left of G_ii = 1
      w.assign(r, 0.0);
      double pivot = 1;
      for (Index a = 0; a < r; ++a) {
        for (Index s = 0; s <= a; ++s) w[a] += unit.b[triangle(a, s)] * gram[i * m + kept[s]];
        pivot -= w[a] * w[a];
      }
      if (!(pivot > kDependent)) continue;
      const double root = std::sqrt(pivot);
      unit.b.resize(triangle(r + 1), 0.0);
      for (Index s = 0; s < r; ++s) {
        double sum = 0;
        for (Index a = s; a < r; ++a) sum += w[a] * unit.b[triangle(a, s)];
        unit.b[triangle(r, s)] = -sum / root;
      }
      unit.b[triangle(r, r)] = r == 0 ? 1.0 : 1 / root;
      unit.inflation = std::max(unit.inflation, 1 / pivot);
      kept.push_back(i);
      unit.columns.push_back(group[i]);
    }
    return unit;
  }
};

class GroupedQuadratic final : public Quadratic {
 public:
  GroupedQuadratic(const Quadratic& base, const std::vector<std::vector<Index>>& groups,
                   double cache_bytes)
      : GroupedQuadratic(base, GroupBases(base, groups), cache_bytes) {}

  const Quadratic& base() const { return base_; }
  const GroupBases& bases() const { return bases_; }

  void gram_columns(const Index* which, Index count, double* const* out,
                    const Context& context) const override {
    const Index p = base_.columns();
    std::vector<Index> wanted;
    for (Index b = 0; b < count; ++b) {
      const GroupBases::Unit& unit = bases_.units[bases_.unit_of[which[b]]];
      for (Index j = 0; j <= bases_.rank_of[which[b]]; ++j) wanted.push_back(unit.columns[j]);
    }
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    const GramUser source(base_.cache(), context);
    std::map<Index, const double*> held;
    const auto let_go = [&] {
      for (const auto& [j, column] : held) source.release(j);
    };
    try {
      for (std::size_t s = 0; s < wanted.size(); ++s) {
        std::vector<Index> companions;
        if (!source.has(wanted[s])) {
          for (std::size_t next = s + 1;
               next < wanted.size() && companions.size() + 1 < std::size_t(kBlockColumns); ++next) {
            if (!source.has(wanted[next])) companions.push_back(wanted[next]);
          }
        }
        held[wanted[s]] = source.acquire(wanted[s], companions);
      }
    } catch (...) {
      let_go();
      throw;
    }
    std::vector<double> v(p), shuffled(bases_.columns);
    std::vector<const double*> columns;
    for (Index b = 0; b < count; ++b) {
      const GroupBases::Unit& unit = bases_.units[bases_.unit_of[which[b]]];
      const Index i = bases_.rank_of[which[b]];
      columns.clear();
      for (Index j = 0; j <= i; ++j) columns.push_back(held.at(unit.columns[j]));
      combine(columns.data(), unit.b.data() + triangle(i), i + 1, 0, p, v.data());
      to_bases(v.data(), shuffled.data(), out[b]);
      // Within the group it is known.
      for (Index j = 0; j < unit.width(); ++j)
        out[b][bases_.column(bases_.unit_of[which[b]], j)] = 0;
      out[b][which[b]] = 1;
    }
    let_go();
  }

  void cross_products(const Index* which, Index count, double* out) const override {
    std::vector<double> column(bases_.columns);
    double* to = column.data();
    for (Index b = 0; b < count; ++b) {
      gram_columns(which + b, 1, &to, Context{});
      for (Index a = 0; a < count; ++a) out[a * count + b] = column[which[a]];
    }
  }

  double entries() const override { return base_.entries(); }

  double residual_products(const std::vector<Index>& support, const double* beta, double* products,
                           const Context& context) const override {
    if (!has_residuals()) return std::numeric_limits<double>::quiet_NaN();
    const Gathered gathered = gather(support, beta);
    const std::vector<Index> order = gathered.in_order();
    std::vector<Index> columns;
    std::vector<double> coefficients;
    gathered.read(order, columns, coefficients);
    std::vector<double> own(columns.size());
    const double rss = base_.residual_products(columns, coefficients.data(), own.data(), context);
    std::vector<double> product(gathered.columns.size());
    for (std::size_t place = 0; place < order.size(); ++place) product[order[place]] = own[place];
    for (std::size_t s = 0; s < support.size(); ++s) {
      const GroupBases::Unit& unit = bases_.units[bases_.unit_of[support[s]]];
      const Index i = bases_.rank_of[support[s]];
      const double* own_products = product.data() + gathered.begin[s];
      products[s] = 0;
      for (Index j = 0; j <= i; ++j) products[s] += unit.b[triangle(i, j)] * own_products[j];
    }
    return rss;
  }
  bool has_residuals() const override { return base_.has_residuals(); }

  // B_g v_g for every group, of products v with the columns of the base.
  void to_bases(const double* v, double* out) const {
    std::vector<double> shuffled(bases_.columns);
    to_bases(bases_, v, shuffled.data(), out);
  }

  // The columns of the base that some columns are made of, sorted, and their coefficients.
  void to_base(const std::vector<Index>& support, const double* beta, std::vector<Index>& columns,
               std::vector<double>& coefficients) const {
    const Gathered gathered = gather(support, beta);
    gathered.read(gathered.in_order(), columns, coefficients);
  }

 private:
  // The columns of the base that some columns are made of, group by group, and their coefficients.
  struct Gathered {
    std::vector<Index> begin;  // of the group of each of the former
    std::vector<Index> columns;
    std::vector<double> coefficients;
    std::vector<char> used;  // of a group not all may be

    // The places of those used, in the order of the columns.
    std::vector<Index> in_order() const {
      std::vector<Index> order;
      for (std::size_t c = 0; c < columns.size(); ++c) {
        if (used[c]) order.push_back(static_cast<Index>(c));
      }
      std::sort(order.begin(), order.end(),
                [&](Index a, Index b) { return columns[a] < columns[b]; });
      return order;
    }
    void read(const std::vector<Index>& order, std::vector<Index>& its_columns,
              std::vector<double>& its_coefficients) const {
      its_columns.clear();
      its_coefficients.clear();
      for (const Index c : order) {
        its_columns.push_back(columns[c]);
        its_coefficients.push_back(coefficients[c]);
      }
    }
  };
  Gathered gather(const std::vector<Index>& support, const double* beta) const {
    Gathered out;
    std::vector<std::pair<Index, Index>> begins;  // of groups of several columns, as they came
    for (std::size_t s = 0; s < support.size(); ++s) {
      const Index own = bases_.unit_of[support[s]], i = bases_.rank_of[support[s]];
      const GroupBases::Unit& unit = bases_.units[own];
      const auto known = std::find_if(begins.rbegin(), begins.rend(),
                                      [&](const auto& entry) { return entry.first == own; });
      Index begin = static_cast<Index>(out.columns.size());
      if (known != begins.rend()) {
        begin = known->second;
      } else {
        if (unit.width() > 1) begins.emplace_back(own, begin);
        out.columns.insert(out.columns.end(), unit.columns.begin(), unit.columns.end());
        out.coefficients.resize(out.columns.size(), 0.0);
        out.used.resize(out.columns.size(), 0);
      }
      out.begin.push_back(begin);
      for (Index j = 0; j <= i; ++j) {
        out.coefficients[begin + j] += unit.b[triangle(i, j)] * beta[s];
        out.used[begin + j] = 1;
      }
    }
    return out;
  }

  GroupedQuadratic(const Quadratic& base, GroupBases bases, double cache_bytes)
      : Quadratic(prepare_bases(base, bases), cache_bytes), base_(base), bases_(std::move(bases)) {}

  // B_g v_g for every group, in the order of the classes.
  static void to_bases(const GroupBases& bases, const double* v, double* shuffled, double* out) {
    for (std::size_t k = 0; k < bases.of_classes.size(); ++k) {
      const GroupLayout::Class& c = bases.layout.classes[k];
      const std::vector<Index>& source = bases.of_classes[k].source;
      double* from = shuffled + c.begin;
      for (std::size_t s = 0; s < source.size(); ++s) from[s] = v[source[s]];
      lower_blocks_times(bases.of_classes[k].b.data(), from, c.width, c.count, out + c.begin);
    }
  }
  void to_bases(const double* v, double* shuffled, double* out) const {
    to_bases(bases_, v, shuffled, out);
  }

  static Preparation prepare_bases(const Quadratic& base, const GroupBases& bases) {
    Preparation out(bases.columns, base.weight, base.mean_y, base.yy);
    std::vector<double> shuffled(bases.columns);
    to_bases(bases, base.zy.data(), shuffled.data(), out.zy.data());
    std::fill(out.inverse_scale.begin(), out.inverse_scale.end(), 1.0);
    return out;
  }

  const Quadratic& base_;
  const GroupBases bases_;
};

}  // namespace ellzero
