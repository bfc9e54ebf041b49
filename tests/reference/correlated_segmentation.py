"""All ways to cut a short series into steps, in noise whose covariance is written out.

Nothing is filtered or coupled step by step: the covariance of stationary AR(1) noise between the
samples observed is a matrix, and every choice of jumps a generalised least squares problem.
"""

from itertools import combinations

import numpy as np


def covariance(times, phi, weights):
    """Return the covariance of the noise with innovations of variance one."""
    lags = np.abs(np.subtract.outer(times, times))
    return phi**lags / (1 - phi**2) / np.sqrt(np.outer(weights, weights))


def observed(y, weights):
    y = np.asarray(y, dtype=float)
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    return np.flatnonzero(~np.isnan(y) & (w > 0)), y, w


def fit_jumps(y, phi, jumps, weights=None):
    """Return the loss and the level of every segment, with jumps at given samples observed."""
    times, y, w = observed(y, weights)
    whiten = np.linalg.inv(np.linalg.cholesky(covariance(times, phi, w[times])))
    segment = np.searchsorted(np.asarray(jumps), times, side="right")
    design = (segment[:, None] == np.arange(len(jumps) + 1)).astype(float)
    centre = y[times].mean()  # so that rounding is relative to what varies
    levels = np.linalg.lstsq(whiten @ design, whiten @ (y[times] - centre), rcond=None)[0]
    left = whiten @ (y[times] - centre - design @ levels)
    return 0.5 * float(left @ left), levels + centre


def best_of_all(y, lam, phi, weights=None):
    """Return the least objective over all sets of jumps."""
    times, _, _ = observed(y, weights)
    if not len(times):
        return 0.0
    return min(
        fit_jumps(y, phi, list(jumps), weights)[0] + lam * size
        for size in range(len(times))
        for jumps in combinations(times[1:].tolist(), size)
    )


def jump_profile(y, phi, changepoints, k, weights=None):
    """Return the loss by where changepoint k is moved to, those on either side held fixed."""
    times, _, _ = observed(y, weights)
    edges = [times[0], *changepoints, len(y)]
    return {
        int(t): fit_jumps(y, phi, sorted([*np.delete(changepoints, k), t]), weights)[0]
        for t in times
        if edges[k] < t < edges[k + 2]
    }
