"""What is chosen, priced and counted: columns, or groups of them, and the rules they keep to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero._columns import column_name, resolve_columns
from ellzero.regression._parents import Parents, close_under_parents, parents_of_units

__all__ = [
    "UNIT_CONSTRAINTS",
    "Structure",
    "Units",
    "resolve_units",
    "resolve_units_of",
    "structure_of",
]

UNIT_CONSTRAINTS: dict[str, list[Any]] = {
    "feature_groups": ["array-like", dict, Mapping, None],
    "size_in": [str],
    "heredity": [str, None],
    "parents": [dict, Mapping, None],
    "penalty_factor": ["array-like", dict, Mapping, None],
    "positive": ["boolean", "array-like", dict, Mapping, set, str, None],
    "at_most": [dict, Mapping, None],
}


@dataclass(frozen=True)
class Structure:
    """The arguments that say what a unit is and what rules units keep to, as users give them."""

    feature_groups: Any = None
    size_in: str = "groups"
    heredity: str | None = None
    parents: Any = None
    penalty_factor: Any = None
    positive: Any = None
    at_most: Any = None

    @property
    def is_plain(self) -> bool:
        """Whether it says nothing: every column for itself, at one price."""
        signs = self.positive is None or self.positive is False
        rest = (self.feature_groups, self.heredity, self.parents, self.penalty_factor, self.at_most)
        return signs and all(argument is None for argument in rest) and self.size_in == "groups"


def structure_of(estimator: Any) -> Structure:
    """Return what the parameters of an estimator say."""
    return Structure(*[getattr(estimator, field.name) for field in fields(Structure)])


@dataclass(frozen=True)
class Units:
    """Units, and the rules for supports made of them; all lists are by unit."""

    names: list[str]
    columns: list[NDArray[np.int64]]
    n_columns: int
    forced: NDArray[np.bool_]
    by_columns: bool
    price: NDArray[np.float64] | None  # None: one each
    parents: Parents | None
    strong: bool
    caps: list[tuple[list[int], int]]
    signs: NDArray[np.int64] | None  # by column: 1, -1, or 0 for any; None for any of all

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.names)

    @property
    def forced_units(self) -> NDArray[np.int64]:
        """Those that are in every support."""
        return np.flatnonzero(self.forced)

    @property
    def is_plain(self) -> bool:
        """Whether they are single columns without rules."""
        rules = (self.price, self.parents, self.signs)
        alone = self.count == self.n_columns
        return alone and all(rule is None for rule in rules) and not self.caps

    @property
    def home(self) -> NDArray[np.int64]:
        """The unit of every column."""
        return _home_of(self.columns, self.n_columns)


def resolve_units(
    structure: Structure, always_include: Any, n_columns: int, names: Sequence[str] | None
) -> Units:
    """Check the arguments and turn them into units; ``names`` are those of the columns."""
    if structure.size_in not in ("groups", "columns"):
        raise ValueError(f"size_in must be 'groups' or 'columns'; got {structure.size_in!r}.")
    labels, columns = _resolve_groups(structure.feature_groups, n_columns, names)
    labels, columns, caps = _resolve_caps(structure.at_most, labels, columns, names)
    home = _home_of(columns, n_columns)
    parents = parents_of_units(
        structure.heredity, structure.parents, home, labels, names, n_columns
    )
    forced = np.zeros(len(labels), dtype=bool)
    forced[resolve_units_of("always_include", always_include, labels, home, names)] = True
    strong = structure.heredity != "weak"
    if parents is not None:
        forced = close_under_parents(forced, parents, strong, labels)
    for capped, most in caps:
        if np.count_nonzero(forced[capped]) > most:
            raise ValueError(
                f"at_most allows {most} of {[labels[unit] for unit in capped][:3]!r}, but "
                "always_include names more."
            )
    signs = _resolve_signs(structure.positive, n_columns, names)
    if signs is not None and any(signs[columns[unit]].any() for unit in np.flatnonzero(forced)):
        raise ValueError("positive can't be asked of columns that are always included.")
    return Units(
        labels,
        columns,
        n_columns,
        forced,
        structure.size_in == "columns",
        _resolve_factors(structure.penalty_factor, labels, home, names),
        parents,
        strong,
        caps,
        signs,
    )


def _home_of(columns: list[NDArray[np.int64]], n_columns: int) -> NDArray[np.int64]:
    home = np.empty(n_columns, dtype=np.int64)
    home[np.concatenate(columns)] = np.repeat(np.arange(len(columns)), [c.size for c in columns])
    return home


def _resolve_groups(
    groups: Any, n_columns: int, names: Sequence[str] | None
) -> tuple[list[str], list[NDArray[np.int64]]]:
    """Return the names of the groups and their columns, in the order in which they first occur."""
    own = [column_name(j, names) for j in range(n_columns)]
    if groups is None:
        return own, [np.array([j], dtype=np.int64) for j in range(n_columns)]
    members: dict[str, list[int]] = {}
    if isinstance(groups, Mapping):
        taken: dict[int, str] = {}
        for label, given in groups.items():
            columns = resolve_columns("feature_groups", given, n_columns, names)
            if not columns.size:
                raise ValueError(f"feature_groups: group {label!r} is empty.")
            for j in columns.tolist():
                if j in taken:
                    raise ValueError(
                        f"feature_groups: column {own[j]!r} is in two groups, {taken[j]!r} and "
                        f"{label!r}."
                    )
                taken[j] = str(label)
            members[str(label)] = sorted(columns.tolist())
        for j in range(n_columns):
            if j not in taken:
                _add_alone(members, own[j], j)
        order = sorted(members, key=lambda label: members[label][0])
        return order, [np.array(members[label], dtype=np.int64) for label in order]
    labels = list(groups)
    if len(labels) != n_columns:
        raise ValueError(
            f"feature_groups has {len(labels)} labels, but X has {n_columns} columns: one label "
            "for each, or a mapping from names to columns."
        )
    for j, label in enumerate(labels):
        if label is None:
            _add_alone(members, own[j], j)
        elif np.ndim(label):
            raise ValueError(f"feature_groups must hold one label per column; got {label!r}.")
        else:
            members.setdefault(str(label), []).append(j)
    return list(members), [np.array(columns, dtype=np.int64) for columns in members.values()]


def _add_alone(members: dict[str, list[int]], name: str, j: int) -> None:
    if name in members:
        raise ValueError(
            f"feature_groups: {name!r} is the name of a group and of a column outside it."
        )
    members[name] = [j]


def _resolve_caps(
    at_most: Any,
    labels: list[str],
    columns: list[NDArray[np.int64]],
    names: Sequence[str] | None,
) -> tuple[list[str], list[NDArray[np.int64]], list[tuple[list[int], int]]]:
    """Break up the groups of which only some columns may be in, and return what they may."""
    if at_most is None:
        return labels, columns, []
    limits: dict[str, int] = {}
    for label, most in at_most.items():
        if str(label) not in labels:
            raise ValueError(f"at_most names {label!r}, which is no group of feature_groups.")
        if not isinstance(most, Integral) or isinstance(most, bool) or most < 0:
            raise ValueError(f"at_most[{label!r}] must be a whole number from 0; got {most!r}.")
        limits[str(label)] = int(most)
    new_labels: list[str] = []
    new_columns: list[NDArray[np.int64]] = []
    caps: list[tuple[list[int], int]] = []
    for label, group in zip(labels, columns, strict=True):
        if label not in limits:
            new_labels.append(label)
            new_columns.append(group)
            continue
        caps.append((list(range(len(new_labels), len(new_labels) + group.size)), limits[label]))
        for j in group.tolist():
            new_labels.append(column_name(j, names))
            new_columns.append(np.array([j], dtype=np.int64))
    return new_labels, new_columns, caps


def resolve_units_of(
    argument: str,
    given: Any,
    labels: list[str],
    home: NDArray[np.int64],
    names: Sequence[str] | None,
) -> NDArray[np.int64]:
    """Turn columns, or names of groups, into units."""
    if given is None:
        return np.empty(0, dtype=np.int64)
    wanted = [given] if isinstance(given, str) else list(given)
    position = {label: unit for unit, label in enumerate(labels)}
    if wanted and all(isinstance(one, str) for one in wanted):
        of_groups = [position[one] for one in wanted if one in position]
        columns = [one for one in wanted if one not in position] or None
        rest = home[resolve_columns(argument, columns, home.size, names)]
        return np.unique(np.array([*of_groups, *rest], dtype=np.int64))
    return np.unique(home[resolve_columns(argument, wanted, home.size, names)])


def _resolve_factors(
    factors: Any, labels: list[str], home: NDArray[np.int64], names: Sequence[str] | None
) -> NDArray[np.float64] | None:
    if factors is None:
        return None
    price = np.ones(len(labels))
    if isinstance(factors, Mapping):
        for label, factor in factors.items():
            unit = resolve_units_of("penalty_factor", [label], labels, home, names)
            price[unit] = _check_factor(factor)
        return price
    values = list(factors)
    if len(values) != len(labels):
        what = "group" if home.size != len(labels) else "column"
        raise ValueError(
            f"penalty_factor has {len(values)} numbers, but there are {len(labels)} {what}s: one "
            "for each, or a mapping."
        )
    return np.array([_check_factor(factor) for factor in values])


def _check_factor(factor: Any) -> float:
    number = isinstance(factor, Real) and not isinstance(factor, (bool, np.bool_))
    if not number or not 0 < float(factor) < np.inf:
        raise ValueError(
            f"penalty_factor must hold positive numbers; got {factor!r}. What is to cost nothing "
            "belongs in always_include."
        )
    return float(factor)


def _resolve_signs(
    positive: Any, n_columns: int, names: Sequence[str] | None
) -> NDArray[np.int64] | None:
    if positive is None or positive is False:
        return None
    if positive is True:
        return np.ones(n_columns, dtype=np.int64)
    signs = np.zeros(n_columns, dtype=np.int64)
    if isinstance(positive, Mapping):
        for column, sign in positive.items():
            if sign not in (1, -1):
                raise ValueError(f"positive[{column!r}] must be 1 or -1; got {sign!r}.")
            signs[resolve_columns("positive", [column], n_columns, names)] = int(sign)
    else:
        signs[resolve_columns("positive", positive, n_columns, names)] = 1
    return signs
