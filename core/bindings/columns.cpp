// Columns as Python sees them: one function per way in which X may lie.
#include "bindings/bindings.hpp"
#include "data/chosen_rows.hpp"
#include "data/dense_columns.hpp"
#include "data/panel_columns.hpp"
#include "data/source_columns.hpp"
#include "data/sparse_columns.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <optional>

namespace ellzero {
namespace {

using ColumnsPointer = std::unique_ptr<Columns>;

template <class T>
Strided<T> view_of(const Matrix<T>& x) {
  return {x.data(), static_cast<Index>(x.stride(0)), static_cast<Index>(x.stride(1))};
}

template <class T>
ColumnsPointer dense_columns(const Matrix<T>& x) {
  return std::make_unique<DenseColumns<T>>(view_of(x), x.shape(0), x.shape(1));
}

template <class T>
void require_rows(const Matrix<T>& x, const Vector<Index>& rows) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    require(rows(r) >= 0 && rows(r) < static_cast<Index>(x.shape(0)), "no such row");
  }
}

// Some rows of x, where they lie.
template <class T>
ColumnsPointer chosen_rows(const Matrix<T>& x, const Vector<Index>& rows) {
  require_rows(x, rows);
  const std::vector<Index> which(rows.data(), rows.data() + rows.size());
  return std::make_unique<ChosenRows<T>>(view_of(x), which, x.shape(1));
}

// The same, copied.
template <class T>
ColumnsPointer panel_columns(const Matrix<T>& x, const Vector<Index>& rows) {
  require_rows(x, rows);
  PythonInterrupt interrupt;
  return run_released(interrupt, [&]() -> ColumnsPointer {
    return std::make_unique<PanelColumns<T>>(view_of(x), rows.data(), rows.size(), x.shape(1),
                                             Context{1, &interrupt});
  });
}

// The same for each of several lists of rows.
template <class T>
std::vector<ColumnsPointer> panels_of(const Matrix<T>& x, const std::vector<Vector<Index>>& parts) {
  for (const Vector<Index>& rows : parts) require_rows(x, rows);
  PythonInterrupt interrupt;
  return run_released(interrupt, [&] {
    std::vector<ColumnsPointer> out;
    for (const Vector<Index>& rows : parts) {
      out.push_back(std::make_unique<PanelColumns<T>>(view_of(x), rows.data(), rows.size(),
                                                      x.shape(1), Context{1, &interrupt}));
    }
    return out;
  });
}

template <class T, class I>
ColumnsPointer sparse_columns(const Vector<T>& values, const Vector<I>& row_of,
                              const Vector<I>& begins, Index rows) {
  require(values.size() == row_of.size() && begins.size() > 0, "a matrix in compressed columns");
  return std::make_unique<SparseColumns<T, I>>(values.data(), row_of.data(), begins.data(), rows,
                                               static_cast<Index>(begins.size()) - 1);
}

// A reader in Python: `block(begin, end)` and `columns(which)` return checked arrays, `refuse`
// raises. The interpreter's lock is held for these calls alone.
class PythonReader final : public ColumnReader {
 public:
  PythonReader(nb::object reader, Index block_columns)
      : reader_(std::move(reader)), block_columns_(block_columns) {}
  ~PythonReader() override {
    nb::gil_scoped_acquire gil;
    reader_.reset();
  }

  Index block_columns() const override { return block_columns_; }

  void block(Index begin, Index end, const std::function<void(const ColumnBlock&)>& work) override {
    nb::gil_scoped_acquire gil;
    const nb::object x = reader_.attr("block")(begin, end);
    Matrix<double> doubles;
    if (nb::try_cast(x, doubles, false)) {
      work_on(doubles, end - begin, work);
    } else {
      work_on(nb::cast<Matrix<float>>(x, false), end - begin, work);
    }
  }

  void columns(const Index* which, Index count, double* out) override {
    nb::gil_scoped_acquire gil;
    const auto size = static_cast<std::size_t>(count);
    const auto x =
        nb::cast<Matrix<double>>(reader_.attr("columns")(to_array(which, {size})), false);
    require(x.shape(1) == size, "as many columns as were asked for");
    for (std::size_t c = 0; c < size; ++c) {
      for (std::size_t r = 0; r < x.shape(0); ++r) *out++ = x(r, c);
    }
  }

  void refuse(Index j, Index begin, Index end) override {
    nb::gil_scoped_acquire gil;
    reader_.attr("refuse")(j, begin, end);
  }

 private:
  template <class T>
  static void work_on(const Matrix<T>& x, Index columns,
                      const std::function<void(const ColumnBlock&)>& work) {
    const DenseBlock<T> block(view_of(x), x.shape(0), columns);
    nb::gil_scoped_release released;
    work(block);
  }

  nb::object reader_;
  const Index block_columns_;
};

ColumnsPointer source_columns(nb::object reader, Index rows, Index columns, Index block_columns) {
  return std::make_unique<SourceColumns>(std::make_shared<ColumnSource>(
      std::make_unique<PythonReader>(std::move(reader), block_columns), rows, columns));
}

// Some rows of the columns of a source.
ColumnsPointer source_rows(const Columns& columns, const Vector<Index>& rows) {
  const auto* all = dynamic_cast<const SourceColumns*>(&columns);
  require(all, "columns of a source");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    require(rows(r) >= 0 && rows(r) < columns.rows(), "no such row");
  }
  return std::make_unique<SourceColumns>(
      all->source(), std::vector<Index>(rows.data(), rows.data() + rows.size()));
}

// A matrix in memory as the V of a product.
class MatrixOperand final : public Operand {
 public:
  explicit MatrixOperand(const Matrix<double>& v)
      : Operand(static_cast<Index>(v.shape(1))), view_(view_of(v)) {}

  void read(Index b, Index row, Index rows, double* out) const override {
    for (Index r = 0; r < rows; ++r) out[r] = *view_.at(row + r, b);
  }

 private:
  const Strided<double> view_;
};

// Z'V, a row for every column of V.
nb::object products(const Columns& columns, const Vector<double>& mean,
                    const Vector<double>& inverse_scale,
                    const std::optional<Vector<double>>& root_weight, const Matrix<double>& v,
                    int threads) {
  const std::size_t p = columns.columns(), n = columns.rows(), width = v.shape(1);
  require(mean.size() == p && inverse_scale.size() == p, "one mean and one scale per column");
  require(v.shape(0) == n && (!root_weight || root_weight->size() == n),
          "as many rows of v and root weights as of X");
  require(static_cast<Index>(width) <= columns.pass_columns(), "too many columns for one pass");
  const Standardisation standardisation{mean.data(), inverse_scale.data(),
                                        root_weight ? root_weight->data() : nullptr};
  std::vector<double> all(width * p);
  std::vector<double*> out;
  for (std::size_t b = 0; b < width; ++b) out.push_back(all.data() + b * p);
  PythonInterrupt interrupt;
  run_released(interrupt, [&] {
    columns.products(standardisation, MatrixOperand(v), out.data(), {threads, &interrupt});
    return 0;
  });
  return to_array(all.data(), {width, p});
}

// Entries of column j: of some rows that follow each other, and of any rows.
nb::object read(const Columns& columns, Index j, Index row, Index rows) {
  require(j >= 0 && j < columns.columns(), "no such column");
  require(row >= 0 && rows >= 0 && rows <= columns.rows() - row, "no such rows");
  std::vector<double> out(rows);
  columns.read(j, row, rows, out.data());
  return to_array(out);
}

nb::object read_rows(const Columns& columns, Index j, const Vector<Index>& which) {
  require(j >= 0 && j < columns.columns(), "no such column");
  for (std::size_t r = 0; r < which.size(); ++r) {
    require(which(r) >= 0 && which(r) < columns.rows(), "no such row");
  }
  std::vector<double> out(which.size());
  columns.read_rows(j, which.data(), which.size(), out.data());
  return to_array(out);
}

template <class T>
void bind_dense(nb::module_& m) {
  m.def("dense_columns", &dense_columns<T>, nb::arg("x").noconvert(), nb::keep_alive<0, 1>());
  m.def("chosen_rows", &chosen_rows<T>, nb::arg("x").noconvert(), nb::arg("rows").noconvert(),
        nb::keep_alive<0, 1>());
  m.def("panel_columns", &panel_columns<T>, nb::arg("x").noconvert(), nb::arg("rows").noconvert());
  m.def("panels_of", &panels_of<T>, nb::arg("x").noconvert(), nb::arg("parts"));
}

template <class T, class I>
void bind_sparse(nb::module_& m) {
  m.def("sparse_columns", &sparse_columns<T, I>, nb::arg("values").noconvert(),
        nb::arg("row_of").noconvert(), nb::arg("begins").noconvert(), nb::arg("rows"),
        nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>());
}

}  // namespace

void bind_columns(nb::module_& m) {
  nb::class_<Columns>(m, "Columns")
      .def_prop_ro("rows", &Columns::rows)
      .def_prop_ro("columns", &Columns::columns)
      .def_prop_ro("entries", &Columns::entries)
      .def("read", &read, nb::arg("j"), nb::arg("row"), nb::arg("rows"))
      .def("read_rows", &read_rows, nb::arg("j"), nb::arg("which").noconvert())
      .def("products", &products, nb::arg("mean").noconvert(), nb::arg("inverse_scale").noconvert(),
           nb::arg("root_weight").noconvert().none(), nb::arg("v").noconvert(), nb::arg("threads"));
  m.def("return_memory", &return_memory);
  m.def("source_columns", &source_columns, nb::arg("reader"), nb::arg("rows"), nb::arg("columns"),
        nb::arg("block_columns"));
  m.def("source_rows", &source_rows, nb::arg("columns"), nb::arg("rows").noconvert());
  bind_dense<double>(m);
  bind_dense<float>(m);
  bind_sparse<double, std::int32_t>(m);
  bind_sparse<double, std::int64_t>(m);
  bind_sparse<float, std::int32_t>(m);
  bind_sparse<float, std::int64_t>(m);
}

}  // namespace ellzero
