"""Columns of which facts are known, but no rows: they are judged and encoded like others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ellzero.tables._columns import Column, DateColumn, NumberColumn, TextColumn
from ellzero.tables._date_parts import MONTHS, WEEKDAYS
from ellzero.tables._dates import TextDates
from ellzero.tables._facts import DateFacts, Facts, NumberFacts, TextFacts

__all__ = ["DateDigest", "NumberDigest", "TextDigest", "make_digest"]

_NO_VALUES = np.empty(0)
_NO_CODES = np.empty(0, dtype=np.int32)


class NumberDigest(NumberColumn):
    """Numbers."""

    def __init__(self, name: str, facts: NumberFacts) -> None:
        super().__init__(name, _NO_VALUES)
        self.facts, self.n_missing = facts, facts.n_missing

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.facts.rows

    @property
    def ends(self) -> tuple[float, float] | None:
        """The least and the largest value; None if there is none."""
        return (self.facts.low, self.facts.high) if self.facts.few else None

    @property
    def numbers_rows(self) -> bool:
        """Whether it is an identifier, by its name and its values."""
        return self.facts.numbering.numbers_rows(self.name, len(self.facts.few) > 2)

    @property
    def repeats(self) -> bool:
        """Whether some value is there more than once: unless they rise or fall throughout."""
        numbering = self.facts.numbering
        return not (numbering.least > 0 or numbering.most < 0)

    @property
    def two_valued(self) -> bool:
        """Whether there are two different values at most."""
        return len(self.facts.few) < 3


class TextDigest(TextColumn):
    """Texts: how many rows each level has, and their weight."""

    def __init__(
        self,
        name: str,
        levels: list[str] | None,
        counts: NDArray[np.int64],
        weights: NDArray[np.float64],
        n_rows: int,
        n_missing: int,
        undated: str = "",
    ) -> None:
        super().__init__(name, _NO_CODES, levels, undated)
        self._counts, self.weights = counts, weights
        self._n_rows, self.n_missing = n_rows, n_missing

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self._n_rows

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows each level has."""
        return self._counts

    def recode(self, levels: list[str], rest: int) -> TextDigest:
        """Return the same in other levels; ``rest`` is the number of all not among them."""
        counts, weights = np.zeros(len(levels), dtype=np.int64), np.zeros(len(levels))
        codes = self.new_codes(levels, rest)
        for code, count, weight in zip(codes, self._counts, self.weights, strict=True):
            if code >= 0:
                counts[code] += count
                weights[code] += weight
        missing = self._n_rows - int(counts.sum())
        return TextDigest(self.name, levels, counts, weights, self._n_rows, missing, self.undated)

    def mean(self, level: str) -> float:
        """Return the share of a level among rows with a value."""
        total = float(self.weights.sum())
        return float(self.weights[(self.levels or []).index(level)]) / total if total else 0.0


class DateDigest(DateColumn):
    """Dates."""

    def __init__(self, name: str, facts: DateFacts, day_first: bool | None = None) -> None:
        super().__init__(name, _NO_VALUES, None, facts.calendar, day_first)
        self.facts, self.n_missing = facts, facts.n_missing

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.facts.rows

    @property
    def ends(self) -> tuple[float, float] | None:
        """The first and the last; None if there is none."""
        known = self.facts.rows > self.facts.n_missing
        return (self.facts.low, self.facts.high) if known else None

    @property
    def local_ends(self) -> tuple[float, float] | None:
        """The first and the last that calendar and clock showed; None if there is none."""
        known = self.facts.rows > self.facts.n_missing
        return (self.facts.local_low, self.facts.local_high) if known else None

    def part(self, part: str, name: str) -> NumberColumn | TextColumn:
        """Return what is known of the year, the month or the weekday."""
        facts = getattr(self.facts, part)
        if part == "year":
            return NumberDigest(name, facts)
        return _make_text(name, facts, MONTHS if part == "month" else WEEKDAYS)


def make_digest(name: str, facts: Facts) -> Column:
    """Return the column that facts are known of."""
    if isinstance(facts, NumberFacts):
        return NumberDigest(name, facts)
    if isinstance(facts, DateFacts):
        return DateDigest(name, facts)
    undated = ""
    if facts.dates is not None:
        found = TextDates.from_state(facts.dates).finish()
        if not isinstance(found, str):
            day, month = facts.orders
            return DateDigest(name, month if found.day_first is False else day, found.day_first)
        undated = found
    return _make_text(name, facts, None, undated)


def _make_text(
    name: str, facts: TextFacts, levels: list[str] | None, undated: str = ""
) -> TextDigest:
    known = sorted(facts.counts) if levels is None else list(levels)
    counts = np.array([facts.counts.get(level, 0) for level in known], dtype=np.int64)
    weights = np.array([facts.weights.get(level, 0.0) for level in known])
    return TextDigest(
        name,
        None if facts.many else known,
        counts,
        weights,
        facts.rows,
        facts.n_missing,
        undated,
    )
