// Columns Z, as preparation left them (centred and of unit norm), to be multiplied under weights
// that change from sweep to sweep.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "data/columns.hpp"
#include "data/quadratic.hpp"
#include "posterior/logit_kernels.hpp"

namespace ellzero {

class WeightedRows {
 public:
  // Z is kept, as tiles ready to be multiplied, if it takes no more than `room_bytes`; else it is
  // made anew for every pass. `norms` are what columns of Z have instead of unit norm, if any are
  // given.
  WeightedRows(const Columns& columns, const Quadratic& quadratic, Index rows, bool intercept,
               double room_bytes, std::vector<double> norms = {})
      : columns_(columns),
        quadratic_(quadratic),
        norms_(std::move(norms)),
        rows_(rows),
        intercept_(intercept) {
    const Index tiles = row_blocks() * column_blocks();
    if (static_cast<double>(tiles) * static_cast<double>(sizeof(Tile)) <= room_bytes) {
      tiles_.resize(tiles);
      for (Index t = 0; t < tiles; ++t) fill(t % row_blocks(), t / row_blocks(), tiles_[t]);
    }
  }
  WeightedRows(const WeightedRows&) = delete;
  WeightedRows& operator=(const WeightedRows&) = delete;

  Index rows() const { return rows_; }
  Index columns() const { return quadratic_.columns(); }
  const Quadratic& quadratic() const { return quadratic_; }
  bool intercept() const { return intercept_; }
  bool is_dead(Index j) const { return quadratic_.inverse_scale[j] == 0; }

  // Column j of Z.
  void read(Index j, double* out) const {
    if (tiles_.empty()) return read_rows(j, 0, rows(), out);
    for (Index block = 0; block < row_blocks(); ++block) {
      const Tile& tile = tiles_[j / kTileColumns * row_blocks() + block];
      std::copy_n(tile.column(j % kTileColumns), block_rows(block), out + block * kTileRows);
    }
  }

  // out[b] = Z'v[b] for b < width; and squares_j = sum over rows of weight z_j^2, unless null.
  void multiply_all(const double* const* v, Index width, double* const* out, const double* weight,
                    double* squares) const {
    const Index padded_width = round_up(width, 4);
    std::vector<double> packed(padded_width * kTileStride, 0.0), weights(kTileStride, 0.0);
    std::vector<double*> target(padded_width, nullptr);
    for (Index b = 0; b < width; ++b) std::fill_n(out[b], columns(), 0.0);
    if (squares) std::fill_n(squares, columns(), 0.0);
    std::unique_ptr<Tile> room;
    if (tiles_.empty()) room = std::make_unique<Tile>();
    for (Index block = 0; block < row_blocks(); ++block) {
      const Index length = block_rows(block), padded = round_up(length, kLanes);
      const auto load_rows = [&](const double* from, double* to) {
        std::copy_n(from + block * kTileRows, length, to);
        std::fill(to + length, to + padded, 0.0);
      };
      for (Index b = 0; b < width; ++b) load_rows(v[b], packed.data() + b * kTileStride);
      if (squares) load_rows(weight, weights.data());
      for (Index c = 0; c < column_blocks(); ++c) {
        if (room) fill(block, c, *room);
        const Tile& tile = room ? *room : tiles_[c * row_blocks() + block];
        const Index first = c * kTileColumns, count = block_columns(c);
        for (Index b = 0; b < width; ++b) target[b] = out[b] + first;
        multiply(tile, count, packed.data(), padded_width, padded, Upcoming(), target.data());
        if (squares) add_weighted_squares(tile, count, weights.data(), padded, squares + first);
      }
    }
  }

 private:
  Index row_blocks() const { return (rows() + kTileRows - 1) / kTileRows; }
  Index column_blocks() const { return (columns() + kTileColumns - 1) / kTileColumns; }
  Index block_rows(Index block) const { return std::min(kTileRows, rows() - block * kTileRows); }
  Index block_columns(Index block) const {
    return std::min(kTileColumns, columns() - block * kTileColumns);
  }

  void read_rows(Index j, Index row, Index count, double* out) const {
    columns_.read(j, row, count, out);
    const double mean = quadratic_.mean[j];
    const double inverse_scale = quadratic_.inverse_scale[j] * (norms_.empty() ? 1 : norms_[j]);
    for (Index r = 0; r < count; ++r) out[r] = (out[r] - mean) * inverse_scale;
  }

  // With zeros where the kernels read on.
  void fill(Index row_block, Index column_block, Tile& tile) const {
    const Index length = block_rows(row_block), count = block_columns(column_block);
    for (Index j = 0; j < round_up(count, 3); ++j) {
      double* column = tile.column(j);
      const Index filled = j < count ? length : 0;
      if (filled > 0) {
        read_rows(column_block * kTileColumns + j, row_block * kTileRows, length, column);
      }
      std::fill(column + filled, column + round_up(length, kLanes), 0.0);
    }
  }

  const Columns& columns_;
  const Quadratic& quadratic_;
  const std::vector<double> norms_;
  const Index rows_;
  const bool intercept_;
  std::vector<Tile> tiles_;  // column by column of tiles; empty if there is no room
};

}  // namespace ellzero
