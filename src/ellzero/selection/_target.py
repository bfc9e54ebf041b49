"""What is predicted: read, checked, and said what it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ellzero._messages import Argument, Message
from ellzero.tables import Column, DataError, DateColumn, NumberColumn, TextColumn
from ellzero.tables._columns import number_text
from ellzero.tables._kinds import decimal_commas

__all__ = ["caution_target", "check_target", "read_target"]

_Floats = NDArray[np.float64]
# Whole numbers from 1 to this may be marks or grades.
_GRADES = 10


def read_target(column: Column) -> _Floats:
    """Return the numbers of the target."""
    if isinstance(column, TextColumn):
        example = f" (such as {column.levels[0]!r})" if column.levels else ""
        comma = Message(", or numbers with a decimal comma (", Argument("decimal", ","), ")")
        if len(column.levels or ()) == 2:
            zero, one = sorted(column.levels or ())
            raise DataError(
                f"The target {column.name!r} is binary, {zero!r} or {one!r}: write these as 0 and "
                "1 to have differences of probability by least squares."
            )
        raise DataError(
            f"The target {column.name!r} holds text{example}",
            comma if decimal_commas(column) else "",
            ": a number is needed to predict.",
        )
    if isinstance(column, DateColumn):
        raise DataError(f"The target {column.name!r} holds dates: a number is needed to predict.")
    assert isinstance(column, NumberColumn)
    if not column.values.size or column.n_missing == len(column.values):
        raise DataError(f"The target {column.name!r} has no values.")
    if np.isinf(column.values).any():
        raise DataError(f"The target {column.name!r} has infinite values.")
    return np.ascontiguousarray(column.values)


def check_target(y: _Floats, weights: _Floats | None, name: str) -> None:
    """Raise an error if a target is constant, or can't be squared."""
    if y.min() == y.max():
        raise DataError(f"The target {name!r} is the same in all rows: nothing to predict.")
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.average(y, weights=weights)
        sd = np.sqrt(np.average((y - mean) ** 2, weights=weights))
        total = sd**2 * (len(y) if weights is None else weights.sum())
    # What the core takes for rounding of the mean, and for squares that keep their digits
    if 0 < sd <= 8 * np.finfo(float).eps * abs(mean) < np.inf:
        raise DataError(
            f"The target {name!r} is the same in all rows, up to rounding: nothing to predict."
        )
    if not 1e-290 <= total < 1e300:
        how = "small" if sd < 1 else "large"
        raise DataError(f"The target {name!r} has values too {how} to be squared: rescale it.")


def caution_target(name: str, y: _Floats) -> list[str]:
    """Say what least squares means for a target that has two values or counts something."""
    values = np.unique(y)
    if len(values) == 2:
        low, high = (number_text(value) for value in values)
        return [
            f"The target {name!r} is binary ({low} or {high}). Least squares is used: it models "
            f"the probability of {high} by a straight line, so coefficients are differences of "
            "probability, and predictions may lie outside the two values."
            if (low, high) == ("0", "1")
            else f"The target {name!r} is binary ({low} or {high}). Least squares is used: it "
            f"models by a straight line how often it is {high}, and predictions may lie outside "
            "the two values."
        ]
    whole = bool(np.array_equal(values, np.floor(values)))
    from_zero = values[0] == 0 or (values[0] == 1 and values[-1] > _GRADES)
    if whole and from_zero and len(values) < len(y):
        return [
            f"The target {name!r} looks like a count (whole numbers from {values[0]:g} to "
            f"{values[-1]:g}). Least squares is used: it models the mean by a straight line, which "
            "may fall below zero, and large counts, which vary more, weigh most."
        ]
    return []
