// Columns of a source: all rows of them, or some. Several of one source are served by one pass.
#pragma once

#include <limits>
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
      : Columns(source->rows(), source->columns()), source_(std::move(source)), all_(true) {}

  // Row r is row which[r] of the source.
  SourceColumns(std::shared_ptr<ColumnSource> source, std::vector<Index> which)
      : Columns(static_cast<Index>(which.size()), source->columns()),
        source_(std::move(source)),
        all_(false),
        which_(std::move(which)) {}

  const std::shared_ptr<ColumnSource>& source() const { return source_; }

  double entries() const override {
    return static_cast<double>(rows_) * static_cast<double>(columns_);
  }
  Index pass_columns() const override { return source_->pass_columns(); }
  void bring(const Index* which, Index count) const override { source_->bring(which, count); }

  void read(Index j, Index row, Index rows, double* out) const override {
    const ColumnSource::Column column = source_->column(j);
    for (Index r = 0; r < rows; ++r) out[r] = (*column)[place(row + r)];
  }
  void read_rows(Index j, const Index* which, Index count, double* out) const override {
    const ColumnSource::Column column = source_->column(j);
    for (Index r = 0; r < count; ++r) out[r] = (*column)[place(which[r])];
  }

  void products(const Standardisation& standardisation, const Operand& v, double* const* out,
                const Context& context) const override {
    products_together({{this, standardisation, &v, out}}, context);
  }

  bool products_together(const std::vector<Job>& jobs, const Context& context) const override {
    std::vector<const SourceColumns*> those;
    for (const Job& job : jobs) {
      those.push_back(dynamic_cast<const SourceColumns*>(job.columns));
      if (!those.back() || those.back()->source_ != source_) return false;
    }
    source_->pass(
        [&](Index begin, Index end, const ColumnBlock& block) {
          for (std::size_t i = 0; i < jobs.size(); ++i) {
            those[i]->multiply(block, begin, end, jobs[i], context);
          }
        },
        context);
    return true;
  }

  void take_moments(const Response& response, const TakeMoments& take,
                    const Context& context) const override {
    take_moments_together(
        {this}, {&response}, [&](Index, Index j, const ScaledMoments& found) { take(j, found); },
        context);
  }

  // Hands the moments of several, of the same source and each against its own response, to
  // take(which of them, j, moments), in one pass.
  template <class Take>
  static void take_moments_together(const std::vector<const SourceColumns*>& those,
                                    const std::vector<const Response*>& responses, Take&& take,
                                    const Context& context) {
    ColumnSource& source = *those[0]->source_;
    source.pass(
        [&](Index begin, Index end, const ColumnBlock& block) {
          for (std::size_t i = 0; i < those.size(); ++i) {
            std::unique_ptr<Columns> copy;
            const Columns& x = those[i]->rows_of(block, copy, context);
            const auto hand_on = [&](Index j, const ScaledMoments& found) {
              // No spread at all is what is left of a column without one finite number, too.
              const bool safe = exponent_is_safe(found.exponent) && found.moments.xx > 0;
              const double sum = safe ? found.moments.xx : std::numeric_limits<double>::infinity();
              source.check(sum, begin + j, begin, end, x);
              take(static_cast<Index>(i), begin + j, found);
            };
            x.take_moments(*responses[i], hand_on, context);
          }
        },
        context);
  }

 private:
  Index place(Index row) const { return all_ ? row : which_[row]; }

  // These rows of a block; `copy` is where they are kept if they are not all.
  const Columns& rows_of(const ColumnBlock& block, std::unique_ptr<Columns>& copy,
                         const Context& context) const {
    if (all_) return block.all();
    copy = block.rows(which_, context);
    return *copy;
  }

  // out[b](begin .. end) = Z'V of these columns
  void multiply(const ColumnBlock& block, Index begin, Index end, const Job& job,
                const Context& context) const {
    std::unique_ptr<Columns> copy;
    const Columns& x = rows_of(block, copy, context);
    const Standardisation own{job.standardisation.mean + begin,
                              job.standardisation.inverse_scale + begin,
                              job.standardisation.root_weight};
    for (Index first = 0; first < job.v->width(); first += kBlockColumns) {
      const Index count = std::min(kBlockColumns, job.v->width() - first);
      std::vector<double*> target;
      for (Index b = 0; b < count; ++b) target.push_back(job.out[first + b] + begin);
      x.products(own, SomeVectors(*job.v, first, count), target.data(), context);
    }
    for (Index j = begin; j < end; ++j) source_->check(job.out[0][j], j, begin, end, x);
  }

  const std::shared_ptr<ColumnSource> source_;
  const bool all_;
  const std::vector<Index> which_;  // unless all
};

}  // namespace ellzero
