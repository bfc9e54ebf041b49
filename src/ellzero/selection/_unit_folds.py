"""Cross-validation over groups of columns under rules.

Every fold is a search of its own on its training rows, without swaps, which learns its own means,
scales and bases of groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ellzero.regression._cross_validation import Choice, CrossValidation, far_beyond
from ellzero.regression._cv_curve import FoldPath, glance_at, make_curve
from ellzero.regression._group_search import GroupSearch
from ellzero.regression._units import Units
from ellzero.selection._rules import FoldsInTurn
from ellzero.selection._search import Fit

__all__ = ["UnitCrossValidation"]

_Floats = NDArray[np.float64]
_FIRST_SIZE, _MOST, _MORE = 20, 40, 10
# Ridges that are behind the best by so many standard errors of the difference are given up.
_BEHIND = 1.0
_KEPT_BYTES = 1e9


class UnitCrossValidation(NamedTuple):
    """How folds are searched, and what a price is chosen from."""

    ridges: list[float]  # increasing
    units: Units
    weights: _Floats | None  # of all rows
    max_size: int | None
    progress: Callable[[int], None] | None
    rescales: bool = False  # as of `CrossValidation`

    def up_to(self, max_size: int) -> UnitCrossValidation:
        """Return the same among models of up to a size."""
        return self._replace(max_size=max_size)

    def choose(self, folds: Any) -> Choice:
        """Compute the curve of every ridge, and choose by each rule.

        The first repeat says how large models have to be looked at, and which ridges are out of
        the running.
        """
        one = hasattr(folds, "batches")
        repeats = cast(Sequence[FoldsInTurn], [folds] if one else folds)
        paths: list[list[list[FoldPath]]] = [[] for _ in self.ridges]  # by ridge and repeat
        first = self._turns(repeats[0])
        sizes = []
        for ridge, found in zip(self.ridges, paths, strict=True):
            size, of_folds = self._first_paths(first, ridge)
            sizes.append(size)
            found.append(of_folds)
        nothing = [_errors_of_nothing(paths[0][0])]
        glances = [
            glance_at(found[0], self._stretch(ridge), self.rescales, nothing[0])
            for ridge, found in zip(self.ridges, paths, strict=True)
        ]
        least = min(glances, key=lambda glance: glance.error)
        few = len(least.share) < 5
        running = [
            i
            for i, glance in enumerate(glances)
            if i == 0 or few or not self.rescales or not glance.is_behind(least, _BEHIND)
        ]
        for r in range(1, len(repeats)):
            turns = self._turns(repeats[r])
            for i in running:
                paths[i].append([fold.path(self.ridges[i], sizes[i]) for fold in turns])
            nothing.append(_errors_of_nothing(paths[0][-1]))
        scale = 1e-12 * repeats[0].error_scale
        curves = [
            make_curve(
                of_ridge,
                scale,
                most=self._stretch(ridge),
                cautious=self.rescales,
                nothing=nothing[: len(of_ridge)],
            )
            for ridge, of_ridge in zip(self.ridges, paths, strict=True)
        ]
        none = np.empty(0, dtype=np.int64)
        rule = CrossValidation("frontier", self.ridges, none, None, 1, None, self.rescales)
        return Choice(curves, self.ridges, rule.mark(curves, running), max(sizes))

    def _stretch(self, ridge: float) -> float:
        return 1 + ridge if self.rescales else 1.0

    def _turns(self, folds: FoldsInTurn) -> Iterable[_Fold]:
        """Return the folds: kept if they are small enough, else made anew whenever gone through."""
        turns = _Turns(folds, self)
        return list(turns) if folds.footprint <= _KEPT_BYTES else turns

    def _first_paths(self, folds: Iterable[_Fold], ridge: float) -> tuple[int, list[FoldPath]]:
        """Search until the error has long been rising; return the size that was come to."""
        least = most = 0
        size = _FIRST_SIZE
        while True:
            paths = []
            for fold in folds:
                if not most:
                    least, most = fold.bounds(ridge, self.max_size)
                    size = most if self.max_size is not None else min(most, least + size)
                paths.append(fold.path(ridge, size))
            glance = glance_at(
                paths, self._stretch(ridge), self.rescales, _errors_of_nothing(paths)
            )
            wanted = far_beyond(glance.size, least) + _MORE
            open_ended = any(path.end > 0 for path in paths)
            if size >= min(most, wanted) or not open_ended:
                for fold in folds if isinstance(folds, list) else []:
                    fold.searches.clear()
                return size, paths
            size = min(most, max(wanted, size + _MORE))


def _errors_of_nothing(paths: list[FoldPath]) -> _Floats:
    """Return every fold's error at the largest prices, where there are forced groups at most."""
    return np.array([path.errors[0] for path in paths])


class _Turns:
    """Folds that are made one after the other, each time anew."""

    def __init__(self, folds: FoldsInTurn, how: UnitCrossValidation) -> None:
        self._folds, self._how = folds, how

    def __iter__(self) -> Iterator[_Fold]:
        whole, weights = self._folds.whole.weight, self._how.weights
        for fold, test, _ in self._folds.one_by_one():
            of_rows = np.ones(test.size) if weights is None else weights[test]
            yield _Fold(fold.for_groups(), whole / fold.trained, of_rows, self._how)


class _Fold:
    """Rows to train on and rows held out, and searches on the former."""

    def __init__(self, fold: Any, share: float, weights: _Floats, how: UnitCrossValidation) -> None:
        self._fold, self._weights, self._how = fold, weights, how
        self._share = share  # what a price on the training rows is multiplied by
        self.searches: dict[float, GroupSearch] = {}  # by ridge

    def _search(self, ridge: float) -> GroupSearch:
        if ridge not in self.searches:
            self.searches[ridge] = self._fold.group_search(
                self._how.units, ridge, swaps=False, progress=self._how.progress
            )
        return self.searches[ridge]

    def bounds(self, ridge: float, max_size: int | None) -> tuple[int, int]:
        """Return the least and the largest size to be looked at."""
        search = self._search(ridge)
        most = search.least + max(_MOST, int(search.design.weight / 2))
        return search.least, min(search.largest, most if max_size is None else max_size)

    def path(self, ridge: float, size: int) -> FoldPath:
        """Return the solutions up to a size, and their errors on the rows held out."""
        search = self._search(ridge)
        search.grow(size)
        hull = search.hull()
        fits = [(model.support, model.beta, model.intercept) for model in hull.models]
        along, square = np.zeros((2, len(fits)))
        if self._how.rescales and ridge > 0:
            along, square = self._along(fits)
        return FoldPath(
            lambdas=hull.lambdas * self._share,
            end=hull.end * self._share,
            sizes=np.array([model.size for model in hull.models]),
            errors=np.array([self._fold.error(*fit) for fit in fits]),
            along=along,
            square=square,
            weight=float(self._weights.sum()),
        )

    def _along(self, fits: list[Fit]) -> tuple[_Floats, _Floats]:
        """Return the means of r f and of f^2: what models leave of the rows, and their fits."""
        truth = self._fold.outcome(np.empty(0, dtype=np.int64), np.empty(0), 0.0)
        left = np.array([self._fold.outcome(*fit) for fit in fits])
        share = self._weights / self._weights.sum()
        return (left * (truth - left)) @ share, (truth - left) ** 2 @ share
