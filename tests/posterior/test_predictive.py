"""Intervals of new observations: quantiles of a mixture over draws."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.normal_mixture import mixture_quantile as slow_quantile
from scipy import sparse
from scipy.special import ndtr, ndtri

from ellzero import BayesianBridgeRegressor, HorseshoeRegressor, SpikeSlabRegressor
from ellzero._predictive import mixture_quantile, predictive_interval

QUICK = {"n_chains": 2, "n_draws": 200, "n_warmup": 50, "random_state": 0}


@pytest.mark.parametrize("level", [1e-9, 0.025, 0.3, 0.5, 0.95])
@pytest.mark.parametrize("apart", [0.0, 0.1, 3.0, 100.0])
def test_quantiles_against_fifty_digits(rng, level, apart):
    means = rng.normal(size=(3, 7)) + apart * rng.integers(0, 2, size=(3, 7))
    sd = rng.uniform(0.2, 1.5, size=7)
    found = mixture_quantile(means, sd, level)
    expected = [slow_quantile(row, sd, level) for row in means]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@given(
    seed=st.integers(0, 10_000),
    level=st.floats(1e-6, 1 - 1e-6),
    narrow=st.sampled_from([1.0, 1e-3, 1e-8, 1e-14]),
    far=st.sampled_from([0.0, 1.0, 1e8]),
)
def test_the_distribution_has_the_level_at_its_quantile(seed, level, narrow, far):
    rng = np.random.default_rng(seed)
    means = far + rng.normal(size=(4, 50)) * rng.choice([1e-3, 1, 100])
    sd = rng.uniform(0.5, 1, size=50) * rng.choice([1, narrow], size=50)
    x = mixture_quantile(means, sd, level)
    near = 1e-9 * np.ptp(means, axis=1) + 1e-9 * sd.max() + 1e-14 * far

    def share(at):
        return ndtr((at[:, None] - means) / sd).mean(axis=1)

    assert (share(x - near) <= level + 1e-12).all()
    assert (share(x + near) >= level - 1e-12).all()


def test_quantiles_of_one_component_and_of_points():
    found = mixture_quantile(np.array([[3.0], [5.0]]), np.array([2.0]), 0.975)
    np.testing.assert_array_equal(found, np.array([3.0, 5.0]) + 2 * ndtri(0.975))
    points = np.array([[0.0, 1.0, 2.0, 3.0, 4.0]])
    assert mixture_quantile(points, np.zeros(5), 0.3) == pytest.approx(1, abs=1e-9)
    assert mixture_quantile(points, np.zeros(5), 0.5) == pytest.approx(2, abs=1e-9)


@pytest.mark.parametrize("scale", [1e-200, 1e-5, 1e150, 1e250])
def test_units_do_not_matter(rng, scale):
    means, sd = rng.normal(size=(3, 20)), rng.uniform(0.5, 1, size=20)
    found = mixture_quantile(scale * means, scale * sd, 0.1)
    np.testing.assert_allclose(found, scale * mixture_quantile(means, sd, 0.1), rtol=1e-9)


def test_what_is_too_large_is_not_a_number():
    means = np.array([[1e308, -1e308], [np.inf, 0.0], [np.nan, 0.0], [0.0, 1.0]])
    found = mixture_quantile(means, np.ones(2), 0.5)
    np.testing.assert_array_equal(np.isnan(found), [True, True, True, False])


def test_the_bits_of_a_row_are_its_own(rng):
    coef = sparse.csr_array(rng.normal(size=(300, 6)) * (rng.random((300, 6)) < 0.4))
    X, intercept, sd = rng.normal(size=(2000, 6)), rng.normal(size=300), rng.uniform(1, 2, 300)
    lower, upper = predictive_interval(X, coef, intercept, sd, 0.9)
    for rows in (slice(0, 1), slice(700, 1999)):
        one, other = predictive_interval(X[rows], coef, intercept, sd, 0.9)
        np.testing.assert_array_equal(one, lower[rows])
        np.testing.assert_array_equal(other, upper[rows])


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(60, 5)) + 3, columns=list("abcde"))
    return X, X["a"] - X["c"] + rng.normal(size=60)


@pytest.mark.parametrize(
    "model",
    [
        SpikeSlabRegressor(**QUICK),
        SpikeSlabRegressor(**QUICK, slab="laplace"),
        SpikeSlabRegressor(**QUICK, slab="zellner", solver="gibbs"),
        SpikeSlabRegressor(**QUICK, slab="boom", solver="tempered"),
        SpikeSlabRegressor(**QUICK, fit_intercept=False),
        BayesianBridgeRegressor(**QUICK),
        HorseshoeRegressor(**QUICK),
    ],
    ids=lambda model: f"{type(model).__name__}-{getattr(model, 'slab', '')}-{model.fit_intercept}",
)
def test_an_interval_is_of_the_draws(table, model):
    X, y = table
    model = model.fit(X, y)
    new = X.iloc[:5] * 2
    lower, upper = model.predict_interval(new, 0.8)
    draws = model.draws_
    coef = draws.coef.toarray() if sparse.issparse(draws.coef) else draws.coef
    centred = model.fit_intercept
    origin = X.mean().to_numpy() if centred else np.zeros(5)
    means = (new.to_numpy() - origin) @ coef.T + (y.mean() if centred else 0)
    sd = draws.sigma_e.ravel() * np.sqrt(1 + centred / 60)
    np.testing.assert_allclose(lower, mixture_quantile(means, sd, 0.1), rtol=1e-9)
    np.testing.assert_allclose(upper, mixture_quantile(means, sd, 0.9), rtol=1e-9)
    drawn = np.concatenate([model.sample_predictive(new, random_state=s) for s in range(50)])
    np.testing.assert_allclose(lower, np.quantile(drawn, 0.1, axis=0), atol=0.2)
    assert (lower < model.predict(new)).all()
    assert (model.predict(new) < upper).all()


def test_kinds_of_tables(table):
    X, y = table
    model = SpikeSlabRegressor(**QUICK).fit(X.to_numpy(), y)
    expected = model.predict_interval(X.to_numpy())
    for other in (sparse.csr_array(X.to_numpy()), sparse.csc_matrix(X.to_numpy())):
        np.testing.assert_allclose(model.predict_interval(other), expected, rtol=1e-12)
    narrow = model.predict_interval(X.to_numpy().astype(np.float32))
    np.testing.assert_allclose(narrow, expected, atol=1e-5)
    inside = model.predict_interval(X.to_numpy(), 0.5)
    assert (inside[0] > expected[0]).all()
    assert (inside[1] < expected[1]).all()


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, np.nan, True, "0.9", None])
def test_levels_that_can_not_be(table, level):
    model = SpikeSlabRegressor(**QUICK).fit(*table)
    with pytest.raises(ValueError, match="level must be strictly between 0 and 1"):
        model.predict_interval(table[0], level)


def test_coverage():
    """Forty data sets of 40 rows: nine tenths of new rows, within .02."""
    covered = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(540, 8))
        y = 5 + X[:, 0] + 0.4 * X[:, 1] + rng.normal(size=540)
        model = SpikeSlabRegressor(n_draws=250, random_state=0).fit(X[:40], y[:40])
        lower, upper = model.predict_interval(X[40:], 0.9)
        covered.append(np.mean((lower <= y[40:]) & (y[40:] <= upper)))
    assert np.mean(covered) == pytest.approx(0.9, abs=0.02)


def test_a_response_that_does_not_vary(table):
    model = SpikeSlabRegressor(**QUICK).fit(table[0], np.full(60, 7.0))
    lower, upper = model.predict_interval(table[0])
    np.testing.assert_allclose(
        lower, 7, atol=0.05
    )  # the prior of the noise has a unit all the same
    np.testing.assert_allclose(upper, 7, atol=0.05)
