// Gram matrices of pools of parts, where columns and rows are few: all that were asked for are made
// in one go, some rows of the matrices at a time. So the products of parts, which are made on the
// way, stay in a cache and are not kept.
//
// Most pools are all parts but one. So the parts before each, and those after it, are pooled on the
// way, one more at a time: with d what the means of two pools differ by, and W their weights,
//
//   C = C_1 + C_2 + W_1 W_2 / (W_1 + W_2) d d'
//
// and such a pool is made of two of these. Nothing is subtracted there either.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "base/spare_array.hpp"
#include "base/triangle_kernels.hpp"
#include "data/prepared_columns.hpp"
#include "data/quadratic.hpp"

namespace ellzero {

// The matrix of one pool. With C_b the products of deviations of part b, and v_b what its means
// deviate from those of the pool, it is scale_i scale_j times the sum of C_b + weight_b v_b v_b'.
struct PooledGram {
  std::vector<Index> which;  // parts
  std::vector<double> weight;
  std::vector<double> v;                   // one after the other, `stride` numbers each
  std::vector<double> scale;               // `stride` numbers
  Index stride = 0;                        // as PooledGrams wants it
  const double* values = nullptr;          // columns, `stride` apart; null until it is made
  std::shared_ptr<const double[]> memory;  // that they are in
};

// Several threads may ask at once.
class PooledGrams {
 public:
  // Whether it is little work to make them: of columns that are made one by one each costs more.
  static bool pays(const std::vector<const Quadratic*>& parts) {
    const auto p = static_cast<double>(parts[0]->columns());
    double rows = 0;
    for (const Quadratic* part : parts) {
      const PreparedColumns* z = part->prepared_columns();
      if (!z) return false;
      rows += static_cast<double>(z->rows());
    }
    return static_cast<Index>(parts.size()) <= kMostPooled && p <= kMostColumns &&
           rows * p * p < kLittleWork;
  }

  // All are kept by the caller. `share`, by part and column, is what columns of a part are
  // multiplied by, `unit`, by column, what means are.
  PooledGrams(const std::vector<const Quadratic*>& parts, const double* share, const double* unit)
      : parts_(parts), share_(share), unit_(unit) {}

  // What v, scale and the matrix have to be padded to.
  Index stride() const { return round_up(columns(), kLine); }

  // It will be wanted; unless it is dropped, it is kept by the caller.
  void expect(PooledGram& gram) {
    const std::lock_guard<std::mutex> guard(lock_);
    expected_.push_back(&gram);
  }
  void drop(PooledGram& gram) {
    const std::lock_guard<std::mutex> guard(lock_);
    expected_.erase(std::remove(expected_.begin(), expected_.end(), &gram), expected_.end());
  }

  // Makes all that are expected; how many these are.
  Index make(const Context& context) {
    const std::lock_guard<std::mutex> guard(lock_);
    const Index count = static_cast<Index>(expected_.size());
    if (count > 0) fill(context);
    expected_.clear();
    return count;
  }

 private:
  static constexpr double kLittleWork = 2e7, kMostColumns = 256;
  // Columns begin where a line of the processor's cache does, in whole strips.
  static constexpr Index kLine = 24;
  static_assert(kLine % 8 == 0 && kLine % kStripColumns == 0, "whole lines, and whole strips");

  Index columns() const { return parts_[0]->columns(); }
  Index count() const { return static_cast<Index>(parts_.size()); }

  void fill(const Context& context) const {
    const Index p = columns(), stride = this->stride(), size = stride * stride;
    const Index count = this->count();
    const Index wanted = static_cast<Index>(expected_.size());
    const std::shared_ptr<double[]> memory = make_spare_array(wanted * size);
    std::vector<Index> rows(count), begins(count + 1, 0);
    for (Index b = 0; b < count; ++b) {
      rows[b] = parts_[b]->prepared_columns()->rows();
      begins[b + 1] = begins[b] + rows[b] * stride;
    }
    std::vector<Terms> terms;
    for (Index g = 0; g < wanted; ++g) terms.push_back(terms_of(*expected_[g]));
    const bool merged = std::any_of(terms.begin(), terms.end(), [&](const Terms& each) {
      return each.places.back() >= count || each.places.front() >= count;
    });
    std::vector<Step> fronts, backs;
    if (merged) {
      fronts = steps(true);
      backs = steps(false);
    }
    const Index block = kStripColumns * stride;
    // Products of parts, of those before each part and of those after it
    const std::shared_ptr<double[]> room = make_spare_array(begins[count] + 3 * count * block);
    double *strips = room.get(), *products = strips + begins[count];
    for (Index b = 0; b < count; ++b) bring(b, strips + begins[b]);
    for (Index top = 0; top < p; top += kStripColumns) {
      context.check();
      for (Index b = 0; b < count; ++b) {
        strip_products(strips + begins[b], rows[b], p, top, products + b * block, stride);
      }
      for (const std::vector<Step>* way : {&fronts, &backs}) {
        for (const Step& step : *way) {
          merge_strips(products + step.one * block, products + step.other * block, step.d.data(),
                       step.factor, p, top, products + step.sum * block, stride);
        }
      }
      std::vector<const double*> own;
      for (Index g = 0; g < wanted; ++g) {
        own.clear();
        for (const Index place : terms[g].places) own.push_back(products + place * block);
        pool_products(own.data(), stride, terms[g].v.data(), terms[g].weight.data(),
                      static_cast<Index>(own.size()), expected_[g]->scale.data(), p, top,
                      memory.get() + g * size, stride);
      }
    }
    for (Index g = 0; g < wanted; ++g) {
      expected_[g]->values = memory.get() + g * size;
      expected_[g]->memory = memory;
    }
  }

  // Where products of the first `count` parts, or of the last, are among all: those of single parts
  // come first.
  Index front(Index count) const { return count == 1 ? 0 : this->count() + count - 1; }
  Index back(Index count) const {
    return count == 1 ? this->count() - 1 : 2 * this->count() + count - 1;
  }

  // One more part is pooled with those before it, or after it.
  struct Step {
    Index one, other, sum;
    double factor;
    std::vector<double> d;
  };
  std::vector<Step> steps(bool from_front) const {
    std::vector<Step> out;
    const Index p = columns();
    const auto part = [&](Index k) { return from_front ? k : count() - 1 - k; };
    const auto place = [&](Index k) { return from_front ? front(k) : back(k); };
    std::vector<double> mean = parts_[part(0)]->mean;
    double weight = parts_[part(0)]->weight;
    for (Index k = 1; k < count(); ++k) {
      const Quadratic& next = *parts_[part(k)];
      const double total = weight + next.weight, share = total > 0 ? next.weight / total : 0;
      Step step{place(k), part(k), place(k + 1), weight * share,
                std::vector<double>(stride(), 0.0)};
      for (Index j = 0; j < p; ++j) {
        const double difference = next.mean[j] - mean[j];
        step.d[j] = difference * unit_[j];
        mean[j] += difference * share;
      }
      weight = total;
      out.push_back(std::move(step));
    }
    return out;
  }

  // What the sum over the parts of a pool is made of: the first parts and the last, or single ones.
  struct Terms {
    std::vector<Index> places;
    std::vector<double> weight, v;
  };
  Terms terms_of(const PooledGram& gram) const {
    const Index size = static_cast<Index>(gram.which.size());
    Index first = 0, last = 0;
    while (first < size && gram.which[first] == first) ++first;
    while (last < size - first && gram.which[size - 1 - last] == count() - 1 - last) ++last;
    if (first + last < size) return {gram.which, gram.weight, gram.v};
    Terms out;
    const auto add = [&](Index place, Index begin, Index end) {
      if (begin == end) return;
      out.places.push_back(place);
      double weight = 0;
      std::vector<double> v(stride(), 0.0);  // the mean of theirs
      for (Index b = begin; b < end; ++b) {
        weight += gram.weight[b];
        const double share = weight > 0 ? gram.weight[b] / weight : 0;
        const double* own = gram.v.data() + b * stride();
        for (Index j = 0; j < stride(); ++j) v[j] += (own[j] - v[j]) * share;
      }
      out.weight.push_back(weight);
      out.v.insert(out.v.end(), v.begin(), v.end());
    };
    add(front(first), 0, first);
    add(back(last), first, size);
    return out;
  }

  // Brings the columns of part b into strips.
  void bring(Index b, double* strips) const {
    const PreparedColumns& z = *parts_[b]->prepared_columns();
    const Index rows = z.rows(), p = columns();
    std::vector<double> column(rows);
    std::vector<Index> all(p);
    for (Index j = 0; j < p; ++j) all[j] = j;
    z.bring(all.data(), p);
    for (Index j = 0; j < p; ++j) {
      z.read(j, 0, rows, column.data());
      const double own = share_[b * p + j];
      double* to = strips + strip_place(0, j, rows);
      for (Index r = 0; r < rows; ++r) to[r * kStripColumns] = column[r] * own;
    }
    for (Index j = p; j < round_up(p, kStripColumns); ++j) {
      double* to = strips + strip_place(0, j, rows);
      for (Index r = 0; r < rows; ++r) to[r * kStripColumns] = 0;
    }
  }

  const std::vector<const Quadratic*>& parts_;
  const double* const share_;
  const double* const unit_;
  std::mutex lock_;
  std::vector<PooledGram*> expected_;
};

}  // namespace ellzero
