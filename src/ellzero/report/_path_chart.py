"""The chart of a path: coefficients as the price of a variable falls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ellzero._format import number
from ellzero._spacing import limit_axis, space_out
from ellzero.report._charts import cut
from ellzero.report._svg import Axis, Canvas, linear_ticks, log_ticks

__all__ = ["chart_path", "far_out", "price_range"]

_COLOURS = 8
# A standardised coefficient by the place of its model and its name
_Values = dict[tuple[int, str], float]


def price_range(path: Sequence[dict[str, Any]]) -> tuple[float, float] | None:
    """Return the highest and lowest price that is drawn; None if there is one model only."""
    edges = [step["lam_low"] for step in path if step["lam_low"]]
    edges += [step["lam_high"] for step in path if step["lam_high"]]
    if not edges:
        return None
    high, low = max(edges), min(edges)
    reach = max((high / low) ** 0.06, 1.25)
    open_end = any(step["lam_low"] == 0 for step in path)
    return high * reach, low / reach if open_end or high == low else low


def chart_path(path: Sequence[dict[str, Any]], width: int) -> Canvas:
    """Draw standardised coefficients against the price, with a band for every model."""
    wide = width > 400
    height, left, right = (400, 50, 165) if wide else (380, 44, 100)
    canvas = Canvas(width, height, "Coefficients of the models as the price of a variable falls")
    steps = [(place, step) for place, step in enumerate(path) if step["lam_low"] is not None]
    prices = price_range(path)
    if prices is None or len(steps) < 2:
        canvas.text(left, 80, "One model only: there is no path.", "label")
        return canvas
    x = Axis(prices[0], prices[1], left, width - right, log=True)
    values = _values(path)
    low, high = _limits(path, values)
    pad = 0.07 * (high - low or 1.0)
    y = Axis(low - pad, high + pad, height - 46, 40)
    ends = [
        (x(min(step["lam_high"] or prices[0], prices[0])), x(max(step["lam_low"], prices[1])))
        for _, step in steps
    ]
    for (place, step), (a, b) in zip(steps, ends, strict=True):
        canvas.add(
            "rect", x=a, y=y.end, width=max(b - a, 0.5), height=y.start - y.end,
            class_="step on" if step["chosen"] else "step", data_step=place,
        )  # fmt: skip
    y_ticks = [(t, number(t)) for t in linear_ticks(y.low, y.high)]
    x_ticks = [(t, number(t)) for t in log_ticks(prices[1], prices[0], 7 if wide else 4)]
    canvas.axes(x, y, x_ticks, y_ticks, "price of a variable, falling", "standardised coefficient")
    canvas.line([(left, y(0.0)), (x.end, y(0.0))], "zero")
    named = _worth_naming(steps, ends, values, max(high, -low))
    colour = {name: f"c{place}" for place, name in enumerate(named)}
    names = dict.fromkeys(name for _, name in values)
    for name in [*(name for name in names if name not in colour), *reversed(named)]:
        points: list[tuple[float, float] | None] = []
        inside = False
        for (place, _), (a, b) in zip(steps, ends, strict=True):
            if (place, name) in values:
                value = values[place, name]
                seen = y(min(max(value, y.low), y.high))
                points += [] if inside else [(a, y(0.0))]
                # Beyond the axis the pen is lifted.
                points += [(a, seen), *([] if y.low <= value <= y.high else [None]), (b, seen)]
                inside = True
            elif inside:
                points += [(a, y(0.0)), None]
                inside = False
        canvas.line(points, f"coefficient {colour.get(name, 'gone')}")
    last = steps[-1][0]
    staying = {name: value for (place, name), value in values.items() if place == last}
    _name_ends(canvas, y, x.end, staying, colour, wide)
    _name_sizes(canvas, steps, ends)
    return canvas


def far_out(path: Sequence[dict[str, Any]]) -> list[str]:
    """Return the variables whose coefficients are not drawn all the way, with the largest."""
    values = _values(path)
    low, high = _limits(path, values)
    peaks: dict[str, float] = {}
    for (_, name), value in values.items():
        if not low <= value <= high and abs(value) > abs(peaks.get(name, 0.0)):
            peaks[name] = value
    return [
        f"{name} ({number(peaks[name], 3)})" for name in sorted(peaks, key=lambda n: -abs(peaks[n]))
    ]


def _values(path: Sequence[dict[str, Any]]) -> _Values:
    return {
        (place, v["name"]): v["standardised"]
        for place, step in enumerate(path)
        if step["lam_low"] is not None
        for v in step["variables"]
    }


def _limits(path: Sequence[dict[str, Any]], values: _Values) -> tuple[float, float]:
    """Return the ends of the coefficients drawn.

    A few large ones of models past the chosen one do not stretch the axis.
    """
    chosen = next((place for place, step in enumerate(path) if step["chosen"]), 0)
    peaks: dict[str, float] = {}
    for (_, name), value in values.items():
        peaks[name] = max(peaks.get(name, 0.0), abs(value))
    shown = max((abs(v) for (place, _), v in values.items() if place <= chosen), default=0.0)
    limit = limit_axis(np.array(list(peaks.values())), shown)
    span = [0.0, *values.values()]
    return max(min(span), -limit), min(max(span), limit)


def _worth_naming(
    steps: list[tuple[int, dict[str, Any]]],
    ends: list[tuple[float, float]],
    values: _Values,
    limit: float,
) -> list[str]:
    """Return the variables of the last model that get a colour.

    First those of the chosen one, and those with most area between their lines and zero.
    """
    area: dict[str, float] = {}
    for (place, step), (a, b) in zip(steps, ends, strict=True):
        for v in step["variables"]:
            seen = (b - a) * min(abs(values[place, v["name"]]), limit)
            area[v["name"]] = area.get(v["name"], 0.0) + seen
    chosen = {v["name"] for _, step in steps if step["chosen"] for v in step["variables"]}
    staying = [v["name"] for v in steps[-1][1]["variables"]]
    return sorted(staying, key=lambda name: (name not in chosen, -area[name]))[:_COLOURS]


def _name_ends(
    canvas: Canvas,
    y: Axis,
    edge: float,
    staying: dict[str, float],
    colour: dict[str, str],
    wide: bool,
) -> None:
    """Write names beside the ends of their lines, and how many have none.

    In the order of the heights, so that the thin lines to them do not cross.
    """
    names = sorted(colour, key=lambda name: -staying[name])
    heights = [y(min(max(staying[name], y.low), y.high)) for name in names]
    others = [y(min(max(v, y.low), y.high)) for n, v in staying.items() if n not in colour]
    texts = []
    for name in names:
        arrow = " ↑" * (staying[name] > y.high) + " ↓" * (staying[name] < y.low)
        texts.append((cut(name, (19 if wide else 10) - len(arrow)) + arrow, colour[name]))
    if others:
        place = sum(height <= float(np.median(others)) for height in heights)
        heights.insert(place, float(np.median(others)))
        texts.insert(place, (f"and {len(others)} more", ""))
    if not heights:
        return
    placed = space_out(np.array(heights), 15.0, y.end + 4, y.start - 2)
    for (text, kind), at, place in zip(texts, heights, placed, strict=True):
        if kind:
            canvas.line([(edge, at), (edge + 10, float(place))], f"coefficient thin {kind}")
        canvas.text(edge + 13, float(place) + 4, text, f"name {kind}" if kind else "note")


def _name_sizes(
    canvas: Canvas, steps: list[tuple[int, dict[str, Any]]], ends: list[tuple[float, float]]
) -> None:
    """Write the number of variables above each model, where there is room."""
    before = -math.inf
    for (_, step), (a, b) in zip(steps, ends, strict=True):
        centre = (a + b) / 2
        if centre - before >= 20:
            canvas.text(centre, 34, str(step["size"]), "tick", "middle")
            before = centre
