"""The solutions of one fold as lam falls, and how each does on the rows held out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.regression._cv_curve import FoldPath
from ellzero.regression._folds import Fold
from ellzero.regression._hull import Hull
from ellzero.regression._problem import Problem

__all__ = ["frontier_fold_paths", "sbr_fold_path"]


def frontier_fold_paths(folds: list[Fold], judged: list[Any], weight: float) -> list[FoldPath]:
    """Return the solutions of every fold, from what ``_core.FoldFrontiers.judge`` says of them.

    ``weight`` is that of all rows: prices are compared per unit of weight.
    """
    paths = []
    for fold, (first, energies, errors, next_gain, _) in zip(folds, judged, strict=True):
        next_energy = float(energies[-1]) - next_gain
        hull = Hull(first, energies, next_energy, 1e-14 * 0.5 * fold.design.yy)
        per_fold = weight / fold.design.weight
        paths.append(
            FoldPath(
                hull.lambdas * per_fold,
                hull.end * per_fold,
                hull.sizes,
                errors[hull.sizes - first],
                fold.test_weight,
            )
        )
    return paths


def sbr_fold_path(fold: Fold, problem: Problem, weight: float, max_size: int) -> FoldPath:
    """Run SBR at every lam at which its decisions change, and judge where it stops."""
    engine, mask = problem.engine, problem.forced_mask
    supports: list[NDArray[np.int64]] = []
    coefs: list[NDArray[np.float64]] = []
    intercepts: list[float] = []
    lows: list[float] = []
    lam = np.inf
    while True:
        engine.move_to(problem.forced)
        _, held_back, _, low, _ = engine.sbr(lam, mask, max_size, problem.progress)
        if held_back >= 0:
            break  # what it would do below is not known: max_size is in the way
        support, beta, _, inverse_scale, mean, _, _ = engine.solution()
        if supports and np.array_equal(support, supports[-1]):
            lows[-1] = low
        else:
            supports.append(support)
            coefs.append(beta * inverse_scale)
            intercepts.append(fold.design.mean_y - float(mean @ coefs[-1]))
            lows.append(low)
        # A little below, by more than what gains are known to
        lam = min(low * (1 - 1e-9), low - 2 * problem.least_gain)
        if not lam > 0:
            lows[-1] = 0.0
            break
    errors = fold.errors(supports, coefs, np.array(intercepts))
    per_fold = weight / fold.design.weight
    return FoldPath(
        np.array(lows[:-1]) * per_fold,
        lows[-1] * per_fold,
        np.array([support.size for support in supports]),
        errors,
        fold.test_weight,
    )
