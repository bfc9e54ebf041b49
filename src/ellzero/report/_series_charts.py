"""The charts of a report on a series: its pieces, how firm its jumps are, what is left."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero._format import number
from ellzero.report._charts import cut
from ellzero.report._svg import Axis, Canvas, linear_ticks, log_ticks
from ellzero.segmentation import Segmentation

__all__ = ["chart_firmness", "chart_left_over", "chart_series", "times"]

_Floats = NDArray[np.float64]

_MOST_DOTS = 1200
_LEFT, _RIGHT = 58, 14


def chart_series(
    found: Segmentation,
    jumps: Sequence[dict[str, Any]],
    label: Callable[[int], str],
    names: tuple[str, str],
    width: int,
) -> Canvas:
    """Draw the samples, the pieces through them, and where each jump could be."""
    canvas = Canvas(width, 360, "The series and its pieces")
    # The decay run backward through a gap at the start says little, and would take all the room.
    signal = found.signal.copy()
    signal[: int(np.argmax(~np.isnan(found.y)))] = np.nan
    x, y = _frame(canvas, np.concatenate([found.y, signal]), len(found.y), label, names)
    for jump in jumps:
        start, end = x(jump["earliest"] - 0.5), x(jump["latest"] + 0.5)
        canvas.add(
            "rect", x=start, y=y.end, width=max(end - start, 1.0), height=y.start - y.end,
            class_="where",
        )  # fmt: skip
    _samples(canvas, x, y, found.y)
    canvas.line(_pieces(found, signal, x, y, width), "piece")
    return canvas


def chart_left_over(
    found: Segmentation, label: Callable[[int], str], names: tuple[str, str], width: int
) -> Canvas:
    """Draw what the pieces leave, in time."""
    canvas = Canvas(width, 240, "What the pieces leave, in time")
    left = found.y - found.signal
    x, y = _frame(canvas, left, len(left), label, (names[0], "residual"))
    canvas.line([(x.start, y(0.0)), (x.end, y(0.0))], "zero")
    _samples(canvas, x, y, left)
    return canvas


def chart_firmness(
    jumps: Sequence[dict[str, Any]], lam: float, lowest: float, width: int
) -> Canvas:
    """Draw for each jump the prices at which it lives, and the price that was used."""
    wide = width > 400
    left, row = (150, 20) if wide else (128, 20)
    canvas = Canvas(width, 62 + row * len(jumps), "Prices at which each jump is there")
    bottom = 18.0 + row * len(jumps)
    most = max([jump["dropped_at"] for jump in jumps], default=lam)
    x = Axis(lowest, max(most, 1.2 * lam), left, width - 54, log=True)
    taken = 0.0
    for tick in log_ticks(lowest, x.high, 6 if wide else 3):
        canvas.line([(x(tick), 12), (x(tick), bottom)], "grid")
        label = number(tick, 3)
        half = 4.0 * len(label)
        if x(tick) - half >= taken:  # not into the label before
            canvas.text(x(tick), bottom + 18, label, "tick", "middle")
            taken = x(tick) + half
    canvas.text((left + x.end) / 2, bottom + 36, "price of a jump", "label", "middle")
    for place, jump in enumerate(jumps):
        at = 18.0 + row * place
        start, end = x(jump["gone_below"] or lowest), x(jump["dropped_at"])
        canvas.text(left - 8, at + 12, cut(jump["label"], 19 if wide else 16), "tick", "end")
        canvas.add("rect", x=start, y=at + 2, width=end - start, height=row - 7, class_="bar")
        canvas.text(end + 6, at + 12, f"\u00d7 {times(jump['dropped_at'] / lam)}", "tick")
    canvas.line([(x(lam), 12), (x(lam), bottom)], "axis")
    return canvas


def times(ratio: float) -> str:
    """Write how many times the price another is."""
    return f"{ratio:,.0f}" if 10 <= ratio < 1e5 else f"{ratio:.2g}"


def _frame(
    canvas: Canvas, values: _Floats, n: int, label: Callable[[int], str], names: tuple[str, str]
) -> tuple[Axis, Axis]:
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    pad = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    x = Axis(-0.5, n - 0.5, _LEFT, canvas.width - _RIGHT)
    y = Axis(low - pad, high + pad, canvas.height - 46, 26)
    canvas.axes(
        x,
        y,
        _time_ticks(n, label, canvas.width),
        [(t, number(t)) for t in linear_ticks(y.low, y.high)],
        cut(names[0], 40),
        cut(names[1], 40),
    )
    return x, y


def _time_ticks(n: int, label: Callable[[int], str], width: int) -> list[tuple[float, str]]:
    """Return as many evenly spaced samples as there is room for, by their labels."""
    longest = max((len(label(at)) for at in (0, n // 2, n - 1)), default=1)
    room = max(48, 7 * min(longest, 20) + 16)
    count = min(n, max(1, (width - _LEFT - _RIGHT) // room))
    places = np.unique(np.linspace(0, n - 1, count + 1).round().astype(int))
    # The last label, in the middle below its tick, would reach out of the chart.
    step = (n - 1) / max(count, 1)
    inner = [int(at + step / 2) for at in places[:-1]] or [0]
    return [(float(at), cut(label(at), 20)) for at in inner]


def _samples(canvas: Canvas, x: Axis, y: Axis, values: _Floats) -> None:
    """Draw dots; of more samples than can be told apart, the range in every pixel."""
    known = np.flatnonzero(np.isfinite(values))
    if len(known) <= _MOST_DOTS:
        canvas.dots([(x(float(at)), y(float(values[at]))) for at in known], "samples")
        return
    pixel = ((known + 0.5) / len(values) * (x.end - x.start)).astype(int)
    starts = np.flatnonzero(np.diff(pixel, prepend=-1))
    lows = np.minimum.reduceat(values[known], starts)
    highs = np.maximum.reduceat(values[known], starts)
    lines: list[tuple[float, float] | None] = []
    for at, low, high in zip(pixel[starts], lows, highs, strict=True):
        across = x.start + float(at) + 0.5
        # A range of no height would not be seen.
        lines += [(across, y(float(low)) + 0.5), (across, y(float(high)) - 0.5), None]
    canvas.line(lines, "range")


def _pieces(
    found: Segmentation, signal: _Floats, x: Axis, y: Axis, width: int
) -> list[tuple[float, float] | None]:
    n = len(signal)
    starts = np.concatenate([[0], found.changepoints])
    ends = np.append(found.changepoints, n) - 1
    between = np.linspace(0, n - 1, min(n, width)).astype(int) if found.decay < 1 else starts
    places = np.unique(np.concatenate([starts, ends, between]))
    points: list[tuple[float, float] | None] = []
    jumps = set(found.changepoints.tolist())
    finals = set(ends.tolist())
    for at in places.tolist():
        if at in jumps:
            points.append(None)
        value = float(signal[at])
        if math.isnan(value):
            points.append(None)
            continue
        # A piece reaches half a sample to either side, so that one of a single sample is seen.
        first, last = at in jumps or at == 0, at in finals
        points += [(x(at - 0.5), y(value))] if first else []
        points += [(x(at + 0.5), y(value))] if last else []
        points += [(x(float(at)), y(value))] if not first and not last else []
    return points
