// Passes over X that make columns of products for several who ask for them: they may be put off
// until all have said what they want.
#pragma once

#include <vector>

#include "base/kernels.hpp"
#include "base/parallel.hpp"

namespace ellzero {

// Columns that have not been made, where making them is put off until others want some too. The
// first is needed to go on.
struct ColumnMissing {
  std::vector<Index> columns;
};

class ColumnPasses {
 public:
  virtual ~ColumnPasses() = default;

  // Makes columns that will be asked for, as many in a pass as it had better make.
  virtual void prepare(std::vector<Index> which, const Context& context) = 0;

  // How many columns a pass had better make, and whether it is worth looking ahead for them.
  virtual Index pass_columns() const = 0;
  virtual bool passes_are_dear() const = 0;

  bool is_put_off() const { return put_off_; }

  // While it lives, a column that is missing is not made when asked for: ColumnMissing is thrown.
  class PutOff {
   public:
    explicit PutOff(ColumnPasses* passes) : passes_(passes) {
      if (passes_) passes_->put_off_ = true;
    }
    ~PutOff() {
      if (passes_) passes_->put_off_ = false;
    }
    PutOff(const PutOff&) = delete;
    PutOff& operator=(const PutOff&) = delete;

   private:
    ColumnPasses* passes_;
  };

 private:
  bool put_off_ = false;
};

}  // namespace ellzero
