"""The models of a posterior, and sets of variables that stand in for each other."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CredibleSet", "Models", "credible_sets", "models_from_draws", "models_from_masses"]

# The enumerated models that are kept have all but this share of the mass; at most this many are.
_LEFT_OUT = 1e-6
_MOST = 10_000


class Models(NamedTuple):
    """Models with their posterior mass, best first."""

    supports: list[NDArray[np.int64]]
    mass: NDArray[np.float64]


class CredibleSet(NamedTuple):
    """Variables of which at least one is in the model.

    Attributes
    ----------
    columns : ndarray of int
        The variables, the likeliest first.
    inclusion : ndarray
        The inclusion probability of each.
    probability : float
        That at least one of them is in the model.
    variables : list of str
        Their names.
    """

    columns: NDArray[np.int64]
    inclusion: NDArray[np.float64]
    probability: float
    variables: list[str]

    @property
    def best(self) -> str:
        """The likeliest of them."""
        return self.variables[0]


def models_from_draws(coef: Any) -> Models:
    """Count how often each support occurs among the rows of a sparse matrix."""
    counts = Counter(
        tuple(coef.indices[low:high].tolist())
        for low, high in zip(coef.indptr[:-1], coef.indptr[1:], strict=True)
    )
    ranked = sorted(counts.items(), key=lambda item: (-item[1], len(item[0]), item[0]))
    supports = [np.array(support, dtype=np.int64) for support, _ in ranked]
    return Models(supports, np.array([count for _, count in ranked]) / coef.shape[0])


def models_from_masses(
    masses: NDArray[np.float64], free: NDArray[np.int64], always: NDArray[np.int64]
) -> Models:
    """Take the best of all models; bit b of a model's place says whether column free[b] is in."""
    order = np.argsort(-masses, kind="stable")[:_MOST]
    mass = masses[order]
    enough = int(np.searchsorted(np.cumsum(mass), 1 - _LEFT_OUT)) + 1
    supports = [
        np.sort(np.concatenate([always, free[(code >> np.arange(free.size)) & 1 == 1]]))
        for code in order[:enough]
    ]
    return Models(supports, mass[:enough])


def credible_sets(
    models: Models, inclusion: NDArray[np.float64], level: float, n_draws: float
) -> list[tuple[NDArray[np.int64], float]]:
    """Find disjoint sets of columns of which, with probability ``level``, at least one is in.

    Each begins with the likeliest column left, and grows by the column that most often is in where
    none of the set is, as long as that is clearly a stand-in: in at least twice as often there as
    elsewhere, by more than chance among ``n_draws`` draws explains. A set that does not reach the
    level is dropped, its first column set aside. ``inclusion`` are the columns' probabilities.
    """
    # Models are few of their columns: the places of these, not a table of all
    sizes = [len(support) for support in models.supports]
    row = np.repeat(np.arange(len(sizes)), sizes)
    columns, column = np.unique(np.concatenate(models.supports), return_inverse=True)
    inside = _Inside(row, column.reshape(-1), models.mass / models.mass.sum())
    inclusion = inclusion[columns]
    available = np.ones(columns.size, dtype=bool)
    found = []
    for first in np.argsort(-inclusion, kind="stable"):
        # A set of less likely columns than this would have to be very large.
        if inclusion[first] < 0.02:
            break
        if not available[first]:
            continue
        members, covered = [first], np.zeros(len(sizes), dtype=bool)
        covered[inside.models_with(first)] = True
        while (probability := float(inside.mass @ covered)) < level:
            comer = _stand_in(inside, covered, available, members, n_draws)
            if comer is None:
                break
            members.append(comer)
            covered[inside.models_with(comer)] = True
        if probability >= level:
            available[members] = False
            ranked = sorted(members, key=lambda j: -inclusion[j])
            found.append((columns[ranked], min(probability, 1.0)))
    return found


class _Inside(NamedTuple):
    """Which columns are in which models: pairs of these, and the mass of each model."""

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    mass: NDArray[np.float64]

    def models_with(self, column: int) -> NDArray[np.int64]:
        """Return the models that a column is in."""
        return self.row[np.flatnonzero(self.column == column)]

    def mass_by_column(self, among: NDArray[np.bool_], n_columns: int) -> NDArray[np.float64]:
        """Return, for each column, the mass of those of the given models that contain it."""
        chosen = among[self.row]
        weights = self.mass[self.row[chosen]]
        masses: NDArray[np.float64] = np.zeros(n_columns)
        np.add.at(masses, self.column[chosen], weights)
        return masses


def _stand_in(
    inside: _Inside,
    covered: NDArray[np.bool_],
    available: NDArray[np.bool_],
    members: list[int],
    n_draws: float,
) -> int | None:
    outside = float(inside.mass[~covered].sum())
    where_out = inside.mass_by_column(~covered, available.size)
    share_out = where_out / outside
    share_in = inside.mass_by_column(covered, available.size) / (1 - outside)
    allowed = available.copy()
    allowed[members] = False
    best = int(np.argmax(np.where(allowed, where_out, -1.0)))
    standard_error = np.sqrt(share_out[best] / max(n_draws * outside, 1e-12))
    clear = (
        share_out[best] > 2 * share_in[best]
        and share_out[best] - share_in[best] > 3 * standard_error
    )
    return best if allowed[best] and clear else None
