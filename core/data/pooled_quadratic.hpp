// The quadratic of the rows of several parts taken together, as the training rows of a
// cross-validation are.
//
// Every part b of the rows gives, with s its norms, m its means and W its weight, the products of
// deviations from its own means, C_b = s_b s_b' o G_b. With M the mean of the rows pooled,
//
//   sum of products of deviations = sum over b of C_b + W_b (m_b - M)(m_b - M)'
//
// Nothing is subtracted from a total, so a part left out leaves no trace, whatever outlier is in
// it. A column of all the C_b costs one pass over X, and serves every pool of parts.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "data/parts.hpp"

namespace ellzero {

class PooledQuadratic final : public Quadratic {
 public:
  // The parts that `which` says; it says each at most once.
  PooledQuadratic(Parts& parts, std::vector<Index> which, double cache_bytes)
      : Quadratic(prepare_pool(chosen(parts, which)), cache_bytes, parts.pass_columns()),
        parts_(parts),
        which_(std::move(which)),
        ratio_(columns(), 0.0),
        unit_(columns(), 0.0) {
    for (Index j = 0; j < columns(); ++j) {
      if (!(inverse_scale[j] > 0 && parts_.unit(j) > 0)) continue;
      unit_[j] = parts_.unit(j);
      ratio_[j] = inverse_scale[j] / unit_[j];
    }
    if (columns() <= kStretch) {
      deviations_.resize(which_.size() * columns());
      deviate(0, columns(), deviations_.data());
    }
    if (parts_.grams()) expect_gram(*parts_.grams());
  }
  ~PooledQuadratic() override {
    if (parts_.grams()) parts_.grams()->drop(gram_);
  }

  void gram_columns(const Index* which, Index count, double* const* out,
                    const Context& context) const override {
    const Index p = columns();
    if (const Matrix all = gram_matrix(context); all.values) {
      for (Index i = 0; i < count; ++i) std::copy_n(all.values + which[i] * all.stride, p, out[i]);
      return;
    }
    const std::vector<Parts::Products> products = parts_.products(which, count, context);
    const Index parts = static_cast<Index>(which_.size());
    std::vector<const double*> inside(parts), between(parts);
    std::vector<double> factor(parts), made;
    for (Index begin = 0; begin < p; begin += kStretch) {
      const Index length = std::min(kStretch, p - begin);
      if (deviations_.empty()) {
        made.resize(parts * kStretch);
        deviate(begin, length, made.data());
      }
      const double* deviations = deviations_.empty() ? made.data() : deviations_.data();
      for (Index b = 0; b < parts; ++b) between[b] = deviations + b * length;
      for (Index i = 0; i < count; ++i) {
        const Index j = which[i];
        for (Index b = 0; b < parts; ++b) {
          inside[b] = products[i].get() + which_[b] * p + begin;
          factor[b] = part(b).weight * deviation(b, j);
        }
        pool(inside.data(), between.data(), factor.data(), parts, ratio_.data() + begin, ratio_[j],
             length, out[i] + begin);
      }
    }
  }

  bool at_hand(Index j) const override { return parts_.has(j); }

  Matrix gram_matrix(const Context& context) const override {
    if (!parts_.grams()) return {};
    parts_.prepare({}, context);
    return {gram_.values, gram_.stride};
  }

  void cross_products(const Index* which, Index count, double* out) const override {
    std::fill(out, out + count * count, 0.0);
    std::vector<double> inside(count * count), between(count);
    for (Index b = 0; b < static_cast<Index>(which_.size()); ++b) {
      const Quadratic& quadratic = part(b);
      const double* share = parts_.share(which_[b]);
      for (Index a = 0; a < count; ++a) between[a] = deviation(b, which[a]);
      quadratic.cross_products(which, count, inside.data());
      for (Index a = 0; a < count; ++a) {
        for (Index c = 0; c < count; ++c) {
          out[a * count + c] += inside[a * count + c] * share[which[a]] * share[which[c]] +
                                quadratic.weight * between[a] * between[c];
        }
      }
    }
    for (Index a = 0; a < count; ++a) {
      for (Index b = 0; b < count; ++b) out[a * count + b] *= ratio_[which[a]] * ratio_[which[b]];
    }
  }

  double entries() const override { return parts_.entries(); }

  double residual_products(const std::vector<Index>& support, const double* beta, double* products,
                           const Context& context) const override {
    const Index k = static_cast<Index>(support.size());
    std::fill(products, products + k, 0.0);
    std::vector<double> own(k), inside(k), between(k);
    double rss = 0;
    for (Index b = 0; b < static_cast<Index>(which_.size()); ++b) {
      const Quadratic& quadratic = part(b);
      const double* share = parts_.share(which_[b]);
      for (Index s = 0; s < k; ++s) between[s] = deviation(b, support[s]);
      double shift = quadratic.mean_y - mean_y;
      for (Index s = 0; s < k; ++s) {
        const double of_unit = beta[s] * ratio_[support[s]];
        own[s] = of_unit * share[support[s]];
        shift -= of_unit * between[s];
      }
      rss += quadratic.residual_products(support, own.data(), inside.data(), context) +
             quadratic.weight * shift * shift;
      for (Index s = 0; s < k; ++s) {
        products[s] += ratio_[support[s]] *
                       (inside[s] * share[support[s]] + quadratic.weight * shift * between[s]);
      }
    }
    return rss;
  }

 private:
  static constexpr Index kStretch = 2048;

  const Quadratic& part(Index b) const { return *parts_.all()[which_[b]]; }
  // m_b - M of columns begin .. begin + length, part after part, in norms over all parts
  void deviate(Index begin, Index length, double* out) const {
    const double *all = mean.data() + begin, *unit = unit_.data() + begin;
    for (Index b = 0; b < static_cast<Index>(which_.size()); ++b, out += length) {
      const double* m = part(b).mean.data() + begin;
      for (Index k = 0; k < length; ++k) out[k] = (m[k] - all[k]) * unit[k];
    }
  }
  void expect_gram(PooledGrams& grams) {
    const Index stride = gram_.stride = grams.stride();
    gram_.which = which_;
    gram_.scale = ratio_;
    gram_.scale.resize(stride, 0.0);
    gram_.v.assign(which_.size() * stride, 0.0);
    for (Index b = 0; b < static_cast<Index>(which_.size()); ++b) {
      gram_.weight.push_back(part(b).weight);
      std::copy_n(deviations_.data() + b * columns(), columns(), gram_.v.data() + b * stride);
    }
    grams.expect(gram_);
  }
  // m_b - M of column j, in norms over all parts
  double deviation(Index b, Index j) const { return (part(b).mean[j] - mean[j]) * unit_[j]; }

  static std::vector<const Quadratic*> chosen(const Parts& parts, const std::vector<Index>& which) {
    std::vector<const Quadratic*> out;
    for (const Index b : which) out.push_back(parts.all()[b]);
    return out;
  }

  static Preparation prepare_pool(const std::vector<const Quadratic*>& pool) {
    Moments response;
    for (const Quadratic* part : pool) {
      Moments m;
      m.weight = part->weight;
      m.mean_x = part->mean_y;
      m.xx = part->yy;
      response.merge(m);
    }
    const double weight = response.weight, mean_y = response.mean_x;
    const double rounding = 8 * std::numeric_limits<double>::epsilon() * std::fabs(mean_y);
    const double yy = std::sqrt(response.xx) > rounding * std::sqrt(weight) ? response.xx : 0;
    if (!std::isfinite(yy)) throw ResponseOutOfRange(true);
    const Index p = pool[0]->columns();
    Preparation out(p, weight, mean_y, yy);
    const PooledMoments moments(pool);
    for (Index j = 0; j < p; ++j) out.set_column(j, moments.of(pool, j));
    return out;
  }

  Parts& parts_;
  const std::vector<Index> which_;
  std::vector<double> ratio_;  // the norm over all parts over that of this pool; 0 if dead here
  std::vector<double> unit_;   // one over the norm over all parts; 0 if dead here
  // By part; not kept of many columns, where they take more room than anything else here.
  std::vector<double> deviations_;
  PooledGram gram_;  // where all of it is made at once
};

}  // namespace ellzero
