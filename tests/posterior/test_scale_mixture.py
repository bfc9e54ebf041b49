"""What users may do with the bridge and the horseshoe."""

import pickle
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from estimator_checks import assert_passes_every_check
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ellzero import BayesianBridgeRegressor, HorseshoeRegressor
from ellzero.datasets import make_collinear

QUICK = {"n_chains": 2, "n_draws": 200, "n_warmup": 100, "random_state": 0}
BOTH = pytest.mark.parametrize("kind", [BayesianBridgeRegressor, HorseshoeRegressor])


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    X[:, 1:] += 0.8 * X[:, :-1]
    y = 2 * X[:, 0] - 3 * X[:, 4] + rng.standard_normal(60)
    return pd.DataFrame(X, columns=list("abcdefgh")), y


@pytest.mark.parametrize(
    "estimator",
    [
        "BayesianBridgeRegressor()",
        "HorseshoeRegressor()",
        "HorseshoeRegressor(regularised=True)",
    ],
)
def test_check_estimator(estimator):
    assert_passes_every_check(estimator)


@pytest.mark.filterwarnings("ignore:.*has not mixed")  # draws worth few independent ones
@BOTH
def test_the_paper_design(kind):
    X, y, beta = make_collinear(120, 100, random_state=0)
    model = kind(random_state=0).fit(X, y)
    assert set(np.flatnonzero(np.abs(beta) >= 2)) <= set(model.support_)
    assert model.support_.size <= 14
    inside = model.credible_interval(0.99)
    assert ((inside["low"] <= beta) & (beta <= inside["high"])).mean() > 0.95


@BOTH
def test_more_columns_than_rows(kind):
    X, y, beta = make_collinear(60, 150, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = kind(n_draws=500, random_state=0).fit(X, y)
    largest = np.argsort(-np.abs(model.coef_))[:3]
    assert (np.abs(beta[largest]) >= 3).all()
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.99


@pytest.mark.parametrize("shape", [(60, 8), (20, 70)])
@BOTH
def test_same_seed_same_draws(kind, shape):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal(shape), rng.standard_normal(shape[0])
    settings = {**QUICK, "n_chains": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one, two = (kind(n_jobs=n_jobs, **settings).fit(X, y) for n_jobs in (1, 2))
        other = kind(**{**settings, "random_state": 1}).fit(X, y)
    np.testing.assert_array_equal(one.draws_.coef, two.draws_.coef)
    np.testing.assert_array_equal(one.draws_.sigma_e, two.draws_.sigma_e)
    np.testing.assert_array_equal(one.draws_.intercept, two.draws_.intercept)
    assert (one.draws_.sigma_e != other.draws_.sigma_e).all()
    assert (one.draws_.coef[:200] != one.draws_.coef[200:400]).all()


@pytest.mark.parametrize("shape", [(60, 8), (12, 30), (20, 70)])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@BOTH
def test_weights_are_repetitions(kind, shape, container):
    rng = np.random.default_rng(2)
    X = np.where(rng.random(shape) < 0.5, 0, rng.standard_normal(shape))
    y = X[:, 0] + 0.1 * rng.standard_normal(shape[0])
    weights = np.arange(len(y)) % 3
    order = rng.permutation(len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        weighted = kind(**QUICK).fit(container(X[order]), y[order], weights[order])
        repeated = kind(**QUICK).fit(container(X.repeat(weights, 0)), y.repeat(weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6)
    np.testing.assert_allclose(weighted.draws_.sigma_e, repeated.draws_.sigma_e, rtol=1e-6)


def test_units_of_the_columns_change_nothing_else(table):
    X, y = table[0].to_numpy(), table[1]
    factors = 10.0 ** np.arange(-4, 4)
    plain = BayesianBridgeRegressor(**QUICK).fit(X, y)
    scaled = BayesianBridgeRegressor(**QUICK).fit(X * factors + 5.0, y + 1e4)
    np.testing.assert_allclose(scaled.coef_ * factors, plain.coef_, atol=1e-6)


def test_units_of_y(table):
    # The horseshoe's tau is measured in sigma_e. The bridge's has a unit, and so has nu's rate.
    X, y = table
    plain = HorseshoeRegressor(**QUICK).fit(X, y)
    scaled = HorseshoeRegressor(**QUICK).fit(X, 1000 * y)
    np.testing.assert_allclose(scaled.coef_ / 1000, plain.coef_, rtol=1e-6)
    plain = BayesianBridgeRegressor(**QUICK).fit(X, y)
    scaled = BayesianBridgeRegressor(nu_prior=(2.0, 2.0 * 1000**0.5), **QUICK).fit(X, 1000 * y)
    np.testing.assert_allclose(scaled.coef_ / 1000, plain.coef_, rtol=1e-6)


def test_a_rate_that_outweighs_the_data_is_warned_of(rng):
    X, y = rng.standard_normal((40, 12)), 1e-8 * rng.standard_normal(40)
    with pytest.warns(UserWarning, match=r"nu_prior=\(2.0, 2.0\) outweighs the data"):
        BayesianBridgeRegressor(**QUICK).fit(X, y)
    BayesianBridgeRegressor(nu_prior=(2.0, 1e-4), **QUICK).fit(X, y)


@pytest.mark.parametrize("given", ["float32", "sparse", "fortran", "frame", "polars"])
@BOTH
def test_input_of_any_kind(table, kind, given):
    X, y = table
    polars = pytest.importorskip("polars") if given == "polars" else None
    other = {
        "float32": lambda: X.to_numpy().astype(np.float32),
        "sparse": lambda: sparse.csr_array(X.to_numpy()),
        "fortran": lambda: np.asfortranarray(X.to_numpy()),
        "frame": lambda: X,
        "polars": lambda: polars.from_pandas(X),
    }[given]()
    expected, found = kind(**QUICK).fit(X.to_numpy(), y), kind(**QUICK).fit(other, y)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-4)
    for one, two in zip(
        found.predict(other, return_std=True),
        expected.predict(X.to_numpy(), return_std=True),
        strict=True,
    ):
        np.testing.assert_allclose(one, two, atol=1e-3)
    drawn = found.sample_predictive(other, n_draws=7, random_state=0)
    assert drawn.shape == (7, 60)


@pytest.mark.filterwarnings("ignore:.*has not mixed")  # draws worth few independent ones
def test_wide_and_sparse_has_the_posterior_of_wide_and_dense(rng):
    X = np.where(rng.random((20, 70)) < 0.7, 0.0, rng.standard_normal((20, 70)))
    y = 3 * X[:, 0] + 0.5 * rng.standard_normal(20)
    dense = BayesianBridgeRegressor(random_state=0).fit(X, y)
    given = BayesianBridgeRegressor(random_state=1).fit(sparse.csc_array(X), y)
    error = np.hypot(given.diagnostics_["mcse"], dense.diagnostics_["mcse"]).to_numpy()[:70]
    np.testing.assert_array_less(np.abs(given.coef_ - dense.coef_), 4.5 * error)


DEGENERATE = {
    "y all zero": lambda X, y: (X, 0 * y),
    "y constant": lambda X, y: (X, 0 * y + 3.0),
    "all columns constant": lambda X, y: (0 * X + 2.0, y),
    "one column constant": lambda X, y: (np.column_stack([X, np.ones(len(y))]), y),
    "exact copies": lambda X, y: (np.column_stack([X, X]), y),
    "near copies": lambda X, y: (np.column_stack([X, X + 1e-9 * X[:, ::-1]]), y),
    "many copies of few rows": lambda X, y: (np.tile(X, 10)[:9], y[:9]),
    "one column": lambda X, y: (X[:, :1], y),
    "one row": lambda X, y: (X[:1], y[:1]),
    "two rows": lambda X, y: (X[:2], y[:2]),
    "fewer rows than columns": lambda X, y: (X[:5], y[:5]),
    "y is a column": lambda X, y: (X, X[:, 2]),
    "huge": lambda X, y: (1e100 * X, 1e100 * y),
    "tiny": lambda X, y: (1e-100 * X, 1e-100 * y),
    "far from zero": lambda X, y: (X + 1e8, y + 1e8),
}


@pytest.mark.filterwarnings("ignore:nu_prior:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "model",
    [
        BayesianBridgeRegressor(**QUICK),
        BayesianBridgeRegressor(alpha="learn", **QUICK),
        HorseshoeRegressor(**QUICK),
        HorseshoeRegressor(regularised=True, **QUICK),
    ],
    ids=["bridge", "learned", "horseshoe", "regularised"],
)
def test_degenerate_input(table, case, intercept, model):
    X, y = DEGENERATE[case](table[0].to_numpy(), table[1])
    model = clone(model).set_params(fit_intercept=intercept).fit(X, y)
    for name in ("coef_", "coef_sd_", "intercept_"):
        assert np.isfinite(getattr(model, name)).all(), name
    for draws in model.draws_.hyperparameters().values():
        assert np.isfinite(draws).all()
        assert (draws > 0).all()
    assert np.isfinite(model.predict(X)).all()
    if intercept:
        assert (model.coef_[np.ptp(X, axis=0) == 0] == 0).all()
    assert len(model.summary()) == X.shape[1]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("alpha", [1e-3, 0.05, 1.5, 2 - 1e-9])
def test_powers_at_both_ends(table, alpha):
    model = BayesianBridgeRegressor(alpha=alpha, **QUICK).fit(*table)
    assert np.isfinite(model.draws_.coef).all()
    assert model.score(*table) > 0.8


@pytest.mark.filterwarnings("ignore:.*has not mixed")  # draws worth few independent ones
@BOTH
def test_copies_share_a_coefficient(rng, kind):
    X = rng.standard_normal((80, 3))
    X = np.column_stack([X, X[:, 0]])
    y = 2 * X[:, 0] + 0.1 * rng.standard_normal(80)
    model = kind(random_state=0).fit(X, y)
    assert model.coef_[0] + model.coef_[3] == pytest.approx(2, abs=0.05)
    assert (model.draws_.coef[:, 0] + model.draws_.coef[:, 3]).std() < 0.03
    assert 0 not in model.support_


def test_summary_intervals_and_plot(table):
    import matplotlib as mpl

    mpl.use("Agg")
    model = BayesianBridgeRegressor(**QUICK).fit(*table)
    summary = model.summary()
    assert summary.columns.tolist() == ["coefficient", "sd", "low", "high", "sign"]
    assert (summary["coefficient"].abs() / summary["sd"]).is_monotonic_decreasing
    assert set(summary.index[:2]) == {"a", "e"}
    sure = set(summary.index[(summary["low"] > 0) | (summary["high"] < 0)])
    assert sure == set(model.get_feature_names_out())
    interval = model.credible_interval(0.9)
    np.testing.assert_allclose(interval["low"], np.quantile(model.draws_.coef, 0.05, axis=0))
    np.testing.assert_allclose(interval["high"], np.quantile(model.draws_.coef, 0.95, axis=0))
    ax = model.plot(max_variables=5)
    assert len(ax.get_yticklabels()) == 5
    mpl.pyplot.close("all")


def test_predictive_distribution(table):
    X, y = table
    model = BayesianBridgeRegressor(random_state=0).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    drawn = model.sample_predictive(X, random_state=1)
    assert drawn.shape == (4000, 60)
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.12)
    np.testing.assert_allclose(drawn.std(axis=0), std, rtol=0.08)
    assert (np.abs(y - mean) < 2 * std).mean() > 0.85


@pytest.mark.filterwarnings("ignore:.*has not mixed")  # draws worth few independent ones
@pytest.mark.parametrize(
    ("model", "names"),
    [
        (BayesianBridgeRegressor(), ["sigma_e", "tau"]),
        (BayesianBridgeRegressor(alpha="learn"), ["sigma_e", "tau", "alpha"]),
        (BayesianBridgeRegressor(tau=1.0), ["sigma_e"]),
        (HorseshoeRegressor(), ["sigma_e", "tau"]),
        (HorseshoeRegressor(tau=0.1, sigma_e=1.0), ["sigma_e"]),
        (HorseshoeRegressor(regularised=True), ["sigma_e", "tau", "slab"]),
        (HorseshoeRegressor(regularised=True, tau=0.1), ["sigma_e", "slab"]),
    ],
)
def test_diagnostics(table, model, names):
    model = clone(model).set_params(random_state=0).fit(*table)
    diagnostics = model.diagnostics_
    assert diagnostics.index.tolist() == [*"abcdefgh", *names]
    assert (diagnostics["r_hat"] < 1.05).all()
    assert list(model.draws_.hyperparameters()) == names
    assert (model.draws_.size == 8).all()


def test_chains_that_disagree_are_warned_of():
    X, y, _ = make_collinear(50, 400, random_state=0)
    model = HorseshoeRegressor(n_draws=30, n_warmup=0, random_state=0)
    with pytest.warns(ConvergenceWarning, match="the chains disagree on"):
        model.fit(X, y)


def test_what_arviz_is_given(table, monkeypatch):
    # The package is optional: what matters here is what it is called with.
    given = SimpleNamespace(__version__="0.23.4", from_dict=lambda **arguments: arguments)
    monkeypatch.setitem(sys.modules, "arviz", given)
    model = BayesianBridgeRegressor(alpha="learn", **QUICK).fit(*table)
    data = model.to_arviz()
    assert set(data["posterior"]) == {"beta", "intercept", "sigma_e", "tau", "alpha"}
    assert data["posterior"]["beta"].shape == (2, 200, 8)
    np.testing.assert_array_equal(data["posterior"]["beta"][1, 0], model.draws_.coef[200])
    assert all(data["posterior"][name].shape == (2, 200) for name in ("tau", "alpha"))
    assert data["coords"] == {"predictor": list("abcdefgh")}


@pytest.mark.filterwarnings("ignore:.*has not mixed")  # draws worth few independent ones
@BOTH
def test_habits_of_scikit_learn(table, kind):
    X, y = table
    model = kind(**QUICK).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(clone(model).fit(X, y).coef_, model.coef_)
    assert model.transform(X).shape == (60, model.support_.size)
    np.testing.assert_array_equal(
        model.inverse_transform(model.transform(X))[:, model.support_], X.iloc[:, model.support_]
    )
    pipeline = make_pipeline(StandardScaler(), kind(**QUICK)).fit(X, y)
    np.testing.assert_allclose(pipeline.predict(X), model.predict(X), atol=1e-6)
    first = model.diagnostics_
    model.fit(X.iloc[:, ::-1], y)
    assert model.diagnostics_.index[0] == "h" != first.index[0]


def test_an_interrupted_fit_leaves_the_model_as_it_was(table):
    X, y = table
    model = BayesianBridgeRegressor(**QUICK).fit(X, y)
    expected = model.predict(X)
    with pytest.raises(ValueError, match="tau"):
        model.set_params(tau=-1.0).fit(X.iloc[:, :3], y)
    np.testing.assert_array_equal(model.predict(X), expected)


def test_an_empty_selection(rng):
    X, y = rng.standard_normal((40, 5)), rng.standard_normal(40)
    model = HorseshoeRegressor(**QUICK).fit(X, y)
    assert model.support_.size == 0
    chosen = model.transform(X)
    assert chosen.shape == (40, 0)
    np.testing.assert_array_equal(model.inverse_transform(chosen), np.zeros((40, 5)))
    back = model.inverse_transform(sparse.csr_matrix(chosen))
    assert back.shape == (40, 5)
    assert back.nnz == 0
    with pytest.raises(ValueError, match="shape"):
        model.inverse_transform(np.zeros((40, 3)))


@BOTH
def test_not_fitted(kind):
    model = kind()
    for use in (model.summary, model.plot, model.credible_interval, lambda: model.diagnostics_):
        with pytest.raises(NotFittedError):
            use()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 2}, "alpha"),
        ({"alpha": 0}, "alpha"),
        ({"alpha": "guess"}, "alpha"),
        ({"tau": 0}, "tau"),
        ({"tau": 1e200}, "tau must be a number between"),
        ({"nu_prior": (2.0,)}, "nu_prior must be two positive finite numbers, shape and rate"),
        ({"nu_prior": (0, 1)}, "nu_prior must be two positive finite numbers"),
        ({"nu_prior": (2.0, np.nan)}, "nu_prior must be two positive finite numbers"),
        ({"nu_prior": ("a", "b")}, "nu_prior must be two positive finite numbers"),
        ({"nu_prior": 2.0}, "nu_prior"),
        ({"sigma_e": -1}, "sigma_e"),
        ({"n_draws": 0}, "n_draws"),
        ({"n_chains": 0}, "n_chains"),
        ({"n_warmup": -1}, "n_warmup"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
    ],
)
def test_bad_parameters_of_the_bridge(table, parameters, message):
    with pytest.raises(ValueError, match=message):
        BayesianBridgeRegressor(**parameters).fit(*table)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"expected_size": 8}, "expected_size=8 must be less than the number of columns of X, 8"),
        ({"expected_size": 0}, "expected_size"),
        ({"tau": -1.0}, "tau"),
        ({"tau": 1e200}, "tau must be a number between"),
        ({"sigma_e": 1e-200}, "sigma_e must be a number between"),
        ({"regularised": "yes"}, "regularised"),
        ({"slab_df": 0}, "slab_df"),
        ({"slab_df": 1e-5}, "slab_df must be a number between 0.01 and 1e6; got 1e-05"),
        ({"slab_scale": -1.0}, "slab_scale"),
        ({"slab_scale": 1e200}, "slab_scale must be a number between"),
        ({"slab_scale": 2.0}, "slab_scale=2.0 is for regularised=True only"),
    ],
)
def test_bad_parameters_of_the_horseshoe(table, parameters, message):
    with pytest.raises(ValueError, match=message):
        HorseshoeRegressor(**parameters).fit(*table)


def test_bad_arguments_of_methods(table):
    model = BayesianBridgeRegressor(**QUICK).fit(*table)
    with pytest.raises(ValueError, match="level must be strictly between 0 and 1"):
        model.credible_interval(1)
    with pytest.raises(ValueError, match="max_variables must be a positive integer"):
        model.plot(max_variables=True)
    with pytest.raises(ValueError, match="sample_weight sums to"):
        model.fit(*table, np.full(60, 1e-3))


@pytest.mark.parametrize("p", [18, 6])  # by rows, and by columns
@pytest.mark.parametrize("unit", [1e-8, 1e-89])
def test_a_prior_in_other_units_than_y(rng, p, unit):
    """Beside so wide a prior the noise is lost to rounding; that must not grow into anything."""
    X, y = rng.standard_normal((6, p)), unit * rng.standard_normal(6)
    X[:, -1] = X[:, 0]
    model = BayesianBridgeRegressor(**QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of that, and of chains that have not mixed
        model.fit(X, y)
    assert np.abs(model.draws_.coef).max() < 1e6  # tau is about 1
    assert (model.draws_.sigma_e < 1e6).all()


@BOTH
def test_coefficients_too_large_for_their_squares(table, kind):
    X, y = table
    plain = kind(**QUICK, tau=1.0, sigma_e=1.0).fit(X, y)
    scaled = kind(**QUICK, tau=2.0**300, sigma_e=2.0**300).fit(2.0**-300 * X, 2.0**300 * y)
    np.testing.assert_allclose(scaled.coef_sd_, 2.0**600 * plain.coef_sd_, rtol=1e-12)
