// All folds of a cross-validation, side by side.
//
// Folds that share passes over X go in step: each goes on until it wants a Gram column that
// nobody has made, then one pass over X makes what all of them want. Between passes they run in
// threads. What a fold finds depends on its own rows alone, and on its
// neighbour.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "data/column_passes.hpp"
#include "search/fold_search.hpp"
#include "search/held_out.hpp"

namespace ellzero {

struct Fold {
  std::unique_ptr<Engine> engine;  // on the training rows
  const Quadratic* quadratic;      // of least squares; else null, and so are the rows held out
  const HeldOut* held_out;
  std::unique_ptr<FoldSearch> search = nullptr;  // if another has begun it
};

class Folds {
 public:
  // `shared` are passes that the quadratics are made in, or null. `context` says how many threads
  // share the folds, `passes` how many share a pass.
  Folds(std::vector<Fold> folds, ColumnPasses* shared, bool sbr, const std::vector<Index>& forced,
        const Context& context, const Context& passes)
      : folds_(std::move(folds)), shared_(shared), context_(context), passes_(passes) {
    if (shared_) shared_->prepare(forced, passes_);
    for (Fold& fold : folds_) {
      if (fold.search) {
        searches_.push_back(std::move(fold.search));
      } else if (sbr) {
        searches_.push_back(std::make_unique<SbrSearch>(*fold.engine, forced));
      } else {
        searches_.push_back(std::make_unique<FrontierSearch>(*fold.engine, forced));
      }
      // In step nobody looks ahead unless passes are dear: what others want comes along.
      if (shared_ && !shared_->passes_are_dear()) {
        fold.engine->expect_gains_above(std::numeric_limits<double>::infinity());
      }
    }
  }

  // The search of a fold will be given to others on the same rows, judged by other ones. They get
  // it as the first size has left it: what comes then hangs on who judges.
  void keep_for_others(Index fold) { searches_[fold]->remember_first(); }
  // What is left can't be searched.
  Fold give(Index fold) {
    complete_ = false;
    searches_[fold]->go_back();
    return {std::move(folds_[fold].engine), folds_[fold].quadratic, nullptr,
            std::move(searches_[fold])};
  }
  bool is_complete() const { return complete_; }

  // Looks for the solutions of every fold among sizes up to max_size. `neighbour`, if not null, are
  // the same folds with another ridge, whose search begins where that has come to.
  void search(Index max_size, const Progress& progress, const Folds* neighbour) {
    std::vector<FoldSearch*> open;
    for (std::size_t f = 0; f < searches_.size(); ++f) {
      const FoldSearch* near = neighbour ? neighbour->searches_[f].get() : nullptr;
      if (searches_[f]->extend(max_size, near)) open.push_back(searches_[f].get());
    }
    is_much_ = is_much(max_size);
    size_ = max_size;
    const ColumnPasses::PutOff put_off(shared_);
    while (!open.empty()) {
      std::vector<std::vector<Index>> wanted(open.size());
      each(open.size(), is_much_, [&](Index f, const Context& context) {
        try {
          open[f]->go_on(context, context.caller ? progress : Progress());
        } catch (const ColumnMissing& missing) {
          wanted[f] = missing.columns;
        }
      });
      std::vector<FoldSearch*> still;
      for (std::size_t f = 0; f < open.size(); ++f) {
        if (!wanted[f].empty()) still.push_back(open[f]);
      }
      open = std::move(still);
      if (!open.empty()) shared_->prepare(in_turn(wanted), passes_);
    }
  }

  // What every fold has found, handed to take(fold, what, context) in threads.
  template <class Take>
  void collect(Take&& take) {
    double rows = 0;
    for (const Fold& fold : folds_) {
      if (fold.held_out) rows += static_cast<double>(fold.held_out->rows());
    }
    const double size = static_cast<double>(size_);
    each(folds_.size(), is_much_ || 0.5 * rows * size * size > kThreads,
         [&](Index f, const Context& context) { take(f, searches_[f]->found(context), context); });
  }

  struct Judged {
    FoldSearch::Found found;
    std::vector<HeldOut::Verdict> verdicts;  // on the rows held out
    double rounding = 0;                     // what energies differ by through rounding
  };
  // What every fold has found, and how that does.
  std::vector<Judged> judge() {
    std::vector<Judged> out(folds_.size());
    collect([&](Index f, FoldSearch::Found found, const Context& context) {
      out[f].found = std::move(found);
      out[f].rounding = folds_[f].engine->rounding();
      out[f].verdicts =
          folds_[f].held_out->judge(*folds_[f].quadratic, out[f].found.models, context);
    });
    return out;
  }

 private:
  // What each fold needs, then what each would like next, as far as one pass goes.
  std::vector<Index> in_turn(const std::vector<std::vector<Index>>& wanted) const {
    std::vector<Index> out;
    for (std::size_t place = 0, found = 1; found > 0; ++place) {
      found = 0;
      for (const std::vector<Index>& own : wanted) {
        if (place >= own.size()) continue;
        ++found;
        const bool known = std::find(out.begin(), out.end(), own[place]) != out.end();
        const bool room = static_cast<Index>(out.size()) < shared_->pass_columns();
        if (!known && (place == 0 || room)) out.push_back(own[place]);
      }
    }
    return out;
  }

  // Fewer multiplications take less time than threads do: to start one takes as long as some
  // hundred thousand, and its caches have to be warmed.
  static constexpr double kThreads = 4e6;

  // Whether searches up to a size take more than that.
  bool is_much(Index max_size) const {
    constexpr double kStep = 1e4;    // what a step takes beside its columns
    constexpr double kMade = 0.125;  // of the products that it wants, others are made already
    const double size = static_cast<double>(max_size);
    double work = 0;
    for (const Fold& fold : folds_) {
      if (!fold.quadratic) return true;  // likelihoods are refitted all the time
      const double passes = shared_ ? 0 : kMade * fold.quadratic->entries();
      const double columns = static_cast<double>(fold.quadratic->columns());
      work += size * (kStep + 0.5 * columns * size + passes);
    }
    return work > kThreads;
  }

  // Calls work(f, context) for every f, in threads if it is much; the first range is the calling
  // thread's.
  template <class Work>
  void each(std::size_t count, bool much, Work&& work) const {
    const Context context = much ? context_ : context_.single(true);
    parallel_ranges(count, context, [&](Index begin, Index end, auto poll) {
      for (Index f = begin; f < end && !poll(); ++f) work(f, context_.single(begin == 0));
    });
  }

  std::vector<Fold> folds_;
  ColumnPasses* shared_;
  Context context_;
  Context passes_;
  std::vector<std::unique_ptr<FoldSearch>> searches_;
  bool complete_ = true;
  bool is_much_ = true;  // to search what was asked for last
  Index size_ = 0;       // that
};

}  // namespace ellzero
