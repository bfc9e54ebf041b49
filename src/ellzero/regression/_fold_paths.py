"""The solutions of every fold as lam falls, and how each does on the rows held out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.regression._cv_curve import FoldPath

__all__ = ["AnyFolds", "FoldSearch"]

_Core = Any  # _core.Folds or _core.LikelihoodFolds: searches of all folds


class AnyFolds(Protocol):
    """What cross-validation asks of folds, whatever their loss."""

    @property
    def whole(self) -> _core.Quadratic:
        """The quadratic of all rows."""

    @property
    def least_weight(self) -> float:
        """The least weight of rows that a fold trains on."""

    @property
    def footprint(self) -> float:
        """The bytes that a search on them keeps, roughly."""

    @property
    def error_scale(self) -> float:
        """What errors are a share of."""

    def batches(self) -> list[Callable[[], list[Any]]]:
        """Return what makes the folds, those together that are searched together."""

    def open(self, batch: list[Any], *how: Any) -> _Core:
        """Return the searches of some folds."""


class FoldSearch:
    """The search for the solutions of all folds, which can be carried on to larger sizes.

    It begins where that of a neighbour, the same folds with another ridge, has come to.

    Attributes
    ----------
    models : list of _core.FoldModels
        What each fold has found.
    """

    def __init__(
        self,
        folds: AnyFolds,
        solver: str,
        ridge: float,
        forced: NDArray[np.int64],
        workers: int,
        threads: int,
        neighbour: FoldSearch | None = None,
    ) -> None:
        self.solver = solver
        self._folds, self._ridge, self._forced = folds, ridge, forced
        self._workers, self._threads = workers, threads
        self._batches = folds.batches()
        self._sizes: list[int] = []  # that were asked for so far
        # Whether folds that share their parts are searched some at a time
        self._shared = len(self._batches) > 1 and getattr(folds, "parts", None) is not None
        # Folds that are all in memory go on from where they are, others begin anew.
        self._kept: tuple[list[Any], _Core] | None = None
        self._neighbour: _Core | None = None
        if neighbour is not None and neighbour._kept is not None:
            batch, self._neighbour = neighbour._kept
            self._kept = self._open(batch)
        elif len(self._batches) == 1:
            self._kept = self._open(self._batches[0]())

    def _open(self, batch: list[Any]) -> tuple[list[Any], _Core]:
        workers = max(1, min(self._workers, len(batch)))
        sbr = self.solver == "sbr"
        core = self._folds.open(batch, sbr, self._ridge, self._forced, workers, self._threads)
        return batch, core

    def paths(self, max_size: int, progress: Callable[[int], None] | None) -> list[FoldPath]:
        """Return the solutions of every fold among sizes up to ``max_size``.

        They are in terms of the lam of all rows: prices are compared per unit of weight.
        """
        self.models: list[_core.FoldModels] = []
        paths: list[FoldPath] = []
        before, self._sizes = self._sizes, [*self._sizes, max_size]
        for make in self._batches:
            batch, core = self._kept or self._open(make())
            # What begins anew takes the way of what was kept: a search may depend on it.
            for size in before if self._shared else []:
                core.search(size, progress, None)
            core.search(max_size, progress, self._neighbour)
            found = core.judge()
            paths += [self._path(*each) for each in zip(batch, found, strict=True)]
            self.models += found
            if self._shared:
                del core
                for fold in batch:
                    fold.design.drop_columns()
        return paths

    def _path(self, fold: Any, models: _core.FoldModels) -> FoldPath:
        per_fold = self._folds.whole.weight / fold.trained
        if self.solver != "sbr":
            path: FoldPath = fold.path(models, per_fold)
            return path
        lows, sizes = models.lows * per_fold, np.diff(models.begins)
        errors, along, square = fold.verdicts(models)
        return FoldPath(lows[:-1], float(lows[-1]), sizes, errors, along, square, fold.tested)
