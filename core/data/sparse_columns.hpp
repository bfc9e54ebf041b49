// A sparse X in compressed columns, centred implicitly and never made dense. Row indices are
// sorted.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <vector>

#include "data/sparse_entries.hpp"

namespace ellzero {

template <class T, class I>
class SparseColumns final : public Columns, public SparseEntries {
 public:
  SparseColumns(const T* values, const I* row_of, const I* begins, Index rows, Index columns)
      : Columns(rows, columns), values_(values), row_of_(row_of), begins_(begins) {}

  double entries() const override { return static_cast<double>(begins_[columns_]); }

  void read(Index j, Index row, Index rows, double* out) const override {
    std::fill(out, out + rows, 0.0);
    const I* first = row_of_ + begins_[j];
    const I* last = row_of_ + begins_[j + 1];
    for (const I* at = std::lower_bound(first, last, static_cast<I>(row));
         at != last && static_cast<Index>(*at) < row + rows; ++at) {
      out[static_cast<Index>(*at) - row] = static_cast<double>(values_[at - row_of_]);
    }
  }

  void read_rows(Index j, const Index* which, Index count, double* out) const override {
    const I *first = row_of_ + begins_[j], *last = row_of_ + begins_[j + 1];
    for (Index r = 0; r < count; ++r) {
      const I* at = std::lower_bound(first, last, static_cast<I>(which[r]));
      const bool present = at != last && static_cast<Index>(*at) == which[r];
      out[r] = present ? static_cast<double>(values_[at - row_of_]) : 0.0;
    }
  }

  // With u = sqrt(w) v, entry (j, b) is f_j times
  //
  //   sum over all rows of (x_j - m_j) u_b
  //     = sum where x_j is not zero of (x_j - m_j) u_b - m_j (sum of u_b over the other rows)
  void products(const Standardisation& standardisation, const Operand& v, double* const* out,
                const Context& context) const override {
    const Index count = v.width(), width = round_up(count, 4);
    std::vector<double> u(rows_ * width, 0.0), total(width, 0.0);
    double part[kTileRows];
    for (Index b = 0; b < count; ++b) {
      context.check();
      for (Index row = 0; row < rows_; row += kTileRows) {
        const Index rows = std::min(kTileRows, rows_ - row);
        const double* root_weight = standardisation.root_weight_at(row);
        v.read(b, row, rows, part);
        for (Index r = 0; r < rows; ++r) {
          const double weighted = part[r] * (root_weight ? root_weight[r] : 1.0);
          u[(row + r) * width + b] = weighted;
          total[b] += weighted;
        }
      }
    }
    const auto work = [&](Index begin, Index end, auto poll) {
      for (Index j = begin; j < end; ++j) {
        if (j % 256 == 0 && poll()) return;
        const double m = standardisation.mean[j];
        double deviation[kBlockColumns] = {}, sum[kBlockColumns] = {};
        for (Index e = begins_[j]; e < begins_[j + 1]; ++e) {
          const double x = static_cast<double>(values_[e]) - m;
          const double* row = u.data() + static_cast<Index>(row_of_[e]) * width;
          for (Index b = 0; b < width; ++b) {
            deviation[b] += x * row[b];
            sum[b] += row[b];
          }
        }
        for (Index b = 0; b < count; ++b) {
          out[b][j] = (deviation[b] - m * (total[b] - sum[b])) * standardisation.inverse_scale[j];
        }
      }
    };
    parallel_ranges(columns_, worth_sharing(count, context), work);
  }

  const SparseEntries* sparse_entries() const override { return this; }

  Index count(Index j) const override { return begins_[j + 1] - begins_[j]; }

  void read_column(Index j, std::vector<Place>& out) const override {
    out.clear();
    for (Index e = begins_[j]; e < begins_[j + 1]; ++e) {
      out.push_back({static_cast<double>(values_[e]), row_of_[e]});
    }
  }

  void add_column(Index j, double factor, double* out) const override {
    for (Index e = begins_[j]; e < begins_[j + 1]; ++e) {
      out[row_of_[e]] += factor * static_cast<double>(values_[e]);
    }
  }

  double column_sum(Index j, const double* v) const override {
    double total = 0;
    for (Index e = begins_[j]; e < begins_[j + 1]; ++e) {
      total += static_cast<double>(values_[e]) * v[row_of_[e]];
    }
    return total;
  }

  void column_sums(const double* v, Sign sign, double* out, const Context& context) const override {
    const auto sum = [&](auto value) {
      parallel_ranges(columns_, worth_sharing(1, context), [&](Index begin, Index end, auto poll) {
        for (Index j = begin; j < end; ++j) {
          if (j % 4096 == 0 && poll()) return;
          double total = 0;
          for (Index e = begins_[j]; e < begins_[j + 1]; ++e) total += value(e) * v[row_of_[e]];
          out[j] = total;
        }
      });
    };
    if (sign == Sign::kept) {
      sum([&](Index e) { return static_cast<double>(values_[e]); });
    } else {
      sum([&](Index e) { return std::fabs(static_cast<double>(values_[e])); });
    }
  }

  Index frequent() const override {
    constexpr Index kFewest = 256, kShare = 64;
    return std::min(columns_, std::max(kFewest, columns_ / kShare));
  }
  const std::vector<std::int32_t>& ranks() const override {
    std::call_once(sorted_, [this] { sort_by_row(); });
    return ranks_;
  }
  Row row(Index r) const override {
    ranks();
    const Entry *begin = by_row_.get() + row_begins_[r], *end = by_row_.get() + row_begins_[r + 1];
    return {{begin, by_row_.get() + row_middles_[r]}, {by_row_.get() + row_middles_[r], end}};
  }

  void take_moments(const Response& response, const TakeMoments& take,
                    const Context& context) const override {
    Totals totals;
    for (Index r = 0; r < rows_; ++r) {
      totals.response += weighted_response(response, r);
      totals.rows += response.counts(r);
    }
    parallel_ranges(columns_, worth_sharing(1, context), [&](Index begin, Index end, auto poll) {
      for (Index j = begin; j < end; ++j) {
        if (j % 1024 == 0 && poll()) return;
        take(j, moments_of(j, response, totals));
      }
    });
  }

 private:
  // Over all rows.
  struct Totals {
    double response = 0;  // weighted
    Index rows = 0;       // of positive weight
  };

  static double weighted_response(const Response& response, Index r) {
    return response.values()[r] * response.root_weight(r);
  }

  ScaledMoments moments_of(Index j, const Response& response, const Totals& totals) const {
    const Index begin = begins_[j], end = begins_[j + 1];
    double largest = 0;
    for (Index e = begin; e < end; ++e) {
      if (!response.counts(row_of_[e])) continue;
      largest = std::max(largest, std::fabs(static_cast<double>(values_[e])));
    }
    ScaledMoments out;
    if (largest == 0) return out;
    out.exponent = std::ilogb(largest);
    if (!exponent_is_safe(out.exponent)) return out;
    const double factor = std::ldexp(1.0, -out.exponent);
    const auto value = [&](Index e) { return static_cast<double>(values_[e]) * factor; };
    const auto weight_at = [&](Index e) { return response.weight(row_of_[e]); };

    Moments& m = out.moments;
    m.weight = response.weight();
    double present = 0, sum = 0;
    Index counted = 0;
    for (Index e = begin; e < end; ++e) {
      present += weight_at(e);
      counted += weight_at(e) > 0;
      sum += weight_at(e) * value(e);
    }
    // The weight of the rows where x_j is zero; the difference alone would leave rounding where
    // there are none, and a large mean would blow it up.
    const double absent = counted == totals.rows ? 0 : std::max(0.0, m.weight - present);
    if (response.centred()) {
      m.mean_x = sum / m.weight;
      double rest = absent * (0 - m.mean_x);
      for (Index e = begin; e < end; ++e) rest += weight_at(e) * (value(e) - m.mean_x);
      m.mean_x += rest / m.weight;
    }
    m.xx = absent * m.mean_x * m.mean_x;
    double response_present = 0;
    for (Index e = begin; e < end; ++e) {
      const double x = value(e) - m.mean_x;
      const double y = weighted_response(response, row_of_[e]);
      m.xx += weight_at(e) * x * x;
      m.xy += x * y;
      response_present += y;
    }
    // The rows where x_j is zero. The sum of y is rounding, not zero, and counts when the mean is
    // large.
    m.xy -= m.mean_x * (totals.response - response_present);
    return out;
  }

  // By falling numbers of entries, and of equals by column.
  void rank_columns() const {
    Index most = 0;
    for (Index j = 0; j < columns_; ++j) most = std::max(most, count(j));
    std::vector<std::int32_t> next(most + 2, 0);
    for (Index j = 0; j < columns_; ++j) ++next[most - count(j) + 1];
    for (Index c = 0; c <= most; ++c) next[c + 1] += next[c];
    ranks_.resize(columns_);
    for (Index j = 0; j < columns_; ++j) ranks_[j] = next[most - count(j)]++;
  }

  // First into stretches of rows, few enough to be written side by side, then each of these, small
  // enough to stay in a cache.
  void sort_by_row() const {
    constexpr Index kStretches = 512;
    const Index entries = begins_[columns_];
    rank_columns();
    int shift = 0;
    while ((rows_ >> shift) >= kStretches) ++shift;
    row_begins_.assign(rows_ + 1, 0);
    row_middles_.assign(rows_, 0);  // at first how many frequent entries there are
    for (Index j = 0; j < columns_; ++j) {
      const Index frequent_one = ranks_[j] < frequent();
      for (Index e = begins_[j]; e < begins_[j + 1]; ++e) {
        ++row_begins_[row_of_[e] + 1];
        row_middles_[row_of_[e]] += frequent_one;
      }
    }
    for (Index r = 0; r < rows_; ++r) {
      row_begins_[r + 1] += row_begins_[r];
      row_middles_[r] += row_begins_[r];
    }
    by_row_.reset(new Entry[entries]);  // not set to anything
    std::vector<Index> begins;
    for (Index r = 0; r < rows_; r += Index{1} << shift) begins.push_back(row_begins_[r]);
    std::vector<Index> filled = begins;
    begins.push_back(entries);
    for (Index j = 0; j < columns_; ++j) {
      for (Index e = begins_[j]; e < begins_[j + 1]; ++e) {
        const std::int32_t r = static_cast<std::int32_t>(row_of_[e]);
        by_row_[filled[r >> shift]++] = {static_cast<double>(values_[e]), ranks_[j], r};
      }
    }
    std::vector<Index> next = row_begins_, next_other = row_middles_;
    std::vector<Entry> stretch;
    for (std::size_t b = 0; b < filled.size(); ++b) {
      stretch.assign(by_row_.get() + begins[b], by_row_.get() + begins[b + 1]);
      for (const Entry& entry : stretch) {
        by_row_[(entry.rank < frequent() ? next : next_other)[entry.row]++] = entry;
      }
    }
  }

  const T* const values_;
  const I* const row_of_;
  const I* const begins_;
  mutable std::once_flag sorted_;
  mutable std::vector<Index> row_begins_, row_middles_;
  mutable std::unique_ptr<Entry[]> by_row_;
  mutable std::vector<std::int32_t> ranks_;
};

}  // namespace ellzero
