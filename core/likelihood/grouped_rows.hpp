// The rows of a likelihood whose columns come in groups, each group as an orthonormal basis of what
// its columns span (data/grouped_quadratic.hpp): what a fit is made of, whichever level of a factor
// was left out.
#pragma once

#include <algorithm>
#include <vector>

#include "data/grouped_quadratic.hpp"
#include "likelihood/rows.hpp"

namespace ellzero {

class GroupedRows final : public Rows {
 public:
  // The quadratic is that of groups of the columns of the base.
  GroupedRows(const Rows& base, const GroupedQuadratic& quadratic)
      : Rows(base, quadratic), base_(base), grouped_(quadratic) {}

  const GroupedQuadratic& grouped() const { return grouped_; }

  void products(const double* v, double* out, const Context& context) const override {
    std::vector<double> of_base(base_.columns());
    base_.products(v, of_base.data(), context);
    grouped_.to_bases(of_base.data(), out);
  }

  // By unit, on average over its columns in the base: their sums of squares under some weights.
  std::vector<double> unit_squares(const std::vector<double>& weights,
                                   const Context& context) const {
    const std::vector<double> of_base = base_.squares(weights, context);
    std::vector<double> out;
    for (const GroupBases::Unit& unit : grouped_.bases().units) {
      double sum = 0;
      for (const Index j : unit.columns) sum += of_base[j];
      out.push_back(unit.width() > 0 ? sum / static_cast<double>(unit.width()) : 0);
    }
    return out;
  }

 protected:
  void make_column(Index j, double* out) const override {
    const GroupBases& bases = grouped_.bases();
    const GroupBases::Unit& unit = bases.units[bases.unit_of[j]];
    const Index i = bases.rank_of[j];
    std::vector<Column> held;
    std::vector<const double*> columns;
    for (Index s = 0; s <= i; ++s) {
      held.push_back(base_.column(unit.columns[s]));
      columns.push_back(held.back()->data());
    }
    combine(columns.data(), unit.b.data() + triangle(i), i + 1, 0, rows(), out);
  }

 private:
  const Rows& base_;
  const GroupedQuadratic& grouped_;
};

}  // namespace ellzero
