#include "bindings/bindings.hpp"
#include "data/dense_design.hpp"
#include "data/panel_design.hpp"
#include "data/pooled_design.hpp"
#include "data/sparse_design.hpp"
#include "data/statistics_design.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <optional>
#include <string>

namespace ellzero {
namespace {

using DesignPointer = std::unique_ptr<Design>;
using Weights = std::optional<Vector<double>>;

const double* data_or_null(const Weights& weights) { return weights ? weights->data() : nullptr; }

template <class Make>
DesignPointer make_design(int threads, Make&& make) {
  PythonInterrupt interrupt;
  const Context context{threads, &interrupt};
  try {
    return run_released(interrupt, [&] { return make(context); });
  } catch (const ColumnOverflow& error) {
    throw nb::value_error(("X: the values of column " + std::to_string(error.column) +
                           " are too large to be squared and summed; rescale it.")
                              .c_str());
  } catch (const ResponseOutOfRange& error) {
    throw nb::value_error(error.too_large ? "y: its values, or their weights, are too large to be "
                                            "squared and summed; rescale them."
                                          : "y: its values, or their weights, are too small to be "
                                            "squared and summed; rescale them.");
  }
}

template <class T>
DesignPointer dense_design(const Matrix<T>& x, const Vector<double>& y, const Weights& weights,
                           bool centred, int threads) {
  require(x.shape(0) == y.size() && (!weights || weights->size() == y.size()),
          "as many rows of X as of y and of weights");
  const Strided<T> view{x.data(), static_cast<Index>(x.stride(0)), static_cast<Index>(x.stride(1))};
  return make_design(threads, [&](const Context& context) -> DesignPointer {
    return std::make_unique<DenseDesign<T>>(view, x.shape(0), x.shape(1), y.data(),
                                            data_or_null(weights), centred, context);
  });
}

// Some rows of x, copied; y and weights are theirs.
template <class T>
DesignPointer panel_design(const Matrix<T>& x, const Vector<Index>& rows, const Vector<double>& y,
                           const Weights& weights, bool centred, int threads) {
  require(rows.size() == y.size() && (!weights || weights->size() == y.size()),
          "as many rows as of y and of weights");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    require(rows(r) >= 0 && rows(r) < static_cast<Index>(x.shape(0)), "no such row");
  }
  const Strided<T> view{x.data(), static_cast<Index>(x.stride(0)), static_cast<Index>(x.stride(1))};
  return make_design(threads, [&](const Context& context) -> DesignPointer {
    return std::make_unique<PanelDesign<T>>(view, rows.data(), rows.size(), x.shape(1), y.data(),
                                            data_or_null(weights), centred, context);
  });
}

template <class T, class I>
DesignPointer sparse_design(const Vector<T>& values, const Vector<I>& row_of,
                            const Vector<I>& begins, const Vector<double>& y,
                            const Weights& weights, bool centred, int threads) {
  require(values.size() == row_of.size() && begins.size() > 0, "a matrix in compressed columns");
  require(!weights || weights->size() == y.size(), "as many weights as rows");
  return make_design(threads, [&](const Context& context) -> DesignPointer {
    return std::make_unique<SparseDesign<T, I>>(values.data(), row_of.data(), begins.data(),
                                                y.shape(0), static_cast<Index>(begins.shape(0)) - 1,
                                                y.data(), data_or_null(weights), centred, context);
  });
}

DesignPointer statistics_design(const Matrix<double>& xx, const Vector<double>& xy, double yy,
                                const Vector<double>& mean_x, double mean_y, double weight) {
  require(xx.shape(0) == xx.shape(1) && xx.shape(0) == xy.size() && xx.shape(0) == mean_x.size(),
          "as many rows and columns of products as columns");
  const Strided<double> view{xx.data(), static_cast<Index>(xx.stride(0)),
                             static_cast<Index>(xx.stride(1))};
  return make_design(1, [&](const Context&) -> DesignPointer {
    return std::make_unique<StatisticsDesign>(view, xy.data(), yy, mean_x.data(), mean_y, weight,
                                              xx.shape(0));
  });
}

std::unique_ptr<Parts> make_parts(const nb::list& designs, double memory_bound) {
  require(nb::len(designs) > 0, "at least one part");
  std::vector<const Design*> parts;
  for (nb::handle design : designs) {
    parts.push_back(nb::cast<const Design*>(design));
    require(parts.back()->columns() == parts[0]->columns(), "as many columns in every part");
  }
  return std::make_unique<Parts>(std::move(parts), memory_bound);
}

DesignPointer pooled_design(Parts& parts, const Vector<Index>& which) {
  const std::vector<Index> chosen(which.data(), which.data() + which.size());
  require(!chosen.empty(), "at least one part");
  for (const Index b : chosen) require(b >= 0 && b < parts.count(), "no such part");
  return make_design(1, [&](const Context&) -> DesignPointer {
    return std::make_unique<PooledDesign>(parts, chosen);
  });
}

template <class T>
void bind_dense(nb::module_& m) {
  m.def("dense_design", &dense_design<T>, nb::arg("x").noconvert(), nb::arg("y").noconvert(),
        nb::arg("weights").noconvert().none(), nb::arg("centred"), nb::arg("threads"),
        nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>());
  m.def("panel_design", &panel_design<T>, nb::arg("x").noconvert(), nb::arg("rows").noconvert(),
        nb::arg("y").noconvert(), nb::arg("weights").noconvert().none(), nb::arg("centred"),
        nb::arg("threads"), nb::keep_alive<0, 3>(), nb::keep_alive<0, 4>());
}

template <class T, class I>
void bind_sparse(nb::module_& m) {
  m.def("sparse_design", &sparse_design<T, I>, nb::arg("values").noconvert(),
        nb::arg("row_of").noconvert(), nb::arg("begins").noconvert(), nb::arg("y").noconvert(),
        nb::arg("weights").noconvert().none(), nb::arg("centred"), nb::arg("threads"),
        nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(),
        nb::keep_alive<0, 4>(), nb::keep_alive<0, 5>());
}

}  // namespace

void bind_design(nb::module_& m) {
  nb::class_<Design>(m, "Design")
      .def_prop_ro("columns", &Design::columns)
      .def_prop_ro("mean", [](const Design& d) { return to_array(d.mean); })
      .def_prop_ro("inverse_scale", [](const Design& d) { return to_array(d.inverse_scale); })
      .def_prop_ro("zy", [](const Design& d) { return to_array(d.zy); })
      .def_ro("yy", &Design::yy)
      .def_ro("mean_y", &Design::mean_y)
      .def_ro("weight", &Design::weight);
  bind_dense<double>(m);
  bind_dense<float>(m);
  bind_sparse<double, std::int32_t>(m);
  bind_sparse<double, std::int64_t>(m);
  bind_sparse<float, std::int32_t>(m);
  bind_sparse<float, std::int64_t>(m);
  nb::class_<Parts>(m, "Parts").def_prop_ro("passes", &Parts::passes);
  m.def("make_parts", &make_parts, nb::arg("designs"), nb::arg("memory_bound"),
        nb::keep_alive<0, 1>());
  m.def("pooled_design", &pooled_design, nb::arg("parts"), nb::arg("which").noconvert(),
        nb::keep_alive<0, 1>());
  m.def("statistics_design", &statistics_design, nb::arg("xx").noconvert(),
        nb::arg("xy").noconvert(), nb::arg("yy"), nb::arg("mean_x").noconvert(), nb::arg("mean_y"),
        nb::arg("weight"), nb::keep_alive<0, 1>());
}

}  // namespace ellzero
