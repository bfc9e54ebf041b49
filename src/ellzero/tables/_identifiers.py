"""Columns that say which row it is, not what it is like.

Numbers are taken for an identifier if they are whole and

- run from 0 or 1 to the number of rows, in order, whatever the column is called;
- or have more than two different values, in a column called ``id``, ``patient_id``, ``uuid`` or so,
  or by a name that software gives to what number its rows: they may repeat, as in a panel;
- or grow from row to row, in a column called ``row``, ``index``, ``case``, ``no`` or so, which may
  as well be a measurement: one by one, or with the gaps that rows leave that were dropped, from
  less than half the number of rows on. (A price index that only rises starts at 100.)

A text is one if at least 80% of its values differ, or by the second of these rules.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

__all__ = ["names_identifier", "numbers_rows", "tell_apart"]

# With fewer rows, whole numbers that grow need not be an identifier.
_FEW_ROWS = 10
_IDENTIFIER = re.compile(
    r"(.*[\W_])?(id|ids|uuid|guid|row[\W_]?(id|no|nr|number|names?))"
    r"|id[\W_].*"
    r"|(user|patient|subject|customer|person|case|record|sample|student)id",
    re.IGNORECASE,
)
_IN_CAPITALS = re.compile(r".*[a-z](Id|ID|Ids|IDs|UUID|Uuid)")
# What a column without a name is called by pandas, by R and here, and in Parquet by pandas
_INDEX = re.compile(r"|Unnamed: 0(\.\d+)?|\.\.\.1|\(unnamed 1\)|__index_level_\d+__")
_ROW = re.compile(r"(.*[\W_])?(rows?|index|idx|obs|case|record|key|nr|no|seq)\.?|#", re.IGNORECASE)


def names_identifier(name: str) -> bool:
    """Whether a column of this name identifies rows, or what they belong to."""
    return any(pattern.fullmatch(name.strip()) for pattern in (_IDENTIFIER, _IN_CAPITALS, _INDEX))


def numbers_rows(name: str, values: NDArray[np.float64]) -> bool:
    """Whether numbers are an identifier; NaN where there is none."""
    rows = np.flatnonzero(~np.isnan(values))
    present = values[rows]
    if not np.isfinite(present).all() or not np.array_equal(present, np.floor(present)):
        return False
    if names_identifier(name):
        return np.unique(present).size > 2
    if present.size < _FEW_ROWS:
        return False
    if present[0] > present[-1]:  # the last row comes first
        present, rows = present[::-1], len(values) - 1 - rows[::-1]
    if np.all(present - rows == 0) or np.all(present - rows == 1):
        return True
    steps = np.diff(present)
    if not _ROW.fullmatch(name.strip()) or steps.min() < 1:
        return False
    return bool(steps.max() == 1 or 0 <= present[0] < present.size / 2)


def tell_apart(n_different: int, n_values: int) -> bool:
    """Whether so many values differ that they tell rows apart: at least 80%."""
    return 5 * n_different >= 4 * n_values
