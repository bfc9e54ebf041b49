// What a fold of a cross-validation does with its training rows: it looks for its solutions as lam
// falls, and can be left on its way whenever a Gram column can't be had yet.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "search/frontier.hpp"
#include "search/sbr_trail.hpp"

namespace ellzero {

class FoldSearch {
 public:
  // The engine is moved to the forced units.
  FoldSearch(Engine& engine, const std::vector<Index>& forced) : engine_(engine) {
    limits_.forced.assign(forced.empty() ? 0 : engine.units(), 0);
    for (const Index j : forced) limits_.forced[j] = 1;
    engine_.move_to(forced);
  }
  virtual ~FoldSearch() = default;

  // From now on sizes up to max_size count. False if there is nothing more to look for. What the
  // search of a neighbour has found, the same rows with another ridge, may be a help; it is of the
  // same kind, or null.
  virtual bool extend(Index max_size, const FoldSearch* neighbour) = 0;
  // Looks for them. What it throws changes nothing, and the next call goes on from there.
  virtual void go_on(const Context& context, const Progress& progress) = 0;

  struct Found {
    std::vector<Solution> models;  // their columns in any order
    // Of a frontier: what one more variable would gain in the largest.
    double next_gain = 0;
    // Of SBR: the least lam that each is the solution at.
    std::vector<double> lows;
  };
  virtual Found found(const Context& context) = 0;

  // Remembers what the first size that is asked for has led to; go_back() is the way back there.
  virtual void remember_first() {}
  virtual void go_back() {}

 protected:
  Engine& engine_;
  Limits limits_;
};

// The best known model of every size, by insertions and removals.
class FrontierSearch final : public FoldSearch {
 public:
  FrontierSearch(Engine& engine, const std::vector<Index>& forced)
      : FoldSearch(engine, forced), frontier_(engine, limits_.forced, false) {}

  bool extend(Index max_size, const FoldSearch* neighbour) override {
    if (given_ && max_size == reached_) return false;
    if (remembers_ && reached_ >= 0 && first_.empty()) {
      first_ = frontier_.models();
      first_size_ = reached_;
    }
    max_size_ = max_size;
    engine_.move_to(frontier_.models().back().support);
    if (!(engine_.best_insertion().gain > engine_.rounding())) return false;
    frontier_.extend(max_size);
    neighbour_ = static_cast<const FrontierSearch*>(neighbour);
    return true;
  }

  void go_on(const Context& context, const Progress& progress) override {
    frontier_.close(context, progress);
    if (neighbour_) {
      frontier_.suggest(neighbour_->frontier_.models(), context);
      neighbour_ = nullptr;
      frontier_.close(context, progress);
    }
    frontier_.cut();
    reached_ = max_size_;
  }

  void remember_first() override { remembers_ = true; }
  void go_back() override {
    remembers_ = false;
    given_ = true;
    if (first_.empty()) return;  // it has come no further
    frontier_.go_back(std::move(first_));
    first_.clear();
    max_size_ = reached_ = first_size_;
  }

  Found found(const Context& context) override {
    const std::vector<Frontier::Model>& models = frontier_.models();
    const Index last = static_cast<Index>(models.size()) - 1, first = frontier_.least_size();
    Found out;
    out.models.resize(last + 1 - first);
    std::vector<Index> delicate;
    for (Index k = first; k <= last; ++k) {
      if (models[k].tried && models[k].solved) {
        Solution& model = out.models[k - first];
        model = models[k].solution;
        model.support = models[k].support;
        model.set_energy(models[k].energy);  // as it was when the table was settled
      } else {
        delicate.push_back(k);
      }
    }
    if (last == max_size_) {
      out.next_gain = models[last].next_gain;
      if (out.next_gain < 0) {
        engine_.move_to(models[last].support);
        out.next_gain = std::max(0.0, engine_.best_insertion().gain);
      }
    }
    if (delicate.empty()) return out;
    const Excursion excursion(engine_);
    engine_.ignore_outsiders();
    for (auto k = delicate.rbegin(); k != delicate.rend(); ++k) {
      context.check();
      engine_.move_to(models[*k].support);
      out.models[*k - first] = engine_.solve(context);
    }
    return out;
  }

 private:
  Frontier frontier_;
  Index max_size_ = 0;
  Index reached_ = -1;  // the size that was asked for last, once all is found
  const FrontierSearch* neighbour_ = nullptr;  // whose models have not been tried
  bool remembers_ = false, given_ = false;
  std::vector<Frontier::Model> first_;  // what was found for the first size, once there is another
  Index first_size_ = 0;
};

// Where runs of SBR stop.
class SbrSearch final : public FoldSearch {
 public:
  SbrSearch(Engine& engine, const std::vector<Index>& forced)
      : FoldSearch(engine, forced), trail_(engine, limits_) {}

  bool extend(Index max_size, const FoldSearch*) override {
    trail_.restart(max_size);
    stops_ = {};
    return true;
  }

  void go_on(const Context& context, const Progress& progress) override {
    while (trail_.next(context, progress)) {
      Solution model = engine_.solve(context);
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
