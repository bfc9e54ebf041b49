"""The spike-and-slab posterior to the letter: Gaussian densities of y, summed over all models.

Variances that are learned are integrated over a grid of their logarithms. Columns of Z have unit
norm; with an intercept, Z and y are centred and mu is flat, so that y has n - 1 dimensions.
"""

from functools import cache
from itertools import chain, combinations

import numpy as np
from scipy.special import betaln, gammaln, logsumexp


def all_supports(p):
    return [list(s) for s in chain.from_iterable(combinations(range(p), k) for k in range(p + 1))]


def log_inverse_gamma(x, shape, rate):
    return shape * np.log(rate) - gammaln(shape) - (shape + 1) * np.log(x) - rate / x


def log_prior(support, p, theta, beta_prior):
    """Of a support: given theta (a number or one per column), or theta ~ Beta(a, b)."""
    k = len(support)
    if beta_prior is not None:
        a, b = beta_prior
        return betaln(a + k, b + p - k) - betaln(a, b)
    theta = np.broadcast_to(theta, p)
    inside = np.isin(np.arange(p), support)
    return np.log(theta[inside]).sum() + np.log1p(-theta[~inside]).sum()


def coefficients(Z, y, precision):
    """Return the mean of beta given s2, its covariance over s2, and y'y less what is explained."""
    A = Z.T @ Z + precision
    b = Z.T @ y
    mean = np.linalg.solve(A, b)
    return mean, np.linalg.inv(A), y @ y - b @ mean


def log_density(Z, y, degrees, s2, precision):
    """Of y ~ N(0, s2 (I + Z precision^-1 Z')) in so many dimensions; y lies in all of them."""
    return log_normal(s2, degrees, *variance_terms(Z, y, precision))


def log_normal(s2, degrees, log_determinant, quadratic):
    return -0.5 * (degrees * np.log(2 * np.pi * s2) + log_determinant + quadratic / s2)


def variance_terms(Z, y, precision):
    """Return log det V and y'V^-1 y, for V = I + Z precision^-1 Z'."""
    n, k = Z.shape
    V = np.eye(n) + (Z @ np.linalg.solve(precision, Z.T) if k else 0)
    return np.linalg.slogdet(V)[1], y @ np.linalg.solve(V, y)


def posterior(Z, y, *, degrees, precision, s2_grid, tau_grid, theta=None, beta_prior=None):
    """Sum over models, and over grids of (value, log weight) of s2 and tau.

    ``precision(Z_S, tau)`` is that of beta over s2. ``tau_grid`` is a function of s2, since the
    prior of tau = s2 / sigma_beta^2 may depend on it. Returns inclusion probabilities, means and
    standard deviations of beta, and the mass of every support.
    """
    p = Z.shape[1]
    supports = all_supports(p)
    tables = []
    for support in supports:
        before = log_prior(support, p, theta, beta_prior)
        rows = []

        @cache
        def given(tau, Z=Z[:, support]):
            P = precision(Z, tau)
            mean, covariance, _ = coefficients(Z, y, P)
            return mean, np.diag(covariance), variance_terms(Z, y, P)

        for s2, s2_weight in zip(*s2_grid, strict=True):
            for tau, tau_weight in zip(*tau_grid(s2), strict=True):
                mean, variances, terms = given(tau)
                value = before + s2_weight + tau_weight + log_normal(s2, degrees, *terms)
                rows.append((value, mean, mean**2 + s2 * variances))
        tables.append(rows)
    total = logsumexp([row[0] for rows in tables for row in rows])
    inclusion, mean, square = np.zeros(p), np.zeros(p), np.zeros(p)
    masses = {}
    for support, rows in zip(supports, tables, strict=True):
        weights = np.exp(np.array([row[0] for row in rows]) - total)
        masses[tuple(support)] = weights.sum()
        inclusion[support] += weights.sum()
        for weight, row in zip(weights, rows, strict=True):
            mean[support] += weight * row[1]
            square[support] += weight * row[2]
    return inclusion, mean, np.sqrt(square - mean**2), masses
