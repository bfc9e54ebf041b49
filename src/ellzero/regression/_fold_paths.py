"""The solutions of every fold as lam falls, and how each does on the rows held out."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.regression._cv_curve import FoldPath
from ellzero.regression._folds import Folds
from ellzero.regression._hull import Hull

__all__ = ["FoldModels", "FoldSearch"]

_CACHE_BYTES = 1e9


class FoldModels(NamedTuple):
    """What one fold has found."""

    begins: NDArray[np.int64]  # where each model begins in `support`, and the end
    support: NDArray[np.int64]  # the columns of the models, one after the other
    energies: NDArray[np.float64]
    errors: NDArray[np.float64]  # mean squared, on the rows held out
    next_gain: float  # of a frontier: what one more variable would gain in the largest
    lows: NDArray[np.float64]  # of SBR: the least lam that each is the solution at


class FoldSearch:
    """The search for the solutions of all folds, which can be carried on to larger sizes."""

    def __init__(
        self,
        folds: Folds,
        solver: str,
        ridge: float,
        forced: NDArray[np.int64],
        workers: int,
        threads: int,
    ) -> None:
        self.folds, self.solver = folds.usable, solver
        self._weight = folds.whole.weight
        self._core = _core.Folds(
            [fold.design for fold in self.folds],
            [fold.held_out for fold in self.folds],
            None if folds.parts is None else folds.parts.core,
            solver == "sbr",
            ridge,
            forced,
            _CACHE_BYTES,
            workers,
            threads,
        )

    def paths(self, max_size: int, progress: Callable[[int], None] | None) -> list[FoldPath]:
        """Return the solutions of every fold among sizes up to ``max_size``.

        They are in terms of the lam of all rows: prices are compared per unit of weight.
        """
        self._core.search(max_size, progress)
        self.models = [FoldModels(*fold) for fold in self._core.judge()]
        return [self._path(place) for place in range(len(self.folds))]

    def _path(self, place: int) -> FoldPath:
        design, weight = self.folds[place].design, self.folds[place].held_out.weight
        models = self.models[place]
        sizes = np.diff(models.begins)
        per_fold = self._weight / design.weight
        if self.solver == "sbr":
            lows = models.lows * per_fold
            return FoldPath(lows[:-1], float(lows[-1]), sizes, models.errors, weight)
        next_energy = float(models.energies[-1]) - models.next_gain
        hull = Hull(int(sizes[0]), models.energies, next_energy, 1e-14 * 0.5 * design.yy)
        errors = models.errors[hull.sizes - sizes[0]]
        return FoldPath(hull.lambdas * per_fold, hull.end * per_fold, hull.sizes, errors, weight)
