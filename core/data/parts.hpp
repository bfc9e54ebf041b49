// Several quadratics, each of some of the rows, and the columns of their products: what pools of
// them are made of.
#pragma once

#include <algorithm>
#include <cmath>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/large_array.hpp"
#include "data/pooled_moments.hpp"

namespace ellzero {

// A column that has not been made, where making it is put off until others want some too.
struct ColumnMissing {
  Index column;
};

// The parts, and the columns of their products as far as anybody wanted them. Several threads may
// ask at once.
class Parts {
 public:
  using Products = std::shared_ptr<const double>;

  Parts(std::vector<const Quadratic*> parts, double memory_bound_bytes) : parts_(std::move(parts)) {
    const Index p = columns();
    const double column_bytes = 8.0 * static_cast<double>(count() * std::max<Index>(p, 1));
    bound_ = std::max<std::size_t>(kBlockColumns, std::min(memory_bound_bytes / column_bytes, 1e9));
    slab_columns_ =
        std::clamp<Index>(static_cast<Index>(kSlabBytes / column_bytes), 1, std::max<Index>(p, 1));
    unit_.assign(p, 0);
    share_.assign(count() * p, 0);
    const PooledMoments moments(parts_);
    for (Index j = 0; j < p; ++j) {
      const ScaledMoments m = moments.of(parts_, j);
      const double norm = std::sqrt(m.moments.xx);
      if (norm > 0) unit_[j] = std::ldexp(1 / norm, -m.exponent);
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
  const std::vector<const Quadratic*>& all() const { return parts_; }
  // One over the norm of column j over all parts; 0 if it has none.
  double unit(Index j) const { return unit_[j]; }
  const double* share(Index b) const { return share_.data() + b * columns(); }

  // For each of the columns wanted: C_b(:, j) of every part b, one after the other, in terms of
  // columns of unit norm over all parts.
  std::vector<Products> products(const Index* which, Index count, const Context& context) {
    std::lock_guard<std::mutex> guard(lock_);
    // Those that are here first: making the others may drop them.
    std::vector<Products> out(count);
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
    for (const Quadratic* part : parts_) sum += part->entries();
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

  std::vector<const Quadratic*> parts_;
  std::vector<double> unit_;
  std::vector<double> share_;  // by part and column: its norm over that of all parts
  std::mutex lock_;
  std::unordered_map<Index, Products> held_;
  std::list<Index> order_;  // in which they were made
  std::size_t bound_;
  bool put_off_ = false;
  std::shared_ptr<double[]> slab_;  // lives as long as a column in it
  Index slab_columns_ = 1, slab_used_ = 0;
  Index passes_ = 0;
};

}  // namespace ellzero
