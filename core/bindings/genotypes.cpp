// Genotypes as Python sees them: a byte has four rows of a column, columns one after the other.
#include "bindings/bindings.hpp"
#include "data/genotype_columns.hpp"

#include <nanobind/stl/unique_ptr.h>

namespace ellzero {
namespace {

using Packed = nb::ndarray<const Byte, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void check_packed(const Packed& packed, Index rows) {
  require(rows >= 0 && static_cast<Index>(packed.shape(1)) == genotype_bytes(rows),
          "as many bytes for a column as its rows need");
}

std::unique_ptr<Columns> genotype_columns(const Packed& packed, Index rows,
                                          const Vector<double>& fill) {
  check_packed(packed, rows);
  require(fill.size() == packed.shape(0), "one value per column for what is missing");
  return std::make_unique<GenotypeColumns>(packed.data(), packed.shape(1), rows, packed.shape(0),
                                           fill.data());
}

// By column: how often two copies, one, none, and how many are missing.
nb::object genotype_counts(const Packed& packed, Index rows, int threads) {
  check_packed(packed, rows);
  const Index columns = packed.shape(0), stride = packed.shape(1);
  std::vector<Index> counts(columns * 4);
  PythonInterrupt interrupt;
  run_released(interrupt, [&] {
    parallel_ranges(columns, {threads, &interrupt}, [&](Index begin, Index end, auto poll) {
      for (Index j = begin; j < end; ++j) {
        if (j % 1024 == 0 && poll()) return;
        const GenotypeCounts found = count_genotypes(packed.data() + j * stride, rows);
        Index* out = counts.data() + 4 * j;
        out[0] = found.two, out[1] = found.one, out[2] = found.none, out[3] = found.missing;
      }
    });
    return 0;
  });
  return to_array(counts.data(), {static_cast<std::size_t>(columns), 4});
}

// Some rows of all columns, in any order.
nb::object genotype_rows(const Packed& packed, Index rows, const Vector<Index>& which,
                         int threads) {
  check_packed(packed, rows);
  for (std::size_t r = 0; r < which.size(); ++r) {
    require(which(r) >= 0 && which(r) < rows, "no such row");
  }
  const Index columns = packed.shape(0), stride = packed.shape(1);
  const Index count = which.size(), width = genotype_bytes(count);
  auto out = std::make_unique<Byte[]>(std::max<Index>(columns * width, 1));
  PythonInterrupt interrupt;
  run_released(interrupt, [&] {
    parallel_ranges(columns, {threads, &interrupt}, [&](Index begin, Index end, auto poll) {
      std::vector<Byte> codes(stride * kGenotypesPerByte);
      for (Index j = begin; j < end; ++j) {
        if (j % 1024 == 0 && poll()) return;
        choose_genotypes(packed.data() + j * stride, rows, which.data(), count, codes.data(),
                         out.get() + j * width);
      }
    });
    return 0;
  });
  Byte* const values = out.release();
  nb::capsule owner(values, [](void* p) noexcept { delete[] static_cast<Byte*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, Byte>(
      values, {static_cast<std::size_t>(columns), static_cast<std::size_t>(width)}, owner));
}

}  // namespace

void bind_genotypes(nb::module_& m) {
  m.def("genotype_columns", &genotype_columns, nb::arg("packed").noconvert(), nb::arg("rows"),
        nb::arg("fill").noconvert(), nb::keep_alive<0, 1>(), nb::keep_alive<0, 3>());
  m.def("genotype_counts", &genotype_counts, nb::arg("packed").noconvert(), nb::arg("rows"),
        nb::arg("threads"));
  m.def("genotype_rows", &genotype_rows, nb::arg("packed").noconvert(), nb::arg("rows"),
        nb::arg("which").noconvert(), nb::arg("threads"));
}

}  // namespace ellzero
