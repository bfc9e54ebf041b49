"""The choice of a price by cross-validation, on any kind of folds."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero._certificate import Certificate
from ellzero._engine import make_engine, thread_count
from ellzero.regression._cv_curve import Curve, make_curve
from ellzero.regression._fold_paths import FoldSearch
from ellzero.regression._folds import LearnedFolds, SharedFolds
from ellzero.regression._growth import GrowingFrontier
from ellzero.regression._problem import Problem, largest_size
from ellzero.regression._searches import search_at, settle_at

__all__ = ["Choice", "CrossValidation", "far_beyond"]

_FIRST_SIZE = 20


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

    def choose(self, folds: SharedFolds | LearnedFolds) -> Choice:
        """Compute the curve of every ridge; the ridge of least error is chosen."""
        curves, sizes = zip(*[self._curve(folds, ridge) for ridge in self.ridges], strict=True)
        place = int(np.argmin([curve.mean_error.min() for curve in curves]))
        curve = curves[place]
        places = {"min": curve.best(), "1se": curve.within_one_se()}
        marks = {rule: (curve.middle(i), float(curve.mean_size[i])) for rule, i in places.items()}
        return Choice(list(curves), place, self.ridges[place], marks, max(sizes))

    def _curve(self, folds: SharedFolds | LearnedFolds, ridge: float) -> tuple[Curve, int]:
        """Compute the error for one ridge, growing until it has long been rising.

        Returns the size it has come to as well.
        """
        whole, p, n_forced = folds.whole, folds.whole.columns, self.forced.size
        search = FoldSearch(folds, self.solver, ridge, self.forced, self.workers, thread_count())
        most = min(p, n_forced + max(40, int(folds.least_weight / 2)))
        size = min(most, n_forced + _FIRST_SIZE)
        if self.max_size is not None:
            size = most = largest_size(self.max_size, self.forced, p)
        while True:
            paths = search.paths(size, self.progress)
            lowest = max(int(path.sizes[np.argmin(path.errors)]) for path in paths)
            wanted = far_beyond(lowest, n_forced) + 10
            if size >= most or size >= wanted or all(path.end == 0 for path in paths):
                return make_curve(paths, 1e-12 * whole.yy / whole.weight), size
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

    def nested_error(self, folds: SharedFolds, rule: str) -> float:
        """Return the error on each fold's test rows of the procedure on its training rows.

        Inside, the other folds are those of the procedure, less the rows left out.
        """
        errors, shares = [], []
        for place, fold in enumerate(folds.folds):
            inner = folds.inside(place)
            if fold is None or inner is None or not fold.held_out.weight > 0:
                continue
            choice = self.choose(inner)
            engine = make_engine(fold.design, choice.ridge, thread_count())
            engine.move_to(self.forced)
            problem = Problem(engine, fold.design, self.forced, None, self.progress)
            self.solve(problem, choice.marks[rule][0])
            solution = engine.solution()
            errors.append(fold.held_out.error(fold.design, solution.support, solution.beta))
            shares.append(fold.held_out.weight)
        if not errors:
            raise ValueError("nested=True needs folds that train on the test rows of others.")
        return float(np.average(errors, weights=shares))
