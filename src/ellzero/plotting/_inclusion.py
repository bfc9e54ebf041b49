"""Inclusion probabilities, and coefficients with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np

from ellzero.plotting._labels import shorten

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["draw_inclusion"]

_BLUE = "#0072B2"


def draw_inclusion(table: pd.DataFrame) -> Any:
    """Draw what :meth:`ellzero.SpikeSlabRegressor.plot` describes, one line per row."""
    height = 1.2 + 0.26 * len(table)
    _, axes = plt.subplots(
        1, 2, figsize=(9, height), layout="constrained", sharey=True, width_ratios=(2, 3)
    )
    place = np.arange(len(table))[::-1]
    likely = (table["inclusion"] > 0.5).to_numpy()
    colours = np.where(likely, _BLUE, "0.65")
    axes[0].barh(place, table["inclusion"], color=colours, height=0.7)
    axes[0].axvline(0.5, color="0.3", lw=1, ls=":")
    axes[0].set(xlim=(0, 1), xlabel="inclusion probability", ylim=(-0.6, len(table) - 0.4))
    axes[0].set_yticks(place, [shorten(str(name)) for name in table.index])
    axes[1].hlines(place, table["low"], table["high"], colors=colours, lw=2)
    axes[1].scatter(table["coefficient"], place, color=colours, s=24, zorder=3)
    axes[1].axvline(0, color="0.3", lw=1)
    axes[1].set(xlabel="coefficient: mean and 95% interval")
    axes[1].tick_params(axis="y", length=0)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    axes[1].spines["left"].set_visible(False)
    return axes
