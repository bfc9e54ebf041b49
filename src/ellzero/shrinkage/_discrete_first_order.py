"""The discrete first-order algorithm of Bertsimas, King and Mazumder."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ellzero._normal_means.rule import Floats
from ellzero.shrinkage._k_sparse import KSparse
from ellzero.shrinkage._loss import Loss, evaluate, first_point, refit
from ellzero.shrinkage._proximal_gradient import ProximalSolution, proximal_gradient

__all__ = ["discrete_first_order"]


def discrete_first_order(
    loss: Loss,
    k: int,
    *,
    start: ArrayLike | None = None,
    n_starts: int = 10,
    step: float | str = "backtracking",
    max_iter: int = 1_000,
    tol: float = 1e-4,
    random_state: int | np.random.RandomState | None = None,
) -> ProximalSolution:
    r"""Seek the k coefficients that minimise a smooth convex loss.

    .. math:: \min_\beta g(\beta) \quad \text{subject to} \quad \|\beta\|_0 \le k,
              \qquad \beta \leftarrow H_k(\beta - \mathrm{step} \nabla g(\beta))

    Algorithm 1 of Bertsimas, King and Mazumder (2016), then a refit of the coefficients on the
    support found, in turns until neither changes it; from several starts, the best of which is
    returned. The result is stationary, not known to be the minimum.

    Parameters
    ----------
    loss : LeastSquares or any object with ``value`` and ``gradient``
        Convex.
    k : int
        The most coefficients that may differ from zero.
    start : array-like of shape (p,) or None
        The first start; zero if not given. The others are random.
    n_starts : int
        How many starts.
    step : "lipschitz", "backtracking" or float
        As for :func:`proximal_gradient`. ``"lipschitz"`` is Algorithm 1 as published; longer steps
        leave fewer stationary points to be trapped in.
    max_iter : int
        The most steps between two refits.
    tol : float
        As for :func:`proximal_gradient`.
    random_state : int, RandomState or None
        Seed of the random starts.

    Returns
    -------
    ProximalSolution
        Of the best start; ``support`` has the columns.

    Examples
    --------
    >>> from ellzero.datasets import make_collinear
    >>> from ellzero.shrinkage import LeastSquares, discrete_first_order
    >>> X, y, beta = make_collinear(n=200, p=30, n_factors=0, random_state=0)
    >>> solution = discrete_first_order(LeastSquares(X, y), k=10, random_state=0)
    >>> set(solution.support) == set(beta.nonzero()[0])
    True
    """
    penalty = KSparse(k)
    if not (isinstance(n_starts, Integral) and n_starts >= 1):
        raise ValueError(f"n_starts must be a positive integer; got {n_starts!r}.")
    rng = check_random_state(random_state)
    first = first_point(loss, start)
    gradient = evaluate(loss)(np.zeros_like(first))[1]
    # Random starts are as large as one long step from zero.
    scale = float(np.abs(gradient).max(initial=0.0)) / getattr(loss, "lipschitz", 1.0)
    best: ProximalSolution | None = None
    for attempt in range(n_starts):
        beta = first if attempt == 0 else scale * rng.normal(size=len(first))
        solution = _descend(loss, penalty, penalty.prox(beta), step, max_iter, tol)
        if best is None or solution.objective < best.objective:
            best = solution
    assert best is not None
    return best


def _descend(
    loss: Loss,
    penalty: KSparse,
    beta: Floats,
    step: float | str,
    max_iter: int,
    tol: float,
) -> ProximalSolution:
    """Take steps and refit in turns, as long as the objective falls."""
    both = evaluate(loss)
    history: list[Floats] = []
    best: ProximalSolution | None = None
    for _ in range(100):
        with warnings.catch_warnings():
            # The refit that follows finishes the work on this support.
            warnings.simplefilter("ignore", ConvergenceWarning)
            solution = proximal_gradient(
                loss, penalty, start=beta, step=step, max_iter=max_iter, tol=tol
            )
        history.append(solution.objectives)
        beta = refit(loss, solution.support, solution.coef)
        value = both(beta)[0]
        if value > solution.objective:  # by rounding only
            beta, value = solution.coef, solution.objective
        solution = replace(solution, coef=beta, objective=value)
        if best is not None and not value < best.objective * (1 - 1e-10):
            break
        best = solution
    assert best is not None
    objectives = np.append(np.concatenate(history), best.objective)
    return replace(best, objectives=objectives, n_iter=len(objectives) - 1)
