// The mode of p(S | y), coefficients integrated out: single best replacement on
//
//   maximise over S   log p(S | y)
//
// flips the column whose flip raises it most, or swaps a member for another column, until nothing
// does. Hyperparameters are given.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "posterior/draws.hpp"

namespace ellzero {

class MarginalMode {
 public:
  explicit MarginalMode(SpikeSlab& model) : model_(model), odds_(model.columns()) {}

  // From where the model stands; returns log p(S | y) at the top.
  double climb(bool swaps, const Context& context) {
    double value = model_.log_posterior();
    for (;;) {
      context.check();
      if (!best_flip(context) && !(swaps && best_swap(context))) break;
      const double now = model_.log_posterior();
      if (!(now > value)) break;  // what rounding promised is not there
      value = now;
    }
    return model_.log_posterior();
  }

  // Columns that are not to come in.
  void close(std::vector<Index> columns) { closed_ = std::move(columns); }

 private:
  static constexpr double kRounding = 1e-9;

  bool best_flip(const Context& context) {
    for (;;) {
      context.check();
      Conditionals::all_log_odds(model_, odds_.data());
      const LeastSquares& support = model_.support();
      for (const Index j : support.members()) odds_[j] = -odds_[j];
      for (const Index j : closed_) odds_[j] = SlabState::kNever;
      const auto best = std::max_element(odds_.begin(), odds_.end());
      if (best == odds_.end() || !(*best > kRounding)) return false;
      const Index j = best - odds_.begin(), position = support.position(j);
      if (position < model_.size()) {
        model_.remove(position);
        return true;
      }
      if (model_.insert(j, nullptr)) return true;  // else it depends on the others: look again
    }
  }

  bool best_swap(const Context& context) {
    double highest = kRounding;
    Index leaver = -1, comer = -1;
    for (Index s = 0; s < model_.size(); ++s) {
      context.check();
      const Index j = model_.support().members()[s];
      if (!model_.is_free(j)) continue;
      model_.look_without(s, without_);
      model_.look_without_prior(s, without_);
      model_.log_odds_of(without_.c.data(), without_.d.data(), model_.prior_d_or_null(without_),
                         model_.free_members() - 1, without_.total, 0, model_.columns(),
                         odds_.data());
      for (const Index i : closed_) odds_[i] = SlabState::kNever;
      double own = 0;
      model_.member_log_odds(j, j + 1, [&](Index, double value) { own = value; });
      for (Index i = 0; i < model_.columns(); ++i) {
        if (i != j && odds_[i] - own > highest) {
          highest = odds_[i] - own;
          leaver = j;
          comer = i;
        }
      }
    }
    if (leaver < 0) return false;
    model_.remove(model_.support().position(leaver));
    if (model_.insert(comer, nullptr)) return true;
    model_.insert(leaver, nullptr);
    return false;
  }

  SpikeSlab& model_;
  std::vector<double> odds_;
  SpikeSlab::Without without_;
  std::vector<Index> closed_;
};

}  // namespace ellzero
