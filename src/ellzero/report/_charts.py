"""The charts of a report. Each is drawn twice: for wide pages and for phones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from ellzero._format import number
from ellzero._shown import shown
from ellzero.report._svg import Axis, Canvas, linear_ticks, log_ticks

__all__ = [
    "both_widths",
    "chart_bar",
    "chart_calibration",
    "chart_curve",
    "chart_inclusion",
    "chart_quantiles",
    "chart_residuals",
    "chart_roc",
    "chart_sizes",
]

_MOST_DOTS = 1500


def both_widths(draw: Callable[[int], Canvas]) -> Markup:
    """Draw for 680 pixels and for 340; the style sheet shows one of them."""
    return draw(680).finish("wide") + draw(340).finish("narrow")


def chart_bar(share: float, kind: str = "") -> Markup:
    """Draw a bar for a cell of a table, as a share of its width."""
    width = max(0.0, min(1.0, share)) * 100
    canvas = Canvas(100, 10, "")
    canvas.add("rect", x=0, y=1, width=width, height=8, class_=f"bar {kind}".strip())
    return Markup(
        '<svg class="cell" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(canvas._parts)}</svg>"
    )


def chart_curve(curve: dict[str, Any], chosen: float | None, label: str, width: int) -> Canvas:
    """Draw the cross-validated error against the price, its standard error, and both rules."""
    height, left, right = 320, 58, 14
    canvas = Canvas(width, height, "Error on rows held out against the price of a variable")
    low = np.array([v or 0.0 for v in curve["lam_low"]], dtype=float)
    error = np.array(curve["mean_error"], dtype=float)
    se = np.array([0.0 if v is None else v for v in curve["se_error"]], dtype=float)
    inner = low[low > 0]
    if not inner.size:
        canvas.text(left, 80, "One model only: there is no curve.", "label")
        return canvas
    reach = max((inner[0] / inner[-1]) ** 0.05, 1.2)
    edges = np.array([inner[0] * reach, *inner, *([inner[-1] / reach] if low[-1] == 0 else [])])
    steps = len(edges) - 1
    root, lower, upper = _with_band(error[:steps], se[:steps], curve["root"])
    x = Axis(edges[0], edges[-1], left, width - right, log=True)
    y = _error_axis(root, lower, upper, height)
    y_ticks = [(t, number(t)) for t in linear_ticks(y.low, y.high)]
    x_ticks = [(t, number(t)) for t in log_ticks(edges[-1], edges[0], 8 if width > 400 else 4)]
    canvas.axes(x, y, x_ticks, y_ticks, "price of a variable, falling", label)
    corners = [(x(float(a)), x(float(b))) for a, b in pairwise(edges)]
    above = [p for (a, b), v in zip(corners, upper, strict=True) for p in ((a, y(v)), (b, y(v)))]
    below = [p for (a, b), v in zip(corners, lower, strict=True) for p in ((a, y(v)), (b, y(v)))]
    canvas.area([*above, *below[::-1]], "band")
    canvas.line(
        [p for (a, b), v in zip(corners, root, strict=True) for p in ((a, y(v)), (b, y(v)))],
        "curve",
    )
    marks = [("one_se", "one standard error" if width > 400 else "1 s.e.", "dotted")]
    marks += [("least", "least", "dashed")]
    places = [x(min(max(curve[key]["lam"], edges[-1]), edges[0])) for key, _, _ in marks]
    for at, (_, _, kind) in zip(places, marks, strict=True):
        canvas.line([(at, y.start), (at, y.end)], kind)
    # Words come after all lines, which stop short of them.
    for place, (at, (key, words, _)) in enumerate(zip(places, marks, strict=True)):
        text = f"{words}: {curve[key]['size']:.1f} variables"
        # The first is to the left of the second: words go where there is no other line.
        needed = 6.5 * len(text)
        rightwards = at + needed < width if place else at - needed < left
        anchor, shift = ("start", 5) if rightwards else ("end", -5)
        canvas.text(at + shift, y.end + 10 + 15 * place, text, "note", anchor)
    if chosen is not None and edges[-1] <= chosen <= edges[0]:
        around = np.flatnonzero((edges[:-1] >= chosen) & (edges[1:] <= chosen))
        if around.size:
            canvas.add("circle", cx=x(chosen), cy=y(float(root[around[0]])), r=5, class_="chosen")
    return canvas


def chart_sizes(sizes: dict[str, Any], chosen: int, label: str, width: int) -> Canvas:
    """Draw the error on rows held out against the number of variables, the chosen one marked."""
    height, left, right = 300, 58, 14
    canvas = Canvas(width, height, "Error on rows held out against the number of variables")
    size = sizes["size"]
    if len(size) < 2:
        canvas.text(left, 80, "One size only: there is no curve.", "label")
        return canvas
    error = np.array([math.inf if v is None else v for v in sizes["mean_error"]], dtype=float)
    se = np.array([0.0 if v is None else v for v in sizes["se_error"]], dtype=float)
    root, lower, upper = _with_band(error, se, sizes["root"])
    y = _error_axis(root, lower, upper, height)
    x = Axis(size[0] - 0.3, size[-1] + 0.3, left, width - right)
    most = 10 if width > 400 else 5
    step = max(1, math.ceil((size[-1] - size[0]) / most))
    x_ticks = [(float(k), str(k)) for k in range(size[0], size[-1] + 1, step)]
    y_ticks = [(t, number(t)) for t in linear_ticks(y.low, y.high)]
    canvas.axes(x, y, x_ticks, y_ticks, "number of variables", label)
    above, below, line = (
        [(x(float(k)), y(float(v))) for k, v in zip(size, values, strict=True)]
        for values in (upper, lower, root)
    )
    canvas.area([*above, *below[::-1]], "band")
    canvas.line(line, "curve")
    if size[0] <= chosen <= size[-1]:
        at = float(root[chosen - size[0]])
        canvas.line([(x(float(chosen)), y.start), (x(float(chosen)), y.end)], "dashed")
        words = f"chosen: {chosen}"
        rightwards = x(float(chosen)) + 7 * len(words) < width
        anchor, shift = ("start", 5) if rightwards else ("end", -5)
        canvas.text(x(float(chosen)) + shift, y.end + 10, words, "note", anchor)
        if at <= y.high:
            canvas.add("circle", cx=x(float(chosen)), cy=y(at), r=5, class_="chosen")
    return canvas


def _with_band(
    error: NDArray[np.float64], se: NDArray[np.float64], root: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return errors, or their roots, and one standard error to either side."""
    ends = error, np.maximum(error - se, 0), error + se
    middle, lower, upper = (np.sqrt(end) if root else end for end in ends)
    return middle, lower, upper


def chart_calibration(points: list[list[float]], width: int) -> Canvas:
    """Draw what came true against the probability that was said."""
    canvas = Canvas(width, 320, "What came true against the probability that was said")
    x, y = _unit_axes(canvas, "probability that was said", "share that came true")
    for said, came, se, _ in points:
        low, high = max(came - 2 * se, 0.0), min(came + 2 * se, 1.0)
        canvas.line([(x(said), y(low)), (x(said), y(high))], "curve thin")
    canvas.line([(x(p[0]), y(p[1])) for p in points], "curve")
    for said, came, _, _ in points:
        canvas.add("circle", cx=x(said), cy=y(came), r=4, class_="chosen")
    return canvas


def chart_roc(curve: list[list[float]], width: int) -> Canvas:
    """Draw how many are found against how many are taken for them."""
    canvas = Canvas(width, 320, "Share found against share of false alarms")
    x, y = _unit_axes(canvas, "share of false alarms", "share found")
    canvas.line([(x(a), y(b)) for a, b in curve], "curve")
    return canvas


def _unit_axes(canvas: Canvas, x_label: str, y_label: str) -> tuple[Axis, Axis]:
    """Draw axes from 0 to 1, and the line on which they are equal."""
    x = Axis(0.0, 1.0, 58, min(canvas.width - 14, 58 + 420))
    y = Axis(0.0, 1.0, canvas.height - 46, 26)
    ticks = [(t, f"{t:g}") for t in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)]
    canvas.axes(x, y, ticks, ticks, x_label, y_label)
    canvas.line([(x(0.0), y(0.0)), (x(1.0), y(1.0))], "dashed")
    return x, y


def _error_axis(
    root: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    height: int,
) -> Axis:
    """Return an axis for errors: the far end may shoot up, but what matters is near the least."""
    top = min(float(upper.max()), 2.5 * float(root.min()) if root.min() > 0 else math.inf)
    top = max(top, float(upper[np.argmin(root)]), float(root[0]) * 1.02)
    bottom = float(lower.min())
    pad = 0.06 * (top - bottom or 1.0)
    return Axis(bottom - pad, top + pad, height - 46, 28)


def cut(name: str, most: int) -> str:
    """Cut a name that is longer than there is room for."""
    name = shown(name)  # before it is cut: what is written out is longer
    return name if len(name) <= most else name[: most - 1] + "…"


def chart_inclusion(variables: Sequence[dict[str, Any]], width: int, most: int = 20) -> Canvas:
    """Draw the probability of each variable as a bar."""
    shown = [v for v in variables[:most] if v["inclusion"] >= 0.005] or list(variables[:1])
    wide = width > 400
    left, row = (170, 20) if wide else (110, 20)
    canvas = Canvas(width, 40 + row * len(shown), "Posterior probability of each variable")
    bottom = 8 + row * len(shown)
    x = Axis(0.0, 1.0, left, width - 50)
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        canvas.line([(x(tick), 4), (x(tick), bottom)], "dashed" if tick == 0.5 else "grid")
        canvas.text(x(tick), bottom + 18, f"{tick:g}", "tick", "middle")
    for place, variable in enumerate(shown):
        at = 8.0 + row * place
        share = variable["inclusion"]
        canvas.text(left - 8, at + 12, cut(variable["name"], 21 if wide else 13), "tick", "end")
        canvas.add("rect", x=left, y=at + 2, width=x(share) - left, height=row - 7, class_="bar")
        canvas.text(x(share) + 6, at + 12, f"{share:.2f}", "tick")
    return canvas


def pick(residuals: NDArray[np.float64], seed: int) -> NDArray[np.int64]:
    """Return rows to draw: all, or the largest residuals and a sample of the others."""
    n = len(residuals)
    if n <= _MOST_DOTS:
        return np.arange(n)
    extreme = np.argsort(-np.abs(residuals), kind="stable")[:50]
    sample = np.random.default_rng(seed).choice(n, _MOST_DOTS - 50, replace=False)
    return np.unique(np.concatenate([extreme, sample]))


def chart_residuals(
    fitted: NDArray[np.float64], residuals: NDArray[np.float64], seed: int, width: int
) -> Canvas:
    """Draw residuals against fitted values."""
    canvas = Canvas(width, 300, "Residuals against fitted values")
    rows = pick(residuals, seed)
    _scatter(canvas, fitted[rows], residuals[rows], "fitted value", "residual", zero=True)
    return canvas


def chart_quantiles(residuals: NDArray[np.float64], width: int) -> Canvas:
    """Draw the quantiles of the residuals against those of a normal distribution."""
    from scipy.special import ndtri

    canvas = Canvas(width, 300, "Quantiles of residuals against those of a normal distribution")
    n = len(residuals)
    ordered = np.sort(residuals)
    sd = residuals.std()
    normal = ndtri((np.arange(n) + 0.5) / n)
    if n > _MOST_DOTS:  # all points of the tails, and a sample of those between
        inner = np.linspace(0, n - 1, _MOST_DOTS - 100).astype(int)
        rows = np.unique(np.concatenate([np.arange(50), inner, np.arange(n - 50, n)]))
        ordered, normal = ordered[rows], normal[rows]
    x, y = _scatter(canvas, normal, ordered, "normal quantile", "residual", zero=False)
    if sd > 0:
        ends = (float(normal[0]), float(normal[-1]))
        canvas.line([(x(q), y(q * sd)) for q in ends], "dashed")
    return canvas


def _scatter(
    canvas: Canvas,
    across: NDArray[np.float64],
    up: NDArray[np.float64],
    x_label: str,
    y_label: str,
    *,
    zero: bool,
) -> tuple[Axis, Axis]:
    wide = canvas.width > 400

    def ends(values: NDArray[np.float64]) -> tuple[float, float]:
        low, high = float(values.min()), float(values.max())
        pad = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
        return low - pad, high + pad

    x = Axis(*ends(across), 58, canvas.width - 14)
    y = Axis(*ends(up), canvas.height - 46, 26)
    canvas.axes(
        x,
        y,
        [(t, number(t)) for t in linear_ticks(x.low, x.high, 6 if wide else 3)],
        [(t, number(t)) for t in linear_ticks(y.low, y.high)],
        x_label,
        y_label,
    )
    if zero:
        canvas.line([(x.start, y(0.0)), (x.end, y(0.0))], "zero")
    canvas.dots([(x(float(a)), y(float(b))) for a, b in zip(across, up, strict=True)], "dots")
    return x, y
