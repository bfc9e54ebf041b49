"""Errors of linear predictors on rows held out, model by model; less is better."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

__all__ = ["CLASSIFIER_SCORES", "Score", "log_loss", "poisson_deviance"]

_Floats = NDArray[np.float64]
# Of predictors (a row for each model), responses and weights: an error for each model.
Score = Callable[[_Floats, _Floats, _Floats], _Floats]


def _counted(eta: _Floats, y: _Floats, weight: _Floats) -> tuple[_Floats, _Floats, _Floats]:
    """Leave out rows without weight, of which nothing has been checked."""
    rows = weight > 0
    return eta[:, rows], y[rows], weight[rows]


def log_loss(eta: _Floats, y: _Floats, weight: _Floats) -> _Floats:
    """Return the mean negative log-likelihood of zeros and ones."""
    eta, y, weight = _counted(eta, y, weight)
    losses = np.logaddexp(0.0, eta) - y * eta
    return np.asarray(losses @ weight / weight.sum())


def brier(eta: _Floats, y: _Floats, weight: _Floats) -> _Floats:
    """Return the mean squared distance of probabilities from zeros and ones."""
    eta, y, weight = _counted(eta, y, weight)
    return np.asarray((expit(eta) - y) ** 2 @ weight / weight.sum())


def one_less_auc(eta: _Floats, y: _Floats, weight: _Floats) -> _Floats:
    """Return how often a row of class 0 is ranked above one of class 1, ties counting half."""
    ones, zeros = weight * y, weight * (1 - y)
    if not (ones.any() and zeros.any()):
        raise ValueError(
            'scoring="roc_auc" needs rows of both classes in every fold: use fewer folds.'
        )
    out = np.empty(len(eta))
    for place, values in enumerate(eta):
        _, rank = np.unique(values, return_inverse=True)
        of_ones, of_zeros = np.bincount(rank, ones), np.bincount(rank, zeros)
        above = of_zeros[::-1].cumsum()[::-1] - of_zeros
        out[place] = of_ones @ (above + 0.5 * of_zeros)
    return np.asarray(out / (ones.sum() * zeros.sum()))


CLASSIFIER_SCORES: dict[str, Score] = {
    "log_loss": log_loss,
    "brier": brier,
    "roc_auc": one_less_auc,
}


def poisson_deviance(eta: _Floats, y: _Floats, weight: _Floats) -> _Floats:
    """Return the mean deviance of counts."""
    eta, y, weight = _counted(eta, y, weight)
    with np.errstate(over="ignore"):
        losses = 2 * (np.exp(eta) - y * eta + xlogy(y, y) - y)
    return np.asarray(losses @ weight / weight.sum())
