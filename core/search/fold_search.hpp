// What a fold of a cross-validation does with its training rows: it looks for its solutions as lam
// falls, and can be left on its way whenever a Gram column can't be had yet.
#pragma once

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "search/frontier.hpp"
#include "search/sbr_trail.hpp"
#include "search/solution.hpp"

namespace ellzero {

class FoldSearch {
 public:
  FoldSearch(const Design& design, double ridge, const std::vector<Index>& forced,
             double memory_bound, const Context& making)
      : design_(design),
        cache_(design, memory_bound, making),
        support_(design, cache_, {ridge}),
        ridge_(ridge) {
    limits_.forced.assign(forced.empty() ? 0 : design.columns(), 0);
    for (const Index j : forced) limits_.forced[j] = 1;
    support_.move_to(forced);
  }
  virtual ~FoldSearch() = default;

  Support& support() { return support_; }

  // From now on sizes up to max_size count. False if there is nothing more to look for.
  virtual bool extend(Index max_size) = 0;
  // Looks for them. What it throws changes nothing, and the next call goes on from there.
  virtual void go_on(const Context& context, const Progress& progress) = 0;

  struct Found {
    std::vector<Solution> models;
    // Of a frontier: what one more variable would gain in the largest.
    double next_gain = 0;
    // Of SBR: the least lam that each is the solution at.
    std::vector<double> lows;
  };
  virtual Found found(const Context& context) = 0;

 protected:
  const Design& design_;
  GramCache cache_;
  Support support_;
  SbrLimits limits_;
  double ridge_;
};

// The best known model of every size, by insertions and removals.
class FrontierSearch final : public FoldSearch {
 public:
  FrontierSearch(const Design& design, double ridge, const std::vector<Index>& forced,
                 double memory_bound, const Context& making)
      : FoldSearch(design, ridge, forced, memory_bound, making),
        frontier_(support_, limits_.forced, false, least_gain(design)) {}

  bool extend(Index max_size) override {
    max_size_ = max_size;
    support_.move_to(frontier_.models().back().support);
    if (!(support_.best_insertion().gain > least_gain(design_))) return false;
    frontier_.extend(max_size);
    return true;
  }

  void go_on(const Context& context, const Progress& progress) override {
    frontier_.close(context, progress);
    frontier_.cut();
  }

  Found found(const Context& context) override {
    const std::vector<Frontier::Model>& models = frontier_.models();
    const Index last = static_cast<Index>(models.size()) - 1, first = frontier_.least_size();
    Found out;
    out.models.resize(last + 1 - first);
    std::vector<Index> delicate;
    for (Index k = first; k <= last; ++k) {
      if (models[k].tried && well_conditioned(design_, models[k].inflation, models[k].energy)) {
        out.models[k - first] = solution_of(models[k]);
      } else {
        delicate.push_back(k);
      }
    }
    support_.move_to(models[last].support);
    if (last == max_size_) out.next_gain = std::max(0.0, support_.best_insertion().gain);
    if (delicate.empty()) return out;
    const Support::State home = support_.save();
    support_.neglect_columns();
    for (auto k = delicate.rbegin(); k != delicate.rend(); ++k) {
      context.check();
      support_.go_to(models[*k].support);
      out.models[*k - first] = solve(design_, support_, context);
    }
    support_.restore(home);
    return out;
  }

 private:
  // What solve() says of a model that needs no refinement, but for costs of removal.
  Solution solution_of(const Frontier::Model& model) {
    const std::size_t k = model.support.size();
    Solution solution;
    sorted_.resize(k);
    for (std::size_t s = 0; s < k; ++s) {
      sorted_[s] = {model.support[s], model.beta[s]};
      solution.ridge_energy += 0.5 * ridge_ * model.beta[s] * model.beta[s];
    }
    std::sort(sorted_.begin(), sorted_.end());
    solution.rss = std::max(0.0, 2 * (model.energy - solution.ridge_energy));
    solution.support.resize(k);
    solution.beta.resize(k);
    for (std::size_t s = 0; s < k; ++s) {
      std::tie(solution.support[s], solution.beta[s]) = sorted_[s];
    }
    return solution;
  }

  std::vector<std::pair<Index, double>> sorted_;  // room to work in
  Frontier frontier_;
  Index max_size_ = 0;
};

// Where runs of SBR stop.
class SbrSearch final : public FoldSearch {
 public:
  SbrSearch(const Design& design, double ridge, const std::vector<Index>& forced,
            double memory_bound, const Context& making)
      : FoldSearch(design, ridge, forced, memory_bound, making),
        trail_(support_, limits_, least_gain(design)) {}

  bool extend(Index max_size) override {
    trail_.restart(max_size);
    stops_ = {};
    return true;
  }

  void go_on(const Context& context, const Progress& progress) override {
    while (trail_.next(context, progress)) {
      Solution model = solve(design_, support_, context);
      if (!stops_.models.empty() && model.support == stops_.models.back().support) {
        stops_.lows.back() = trail_.low();
      } else {
        stops_.models.push_back(std::move(model));
        stops_.lows.push_back(trail_.low());
      }
    }
  }

  Found found(const Context&) override { return stops_; }

 private:
  SbrTrail trail_;
  Found stops_;
};

}  // namespace ellzero
