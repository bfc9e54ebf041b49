"""What results look like in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero._format import fixed, number, plural
from ellzero._html import bar, box, cell, names

if TYPE_CHECKING:
    import pandas as pd

    from ellzero._certificate import Certificate
    from ellzero.regression import Frontier, GroupFrontier, Stability
    from ellzero.segmentation import Segmentation, SegmentationPath

__all__ = [
    "show_certificate",
    "show_fitted",
    "show_frontier",
    "show_segmentation",
    "show_segmentation_path",
    "show_stability",
]

_MOST_ROWS = 12
_WIDTH, _HEIGHT = 560, 90


def show_frontier(frontier: Frontier | GroupFrontier) -> str:
    """Show the best model of every size, with its prices."""
    table = frontier.to_frame()
    kind = "groups" if "groups" in table else "variables"
    share = "r2" if "r2" in table else "d2"
    rows = [
        [
            str(size),
            fixed(row[share]),
            bar(row[share]),
            _prices(row["lam_low"], row["lam_high"]),
            names(row[kind]),
        ]
        for size, row in table.head(_MOST_ROWS).iterrows()
    ]
    return box(
        repr(frontier)[1:-1],
        ["size", share.upper().replace("2", "²"), "", "solution at prices", kind],
        rows,
        text=(2, 4),
        left_out=len(table) - len(rows),
    )


def show_certificate(certificate: Certificate) -> str:
    """Show what is known, as a sentence and as numbers."""
    facts = {
        "objective": certificate.objective,
        "bound": certificate.bound,
        "gap": certificate.gap,
        "nodes": certificate.nodes or None,
        "always in": len(certificate.always_in) or None,
        "always out": len(certificate.always_out) or None,
    }
    rows = [[cell(name), number(value, 6)] for name, value in facts.items() if value is not None]
    title = "Proved: nothing is better" if certificate.proved else "Found, not proved"
    return box(title, ["", ""], rows, lead=f"<p>{cell(certificate)}</p>")


def show_stability(found: Stability) -> str:
    """Show how often variables are chosen on halves."""
    table = found.to_frame().head(_MOST_ROWS)
    rows = [
        [
            cell(name),
            fixed(row["frequency"]),
            bar(row["frequency"]),
            "+" if row["sign"] > 0 else "\u2212",
        ]
        for name, row in table.iterrows()
    ]
    chosen = int((found.to_frame()["frequency"] > 0).sum())
    return box(
        repr(found)[1:-1],
        ["variable", f"chosen, models of {found.size}", "", "sign"],
        rows,
        text=(0, 2),
        left_out=max(chosen - len(rows), 0),
    )


def show_segmentation(found: Segmentation) -> str:
    """Show a series with its pieces, and the first jumps."""
    table = found.to_frame()
    rows = [
        [cell(_label(found, int(row["start"]))), number(row["level"]), number(row["jump"])]
        for _, row in table.iloc[1:].head(_MOST_ROWS).iterrows()
    ]
    return box(
        repr(found)[1:-1],
        ["begins at", "level", "jump"],
        rows,
        lead=_sketch(found.y, found.signal, found.changepoints),
        left_out=max(len(table) - 1 - len(rows), 0),
        notes=list(found.cautions),
    )


def show_segmentation_path(path: SegmentationPath) -> str:
    """Show numbers of segments, and the prices at which each is optimal."""
    table = path.to_frame()
    rows = [
        [str(int(row["n_segments"])), number(row["loss"]), _prices(row["lam_low"], row["lam_high"])]
        for _, row in table.head(_MOST_ROWS).iterrows()
    ]
    return box(
        repr(path)[1:-1],
        ["segments", "loss", "optimal at penalties"],
        rows,
        text=(),
        left_out=len(table) - len(rows),
    )


def show_fitted(model: Any) -> str:
    """Show what a fitted estimator says of its variables; nothing before it is fitted."""
    if not (hasattr(model, "summary") and hasattr(model, "support_")):
        return ""
    table: pd.DataFrame = model.summary()
    wanted = ["inclusion", "mcse", "coefficient", "standardised", "sd", "low", "high"]
    wanted += ["odds_ratio_per_sd", "rate_ratio", "removal_cost"]
    columns = [name for name in wanted if name in table]
    heads = {"mcse": "± Monte Carlo", "low": "2.5%", "high": "97.5%"}
    shown = [heads.get(name, name.replace("_", " ")) for name in columns]
    bars = _bars(table)
    rows = []
    for place, (index, row) in enumerate(table.head(_MOST_ROWS).iterrows()):
        # A group has its name, its columns below it theirs.
        label = next(filter(None, reversed(index))) if isinstance(index, tuple) else index
        rows.append([cell(label), *(_written(name, row[name]) for name in columns), bars[place]])
    certificate = getattr(model, "certificate_", None)
    return box(
        f"{plural(len(model.support_), 'column')} of {model.n_features_in_} "
        f"{'is' if len(model.support_) == 1 else 'are'} in",
        ["variable", *shown, ""],
        rows,
        text=(0, len(shown) + 1),
        left_out=len(table) - len(rows),
        notes=[
            str(certificate) if certificate is not None else "",
            table.attrs.get("sensitivity", ""),
        ],
    )


def _written(name: str, value: float) -> str:
    return fixed(value) if name in ("inclusion", "mcse") else number(value)


def _bars(table: pd.DataFrame) -> list[str]:
    """Draw probabilities, or what would be lost without each variable, if these are known."""
    for name in ("inclusion", "r2_lost", "d2_lost"):
        if name in table and len(table):
            values = table[name].to_numpy(dtype=float)
            top = 1.0 if name == "inclusion" else float(np.nanmax(values)) or 1.0
            return [bar(value / top) if np.isfinite(value) else "" for value in values]
    return [""] * len(table)


def _prices(low: float, high: float) -> str:
    if not np.isfinite(low):
        return "none"
    return f"{number(low)} to {number(high)}" if np.isfinite(high) else f"above {number(low)}"


def _label(found: Segmentation, index: int) -> object:
    return index if found.labels is None else found.labels[index]


def _sketch(
    y: NDArray[np.float64], signal: NDArray[np.float64], jumps: NDArray[np.int64]
) -> str:  # fmt: skip
    """Draw a series as its range in every pixel, and the signal through it."""
    known = np.flatnonzero(np.isfinite(y))
    if not len(known):
        return ""
    low, high = float(y[known].min()), float(y[known].max())
    span = (high - low) or 1.0

    def at(index: float) -> float:
        return _WIDTH * (index + 0.5) / len(y)

    def up(value: float) -> float:
        return 3 + (_HEIGHT - 6) * (1 - (min(max(value, low), high) - low) / span)

    pixel = (known * (_WIDTH // 2) // len(y)).astype(int)
    starts = np.flatnonzero(np.diff(pixel, prepend=-1))
    bottoms = np.minimum.reduceat(y[known], starts)
    tops = np.maximum.reduceat(y[known], starts)
    ranges = "".join(
        f"M{2 * p + 1} {up(a) + 0.7:.1f}V{up(b) - 0.7:.1f}"
        for p, a, b in zip(pixel[starts], bottoms, tops, strict=True)
    )
    drawn = np.unique(np.linspace(0, len(y) - 1, min(len(y), _WIDTH)).astype(int))
    drawn = np.union1d(drawn, np.concatenate([jumps, jumps - 1]).astype(int))
    level = "".join(
        f"{'L' if k else 'M'}{at(t):.1f} {up(float(signal[t])):.1f}"
        for k, t in enumerate(drawn[np.isfinite(signal[drawn])].tolist())
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        'aria-label="The series and its pieces">'
        f'<path d="{ranges}" style="stroke:var(--ez-soft);stroke-opacity:.55;fill:none"/>'
        f'<path d="{level}" style="stroke:var(--ez-accent);stroke-width:1.8;fill:none"/></svg>'
    )
