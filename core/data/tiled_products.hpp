// Z'V, tile by tile: columns that can bring any tile of X into one layout need nothing more.
#pragma once

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "base/spare_array.hpp"
#include "data/columns.hpp"

namespace ellzero {

// Not filled with anything. It is too large for some stacks.
inline std::shared_ptr<Tile> make_tile() {
  static_assert(sizeof(Tile) % sizeof(double) == 0 && alignof(Tile) <= 64);
  const std::shared_ptr<double[]> memory = make_spare_array(sizeof(Tile) / sizeof(double));
  return {memory, new (memory.get()) Tile};
}

inline Index tile_count(Index columns) { return (columns + kTileColumns - 1) / kTileColumns; }

// The v of kernels.hpp: a stretch of rows of every column of V, and zeros up to the next multiple
// of four columns and of kLanes rows.
inline void pack_operand(const Operand& v, Index row, Index rows, double* out) {
  const Index padded = round_up(rows, kLanes);
  for (Index b = 0; b < round_up(v.width(), 4); ++b) {
    double* target = out + b * kTileStride;
    const Index filled = b < v.width() ? rows : 0;
    if (filled > 0) v.read(b, row, rows, target);
    std::fill(target + filled, target + padded, 0.0);
  }
}

// out[b](i) += z_i'v_b, z_i the column i of the tiles. `stretches` tiles are taken one below the
// other before it is the turn of those to the right. fill(row, rows, first, columns, tile) makes
// the tile that begins at a row and a column; upcoming(row, first) says where that will be read.
template <class Fill, class Coming>
void add_tiled_products(Index n, Index p, Index stretches, const Operand& operand, const Fill& fill,
                        const Coming& upcoming, double* const* out, const Context& context) {
  const Index width = round_up(operand.width(), 4), v_size = width * kTileStride;
  const auto work = [&](Index begin, Index end, auto poll) {
    const auto tile = make_tile();
    std::vector<double> v(std::min(stretches * kTileRows, round_up(n, kTileRows)) / kTileRows *
                          v_size);
    std::vector<double*> target(width, nullptr);
    for (Index top = 0; top < n; top += stretches * kTileRows) {
      const Index bottom = std::min(n, top + stretches * kTileRows);
      const auto v_at = [&](Index row) { return v.data() + (row - top) / kTileRows * v_size; };
      for (Index row = top; row < bottom; row += kTileRows) {
        pack_operand(operand, row, std::min(kTileRows, n - row), v_at(row));
      }
      for (Index tile_index = begin; tile_index < end; ++tile_index) {
        if (poll()) return;
        const Index first = tile_index * kTileColumns;
        const Index columns = std::min(kTileColumns, p - first);
        for (Index b = 0; b < operand.width(); ++b) target[b] = out[b] + first;
        for (Index row = top; row < bottom; row += kTileRows) {
          const Index rows = std::min(kTileRows, n - row);
          fill(row, rows, first, columns, *tile);
          const bool stay = row + kTileRows < bottom;
          multiply(*tile, columns, v_at(row), width, round_up(rows, kLanes),
                   stay ? upcoming(row + kTileRows, first) : upcoming(top, first + columns),
                   target.data());
        }
      }
    }
  };
  parallel_ranges(tile_count(p), context, work);
}

}  // namespace ellzero
