"""What is predicted: read, checked, and said what it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero._messages import Argument, Message
from ellzero.regression._losses import Loss
from ellzero.tables import Column, DataError, DateColumn, NumberColumn, TextColumn
from ellzero.tables._columns import number_text
from ellzero.tables._kinds import decimal_commas

__all__ = [
    "Target",
    "caution_numbers",
    "caution_target",
    "check_spread",
    "check_target",
    "read_target",
]

_Floats = NDArray[np.float64]
# Two numbers that are closer, relatively, may differ by rounding.
_APART = 1e-12
# Whole numbers from 1 to this may be marks or grades.
_GRADES = 10


class Target(NamedTuple):
    """What is predicted.

    Attributes
    ----------
    y : ndarray
        Numbers; zeros and ones if it is binary.
    loss : Loss
        What a model of it loses.
    labels : tuple of two str, or None
        What zero and one stand for.
    """

    y: _Floats
    loss: Loss
    labels: tuple[str, str] | None = None


def read_target(column: Column, family: str = "auto") -> Target:
    """Return the target as what it is taken for."""
    if isinstance(column, TextColumn):
        return _read_text(column, family)
    if isinstance(column, DateColumn):
        raise DataError(f"The target {column.name!r} holds dates: a number is needed to predict.")
    assert isinstance(column, NumberColumn)
    if not column.values.size or column.n_missing == len(column.values):
        raise DataError(f"The target {column.name!r} has no values.")
    if np.isinf(column.values).any():
        raise DataError(f"The target {column.name!r} has infinite values.")
    y = np.ascontiguousarray(column.values)
    if family == "gaussian":
        return Target(y, Loss.SQUARED)
    if family == "poisson":
        if y.min() < 0:
            raise DataError(
                Argument("family", "poisson"),
                f" is for counts, but the target {column.name!r} has values below 0.",
            )
        if not y.max() > 0:
            raise DataError(f"The target {column.name!r} is 0 in all rows: nothing to predict.")
        return Target(y, Loss.POISSON)
    values = np.unique(y)
    apart = len(values) == 2 and values[1] - values[0] > _APART * np.abs(values).max()
    if apart:
        labels = (number_text(values[0]), number_text(values[1]))
        return Target((y == values[1]).astype(np.float64), Loss.LOGISTIC, labels)
    if family == "binomial":
        raise DataError(
            Argument("family", "binomial"),
            f" is for two values, but the target {column.name!r} has {len(values):,}.",
        )
    return Target(y, Loss.SQUARED)


def _read_text(column: TextColumn, family: str) -> Target:
    levels = column.levels or []
    used = sorted({levels[code] for code in np.unique(column.codes) if code >= 0})
    if len(used) == 2 and family in ("auto", "binomial"):
        second = levels.index(used[1])
        return Target(
            (column.codes == second).astype(np.float64), Loss.LOGISTIC, (used[0], used[1])
        )
    if len(used) == 2:
        zero, one = used
        raise DataError(
            f"The target {column.name!r} is binary, {zero!r} or {one!r}: write these as 0 and "
            "1 to have differences of probability by least squares."
        )
    if family == "binomial":
        raise DataError(
            Argument("family", "binomial"),
            f" is for two values, but the target {column.name!r} has {len(used):,}.",
        )
    example = f" (such as {levels[0]!r})" if levels else ""
    comma = Message(", or numbers with a decimal comma (", Argument("decimal", ","), ")")
    raise DataError(
        f"The target {column.name!r} holds text{example}",
        comma if decimal_commas(column) else "",
        ": a number is needed to predict, or one of two values.",
    )


def check_target(y: _Floats, weights: _Floats | None, name: str) -> None:
    """Raise an error if a target is constant, or can't be squared."""
    if y.min() == y.max():
        raise DataError(f"The target {name!r} is the same in all rows: nothing to predict.")
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.average(y, weights=weights)
        sd = np.sqrt(np.average((y - mean) ** 2, weights=weights))
        total = sd**2 * (len(y) if weights is None else weights.sum())
    check_spread(name, float(mean), float(sd), float(total))


def check_spread(name: str, mean: float, sd: float, total: float) -> None:
    """Raise an error if a target varies by no more than rounding, or can't be squared."""
    # What the core takes for rounding of the mean, and for squares that keep their digits
    if 0 < sd <= 8 * np.finfo(float).eps * abs(mean) < np.inf:
        raise DataError(
            f"The target {name!r} is the same in all rows, up to rounding: nothing to predict."
        )
    if not 1e-290 <= total < 1e300:
        how = "small" if sd < 1 else "large"
        raise DataError(f"The target {name!r} has values too {how} to be squared: rescale it.")


def caution_target(name: str, target: Target) -> list[str]:
    """Say what the target was taken for, where that may not be what users expect."""
    if target.loss is Loss.LOGISTIC:
        assert target.labels is not None
        low, high = target.labels
        return [
            Message(
                f"The target {name!r} is binary ({low} or {high}): the log-odds of {high} are "
                "modelled, by logistic regression. ",
                Argument("family", "gaussian"),
                " is least squares.",
            )
        ]
    if target.loss is Loss.POISSON:
        return [
            f"The target {name!r} is taken for a count: the logarithm of its mean is modelled, by "
            "Poisson regression."
        ]
    values = np.unique(target.y)
    repeats = len(values) < len(target.y)
    whole = bool(np.array_equal(values, np.floor(values)))
    return caution_numbers(
        name, values[0], values[-1], two=len(values) == 2, count=whole and repeats
    )


def caution_numbers(name: str, low: float, high: float, *, two: bool, count: bool) -> list[str]:
    """Say that least squares is used for two values, or for what may be counts."""
    if two:
        words = (number_text(low), number_text(high))
        return [
            f"The target {name!r} is binary ({words[0]} or {words[1]}). Least squares is used: it "
            f"models the probability of {words[1]} by a straight line, so coefficients are "
            "differences of probability, and predictions may lie outside the two values."
            if words == ("0", "1")
            else f"The target {name!r} is binary ({words[0]} or {words[1]}). Least squares is "
            f"used: it models by a straight line how often it is {words[1]}, and predictions may "
            "lie outside the two values."
        ]
    if count and (low == 0 or (low == 1 and high > _GRADES)):
        return [
            Message(
                f"The target {name!r} looks like a count (whole numbers from {low:g} to "
                f"{high:g}). Least squares is used: it models the mean by a straight line, "
                "which may fall below zero, and large counts, which vary more, weigh most. ",
                Argument("family", "poisson"),
                " models the logarithm of the mean.",
            )
        ]
    return []
