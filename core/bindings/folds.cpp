// Cross-validation as Python sees it: the rows held out, and the frontiers of all folds.
#include "../fold_frontiers.hpp"
#include "bindings.hpp"

#include <nanobind/stl/unique_ptr.h>


namespace ellzero {
namespace {

std::vector<Index> to_vector(const Vector<Index>& values) {
  return {values.data(), values.data() + values.size()};
}

std::unique_ptr<HeldOut> make_held_out(const nb::list& tables, const Vector<Index>& parts,
                                       const Vector<Index>& places) {
  std::vector<const RowDesign*> rows;
  for (nb::handle table : tables) {
    rows.push_back(dynamic_cast<const RowDesign*>(nb::cast<const Design*>(table)));
    require(rows.back() != nullptr, "tables that have rows");
  }
  require(parts.size() == places.size(), "a part and a place for every row");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    require(parts(i) >= 0 && parts(i) < static_cast<Index>(rows.size()), "no such part");
    require(places(i) >= 0 && places(i) < rows[parts(i)]->rows(), "no such row");
  }
  return std::make_unique<HeldOut>(rows, to_vector(parts), to_vector(places));
}

class Folds {
 public:
  Folds(const nb::list& designs, const nb::list& held_out, Parts* parts, double ridge,
        const Vector<Index>& forced, double memory_bound, int threads, int pass_threads)
      : designs_(designs), held_out_(held_out) {
    require(nb::len(designs) > 0 && nb::len(designs) == nb::len(held_out), "rows for every fold");
    std::vector<FoldFrontiers::Fold> folds;
    for (std::size_t f = 0; f < nb::len(designs); ++f) {
      folds.push_back({nb::cast<const Design*>(designs[f]), nb::cast<const HeldOut*>(held_out[f])});
    }
    for (std::size_t i = 0; i < forced.size(); ++i) {
      require(forced(i) >= 0 && forced(i) < folds[0].design->columns(), "no such column");
    }
    run_released(interrupt_, [&] {
      frontiers_ = std::make_unique<FoldFrontiers>(
          folds, parts, ridge, to_vector(forced), memory_bound, Context{threads, &interrupt_},
          Context{pass_threads, &interrupt_});
      return 0;
    });
  }

  void grow(Index max_size, const nb::object& progress) {
    run_released(interrupt_, [&] {
      frontiers_->grow(max_size, progress_of(progress));
      return 0;
    });
    grown_ = max_size;
  }

  // For every fold: the least size, the energy and error of each size from there on, what one more
  // variable would gain, and, one model after the other, the columns.
  nb::list judge() {
    const auto judged = run_released(interrupt_, [&] { return frontiers_->judge(grown_); });
    nb::list out;
    for (const FoldFrontiers::Judged& fold : judged) {
      std::vector<double> energies;
      std::vector<Index> supports;
      for (const Solution& model : fold.models) {
        energies.push_back(0.5 * model.rss + model.ridge_energy);
        supports.insert(supports.end(), model.support.begin(), model.support.end());
      }
      out.append(nb::make_tuple(fold.first, to_array(energies), to_array(fold.errors),
                                fold.next_gain, to_array(supports)));
    }
    return out;
  }

 private:
  nb::list designs_, held_out_;  // kept alive
  PythonInterrupt interrupt_;
  std::unique_ptr<FoldFrontiers> frontiers_;
  Index grown_ = 0;
};

}  // namespace

void bind_folds(nb::module_& m) {
  nb::class_<HeldOut>(m, "HeldOut").def_prop_ro("weight", &HeldOut::weight);
  m.def("held_out", &make_held_out, nb::arg("tables"), nb::arg("parts").noconvert(),
        nb::arg("places").noconvert(), nb::keep_alive<0, 1>());
  nb::class_<Folds>(m, "FoldFrontiers")
      .def(nb::init<const nb::list&, const nb::list&, Parts*, double, const Vector<Index>&, double,
                    int, int>(),
           nb::arg("designs"), nb::arg("held_out"), nb::arg("parts").none(), nb::arg("ridge"),
           nb::arg("forced").noconvert(), nb::arg("memory_bound"), nb::arg("threads"),
           nb::arg("pass_threads"), nb::keep_alive<1, 4>())
      .def("grow", &Folds::grow, nb::arg("max_size"), nb::arg("progress").none())
      .def("judge", &Folds::judge);
}

}  // namespace ellzero
