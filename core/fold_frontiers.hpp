// The frontiers of all folds of a cross-validation, without swaps, side by side.
//
// Folds that are pools of the same parts go in step: each goes on until it wants a Gram column that
// nobody has made, then one pass over X makes what all of them want. Between passes they run in
// threads. What a fold does depends on its own rows alone.
#pragma once

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "frontier.hpp"
#include "held_out.hpp"
#include "pooled_design.hpp"

namespace ellzero {

class FoldFrontiers {
 public:
  struct Fold {
    const Design* design;
    const HeldOut* held_out;
  };

  // What is known of one fold: every size, from `first` on.
  struct Judged {
    Index first = 0;
    std::vector<Solution> models;
    std::vector<double> errors;  // mean squared, on the rows held out
    double next_gain = 0;        // of the best insertion into the largest
  };

  // `parts` is what the designs are pools of, or null. `context` says how many threads share the
  // folds, `passes` how many share a pass.
  FoldFrontiers(const std::vector<Fold>& folds, Parts* parts, double ridge,
                const std::vector<Index>& forced, double memory_bound, const Context& context,
                const Context& passes)
      : folds_(folds), parts_(parts), ridge_(ridge), context_(context), passes_(passes) {
    if (parts_) parts_->prepare(forced, passes_);
    // In threads, any of them may make a column.
    const Context making = context.threads > 1 ? passes.single(false) : passes;
    for (const Fold& fold : folds_) {
      searches_.push_back(
          std::make_unique<Search>(*fold.design, ridge, forced, memory_bound, making));
      if (parts_) searches_.back()->support.expect_gains_above(kNone);
    }
  }

  // Extends every table to max_size, or as far as columns can be inserted, and closes it.
  void grow(Index max_size, const Progress& progress) {
    std::vector<Search*> open;
    for (const auto& search : searches_) {
      if (search->exhausted()) continue;
      search->frontier.extend(max_size);
      open.push_back(search.get());
    }
    const Parts::PutOff put_off(parts_);
    while (!open.empty()) {
      each(open.size(), [&](Index f, const Context& context) {
        open[f]->wanted = -1;
        try {
          open[f]->frontier.close(context, context.caller ? progress : Progress());
          open[f]->frontier.cut();
        } catch (const ColumnMissing& missing) {
          open[f]->wanted = missing.column;
        }
      });
      std::vector<Search*> still;
      std::vector<Index> wanted;
      for (Search* search : open) {
        if (search->wanted < 0) continue;
        still.push_back(search);
        wanted.push_back(search->wanted);
      }
      if (!wanted.empty()) parts_->prepare(wanted, passes_);
      open = std::move(still);
    }
  }

  // The models of every fold and how they do; max_size is what the tables were grown to.
  std::vector<Judged> judge(Index max_size) {
    std::vector<Judged> out(folds_.size());
    each(folds_.size(), [&](Index f, const Context& context) {
      out[f] = judge(f, max_size, context);
    });
    return out;
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();

  struct Search {
    Search(const Design& design, double ridge, const std::vector<Index>& forced,
           double memory_bound, const Context& passes)
        : cache(design, memory_bound, passes),
          support(design, cache, {ridge}),
          frontier(start(support, forced), mask(design, forced), false, least_gain(design)) {}

    static Support& start(Support& support, const std::vector<Index>& forced) {
      support.move_to(forced);
      return support;
    }
    static std::vector<char> mask(const Design& design, const std::vector<Index>& forced) {
      std::vector<char> out(forced.empty() ? 0 : design.columns(), 0);
      for (const Index j : forced) out[j] = 1;
      return out;
    }

    // Whether no insertion into the largest model gains anything.
    bool exhausted() {
      support.move_to(frontier.models().back().support);
      return !(support.best_insertion().gain > frontier.floor());
    }

    GramCache cache;
    Support support;
    Frontier frontier;
    Index wanted = -1;
  };

  Judged judge(Index f, Index max_size, const Context& context) {
    Support& support = searches_[f]->support;
    const Frontier& frontier = searches_[f]->frontier;
    const Design& design = *folds_[f].design;
    Judged out;
    out.first = frontier.least_size();
    const Index last = static_cast<Index>(frontier.models().size()) - 1;
    support.move_to(frontier.models()[last].support);
    if (last == max_size) out.next_gain = std::max(0.0, support.best_insertion().gain);
    out.models.resize(last + 1 - out.first);
    std::vector<Index> delicate;
    for (Index k = out.first; k <= last; ++k) {
      const Frontier::Model& model = frontier.models()[k];
      if (model.tried && well_conditioned(design, model.inflation, model.energy)) {
        out.models[k - out.first] = solution_of(model);
      } else {
        delicate.push_back(k);
      }
    }
    if (!delicate.empty()) {
      const Support::State home = support.save();
      support.neglect_columns();
      for (auto k = delicate.rbegin(); k != delicate.rend(); ++k) {
        context.check();
        support.go_to(frontier.models()[*k].support);
        out.models[*k - out.first] = solve(design, support, context);
      }
      support.restore(home);
    }
    out.errors = folds_[f].held_out->errors(design, out.models, context);
    return out;
  }

  // What solve() says of a model that needs no refinement.
  Solution solution_of(const Frontier::Model& model) const {
    const std::size_t k = model.support.size();
    std::vector<std::pair<Index, double>> sorted(k);
    Solution solution;
    for (std::size_t s = 0; s < k; ++s) {
      sorted[s] = {model.support[s], model.beta[s]};
      solution.ridge_energy += 0.5 * ridge_ * model.beta[s] * model.beta[s];
    }
    std::sort(sorted.begin(), sorted.end());
    solution.rss = std::max(0.0, 2 * (model.energy - solution.ridge_energy));
    for (const auto& [column, beta] : sorted) {
      solution.support.push_back(column);
      solution.beta.push_back(beta);
    }
    return solution;
  }

  // Calls work(f, context) for every f, in threads; the first range is the calling thread's.
  template <class Work>
  void each(std::size_t count, Work&& work) const {
    parallel_ranges(count, context_, [&](Index begin, Index end, auto poll) {
      for (Index f = begin; f < end && !poll(); ++f) work(f, context_.single(begin == 0));
    });
  }

  std::vector<Fold> folds_;
  Parts* parts_;
  double ridge_;
  Context context_;
  Context passes_;
  std::vector<std::unique_ptr<Search>> searches_;
};

}  // namespace ellzero
