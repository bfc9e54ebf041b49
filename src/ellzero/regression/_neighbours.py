"""Models one insertion, removal or swap away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ellzero._columns import column_name
from ellzero.regression._problem import Problem

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["best_swaps", "neighbouring_models"]


def neighbouring_models(problem: Problem, energy: float, lam: float, within: float) -> pd.DataFrame:
    """Tabulate the neighbours of where the engine stands, whose energy is given.

    Those whose ``energy + lam size`` is greater by at most ``within``, the best first.
    """
    import pandas as pd  # here, so that `import ellzero` does not wait for it

    engine = problem.engine
    members = engine.members
    free = ~np.isin(members, problem.forced)

    gains = engine.insertion_gains()
    entering = np.flatnonzero((gains >= 0) & (lam - gains <= within))
    costs = engine.removal_costs()
    leaving = np.flatnonzero(free & (costs - lam <= within))
    swaps = engine.swap_gains()
    position, column = np.nonzero(free[:, None] & (-swaps <= within))
    rises = np.concatenate([-swaps[position, column], -gains[entering], costs[leaving]])
    kinds = [("swap", 0), ("insert", 1), ("remove", -1)]
    counts = [len(position), len(entering), len(leaving)]
    losses = rises + lam * np.repeat([step for _, step in kinds], counts)

    def name(columns: np.ndarray) -> list[str]:
        return [column_name(j, problem.names) for j in columns]

    table = pd.DataFrame(
        {
            "move": np.repeat([kind for kind, _ in kinds], counts),
            "enters": [*name(column), *name(entering), *[""] * len(leaving)],
            "leaves": [*name(members[position]), *[""] * len(entering), *name(members[leaving])],
            "loss": losses,
            "energy": energy + rises,
        }
    )
    return table.sort_values("loss", kind="stable", ignore_index=True)


def best_swaps(problem: Problem, count: int) -> pd.DataFrame:
    """Tabulate the best swaps for each free member of the support that the engine stands at."""
    import pandas as pd

    engine = problem.engine
    members = engine.members
    rises = -engine.swap_gains()  # infinite where no swap is possible
    rows: list[tuple[str, str, float, float]] = []
    order = np.argsort(members)
    for place in order:
        member = int(members[place])
        if member in problem.forced:
            continue
        best = np.argsort(rises[place], kind="stable")[:count]
        correlations = engine.gram_columns(members[place : place + 1])[0]
        rows += [
            (
                column_name(member, problem.names),
                column_name(int(j), problem.names),
                float(rises[place, j]),
                float(correlations[j]),
            )
            for j in best
            if np.isfinite(rises[place, j])
        ]
    return pd.DataFrame(rows, columns=["leaves", "enters", "rise", "correlation"])
