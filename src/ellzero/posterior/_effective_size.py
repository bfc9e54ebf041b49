"""How many independent draws those of chains are worth.

The same numbers as ArviZ's (Vehtari et al. 2021), to rounding, sooner for chains that mix well: of
these the first few autocovariances decide, and all of them need not be had.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

__all__ = ["effective_size"]

# Where so many autocovariances do not decide, ArviZ has all of them by a Fourier transform.
_MOST_LAGS = 60


def effective_size(draws: NDArray[Any], *, bulk: bool = False) -> float:
    """Return the effective size of draws, by chain and draw: four draws a chain or more.

    That of their mean; or where ``bulk`` is true, of their ranks made normal.
    """
    from arviz_stats.base import array_stats

    values = np.asarray(draws, dtype=np.float64)
    half = values.shape[1] // 2
    split = np.concatenate([values[:, :half], values[:, -half:]])
    if bulk:
        split = _normal_scores(split)
    found = _by_first_lags(split) if np.isfinite(split).all() else None
    if found is None:
        with np.errstate(all="ignore"):  # chains that stand still
            found = float(array_stats.ess(values, method="bulk" if bulk else "mean"))
    return found


def _normal_scores(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace values by quantiles of the normal distribution at their ranks, averaged over ties."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - 0.5 * (counts - 1)
    scores = ndtri((ranks - 0.375) / (values.size + 0.25))
    return np.asarray(scores[place].reshape(values.shape))


def _by_first_lags(values: NDArray[np.float64]) -> float | None:
    """Sum autocorrelations up to the first pair that is not positive; None if that is far out.

    Pairs are of lags 2m and 2m + 1, and none of them counts for more than the one before (Geyer
    1992).
    """
    n_chains, n_draws = values.shape
    if np.ptp(values) < np.finfo(float).resolution:
        return float(values.size)
    centred = values - values.mean(axis=1, keepdims=True)

    def covariance(lag: int) -> float:
        return float(np.vdot(centred[:, : n_draws - lag], centred[:, lag:])) / values.size

    within = covariance(0) * n_draws / (n_draws - 1)
    whole = covariance(0)
    if n_chains > 1:
        whole += float(np.var(values.mean(axis=1), ddof=1))

    def correlation(lag: int) -> float:
        return float(1 - (within - covariance(lag)) / whole)

    pairs = [(1.0, correlation(1))]
    while sum(pairs[-1]) > 0:
        lag = 2 * len(pairs)
        if lag > _MOST_LAGS or lag + 2 >= n_draws:
            return None
        pairs.append((correlation(lag), correlation(lag + 1)))
    sums = np.minimum.accumulate([sum(pair) for pair in pairs[:-1]])
    time = -1 + 2 * float(sums.sum()) + max(pairs[-1][0], 0.0)
    return float(values.size / max(time, 1 / np.log10(values.size)))
