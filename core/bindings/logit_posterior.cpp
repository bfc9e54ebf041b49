// The spike-and-slab posterior of a logistic regression as Python sees it.
#include "bindings/posterior_results.hpp"
#include "posterior/logit_enumerate.hpp"
#include "posterior/logit_group_chain.hpp"

#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace ellzero {
namespace {

std::vector<double> to_numbers(const Vector<double>& values) {
  return std::vector<double>(values.data(), values.data() + values.size());
}

std::unique_ptr<LogitRows> make_logit_rows(const Columns& columns, const Quadratic& design,
                                           const Vector<double>& counts,
                                           const Vector<double>& successes, bool intercept,
                                           double room_bytes, std::vector<double> norms) {
  require(columns.columns() == design.columns(), "the quadratic of the same columns");
  require(norms.empty() || static_cast<Index>(norms.size()) == columns.columns(),
          "norms: one per column");
  require(static_cast<Index>(counts.size()) == columns.rows() && counts.size() == successes.size(),
          "a count and successes for every row");
  for (std::size_t r = 0; r < counts.size(); ++r) {
    require(counts(r) >= 1 && counts(r) == std::floor(counts(r)), "counts: whole, from 1");
    require(successes(r) >= 0 && successes(r) <= counts(r), "successes: from 0 to the count");
  }
  return std::make_unique<LogitRows>(columns, design, to_numbers(counts), to_numbers(successes),
                                     intercept, room_bytes, std::move(norms));
}

void require_sound(const LogitRows& rows, const LogitPrior& prior,
                   const std::vector<double>& reference) {
  const auto p = static_cast<std::size_t>(rows.columns());
  require(prior.log_odds.size() == p && reference.size() == p, "one number per column");
  require(prior.intercept_precision > 0, "intercept_precision: positive");
}

// `units` are what probabilities are of.
nb::dict with_intercepts(LogitDraws& draws, Index units) {
  nb::dict out = to_dict(draws, units);
  out["intercept"] = to_array(draws.intercept);
  out["intercept_sum"] = draws.intercept_sum;
  return out;
}

nb::list sample(const LogitRows& rows, const LogitPrior& prior,
                const std::vector<LogitStart>& starts, const std::vector<double>& reference,
                std::uint64_t seed, const Schedule& schedule, int threads,
                const nb::object& progress) {
  require_sound(rows, prior, reference);
  for (const LogitStart& start : starts) {
    for (const Index j : start.support) require(j >= 0 && j < rows.columns(), "no such column");
  }
  PythonInterrupt interrupt;
  const Context context{threads, &interrupt};
  std::vector<LogitDraws> chains = run_released(interrupt, [&] {
    return run_logit_chains(rows, prior, starts, reference, seed, schedule, context,
                            progress_of(progress));
  });
  nb::list out;
  for (LogitDraws& chain : chains) out.append(with_intercepts(chain, rows.columns()));
  return out;
}

// Over sets of groups; parents are by unit, or none.
nb::list sample_groups(const LogitRows& rows, const LogitPrior& prior,
                       const std::vector<std::vector<Index>>& columns,
                       const std::vector<double>& log_odds,
                       const std::vector<std::vector<Index>>& parents, bool strong,
                       const std::vector<std::vector<Index>>& starts, std::uint64_t seed,
                       const Schedule& schedule, int threads, const nb::object& progress) {
  LogitGroups groups;
  groups.columns = columns;
  groups.rules.parents = parents;
  groups.rules.strong = strong;
  groups.prior.learn_theta = prior.learn_theta;
  groups.prior.theta_a = prior.theta_a;
  groups.prior.theta_b = prior.theta_b;
  groups.prior.log_odds = log_odds;
  const auto units = static_cast<Index>(columns.size());
  require(static_cast<Index>(log_odds.size()) == units, "one number per group");
  require(parents.empty() || static_cast<Index>(parents.size()) == units, "parents: by group");
  const auto within = [](const std::vector<std::vector<Index>>& lists, Index most) {
    for (const auto& list : lists) {
      for (const Index value : list) require(value >= 0 && value < most, "out of range");
    }
  };
  within(columns, rows.columns());
  within(parents, units);
  within(starts, units);
  PythonInterrupt interrupt;
  const Context context{threads, &interrupt};
  std::vector<LogitDraws> chains = run_released(interrupt, [&] {
    return run_logit_group_chains(rows, prior, groups, starts, seed, schedule, context,
                                  progress_of(progress));
  });
  nb::list out;
  for (LogitDraws& chain : chains) out.append(with_intercepts(chain, units));
  return out;
}

// What enumeration gives: draws and averages over all supports, the mass of every support by its
// code, what inclusion probabilities may be off by, and the log of the evidence.
struct EnumeratedLogit {
  nb::dict draws;
  std::vector<double> masses, error;
  double log_evidence;
};

EnumeratedLogit enumerate_all(const LogitRows& rows, const LogitPrior& prior,
                              const std::vector<double>& reference, Index draws, std::uint64_t seed,
                              double tolerance, int threads) {
  require_sound(rows, prior, reference);
  require(tolerance > 0, "tolerance: positive");
  PythonInterrupt interrupt;
  const Context context{threads, &interrupt};
  LogitEnumeration::Result found = run_released(interrupt, [&] {
    return LogitEnumeration(rows, prior).run(reference, draws, seed, tolerance, context);
  });
  return {with_intercepts(found.draws, rows.columns()), std::move(found.masses),
          std::move(found.error), found.log_evidence};
}

nb::object draw_many(Index n, double z, Index count, std::uint64_t seed) {
  require(n >= 1, "n: from 1");
  Random random(seed, 0);
  std::vector<double> out;
  for (Index i = 0; i < count; ++i) out.push_back(draw_polya_gamma(n, z, random));
  return to_array(out);
}

}  // namespace

void bind_logit_posterior(nb::module_& m) {
  nb::class_<LogitRows>(m, "LogitRows");
  m.def("make_logit_rows", &make_logit_rows, nb::arg("columns"), nb::arg("design"),
        nb::arg("counts").noconvert(), nb::arg("successes").noconvert(), nb::arg("intercept"),
        nb::arg("room_bytes"), nb::arg("norms") = std::vector<double>(), nb::keep_alive<0, 1>(),
        nb::keep_alive<0, 2>());
  nb::class_<LogitPrior>(m, "LogitPrior")
      .def(nb::init<>())
      .def_rw("slab_variance", &LogitPrior::slab_variance)
      .def_rw("intercept_precision", &LogitPrior::intercept_precision)
      .def_rw("learn_theta", &LogitPrior::learn_theta)
      .def_rw("theta_a", &LogitPrior::theta_a)
      .def_rw("theta_b", &LogitPrior::theta_b)
      .def_rw("log_odds", &LogitPrior::log_odds);
  nb::class_<LogitStart>(m, "LogitStart")
      .def(nb::init<>())
      .def_rw("support", &LogitStart::support)
      .def_rw("beta", &LogitStart::beta)
      .def_rw("intercept", &LogitStart::intercept);
  m.def("sample_logit_spike_slab", &sample, nb::arg("rows"), nb::arg("prior"), nb::arg("starts"),
        nb::arg("reference"), nb::arg("seed"), nb::arg("schedule"), nb::arg("threads"),
        nb::arg("progress").none());
  m.def("sample_logit_groups", &sample_groups, nb::arg("rows"), nb::arg("prior"),
        nb::arg("columns"), nb::arg("log_odds"), nb::arg("parents"), nb::arg("strong"),
        nb::arg("starts"), nb::arg("seed"), nb::arg("schedule"), nb::arg("threads"),
        nb::arg("progress").none());
  nb::class_<EnumeratedLogit>(m, "EnumeratedLogit")
      .def_ro("draws", &EnumeratedLogit::draws)
      .def_prop_ro("masses", [](const EnumeratedLogit& e) { return to_array(e.masses); })
      .def_prop_ro("error", [](const EnumeratedLogit& e) { return to_array(e.error); })
      .def_ro("log_evidence", &EnumeratedLogit::log_evidence);
  m.def("enumerate_logit_spike_slab", &enumerate_all, nb::arg("rows"), nb::arg("prior"),
        nb::arg("reference"), nb::arg("draws"), nb::arg("seed"), nb::arg("tolerance"),
        nb::arg("threads"));
  m.def("draw_polya_gamma", &draw_many, nb::arg("n"), nb::arg("z"), nb::arg("count"),
        nb::arg("seed"));
}

}  // namespace ellzero
