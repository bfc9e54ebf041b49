// The spike-and-slab posterior under Student's noise as Python sees it.
#include "bindings/posterior_results.hpp"
#include "posterior/student_chain.hpp"

#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace ellzero {
namespace {

std::vector<double> to_numbers(const Vector<double>& values) {
  return std::vector<double>(values.data(), values.data() + values.size());
}

std::unique_ptr<StudentRows> make_student_rows(const Columns& columns, const Quadratic& design,
                                               const Vector<double>& counts,
                                               const Vector<double>& y, bool intercept,
                                               double room_bytes, std::vector<double> norms) {
  require(columns.columns() == design.columns(), "the quadratic of the same columns");
  require(static_cast<Index>(counts.size()) == columns.rows() && counts.size() == y.size(),
          "a count and a response for every row");
  require(norms.empty() || static_cast<Index>(norms.size()) == columns.columns(),
          "norms: one per column");
  for (std::size_t r = 0; r < counts.size(); ++r) require(counts(r) >= 0, "counts: from 0");
  return std::make_unique<StudentRows>(columns, design, to_numbers(counts), to_numbers(y),
                                       intercept, room_bytes, std::move(norms));
}

nb::list sample(const StudentRows& rows, const SpikeSlabPrior& prior, const DegreesPrior& degrees,
                double unit, const std::vector<LogitStart>& starts,
                const std::vector<double>& reference, std::uint64_t seed, const Schedule& schedule,
                int threads, const nb::object& progress,
                const std::vector<std::vector<Index>>& modes) {
  const auto p = static_cast<std::size_t>(rows.columns());
  require(prior.slab == Slab::gaussian, "for a Gaussian slab");
  require(prior.log_odds.size() == p && reference.size() == p, "one number per column");
  require(degrees.value > degrees.least * degrees.learned && degrees.value > 0,
          "degrees: positive");
  for (const LogitStart& start : starts) {
    for (const Index j : start.support) require(j >= 0 && j < rows.columns(), "no such column");
  }
  for (const auto& mode : modes) {
    for (const Index j : mode) require(j >= 0 && j < rows.columns(), "no such column");
  }
  PythonInterrupt interrupt;
  const Context context{threads, &interrupt};
  std::vector<StudentDraws> chains = run_released(interrupt, [&] {
    return run_student_chains(rows, prior, degrees, unit, starts, modes, reference, seed, schedule,
                              context, progress_of(progress));
  });
  nb::list out;
  for (StudentDraws& chain : chains) {
    nb::dict own = to_dict(chain, rows.columns());
    own["intercept"] = to_array(chain.intercept);
    own["intercept_sum"] = chain.intercept_sum;
    own["noise_df"] = to_array(chain.degrees);
    own["row_weight"] = to_array(chain.row_weight);
    out.append(own);
  }
  return out;
}

}  // namespace

void bind_student_posterior(nb::module_& m) {
  nb::class_<StudentRows>(m, "StudentRows");
  m.def("make_student_rows", &make_student_rows, nb::arg("columns"), nb::arg("design"),
        nb::arg("counts").noconvert(), nb::arg("y").noconvert(), nb::arg("intercept"),
        nb::arg("room_bytes"), nb::arg("norms") = std::vector<double>(), nb::keep_alive<0, 1>(),
        nb::keep_alive<0, 2>());
  nb::class_<DegreesPrior>(m, "DegreesPrior")
      .def(nb::init<>())
      .def_rw("learned", &DegreesPrior::learned)
      .def_rw("value", &DegreesPrior::value)
      .def_rw("shape", &DegreesPrior::shape)
      .def_rw("rate", &DegreesPrior::rate)
      .def_rw("least", &DegreesPrior::least);
  m.def("sample_student_spike_slab", &sample, nb::arg("rows"), nb::arg("prior"), nb::arg("degrees"),
        nb::arg("unit"), nb::arg("starts"), nb::arg("reference"), nb::arg("seed"),
        nb::arg("schedule"), nb::arg("threads"), nb::arg("progress").none(),
        nb::arg("modes") = std::vector<std::vector<Index>>());
}

}  // namespace ellzero
