"""Cross-validation over groups of columns under rules.

Every fold is a search of its own on its training rows, without swaps, which learns its own means,
scales and bases of groups.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ellzero._engine import make_design, thread_count
from ellzero.regression._cross_validation import Choice, CrossValidation, far_beyond
from ellzero.regression._cv_curve import FoldPath, make_curve
from ellzero.regression._group_search import GroupSearch
from ellzero.regression._side_by_side import SideBySide
from ellzero.regression._structured import GroupData
from ellzero.regression._units import Units

__all__ = ["GroupFold", "choose_group_price", "make_group_folds"]

_Rows = NDArray[np.int64]
_Splits = list[tuple[_Rows, _Rows]]
_FIRST_SIZE, _MOST = 20, 40


class GroupFold(Protocol):
    """Rows to train on, and rows held out."""

    def search(
        self, units: Units, ridge: float, threads: int, progress: Callable[[int], None] | None
    ) -> GroupSearch:
        """Put a search on the rows to train on."""

    def path(self, search: GroupSearch, size: int) -> FoldPath:
        """Return the solutions up to a size, and their errors on the rows held out."""


def make_group_folds(
    data: GroupData, repeats: list[_Splits]
) -> tuple[list[list[GroupFold]], float]:
    """Return the folds of every repeat, and what their errors are a share of."""
    folds = [[_Fold(data, train, test) for train, test in splits] for splits in repeats]
    sound: list[list[GroupFold]] = [
        [fold for fold in of_repeat if fold.weight > 0] for of_repeat in folds
    ]
    return sound, _variance(data)


def choose_group_price(
    folds: list[list[GroupFold]],
    scale: float,
    units: Units,
    ridges: list[float],
    max_size: int | None,
    workers: int,
    progress: Callable[[int], None] | None,
) -> Choice:
    """Compute the curve of every ridge and choose by each rule; errors are a share of ``scale``."""
    curves, reached = [], 0
    counts = [len(of_repeat) for of_repeat in folds]
    flat = [fold for of_repeat in folds for fold in of_repeat]
    together = SideBySide(min(workers, len(flat)), progress)
    threads = max(1, thread_count() // together.workers)
    for ridge in ridges:
        open_search = partial(_open, units, ridge, threads, together.progress)
        pairs = list(zip(flat, together.map(open_search, flat), strict=True))
        first = pairs[0][1]
        most = min(first.largest, first.least + max(_MOST, int(first.design.weight / 2)))
        size = min(most, first.least + _FIRST_SIZE)
        if max_size is not None:
            size = most = min(first.largest, max_size)
        while True:
            grown = iter(together.map(partial(_path_to, size), pairs))
            paths = [[next(grown) for _ in range(count)] for count in counts]
            curve = make_curve(paths, 1e-12 * scale)
            wanted = far_beyond(float(curve.mean_size[curve.best()]), first.least) + 10
            open_ended = any(path.end > 0 for found in paths for path in found)
            if size >= min(most, wanted) or not open_ended:
                break
            size = min(most, max(wanted, size + 10))
        curves.append(curve)
        reached = max(reached, size)
    rule = CrossValidation("frontier", ridges, np.empty(0, dtype=np.int64), max_size, 1, None)
    return Choice(curves, ridges, rule.mark(curves, list(range(len(curves)))), reached)


def _open(
    units: Units,
    ridge: float,
    threads: int,
    progress: Callable[[int], None] | None,
    fold: GroupFold,
) -> GroupSearch:
    return fold.search(units, ridge, threads, progress)


def _path_to(size: int, pair: tuple[GroupFold, GroupSearch]) -> FoldPath:
    return pair[0].path(pair[1], size)


def _variance(data: GroupData) -> float:
    return float(np.average((data.y - np.average(data.y)) ** 2, weights=data.sample_weight))


class _Fold:
    """Rows to train on, and rows held out."""

    def __init__(self, data: GroupData, train: _Rows, test: _Rows) -> None:
        self._data, self._train, self._test = data, train, test
        weights = data.sample_weight
        self._weights = np.ones(test.size) if weights is None else weights[test]
        self.weight = float(self._weights.sum())
        whole = float(data.y.size if weights is None else weights.sum())
        inside = float(train.size if weights is None else weights[train].sum())
        self._share = whole / inside if inside > 0 else 1.0

    def search(
        self, units: Units, ridge: float, threads: int, progress: Callable[[int], None] | None
    ) -> GroupSearch:
        data, rows = self._data, self._train
        weights = None if data.sample_weight is None else data.sample_weight[rows]
        X: Any = data.X[rows]
        X = np.asfortranarray(X) if isinstance(X, np.ndarray) else X.tocsc()
        design = make_design(X, data.y[rows], weights, data.fit_intercept, threads)
        return GroupSearch(design, units, ridge, threads, swaps=False, progress=progress)

    def path(self, search: GroupSearch, size: int) -> FoldPath:
        """Return the solutions up to a size, and their errors on the rows held out."""
        search.grow(size)
        hull = search.hull()
        X, y = self._data.X[self._test], self._data.y[self._test]
        errors = []
        for model in hull.models:
            coef = model.beta * model.inverse_scale
            fitted = X[:, model.support] @ coef + search.design.mean_y - float(model.mean @ coef)
            errors.append(float(np.average((y - fitted) ** 2, weights=self._weights)))
        nothing = np.zeros(len(errors))
        return FoldPath(
            lambdas=hull.lambdas * self._share,
            end=hull.end * self._share,
            sizes=np.array([model.size for model in hull.models]),
            errors=np.array(errors),
            along=nothing,
            square=nothing,
            weight=self.weight,
        )
