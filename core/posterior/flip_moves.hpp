// Moves of a Markov chain over the supports of a model that knows its odds: sweeps of single flips,
// and swaps.
#pragma once

#include <algorithm>
#include <vector>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "posterior/odds_kernels.hpp"

namespace ellzero {

template <class Model>
class FlipMoves {
 public:
  FlipMoves(Model& model, Random& random)
      : model_(model),
        random_(random),
        odds_(model.columns()),
        accept_(model.columns()),
        uniform_(model.columns()),
        c_(model.columns()),
        d_(model.columns()) {}

  // Every column in turn is flipped with probability min(1, odds of the flip): the Metropolised
  // Gibbs sampler (Liu 1996), which leaves a state more readily than one that draws it anew. Where
  // odds are near one all columns would flip to and fro: `anew` draws them anew.
  void sweep(bool anew, const Context& context) {
    const Index p = model_.columns();
    for (double& value : uniform_) value = random_.uniform();
    // Columns that would come in as things stand will mostly do so when their turn comes: their
    // Gram columns are made together.
    flip_probabilities(0, p, anew, accept_.data());
    coming_.clear();
    for (Index i = 0; i < p; ++i) {
      if (uniform_[i] < accept_[i] && !model_.support().contains(i)) coming_.push_back(i);
    }
    model_.support().prepare(coming_);
    bool stale = false;  // whether accept_ is that of an earlier support
    for (Index begin = 0; begin < p; begin += kChunk) {
      const Index end = std::min(p, begin + kChunk);
      if (stale) flip_probabilities(begin, end, anew, accept_.data() + begin);
      for (Index i = begin; i < end; ++i) {
        if (uniform_[i] >= accept_[i]) continue;
        context.check();
        flip(i);
        stale = true;
        flip_probabilities(i + 1, end, anew, accept_.data() + i + 1);
      }
    }
  }

  // A member chosen at random leaves, and any column comes in with its probability given that just
  // one does: nothing is rejected.
  void swap() {
    const Index movable = model_.free_members();
    if (movable == 0) return;
    Index which = static_cast<Index>(random_.uniform() * static_cast<double>(movable));
    Index position = 0;
    for (;; ++position) {
      if (model_.is_free(model_.support().members()[position]) && which-- == 0) break;
    }
    const Index leaver = model_.support().members()[position], p = model_.columns();
    model_.log_odds_without(position, c_.data(), d_.data(), odds_.data());
    const double highest = *std::max_element(odds_.begin(), odds_.end());
    exp_shifted(odds_.data(), highest, p, accept_.data());
    const Index comer = choose(accept_, leaver);
    if (comer == leaver) return;
    ++flips_;
    model_.remove(position);
    if (!model_.insert(comer)) model_.insert(leaver);
  }

  Index flips() const { return flips_; }

 private:
  // A flip makes odds anew for the columns of its chunk that are left.
  static constexpr Index kChunk = 64;

  void flip_probabilities(Index begin, Index end, bool anew, double* accept) {
    if (begin >= end) return;
    model_.insertion_log_odds(begin, end, odds_.data());
    model_.member_log_odds(begin, end, [&](Index j, double value) { odds_[j - begin] = -value; });
    (anew ? logistic : exp_below_one)(odds_.data(), end - begin, accept);
  }

  void flip(Index j) {
    ++flips_;
    const Index position = model_.support().position(j);
    if (position == model_.size()) {
      model_.insert(j);
    } else {
      model_.remove(position);
    }
  }

  // A column with probability proportional to its weight.
  Index choose(const std::vector<double>& weights, Index otherwise) {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    double left = sum * random_.uniform();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      left -= weights[i];
      if (left < 0) return static_cast<Index>(i);
    }
    return otherwise;
  }

  Model& model_;
  Random& random_;
  std::vector<double> odds_, accept_, uniform_, c_, d_;
  std::vector<Index> coming_;
  Index flips_ = 0;
};

}  // namespace ellzero
