// The whole posterior of a logistic regression, by the evidence of all 2^F supports (logit_model).
//
// Evidence comes by importance sampling, and so with a known error. In rounds: first every support
// gets a few pairs of proposals, then pairs go where they lower the error of inclusion
// probabilities most (Neyman's allocation: by mass times relative deviation), until that is small
// enough or they have cost enough; what the error is then is part of the answer.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/parallel.hpp"
#include "posterior/logit_chain.hpp"
#include "posterior/logit_model.hpp"

namespace ellzero {

class LogitEnumeration {
 public:
  LogitEnumeration(const LogitRows& rows, const LogitPrior& prior)
      : rows_(rows), prior_(prior), inclusion_(prior.inclusion(rows)) {
    for (Index j = 0; j < rows.columns(); ++j) {
      if (inclusion_.is_free(j)) free_.push_back(j);
      if (inclusion_.is_forced(j)) forced_.push_back(j);
    }
  }

  struct Result {
    std::vector<double> masses;  // by code: bit b says whether the b-th of the free columns is in
    std::vector<double> error;   // of inclusion probabilities, by column
    double log_evidence = 0;     // up to what is the same for all data
    LogitDraws draws;            // and averages, by column
  };

  Result run(const std::vector<double>& reference, Index count, std::uint64_t seed,
             double tolerance, const Context& context) {
    reference_ = &reference;
    sums_.assign(std::size_t{1} << free_.size(), Sums());
    std::vector<Index> pairs(sums_.size(), kFirstPairs);
    Result result;
    for (int round = 0;; ++round) {
      sample(pairs, seed, round, context);
      find_masses(result);
      // The evidence may be off by some times as much, relatively.
      const double error = std::max(*std::max_element(result.error.begin(), result.error.end()),
                                    evidence_error(result.masses) / kEvidenceTimes);
      double made = 0;
      for (const Sums& sums : sums_) made += static_cast<double>(sums.pairs);
      const double left = kMostWork / (100 + static_cast<double>(rows_.rows())) - made;
      if (error <= tolerance || round == kMostRounds || left < 1000) break;
      // As many as it takes if the error falls with the root of their number, but at most some
      // times as many as there are.
      const double factor = (error / tolerance) * (error / tolerance);
      allocate(result.masses, std::min(std::min(1.2 * factor - 0.2, 4.0) * made, left), pairs);
    }
    average(result);
    draw(count, seed, result.masses, context, result.draws);
    return result;
  }

 private:
  static constexpr Index kFirstPairs = 32;
  static constexpr int kMostRounds = 12;
  static constexpr double kEvidenceTimes = 5;
  static constexpr double kMostWork = 3e7;  // pairs times rows: a second or so

  // Over the pairs of one support; weights are relative to exp(log_scale).
  struct Sums {
    double log_scale = 0;
    double log_prior = 0;
    Index pairs = 0;
    double weight = 0, square = 0;  // of the mean weight of a pair
    std::vector<double> mean, spread;
    double log_evidence() const {
      return log_scale + std::log(weight / static_cast<double>(pairs)) + log_prior;
    }
    // Variance of the estimate of the evidence, relative to its square.
    double relative_variance() const {
      const double n = static_cast<double>(pairs), m = weight / n;
      return std::max(square / n - m * m, 0.0) / (m * m) / n;
    }
  };

  std::vector<Index> support_of(std::size_t code) const {
    std::vector<Index> out = forced_;
    for (std::size_t b = 0; b < free_.size(); ++b) {
      if ((code >> b) & 1) out.push_back(free_[b]);
    }
    return out;
  }

  void sample(const std::vector<Index>& pairs, std::uint64_t seed, int round,
              const Context& context) {
    const auto codes = static_cast<Index>(sums_.size());
    // Models next to each other differ much in size: dealt out in turn they take the same time.
    const Index threads = std::max(context.threads, 1);
    parallel_ranges(threads, context, [&](Index begin, Index end, auto poll) {
      for (Index t = begin; t < end; ++t) {
        for (Index code = t; code < codes; code += threads) {
          if (poll()) return;
          if (pairs[code] == 0) continue;
          // A stream of its own for every support and round.
          const auto stream = static_cast<std::uint64_t>(code * (kMostRounds + 1) + round) + 1;
          Random random(seed, stream);
          add_pairs(static_cast<std::size_t>(code), pairs[code], random, poll);
        }
      }
    });
  }

  template <class Poll>
  void add_pairs(std::size_t code, Index count, Random& random, Poll&& poll) {
    Sums& sums = sums_[code];
    const std::vector<Index> support = support_of(code);
    LogitModel model(rows_, prior_, support);
    LogitModel::Pair pair;
    if (sums.pairs == 0) {
      sums.log_scale = model.laplace();
      sums.log_prior = inclusion_.log_prior(
          {support.begin() + static_cast<std::ptrdiff_t>(forced_.size()), support.end()});
      sums.mean.assign(model.dimensions(), 0.0);
      sums.spread.assign(model.dimensions(), 0.0);
    }
    for (Index i = 0; i < count; ++i) {
      if (i % 64 == 63 && poll()) return;
      model.propose(random, pair);
      double both = 0;
      for (int side = 0; side < 2; ++side) {
        const double weight = 0.5 * std::exp(pair.log_weight[side] - sums.log_scale);
        both += weight;
        for (std::size_t s = 0; s < sums.mean.size(); ++s) {
          const double value = pair.theta[side][s];
          const double off = value - (s < support.size() ? (*reference_)[support[s]] : 0.0);
          sums.mean[s] += weight * value;
          sums.spread[s] += weight * off * off;
        }
      }
      sums.weight += both;
      sums.square += both * both;
    }
    sums.pairs += count;
  }

  // Masses of supports, and the errors of what is summed from them.
  void find_masses(Result& result) const {
    double highest = -std::numeric_limits<double>::infinity();
    for (const Sums& sums : sums_) highest = std::max(highest, sums.log_evidence());
    double total = 0;
    result.masses.clear();
    for (const Sums& sums : sums_) {
      result.masses.push_back(std::exp(sums.log_evidence() - highest));
      total += result.masses.back();
    }
    for (double& mass : result.masses) mass /= total;
    result.log_evidence = highest + std::log(total);
    result.error.assign(rows_.columns(), 0.0);
    for (std::size_t b = 0; b < free_.size(); ++b) {
      double inside = 0, variance = 0;
      for (std::size_t code = 0; code < sums_.size(); ++code) {
        if ((code >> b) & 1) inside += result.masses[code];
      }
      for (std::size_t code = 0; code < sums_.size(); ++code) {
        const double lever = result.masses[code] * (((code >> b) & 1) - inside);
        variance += lever * lever * sums_[code].relative_variance();
      }
      result.error[free_[b]] = std::sqrt(variance);
    }
  }

  double evidence_error(const std::vector<double>& masses) const {
    double variance = 0;
    for (std::size_t code = 0; code < sums_.size(); ++code) {
      variance += masses[code] * masses[code] * sums_[code].relative_variance();
    }
    return std::sqrt(variance);
  }

  void allocate(const std::vector<double>& masses, double total, std::vector<Index>& pairs) const {
    double sum = 0;
    std::vector<double> need(sums_.size());
    for (std::size_t code = 0; code < sums_.size(); ++code) {
      const double n = static_cast<double>(sums_[code].pairs);
      // Few pairs may by chance look more alike than they are.
      need[code] = masses[code] * (std::sqrt(n * sums_[code].relative_variance()) + 0.05);
      sum += need[code];
    }
    for (std::size_t code = 0; code < sums_.size(); ++code) {
      pairs[code] = static_cast<Index>(std::floor(total * need[code] / sum));
    }
  }

  void average(Result& result) const {
    LogitDraws& out = result.draws;
    out.inclusion.assign(rows_.columns(), 0.0);
    out.mean.assign(rows_.columns(), 0.0);
    out.square.assign(rows_.columns(), 0.0);
    for (std::size_t code = 0; code < sums_.size(); ++code) {
      const Sums& sums = sums_[code];
      const std::vector<Index> support = support_of(code);
      const double factor = result.masses[code] / sums.weight;
      for (std::size_t s = 0; s < support.size(); ++s) {
        out.inclusion[support[s]] += result.masses[code];
        out.mean[support[s]] += factor * sums.mean[s];
        out.square[support[s]] += factor * sums.spread[s];
      }
      if (rows_.intercept()) out.intercept_sum += factor * sums.mean.back();
    }
    for (const Index j : forced_) out.inclusion[j] = 1;  // the sum has rounding
    for (Index j = 0; j < rows_.columns(); ++j) {
      const double off = (*reference_)[j];
      out.square[j] += (1 - out.inclusion[j]) * off * off;
    }
  }

  // Supports by their masses; then of many more proposals than draws are wanted, some by their
  // weights.
  void draw(Index count, std::uint64_t seed, const std::vector<double>& masses,
            const Context& context, LogitDraws& draws) const {
    Random random(seed, 0);
    std::discrete_distribution<std::size_t> pick(masses.begin(), masses.end());
    std::vector<Index> wanted(masses.size(), 0);
    for (Index t = 0; t < count; ++t) ++wanted[pick(random)];
    for (std::size_t code = 0; code < masses.size(); ++code) {
      if (wanted[code] == 0) continue;
      context.check();
      draw_of(support_of(code), wanted[code], random, context, draws);
    }
  }

  void draw_of(const std::vector<Index>& support, Index wanted, Random& random,
               const Context& context, LogitDraws& draws) const {
    LogitModel model(rows_, prior_, support);
    std::vector<LogitModel::Pair> pool(std::max<Index>(64, 8 * wanted));
    double highest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < pool.size(); ++i) {
      if (i % 64 == 63) context.check();
      model.propose(random, pool[i]);
      highest = std::max({highest, pool[i].log_weight[0], pool[i].log_weight[1]});
    }
    std::vector<double> weights;
    for (const LogitModel::Pair& pair : pool) {
      for (const double log_weight : pair.log_weight)
        weights.push_back(std::exp(log_weight - highest));
    }
    std::vector<Index> order(support.size());
    for (std::size_t s = 0; s < order.size(); ++s) order[s] = static_cast<Index>(s);
    std::sort(order.begin(), order.end(),
              [&](Index a, Index b) { return support[a] < support[b]; });
    std::discrete_distribution<std::size_t> pick(weights.begin(), weights.end());
    const auto free_members = static_cast<Index>(support.size() - forced_.size());
    for (Index t = 0; t < wanted; ++t) {
      const std::size_t chosen = pick(random);
      const std::vector<double>& theta = pool[chosen / 2].theta[chosen % 2];
      for (const Index s : order) {
        draws.support.push_back(support[s]);
        draws.beta.push_back(theta[s]);
      }
      draws.begins.push_back(static_cast<Index>(draws.support.size()));
      draws.intercept.push_back(rows_.intercept() ? theta.back() : 0.0);
      draws.slab_variance.push_back(model.draw_slab_variance(theta.data(), random));
      if (inclusion_.learned()) draws.theta.push_back(inclusion_.draw_theta(free_members, random));
    }
  }

  const LogitRows& rows_;
  const LogitPrior& prior_;
  const InclusionPrior inclusion_;
  std::vector<Index> free_, forced_;
  std::vector<Sums> sums_;
  const std::vector<double>* reference_ = nullptr;
};

}  // namespace ellzero
