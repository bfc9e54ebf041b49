"""From columns to what features are made of: rare levels are pooled, dates taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ellzero._messages import Argument, Message
from ellzero.tables._columns import DateColumn, NumberColumn, TextColumn
from ellzero.tables._date_parts import PARTS, DatePart, make_part
from ellzero.tables._dates import DATE_FORMATS
from ellzero.tables._digests import DateDigest
from ellzero.tables._errors import listed
from ellzero.tables._kinds import Remark, describe_levels, rare_reason, reference_level
from ellzero.tables._levels import Pool, least_rows, pool_rare
from ellzero.tables._read import Table

__all__ = ["Encoding", "encode_columns"]


@dataclass
class Encoding:
    """What was made of the columns of a table.

    Attributes
    ----------
    remarks : list of Remark
        What the columns of the file are taken for.
    predictors : list of str
        The columns to make features of.
    pools : dict of Pool
        The levels that count as one, for columns that have such.
    parts : dict of DatePart
        What is made of dates, by the name of the new column.
    notes : list of str
        What users should be told.
    """

    remarks: list[Remark]
    predictors: list[str] = field(default_factory=list)
    pools: dict[str, Pool] = field(default_factory=dict)
    parts: dict[str, DatePart] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def encode_columns(
    table: Table, remarks: Sequence[Remark], *, rare: int | None = None, dates: str = "leave"
) -> Encoding:
    """Pool rare levels and take dates apart.

    Parameters
    ----------
    table : Table
        The rows to be used. Categories with rare levels are replaced in it, and parts of dates
        added to it.
    remarks : sequence of Remark
        What its columns are taken for.
    rare : int, default=None
        Levels of fewer rows than this are pooled; None means 5, or 1% of the rows if that is more.
    dates : {"leave", "parts"}, default="leave"
        Whether dates, also those that order the rows, are taken apart.

    Returns
    -------
    Encoding
        The columns to make features of. Those that turn out to be of no use in these rows are
        left out.
    """
    least = least_rows(rare, table.n_rows)
    made = Encoding([])
    for remark in remarks:
        column = table.columns[remark.name]
        if isinstance(column, DateColumn) and remark.use in ("predictor", "time"):
            if dates == "parts" and column.calendar:
                remark = _take_apart(table, column, remark, least, made)
        elif isinstance(column, TextColumn) and remark.use == "predictor":
            reason = _pool(table, column, least, made)
            if reason:
                remark = replace(remark, use="left out", details=reason)
            else:
                pooled = table.columns[remark.name]
                assert isinstance(pooled, TextColumn)
                details = describe_levels(pooled, made.pools.get(remark.name))
                remark = replace(remark, details=details)
        elif remark.use == "predictor":
            made.predictors.append(remark.name)
        made.remarks.append(remark)
    made.notes = [*_say_pools(made, least), *(_say_dates(table, made) if dates == "parts" else [])]
    return made


def _pool(table: Table, column: TextColumn, least: int, made: Encoding) -> str:
    """Put a category into the table, its rare levels pooled; or say why it is of no use."""
    pooled, pool = pool_rare(column, least)
    if pool is not None and len(pooled.levels or []) == 1:
        return rare_reason(len(pool.rare), least) if len(pool.rare) > 1 else "constant"
    if len(pooled.levels or []) < 2:
        return "constant"
    table.columns[column.name] = pooled
    made.predictors.append(column.name)
    if pool is not None:
        made.pools[column.name] = pool
    return ""


def _take_apart(
    table: Table, column: DateColumn, remark: Remark, least: int, made: Encoding
) -> Remark:
    """Add parts of dates to a table; return what became of them."""
    used, useless = [], []
    for part in PARTS:
        name = f"{column.name} {part}"
        while name in table.columns:
            name += " (date)"
        values = (
            column.part(part, name)
            if isinstance(column, DateDigest)
            else make_part(column, part, name)
        )
        if isinstance(values, NumberColumn):
            ends = values.ends
            if ends is None or ends[0] == ends[1]:
                useless.append(f"{part} (constant)")
                continue
            table.columns[name] = values
            made.predictors.append(name)
            used.append(part)
        else:
            reason = _pool(table, values, least, made)
            if reason:
                useless.append(f"{part} ({'constant' if reason == 'constant' else 'all rare'})")
                continue
            pooled = table.columns[name]
            assert isinstance(pooled, TextColumn)
            reference = (pooled.levels or [])[reference_level(pooled)]
            used.append(f"{part} (reference {reference!r})")
        made.parts[name] = DatePart(column.name, part, column.day_first)
    left = f"; left out: {', '.join(useless)}" if useless else ""
    details = f"{remark.details}: {', '.join(used)}{left}" if used else f"{remark.details}{left}"
    if used or remark.use != "predictor":
        return replace(remark, details=details)
    return replace(remark, use="left out", details=f"a date; no part of it is of use{left}")


def _say_pools(made: Encoding, least: int) -> list[str]:
    if not made.pools:
        return []
    return [
        Message(
            f"Levels of fewer than {least:,} rows are pooled in {listed(made.pools)}: ",
            Argument("rare", 1),
            " keeps them apart.",
        )
    ]


def _say_dates(table: Table, made: Encoding) -> list[str]:
    """Say which texts might be dates, and that there are none at all."""
    notes: list[str] = []
    for remark in made.remarks:
        column = table.columns[remark.name]
        if isinstance(column, TextColumn) and column.undated:
            notes.append(
                Message(f"Column {remark.name!r} is text: ", column.undated, f"; {DATE_FORMATS}.")
            )
    if not notes and not any(isinstance(c, DateColumn) for c in table.columns.values()):
        notes.append(
            Message(Argument("dates", "parts"), f": no column holds dates; {DATE_FORMATS}.")
        )
    return notes
