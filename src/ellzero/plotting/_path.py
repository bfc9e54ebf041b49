"""Coefficients along the solution path of a frontier."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from ellzero._spacing import limit_axis
from ellzero.plotting._labels import PALETTE, label_ends

if TYPE_CHECKING:
    from ellzero.regression import Frontier

__all__ = ["draw_path"]

_GONE = "0.72"
# As many are named, and of these as many as there are colours have one.
_MOST_NAMED, _NO_COLOUR = 12, "0.45"


def draw_path(
    frontier: Frontier,
    *,
    max_size: int | None,
    standardised: bool,
    lam: float | None,
    ax: Axes | None,
) -> Axes:
    """Draw what :meth:`ellzero.Frontier.plot` describes."""
    sizes, edges, names, values = _steps(frontier, max_size, standardised, lam)
    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax must be a matplotlib Axes; got {type(ax).__name__}.")
    if ax is None:
        _, ax = plt.subplots(figsize=(8, 5), layout="constrained")
    ax.set(
        xscale="log",
        xlabel="lam, the price of a variable",
        ylabel="standardised coefficient" if standardised else "coefficient",
    )
    ax.spines[["top", "right"]].set_visible(False)
    if len(sizes) == 1:
        ax.text(0.5, 0.5, "one model only: no path to draw", ha="center", transform=ax.transAxes)
        return ax

    ax.set_xlim(edges[0], edges[-1])  # falling, so that the model grows from left to right
    _tick(ax, edges[0] / edges[-1])
    low, high = _limits(
        values, values[edges[:-1] >= (np.inf if lam is None else lam)], standardised
    )
    margin = 0.06 * max(high - low, np.finfo(float).tiny)
    ax.set_ylim(low - margin, high + margin)
    ax.vlines(edges[1:-1], 0, 1, transform=ax.get_xaxis_transform(), color="0.9", lw=0.8, zorder=0)
    ax.axhline(0, color="0.3", lw=0.8)
    if lam is not None:
        ax.axvline(lam, color="0.3", ls="--", lw=1)

    stays = values[-1] != 0
    # Those that are seen most come first: by the area between a line and zero.
    area = np.log(edges[:-1] / edges[1:]) @ np.clip(np.abs(values), 0, max(high, -low))
    order = np.flatnonzero(stays)[np.argsort(-area[stays], kind="stable")]
    named = order[:_MOST_NAMED]
    spare = [_NO_COLOUR] * _MOST_NAMED
    colours = dict(zip(named.tolist(), [*PALETTE, *spare], strict=False))
    for j in [*(j for j in range(len(names)) if j not in colours), *reversed(colours)]:
        colour, width = (colours[j], 1.8) if j in colours else (_GONE, 1.0)
        ax.plot(*_outline(edges, values[:, j]), color=colour, lw=width)
    unnamed = label_ends(ax, values[-1, named], [names[j] for j in named], list(colours.values()))
    _name_sizes(ax, sizes, edges)
    peaks = values[np.abs(values).argmax(axis=0), np.arange(len(names))]
    beyond = [j for j in np.argsort(-np.abs(peaks), kind="stable") if not low <= peaks[j] <= high]
    _note(
        ax,
        [f"{names[j]} ({peaks[j]:.3g})" for j in beyond],
        [names[j] for j in np.flatnonzero(~stays)],
        len(order) - len(named) + unnamed,
    )
    return ax


def _limits(
    values: NDArray[np.float64], marked: NDArray[np.float64], standardised: bool
) -> tuple[float, float]:
    """Return the heights that are drawn: all, or without a few that are far away.

    Models up to the price that is marked are drawn whole, and so are coefficients in their own
    units, which are not comparable anyway.
    """
    low, high = min(values.min(), 0.0), max(values.max(), 0.0)
    if standardised:
        limit = limit_axis(np.abs(values).max(axis=0), np.abs(marked).max(initial=0.0))
        low, high = max(low, -limit), min(high, limit)
    return float(low), float(high)


class _Steps(NamedTuple):
    """The models drawn, the ends of their intervals, and a line for every variable."""

    sizes: NDArray[np.int64]
    edges: NDArray[np.float64]
    names: list[str]
    values: NDArray[np.float64]  # by model and variable


def _steps(
    frontier: Frontier, max_size: int | None, standardised: bool, lam: float | None
) -> _Steps:
    lines = frontier._lines(standardised=standardised)
    sizes = np.array(lines.sizes)
    if max_size is not None:
        sizes = sizes[sizes <= max(max_size, sizes[0])]
    members = lines.members[: len(sizes)]
    seen = np.unique(np.concatenate(members))
    names = [lines.names[j] for j in seen]
    values = np.zeros((len(sizes), len(seen)))
    for row, own, heights in zip(values, members, lines.values, strict=False):
        row[np.searchsorted(seen, own)] = heights
    breakpoints = frontier.lambdas[: len(sizes) - 1]
    if not breakpoints.size:
        return _Steps(sizes, breakpoints, names, values)
    first, last = breakpoints[0], breakpoints[-1]
    reach = max((first / last) ** 0.08, 1.3)  # how far the first and last model are drawn
    low = frontier.lambdas[len(sizes) - 1] if len(sizes) <= len(frontier.lambdas) else lines.end
    shown = (
        [first * reach, last / reach] if lam is None else [first * reach, last / reach, lam / 1.1]
    )
    edges = [max(shown), *breakpoints, max(low, min(shown))]
    return _Steps(sizes, np.array(edges), names, values)


def _outline(
    edges: NDArray[np.float64], steps: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the corners of a line that follows the steps, up from zero and down, not along it."""
    heights = np.concatenate([[0.0], steps, [steps[-1]]])
    x = np.repeat(edges, 2)
    y = np.column_stack([heights[:-1], heights[1:]]).ravel()
    # A corner is left out if the line is at zero there and on both sides of it.
    around = np.concatenate([[0.0], y, [0.0]])
    idle = (around[:-2] == 0) & (y == 0) & (around[2:] == 0)
    return x, np.where(idle, np.nan, y)


def _tick(ax: Axes, ratio: float) -> None:
    """Label few enough prices for the labels not to touch."""
    subs = (1.0,) if ratio > 300 else (1.0, 2.0, 5.0)
    ax.xaxis.set_major_locator(LogLocator(subs=subs))
    ax.xaxis.set_minor_formatter(NullFormatter())
    if len(subs) > 1:
        ax.xaxis.set_major_formatter(FuncFormatter(lambda price, _: _format_price(price)))


def _format_price(price: float) -> str:
    return f"{price:,.0f}" if 1 <= price < 1e7 else f"{price:g}"


def _name_sizes(ax: Axes, sizes: NDArray[np.int64], edges: NDArray[np.float64]) -> None:
    """Write the sizes above the middle of their intervals, where there is room."""
    top = ax.secondary_xaxis("top")
    centres = np.sqrt(edges[:-1]) * np.sqrt(edges[1:])
    pixels = ax.transData.transform(np.column_stack([centres, np.zeros_like(centres)]))[:, 0]
    room = 16 * ax.figure.dpi / 72
    kept: list[int] = []
    for place, at in enumerate(pixels):
        if not kept or at - pixels[kept[-1]] >= room:
            kept.append(place)
    top.set_xticks(centres[kept], [str(sizes[place]) for place in kept])
    top.minorticks_off()
    top.tick_params(length=0)
    top.spines["top"].set_visible(False)
    top.set_xlabel("number of variables")


def _note(ax: Axes, beyond: list[str], gone: list[str], unnamed: int) -> None:
    """Note what is out of sight, which variables left again, and how many are not named."""
    parts = []
    if beyond:
        parts.append(f"beyond the axis: {', '.join(beyond)}")
    if unnamed:
        parts.append(f"not named: {unnamed} other{'s' * (unnamed > 1)}")
    if gone:
        parts.append(f"in grey, not in the largest model: {', '.join(gone)}")
    if parts:
        width = ax.get_window_extent().width * 72 / ax.figure.dpi
        text = textwrap.shorten("; ".join(parts), 230, placeholder=" ...")
        ax.annotate(
            textwrap.fill(text, max(20, int(width / 4.4))).replace("$", r"\$"),
            xy=(0, 0),
            xycoords="axes fraction",
            xytext=(0, -40),
            textcoords="offset points",
            va="top",
            fontsize=8,
            color="0.4",
        )
