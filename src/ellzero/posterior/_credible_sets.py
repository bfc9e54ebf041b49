"""Sets of variables of which at least one is in the model.

Of variables that share their information, the posterior may be sure that one is in and not know
which. Let ``m`` be the models' masses and ``P(A)`` the mass of the models that contain any of a set
A. A set begins with the likeliest variable left and may take in its neighbours, the variables that
are correlated with it at .5 or more. It grows by the variable j that exceeds chance most where none
of the set is in,

    P(j in, none of A in) - P(j in) P(none of A in),

so stand-ins for the same effect come before what belongs to another one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero import _core
from ellzero._engine import make_engine, thread_count
from ellzero.posterior._models import Models

__all__ = ["Correlations", "CredibleSet", "correlate", "find_credible_sets"]

# Variables correlated at least so much are neighbours, as in SuSiE's purity.
_NEAR = 0.5
# A set that has reached its level goes on to this where stand-ins are left: draws are in error, and
# so are priors.
_REACH = 0.97
# None of a set is in less often than if its members came in one by one: by this factor.
_LESS = 0.9
# Beyond its level, a set takes in what adds this much.
_WORTH = 0.005
# Less likely columns than this are in no set, and there are at most this many others.
_LEAST = 1e-3
_MOST = 1000
# What stands in for a set has odds this many times as great where none of it is in.
_CLEARLY = 3.0
# Less likely columns than this find no stand-ins beyond their neighbours: it would take very many.
_LEAST_ALONE = 0.02
# Being in is correlated by this much where two variables are said to be in together.
_ASSOCIATED = 0.25
# Sums of masses are equal to this.
_ROUNDING = 1e-9
_BLOCK = 16  # columns of the Gram matrix at a time


class CredibleSet(NamedTuple):
    """Variables of which at least one is in the model.

    Printed, it is a sentence.

    Attributes
    ----------
    columns : ndarray of int
        The variables, the likeliest first; with groups, their places among the groups.
    inclusion : ndarray
        The inclusion probability of each.
    probability : float
        That at least one of them is in the model.
    variables : list of str
        Their names.
    together : list of tuple of str
        Those of them that are usually in together: more often than one without the others, and more
        often than by chance. The others stand in for each other.
    purity : float
        The least absolute correlation between two of them; 1 for a set of one.
    """

    columns: NDArray[np.int64]
    inclusion: NDArray[np.float64]
    probability: float
    variables: list[str]
    together: list[tuple[str, ...]]
    purity: float

    @property
    def best(self) -> str:
        """The likeliest of them."""
        return self.variables[0]

    def __str__(self) -> str:
        if len(self.variables) == 1:
            return f"{self.best} is in, with probability {self.probability:.3f}"
        names = ", ".join(self.variables)
        pairs = "".join(f"; {' and '.join(group)} usually together" for group in self.together)
        return f"At least one of {names} is in, with probability {self.probability:.3f}{pairs}"


class Correlations(NamedTuple):
    """Columns that may be in a set, and the correlations between them."""

    columns: NDArray[np.int64]
    matrix: NDArray[np.float64]


class FoundSet(NamedTuple):
    """A set by the numbers of its columns."""

    columns: NDArray[np.int64]
    probability: float
    together: list[tuple[int, ...]]
    purity: float


def correlate(design: _core.Quadratic, inclusion: NDArray[np.float64]) -> Correlations:
    """Correlate the columns that are likely enough to be in a set, as the design has them."""
    columns = np.argsort(-inclusion, kind="stable")[:_MOST]
    columns = np.sort(columns[inclusion[columns] >= _LEAST])
    matrix = np.empty((columns.size, columns.size))
    engine = make_engine(design, 1.0, thread_count())
    for begin in range(0, columns.size, _BLOCK):
        block = columns[begin : begin + _BLOCK]
        matrix[begin : begin + _BLOCK] = engine.gram_columns(block)[:, columns]
    return Correlations(columns, matrix)


def find_credible_sets(
    models: Models,
    inclusion: NDArray[np.float64],
    correlations: Correlations,
    level: float,
    n_draws: float,
) -> list[FoundSet]:
    """Find disjoint sets of columns of which, with probability ``level``, at least one is in.

    A column may take in its neighbours. Where these do not suffice, it may take in any columns that
    clearly stand in for it: their odds are three times as great where none of the set is in as
    elsewhere, by more than chance among ``n_draws`` draws explains. Sets are without members that
    they do not need, but with neighbours of members that are usually in together with one. What
    chance explains is no set: see ``_Inside.is_chance``. ``inclusion`` are the probabilities of all
    columns.
    """
    columns, matrix = correlations
    inside = _Inside.of(models, columns)
    near = np.abs(matrix) >= _NEAR
    np.fill_diagonal(near, True)
    available = inside.share > 0
    order = np.argsort(-inclusion[columns], kind="stable")
    place = np.argsort(order)
    found = []
    for first in order:
        if not available[first]:
            continue
        around = available & near[first]
        if inside.probability(np.flatnonzero(around)) >= level - _ROUNDING:
            members = _grow(inside, first, around, level)
        elif inside.share[first] >= _LEAST_ALONE:
            members = _grow(inside, first, available, level, n_draws)
        else:
            continue
        if inside.probability(members) < level - _ROUNDING:
            continue
        if inside.is_chance(members) and inside.is_chance(np.flatnonzero(around)):
            continue
        members = _prune(inside, members, level)
        if len(members) > 1:
            around = available & near[members].any(axis=0)
            members = _add_companions(inside, members, np.flatnonzero(around))
        available[members] = False
        members = sorted(members, key=lambda j: int(place[j]))
        correlation = np.abs(matrix[np.ix_(members, members)])
        np.fill_diagonal(correlation, 1.0)
        found.append(
            FoundSet(
                columns[members],
                min(inside.probability(members), 1.0),
                [tuple(columns[list(group)].tolist()) for group in _groups(inside, members)],
                float(np.min(correlation)),
            )
        )
    return found


class _Inside(NamedTuple):
    """Which columns are in which models, the mass of each model, and of the models with a column.

    Models have few of the columns: the table is sparse.
    """

    table: Any
    mass: NDArray[np.float64]
    share: NDArray[np.float64]

    @classmethod
    def of(cls, models: Models, columns: NDArray[np.int64]) -> _Inside:
        row = np.repeat(np.arange(len(models.supports)), [len(s) for s in models.supports])
        support = np.concatenate([*models.supports, np.empty(0, dtype=np.int64)])
        kept = np.isin(support, columns)
        column = np.searchsorted(columns, support[kept])
        table = sparse.csc_array(
            (np.ones(column.size), (row[kept], column)), shape=(len(models.mass), columns.size)
        )
        mass = models.mass / models.mass.sum()
        return cls(table, mass, mass @ table)

    def models_with(self, column: int) -> NDArray[np.int64]:
        """Return the models that a column is in."""
        low, high = self.table.indptr[column : column + 2]
        return np.asarray(self.table.indices[low:high])

    def probability(self, members: Any) -> float:
        """Return the mass of the models that contain at least one of the columns."""
        covered = np.zeros(self.mass.size, dtype=bool)
        for column in members:
            covered[self.models_with(column)] = True
        return float(self.mass @ covered)

    def is_chance(self, members: Any) -> bool:
        """Return whether one of several is in as if each came in by itself.

        Of many variables some are in by chance: none need be.
        """
        alone = float(np.prod(1 - self.share[members]))
        return len(members) > 1 and 1 - self.probability(members) >= _LESS * alone + _ROUNDING


def _stop(inside: _Inside, first: int, level: float) -> float:
    """Return the probability at which a set is full: a variable that is sure needs no others."""
    sure = inside.share[first] >= level - _ROUNDING
    return (level if sure else max(level, _REACH)) - _ROUNDING


def _grow(
    inside: _Inside,
    first: int,
    allowed: NDArray[np.bool_],
    level: float,
    n_draws: float | None = None,
) -> list[int]:
    """Take in allowed columns until the set is full, or none is left.

    With ``n_draws`` only those that clearly stand in. What joins after the level has been reached
    exceeds chance where none of the set is in, and is worth its place.
    """
    stop = _stop(inside, first, level)
    members, covered = [int(first)], np.zeros(inside.mass.size, dtype=bool)
    covered[inside.models_with(first)] = True
    while (probability := float(inside.mass @ covered)) < stop:
        without = 1 - probability
        gain = (inside.mass * ~covered) @ inside.table
        excess = gain - without * inside.share
        possible = allowed & (gain > 0)
        if n_draws is not None:
            share_in, share_out = (inside.share - gain) / probability, gain / without
            error = np.sqrt(share_out / (n_draws * without))
            greater = share_out * (1 - share_in) > _CLEARLY * share_in * (1 - share_out)
            possible &= greater & (share_out - share_in > 3 * error)
        if probability >= level - _ROUNDING:
            possible &= (excess > 0) & (gain >= _WORTH)
        if not possible.any():
            break
        best = int(np.argmax(np.where(possible, excess, -np.inf)))
        members.append(best)
        covered[inside.models_with(best)] = True
    return members


def _prune(inside: _Inside, members: list[int], level: float) -> list[int]:
    """Leave out members, the least likely first, without which the set says as much."""
    needed = min(_stop(inside, members[0], level), inside.probability(members) - _ROUNDING)
    for column in sorted(members[1:], key=lambda j: inside.share[j]):
        rest = [j for j in members if j != column]
        if inside.probability(rest) >= needed:
            members = rest
    return members


def _add_companions(inside: _Inside, members: list[int], around: NDArray[np.int64]) -> list[int]:
    """Add the columns around a set that are usually in together with one of its members."""
    others = np.setdiff1d(around, members)
    joint = _usually_together(inside, np.concatenate([members, others]))
    joined = joint[len(members) :, : len(members)].any(axis=1)
    return [*members, *others[joined].tolist()]


def _usually_together(inside: _Inside, columns: Any) -> NDArray[np.bool_]:
    """Return which pairs are in together more often than one without the other, and than by chance.

    The latter is asked for because two variables that are both likely are often in together though
    neither cares for the other.
    """
    part, share = inside.table[:, columns], inside.share[columns]
    both = np.asarray((part.T @ sparse.diags(inside.mass) @ part).toarray())
    either = share[:, None] + share - both
    spread = np.sqrt(np.maximum(share * (1 - share), 0))
    association = both - np.outer(share, share)
    joint: NDArray[np.bool_] = (both > either / 2) & (
        association > _ASSOCIATED * np.outer(spread, spread) + _ROUNDING
    )
    np.fill_diagonal(joint, False)
    return joint


def _groups(inside: _Inside, members: list[int]) -> list[list[int]]:
    """Return disjoint groups of members of which each two are usually in together."""
    joint = _usually_together(inside, members)
    left, groups = list(range(len(members))), []
    while left:
        group = [left.pop(0)]
        for j in list(left):
            if joint[j, group].all():
                group.append(j)
                left.remove(j)
        if len(group) > 1:
            groups.append([members[j] for j in group])
    return groups
