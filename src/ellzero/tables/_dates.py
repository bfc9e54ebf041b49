"""Dates that are written as texts.

Arrow's regular expressions take texts apart, and NumPy's calendar says which days there are.
(Arrow's strptime makes 1 March of 29 February 2001, and its names of months depend on the locale;
pandas takes half a second to import.)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero._messages import Argument, Message
from ellzero.tables._arrays import Growing, MostlyZero, to_numpy
from ellzero.tables._errors import listed

__all__ = ["DATE_FORMATS", "TextDates", "WrittenDates"]

_Floats = NDArray[np.float64]

DATE_FORMATS = (
    "dates are known as 2012-01-31, 2012/01/31, 31.01.2012, Jan 31 2012 and 31 Jan 2012, and as "
    "31/01/2012 or 01/31/2012 if a day past the 12th tells which, with or without a time"
)
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH_NUMBERS = {
    **{name: place for place, name in enumerate(_MONTHS, 1)},
    **{name[:3]: place for place, name in enumerate(_MONTHS, 1)},
    "sept": 9,
}
_CLOCK = (
    r"(?:(?:T| +)(?P<hour>\d{1,2}):(?P<minute>\d{2})"
    r"(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d+))?)?"
    r"(?: ?(?P<half>[AaPp])[Mm])?(?: ?(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?)?$"
)
# A name of a month has no more letters than "september".
_LAYOUTS = (
    r"^(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",
    r"^(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})",
    r"^(?P<month>[A-Za-z]{3,9})\.? +(?P<day>\d{1,2})(?:, *| +)(?P<year>\d{4})",
    r"^(?P<day>\d{1,2})[ -]?(?P<month>[A-Za-z]{3,9})\.?,?[ -]?(?P<year>\d{4})",
)
# The day or the month comes first.
_EITHER = r"^(?P<first>\d{1,2})[-/](?P<second_>\d{1,2})[-/](?P<year>\d{4})"
_ANY = re.compile("|".join(re.sub(r"\?P<\w+>", "?:", f"(?:{x})") for x in (*_LAYOUTS, _EITHER)))
# So many texts are looked at before a column is parsed.
_SAMPLE = 20
_DAY = 86_400


@dataclass(frozen=True)
class WrittenDates:
    """The dates of a column of texts.

    Attributes
    ----------
    values : ndarray
        Seconds since 1970, in UTC if there are zones; NaN where there is no value.
    offsets : ndarray or None
        Seconds that the clock is ahead of UTC; None if it never is.
    day_first : bool or None
        How days and months were told apart; None if they need not be.
    """

    values: _Floats
    offsets: _Floats | None
    day_first: bool | None


@dataclass
class _Order:
    """What texts are if the day comes first, or if the month does."""

    values: Growing
    failed: dict[str, None]
    n_failed: int = 0


def _no_order() -> _Order:
    return _Order(Growing(np.float64), {})


class TextDates:
    """Finds out whether the texts of a column are dates, from some of them at a time.

    Parameters
    ----------
    day_first : bool or None
        What to take where days and months can't be told apart; None is not to guess.
    """

    def __init__(self, day_first: bool | None = None) -> None:
        self._day_first = day_first
        self._day, self._month = _no_order(), _no_order()
        self._offsets = MostlyZero()
        self._differ = self._zones = self._no_zones = False
        self._n_words = self._n_read = 0
        self.possible = True

    def add(self, words: Any, codes: NDArray[np.int64]) -> None:
        """Take different texts, as an Arrow array, and which of them each row has (-1: none).

        Once most are no dates, nothing more is looked at.
        """
        if not self.possible or not len(words):
            self._skip(codes)
            return
        if not self._n_words:
            some = words[:_SAMPLE].to_pylist()
            like = sum(bool(word and _ANY.match(word.strip())) for word in some)
            self.possible = 2 * like > len(some)
            if not self.possible:
                return
        import pyarrow.compute as pc

        day, month, offsets = _parse(pc.utf8_trim_whitespace(words))
        self._n_words += len(words) - words.null_count
        for order, seconds in ((self._day, day), (self._month, month)):
            bad = np.flatnonzero(np.isnan(seconds))
            if words.null_count:
                bad = np.array([j for j in bad if words[int(j)].is_valid], dtype=np.int64)
            order.n_failed += len(bad)
            for place in bad[: max(0, 10 - len(order.failed))]:
                order.failed[words[int(place)].as_py()] = None
            order.values.append(np.append(seconds, np.nan)[codes])
        fine = ~np.isnan(day) & ~np.isnan(month)
        self._differ |= bool(np.any(day[fine] != month[fine]))
        read = ~np.isnan(day) | ~np.isnan(month)
        self._n_read += int(np.count_nonzero(read))
        zoned = ~np.isnan(offsets)
        self._zones |= bool(np.any(read & zoned))
        self._no_zones |= bool(np.any(read & ~zoned))
        self._offsets.append(np.append(np.where(zoned, offsets, 0.0), 0.0)[codes])
        self.possible = 2 * self._n_read > self._n_words
        if not self.possible:
            self._day, self._month = _no_order(), _no_order()
            self._offsets = MostlyZero()

    def finish(self) -> WrittenDates | str:
        """Return the dates, or what keeps the texts from being dates; nothing if most are none."""
        if not self.possible or not self._n_words:
            return ""
        best = self._best
        if best.n_failed:
            if self._day.n_failed and self._month.n_failed and self._swapped:
                return "dates that have the day first here and the month first there"
            more = best.n_failed > len(best.failed)
            example = next(iter(best.failed))
            return Message(
                f"dates, but for {listed(best.failed, 3)}{' and others' * more} (",
                Argument("na", example),
                " if that means missing)",
            )
        if self._zones and self._no_zones:
            return "dates, some with a time zone and some without"
        told = bool(self._day.n_failed or self._month.n_failed)
        day_first = None
        if told or self._differ:
            if not told and self._day_first is None:
                return "dates whose day and month can't be told apart"
            day_first = best is self._day if told else self._day_first
            best = self._day if day_first else self._month
        return WrittenDates(best.values.finish(), self._offsets.finish(), day_first)

    @property
    def itemsize(self) -> int:
        """Bytes that a row takes."""
        return 16 if self.possible else 0

    @property
    def _best(self) -> _Order:
        return self._day if self._day.n_failed <= self._month.n_failed else self._month

    @property
    def _swapped(self) -> bool:
        """Whether what fails in one order is a date in the other."""
        return set(self._day.failed).isdisjoint(self._month.failed)

    def _skip(self, codes: NDArray[np.int64]) -> None:
        """Take rows none of which has a value."""
        if self.possible:
            for order in (self._day, self._month):
                order.values.append(np.full(len(codes), np.nan))
            self._offsets.append(np.zeros(len(codes)))


def _parse(words: Any) -> tuple[_Floats, _Floats, _Floats]:
    """Return seconds if the day comes first and if the month does, and offsets from UTC.

    NaN where a text is no date; an offset is NaN where there is no zone.
    """
    day: _Floats = np.full(len(words), np.nan)
    month, offsets = day.copy(), day.copy()
    for layout in (*_LAYOUTS, _EITHER):
        found = _split(words, layout + _CLOCK)
        rows = np.flatnonzero(~np.isnan(found["year"]))
        if not len(rows):
            continue
        part = {name: values[rows] for name, values in found.items()}
        clock = _clock(part)
        offsets[rows] = part["zone"]
        if layout == _EITHER:
            a, b = part["first"], part["second_"]
            day[rows] = _days(part["year"], b, a) * _DAY + clock
            month[rows] = _days(part["year"], a, b) * _DAY + clock
        else:
            month[rows] = _days(part["year"], part["month"], part["day"]) * _DAY + clock
            day[rows] = month[rows]
        if len(rows) == len(words):  # so it is, mostly
            break
    return day, month, offsets


def _split(words: Any, pattern: str) -> dict[str, _Floats]:
    """Return the numbers in each text, NaN where it is written in another way."""
    import pyarrow.compute as pc

    found = pc.extract_regex(words, pattern)
    readers = {"half": _half, "zone": _zone, "month": _month, "fraction": _fraction}
    return {
        field.name: _decode(values, readers.get(field.name, _number))
        for field, values in zip(found.type, found.flatten(), strict=True)
    }


def _decode(texts: Any, read: Callable[[str], float]) -> _Floats:
    """Turn texts of few different values into numbers."""
    import pyarrow as pa

    encoded = texts.dictionary_encode()
    numbers = [np.nan if text is None else read(text) for text in encoded.dictionary.to_pylist()]
    codes = to_numpy(encoded.indices.cast(pa.int64()), np.int64, -1)
    decoded: _Floats = np.array([*numbers, np.nan])[codes]
    return decoded


def _number(text: str) -> float:
    return float(text or 0)


def _fraction(text: str) -> float:
    return float(f"0.{text or 0}")


def _month(text: str) -> float:
    return float(_MONTH_NUMBERS.get(text.lower(), 0) if text.isalpha() else text)


def _half(text: str) -> float:
    return {"": 0.0, "a": 1.0, "p": 2.0}[text.lower()]


def _zone(text: str) -> float:
    if not text:
        return np.nan
    if text in ("Z", "UTC", "GMT"):
        return 0.0
    hours, minutes = int(text[1:3]), int(text[3:].lstrip(":") or 0)
    if hours > 14 or minutes > 59:
        return np.inf
    return (-1.0 if text[0] == "-" else 1.0) * (3600 * hours + 60 * minutes)


def _clock(part: dict[str, _Floats]) -> _Floats:
    """Return the time of day in UTC, in seconds; NaN where there is no such time."""
    hour, minute, second, half = (part[name] for name in ("hour", "minute", "second", "half"))
    valid = (hour < 24) & (minute < 60) & (second < 60) & ~np.isinf(part["zone"])
    valid &= (half == 0) | ((hour >= 1) & (hour <= 12))
    hour = np.where(half == 0, hour, hour % 12 + 12 * (half == 2))
    seconds = 3600 * hour + 60 * minute + second + part["fraction"]
    return np.where(valid, seconds - np.nan_to_num(part["zone"]), np.nan)


def _days(year: _Floats, month: _Floats, day: _Floats) -> _Floats:
    """Return days since 1970, NaN where there is no such day."""
    months = (12 * (year - 1970) + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + (day - 1).astype("timedelta64[D]")
    valid = (month >= 1) & (month <= 12) & (day >= 1) & (days.astype("datetime64[M]") == months)
    valid &= year >= 1  # as everywhere, there is no year 0
    return np.where(valid, days.astype(np.int64).astype(np.float64), np.nan)
