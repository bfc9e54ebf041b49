// Quadratics as Python sees them: of rows, of pools of parts, of ready-made statistics.
#include "bindings/bindings.hpp"
#include "data/pooled_quadratic.hpp"
#include "data/projected_quadratic.hpp"
#include "data/remaining_quadratic.hpp"
#include "data/row_quadratic.hpp"
#include "data/source_columns.hpp"
#include "data/statistics_quadratic.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <optional>
#include <string>

namespace ellzero {
namespace {

using QuadraticPointer = std::unique_ptr<Quadratic>;
using Weights = std::optional<Vector<double>>;
using Products = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

const char* range_sentence(const ResponseOutOfRange& error) {
  return error.too_large
             ? "y: its values, or their weights, are too large to be squared and summed; rescale "
               "them."
             : "y: its values, or their weights, are too small to be squared and summed; rescale "
               "them.";
}

// What is out of range is told in the user's words.
template <class Make>
QuadraticPointer make_quadratic(int threads, Make&& make) {
  PythonInterrupt interrupt;
  const Context context{threads, &interrupt};
  try {
    return run_released(interrupt, [&]() -> QuadraticPointer { return make(context); });
  } catch (const ColumnOverflow& error) {
    throw nb::value_error(("X: the values of column " + std::to_string(error.column) +
                           " are too large to be squared and summed; rescale it.")
                              .c_str());
  } catch (const ResponseOutOfRange& error) {
    throw nb::value_error(range_sentence(error));
  }
}

QuadraticPointer row_quadratic(const Columns& columns, const Vector<double>& y,
                               const Weights& weights, bool centred, double cache_bytes,
                               int threads, const std::optional<Products>& products) {
  require(
      columns.rows() == static_cast<Index>(y.size()) && (!weights || weights->size() == y.size()),
      "as many rows of X as of y and of weights");
  require(!products || (static_cast<Index>(products->shape(0)) == columns.columns() &&
                        products->shape(0) == products->shape(1)),
          "as many rows and columns of products as columns");
  return make_quadratic(threads, [&](const Context& context) {
    return std::make_unique<RowQuadratic>(columns, y.data(), weights ? weights->data() : nullptr,
                                          centred, products ? products->data() : nullptr,
                                          cache_bytes, context);
  });
}

// The quadratics of several columns of one source, each with its own rows, in one pass. All that
// they are made of is kept by the caller for as long as they live.
nb::list source_quadratics(const nb::list& columns, const nb::list& y, const nb::list& weights,
                           bool centred, double cache_bytes, int threads) {
  std::vector<const SourceColumns*> those;
  std::vector<Response> responses;
  std::vector<std::unique_ptr<RowQuadratic>> made;
  const std::size_t count = nb::len(columns);
  require(count > 0 && nb::len(y) == count && nb::len(weights) == count, "as many of each");
  try {
    for (std::size_t i = 0; i < count; ++i) {
      const auto* own = dynamic_cast<const SourceColumns*>(nb::cast<const Columns*>(columns[i]));
      require(own && (i == 0 || own->source() == those[0]->source()), "columns of one source");
      those.push_back(own);
      const auto values = nb::cast<Vector<double>>(y[i], false);
      const bool weighted = !weights[i].is_none();
      const auto weight = weighted ? nb::cast<Vector<double>>(weights[i], false) : values;
      require(static_cast<Index>(values.size()) == own->rows() && weight.size() == values.size(),
              "as many rows of X as of y and of weights");
      responses.emplace_back(values.data(), weighted ? weight.data() : nullptr, own->rows(),
                             centred);
    }
  } catch (const ResponseOutOfRange& error) {
    throw nb::value_error(range_sentence(error));
  }
  make_quadratic(threads, [&](const Context& context) -> QuadraticPointer {
    std::vector<Preparation> prepared;
    std::vector<const Response*> pointers;
    for (std::size_t i = 0; i < count; ++i) {
      prepared.push_back(unprepared(*those[i], responses[i]));
      pointers.push_back(&responses[i]);
    }
    const auto set = [&](Index i, Index j, const ScaledMoments& scaled) {
      set_column_if_safe(prepared[i], j, scaled);
    };
    SourceColumns::take_moments_together(those, pointers, set, context);
    for (std::size_t i = 0; i < count; ++i) {
      made.push_back(std::make_unique<RowQuadratic>(*those[i], std::move(responses[i]),
                                                    std::move(prepared[i]), nullptr, cache_bytes));
    }
    return nullptr;
  });
  nb::list out;
  for (auto& quadratic : made) {
    out.append(nb::cast(QuadraticPointer(std::move(quadratic))));
  }
  return out;
}

// Columns of products are kept in a file of these data too.
template <class Keeper>
void keep_in(Keeper& keeper, const std::string& path, Index length, std::uint64_t mark) {
  try {
    keeper.keep_in(std::make_shared<ColumnFile>(path, length, mark));
  } catch (const ColumnFileError& error) {
    throw nb::value_error(("checkpoint: " + path + " " + error.what() + ".").c_str());
  }
}

QuadraticPointer statistics_quadratic(const Matrix<double>& xx, const Vector<double>& xy, double yy,
                                      const Vector<double>& mean_x, double mean_y, double weight,
                                      double cache_bytes) {
  require(xx.shape(0) == xx.shape(1) && xx.shape(0) == xy.size() && xx.shape(0) == mean_x.size(),
          "as many rows and columns of products as columns");
  const Strided<double> view{xx.data(), static_cast<Index>(xx.stride(0)),
                             static_cast<Index>(xx.stride(1))};
  const Statistics statistics{view, xy.data(), yy, mean_x.data(), mean_y, weight};
  return make_quadratic(1, [&](const Context&) {
    return std::make_unique<StatisticsQuadratic>(statistics, xx.shape(0), cache_bytes);
  });
}

// What else the quadratics need is kept alive: `owner`.
std::unique_ptr<Parts> make_parts(const nb::list& quadratics, double memory_bound,
                                  const nb::object& /*owner*/, bool at_once) {
  require(nb::len(quadratics) > 0, "at least one part");
  std::vector<const Quadratic*> parts;
  for (nb::handle part : quadratics) {
    parts.push_back(nb::cast<const Quadratic*>(part));
    require(parts.back()->columns() == parts[0]->columns(), "as many columns in every part");
  }
  return std::make_unique<Parts>(std::move(parts), memory_bound, at_once);
}

QuadraticPointer pooled_quadratic(Parts& parts, const Vector<Index>& which, double cache_bytes) {
  const std::vector<Index> chosen(which.data(), which.data() + which.size());
  require(!chosen.empty(), "at least one part");
  for (const Index b : chosen) require(b >= 0 && b < parts.count(), "no such part");
  return make_quadratic(1, [&](const Context&) {
    return std::make_unique<PooledQuadratic>(parts, chosen, cache_bytes);
  });
}

std::unique_ptr<AllRows> all_rows(const Quadratic& quadratic, const Columns& columns,
                                  const Vector<double>& y, const Weights& weights, bool centred,
                                  int threads) {
  require(columns.rows() == static_cast<Index>(y.size()) &&
              columns.columns() == quadratic.columns() && (!weights || weights->size() == y.size()),
          "as many rows of X as of y and of weights");
  PythonInterrupt interrupt;
  const Context context{threads, &interrupt};
  return run_released(interrupt, [&] {
    return std::make_unique<AllRows>(quadratic, columns, y.data(),
                                     weights ? weights->data() : nullptr, centred, context);
  });
}

// None where too little is left.
QuadraticPointer remaining_quadratic(const AllRows& all, const Columns& left_out,
                                     const Vector<Index>& which, double cache_bytes) {
  require(static_cast<Index>(which.size()) == left_out.rows() &&
              left_out.columns() == all.columns.columns(),
          "rows of the same columns");
  for (std::size_t i = 0; i < which.size(); ++i) {
    require(which(i) >= 0 && which(i) < all.columns.rows(), "no such row");
  }
  const std::vector<Index> rows(which.data(), which.data() + which.size());
  return RemainingQuadratic::make(all, left_out, rows, cache_bytes);
}

std::unique_ptr<ProjectedQuadratic> project(const Quadratic& base, const Vector<Index>& columns,
                                            double cache_bytes, int threads) {
  const std::vector<Index> chosen(columns.data(), columns.data() + columns.size());
  for (const Index j : chosen) require(j >= 0 && j < base.columns(), "no such column");
  PythonInterrupt interrupt;
  const Context context{threads, &interrupt};
  return run_released(interrupt, [&] {
    return std::make_unique<ProjectedQuadratic>(base, chosen, cache_bytes, context);
  });
}

// The products of a few columns with each other.
nb::object cross_products(const Quadratic& quadratic, const Vector<Index>& which) {
  const std::size_t count = which.size();
  for (std::size_t a = 0; a < count; ++a) {
    require(which(a) >= 0 && which(a) < quadratic.columns(), "no such column");
  }
  std::vector<double> out(count * count);
  quadratic.cross_products(which.data(), static_cast<Index>(count), out.data());
  return to_array(out.data(), {count, count});
}

// Rows of unequal length, filled up with zeros.
nb::object to_matrix(const std::vector<std::vector<double>>& rows, std::size_t columns) {
  std::vector<double> out(rows.size() * columns, 0.0);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::copy(rows[r].begin(), rows[r].end(), out.data() + r * columns);
  }
  return to_array(out.data(), {rows.size(), columns});
}

}  // namespace

void bind_quadratic(nb::module_& m) {
  nb::class_<Quadratic>(m, "Quadratic")
      .def_prop_ro("columns", &Quadratic::columns)
      .def_prop_ro("mean", [](const Quadratic& q) { return to_array(q.mean); })
      .def_prop_ro("inverse_scale", [](const Quadratic& q) { return to_array(q.inverse_scale); })
      .def_prop_ro("zy", [](const Quadratic& q) { return to_array(q.zy); })
      .def_ro("yy", &Quadratic::yy)
      .def_ro("mean_y", &Quadratic::mean_y)
      .def_ro("weight", &Quadratic::weight)
      .def("cross_products", &cross_products, nb::arg("which").noconvert())
      .def_prop_ro("columns_made", [](const Quadratic& q) { return q.cache().columns_made(); })
      .def_prop_ro("columns_held", [](const Quadratic& q) { return q.cache().columns_held(); })
      .def_prop_ro("passes", [](const Quadratic& q) { return q.cache().passes(); })
      .def("drop_columns", [](const Quadratic& q) { q.cache().clear(); })
      .def(
          "keep_in",
          [](Quadratic& q, const std::string& path) { keep_in(q, path, q.columns(), q.mark()); },
          nb::arg("path"));
  m.def("source_quadratics", &source_quadratics, nb::arg("columns"), nb::arg("y"),
        nb::arg("weights"), nb::arg("centred"), nb::arg("cache_bytes"), nb::arg("threads"));
  m.def("row_quadratic", &row_quadratic, nb::arg("columns"), nb::arg("y").noconvert(),
        nb::arg("weights").noconvert().none(), nb::arg("centred"), nb::arg("cache_bytes"),
        nb::arg("threads"), nb::arg("products").noconvert().none() = nb::none(),
        nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(),
        nb::keep_alive<0, 7>());
  m.def("statistics_quadratic", &statistics_quadratic, nb::arg("xx").noconvert(),
        nb::arg("xy").noconvert(), nb::arg("yy"), nb::arg("mean_x").noconvert(), nb::arg("mean_y"),
        nb::arg("weight"), nb::arg("cache_bytes"), nb::keep_alive<0, 1>());
  nb::class_<ProjectedQuadratic, Quadratic>(m, "ProjectedQuadratic")
      .def_prop_ro("kept", [](const ProjectedQuadratic& q) { return to_array(q.taken_out().kept); })
      .def_prop_ro("left", [](const ProjectedQuadratic& q) { return to_array(q.taken_out().left); })
      .def_prop_ro("beta", [](const ProjectedQuadratic& q) { return to_array(q.taken_out().beta); })
      .def_prop_ro("root",
                   [](const ProjectedQuadratic& q) {
                     return to_matrix(q.taken_out().m, q.taken_out().kept.size());
                   })
      .def_prop_ro("along", [](const ProjectedQuadratic& q) {
        return to_matrix(q.taken_out().t, q.columns());
      });
  m.def("project", &project, nb::arg("base"), nb::arg("columns").noconvert(),
        nb::arg("cache_bytes"), nb::arg("threads"), nb::keep_alive<0, 1>());
  nb::class_<ColumnPasses>(m, "ColumnPasses");
  nb::class_<Parts, ColumnPasses>(m, "Parts")
      .def_prop_ro("passes", &Parts::passes)
      .def(
          "keep_in",
          [](Parts& parts, const std::string& path) {
            DataMark mark;
            for (const Quadratic* part : parts.all()) mark.add(part->mark());
            keep_in(parts, path, parts.count() * parts.columns(), mark.value());
          },
          nb::arg("path"));
  m.def("make_parts", &make_parts, nb::arg("quadratics"), nb::arg("memory_bound"),
        nb::arg("owner").none() = nb::none(), nb::arg("at_once") = false, nb::keep_alive<0, 1>(),
        nb::keep_alive<0, 3>());
  m.def("pooled_quadratic", &pooled_quadratic, nb::arg("parts"), nb::arg("which").noconvert(),
        nb::arg("cache_bytes"), nb::keep_alive<0, 1>());
  nb::class_<AllRows, ColumnPasses>(m, "AllRows");
  m.def("all_rows", &all_rows, nb::arg("quadratic"), nb::arg("columns"), nb::arg("y").noconvert(),
        nb::arg("weights").noconvert().none(), nb::arg("centred"), nb::arg("threads"),
        nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(),
        nb::keep_alive<0, 4>());
  m.def("remaining_quadratic", &remaining_quadratic, nb::arg("all"), nb::arg("left_out"),
        nb::arg("which").noconvert(), nb::arg("cache_bytes"), nb::keep_alive<0, 1>(),
        nb::keep_alive<0, 2>());
}

}  // namespace ellzero
