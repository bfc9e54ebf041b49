// A sparse X in compressed columns, centred implicitly and never made dense. Row indices are
// sorted.
#pragma once

#include "data/row_design.hpp"

namespace ellzero {

template <class T, class I>
class SparseDesign final : public RowDesign {
 public:
  SparseDesign(const T* values, const I* row_of, const I* begins, Index rows, Index columns,
               const double* y, const double* weights, bool centred, const Context& context)
      : RowDesign(rows, columns, y, weights, centred),
        values_(values),
        row_of_(row_of),
        begins_(begins) {
    for (Index r = 0; r < rows; ++r) {
      response_total_ += weighted_response(r);
      counted_rows_ += !weights || weights[r] > 0;
    }
    parallel_ranges(columns, worth_sharing(1, context), [&](Index begin, Index end, auto poll) {
      for (Index j = begin; j < end; ++j) {
        if (j % 1024 == 0 && poll()) return;
        prepare(j);
      }
    });
  }

  // G_jb = sum over all rows of z_j v_b. The rows where x_j is zero contribute -mean_j times what
  // v_b sums to there, which is minus its sum over the others: v_b is centred.
  void gram_columns(const Index* which, Index count, double* const* out,
                    const Context& context) const override {
    const Index width = round_up(count, 4);
    std::vector<double> v(rows_ * width, 0.0), column(rows_), left_over(width, 0.0);
    for (Index b = 0; b < count; ++b) {
      context.check();
      read_column(which[b], 0, rows_, column.data());
      for (Index r = 0; r < rows_; ++r) {
        const double root = weights_ ? root_weight_[r] : 1.0;
        v[r * width + b] = column[r] * root;
        left_over[b] += column[r] * root;
      }
    }
    parallel_ranges(
        columns(), worth_sharing(count, context), [&](Index begin, Index end, auto poll) {
          for (Index j = begin; j < end; ++j) {
            if (j % 256 == 0 && poll()) return;
            const double m = mean[j];
            double deviation[kBlockColumns] = {}, sum[kBlockColumns] = {};
            for (Index e = begins_[j]; e < begins_[j + 1]; ++e) {
              const double x = static_cast<double>(values_[e]) - m;
              const double* row = v.data() + static_cast<Index>(row_of_[e]) * width;
              for (Index b = 0; b < width; ++b) {
                deviation[b] += x * row[b];
                sum[b] += row[b];
              }
            }
            for (Index b = 0; b < count; ++b) {
              out[b][j] = (deviation[b] - m * (left_over[b] - sum[b])) * inverse_scale[j];
            }
          }
        });
  }

  void raw_values(Index j, const Index* rows, Index count, double* out) const override {
    const I *first = row_of_ + begins_[j], *last = row_of_ + begins_[j + 1];
    for (Index r = 0; r < count; ++r) {
      const I* at = std::lower_bound(first, last, static_cast<I>(rows[r]));
      const bool present = at != last && static_cast<Index>(*at) == rows[r];
      out[r] = present ? static_cast<double>(values_[at - row_of_]) : 0.0;
    }
  }

  double entries() const override { return static_cast<double>(begins_[columns()]); }

 protected:
  void read_column(Index j, Index row, Index rows, double* out) const override {
    const double m = mean[j], f = inverse_scale[j];
    std::fill(out, out + rows, (0 - m) * f);
    const I* first = row_of_ + begins_[j];
    const I* last = row_of_ + begins_[j + 1];
    for (const I* at = std::lower_bound(first, last, static_cast<I>(row));
         at != last && static_cast<Index>(*at) < row + rows; ++at) {
      out[static_cast<Index>(*at) - row] = (static_cast<double>(values_[at - row_of_]) - m) * f;
    }
    if (const double* root_weight = root_weight_at(row)) {
      for (Index r = 0; r < rows; ++r) out[r] *= root_weight[r];
    }
  }

 private:
  Context worth_sharing(Index width, Context context) const {
    if (entries() * static_cast<double>(4 + width) < 4e6) context.threads = 1;
    return context;
  }

  double weighted_response(Index r) const {
    return response_[r] * (weights_ ? root_weight_[r] : 1.0);
  }

  void prepare(Index j) {
    const Index begin = begins_[j], end = begins_[j + 1];
    double largest = 0;
    for (Index e = begin; e < end; ++e) {
      if (weights_ && weights_[row_of_[e]] == 0) continue;
      largest = std::max(largest, std::fabs(static_cast<double>(values_[e])));
    }
    if (largest == 0 || std::ilogb(largest) < -1000) return;  // dead, as resize() left it
    const int exponent = std::ilogb(largest);
    if (exponent > 1000) throw ColumnOverflow(j);  // deviations from the mean might overflow
    const double factor = std::ldexp(1.0, -exponent);
    const auto value = [&](Index e) { return static_cast<double>(values_[e]) * factor; };
    const auto weight_at = [&](Index r) { return weights_ ? weights_[r] : 1.0; };

    Moments m;
    m.weight = weight;
    double present = 0, sum = 0;
    Index counted = 0;
    for (Index e = begin; e < end; ++e) {
      present += weight_at(row_of_[e]);
      counted += weight_at(row_of_[e]) > 0;
      sum += weight_at(row_of_[e]) * value(e);
    }
    // The weight of the rows where x_j is zero; the difference alone would leave rounding where
    // there are none, and a large mean would blow it up.
    const double absent = counted == counted_rows_ ? 0 : std::max(0.0, weight - present);
    if (centred_) {
      m.mean_x = sum / weight;
      double rest = absent * (0 - m.mean_x);
      for (Index e = begin; e < end; ++e) rest += weight_at(row_of_[e]) * (value(e) - m.mean_x);
      m.mean_x += rest / weight;
    }
    m.xx = absent * m.mean_x * m.mean_x;
    double response_present = 0;
    for (Index e = begin; e < end; ++e) {
      const Index r = row_of_[e];
      const double x = value(e) - m.mean_x;
      const double y = weighted_response(r);
      m.xx += weight_at(r) * x * x;
      m.xy += x * y;
      response_present += y;
    }
    // The rows where x_j is zero. The sum of y is rounding, not zero, and counts when the mean is
    // large.
    m.xy -= m.mean_x * (response_total_ - response_present);
    set_column(j, m, exponent);
  }

  const T* values_;
  const I* row_of_;
  const I* begins_;
  double response_total_ = 0;
  Index counted_rows_ = 0;  // of positive weight
};

}  // namespace ellzero
