"""A y whose spread is down to rounding of its mean is constant, as a column is."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from ellzero import (
    BayesianBridgeRegressor,
    HorseshoeRegressor,
    L0Regressor,
    L0RegressorCV,
    SpikeSlabRegressor,
    l0_frontier,
)

ULP = np.spacing(1e7)


def nearly(constant, n=400):
    """Most rows are alike; some are so far off that no row alone would pass for rounding."""
    y = np.full(n, constant)
    y[::100] += 20 * np.spacing(constant) * np.arange(1, len(y[::100]) + 1) ** 0.5
    return y


def draws(estimator):
    return estimator(n_draws=20, n_chains=1, random_state=0)


@pytest.mark.parametrize(
    "estimator",
    [
        L0Regressor(),
        L0Regressor(solver="sbr", lam=1e-30),
        L0RegressorCV(),
        draws(SpikeSlabRegressor).set_params(solver="gibbs"),
        draws(BayesianBridgeRegressor),
        draws(HorseshoeRegressor),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("constant", [1e7, -3.7e-5, 1e150])
@pytest.mark.filterwarnings("ignore:.*(converge|R-hat|effective)")
def test_it_is_fitted_like_a_constant(rng, estimator, constant):
    X = rng.normal(size=(400, 5))
    alike = clone(estimator).fit(X, np.full(400, constant))
    fitted = clone(estimator).fit(X, nearly(constant))
    np.testing.assert_array_equal(fitted.coef_, alike.coef_)
    assert fitted.intercept_ == pytest.approx(alike.intercept_, rel=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 1.5, 400)])
def test_no_column_gains_anything(rng, make, weights):
    X = rng.normal(size=(400, 5))
    frontier = l0_frontier(make(X), nearly(1e7), sample_weight=weights)
    assert not frontier.at(size=frontier.sizes[-1]).coef.any()


def test_what_is_more_than_rounding_is_no_constant(rng):
    X = rng.normal(size=(400, 5))
    y = 1e7 + 1e3 * ULP * X[:, 2]
    assert l0_frontier(X, y).at(size=1).support.tolist() == [2]


def test_squares_that_underflow_are_still_an_error(rng):
    y = np.zeros(400)
    y[0] = 1e-170
    with pytest.raises(ValueError, match="y: its values, or their weights, are too small"):
        L0Regressor().fit(rng.normal(size=(400, 5)), y)
