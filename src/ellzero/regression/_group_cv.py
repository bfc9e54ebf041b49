"""Cross-validation over groups of columns under rules.

Every fold is a search of its own on its training rows, without swaps, which learns its own means,
scales and bases of groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from ellzero import _core
from ellzero._engine import thread_count
from ellzero.regression._cross_validation import Choice, CrossValidation, Curves, far_beyond
from ellzero.regression._cv_curve import Curve, FoldPath, Glance, glance_at, make_curve
from ellzero.regression._group_search import GroupSearch
from ellzero.regression._side_by_side import SideBySide
from ellzero.regression._units import Units

__all__ = ["GroupCrossValidation", "GroupFold"]

_FIRST_SIZE, _MOST, _MORE = 20, 40, 10
# Ridges that are behind the best by so many standard errors of the difference are given up.
_BEHIND = 1.0


class GroupFold(Protocol):
    """Rows to train on, and rows held out."""

    def search(
        self, units: Units, ridge: float, threads: int, progress: Callable[[int], None] | None
    ) -> GroupSearch:
        """Put a search on the rows to train on."""

    def path(self, search: GroupSearch, size: int) -> FoldPath:
        """Return the solutions up to a size, and their errors on the rows held out."""


class GroupCrossValidation(NamedTuple):
    """How folds are searched, and what a price is chosen from."""

    units: Units
    ridges: list[float]  # increasing
    max_size: int | None
    workers: int  # threads over folds
    progress: Callable[[int], None] | None
    rescales: bool = False  # as of `CrossValidation`
    # Whether a valley is taken for the only one: of the error over ridges once two in turn are
    # behind, and over sizes ten beyond it. So it is where rows are many.
    hurried: bool = False

    def choose(self, repeats: Sequence[Iterable[GroupFold]], scale: float) -> Choice:
        """Compute the curve of every ridge, and choose by each rule; errors are a share of a scale.

        The first repeat says how large models have to be looked at, and which ridges are out of
        the running. Folds that are no list are made anew whenever they are gone through.
        """
        together = SideBySide(self.workers, self.progress)
        paths: list[list[list[FoldPath]]] = []  # by ridge and repeat
        sizes = []
        glances: list[Glance] = []  # savings are counted from the first ridge
        first = repeats[0]
        for ridge in self.ridges:
            size, found = self._first_paths(_Searches(first, self, ridge, together), ridge)
            sizes.append(size)
            paths.append([found])
            nothing = [_core.errors_of_nothing(paths[0][0])]
            glances.append(glance_at(found, self._stretch(ridge), self.rescales, nothing[0]))
            if self.hurried and self._is_past_valley(glances):
                break
        ridges = self.ridges[: len(paths)]
        running = self._running(glances)
        for r in range(1, len(repeats)):
            folds = repeats[r]
            for i in running:
                searches = _Searches(folds, self, self.ridges[i], together)
                paths[i].append(searches.paths(sizes[i]))
            nothing.append(_core.errors_of_nothing(paths[0][-1]))

        def curve_of(i: int) -> Curve:
            return make_curve(
                paths[i],
                1e-12 * scale,
                most=self._stretch(ridges[i]),
                cautious=self.rescales,
                nothing=nothing[: len(paths[i])],
                seen=glances[i].look if len(paths[i]) == 1 else None,
            )

        curves = Curves([partial(curve_of, i) for i in range(len(ridges))])
        none = np.empty(0, dtype=np.int64)
        rule = CrossValidation("frontier", ridges, none, None, 1, None, self.rescales)
        return Choice(curves, ridges, rule.mark(curves, running), max(sizes))

    def _stretch(self, ridge: float) -> float:
        """Return what coefficients may be multiplied by."""
        return 1 + ridge if self.rescales else 1.0

    def _running(self, glances: list[Glance]) -> list[int]:
        """Return the ridges that may still be chosen; the first stays."""
        least = min(glances, key=lambda glance: glance.error)
        few = len(least.share) < 5
        return [
            i
            for i, glance in enumerate(glances)
            if i == 0 or few or not self.rescales or not glance.is_behind(least, _BEHIND)
        ]

    def _is_past_valley(self, glances: list[Glance]) -> bool:
        """Whether the last two ridges are out of the running."""
        return len(glances) - self._running(glances)[-1] > 2

    def _first_paths(self, searches: _Searches, ridge: float) -> tuple[int, list[FoldPath]]:
        """Search until the error has long been rising; return the size that was come to."""
        one = searches.one()
        most = min(one.largest, one.least + max(_MOST, int(one.design.weight / 2)))
        size = min(most, one.least + _FIRST_SIZE)
        if self.max_size is not None:
            size = most = min(one.largest, self.max_size)
        while True:
            paths = searches.paths(size)
            nothing = _core.errors_of_nothing(paths)
            glance = glance_at(paths, self._stretch(ridge), self.rescales, nothing)
            beyond = (
                int(np.ceil(glance.size)) if self.hurried else far_beyond(glance.size, one.least)
            )
            wanted = beyond + _MORE
            open_ended = any(path.end > 0 for path in paths)
            if size >= min(most, wanted) or not open_ended:
                return size, paths
            size = min(most, wanted if self.hurried else max(wanted, size + _MORE))


class _Searches:
    """The searches of all folds of a repeat at one ridge, which can be carried on."""

    def __init__(
        self,
        folds: Iterable[GroupFold],
        how: GroupCrossValidation,
        ridge: float,
        together: SideBySide,
    ) -> None:
        self._folds, self._how, self._ridge, self._together = folds, how, ridge, together
        self._pairs: list[tuple[GroupFold, GroupSearch]] | None = None
        if isinstance(folds, list):
            self._pairs = list(zip(folds, together.map(self._open, folds), strict=True))

    def _open(self, fold: GroupFold) -> GroupSearch:
        threads = max(1, thread_count() // self._together.workers)
        return fold.search(self._how.units, self._ridge, threads, self._together.progress)

    def one(self) -> GroupSearch:
        """Return one of them."""
        return self._pairs[0][1] if self._pairs else self._open(next(iter(self._folds)))

    def paths(self, size: int) -> list[FoldPath]:
        """Return the solutions of every fold up to a size."""
        if self._pairs is None:
            return [fold.path(self._open(fold), size) for fold in self._folds]
        return self._together.map(lambda pair: pair[0].path(pair[1], size), self._pairs)
