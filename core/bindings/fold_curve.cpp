// The solutions of folds as lam falls, and the curve that they make, as Python sees them.
#include "search/fold_curve.hpp"
#include "bindings/bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>

namespace ellzero {
namespace {

using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::vector<double> numbers(const Vector<double>& values) {
  return {values.data(), values.data() + values.size()};
}

void make_path(FoldPath* path, const Vector<double>& lambdas, double end,
               const Vector<double>& sizes, const Vector<double>& errors,
               const Vector<double>& along, const Vector<double>& square, double weight) {
  for (const Vector<double>* each : {&sizes, &errors, &along, &square}) {
    require(each->size() == lambdas.size() + 1, "one solution more than there are breakpoints");
  }
  new (path) FoldPath{numbers(lambdas), end,   numbers(sizes), numbers(errors), numbers(along),
                      numbers(square),  weight};
}

class PythonFoldTable {
 public:
  PythonFoldTable(const nb::list& paths, const Vector<double>& low)
      : paths_(paths),
        table_(nb::cast<std::vector<const FoldPath*>>(paths), low.data(),
               static_cast<Index>(low.size())) {}

  nb::object share() const { return to_array(table_.share()); }
  nb::object mean_sizes() const { return to_array(table_.mean_sizes()); }
  nb::object spread(const std::vector<double> FoldPath::* what) const {
    const std::size_t folds = table_.folds(), intervals = table_.intervals();
    return to_array(table_.spread(what), {folds, intervals});
  }
  nb::tuple mean_and_error(const Table& values, const std::optional<Vector<double>>& base) const {
    require(static_cast<Index>(values.shape(0)) == table_.folds() &&
                static_cast<Index>(values.shape(1)) == table_.intervals() &&
                (!base || static_cast<Index>(base->size()) == table_.folds()),
            "values by fold and interval");
    const auto found = table_.mean_and_error(values.data(), base ? base->data() : nullptr);
    return nb::make_tuple(to_array(found.mean), to_array(found.error));
  }
  const FoldTable& table() const { return table_; }

 private:
  nb::list paths_;  // kept alive
  FoldTable table_;
};

nb::object best_factors_of(const std::vector<const PythonFoldTable*>& repeats,
                           const std::vector<Vector<double>>& nothing,
                           const Vector<double>& factors, bool cautiously) {
  require(!repeats.empty() && nothing.size() == repeats.size() && factors.size() > 0,
          "factors, and the errors of nothing for each of some repeats");
  std::vector<const FoldTable*> tables;
  std::vector<const double*> from;
  for (std::size_t r = 0; r < repeats.size(); ++r) {
    tables.push_back(&repeats[r]->table());
    from.push_back(nothing[r].data());
    require(static_cast<Index>(nothing[r].size()) == tables[r]->folds() &&
                tables[r]->intervals() == tables[0]->intervals(),
            "the errors of nothing of every fold, on the same intervals");
  }
  return to_array(best_factors(tables, from, numbers(factors), cautiously));
}

}  // namespace

void bind_fold_curve(nb::module_& m) {
  nb::class_<FoldPath>(m, "FoldPath")
      .def("__init__", &make_path, nb::arg("lambdas"), nb::arg("end"), nb::arg("sizes"),
           nb::arg("errors"), nb::arg("along"), nb::arg("square"), nb::arg("weight"))
      .def_prop_ro("lambdas", [](const FoldPath& path) { return to_array(path.lambdas); })
      .def_ro("end", &FoldPath::end)
      .def_prop_ro("sizes", [](const FoldPath& path) { return to_array(path.sizes); })
      .def_prop_ro("errors", [](const FoldPath& path) { return to_array(path.errors); })
      .def_prop_ro("along", [](const FoldPath& path) { return to_array(path.along); })
      .def_prop_ro("square", [](const FoldPath& path) { return to_array(path.square); })
      .def_ro("weight", &FoldPath::weight);
  m.def(
      "errors_of_nothing",
      [](const std::vector<const FoldPath*>& paths) {
        std::vector<double> out;
        for (const FoldPath* path : paths) out.push_back(path->errors.front());
        return to_array(out);
      },
      nb::arg("paths"));
  m.def(
      "intervals_of",
      [](const std::vector<const FoldPath*>& paths) {
        const Intervals found = intervals_of(paths);
        return nb::make_tuple(to_array(found.low), to_array(found.high));
      },
      nb::arg("paths"));
  nb::class_<PythonFoldTable>(m, "FoldTable")
      .def(nb::init<const nb::list&, const Vector<double>&>(), nb::arg("paths"),
           nb::arg("low").noconvert())
      .def_prop_ro("share", &PythonFoldTable::share)
      .def_prop_ro("mean_sizes", &PythonFoldTable::mean_sizes)
      .def_prop_ro("errors", [](const PythonFoldTable& t) { return t.spread(&FoldPath::errors); })
      .def_prop_ro("along", [](const PythonFoldTable& t) { return t.spread(&FoldPath::along); })
      .def_prop_ro("square", [](const PythonFoldTable& t) { return t.spread(&FoldPath::square); })
      .def("mean_and_error", &PythonFoldTable::mean_and_error, nb::arg("values").noconvert(),
           nb::arg("base").noconvert().none() = nb::none());
  m.def("best_factors", &best_factors_of, nb::arg("repeats"), nb::arg("nothing"),
        nb::arg("factors").noconvert(), nb::arg("cautiously"));
}

}  // namespace ellzero
