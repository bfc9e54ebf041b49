// The bridge and the horseshoe as Python sees them: a prior, and a function from a design to draws.
// Beside them the steps they are made of, for those who want to check one alone.
#include "posterior/scale_mixture.hpp"
#include "bindings/chain_states.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

namespace ellzero {
namespace {

nb::dict to_dict(const ScaleMixtureDraws& draws, Index columns) {
  nb::dict out;
  out["beta"] = to_array(draws.beta.data(), {draws.s2.size(), static_cast<std::size_t>(columns)});
  out["s2"] = to_array(draws.s2);
  out["tau"] = to_array(draws.tau);
  out["alpha"] = to_array(draws.alpha);
  out["slab"] = to_array(draws.slab);  // c
  add_state(out, draws.state, "state:");
  return out;
}

GaussianForm form_of(const Quadratic& design, std::optional<bool> by_rows) {
  if (!by_rows) return GaussianForm::automatic;
  require(!*by_rows || design.prepared_columns() != nullptr, "no rows at hand");
  return *by_rows ? GaussianForm::rows : GaussianForm::columns;
}

nb::list sample(const Quadratic& design, const ScaleMixturePrior& prior, Index chains, Index warmup,
                Index draws, std::uint64_t seed, int threads,
                const std::optional<Vector<double>>& start, double s2, double alpha, double tau,
                std::optional<bool> by_rows, const nb::object& progress, double slab, Index stop,
                const nb::list& states, Index sweeps) {
  require(chains >= 1 && warmup >= 0 && draws >= 0, "how many chains and draws");
  Schedule schedule;
  schedule.warmup = warmup;
  schedule.draws = draws;
  schedule.stop = stop;
  schedule.states = to_states(states);
  const GaussianForm form = form_of(design, by_rows);
  ScaleMixtureState state;
  if (start) {
    require(static_cast<Index>(start->size()) == design.columns(), "start: one per column");
    state = {{start->data(), start->data() + start->size()}, s2, alpha, tau, slab};
  }
  PythonInterrupt interrupt;
  const Context context{threads, &interrupt};
  const std::vector<ScaleMixtureDraws> all = run_released(interrupt, [&] {
    return run_scale_mixture(design, prior, chains, form, sweeps, schedule, seed,
                             start ? &state : nullptr, context, progress_of(progress));
  });
  nb::list out;
  for (const ScaleMixtureDraws& chain : all) out.append(to_dict(chain, design.columns()));
  return out;
}

// Draws of the coefficients at given ratios, by products of columns or by rows.
// Also what the density of y with the coefficients integrated out is made of.
nb::tuple draw_gaussian(const Quadratic& design, const Vector<double>& ratio, double factor,
                        double s2, Index draws, bool by_rows, std::uint64_t seed) {
  require(static_cast<Index>(ratio.size()) == design.columns(), "ratio: one per column");
  const GaussianForm form = form_of(design, by_rows);
  PythonInterrupt interrupt;
  const Context context{1, &interrupt};
  const std::size_t p = ratio.size();
  std::vector<double> out(draws * p, 0.0);
  double log_determinant = 0, squares = 0;
  run_released(interrupt, [&] {
    const GaussianProblem problem(design, form, context);
    std::vector<double> own, beta(problem.size());
    for (const Index j : problem.live) own.push_back(ratio.data()[j]);
    const auto sampler = make_sampler(problem);
    Random random(seed, 0);
    sampler->set_ratios(own.data(), context);
    sampler->factorise(factor, context);
    log_determinant = sampler->log_determinant();
    squares = sampler->squares();
    for (Index t = 0; t < draws; ++t) {
      context.check();
      sampler->draw(s2, random, beta.data());
      for (Index k = 0; k < problem.size(); ++k) out[t * p + problem.live[k]] = beta[k];
    }
    return 0;
  });
  return nb::make_tuple(to_array(out.data(), {static_cast<std::size_t>(draws), p}), log_determinant,
                        squares);
}

// What a sweep over h says of each column when its turn comes, if every h is replaced by `then`.
nb::tuple visit_scales(const Quadratic& design, const Vector<double>& h,
                       const Vector<double>& then) {
  require(static_cast<Index>(h.size()) == design.columns() && then.size() == h.size(),
          "h: one per column");
  PythonInterrupt interrupt;
  const Context context{1, &interrupt};
  std::vector<double> own(h.data(), h.data() + h.size()), a(h.size()), c(h.size());
  std::vector<double> squares;
  std::vector<Index> order;
  run_released(interrupt, [&] {
    const GaussianProblem problem(design, form_of(design, true), context);
    require(problem.size() == design.columns(), "no column is constant");
    RowSweep(problem).run(
        own.data(),
        [&](Index j, double own_a, double own_c) {
          order.push_back(j);
          a[j] = own_a;
          c[j] = own_c;
          return then.data()[j];
        },
        [&](double value) { squares.push_back(value); }, context);
    return 0;
  });
  return nb::make_tuple(to_array(order), to_array(a), to_array(c), to_array(squares));
}

template <class Draw>
nb::object draw_many(Index count, std::uint64_t seed, Draw&& draw) {
  Random random(seed, 0);
  std::vector<double> out;
  for (Index i = 0; i < count; ++i) out.push_back(draw(random));
  return to_array(out);
}

}  // namespace

void bind_scale_mixture(nb::module_& m) {
  nb::class_<BridgePrior>(m, "BridgePrior")
      .def(nb::init<>())
      .def_rw("learn_alpha", &BridgePrior::learn_alpha)
      .def_rw("least_alpha", &BridgePrior::least_alpha)
      .def_rw("greatest_alpha", &BridgePrior::greatest_alpha)
      .def_rw("alpha", &BridgePrior::alpha)
      .def_rw("learn_tau", &BridgePrior::learn_tau)
      .def_rw("tau", &BridgePrior::tau)
      .def_rw("nu_shape", &BridgePrior::nu_shape)
      .def_rw("nu_rate", &BridgePrior::nu_rate);
  nb::class_<HorseshoePrior>(m, "HorseshoePrior")
      .def(nb::init<>())
      .def_rw("learn_tau", &HorseshoePrior::learn_tau)
      .def_rw("tau", &HorseshoePrior::tau)
      .def_rw("tau_scale", &HorseshoePrior::tau_scale)
      .def_rw("regularised", &HorseshoePrior::regularised)
      .def_rw("slab_df", &HorseshoePrior::slab_df)
      .def_rw("slab_scale", &HorseshoePrior::slab_scale);
  nb::class_<ScaleMixturePrior>(m, "ScaleMixturePrior")
      .def(nb::init<>())
      .def_rw("is_horseshoe", &ScaleMixturePrior::is_horseshoe)
      .def_rw("bridge", &ScaleMixturePrior::bridge)
      .def_rw("horseshoe", &ScaleMixturePrior::horseshoe)
      .def_rw("noise", &ScaleMixturePrior::noise)
      .def_rw("degrees", &ScaleMixturePrior::degrees);
  m.def("sample_scale_mixture", &sample, nb::arg("design"), nb::arg("prior"), nb::arg("chains"),
        nb::arg("warmup"), nb::arg("draws"), nb::arg("seed"), nb::arg("threads"),
        nb::arg("start").noconvert().none() = nb::none(), nb::arg("s2") = 1.0,
        nb::arg("alpha") = 0.5, nb::arg("tau") = 1.0, nb::arg("by_rows").none() = nb::none(),
        nb::arg("progress").none() = nb::none(), nb::arg("slab") = 1.0, nb::arg("stop") = -1,
        nb::arg("states") = nb::list(), nb::arg("sweeps") = -1);
  m.def("draw_gaussian", &draw_gaussian, nb::arg("design"), nb::arg("ratio").noconvert(),
        nb::arg("factor"), nb::arg("s2"), nb::arg("draws"), nb::arg("by_rows"), nb::arg("seed"));
  m.def(
      "draw_tilted_stable",
      [](double index, double log_tilt, Index count, std::uint64_t seed) {
        require(index > 0 && index < 1, "index: between 0 and 1");
        const TiltedStable stable(index);
        return draw_many(count, seed,
                         [&](Random& random) { return stable.log_draw(log_tilt, random); });
      },
      nb::arg("index"), nb::arg("log_tilt"), nb::arg("count"), nb::arg("seed"));
  m.def(
      "draw_horseshoe_precision",
      [](double x, Index count, std::uint64_t seed) {
        require(x > 0, "x: positive");
        return draw_many(count, seed,
                         [&](Random& random) { return draw_horseshoe_precision(x, random); });
      },
      nb::arg("x"), nb::arg("count"), nb::arg("seed"));
  m.def("log_scaled_e1", &log_scaled_e1, nb::arg("x"));
  m.def(
      "draw_regularised_precision",
      [](double x, double e, Index count, std::uint64_t seed) {
        require(x > 0 && e > 0, "x, e: positive");
        return draw_many(count, seed,
                         [&](Random& random) { return draw_regularised_precision(x, e, random); });
      },
      nb::arg("x"), nb::arg("e"), nb::arg("count"), nb::arg("seed"));
  m.def("visit_scales", &visit_scales, nb::arg("design"), nb::arg("h").noconvert(),
        nb::arg("then").noconvert());
  m.def(
      "draw_horseshoe_scale",
      [](double a, double c, double s2, double unit, double ridge, Index count,
         std::uint64_t seed) {
        require(a > 0 && s2 > 0 && ridge >= 0, "a, s2, ridge: positive");
        return draw_many(count, seed, [&](Random& random) {
          return draw_horseshoe_scale(a, c, s2, unit, ridge, random);
        });
      },
      nb::arg("a"), nb::arg("c"), nb::arg("s2"), nb::arg("unit"), nb::arg("ridge"),
      nb::arg("count"), nb::arg("seed"));
  m.def(
      "draw_bridge_coefficient",
      [](double m, double t, double alpha, Index count, std::uint64_t seed) {
        require(t > 0 && alpha > 0 && alpha <= 1, "t: positive; alpha: up to one");
        const BridgeCoefficient coefficient(alpha);
        return draw_many(count, seed,
                         [&](Random& random) { return coefficient.draw(m, t, random); });
      },
      nb::arg("m"), nb::arg("t"), nb::arg("alpha"), nb::arg("count"), nb::arg("seed"));
}

}  // namespace ellzero
