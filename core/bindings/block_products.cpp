// Sums of products of blocks of rows, and what puts two of them together.
#include "data/block_products.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings/bindings.hpp"

namespace ellzero {
namespace {

template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <int Dimensions>
using Out = nb::ndarray<double, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

// Fills `out` and returns the sums of deviations, by fold and column.
template <class T>
nb::object block_products(const std::optional<Rows<T>>& table, const nb::list& columns,
                          const Vector<double>& middle, const std::optional<Vector<Index>>& fold,
                          const std::optional<Vector<double>>& root_weight, const Out<2>& out) {
  BlockRows<T> block{nullptr, 0, 0, {}, -1};
  const auto check_rows = [&](std::size_t rows) {
    if (block.rows < 0) block.rows = static_cast<Index>(rows);
    require(block.rows == static_cast<Index>(rows), "as many rows everywhere");
  };
  if (table) {
    check_rows(table->shape(0));
    require(table->shape(1) < 2 || table->stride(1) == 1, "rows that lie together");
    block.table = table->data();
    block.table_columns = table->shape(1);
    block.row_stride = table->stride(0);
  }
  std::vector<Vector<double>> held;
  for (const nb::handle column : columns) {
    held.push_back(nb::cast<Vector<double>>(column, false));
    check_rows(held.back().size());
    block.columns.push_back(held.back().data());
  }
  const Index count = block.width(), folds = out.shape(0);
  require(count > 0 && count == static_cast<Index>(middle.size()) && folds > 0 &&
              packed_size(count) == static_cast<Index>(out.shape(1)),
          "as many columns everywhere");
  if (root_weight) check_rows(root_weight->size());
  if (fold) {
    check_rows(fold->size());
    const Index* first = fold->data();
    require(std::all_of(first, first + block.rows, [&](Index f) { return f >= 0 && f < folds; }),
            "folds that there are");
  } else {
    require(folds == 1, "the fold of every row");
  }
  std::vector<double> sums(folds * count);
  {
    nb::gil_scoped_release released;
    BlockProducts<T>(block, middle.data(), fold ? fold->data() : nullptr, folds,
                     root_weight ? root_weight->data() : nullptr)
        .sum(out.data(), sums.data());
  }
  return to_array(sums.data(), {out.shape(0), middle.size()});
}

using Products = nb::ndarray<double, nb::c_contig, nb::device::cpu>;
using OtherProducts = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

// Either matrices or packed triangles of one dimension.
void merge(const Products& one, const OtherProducts& other, const Vector<double>& v,
           double factor) {
  const Index count = v.size();
  const bool packed = one.ndim() == 1;
  const std::size_t size = packed ? packed_size(count) : count * count;
  require(one.ndim() == other.ndim() && one.size() == size && other.size() == size,
          "products of as many columns");
  nb::gil_scoped_release released;
  merge_products(one.data(), other.data(), v.data(), factor, count, packed);
}

void mirror(const Vector<double>& packed, const Out<2>& out) {
  const Index count = out.shape(0);
  require(out.shape(1) == out.shape(0) && packed_size(count) == static_cast<Index>(packed.size()),
          "products of as many columns");
  nb::gil_scoped_release released;
  mirror_triangle(packed.data(), count, out.data());
}

template <class T>
void define(nb::module_& m) {
  m.def("block_products", &block_products<T>, nb::arg("table").noconvert().none(),
        nb::arg("columns"), nb::arg("middle").noconvert(), nb::arg("fold").noconvert().none(),
        nb::arg("root_weight").noconvert().none(), nb::arg("out").noconvert());
}

}  // namespace

void bind_block_products(nb::module_& m) {
  define<double>(m);
  define<float>(m);
  m.def("merge_products", &merge, nb::arg("one").noconvert(), nb::arg("other").noconvert(),
        nb::arg("v").noconvert(), nb::arg("factor"));
  m.def("mirror_triangle", &mirror, nb::arg("packed").noconvert(), nb::arg("out").noconvert());
}

}  // namespace ellzero
