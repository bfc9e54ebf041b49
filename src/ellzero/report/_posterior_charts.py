"""The charts of a report on a posterior: coefficients, prior against posterior, traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero._format import number
from ellzero.report._charts import cut
from ellzero.report._svg import Axis, Canvas, linear_ticks

__all__ = ["chart_coefficients", "chart_prior", "chart_trace"]

_MOST_POINTS = 250


def chart_coefficients(variables: Sequence[dict[str, Any]], width: int, most: int = 20) -> Canvas:
    """Draw 95% intervals of standardised coefficients: ``low``, ``mean`` and ``high``."""
    shown = variables[:most]
    wide = width > 400
    left, row = (170, 20) if wide else (110, 20)
    canvas = Canvas(width, 58 + row * len(shown), "Coefficients with 95% intervals")
    bottom = 8.0 + row * len(shown)
    ends = [v[key] for v in shown for key in ("low", "high")]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    pad = 0.04 * (high - low) or 1.0
    x = Axis(low - pad, high + pad, left, width - 14)
    for tick in linear_ticks(x.low, x.high, 6 if wide else 3):
        canvas.line([(x(tick), 4), (x(tick), bottom)], "grid")
        canvas.text(x(tick), bottom + 18, number(tick, 3), "tick", "middle")
    canvas.line([(x(0.0), 4), (x(0.0), bottom)], "zero")
    for place, variable in enumerate(shown):
        at = 18.0 + row * place
        canvas.text(left - 8, at + 4, cut(variable["name"], 21 if wide else 13), "tick", "end")
        canvas.line([(x(variable["low"]), at), (x(variable["high"]), at)], "curve")
        canvas.add("circle", cx=x(variable["mean"]), cy=at, r=4, class_="chosen")
    label = "standard deviations of the target" if wide else "s.d. of the target"
    canvas.text((left + x.end) / 2, bottom + 38, label, "label", "middle")
    return canvas


def chart_prior(prior: NDArray[Any], posterior: NDArray[Any], width: int) -> Canvas:
    """Draw how many variables the prior expects, dashed, and the posterior, as bars."""
    canvas = Canvas(width, 260, "Number of variables: prior and posterior")
    top = int(max(np.quantile(prior, 0.99), posterior.max(), 3)) + 1
    # Where there are many sizes, several to a bar.
    step = -(-top // 40)
    edges = np.arange(0, top + step, step)
    shares = [
        np.histogram(np.clip(sizes, 0, edges[-1] - 0.5), edges)[0] / sizes.size
        for sizes in (prior.ravel(), posterior.ravel())
    ]
    x = Axis(0.0, float(len(edges) - 1), 46, width - 14)
    y = Axis(0.0, 1.08 * max(share.max() for share in shares), canvas.height - 46, 26)
    places = [(k + 0.5, f"{edges[k]}") for k in range(len(edges) - 1)]
    room = -(-len(places) // (14 if width > 400 else 7))
    canvas.axes(
        x,
        y,
        places[::room],
        [(t, number(t)) for t in linear_ticks(0.0, y.high, 4)],
        "number of variables" if step == 1 else f"number of variables, {step} to a bar",
        "probability",
    )
    for k, share in enumerate(shares[1]):
        start, end = x(k + 0.12), x(k + 0.88)
        canvas.add("rect", x=start, y=y(float(share)), width=end - start,
                   height=y(0.0) - y(float(share)), class_="bar")  # fmt: skip
    steps = [
        point
        for k, share in enumerate(shares[0])
        for point in ((x(float(k)), y(float(share))), (x(k + 1.0), y(float(share))))
    ]
    canvas.line(steps, "dashed")
    return canvas


def chart_trace(name: str, draws: NDArray[Any], width: int) -> Canvas:
    """Draw the chains of one number, each in its colour; of many draws every so many."""
    canvas = Canvas(width, 150, f"Trace of {name}")
    count = draws.shape[1]
    step = -(-count // _MOST_POINTS)
    kept = np.asarray(draws, dtype=np.float64)[:, ::step]
    low, high = float(kept.min()), float(kept.max())
    pad = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    x = Axis(0.0, float(max(count - 1, 1)), 58, width - 14)
    y = Axis(low - pad, high + pad, canvas.height - 28, 26)
    canvas.axes(
        x,
        y,
        [(t, f"{t:,.0f}") for t in linear_ticks(0.0, x.high, 5 if width > 400 else 3)],
        [(t, number(t)) for t in linear_ticks(y.low, y.high, 3)],
        "",
        name,
    )
    for chain, values in enumerate(kept):
        points = [(x(float(step * k)), y(float(value))) for k, value in enumerate(values)]
        canvas.line(points, f"trace c{chain % 8}")
    return canvas
