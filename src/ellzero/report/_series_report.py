"""A segmentation as one self-contained HTML file, with no script in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ellzero.report._charts import both_widths, chart_quantiles
from ellzero.report._page import render
from ellzero.report._series_charts import (
    chart_firmness,
    chart_left_over,
    chart_series,
    times,
)
from ellzero.segmentation import Segmentation

__all__ = ["make_series_report"]

_MOST_ROWS, _MOST_BARS = 100, 30


def make_series_report(
    found: Segmentation, content: dict[str, Any], label: Callable[[int], str]
) -> str:
    """Return the report of a segmentation as HTML.

    Parameters
    ----------
    found : Segmentation
        The segmentation.
    content : dict
        What `ellzero segment` makes of it, for JSON too.
    label : callable
        From an index to what the user calls the sample.

    Returns
    -------
    str
        A whole page. Its security policy allows its own style sheet, by its hash, and nothing else.
    """
    jumps = content["changepoints"]
    followed = [jump for jump in jumps if jump["dropped_at"] is not None]
    firmest = sorted(followed, key=lambda jump: -jump["dropped_at"])[:_MOST_BARS]
    shown_bars = sorted(firmest, key=lambda jump: jump["index"])
    names = (content["data"]["time"] or "sample", content["data"]["column"])
    left = found.y - found.signal
    left = left[np.isfinite(left)]
    lam, lowest = content["lam"], content["followed_down_to"]
    return render(
        "series.html",
        ("style.css", "series.css"),
        **content,
        filters={"times": times, "sized": _sized},
        rows=jumps[:_MOST_ROWS],
        spikes=found.decay < 1,
        weakest=min(followed, key=lambda jump: jump["dropped_at"], default=None),
        bars=len(shown_bars),
        series_chart=both_widths(lambda w: chart_series(found, jumps, label, names, w)),
        firmness_chart=both_widths(lambda w: chart_firmness(shown_bars, lam, lowest, w))
        if shown_bars and lam
        else None,
        left_chart=both_widths(lambda w: chart_left_over(found, label, names, w))
        if left.size
        else None,
        quantile_chart=both_widths(lambda w: chart_quantiles(left, w)) if left.size else None,
    )


def _sized(value: float | None) -> str:
    """Write a size with its sign, a dash for none."""
    if value is None:
        return "\u2013"
    return f"{value:+z.1f}".replace("-", "\u2212")
