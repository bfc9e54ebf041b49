"""Labels that do not overlap."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ellzero._spacing import space_out

__all__ = ["PALETTE", "label_ends", "shorten", "space_out"]

# Okabe and Ito's colours, which the colour-blind can tell apart, with a dark yellow
PALETTE = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#9A8700"]

_FONT_POINTS = 8.0
_LINE_POINTS = 9.6


def label_ends(ax: Axes, heights: NDArray[np.float64], names: list[str], colours: list[str]) -> int:
    """Write names to the right of the axes, each joined to its height by a thin line.

    If there is no room for all of them, those nearest zero go without; how many is returned. The
    limits of the y-axis must have been set: what is beyond them has an arrow.
    """
    low, high = ax.get_ylim()
    height_points = ax.get_window_extent().height * 72 / ax.figure.dpi
    gap = (high - low) * _LINE_POINTS / height_points
    room = max(1, int((high - low) / gap))
    kept = np.sort(np.argsort(-np.abs(heights), kind="stable")[:room])
    seen = np.clip(heights, low, high)
    # By their own heights first, so that lines to those beyond an end don't cross
    kept = kept[np.argsort(heights[kept], kind="stable")]
    for j, place in zip(kept, space_out(seen[kept], gap, low, high), strict=True):
        arrow = " \u2191" * bool(heights[j] > high) + " \u2193" * bool(heights[j] < low)
        ax.annotate(
            shorten(names[j]) + arrow,
            xy=(1, seen[j]),
            xycoords=ax.get_yaxis_transform(),
            xytext=(1.04, place),
            textcoords=ax.get_yaxis_transform(),
            va="center",
            fontsize=_FONT_POINTS,
            color=colours[j],
            arrowprops={
                "arrowstyle": "-",
                "color": colours[j],
                "lw": 0.6,
                "shrinkA": 1,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
        )
    return len(heights) - len(kept)


def shorten(name: str, most: int = 30) -> str:
    """Cut a long name, and keep matplotlib from reading formulas in it."""
    return (name if len(name) <= most else name[: most - 3] + "...").replace("$", r"\$")
