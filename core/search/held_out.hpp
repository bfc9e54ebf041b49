// The rows that a fold is judged by, and how models of other rows do on them.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "data/quadratic.hpp"
#include "engine/solution.hpp"

namespace ellzero {

class HeldOut {
 public:
  virtual ~HeldOut() = default;

  virtual double weight() const = 0;
  // How many rows each model is tried on, one by one.
  virtual Index rows() const { return 0; }

  // How a model does, in squared units of y. With r = y - f what it leaves of the rows and f what
  // it predicts, both as deviations from the mean of the rows that it was fitted on: the mean
  // squared error of s f, for any factor s, is error - 2 (s - 1) along + (s - 1)^2 square.
  struct Verdict {
    double error = 0;   // mean of r^2
    double along = 0;   // mean of r f
    double square = 0;  // mean of f^2
  };

  // Of each model.
  virtual std::vector<Verdict> judge(const Quadratic& fitted_on,
                                     const std::vector<Solution>& models,
                                     const Context& context) const = 0;

  // What a model leaves of each row, in units of y; nothing where there are no rows.
  virtual std::vector<double> residuals(const Quadratic& fitted_on,
                                        const Solution& model) const = 0;

 protected:
  // The columns that any of the models has, and the place of each among them; -1 for the others.
  struct Used {
    std::vector<Index> columns, place;
  };
  static Used used_by(const std::vector<Solution>& models, Index columns) {
    Used used{{}, std::vector<Index>(columns, -1)};
    for (const Solution& model : models) {
      for (const Index j : model.support) {
        if (used.place[j] >= 0) continue;
        used.place[j] = static_cast<Index>(used.columns.size());
        used.columns.push_back(j);
      }
    }
    return used;
  }
};

// Rows that are at hand.
class HeldOutRows final : public HeldOut {
 public:
  // One of the rows, as the user gave it: a row of some columns, its response and its weight.
  struct Row {
    const Columns* columns;
    Index place;
    double y;
    double weight;
  };

  // The columns are kept by the caller for as long as this lives.
  explicit HeldOutRows(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      const bool full = !pieces_.empty() && pieces_.back().places.size() == kTileRows;
      if (pieces_.empty() || full || pieces_.back().columns != row.columns) {
        pieces_.push_back({row.columns, {}, {}, {}});
      }
      Piece& piece = pieces_.back();
      piece.places.push_back(row.place);
      piece.y.push_back(row.y);
      piece.weights.push_back(row.weight);
      weight_ += row.weight;
      ++rows_;
      longest_ = std::max(longest_, static_cast<Index>(piece.places.size()));
    }
  }

  double weight() const override { return weight_; }
  Index rows() const override { return rows_; }

  std::vector<double> residuals(const Quadratic& fitted_on, const Solution& model) const override {
    std::vector<double> out;
    double x[kTileRows];
    for (const Piece& piece : pieces_) {
      const Index count = static_cast<Index>(piece.places.size());
      const std::size_t begin = out.size();
      for (Index r = 0; r < count; ++r) out.push_back(piece.y[r] - fitted_on.mean_y);
      for (std::size_t s = 0; s < model.support.size(); ++s) {
        const Index j = model.support[s];
        const double coefficient = model.beta[s] * fitted_on.inverse_scale[j];
        piece.columns->read_rows(j, piece.places.data(), count, x);
        for (Index r = 0; r < count; ++r)
          out[begin + r] -= coefficient * (x[r] - fitted_on.mean[j]);
      }
    }
    return out;
  }

  // Deviations are predicted: a large mean costs no digits.
  std::vector<Verdict> judge(const Quadratic& fitted_on, const std::vector<Solution>& models,
                             const Context& context) const override {
    const auto [used, place] = used_by(models, fitted_on.columns());
    std::vector<Verdict> out(models.size());
    std::vector<double> x(used.size() * longest_);
    double response[kTileRows], predicted[kTileRows];
    std::vector<const double*> columns;
    std::vector<double> coefficients;
    for (const Piece& piece : pieces_) {
      context.check();
      const Index count = static_cast<Index>(piece.places.size());
      piece.columns->bring(used.data(), static_cast<Index>(used.size()));
      for (std::size_t c = 0; c < used.size(); ++c) {
        double* target = x.data() + c * longest_;
        piece.columns->read_rows(used[c], piece.places.data(), count, target);
        const double mean = fitted_on.mean[used[c]];
        for (Index r = 0; r < count; ++r) target[r] -= mean;
      }
      for (Index r = 0; r < count; ++r) response[r] = piece.y[r] - fitted_on.mean_y;
      for (std::size_t m = 0; m < models.size(); ++m) {
        const Solution& model = models[m];
        const std::size_t k = model.support.size();
        columns.resize(k);
        coefficients.resize(k);
        for (std::size_t s = 0; s < k; ++s) {
          const Index j = model.support[s];
          columns[s] = x.data() + place[j] * longest_;
          coefficients[s] = model.beta[s] * fitted_on.inverse_scale[j];
        }
        combine(columns.data(), coefficients.data(), static_cast<Index>(k), 0, count, predicted);
        Verdict& sum = out[m];
        for (Index r = 0; r < count; ++r) {
          const double residual = response[r] - predicted[r];
          const double weighted = piece.weights[r] * residual;
          sum.error += weighted * residual;
          sum.along += weighted * predicted[r];
          sum.square += piece.weights[r] * predicted[r] * predicted[r];
        }
      }
    }
    for (Verdict& sum : out) sum = {sum.error / weight_, sum.along / weight_, sum.square / weight_};
    return out;
  }

 private:
  // Rows that follow each other in the same columns, at most kTileRows.
  struct Piece {
    const Columns* columns;
    std::vector<Index> places;
    std::vector<double> y, weights;
  };
  std::vector<Piece> pieces_;
  Index rows_ = 0, longest_ = 0;  // in all, and in a piece
  double weight_ = 0;
};

}  // namespace ellzero
