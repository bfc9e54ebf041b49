"""L0PoissonRegressor: its fits against statsmodels, exposures, and the API."""

import pickle

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from estimator_checks import assert_passes_every_check
from hypothesis import given, settings
from hypothesis import strategies as st
from likelihood_tables import draw
from reference.likelihood import nll, refit, standardise
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import d2_tweedie_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ellzero import L0PoissonRegressor, L0PoissonRegressorCV, l0_frontier


@pytest.fixture(scope="module")
def table():
    return draw("poisson", 5, n=120, p=10)


@pytest.fixture(scope="module")
def exposure():
    return np.random.default_rng(8).uniform(0.2, 5, 120)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("exposed", [True, False])
def test_fits_are_those_of_statsmodels(table, exposure, rng, intercept, weighted, exposed):
    X, y = table
    X = X + 0.5
    weights = rng.integers(0, 4, len(y)) if weighted else None
    amount = exposure if exposed else None
    model = L0PoissonRegressor(size=4, ridge=0.0, fit_intercept=intercept)
    model.fit(X, y, weights, exposure=amount)
    A = X[:, model.support_]
    A = np.column_stack([np.ones(len(y)), A]) if intercept else A
    family = sm.families.Poisson()
    fit = sm.GLM(y, A, family=family, freq_weights=weights, exposure=amount).fit(tol=1e-12)
    coefficients = fit.params[1:] if intercept else fit.params
    np.testing.assert_allclose(model.coef_[model.support_], coefficients, rtol=1e-7)
    assert model.deviance_ == pytest.approx(fit.deviance, rel=1e-8)
    if intercept:
        assert model.intercept_ == pytest.approx(fit.params[0], rel=1e-7)
        assert model.null_deviance_ == pytest.approx(fit.null_deviance, rel=1e-6)
    else:
        assert model.intercept_ == 0
    rates = np.exp(A @ fit.params)
    np.testing.assert_allclose(model.predict(X), rates, rtol=1e-7)
    np.testing.assert_allclose(model.predict(X, exposure), rates * exposure, rtol=1e-7)


# The exposure is not the one that the counts were made with.
@pytest.mark.filterwarnings("ignore:L0PoissonRegressor. counts vary")
@pytest.mark.parametrize("lam", [0.5, 3.0, "bic", "ebic", "ric"])
def test_the_objective_and_the_choice(table, exposure, lam):
    X, y = table
    model = L0PoissonRegressor(lam).fit(X, y, exposure=exposure)
    Z, k = standardise(X), model.support_.size
    how = {"ridge": model.ridge_, "offset": np.log(exposure)}
    fit = refit("poisson", Z, y, model.support_, **how)
    assert model.deviance_ == pytest.approx(2 * fit.nll, rel=1e-8)
    priced = 0 if np.isnan(model.lam_) else model.lam_ * k
    assert model.objective_ == pytest.approx(fit.energy + priced, rel=1e-9)
    if isinstance(lam, float):
        here = set(model.support_.tolist())
        outside = set(range(10)) - here
        near = [here | {j} for j in outside] + [here - {j} for j in here]
        near += [here - {j} | {i} for j in here for i in outside]
        for other in near:
            energy = refit("poisson", Z, y, sorted(other), **how).energy
            assert energy + lam * len(other) >= model.objective_ - 1e-6


def test_an_exposure_is_a_weight_of_a_rate(table, exposure):
    X, y = table
    counts = L0PoissonRegressor(size=4, ridge=0.0).fit(X, y, exposure=exposure)
    rates = L0PoissonRegressor(size=4, ridge=0.0).fit(X, y / exposure, exposure)
    np.testing.assert_array_equal(counts.support_, rates.support_)
    np.testing.assert_allclose(counts.coef_, rates.coef_, rtol=1e-4, atol=1e-6)
    assert counts.deviance_ == pytest.approx(rates.deviance_, rel=1e-7)


def test_exposures_in_other_units_move_the_intercept_alone(table, exposure):
    X, y = table
    hours = L0PoissonRegressor(size=4).fit(X, y, exposure=exposure)
    seconds = L0PoissonRegressor(size=4).fit(X, y, exposure=3600 * exposure)
    np.testing.assert_allclose(hours.coef_, seconds.coef_, rtol=1e-4, atol=1e-6)
    assert hours.intercept_ - seconds.intercept_ == pytest.approx(np.log(3600), abs=1e-5)


@pytest.mark.parametrize(
    ("exposure", "words"),
    [
        (np.zeros(120), "exposure must be positive in every row"),
        (np.ones(119), "inconsistent numbers of samples"),
        (np.ones((120, 1)), "exposure must have one dimension"),
        (np.full(120, np.nan), "exposure contains NaN"),
        (np.full(120, np.inf), "exposure contains infinity"),
    ],
    ids=["zero", "short", "matrix", "nan", "inf"],
)
@pytest.mark.parametrize("kind", [L0PoissonRegressor, L0PoissonRegressorCV])
def test_exposures_that_make_no_sense(table, kind, exposure, words):
    with pytest.raises(ValueError, match=words):
        kind().fit(*table, exposure=exposure)


def test_the_score_is_the_share_of_deviance_explained(table, exposure, rng):
    X, y = table
    model = L0PoissonRegressor(size=4).fit(X, y)
    weights = rng.integers(1, 4, len(y))
    assert model.score(X, y) == pytest.approx(1 - model.deviance_ / model.null_deviance_, rel=1e-8)
    expected = d2_tweedie_score(y, model.predict(X), sample_weight=weights, power=1)
    assert model.score(X, y, weights) == pytest.approx(expected, rel=1e-12)
    model.fit(X, y, weights, exposure=exposure)
    assert model.score(X, y, weights, exposure) == pytest.approx(
        1 - model.deviance_ / model.null_deviance_, rel=1e-8
    )


@pytest.mark.parametrize("solver", ["frontier", "sbr"])
def test_weights_are_rows_repeated_and_weight_zero_is_no_row(table, rng, solver):
    X, y = table
    weights = rng.integers(0, 3, len(y))
    weighted = L0PoissonRegressor(1.0, solver=solver).fit(X, y, weights)
    repeated = L0PoissonRegressor(1.0, solver=solver).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    X, y = X.copy(), y.copy()
    X[weights == 0], y[weights == 0] = 1e6, -5
    without = L0PoissonRegressor(1.0, solver=solver).fit(X, y, weights)
    for other in (repeated, without):
        np.testing.assert_array_equal(weighted.support_, other.support_)
        np.testing.assert_allclose(weighted.coef_, other.coef_, rtol=1e-5)
        assert weighted.objective_ == pytest.approx(other.objective_, rel=1e-8)


@given(seed=st.integers(0, 1000))
@settings(max_examples=15)
def test_order_scale_and_place_of_columns_do_not_matter(seed):
    X, y = draw("poisson", seed, n=60, p=8)
    rng = np.random.default_rng(seed)
    order, factors = rng.permutation(8), 10.0 ** rng.uniform(-6, 6, size=8)
    plain = l0_frontier(X, y, loss="poisson", ridge=0.1)
    moved = l0_frontier((X * factors + factors)[:, order], y, loss="poisson", ridge=0.1)
    np.testing.assert_allclose(moved.energies, plain.energies, rtol=1e-7)
    for ours, theirs in zip(plain.supports, moved.supports, strict=True):
        assert sorted(order[theirs]) == ours.tolist()


@given(seed=st.integers(0, 1000), factor=st.floats(0.01, 1000))
@settings(max_examples=10)
def test_counts_in_other_units_are_weights(seed, factor):
    X, y = draw("poisson", seed, n=60, p=8)
    plain = L0PoissonRegressor(size=3, ridge=0.0).fit(X, y)
    scaled = L0PoissonRegressor(size=3, ridge=0.0).fit(X, factor * y)
    assert scaled.deviance_ == pytest.approx(factor * plain.deviance_, rel=1e-7)
    np.testing.assert_allclose(scaled.coef_, plain.coef_, rtol=1e-3, atol=1e-5)
    assert scaled.intercept_ - plain.intercept_ == pytest.approx(np.log(factor), abs=1e-4)


def test_storage_names_and_forced_columns(table):
    X, y = table
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    dense = L0PoissonRegressor(1.0).fit(X, y)
    for other in (sparse.csr_array(X), sparse.csc_matrix(X), np.asfortranarray(X)):
        model = L0PoissonRegressor(1.0).fit(other, y)
        np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-6)
        np.testing.assert_allclose(model.predict(other), dense.predict(X), rtol=1e-6)
    narrow = L0PoissonRegressor(1.0).fit(X.astype(np.float32), y.astype(np.int32))
    np.testing.assert_allclose(narrow.coef_, dense.coef_, rtol=1e-3)
    frame = pd.DataFrame(X).add_prefix("v")
    named = L0PoissonRegressor(size=3, always_include=["v9"]).fit(frame, y)
    assert "v9" in named.get_feature_names_out()
    np.testing.assert_array_equal(named.transform(frame), X[:, named.support_])
    back = named.inverse_transform(X[:, named.support_])
    np.testing.assert_array_equal(back, X * named.get_support())


def test_sbr_is_never_better(table):
    X, y = table
    Z = standardise(X)
    for lam in (0.3, 1.0, 4.0):
        sbr = L0PoissonRegressor(lam, solver="sbr").fit(X, y)
        assert L0PoissonRegressor(lam).fit(X, y).objective_ <= sbr.objective_ + 1e-8
        assert sbr.objective_ <= 0.5 * sbr.null_deviance_ + 1e-9  # where it starts
        for j in range(10):
            other = sorted({*sbr.support_.tolist()} ^ {j})
            energy = refit("poisson", Z, y, other, ridge=sbr.ridge_).energy
            assert energy + lam * len(other) >= sbr.objective_ - 1e-6


def test_max_size_warns_where_it_holds_back(table):
    with pytest.warns(ConvergenceWarning, match="L0PoissonRegressor stopped at max_size=2"):
        model = L0PoissonRegressor(0.01, max_size=2).fit(*table)
    assert model.support_.size == 2


def test_scikit_learns_tools(table):
    X, y = table
    pipe = make_pipeline(StandardScaler(), L0PoissonRegressor())
    search = GridSearchCV(pipe, {"l0poissonregressor__lam": [0.5, 5.0, "bic"]}, cv=3).fit(X, y)
    assert search.best_score_ > 0
    scores = cross_val_score(
        L0PoissonRegressor(size=2), X, y, cv=3, scoring="neg_mean_poisson_deviance"
    )
    assert (scores < 0).all()
    model = L0PoissonRegressor(size=3).fit(X, y)
    assert clone(model).fit(X, y).coef_.tobytes() == model.coef_.tobytes()
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict(X).tobytes() == model.predict(X).tobytes()
    summary = copy.summary()
    assert summary.equals(model.summary())
    np.testing.assert_allclose(summary["rate_ratio"], np.exp(summary["coefficient"]))
    eta = X @ model.coef_ + model.intercept_
    assert 0.5 * model.deviance_ == pytest.approx(nll("poisson", eta, y), rel=1e-8)


@pytest.mark.parametrize(
    ("y", "words"),
    [([0, 1, -2], "y must not be negative"), ([0, 0, 0], "y must not be zero in every row")],
)
@pytest.mark.parametrize("kind", [L0PoissonRegressor, L0PoissonRegressorCV])
def test_responses_that_are_no_counts(kind, y, words):
    with pytest.raises(ValueError, match=words):
        kind().fit(np.eye(12), 4 * y)


@pytest.mark.parametrize(
    "estimator",
    [
        "L0PoissonRegressor()",
        "L0PoissonRegressor(solver='sbr')",
        "L0PoissonRegressorCV()",
        "L0PoissonRegressorCV(solver='sbr')",
    ],
)
def test_scikit_learns_own_checks(estimator):
    assert_passes_every_check(estimator, at_least=51)
