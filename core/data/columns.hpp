// The columns of X as they lie, wherever and however that is. They know nothing of y, of weights,
// of centring or of scaling: these are arguments. With root weights sqrt(w), means m and inverse
// scales f,
//
//   Z = diag(sqrt(w)) (X - 1 m') diag(f)
//
// and the product Z'V, for any V that can be read a stretch of rows at a time, is what a pass over
// X makes. A new kind of columns is a class that implements the five functions below.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "base/float_kernels.hpp"
#include "base/parallel.hpp"
#include "data/scaled_moments.hpp"

namespace ellzero {

// What makes Z of X.
struct Standardisation {
  const double* mean;           // per column
  const double* inverse_scale;  // per column
  const double* root_weight;    // per row; null: all ones

  const double* root_weight_at(Index row) const {
    return root_weight ? root_weight + row : nullptr;
  }
};

// The V of a product: a few vectors, at most pass_columns() of the X they are multiplied with, of
// one entry per row. They need not be in memory; several threads read them at once.
class Operand {
 public:
  virtual ~Operand() = default;
  Index width() const { return width_; }
  // out[r] = V(row + r, b)
  virtual void read(Index b, Index row, Index rows, double* out) const = 0;

 protected:
  explicit Operand(Index width) : width_(width) {}

 private:
  Index width_;
};

class SparseEntries;

class Columns {
 public:
  virtual ~Columns() = default;
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;

  Index rows() const { return rows_; }
  Index columns() const { return columns_; }

  // Numbers that a pass over X reads.
  virtual double entries() const = 0;

  // How many vectors a pass takes at most: few where X is in memory, many where passes are dear.
  virtual Index pass_columns() const { return kBlockColumns; }

  // These columns are about to be read: where they are far away, they come all at once.
  virtual void bring(const Index* /*which*/, Index /*count*/) const {}

  // out[r] = X(row + r, j)
  virtual void read(Index j, Index row, Index rows, double* out) const = 0;
  // out[c * rows + r] = X(row + r, first + c), of several columns
  virtual void read_several(Index first, Index count, Index row, Index rows, double* out) const {
    for (Index c = 0; c < count; ++c) read(first + c, row, rows, out + c * rows);
  }
  // out[c * rows + r] = X(row + r, which[c])
  virtual void read_some(const Index* which, Index count, Index row, Index rows,
                         double* out) const {
    for (Index c = 0; c < count; ++c) read(which[c], row, rows, out + c * rows);
  }
  // out[r] = X(which[r], j)
  virtual void read_rows(Index j, const Index* which, Index count, double* out) const = 0;

  // Whether all numbers are at hand, so that a copy of them in float32 is a help.
  virtual bool is_dense() const { return false; }
  // Panels of float_kernels.hpp: panel(r, c) = Z(r, first + c)
  virtual void fill_panel(const Standardisation& standardisation, Index first, Index count,
                          float* panel) const {
    constexpr Index kRows = 128;
    std::vector<double> part(kRows);
    for (Index row = 0; row < rows_; row += kRows) {
      const Index rows = std::min(kRows, rows_ - row);
      const double* root_weight = standardisation.root_weight_at(row);
      float* target = panel + row * kFloatPanel;
      for (Index c = 0; c < kFloatPanel; ++c) {
        if (c >= count) {
          for (Index r = 0; r < rows; ++r) target[r * kFloatPanel + c] = 0;
          continue;
        }
        const Index j = first + c;
        const double m = standardisation.mean[j], f = standardisation.inverse_scale[j];
        read(j, row, rows, part.data());
        for (Index r = 0; r < rows; ++r) {
          const double z = (part[r] - m) * f * (root_weight ? root_weight[r] : 1.0);
          target[r * kFloatPanel + c] = static_cast<float>(z);
        }
      }
    }
  }

  // Takes sums over all rows of z^2, of z y_r and of z root_r from three numbers for each of the
  // columns first .. first + count, of Z and of the roots of the weights.
  virtual void subtract_squares(const Standardisation& standardisation, const double* root,
                                const double* y, Index first, Index count, double* squares,
                                double* along, double* sums) const {
    // Row by row, as they are subtracted where they lie so: the bits are the same.
    std::vector<double> column(rows_), x(count * rows_);
    std::vector<const double*> rows(rows_);
    for (Index c = 0; c < count; ++c) {
      read(first + c, 0, rows_, column.data());
      for (Index r = 0; r < rows_; ++r) x[r * count + c] = column[r];
    }
    for (Index r = 0; r < rows_; ++r) rows[r] = x.data() + r * count;
    subtract_rows(rows.data(), rows_, count, standardisation.mean + first,
                  standardisation.inverse_scale + first, root, y, squares, along, sums);
  }

  // out[b] = Z'V(:, b). The bits of an entry depend on its column of X and its column of V alone.
  virtual void products(const Standardisation& standardisation, const Operand& v,
                        double* const* out, const Context& context) const = 0;

  // One of several products that one pass may make.
  struct Job {
    const Columns* columns;
    Standardisation standardisation;
    const Operand* v;
    double* const* out;
  };
  // The products of all jobs in one pass, if theirs are all columns of one X that lies elsewhere;
  // else false, and nothing is done.
  virtual bool products_together(const std::vector<Job>& /*jobs*/, const Context&) const {
    return false;
  }

  // Hands the moments of every column, against the response and with its weights, to take(j,
  // moments), from several threads.
  using TakeMoments = std::function<void(Index, const ScaledMoments&)>;
  virtual void take_moments(const Response& response, const TakeMoments& take,
                            const Context& context) const = 0;

  // What is not zero, where that is little; else null.
  virtual const SparseEntries* sparse_entries() const { return nullptr; }

 protected:
  Columns(Index rows, Index columns) : rows_(rows), columns_(columns) {}

  // Starting a thread costs as much as some hundred thousand multiplications.
  Context worth_sharing(Index width, Context context) const {
    if (entries() * static_cast<double>(4 + width) < 4e6) context.threads = 1;
    return context;
  }

  // Of column j, of which these are the moments as it lies: divided by a power of two if need be.
  ScaledMoments safe_moments(Index j, const Moments& plain, const Response& response) const {
    if (squares_are_safe(plain.xx)) return {plain, 0};
    std::vector<double> column(rows_);
    read(j, 0, rows_, column.data());
    return rescaled_moments(std::move(column), response);
  }

  const Index rows_;
  const Index columns_;
};

}  // namespace ellzero
