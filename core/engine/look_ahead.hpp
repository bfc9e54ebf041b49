// Which Gram columns the engine will want next, so that one pass over X can make them all.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "data/quadratic.hpp"
#include "engine/scores.hpp"

namespace ellzero {

class LookAhead {
 public:
  LookAhead(const Quadratic& quadratic, const GramUser& cache, const Factor& factor,
            const Scores& scores, const std::vector<const double*>& gram)
      : quadratic_(quadratic), cache_(cache), factor_(factor), scores_(scores), gram_(gram) {}

  // Among the few columns that would lower the energy most, those that still would once j and the
  // others before them are in: by the Schur complement of the support in their Gram matrix. A
  // column counts as likely while it gains more than half of what any column outside these few
  // gains now: theirs will fall too. Whoever expects no gain at all gets no column. `ridge_of(i)`
  // is the ridge of column i.
  template <class Ridge>
  std::vector<Index> likely_after(Index j, double expected_gain, Ridge&& ridge_of) const {
    // Below this a pass is about as cheap as looking ahead.
    constexpr double kEntries = 2e6;
    const bool cheap = quadratic_.entries() < kEntries && !passes_are_dear();
    if (cheap || std::isinf(expected_gain)) return {};
    double outsider = 0;
    const std::vector<Index> few = promising(j, outsider);
    const Index count = static_cast<Index>(few.size()), k = factor_.size();
    std::vector<double> schur(count * count), c(count);
    quadratic_.cross_products(few.data(), count, schur.data());
    std::vector<std::vector<double>> w;
    for (Index a = 0; a < count; ++a) {
      std::vector<double> cross(k);
      for (Index s = 0; s < k; ++s) cross[s] = gram_[s][few[a]];
      w.push_back(factor_.times(cross.data()));
      c[a] = scores_.c()[few[a]];
      for (Index b = 0; b <= a; ++b) {
        schur[a * count + b] -= dot(w[a].data(), w[b].data(), k);
        schur[b * count + a] = schur[a * count + b];
      }
      schur[a * count + a] += ridge_of(few[a]);
    }
    std::vector<Index> likely;
    std::vector<char> in(count, 0);
    for (Index next = 0; next >= 0;) {
      in[next] = 1;
      if (few[next] != j) likely.push_back(few[next]);
      if (static_cast<Index>(likely.size()) == quadratic_.pass_columns() - 1) break;
      const double pivot = schur[next * count + next];
      const double step = c[next] / pivot;
      double best = std::max(0.5 * outsider, 2 * expected_gain);
      const Index inserted = next;
      next = -1;
      for (Index a = 0; a < count; ++a) {
        if (in[a]) continue;
        const double ratio = schur[a * count + inserted] / pivot;
        c[a] -= schur[a * count + inserted] * step;
        for (Index b = 0; b < count; ++b) {
          if (b != inserted) schur[a * count + b] -= ratio * schur[inserted * count + b];
        }
        const double left = schur[a * count + a];
        if (left > Scores::kSpan && c[a] * c[a] / left > best) {
          best = c[a] * c[a] / left;
          next = a;
        }
      }
    }
    if (passes_are_dear()) {  // and there is room for the best of the others
      for (Index a = 0; a < count; ++a) {
        if (static_cast<Index>(likely.size()) == quadratic_.pass_columns() - 1) break;
        if (!in[a]) likely.push_back(few[a]);
      }
    }
    return likely;
  }

  // As many of the best insertions, not in the cache, as one pass over X can make with j.
  std::vector<Index> most_promising_after(Index j) const {
    double next_score = 0;
    std::vector<Index> best = promising(j, next_score);
    best.resize(std::min<std::size_t>(best.size(), quadratic_.pass_columns()));
    best.erase(best.begin());
    return best;
  }

 private:
  bool is_known(Index i) const { return cache_.has(i) || quadratic_.at_hand(i); }
  bool passes_are_dear() const { return quadratic_.pass_columns() > kBlockColumns; }
  Index pool() const { return 3 * quadratic_.pass_columns(); }  // columns looked at

  // j and the columns not in the cache that would lower the energy most, best first; `next_score`
  // is the score (twice the gain) of the best column that is not among them.
  std::vector<Index> promising(Index j, double& next_score) const {
    using Scored = std::pair<double, Index>;
    const auto better = [](const Scored& a, const Scored& b) {
      return a.first > b.first || (a.first == b.first && a.second < b.second);
    };
    std::vector<Scored> heap;  // the least of the best on top
    const Index most = pool();
    double score[Scores::kChunk];
    for (Index begin = 0; begin < scores_.columns(); begin += Scores::kChunk) {
      const Index count = std::min(scores_.columns() - begin, Scores::kChunk);
      insertion_scores(scores_.c().data() + begin, scores_.d().data() + begin, Scores::kSpan, count,
                       score);
      for (Index i = 0; i < count; ++i) {
        const Scored entry{score[i], begin + i};
        const bool full = static_cast<Index>(heap.size()) == most;
        if (score[i] <= 0 || (full && !better(entry, heap.front()))) continue;
        if (entry.second == j || is_known(entry.second)) continue;
        heap.push_back(entry);
        std::push_heap(heap.begin(), heap.end(), better);
        if (full) {
          std::pop_heap(heap.begin(), heap.end(), better);
          heap.pop_back();
        }
      }
    }
    std::sort_heap(heap.begin(), heap.end(), better);
    next_score = 0;
    if (static_cast<Index>(heap.size()) == most) {
      next_score = heap.back().first;
      heap.pop_back();
    }
    std::vector<Index> out{j};
    for (const auto& entry : heap) out.push_back(entry.second);
    return out;
  }

  const Quadratic& quadratic_;
  const GramUser& cache_;
  const Factor& factor_;
  const Scores& scores_;
  const std::vector<const double*>& gram_;
};

}  // namespace ellzero
