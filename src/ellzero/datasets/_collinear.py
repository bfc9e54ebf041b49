"""The simulated design of the paper's Section on statistical properties."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state

_PAPER_COEFFICIENTS = (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5)


def _check_integer(name: str, value: int, least: int) -> None:
    if not (isinstance(value, Integral) and value >= least):
        raise ValueError(f"{name} must be an integer of at least {least}; got {value!r}.")


def make_collinear(
    n: int = 120,
    p: int = 100,
    *,
    n_factors: int = 5,
    coefficients: ArrayLike = _PAPER_COEFFICIENTS,
    snr_db: float = 20.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    r"""Make a sparse regression problem with highly collinear columns, as in the paper.

    1. L is a ``p x n_factors`` matrix of N(0, 1) draws and ``Sigma = L L' + I``;
    2. each row of X is drawn from N(0, Sigma);
    3. the columns of X are centred and scaled to unit l2 norm;
    4. ``coefficients`` are placed at random among p, the others are zero;
    5. ``y = X beta + e``, the noise such that
       ``10 log10(var(X beta) / sigma_e^2) = snr_db``.

    Parameters
    ----------
    n, p : int
        Rows and columns.
    n_factors : int
        The paper's d: the rank of the common part of the columns. 0 makes them independent.
    coefficients : array-like
        The coefficients that are not zero, at most p of them.
    snr_db : float
        Signal-to-noise ratio in decibels; ``inf`` for no noise.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, p)
        Columns sum to zero and have unit l2 norm.
    y : ndarray of shape (n,)
        The response, not centred: its noise has a mean of its own.
    beta : ndarray of shape (p,)
        The true coefficients.

    Examples
    --------
    >>> from ellzero.datasets import make_collinear
    >>> X, y, beta = make_collinear(random_state=0)
    >>> X.shape, y.shape, int((beta != 0).sum())
    ((120, 100), (120,), 10)
    """
    _check_integer("n", n, least=2)
    _check_integer("p", p, least=1)
    _check_integer("n_factors", n_factors, least=0)
    values = check_array(coefficients, dtype=np.float64, ensure_2d=False, input_name="coefficients")
    if values.ndim != 1 or values.size > p or np.abs(values).max() > 1e100:
        raise ValueError(
            f"coefficients must be one-dimensional with at most p={p} entries, none above 1e100; "
            f"got shape {values.shape}."
        )
    if not (isinstance(snr_db, Real) and snr_db > -1000):
        raise ValueError(f"snr_db must be a number above -1000; got {snr_db!r}.")
    rng = check_random_state(random_state)
    loadings = rng.standard_normal((p, n_factors))
    # A row L f + u with f and u standard normal has covariance L L' + I.
    # einsum, since the bits of a BLAS product depend on its number of threads
    X = np.einsum("ik,jk->ij", rng.standard_normal((n, n_factors)), loadings)
    X += rng.standard_normal((n, p))
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    beta = np.zeros(p)
    beta[rng.choice(p, size=values.size, replace=False)] = values
    signal = np.einsum("ij,j->i", X, beta)
    sigma_e = signal.std() * 10 ** (-snr_db / 20)
    return X, signal + sigma_e * rng.standard_normal(n), beta
