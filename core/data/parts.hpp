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
#include "data/column_passes.hpp"
#include "data/pooled_grams.hpp"
#include "data/pooled_moments.hpp"
#include "data/prepared_columns.hpp"

namespace ellzero {

// The parts, and the columns of their products as far as anybody wanted them. Several threads may
// ask at once.
class Parts final : public ColumnPasses {
 public:
  using Products = std::shared_ptr<const double>;

  // If Gram matrices of pools may be made at once, they are where that is little work: they have
  // other bits than columns made one by one.
  Parts(std::vector<const Quadratic*> parts, double memory_bound_bytes, bool at_once)
      : parts_(std::move(parts)) {
    const Index p = columns();
    const double column_bytes = 8.0 * static_cast<double>(count() * std::max<Index>(p, 1));
    // Whatever the bound, there is room for what one fold per part wants at once.
    const Index least = std::max(kBlockColumns, count() + 4);
    bound_ = std::max<std::size_t>(least, std::min(memory_bound_bytes / column_bytes, 1e9));
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
    if (at_once && PooledGrams::pays(parts_)) {
      grams_ = std::make_unique<PooledGrams>(parts_, share_.data());
    }
  }

  Index count() const { return static_cast<Index>(parts_.size()); }
  Index columns() const { return parts_[0]->columns(); }
  const std::vector<const Quadratic*>& all() const { return parts_; }
  // One over the norm of column j over all parts; 0 if it has none.
  double unit(Index j) const { return unit_[j]; }
  const double* share(Index b) const { return share_.data() + b * columns(); }

  Index pass_columns() const override {
    const Index room = static_cast<Index>(std::min<std::size_t>(bound_ / 2, 1 << 20));
    return std::clamp(parts_[0]->pass_columns(), kBlockColumns, std::max(room, kBlockColumns));
  }
  bool passes_are_dear() const override { return parts_[0]->pass_columns() > kBlockColumns; }

  // The matrices of pools, where they are made at once; else null.
  PooledGrams* grams() { return grams_.get(); }

  bool has(Index j) {
    if (grams_) return true;
    const std::lock_guard<std::mutex> guard(lock_);
    return held_.count(j) > 0;
  }

  // Columns are kept in a file too, and read from there.
  void keep_in(std::shared_ptr<ColumnFile> file) { file_ = std::move(file); }

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
    if (is_put_off()) throw ColumnMissing{missing};
    make(missing, context);
    for (Index i = 0; i < count; ++i) {
      if (!out[i]) out[i] = held_.at(which[i]);
    }
    return out;
  }

  // Makes those that have not been made, all columns where that is little work: it will be asked
  // for most of them.
  void prepare(std::vector<Index> which, const Context& context) override {
    if (grams_) {
      const std::lock_guard<std::mutex> guard(lock_);
      if (grams_->make(context) > 0) ++passes_;
      return;
    }
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
    const std::size_t width = pass_columns();
    for (std::size_t begin = 0; begin < which.size(); begin += width) {
      const std::size_t end = std::min(which.size(), begin + width);
      make({which.begin() + begin, which.begin() + end}, context);
    }
  }

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
      // Of one that is large, the end is not left to small pages.
      const double bytes = 8.0 * static_cast<double>(slab_columns_ * size);
      const bool large = bytes > kSlabBytes / 2 && bytes < kSlabBytes;
      slab_ = make_large_array<double>(large ? static_cast<Index>(kSlabBytes / 8)
                                             : slab_columns_ * size);
      slab_used_ = 0;
    }
    return {slab_, slab_.get() + size * slab_used_++};
  }

  void make(const std::vector<Index>& which, const Context& context) {
    const Index wanted = static_cast<Index>(which.size());
    while (!held_.empty() && held_.size() + which.size() > bound_) {
      held_.erase(order_.front());
      order_.pop_front();
    }
    std::vector<std::shared_ptr<double>> made;
    for (Index i = 0; i < wanted; ++i) made.push_back(new_column());
    std::vector<double*> out(wanted);
    for (Index i = 0; i < wanted; ++i) out[i] = made[i].get();
    const auto multiply = [&](const std::vector<Index>& missing,
                              const std::vector<double*>& places) {
      multiply_all(missing, places, context);
    };
    passes_ += load_or_make(file_.get(), which.data(), wanted, out.data(), multiply);
    for (Index i = 0; i < wanted; ++i) {
      held_.emplace(which[i], made[i]);
      order_.push_back(which[i]);
    }
  }

  // Fills the columns of all parts, one part after the other at each place.
  void multiply_all(const std::vector<Index>& which, const std::vector<double*>& places,
                    const Context& context) const {
    const Index p = columns(), wanted = static_cast<Index>(which.size());
    std::vector<std::vector<double*>> out(count());
    for (Index b = 0; b < count(); ++b) {
      for (double* place : places) out[b].push_back(place + b * p);
    }
    if (!multiply_together(which, out, context)) {
      for (Index b = 0; b < count(); ++b) {
        parts_[b]->gram_columns(which.data(), wanted, out[b].data(), context);
      }
    }
    for (Index b = 0; b < count(); ++b) {
      for (Index i = 0; i < wanted; ++i) {
        const double own = share(b)[which[i]];
        for (Index k = 0; k < p; ++k) out[b][i][k] *= share(b)[k] * own;
      }
    }
  }

  // The same in one pass, where the rows of all parts lie together elsewhere.
  bool multiply_together(const std::vector<Index>& which,
                         const std::vector<std::vector<double*>>& out,
                         const Context& context) const {
    const Index wanted = static_cast<Index>(which.size());
    std::vector<std::unique_ptr<ChosenColumns>> operands;
    std::vector<Columns::Job> jobs;
    for (Index b = 0; b < count(); ++b) {
      const PreparedColumns* z = parts_[b]->prepared_columns();
      if (!z || !passes_are_dear()) return false;
      z->bring(which.data(), wanted);
      operands.push_back(std::make_unique<ChosenColumns>(*z, which.data(), wanted));
      jobs.push_back({&z->columns(), z->standardisation(), operands.back().get(), out[b].data()});
    }
    return jobs[0].columns->products_together(jobs, context);
  }

  std::vector<const Quadratic*> parts_;
  std::vector<double> unit_;
  std::vector<double> share_;  // by part and column: its norm over that of all parts
  std::unique_ptr<PooledGrams> grams_;
  std::mutex lock_;
  std::unordered_map<Index, Products> held_;
  std::list<Index> order_;  // in which they were made
  std::size_t bound_;
  std::shared_ptr<double[]> slab_;  // lives as long as a column in it
  Index slab_columns_ = 1, slab_used_ = 0;
  Index passes_ = 0;
  std::shared_ptr<ColumnFile> file_;
};

}  // namespace ellzero
