"""Boxplots of many trials, one row per method."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ellzero.paper._methods import PAPERS
from ellzero.plotting._labels import PALETTE

__all__ = ["colour_of", "draw_boxes", "legend_of_colours", "name_rows"]

_THEIRS, _OURS = PALETTE[0], PALETTE[1]


def colour_of(method: str) -> str:
    """Return one colour for the paper's methods, another for those put beside them."""
    return _THEIRS if method in PAPERS else _OURS


def draw_boxes(ax: Axes, data: pd.DataFrame, value: str, methods: Sequence[str]) -> None:
    """Draw one box per method, the first at the top: quartiles, whiskers, and what lies beyond."""
    samples = [data.loc[data["method"] == name, value].to_numpy(dtype=float) for name in methods]
    drawn = ax.boxplot(
        samples,
        orientation="horizontal",
        positions=np.arange(len(methods)),
        widths=0.6,
        patch_artist=True,
        flierprops={"marker": ".", "markersize": 4, "markeredgecolor": "none"},
        medianprops={"color": "black", "lw": 1.6},
    )
    for name, box, outliers in zip(methods, drawn["boxes"], drawn["fliers"], strict=True):
        box.set(facecolor=colour_of(name), alpha=0.55, edgecolor="0.25")
        outliers.set(markerfacecolor=colour_of(name), alpha=0.45)
    name_rows(ax, methods)


def name_rows(ax: Axes, methods: Sequence[str]) -> None:
    """Name the rows after methods, the first at the top."""
    ax.set_yticks(np.arange(len(methods)), methods)
    ax.set_ylim(len(methods) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right"]].set_visible(False)


def legend_of_colours(ax: Axes) -> None:
    """Say which colour is whose, in the lower right corner."""
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=colour, alpha=0.55, edgecolor="0.25", label=label)
        for colour, label in ((_THEIRS, "in the paper"), (_OURS, "beside it"))
    ]
    ax.legend(handles=handles, frameon=False, loc="lower right")
