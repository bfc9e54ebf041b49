"""A posterior by its groups, for the summary."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["tabulate_groups"]


def tabulate_groups(
    table: pd.DataFrame,
    home: NDArray[np.int64],
    names: list[str],
    probabilities: NDArray[np.float64],
    errors: NDArray[np.float64],
) -> pd.DataFrame:
    """Return a row for each group, the most probable first, and its columns beneath.

    ``table`` has a row for each column; ``inclusion`` and its error, ``mcse``, go to the row of the
    group, the rest is of columns. A group of one has one row.
    """
    import pandas as pd  # here, so that `import ellzero` does not wait for it

    index, rows = [], []
    of_groups = ["inclusion", "mcse"]
    values = table.drop(columns=of_groups).to_numpy()
    for unit in np.argsort(-probabilities, kind="stable"):
        columns = np.flatnonzero(home == unit)
        own = [float(probabilities[unit]), float(errors[unit])]
        if columns.size > 1:
            index.append((names[unit], ""))
            rows.append([*own, *[math.nan] * values.shape[1]])
            own = [math.nan, math.nan]
        for j in columns:
            index.append((names[unit], table.index[int(j)]))
            rows.append([*own, *values[j]])
    return pd.DataFrame(
        rows,
        columns=[*of_groups, *table.columns.drop(of_groups)],
        index=pd.MultiIndex.from_tuples(index, names=["group", "variable"]),
    )
