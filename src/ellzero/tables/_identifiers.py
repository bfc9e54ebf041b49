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

import math
import re
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["Numbering", "names_identifier", "numbers_rows", "tell_apart"]

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


@dataclass
class Numbering:
    """How whole numbers follow each other from row to row, in rows that may be read in stretches.

    Attributes
    ----------
    rows, count : int
        All rows, and those with a value.
    whole : bool
        Whether all values are finite whole numbers; if not, nothing else is known.
    first, last : float
        The first and the last value.
    minus, plus : float
        The value less the number of its row, or with it, if that is the same in all; else NaN.
    least, most : float
        The least and the largest step from a value to the next.
    """

    rows: int = 0
    count: int = 0
    whole: bool = True
    first: float = math.nan
    last: float = math.nan
    minus: float = math.nan
    plus: float = math.nan
    least: float = math.inf
    most: float = -math.inf

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Numbering:
        """Look at numbers; NaN where there is none."""
        known = ~np.isnan(values)
        rows = np.flatnonzero(known)
        present = values if rows.size == values.size else values[known]
        if not present.size:
            return cls(len(values))
        if not np.isfinite(present).all() or not np.array_equal(present, np.floor(present)):
            return cls(len(values), len(present), whole=False)
        minus, plus = present - rows, present + rows
        steps: NDArray[np.float64] = np.diff(present).astype(np.float64, copy=False)
        return cls(
            len(values),
            len(present),
            True,
            float(present[0]),
            float(present[-1]),
            float(minus[0]) if np.all(minus == minus[0]) else math.nan,
            float(plus[0]) if np.all(plus == plus[0]) else math.nan,
            float(steps.min(initial=math.inf)),
            float(steps.max(initial=-math.inf)),
        )

    def then(self, other: Numbering) -> Numbering:
        """Return that of both, the rows of the other after these."""
        rows, count = self.rows + other.rows, self.count + other.count
        if not (self.whole and other.whole):
            return Numbering(rows, count, whole=False)
        minus, plus = other.minus - self.rows, other.plus + self.rows
        if not self.count or not other.count:
            some = self if self.count else replace(other, minus=minus, plus=plus)
            return replace(some, rows=rows)
        step = other.first - self.last
        return Numbering(
            rows,
            count,
            True,
            self.first,
            other.last,
            minus if minus == self.minus else math.nan,
            plus if plus == self.plus else math.nan,
            min(self.least, other.least, step),
            max(self.most, other.most, step),
        )

    def numbers_rows(self, name: str, several: bool) -> bool:
        """Whether the numbers are an identifier; ``several`` if more than two of them differ."""
        if not self.whole:
            return False
        if names_identifier(name):
            return several
        if self.count < _FEW_ROWS:
            return False
        first, minus, least, most = self.first, self.minus, self.least, self.most
        if first > self.last:  # the last row comes first
            first, minus = self.last, self.plus - (self.rows - 1)
            least, most = -most, -least
        if minus in (0, 1):
            return True
        if not _ROW.fullmatch(name.strip()) or least < 1:
            return False
        return bool(most == 1 or 0 <= first < self.count / 2)


def numbers_rows(name: str, values: NDArray[np.float64]) -> bool:
    """Whether numbers are an identifier; NaN where there is none."""
    several = names_identifier(name) and np.unique(values[~np.isnan(values)]).size > 2
    return Numbering.of(values).numbers_rows(name, several)


def tell_apart(n_different: int, n_values: int) -> bool:
    """Whether so many values differ that they tell rows apart: at least 80%."""
    return 5 * n_different >= 4 * n_values
