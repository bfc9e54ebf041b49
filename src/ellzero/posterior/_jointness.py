"""Pairs of variables: in together, or one in place of the other.

With ``p11``, ``p10``, ``p01``, ``p00`` the probabilities that both, only the first, only the second
and neither are in, the log odds ratio is ``log(p11 p00 / (p10 p01))``: positive if they are in
together more often than by chance, negative if they stand in for each other (Ley and Steel 2007;
Doppelhofer and Weeks 2009).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Pairs", "pairs_from_draws", "pairs_from_masses", "tabulate_pairs"]

_Floats = NDArray[np.float64]


class Pairs(NamedTuple):
    """The four probabilities of each pair of columns, first by second; both columns and rows."""

    both: _Floats
    first_only: _Floats
    neither: _Floats

    def of(self, columns: NDArray[np.int64]) -> Pairs:
        """Return those of some columns."""
        some = np.ix_(columns, columns)
        return Pairs(self.both[some], self.first_only[some], self.neither[some])


def pairs_from_masses(
    masses: _Floats, free: NDArray[np.int64], always: NDArray[np.int64], n_columns: int
) -> Pairs:
    """Sum the masses of all models; bit b of a model's place says whether column free[b] is in.

    No probability is a difference, so that small ones are right to the last digits too.
    """
    total = masses.sum()
    low = free.size // 2
    # Two halves of the bits: a table of models by what is in of each
    table = masses.reshape(-1, 2**low) / total
    halves = [_bits(low), _bits(free.size - low)]
    inside = np.zeros((2, 2, free.size, free.size))
    for a in (0, 1):
        for b in (0, 1):
            lower, upper = ([half if side else 1 - half for side in (a, b)] for half in halves)
            cell = inside[a, b]
            cell[:low, :low] = lower[0].T * table.sum(axis=0) @ lower[1]
            cell[low:, low:] = upper[0].T * table.sum(axis=1) @ upper[1]
            cell[low:, :low] = upper[0].T @ table @ lower[1]
            cell[:low, low:] = (upper[1].T @ table @ lower[0]).T
    inclusion = np.zeros(n_columns)
    inclusion[free] = np.diag(inside[1, 1])
    inclusion[always] = 1.0
    outside = np.ones(n_columns)
    outside[free] = np.diag(inside[0, 0])
    outside[always] = 0.0
    # Of a column that is always or never in, the other's probability is the same either way
    pairs = Pairs(
        np.outer(inclusion, inclusion), np.outer(inclusion, outside), np.outer(outside, outside)
    )
    places = np.ix_(free, free)
    pairs.both[places], pairs.first_only[places] = inside[1, 1], inside[1, 0]
    pairs.neither[places] = inside[0, 0]
    return pairs


def _bits(count: int) -> _Floats:
    """Return which of so many bits each number has, one row per number."""
    numbers = np.arange(2**count)[:, None]
    return np.asarray((numbers >> np.arange(count)) & 1, dtype=np.float64)


def pairs_from_draws(coef: Any, columns: NDArray[np.int64]) -> Pairs:
    """Count the draws, rows of a sparse matrix, with both, one and none of two of the columns."""
    inside = np.asarray(coef.tocsc()[:, columns].toarray() != 0, dtype=np.float64)
    n = inside.shape[0]
    return Pairs(
        inside.T @ inside / n, inside.T @ (1 - inside) / n, (1 - inside).T @ (1 - inside) / n
    )


def tabulate_pairs(pairs: Pairs, names: list[str], n_draws: float) -> pd.DataFrame:
    """Tabulate the pairs, those that differ most from chance first.

    Half a draw is added to each of the four counts of ``n_draws`` draws, so that none is empty. Of
    a variable that is always in, or never, no ratio is known: NaN.
    """
    import pandas as pd

    first, second = np.triu_indices(len(names), 1)
    both, neither = pairs.both[first, second], pairs.neither[first, second]
    first_only, second_only = pairs.first_only[first, second], pairs.first_only[second, first]
    more = 0.5 / n_draws
    inclusion = np.diag(pairs.both)
    chance = inclusion[first] * inclusion[second]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (
            np.log(both + more)
            + np.log(neither + more)
            - np.log(first_only + more)
            - np.log(second_only + more)
        )
    fixed = (inclusion == 0) | (np.diag(pairs.neither) == 0)
    ratio[fixed[first] | fixed[second]] = np.nan
    table = pd.DataFrame(
        {
            "first": [names[i] for i in first],
            "second": [names[j] for j in second],
            "both": both,
            "either": both + first_only + second_only,
            "by_chance": chance,
            "log_odds_ratio": ratio,
        }
    )
    order = np.argsort(-np.abs(both - chance), kind="stable")
    return table.iloc[order].reset_index(drop=True)
