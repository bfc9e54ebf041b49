// The prior of a support: every column is in with probability theta, which is given by column or
// integrated out under theta ~ Beta(a, b). Then p(S) is proportional to B(a + k, b + F - k) for k
// of the F columns that may go either way.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "base/kernels.hpp"
#include "base/random.hpp"

namespace ellzero {

class InclusionPrior {
 public:
  static constexpr double kNever = -std::numeric_limits<double>::infinity();

  // `log_odds` by column: of inclusion if theta is given, else zero; infinite for columns that are
  // always in, or never.
  InclusionPrior(std::vector<double> log_odds, bool learned, double a, double b)
      : offsets_(std::move(log_odds)), learned_(learned), a_(a), b_(b) {
    choice_.assign(offsets_.size(), Choice::free);
    for (std::size_t j = 0; j < offsets_.size(); ++j) {
      if (std::isinf(offsets_[j])) {
        choice_[j] = offsets_[j] > 0 ? Choice::in : Choice::out;
        offsets_[j] = kNever;
      }
      free_ += choice_[j] == Choice::free;
      plain_ &= offsets_[j] == 0;
    }
  }

  bool is_free(Index j) const { return choice_[j] == Choice::free; }
  bool is_forced(Index j) const { return choice_[j] == Choice::in; }
  Index free_columns() const { return free_; }
  bool learned() const { return learned_; }

  // Log-odds before the data of a column that may come in, when `others` free ones are in, and what
  // is added to that by column; null where that is nothing.
  double log_odds(Index others) const {
    if (!learned_) return 0;
    const double k = static_cast<double>(others);
    return std::log((a_ + k) / (b_ + static_cast<double>(free_ - 1) - k));
  }
  double offset(Index j) const { return offsets_[j]; }
  const double* offsets() const { return plain_ ? nullptr : offsets_.data(); }

  // log p(S), up to a constant, of free members
  double log_prior(const std::vector<Index>& free_members) const {
    const double k = static_cast<double>(free_members.size());
    if (learned_) {
      return std::lgamma(a_ + k) + std::lgamma(b_ + static_cast<double>(free_) - k);
    }
    double value = 0;
    for (const Index j : free_members) value += offsets_[j];
    return value;
  }
  double draw_theta(Index free_members, Random& random) const {
    const double k = static_cast<double>(free_members);
    return random.beta(a_ + k, b_ + static_cast<double>(free_) - k);
  }

 private:
  enum class Choice : char { free, in, out };
  std::vector<double> offsets_;
  std::vector<Choice> choice_;
  bool learned_;
  double a_, b_;
  bool plain_ = true;  // whether all offsets are zero
  Index free_ = 0;
};

}  // namespace ellzero
