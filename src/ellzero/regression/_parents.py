"""Heredity: which products need which parts.

Products are known by their names: ``a:b`` (formulas), ``a b`` and ``a^2`` (scikit-learn's
PolynomialFeatures); or by a mapping.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Parents", "close_under_parents", "parents_of_units"]

_Powers = tuple[tuple[str, int], ...]  # of the factors of a product, by name
_Integers = NDArray[np.int64]


class Parents(NamedTuple):
    """The parents of every unit, one after the other.

    Flat arrays: a list for each of some thousand products would keep the garbage collector busy.
    """

    begins: _Integers  # where those of each unit begin, and the end
    units: _Integers

    def of(self, unit: int) -> _Integers:
        """Return the parents of a unit."""
        return self.units[self.begins[unit] : self.begins[unit + 1]]


def parents_of_units(
    heredity: str | None,
    given: Any,
    home: NDArray[np.int64],
    labels: list[str],
    names: Sequence[str] | None,
    n_columns: int,
) -> Parents | None:
    """Return the parents of every unit; None without heredity.

    ``home`` is the unit of every column, ``labels`` are the names of the units.
    """
    if heredity is None:
        if given is not None:
            raise ValueError("parents needs heredity='strong' or 'weak'.")
        return None
    if heredity not in ("strong", "weak"):
        raise ValueError(f"heredity must be 'strong', 'weak' or None; got {heredity!r}.")
    if given is not None:
        children, parents = _from_mapping(given, home, labels, names)
    elif names is None:
        raise ValueError(
            "heredity needs columns with names, such as 'a', 'b' and 'a:b', or parents."
        )
    else:
        children, parents = _from_names([str(name) for name in names])
        children, parents = home[children].tolist(), home[parents].tolist()
    count = len(labels)
    codes = np.unique(np.array(children, dtype=np.int64) * count + np.array(parents, np.int64))
    child, parent = codes // count, codes % count
    child, parent = child[child != parent], parent[child != parent]
    if not child.size:
        raise ValueError(
            "heredity: no column has the name of a product of others, such as 'a:b', 'a b' or "
            "'a^2'; name them in parents."
        )
    _refuse_circles(child, parent, labels)
    begins = np.concatenate([[0], np.cumsum(np.bincount(child, minlength=count))])
    return Parents(begins, parent)


def _from_mapping(
    given: Any, home: NDArray[np.int64], labels: list[str], names: Sequence[str] | None
) -> tuple[list[int], list[int]]:
    """Return products and, for each, one of its parents, as units."""
    if not isinstance(given, Mapping):
        raise TypeError("parents must be a mapping from a product to the names of its parts.")
    position = {label: unit for unit, label in enumerate(labels)}
    for j in range(home.size):
        if names is not None:
            position.setdefault(str(names[j]), int(home[j]))

    def unit_of(name: Any) -> int:
        if isinstance(name, str):
            if name not in position:
                raise ValueError(f"parents names {name!r}, which is no column and no group.")
            return position[name]
        if not isinstance(name, (int, np.integer)) or not 0 <= name < home.size:
            raise ValueError(f"parents names {name!r}, but X has {home.size} columns.")
        return int(home[name])

    children: list[int] = []
    parents: list[int] = []
    for child, of in given.items():
        own = unit_of(child)
        for parent in [of] if isinstance(of, str) else of:
            children.append(own)
            parents.append(unit_of(parent))
    return children, parents


def _from_names(names: list[str]) -> tuple[list[int], list[int]]:
    """Return products and, for each, one of its parents, as columns."""
    known = {name: j for j, name in enumerate(names)}
    powers = [_powers(name, known) for name in names]
    by_powers: dict[_Powers, int] = {}
    for j, of in enumerate(powers):
        by_powers.setdefault(of, j)
    children: list[int] = []
    parents: list[int] = []
    for j, of in enumerate(powers):
        if sum(power for _, power in of) < 2:
            continue
        for factor, power in of:
            # Its parts are the products of one factor less, as far as they are there, and the
            # factors themselves.
            lesser = Counter(dict(of))
            lesser[factor] = power - 1
            part = by_powers.get(tuple(sorted((+lesser).items())))
            for one in (part, known[factor]):
                if one is not None:
                    children.append(j)
                    parents.append(one)
    return children, parents


def _powers(name: str, known: dict[str, int]) -> _Powers:
    """Return the factors that a name is a product of; itself alone if it is none."""
    for separator in (":", " "):
        parts = name.split(separator)
        factors = [_factor(part, known) for part in parts]
        sound = [factor for factor in factors if factor is not None]
        if len(sound) == len(parts) and (len(parts) > 1 or sound[0][1] > 1):
            total: Counter[str] = Counter()
            for factor, power in sound:
                total[factor] += power
            return tuple(sorted(total.items()))
        if separator == ":" and sound and len(sound) < len(parts) and len(parts) > 1:
            missing = next(part for part in parts if _factor(part, known) is None)
            raise ValueError(
                f"heredity: {name!r} looks like a product, but X has no column {missing!r}; say in "
                "parents what needs what."
            )
    return ((name, 1),)


def _factor(part: str, known: dict[str, int]) -> tuple[str, int] | None:
    base, caret, power = part.rpartition("^")
    if caret and power.isdigit() and int(power) > 0 and base in known:
        return base, int(power)
    return (part, 1) if part in known else None


def _refuse_circles(child: _Integers, parent: _Integers, labels: list[str]) -> None:
    left = np.ones(len(labels), dtype=bool)
    while left.any():
        waits = np.zeros(len(labels), dtype=bool)
        waits[child[left[parent]]] = True
        if not (left & ~waits).any():
            raise ValueError(
                f"parents: {labels[int(left.argmax())]!r} is, by way of others, a parent of itself."
            )
        left &= waits


def close_under_parents(
    forced: NDArray[np.bool_], parents: Parents, strong: bool, labels: list[str]
) -> NDArray[np.bool_]:
    """Return the forced units with all that they need; under weak heredity they must have it."""
    closed = forced.copy()
    waiting = np.flatnonzero(forced).tolist()
    while waiting:
        unit = waiting.pop()
        of = parents.of(unit)
        missing = of[~closed[of]]
        if not strong:
            if of.size and missing.size == of.size:
                raise ValueError(
                    f"always_include names {labels[unit]!r}, but none of its parents: under weak "
                    "heredity it needs one."
                )
            continue
        closed[missing] = True
        waiting.extend(missing.tolist())
    return closed
