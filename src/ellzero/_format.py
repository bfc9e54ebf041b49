"""Numbers as people read them: none of them is a negative zero."""

from __future__ import annotations

import math

__all__ = ["fixed", "number", "percent", "plural", "signed"]


def number(value: float | None, digits: int = 4) -> str:
    """Write a number with a few digits; a dash for none."""
    if value is None or not math.isfinite(value):
        return "\u2013"
    if value == 0:
        return "0"
    if 1e4 <= abs(value) < 1e9:
        return f"{value:,.0f}".replace("-", "\u2212")
    return f"{value:.{digits}g}".replace("-", "\u2212")


def fixed(value: float | None) -> str:
    """Write a number with three decimals."""
    if value is None or not math.isfinite(value):
        return "\u2013"
    return f"{value:z.3f}".replace("-", "\u2212")


def signed(value: float | None) -> str:
    """Write a number with its sign and three decimals."""
    if value is None or not math.isfinite(value):
        return "\u2013"
    return f"{value:+z.3f}".replace("-", "\u2212")


def percent(share: float | None) -> str:
    """Write a share in per cent."""
    if share is None or not math.isfinite(share):
        return "\u2013"
    value = 100 * share
    return f"{value:z.1f}%" if abs(value) < 9.95 else f"{value:.0f}%"


def plural(count: int, noun: str) -> str:
    """Write how many of something there are."""
    words = {0: "no", 1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
    return f"{words.get(count, f'{count:,}')} {noun}{'' if count == 1 else 's'}"
