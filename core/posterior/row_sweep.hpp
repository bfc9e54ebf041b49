// A sweep over local scales with all coefficients integrated out, where rows are few.
//
// Under beta_j ~ N(0, s2 h_j) y has the covariance s2 M, M = I + Z H Z'. In its own h_j the density
// of y is, with M_j the matrix without column j,
//
//   (1 + h_j a)^-1/2 exp(h_j c^2 / (2 s2 (1 + h_j a))),   a = z_j'M_j^-1 z_j,  c = z_j'M_j^-1 y,
//
// which is all that the draw of a scale has to know. From M itself, with u = z_j'M^-1 z_j,
// a = u / (1 - h_j u) and c = z_j'M^-1 y / (1 - h_j u). When h_j changes by d, M^-1 loses
// M^-1 z_j z_j'M^-1 d / (1 + d u).
//
// Columns come in blocks: what their changes do to the block itself is a matter of a small matrix,
// and M^-1 is changed for the whole block at once, by products of strips.
//
// Where h_j is large, 1 - h_j u is what rounding leaves of it. These few columns come first and in
// groups, with M taken without the group and the group's own A = Z_S'M^-1 Z_S + H_S^-1 beside it:
// then 1 / [A^-1]_jj = a + 1 / h_j and [A^-1 Z_S'M^-1 y]_j / [A^-1]_jj = c. Both kinds begin with
// an inverse made anew, so that rounding does not add up.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "posterior/gaussian.hpp"

namespace ellzero {

class RowSweep {
 public:
  explicit RowSweep(const GaussianProblem& problem)
      : problem_(problem),
        n_(problem.row_count()),
        cholesky_(n_),
        root_(Strips::square(n_)),
        inverse_(Strips::square(n_)),
        columns_(kGroup, n_),
        solved_(kGroup, root_.columns()),
        changes_(n_, kGroup),
        weighted_(n_, kGroup),
        small_(kGroup, kGroup),
        products_(small_.count() * kStrip),
        floor_(n_, 1.0),
        whitened_(cholesky_.padded()) {}

  // Draws every h in turn: `draw` is given a column, a and c, and returns its new h. Between blocks
  // `between` is called, with y'M^-1 y at h as it is.
  template <class DrawScale, class Between>
  void run(double* h, DrawScale&& draw, Between&& between, const Context& context) {
    std::vector<Index> large, rest;
    for (Index j = 0; j < problem_.size(); ++j) (h[j] > kLarge ? large : rest).push_back(j);
    const auto count = static_cast<Index>(large.size());
    for (Index first = 0; first < count || first == 0; first += kGroup) {
      const Index width = std::min(kGroup, count - first);
      invert_without(h, large.data() + first, width, context);
      if (width > 0) draw_large(large.data() + first, width, h, draw);
    }
    between(squares_);
    for (Index first = 0; first < static_cast<Index>(rest.size()); first += kBlock) {
      context.check();
      const Index width = std::min(kBlock, static_cast<Index>(rest.size()) - first);
      draw_block(rest.data() + first, width, h, draw);
      between(squares_);
    }
  }

 private:
  static constexpr Index kBlock = 24;
  static constexpr Index kGroup = 96;
  // Above this, 1 - h u has lost three digits of its sixteen.
  static constexpr double kLarge = 1e3;
  static constexpr double kLeast = 1e-12;  // of a: a column that others explain

  // M^-1 without some columns.
  void invert_without(const double* h, const Index* without, Index count, const Context& context) {
    std::vector<char> left_out(problem_.size(), 0);
    for (Index k = 0; k < count; ++k) left_out[without[k]] = 1;
    std::vector<Index> chosen;
    for (Index j = 0; j < problem_.size(); ++j) {
      if (!left_out[j]) chosen.push_back(j);
    }
    Strips& matrix = cholesky_.matrix();
    for (Index i = 0; i < matrix.count(); ++i) {
      std::fill(matrix.strip(i), matrix.strip(i, (i + 1) * kStrip), 0.0);
    }
    for (Index first = 0; first < static_cast<Index>(chosen.size()); first += kGroup) {
      context.check();
      const Index width = std::min(kGroup, static_cast<Index>(chosen.size()) - first);
      for (Index i = 0; i < matrix.count(); ++i) {
        for (Index k = 0; k < width; ++k) {
          const double* from = problem_.rows.strip(i, chosen[first + k]);
          const double scale = std::sqrt(h[chosen[first + k]]);
          double* to = changes_.strip(i, k);
          for (Index r = 0; r < kStrip; ++r) to[r] = from[r] * scale;
        }
      }
      for (Index i = 0; i < matrix.count(); ++i) {
        for (Index j = 0; j <= i; ++j) {
          subtract_products(changes_.strip(i), changes_.strip(j), width,
                            matrix.strip(i, j * kStrip));
        }
      }
    }
    for (Index i = 0; i < matrix.count(); ++i) {
      double* own = matrix.strip(i);
      for (Index k = 0; k < (i + 1) * kStrip * kStrip; ++k) own[k] = -own[k];
    }
    for (Index i = 0; i < n_; ++i) matrix.at(i, i) += 1;
    cholesky_.factorise(floor_.data(), context);
    cholesky_.invert(root_, inverse_);
    std::copy_n(problem_.response.data(), n_, whitened_.data());
    cholesky_.solve(whitened_.data());
    squares_ = dot(whitened_.data(), whitened_.data(), n_);
  }

  // -M^-1 Z_S (in solved_, transposed), Z_S'M^-1 Z_S (in small_) and Z_S'M^-1 y (in products_).
  void solve_for(const Index* chosen, Index width) {
    const Index strips = round_up(width, kStrip) / kStrip;
    for (Index s = 0; s < strips; ++s) {
      for (Index i = 0; i < n_; ++i) {
        double* to = columns_.strip(s, i);
        for (Index r = 0; r < kStrip; ++r) {
          const Index k = s * kStrip + r;
          to[r] = k < width ? problem_.rows.at(i, chosen[k]) : 0.0;
        }
      }
      std::fill(solved_.strip(s), solved_.strip(s, root_.columns()), 0.0);
      for (Index j = 0; j < inverse_.count(); ++j) {
        subtract_products(columns_.strip(s), inverse_.strip(j), n_, solved_.strip(s, j * kStrip));
      }
    }
    std::fill(products_.begin(), products_.end(), 0.0);
    for (Index s = 0; s < strips; ++s) {
      subtract_times(solved_.strip(s), problem_.response.data(), n_, products_.data() + s * kStrip);
      for (Index t = 0; t < strips; ++t) {
        double* square = small_.strip(s, t * kStrip);
        std::fill(square, square + kStrip * kStrip, 0.0);
        subtract_products(columns_.strip(s), solved_.strip(t), n_, square);
      }
    }
  }

  template <class DrawScale>
  void draw_block(const Index* chosen, Index width, double* h, DrawScale&& draw) {
    solve_for(chosen, width);
    double own[kBlock][kBlock];  // Z_S'M^-1 Z_S, kept up to date for columns still to come
    for (Index k = 0; k < width; ++k) {
      for (Index l = 0; l < width; ++l) own[k][l] = small_.at(k, l);
    }
    // M^-1 z_k when its turn has come is M^-1 Z_S v_k with the M^-1 of the beginning.
    double v[kBlock][kBlock] = {}, factor[kBlock];
    for (Index k = 0; k < width; ++k) {
      const Index j = chosen[k];
      const double u = std::max(own[k][k], 0.0);
      const double left = std::max(1 - h[j] * u, 0.5 / kLarge);
      const double drawn = draw(j, std::max(u / left, kLeast), products_[k] / left);
      const double change = drawn - h[j];
      factor[k] = change / (1 + change * u);
      h[j] = drawn;
      squares_ -= factor[k] * products_[k] * products_[k];
      for (Index l = k + 1; l < width; ++l) {
        const double share = factor[k] * own[k][l];
        products_[l] -= share * products_[k];
        for (Index i = k + 1; i < width; ++i) own[l][i] -= share * own[k][i];
      }
      v[k][k] = 1;
      for (Index l = 0; l < k; ++l) {
        const double share = factor[l] * own[l][k];
        for (Index i = 0; i <= l; ++i) v[k][i] -= share * v[l][i];
      }
    }
    for (Index i = 0; i < width; ++i) {
      for (Index l = 0; l < width; ++l) {
        double sum = 0;
        for (Index k = std::max(i, l); k < width; ++k) sum += factor[k] * v[k][i] * v[k][l];
        small_.at(i, l) = sum;
      }
    }
    change_inverse(width);
  }

  // M^-1 loses M^-1 Z_S C Z_S'M^-1, C given in small_.
  void change_inverse(Index width) {
    const Index strips = round_up(width, kStrip) / kStrip;
    for (Index i = 0; i < inverse_.count(); ++i) {
      for (Index s = 0; s < strips; ++s) {
        for (Index k = 0; k < kStrip; ++k) {
          double* to = changes_.strip(i, s * kStrip + k);
          for (Index r = 0; r < kStrip; ++r) to[r] = solved_.strip(s, i * kStrip + r)[k];
        }
      }
      std::fill(weighted_.strip(i), weighted_.strip(i, strips * kStrip), 0.0);
      for (Index s = 0; s < strips; ++s) {
        subtract_products(changes_.strip(i), small_.strip(s), width,
                          weighted_.strip(i, s * kStrip));
      }
      double* own = weighted_.strip(i);
      for (Index k = 0; k < strips * kStrip * kStrip; ++k) own[k] = -own[k];
    }
    for (Index i = 0; i < inverse_.count(); ++i) {
      for (Index j = 0; j <= i; ++j) {
        subtract_products(changes_.strip(i), weighted_.strip(j), width,
                          inverse_.strip(i, j * kStrip));
      }
    }
    copy_lower_to_upper(inverse_);
  }

  // Columns that M^-1 is without, and is with afterwards.
  template <class DrawScale>
  void draw_large(const Index* chosen, Index width, double* h, DrawScale&& draw) {
    solve_for(chosen, width);
    Cholesky own(width);
    std::vector<double> floor(width), column(width), mean(width, 0.0);
    for (Index k = 0; k < width; ++k) {
      floor[k] = 1 / h[chosen[k]];
      for (Index l = 0; l < width; ++l) own.matrix().at(k, l) = small_.at(k, l);
      own.matrix().at(k, k) += floor[k];
    }
    own.factorise(floor.data(), {});
    Strips root = Strips::square(width), inverse = Strips::square(width);
    own.invert(root, inverse);
    for (Index k = 0; k < width; ++k) {
      for (Index l = 0; l < width; ++l) mean[k] += inverse.at(k, l) * products_[l];
      squares_ -= mean[k] * products_[k];
    }
    for (Index k = 0; k < width; ++k) {
      const Index j = chosen[k];
      const double now = inverse.at(k, k), at = mean[k];
      const double drawn = draw(j, std::max(1 / now - 1 / h[j], kLeast), at / now);
      const double change = 1 / drawn - 1 / h[j], factor = change / (1 + change * now);
      h[j] = drawn;
      squares_ += factor * at * at;
      for (Index l = 0; l < width; ++l) column[l] = inverse.at(l, k);
      for (Index l = 0; l < width; ++l) {
        mean[l] -= factor * column[l] * at;
        for (Index i = 0; i < width; ++i) inverse.at(i, l) -= factor * column[l] * column[i];
      }
    }
    for (Index k = 0; k < width; ++k) {
      for (Index l = 0; l < width; ++l) small_.at(k, l) = inverse.at(k, l);
    }
    change_inverse(width);
  }

  const GaussianProblem& problem_;
  Index n_;
  Cholesky cholesky_;
  Strips root_, inverse_;      // M^-1
  Strips columns_;             // of a block, transposed
  Strips solved_;              // -M^-1 times these, transposed
  Strips changes_, weighted_;  // M^-1 loses their product
  Strips small_;
  std::vector<double> products_, floor_, whitened_;
  double squares_ = 0;  // y'M^-1 y
};

}  // namespace ellzero
