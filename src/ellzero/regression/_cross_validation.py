"""The choice of a price by cross-validation, on any kind of folds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._certificate import Certificate
from ellzero._engine import make_search_engine, thread_count
from ellzero.regression._cv_curve import Curve, FoldPath, Glance, Look, glance_at, make_curve
from ellzero.regression._fold_paths import AnyFolds, FoldSearch
from ellzero.regression._folds import SharedFolds
from ellzero.regression._growth import GrowingFrontier
from ellzero.regression._problem import Problem, largest_size
from ellzero.regression._searches import search_at, settle_at

__all__ = [
    "CV_RIDGES",
    "DEFAULT_REPEATS",
    "Choice",
    "CrossValidation",
    "Curves",
    "Mark",
    "far_beyond",
]

# With one repeat, every third pair of shuffles chooses different models: benchmarks/repeats.py
DEFAULT_REPEATS = 10

# For columns of unit norm, where uncorrelated coefficients are divided by 1 + ridge: from no
# shrinkage to nearly all.
CV_RIDGES = (0.0, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 15.0, 50.0)
# Ridges that are behind the best by so many standard errors of the difference are given up: other
# folds would not change that, since they are about the same rows.
_BEHIND = 1.0
_FIRST_SIZE = 20
# Searches that may have to be carried on are kept up to this size of each, and of all; others begin
# anew.
_KEPT_BYTES, _ALL_KEPT_BYTES = 16e6, 1e8


class Mark(NamedTuple):
    """What a rule chooses."""

    ridge: float
    lam: float
    rescaling: float  # what coefficients are multiplied by
    size: float  # the mean over folds


class Curves(Sequence[Curve]):
    """The curve of every ridge, made when it is asked for."""

    def __init__(self, makers: Sequence[Callable[[], Curve]]) -> None:
        self._makers, self._made = makers, dict[int, Curve]()

    def __len__(self) -> int:
        return len(self._makers)

    def __getitem__(self, place: Any) -> Any:
        place = range(len(self))[place]
        if place not in self._made:
            self._made[place] = self._makers[place]()
        return self._made[place]


class Choice(NamedTuple):
    """The result of cross-validation."""

    curves: Sequence[Curve]  # one for each ridge
    ridges: list[float]
    marks: dict[str, Mark]  # by rule
    max_size: int  # the largest that was looked at

    def curve(self, rule: str) -> Curve:
        """Return the curve of the ridge that a rule chooses."""
        return self.curves[self.ridges.index(self.marks[rule].ridge)]


class _Ridge:
    """A ridge, and what the folds have found with it."""

    def __init__(self, value: float, most: float) -> None:
        self.value = value
        self.most = most  # what its coefficients may be multiplied by
        self.size = 0  # the largest that was looked at
        self.paths: list[list[FoldPath]] = []  # by repeat and fold
        self.glance: Glance  # at the repeat looked at last
        self.look: Look | None = None  # the same
        self.running = True  # whether it may be chosen


def _leave_behind(ridges: list[_Ridge]) -> None:
    """Take ridges out of the running that are behind by too much to be chosen.

    The first stays: savings are counted from its model without variables.
    """
    least = min((ridge.glance for ridge in ridges), key=lambda glance: glance.error)
    for ridge in ridges[1:]:
        ridge.running = not ridge.glance.is_behind(least, _BEHIND) or len(least.share) < 5


def far_beyond(size: float, n_forced: int) -> int:
    """Return twice a size, not counting the forced columns."""
    return int(np.ceil(n_forced + 2 * (size - n_forced) - 1e-9))


class CrossValidation(NamedTuple):
    """How folds are searched, and what a price is chosen from."""

    solver: str
    ridges: list[float]  # increasing
    forced: NDArray[np.int64]
    max_size: int | None
    workers: int  # threads over folds
    progress: Callable[[int], None] | None
    # Whether what a ridge shrinks is stretched again, as far as that helps; of so many models the
    # best is chosen cautiously.
    rescales: bool = False

    def choose(self, folds: AnyFolds | Sequence[AnyFolds]) -> Choice:
        """Compute the curve of every ridge, and choose by each rule.

        Of several folds, each a repeat on the same rows, the curve is the mean. Ridges that are far
        behind after the first are not repeated, nor chosen.
        """
        one = hasattr(folds, "batches")
        repeats = cast(Sequence[AnyFolds], [folds] if one else folds)
        found = self._search(repeats)
        nothing = [_core.errors_of_nothing(paths) for paths in found[0].paths]
        # Of repeats at once, where they know: the first may have to be made anew.
        scale = getattr(folds, "error_scale", None) or repeats[0].error_scale

        def curve_of(ridge: _Ridge) -> Curve:
            return make_curve(
                ridge.paths,
                1e-12 * scale,
                most=ridge.most,
                cautious=self.rescales,
                nothing=nothing,
                seen=ridge.look if len(ridge.paths) == 1 else None,
            )

        curves = Curves([partial(curve_of, ridge) for ridge in found])
        running = [i for i, ridge in enumerate(found) if ridge.running]
        marks = self.mark(curves, running)
        return Choice(curves, self.ridges, marks, max(ridge.size for ridge in found))

    def mark(self, curves: Sequence[Curve], running: list[int]) -> dict[str, Mark]:
        """Choose by each rule.

        "min" takes the least error, cautiously. "1se" takes, of the models whose error is at most a
        standard error above that one's, the smallest for every ridge, and of these the one of least
        error among those of fewest variables, to half a variable.
        """
        known = {i: curves[i] for i in running}
        values = {i: curve.value(cautious=self.rescales) for i, curve in known.items()}

        def value(pair: tuple[int, int]) -> float:
            return float(values[pair[0]][pair[1]])

        def size(pair: tuple[int, int]) -> float:
            return float(known[pair[0]].mean_size[pair[1]])

        best = min(((i, known[i].least(values[i])) for i in running), key=value)
        curve, at = known[best[0]], best[1]
        se = float(curve.se_error[at])
        bar = float(curve.mean_error[at]) + (0.0 if math.isnan(se) else se)  # NaN for one fold
        near = [(i, place) for i in running if (place := known[i].first_below(bar)) is not None]
        fewest = min(map(size, near))
        simple = min((pair for pair in near if size(pair) <= fewest + 0.5), key=value)
        return {
            rule: Mark(
                self.ridges[i],
                known[i].middle(place),
                float(known[i].rescaling[place]),
                float(known[i].mean_size[place]),
            )
            for rule, (i, place) in (("min", best), ("1se", simple))
        }

    def _search(self, repeats: Sequence[AnyFolds]) -> list[_Ridge]:
        """Search every repeat for every ridge, one repeat after the other.

        For each ridge all come to the same size: the largest that one of them asks for.
        """
        found = [_Ridge(value, 1 + value if self.rescales else 1.0) for value in self.ridges]
        reached: list[list[int]] = []
        kept: dict[int, list[FoldSearch]] = {}
        room = _ALL_KEPT_BYTES
        for r in range(len(repeats)):
            folds, running = repeats[r], [ridge for ridge in found if ridge.running]
            searches = self._open(folds, running)
            self._grow(searches, folds, running)
            if folds.footprint <= min(_KEPT_BYTES, room) and r + 1 < len(repeats):
                room -= folds.footprint
                kept[r] = searches
            reached.append([ridge.size for ridge in running])
            if r == 0 and self.rescales:
                _leave_behind(found)
            del folds, searches  # before the next ones are made
        running = [ridge for ridge in found if ridge.running]
        for r, came_to in enumerate(reached):
            of_all = found if r == 0 else running
            # Nothing is left to be found below a price of 0.
            late = [
                i
                for i, ridge in enumerate(of_all)
                if came_to[i] < ridge.size and any(path.end > 0 for path in ridge.paths[r])
            ]
            if late:
                searches = kept.pop(r) if r in kept else self._open(repeats[r], of_all)
                for i in late:
                    of_all[i].paths[r] = searches[i].paths(of_all[i].size, self.progress)
                del searches
        return found

    def _open(self, folds: AnyFolds, ridges: list[_Ridge]) -> list[FoldSearch]:
        """Return a search for every ridge, each the neighbour of the next."""
        searches: list[FoldSearch] = []
        for ridge in ridges:
            neighbour = searches[-1] if searches else None
            search = FoldSearch(
                folds,
                self.solver,
                ridge.value,
                self.forced,
                self.workers,
                thread_count(),
                neighbour,
            )
            searches.append(search)
        return searches

    def _grow(self, searches: list[FoldSearch], folds: AnyFolds, ridges: list[_Ridge]) -> None:
        """Search one repeat until the error of every ridge has long been rising.

        Ridges that are behind another are not carried on.
        """
        p, n_forced = folds.whole.columns, self.forced.size
        most = min(p, n_forced + max(40, int(folds.least_weight / 2)))
        first = min(most, n_forced + _FIRST_SIZE)
        if self.max_size is not None:
            first = most = largest_size(self.max_size, self.forced, p)
        for ridge in ridges:
            ridge.size = max(ridge.size, first)
            ridge.paths.append([])
        if first == most and len(ridges) == 1:  # there is nothing to decide
            ridges[0].paths[-1] = searches[0].paths(first, self.progress)
            return
        late = list(zip(ridges, searches, strict=True))
        pairs = late.copy()
        while late:
            for ridge, search in late:
                ridge.paths[-1] = search.paths(ridge.size, self.progress)
                nothing = _core.errors_of_nothing(ridges[0].paths[-1])
                ridge.glance = glance_at(ridge.paths[-1], ridge.most, self.rescales, nothing)
                ridge.look = ridge.glance.look
            least = min((ridge.glance for ridge in ridges), key=lambda glance: glance.error)
            late = []
            for ridge, search in pairs:
                wanted = min(most, far_beyond(ridge.glance.size, n_forced) + 10)
                open_ended = any(path.end > 0 for path in ridge.paths[-1])
                behind = ridge.glance.is_behind(least, _BEHIND)
                if ridge.size < wanted and open_ended and not behind:
                    ridge.size = min(most, max(wanted, ridge.size + 10))
                    late.append((ridge, search))

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
            mark = self.choose(inner).marks[rule]
            engine = make_search_engine(fold.design, mark.ridge, thread_count())
            engine.move_to(self.forced)
            problem = Problem(engine, fold.design, self.forced, None, self.progress, mark.ridge)
            self.solve(problem, mark.lam)
            solution = engine.solution()
            beta = mark.rescaling * solution.beta
            error = fold.held_out.error(fold.design, solution.support, beta)
            yield error, fold.held_out.weight
