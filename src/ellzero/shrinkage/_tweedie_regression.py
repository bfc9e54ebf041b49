"""Tweedie's formula for linear regression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from sklearn.utils import check_X_y

from ellzero._normal_means.prior import check_values
from ellzero._normal_means.rule import Floats

__all__ = ["Noise", "tweedie_regression"]

_RANK = (
    1e-12  # of the smallest singular value over the largest, below which X has dependent columns
)


class Noise:
    """A covariance matrix: a number (times the identity), a diagonal, or whole."""

    def __init__(self, Sigma: ArrayLike, n: int) -> None:
        values = check_values("Sigma", Sigma)
        if values.shape not in ((), (n,), (n, n)):
            raise ValueError(
                f"Sigma must be a variance, {n} variances or a {n} by {n} covariance matrix; "
                f"got the shape {values.shape}."
            )
        self.whole = values.ndim == 2
        if not self.whole:
            if not (values > 0).all():
                raise ValueError("Sigma must be positive.")
            self.root = np.sqrt(np.broadcast_to(values, (n,)))
            return
        if not np.allclose(values, values.T, rtol=1e-10, atol=0):
            raise ValueError("Sigma must be symmetric.")
        try:
            self.root = np.linalg.cholesky(values)
        except np.linalg.LinAlgError:
            raise ValueError("Sigma must be positive definite.") from None

    def whiten(self, v: Floats) -> Floats:
        """Return ``L^-1 v`` with ``Sigma = L L'``."""
        if self.whole:
            out: Floats = linalg.solve_triangular(self.root, v, lower=True)
            return out
        return (v.T / self.root).T

    def colour(self, v: Floats) -> Floats:
        """Return ``L'v``."""
        return self.root.T @ v if self.whole else self.root * v

    def unwhiten(self, v: Floats) -> Floats:
        """Return ``L^-T v``."""
        if self.whole:
            out: Floats = linalg.solve_triangular(self.root, v, lower=True, trans="T")
            return out
        return v / self.root


def tweedie_regression(
    X: ArrayLike,
    y: ArrayLike,
    Sigma: ArrayLike,
    score: ArrayLike | Callable[[Floats], Any],
    *,
    given: str = "y",
) -> Floats:
    r"""Posterior mean of regression coefficients from the score of the marginal density.

    For ``y = X beta + e`` with ``e ~ N(0, Sigma)`` and any prior on beta, the paper's theorem:

    .. math:: E[\beta \mid y] = (X' \Sigma^{-1} X)^{-1} X'
              \left(\Sigma^{-1} y + \nabla \log m(y)\right)

    With ``given="least_squares"`` the equivalent form that conditions on the least-squares estimate
    :math:`b = (X'\Sigma^{-1}X)^{-1} X'\Sigma^{-1} y`, which is N(beta, C) with
    :math:`C = (X'\Sigma^{-1}X)^{-1}`, and has the marginal density :math:`m_b`:

    .. math:: E[\beta \mid y] = b + C \, \nabla \log m_b(b)

    Nothing is centred or scaled.

    Parameters
    ----------
    X : array-like of shape (n, p)
        The design, of full column rank.
    y : array-like of shape (n,)
        The response.
    Sigma : float, array-like of shape (n,) or (n, n)
        The noise's variance, its variances, or its covariance matrix.
    score : callable or array-like
        The gradient of the log marginal density: of y, n numbers, or with
        ``given="least_squares"`` of the least-squares estimate, p numbers; or a function of y (or
        of that estimate) that returns it.
    given : "y" or "least_squares"
        Whose marginal density it is.

    Returns
    -------
    ndarray of shape (p,)
        The posterior mean of the coefficients.

    Raises
    ------
    ValueError
        If the columns of X are linearly dependent: the formula needs the inverse of
        :math:`X'\Sigma^{-1}X`.

    Examples
    --------
    With a normal prior, ``beta ~ N(0, I)``, the marginal is normal and the posterior mean a ridge
    regression:

    >>> import numpy as np
    >>> from ellzero.shrinkage import tweedie_regression
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), np.array([1.0, 2.0, 2.0])
    >>> score = lambda y: -np.linalg.solve(X @ X.T + np.eye(3), y)
    >>> tweedie_regression(X, y, 1.0, score)
    array([0.625, 1.125])
    >>> np.linalg.solve(X.T @ X + np.eye(2), X.T @ y)
    array([0.625, 1.125])
    """
    design, response = check_X_y(X, y, dtype=np.float64, y_numeric=True)
    if given not in ("y", "least_squares"):
        raise ValueError(f"given must be 'y' or 'least_squares'; got {given!r}.")
    n, p = design.shape
    noise = Noise(Sigma, n)
    Q, R, order = linalg.qr(noise.whiten(design), mode="economic", pivoting=True)
    sizes = np.abs(np.diag(R))
    if p > n or sizes[-1] <= _RANK * sizes[0]:
        raise ValueError(
            "X must have full column rank: the formula needs the inverse of X' Sigma^-1 X."
        )
    back = np.empty(p, dtype=np.int64)
    back[order] = np.arange(p)
    white = noise.whiten(response)
    if given == "y":
        correction = noise.colour(_evaluate(score, response, n))
        return _solve(R, Q.T @ (white + correction))[back]
    estimate = _solve(R, Q.T @ white)[back]
    gradient = _evaluate(score, estimate, p)
    # C = P R^-1 R^-T P'
    inner = linalg.solve_triangular(R, gradient[order], trans="T")
    return estimate + _solve(R, inner)[back]


def _solve(R: Floats, v: Floats) -> Floats:
    out: Floats = linalg.solve_triangular(R, v)
    return out


def _evaluate(score: ArrayLike | Callable[[Floats], Any], at: Floats, size: int) -> Floats:
    gradient = check_values("score", score(at) if callable(score) else score)
    if gradient.shape != (size,):
        raise ValueError(f"score must have {size} numbers; got the shape {gradient.shape}.")
    return gradient
