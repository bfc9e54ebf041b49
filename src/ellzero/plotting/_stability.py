"""Observed frequencies of variables on halves of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ellzero._columns import column_name
from ellzero.plotting._labels import PALETTE, label_ends

if TYPE_CHECKING:
    from ellzero.regression import Stability

__all__ = ["draw_stability"]


def draw_stability(result: Stability, *, ax: Axes | None) -> Axes:
    """Draw what :meth:`ellzero.Stability.plot` describes."""
    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax must be a matplotlib Axes; got {type(ax).__name__}.")
    if ax is None:
        _, ax = plt.subplots(figsize=(8, 5), layout="constrained")
    sizes, frequencies = result.sizes, result.frequencies
    ever = frequencies.max(axis=0)
    often = np.flatnonzero(ever >= 0.5)
    ax.set(xlabel="number of variables", ylabel="observed frequency on halves", ylim=(0, 1.02))
    ax.set_xlim(sizes[0], max(sizes[-1], sizes[0] + 1))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    rest = np.flatnonzero((ever > 0) & (ever < 0.5))
    ax.plot(sizes, frequencies[:, rest], color="0.85", lw=0.8, zorder=1)
    ax.axvline(result.size, color="0.3", ls="--", lw=1)
    # Those that rise first come first
    order = often[np.argsort(-frequencies[:, often].sum(axis=0), kind="stable")]
    colours = [PALETTE[place % len(PALETTE)] for place in range(len(order))]
    for j, colour in zip(order, colours, strict=True):
        ax.plot(sizes, frequencies[:, j], color=colour, lw=1.8, zorder=2)
    if len(order):
        names = [column_name(j, result.feature_names) for j in order]
        label_ends(ax, frequencies[-1, order], names, colours)
    return ax
