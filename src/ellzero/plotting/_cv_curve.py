"""The cross-validated error against lam."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

if TYPE_CHECKING:
    from ellzero.regression import L0RegressorCV

__all__ = ["draw_cv_curve"]


def draw_cv_curve(model: L0RegressorCV, *, ax: Axes | None) -> Axes:
    """Draw what :meth:`ellzero.L0RegressorCV.plot` describes."""
    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax must be a matplotlib Axes; got {type(ax).__name__}.")
    if ax is None:
        _, ax = plt.subplots(figsize=(8, 5), layout="constrained")
    results = model.cv_results_
    mine = results["ridge"] == model.ridge_
    low = results["lam_low"][mine]
    error, se = results["mean_error"][mine], results["se_error"][mine]
    inner = low[low > 0]
    if not inner.size:
        ax.text(0.5, 0.5, "one model only: no curve", ha="center", transform=ax.transAxes)
        return ax
    reach = max((inner[0] / inner[-1]) ** 0.05, 1.2)
    edges = np.concatenate([[inner[0] * reach], inner, [inner[-1] / reach][: int(low[-1] == 0)]])
    steps = len(edges) - 1
    ax.stairs(error[:steps][::-1], edges[::-1], baseline=None, color="#0072B2", lw=1.6)
    if np.isfinite(se).all():
        ax.fill_between(
            np.repeat(edges, 2)[1:-1],
            np.repeat((error - se)[:steps], 2),
            np.repeat((error + se)[:steps], 2),
            color="#0072B2",
            alpha=0.15,
            lw=0,
        )
    for rule, name, style in (("min", "least", "--"), ("1se", "one standard error", ":")):
        mark = model._marks[rule]
        at = np.clip(mark.lam, edges[-1], edges[0])
        ax.axvline(at, color="0.3", ls=style, lw=1.2, label=f"{name}: {mark.size:.1f} variables")
    ax.set(
        xscale="log",
        xlim=(edges[0], edges[-1]),
        xlabel="lam, the price of a variable",
        ylabel="mean squared error on rows held out",
    )
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return ax
