// The mode of p(S | y) over sets of groups, as marginal_mode.hpp has it of columns: the best flip,
// or the best swap, until neither makes the model more probable.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "posterior/group_spike_slab.hpp"

namespace ellzero {

class GroupMode {
 public:
  explicit GroupMode(GroupSpikeSlab& model) : model_(model) {}

  // From where the model stands; returns log p(S | y) at the top.
  double climb(bool swaps, const Context& context) {
    double value = model_.log_posterior();
    for (;;) {
      context.check();
      const Move flip = best_flip();
      Move move = flip;
      if (!(flip.gain > kRounding) && swaps) move = best_swap(context);
      if (!(move.gain > kRounding)) return value;
      if (move.leaver >= 0) model_.leave(move.leaver);
      const bool entered = move.comer < 0 || model_.enter(move.comer);
      const double now = model_.log_posterior();
      if (!entered || !(now > value)) {  // what rounding promised is not there
        if (entered && move.comer >= 0) model_.leave(move.comer);
        if (move.leaver >= 0) model_.enter(move.leaver);
        return value;
      }
      value = now;
    }
  }

  // Groups that are not to come in.
  void close(std::vector<Index> units) { closed_ = std::move(units); }

 private:
  static constexpr double kRounding = 1e-9;

  struct Move {
    double gain = 0;
    Index leaver = -1, comer = -1;
  };

  bool is_open(Index u) const {
    return model_.is_free(u) && !model_.contains(u) &&
           std::find(closed_.begin(), closed_.end(), u) == closed_.end();
  }

  Move best_flip() {
    Move best;
    for (Index u = 0; u < model_.units(); ++u) {
      const bool inside = model_.is_free(u) && model_.contains(u);
      if (!inside && !is_open(u)) continue;
      const double odds = model_.log_odds(u, block_), gain = inside ? -odds : odds;
      if (gain > best.gain) best = inside ? Move{gain, u, -1} : Move{gain, -1, u};
    }
    return best;
  }

  // Of members that no others need.
  Move best_swap(const Context& context) {
    Move best;
    for (const Index leaver : std::vector<Index>(model_.support().members())) {
      if (!model_.is_free(leaver)) continue;
      context.check();
      const double own = model_.log_odds(leaver, block_);
      if (own == -SlabState::kNever) continue;
      model_.leave(leaver);
      for (Index u = 0; u < model_.units(); ++u) {
        if (u == leaver || !is_open(u)) continue;
        const double gain = model_.log_odds(u, block_) - own;
        if (gain > best.gain) best = {gain, leaver, u};
      }
      model_.enter(leaver);
    }
    return best;
  }

  GroupSpikeSlab& model_;
  GroupBlock block_;
  std::vector<Index> closed_;
};

// Members that may not be in without others that are out leave.
inline void drop_orphans(GroupSpikeSlab& model) { model.enter_all({}); }

}  // namespace ellzero
