// Columns whose indicators hang on those of others: they are worth more moves than the rest.
//
// With p_i the probability of column i given all others, which changes from state to state, and m_i
// its mean,
//
//   r_i = var(p_i) / (m_i (1 - m_i))
//
// is the share of the variance of the indicator that the others decide: the correlation between two
// draws of it given the same others. A column that is drawn anew leaves nothing of where it was if
// r_i = 0, and almost all if r_i is near one, as where columns stand in for each other.
//
// r is taken from states of the warm-up and not looked at again. So what is chosen by it is given
// as far as the draws are concerned: a move leaves the posterior as it is whatever columns it is
// made for, as long as the draws have no say in that.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/kernels.hpp"

namespace ellzero {

class Restless {
 public:
  explicit Restless(Index columns) : weights_(columns, 1.0) {}

  // What the chain remembers, see chain_state.hpp.
  template <class Fields>
  void remember(Fields& fields) {
    fields("warm_states", observed_);
    before_.remember(fields, "warm_states_before", "probability_before", "square_before");
    now_.remember(fields, "warm_states_now", "probability_now", "square_now");
    if (!before_.is_of(weights_.size()) || !now_.is_of(weights_.size())) {
      throw std::invalid_argument("not the state of such a chain: warm_states");
    }
    fields("coupling", coupling_);
    fields.indices("restless", columns_, static_cast<Index>(weights_.size()));
    if (Fields::kReads) set_weights();
  }

  // The probabilities of all columns, each given the others, in a state of the warm-up. Of t states
  // the first are forgotten, a quarter to a half of them: from the last power of two but one on
  // they count.
  void observe(const std::vector<double>& p) {
    ++observed_;
    if ((observed_ & (observed_ - 1)) == 0) {
      before_ = std::move(now_);
      now_ = Sums();
    }
    now_.add(p);
  }

  // The warm-up is over: chooses, if there were states enough, and for good.
  void settle() {
    if (coupling_ >= 0 || before_.count + now_.count < kLeastStates) return;
    before_.add(now_);
    coupling_ = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const double count = static_cast<double>(before_.count);
      const double mean = before_.sum[i] / count, variance = mean * (1 - mean);
      // One that is hardly ever in, or out, says little.
      if (!(variance > 1e-3)) continue;
      const double share = (before_.square[i] / count - mean * mean) / variance;
      if (share > kRestless) columns_.push_back(static_cast<Index>(i));
      coupling_ = std::max(coupling_, share);
    }
    if (!revisits()) columns_.clear();
    set_weights();
    before_ = now_ = Sums();
  }

  // The columns, in increasing order; none where all go their own ways.
  const std::vector<Index>& columns() const { return columns_; }
  // Whether they are worth a second visit in every iteration.
  bool revisits() const { return coupling_ > kRevisited; }
  // Whether iteration t has a swap: where no columns stand in for each other swaps lead nowhere
  // that flips do not.
  bool swaps_at(Index t) const { return coupling_ < 0 || coupling_ > kSwapped || t % 4 == 0; }
  // By column, at most one: members leave in a swap in proportion to it.
  const std::vector<double>& weights() const { return weights_; }
  bool weighted() const { return !columns_.empty(); }

 private:
  // Sums over some states, by column, of p and of its square; empty if there are none.
  struct Sums {
    template <class Fields>
    void remember(Fields& fields, const char* counts, const char* sums, const char* squares) {
      fields(counts, count);
      fields.sums(sums, sum);
      fields.sums(squares, square);
    }
    bool is_of(std::size_t columns) const {
      return sum.size() == (count == 0 ? 0 : columns) && square.size() == sum.size();
    }
    void add(const std::vector<double>& p) {
      ++count;
      sum.resize(p.size());
      square.resize(p.size());
      for (std::size_t i = 0; i < p.size(); ++i) {
        sum[i] += p[i];
        square[i] += p[i] * p[i];
      }
    }
    void add(const Sums& other) {
      if (other.count == 0) return;
      count += other.count;
      sum.resize(other.sum.size());
      square.resize(other.sum.size());
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += other.sum[i];
        square[i] += other.square[i];
      }
    }

    Index count = 0;
    std::vector<double> sum, square;
  };

  static constexpr Index kLeastStates = 60;
  // The least r of a restless column; the greatest r above which there are second visits, and swaps
  // every time.
  static constexpr double kRestless = 0.15, kRevisited = 0.35, kSwapped = 0.6;
  // Of columns that are not restless, where others are.
  static constexpr double kWeight = 0.1;

  void set_weights() {
    std::fill(weights_.begin(), weights_.end(), columns_.empty() ? 1.0 : kWeight);
    for (const Index j : columns_) weights_[j] = 1;
  }

  Index observed_ = 0;
  Sums before_, now_;     // up to the last power of two, and since
  double coupling_ = -1;  // the greatest r; less than 0 if not known
  std::vector<Index> columns_;
  std::vector<double> weights_;
};

}  // namespace ellzero
