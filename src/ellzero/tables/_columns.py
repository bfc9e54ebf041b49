"""Columns in memory, gathered from batches."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Column",
    "DateColumn",
    "Gatherer",
    "NumberColumn",
    "TextColumn",
    "ValueColumn",
    "number_text",
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

    def take(self, rows: NDArray[np.int64]) -> Self:
        """Return the same for some of the rows."""
        return type(self)(self.name, self.values[rows])


class NumberColumn(ValueColumn):
    """Numbers, NaN where there are none."""

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

    ``levels`` is None if there are too many to be categories.
    """

    codes: NDArray[np.int32]
    levels: list[str] | None

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of each level."""
        return {level: code for code, level in enumerate(self.levels or [])}

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        return self.codes < 0

    def take(self, rows: NDArray[np.int64]) -> TextColumn:
        """Return the same for some of the rows."""
        return TextColumn(self.name, self.codes[rows], self.levels)


class DateColumn(ValueColumn):
    """Dates or times, in seconds; NaN where there are none."""


def number_text(value: float) -> str:
    """Write a number as a level of a category: whole numbers without a decimal point."""
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


class _Growing:
    """An array that is appended to.

    Large ones have pages of their own, which go back to the system as soon as the array is deleted.
    Memory freed on the heap would stay with the process, and a large table would take it twice.
    """

    def __init__(self, dtype: Any) -> None:
        self._array = np.empty(0, dtype=dtype)  # the first batch may be all there is
        self._length = 0

    def append(self, values: NDArray[Any]) -> None:
        end = self._length + len(values)
        if end > len(self._array):
            larger = _room(max(end, 2 * len(self._array)), self._array.dtype)
            larger[: self._length] = self._array[: self._length]
            self._array = larger
        self._array[self._length : end] = values
        self._length = end

    def finish(self) -> NDArray[Any]:
        return self._array[: self._length]


def _room(length: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an uninitialised array; memory is taken only where it is written to."""
    size = length * dtype.itemsize
    if size < 1 << 20:
        return np.empty(length, dtype=dtype)
    return np.frombuffer(mmap.mmap(-1, size), dtype=dtype)


class Gatherer:
    """Gathers one column from Arrow arrays of one type.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"number", "text", "date"}
        What it becomes.
    unlimited : bool
        Whether a text may have any number of levels.
    """

    def __init__(self, name: str, kind: str, unlimited: bool) -> None:
        self.name, self.kind = name, kind
        self._most = np.inf if unlimited else MOST_LEVELS
        self._data = _Growing(np.int32 if kind == "text" else np.float64)
        self._codes: dict[str, int] | None = {}

    @property
    def itemsize(self) -> int:
        """Bytes that a row takes."""
        return 4 if self.kind == "text" else 8

    def add(self, array: Any) -> None:
        """Append an Arrow array."""
        if self.kind == "number":
            self._data.append(_numbers(array))
        elif self.kind == "date":
            self._data.append(_seconds(array))
        else:
            self._data.append(self._encode(array))

    def finish(self) -> Column:
        """Return the column."""
        values = self._data.finish()
        if self.kind == "number":
            return NumberColumn(self.name, values)
        if self.kind == "date":
            return DateColumn(self.name, values)
        if self._codes is None:
            return TextColumn(self.name, values, None)
        # Levels in order, so that they don't depend on the order of the rows
        levels = sorted(self._codes)
        place = np.empty(len(levels) + 1, dtype=np.int32)
        place[-1] = -1
        place[[self._codes[level] for level in levels]] = np.arange(len(levels))
        return TextColumn(self.name, place[values], levels)

    def _encode(self, array: Any) -> NDArray[np.int32]:
        import pyarrow as pa

        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        codes: NDArray[np.int64] = _to_numpy(array.indices.cast(pa.int64()), np.int64, -1)
        if self._codes is None:
            return np.where(codes < 0, np.int32(-1), np.int32(0))
        known = self._codes
        words = [_text(word) for word in array.dictionary.to_pylist()]
        to_code = [-1 if w is None else known.setdefault(w, len(known)) for w in words]
        if len(known) > self._most:
            self._codes = None
        table = np.array([*to_code, -1], dtype=np.int32)
        return table[codes]


def _text(word: Any) -> str | None:
    if word is None or isinstance(word, str):
        return word
    if isinstance(word, bool):
        return "true" if word else "false"
    return number_text(word) if isinstance(word, (int, float)) else str(word)


def _numbers(array: Any) -> NDArray[np.float64]:
    import pyarrow as pa

    kind = array.type
    if pa.types.is_null(kind):
        return np.full(len(array), np.nan)
    if pa.types.is_boolean(kind):
        array = array.cast(pa.int8())
    if not pa.types.is_float64(kind):
        array = array.cast(pa.float64(), safe=False)
    return _to_numpy(array, np.float64, np.nan)


def _seconds(array: Any) -> NDArray[np.float64]:
    import pyarrow as pa

    kind = array.type
    if pa.types.is_date(kind):
        array, unit = array.cast(pa.timestamp("s")), "s"
    else:
        unit = kind.unit
    narrow = pa.int32() if pa.types.is_time32(kind) else pa.int64()
    scale = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]
    return scale * _numbers(array.cast(narrow))


def _to_numpy(array: Any, dtype: Any, missing: float) -> NDArray[Any]:
    """Return the numbers of an Arrow array, not copied if none is missing.

    Its own methods to_numpy and fill_null would do, but import pandas, which takes half a second.
    """
    if not len(array):
        return np.empty(0, dtype=dtype)
    place = slice(array.offset, array.offset + len(array))
    bits, buffer = array.buffers()
    values = np.frombuffer(buffer, dtype=dtype)[place]
    if array.null_count == 0:
        return values
    valid = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), bitorder="little")[place]
    return np.where(valid == 1, values, dtype(missing))
