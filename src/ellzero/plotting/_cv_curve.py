"""The cross-validated error against lam, or against the number of variables for every ridge."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

__all__ = ["draw_cv_curve"]

_RULES = (("min", "least", "--"), ("1se", "one standard error", ":"))


def draw_cv_curve(
    model: Any, *, ax: Axes | None, error: str = "mean squared error on rows held out"
) -> Axes:
    """Draw what :meth:`ellzero.L0RegressorCV.plot` describes, of any cross-validated selection."""
    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax must be a matplotlib Axes; got {type(ax).__name__}.")
    if ax is None:
        _, ax = plt.subplots(figsize=(8, 5), layout="constrained")
    if len(np.unique(model.cv_results_["ridge"])) > 1:
        _draw_ridges(model, ax)
    else:
        _draw_one(model, ax)
    ax.set_ylabel(error)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _draw_one(model: Any, ax: Axes) -> None:
    """Draw the error against the price."""
    results = model.cv_results_
    low, error, se = results["lam_low"], results["mean_error"], results["se_error"]
    inner = low[low > 0]
    if not inner.size:
        ax.text(0.5, 0.5, "one model only: no curve", ha="center", transform=ax.transAxes)
        return
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
    for rule, name, style in _RULES:
        mark = model._marks[rule]
        at = np.clip(mark.lam, edges[-1], edges[0])
        ax.axvline(at, color="0.3", ls=style, lw=1.2, label=f"{name}: {mark.size:.1f} variables")
    ax.set(xscale="log", xlim=(edges[0], edges[-1]), xlabel="lam, the price of a variable")
    ax.legend(frameon=False)


def _draw_ridges(model: Any, ax: Axes) -> None:
    """Draw the error against the number of variables, a line for each ridge.

    Prices at different ridges can't be compared: the more is shrunk the less a variable gains.
    """
    results, marks = model.cv_results_, model._marks
    ridges = np.unique(results["ridge"])
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.93, len(ridges)))
    size, error = results["mean_size"], results["mean_error"]
    last = 2.5 * max(mark.size for mark in marks.values()) + 2
    for ridge, colour in zip(ridges, colours, strict=True):
        mine = results["ridge"] == ridge
        chosen = ridge == marks[model.rule].ridge
        ax.plot(
            size[mine],
            error[mine],
            color=colour,
            lw=2.4 if chosen else 1.1,
            alpha=1 if chosen else 0.75,
            zorder=3 if chosen else 2,
            label=f"{ridge:.3g}",
        )
        if chosen and np.isfinite(results["se_error"][mine]).all():
            se = results["se_error"][mine]
            band = error[mine] - se, error[mine] + se
            ax.fill_between(size[mine], *band, color=colour, alpha=0.15, lw=0)
    for (rule, name, _), marker in zip(_RULES, "os", strict=True):
        mark = marks[rule]
        inside = (results["ridge"] == mark.ridge) & (results["lam_low"] <= mark.lam)
        at = int(np.flatnonzero(inside & (results["lam_high"] >= mark.lam))[0])
        where = f"{name}: ridge {mark.ridge:.3g}, {mark.size:.1f} variables"
        ax.plot(size[at], error[at], marker, color="0.15", ms=7, zorder=5, label=where)
    seen = error[(size <= last) & np.isfinite(error)]
    # If all are equal, limits must differ all the same.
    margin = 0.05 * (float(np.ptp(seen)) or float(np.abs(seen).max()) or 1.0)
    top = min(float(seen.max()), float(seen.min() + 1.6 * (error[0] - seen.min()))) + margin
    ax.set(xlim=(0, last), ylim=(seen.min() - margin, max(top, seen.min() + margin)))
    ax.set_xlabel("number of variables, mean over folds")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    lines, labels = ax.get_legend_handles_labels()
    rules = ax.legend(lines[len(ridges) :], labels[len(ridges) :], frameon=False, loc="upper right")
    ax.add_artist(rules)
    ax.legend(
        lines[: len(ridges)],
        labels[: len(ridges)],
        title="ridge",
        frameon=False,
        loc="center left",
        bbox_to_anchor=(1, 0.5),
    )
