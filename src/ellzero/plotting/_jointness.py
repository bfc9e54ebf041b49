"""Which variables are in together, and which stand in for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.patches import Rectangle

from ellzero.plotting._labels import PALETTE, shorten

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["draw_jointness"]

_BLUE, _ORANGE = PALETTE[0], PALETTE[3]
# Log odds ratios beyond this have the same colour.
_STRONG = 4.0
# A square fills its cell where both are in as much more, or less, often than by chance as can be.
_MOST = 0.25


def draw_jointness(pairs: pd.DataFrame, inclusion: pd.Series) -> Any:
    """Draw what :meth:`ellzero.SpikeSlabRegressor.plot_jointness` describes.

    ``inclusion`` are the variables' probabilities, in the order in which they are shown.
    """
    names = [str(name) for name in inclusion.index]
    size = len(names)
    place = {name: i for i, name in enumerate(inclusion.index)}
    _, ax = plt.subplots(figsize=(3.4 + 0.34 * size, 2.0 + 0.34 * size), layout="constrained")
    colours = LinearSegmentedColormap.from_list("jointness", [_ORANGE, "0.92", _BLUE])
    rows = [(place[i], place[j]) for i, j in zip(pairs["first"], pairs["second"], strict=True)]
    ax.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5), aspect="equal")
    ratio = np.clip(np.nan_to_num(pairs["log_odds_ratio"].to_numpy()), -_STRONG, _STRONG)
    strength = np.abs(pairs["both"].to_numpy() - pairs["by_chance"].to_numpy()) / _MOST
    side = 0.94 * np.sqrt(np.clip(strength, 0, 1))
    for (i, j), value, width in zip(rows, ratio, side, strict=True):
        x, y = min(i, j), max(i, j)
        ax.add_patch(
            Rectangle(
                (x - width / 2, y - width / 2),
                width,
                width,
                color=colours((value + _STRONG) / (2 * _STRONG)),
            )
        )
    for i, probability in enumerate(inclusion):
        ax.text(i, i, f"{probability:.2f}", ha="center", va="center", fontsize=7, color="0.25")
        ax.plot([-0.5, i - 0.5], [i + 0.5, i + 0.5], color="0.9", lw=0.6, zorder=0)
        ax.plot([i + 0.5, i + 0.5], [i + 0.5, size - 0.5], color="0.9", lw=0.6, zorder=0)
    ticks = np.arange(size)
    ax.set_yticks(ticks, [shorten(name) for name in names])
    ax.set_xticks(ticks, [shorten(name) for name in names], rotation=90)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    scale = ScalarMappable(Normalize(-_STRONG, _STRONG), colours)
    bar = ax.figure.colorbar(scale, ax=ax, shrink=0.8, ticks=[-_STRONG, 0, _STRONG])
    bar.ax.set_yticklabels(["stand in for\neach other", "by chance", "in together"])
    bar.outline.set_visible(False)
    ax.set_title("In together, or in each other's place", loc="left", fontsize=10)
    return ax
