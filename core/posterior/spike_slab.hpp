// The spike-and-slab posterior over supports, on the engine.
//
//   y = mu + Z beta + e,   e ~ N(0, s2 I),   mu flat
//   beta_S given S ~ N(0, s2 P_S^-1),   beta_i = 0 for i not in S
//
// with the precision P_S of one of four slabs:
//
//   gaussian  P = tau diag(1 / a_i^2),  tau = s2 / sigma_beta^2
//   laplace   P = diag(tau_i),  tau_i = s2 / v_i,  v_i exponential of mean a_i^2 sigma_beta^2: then
//             beta_i is Laplace of variance a_i^2 sigma_beta^2
//   zellner   P = G_SS / g
//   boom      P = information ((1 - diagonal) G_SS + diagonal I)
//
// where a_i, one unless the prior says otherwise, is the scale of the column's slab.
//
// With A = G_SS + P_S = alpha (G_SS + ridge), which the engine holds but for alpha, and
// H = (y'y - b'A^-1 b) / 2, coefficients integrated out,
//
//   log p(S | y) = log p(S) + 1/2 log det P - 1/2 log det A - H / s2            (s2 given)
//                                                           - shape log(rate + H)  (integrated out)
//
// where s2 is inverse gamma, and shape has the N/2 of the data in it. Flipping one column changes
// this by what OddsRule says. theta is integrated out too where it is learned: theta ~ Beta(a, b)
// makes p(S) proportional to B(a + k, b + F - k) for k of the F columns that may go either way.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "base/vector_math.hpp"
#include "engine/least_squares.hpp"
#include "posterior/laplace_slab.hpp"
#include "posterior/odds_kernels.hpp"
#include "posterior/ridge_volume.hpp"
#include "posterior/settled.hpp"
#include "posterior/slab_state.hpp"

namespace ellzero {

class SpikeSlab : public SlabState {
 public:
  using Fetch = LeastSquares::Fetch;

  SpikeSlab(const Quadratic& design, const GramUser& cache, const SpikeSlabPrior& prior,
            Fetch fetch = Fetch::bulk)
      : SlabState(prior, design.yy), support_(design, cache, first_ridge(design, prior), fetch) {
    for (const double scale : prior.scales) {
      precisions_.push_back(1 / (scale * scale));
      log_scales_.push_back(2 * std::log(scale));
    }
    if (prior.slab == Slab::boom) {
      const double ridge = prior.diagonal / (1 - prior.diagonal);
      prior_volume_ = std::make_unique<RidgeVolume>(design, ridge);
      if (support_.keeps_all_gram()) {
        settled_ = std::make_unique<Settled>(columns(), first_ridge(design, prior)[0], ridge);
      }
    }
    floor_ = prior.slab == Slab::zellner ? LeastSquares::kSpan : 1e-3 * kLeastTau;
    offsets_ = prior.log_odds;
    choice_.assign(columns(), Choice::free);
    for (Index j = 0; j < columns(); ++j) {
      const bool dead = design.inverse_scale[j] == 0;
      if (std::isinf(offsets_[j]) || dead) {
        choice_[j] = offsets_[j] > 0 && !dead ? Choice::in : Choice::out;
        offsets_[j] = kNever;
      }
      free_ += is_free(j);
      plain_ &= offsets_[j] == 0;
    }
    for (Index j = 0; j < columns(); ++j) {
      // One that depends on those before it stays out for good.
      if (is_forced(j) && !insert(j, nullptr)) choice_[j] = Choice::out;
    }
    for (Index k = 0; prior.learn_theta && k <= free_; ++k) {
      const double in = static_cast<double>(k), rest = static_cast<double>(free_ - k);
      log_prior_.push_back(std::lgamma(prior.theta_a + in) + std::lgamma(prior.theta_b + rest));
    }
  }

  Index columns() const { return support_.columns(); }
  Index size() const { return support_.size(); }
  const LeastSquares& support() const { return support_; }
  // What enumeration asks of any model.
  Index units() const { return columns(); }
  Index unit_of(Index column) const { return column; }
  Index rank() const { return size(); }
  Index greatest_rank() const { return size() - free_in_ + free_; }
  bool is_model() const { return true; }
  bool contains(Index j) const { return support_.contains(j); }
  bool enter(Index j) { return insert(j, nullptr); }
  void leave(Index j) { remove(support_.position(j)); }
  double energy() const { return support_.energy(); }
  // log det A of columns times the scales of their slabs, which makes P = tau I of the Gaussian.
  double log_determinant() const {
    double sum = support_.log_determinant();
    if (!log_scales_.empty()) {
      for (const Index j : support_.members()) sum += log_scales_[j];
    }
    return sum;
  }
  bool is_forced(Index j) const { return choice_[j] == Choice::in; }
  bool is_free(Index j) const { return choice_[j] == Choice::free; }
  // Columns that may go either way; how many of them are in.
  Index free_columns() const { return free_; }
  Index free_members() const { return free_in_; }

  // H, and with s2 integrated out the prior's rate too.
  double total() const { return total_at(support_.energy()); }
  double mean_s2() const { return mean_s2_at(total()); }

  // log p(S | y) given the hyperparameters, up to a constant: the noise, if learned, is in units.
  // Not for laplace.
  double log_posterior() const {
    const double k = static_cast<double>(size());
    double value = -0.5 * log_determinant();
    if (prior_.slab == Slab::gaussian) value += 0.5 * k * std::log(tau_);
    if (prior_.slab == Slab::zellner) {
      value = -0.5 * k * std::log1p(prior_.g);
    }
    if (prior_.slab == Slab::boom) {
      value += 0.5 * (prior_volume_->log_determinant() + k * std::log(prior_scale() / alpha_));
    }
    return value + log_prior() +
           (integrated() ? -noise_shape() * std::log(total() / unit()) : -total() / s2_);
  }
  double log_prior() const {
    if (prior_.learn_theta) return log_prior_[free_in_];
    double value = 0;
    for (const Index j : support_.members()) value += is_forced(j) ? 0 : offsets_[j];
    return value;
  }

  // The log-odds before the data of a column that may come in, when `others` free ones are in.
  double prior_log_odds(Index others) const {
    if (!prior_.learn_theta) return 0;
    const double k = static_cast<double>(others);
    return std::log((prior_.theta_a + k) / (prior_.theta_b + static_cast<double>(free_ - 1) - k));
  }

  // Log-odds of inclusion of columns begin .. end that are out (what comes out for members means
  // nothing), for the c and d of all columns of a support with `others` free members and the given
  // total; `prior_d` are the d of the prior's volume, if there is one.
  void log_odds_of(const double* c, const double* d, const double* prior_d, Index others,
                   double total, Index begin, Index end, double* out) const {
    if (is_laplace()) {
      const double before = prior_log_odds(others);
      for (Index i = begin; i < end; ++i) {
        const bool open = d[i] > kNever && is_free(i);
        out[i - begin] =
            open ? before + offsets_[i] + laplace_slab(i).log_ratio(c[i], d[i]) : kNever;
      }
      return;
    }
    const double* by_column = numerators(prior_d);
    ellzero::log_odds(rule_at(others, total), c + begin, d + begin,
                      plain_ ? nullptr : offsets_.data() + begin,
                      by_column ? by_column + begin : nullptr, end - begin, out);
  }
  void insertion_log_odds(Index begin, Index end, double* out) const {
    insertion_log_odds(total(), begin, end, out);
  }
  // The same where total() is known.
  void insertion_log_odds(double total, Index begin, Index end, double* out) const {
    log_odds_of(support_.c().data(), support_.d().data(), prior_d_or_null(), free_in_, total, begin,
                end, out);
  }

  // Probabilities of inclusion of all columns that are out, given the others; what comes out for
  // members means nothing.
  void inclusion_probabilities(double* out) const {
    if (is_laplace()) {
      insertion_log_odds(0, columns(), out);
      logistic(out, columns(), out);
      return;
    }
    ellzero::inclusion_probabilities(rule_at(free_in_, total()), support_.c().data(),
                                     support_.d().data(), plain_ ? nullptr : offsets_.data(),
                                     numerators(prior_d_or_null()), columns(), out);
  }

  // What the odds of all columns have in common, as the model stands: of those that are out, and of
  // members.
  struct Rules {
    OddsRule out, in;
  };
  Rules rules() const {
    const double now = total();
    return {rule_at(free_in_, now), rule_at(std::max<Index>(free_in_ - 1, 0), now)};
  }
  // By column, from begin to end: what is not positive for a column that is out and whose log-odds
  // are not above what is `least` for it.
  void greatest_excess(const OddsRule& rule, Index begin, Index end, const double* least,
                       double* out) const {
    greatest_excess_of(rule, support_.c().data(), support_.d().data(), prior_d_or_null(), begin,
                       end, least, out);
  }
  void greatest_excess_of(const OddsRule& rule, const double* c, const double* d,
                          const double* prior_d, Index begin, Index end, const double* least,
                          double* out) const {
    if (is_laplace()) {
      std::fill(out, out + (end - begin), 1.0);
      return;
    }
    const double* by_column = numerators(prior_d);
    ellzero::greatest_excess(rule, c + begin, d + begin, plain_ ? nullptr : offsets_.data() + begin,
                             by_column ? by_column + begin : nullptr, least, end - begin, out);
  }
  // Whether the log-odds of a flip are above a number that is known to kRoughLog, from below. Most
  // need no logarithm to say so.
  enum class Above { no, yes, unclear };
  // Of the member at a position, which would leave.
  Above leaves(const OddsRule& rule, Index position, double least) const {
    const Index j = support_.members()[position];
    if (is_forced(j)) return Above::no;
    if (is_laplace()) return Above::unclear;
    const double gain = gain_at(rule, position);
    double common = rule.prior + offsets_[j], low = gain, x = 0, rough = 0;
    if (rule.compares) common += 0.5 * rough_log(ratio_at(rule, position));
    if (rule.integrated) {
      // log(1 + x) is at least 2 x / (2 + x), and at most x (6 + x) / (6 + 4 x)
      x = gain / rule.total;
      rough = rough_log(1 + x);
      low = std::max(2 * x / (2 + x), rough);
    }
    if (kSlack - common - rule.rate * low <= least) return Above::no;
    double high = gain;
    if (rule.integrated) high = std::min(x * (6 + x) / (6 + 4 * x), rough + kRoughLog);
    if (rule.compares) common += 0.5 * kRoughLog;
    return -kSlack - common - rule.rate * high > least + kRoughLog ? Above::yes : Above::unclear;
  }
  // Of column j, which is out and would come in.
  Above enters(const OddsRule& rule, Index j, double least) const {
    const double d = support_.d()[j];
    if (is_laplace() || !(d > rule.floor)) return Above::unclear;
    const double inverse = 1 / d, c = support_.c()[j], gain = rule.half_gain * c * c * inverse;
    double low = rule.prior + offsets_[j] - kSlack;
    if (rule.compares) {
      const double* by_column = numerators(prior_d_or_null());
      low += 0.5 * rough_log(rule.numerator * (by_column ? by_column[j] : 1) * inverse);
    }
    // -log(1 - x) is at least 2 x / (2 - x)
    const double x = gain / rule.total;
    low += rule.rate * (rule.integrated ? 2 * x / (2 - x) : gain);
    return low > least + kRoughLog ? Above::yes : Above::unclear;
  }

  // Log-odds of inclusion of every member whose column is from begin to end, given the others:
  // calls use(column, log-odds).
  template <class Use>
  void member_log_odds(Index begin, Index end, Use&& use) const {
    constexpr Index kTogether = 32;
    Index position[kTogether];
    double gain[kTogether], ratio[kTogether], odds[kTogether];
    const OddsRule rule = rules().in;
    for (Index s = 0; s < size();) {
      Index count = 0;
      for (; s < size() && count < kTogether; ++s) {
        const Index j = support_.members()[s];
        if (j < begin || j >= end) continue;
        if (is_forced(j)) {
          use(j, -kNever);
        } else if (is_laplace()) {
          use(j, log_odds_at(rule, s));
        } else {
          position[count] = s;
          gain[count] = gain_at(rule, s);
          ratio[count++] = ratio_at(rule, s);
        }
      }
      ellzero::member_log_odds(rule, gain, ratio, count, odds);
      for (Index i = 0; i < count; ++i) {
        const Index j = support_.members()[position[i]];
        use(j, odds[i] + offsets_[j]);
      }
    }
  }

  // Log-odds of inclusion of the member at a position, given the others, by the rule of members.
  double log_odds_at(const OddsRule& rule, Index position) const {
    const Index j = support_.members()[position];
    if (is_forced(j)) return -kNever;
    if (is_laplace()) {
      const double d = 1 / support_.inverse_diagonal()[position];
      const LaplaceSlab slab = laplace_slab(j);
      return rule.prior + offsets_[j] +
             slab.log_ratio(support_.beta()[position] * d, d - support_.ridge_of(j));
    }
    const double gain = gain_at(rule, position), ratio = ratio_at(rule, position);
    double value;
    ellzero::member_log_odds(rule, &gain, &ratio, 1, &value);
    return value + offsets_[j];
  }

  // c, d and the total without the member at a position; d of the prior's volume is looked at by
  // itself.
  struct Without {
    std::vector<double> c, d, prior_d;
    double total = 0;
  };
  void look_without(Index position, Without& out) const {
    const Index j = support_.members()[position];
    out.c.resize(columns());
    out.d.resize(columns());
    support_.columns_without(position, out.c.data(), out.d.data());
    if (is_laplace()) out.d[j] -= support_.ridge_of(j);
    out.total = total() + support_.removal_cost(position) / alpha_;
  }
  void look_without_prior(Index position, Without& out) const {
    if (!prior_volume_) return;
    out.prior_d.resize(columns());
    prior_volume_->look_without(support_.members()[position], out.prior_d.data());
  }
  // What greatest_excess() is for all columns then, whatever the prior's d are.
  void greatest_excess_without(const Without& without, const double* least, double* out) const {
    OddsRule rule = rule_at(free_in_ - 1, without.total);
    if (prior_volume_) rule.numerator *= prior_volume_->greatest();
    greatest_excess_of(rule, without.c.data(), without.d.data(), nullptr, 0, columns(), least, out);
  }
  const double* prior_d_or_null(const Without& without) const {
    return prior_volume_ ? without.prior_d.data() : nullptr;
  }

  // False, and nothing changed, if column j depends on the members. `random` draws the scale of a
  // Laplace slab; without it the scale is what it is on average.
  bool insert(Index j, Random* random) {
    if (is_laplace()) {
      const double d = std::max(support_.d()[j], 0.0);
      support_.set_ridge_of(j, new_ridge(j, support_.c()[j], d, random));
    }
    if (!(prior_volume_ ? insert_with_volume(j) : support_.insert(j, floor_))) {
      if (is_laplace()) support_.set_ridge_of(j, 0);
      return false;
    }
    free_in_ += is_free(j);
    follow_support();
    return true;
  }
  // The same under a Laplace slab, with the ridge that a member had.
  bool put_back(Index j, double ridge) {
    support_.set_ridge_of(j, ridge);
    if (!support_.insert(j, floor_)) {
      support_.set_ridge_of(j, 0);
      return false;
    }
    free_in_ += is_free(j);
    return true;
  }
  void remove(Index position) {
    const Index j = support_.members()[position];
    if (prior_volume_) {
      Beside beside = prior_volume_->removal(j, support_.members());
      const bool short_of = settled_ && settled_->who.remove(position);
      if (short_of) leave_out_settled(beside);
      support_.remove(position, beside);
      prior_volume_->remove(j);
      if (short_of) combine_no_more(position);
    } else {
      support_.remove(position);
    }
    follow_support();
    if (is_laplace()) support_.set_ridge_of(j, 0);
    free_in_ -= is_free(j);
  }

  // Of the Gaussian slab: with it goes the variance that is learned, if one is given.
  void set_tau(double tau) {
    take_tau(tau);
    if (is_scaled()) {
      std::vector<double> ridges = precisions_;
      for (double& ridge : ridges) ridge *= tau_;
      support_.set_ridges(std::move(ridges));
    } else {
      support_.set_ridge(tau_);
    }
    recount();
  }
  void set_s2(double s2) { s2_ = s2; }
  void set_slab_variance(double slab_variance) { slab_variance_ = slab_variance; }
  // Whether the columns' slabs have scales of their own, and that of one.
  bool is_scaled() const { return !precisions_.empty(); }
  double scale_of(Index j) const { return is_scaled() ? prior_.scales[j] : 1; }
  LaplaceSlab laplace_slab(Index j) const {
    return LaplaceSlab(is_scaled() ? slab_variance_ / precisions_[j] : slab_variance_, s2_);
  }
  // One over the variance of every member's slab (laplace), in their order.
  void set_precisions(const std::vector<double>& precisions) {
    std::vector<double> ridges;
    for (const double precision : precisions) ridges.push_back(bounded_tau(s2_ * precision));
    support_.set_member_ridges(ridges);
    recount();
  }

  // The variances and the members, whose scales a Laplace slab remembers too.
  template <class Fields>
  void remember(Fields& fields) {
    SlabState::remember(fields);
    std::vector<Index> members = support_.members();
    std::vector<double> ridges;
    for (const Index j : members) {
      if (is_laplace()) ridges.push_back(support_.ridge_of(j));
    }
    fields.indices("members", members, columns());
    if (Fields::kReads) ridges.resize(is_laplace() ? members.size() : 0);
    if (is_laplace()) fields("ridges", ridges);
    if (Fields::kReads) stand_at(members, ridges);
  }

  // Takes the variances and the members of another, which are these here.
  void stand_like(const SpikeSlab& other, const std::vector<Index>& members) {
    tau_ = other.tau_;
    s2_ = other.s2_;
    slab_variance_ = other.slab_variance_;
    std::vector<double> ridges;
    if (is_laplace()) {
      for (const Index j : other.support_.members()) ridges.push_back(other.support_.ridge_of(j));
    }
    stand_at(members, ridges);
  }

  double draw_s2(Random& random) const { return draw_s2_at(total(), random); }
  double draw_theta(Random& random) const {
    const double k = static_cast<double>(free_in_), rest = static_cast<double>(free_) - k;
    return random.beta(prior_.theta_a + k, prior_.theta_b + rest);
  }
  // Coefficients of the members, in their order.
  std::vector<double> draw_beta(double s2, Random& random) const {
    std::vector<double> noise(size());
    for (double& value : noise) value = random.normal();
    std::vector<double> beta = support_.transposed_times(noise);
    const double sd = std::sqrt(s2 / alpha_);
    for (Index s = 0; s < size(); ++s) {
      beta[s] = support_.beta()[s] / alpha_ + sd * beta[s];
    }
    return beta;
  }

 private:
  static std::vector<double> first_ridge(const Quadratic& design, const SpikeSlabPrior& prior) {
    if (prior.slab == Slab::laplace) return std::vector<double>(design.columns(), 0.0);
    if (prior.slab == Slab::zellner) return {0.0};
    if (prior.slab == Slab::boom) {
      const double alpha = 1 + prior.information * (1 - prior.diagonal);
      return {prior.information * prior.diagonal / alpha};
    }
    const double tau = bounded_tau(prior.noise.value / prior.slab_variance.value);
    std::vector<double> ridges;
    for (const double scale : prior.scales) ridges.push_back(tau / (scale * scale));
    return ridges.empty() ? std::vector<double>{tau} : ridges;
  }

  // More than what rounding makes of log-odds.
  static constexpr double kSlack = 1e-6;

  double prior_scale() const { return prior_.information * (1 - prior_.diagonal); }

  OddsRule rule_at(Index others, double total) const {
    OddsRule rule;
    rule.prior = prior_log_odds(others);
    rule.numerator = prior_.slab == Slab::boom ? prior_scale() / alpha_ : tau_;
    if (prior_.slab == Slab::zellner) {
      rule.compares = false;
      rule.prior -= 0.5 * std::log1p(prior_.g);
    }
    rule.integrated = integrated();
    rule.half_gain = 0.5 / alpha_;
    rule.rate = rule.integrated ? noise_shape() : 1 / s2_;
    rule.total = total;
    rule.floor = floor_;
    return rule;
  }

  const double* prior_d_or_null() const {
    return prior_volume_ ? prior_volume_->d().data() : nullptr;
  }
  // What the slab leaves of d by column, but for a factor; null where it is the same for all.
  const double* numerators(const double* prior_d) const {
    return prior_d ? prior_d : is_scaled() ? precisions_.data() : nullptr;
  }

  // What removing the member at a position takes from the energy, in the rule's units; and by what
  // its slab multiplies its odds.
  double gain_at(const OddsRule& rule, Index position) const {
    const double beta = support_.beta()[position];
    return rule.half_gain * beta * beta / support_.inverse_diagonal()[position];
  }
  double ratio_at(const OddsRule& rule, Index position) const {
    const Index j = support_.members()[position];
    double left = rule.numerator;
    if (prior_volume_) left /= prior_volume_->inverse_diagonal(j);
    if (is_scaled()) left *= precisions_[j];
    return left * support_.inverse_diagonal()[position];
  }
  double new_ridge(Index j, double c, double d, Random* random) const {
    const double precision = random ? laplace_slab(j).draw_precision(c, d, *random)
                                    : (is_scaled() ? precisions_[j] : 1) / slab_variance_;
    return bounded_tau(s2_ * precision);
  }

  // Everything is computed anew, in the order of the members.
  void stand_at(const std::vector<Index>& members, const std::vector<double>& ridges) {
    if (settled_) settled_->who.forget();
    while (size() > 0) remove(size() - 1);
    if (prior_.slab == Slab::gaussian) set_tau(tau_);
    for (std::size_t s = 0; s < ridges.size(); ++s) support_.set_ridge_of(members[s], ridges[s]);
    support_.start_at(members);
    if (prior_volume_) prior_volume_->stand_like(support_);
    recount();
  }

  bool insert_with_volume(Index j) {
    Beside beside = prior_volume_->insertion(j, support_.members(), floor_);
    if (!beside.a) return false;
    const bool short_of = settled_ && settled_->who.count() > 0;
    if (short_of) {
      combine_too(j);
      leave_out_settled(beside);
    }
    if (!support_.insert(j, floor_, beside)) {
      if (short_of) combine_no_more(size());
      return false;
    }
    prior_volume_->insert(j, support_.gram_of(support_.size() - 1));
    if (settled_) settled_->who.insert();
    return true;
  }

  // Those that are settled need not be combined.
  void leave_out_settled(Beside& beside) const {
    beside.first = settled_->who.count();
    beside.columns = settled_->columns.data();
    beside.others = settled_->others.data();
  }
  // Between two flips: more members may be settled.
  void settle() {
    if (!settled_ || !settled_->who.look(size())) return;
    const std::vector<Index>& members = support_.members();
    const Index count = settled_->who.count();
    std::vector<const double*> gram;
    for (Index s = 0; s < count; ++s) gram.push_back(support_.gram_of(s));
    const std::vector<Index> first(members.begin(), members.begin() + count);
    settled_->columns.clear();
    settled_->others.clear();
    if (!settled_->here.project(first, gram) || !settled_->beside.project(first, gram)) {
      settled_->who.forget();
      return;
    }
    for (Index s = count; s < size(); ++s) combine_too(members[s]);
  }
  // Column j, which comes in.
  void combine_too(Index j) {
    const double* gram = support_.kept_gram(j);
    settled_->columns.push_back(settled_->here.column(j, gram));
    settled_->others.push_back(settled_->beside.column(j, gram));
  }
  void combine_no_more(Index position) {
    const Index at = position - settled_->who.count();
    settled_->columns.erase(settled_->columns.begin() + at);
    settled_->others.erase(settled_->others.begin() + at);
  }

  // Least squares that are computed anew may drop a member that depends on the others.
  void follow_support() {
    if (!prior_volume_) return;
    if (prior_volume_->size() == size()) {
      settle();
      return;
    }
    if (settled_) settled_->who.forget();
    prior_volume_->stand_like(support_);
    recount();
  }

  // Computing anew may drop a member that depends on the others at another ridge.
  void recount() {
    free_in_ = 0;
    for (const Index j : support_.members()) free_in_ += is_free(j);
  }

  LeastSquares support_;
  std::unique_ptr<RidgeVolume> prior_volume_;  // of boom: (1 - diagonal)^-1 P / information
  // Of boom on few columns: settled members, and what they leave of the others in both.
  struct Settled {
    Settled(Index columns, double ridge, double prior_ridge)
        : here(columns, ridge), beside(columns, prior_ridge) {}
    SettledMembers who;
    ProjectedGram here, beside;
    std::vector<const double*> columns, others;  // of the members that follow
  };
  std::unique_ptr<Settled> settled_;
  double floor_ = 0;
  enum class Choice : char { free, in, out };
  std::vector<Choice> choice_;
  std::vector<double> precisions_, log_scales_;  // 1 / a_i^2 and log a_i^2; empty if all are one
  std::vector<double> offsets_;                  // log-odds of the free columns, if theta is given
  bool plain_ = true;                            // whether all offsets are zero
  std::vector<double> log_prior_;  // by the number of free members, if theta is learned
  Index free_ = 0;
  Index free_in_ = 0;
};

}  // namespace ellzero
