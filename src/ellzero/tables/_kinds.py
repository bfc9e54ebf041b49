"""What each column of a table is, and whether it can be a predictor."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from ellzero._messages import Argument, Message
from ellzero.tables._columns import Column, DateColumn, NumberColumn, TextColumn, ValueColumn
from ellzero.tables._errors import DataError, listed, shortened
from ellzero.tables._identifiers import names_identifier, tell_apart
from ellzero.tables._levels import Pool, least_rows, pool_rare
from ellzero.tables._read import Table

__all__ = ["Remark", "judge_columns"]

# More levels than this are one-hot encoded only if asked for.
_MANY_LEVELS = 100


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
    rare: int | None = None,
    dates: str = "leave",
) -> list[Remark]:
    """Say what each column is taken for.

    Identifiers, constants and texts of too many levels are left out, and so are dates, unless their
    parts are asked for.

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
    rare : int, default=None
        Levels of fewer rows than this are rare, and count as one; None means 5, or 1% of the rows
        if that is more.
    dates : {"leave", "parts"}, default="leave"
        Whether the year, the month and the weekday of dates are used.

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
    least = least_rows(rare, table.n_rows)
    return [
        _judge(column, roles.get(name), name in levels, name in kept, least, dates)
        for name, column in table.columns.items()
    ]


def _judge(
    column: Column, role: str | None, categorical: bool, keep: bool, least: int, dates: str
) -> Remark:
    reason = "" if role else _useless(column, categorical, keep, least, dates)
    if reason:
        return Remark(column.name, _describe(column)[0], "left out", reason, column.n_missing)
    if isinstance(column, TextColumn) and not role:
        details = describe_levels(*pool_rare(column, least))
        return Remark(column.name, "category", "predictor", details, column.n_missing)
    kind, details = _describe(column)
    return Remark(column.name, kind, role or "predictor", details, column.n_missing)


def _describe(column: Column) -> tuple[str, str]:
    if isinstance(column, TextColumn):
        if column.levels is None:
            return "text", "more than 10,000 different values"
        if column.n_missing == column.n_rows:
            return "text", "no values"
        return "category", describe_levels(column, None)
    assert isinstance(column, ValueColumn)
    ends = column.ends
    if isinstance(column, DateColumn):
        local = column.local_ends
        if ends is None or local is None:
            return "date", "no values"
        if not column.calendar:
            return "date", f"{ends[0]:.6g} to {ends[1]:.6g} s"
        first, last = np.datetime_as_string(np.array(local).astype("datetime64[s]"), unit="D")
        return "date", f"{first} to {last}"
    if ends is None:
        return "number", "no values"
    return "number", f"{ends[0]:.6g} to {ends[1]:.6g}"


def reference_level(column: TextColumn) -> int:
    """Return the most frequent level; the first of those that tie."""
    return int(column.counts.argmax())


def describe_levels(column: TextColumn, pool: Pool | None) -> str:
    """Say how many levels a category has, and how many more are pooled."""
    levels = column.levels or []
    words = f"{len(levels)} levels, reference {shortened(levels[reference_level(column)])!r}"
    if pool is not None:
        ones = "one" if len(pool.rare) == 1 else "ones"
        words += f"; {len(pool.rare):,} rare {ones} pooled as {pool.level!r}"
    return Message(words, "; ", column.undated) if column.undated else words


def _useless(column: Column, categorical: bool, keep: bool, least: int, dates: str) -> str:
    """Say why a column can't be a predictor; nothing if it can."""
    if column.n_missing == column.n_rows:
        return "empty: it has no values"
    if isinstance(column, DateColumn):
        return "" if dates == "parts" and column.calendar else _useless_date(column)
    if isinstance(column, TextColumn):
        return _useless_text(column, categorical, keep, least)
    assert isinstance(column, NumberColumn)
    ends = column.ends
    if ends is not None and ends[0] == ends[1]:
        return "constant"
    if not keep and column.numbers_rows:
        repeats = names_identifier(column.name) and column.repeats
        return _identifier(_TOGETHER if repeats else "")
    return ""


_TOGETHER = Message(Argument("groups"), " to keep its rows together in folds, or in ")


def _identifier(other_use: str) -> str:
    return Message(
        "an identifier, it seems: name it in ", other_use, Argument("keep"), " to use it"
    )


def _useless_date(column: DateColumn) -> str:
    order = Message("name it in ", Argument("time"), " to order rows by it, or ")
    if not column.calendar:
        return Message("a time of day or a duration: ", order, "make numbers of it")
    parts = Message("give ", Argument("dates", "parts"), " to use its year, month and weekday")
    return Message("a date: ", order, parts)


def decimal_commas(column: TextColumn) -> bool:
    """Whether most levels look like numbers with a decimal comma."""
    levels = column.levels or []
    numbers = sum(bool(re.fullmatch(r"[-+]?\d+,\d+", level)) for level in levels)
    return 2 * numbers > len(levels)


def _useless_text(column: TextColumn, categorical: bool, keep: bool, least: int) -> str:
    if column.levels is None:
        words = "text of more than 10,000 different values: "
        return _say_undated(column) or Message(words, _advice(rare=False))
    pooled, pool = pool_rare(column, least)
    n_rare = len(pool.rare) if pool is not None else 0
    n_pooled = len(pooled.levels or [])
    n_levels, n_present = n_pooled + n_rare - bool(n_rare), column.n_rows - column.n_missing
    if n_levels == 1:
        return "constant"
    comma = Message("numbers with a decimal comma? (", Argument("decimal", ","), ")")
    hint = comma if decimal_commas(column) else ""
    advice = hint or _advice(rare=n_rare == n_levels)
    if not categorical and not keep:
        if tell_apart(n_levels, n_present):
            if column.undated:
                return _say_undated(column)
            every = "all different" if n_levels == n_present else f"{n_levels:,} different values"
            return Message(f"an identifier, it seems (text, {every}): ", advice)
        if names_identifier(column.name) and n_levels > 2:
            return _identifier(_TOGETHER)
    if n_rare == n_levels:
        return _say_undated(column) or rare_reason(
            n_levels, least, hint, many=not categorical and n_levels > _MANY_LEVELS
        )
    if n_pooled > _MANY_LEVELS and not categorical:
        return _say_undated(column) or Message(f"text of {n_levels:,} levels: ", advice)
    return ""


def _say_undated(column: TextColumn) -> str:
    return Message("text: ", column.undated) if column.undated else ""


def rare_reason(n_levels: int, least: int, hint: str = "", *, many: bool = False) -> str:
    """Say that all levels of a category are rare, and how to keep them."""
    words = f"text of {n_levels:,} levels, all of fewer than {least:,} rows: "
    if hint or many:
        return Message(words, hint or _advice(rare=True))
    return Message(words, Argument("rare", 1), " keeps them")


def _advice(*, rare: bool) -> Message:
    """Say how to use a text all the same."""
    too = Message(" and give ", Argument("rare", 1)) if rare else ""
    return Message("name it in ", Argument("categorical"), too, " to use it")
