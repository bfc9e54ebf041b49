// Segmentation as Python sees it: arrays in, what was found for every series out.
#include "segment/segment.hpp"

#include "segment/locations.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "bindings/bindings.hpp"

namespace ellzero {
namespace {

SegmentTask make_task(const Vector<double>& y, const nb::object& weights, double lam, double decay,
                      bool positive, double phi) {
  SegmentTask task{y.data(), nullptr, static_cast<Index>(y.size()), lam, decay, positive, phi};
  if (!weights.is_none()) {
    const auto w = nb::cast<Vector<double>>(weights, false);
    require(w.size() == y.size(), "weights: one per sample");
    task.weights = w.data();
  }
  require(lam >= 0 && decay > 0 && decay <= 1, "lam >= 0 and 0 < decay <= 1");
  require(phi == 0 || (phi > 0 && phi < 1 && decay == 1 && !positive),
          "0 <= phi < 1, and 0 with decay or positive jumps");
  return task;
}

// One result per series; the lists keep the arrays alive.
std::vector<Segmented> segment(const nb::list& series, const nb::list& weights,
                               const Vector<double>& lams, const Vector<double>& decays,
                               const Vector<double>& phis, bool positive, const std::string& solver,
                               bool want_signal, bool want_minima, int threads) {
  const std::size_t count = nb::len(series);
  require(nb::len(weights) == count && lams.size() == count && decays.size() == count &&
              phis.size() == count,
          "weights, lams, decays and phis: one per series");
  require(solver == "functional" || solver == "pelt", "no such solver");
  std::vector<SegmentTask> tasks;
  for (std::size_t k = 0; k < count; ++k) {
    tasks.push_back(make_task(nb::cast<Vector<double>>(series[k], false), weights[k], lams(k),
                              decays(k), positive, phis(k)));
    require(phis(k) == 0 || solver == "functional", "phi is for the functional solver");
    require(!want_minima || (phis(k) == 0 && !positive && solver == "functional"),
            "minima are those of the functional solver, for free jumps in white noise");
  }
  PythonInterrupt interrupt;
  const Context context{threads, &interrupt};
  const auto which = solver == "pelt" ? SegmentSolver::pelt : SegmentSolver::functional;
  const SegmentWants wants{want_signal, want_minima};
  return run_released(interrupt, [&] { return segment_many(tasks, which, wants, context); });
}

// Least squares with jumps at given times; `tidied` leaves out those that are not worth lam.
Segmented fit_segments(const Vector<double>& y, const nb::object& weights, double lam, double decay,
                       double phi, bool positive, const Vector<Index>& changepoints, bool tidied) {
  const SegmentTask task = make_task(y, weights, lam, decay, positive, phi);
  const std::vector<Index> given(changepoints.data(), changepoints.data() + changepoints.size());
  const auto which = tidied ? SegmentSolver::given_tidied : SegmentSolver::given;
  return segment_one(task, which, {true, false}, given, [] { return false; });
}

// The times between which each of the given jumps lies.
JumpLocations jump_locations(const Vector<double>& y, const nb::object& weights, double decay,
                             double phi, const Vector<Index>& changepoints, double slack) {
  const Series s = make_series(make_task(y, weights, 0.0, decay, false, phi));
  const std::vector<Index> given(changepoints.data(), changepoints.data() + changepoints.size());
  const auto starts = starts_of(s, given);
  slack = slack / s.unit / s.unit / s.weight_unit;
  return phi == 0 ? locate_jumps(s, starts, slack)
                  : locate_jumps(CorrelatedSeries(s, phi), starts, slack);
}

}  // namespace

void bind_segment(nb::module_& m) {
  nb::class_<Segmented>(m, "Segmented")
      .def_prop_ro("changepoints", [](const Segmented& s) { return to_array(s.changepoints); })
      .def_prop_ro("signal", [](const Segmented& s) { return to_array(s.signal); })
      .def_prop_ro("jumps", [](const Segmented& s) { return to_array(s.jumps); })
      .def_prop_ro("minima", [](const Segmented& s) { return to_array(s.minima); })
      .def_ro("loss", &Segmented::loss);
  nb::class_<JumpLocations>(m, "JumpLocations")
      .def_prop_ro("first", [](const JumpLocations& j) { return to_array(j.first); })
      .def_prop_ro("last", [](const JumpLocations& j) { return to_array(j.last); });
  m.def("jump_locations", &jump_locations, nb::arg("y").noconvert(), nb::arg("weights").none(),
        nb::arg("decay"), nb::arg("phi"), nb::arg("changepoints").noconvert(), nb::arg("slack"));
  m.def("segment", &segment, nb::arg("series"), nb::arg("weights"), nb::arg("lams").noconvert(),
        nb::arg("decays").noconvert(), nb::arg("phis").noconvert(), nb::arg("positive"),
        nb::arg("solver"), nb::arg("want_signal"), nb::arg("want_minima"), nb::arg("threads"));
  m.def("fit_segments", &fit_segments, nb::arg("y").noconvert(), nb::arg("weights").none(),
        nb::arg("lam"), nb::arg("decay"), nb::arg("phi"), nb::arg("positive"),
        nb::arg("changepoints").noconvert(), nb::arg("tidied"));
}

}  // namespace ellzero
