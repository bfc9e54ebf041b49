// Columns of a source: all rows of them, or some.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "data/column_source.hpp"

namespace ellzero {

// Some of the vectors of an operand.
class SomeVectors final : public Operand {
 public:
  SomeVectors(const Operand& v, Index first, Index count) : Operand(count), v_(v), first_(first) {}

  void read(Index b, Index row, Index rows, double* out) const override {
    v_.read(first_ + b, row, rows, out);
  }

 private:
  const Operand& v_;
  const Index first_;
};

class SourceColumns final : public Columns {
 public:
  explicit SourceColumns(std::shared_ptr<ColumnSource> source)
      : Columns(source->rows(), source->columns()), source_(std::move(source)) {}

  double entries() const override {
    return static_cast<double>(rows_) * static_cast<double>(columns_);
  }
  Index pass_columns() const override { return source_->pass_columns(); }
  void bring(const Index* which, Index count) const override { source_->bring(which, count); }

  void read(Index j, Index row, Index rows, double* out) const override {
    std::copy_n(source_->column(j)->data() + row, rows, out);
  }
  void read_rows(Index j, const Index* which, Index count, double* out) const override {
    const ColumnSource::Column column = source_->column(j);
    for (Index r = 0; r < count; ++r) out[r] = (*column)[which[r]];
  }

  void products(const Standardisation& standardisation, const Operand& v, double* const* out,
                const Context& context) const override {
    source_->pass(
        [&](Index begin, Index end, const ColumnBlock& block) {
          multiply(block.all(), begin, end, standardisation, v, out, context);
        },
        context);
  }

  void take_moments(const Response& response, const TakeMoments& take,
                    const Context& context) const override {
    source_->pass(
        [&](Index begin, Index end, const ColumnBlock& block) {
          const Columns& x = block.all();
          x.take_moments(
              response,
              [&](Index j, const ScaledMoments& found) {
                source_->check(found.moments.xx, begin + j, begin, end, x);
                take(begin + j, found);
              },
              context);
        },
        context);
  }

 private:
  // out[b](begin .. end) = Z'V of these columns
  void multiply(const Columns& x, Index begin, Index end, const Standardisation& standardisation,
                const Operand& v, double* const* out, const Context& context) const {
    const Standardisation own{standardisation.mean + begin, standardisation.inverse_scale + begin,
                              standardisation.root_weight};
    for (Index first = 0; first < v.width(); first += kBlockColumns) {
      const Index count = std::min(kBlockColumns, v.width() - first);
      std::vector<double*> target;
      for (Index b = 0; b < count; ++b) target.push_back(out[first + b] + begin);
      x.products(own, SomeVectors(v, first, count), target.data(), context);
    }
    for (Index j = begin; j < end; ++j) source_->check(out[0][j], j, begin, end, x);
  }

  const std::shared_ptr<ColumnSource> source_;
};

}  // namespace ellzero
