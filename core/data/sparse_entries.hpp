// The entries of a sparse X by column and by row, for whoever goes by what is not zero.
#pragma once

#include <cstdint>
#include <vector>

#include "data/columns.hpp"

namespace ellzero {

class SparseEntries {
 public:
  virtual ~SparseEntries() = default;

  // How many there are in column j, and these, by row.
  virtual Index count(Index j) const = 0;
  struct Place {
    double value;
    Index row;
  };
  virtual void read_column(Index j, std::vector<Place>& out) const = 0;

  // out[r] += factor x_rj over the entries of column j
  virtual void add_column(Index j, double factor, double* out) const = 0;

  // The sum over rows of x_rj v_r.
  virtual double column_sum(Index j, const double* v) const = 0;
  // out[j] = sum over rows of x_rj v_r for every column, or of |x_rj| v_r.
  enum class Sign { kept, dropped };
  virtual void column_sums(const double* v, Sign sign, double* out,
                           const Context& context) const = 0;

  // The entries row by row, sorted when first asked for. Columns are known by their rank here:
  // those of most entries come first, and in each row the entries of a few columns of lowest rank,
  // frequent() of them.
  struct Entry {
    double value;
    std::int32_t rank, row;
  };
  struct Entries {
    const Entry* first;
    const Entry* last;
    const Entry* begin() const { return first; }
    const Entry* end() const { return last; }
  };
  struct Row {
    Entries frequent, others;
    Index size() const { return others.last - frequent.first; }
  };
  virtual Row row(Index r) const = 0;
  virtual Index frequent() const = 0;
  virtual const std::vector<std::int32_t>& ranks() const = 0;  // by column
};

}  // namespace ellzero
