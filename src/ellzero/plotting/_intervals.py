"""Coefficients with two credible intervals each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np

from ellzero.plotting._labels import shorten

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["draw_intervals"]

_BLUE = "#0072B2"


def draw_intervals(table: pd.DataFrame, half: NDArray[np.float64]) -> Any:
    """Draw one line per row of the table: mean, 95% interval and, thick, the 50% one, ``half``."""
    _, ax = plt.subplots(figsize=(6.5, 1.2 + 0.26 * len(table)), layout="constrained")
    place = np.arange(len(table))[::-1]
    sure = ((table["low"] > 0) | (table["high"] < 0)).to_numpy()
    colours = np.where(sure, _BLUE, "0.65").tolist()
    ax.hlines(place, table["low"], table["high"], colors=colours, lw=1.2)
    ax.hlines(place, half[0], half[1], colors=colours, lw=4)
    ax.scatter(table["coefficient"], place, s=22, zorder=3, color="white", edgecolors=colours)
    ax.axvline(0, color="0.3", lw=1)
    ax.set_yticks(place, [shorten(str(name)) for name in table.index])
    ax.set(xlabel="coefficient: mean, 50% and 95% interval", ylim=(-0.6, len(table) - 0.4))
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax
