import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from estimator_checks import assert_passes_every_check
from reference.spike_slab import (
    all_supports,
    coefficients,
    log_density,
    log_inverse_gamma,
    log_prior,
)
from reference.subsets import preprocess
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from spike_slab_priors import autoregressive

from ellzero import SpikeSlabRegressor
from ellzero.datasets import load_diabetes_interactions, make_collinear
from ellzero.posterior import from_standardised, to_standardised

QUICK = {"n_chains": 2, "n_draws": 200, "n_warmup": 100, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    X, y = autoregressive(60, 8, 0.6, seed=0)
    return pd.DataFrame(X, columns=list("abcdefgh")), y


@pytest.mark.parametrize(
    "estimator",
    [
        "SpikeSlabRegressor()",
        'SpikeSlabRegressor(solver="gibbs", random_state=0)',
        'SpikeSlabRegressor(scale_prior="zellner-siow", n_draws=200)',
        'SpikeSlabRegressor(slab="laplace", n_draws=200)',
        'SpikeSlabRegressor(slab="boom", theta=0.5, solver="tempered", n_draws=200)',
    ],
)
def test_check_estimator(estimator):
    assert_passes_every_check(estimator)


def test_diabetes_as_in_the_paper():
    diabetes = load_diabetes_interactions()
    model = SpikeSlabRegressor(slab="boom", theta=0.5, random_state=0)
    model.fit(diabetes.data, diabetes.target)
    names = ["sex", "bmi", "map", "hdl", "ltg", "age:sex"]
    assert model.get_feature_names_out().tolist() == names


def test_true_variables_of_the_paper_design():
    X, y, beta = make_collinear(120, 100, random_state=0)
    model = SpikeSlabRegressor(random_state=0).fit(X, y)
    assert model.solver_ == "gibbs"
    np.testing.assert_array_equal(model.support_, np.flatnonzero(beta))
    assert ((model.coef_ - beta) ** 2).sum() < 0.5


@pytest.mark.parametrize("slab", ["gaussian", "laplace", "zellner", "boom"])
def test_solvers_agree(table, slab):
    X, y = table
    X = X.iloc[:, :5]
    settings = {"slab": slab, "random_state": 0, "n_draws": 3000}
    models = {
        solver: SpikeSlabRegressor(solver=solver, **settings).fit(X, y)
        for solver in ("enumerate", "gibbs", "tempered")
        if not (slab == "laplace" and solver == "enumerate")
    }
    first, *others = models.values()
    for other in others:
        for name in ("inclusion_probabilities_", "coef_", "coef_sd_"):
            np.testing.assert_allclose(
                getattr(other, name), getattr(first, name), atol=0.03, err_msg=name
            )
        assert other.draws_.sigma_e.mean() == pytest.approx(first.draws_.sigma_e.mean(), rel=0.03)
        mean, std = first.predict(X, return_std=True)
        np.testing.assert_allclose(other.predict(X, return_std=True)[0], mean, atol=0.06)
        np.testing.assert_allclose(other.predict(X, return_std=True)[1], std, rtol=0.04)


def test_predictive_distribution_is_the_mixture_over_models(table):
    X, y = table[0].to_numpy()[:, :3], table[1]
    sigma_e, sigma_beta = 1.5, 6.0
    model = SpikeSlabRegressor(
        theta=0.3, sigma_e=sigma_e, sigma_beta=sigma_beta, random_state=0, n_draws=10_000
    ).fit(X, y)
    assert model.solver_ == "enumerate"
    Z, target = preprocess(X, y)
    scale = np.linalg.norm(X - X.mean(axis=0), axis=0)
    new = X[:4] + 1.0
    rows = (new - X.mean(axis=0)) / scale
    weights, means, variances = [], [], []
    for support in all_supports(3):
        P = (sigma_e / sigma_beta) ** 2 * np.eye(len(support))
        weights.append(
            log_prior(support, 3, 0.3, None)
            + log_density(Z[:, support], target, len(y) - 1, sigma_e**2, P)
        )
        beta, covariance, _ = coefficients(Z[:, support], target, P)
        signal = rows[:, support]
        means.append(y.mean() + signal @ beta)
        spread = np.einsum("ij,jk,ik->i", signal, covariance, signal)
        variances.append(sigma_e**2 * (1 + 1 / len(y) + spread))
    share = np.exp(np.array(weights) - max(weights))
    share /= share.sum()
    mean = share @ np.array(means)
    variance = share @ (np.array(variances) + (np.array(means) - mean) ** 2)
    found, std = model.predict(new, return_std=True)
    np.testing.assert_allclose(found, mean, rtol=1e-9)
    np.testing.assert_allclose(std, np.sqrt(variance), rtol=0.01)
    drawn = model.sample_predictive(new, random_state=1)
    assert drawn.shape == (40_000, 4)
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.05)
    np.testing.assert_allclose(drawn.std(axis=0), np.sqrt(variance), rtol=0.02)


@pytest.mark.parametrize("solver", ["enumerate", "gibbs", "tempered"])
def test_same_seed_same_draws(table, solver):
    settings = {**QUICK, "solver": solver, "n_chains": 3}
    one = SpikeSlabRegressor(n_jobs=1, **settings).fit(*table)
    two = SpikeSlabRegressor(n_jobs=2, **settings).fit(*table)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.draws_.coef.toarray(), two.draws_.coef.toarray())
    np.testing.assert_array_equal(one.draws_.sigma_e, two.draws_.sigma_e)
    np.testing.assert_array_equal(one.draws_.intercept, two.draws_.intercept)


def test_weights_are_repetitions(table):
    X, y = table[0].to_numpy(), table[1]
    weights = np.arange(len(y)) % 3
    settings = {"solver": "enumerate", "theta": 0.2, "sigma_e": 1.5, "sigma_beta": 8.0}
    weighted = SpikeSlabRegressor(**settings).fit(X, y, weights)
    repeated = SpikeSlabRegressor(**settings).fit(X.repeat(weights, 0), y.repeat(weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)
    np.testing.assert_allclose(
        weighted.inclusion_probabilities_, repeated.inclusion_probabilities_, rtol=1e-9
    )


def test_units_of_the_columns_and_of_y_change_nothing_else(table):
    X, y = table[0].to_numpy(), table[1]
    factors = 10.0 ** np.arange(-4, 4)
    plain = SpikeSlabRegressor(**QUICK).fit(X, y)
    scaled = SpikeSlabRegressor(**QUICK).fit(X * factors + 5.0, 1000 * y + 1e4)
    np.testing.assert_allclose(
        scaled.inclusion_probabilities_, plain.inclusion_probabilities_, atol=1e-6
    )
    np.testing.assert_allclose(scaled.coef_ * factors / 1000, plain.coef_, atol=1e-6)
    np.testing.assert_allclose(scaled.draws_.sigma_e, 1000 * plain.draws_.sigma_e, rtol=1e-5)


@pytest.mark.parametrize("kind", ["float32", "sparse", "fortran", "frame", "polars"])
def test_input_of_any_kind(table, kind):
    X, y = table
    polars = pytest.importorskip("polars") if kind == "polars" else None
    given = {
        "float32": lambda: X.to_numpy().astype(np.float32),
        "sparse": lambda: sparse.csr_array(X.to_numpy()),
        "fortran": lambda: np.asfortranarray(X.to_numpy()),
        "frame": lambda: X,
        "polars": lambda: polars.from_pandas(X),
    }[kind]()
    expected = SpikeSlabRegressor(**QUICK).fit(X.to_numpy(), y)
    found = SpikeSlabRegressor(**QUICK).fit(given, y)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-5)
    np.testing.assert_allclose(found.predict(given), expected.predict(X.to_numpy()), atol=1e-4)
    np.testing.assert_allclose(
        found.predict(given, return_std=True)[1],
        expected.predict(X.to_numpy(), return_std=True)[1],
        atol=1e-4,
    )


@pytest.mark.parametrize("solver", ["enumerate", "gibbs", "tempered"])
def test_columns_always_and_never_in(table, solver):
    X, y = table
    model = SpikeSlabRegressor(
        solver=solver, theta={"a": 1.0, "b": 0.0, "c": 0.9}, always_include=["h"], **QUICK
    ).fit(X, y)
    inclusion = dict(zip(X.columns, model.inclusion_probabilities_, strict=True))
    assert inclusion["a"] == inclusion["h"] == pytest.approx(1)
    assert inclusion["b"] == 0
    assert all({"a", "h"} <= set(names) for names in model.models_["variables"])
    assert not any("b" in names for names in model.models_["variables"])


def test_theta_of_many_kinds(table):
    X, y = table
    values = np.linspace(0.1, 0.6, 8)
    named = dict(zip(X.columns, values, strict=True))
    expected = SpikeSlabRegressor(theta=values, **QUICK).fit(X, y).coef_
    for theta in (values.tolist(), named, pd.Series(named), dict(enumerate(values))):
        found = SpikeSlabRegressor(theta=theta, **QUICK).fit(X, y).coef_
        np.testing.assert_array_equal(found, expected)


def test_learned_theta_leaves_out_the_columns_that_have_no_choice(table):
    X, y = table
    model = SpikeSlabRegressor(always_include=list("abcdefgh"), **QUICK).fit(X, y)
    np.testing.assert_allclose(model.inclusion_probabilities_, 1)
    # Nothing was learned about theta: Beta(1, p / expected_size - 1) = Beta(1, 3)
    assert model.draws_.theta.mean() == pytest.approx(0.25, abs=0.03)


DEGENERATE = {
    "y all zero": lambda X, y: (X, 0 * y),
    "y constant": lambda X, y: (X, 0 * y + 3.0),
    "all columns constant": lambda X, y: (0 * X + 2.0, y),
    "one column constant": lambda X, y: (np.column_stack([X, np.ones(len(y))]), y),
    "exact copies": lambda X, y: (np.column_stack([X, X]), y),
    "near copies": lambda X, y: (np.column_stack([X, X + 1e-9 * X[:, ::-1]]), y),
    "one column": lambda X, y: (X[:, :1], y),
    "one row": lambda X, y: (X[:1], y[:1]),
    "two rows": lambda X, y: (X[:2], y[:2]),
    "fewer rows than columns": lambda X, y: (X[:5], y[:5]),
    "y is a column": lambda X, y: (X, X[:, 2]),
    "huge": lambda X, y: (1e100 * X, 1e100 * y),
    "tiny": lambda X, y: (1e-100 * X, 1e-100 * y),
    "far from zero": lambda X, y: (X + 1e8, y + 1e8),
}


@pytest.mark.parametrize(
    "prior",
    [
        {"slab": "gaussian"},
        {"slab": "laplace"},
        {"slab": "zellner"},
        {"slab": "boom"},
        {"slab": "gaussian", "scale_prior": "zellner-siow"},
        {"slab": "laplace", "scale_prior": "zellner-siow"},
        {"slab": "gaussian", "scale_prior": "prediction"},
    ],
    ids=lambda prior: ", ".join(prior.values()),
)
@pytest.mark.parametrize("kind", DEGENERATE)
def test_degenerate_input(table, kind, prior):
    X, y = DEGENERATE[kind](table[0].to_numpy(), table[1])
    slab = prior["slab"]
    for solver in ("gibbs", "tempered", "enumerate"):
        if solver == "enumerate" and (slab == "laplace" or X.shape[1] > 9):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = SpikeSlabRegressor(solver=solver, **prior, **QUICK).fit(X, y)
        assert str(model.sensitivity_).startswith("Had ")
        for name in ("coef_", "inclusion_probabilities_", "intercept_"):
            assert np.isfinite(getattr(model, name)).all(), (solver, name)
        assert ((model.inclusion_probabilities_ >= 0) & (model.inclusion_probabilities_ <= 1)).all()
        assert np.isfinite(model.predict(X)).all()
        dead = np.ptp(X, axis=0) == 0
        assert (model.inclusion_probabilities_[dead] == 0).all()
        if kind.startswith("y all") or kind == "y constant":
            assert (model.inclusion_probabilities_ < 0.5).all()
            np.testing.assert_allclose(model.coef_, 0, atol=1e-9)


def test_copies_share_their_probability_and_stand_in_for_each_other(rng):
    X = rng.standard_normal((80, 6))
    X = np.column_stack([X, X[:, 0] + 1e-3 * rng.standard_normal(80), X[:, 0]])
    y = 2 * X[:, 0] + X[:, 3] + 0.5 * rng.standard_normal(80)
    model = SpikeSlabRegressor(random_state=0, solver="gibbs", expected_size=1.0).fit(X, y)
    inclusion = model.inclusion_probabilities_
    assert inclusion[[0, 6, 7]].sum() == pytest.approx(1.0, abs=0.35)
    assert (inclusion[[0, 6, 7]] < 0.6).all()
    sets = {frozenset(found.columns.tolist()) for found in model.credible_sets_}
    assert sets == {frozenset({0, 6, 7}), frozenset({3})}
    for found in model.credible_sets_:
        assert found.probability >= 0.95
        assert found.best == found.variables[0] == f"x{found.columns[0]}"
        assert (np.diff(found.inclusion) <= 0).all()


def test_enumerated_models_are_all_there(table):
    X, y = table
    model = SpikeSlabRegressor(solver="enumerate", **QUICK).fit(X.iloc[:, :4], y)
    models = model.models_
    assert models["mass"].is_monotonic_decreasing
    assert models["mass"].sum() == pytest.approx(1, abs=2e-6)
    for name, probability in zip("abcd", model.inclusion_probabilities_, strict=True):
        mass = models["mass"][[name in names for names in models["variables"]]].sum()
        assert mass == pytest.approx(probability, abs=2e-6)
    assert (model.diagnostics_.index == ["sigma_e", "sigma_beta", "theta"]).all()


def test_diagnostics(table):
    model = SpikeSlabRegressor(solver="gibbs", random_state=0).fit(*table)
    table_ = model.diagnostics_
    assert table_.index.tolist() == [*"abcdefgh", "sigma_e", "sigma_beta", "theta"]
    assert table_.columns.tolist() == ["r_hat", "ess_bulk", "ess_tail", "mcse"]
    assert (table_["r_hat"] < 1.02).all()
    exact = SpikeSlabRegressor(solver="enumerate").fit(*table)
    error = np.abs(model.inclusion_probabilities_ - exact.inclusion_probabilities_)
    assert (error < 4 * table_["mcse"].to_numpy()[:8]).all()


def test_chains_that_disagree_are_warned_of(rng, monkeypatch):
    # Two explanations of y far apart: no single flip or swap leads from one to the other, and the
    # search for modes is held back.
    monkeypatch.setattr("ellzero.posterior._starts.find_modes", lambda *_: [])
    u, v = rng.standard_normal((2, 400))
    X = np.column_stack([u + v, u - v, u, v]) + 1e-3 * rng.standard_normal((400, 4))
    y = 2 * u + 1e-3 * rng.standard_normal(400)
    model = SpikeSlabRegressor(random_state=0, solver="gibbs", n_warmup=0, n_draws=200)
    with pytest.warns(ConvergenceWarning, match="disagree on 'x[0-3]'"):
        model.fit(X, y)
    assert model.diagnostics_["r_hat"].max() > 1.5


def test_summary_intervals_and_plot(table):
    import matplotlib as mpl

    mpl.use("Agg")
    X, y = table
    model = SpikeSlabRegressor(**QUICK).fit(X, y)
    summary = model.summary()
    assert summary["inclusion"].is_monotonic_decreasing
    assert summary.attrs["solver"] == model.solver_
    interval = model.credible_interval(0.9)
    dense = model.draws_.coef.toarray()
    np.testing.assert_allclose(interval["low"], np.quantile(dense, 0.05, axis=0), atol=1e-12)
    np.testing.assert_allclose(interval["high"], np.quantile(dense, 0.95, axis=0), atol=1e-12)
    axes = model.plot(max_variables=5)
    assert len(axes[0].patches) == 5
    mpl.pyplot.close("all")


def test_habits_of_scikit_learn(table):
    X, y = table
    model = SpikeSlabRegressor(**QUICK).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.models_.equals(model.models_)
    np.testing.assert_array_equal(clone(model).fit(X, y).coef_, model.coef_)
    assert model.transform(X).shape == (60, model.support_.size)
    pipeline = make_pipeline(StandardScaler(), SpikeSlabRegressor(**QUICK)).fit(X, y)
    np.testing.assert_allclose(pipeline.predict(X), model.predict(X), atol=1e-6)


def test_nothing_is_left_of_an_earlier_fit(table):
    X, y = table
    model = SpikeSlabRegressor(solver="enumerate", **QUICK).fit(X, y)
    first = (model.models_, model.credible_sets_, model.diagnostics_, model.log_evidence_)
    model.set_params(solver="gibbs").fit(X.iloc[:, ::-1], y)
    assert model.log_evidence_ != first[3]
    assert model.log_evidence_error_ > 0
    assert model.diagnostics_.index[0] == "h"
    assert not model.models_.equals(first[0])


def test_a_fit_that_fails_leaves_the_last_one(table):
    X, y = table
    model = SpikeSlabRegressor(**QUICK).fit(X, y)
    before = dict(vars(model))
    model.set_params(theta=[0.1])
    with pytest.raises(ValueError, match="theta has shape"):
        model.fit(X.iloc[:, :3], y)
    assert {**vars(model), "theta": "learn"} == before
    fresh = SpikeSlabRegressor(theta=[0.1])
    with pytest.raises(ValueError, match="theta has shape"):
        fresh.fit(X, y)
    with pytest.raises(NotFittedError):
        fresh.predict(X)


def test_standard_deviations_far_below_the_coefficients(rng):
    X = rng.standard_normal((100, 3))
    y = 2e5 * X[:, 0]
    for solver in ("gibbs", "enumerate"):
        model = SpikeSlabRegressor(sigma_e=1e-3, sigma_beta=50.0, solver=solver, **QUICK)
        model.fit(X, y)
        expected = 1e-3 / np.linalg.norm(X[:, 0] - X[:, 0].mean())
        assert model.coef_sd_[0] == pytest.approx(expected, rel=0.1)


def test_a_column_in_front_that_is_always_in_changes_no_swaps(rng):
    # The three copies take turns, wherever the forced column stands.
    X = rng.standard_normal((60, 2))
    X = np.column_stack([X, X[:, 1] + 1e-3 * rng.standard_normal((2, 60))[0], X[:, 1]])
    y = X[:, 0] + X[:, 1] + rng.standard_normal(60)
    moves = []
    for order in ([0, 1, 2, 3], [1, 2, 3, 0]):
        model = SpikeSlabRegressor(
            solver="gibbs", theta=0.05, always_include=[order.index(0)], random_state=0
        ).fit(X[:, order], y)
        inside = model.draws_.coef.toarray() != 0
        moves.append((inside[1:] != inside[:-1]).any(axis=1).mean())
    assert moves[0] == pytest.approx(moves[1], rel=0.1)


def test_model_size_mixes_where_all_odds_are_even(rng):
    X, y = rng.standard_normal((50, 30)), rng.standard_normal(50)
    model = SpikeSlabRegressor(solver="gibbs", sigma_e=1.0, sigma_beta=1e-4, theta=0.5, **QUICK)
    model.fit(X, y)
    assert model.draws_.size.var() == pytest.approx(7.5, rel=0.3)


def test_forced_columns_that_depend_on_others_under_zellner(rng):
    X = rng.standard_normal((40, 4))
    X[:, 2] = X[:, 0]
    y = X[:, 0] + rng.standard_normal(40)
    for solver in ("enumerate", "gibbs", "tempered"):
        model = SpikeSlabRegressor(slab="zellner", always_include=[0, 2], solver=solver, **QUICK)
        with pytest.warns(UserWarning, match="'x2' is constant or depends"):
            model.fit(X, y)
        np.testing.assert_allclose(model.inclusion_probabilities_[[0, 2]], [1, 0])
        assert all("x0" in v and "x2" not in v for v in model.models_["variables"])


def test_credible_sets_where_no_few_models_have_the_mass():
    rng = np.random.default_rng(3)
    z = rng.standard_normal(60)
    X = np.column_stack(
        [z[:, None] + 0.8 * rng.standard_normal((60, 4)), rng.normal(size=(60, 12))]
    )
    y = 0.55 * z + rng.standard_normal(60)
    model = SpikeSlabRegressor(
        sigma_e=1.0, sigma_beta=1.0, theta=0.5, solver="enumerate", random_state=0
    ).fit(X, y)
    assert model.models_["mass"].sum() < 0.9
    for found in model.credible_sets_:
        assert found.probability <= min(1.0, found.inclusion.sum()) + 0.03


def test_evidence_compares_priors_and_columns(table):
    X, y = table[0].to_numpy()[:, :3], table[1]
    Z, target = preprocess(X, y)

    def literal(theta, s2, spread, columns):
        values = []
        for support in all_supports(len(columns)):
            P = s2 / spread * np.eye(len(support))
            Z_S = Z[:, [columns[j] for j in support]]
            values.append(
                log_prior(support, len(columns), theta, None)
                + log_density(Z_S, target, len(y) - 1, s2, P)
            )
        return logsumexp(values)

    for theta, s2, spread, columns in (
        (0.5, 1.0, 20.0, [0, 1, 2]),
        (0.1, 2.0, 20.0, [0, 1, 2]),
        (0.1, 2.0, 5.0, [1]),
    ):
        model = SpikeSlabRegressor(
            theta=theta, sigma_e=np.sqrt(s2), sigma_beta=np.sqrt(spread), solver="enumerate"
        ).fit(X[:, columns], y)
        expected = literal(theta, s2, spread, columns)
        assert model.log_evidence_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("learned", [("sigma_e",), ("sigma_beta",), ("sigma_e", "sigma_beta")])
def test_evidence_is_a_density_of_the_learned_parameters_too(table, learned):
    # Given values, weighed by their priors, integrate to the evidence with them learned.
    X, y = table[0].to_numpy()[:, :2], table[1]
    given = {"theta": 0.3, "sigma_e": 1.5, "sigma_beta": 8.0, "solver": "enumerate"}
    total = (y - y.mean()) @ (y - y.mean())
    laws = {"sigma_e": (0.005, 0.0025 * total / 59), "sigma_beta": (1.0, total / 2)}
    grids = {"sigma_e": np.linspace(-3, 4, 60), "sigma_beta": np.linspace(-2, 16, 60)}
    model = SpikeSlabRegressor(**{**given, **dict.fromkeys(learned, "learn")}, expected_size=1)
    found = model.fit(X, y).log_evidence_
    terms = []
    for x in np.array(np.meshgrid(*[grids[name] for name in learned])).reshape(len(learned), -1).T:
        values = {name: float(np.exp(v / 2)) for name, v in zip(learned, x, strict=True)}
        weight = sum(
            log_inverse_gamma(np.exp(v), *laws[name]) + v + np.log(np.diff(grids[name])[0])
            for name, v in zip(learned, x, strict=True)
        )
        fit = SpikeSlabRegressor(**{**given, **values}, n_chains=1, n_draws=1).fit(X, y)
        terms.append(fit.log_evidence_ + weight)
    assert found == pytest.approx(logsumexp(terms), abs=2e-3)


def test_names_of_columns_may_be_those_of_hyperparameters(table):
    X, y = table
    named = X.rename(columns={"a": "theta", "b": "sigma_e"})
    model = SpikeSlabRegressor(solver="gibbs", **QUICK).fit(named, y)
    assert len(model.diagnostics_) == 11


@pytest.mark.parametrize(
    "prior",
    [
        *({"slab": slab} for slab in ("gaussian", "laplace", "zellner", "boom")),
        {"scale_prior": "zellner-siow"},
        {"scale_prior": "zellner-siow", "slab": "laplace"},
        {"scale_prior": "prediction"},
    ],
)
@pytest.mark.parametrize("factor", [1e-100, 1e100])
def test_units_of_y_change_nothing_even_if_extreme(table, prior, factor):
    X, y = table
    plain, scaled = (
        SpikeSlabRegressor(solver="gibbs", **prior, **QUICK).fit(X, y * f) for f in (1.0, factor)
    )
    assert str(scaled.sensitivity_)[:40] == str(plain.sensitivity_)[:40]
    np.testing.assert_allclose(
        scaled.inclusion_probabilities_, plain.inclusion_probabilities_, atol=0.03
    )


def test_not_fitted():
    model = SpikeSlabRegressor()
    for use in (model.summary, model.plot, model.credible_interval, lambda: model.models_):
        with pytest.raises(NotFittedError):
            use()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"expected_size": 8}, "expected_size=8 must be less than the number of columns of X, 8"),
        ({"expected_size": 0}, "expected_size"),
        ({"theta": 1.5}, "theta"),
        ({"theta": [0.5] * 7}, r"theta has shape \(7,\), but X has 8 columns"),
        ({"theta": [0.5] * 7 + [np.nan]}, "theta must hold numbers from 0 to 1"),
        ({"theta": {"z": 0.5}}, "theta names column 'z'"),
        ({"theta": {"a": "much"}}, "theta must hold numbers from 0 to 1"),
        ({"theta": ["a"] * 8}, "theta must hold numbers from 0 to 1"),
        ({"theta": "guess"}, "theta"),
        ({"sigma_beta": np.inf}, "sigma_beta must be finite"),
        ({"sigma_beta": 0}, "sigma_beta"),
        ({"sigma_e": np.inf}, "sigma_e must be a number between"),
        ({"sigma_e": True}, "sigma_e must be a number between"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"theta": {"a": True}}, "theta must hold numbers from 0 to 1; got True for 'a'"),
        ({"theta": [0.5] * 7 + [2.0]}, "got 2.0 for 'h'"),
        ({"theta": {"a": 0.0}, "always_include": ["a"]}, "column 'a', but theta is 0"),
        ({"expected_size": 1e-320}, "expected_size must be at least"),
        ({"sigma_beta": 1e7}, "sigma_beta=1e[+]07 is too far from what the data say of sigma_e"),
        ({"sigma_e": 1e-7}, "sigma_e=1e-07 is too far from what the data say of sigma_beta"),
        ({"sigma_e": -1}, "sigma_e"),
        ({"sigma_e": 1e-3, "sigma_beta": 1e3}, "sigma_beta=1000 is too far from sigma_e=0.001"),
        ({"sigma_beta": 1.0, "slab": "zellner"}, "sigma_beta is not part of slab='zellner'"),
        ({"scale_prior": "flat"}, "scale_prior"),
        (
            {"scale_prior": "zellner-siow", "slab": "boom"},
            "scale_prior is not part of slab='boom'; leave it out",
        ),
        (
            {"scale_prior": "prediction", "sigma_beta": 3.0},
            "sigma_beta=3 is given: scale_prior has no use",
        ),
        ({"g": 5.0}, 'g is for slab="zellner" only'),
        ({"g": 1e300, "slab": "zellner"}, "g must be between"),
        ({"slab": "cauchy"}, "slab"),
        ({"solver": "nuts"}, "solver"),
        ({"solver": "enumerate", "slab": "laplace"}, 'not "laplace"'),
        ({"n_draws": 0}, "n_draws"),
        ({"n_chains": 0}, "n_chains"),
        ({"n_warmup": -1}, "n_warmup"),
        ({"always_include": ["z"]}, "always_include names column 'z'"),
    ],
)
def test_bad_parameters(table, parameters, message):
    with pytest.raises(ValueError, match=message):
        SpikeSlabRegressor(**parameters).fit(*table)


def test_too_many_columns_to_enumerate(rng):
    X, y = rng.standard_normal((30, 23)), rng.standard_normal(30)
    with pytest.raises(ValueError, match="at most 22 columns, but 23 may go either way"):
        SpikeSlabRegressor(solver="enumerate", sigma_e=1.0, sigma_beta=1.0).fit(X, y)
    with pytest.raises(ValueError, match="at most 16 columns with a variance learned"):
        SpikeSlabRegressor(solver="enumerate").fit(X, y)
    few = SpikeSlabRegressor(solver="enumerate", always_include=range(15), **QUICK).fit(X, y)
    assert few.solver_ == "enumerate"


def test_bad_arguments_of_methods(table):
    X, y = table
    model = SpikeSlabRegressor(**QUICK).fit(X, y)
    with pytest.raises(ValueError, match="level must be strictly between 0 and 1"):
        model.credible_interval(95)
    with pytest.raises(ValueError, match="n_draws must be a positive integer"):
        model.sample_predictive(X, n_draws=0)
    with pytest.raises(ValueError, match="max_variables must be a positive integer"):
        model.plot(max_variables=0)
    with pytest.raises(ValueError, match="sample_weight sums to"):
        SpikeSlabRegressor().fit(X, y, np.full(len(y), 1e-3))
    twice = pd.Series([0.1, 0.2], index=["a", "a"])
    with pytest.raises(ValueError, match="theta names a column more than once"):
        SpikeSlabRegressor(theta=twice).fit(X, y)
    with pytest.warns(UserWarning, match="'a' is constant"):
        SpikeSlabRegressor(always_include=["a"], **QUICK).fit(X.assign(a=1.0), y)


def test_units():
    assert from_standardised(to_standardised(3.0, 50), 50) == pytest.approx(3.0)
    for value in (0, -1.0, np.inf, "x", True):
        with pytest.raises(ValueError, match="sigma must be a positive finite number"):
            from_standardised(value, 10)
        with pytest.raises(ValueError, match="n must be a positive finite number"):
            to_standardised(1.0, value)
