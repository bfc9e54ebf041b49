"""The methods that the paper compares, and those that we put beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import ElasticNetCV, LassoCV, LinearRegression
from sklearn.model_selection import KFold

from ellzero.paper._stepwise import forward_stepwise
from ellzero.posterior import BayesianBridgeRegressor, SpikeSlabRegressor
from ellzero.regression import L0RegressorCV

__all__ = [
    "BRIDGE",
    "ELASTIC_NET",
    "FRONTIER",
    "LASSO",
    "METHODS",
    "OLS",
    "PAPERS",
    "SBR",
    "SELECTING",
    "SPIKE_SLAB",
    "STEPWISE",
    "Estimate",
    "Standardised",
    "make_bridge",
    "make_spike_slab",
    "shuffled_folds",
]

_Floats = NDArray[np.float64]

OLS = "OLS"
LASSO = "Lasso"
ELASTIC_NET = "Elastic net"
BRIDGE = "Bayesian bridge"
SPIKE_SLAB = "Spike-and-slab"
SBR = "SBR"
STEPWISE = "Forward stepwise"
FRONTIER = "Frontier"

# scikit-learn stops early by default: at 20 dB its lasso would be some percent off its conditions.
_CONVERGED = {"max_iter": 100_000, "tol": 1e-6}


class Estimate(NamedTuple):
    """What a method makes of a problem.

    The coefficients, which variables are said to be in (None if a method says nothing of it), and
    the penalty chosen, if there is one: ``lam`` of ``1/2 RSS + lam k``, or the ``alpha`` of lasso
    and elastic net for standardised data.
    """

    coef: _Floats
    selected: NDArray[np.bool_] | None = None
    penalty: float | None = None


class Standardised:
    """Columns and response of mean 0 and variance 1, which is what glmnet fits.

    The elastic net is not equivariant: on columns of unit norm scikit-learn's would have n times
    the ridge of glmnet's.
    """

    def __init__(self, X: _Floats, y: _Floats) -> None:
        sd = y.std()
        self.X = (X - X.mean(axis=0)) / X.std(axis=0)
        self.y = (y - y.mean()) / sd
        self.unit: _Floats = sd / X.std(axis=0)


def shuffled_folds(seed: int) -> KFold:
    """Return the ten folds that all who cross-validate share."""
    return KFold(10, shuffle=True, random_state=seed)


def make_bridge(seed: int) -> BayesianBridgeRegressor:
    """Return the Bayesian bridge with the default prior of BayesBridge."""
    return BayesianBridgeRegressor(random_state=seed)


def make_spike_slab(seed: int) -> SpikeSlabRegressor:
    """Return BoomSpikeSlab's model, with a prior inclusion probability of one half."""
    return SpikeSlabRegressor(slab="boom", theta=0.5, random_state=seed)


def _ols(X: _Floats, y: _Floats, seed: int) -> Estimate:
    return Estimate(LinearRegression().fit(X, y).coef_)


def _lasso(X: _Floats, y: _Floats, seed: int) -> Estimate:
    return _convex(LassoCV(cv=shuffled_folds(seed), **_CONVERGED), X, y)


def _elastic_net(X: _Floats, y: _Floats, seed: int) -> Estimate:
    return _convex(ElasticNetCV(l1_ratio=0.5, cv=shuffled_folds(seed), **_CONVERGED), X, y)


def _convex(model: Any, X: _Floats, y: _Floats) -> Estimate:
    data = Standardised(X, y)
    coef = model.fit(data.X, data.y).coef_ * data.unit
    return Estimate(coef, coef != 0, float(model.alpha_))


def _bridge(X: _Floats, y: _Floats, seed: int) -> Estimate:
    return Estimate(make_bridge(seed).fit(X, y).coef_)


def _spike_slab(X: _Floats, y: _Floats, seed: int) -> Estimate:
    model = make_spike_slab(seed).fit(X, y)
    return Estimate(model.coef_, model.inclusion_probabilities_ > 0.5)


def _sbr(X: _Floats, y: _Floats, seed: int) -> Estimate:
    return _l0(L0RegressorCV(cv=shuffled_folds(seed), solver="sbr"), X, y)


def _frontier(X: _Floats, y: _Floats, seed: int) -> Estimate:
    return _l0(L0RegressorCV(cv=shuffled_folds(seed)), X, y)


def _l0(model: L0RegressorCV, X: _Floats, y: _Floats) -> Estimate:
    model.fit(X, y)
    return Estimate(model.coef_, model.get_support(), float(model.lam_))


def _stepwise(X: _Floats, y: _Floats, seed: int) -> Estimate:
    coef = forward_stepwise(X, y, shuffled_folds(seed))
    return Estimate(coef, coef != 0)


METHODS: dict[str, Callable[[_Floats, _Floats, int], Estimate]] = {
    OLS: _ols,
    LASSO: _lasso,
    ELASTIC_NET: _elastic_net,
    BRIDGE: _bridge,
    SPIKE_SLAB: _spike_slab,
    SBR: _sbr,
    STEPWISE: _stepwise,
    FRONTIER: _frontier,
}
PAPERS = (OLS, LASSO, ELASTIC_NET, BRIDGE, SPIKE_SLAB, SBR)
SELECTING = (LASSO, ELASTIC_NET, SPIKE_SLAB, SBR, STEPWISE, FRONTIER)
