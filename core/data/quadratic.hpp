// Least squares as a quadratic form: with Z the columns as preparation left them,
//
//   1/2 |y - Z beta|^2 = 1/2 y'y - b'beta + 1/2 beta'G beta,   G = Z'Z,  b = Z'y.
//
// A quadratic knows b and y'y, makes columns of G, and owns the one cache of those. From here on
// nothing knows of weights, of centring or of scaling, or whether there are rows.
//
// A dead column has G_jj = 0 and b_j = 0; so has every column if y is constant, with y'y = 0.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "data/column_file.hpp"
#include "data/gram_cache.hpp"
#include "data/preparation.hpp"

namespace ellzero {

class FloatGrams;
class PreparedColumns;

class Quadratic {
 public:
  virtual ~Quadratic() = default;
  Quadratic(const Quadratic&) = delete;
  Quadratic& operator=(const Quadratic&) = delete;

  Index columns() const { return static_cast<Index>(inverse_scale.size()); }

  // out[b] = G(:, which[b]), for at most pass_columns() columns. The bits of a column depend on
  // nothing but the quadratic.
  virtual void gram_columns(const Index* which, Index count, double* const* out,
                            const Context& context) const = 0;

  // out[a * count + b] = G(which[a], which[b]), for a few columns.
  virtual void cross_products(const Index* which, Index count, double* out) const = 0;

  // Whether column j of G needs no pass, though it is not in the cache.
  virtual bool at_hand(Index /*j*/) const { return false; }

  // All of G where it is made at once: columns that stay where they are, `stride` apart.
  struct Matrix {
    const double* values = nullptr;
    Index stride = 0;
  };
  // None where columns are made one by one; that is always so of a quadratic, or never.
  virtual Matrix gram_matrix(const Context& /*context*/) const { return {}; }

  // Columns are kept in a file too, and read from there; false if this quadratic has no use for it.
  virtual bool keep_in(std::shared_ptr<ColumnFile> /*file*/) { return false; }
  // What tells these data from others.
  std::uint64_t mark() const {
    DataMark mark;
    for (const auto* values : {&mean, &inverse_scale, &zy}) {
      mark.add(values->data(), values->size());
    }
    const double numbers[] = {yy, mean_y, weight};
    mark.add(numbers, 3);
    return mark.value();
  }

  // How many are worth making at once.
  Index pass_columns() const { return cache_.pass_columns(); }

  // Numbers that are read to make Gram columns.
  virtual double entries() const = 0;

  // With r = y - Z_S beta: fills products = Z_S'r and returns r'r. NaN where there are no rows to
  // take residuals of.
  virtual double residual_products(const std::vector<Index>& support, const double* beta,
                                   double* products, const Context& context) const = 0;
  virtual bool has_residuals() const { return true; }

  // Where there are rows, how many, and column j of Z, row by row; rows that count for nothing may
  // be among them, as zeros.
  virtual Index rows() const { return 0; }
  virtual void read_column(Index /*j*/, double* /*out*/) const {}

  // Gram columns in float32, made of a copy of Z, where that can be had; else null.
  virtual bool has_float_grams() const { return false; }
  virtual const FloatGrams* float_grams(const Context& /*context*/) const { return nullptr; }

  // Z and y themselves, where they are at hand; else null.
  virtual const PreparedColumns* prepared_columns() const { return nullptr; }

  // All who use this quadratic share its cache; what it holds changes no answer.
  GramCache& cache() const { return cache_; }

  const std::vector<double> mean;           // of the columns, in the user's units
  const std::vector<double> inverse_scale;  // a coefficient of Z times this is one of X; 0 if dead
  const std::vector<double> zy;             // b
  const double yy;
  const double mean_y;
  const double weight;  // n, or the sum of the weights

 protected:
  // `cache_bytes` is what Gram columns may take; those in use are kept even beyond it.
  Quadratic(Preparation prepared, double cache_bytes, Index pass_columns = kBlockColumns)
      : mean(std::move(prepared.mean)),
        inverse_scale(std::move(prepared.inverse_scale)),
        zy(std::move(prepared.zy)),
        yy(prepared.yy),
        mean_y(prepared.mean_y),
        weight(prepared.weight),
        cache_(columns(), pass_columns, cache_bytes,
               [this](const Index* which, Index count, double* const* out, const Context& context) {
                 gram_columns(which, count, out, context);
               }) {}

 private:
  mutable GramCache cache_;
};

}  // namespace ellzero
