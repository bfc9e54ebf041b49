"""A chosen model by its groups, for the summary."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero._columns import column_name
from ellzero.regression._group_search import GroupSearch, UnitModel

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GroupRows", "group_rows", "lost_without_each_group"]


@dataclass(frozen=True)
class GroupRows:
    """The groups of a model: their names, ranks, costs of removal and columns."""

    names: list[str]
    df: NDArray[np.int64]
    removal_cost: NDArray[np.float64]
    r2_lost: NDArray[np.float64]
    columns: list[NDArray[np.int64]]  # those with coefficients, in the order of the support

    def tabulate(
        self, coef: NDArray[np.float64], standardised: NDArray[np.float64], names: Any
    ) -> pd.DataFrame:
        """Return a row for each group, the most important first, and its columns beneath."""
        import pandas as pd  # here, so that `import ellzero` does not wait for it

        support = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *self.columns]))
        place = {int(j): at for at, j in enumerate(support)}
        index, rows = [], []
        for unit in np.argsort(-self.removal_cost, kind="stable"):
            columns = self.columns[unit].tolist()
            costs = (float(self.df[unit]), self.removal_cost[unit], self.r2_lost[unit])
            own = [(coef[j], standardised[place[j]]) for j in columns]
            if len(columns) == 1:
                index.append((self.names[unit], column_name(columns[0], names)))
                rows.append((*own[0], *costs))
                continue
            index.append((self.names[unit], ""))
            rows.append((math.nan, math.nan, *costs))
            for j, values in zip(columns, own, strict=True):
                index.append((self.names[unit], column_name(j, names)))
                rows.append((*values, math.nan, math.nan, math.nan))
        return pd.DataFrame(
            np.array(rows, dtype=np.float64).reshape(-1, 5),
            columns=["coefficient", "standardised", "df", "removal_cost", "r2_lost"],
            index=pd.MultiIndex.from_tuples(index, names=["group", "variable"])
            if index
            else pd.MultiIndex.from_arrays([[], []], names=["group", "variable"]),
        )


def group_rows(model: UnitModel, search: GroupSearch, factor: float = 1.0) -> GroupRows:
    """Take the groups of a model apart, coefficients multiplied by a factor."""
    home = search.units.home[model.support]
    return GroupRows(
        [search.units.names[unit] for unit in model.units],
        model.ranks,
        model.costs,
        lost_without_each_group(model, search, factor),
        [model.support[home == unit] for unit in model.units],
    )


def lost_without_each_group(
    model: UnitModel, search: GroupSearch, factor: float = 1.0
) -> NDArray[np.float64]:
    """Return by how much R2 falls without each group, coefficients multiplied by a factor.

    Of a likelihood, costs of removal as a share of what is lost without variables.
    """
    yy = search.total
    total = yy if yy > 0 else 1.0
    if not search.ridge or search.loss.is_likelihood:
        return 2 * model.costs / total
    # With a ridge the energy is not all RSS.
    rss = model.rescaled(factor, yy).rss
    without = [search.fit(model.units[model.units != unit]) for unit in model.units]
    return np.array([rest.rescaled(factor, yy).rss - rss for rest in without]) / total
