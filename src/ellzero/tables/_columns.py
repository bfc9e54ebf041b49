"""Columns in memory, gathered from batches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ellzero.tables._arrays import Growing, MostlyZero, to_numpy
from ellzero.tables._dates import TextDates, WrittenDates
from ellzero.tables._identifiers import numbers_rows

__all__ = [
    "Column",
    "DateColumn",
    "Gatherer",
    "NumberColumn",
    "TextColumn",
    "ValueColumn",
    "number_text",
    "numbers_of",
]

# A text of more different values than this is no category, and they are not kept.
MOST_LEVELS = 10_000


@dataclass
class Column:
    """A column of a table.

    Attributes
    ----------
    name : str
        Its name.
    """

    name: str

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        raise NotImplementedError

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.missing)

    @cached_property
    def n_missing(self) -> int:
        """How many rows have no value."""
        return int(np.count_nonzero(self.missing))

    def take(self, rows: NDArray[np.int64]) -> Column:
        """Return the same for some of the rows."""
        raise NotImplementedError


@dataclass
class ValueColumn(Column):
    """Numbers or times, NaN where there are none."""

    values: NDArray[np.float64]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        return np.isnan(self.values)

    @property
    def ends(self) -> tuple[float, float] | None:
        """The least and the largest value; None if there is none."""
        present = self.values[~self.missing] if self.n_missing else self.values
        return (float(present.min()), float(present.max())) if present.size else None

    def take(self, rows: NDArray[np.int64]) -> Self:
        """Return the same for some of the rows."""
        return type(self)(self.name, self.values[rows])


class NumberColumn(ValueColumn):
    """Numbers, NaN where there are none."""

    @property
    def numbers_rows(self) -> bool:
        """Whether it is an identifier, by its name and its values."""
        return numbers_rows(self.name, self.values)

    @property
    def repeats(self) -> bool:
        """Whether some value is there more than once."""
        present = self.values[~self.missing]
        return bool(np.unique(present).size < present.size)

    @property
    def two_valued(self) -> bool:
        """Whether there are two different values at most."""
        present = self.values[~self.missing]
        return bool(np.all((present == present.min()) | (present == present.max())))

    def as_text(self) -> TextColumn:
        """Return the numbers as categories."""
        found, codes = np.unique(self.values, return_inverse=True)
        levels = [number_text(value) for value in found if not np.isnan(value)]
        places: NDArray[np.int32] = codes.reshape(-1).astype(np.int32)
        places[self.missing] = -1
        return TextColumn(self.name, places, levels)


@dataclass
class TextColumn(Column):
    """Texts, as numbers of their levels, -1 where there is none.

    ``levels`` is None if there are too many to be categories. ``undated`` says what keeps texts
    that are dates, or nearly all of which are, from being taken as dates.
    """

    codes: NDArray[np.int32]
    levels: list[str] | None
    undated: str = ""

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of each level."""
        return {level: code for code, level in enumerate(self.levels or [])}

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        return self.codes < 0

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows each level has."""
        codes = self.codes[self.codes >= 0]
        return np.bincount(codes, minlength=len(self.levels or [])).astype(np.int64)

    def recode(self, levels: list[str], rest: int) -> TextColumn:
        """Return the same in other levels; ``rest`` is the number of all not among them."""
        table: NDArray[np.int32] = np.array([*self.new_codes(levels, rest), -1], dtype=np.int32)
        return TextColumn(self.name, table[self.codes], levels, self.undated)

    def new_codes(self, levels: list[str], rest: int) -> list[int]:
        """Return the number that each level has among others, or ``rest``."""
        place = {level: code for code, level in enumerate(levels)}
        return [place.get(level, rest) for level in self.levels or []]

    def take(self, rows: NDArray[np.int64]) -> TextColumn:
        """Return the same for some of the rows."""
        return TextColumn(self.name, self.codes[rows], self.levels, self.undated)


@dataclass
class DateColumn(ValueColumn):
    """Dates or times, in seconds; NaN where there are none.

    ``offsets`` are the seconds that the clock is ahead of UTC, None if it never is. ``calendar`` is
    False for times of a day and durations. ``day_first`` says how days and months were told apart
    in texts, None if there was no need to.
    """

    offsets: NDArray[np.float64] | None = None
    calendar: bool = True
    day_first: bool | None = None

    @property
    def local(self) -> NDArray[np.float64]:
        """What calendar and clock showed, in seconds as if it were UTC."""
        return self.values if self.offsets is None else self.values + self.offsets

    @property
    def local_ends(self) -> tuple[float, float] | None:
        """The first and the last that calendar and clock showed; None if there is none."""
        local = self.local[~self.missing]
        return (float(local.min()), float(local.max())) if local.size else None

    def take(self, rows: NDArray[np.int64]) -> Self:
        """Return the same for some of the rows."""
        offsets = None if self.offsets is None else self.offsets[rows]
        return replace(self, values=self.values[rows], offsets=offsets)


def number_text(value: float) -> str:
    """Write a number as a level of a category: whole numbers without a decimal point."""
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


class Gatherer:
    """Gathers one column from Arrow arrays of one type.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"number", "text", "date"}
        What it becomes.
    unlimited : bool
        Whether a text may have any number of levels, and is one even if it holds dates.
    day_first : bool or None
        How to read texts that may be dates in two ways; None is not to.
    """

    def __init__(
        self, name: str, kind: str, unlimited: bool, day_first: bool | None = None
    ) -> None:
        self.name, self.kind = name, kind
        self._most = np.inf if unlimited else MOST_LEVELS
        self._data = Growing(np.int32 if kind == "text" else np.float64)
        self._codes: dict[str, int] | None = {}
        self._dates = TextDates(day_first) if kind == "text" and not unlimited else None
        self._offsets = MostlyZero()
        self._calendar = True

    @property
    def itemsize(self) -> int:
        """Bytes that a row takes."""
        if self.kind != "text":
            return 8
        return 4 + (self._dates.itemsize if self._dates is not None else 0)

    def add(self, array: Any) -> None:
        """Append an Arrow array."""
        if self.kind == "number":
            self._data.append(numbers_of(array))
        elif self.kind == "date":
            self._data.append(_seconds(array))
            self._calendar = _has_days(array.type)
            self._offsets.append(_offsets(array))
        else:
            self._data.append(self._encode(array))

    def finish(self) -> Column:
        """Return the column."""
        values = self._data.finish()
        if self.kind == "number":
            return NumberColumn(self.name, values)
        if self.kind == "date":
            return DateColumn(self.name, values, self._offsets.finish(), self._calendar)
        dates = self._dates.finish() if self._dates is not None else ""
        if isinstance(dates, WrittenDates):
            return DateColumn(self.name, dates.values, dates.offsets, day_first=dates.day_first)
        if self._codes is None:
            return TextColumn(self.name, values, None, dates)
        # Levels in order, so that they don't depend on the order of the rows
        levels = sorted(self._codes)
        place = np.empty(len(levels) + 1, dtype=np.int32)
        place[-1] = -1
        place[[self._codes[level] for level in levels]] = np.arange(len(levels))
        return TextColumn(self.name, place[values], levels, dates)

    def _encode(self, array: Any) -> NDArray[np.int32]:
        import pyarrow as pa

        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        codes: NDArray[np.int64] = to_numpy(array.indices.cast(pa.int64()), np.int64, -1)
        if self._dates is not None:
            self._dates = self._date(array.dictionary, codes)
        if self._codes is None:
            return np.where(codes < 0, np.int32(-1), np.int32(0))
        known = self._codes
        words = [_text(word) for word in array.dictionary.to_pylist()]
        to_code = [-1 if w is None else known.setdefault(w, len(known)) for w in words]
        if len(known) > self._most:
            self._codes = None
        table = np.array([*to_code, -1], dtype=np.int32)
        return table[codes]

    def _date(self, words: Any, codes: NDArray[np.int64]) -> TextDates | None:
        """See whether texts are dates; None once they are not."""
        import pyarrow as pa

        assert self._dates is not None
        if not pa.types.is_string(words.type) and not pa.types.is_large_string(words.type):
            return None
        self._dates.add(words, codes)
        return self._dates if self._dates.possible else None


def _text(word: Any) -> str | None:
    if word is None or isinstance(word, str):
        return word
    if isinstance(word, bool):
        return "true" if word else "false"
    return number_text(word) if isinstance(word, (int, float)) else str(word)


def numbers_of(array: Any) -> NDArray[np.float64]:
    """Return an Arrow array of numbers, NaN where there is none."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_null(kind):
        return np.full(len(array), np.nan)
    if pa.types.is_boolean(kind):
        array = array.cast(pa.int8())
    if not pa.types.is_float64(kind):
        array = array.cast(pa.float64(), safe=False)
    return to_numpy(array, np.float64, np.nan)


def _has_days(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def _offsets(array: Any) -> NDArray[np.float64]:
    """Return how many seconds clocks were ahead of UTC, 0 where nobody knows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_timestamp(kind) and kind.tz not in (None, "UTC"):
        try:
            ahead = _seconds(pc.local_timestamp(array)) - _seconds(array)
        except pa.ArrowException:  # a zone that this machine does not know
            return np.zeros(len(array))
        return np.nan_to_num(ahead)
    return np.zeros(len(array))


def _seconds(array: Any) -> NDArray[np.float64]:
    import pyarrow as pa

    kind = array.type
    if pa.types.is_date(kind):
        array, unit = array.cast(pa.timestamp("s")), "s"
    else:
        unit = kind.unit
    narrow = pa.int32() if pa.types.is_time32(kind) else pa.int64()
    scale = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]
    return scale * numbers_of(array.cast(narrow))
