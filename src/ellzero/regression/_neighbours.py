"""Models one insertion, removal or swap away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ellzero._columns import column_name
from ellzero.regression._problem import Problem

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["neighbouring_models"]


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
