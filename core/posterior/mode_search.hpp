// Modes of p(S | y): models that no flip and no swap makes more probable.
//
// Climbs from given models find some. From a mode, each member in turn is closed: what is left
// climbs as high as it can without that column, then on with it open again. If that does not lead
// back, there is another mode, and of what has come in for the closed column each member is closed
// as well, in turn: of three sets that explain the same thing the third is found by closing one of
// the first and one of the second.
#pragma once

#include <algorithm>
#include <deque>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "posterior/marginal_mode.hpp"

namespace ellzero {

// Where a climb ended, and log p(S | y) there.
struct ModeFound {
  std::vector<Index> support;  // in increasing order
  double log_posterior = 0;
};

struct ModeSearchLimits {
  Index climbs = 0;  // with columns closed: at most so many
  double depth = 0;  // log of how many times less probable than the best a mode may be
  std::size_t modes = 0;
};

// Leaves the model as it is: of columns any set is a model. Groups have their own.
inline void drop_orphans(SpikeSlab&) {}

// Climber has close(), and a climb() with or without swaps.
template <class Model, class Climber>
class ModeSearch {
 public:
  ModeSearch(Model& model, const ModeSearchLimits& limits)
      : model_(model), climber_(model), limits_(limits) {}

  // The best first.
  std::vector<ModeFound> run(const std::vector<std::vector<Index>>& starts,
                             const Context& context) {
    for (const auto& start : starts) {
      move_to(start, {});
      add(climb({}, context));
    }
    sort();
    // In the order of what they promise: fewer closed columns come first, then better modes.
    for (std::size_t i = 0; i < found_.size() && i < limits_.modes; ++i) close_each(i);
    for (Index climbs = 0; !tasks_.empty() && climbs < limits_.climbs; ++climbs) {
      const Task task = std::move(tasks_.front());
      tasks_.pop_front();
      if (found_[task.mode].log_posterior < highest_ - limits_.depth) continue;
      follow(task, context);
    }
    sort();
    while (!found_.empty() && found_.back().log_posterior < highest_ - limits_.depth) {
      found_.pop_back();
    }
    if (found_.size() > limits_.modes) found_.resize(limits_.modes);
    return found_;
  }

 private:
  static constexpr std::size_t kMostClosed = 4;

  // From a mode that was found, with some columns closed.
  struct Task {
    std::size_t mode;
    std::vector<Index> closed;
  };

  void follow(const Task& task, const Context& context) {
    const std::vector<Index> from = found_[task.mode].support;
    move_to(from, task.closed);
    const ModeFound without = climb(task.closed, context);
    const std::size_t known = found_.size(), end = add(climb({}, context));
    if (end == known) close_each(end);
    if (end == task.mode || without.log_posterior < highest_ - limits_.depth) return;
    if (task.closed.size() == kMostClosed) return;
    std::vector<Index> comers;
    std::set_difference(without.support.begin(), without.support.end(), from.begin(), from.end(),
                        std::back_inserter(comers));
    for (const Index j : comers) {
      std::vector<Index> closed = task.closed;
      closed.push_back(j);
      put(task.mode, std::move(closed));
    }
  }

  void close_each(std::size_t mode) {
    for (const Index j : found_[mode].support) {
      if (model_.is_free(j)) put(mode, {j});
    }
  }
  void put(std::size_t mode, std::vector<Index> closed) {
    std::sort(closed.begin(), closed.end());
    if (seen_.insert({mode, closed}).second) tasks_.push_back({mode, std::move(closed)});
  }

  ModeFound climb(const std::vector<Index>& closed, const Context& context) {
    climber_.close(closed);
    const double value = climber_.climb(true, context);
    std::vector<Index> end = model_.support().members();
    std::sort(end.begin(), end.end());
    return {std::move(end), value};
  }
  // Where it is among those found.
  std::size_t add(ModeFound mode) {
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (found_[i].support == mode.support) return i;
    }
    highest_ = found_.empty() ? mode.log_posterior : std::max(highest_, mode.log_posterior);
    found_.push_back(std::move(mode));
    return found_.size() - 1;
  }
  void sort() {
    std::stable_sort(found_.begin(), found_.end(), [](const ModeFound& a, const ModeFound& b) {
      return a.log_posterior > b.log_posterior;
    });
  }

  void move_to(const std::vector<Index>& target, const std::vector<Index>& closed) {
    const auto is_in = [](const std::vector<Index>& some, Index j) {
      return std::find(some.begin(), some.end(), j) != some.end();
    };
    const std::vector<Index> members = model_.support().members();
    for (const Index j : members) {
      if (model_.is_free(j) && (!is_in(target, j) || is_in(closed, j))) model_.leave(j);
    }
    for (const Index j : target) {
      if (model_.is_free(j) && !model_.contains(j) && !is_in(closed, j)) model_.enter(j);
    }
    drop_orphans(model_);
  }

  Model& model_;
  Climber climber_;
  ModeSearchLimits limits_;
  std::vector<ModeFound> found_;
  std::deque<Task> tasks_;
  std::set<std::pair<std::size_t, std::vector<Index>>> seen_;
  double highest_ = 0;
};

}  // namespace ellzero
