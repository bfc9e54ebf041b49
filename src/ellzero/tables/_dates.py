"""Dates that are written as texts.

A regular expression takes a text apart into its date, time and zone, and pandas reads these.
Only different ones are read, of which there are few: even where all moments differ, few days do.
pandas takes half a second to import, so it is asked only where texts look like dates.

Names of months, AM and PM are English unless the program sets another locale, which pandas follows.
Before pandas 3, what lies before 1678 or after 2261 is no date to it.
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
from ellzero.tables._errors import listed, shortened

__all__ = ["DATE_FORMATS", "TextDates", "WrittenDates"]

_Floats = NDArray[np.float64]

DATE_FORMATS = (
    "dates are known as 2012-01-31, 2012/01/31, 31.01.2012, Jan 31 2012 and 31 Jan 2012, and as "
    "31/01/2012 or 01/31/2012 if a day past the 12th tells which, with or without a time"
)
# What looks like a date; a name of a month has no more letters than "september".
_LIKE = (
    r"^(?P<date>\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/]\d{1,2}[-/]\d{4}|\d{1,2}\.\d{1,2}\.\d{4}"
    r"|[A-Za-z]{3,9}\.? +\d{1,2}(?:, *| +)\d{4}|\d{1,2}[ -]?[A-Za-z]{3,9}\.?,?[ -]?\d{4})"
    r"(?:(?:T| +)(?P<clock>\d{1,2}:\d{2}(?::[0-5]\d(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?)"
    r"(?: ?(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?)?$"
)
# How pandas is to read what _date, _clock and _zone write.
_DATES = ("ISO8601", "%d.%m.%Y", "%d %b %Y", "%b %d %Y", "%d %B %Y", "%B %d %Y")
_DAY_FIRST, _MONTH_FIRST = "%d-%m-%Y", "%m-%d-%Y"
_CLOCKS = ("ISO8601", *(f"%Y-%m-%dT{x}%p" for x in ("%I:%M:%S", "%I:%M", "%I:%M:%S.%f")))
# So many texts are looked at before a column is parsed.
_SAMPLE = 20
_STATE = ("differ", "zones", "no_zones", "n_words", "n_read")


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
            like = sum(bool(word and re.match(_LIKE, word.strip())) for word in some)
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

    def absorb(self, other: TextDates) -> None:
        """Take what another has found in the rows that follow; values are left where they are."""
        for own, its in ((self._day, other._day), (self._month, other._month)):
            own.n_failed += its.n_failed
            for word in [*its.failed][: max(0, 10 - len(own.failed))]:
                own.failed[word] = None
        self._differ |= other._differ
        self._zones |= other._zones
        self._no_zones |= other._no_zones
        self._n_words += other._n_words
        self._n_read += other._n_read
        few = bool(self._n_words) and 2 * self._n_read <= self._n_words
        self.possible = self.possible and other.possible and not few

    def orders(self) -> tuple[WrittenDates, WrittenDates]:
        """Return the dates if the day comes first, and if the month does."""
        offsets = self._offsets.finish()
        return (
            WrittenDates(self._day.values.finish(), offsets, True),
            WrittenDates(self._month.values.finish(), offsets, False),
        )

    def state(self) -> dict[str, Any]:
        """Return what is known but for values, in plain numbers and texts."""
        orders = {
            name: {"failed": list(order.failed), "n_failed": order.n_failed}
            for name, order in (("day", self._day), ("month", self._month))
        }
        flags = {name: getattr(self, f"_{name}") for name in _STATE}
        return {**orders, **flags, "possible": self.possible}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> TextDates:
        """Return what a state was taken of."""
        made = cls()
        for name, order in (("day", made._day), ("month", made._month)):
            order.failed = dict.fromkeys(state[name]["failed"])
            order.n_failed = state[name]["n_failed"]
        for name in _STATE:
            setattr(made, f"_{name}", state[name])
        made.possible = state["possible"]
        return made

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
            whole = example if shortened(example) == example else None
            return Message(
                f"dates, but for {listed(map(shortened, best.failed), 3)}{' and others' * more} (",
                Argument("na", whole),
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
    import pyarrow.compute as pc

    parts = pc.extract_regex(words, _LIKE)
    dates, clocks, zones = (pc.struct_field(parts, [place]) for place in range(3))
    zoned = pc.fill_null(pc.not_equal(zones, ""), False).to_numpy(zero_copy_only=False)
    clock = _seconds(clocks, _clock, _CLOCKS)
    moved = _seconds(zones, _zone, ("ISO8601",))
    day = _seconds(dates, _date, (*_DATES, _DAY_FIRST)) + clock + moved
    month = _seconds(dates, _date, (*_DATES, _MONTH_FIRST)) + clock + moved
    return day, month, np.where(zoned, -moved, np.nan)


def _seconds(texts: Any, write: Callable[[str], str], formats: tuple[str, ...]) -> _Floats:
    """Return seconds since 1970, by the first format that fits; NaN where none does."""
    import pandas as pd
    import pyarrow as pa

    encoded = texts.dictionary_encode()
    words = np.array([write(text) for text in encoded.dictionary.to_pylist()], dtype=object)
    seconds: _Floats = np.full(len(words) + 1, np.nan)
    unread = np.arange(len(words))
    for layout in formats:
        if not len(unread):
            break
        moments = pd.to_datetime(words[unread], format=layout, errors="coerce", utc=True)
        seconds[unread] = (moments - pd.Timestamp("1970-01-01", tz="UTC")).total_seconds()
        unread = unread[np.isnan(seconds[unread])]
    decoded: _Floats = seconds[to_numpy(encoded.indices.cast(pa.int64()), np.int64, -1)]
    return decoded


def _date(text: str) -> str:
    if "0000" in text:  # as everywhere, there is no year 0
        return ""
    if re.search("[A-Za-z]", text):
        return re.sub(r"(?i)\bsept\b", "Sep", " ".join(re.findall(r"[A-Za-z]+|\d+", text)))
    return text.replace("/", "-")


def _clock(text: str) -> str:
    return f"1970-01-01T{text or '00:00'}".replace(",", ".").replace(" ", "")


def _zone(text: str) -> str:
    return f"1970-01-01T00:00{'Z' if text in ('UTC', 'GMT') else text}"
