"""What each column of a table is, and whether it can be a predictor."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from ellzero._messages import Argument, Message
from ellzero.tables._columns import Column, DateColumn, NumberColumn, TextColumn, ValueColumn
from ellzero.tables._errors import DataError, listed
from ellzero.tables._read import Table

__all__ = ["Remark", "judge_columns"]

# More levels than this are one-hot encoded only if asked for.
_MANY_LEVELS = 100
# With fewer rows, whole numbers that are all different need not be an identifier.
_FEW_ROWS = 10
_IDENTIFIER = re.compile(r"(^|[_\W])(id|ids|uuid|guid|index|key|row|rownames?|nr|no)$", re.I)


@dataclass(frozen=True)
class Remark:
    """What a column is taken for.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : str
        "number", "category", "date" or "text".
    use : str
        "predictor", "target", "weights", "groups", "time", or "left out".
    details : str
        Range, levels and reference level, or why it was left out.
    n_missing : int
        Rows without a value.
    """

    name: str
    kind: str
    use: str
    details: str
    n_missing: int


def judge_columns(
    table: Table,
    roles: Mapping[str, str],
    *,
    categorical: Collection[str] = (),
    keep: Collection[str] = (),
) -> list[Remark]:
    """Say what each column is taken for.

    Dates, identifiers (all different) and constants are left out: they are no predictors.

    Parameters
    ----------
    table : Table
        The table. Columns named by ``categorical`` become texts in it.
    roles : mapping from str to str
        What columns are for that are not predictors: "target", "weights", "groups", "time".
    categorical : collection of str
        Columns to encode as categories whatever they hold.
    keep : collection of str
        Columns to use even if they look like identifiers.

    Returns
    -------
    list of Remark
        One per column, in the order of the columns.
    """
    for argument, names in (("categorical", categorical), ("keep", keep)):
        unknown = [name for name in names if name not in table.columns]
        if unknown:
            raise DataError(
                f"{table.name} has no column {listed(unknown)}, which ",
                Argument(argument),
                " names.",
            )
    for name in categorical:
        column = table.columns[name]
        if isinstance(column, NumberColumn):
            table.columns[name] = column.as_text()
        elif isinstance(column, DateColumn):
            raise DataError(
                f"Column {name!r} holds dates: ", Argument("categorical"), " is for levels."
            )
    levels, kept = frozenset(categorical), frozenset(keep)
    return [
        _judge(column, roles.get(name), name in levels, name in kept)
        for name, column in table.columns.items()
    ]


def _judge(column: Column, role: str | None, categorical: bool, keep: bool) -> Remark:
    kind, details = _describe(column)
    use = role or "predictor"
    if role is None:
        reason = _useless(column, categorical, keep)
        if reason:
            use, details = "left out", reason
    return Remark(column.name, kind, use, details, column.n_missing)


def _describe(column: Column) -> tuple[str, str]:
    if isinstance(column, TextColumn):
        if column.levels is None:
            return "text", "more than 10,000 different values"
        levels = column.levels
        if not levels:
            return "text", "no values"
        reference = reference_level(column)
        return "category", f"{len(levels)} levels, reference {levels[reference]!r}"
    assert isinstance(column, ValueColumn)
    values = column.values
    present = values[~np.isnan(values)]
    if isinstance(column, DateColumn):
        if not present.size:
            return "date", "no values"
        days = [str(np.datetime64(int(end), "s"))[:10] for end in (present.min(), present.max())]
        return "date", f"{days[0]} to {days[1]}"
    if not present.size:
        return "number", "no values"
    return "number", f"{present.min():.6g} to {present.max():.6g}"


def reference_level(column: TextColumn) -> int:
    """Return the most frequent level; the first of those that tie."""
    codes = column.codes[column.codes >= 0]
    return int(np.bincount(codes).argmax())


def _useless(column: Column, categorical: bool, keep: bool) -> str:
    """Say why a column can't be a predictor; nothing if it can."""
    if column.n_missing == len(column.missing):
        return "empty: it has no values"
    if isinstance(column, DateColumn):
        return Message(
            "a date: name it in ", Argument("time"), " to order rows by it, or make numbers of it"
        )
    if isinstance(column, TextColumn):
        return _useless_text(column, categorical)
    assert isinstance(column, NumberColumn)
    present = column.values[~column.missing] if column.n_missing else column.values
    if present.min() == present.max():
        return "constant"
    if not keep and _numbers_rows(column.name, present):
        return Message("an identifier, it seems: name it in ", Argument("keep"), " to use it")
    return ""


def decimal_commas(column: TextColumn) -> bool:
    """Whether most levels look like numbers with a decimal comma."""
    levels = column.levels or []
    numbers = sum(bool(re.fullmatch(r"[-+]?\d+,\d+", level)) for level in levels)
    return 2 * numbers > len(levels)


def _useless_text(column: TextColumn, categorical: bool) -> str:
    levels = column.levels
    if levels is None:
        return "text of more than 10,000 different values"
    if len(levels) == 1:
        return "constant"
    if categorical:
        return ""
    n_present = len(column.codes) - column.n_missing
    comma = Message("; numbers with a decimal comma? (", Argument("decimal", ","), ")")
    has_commas = decimal_commas(column)
    if len(levels) == n_present:
        identifier = "an identifier, it seems (text, all different)"
        return Message(identifier, comma) if has_commas else identifier
    if len(levels) > _MANY_LEVELS:
        use = Message(": name it in ", Argument("categorical"), " to use it")
        return Message(f"text of {len(levels):,} levels", comma if has_commas else use)
    return ""


def _numbers_rows(name: str, present: np.ndarray) -> bool:
    """Whether whole numbers number the rows: all different, and consecutive or in order."""
    if present.size < _FEW_ROWS or not np.array_equal(present, np.floor(present)):
        return False
    steps = np.diff(present)
    if np.all(steps == steps[0]) and abs(steps[0]) == 1:
        return True
    ordered = bool(np.all(steps > 0) or np.all(steps < 0))
    if not ordered and np.unique(present).size < present.size:
        return False
    in_a_row = present.max() - present.min() == present.size - 1
    return bool(in_a_row or _IDENTIFIER.search(name))
