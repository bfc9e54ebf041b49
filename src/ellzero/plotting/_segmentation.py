"""A series and its segments; changepoints along a path of penalties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

if TYPE_CHECKING:
    from ellzero.segmentation import PenaltyCurve, Segmentation, SegmentationPath

__all__ = ["draw_penalty_curve", "draw_segmentation", "draw_segmentation_path"]

_BLUE, _RED = "#0072B2", "#D55E00"
_MOST_DOTS = 2000


def _make_axes(ax: Axes | None) -> Axes:
    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax must be a matplotlib Axes; got {type(ax).__name__}.")
    if ax is None:
        _, ax = plt.subplots(figsize=(9, 4), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _places(n: int, labels: Any) -> tuple[Any, str]:
    """Return where along the x-axis samples are drawn, and what it is called."""
    values = None if labels is None else np.asarray(labels)
    if values is None or values.dtype.kind not in "iufM":
        return np.arange(n), "sample"
    return values, str(labels.name) if labels.name is not None else "sample"


def draw_segmentation(segmentation: Segmentation, *, ax: Axes | None) -> Axes:
    """Draw what :meth:`ellzero.Segmentation.plot` describes."""
    ax = _make_axes(ax)
    n = len(segmentation.y)
    places, name = _places(n, segmentation.labels)
    starts = segmentation.changepoints
    ax.set(xlabel=name, ylabel="y")
    if not np.isfinite(segmentation.signal).any():
        ax.text(0.5, 0.5, "no samples: nothing to draw", ha="center", transform=ax.transAxes)
        return ax
    dots = {"marker": ".", "ls": "", "ms": 4} if n <= _MOST_DOTS else {"lw": 0.5}
    ax.plot(places, segmentation.y, color="0.65", label="samples", **dots)
    # The decay run backward through a gap at the start says little, and would take all the room.
    signal = segmentation.signal.copy()
    signal[: int(np.argmax(~np.isnan(segmentation.y)))] = np.nan
    broken = np.insert(signal, starts, np.nan)
    ax.plot(np.insert(places, starts, places[starts]), broken, color=_BLUE, lw=1.6, label="signal")
    alone = np.diff(np.concatenate([[0], starts, [n]])) == 1
    if alone.any():  # a line through one point is not seen
        at = np.concatenate([[0], starts])[alone]
        ax.plot(places[at], signal[at], color=_BLUE, marker="_", ls="")
    ax.plot(
        places[starts],
        np.full(len(starts), 0.015),
        transform=ax.get_xaxis_transform(),
        color=_RED,
        marker="|",
        ms=9,
        ls="",
        label="changepoints" if segmentation.decay == 1 else "spikes",
    )
    ax.set_title(
        f"{segmentation.n_segments} segment{'s' * (segmentation.n_segments != 1)}, "
        f"lam = {segmentation.lam:.3g}",
        loc="left",
        fontsize=10,
    )
    ax.margins(x=0.01, y=0.1)
    ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, frameon=False, borderaxespad=0.2)
    return ax


def draw_segmentation_path(path: SegmentationPath, *, ax: Axes | None) -> Axes:
    """Draw what :meth:`ellzero.SegmentationPath.plot` describes."""
    ax = _make_axes(ax)
    ax.set(xlabel="sample", ylabel="lam, the price of a jump")
    if not len(path.lambdas):
        ax.text(0.5, 0.5, "one segmentation only: no path", ha="center", transform=ax.transAxes)
        return ax
    top, bottom = path.lambdas[0], path.lambdas[-1]
    reach = max((top / bottom) ** 0.08, 1.3)
    floor = max(path.lam_min, bottom / reach)
    edges = np.concatenate([[min(path.lam_max, top * reach)], path.lambdas, [floor]])
    # A bar runs from where a changepoint comes in to where it goes out, if it does.
    open_since: dict[int, float] = {}
    bars: list[tuple[int, float, float]] = []
    for place, changepoints in enumerate(path.changepoints):
        present = set(changepoints.tolist())
        gone = [t for t in open_since if t not in present]
        bars += [(t, edges[place], open_since.pop(t)) for t in gone]
        for t in present:
            open_since.setdefault(t, edges[place])
    bars += [(t, edges[-1], since) for t, since in open_since.items()]
    at, low, high = np.array(bars).T
    ax.vlines(at, low, high, color=_BLUE, lw=1.2)
    ax.set(yscale="log", ylim=(edges[-1], edges[0]), xlim=(0, len(path._series.y)))
    _name_numbers(ax, path.n_segments, edges)
    return ax


def _name_numbers(ax: Axes, numbers: Any, edges: Any) -> None:
    """Write the numbers of segments at the middle of their intervals, where there is room."""
    right = ax.secondary_yaxis("right")
    centres = np.sqrt(edges[:-1]) * np.sqrt(edges[1:])
    pixels = ax.transData.transform(np.column_stack([np.zeros_like(centres), centres]))[:, 1]
    room = 11 * ax.figure.dpi / 72
    kept: list[int] = []
    for place, at in enumerate(pixels):
        if not kept or pixels[kept[-1]] - at >= room:
            kept.append(place)
    right.set_yticks(centres[kept], [str(numbers[place]) for place in kept])
    right.minorticks_off()
    right.tick_params(length=0)
    right.spines["right"].set_visible(False)
    right.set_ylabel("number of segments")


def draw_penalty_curve(curve: PenaltyCurve, *, ax: Axes | None) -> Axes:
    """Draw what :meth:`ellzero.PenaltyCurve.plot` describes."""
    ax = _make_axes(ax)
    ax.set(xlabel="lam, the price of a jump", ylabel="mean squared error on samples held out")
    if len(curve.lam) == 1:
        ax.text(0.5, 0.5, "one penalty only: no curve", ha="center", transform=ax.transAxes)
        return ax
    ax.plot(curve.lam, curve.error, color=_BLUE, marker=".", lw=1.6)
    low, high = curve.error - curve.se, curve.error + curve.se
    ax.fill_between(curve.lam, low, high, color=_BLUE, alpha=0.15, lw=0)
    for name, lam, style in (
        ("least", curve.best, "--"),
        ("one standard error", curve.one_se, ":"),
    ):
        segments = curve.n_segments[np.argmin(np.abs(curve.lam - lam))]
        label = f"{name}: lam = {lam:.3g}, {segments:.1f} segments"
        ax.axvline(lam, color="0.3", ls=style, lw=1.2, label=label)
    ax.set(xscale="log", xlim=(curve.lam[0], curve.lam[-1]))
    ax.legend(frameon=False)
    return ax
