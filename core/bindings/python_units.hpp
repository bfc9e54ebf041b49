// Engines over groups of columns as Python holds them: what is common to all losses, and the two
// kinds there are.
#pragma once

#include "bindings/bindings.hpp"
#include "engine/group_squares.hpp"
#include "likelihood/group_likelihood.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace ellzero {

using Lists = std::vector<std::vector<Index>>;

// The coefficients of a set of groups, and what turns them into the user's units.
struct GroupSolution {
  Solution solution;
  std::vector<double> inverse_scale, mean;
  std::vector<Index> units, ranks;   // sorted, and how many independent columns each brought in
  std::vector<double> removal_cost;  // by how much removing each would raise the energy
  Index columns = 0;                 // that were fitted; with a ridge they may depend on each other
};

// The coefficients alone.
struct GroupCoefficients {
  Solution solution;
  Index columns = 0;  // that were fitted
};

class PythonUnits {
 public:
  PythonUnits(const Quadratic& base, const Lists& groups, double ridge, double cache_bytes,
              int threads)
      : context_{threads, &interrupt_},
        quadratic_(base, groups, cache_bytes),
        cache_(quadratic_.cache(), context_),
        ridge_(ridge) {}
  virtual ~PythonUnits() = default;

  virtual UnitEngine& engine() = 0;
  // Of some units; the engine is left anywhere.
  virtual GroupSolution look_at(const std::vector<Index>& target) = 0;

  template <class Work>
  auto released(Work&& work) {
    return run_released(interrupt_, work);
  }
  void require_units(const std::vector<Index>& units) const {
    const Index count = static_cast<Index>(quadratic_.bases().units.size());
    for (const Index unit : units) require(unit >= 0 && unit < count, "no such group");
  }
  GroupSolution solution_of(const std::vector<Index>& target) {
    require_units(target);
    return released([&] { return look_at(target); });
  }

  PythonInterrupt interrupt_;
  Context context_;
  GroupedQuadratic quadratic_;
  const GramUser cache_;
  const double ridge_;

 protected:
  // Where the engine stands; `cost` says what removing the member at a position costs.
  template <class Cost>
  GroupSolution look(Cost&& cost) {
    GroupSolution out;
    out.solution = engine().solve(context_);
    for (const Index j : out.solution.support) {
      out.inverse_scale.push_back(quadratic_.base().inverse_scale[j]);
      out.mean.push_back(quadratic_.base().mean[j]);
    }
    out.units = engine().members();
    std::sort(out.units.begin(), out.units.end());
    out.columns = engine().columns_in();
    for (const Index unit : out.units) {
      const Index position = engine().position(unit);
      out.ranks.push_back(engine().columns_of(position));
      out.removal_cost.push_back(cost(position));
    }
    if (ridge_ > 0) out.ranks = ranks_of(out.units);
    return out;
  }

 private:
  // How many columns each unit adds to what those before it span. A ridge would make all
  // independent.
  std::vector<Index> ranks_of(const std::vector<Index>& units) const {
    const GroupBases& bases = quadratic_.bases();
    std::vector<Index> columns, ranks;
    for (const Index unit : units) {
      for (Index i = 0; i < bases.units[unit].width(); ++i) {
        columns.push_back(bases.column(unit, i));
      }
    }
    HeldColumns held(bases, quadratic_.zy, cache_, 1.0);
    held.start_at(columns, Scores::kSpan, [] { return std::vector<double>(); });
    for (const Index unit : units) {
      ranks.push_back(static_cast<Index>(held.places_of({unit}).size()));
    }
    return ranks;
  }
};

class GroupEngine final : public PythonUnits {
 public:
  GroupEngine(const Quadratic& base, const Lists& groups, double ridge, double cache_bytes,
              int threads)
      : PythonUnits(base, groups, ridge, cache_bytes, threads),
        squares_(quadratic_, cache_, ridge) {}

  UnitEngine& engine() override { return squares_; }
  GroupSolution look_at(const std::vector<Index>& target) override {
    GroupSolution out;
    squares_.look_at(target, [&] {
      out = look([&](Index position) { return squares_.removal_cost(position); });
      out.solution.intercept = quadratic_.mean_y;
    });
    return out;
  }
  // Coefficients alone, which take a third of the time; the engine stays where it is.
  GroupCoefficients coefficients_of(const std::vector<Index>& target) {
    require_units(target);
    return released([&] {
      GroupCoefficients out{squares_.solution_at(target, context_), squares_.columns_shown()};
      out.solution.intercept = quadratic_.mean_y;
      return out;
    });
  }

 private:
  GroupSquares squares_;
};

class GroupLikelihoodEngine final : public PythonUnits {
 public:
  GroupLikelihoodEngine(const Rows& rows, std::vector<double> weights, const Lists& groups,
                        double ridge, double cache_bytes, int threads)
      : PythonUnits(rows.quadratic(), groups, ridge, cache_bytes, threads),
        rows_(rows, quadratic_) {
    require(static_cast<Index>(weights.size()) == rows.rows(), "a weight for every row");
    released([&] {
      likelihood_ = std::make_unique<GroupLikelihood>(rows_, std::move(weights), ridge, context_);
      return 0;
    });
  }

  UnitEngine& engine() override { return *likelihood_; }
  GroupSolution look_at(const std::vector<Index>& target) override {
    likelihood_->move_to(target);  // from where its fit was left, if it is known
    GroupSolution out =
        look([&](Index position) { return likelihood_->exact_removal_cost(position); });
    if (out.columns == widths_of(out.units)) return out;
    // Columns that depended on those of one that leaves come in for it.
    const double energy = likelihood_->energy();
    for (std::size_t u = 0; u < out.units.size(); ++u) {
      std::vector<Index> rest = out.units;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(u));
      likelihood_->move_to(rest);
      out.removal_cost[u] = std::max(0.0, likelihood_->energy() - energy);
    }
    return out;
  }
  const LocalFit& fit() const { return likelihood_->fit(); }

 private:
  Index widths_of(const std::vector<Index>& units) const {
    Index sum = 0;
    for (const Index unit : units) sum += quadratic_.bases().units[unit].width();
    return sum;
  }

  const GroupedRows rows_;
  std::unique_ptr<GroupLikelihood> likelihood_;
};

}  // namespace ellzero
