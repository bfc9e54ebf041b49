// The quadratic of all rows but some, from that of all rows: what a fold trains on that leaves few
// rows out.
//
// Let G, b and y'y be those of all rows, z_t row t of Z and u_t that of y as they are prepared
// there, w_t its weight. With T the rows left out, W' the weight of the others, and D and D_y sums
// of w_t z_t and w_t u_t over these others (those over all rows are zero, but for the rounding of
// the means),
//
//   products of deviations = G - sum over T of w_t z_t z_t' - D D' / W'
//
// and so for b and y'y; then columns are scaled to unit norm again. A column of it costs a pass
// over T, not over X.
//
// Subtracting costs digits where little is left: then there is no such quadratic, and the rows that
// stay have to be looked at.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "data/column_passes.hpp"
#include "data/float_grams.hpp"
#include "data/prepared_columns.hpp"
#include "data/quadratic.hpp"

namespace ellzero {

// All rows, and their quadratic.
class AllRows final : public ColumnPasses {
 public:
  // All are kept by the caller for as long as this lives; no weights (null) are ones.
  AllRows(const Quadratic& its_quadratic, const Columns& its_columns, const double* its_y,
          const double* its_weights, bool is_centred, const Context& context)
      : quadratic(its_quadratic),
        columns(its_columns),
        y(its_y),
        weights(its_weights),
        centred(is_centred),
        sums(columns.columns(), 0.0) {
    if (!centred) return;
    std::vector<double> roots(weights ? columns.rows() : 0);
    for (std::size_t r = 0; r < roots.size(); ++r) roots[r] = std::sqrt(weights[r]);
    double* out[] = {sums.data()};
    const double* root = weights ? roots.data() : nullptr;
    columns.products({quadratic.mean.data(), quadratic.inverse_scale.data(), root}, Roots(root),
                     out, context);
    for (Index r = 0; r < columns.rows(); ++r) sum_y += weight(r) * (y[r] - quadratic.mean_y);
  }

  double weight(Index row) const { return weights ? weights[row] : 1.0; }

  // A column as it lies. What a fold looks at others do, too: it is kept for them.
  void read_column(Index j, double* out) const {
    const std::lock_guard<std::mutex> guard(lock_);
    if (static_cast<double>(read_.size() * columns.rows()) > kReadAtMost) read_.clear();
    const auto [at, is_new] = read_.try_emplace(j);
    if (is_new) {
      at->second.resize(columns.rows());
      columns.read(j, 0, columns.rows(), at->second.data());
    }
    std::copy(at->second.begin(), at->second.end(), out);
  }

  // Where there are products in float32, others are made only if they were asked for.
  void prepare(std::vector<Index> which, const Context& context) override {
    float_requests.serve(context);
    if (uses_floats) {
      const auto is_expected = [&](Index j) { return expected_.count(j) > 0; };
      which.erase(std::remove_if(which.begin(), which.end(), std::not_fn(is_expected)),
                  which.end());
      expected_.clear();
    }
    GramCache& cache = quadratic.cache();
    cache.keep_spare(static_cast<Index>(which.size()));
    cache.prepare(which, context);
  }
  Index pass_columns() const override { return quadratic.pass_columns(); }
  bool passes_are_dear() const override { return pass_columns() > kBlockColumns; }
  // Throws if some of these are missing, and are not to be made now.
  void expect(const Index* which, Index count) const {
    if (!is_put_off()) return;
    std::vector<Index> missing;
    for (Index b = 0; b < count; ++b) {
      if (!quadratic.cache().has(which[b])) missing.push_back(which[b]);
    }
    if (missing.empty()) return;
    {
      const std::lock_guard<std::mutex> guard(lock_);
      expected_.insert(missing.begin(), missing.end());
    }
    throw ColumnMissing{missing};
  }

  const Quadratic& quadratic;
  const Columns& columns;
  const double* const y;
  const double* const weights;
  const bool centred;
  // Of w_t z_t and w_t u_t over all rows: what rounding of the means leaves.
  std::vector<double> sums;
  double sum_y = 0;
  // What folds want of products in float32, and whether they do.
  mutable FloatRequests float_requests;
  mutable std::atomic<bool> uses_floats{false};

 private:
  static constexpr double kReadAtMost = 2e6;  // numbers
  mutable std::mutex lock_;
  mutable std::unordered_set<Index> expected_;
  mutable std::unordered_map<Index, std::vector<double>> read_;

  // The roots of the weights as the V of a product.
  class Roots final : public Operand {
   public:
    explicit Roots(const double* roots) : Operand(1), roots_(roots) {}
    void read(Index, Index row, Index rows, double* out) const override {
      for (Index r = 0; r < rows; ++r) out[r] = roots_ ? roots_[row + r] : 1.0;
    }

   private:
    const double* const roots_;
  };
};

class RemainingQuadratic final : public Quadratic {
 public:
  // `left_out` are rows `which` of all, none of them twice; it is kept by the caller for as long as
  // this lives, and so are all rows. Null where less than kLeast of the weight, of the spread of y,
  // or of that of a column would be left.
  static std::unique_ptr<RemainingQuadratic> make(const AllRows& all, const Columns& left_out,
                                                  std::vector<Index> which, double cache_bytes) {
    Rest rest(all, left_out, which);
    if (!rest.subtract(all, left_out, which)) return nullptr;
    return std::unique_ptr<RemainingQuadratic>(
        new RemainingQuadratic(all, left_out, std::move(which), std::move(rest), cache_bytes));
  }

  void gram_columns(const Index* which, Index count, double* const* out,
                    const Context& context) const override {
    all_.expect(which, count);
    GramCache& whole = all_.quadratic.cache();
    whole.prepare({which, which + count}, context);
    z_.bring(which, count);
    z_.products(ChosenColumns(z_, which, count), out, context);
    for (Index b = 0; b < count; ++b) {
      const Index j = which[b];
      const double* gram = whole.acquire(j, {}, context);
      const double along = sums_[j] / weight, own = ratio_[j];
      for (Index i = 0; i < columns(); ++i) {
        out[b][i] = (gram[i] - out[b][i] - along * sums_[i]) * (ratio_[i] * own);
      }
      whole.release(j);
    }
  }

  void cross_products(const Index* which, Index count, double* out) const override {
    std::vector<double> left_out(count * count);
    all_.quadratic.cross_products(which, count, out);
    z_.cross_products(which, count, left_out.data());
    for (Index a = 0; a < count; ++a) {
      for (Index b = 0; b < count; ++b) {
        const Index i = which[a], j = which[b];
        double& product = out[a * count + b];
        product -= left_out[a * count + b] + sums_[i] * sums_[j] / weight;
        product *= ratio_[i] * ratio_[j];
      }
    }
  }

  // Where many rows are left out, several columns at once cost less than one after the other.
  bool at_hand(Index j) const override {
    return z_.entries() < kFewEntries &&
           (all_.quadratic.cache().has(j) || all_.quadratic.at_hand(j));
  }

  double entries() const override { return all_.quadratic.entries() + z_.entries(); }

  // Of the rows that stay, one by one: these are asked for where digits matter.
  double residual_products(const std::vector<Index>& support, const double* beta, double* products,
                           const Context& context) const override {
    const Index n = rows();
    const std::vector<double> root = roots();
    std::vector<double> response(n);
    for (Index r = 0; r < n; ++r) response[r] = yy > 0 ? (all_.y[r] - mean_y) * root[r] : 0;
    const PreparedColumns z(all_.columns, {mean.data(), inverse_scale.data(), root.data()},
                            response.data());
    return z.residual_products(support, beta, products, context);
  }

  // Those that are left out count for nothing.
  Index rows() const override { return all_.columns.rows(); }
  void read_column(Index j, double* out) const override {
    all_.read_column(j, out);
    const double m = mean[j], f = inverse_scale[j];
    for (Index r = 0; r < rows(); ++r) out[r] = (out[r] - m) * f;
    if (all_.weights) {
      for (Index r = 0; r < rows(); ++r) out[r] *= std::sqrt(all_.weights[r]);
    }
    for (const Index r : which_) out[r] = 0;
  }
  bool has_float_grams() const override { return all_.quadratic.has_float_grams(); }
  const FloatGrams* float_grams(const Context& context) const override {
    const FloatGrams* whole = all_.quadratic.float_grams(context);
    if (!whole) return nullptr;
    std::call_once(floats_made_, [&] {
      all_.uses_floats = true;
      const auto narrow = [this](Index j, float* column) { leave_out(j, column); };
      floats_ = std::make_unique<FloatGrams>(whole->panels(),
                                             std::vector<float>(ratio_.begin(), ratio_.end()),
                                             narrow, &all_, &all_.float_requests, cache_bytes_);
    });
    return floats_.get();
  }

 private:
  // Of the weights of all rows; 0 of those that are left out.
  std::vector<double> roots() const {
    std::vector<double> out(rows());
    for (Index r = 0; r < rows(); ++r) out[r] = std::sqrt(all_.weight(r));
    for (const Index r : which_) out[r] = 0;
    return out;
  }

  // Column j as it is prepared among all rows becomes that of the rows that stay.
  void leave_out(Index j, float* column) const {
    const double mean = sums_[j] / weight, ratio = ratio_[j];
    for (Index r = 0; r < rows(); ++r) {
      const double root = all_.weights ? std::sqrt(all_.weights[r]) : 1.0;
      column[r] = static_cast<float>((static_cast<double>(column[r]) - mean * root) * ratio);
    }
    for (const Index r : which_) column[r] = 0;
  }

  // What is left of a sum of squares, at least: one digit may be lost.
  static constexpr double kLeast = 0.1;
  static constexpr double kFewEntries = 2e6;

  // What is left without some rows.
  struct Rest {
    Rest(const AllRows& all, const Columns& left_out, const std::vector<Index>& which)
        : prepared(left_out.columns(), all.quadratic.weight, all.quadratic.mean_y,
                   all.quadratic.yy),
          sums(left_out.columns(), 0.0),
          ratio(left_out.columns(), 0.0) {
      if (!all.weights) return;
      for (const Index row : which) roots.push_back(std::sqrt(all.weights[row]));
    }

    // False if it is too little.
    bool subtract(const AllRows& all, const Columns& left_out, const std::vector<Index>& which) {
      const Quadratic& whole = all.quadratic;
      const Index rows = left_out.rows();
      std::vector<double> y(rows);
      double sum_y = all.sum_y;
      for (Index r = 0; r < rows; ++r) {
        const double w = all.weight(which[r]), u = all.y[which[r]] - whole.mean_y;
        prepared.weight -= w;
        prepared.yy -= w * u * u;
        sum_y -= w * u;
        y[r] = u * std::sqrt(w);
      }
      const double weight = prepared.weight;
      if (!(weight >= kLeast * whole.weight && weight > 0)) return false;
      if (all.centred) {
        prepared.yy -= sum_y * sum_y / weight;
        prepared.mean_y += sum_y / weight;
      }
      if (whole.yy == 0) prepared.yy = 0;
      if (!(prepared.yy >= kLeast * whole.yy)) return false;
      if (prepared.yy > 0 && is_rounding(std::sqrt(prepared.yy), prepared.mean_y)) return false;
      constexpr Index kColumns = 2048;
      std::vector<double> share(kColumns), zy(kColumns), sum(kColumns), root(rows, 1.0);
      if (!roots.empty()) root = roots;
      const Standardisation standardisation{whole.mean.data(), whole.inverse_scale.data(), nullptr};
      for (Index first = 0; first < whole.columns(); first += kColumns) {
        const Index count = std::min(kColumns, whole.columns() - first);
        for (Index c = 0; c < count; ++c) {
          share[c] = 1;
          zy[c] = whole.zy[first + c];
          sum[c] = all.sums[first + c];
        }
        left_out.subtract_squares(standardisation, root.data(), y.data(), first, count,
                                  share.data(), zy.data(), sum.data());
        for (Index c = 0; c < count; ++c) {
          if (!set_column(all, first + c, share[c], zy[c], sum[c], sum_y)) return false;
        }
      }
      return true;
    }

    // Of a column what is left of its square, of its product with y and of its sum.
    bool set_column(const AllRows& all, Index j, double share, double zy, double sum,
                    double sum_y) {
      const double inverse = all.quadratic.inverse_scale[j], weight = prepared.weight;
      prepared.mean[j] = all.quadratic.mean[j];
      if (!(inverse > 0)) return true;
      if (all.centred) {
        sums[j] = sum;
        share -= sum * sum / weight;
        zy -= sum * sum_y / weight;
        prepared.mean[j] += sum / (weight * inverse);
      }
      if (!(share >= kLeast)) return false;
      ratio[j] = 1 / std::sqrt(share);
      prepared.inverse_scale[j] = inverse * ratio[j];
      if (is_rounding(1 / prepared.inverse_scale[j], prepared.mean[j])) return false;
      prepared.zy[j] = prepared.yy > 0 ? zy * ratio[j] : 0;
      return true;
    }

    // Whether a norm is so small beside the mean that it may be rounding.
    bool is_rounding(double norm, double mean) const {
      const double rounding = std::numeric_limits<double>::epsilon() * std::fabs(mean);
      return !(norm > 100 * rounding * std::sqrt(prepared.weight));
    }

    Preparation prepared;
    std::vector<double> roots;  // of the weights of the rows left out; none if all are one
    std::vector<double> sums;   // D
    std::vector<double> ratio;  // the norm over all rows over that of the rest; 0 if dead
  };

  RemainingQuadratic(const AllRows& all, const Columns& left_out, std::vector<Index> which,
                     Rest rest, double cache_bytes)
      : Quadratic(std::move(rest.prepared), cache_bytes, all.quadratic.pass_columns()),
        all_(all),
        which_(std::move(which)),
        roots_(std::move(rest.roots)),
        sums_(std::move(rest.sums)),
        ratio_(std::move(rest.ratio)),
        cache_bytes_(cache_bytes),
        z_(left_out,
           {all.quadratic.mean.data(), all.quadratic.inverse_scale.data(),
            roots_.empty() ? nullptr : roots_.data()},
           nullptr) {}

  const AllRows& all_;
  const std::vector<Index> which_;
  const std::vector<double> roots_, sums_, ratio_;
  const double cache_bytes_;
  const PreparedColumns z_;  // rows left out, as they are among all
  mutable std::once_flag floats_made_;
  mutable std::unique_ptr<const FloatGrams> floats_;
};

}  // namespace ellzero
