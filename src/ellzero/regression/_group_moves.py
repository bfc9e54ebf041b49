"""Moves from one set of groups to another that keeps the rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero.regression._group_search import GroupSearch, UnitModel
from ellzero.regression._units import Units

__all__ = ["UnitMove", "unit_moves"]


class UnitMove(NamedTuple):
    """Units that enter, units that leave, and the energy that the engine promises."""

    enters: list[int]
    leaves: list[int]
    energy: float

    def after(self, model: UnitModel) -> NDArray[np.int64]:
        """Return the units of the model that it leads to."""
        units = np.append(model.units, np.array(self.enters, dtype=np.int64))
        return np.sort(units[~np.isin(units, self.leaves)])


def unit_moves(search: GroupSearch, model: UnitModel) -> Iterator[UnitMove]:
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
                yield UnitMove(way, [], model.energy - float(gain))
    for unit in model.units.tolist():
        leaving = _way_out(units, unit, inside)
        if forced[leaving].any():
            continue
        rest = inside.copy()
        rest[leaving] = False
        engine.move_to(np.flatnonzero(rest))
        yield UnitMove([], leaving, float(engine.energy))
        gains, energy = engine.insertion_gains(), float(engine.energy)
        for other in np.flatnonzero(~inside & (gains >= 0)).tolist():
            if _enters_alone(units, other, rest) and _has_room(units, rest, [other]):
                yield UnitMove([other], leaving, energy - float(gains[other]))


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
