"""The paper's diabetes example: which of 64 columns explain the progression of the disease.

Fits L0Regressor, prints what it found and leaves a picture in demo/.
"""

from itertools import pairwise
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from ellzero import L0Regressor
from ellzero.datasets import load_diabetes_interactions

LAM = 5_000  # the paper's eight variables come out for any lam from 3,578 to 7,697

# Okabe and Ito's colours, which the colour-blind can tell apart, with a dark yellow
PALETTE = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#9A8700"]


def coefficients_by_lam(X, y, lams):
    """Fit at every lam; a row of standardised coefficients each."""
    rows = []
    for lam in lams:
        model = L0Regressor(lam).fit(X, y)
        rows.append(model.coef_ * X.std(axis=0, ddof=0).to_numpy() / y.std(ddof=0))
    return np.array(rows)


def spread_out(heights, gap):
    """Move label heights apart until neighbours are at least a gap from each other."""
    order = np.argsort(heights)
    placed = np.array(heights, dtype=float)
    for _ in range(1000):
        close = False
        for low, high in pairwise(order):
            overlap = gap - (placed[high] - placed[low])
            if overlap > 1e-9:
                placed[low] -= overlap / 2
                placed[high] += overlap / 2
                close = True
        if not close:
            break
    return placed


def draw(lams, path, model, names, target):
    """Draw coefficients against lam, and what removing each chosen variable would cost."""
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 4.6), width_ratios=[3, 2], layout="constrained"
    )
    chosen = list(model.support_)
    colours = dict(zip(chosen, PALETTE, strict=True))
    for j in np.flatnonzero(np.abs(path).max(axis=0)):
        colour = colours.get(j, "0.75")
        left.step(lams, path[:, j], where="mid", color=colour, lw=2 if j in colours else 0.8)
    ends = [path[0, j] for j in chosen]
    for j, height in zip(chosen, spread_out(ends, 0.032), strict=True):
        left.annotate(
            names[j],
            (lams[0], height),
            xytext=(-6, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            color=colours[j],
        )
    left.axvline(model.lam_, color="0.3", ls="--", lw=1)
    left.axhline(0, color="0.3", lw=0.8)
    left.set(
        xscale="log",
        xlim=(lams[0] / 1.9, lams[-1]),
        xlabel="lam, the price of a variable",
        ylabel="standardised coefficient",
        title="Coefficients as the price rises",
    )
    table = model.summary()[::-1]
    bars = [colours[names.index(name)] for name in table.index]
    right.barh(table.index, 100 * table["r2_lost"], color=bars)
    right.set(xlabel="R² lost without it, %", title=f"The {len(table)} chosen at lam = {LAM:,}")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, dpi=150)
    plt.close(figure)


def main():
    """Fit, print and draw."""
    diabetes = load_diabetes_interactions()
    model = L0Regressor(lam=LAM).fit(diabetes.data, diabetes.target)
    print(f"{len(diabetes.target)} patients, {diabetes.data.shape[1]} columns, lam = {LAM:,}")
    print(f"chose {len(model.support_)}: {model.certificate_}")
    print(f"R² = {model.score(diabetes.data, diabetes.target):.3f}\n")
    print(model.summary().round(3).to_string())

    lams = np.geomspace(2_700, 200_000, 200)
    path = coefficients_by_lam(diabetes.data, diabetes.target, lams)
    target = Path("demo") / "diabetes.png"
    target.parent.mkdir(exist_ok=True)
    draw(lams, path, model, diabetes.feature_names, target)
    print(f"\nThe picture is in {target}")


if __name__ == "__main__":
    main()
