// Genotypes, the number of copies of an allele, at two bits each, as a .bed file has them: in
// memory or mapped, never made larger but a tile at a time. What is not known of a column has one
// value. Products have the bits of those of the same numbers in float64.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/genotype_kernels.hpp"
#include "data/tiled_products.hpp"

namespace ellzero {

class GenotypeColumns final : public Columns {
 public:
  // Columns are `stride` bytes apart; fill[j] is what is missing in column j.
  GenotypeColumns(const Byte* bytes, Index stride, Index rows, Index columns, const double* fill)
      : Columns(rows, columns), bytes_(bytes), stride_(stride), fill_(fill) {}

  double entries() const override {
    return static_cast<double>(rows_) * static_cast<double>(columns_);
  }

  void read(Index j, Index row, Index rows, double* out) const override {
    for (Index r = 0; r < rows; ++r) out[r] = value(j, row + r);
  }

  void read_rows(Index j, const Index* which, Index count, double* out) const override {
    for (Index r = 0; r < count; ++r) out[r] = value(j, which[r]);
  }

  void products(const Standardisation& standardisation, const Operand& v, double* const* out,
                const Context& context) const override {
    for (Index b = 0; b < v.width(); ++b) std::fill(out[b], out[b] + columns_, 0.0);
    const auto fill = [&](Index row, Index rows, Index first, Index columns, Tile& tile) {
      unpack_genotypes(at(row, first), stride_, rows, columns, fill_ + first,
                       standardisation.mean + first, standardisation.root_weight_at(row), tile);
    };
    add_tiled_products(
        rows_, columns_, kStretches, v, fill,
        [&](Index row, Index first) { return upcoming(row, first); }, out,
        worth_sharing(v.width(), context));
    const double* inverse_scale = standardisation.inverse_scale;
    for (Index b = 0; b < v.width(); ++b) {
      for (Index i = 0; i < columns_; ++i) out[b][i] *= inverse_scale[i];
    }
  }

  void take_moments(const Response& response, const TakeMoments& take,
                    const Context& context) const override {
    if (response.root_weights()) {
      take_weighted_moments(response, take, context);
    } else {
      take_counted_moments(response, take, context);
    }
  }

 private:
  // Tiles one below the other: a column's bytes lie together.
  static constexpr Index kStretches = 8;
  static_assert(kTileRows % kGenotypesPerByte == 0, "a tile begins with a byte");

  // The prepared response as the V of a product.
  class ResponseOperand final : public Operand {
   public:
    explicit ResponseOperand(const Response& response) : Operand(1), response_(response) {}
    void read(Index, Index row, Index rows, double* out) const override {
      std::copy_n(response_.values() + row, rows, out);
    }

   private:
    const Response& response_;
  };

  const Byte* at(Index row, Index column) const {
    return bytes_ + column * stride_ + row / kGenotypesPerByte;
  }
  double value(Index j, Index row) const {
    const unsigned code = genotype_code(at(0, j), row);
    return code == kMissing ? fill_[j] : kCopies[code];
  }

  Upcoming upcoming(Index row, Index first) const {
    if (row >= rows_ || first >= columns_) return {};
    return {reinterpret_cast<const char*>(at(row, first)),
            genotype_bytes(std::min(kTileRows, rows_ - row)), stride_,
            std::min(kTileColumns, columns_ - first)};
  }

  // Means and squares are those of how often each number occurs: without rounding, but for what is
  // missing.
  void take_counted_moments(const Response& response, const TakeMoments& take,
                            const Context& context) const {
    std::vector<Moments> found(columns_);
    std::vector<double> mean(columns_), ones(columns_, 1.0), xy(columns_);
    parallel_ranges(columns_, worth_sharing(1, context), [&](Index begin, Index end, auto poll) {
      for (Index j = begin; j < end; ++j) {
        if (j % 1024 == 0 && poll()) return;
        found[j] = counted_moments(j, response);
        mean[j] = found[j].mean_x;
      }
    });
    double* out[1] = {xy.data()};
    products({mean.data(), ones.data(), nullptr}, ResponseOperand(response), out, context);
    for (Index j = 0; j < columns_; ++j) {
      found[j].xy = xy[j];
      take(j, {found[j], 0});
    }
  }

  Moments counted_moments(Index j, const Response& response) const {
    const GenotypeCounts counts = count_genotypes(at(0, j), rows_);
    const double two = static_cast<double>(counts.two), one = static_cast<double>(counts.one);
    const double none = static_cast<double>(counts.none);
    const double missing = static_cast<double>(counts.missing);
    Moments out;
    out.weight = response.weight();
    out.mean_y = response.mean();
    if (response.centred()) out.mean_x = (2 * two + one + fill_[j] * missing) / out.weight;
    const auto square = [&](double x) { return (x - out.mean_x) * (x - out.mean_x); };
    out.xx = two * square(2) + one * square(1) + none * square(0) + missing * square(fill_[j]);
    return out;
  }

  void take_weighted_moments(const Response& response, const TakeMoments& take,
                             const Context& context) const {
    const std::vector<double> shift(kTileColumns, 0.0);
    const auto work = [&](Index begin, Index end, auto poll) {
      const auto tile = make_tile();
      std::vector<Moments> total(kTileColumns);
      for (Index tile_index = begin; tile_index < end; ++tile_index) {
        if (poll()) return;
        const Index first = tile_index * kTileColumns;
        const Index count = std::min(kTileColumns, columns_ - first);
        std::fill(total.begin(), total.end(), Moments());
        Index row = 0;
        for (const Stretch& over : response.stretches()) {
          unpack_genotypes(at(row, first), stride_, over.rows, count, fill_ + first, shift.data(),
                           nullptr, *tile);
          for (Index j = 0; j < count; ++j) total[j].merge(moments(tile->column(j), over));
          row += over.rows;
        }
        for (Index j = 0; j < count; ++j) {
          take(first + j, safe_moments(first + j, total[j], response));
        }
      }
    };
    parallel_ranges(tile_count(columns_), worth_sharing(1, context), work);
  }

  const Byte* const bytes_;
  const Index stride_;
  const double* const fill_;
};

}  // namespace ellzero
