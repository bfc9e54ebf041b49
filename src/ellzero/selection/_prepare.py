"""From a table to what a search needs: a response, weights, a plan of features, and rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ellzero._messages import Argument
from ellzero.regression._losses import Loss
from ellzero.selection._judge import total_squares
from ellzero.selection._settings import Settings
from ellzero.selection._splits import hold_out
from ellzero.selection._target import Target, caution_target, check_target, read_target
from ellzero.tables import (
    Column,
    DataError,
    NumberColumn,
    Plan,
    Remark,
    Table,
    TextColumn,
    ValueColumn,
    encode_columns,
    judge_columns,
    make_plan,
)
from ellzero.tables._dates import DATE_FORMATS
from ellzero.tables._errors import listed

__all__ = [
    "LARGEST",
    "PreparedTable",
    "check_arguments",
    "check_forced",
    "check_roles",
    "columns_with_gaps",
    "judge",
    "prepare",
    "say_gone",
]

_Floats = NDArray[np.float64]
# Deviations from the mean of larger numbers, and sums of them, may be infinite.
LARGEST = 1e300


@dataclass
class PreparedTable:
    """A table ready to be searched.

    Attributes
    ----------
    table : Table
        The predictors of the rows to fit on.
    y : ndarray
        Their response.
    weights : ndarray or None
        Their weights.
    groups : ndarray of int or None
        A number per row; rows of one number stay together in folds.
    times : ndarray or None
        What folds are ordered by.
    plan : Plan
        The features.
    remarks : list of Remark
        What the columns were taken for.
    held_out : tuple or None
        The rows that are kept for the test: their table, response and weights.
    notes : list of str
        What users should be told.
    n_read : int
        Number of rows in the file.
    loss : Loss
        What a model of the response loses.
    labels : tuple of two str, or None
        What zero and one stand for, if it is binary.
    """

    table: Table
    y: _Floats
    weights: _Floats | None
    groups: NDArray[np.int64] | None
    times: _Floats | None
    plan: Plan
    remarks: list[Remark]
    held_out: tuple[Table, _Floats, _Floats | None] | None
    n_read: int
    notes: list[str] = field(default_factory=list)
    loss: Loss = Loss.SQUARED
    labels: tuple[str, str] | None = None

    @property
    def n_fitted(self) -> int:
        """Rows to fit on."""
        return len(self.y)

    @property
    def weight(self) -> float:
        """What they weigh."""
        return float(len(self.y)) if self.weights is None else float(self.weights.sum())

    @property
    def mean(self) -> float:
        """The mean of their response."""
        return float(np.average(self.y, weights=self.weights))

    @property
    def total(self) -> float:
        """The sum of squares of their response about its mean."""
        return total_squares(self.y, self.weights)


def prepare(table: Table, settings: Settings) -> PreparedTable:
    """Check a table and plan what is made of it.

    Parameters
    ----------
    table : Table
        As it was read.
    settings : Settings
        What is asked.

    Returns
    -------
    PreparedTable
        What a search needs.
    """
    check_arguments(settings)
    check_roles(table, settings)
    table = replace(table, columns=dict(table.columns))  # some become texts, in ours only
    remarks = judge(table, settings)
    n_read = table.n_rows
    table, notes = _without_gaps(table, remarks, settings)
    target = read_target(table.columns[settings.target], settings.family)
    _check_family(target, settings)
    y = target.y
    if len(y) < 2:
        raise DataError(f"{table.name} has one row to fit on: at least two are needed.")
    weights = _weights(table, settings)
    groups = _groups(table.columns[settings.groups]) if settings.groups else None
    times = _times(table.columns[settings.time]) if settings.time else None
    _check_infinite(table, remarks)
    # Of all these rows, whether fitted on or held out: levels say nothing of the target.
    encoding = encode_columns(table, remarks, rare=settings.rare, dates=settings.dates)
    remarks = encoding.remarks
    check_forced(remarks, settings)
    plan = make_plan(table, remarks, settings.missing, settings.interactions, encoding)
    table = replace(table, columns={name: table.columns[name] for name in encoding.predictors})
    held_out = None
    if settings.test_share > 0:
        train, test = hold_out(settings.test_share, len(y), groups, times, settings.seed)
        test_weights = None if weights is None else weights[test]
        held_out = (table.take(test), y[test], test_weights)
        table, y = table.take(train), y[train]
        weights = None if weights is None else weights[train]
        groups = None if groups is None else groups[train]
        times = None if times is None else times[train]
    if len(y) < 2:
        raise DataError(
            Argument("test_share"), " leaves one row to fit on: at least two are needed."
        )
    if weights is not None and not weights.any():
        raise DataError(Argument("test_share"), " leaves only rows of weight 0 to fit on.")
    if held_out is not None and held_out[2] is not None and not held_out[2].any():
        raise DataError(Argument("test_share"), " leaves only rows of weight 0 to test on.")
    if weights is not None and not settings.frequency:
        weights = weights * (len(weights) / weights.sum())
    check_target(y, weights, settings.target)
    notes = [*caution_target(settings.target, target._replace(y=y)), *notes, *plan.notes]
    return PreparedTable(
        table,
        y,
        weights,
        groups,
        times,
        plan,
        remarks,
        held_out,
        n_read,
        notes,
        target.loss,
        target.labels,
    )


def _check_family(target: Target, settings: Settings) -> None:
    """Refuse what is there for least squares alone."""
    if not target.loss.is_likelihood:
        return
    what = "a binary target" if target.loss is Loss.LOGISTIC else Argument("family", "poisson")
    for argument in ("posterior", "prove"):
        if argument == "posterior" and target.loss is Loss.LOGISTIC:
            continue
        if getattr(settings, argument):
            raise DataError(
                Argument(argument),
                " is not there for ",
                what,
                ": ",
                Argument("family", "gaussian"),
                " has it, for least squares.",
            )


def check_arguments(settings: Settings) -> None:
    """Raise if an argument is none of those that there are."""
    if settings.rare is not None and settings.rare < 0:
        raise DataError(Argument("rare"), " must be a whole number from 0 up.")
    if settings.dates not in ("leave", "parts"):
        raise DataError(Argument("dates"), " must be 'leave' or 'parts'.")


def judge(table: Table, settings: Settings) -> list[Remark]:
    """Say what each column is taken for; some become texts in the table."""
    always = (*settings.force, *settings.flat)
    keep = (*settings.keep, *(name for name in always if name in table.columns))
    remarks = judge_columns(
        table,
        settings.roles,
        categorical=settings.categorical,
        keep=keep,
        rare=settings.rare,
        dates=settings.dates,
    )
    check_forced(remarks, settings)
    return remarks


def check_roles(table: Table, settings: Settings) -> None:
    """Raise if columns that have a role are not there, or have two."""
    if not table.n_rows:
        raise DataError(f"{table.name} has no rows.")
    named = {role: getattr(settings, role) for role in ("target", "weights", "groups", "time")}
    for argument, name in named.items():
        if name is not None and name not in table.columns:
            raise DataError(
                f"{table.name} has no column {name!r}, which ",
                Argument(argument),
                f" names; it has {listed(table.columns, 8)}.",
            )
    roles = [name for name in named.values() if name is not None]
    twice = [name for name in dict.fromkeys(roles) if roles.count(name) > 1]
    if twice:
        raise DataError(f"Column {twice[0]!r} can't have two roles.")


def check_forced(remarks: Sequence[Remark], settings: Settings) -> None:
    """Raise if a column that is forced in can't be used."""
    named = dict.fromkeys(settings.flat, "flat") | dict.fromkeys(settings.force, "force")
    for remark in remarks:
        if remark.use == "left out" and remark.name in named:
            raise DataError(
                Argument(named[remark.name]),
                f": column {remark.name!r} can't be used: ",
                remark.details,
                ".",
            )


def columns_with_gaps(table: Table, remarks: Sequence[Remark], settings: Settings) -> list[str]:
    """Return the columns whose missing values make rows be left out, as far as was asked for."""
    used = [remark for remark in remarks if remark.use != "left out" and remark.n_missing]
    if used and settings.missing == "error":
        counts = [f"{remark.name!r} ({remark.n_missing:,})" for remark in used]
        shown = ", ".join(counts[:8]) + (f" and {len(counts) - 8} more" if counts[8:] else "")
        raise DataError(
            f"Values are missing in {shown} of {table.n_rows:,} rows: say what to do about them "
            "with ",
            Argument("missing", "drop"),
            ", mean or indicator.",
        )
    every = settings.missing == "drop"
    return [remark.name for remark in used if every or remark.use != "predictor"]


def say_gone(table: Table, gone: int, settings: Settings) -> list[str]:
    """Say how many rows are left out; raise if all are."""
    if not gone:
        return []
    if gone == table.n_rows:
        raise DataError(f"{table.name}: every row has a missing value.")
    every = settings.missing == "drop"
    where = "a value" if every else "the target, the weight, the group or the time"
    return [f"{gone:,} of {table.n_rows:,} rows left out, where {where} is missing."]


def _without_gaps(
    table: Table, remarks: Sequence[Remark], settings: Settings
) -> tuple[Table, list[str]]:
    """Leave out rows with missing values, as far as was asked for."""
    gone = np.zeros(table.n_rows, dtype=bool)
    for name in columns_with_gaps(table, remarks, settings):
        gone |= table.columns[name].missing
    notes = say_gone(table, int(gone.sum()), settings)
    return (table.take(np.flatnonzero(~gone)) if notes else table), notes


def _weights(table: Table, settings: Settings) -> _Floats | None:
    if settings.weights is None:
        return None
    column = table.columns[settings.weights]
    if not isinstance(column, NumberColumn):
        raise DataError(Argument("weights"), f": column {column.name!r} does not hold numbers.")
    values = column.values
    if not np.isfinite(values).all() or (values < 0).any() or not values.any():
        raise DataError(
            Argument("weights"),
            f": column {column.name!r} must hold numbers from 0 up, not all of them 0.",
        )
    with np.errstate(over="ignore"):
        if not np.isfinite(values.sum()):
            raise DataError(
                Argument("weights"), f": column {column.name!r} is too large to be summed."
            )
    if settings.frequency and not np.array_equal(values, np.floor(values)):
        raise DataError(
            Argument("frequency"),
            f": column {column.name!r} must hold whole numbers; without ",
            Argument("frequency"),
            " weights are rescaled to sum to the number of rows.",
        )
    return values.copy()


def _groups(column: Column) -> NDArray[np.int64]:
    if isinstance(column, TextColumn):
        return column.codes.astype(np.int64)
    assert isinstance(column, ValueColumn)
    _, codes = np.unique(column.values, return_inverse=True)
    return codes.reshape(-1).astype(np.int64)


def _times(column: Column) -> _Floats:
    if isinstance(column, TextColumn):
        example = f" (such as {column.levels[0]!r})" if column.levels else ""
        raise DataError(
            Argument("time"),
            f": column {column.name!r} holds ",
            column.undated or f"text, not dates or numbers{example}",
            f"; {DATE_FORMATS}.",
        )
    assert isinstance(column, ValueColumn)
    return column.values.copy()


def _check_infinite(table: Table, remarks: Sequence[Remark]) -> None:
    for remark in remarks:
        column = table.columns.get(remark.name)
        if remark.use == "predictor" and isinstance(column, NumberColumn):
            count = int(np.isinf(column.values).sum())
            if count:
                raise DataError(
                    f"Column {remark.name!r} has {count:,} infinite value{'s' * (count > 1)}: "
                    "leave it out with ",
                    Argument("drop"),
                    ", or say with ",
                    Argument("na"),
                    " what stands for missing.",
                )
            if np.abs(column.values).max(initial=0.0, where=~column.missing) > LARGEST:
                raise DataError(
                    f"Column {remark.name!r} has values too large to be computed with: rescale it, "
                    "or leave it out with ",
                    Argument("drop"),
                    ".",
                )
