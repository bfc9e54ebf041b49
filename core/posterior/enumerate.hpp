// The whole posterior, by visiting all 2^F supports in Gray-code order: one flip each.
//
// Where tau is learned, that is done at every node of a trapezoidal rule in x = log tau. The
// integrand is analytic in a strip about the real line, so the rule converges geometrically once
// its step is below the width of the posterior of x.
//
// Model is SpikeSlab, whose units are columns, or GroupSpikeSlab.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "posterior/draws.hpp"
#include "posterior/hyperparameters.hpp"

namespace ellzero {

// Walks over all supports of one model.
template <class Model>
class GrayWalk {
 public:
  explicit GrayWalk(Model& model) : model_(model) {
    for (Index j = 0; j < model.units(); ++j) {
      if (model.is_free(j)) order_.push_back(j);
    }
  }

  std::size_t supports() const { return std::size_t{1} << order_.size(); }

  // Calls visit(code) at every support that is a model: bit b of the code says whether the b-th of
  // the free units is in. Starts and ends with none of them in.
  template <class Visit>
  void run(const Context& context, Visit&& visit) {
    std::size_t code = 0;
    std::vector<Index> missing;  // in the code, but dependent on the others
    for (std::size_t step = 0;;) {
      if (step % 256 == 0) context.check();
      if (missing.empty() && model_.is_model()) visit(code);
      if (++step == supports()) break;
      std::size_t bit = 0;
      while (!((step >> bit) & 1)) ++bit;
      code ^= std::size_t{1} << bit;
      const Index j = order_[bit];
      const auto lost = std::find(missing.begin(), missing.end(), j);
      if (model_.contains(j)) {
        model_.leave(j);
      } else if (lost != missing.end()) {
        missing.erase(lost);
      } else {
        missing.push_back(j);
      }
      const auto comes_in = [&](Index i) { return model_.enter(i); };
      missing.erase(std::remove_if(missing.begin(), missing.end(), comes_in), missing.end());
    }
    for (const Index j : order_) {
      if (model_.contains(j)) model_.leave(j);
    }
  }

 private:
  Model& model_;
  std::vector<Index> order_;
};

// Sums over supports, relative to exp(log_scale).
struct Masses {
  double log_scale = -std::numeric_limits<double>::infinity();
  double total = 0;
  std::vector<double> inclusion;     // by unit
  std::vector<double> mean, square;  // by column
  std::vector<double> by_code;

  Masses(Index units, Index columns, std::size_t codes)
      : inclusion(units), mean(columns), square(columns), by_code(codes) {}

  double log_total() const { return total > 0 ? log_scale + std::log(total) : log_scale; }

  void rescale(double scale) {
    if (scale == log_scale) return;
    const double factor = std::exp(log_scale - scale);
    total *= factor;
    for (auto* sums : {&inclusion, &mean, &square, &by_code}) {
      for (double& value : *sums) value *= factor;
    }
    log_scale = scale;
  }
  void add(Masses& other) {
    const double scale = std::max(log_scale, other.log_scale);
    rescale(scale);
    other.rescale(scale);
    total += other.total;
    const auto join = [](std::vector<double>& to, const std::vector<double>& from) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    };
    join(inclusion, other.inclusion);
    join(mean, other.mean);
    join(square, other.square);
    join(by_code, other.by_code);
  }
};

// Adds a model of weight w: who is in, and what their coefficients are.
inline void add_members(const SpikeSlab& model, double w, const std::vector<double>& reference,
                        Masses& sums) {
  const double alpha = model.alpha(), s2 = model.mean_s2();
  const LeastSquares& support = model.support();
  for (Index s = 0; s < support.size(); ++s) {
    const Index j = support.members()[s];
    const double m = support.beta()[s] / alpha;
    sums.inclusion[j] += w;
    sums.mean[j] += w * m;
    const double off = m - reference[j];
    sums.square[j] += w * (off * off + s2 * support.inverse_diagonal()[s] / alpha);
  }
}

template <class Model>
class Enumeration {
 public:
  // How to make a model with none of the free units in.
  using Make = std::function<std::unique_ptr<Model>()>;

  Enumeration(const Quadratic& design, const GramUser& cache, const SpikeSlabPrior& prior,
              Make make)
      : design_(design), cache_(cache), prior_(prior), make_(std::move(make)) {}

  // The log of the evidence, up to what is the same for all data; masses are in units of y.
  double log_evidence(const Masses& sum) const {
    const std::unique_ptr<Model> model = make_();
    const double power = prior_.noise.learned ? model->noise_shape() : 0;
    return sum.log_total() - power * std::log(model->unit());
  }

  // The posterior; then `count` draws from it.
  Masses run(const std::vector<double>& reference, Index count, std::uint64_t seed,
             const Context& context, Draws& draws) {
    reference_ = &reference;
    const std::unique_ptr<Model> model = make_();
    const std::size_t codes = GrayWalk<Model>(*model).supports();
    std::vector<Index> all(design_.columns());
    for (Index j = 0; j < design_.columns(); ++j) all[j] = j;
    cache_.prepare(all);
    Masses sum(model->units(), model->columns(), codes);
    if (!learns_tau(prior_)) {
      sum = at_node(0, context);
      nodes_ = {{0, sum.log_total()}};
    } else {
      step_ = node_step(*model);
      integrate(*model, sum, context);
      if (ends_high(sum)) {
        step_ *= kFiner;
        sum = Masses(model->units(), model->columns(), codes);
        integrate(*model, sum, context);
      }
    }
    draw(count, seed, sum, context, draws);
    for (Index j = 0; j < model->columns(); ++j) {
      const double outside = sum.total - sum.inclusion[model->unit_of(j)];
      sum.square[j] += outside * reference[j] * reference[j];
    }
    return sum;
  }

 private:
  struct Node {
    double x, log_total;
  };

  // The log of the joint density of the support and x, up to a constant.
  double log_weight(const Model& model, double x) const {
    if (!learns_tau(prior_)) return model.log_posterior();
    const auto k = static_cast<double>(model.rank());
    return model.log_prior() + 0.5 * (k * x - model.log_determinant()) +
           tau_log_density(prior_, x, model.energy(), model.unit()) + log_end(x);
  }

  // By Gregory's rule the first nodes make up for the end of the others' rule. A prior of 1 / tau
  // falls off slowly to the left, as exp(shape x): what it has beyond counts as at the first node.
  double log_end(double x) const {
    static constexpr double kGregory[] = {251.0 / 720, 299.0 / 240, 211.0 / 240, 739.0 / 720};
    const double place = std::round((x - lowest()) / step_);
    if (place >= 4) return 0;
    const Variance& slab_variance = prior_.slab_variance;
    const bool slow = slab_variance.learned && slab_variance.relative && place == 0;
    const double beyond = slow ? 1 / (slab_variance.shape * step_) : 0;
    return std::log(kGregory[static_cast<int>(place)] + beyond);
  }
  static double lowest() { return std::log(SlabState::kLeastTau); }

  void stand_at(Model& model, double x) const {
    if (learns_tau(prior_)) model.set_tau(std::exp(x));
  }

  Masses at_node(double x, const Context& context) const {
    const std::unique_ptr<Model> model = make_();
    stand_at(*model, x);
    GrayWalk<Model> walk(*model);
    Masses sums(model->units(), model->columns(), walk.supports());
    walk.run(context, [&](std::size_t code) {
      const double log_w = log_weight(*model, x);
      if (log_w > sums.log_scale) sums.rescale(log_w + 20);
      const double w = std::exp(log_w - sums.log_scale);
      if (w == 0) return;
      sums.total += w;
      sums.by_code[code] += w;
      add_members(*model, w, *reference_, sums);
    });
    return sums;
  }

  // Nodes on either side of the middle, each side in a thread, until nothing more comes of them:
  // so many steps from the least value that one of them is that value.
  void integrate(const Model& model, Masses& sum, const Context& context) {
    const double step = step_;
    const double middle = std::round((std::log(model.tau()) - lowest()) / step);
    const bool slab = prior_.slab_variance.learned;
    const double reach[2] = {slab ? kReach : reach_to_best(model), slab ? kReach : 2};
    const double highest_x = std::log(SlabState::kGreatestTau);
    std::vector<Masses> sides(2, Masses(model.units(), model.columns(), sum.by_code.size()));
    std::vector<Node> nodes[2];
    parallel_ranges(2, context, [&](Index begin, Index end, auto&&) {
      for (Index side = begin; side < end; ++side) {
        double highest = -std::numeric_limits<double>::infinity();
        for (Index i = side;; ++i) {  // the middle belongs to the first side
          const double steps = middle + (side == 0 ? -1.0 : 1.0) * static_cast<double>(i);
          const double x = lowest() + step * steps;
          if (steps < 0 || (side == 1 && x > highest_x)) break;
          Masses here = at_node(x, context.single(begin == 0));
          nodes[side].push_back({x, here.log_total()});
          sides[side].add(here);
          highest = std::max(highest, nodes[side].back().log_total);
          const bool far = static_cast<double>(i) * step > reach[side];
          if (far && nodes[side].back().log_total < highest - kNegligible) break;
        }
      }
    });
    nodes_.clear();
    for (int side = 0; side < 2; ++side) {
      sum.add(sides[side]);
      nodes_.insert(nodes_.end(), nodes[side].begin(), nodes[side].end());
    }
    sum.log_scale += std::log(step);
  }

  // Whether the density is cut off where it is not negligible. It may be steep there: columns that
  // all but depend on each other may explain y by coefficients without bound.
  bool ends_high(const Masses& sum) const {
    const Variance& slab_variance = prior_.slab_variance;
    if (slab_variance.learned && slab_variance.relative) return false;
    return std::any_of(nodes_.begin(), nodes_.end(), [&](const Node& node) {
      return node.x <= lowest() && node.log_total - sum.log_total() > std::log(kHighEnd);
    });
  }

  // Given a model of k members, x is about sqrt(2 / k) wide; where only the noise is learned, about
  // sqrt(2 / N).
  double node_step(const Model& model) const {
    const auto most = static_cast<double>(model.greatest_rank());
    const double sharpness = prior_.slab_variance.learned ? most : std::max(most, prior_.degrees);
    return std::min(0.25, 0.7 * std::sqrt(2 / std::max(sharpness, 1.0)));
  }

  // Where only the noise is learned: how far below the middle the noise of the largest model is.
  // The noise of no model is further.
  double reach_to_best(const Model& model) const {
    const std::unique_ptr<Model> largest = make_();
    largest->set_tau(SlabState::kLeastTau);
    for (Index j = 0; j < model.units(); ++j) {
      if (largest->is_free(j)) largest->enter(j);
    }
    const double least =
        (largest->energy() + prior_.noise.rate) / (0.5 * prior_.degrees + prior_.noise.shape);
    return std::max(0.0, std::log(model.s2() / least)) + 1;
  }

  // Independent draws: nodes and supports by their masses, then tau from its own density.
  void draw(Index count, std::uint64_t seed, const Masses& sum, const Context& context,
            Draws& draws) const {
    Random random(seed, 0);
    std::vector<double> weights;
    for (const Node& node : nodes_) weights.push_back(std::exp(node.log_total - sum.log_total()));
    std::discrete_distribution<std::size_t> pick(weights.begin(), weights.end());
    std::vector<Index> wanted(nodes_.size(), 0);
    for (Index t = 0; t < count; ++t) ++wanted[pick(random)];
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      if (wanted[node] > 0) draw_at(nodes_[node], wanted[node], random, context, draws);
    }
  }

  void draw_at(const Node& node, Index count, Random& random, const Context& context,
               Draws& draws) const {
    std::vector<double> levels;
    // A little below one: what is passed in the end sums to one but for rounding.
    for (Index t = 0; t < count; ++t) levels.push_back((1 - 1e-10) * random.uniform());
    std::sort(levels.begin(), levels.end());
    const std::unique_ptr<Model> model = make_();
    stand_at(*model, node.x);
    GrayWalk<Model> walk(*model);
    double passed = 0;
    std::size_t next = 0;
    walk.run(context, [&](std::size_t) {
      passed += std::exp(log_weight(*model, node.x) - node.log_total);
      if (next == levels.size() || levels[next] > passed) return;
      std::unique_ptr<Model> own;
      if (learns_tau(prior_)) {
        own = make_();
        for (const Index j : model->support().members()) {
          if (own->is_free(j)) own->enter(j);
        }
      }
      for (; next < levels.size() && levels[next] <= passed; ++next) {
        context.check();
        if (own) {
          own->set_tau(std::exp(node.x));
          for (int round = 0; round < 5; ++round) learn_tau(*own, design_, random);
        }
        keep_state(own ? *own : *model, random, draws);
      }
    });
  }

  // Beyond the reach, nodes whose mass is e^-45 of the largest end the sum.
  static constexpr double kReach = 12, kNegligible = 45;
  // From such a share of all on, steps are so much finer.
  static constexpr double kHighEnd = 1e-8, kFiner = 0.125;
  const std::vector<double>* reference_ = nullptr;
  const Quadratic& design_;
  const GramUser cache_;
  const SpikeSlabPrior& prior_;
  const Make make_;
  std::vector<Node> nodes_;
  double step_ = 0;  // between nodes
};

}  // namespace ellzero
