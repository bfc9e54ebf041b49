// The rows that a fold is judged by, and how models of other rows do on them.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "row_design.hpp"
#include "solution.hpp"

namespace ellzero {

// Rows of the user's table, wherever they are kept.
class HeldOut {
 public:
  // Row i is row places[i] of the part parts[i].
  HeldOut(const std::vector<const RowDesign*>& tables, const std::vector<Index>& parts,
          const std::vector<Index>& places) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const RowDesign* table = tables[parts[i]];
      const bool full = !pieces_.empty() && pieces_.back().rows.size() == kTileRows;
      if (pieces_.empty() || full || pieces_.back().table != table) pieces_.push_back({table, {}});
      pieces_.back().rows.push_back(places[i]);
      weight_ += table->row_weight(places[i]);
    }
  }

  double weight() const { return weight_; }

  // The mean squared error of each model of the design's rows, in squared units of y. Deviations
  // are predicted, from the design's means: a large mean costs no digits.
  std::vector<double> errors(const Design& design, const std::vector<Solution>& models,
                             const Context& context) const {
    std::vector<Index> columns;
    for (const Solution& model : models) {
      columns.insert(columns.end(), model.support.begin(), model.support.end());
    }
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    std::vector<double> error(models.size(), 0.0), x(columns.size() * kTileRows);
    double response[kTileRows], residual[kTileRows];
    for (const Piece& piece : pieces_) {
      context.check();
      const Index count = static_cast<Index>(piece.rows.size());
      for (std::size_t c = 0; c < columns.size(); ++c) {
        double* target = x.data() + c * kTileRows;
        piece.table->raw_values(columns[c], piece.rows.data(), count, target);
        const double mean = design.mean[columns[c]];
        for (Index r = 0; r < count; ++r) target[r] -= mean;
      }
      for (Index r = 0; r < count; ++r) {
        response[r] = piece.table->raw_response(piece.rows[r]) - design.mean_y;
      }
      for (std::size_t m = 0; m < models.size(); ++m) {
        const Solution& model = models[m];
        std::copy_n(response, count, residual);
        auto column = columns.begin();
        for (std::size_t s = 0; s < model.support.size(); ++s) {
          column = std::lower_bound(column, columns.end(), model.support[s]);
          const double* source = x.data() + (column - columns.begin()) * kTileRows;
          const double coefficient = model.beta[s] * design.inverse_scale[model.support[s]];
          for (Index r = 0; r < count; ++r) residual[r] -= coefficient * source[r];
        }
        for (Index r = 0; r < count; ++r) {
          error[m] += piece.table->row_weight(piece.rows[r]) * residual[r] * residual[r];
        }
      }
    }
    for (double& sum : error) sum /= weight_;
    return error;
  }

 private:
  struct Piece {
    const RowDesign* table;
    std::vector<Index> rows;  // at most kTileRows
  };
  std::vector<Piece> pieces_;
  double weight_ = 0;
};

}  // namespace ellzero
