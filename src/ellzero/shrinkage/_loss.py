"""Smooth losses for proximal methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, sparse
from sklearn.utils import check_X_y

from ellzero._normal_means.prior import check_positive, check_values
from ellzero._normal_means.rule import Floats

__all__ = ["LeastSquares", "Loss", "evaluate", "first_point", "lipschitz_of", "refit"]


@runtime_checkable
class Loss(Protocol):
    """What a smooth convex loss has to offer.

    It may also have ``lipschitz``, a Lipschitz constant of the gradient (without one, steps are
    found by backtracking), and ``n_features``, the number of coefficients (without one, a start has
    to be given).
    """

    def value(self, beta: Floats) -> float:
        """Return the loss."""

    def gradient(self, beta: Floats) -> Floats:
        """Return its gradient."""


class LeastSquares:
    r"""The least-squares loss, with nothing centred or scaled.

    .. math:: g(\beta) = \frac{1}{2 \sigma_e^2} \|y - X \beta\|^2

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        The design.
    y : array-like of shape (n,)
        The response.
    sigma_e : float
        The noise's standard deviation, for penalties that are negative log densities; one gives
        the plain ``1/2 RSS``.

    Examples
    --------
    >>> from ellzero.shrinkage import LeastSquares
    >>> loss = LeastSquares([[1.0, 0.0], [0.0, 2.0]], [1.0, 2.0])
    >>> loss.value([0.0, 0.0]), loss.gradient([0.0, 0.0])
    (2.5, array([-1., -4.]))
    >>> round(loss.lipschitz, 6)
    4.0004
    """

    def __init__(self, X: ArrayLike, y: ArrayLike, sigma_e: float = 1.0) -> None:
        design, response = check_X_y(X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        self.X: Any = design
        self.y: Floats = response
        self.precision = 1 / check_positive("sigma_e", sigma_e) ** 2
        self.n_features = int(self.X.shape[1])
        self._lipschitz: float | None = None
        self._last: tuple[Floats, Floats] = np.full(1, np.nan), self.y

    def _residual(self, beta: ArrayLike) -> Floats:
        """Return ``X beta - y``; solvers ask for the value first, and then for the gradient."""
        values = np.asarray(beta, dtype=np.float64)
        if values.shape != (self.n_features,):
            raise ValueError(f"beta must have {self.n_features} numbers; got {values.shape}.")
        if not np.array_equal(values, self._last[0]):
            used = np.flatnonzero(values)
            if 8 * len(used) < self.n_features:
                fitted = self.X[:, used] @ values[used]
            else:
                fitted = self.X @ values
            self._last = values.copy(), fitted - self.y
        return self._last[1]

    def value_and_gradient(self, beta: ArrayLike) -> tuple[float, Floats]:
        """Loss and gradient, with one product each way.

        Parameters
        ----------
        beta : array-like of shape (p,)
            Coefficients.

        Returns
        -------
        tuple of float and ndarray
            The loss and its gradient.
        """
        residual = self._residual(beta)
        value = 0.5 * self.precision * float(residual @ residual)
        return value, self.precision * (self.X.T @ residual)

    def value(self, beta: ArrayLike) -> float:
        """Loss.

        Parameters
        ----------
        beta : array-like of shape (p,)
            Coefficients.

        Returns
        -------
        float
            ``|y - X beta|^2 / (2 sigma_e^2)``.
        """
        residual = self._residual(beta)
        return 0.5 * self.precision * float(residual @ residual)

    def gradient(self, beta: ArrayLike) -> Floats:
        """Gradient of the loss.

        Parameters
        ----------
        beta : array-like of shape (p,)
            Coefficients.

        Returns
        -------
        ndarray of shape (p,)
            ``X'(X beta - y) / sigma_e^2``.
        """
        return self.value_and_gradient(beta)[1]

    @property
    def lipschitz(self) -> float:
        """Largest eigenvalue of ``X'X / sigma_e^2``, by power iteration, to about four digits.

        Power iteration approaches it from below, and a little is added. Solvers check every step,
        and shorten it if need be.
        """
        if self._lipschitz is None:
            self._lipschitz = self.precision * _largest_eigenvalue(self.X)
        return self._lipschitz

    def refit(self, support: NDArray[np.int64]) -> Floats:
        """Coefficients that minimise the loss on some columns, zero on others.

        Parameters
        ----------
        support : ndarray of int
            Columns.

        Returns
        -------
        ndarray of shape (p,)
            The least-squares solution, the shortest one if there are many.
        """
        beta = np.zeros(self.n_features)
        if len(support):
            columns = self.X[:, support]
            dense = columns.toarray() if sparse.issparse(columns) else columns
            beta[support] = np.linalg.lstsq(dense, self.y, rcond=None)[0]
        return beta


def _largest_eigenvalue(X: Any) -> float:
    v = np.random.default_rng(0).normal(size=X.shape[1])
    size, before = float(np.linalg.norm(v)), 0.0
    for _ in range(1000):
        v = X.T @ (X @ (v / size))
        size = float(np.linalg.norm(v))
        if size <= before * (1 + 1e-6) or size == 0:
            break
        before = size
    return size * 1.0001


def evaluate(loss: Any) -> Callable[[Floats], tuple[float, Floats]]:
    """Return a function that gives a loss's value and gradient together."""
    if not isinstance(loss, Loss):
        raise TypeError(f"loss must have the methods value and gradient; got {loss!r}.")
    if hasattr(loss, "value_and_gradient"):
        together: Callable[[Floats], tuple[float, Floats]] = loss.value_and_gradient
        return together
    return lambda beta: (float(loss.value(beta)), np.asarray(loss.gradient(beta)))


def first_point(loss: Any, start: ArrayLike | None) -> Floats:
    """Return a copy of the start, or zeros."""
    size = getattr(loss, "n_features", None)
    if start is None:
        if size is None:
            raise ValueError("start must be given for a loss without n_features.")
        return np.zeros(size)
    beta = check_values("start", start).copy()
    if beta.ndim != 1:
        raise ValueError(f"start must be one-dimensional; got the shape {beta.shape}.")
    if size is not None and len(beta) != size:
        raise ValueError(f"start must have {size} numbers; got {len(beta)}.")
    return beta


def lipschitz_of(loss: Any) -> float | None:
    """Return the loss's Lipschitz constant, None if it has none."""
    bound = getattr(loss, "lipschitz", None)
    return None if bound is None else check_positive("loss.lipschitz", bound)


def refit(loss: Any, support: NDArray[np.int64], start: Floats) -> Floats:
    """Minimise any loss over the coefficients of a support."""
    if hasattr(loss, "refit"):
        solved: Floats = loss.refit(support)
        return solved
    both = evaluate(loss)
    beta = np.zeros_like(start)

    def restricted(values: Floats) -> tuple[float, Floats]:
        beta[support] = values
        value, gradient = both(beta)
        return value, gradient[support]

    options = {"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-10}
    found = optimize.minimize(
        restricted, start[support], jac=True, method="L-BFGS-B", options=options
    )
    beta[support] = found.x
    return beta
