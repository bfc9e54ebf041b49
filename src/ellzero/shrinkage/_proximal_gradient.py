"""Proximal gradient: a smooth convex loss plus a penalty, one gradient and one prox per step."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from ellzero._normal_means.prior import check_positive
from ellzero._normal_means.rule import Floats
from ellzero.shrinkage._loss import LeastSquares, Loss, evaluate, first_point, lipschitz_of
from ellzero.shrinkage._penalty import Penalty
from ellzero.shrinkage._piecewise import L0

__all__ = [
    "ProximalSolution",
    "iterative_hard_thresholding",
    "proximal_gradient",
    "proximal_path",
]


@dataclass(frozen=True)
class ProximalSolution:
    """What a proximal method found: a stationary point, which need not be the optimum.

    Attributes
    ----------
    coef : ndarray of shape (p,)
        The coefficients.
    objective : float
        Loss plus penalty.
    objectives : ndarray
        The objective at the start and after every step; but for rounding it never rises.
    stationarity : float
        The largest absolute value of ``(beta - prox(beta - step gradient)) / step``: zero where
        another step would change nothing.
    step : float
        The step that this is measured with.
    converged : bool
        Whether the stationarity came below the tolerance.
    n_iter : int
        Steps taken.
    """

    coef: Floats
    objective: float
    objectives: Floats
    stationarity: float
    step: float
    converged: bool
    n_iter: int

    @property
    def support(self) -> NDArray[np.int64]:
        """The columns whose coefficients are not zero."""
        return np.flatnonzero(self.coef)


def proximal_gradient(
    loss: Loss,
    penalty: Penalty,
    *,
    start: ArrayLike | None = None,
    step: float | str = "lipschitz",
    accelerate: bool | None = None,
    max_iter: int = 10_000,
    tol: float = 1e-6,
) -> ProximalSolution:
    r"""Minimise a smooth convex loss plus a penalty, to a stationary point.

    .. math:: \min_\beta g(\beta) + f(\beta), \qquad
              \beta \leftarrow \mathrm{prox}_{f, \mathrm{step}}
              (\beta - \mathrm{step} \nabla g(\beta))

    Every step is checked against the bound ``g(new) <= g + gradient'd + |d|^2 / (2 step)`` and
    shortened until it holds; so the objective never rises (but for its rounding), whatever the
    penalty.

    Parameters
    ----------
    loss : LeastSquares or any object with ``value`` and ``gradient``
        Convex; with ``lipschitz`` and ``n_features`` if it knows them.
    penalty : Penalty
        Any penalty of :mod:`ellzero.shrinkage`, or any object with ``value`` and ``prox``.
    start : array-like of shape (p,) or None
        Where to begin; zero if not given.
    step : "lipschitz", "backtracking" or float
        ``1/L`` with the loss's own L; or as long as the bound allows, tried anew at every step; or
        a number to start from. For penalties that are not convex, longer steps end in better
        stationary points.
    accelerate : bool or None
        Nesterov's momentum, restarted whenever the objective would rise. By default it is used if
        the penalty is convex; for others there is no theory to back it, and it is refused.
    max_iter : int
        The most steps.
    tol : float
        Stop when the stationarity is at most ``tol`` times the largest absolute gradient at zero.

    Returns
    -------
    ProximalSolution
        With a :class:`~sklearn.exceptions.ConvergenceWarning` if ``max_iter`` was not enough.

    Examples
    --------
    >>> from ellzero.shrinkage import L1, LeastSquares, proximal_gradient
    >>> loss = LeastSquares([[1.0, 0.5], [0.0, 1.0], [1.0, 0.0]], [2.0, 0.1, 2.0])
    >>> solution = proximal_gradient(loss, L1(0.5))
    >>> solution.coef.round(4), solution.converged
    (array([1.75, 0.  ]), True)
    """
    _check_penalty(penalty)
    convex = bool(getattr(penalty, "convex", False))
    if accelerate is None:
        accelerate = convex
    elif accelerate and not convex:
        raise ValueError("accelerate must be False for a penalty that is not convex.")
    _check_iterations(max_iter, tol)
    both = evaluate(loss)
    beta = first_point(loss, start)
    walk = _Walk(
        loss.value, both, penalty, beta, *_first_curvature(loss, penalty, step, both, beta)
    )
    scale = float(np.abs(both(np.zeros_like(beta))[1]).max(initial=0.0))
    walk.run(accelerate, max_iter, tol * scale if scale > 0 else tol)
    if not walk.converged:
        warnings.warn(
            f"proximal_gradient stopped after max_iter={max_iter} steps with stationarity "
            f"{walk.stationarity:.3g}.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return walk.solution()


def _check_penalty(penalty: Any) -> None:
    if not (hasattr(penalty, "value") and hasattr(penalty, "prox")):
        raise TypeError(f"penalty must have the methods value and prox; got {penalty!r}.")


def _check_iterations(max_iter: int, tol: float) -> None:
    if not (isinstance(max_iter, Integral) and max_iter >= 1):
        raise ValueError(f"max_iter must be a positive integer; got {max_iter!r}.")
    if not (isinstance(tol, Real) and tol >= 0):
        raise ValueError(f"tol must be a number, not negative; got {tol!r}.")


def _first_curvature(
    loss: Any, penalty: Any, step: float | str, both: Any, beta: Floats
) -> tuple[float, bool, float]:
    """Return 1/step to begin with, whether to lengthen steps, and the least 1/step allowed."""
    least = 1 / getattr(penalty, "max_step", math.inf)
    if isinstance(step, str):
        if step not in ("lipschitz", "backtracking"):
            raise ValueError(
                f"step must be 'lipschitz', 'backtracking' or a positive number; got {step!r}."
            )
        bound = lipschitz_of(loss)
        if bound is None:
            # The curvature seen along the gradient.
            gradient = both(beta)[1]
            size = float(np.linalg.norm(gradient))
            probe = 1e-6 * (1 + float(np.linalg.norm(beta))) / size if size else 1.0
            bound = float(np.linalg.norm(both(beta - probe * gradient)[1] - gradient)) / (
                probe * size if size else 1.0
            )
        return max(bound, least, 1e-150), step == "backtracking", least
    return max(1 / check_positive("step", step), least), False, least


class _Walk:
    """Where a run is: the point, the loss and gradient there, and 1/step."""

    def __init__(
        self,
        value: Any,
        both: Any,
        penalty: Any,
        beta: Floats,
        curvature: float,
        lengthen: bool,
        least: float,
    ) -> None:
        self.value, self.both, self.penalty = value, both, penalty
        self.curvature, self.lengthen, self.least = curvature, lengthen, least
        self.beta = beta
        self.loss, self.gradient = both(beta)
        self.objective = self.loss + penalty.value(beta)
        self.objectives = [self.objective]
        self.converged, self.stationarity = False, math.inf

    def _step_from(
        self, at: Floats, loss: float, gradient: Floats
    ) -> tuple[Floats, float, Floats, float]:
        """Return the next point, its loss, gradient and distance, with steps short enough."""
        while True:
            point = self.penalty.prox(at - gradient / self.curvature, 1 / self.curvature)
            d = point - at
            new_loss = float(self.value(point))
            allowed = 0.5 * self.curvature * float(d @ d) * (1 + 1e-10)
            above = new_loss - loss - float(gradient @ d)
            rounded = above < 1e-7 * (abs(loss) + abs(new_loss))
            if rounded or above <= allowed:
                new_loss, new_gradient = self.both(point)
                if rounded:
                    # The losses' rounding shows. For so short a step the loss is quadratic.
                    above = 0.5 * float((new_gradient - gradient) @ d)
            if above <= allowed:
                return point, new_loss, new_gradient, float(np.abs(d).max(initial=0.0))
            if not np.isfinite(self.curvature):
                raise ValueError("loss: no step is short enough; is its gradient right?")
            self.curvature *= 2

    def run(self, accelerate: bool, max_iter: int, tolerance: float) -> None:
        momentum, before = 1.0, self.beta
        for _ in range(max_iter):
            following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
            ahead = (momentum - 1) / following if accelerate else 0.0
            if ahead:
                at = self.beta + ahead * (self.beta - before)
                loss, gradient = self.both(at)
            else:
                at, loss, gradient = self.beta, self.loss, self.gradient
                if self.lengthen:
                    self.curvature = max(self.curvature / 2, self.least)
            point, new_loss, new_gradient, moved = self._step_from(at, loss, gradient)
            objective = new_loss + self.penalty.value(point)
            still = moved * self.curvature
            # Near the end the objective changes by less than its rounding, and steps still help.
            risen = objective > self.objective + 1e-13 * abs(self.objective)
            if ahead and (risen or still <= tolerance):
                # Not lower, or about to stop: the next step is a plain one, which is, or says so.
                momentum, before = 1.0, self.beta
                if risen:
                    continue
            else:
                momentum, before = following, self.beta
            if not ahead:
                self.stationarity = still
                if still <= tolerance or risen:
                    self.converged = still <= tolerance
                    return
            self.beta, self.loss, self.gradient = point, new_loss, new_gradient
            self.objective = objective
            self.objectives.append(objective)
        self._measure()

    def _measure(self) -> None:
        moved = self._step_from(self.beta, self.loss, self.gradient)[3]
        self.stationarity = moved * self.curvature

    def solution(self) -> ProximalSolution:
        return ProximalSolution(
            self.beta,
            float(self.objective),
            np.array(self.objectives),
            self.stationarity,
            1 / self.curvature,
            self.converged,
            len(self.objectives) - 1,
        )


def proximal_path(
    loss: Loss, penalties: Iterable[Penalty], *, start: ArrayLike | None = None, **options: Any
) -> list[ProximalSolution]:
    """Solve for one penalty after the other, each from the solution before.

    Parameters
    ----------
    loss : LeastSquares or any object with ``value`` and ``gradient``
        As for :func:`proximal_gradient`.
    penalties : iterable of Penalty
        In the order to be solved, usually from the strongest down.
    start : array-like of shape (p,) or None
        Where the first begins.
    **options
        Passed on to :func:`proximal_gradient`.

    Returns
    -------
    list of ProximalSolution
        One per penalty.

    Examples
    --------
    >>> from ellzero.shrinkage import L1, LeastSquares, proximal_path
    >>> loss = LeastSquares([[1.0, 0.0], [0.0, 1.0]], [3.0, 1.0])
    >>> path = proximal_path(loss, [L1(lam) for lam in (2.0, 0.5)])
    >>> [solution.coef.round(6).tolist() for solution in path]
    [[1.0, 0.0], [2.5, 0.5]]
    """
    path: list[ProximalSolution] = []
    for penalty in penalties:
        solution = proximal_gradient(loss, penalty, start=start, **options)
        start = solution.coef
        path.append(solution)
    return path


def iterative_hard_thresholding(
    X: ArrayLike,
    y: ArrayLike,
    lam: float,
    *,
    start: ArrayLike | None = None,
    step: float | str = "lipschitz",
    max_iter: int = 10_000,
    tol: float = 1e-6,
) -> ProximalSolution:
    r"""Proximal gradient for l0-regularised least squares, the paper's PGD.

    .. math:: \min_\beta \tfrac12 \|y - X \beta\|^2 + \mathrm{lam}\, \|\beta\|_0

    Each step keeps the coefficients of ``beta + step X'(y - X beta)`` that are at least
    ``sqrt(2 lam step)`` in absolute value. The result is a fixed point of that, often far from the
    minimum: :class:`ellzero.L0Regressor` does much better.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        The design; nothing is centred or scaled.
    y : array-like of shape (n,)
        The response.
    lam : float
        Price of a variable, on the ``1/2 RSS + lam k`` scale.
    start : array-like of shape (p,) or None
        Where to begin; zero if not given.
    step : "lipschitz", "backtracking" or float
        As for :func:`proximal_gradient`.
    max_iter : int
        The most steps.
    tol : float
        As for :func:`proximal_gradient`.

    Returns
    -------
    ProximalSolution
        A fixed point.

    Examples
    --------
    >>> from ellzero.shrinkage import iterative_hard_thresholding
    >>> iterative_hard_thresholding([[1.0, 0.0], [0.0, 1.0]], [3.0, 1.0], lam=2.0).coef.round(6)
    array([3., 0.])
    """
    return proximal_gradient(
        LeastSquares(X, y), L0(lam), start=start, step=step, max_iter=max_iter, tol=tol
    )
