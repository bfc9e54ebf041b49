"""Forward stepwise selection, its size chosen by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero._engine import make_design, make_engine

__all__ = ["forward_stepwise"]

_LARGEST = 40


def forward_stepwise(
    X: NDArray[np.float64], y: NDArray[np.float64], cv: Any
) -> NDArray[np.float64]:
    """Return coefficients. Each step inserts the column that lowers the RSS most.

    No column is removed again. The size is that of least mean squared error on the rows held out.
    """
    errors = np.zeros(min(_LARGEST, X.shape[1], X.shape[0] // 2) + 1)
    for train, test in cv.split(X):
        coefficients, intercepts = _grow(X[train], y[train], errors.size - 1)
        residuals = y[test, None] - intercepts - X[test] @ coefficients.T
        errors += (residuals**2).sum(axis=0)
    coefficients, _ = _grow(X, y, int(errors.argmin()))
    return np.asarray(coefficients[-1])


def _grow(
    X: NDArray[np.float64], y: NDArray[np.float64], max_size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the coefficients and the intercept of every size, from 0."""
    design = make_design(X, y, None, fit_intercept=True, threads=1)
    engine = make_engine(design, ridge=0.0, threads=1)
    coefficients = np.zeros((max_size + 1, X.shape[1]))
    intercepts = np.full(max_size + 1, design.mean_y)
    for size in range(1, max_size + 1):
        engine.insert(int(np.argmax(engine.insertion_gains())))
        found = engine.solution()
        coefficients[size, found.support] = found.beta * found.inverse_scale
        intercepts[size] -= found.mean @ coefficients[size, found.support]
    return coefficients, intercepts
