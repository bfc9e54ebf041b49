"""The choice of a price by cross-validation, on any kind of folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero._certificate import Certificate
from ellzero._engine import make_engine, thread_count
from ellzero.regression._cv_curve import Curve, FoldPath, make_curve
from ellzero.regression._fold_paths import FoldSearch
from ellzero.regression._folds import Folds, LearnedFolds, SharedFolds
from ellzero.regression._growth import GrowingFrontier
from ellzero.regression._problem import Problem, largest_size
from ellzero.regression._searches import search_at, settle_at

__all__ = ["DEFAULT_REPEATS", "Choice", "CrossValidation", "far_beyond"]

# With one repeat, every third pair of shuffles chooses different models: benchmarks/repeats.py
DEFAULT_REPEATS = 10

_FIRST_SIZE = 20
# Searches that may have to be carried on are kept up to this size; others begin anew.
_KEPT_BYTES = 1e9


class Choice(NamedTuple):
    """The result of cross-validation."""

    curves: list[Curve]  # one for each ridge
    place: int  # of the ridge chosen
    ridge: float
    marks: dict[str, tuple[float, float]]  # by rule: lam, and the mean size there
    max_size: int  # the largest that was looked at

    @property
    def curve(self) -> Curve:
        """The curve of the ridge chosen."""
        return self.curves[self.place]


def far_beyond(size: float, n_forced: int) -> int:
    """Return twice a size, not counting the forced columns."""
    return int(np.ceil(n_forced + 2 * (size - n_forced) - 1e-9))


class CrossValidation(NamedTuple):
    """How folds are searched, and what a price is chosen from."""

    solver: str
    ridges: list[float]
    forced: NDArray[np.int64]
    max_size: int | None
    workers: int  # threads over folds
    progress: Callable[[int], None] | None

    def choose(self, folds: Folds | Sequence[Folds]) -> Choice:
        """Compute the curve of every ridge; the ridge of least error is chosen.

        Of several folds, each a repeat on the same rows, the curve is the mean.
        """
        repeats = [folds] if isinstance(folds, (SharedFolds, LearnedFolds)) else folds
        whole = repeats[0].whole
        rounding = 1e-12 * whole.yy / whole.weight
        found, sizes = self._search(repeats)
        curves = [make_curve(paths, rounding) for paths in found]
        place = int(np.argmin([curve.mean_error.min() for curve in curves]))
        curve = curves[place]
        places = {"min": curve.best(), "1se": curve.within_one_se()}
        marks = {rule: (curve.middle(i), float(curve.mean_size[i])) for rule, i in places.items()}
        return Choice(curves, place, self.ridges[place], marks, max(sizes))

    def _search(self, repeats: Sequence[Folds]) -> tuple[list[list[list[FoldPath]]], list[int]]:
        """Search every repeat for every ridge, one after the other.

        For each ridge all come to the same size: the largest that one of them asks for. Returns the
        paths by ridge and repeat, and the size of each ridge.
        """
        ridges, sizes = range(len(self.ridges)), [0] * len(self.ridges)
        found: list[list[list[FoldPath]]] = [[] for _ in ridges]
        reached: list[list[int]] = []
        kept: dict[tuple[int, int], FoldSearch] = {}
        room = _KEPT_BYTES
        for r in range(len(repeats)):
            folds = repeats[r]
            room -= len(ridges) * folds.footprint
            for i in ridges:
                search = self._open(folds, i)
                paths, sizes[i] = self._grow(search, folds, sizes[i])
                found[i].append(paths)
                if room >= 0 and r + 1 < len(repeats):
                    kept[r, i] = search
            reached.append(sizes.copy())
            del folds, search  # before the next ones are made
        for r, came_to in enumerate(reached):
            # Nothing is left to be found below a price of 0.
            late = [
                i
                for i in ridges
                if came_to[i] < sizes[i] and any(path.end > 0 for path in found[i][r])
            ]
            again = repeats[r] if late and (r, late[0]) not in kept else None
            for i in late:
                search = kept.pop((r, i)) if again is None else self._open(again, i)
                found[i][r] = search.paths(sizes[i], self.progress)
                del search
            del again
        return found, sizes

    def _open(self, folds: Folds, place: int) -> FoldSearch:
        ridge, threads = self.ridges[place], thread_count()
        return FoldSearch(folds, self.solver, ridge, self.forced, self.workers, threads)

    def _grow(self, search: FoldSearch, folds: Folds, size: int) -> tuple[list[FoldPath], int]:
        """Search, from ``size`` on, until every fold's error has long been rising.

        Returns the size it has come to as well.
        """
        p, n_forced = folds.whole.columns, self.forced.size
        most = min(p, n_forced + max(40, int(folds.least_weight / 2)))
        size = max(size, min(most, n_forced + _FIRST_SIZE))
        if self.max_size is not None:
            size = most = largest_size(self.max_size, self.forced, p)
        while True:
            paths = search.paths(size, self.progress)
            lowest = max(int(path.sizes[np.argmin(path.errors)]) for path in paths)
            wanted = far_beyond(lowest, n_forced) + 10
            if size >= most or size >= wanted or all(path.end == 0 for path in paths):
                return paths, size
            size = min(most, max(wanted, size + 10))

    def solve(self, problem: Problem, lam: float) -> tuple[GrowingFrontier | None, Certificate]:
        """Look for the solution at ``lam`` on all rows; the engine is left there.

        Returns the frontier, if there is one, and what is known of the solution.
        """
        p = problem.design.columns
        largest = p if self.max_size is None else largest_size(self.max_size, problem.forced, p)
        if self.solver == "sbr":
            return None, search_at(problem, "sbr", lam, largest).certificate
        growing = GrowingFrontier(problem, swaps=True)
        growing.cover(lam, largest)
        return growing, settle_at(growing, lam, largest).certificate

    def nested_error(self, repeats: Sequence[SharedFolds], rule: str) -> float:
        """Return the error on each fold's test rows of the procedure on its training rows.

        Inside, the other folds are those of the same repeat, less the rows left out.
        """
        judged = [found for folds in repeats for found in self._nested_errors(folds, rule)]
        if not judged:
            raise ValueError("nested=True needs folds that train on the test rows of others.")
        errors, shares = zip(*judged, strict=True)
        return float(np.average(errors, weights=shares))

    def _nested_errors(self, folds: SharedFolds, rule: str) -> Iterator[tuple[float, float]]:
        """Yield the error of every fold of one repeat, and the weight it is judged by."""
        for fold, _, inside in folds.one_by_one():
            inner = inside()
            if inner is None:
                continue
            choice = self.choose(inner)
            engine = make_engine(fold.design, choice.ridge, thread_count())
            engine.move_to(self.forced)
            problem = Problem(engine, fold.design, self.forced, None, self.progress)
            self.solve(problem, choice.marks[rule][0])
            solution = engine.solution()
            error = fold.held_out.error(fold.design, solution.support, solution.beta)
            yield error, fold.held_out.weight
