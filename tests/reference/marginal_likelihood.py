"""p(y | S) and what a model says of new rows, to the letter: densities of y on a grid of variances.

The covariance of y given the variances, s2 I + spread Z_S R Z_S', is n by n; R is the identity of a
Gaussian slab (in the basis of a group, over its rank), or another slab's covariance over s2. With
an intercept Z and y are centred, and y has n - 1 dimensions.
"""

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm

from reference.spike_slab import log_inverse_gamma


def grid_of(variance, low, high, count):
    """Return values and log weights: of a number, or of (shape, rate) on a grid of logarithms."""
    if not isinstance(variance, tuple):
        return np.array([variance]), np.zeros(1)
    x = np.linspace(low, high, count)
    return np.exp(x), log_inverse_gamma(np.exp(x), *variance) + x + np.log(x[1] - x[0])


def joint_grid(noise, spread, *, relative=False, slab=True, count=400):
    """Return arrays of s2, of the slab's variance and of log weights."""
    s2, noise_weight = grid_of(noise, -6, 6, count)
    v, spread_weight = grid_of(spread, -30, 40, count) if slab else (np.ones(1), np.zeros(1))
    s2, v = np.meshgrid(s2, v, indexing="ij")
    weight = noise_weight[:, None] + spread_weight[None, :]
    return s2.ravel(), (v * s2 if relative or not slab else v).ravel(), weight.ravel()


def log_densities(Z, y, degrees, shape, s2, v):
    """Return log N(y; 0, s2 I + v Z shape Z'), in so many dimensions, for arrays of s2 and v."""
    n = len(y)
    if degrees == n - 1:  # of orthonormal contrasts
        contrasts = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, 1:]]))[0][:, 1:]
        Z, y = contrasts.T @ Z, contrasts.T @ y
    values, vectors = np.linalg.eigh(Z @ shape @ Z.T)
    values = np.maximum(values, 0)
    squares = (vectors.T @ y) ** 2
    variances = s2[:, None] + v[:, None] * values
    return -0.5 * (np.log(2 * np.pi * variances) + squares / variances).sum(axis=1)


def log_marginal(Z, y, degrees, shape, grid):
    s2, v, weight = grid
    return logsumexp(weight + log_densities(Z, y, degrees, shape, s2, v))


def new_row_cdf(Z, y, degrees, shape, grid, row, factor, at):
    """Return the probability that a new response at a row, of mean zero, is below some numbers.

    ``factor`` times s2 is the variance of the noise and of the intercept.
    """
    s2, v, weight = grid
    weight = weight + log_densities(Z, y, degrees, shape, s2, v)
    weight = np.exp(weight - logsumexp(weight))
    out = np.zeros(len(at))
    for s, spread, w in zip(s2, v, weight, strict=True):
        if w < 1e-12:
            continue
        mean, variance = 0.0, factor * s
        if Z.shape[1]:
            covariance = np.linalg.inv(Z.T @ Z / s + np.linalg.inv(shape) / spread)
            mean = row @ covariance @ Z.T @ y / s
            variance = variance + row @ covariance @ row
        out += w * norm.cdf(at, mean, np.sqrt(variance))
    return out
