"""Numbers that users give by column, or by group: as an array, a mapping or a Series."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero._columns import column_name
from ellzero.regression._units import Units

__all__ = ["Kind", "positions_of", "resolve_by_unit"]


class Kind(NamedTuple):
    """What the numbers are."""

    argument: str
    low: float
    high: float
    noun: str  # of one of them
    plural: str

    @property
    def must(self) -> str:
        """Say what they must be."""
        return f"{self.argument} must hold numbers from {self.low:g} to {self.high:g}"

    def holds(self, value: Any) -> bool:
        """Whether a value is one of them."""
        number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
        return number and self.low <= float(value) <= self.high


def positions_of(units: Units, names: Any) -> dict[Any, int]:
    """Return which unit each column, by its number or name, and each group means."""
    home = units.home
    position: dict[Any, int] = {j: int(home[j]) for j in range(units.n_columns)}
    if names is not None:
        position.update({str(name): int(unit) for name, unit in zip(names, home, strict=True)})
    position.update({label: unit for unit, label in enumerate(units.names)})
    return position


def resolve_by_unit(
    kind: Kind,
    given: Any,
    count: int,
    names: Any,
    otherwise: float,
    *,
    position: Mapping[Any, int] | None = None,
) -> NDArray[np.float64]:
    """Turn a number, an array, a mapping or a Series into one number per column.

    Or per group: then ``position`` says which one each name means. What a mapping leaves out is
    ``otherwise``.
    """
    if hasattr(given, "to_dict") and hasattr(given, "index"):  # a Series
        if not given.index.is_unique:
            raise ValueError(f"{kind.argument} names a column more than once.")
        given = given.to_dict()
    if isinstance(given, Mapping):
        if position is None:
            position = {j: j for j in range(count)}
            if names is not None:
                position.update({str(name): j for j, name in enumerate(names)})
        return _from_mapping(kind, given, count, position, otherwise)
    values = np.asarray(given)
    if values.dtype.kind not in "fiu":
        raise ValueError(f"{kind.must}; got {given!r}.")
    if values.ndim > 1 or (values.ndim == 1 and len(values) != count):
        there = f"X has {count} columns" if position is None else f"there are {count} groups"
        raise ValueError(
            f"{kind.argument} has shape {values.shape}, but {there}: give one {kind.noun}, or one "
            f"per {'column' if position is None else 'group'}."
        )
    out = np.broadcast_to(values.astype(np.float64), count).copy()
    wrong = np.flatnonzero(~((out >= kind.low) & (out <= kind.high)))
    if wrong.size:
        name = column_name(int(wrong[0]), names)
        raise ValueError(f"{kind.must}; got {float(out[wrong[0]])!r} for {name!r}.")
    return out


def _from_mapping(
    kind: Kind,
    given: Mapping[Any, Any],
    count: int,
    position: Mapping[Any, int],
    otherwise: float,
) -> NDArray[np.float64]:
    out = np.full(count, np.nan)
    for key, value in given.items():
        if key not in position:
            raise ValueError(f"{kind.argument} names column {key!r}, which X does not have.")
        if not kind.holds(value):
            raise ValueError(f"{kind.must}; got {value!r} for {key!r}.")
        if not np.isnan(out[position[key]]) and out[position[key]] != float(value):
            raise ValueError(
                f"{kind.argument} names the group of {key!r} twice, with two {kind.plural}."
            )
        out[position[key]] = float(value)
    return np.where(np.isnan(out), otherwise, out)
