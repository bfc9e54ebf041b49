"""The noise of a series, whatever the signal does: its standard deviation and its correlation."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero._sklearn import Interval, StrOptions, check_parameters
from ellzero.segmentation._series import DECAY, Fit, Series, read_one

__all__ = [
    "CORRELATION",
    "MOST_CORRELATED",
    "NOISE",
    "NoiseEstimate",
    "estimate_noise",
    "noise_of",
    "noise_of_residuals",
    "spread",
]

_Floats = NDArray[np.float64]

NOISE = StrOptions({"auto", "white", "ar1"})
CORRELATION = Interval(Real, 0, 1, closed="left")

# Of |z|, z standard normal.
_MEDIAN = 0.6744897501960817
# Differences count for at most so many standard deviations, so that jumps don't count for more;
# and the mean of min(z^2, limit^2).
_LIMIT = 2.5
_LEFT = 0.9775599834528068
# Correlations that white noise might have: so many standard errors, 1 / sqrt(n) each.
_ERRORS = 2.0
# Beyond this no number of samples would do.
MOST_CORRELATED = 0.99


class NoiseEstimate(NamedTuple):
    """The noise on a series: made by :func:`estimate_noise`.

    Attributes
    ----------
    sd : float
        Its standard deviation, in the units of y; with weights, that of a sample of weight one.
    correlation : float
        Its correlation from one sample to the next, phi of ``e[t] = phi e[t-1] + innovation``;
        zero for white noise, and never below.
    """

    sd: float
    correlation: float

    @property
    def long_run_sd(self) -> float:
        """``sd sqrt((1 + phi) / (1 - phi))``: what counts for means of many samples."""
        return self.sd * math.sqrt(self.inflation())

    def inflation(self, decay: float = 1.0) -> float:
        """Return how much larger correlation makes the variance of a level that decays.

        The level is estimated by ``sum_j decay^j y[t+j]``, and noise whose correlation at lag k is
        ``phi^k`` multiplies the variance of that by ``(1 + decay phi) / (1 - decay phi)``.
        """
        carried = decay * self.correlation
        return (1 + carried) / (1 - carried)


def estimate_noise(
    y: Any, *, decay: float = 1.0, noise: str = "auto", sample_weight: Any = None
) -> NoiseEstimate:
    """Estimate the noise on a signal of segments: its standard deviation and its correlation.

    Differences ``y[t+k] - decay^k y[t]`` hold nothing of the signal but its jumps, and are cut at
    2.5 standard deviations, so that jumps count little as long as they are few. Those of white
    noise vary as much at a distance of two samples as at one; with ``e[t] = phi e[t-1] +
    innovation`` their variance is larger by a factor, ``1 + phi`` if ``decay=1``.

    What moves without jumping (drift, trends, seasons) looks like noise that is strongly
    correlated.

    Parameters
    ----------
    y : array-like of shape (n,)
        The series; NaN for gaps.
    decay : float, default=1.0
        As for :func:`segment`.
    noise : {"auto", "white", "ar1"}, default="auto"
        ``"auto"``: a correlation below ``2 / sqrt(n)`` is taken for none. ``"white"``: there is
        none. ``"ar1"``: as it is estimated.
    sample_weight : array-like of shape (n,), default=None
        Weights: the noise of a sample of weight w has the variance ``sd^2 / w``.

    Returns
    -------
    NoiseEstimate
        ``sd``, in the units of y, and ``correlation``. If more than half of the differences are
        zero, as with data that are rounded or have no noise, their root mean square is what counts.

    Examples
    --------
    >>> import numpy as np
    >>> from ellzero import estimate_noise
    >>> rng = np.random.default_rng(0)
    >>> steps = np.repeat([0.0, 10.0, 5.0, 8.0], 250)
    >>> found = estimate_noise(steps + 0.5 * rng.normal(size=1000))
    >>> round(found.sd, 2), found.correlation
    (0.49, 0.0)
    """
    check_parameters(
        "estimate_noise", {"decay": [DECAY], "noise": [NOISE]}, decay=decay, noise=noise
    )
    series = read_one(y, sample_weight)
    there = series.observed
    if not (there[2:] & there[1:-1] & there[:-2]).any():
        raise ValueError("y must have three samples in a row for its noise to be estimated.")
    return noise_of(series, float(decay), noise)


def _differences(series: Series, decay: float, lag: int) -> _Floats:
    """Return ``y[t+lag] - decay^lag y[t]``, scaled to the variance that white noise has in y."""
    there = series.observed
    both = np.flatnonzero(there[lag:] & there[:-lag])
    return _scaled(series, decay**lag, both, both + lag)


def _scaled(series: Series, factor: float, before: Any, after: Any) -> _Floats:
    variance: Any = 1 + factor**2
    if series.weights is not None:
        variance = 1 / series.weights[after] + factor**2 / series.weights[before]
    scaled: _Floats = (series.y[after] - factor * series.y[before]) / np.sqrt(variance)
    return scaled


def spread(differences: _Floats) -> float:
    """Return a standard deviation that a few large values don't change."""
    if not differences.size:
        return 0.0
    sizes = np.abs(differences)
    unit = float(sizes.max())
    if unit == 0:
        return 0.0
    sizes = sizes / unit
    found = float(np.median(sizes)) / _MEDIAN
    if found == 0:  # rounded data, or no noise at all
        return unit * math.sqrt(float(np.mean(sizes**2)))
    for _ in range(3):
        found = math.sqrt(float(np.mean(np.minimum(sizes, _LIMIT * found) ** 2)) / _LEFT)
    return unit * found


def noise_of(series: Series, decay: float, kind: str) -> NoiseEstimate:
    """Estimate the noise as :func:`estimate_noise` does, also from too few samples."""
    differences = _differences(series, decay, 1)
    if not differences.size:  # no two samples in a row: those next to each other
        times = np.flatnonzero(series.observed)
        return NoiseEstimate(spread(_scaled(series, 1.0, times[:-1], times[1:])), 0.0)
    sd = spread(differences)
    if kind == "white" or not np.median(np.abs(differences)) > 0:
        return NoiseEstimate(sd, 0.0)
    # With x = decay phi the variances at lags 1 and 2 are 1 + decay^2 - 2 x and 1 + decay^4 - 2 x^2
    # times that of the noise; their ratio gives x.
    one, two = 1 + decay**2, 1 + decay**4
    ratio = (spread(_differences(series, decay, 2)) / sd) ** 2 * two / one
    inside = ratio**2 - 2 * ratio * one + 2 * two
    correlation = (ratio - math.sqrt(max(inside, 0.0))) / 2 / decay
    correlation = _accepted(correlation, int(np.count_nonzero(series.observed)), kind)
    return NoiseEstimate(sd * math.sqrt(one / (one - 2 * decay * correlation)), correlation)


def _accepted(correlation: float, n: int, kind: str) -> float:
    least = _ERRORS / math.sqrt(n) if kind == "auto" else 0.0
    return min(correlation, MOST_CORRELATED) if correlation > least else 0.0


def noise_of_residuals(series: Series, fit: Fit, kind: str) -> NoiseEstimate:
    """Estimate the noise from what segments leave.

    The mean of every segment was fitted to its noise, which makes the correlation of k segments
    come out lower by about ``(1 + 3 phi) k / n`` (Kendall 1954): this is put back.
    """
    changepoints, signal = fit[0], fit[1]
    there = series.observed
    n, k = int(np.count_nonzero(there)), len(changepoints) + 1
    residuals = np.where(there, series.y - signal, 0.0)
    largest = float(np.abs(series.y[there]).max()) if n else 0.0
    if series.weights is not None:
        residuals = residuals * np.sqrt(series.weights)
        largest *= math.sqrt(float(series.weights.max()))
    unit = float(np.abs(residuals).max()) if n else 0.0
    if not unit > 1e-13 * largest:  # rounding is no noise, but it is correlated
        return NoiseEstimate(0.0, 0.0)
    residuals = residuals / unit
    squares = float(residuals @ residuals)
    sd = unit * math.sqrt(squares / max(n - k, 1))
    if kind == "white":
        return NoiseEstimate(sd, 0.0)
    inside = there[1:] & there[:-1]
    inside[changepoints - 1] = False
    pairs = int(np.count_nonzero(inside))
    products = float((residuals[1:] * residuals[:-1])[inside].sum())
    correlation = products / max(pairs, 1) / (squares / n)
    correlation += (1 + 3 * correlation) * k / n
    return NoiseEstimate(sd, _accepted(correlation, n, kind))
