"""Models one move away from a set of groups, under its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ellzero.regression._group_moves import UnitMove, unit_moves
from ellzero.regression._group_search import GroupSearch, UnitModel
from ellzero.regression._units import Units

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["best_group_swaps", "neighbouring_groups"]

_KINDS = {(True, True): "swap", (True, False): "insert", (False, True): "remove"}
# As many are refitted, of those that promise to be near.
_MOST = 300


def neighbouring_groups(
    search: GroupSearch, model: UnitModel, lam: float, within: float
) -> pd.DataFrame:
    """Tabulate the neighbours of a model whose objective at ``lam`` is at most ``within`` greater.

    The best first; each is refitted.
    """
    import pandas as pd  # here, so that `import ellzero` does not wait for it

    promised = [
        (move.energy - model.energy + lam * _price_of(search, model, move), place, move)
        for place, move in enumerate(unit_moves(search, model))
    ]
    rows = []
    for _, _, move in sorted(one for one in promised if one[0] <= within)[:_MOST]:
        after = _refit(search, model, move)
        if after is None:
            continue
        loss = after.energy - model.energy + lam * (after.price - model.price)
        if loss <= within:
            kind = _KINDS[bool(move.enters), bool(move.leaves)]
            names = (_names(search.units, of) for of in (move.enters, move.leaves))
            rows.append((kind, *names, loss, after.energy))
    table = pd.DataFrame(rows, columns=["move", "enters", "leaves", "loss", "energy"])
    table = table.astype({"loss": np.float64, "energy": np.float64})
    return table.sort_values("loss", kind="stable", ignore_index=True)


def best_group_swaps(search: GroupSearch, model: UnitModel, count: int) -> pd.DataFrame:
    """Tabulate the groups that could best take the place of each that can leave alone."""
    import pandas as pd

    rows: list[tuple[str, str, float]] = []
    by_leaving: dict[int, list[UnitMove]] = {}
    for move in unit_moves(search, model):
        if move.enters and len(move.leaves) == 1:
            by_leaving.setdefault(move.leaves[0], []).append(move)
    for unit in sorted(by_leaving):
        likely = sorted(by_leaving[unit], key=lambda move: move.energy)[: 2 * count + 6]
        fitted = [(_refit(search, model, move), move.enters[0]) for move in likely]
        sound = [(after.energy, enters) for after, enters in fitted if after is not None]
        rows += [
            (search.units.names[unit], search.units.names[enters], energy - model.energy)
            for energy, enters in sorted(sound)[:count]
        ]
    table = pd.DataFrame(rows, columns=["leaves", "enters", "rise"])
    return table.astype({"rise": np.float64})


def _names(units: Units, which: list[int]) -> str:
    return ", ".join(units.names[unit] for unit in which)


def _price_of(search: GroupSearch, model: UnitModel, move: UnitMove) -> float:
    """Return by how much the price is promised to rise; of columns, by their number."""
    after = move.after(model)
    df = int(search.engine.widths[after].sum())
    return search.price_of(after, df) - model.price


def _refit(search: GroupSearch, model: UnitModel, move: UnitMove) -> UnitModel | None:
    """Return the model after a move; None if groups depend on others, or signs are not kept."""
    after = move.after(model)
    found = search.fit(after)
    return found if found.units.size == after.size and search.keeps_signs(found) else None
