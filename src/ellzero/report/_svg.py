"""A small canvas for charts: axes, lines and dots, coloured by the style sheet.

Colours are classes, not values, so that one drawing serves light, dark and paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup, escape

from ellzero._shown import shown

__all__ = ["Axis", "Canvas", "linear_ticks", "log_ticks"]


def linear_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers that cover an interval."""
    if not high > low:
        return [low]
    raw = (high - low) / about
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def log_ticks(low: float, high: float, most: int = 8) -> list[float]:
    """Return powers of ten, with 2 and 5 between them if there is room."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for marks in ((1, 2, 5), (1,)):
        ticks = [m * 10.0**e for e in decades for m in marks]
        ticks = [t for t in ticks if low * 0.999 <= t <= high * 1.001]
        if len(ticks) <= most:
            break
    else:
        ticks = ticks[:: -(-len(ticks) // most)]
    return ticks or [low]


class Axis:
    """A scale from data to pixels.

    Parameters
    ----------
    low, high : float
        Ends in the data; ``low`` may be the larger.
    start, end : float
        Where they are, in pixels.
    log : bool
        Whether the scale is logarithmic.
    """

    def __init__(self, low: float, high: float, start: float, end: float, log: bool = False):
        self.log = log
        self.low, self.high = low, high
        self._a, self._b = (math.log(low), math.log(high)) if log else (low, high)
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        """Return the pixel of a value, held within twice the axis."""
        at = math.log(value) if self.log else value
        span = self._b - self._a
        share = (at - self._a) / span if span else 0.5
        share = min(max(share, -1.0), 2.0)
        return self.start + share * (self.end - self.start)


class Canvas:
    """An SVG drawing in the making."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self._parts: list[str] = []

    def add(self, name: str, text: str | None = None, **attributes: object) -> None:
        """Add an element; ``class_`` is class, and other underscores are hyphens."""
        pairs = "".join(
            f' {key.rstrip("_").replace("_", "-")}="{escape(_short(value))}"'
            for key, value in attributes.items()
            if value is not None
        )
        inside = "" if text is None else escape(shown(text))
        self._parts.append(f"<{name}{pairs}>{inside}</{name}>")

    def text(self, x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> None:
        """Write a text."""
        self.add("text", text, x=x, y=y, class_=kind or None, text_anchor=anchor)

    def line(self, points: Sequence[tuple[float, float] | None], kind: str) -> None:
        """Draw a line through points; None lifts the pen."""
        commands, down = [], False
        for point in points:
            if point is None:
                down = False
                continue
            commands.append(f"{'L' if down else 'M'}{_short(point[0])} {_short(point[1])}")
            down = True
        if commands:
            self.add("path", d="".join(commands), class_=kind)

    def area(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """Fill a polygon."""
        if points:
            drawn = "L".join(f"{_short(x)} {_short(y)}" for x, y in points)
            self.add("path", d=f"M{drawn}Z", class_=kind)

    def dots(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """Draw many dots as one element: lines of no length with round ends."""
        self.add("path", d="".join(f"M{_short(x)} {_short(y)}h0" for x, y in points), class_=kind)

    def axes(
        self,
        x: Axis,
        y: Axis,
        x_ticks: Sequence[tuple[float, str]],
        y_ticks: Sequence[tuple[float, str]],
        x_label: str,
        y_label: str,
    ) -> None:
        """Draw two axes with their ticks, a grid of horizontal lines, and labels."""
        bottom, left = y.start, x.start
        for value, label in y_ticks:
            at = y(value)
            self.line([(left, at), (x.end, at)], "grid")
            self.text(left - 6, at + 4, label, "tick", "end")
        for value, label in x_ticks:
            at = x(value)
            self.line([(at, bottom), (at, bottom + 4)], "axis")
            self.text(at, bottom + 18, label, "tick", "middle")
        self.line([(left, bottom), (x.end, bottom)], "axis")
        self.text((left + x.end) / 2, bottom + 36, x_label, "label", "middle")
        self.text(4, 14, y_label, "label")

    def finish(self, kind: str) -> Markup:
        """Return the drawing."""
        title = escape(shown(self.title))
        return Markup(
            f'<svg class="{kind}" viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{title}"><title>{title}</title>{"".join(self._parts)}</svg>'
        )


def _short(value: object) -> str:
    """Write a coordinate with as many digits as can be seen."""
    return f"{value:.1f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
