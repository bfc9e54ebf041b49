"""What is known of a column from a pass over its rows: enough to say what it is taken for.

Facts of stretches of rows are put together by `then`, in the order of the rows; all of them are
plain numbers and texts, so that they can be written to a file.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.tables._columns import MOST_LEVELS, DateColumn, NumberColumn, TextColumn
from ellzero.tables._date_parts import PARTS, make_part
from ellzero.tables._dates import TextDates, WrittenDates
from ellzero.tables._identifiers import Numbering

__all__ = ["DateFacts", "Facts", "NumberFacts", "TextFacts", "facts_from"]

_Floats = NDArray[np.float64]


@dataclass
class NumberFacts:
    """What is known of numbers.

    Attributes
    ----------
    rows, n_missing, n_infinite : int
        Rows, those without a value, and those with an infinite one.
    low, high : float
        The least and the largest value.
    few : list of float
        The different values, if they are two at most; else three of them.
    numbering : Numbering
        How they follow each other.
    weight, shift, total : float
        The weight of the rows with a value, a number near these, and the weighted sum of what they
        differ from it.
    """

    rows: int = 0
    n_missing: int = 0
    n_infinite: int = 0
    low: float = math.inf
    high: float = -math.inf
    few: list[float] = field(default_factory=list)
    numbering: Numbering = field(default_factory=Numbering)
    weight: float = 0.0
    shift: float = 0.0
    total: float = 0.0

    @classmethod
    def of(cls, values: _Floats, weights: _Floats | None = None) -> NumberFacts:
        """Look at some rows."""
        missing = np.isnan(values)
        n_missing = int(np.count_nonzero(missing))
        present = values[~missing] if n_missing else values
        if not present.size:
            return cls.of_nothing(len(values))
        own = None if weights is None else weights[~missing] if n_missing else weights
        low, high = float(present.min()), float(present.max())
        few = [low] if low == high else [low, high]
        if low != high:
            others = (present != low) & (present != high)
            few += [float(present[others.argmax()])] if others.any() else []
        finite = math.isfinite(low) and math.isfinite(high)
        shift = float(present[0]) if finite else 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            away = present - shift
            total = float(away.sum() if own is None else own @ away) if finite else 0.0
        return cls(
            len(values),
            n_missing,
            0 if finite else int(np.isinf(present).sum()),
            low,
            high,
            few,
            Numbering.of(values),
            float(present.size if own is None else own.sum()),
            shift,
            total,
        )

    @classmethod
    def of_nothing(cls, rows: int) -> NumberFacts:
        """Return those of rows without values."""
        return cls(rows, rows, numbering=Numbering(rows))

    @property
    def mean(self) -> float:
        """The mean of the values; 0 if there is none of positive weight."""
        return self.shift + self.total / self.weight if self.weight > 0 else 0.0

    def then(self, other: NumberFacts) -> NumberFacts:
        """Return those of both."""
        if self.rows == self.n_missing:
            shift, total = other.shift, other.total
        else:
            shift = self.shift
            total = self.total + (other.total + other.weight * (other.shift - shift))
        return NumberFacts(
            self.rows + other.rows,
            self.n_missing + other.n_missing,
            self.n_infinite + other.n_infinite,
            min(self.low, other.low),
            max(self.high, other.high),
            list(dict.fromkeys([*self.few, *other.few]))[:3],
            self.numbering.then(other.numbering),
            self.weight + other.weight,
            shift,
            total,
        )


@dataclass
class TextFacts:
    """What is known of texts.

    Attributes
    ----------
    rows, n_missing : int
        Rows, and those without a value.
    counts, weights : dict
        The rows of every level, and their weight.
    limited : bool
        Whether more than 10,000 levels are too many.
    many : bool
        Whether there are too many, so that they are not kept.
    dates : dict or None
        What is known of the texts as dates; None if they are none.
    orders : list of DateFacts
        What they are if the day comes first, and if the month does.
    """

    rows: int = 0
    n_missing: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    limited: bool = True
    many: bool = False
    dates: dict[str, Any] | None = None
    orders: list[DateFacts] = field(default_factory=list)

    @classmethod
    def of(
        cls, column: TextColumn, weights: _Floats | None = None, *, limited: bool = True
    ) -> TextFacts:
        """Look at some rows."""
        levels, counts = column.levels or [], column.counts
        codes = column.codes
        heavy = (
            counts.astype(np.float64)
            if weights is None
            else np.bincount(codes[codes >= 0], weights[codes >= 0], minlength=len(levels))
        )
        return cls(
            column.n_rows,
            column.n_missing,
            {level: int(n) for level, n in zip(levels, counts, strict=True) if n},
            {level: float(w) for level, w, n in zip(levels, heavy, counts, strict=True) if n},
            limited,
        )._cut()

    @classmethod
    def of_nothing(cls, rows: int, *, limited: bool = True) -> TextFacts:
        """Return those of rows without values."""
        return cls(rows, rows, limited=limited)

    def _cut(self) -> TextFacts:
        if self.limited and len(self.counts) > MOST_LEVELS:
            self.counts, self.weights, self.many = {}, {}, True
        return self

    def then(self, other: TextFacts) -> TextFacts:
        """Return those of both."""
        counts, weights = dict(self.counts), dict(self.weights)
        for level, count in other.counts.items():
            counts[level] = counts.get(level, 0) + count
            weights[level] = weights.get(level, 0.0) + other.weights[level]
        many = self.many or other.many
        dates = _both_dates(self, other)
        made = TextFacts(
            self.rows + other.rows,
            self.n_missing + other.n_missing,
            {} if many else counts,
            {} if many else weights,
            self.limited,
            many,
            dates,
        )
        if dates is not None:
            pairs = zip(self._as_dates(), other._as_dates(), strict=True)
            made.orders = [one.then(two) for one, two in pairs]
        return made._cut()

    def _as_dates(self) -> list[DateFacts]:
        return self.orders or [DateFacts(self.rows, self.rows)] * 2


def _both_dates(one: TextFacts, two: TextFacts) -> dict[str, Any] | None:
    """Return what is known of all texts as dates; None if they are none."""
    known = [facts for facts in (one, two) if facts.rows > facts.n_missing]
    if not known or any(facts.dates is None for facts in known):
        return None
    states = [facts.dates for facts in known if facts.dates is not None]
    dates = TextDates.from_state(states[0])
    for state in states[1:]:
        dates.absorb(TextDates.from_state(state))
    return dates.state() if dates.possible else None


@dataclass
class DateFacts:
    """What is known of dates.

    Attributes
    ----------
    rows, n_missing : int
        Rows, and those without a value.
    calendar : bool
        False for times of a day and durations.
    low, high, local_low, local_high : float
        The first and the last, in seconds, and what calendar and clock showed.
    year, month, weekday : NumberFacts or TextFacts, or None
        What is known of these parts, if they were looked at.
    """

    rows: int = 0
    n_missing: int = 0
    calendar: bool = True
    low: float = math.inf
    high: float = -math.inf
    local_low: float = math.inf
    local_high: float = -math.inf
    year: NumberFacts | None = None
    month: TextFacts | None = None
    weekday: TextFacts | None = None

    @classmethod
    def of(cls, column: DateColumn, weights: _Floats | None, *, parts: bool) -> DateFacts:
        """Look at some rows."""
        ends, local = column.ends, column.local_ends
        made = cls(column.n_rows, column.n_missing, column.calendar)
        if ends is not None and local is not None:
            (made.low, made.high), (made.local_low, made.local_high) = ends, local
        if parts and column.calendar:
            for part in PARTS:
                values = make_part(column, part, part)
                facts = (
                    NumberFacts.of(values.values, weights)
                    if isinstance(values, NumberColumn)
                    else TextFacts.of(values, weights)
                )
                setattr(made, part, facts)
        return made

    def then(self, other: DateFacts) -> DateFacts:
        """Return those of both."""
        made = DateFacts(
            self.rows + other.rows,
            self.n_missing + other.n_missing,
            self.calendar if self.rows > self.n_missing else other.calendar,
            min(self.low, other.low),
            max(self.high, other.high),
            min(self.local_low, other.local_low),
            max(self.local_high, other.local_high),
        )
        for part in PARTS:
            one, two = getattr(self, part), getattr(other, part)
            if one is not None or two is not None:
                empty: Any = NumberFacts.of_nothing if part == "year" else TextFacts.of_nothing
                one = empty(self.rows) if one is None else one
                two = empty(other.rows) if two is None else two
                setattr(made, part, one.then(two))
        return made


Facts = NumberFacts | TextFacts | DateFacts


def look_at_dates(
    words: Any, codes: NDArray[np.int64], weights: _Floats | None, *, parts: bool
) -> tuple[dict[str, Any] | None, list[DateFacts]]:
    """Return what is known of texts as dates: of different ones, and which each row has."""
    dates = TextDates()
    dates.add(words, codes)
    if not dates.possible:
        return None, []
    return dates.state(), [
        DateFacts.of(_as_column(order), weights, parts=parts) for order in dates.orders()
    ]


def _as_column(written: WrittenDates) -> DateColumn:
    return DateColumn("", written.values, written.offsets)


def facts_from(content: dict[str, Any]) -> Facts:
    """Return facts of what `dataclasses.asdict` made of them."""
    if "few" in content:
        return NumberFacts(**{**content, "numbering": Numbering(**content["numbering"])})
    if "counts" in content:
        orders = [facts_from(order) for order in content["orders"]]
        return TextFacts(**{**content, "orders": orders})
    parts = {name: None if content[name] is None else facts_from(content[name]) for name in PARTS}
    return DateFacts(**{**content, **parts})


def facts_to(facts: Facts) -> dict[str, Any]:
    """Return plain numbers and texts."""
    return asdict(facts)
