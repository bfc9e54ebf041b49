// A chain for very many columns, of which few matter.
//
// A sweep over all columns is spent on those that hardly ever come in. Let A be some columns that
// may well, chosen before the chain starts. Given which of the other columns are in, H, the
// posterior over supports within A is of the same kind: H is held in, and if theta ~ Beta(a, b) is
// integrated out over F free columns, of which h are in H and F_A in A,
//
//   p(S) ~ B(a + k, b + F - k) = B((a + h) + k_A, (b + F - F_A - h) + F_A - k_A)
//
// So a chain on the products of A and H, at a cost that does not depend on p, moves on from where
// a sweep and a swap over all columns have led to, and leads back to there. Both leave the
// posterior as it is, whatever A is. Columns outside A are moved, and what is known of them is
// looked at, once in a batch of draws; those in A several times for every draw.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "data/statistics_quadratic.hpp"
#include "posterior/chain.hpp"

namespace ellzero {

// The columns of A: their products, made once, with room for those of columns that are held.
class ActiveColumns {
 public:
  // Those of `active`, in increasing order, that may go either way; `modes` may have others too.
  ActiveColumns(const Quadratic& design, const SpikeSlabPrior& prior,
                const std::vector<Index>& active, const std::vector<std::vector<Index>>& modes)
      : design_(design),
        prior_(prior),
        active_(free_ones(design, prior, active)),
        products_(size() * size()) {
    design.cross_products(active_.data(), size(), products_.data());
    std::vector<std::vector<Index>> inside;
    for (const auto& mode : modes) {
      inside.emplace_back();
      for (const Index j : mode) {
        const Index at = place(j);
        if (at >= 0) inside.back().push_back(at);
      }
    }
    exchanges_ = exchanges_between(std::move(inside));
  }

  Index size() const { return static_cast<Index>(active_.size()); }
  Index operator[](Index a) const { return active_[a]; }
  const std::vector<Exchange>& exchanges() const { return exchanges_; }
  // Where column j is among them; -1 if it is not.
  Index place(Index j) const {
    const auto at = std::lower_bound(active_.begin(), active_.end(), j);
    return at != active_.end() && *at == j ? static_cast<Index>(at - active_.begin()) : -1;
  }

  // Columns of A, and after them those that a model holds beside: a problem of its own.
  struct Part {
    std::vector<Index> columns;    // of the whole problem
    std::vector<double> products;  // of prepared columns
    std::vector<double> zy, mean;
    SpikeSlabPrior prior;
  };
  Part given(const SpikeSlab& model) const {
    Part part;
    part.columns = active_;
    const LeastSquares& support = model.support();
    std::vector<Index> held;  // positions in the support
    Index free_held = 0;
    for (Index s = 0; s < support.size(); ++s) {
      const Index j = support.members()[s];
      if (place(j) >= 0) continue;
      held.push_back(s);
      part.columns.push_back(j);
      free_held += model.is_free(j);
    }
    const Index count = static_cast<Index>(part.columns.size()), own = size();
    part.products.resize(count * count);
    for (Index a = 0; a < own; ++a) {
      std::copy_n(products_.data() + a * own, own, part.products.data() + a * count);
    }
    for (Index h = own; h < count; ++h) {
      const double* gram = support.gram_of(held[h - own]);
      for (Index i = 0; i < count; ++i) {
        part.products[h * count + i] = part.products[i * count + h] = gram[part.columns[i]];
      }
    }
    for (Index i = 0; i < count; ++i) part.products[i * count + i] = 1;
    part.mean.assign(count, 0.0);
    part.prior = prior_;
    part.prior.log_odds.clear();
    part.prior.scales.clear();
    for (Index i = 0; i < count; ++i) {
      const Index j = part.columns[i];
      part.zy.push_back(design_.zy[j]);
      part.prior.log_odds.push_back(i < own ? prior_.log_odds[j] : -SlabState::kNever);
      if (!prior_.scales.empty()) part.prior.scales.push_back(prior_.scales[j]);
    }
    part.prior.theta_a += static_cast<double>(free_held);
    part.prior.theta_b += static_cast<double>(model.free_columns() - own - free_held);
    return part;
  }

 private:
  static std::vector<Index> free_ones(const Quadratic& design, const SpikeSlabPrior& prior,
                                      const std::vector<Index>& columns) {
    std::vector<Index> out;
    for (const Index j : columns) {
      if (design.inverse_scale[j] > 0 && std::isfinite(prior.log_odds[j])) out.push_back(j);
    }
    return out;
  }

  const Quadratic& design_;
  const SpikeSlabPrior& prior_;
  const std::vector<Index> active_;
  std::vector<double> products_;
  std::vector<Exchange> exchanges_;
};

class ActiveChain {
 public:
  // As `chain` begins; a batch is that many iterations, each of so many within A.
  ActiveChain(std::unique_ptr<Chain> chain, const Quadratic& design,
              const std::vector<double>& reference, const ActiveColumns& active, Index batch,
              Index within)
      : chain_(std::move(chain)),
        design_(design),
        reference_(reference),
        active_(active),
        batch_(batch),
        within_(within) {}

  // Boundaries are between batches.
  template <class Fields>
  void remember(Fields& fields) {
    close();
    chain_->remember(fields);
  }

  void advance(bool warming, double weight, const Context& context) {
    if (step_ == 0) {
      close();
      chain_->sweep_and_swap(context);
      if (!warming) look_at_all();
      open(context);
    }
    step_ = (step_ + 1) % batch_;
    for (Index i = 0; inner_ && i < within_; ++i) {
      inner_->chain.iterate(context);
      if (!warming) inner_->chain.record(weight / static_cast<double>(within_));
    }
  }

  void keep(Draws& draws) {
    Chain& now = inner_ ? inner_->chain : *chain_;
    keep_state(now.model(), now.random(), draws, inner_ ? inner_->part.columns.data() : nullptr);
    const Index p = design_.columns();
    const Conditionals& all = chain_->here();
    draws.inclusion.resize(p), draws.mean.resize(p), draws.square.resize(p);
    for (Index i = 0; i < p; ++i) {
      draws.inclusion[i] += all.inclusion[i];
      draws.mean[i] += all.mean[i];
      draws.square[i] += all.square[i];
    }
    if (kept_++ == 0) {
      draws.conditional.insert(draws.conditional.end(), all.inclusion.begin(), all.inclusion.end());
      mean_of_batch_.assign(active_.size(), 0.0);
    }
    if (!inner_) return;
    float* row = draws.conditional.data() + draws.conditional.size() - p;
    Conditionals& own = inner_->chain.here();
    for (Index a = 0; a < active_.size(); ++a) {
      const Index j = active_[a];
      draws.inclusion[j] += own.inclusion[a];
      draws.mean[j] += own.mean[a];
      draws.square[j] += own.square[a];
      mean_of_batch_[a] += (own.inclusion[a] - mean_of_batch_[a]) / static_cast<double>(kept_);
      row[j] = static_cast<float>(mean_of_batch_[a]);
    }
    own.clear();
  }

 private:
  struct Inner {
    Inner(ActiveColumns::Part given, const Quadratic& design, const std::vector<double>& whole,
          const ActiveColumns& active, const Context& context)
        : part(std::move(given)),
          count(static_cast<Index>(part.columns.size())),
          quadratic({{part.products.data(), 1, count},
                     part.zy.data(),
                     design.yy,
                     part.mean.data(),
                     design.mean_y,
                     design.weight},
                    count, 8.0 * static_cast<double>(count * count)),
          reference(chosen(whole, part.columns)),
          chain(quadratic, GramUser(quadratic.cache(), context), part.prior, {}, active.exchanges(),
                reference, 0, 0) {}

    static std::vector<double> chosen(const std::vector<double>& whole,
                                      const std::vector<Index>& columns) {
      std::vector<double> out;
      for (const Index j : columns) out.push_back(whole[j]);
      return out;
    }

    const ActiveColumns::Part part;
    const Index count;
    const StatisticsQuadratic quadratic;
    const std::vector<double> reference;
    Chain chain;
  };

  // What is known of the columns outside A counts until the next batch.
  void look_at_all() {
    Conditionals& all = chain_->here();
    all.clear();
    chain_->record(1);
    kept_ = 0;
  }

  // Goes on within A, if its model can stand where the whole one does: where columns depend on each
  // other that may hang on their order.
  void open(const Context& context) {
    const SpikeSlab& model = chain_->model();
    inner_ = std::make_unique<Inner>(active_.given(model), design_, reference_, active_, context);
    std::vector<Index> members;
    Index held = active_.size();
    for (const Index j : model.support().members()) {
      const Index at = active_.place(j);
      members.push_back(at >= 0 ? at : held++);
    }
    inner_->chain.stand_like(*chain_, members);
    if (inner_->chain.model().size() != model.size()) {
      inner_.reset();
      return;
    }
    Conditionals& all = chain_->here();
    for (Index a = 0; a < active_.size(); ++a) {
      const Index j = active_[a];
      all.inclusion[j] = all.mean[j] = all.square[j] = 0;
    }
  }
  void close() {
    if (!inner_) return;
    std::vector<Index> members;
    for (const Index at : inner_->chain.model().support().members()) {
      members.push_back(inner_->part.columns[at]);
    }
    chain_->stand_like(inner_->chain, members);
    inner_.reset();
  }

  std::unique_ptr<Chain> chain_;
  const Quadratic& design_;
  const std::vector<double>& reference_;
  const ActiveColumns& active_;
  const Index batch_, within_;
  Index step_ = 0;  // of the batch
  Index kept_ = 0;  // draws of the batch
  std::unique_ptr<Inner> inner_;
  std::vector<double> mean_of_batch_;
};

}  // namespace ellzero
