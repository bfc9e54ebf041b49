"""How well a model does, on the rows that it was fitted on and on rows held out."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from ellzero.likelihood._scores import one_less_auc
from ellzero.regression._losses import Loss
from ellzero.tables._features import power_of_two

__all__ = ["judge_likelihood", "judge_predictions", "standard_deviations", "total_squares"]

_Floats = NDArray[np.float64]


def total_squares(y: _Floats, weights: _Floats | None) -> float:
    """Return the sum of squares of y about its mean."""
    centred = y - np.average(y, weights=weights)
    n = len(y) if weights is None else float(weights.sum())
    return float(np.average(centred**2, weights=weights)) * n


def standard_deviations(X: _Floats, weights: _Floats | None) -> _Floats:
    """Return the standard deviation of each column."""
    if not X.size:
        return np.zeros(X.shape[1])
    out = []
    for column in X.T:  # one by one, so that what is worked out stays in the cache
        unit = power_of_two(column)  # so that no square overflows
        scaled = np.divide(column, unit, order="C")
        mean = np.average(scaled, weights=weights)
        out.append(unit * math.sqrt(np.average((scaled - mean) ** 2, weights=weights)))
    return np.array(out)


def judge_predictions(
    predicted: _Floats, y: _Floats, weights: _Floats | None, mean: float
) -> dict[str, float]:
    """Compare predictions of rows that were held out with predicting the mean of the others."""
    error = y - predicted
    mse = float(np.average(error**2, weights=weights))
    base = float(np.average((y - mean) ** 2, weights=weights))
    return {
        "rows": len(y),
        "rmse": math.sqrt(mse),
        "mae": float(np.average(np.abs(error), weights=weights)),
        "r2": 1 - mse / base if base > 0 else math.nan,
        "rmse_of_mean": math.sqrt(base),
    }


def judge_likelihood(
    predicted: _Floats, y: _Floats, weights: _Floats | None, mean: float, loss: Loss
) -> dict[str, float]:
    """Compare predicted probabilities, or means of counts, with predicting the mean of the others.

    ``y`` are zeros and ones, or counts.
    """
    weight = np.ones_like(y) if weights is None else weights

    def error(means: _Floats) -> float:
        if loss is Loss.LOGISTIC:
            sure = np.finfo(float).tiny
            losses = -np.log(np.maximum(np.where(y > 0, means, 1 - means), sure))
        else:
            losses = 2 * (xlogy(y, y / np.maximum(means, np.finfo(float).tiny)) - (y - means))
        return float(np.average(losses, weights=weight))

    own, base = error(predicted), error(np.full_like(y, mean))
    out = {
        "rows": len(y),
        "error": own,
        "error_of_mean": base,
        "r2": 1 - own / base if base > 0 else math.nan,
    }
    if loss is Loss.LOGISTIC:
        both = (weight @ y > 0) and (weight @ (1 - y) > 0)
        out["brier"] = float(np.average((predicted - y) ** 2, weights=weight))
        out["accuracy"] = float(np.average((predicted > 0.5) == (y > 0), weights=weight))
        out["auc"] = 1 - float(one_less_auc(predicted[None, :], y, weight)[0]) if both else math.nan
    return out
