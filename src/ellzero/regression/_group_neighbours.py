"""Models one move away from a set of groups, under its rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero.regression._group_search import GroupSearch, UnitModel
from ellzero.regression._units import Units

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["best_group_swaps", "neighbouring_groups"]

_Integers = NDArray[np.int64]
_KINDS = {(True, True): "swap", (True, False): "insert", (False, True): "remove"}
# As many are refitted, of those that promise to be near.
_MOST = 300


class _Move(NamedTuple):
    """Units that enter, units that leave, and the energy that the engine promises."""

    enters: list[int]
    leaves: list[int]
    energy: float


def neighbouring_groups(
    search: GroupSearch, model: UnitModel, lam: float, within: float
) -> pd.DataFrame:
    """Tabulate the neighbours of a model whose objective at ``lam`` is at most ``within`` greater.

    The best first; each is refitted.
    """
    import pandas as pd  # here, so that `import ellzero` does not wait for it

    promised = [
        (move.energy - model.energy + lam * _price_of(search, model, move), place, move)
        for place, move in enumerate(_moves(search, model))
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
    by_leaving: dict[int, list[_Move]] = {}
    for move in _moves(search, model):
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


def _price_of(search: GroupSearch, model: UnitModel, move: _Move) -> float:
    """Return by how much the price is promised to rise; of columns, by their number."""
    after = np.setdiff1d(np.append(model.units, move.enters), move.leaves).astype(np.int64)
    df = int(search.engine.widths[after].sum())
    return search.price_of(after, df) - model.price


def _refit(search: GroupSearch, model: UnitModel, move: _Move) -> UnitModel | None:
    """Return the model after a move; None if groups depend on others, or signs are not kept."""
    after = np.setdiff1d(np.append(model.units, move.enters), move.leaves).astype(np.int64)
    found = search.fit(after)
    signs = search.units.signs
    if found.units.size < after.size:
        return None
    if signs is not None and np.any(found.beta * signs[found.support] < 0):
        return None
    return found


def _moves(search: GroupSearch, model: UnitModel) -> Iterator[_Move]:
    """Yield insertions with what they need, removals with what needs them, and swaps."""
    units, engine = search.units, search.engine
    forced = units.forced
    inside = np.zeros(units.count, dtype=bool)
    inside[model.units] = True
    engine.move_to(model.units)
    gains = engine.insertion_gains()
    for unit in np.flatnonzero(~inside).tolist():
        for way in _ways_in(units, unit, inside):
            if not _has_room(units, inside, way):
                continue
            gain = gains[unit]
            if len(way) > 1:
                gain = engine.joint_gain(np.array(way, dtype=np.int64))
            if gain >= 0:
                yield _Move(way, [], model.energy - float(gain))
    for unit in model.units.tolist():
        leaving = _way_out(units, unit, inside)
        if forced[leaving].any():
            continue
        rest = inside.copy()
        rest[leaving] = False
        engine.move_to(np.flatnonzero(rest))
        yield _Move([], leaving, float(engine.energy))
        gains, energy = engine.insertion_gains(), float(engine.energy)
        for other in np.flatnonzero(~inside & (gains >= 0)).tolist():
            if _enters_alone(units, other, rest) and _has_room(units, rest, [other]):
                yield _Move([other], leaving, energy - float(gains[other]))


def _enters_alone(units: Units, unit: int, inside: NDArray[np.bool_]) -> bool:
    if units.parents is None:
        return True
    parents = units.parents.of(unit)
    if not parents.size:
        return True
    return bool(inside[parents].all() if units.strong else inside[parents].any())


def _ways_in(units: Units, unit: int, inside: NDArray[np.bool_]) -> list[list[int]]:
    """Return the sets of units with which one can enter, itself the first."""
    if _enters_alone(units, unit, inside):
        return [[unit]]
    assert units.parents is not None
    if not units.strong:
        parents = units.parents.of(unit).tolist()
        return [[unit, *way] for parent in parents for way in _ways_in(units, parent, inside)]
    way = [unit]
    for one in way:  # which grows
        way += [j for j in units.parents.of(one).tolist() if not inside[j] and j not in way]
    return [way]


def _way_out(units: Units, unit: int, inside: NDArray[np.bool_]) -> list[int]:
    """Return the members that leave with one of them, itself the first."""
    left = inside.copy()
    left[unit] = False
    out = [unit]
    while stranded := [
        j for j in np.flatnonzero(left).tolist() if not _enters_alone(units, j, left)
    ]:
        left[stranded] = False
        out += stranded
    return out


def _has_room(units: Units, inside: NDArray[np.bool_], entering: list[int]) -> bool:
    """Say whether limits on how many of some units may be in are kept."""
    return all(
        np.count_nonzero(inside[capped]) + len({*capped} & {*entering}) <= most
        for capped, most in units.caps
    )
