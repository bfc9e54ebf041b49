"""Steps in noise that is correlated: its correlation, and the price of a jump in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero.segmentation._noise import MOST_CORRELATED, NoiseEstimate
from ellzero.segmentation._series import Fit, Series, fit_segments, solve_all

__all__ = [
    "Correlated",
    "correlation_of_missed_jumps",
    "fit_at_correlation",
    "innovations",
    "noise_of_innovations",
    "price_in_correlated_noise",
    "settle",
    "try_correlations",
]

_Floats = NDArray[np.float64]

# Shares of the correlation that differences tell, from which it is looked for: jumps look like
# correlation to them, and correlation like jumps.
_SHARES = (1.0, 0.75, 0.5)
_ROUNDS = 2
# Correlations within so many standard errors are as good as the same.
_NEAR = 0.25
# What makes up for choosing the best of these: jumps count for so much more.
_CAREFUL = 1.4


class Correlated(NamedTuple):
    """A series explained by steps in correlated noise."""

    misfit: float  # minus the log-likelihood, up to a constant, and the price of the jumps
    phi: float
    fit: Fit


def price_in_correlated_noise(n: float, phi: float) -> float:
    """Return the penalty that AR(1) noise seldom reaches, in units of its innovations' variance.

    Fitted to simulated quantiles (``benchmarks/series_defaults.py``), as that for white noise,
    which it is at ``phi=0``. The more the noise is correlated, the less neighbouring jumps have to
    do with each other, up to where each innovation could be one of its own: ``log n``. The last
    term makes up for noise, and a correlation, that few samples estimate badly.
    """
    n = max(n, 2.0)
    levels = 3.0 + 0.5 * math.log(n) - 0.6 * math.log1p(-phi)
    return min(levels, 1.8 + math.log(n)) + 12 * (1 + 3 * phi**2) / n


def innovations(series: Series, phi: float, values: _Floats) -> _Floats:
    """Return what each observed value adds to phi times the one before, scaled to like variance.

    ``values`` are residuals, or a regressor, one per sample of the series; those before the first
    are as they are in noise without a beginning. With ``phi=0`` they are the values times the roots
    of their weights.
    """
    times = np.flatnonzero(series.observed)
    scaled = values[times]
    if series.weights is not None:
        scaled = scaled * np.sqrt(series.weights[times])
    if phi == 0 or not times.size:
        return scaled
    gaps = np.diff(times)
    kept = phi ** gaps.astype(float)
    # Of the variance 1 / (1 - phi^2) of the noise, what is not carried over a gap.
    known = np.sqrt((1 - phi**2) / (1 - kept**2))
    first = scaled[:1] * math.sqrt(1 - phi**2)
    rest = (scaled[1:] - kept * scaled[:-1]) * known
    out: _Floats = np.concatenate([first, rest])
    return out


def noise_of_innovations(series: Series, fit: Fit, phi: float) -> NoiseEstimate:
    """Return the noise that a fit in noise of a given correlation leaves."""
    n, k = int(np.count_nonzero(series.observed)), len(fit[0]) + 1
    largest = float(np.abs(series.y[series.observed]).max()) if n else 0.0
    if series.weights is not None:
        largest *= math.sqrt(float(series.weights.max()))
    sd = math.sqrt(2 * fit[3] / max(n - k, 1) / (1 - phi**2))
    return NoiseEstimate(sd, phi) if sd > 1e-13 * largest else NoiseEstimate(0.0, phi)


def _correlation_left(series: Series, fit: Fit) -> float:
    """Return the correlation of what a fit leaves, from 0 to .99.

    The k levels were fitted to the noise too, which makes it come out lower by about
    ``(1 + 3 phi) k / n`` (Kendall 1954): this is put back.
    """
    there = series.observed
    left = np.where(there, series.y - fit[1], 0.0)
    if series.weights is not None:
        left = left * np.sqrt(series.weights)
    left = left / (float(np.abs(left).max()) or 1.0)
    pairs = there[1:] & there[:-1]
    pairs[fit[0] - 1] = False
    before, after = left[:-1][pairs], left[1:][pairs]
    squares = 0.5 * float(before @ before + after @ after)
    correlation = float(before @ after) / squares if squares > 0 else 0.0
    n, k = int(np.count_nonzero(there)), len(fit[0]) + 1
    correlation += (1 + 3 * correlation) * k / n
    return min(max(correlation, 0.0), MOST_CORRELATED)


def correlation_of_missed_jumps(series: Series, fit: Fit, lam: float) -> float:
    """Return the correlation that jumps too small to be found leave in white noise, roughly.

    Where jumps of all sizes are about as frequent near the least that pays, as many are missed as
    were found of up to twice that size, hence of up to four times its gain ``lam``. A jump that is
    missed leaves up to ``2 lam`` in the sum of products of neighbours, a third of that on average.
    """
    weights = np.where(series.observed, 1.0 if series.weights is None else series.weights, 0.0)
    left = np.where(series.observed, series.y - fit[1], 0.0)
    unit = float(np.abs(left).max())  # squares might overflow
    if unit == 0:
        return 0.0
    begins = np.concatenate([[0], fit[0]])
    weight = np.add.reduceat(weights, begins)
    apart, price = np.diff(fit[1][begins]) / unit, lam / unit / unit
    # Half the product over the sum of the weights on both sides.
    gains = 0.5 * apart**2 / (1 / weight[1:] + 1 / weight[:-1])
    missed = int(np.count_nonzero(gains < 4 * price))
    return 2 * price * missed / 3 / float(weights @ (left / unit) ** 2)


def _price(series: Series, phi: float, variance: float) -> float:
    n = int(np.count_nonzero(series.observed))
    if n < 2:
        return 0.0
    # Rounding is noise too, and there may be no other.
    rounding = 1e-13 * float(np.abs(series.y[series.observed]).max())
    return price_in_correlated_noise(n, phi) * max(variance, rounding**2)


def _refit(series: Series, fit: Fit, phi: float) -> tuple[Fit, float]:
    """Fit the same jumps in noise of another correlation; return the variance of innovations."""
    again = fit_segments(series, 1.0, fit[0], phi=phi)
    n = int(np.count_nonzero(series.observed))
    return again, 2 * again[3] / max(n - len(fit[0]) - 1, 1)


def _misfit(series: Series, fit: Fit, phi: float) -> float:
    n = int(np.count_nonzero(series.observed))
    if fit[3] == 0:
        return -math.inf
    likelihood = 0.5 * n * math.log(2 * fit[3] / n) - 0.5 * math.log1p(-(phi**2))
    return likelihood + _CAREFUL * price_in_correlated_noise(n, phi) * len(fit[0])


def try_correlations(
    series: Sequence[Series], guesses: Sequence[NoiseEstimate], threads: int
) -> list[Correlated]:
    """Explain each series by steps in correlated noise as well as can be.

    From several guesses of the correlation, the best steps and then what these leave of it are
    found in turn; the result that is likeliest, with a price on every jump, is returned.
    """
    best = [Correlated(math.inf, 0.0, fit_segments(one, 1.0, _NONE)) for one in series]
    tried: list[list[float]] = [[] for _ in series]
    for share in _SHARES:
        phis = [share * guess.correlation for guess in guesses]
        variances = [
            guess.sd**2 * (1 - 2 * phi * guess.correlation + phi**2)
            for guess, phi in zip(guesses, phis, strict=True)
        ]
        for _ in range(_ROUNDS):
            new = [k for k, one in enumerate(series) if _is_new(one, phis[k], tried[k])]
            fits = _solve(
                [series[k] for k in new],
                [phis[k] for k in new],
                [variances[k] for k in new],
                threads,
            )
            for k, fit in zip(new, fits, strict=True):
                found = Correlated(_misfit(series[k], fit, phis[k]), phis[k], fit)
                best[k] = min(best[k], found, key=lambda candidate: candidate.misfit)
                tried[k].append(phis[k])
                phis[k] = _correlation_left(series[k], fit)
                variances[k] = _refit(series[k], fit, phis[k])[1]
    return best


def _is_new(series: Series, phi: float, tried: Sequence[float]) -> bool:
    """Whether a correlation differs from all that were tried by more than samples could tell."""
    n = int(np.count_nonzero(series.observed))
    near = _NEAR * math.sqrt((1 - phi**2) / n)
    return all(abs(phi - other) > near for other in tried)


def fit_at_correlation(
    series: Sequence[Series], guesses: Sequence[NoiseEstimate], phi: float, threads: int
) -> list[Fit]:
    """Explain each series by steps in noise whose correlation is known."""
    phis = [phi] * len(series)
    variances = [guess.sd**2 * (1 - 2 * phi * guess.correlation + phi**2) for guess in guesses]
    fits = _solve(series, phis, variances, threads)
    for _ in range(1, _ROUNDS):
        variances = [_refit(one, fit, phi)[1] for one, fit in zip(series, fits, strict=True)]
        fits = _solve(series, phis, variances, threads)
    return fits


_NONE = np.zeros(0, dtype=np.int64)


def _solve(
    series: Sequence[Series], phis: Sequence[float], variances: Sequence[float], threads: int
) -> list[Fit]:
    prices = [_price(*each) for each in zip(series, phis, variances, strict=True)]
    return solve_all(
        series, prices, [1.0] * len(series), False, "functional", threads=threads, phis=phis
    )


def settle(series: Series, fit: Fit, phi: float | None = None) -> tuple[float, float]:
    """Return the price of a jump and the correlation, by what a fit leaves; or at a given one."""
    phi = _correlation_left(series, fit) if phi is None else phi
    return _price(series, phi, _refit(series, fit, phi)[1]), phi
