// Student's noise as a mixture of normals, and what is drawn of it given residuals r.
//
//   r_i ~ N(0, s2 / w_i),   w_i ~ Gamma(nu/2, nu/2),   so that r_i / s is Student's t of nu degrees
//
// A row that was met c times has c weights, all of them Gamma((nu + 1)/2, (nu + r^2 / s2)/2) given
// r: least squares sees their sum alone, which is Gamma(c (nu + 1)/2, (nu + r^2 / s2)/2). The same
// holds for c that are not whole, where t(r)^c stands for the row.
//
// nu and s2 are drawn with the weights integrated out: given these they would hardly move.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/kernels.hpp"
#include "base/slice.hpp"
#include "posterior/student_kernels.hpp"

namespace ellzero {

// Degrees of freedom: given, or nu - least ~ Gamma(shape, rate).
struct DegreesPrior {
  bool learned = false;
  double value = 4;  // if given; else where to start
  double shape = 2, rate = 0.1, least = 0;
};

class StudentNoise {
 public:
  // Variances are taken in units of `unit`.
  StudentNoise(const DegreesPrior& prior, const std::vector<double>& counts, double unit)
      : prior_(prior), counts_(counts), unit_(unit), squares_(counts.size()), nu_(prior.value) {
    for (const double count : counts) rows_ += count;
  }

  double degrees() const { return nu_; }
  void set_degrees(double degrees) { nu_ = degrees; }
  void set_residuals(const std::vector<double>& residuals) {
    for (std::size_t i = 0; i < residuals.size(); ++i) {
      squares_[i] = residuals[i] * residuals[i] / unit_;
    }
  }

  // A step of slice sampling in x = log s2 between two bounds, weights integrated out;
  // `log_prior(s2)` is all else that hangs on s2, but for the Jacobian.
  template <class LogPrior>
  double learn_scale(double s2, double low, double high, LogPrior&& log_prior,
                     Random& random) const {
    const auto log_density = [&](double x) {
      const double at = std::exp(x);
      return x + log_prior(unit_ * at) + log_likelihood(nu_, at);
    };
    // With many rows a few standard deviations of x.
    const double width = std::min(2.0, 15 / std::sqrt(std::max(rows_, 1.0)));
    const double now = std::log(s2 / unit_);
    return unit_ * std::exp(slice_step(now, log_density(now), std::log(low / unit_),
                                       std::log(high / unit_), log_density, random, width));
  }

  // The same in x = log(nu - least).
  void learn_degrees(double s2, Random& random) {
    if (!prior_.learned) return;
    const auto log_density = [&](double x) {
      const double above = std::exp(x);
      return prior_.shape * x - prior_.rate * above +
             log_likelihood(prior_.least + above, s2 / unit_);
    };
    const double now = std::log(nu_ - prior_.least);
    const double x = slice_step(now, log_density(now), std::log(kLeastAbove),
                                std::log(kGreatestAbove), log_density, random, 3);
    nu_ = prior_.least + std::exp(x);
  }

  // The same along a line on which s2 goes with nu so that quartiles of the noise stay where they
  // are, nearly: s (1 + .4 / nu) does. Returns s2; that and nu are told apart by the tails alone.
  template <class LogPrior>
  double learn_both(double s2, double low, double high, LogPrior&& log_prior, Random& random) {
    if (!prior_.learned) return s2;
    const auto quartile = [](double nu) { return 1 + 0.4 / nu; };
    const double fixed = s2 / unit_ * quartile(nu_) * quartile(nu_);
    const auto scale_at = [&](double nu) { return fixed / (quartile(nu) * quartile(nu)); };
    const auto log_density = [&](double x) {
      const double above = std::exp(x), nu = prior_.least + above, at = scale_at(nu);
      if (!(at * unit_ > low && at * unit_ < high)) {
        return -std::numeric_limits<double>::infinity();
      }
      return prior_.shape * x - prior_.rate * above + std::log(at) + log_prior(unit_ * at) +
             log_likelihood(nu, at);
    };
    const double now = std::log(nu_ - prior_.least);
    const double x = slice_step(now, log_density(now), std::log(kLeastAbove),
                                std::log(kGreatestAbove), log_density, random, 3);
    nu_ = prior_.least + std::exp(x);
    return unit_ * scale_at(nu_);
  }

  // The sum of each row's weights.
  void draw_weights(double s2, Random& random, std::vector<double>& out) const {
    for (std::size_t i = 0; i < squares_.size(); ++i) {
      const double shape = 0.5 * counts_[i] * (nu_ + 1);
      out[i] = shape > 0 ? random.gamma(shape) / (0.5 * (nu_ + squares_[i] / (s2 / unit_))) : 0;
    }
  }
  // Adds the mean of one weight of each row, given its residual.
  void add_mean_weights(double s2, double share, std::vector<double>& sums) const {
    for (std::size_t i = 0; i < squares_.size(); ++i) {
      sums[i] += share * (nu_ + 1) / (nu_ + squares_[i] / (s2 / unit_));
    }
  }

 private:
  static constexpr double kLeastAbove = 1e-6, kGreatestAbove = 1e5;

  // The log-density of the residuals, weights integrated out; s2 in units.
  double log_likelihood(double nu, double s2) const {
    constexpr double kPi = 3.14159265358979323846;
    const double sum = sum_of_logs(squares_.data(), counts_.data(), 1 / (nu * s2),
                                   static_cast<Index>(squares_.size()));
    return rows_ * (std::lgamma(0.5 * (nu + 1)) - std::lgamma(0.5 * nu) -
                    0.5 * std::log(nu * kPi * s2)) -
           0.5 * (nu + 1) * sum;
  }

  const DegreesPrior& prior_;
  const std::vector<double>& counts_;
  const double unit_;
  std::vector<double> squares_;  // of the residuals, in units
  double rows_ = 0;
  double nu_;
};

}  // namespace ellzero
