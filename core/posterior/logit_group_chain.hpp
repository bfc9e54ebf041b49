// A Markov chain on sets of groups of columns, two classes, given Polya-Gamma weights.
//
// The columns of a group are an orthonormal basis of what it spans, each of norm 1 / sqrt(r) for r
// of them, so that a slab of variance sigma_beta^2 on every coefficient makes the fit of a group as
// large as that of one column, whatever its coding. With D_g and c_g the block Schur complement of
// a group and its products with what the members leave, it comes in with the log-odds
//
//   log p(S + g) / p(S) + 1/2 (r log tau - log det D_g + c_g'D_g^-1 c_g)
//
// and a member stays with the same, D_g^-1 being its block of A^-1 and c_g = D_g beta_g. An
// iteration is that of logit_chain.hpp, without jumps.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "base/dense.hpp"
#include "posterior/logit_walk.hpp"
#include "posterior/unit_prior.hpp"

namespace ellzero {

// Groups of columns, and what the prior says of them.
struct LogitGroups {
  std::vector<std::vector<Index>> columns;  // by unit; none if it spans nothing
  UnitRules rules;
  SpikeSlabPrior prior;  // of which theta and the log-odds, by unit, count
};

class LogitGroupChain : private LogitWalk {
 public:
  LogitGroupChain(const LogitRows& rows, const LogitPrior& prior, const LogitGroups& groups,
                  const std::vector<Index>& start, std::uint64_t seed, std::uint64_t stream)
      : LogitWalk(rows, prior, seed, stream),
        groups_(groups),
        unit_prior_(groups.prior, groups.rules, choices(groups)),
        order_(groups.columns.size()),
        blocks_(groups.columns.size()),
        probability_(groups.columns.size()),
        inclusion_(groups.columns.size(), 0.0),
        mean_(rows.columns(), 0.0),
        square_(rows.columns(), 0.0) {
    std::iota(order_.begin(), order_.end(), Index{0});
    for (Index unit = 0; unit < units(); ++unit) {
      if (unit_prior_.is_forced(unit)) take(unit);
    }
    for (const Index unit : start) {
      if (!unit_prior_.is_free(unit)) continue;
      take(unit);
      unit_prior_.flip(unit);
    }
    predict();
  }

  // What the chain remembers, see chain_state.hpp.
  template <class Fields>
  void remember(Fields& fields) {
    LogitWalk::remember(fields);
    std::vector<Index> in;
    for (Index unit = 0; unit < units(); ++unit) {
      if (unit_prior_.is_free(unit) && unit_prior_.is_in(unit)) in.push_back(unit);
    }
    fields.indices("units", in, units());
    fields.indices("order", order_, units());
    if (!Fields::kReads) return;
    for (const Index unit : in) unit_prior_.flip(unit);
  }

  // One iteration; what it finds counts with the weight, but while warming up: then it is learnt
  // from.
  void advance(bool warming, double weight, const Context& context) {
    iterate(context);
    if (warming) {
      learn();
    } else {
      record(weight);
    }
  }

  void iterate(const Context& context) {
    stretch();
    if (rows_.intercept()) shift();
    draw_omega();
    model_.reset(omega_, members_);
    make_blocks();
    model_.learn_tau(random_);
    sweep(context);
    const Index swaps = std::min<Index>(std::max<Index>(unit_prior_.members(), 1), kMostSwaps);
    for (Index i = 0; i < swaps; ++i) swap();
    draw_coefficients();
  }

  void learn() {}

  void record(double weight) {
    const std::vector<double> inverse = model_.support().inverse();
    for (Index unit = 0; unit < units(); ++unit) {
      const std::vector<Index>& columns = groups_.columns[unit];
      const auto r = static_cast<Index>(columns.size());
      if (unit_prior_.is_forced(unit)) {
        probability_[unit] = r > 0 ? 1 : 0;
      } else {
        probability_[unit] = unit_prior_.is_free(unit) ? logistic_of(log_odds(unit, inverse)) : 0;
      }
      inclusion_[unit] += weight * probability_[unit];
      const double share = weight * probability_[unit];
      if (r == 0 || share == 0) continue;
      moments(unit, inverse);
      for (Index a = 0; a < r; ++a) {
        mean_[columns[a]] += share * coefficient_[a];
        square_[columns[a]] += share * (coefficient_[a] * coefficient_[a] + variance_[a]);
      }
    }
    const WeightedSupport& support = model_.support();
    if (support.has_intercept())
      average_intercept_ += weight * support.intercept_given(support.beta());
  }

  void keep(LogitDraws& draws) {
    keep_state(draws);
    if (groups_.prior.learn_theta) draws.theta.push_back(unit_prior_.draw_theta(random_));
    draws.inclusion.resize(inclusion_.size());
    draws.mean.resize(mean_.size()), draws.square.resize(mean_.size());
    for (std::size_t unit = 0; unit < inclusion_.size(); ++unit) {
      draws.conditional.push_back(static_cast<float>(inclusion_[unit]));
      draws.inclusion[unit] += inclusion_[unit];
    }
    for (std::size_t j = 0; j < mean_.size(); ++j) {
      draws.mean[j] += mean_[j];
      draws.square[j] += square_[j];
    }
    draws.intercept_sum += average_intercept_;
    for (auto* sums : {&inclusion_, &mean_, &square_}) std::fill(sums->begin(), sums->end(), 0.0);
    average_intercept_ = 0;
  }

 private:
  static constexpr Index kMostSwaps = 10;

  Index units() const { return static_cast<Index>(groups_.columns.size()); }

  static std::vector<UnitPrior::Choice> choices(const LogitGroups& groups) {
    std::vector<UnitPrior::Choice> out;
    for (std::size_t unit = 0; unit < groups.columns.size(); ++unit) {
      const double odds = groups.prior.log_odds[unit];
      const bool possible = !groups.columns[unit].empty();
      out.push_back(!possible || odds == SlabState::kNever ? UnitPrior::Choice::out
                    : std::isinf(odds)                     ? UnitPrior::Choice::in
                                                           : UnitPrior::Choice::free);
    }
    return out;
  }

  void take(Index unit) {
    for (const Index j : groups_.columns[unit]) {
      members_.push_back(j);
      beta_.push_back(0);
    }
  }

  static double logistic_of(double x) { return 1 / (1 + std::exp(-x)); }

  // The blocks of Z'diag(omega) Z on the diagonal, the intercept integrated out.
  void make_blocks() {
    const Index n = rows_.rows();
    const WeightedSupport& support = model_.support();
    for (Index unit = 0; unit < units(); ++unit) {
      const std::vector<Index>& columns = groups_.columns[unit];
      const auto r = static_cast<Index>(columns.size());
      Square& block = blocks_[unit];
      block.resize(r);
      values_.resize(static_cast<std::size_t>(r * n));
      for (Index a = 0; r > 1 && a < r; ++a) rows_.read(columns[a], values_.data() + a * n);
      for (Index a = 0; a < r; ++a) {
        block.row(a)[a] = support.diagonal(columns[a]);
        if (a + 1 == r) continue;
        const double* own = values_.data() + a * n;
        for (Index i = 0; i < n; ++i) moved_[i] = omega_[i] * own[i];
        for (Index b = a + 1; b < r; ++b) {
          double product = dot(moved_.data(), values_.data() + b * n, n);
          if (support.has_intercept()) {
            product -= support.taken_by_intercept(columns[a], columns[b]);
          }
          block.row(a)[b] = block.row(b)[a] = product;
        }
      }
    }
  }

  // D_g factorised and D_g^-1 c_g of a group that is out; false if rounding has the better of it.
  bool complement(Index unit) {
    const std::vector<Index>& columns = groups_.columns[unit];
    const auto r = static_cast<Index>(columns.size());
    const WeightedSupport& support = model_.support();
    std::vector<std::vector<double>> reach;
    for (const Index j : columns) reach.push_back(support.reach(j));
    factor_ = blocks_[unit];
    c_.resize(r), coefficient_.resize(r);
    for (Index a = 0; a < r; ++a) {
      c_[a] = support.c()[columns[a]];
      for (Index b = 0; b < r; ++b) {
        factor_.row(a)[b] -= dot(reach[a].data(), reach[b].data(), support.size());
      }
      factor_.row(a)[a] += support.ridge();
    }
    if (!factorise(factor_)) return false;
    solve_factored(factor_, c_.data(), coefficient_.data());
    return true;
  }

  // The block of A^-1 of a member, factorised, and its coefficients.
  bool own_block(Index unit, const std::vector<double>& inverse) {
    const std::vector<Index>& columns = groups_.columns[unit];
    const auto r = static_cast<Index>(columns.size());
    const WeightedSupport& support = model_.support();
    factor_.resize(r);
    c_.resize(r), coefficient_.resize(r);
    for (Index a = 0; a < r; ++a) {
      const Index s = support.position(columns[a]);
      coefficient_[a] = support.beta()[s];
      for (Index b = 0; b < r; ++b) {
        factor_.row(a)[b] = inverse[s * support.size() + support.position(columns[b])];
      }
    }
    if (!factorise(factor_)) return false;
    solve_factored(factor_, coefficient_.data(), c_.data());  // D_g beta_g
    return true;
  }

  // Twice the log of what the data say for a group, given the others: with r log tau in it.
  double evidence(Index unit, const std::vector<double>& inverse) {
    const bool in = unit_prior_.is_in(unit);
    const auto r = static_cast<Index>(groups_.columns[unit].size());
    if (!(in ? own_block(unit, inverse) : complement(unit))) return SlabState::kNever;
    double log_determinant = 0;
    for (Index a = 0; a < r; ++a) log_determinant += 2 * std::log(factor_.row(a)[a]);
    return static_cast<double>(r) * std::log(model_.tau()) +
           (in ? log_determinant : -log_determinant) + dot(c_.data(), coefficient_.data(), r);
  }

  double log_odds(Index unit, const std::vector<double>& inverse) {
    const double prior = unit_prior_.log_odds(unit);
    return std::isinf(prior) ? prior : prior + 0.5 * evidence(unit, inverse);
  }

  // Mean and variance of a group's coefficients if it is in, given the others.
  void moments(Index unit, const std::vector<double>& inverse) {
    const bool in = unit_prior_.is_in(unit);
    const auto r = static_cast<Index>(groups_.columns[unit].size());
    variance_.assign(r, 0.0);
    if (in) {
      own_block(unit, inverse);
      for (Index a = 0; a < r; ++a) {
        variance_[a] = model_.support()
                           .inverse_diagonal()[model_.support().position(groups_.columns[unit][a])];
      }
      return;
    }
    if (!complement(unit)) return;
    invert_factored(factor_, room_, inverse_);
    for (Index a = 0; a < r; ++a) variance_[a] = inverse_.row(a)[a];
  }

  // False, and nothing changed, if rounding keeps a group from coming in.
  bool flip(Index unit) {
    const std::vector<Index>& columns = groups_.columns[unit];
    if (unit_prior_.is_in(unit)) {
      for (const Index j : columns) model_.remove(model_.support().position(j));
    } else {
      model_.support().prepare(columns);
      for (std::size_t a = 0; a < columns.size(); ++a) {
        if (model_.insert(columns[a])) continue;
        for (std::size_t b = 0; b < a; ++b) model_.remove(model_.support().position(columns[b]));
        return false;
      }
    }
    unit_prior_.flip(unit);
    return true;
  }

  void sweep(const Context& context) {
    for (std::size_t i = order_.size(); i > 1; --i) {
      std::swap(order_[i - 1],
                order_[static_cast<std::size_t>(random_.uniform() * static_cast<double>(i))]);
    }
    std::vector<double> inverse = model_.support().inverse();
    for (const Index unit : order_) {
      if (!unit_prior_.is_free(unit)) continue;
      context.check();
      const bool in = random_.uniform() < logistic_of(log_odds(unit, inverse));
      if (in != unit_prior_.is_in(unit) && flip(unit)) inverse = model_.support().inverse();
    }
  }

  // Free members that nothing else needs.
  std::vector<Index> movable() const {
    std::vector<Index> out;
    for (Index unit = 0; unit < units(); ++unit) {
      if (!unit_prior_.is_free(unit) || !unit_prior_.is_in(unit)) continue;
      if (!(unit_prior_.log_odds(unit) == -SlabState::kNever)) out.push_back(unit);
    }
    return out;
  }

  // A member makes room, and one of all that could take its place comes, itself among them.
  void swap() {
    const std::vector<Index> before = movable();
    if (before.empty()) return;
    const Index leaver =
        before[static_cast<std::size_t>(random_.uniform() * static_cast<double>(before.size()))];
    if (!flip(leaver)) return;
    const std::vector<double> inverse = model_.support().inverse();
    std::vector<double> log_weight(units(), SlabState::kNever);
    double highest = SlabState::kNever, sum = 0;
    for (Index unit = 0; unit < units(); ++unit) {
      if (!unit_prior_.is_free(unit) || unit_prior_.is_in(unit)) continue;
      log_weight[unit] = log_odds(unit, inverse);
      highest = std::max(highest, log_weight[unit]);
    }
    for (double& weight : log_weight) sum += weight = std::exp(weight - highest);
    double left = sum * random_.uniform();
    Index comer = leaver;
    for (Index unit = 0; unit < units(); ++unit) {
      left -= log_weight[unit];
      if (left < 0) {
        comer = unit;
        break;
      }
    }
    if (comer != leaver && !flip(comer)) comer = leaver;
    if (comer == leaver) {
      flip(leaver);
      return;
    }
    // Under heredity there may be fewer ways back than there.
    const auto there = static_cast<double>(before.size());
    const auto back = static_cast<double>(movable().size());
    if (random_.uniform() * back < there) return;
    flip(comer);
    flip(leaver);
  }

  const LogitGroups& groups_;
  UnitPrior unit_prior_;
  std::vector<Index> order_;
  std::vector<Square> blocks_;
  std::vector<double> probability_, inclusion_, mean_, square_;
  double average_intercept_ = 0;
  // Room to work in.
  Square factor_, room_, inverse_;
  std::vector<double> values_, c_, coefficient_, variance_;
};

// As many chains as there are starts; what they draw does not depend on the number of threads.
inline std::vector<LogitDraws> run_logit_group_chains(
    const LogitRows& rows, const LogitPrior& prior, const LogitGroups& groups,
    const std::vector<std::vector<Index>>& starts, std::uint64_t seed, const Schedule& schedule,
    const Context& context, const DrawProgress& progress) {
  return run_each<LogitDraws>(static_cast<Index>(starts.size()), schedule, context, progress,
                              [&](Index i, bool begins, const Context&) {
                                return std::make_unique<LogitGroupChain>(
                                    rows, prior, groups, begins ? starts[i] : std::vector<Index>(),
                                    seed, static_cast<std::uint64_t>(i));
                              });
}

}  // namespace ellzero
