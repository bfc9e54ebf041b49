"""Variables that nearly determine each other, and what a model without that costs.

With ``C`` the correlations of the variables, the variance inflation factor of one of them is its
diagonal entry of the inverse of ``C``: ``1 / (1 - R2)`` of its regression on the others. The other
entries, scaled, are partial correlations ``r``: without the other variable the factor is
``1 - r^2`` times what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from ellzero.regression import Frontier, FrontierModel
from ellzero.regression._group_frontier import GroupFrontier, GroupModel

__all__ = [
    "Statistics",
    "WayOut",
    "entangled_sets",
    "find_way_out",
    "parts_of",
    "smaller_way_out",
    "variance_inflation",
]

_Floats = NDArray[np.float64]
_Places = NDArray[np.int64]

_INFLATED = 10.0
# A standardised coefficient above 1 moves y by more than y moves. It takes correlation for others
# to cancel that: a variable that they explain less than half of is left alone.
_LARGE, _HALF_EXPLAINED = 1.0, 2.0
# A model that is offered instead should be clear of the limit.
_CALM = 5.0
# What links a variable to an inflated one: a quarter of the inflation hangs on it, or it is all but
# a copy. (Of several copies none matters much given the others.)
_PARTIAL, _COPY = 0.5, 0.9
_MOST_TRIED = 10  # as many variables have all their subsets left out in turn,
_MOST_WORK = 1e9  # if that takes no more operations for all sets
_ROUNDING = 1e-12  # so that columns that depend on each other have an inverse


class Statistics(NamedTuple):
    """Correlations of columns with each other and with y; what fits on them need to know."""

    correlations: _Floats
    with_y: _Floats
    ridge: float = 0.0

    def part(self, places: _Places) -> Statistics:
        """Return those of some of the columns."""
        return self._replace(
            correlations=self.correlations[np.ix_(places, places)], with_y=self.with_y[places]
        )

    def fit(self) -> tuple[_Floats, float]:
        """Return the standardised coefficients of a fit on all columns, and its R2."""
        beta = _inverse(self.correlations + self.ridge * np.eye(len(self.with_y))) @ self.with_y
        return beta, float(2 * self.with_y @ beta - beta @ self.correlations @ beta)


class WayOut(NamedTuple):
    """A model without entanglement."""

    r2: float
    size: int | None = None  # of the frontier's model that it is, or
    left_out: tuple[int, ...] = ()  # the columns without which the chosen model is it


def _inverse(matrix: _Floats) -> _Floats:
    return np.asarray(np.linalg.inv(matrix + _ROUNDING * np.eye(len(matrix))), dtype=np.float64)


def variance_inflation(correlations: _Floats) -> _Floats:
    """Return the variance inflation factor of each column."""
    return np.asarray(np.diag(_inverse(correlations)))


def _is_calm(statistics: Statistics) -> bool:
    standardised, _ = statistics.fit()
    inflation = variance_inflation(statistics.correlations)
    return not _stands_out(inflation, standardised, _CALM).any()


def _stands_out(inflation: _Floats, standardised: _Floats, limit: float) -> NDArray[np.bool_]:
    large = np.abs(standardised) > _LARGE
    return (inflation > limit) | large & (inflation > _HALF_EXPLAINED)


def entangled_sets(correlations: _Floats, standardised: _Floats) -> list[_Places]:
    """Return sets of columns that nearly determine each other.

    Those with a variance inflation factor above 10 or a standardised coefficient above 1, and with
    them what they hang on, whatever its own factor.
    """
    if len(standardised) < 2:
        return []
    inverse = _inverse(correlations)
    inflation = np.diag(inverse)
    found = _stands_out(inflation, standardised, _INFLATED)
    partial = np.abs(inverse) / np.sqrt(np.outer(inflation, inflation))
    np.fill_diagonal(partial, 0.0)
    linked = (partial > _PARTIAL) | (np.abs(correlations) > _COPY)
    linked[np.arange(len(found)), partial.argmax(axis=1)] = True  # so that nobody is alone
    linked[~found] = False
    _, group = connected_components(linked, directed=False)
    return [np.flatnonzero(group == g) for g in dict.fromkeys(group[found].tolist())]


def find_way_out(
    frontier: Frontier,
    model: FrontierModel,
    sets: Sequence[_Places],
    forced: _Places,
    statistics: Callable[[_Places], Statistics],
) -> WayOut | None:
    """Return the best model found that has no entanglement; None if what is forced in has it.

    Either a smaller one of the frontier, or the chosen one without some variables of the sets.
    """
    ways = []
    own = statistics(model.support)
    free = ~np.isin(model.support, forced)
    left_out = _leave_out(own, sets, free)
    if left_out is not None:
        kept = np.setdiff1d(np.arange(model.size), left_out)
        ways.append(WayOut(own.part(kept).fit()[1], left_out=tuple(left_out.tolist())))
    for size in reversed(range(int(frontier.sizes[0]), model.size)):
        its = statistics(frontier.at(size=size).support)
        if _is_calm(its):  # smaller ones are worse
            ways.append(WayOut(its.fit()[1], size))
            break
    # Of two that are the same, the one that has a size to ask for
    return max(ways, key=lambda way: (round(way.r2, 12), way.size is not None), default=None)


def parts_of(frontier: Frontier, model: FrontierModel) -> tuple[_Floats, _Floats]:
    """Return the correlations of what a model's variables add to it, and how large that is.

    Of single columns these are theirs; several that enter together add one combination of them.
    """
    correlations, _ = frontier._correlations(model.support)
    if not isinstance(model, GroupModel) or not isinstance(frontier, GroupFrontier):
        return correlations, model.standardised
    home = frontier._home[model.support]
    weights = np.where(home[:, None] == model.units, model.standardised[:, None], 0.0)
    products = weights.T @ correlations @ weights
    size = np.sqrt(np.maximum(np.diag(products), np.finfo(float).tiny))
    return products / np.outer(size, size), frontier._strengths(model)


def smaller_way_out(frontier: Frontier, model: FrontierModel, total: float) -> WayOut | None:
    """Return the best smaller model without entanglement, of several columns each; None if none."""
    for size in reversed(frontier.sizes[frontier.sizes < model.size].tolist()):
        smaller = frontier.at(size=size)
        correlations, strengths = parts_of(frontier, smaller)
        inflation = variance_inflation(correlations)
        if not _stands_out(inflation, strengths, _CALM).any():
            return WayOut(1 - smaller.rss / total, size)
    return None


def _leave_out(
    statistics: Statistics, sets: Sequence[_Places], free: NDArray[np.bool_]
) -> _Places | None:
    """Return which columns to leave out, so that the others fit well and are calm.

    First of every set by itself, as if the others were not there; then of all that is left.
    """
    every = np.arange(len(free))
    rest = np.setdiff1d(every, np.concatenate(sets))
    gone = np.empty(0, dtype=np.int64)
    for members in sets:
        able = members[free[members]]
        work = len(sets) * 2.0 ** len(able) * len(free) ** 3
        if len(able) <= _MOST_TRIED and work <= _MOST_WORK:
            ways = [
                (statistics.part(np.union1d(rest, kept)), kept) for kept in _subsets(members, able)
            ]
            ways.sort(key=lambda way: -way[0].fit()[1])
            best = next((kept for part, kept in ways if _is_calm(part)), None)
            gone = gone if best is None else np.union1d(gone, np.setdiff1d(members, best))
    kept = np.setdiff1d(every, gone)
    while not _is_calm(statistics.part(kept)):
        if not free[kept].any():
            return None
        inflation = np.where(free[kept], variance_inflation(statistics.part(kept).correlations), 0)
        kept = np.delete(kept, np.argmax(inflation))
    return np.setdiff1d(every, kept)


def _subsets(members: _Places, able: _Places) -> Iterator[_Places]:
    """Return what is left of some columns without any one, two, ... of those able to leave."""
    for count in range(1, len(able) + 1):
        for leaving in combinations(able.tolist(), count):
            yield np.setdiff1d(members, leaving)
