// Genotypes at two bits each, four to a byte, the first in the lowest bits, as PLINK 1 keeps them:
//
//   00 two copies of the allele that is counted, 10 one, 11 none, 01 not known
//
// The last byte of a column may have room to spare; what is in there does not matter.
#pragma once

#include <cstdint>

#include "base/kernels.hpp"

namespace ellzero {

using Byte = std::uint8_t;

inline constexpr Index kGenotypesPerByte = 4;
inline constexpr unsigned kMissing = 1;
inline constexpr double kCopies[4] = {2, 0, 1, 0};  // by code; what is missing gets a value later

inline Index genotype_bytes(Index rows) {
  return (rows + kGenotypesPerByte - 1) / kGenotypesPerByte;
}
inline unsigned genotype_code(const Byte* column, Index row) {
  return column[row / kGenotypesPerByte] >> (2 * (row % kGenotypesPerByte)) & 3u;
}

// What pack() does for numbers: tile(r, j) = root_weight[r] * (x(r, j) - shift[j]), with zeros
// beyond, from columns that are `stride` bytes apart; x is fill[j] where column j is not known.
void unpack_genotypes(const Byte* bytes, Index stride, Index rows, Index columns,
                      const double* fill, const double* shift, const double* root_weight,
                      Tile& tile);

struct GenotypeCounts {
  Index two = 0, one = 0, none = 0, missing = 0;
};
GenotypeCounts count_genotypes(const Byte* column, Index rows);

// Row r of `out` is row which[r] of a column of `rows`; `codes` has room for a byte for each of
// these, up to a multiple of four. Room to spare is filled with zeros.
void choose_genotypes(const Byte* column, Index rows, const Index* which, Index count, Byte* codes,
                      Byte* out);

}  // namespace ellzero
