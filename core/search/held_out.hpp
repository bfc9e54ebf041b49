// The rows that a fold is judged by, and how models of other rows do on them.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "data/row_design.hpp"
#include "engine/solution.hpp"

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
      longest_ = std::max(longest_, static_cast<Index>(pieces_.back().rows.size()));
    }
  }

  double weight() const { return weight_; }

  // The mean squared error of each model of the design's rows, in squared units of y. Deviations
  // are predicted, from the design's means: a large mean costs no digits.
  std::vector<double> errors(const Design& design, const std::vector<Solution>& models,
                             const Context& context) const {
    std::vector<Index> columns, place(design.columns(), -1);
    for (const Solution& model : models) {
      for (const Index j : model.support) {
        if (place[j] >= 0) continue;
        place[j] = static_cast<Index>(columns.size());
        columns.push_back(j);
      }
    }
    std::vector<double> error(models.size(), 0.0), x(columns.size() * longest_);
    double response[kTileRows], residual[kTileRows];
    for (const Piece& piece : pieces_) {
      context.check();
      const Index count = static_cast<Index>(piece.rows.size());
      for (std::size_t c = 0; c < columns.size(); ++c) {
        double* target = x.data() + c * longest_;
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
        for (std::size_t s = 0; s < model.support.size(); ++s) {
          const double* source = x.data() + place[model.support[s]] * longest_;
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
  Index longest_ = 0;  // rows in a piece
  double weight_ = 0;
};

}  // namespace ellzero
