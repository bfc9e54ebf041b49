// The rows of several designs taken together, as the training rows of a cross-validation are.
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
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/large_array.hpp"
#include "data/design.hpp"

namespace ellzero {

// The moments of column j over some parts, divided by 2^exponent.
inline Moments pooled_moments(const std::vector<const Design*>& parts, Index j, int exponent) {
  Moments total;
  for (const Design* part : parts) {
    const double norm =
        part->inverse_scale[j] > 0 ? std::ldexp(1 / part->inverse_scale[j], -exponent) : 0;
    Moments m;
    m.weight = part->weight;
    m.mean_x = std::ldexp(part->mean[j], -exponent);
    m.mean_y = part->mean_y;
    m.xx = norm * norm;
    m.xy = part->zy[j] * norm;
    total.merge(m);
  }
  return total;
}

// A power of two that squares of deviations from the mean can be taken after dividing by.
inline int pooled_exponent(const std::vector<const Design*>& parts, Index j) {
  double largest = 0;
  for (const Design* part : parts) {
    largest = std::max(largest, std::fabs(part->mean[j]));
    if (part->inverse_scale[j] > 0) largest = std::max(largest, 1 / part->inverse_scale[j]);
  }
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  return std::abs(exponent) > 300 ? exponent : 0;
}

// The same for all columns, column by column what pooled_moments does where squares are safe.
struct PooledMoments {
  std::vector<double> mean, xx, xy;
  double weight = 0, mean_y = 0;

  explicit PooledMoments(const std::vector<const Design*>& parts) {
    const Index p = parts[0]->columns();
    mean.assign(p, 0);
    xx.assign(p, 0);
    xy.assign(p, 0);
    for (const Design* part : parts) {
      if (part->weight == 0) continue;
      const double total = weight + part->weight, share = part->weight / total;
      const double dy = part->mean_y - mean_y, factor = weight * share;
      const double *m = part->mean.data(), *inverse = part->inverse_scale.data(),
                   *zy = part->zy.data();
      for (Index j = 0; j < p; ++j) {
        const double norm = 1 / (inverse[j] > 0 ? inverse[j] : 1.0);
        const double own = inverse[j] > 0 ? norm : 0;
        const double dx = m[j] - mean[j];
        xx[j] += own * own + dx * dx * factor;
        xy[j] += zy[j] * own + dx * dy * factor;
        mean[j] += dx * share;
      }
      mean_y += dy * share;
      weight = total;
    }
  }

  // Of column j, and the power of two that they are divided by.
  Moments of(const std::vector<const Design*>& parts, Index j, int& exponent) const {
    exponent = 0;
    if (squares_are_safe(xx[j])) return {weight, mean[j], mean_y, xx[j], xy[j]};
    exponent = pooled_exponent(parts, j);
    return pooled_moments(parts, j, exponent);
  }
};

// A column that has not been made, where making it is put off until others want some too.
struct ColumnMissing {
  Index column;
};

// The parts, and the columns of their products as far as anybody wanted them. Several threads may
// ask at once.
class Parts {
 public:
  using Columns = std::shared_ptr<const double>;

  Parts(std::vector<const Design*> parts, double memory_bound_bytes) : parts_(std::move(parts)) {
    const Index p = columns();
    const double column_bytes = 8.0 * static_cast<double>(count() * std::max<Index>(p, 1));
    bound_ = std::max<std::size_t>(kBlockColumns, std::min(memory_bound_bytes / column_bytes, 1e9));
    slab_columns_ =
        std::clamp<Index>(static_cast<Index>(kSlabBytes / column_bytes), 1, std::max<Index>(p, 1));
    unit_.assign(p, 0);
    share_.assign(count() * p, 0);
    const PooledMoments moments(parts_);
    for (Index j = 0; j < p; ++j) {
      int exponent;
      const double norm = std::sqrt(moments.of(parts_, j, exponent).xx);
      if (norm > 0) unit_[j] = std::ldexp(1 / norm, -exponent);
    }
    for (Index b = 0; b < count(); ++b) {
      for (Index j = 0; j < p; ++j) {
        const double inverse = parts_[b]->inverse_scale[j];
        if (inverse > 0) share_[b * p + j] = unit_[j] / inverse;
      }
    }
  }

  Index count() const { return static_cast<Index>(parts_.size()); }
  Index columns() const { return parts_[0]->columns(); }
  const std::vector<const Design*>& all() const { return parts_; }
  // One over the norm of column j over all parts; 0 if it has none.
  double unit(Index j) const { return unit_[j]; }
  const double* share(Index b) const { return share_.data() + b * columns(); }

  // For each of the columns wanted: C_b(:, j) of every part b, one after the other, in terms of
  // columns of unit norm over all parts.
  std::vector<Columns> products(const Index* which, Index count, const Context& context) {
    std::lock_guard<std::mutex> guard(lock_);
    // Those that are here first: making the others may drop them.
    std::vector<Columns> out(count);
    std::vector<Index> missing;
    for (Index i = 0; i < count; ++i) {
      const auto found = held_.find(which[i]);
      if (found == held_.end()) {
        missing.push_back(which[i]);
      } else {
        out[i] = found->second;
      }
    }
    if (missing.empty()) return out;
    if (put_off_) throw ColumnMissing{missing[0]};
    make(missing, context);
    for (Index i = 0; i < count; ++i) {
      if (!out[i]) out[i] = held_.at(which[i]);
    }
    return out;
  }

  // Makes those that have not been made, all columns where that is little work: it will be asked
  // for most of them.
  void prepare(std::vector<Index> which, const Context& context) {
    const Index p = columns();
    if (static_cast<std::size_t>(p) <= bound_ && entries() * static_cast<double>(p) < kLittleWork) {
      which.resize(p);
      for (Index j = 0; j < p; ++j) which[j] = j;
    }
    std::sort(which.begin(), which.end());
    which.erase(std::unique(which.begin(), which.end()), which.end());
    std::lock_guard<std::mutex> guard(lock_);
    const auto held = [&](Index j) { return held_.count(j) > 0; };
    which.erase(std::remove_if(which.begin(), which.end(), held), which.end());
    constexpr std::size_t kWidth = kBlockColumns;
    for (std::size_t begin = 0; begin < which.size(); begin += kWidth) {
      const std::size_t end = std::min(which.size(), begin + kWidth);
      make({which.begin() + begin, which.begin() + end}, context);
    }
  }

  // While it lives, a column that is missing is not made when asked for: ColumnMissing is thrown.
  class PutOff {
   public:
    explicit PutOff(Parts* parts) : parts_(parts) {
      if (parts_) parts_->put_off_ = true;
    }
    ~PutOff() {
      if (parts_) parts_->put_off_ = false;
    }
    PutOff(const PutOff&) = delete;
    PutOff& operator=(const PutOff&) = delete;

   private:
    Parts* parts_;
  };

  double entries() const {
    double sum = 0;
    for (const Design* part : parts_) sum += part->entries();
    return sum;
  }
  Index passes() const { return passes_; }

 private:
  static constexpr double kLittleWork = 2e7;
  static constexpr double kSlabBytes = 1 << 22;

  // Room for one more column of every part, in a slab with others.
  std::shared_ptr<double> new_column() {
    const Index size = count() * columns();
    if (!slab_ || slab_used_ == slab_columns_) {
      slab_ = make_large_array<double>(slab_columns_ * size);
      slab_used_ = 0;
    }
    return {slab_, slab_.get() + size * slab_used_++};
  }

  void make(const std::vector<Index>& which, const Context& context) {
    const Index p = columns(), wanted = static_cast<Index>(which.size());
    while (!held_.empty() && held_.size() + which.size() > bound_) {
      held_.erase(order_.front());
      order_.pop_front();
    }
    std::vector<std::shared_ptr<double>> made;
    for (Index i = 0; i < wanted; ++i) made.push_back(new_column());
    std::vector<double*> out(wanted);
    for (Index b = 0; b < count(); ++b) {
      for (Index i = 0; i < wanted; ++i) out[i] = made[i].get() + b * p;
      parts_[b]->gram_columns(which.data(), wanted, out.data(), context);
      for (Index i = 0; i < wanted; ++i) {
        const double own = share(b)[which[i]];
        for (Index k = 0; k < p; ++k) out[i][k] *= share(b)[k] * own;
      }
    }
    for (Index i = 0; i < wanted; ++i) {
      held_.emplace(which[i], made[i]);
      order_.push_back(which[i]);
    }
    ++passes_;
  }

  std::vector<const Design*> parts_;
  std::vector<double> unit_;
  std::vector<double> share_;  // by part and column: its norm over that of all parts
  std::mutex lock_;
  std::unordered_map<Index, Columns> held_;
  std::list<Index> order_;  // in which they were made
  std::size_t bound_;
  bool put_off_ = false;
  std::shared_ptr<double[]> slab_;  // lives as long as a column in it
  Index slab_columns_ = 1, slab_used_ = 0;
  Index passes_ = 0;
};

class PooledDesign final : public Design {
 public:
  // The parts that `which` says; it says each at most once.
  PooledDesign(Parts& parts, std::vector<Index> which) : parts_(parts), which_(std::move(which)) {
    const Index p = parts_.columns();
    resize(p);
    std::vector<const Design*> pool;
    for (const Index b : which_) pool.push_back(parts_.all()[b]);
    Moments response;
    for (const Design* part : pool) {
      Moments m;
      m.weight = part->weight;
      m.mean_x = part->mean_y;
      m.xx = part->yy;
      response.merge(m);
    }
    weight = response.weight;
    mean_y = response.mean_x;
    const double rounding = 8 * std::numeric_limits<double>::epsilon() * std::fabs(mean_y);
    yy = std::sqrt(response.xx) > rounding * std::sqrt(weight) ? response.xx : 0;
    if (!std::isfinite(yy)) throw ResponseOutOfRange(true);
    ratio_.assign(p, 0);
    deviation_.assign(which_.size() * p, 0);
    const PooledMoments moments(pool);
    for (Index j = 0; j < p; ++j) {
      int exponent;
      const Moments m = moments.of(pool, j, exponent);
      set_column(j, m, exponent);
      if (yy == 0) zy[j] = 0;
      if (inverse_scale[j] > 0 && parts_.unit(j) > 0) ratio_[j] = inverse_scale[j] / parts_.unit(j);
    }
    for (std::size_t b = 0; b < pool.size(); ++b) {
      for (Index j = 0; j < p; ++j) {
        if (ratio_[j] > 0) deviation_[b * p + j] = (pool[b]->mean[j] - mean[j]) * parts_.unit(j);
      }
    }
  }

  void gram_columns(const Index* which, Index count, double* const* out,
                    const Context& context) const override {
    const Index p = columns();
    const std::vector<Parts::Columns> products = parts_.products(which, count, context);
    const Index parts = static_cast<Index>(which_.size());
    std::vector<const double*> inside(parts), between(parts);
    std::vector<double> factor(parts);
    for (Index i = 0; i < count; ++i) {
      const Index j = which[i];
      for (Index b = 0; b < parts; ++b) {
        inside[b] = products[i].get() + which_[b] * p;
        between[b] = deviation_.data() + b * p;
        factor[b] = parts_.all()[which_[b]]->weight * between[b][j];
      }
      pool(inside.data(), between.data(), factor.data(), parts, ratio_.data(), ratio_[j], p,
           out[i]);
    }
  }

  void cross_products(const Index* which, Index count, double* out) const override {
    const Index p = columns();
    std::fill(out, out + count * count, 0.0);
    std::vector<double> inside(count * count);
    for (std::size_t part = 0; part < which_.size(); ++part) {
      const Design& design = *parts_.all()[which_[part]];
      const double *share = parts_.share(which_[part]), *between = deviation_.data() + part * p;
      design.cross_products(which, count, inside.data());
      for (Index a = 0; a < count; ++a) {
        for (Index b = 0; b < count; ++b) {
          out[a * count + b] += inside[a * count + b] * share[which[a]] * share[which[b]] +
                                design.weight * between[which[a]] * between[which[b]];
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
    const Index k = static_cast<Index>(support.size()), p = columns();
    std::fill(products, products + k, 0.0);
    std::vector<double> own(k), inside(k);
    double rss = 0;
    for (std::size_t part = 0; part < which_.size(); ++part) {
      const Design& design = *parts_.all()[which_[part]];
      const double *share = parts_.share(which_[part]), *between = deviation_.data() + part * p;
      double shift = design.mean_y - mean_y;
      for (Index s = 0; s < k; ++s) {
        const double of_unit = beta[s] * ratio_[support[s]];
        own[s] = of_unit * share[support[s]];
        shift -= of_unit * between[support[s]];
      }
      rss += design.residual_products(support, own.data(), inside.data(), context) +
             design.weight * shift * shift;
      for (Index s = 0; s < k; ++s) {
        products[s] += ratio_[support[s]] * (inside[s] * share[support[s]] +
                                             design.weight * shift * between[support[s]]);
      }
    }
    return rss;
  }

 private:
  Parts& parts_;
  std::vector<Index> which_;
  std::vector<double> ratio_;      // the norm over all parts over that of this pool
  std::vector<double> deviation_;  // by part and column: m_b - M, in norms over all parts
};

}  // namespace ellzero
