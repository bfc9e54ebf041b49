"""Year, month and weekday of dates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ellzero.tables._columns import DateColumn, NumberColumn, TextColumn

__all__ = ["MONTHS", "PARTS", "WEEKDAYS", "DatePart", "make_part"]

PARTS = ("year", "month", "weekday")
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


@dataclass(frozen=True)
class DatePart:
    """A column that is made of a column of dates.

    Attributes
    ----------
    column : str
        The dates.
    part : {"year", "month", "weekday"}
        What is taken of them.
    day_first : bool or None
        How their days and months were told apart; None if there was no need to.
    """

    column: str
    part: str
    day_first: bool | None = None


def make_part(dates: DateColumn, part: str, name: str) -> NumberColumn | TextColumn:
    """Return the year as numbers, or the month or the weekday as a category.

    In the time zone that the dates are written in; months and weekdays in their own order.
    """
    missing = dates.missing
    days = np.floor(np.where(missing, 0.0, dates.local) / 86_400).astype("datetime64[D]")
    if part == "year":
        years = days.astype("datetime64[Y]").astype(np.int64) + 1970
        return NumberColumn(name, np.where(missing, np.nan, years.astype(np.float64)))
    if part == "month":
        codes, levels = days.astype("datetime64[M]").astype(np.int64) % 12, MONTHS
    else:
        codes, levels = (days.astype(np.int64) + 3) % 7, WEEKDAYS  # 1970 began on a Thursday
    places: NDArray[np.int32] = np.where(missing, -1, codes).astype(np.int32)
    return TextColumn(name, places, list(levels))
