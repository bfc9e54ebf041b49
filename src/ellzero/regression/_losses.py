"""What a model loses on the rows it is fitted on, and what follows from that."""

from __future__ import annotations

from enum import Enum

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

__all__ = ["LOSSES", "Loss", "check_response", "default_ridge", "evidence_of"]

_Floats = NDArray[np.float64]

# The standard deviation of the slab behind the default ridge of likelihoods, in log-odds (or logs
# of a rate) per standard deviation of a column. Ten is wide: from one standard deviation below the
# mean to one above, odds may well change by a factor of e^20. Where data say anything, this says
# next to nothing; where classes are separated, it keeps coefficients finite.
_SLAB = 10.0
# Exponentials of predictors are cut somewhat beyond.
_LARGEST_COUNT = 1e120


class Loss(Enum):
    """Half the residual sum of squares, or a negative log-likelihood."""

    SQUARED = "squared"
    LOGISTIC = "logistic"
    POISSON = "poisson"

    @property
    def is_likelihood(self) -> bool:
        """Whether it is the negative log-likelihood of a model without a variance of its own."""
        return self is not Loss.SQUARED

    def link(self, mean: float) -> float:
        """Return the linear predictor of a mean response."""
        if self is Loss.SQUARED:
            return mean
        return float(np.log(mean / (1 - mean)) if self is Loss.LOGISTIC else np.log(mean))

    def mean(self, predictor: _Floats) -> _Floats:
        """Return the mean response of linear predictors."""
        if self is Loss.SQUARED:
            return predictor
        if self is Loss.LOGISTIC:
            return np.asarray(expit(predictor))
        return np.exp(np.minimum(predictor, 700.0))

    def scale_of(self, total: float, n: float) -> float:
        """Return what makes coefficients of unit-norm columns standardised, by division.

        Those of least squares are in standard deviations of y, those of a likelihood in logs of
        odds or of a rate, both for one standard deviation of the column. ``total`` is twice the
        loss without variables.
        """
        return float(np.sqrt(n if self.is_likelihood else total))


LOSSES = [loss.value for loss in Loss]


def check_response(loss: Loss, y: _Floats, weight: _Floats | None) -> None:
    """Raise if a response is not one that a loss is for."""
    counted = y if weight is None else y[weight > 0]
    if loss is Loss.LOGISTIC:
        if not np.isin(counted, (0.0, 1.0)).all():
            raise ValueError("y must hold zeros and ones for the logistic loss.")
        if counted.min() == counted.max():
            raise ValueError(f"y must hold two classes, but it is {counted[0]:g} in every row.")
    elif loss is Loss.POISSON:
        if counted.min() < 0:
            raise ValueError(f"y must not be negative for the Poisson loss; got {counted.min():g}.")
        if not counted.max() > 0:
            raise ValueError("y must not be zero in every row.")
        if counted.max() > _LARGEST_COUNT:
            raise ValueError("y is too large for the Poisson loss; rescale it.")


def default_ridge(loss: Loss, n: float) -> float:
    """Return the ridge of a wide slab, for columns of unit norm; none for least squares."""
    return 1 / (n * _SLAB**2) if loss.is_likelihood else 0.0


def evidence_of(loss: Loss, y: _Floats, weight: _Floats | None) -> float:
    """Return how many rows a criterion can count on.

    Of two classes the rarer one tells, and where counts are few it is the counts.
    """
    weight = np.ones_like(y) if weight is None else weight
    n, events = float(weight.sum()), float(weight @ y)
    if loss is Loss.LOGISTIC:
        return min(events, n - events)
    return min(n, events) if loss is Loss.POISSON else n
