"""Problems of Hastie, Tibshirani and Tibshirani (2020), "Best subset, forward stepwise or lasso?".

    y = X b0 + e,   rows of X ~ N(0, Sigma),   Sigma_ij = rho^|i-j|,   e ~ N(0, sigma^2),

with sigma^2 = b0' Sigma b0 / SNR, so that SNR is the variance of the signal over that of the noise.
"""

import functools
from typing import NamedTuple

import numpy as np

__all__ = [
    "BETA_TYPES",
    "SETTINGS",
    "SNRS",
    "Problem",
    "autoregressive",
    "covariance",
    "make_beta",
    "make_problem",
]

# Rows, columns, and how many coefficients are large
SETTINGS = {
    "100x10": (100, 10, 5),
    "500x100": (500, 100, 5),
    "50x1000": (50, 1000, 5),
    "100x1000": (100, 1000, 10),
}
BETA_TYPES = (1, 2, 3, 5)
SNRS = (0.05, 0.09, 0.14, 0.25, 0.42, 0.71, 1.22, 2.07, 3.52, 6.0)


class Problem(NamedTuple):
    """A table, its response, and what is true of them."""

    X: np.ndarray
    y: np.ndarray
    beta: np.ndarray
    covariance: np.ndarray
    noise: float  # the variance sigma^2


@functools.lru_cache(maxsize=4)
def covariance(p, rho):
    """Return Sigma; it is shared, so that nobody may write to it."""
    out = float(rho) ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    out.flags.writeable = False
    return out


@functools.lru_cache(maxsize=4)
def _root(p, rho):
    return np.linalg.cholesky(covariance(p, rho))


def make_beta(kind, p, s):
    """Return the coefficients of a type that they number.

    1: s ones, spread evenly. 2: s ones, then zeros. 3: from 10 down to .5 in s equal steps, then
    zeros. 5: s ones, then 1/2, 1/4, 1/8 and so on: nothing is zero, though most is next to it.
    """
    beta = np.zeros(p)
    if kind == 1:
        beta[np.round(np.linspace(0, p - 1, s)).astype(int)] = 1
    elif kind == 2:
        beta[:s] = 1
    elif kind == 3:
        beta[:s] = np.linspace(10, 0.5, s)
    elif kind == 5:
        beta[:s] = 1
        beta[s:] = 0.5 ** np.arange(1, p - s + 1)
    else:
        raise ValueError(f"{kind!r} is none of the types {BETA_TYPES}.")
    return beta


def make_problem(setting, kind, rho, snr, number):
    """Make the data set of a number, the same whichever others were made before."""
    n, p, s = SETTINGS[setting]
    beta, sigma = make_beta(kind, p, s), covariance(p, rho)
    noise = float(beta @ sigma @ beta) / snr
    rng = np.random.default_rng([n, p, kind, round(100 * rho), round(100 * snr), number])
    X = rng.normal(size=(n, p)) @ _root(p, rho).T
    return Problem(X, X @ beta + np.sqrt(noise) * rng.normal(size=n), beta, sigma, noise)


def autoregressive(seed, n, p, rho, snr=5.0, size=10):
    """Columns with correlation rho^|i-j|, ten coefficients +-U(.5, 1.5), var(Xb) = snr sigma^2."""
    rng = np.random.default_rng(seed)
    X = np.empty((n, p))
    X[:, 0] = rng.normal(size=n)
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * rng.normal(size=n)
    beta = np.zeros(p)
    beta[rng.choice(p, size, replace=False)] = rng.uniform(0.5, 1.5, size) * rng.choice(
        [-1, 1], size
    )
    signal = X @ beta
    return X, signal + rng.normal(size=n) * np.sqrt(signal.var() / snr)
