#include "base/genotype_kernels.hpp"

#include <cstring>

namespace ellzero {
namespace {

// What the four genotypes of every byte are: eight kilobytes, which stay in the nearest cache.
struct Copies {
  alignas(64) double values[256][kGenotypesPerByte];
  constexpr Copies() : values() {
    for (unsigned byte = 0; byte < 256; ++byte) {
      for (unsigned i = 0; i < kGenotypesPerByte; ++i) {
        values[byte][i] = kCopies[byte >> (2 * i) & 3u];
      }
    }
  }
};
constexpr Copies kTable;

// And their codes, a byte each.
struct Codes {
  Byte values[256][kGenotypesPerByte];
  constexpr Codes() : values() {
    for (unsigned byte = 0; byte < 256; ++byte) {
      for (unsigned i = 0; i < kGenotypesPerByte; ++i) {
        values[byte][i] = static_cast<Byte>(byte >> (2 * i) & 3u);
      }
    }
  }
};
constexpr Codes kCodes;

using Word = std::uint64_t;
constexpr Word kLow = 0x5555555555555555u;  // the lower bit of every genotype
constexpr Index kWordBytes = sizeof(Word);

// Up to eight bytes, the first in the lowest bits; zeros beyond, which are two copies.
ELLZERO_INLINE Word load_word(const Byte* from, Index bytes) {
  Word word = 0;
  if (bytes >= kWordBytes) {
    std::memcpy(&word, from, kWordBytes);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
  } else {
    for (Index i = 0; i < bytes; ++i) word |= static_cast<Word>(from[i]) << (8 * i);
  }
  return word;
}

ELLZERO_INLINE Index ones(Word word) {
#if defined(__GNUC__)
  return __builtin_popcountll(word);
#else
  Index count = 0;
  for (; word; word &= word - 1) ++count;
  return count;
#endif
}

// Where the lowest bit is that is set; there is one.
ELLZERO_INLINE Index lowest(Word word) {
#if defined(__GNUC__)
  return __builtin_ctzll(word);
#else
  Index place = 0;
  for (; !(word & 1); word >>= 1) ++place;
  return place;
#endif
}

static_assert(kLanes == kGenotypesPerByte, "a byte is one vector");

}  // namespace

ELLZERO_MULTIVERSION
void unpack_genotypes(const Byte* bytes, Index stride, Index rows, Index columns,
                      const double* fill, const double* shift, const double* root_weight,
                      Tile& tile) {
  const Index used = genotype_bytes(rows), padded = round_up(rows, kLanes);
  for (Index j = 0; j < columns; ++j) {
    const Byte* source = bytes + j * stride;
    double* target = tile.column(j);
    const Lanes mean = broadcast(shift[j]);
    for (Index i = 0; i < used; ++i)
      store(target + kLanes * i, load(kTable.values[source[i]]) - mean);
    const double missing = fill[j] - shift[j];
    for (Index i = 0; i < used; i += kWordBytes) {
      const Word word = load_word(source + i, used - i);
      for (Word m = word & ~(word >> 1) & kLow; m != 0; m &= m - 1) {
        target[i * kLanes + lowest(m) / 2] = missing;
      }
    }
    if (root_weight) {
      for (Index r = 0; r < rows; ++r) target[r] *= root_weight[r];
    }
    for (Index r = rows; r < padded; ++r) target[r] = 0;
  }
  for (Index j = columns; j < round_up(columns, 3); ++j) {
    for (Index r = 0; r < padded; ++r) tile.column(j)[r] = 0;
  }
}

ELLZERO_MULTIVERSION
GenotypeCounts count_genotypes(const Byte* column, Index rows) {
  GenotypeCounts out;
  const Index whole = rows / kGenotypesPerByte;
  for (Index i = 0; i < whole; i += kWordBytes) {
    const Word word = load_word(column + i, whole - i);
    const Word low = word & kLow, high = word >> 1 & kLow;
    out.none += ones(low & high);
    out.one += ones(high & ~low);
    out.missing += ones(low & ~high);
  }
  for (Index r = whole * kGenotypesPerByte; r < rows; ++r) {
    const unsigned code = genotype_code(column, r);
    out.none += code == 3;
    out.one += code == 2;
    out.missing += code == kMissing;
  }
  out.two = rows - out.none - out.one - out.missing;
  return out;
}

void choose_genotypes(const Byte* column, Index rows, const Index* which, Index count, Byte* codes,
                      Byte* out) {
  for (Index i = 0; i < genotype_bytes(rows); ++i) {
    std::memcpy(codes + kGenotypesPerByte * i, kCodes.values[column[i]], kGenotypesPerByte);
  }
  for (Index r = 0; r < count; r += kGenotypesPerByte) {
    unsigned byte = 0;
    for (Index i = 0; i < kGenotypesPerByte && r + i < count; ++i) {
      byte |= static_cast<unsigned>(codes[which[r + i]]) << (2 * i);
    }
    out[r / kGenotypesPerByte] = static_cast<Byte>(byte);
  }
}

}  // namespace ellzero
