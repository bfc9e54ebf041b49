"""The standard deviation of the noise, whatever the signal does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.segmentation._series import Series, read_one

__all__ = ["estimate_noise", "noise_of"]

# Of |z|, z standard normal.
_MEDIAN = 0.6744897501960817


def estimate_noise(y: Any, *, sample_weight: Any = None) -> float:
    """Estimate the standard deviation of white noise on a signal of segments.

    The second differences ``y[t-1] - 2 y[t] + y[t+1]`` are what a high-pass filter leaves: of a
    signal that is constant or decays slowly nothing but its jumps. The median of their absolute
    values does not mind those, as long as they are few; divided by ``.6745 sqrt(6)`` it is the
    standard deviation if the noise is normal.

    Noise that is correlated from sample to sample (smoothed data) is underestimated, and any
    ``lam`` made of it too small.

    Parameters
    ----------
    y : array-like of shape (n,)
        The series; NaN for gaps.
    sample_weight : array-like of shape (n,), default=None
        Weights: the noise of a sample of weight w has the variance ``sigma^2 / w``.

    Returns
    -------
    float
        sigma, in the units of y. If more than half of the differences are zero, as with data that
        are rounded or have no noise, their root mean square is what counts.

    Examples
    --------
    >>> import numpy as np
    >>> from ellzero import estimate_noise
    >>> rng = np.random.default_rng(0)
    >>> steps = np.repeat([0.0, 10.0, 5.0, 8.0], 250)
    >>> round(estimate_noise(steps + 0.5 * rng.normal(size=1000)), 2)
    0.5
    """
    series = read_one(y, sample_weight)
    if not _differences(series, 2).size:
        raise ValueError("y must have three samples in a row for its noise to be estimated.")
    return noise_of(series)


def _differences(series: Series, order: int) -> NDArray[np.float64]:
    """Return differences of samples in a row, scaled to the variance of a sample of weight one."""
    y = np.where(series.observed, series.y, np.nan)
    coefficients = [1.0, -1.0] if order == 1 else [1.0, -2.0, 1.0]
    n = len(y) - order
    if n <= 0:
        return np.zeros(0)
    total, variance = np.zeros(n), np.zeros(n)
    weights = np.ones(len(y)) if series.weights is None else series.weights
    with np.errstate(divide="ignore"):
        for k, coefficient in enumerate(coefficients):
            total += coefficient * y[k : k + n]
            variance += coefficient**2 / weights[k : k + n]
    whole = ~np.isnan(total)
    scaled: NDArray[np.float64] = total[whole] / np.sqrt(variance[whole])
    return scaled


def noise_of(series: Series) -> float:
    """Estimate the noise as :func:`estimate_noise` does, also from too few samples."""
    differences = _differences(series, 2)
    if not differences.size:
        differences = _differences(series, 1)
    if not differences.size:
        return 0.0
    sizes = np.abs(differences)
    median = float(np.median(sizes)) / _MEDIAN
    largest = float(sizes.max())
    if median > 0 or largest == 0:
        return median
    return largest * math.sqrt(float(np.mean((sizes / largest) ** 2)))
