"""Coefficients of SBR and of lasso as the penalty grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LassoCV, lasso_path

from ellzero.paper._checks import check_run
from ellzero.paper._claims import Claim, judge, median_interval
from ellzero.paper._methods import LASSO, SBR, Standardised, shuffled_folds
from ellzero.paper._run_trials import one_thread
from ellzero.paper._simulated_problems import SimulatedProblem, simulate_problem
from ellzero.regression import L0Regressor, L0RegressorCV

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CAPTION", "TITLE", "claims", "compute", "draw", "tabulate"]

TITLE = "Solution paths"
CAPTION = (
    "Coefficients of one simulated problem (n = 120, p = 100) from half to four times the penalty "
    "that ten-fold cross-validation chose. Dotted: the true values. Dashed: the chosen penalty."
)
# Penalties, in units of the one that cross-validation chose
_GRID = np.geomspace(0.5, 4.0, 46)  # 1 is among them
# "Settled": the same while the penalty doubles
_SETTLED = 2.0


def compute(data_sets: int = 20, seed: int = 0) -> pd.DataFrame:
    """Follow coefficients from half to four times the penalty that cross-validation chose.

    The paper's design, n = 120 and p = 100. SBR is run anew at every penalty.

    Parameters
    ----------
    data_sets : int
        How many problems; the first is the one that :func:`draw` shows.
    seed : int
        Seed.

    Returns
    -------
    pandas.DataFrame
        A row for every problem, ``method``, penalty and variable that is true or ever in:
        ``ratio``, the penalty over the chosen one, ``penalty``, the ``coefficient`` and its
        ``truth``. SBR's penalty is ``lam`` of ``1/2 RSS + lam k``, lasso's ``alpha`` of
        ``RSS / (2 n) + alpha |b|_1``, for columns of unit l2 norm.

    Examples
    --------
    >>> from ellzero.paper import paths
    >>> data = paths.compute(data_sets=1)
    >>> data.ratio.agg(["min", "max"]).round(3).tolist()
    [0.5, 4.0]
    """
    check_run(data_sets, seed)
    parts = []
    with one_thread():
        for number in range(data_sets):
            problem = simulate_problem(seed, 120, 100, number)
            for method, follow in ((SBR, _follow_sbr), (LASSO, _follow_lasso)):
                chosen, coefficients = follow(problem)
                parts.append(_tell(number, method, chosen, coefficients, problem.beta))
    return pd.concat(parts, ignore_index=True)


def _follow_sbr(problem: SimulatedProblem) -> tuple[float, NDArray[np.float64]]:
    X, y = problem.X, problem.y
    lam = L0RegressorCV(cv=shuffled_folds(problem.seed), solver="sbr").fit(X, y).lam_
    return lam, np.array([L0Regressor(lam * r, solver="sbr").fit(X, y).coef_ for r in _GRID])


def _follow_lasso(problem: SimulatedProblem) -> tuple[float, NDArray[np.float64]]:
    data = Standardised(problem.X, problem.y)
    model = LassoCV(cv=shuffled_folds(problem.seed), max_iter=10_000).fit(data.X, data.y)
    alphas = model.alpha_ * _GRID[::-1]
    coefficients = lasso_path(data.X, data.y, alphas=alphas, max_iter=100_000, tol=1e-9)[1]
    unit = problem.y.std() / np.sqrt(len(problem.y))  # of alpha, for columns of unit norm
    return model.alpha_ * unit, coefficients[:, ::-1].T * data.unit


def _tell(
    number: int,
    method: str,
    chosen: float,
    coefficients: NDArray[np.float64],
    truth: NDArray[np.float64],
) -> pd.DataFrame:
    shown = np.flatnonzero((truth != 0) | (coefficients != 0).any(axis=0))
    return pd.DataFrame(
        {
            "data_set": number,
            "method": method,
            "ratio": np.repeat(_GRID, shown.size),
            "penalty": np.repeat(_GRID * chosen, shown.size),
            "variable": np.tile(shown, _GRID.size),
            "coefficient": coefficients[:, shown].ravel(),
            "truth": np.tile(truth[shown], _GRID.size),
        }
    )


def tabulate(data: pd.DataFrame) -> pd.DataFrame:
    """Tabulate how the coefficients of :func:`compute` depend on the penalty, for every data set.

    ``same over a factor of``: the stretch of penalties around the chosen one at which the
    coefficients are just the chosen ones, its end over its beginning. At twice and four times the
    chosen penalty: how far they ``moved`` from the chosen ones, as a share of their norm. There and
    at the chosen penalty: the squared ``error`` of the coefficients, and how many ``variables`` are
    in.
    """
    rows = []
    for (number, method), mine in data.groupby(["data_set", "method"], sort=False):
        path = mine.pivot(index="ratio", columns="variable", values="coefficient")
        truth = mine.groupby("variable")["truth"].first().to_numpy()
        ratios, values = path.index.to_numpy(), path.to_numpy()
        at = {ratio: values[np.abs(ratios - ratio).argmin()] for ratio in (1, 2, 4)}
        norm = np.linalg.norm(at[1]) or 1.0
        row = {"data_set": number, "method": method}
        row["same over a factor of"] = _stretch(ratios, values, at[1])
        row |= {f"moved at {k}x": round(np.linalg.norm(at[k] - at[1]) / norm, 12) for k in (2, 4)}
        row |= {f"error at {k}x": ((at[k] - truth) ** 2).sum() for k in (1, 2, 4)}
        row |= {f"variables at {k}x": np.count_nonzero(at[k]) for k in (1, 2, 4)}
        rows.append(row)
    return pd.DataFrame(rows).set_index(["data_set", "method"])


def _stretch(
    ratios: NDArray[np.float64], values: NDArray[np.float64], chosen: NDArray[np.float64]
) -> float:
    """Return by what factor the penalty can vary around the chosen one without a change."""
    other = ~np.all(np.isclose(values, chosen, rtol=1e-9, atol=1e-12), axis=1)
    below, above = ratios[other & (ratios < 1)], ratios[other & (ratios > 1)]
    first = ratios[ratios > below.max()].min() if below.size else ratios.min()
    last = ratios[ratios < above.min()].max() if above.size else ratios.max()
    return float(last / first)


def draw(data: pd.DataFrame) -> Figure:
    """Draw the paths of the first problem of :func:`compute`, SBR left and lasso right."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, 2, figsize=(10, 4.8), layout="constrained", sharey=True, gridspec_kw={"wspace": 0.08}
    )
    first = data[data["data_set"] == data["data_set"].min()]
    for ax, method in zip(axes, (SBR, LASSO), strict=True):
        _draw_one(ax, first[first["method"] == method], method)
        ax.set_title(method)
    axes[0].set(xlabel="lam, of 1/2 RSS + lam k", ylabel="coefficient")
    axes[1].set(xlabel="alpha, of RSS / (2 n) + alpha |b|")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, loc="outside lower center", ncols=4)
    return figure


def _draw_one(ax: Axes, mine: pd.DataFrame, method: str) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    from ellzero.plotting._labels import PALETTE

    truths = mine.groupby("variable")["truth"].first()
    for value in truths[truths != 0]:
        ax.axhline(value, color="0.55", ls=":", lw=1, label="true values" if value == 5 else None)
    chosen = float(mine["penalty"].to_numpy()[(mine["ratio"] - 1).abs().argmin()])
    ax.axvline(chosen, color="0.2", ls="--", lw=1, label="chosen by cross-validation")
    for is_true, colour, label in (
        (False, PALETTE[1], "false variables"),
        (True, PALETTE[0], "true variables"),
    ):
        for place, variable in enumerate(truths.index[(truths != 0) == is_true]):
            line = mine[mine["variable"] == variable]
            ax.plot(
                line["penalty"],
                line["coefficient"],
                color=colour,
                lw=1.6 if is_true else 1.0,
                drawstyle="steps-mid" if method == SBR else "default",
                label=label if place == 0 else None,
            )
    ends = mine["penalty"].min(), mine["penalty"].max()
    ax.set(xscale="log", xlim=ends)
    ax.set_xticks(chosen * np.array([0.5, 1, 2, 4]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.2g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.minorticks_off()
    ax.spines[["top", "right"]].set_visible(False)


def claims(data: pd.DataFrame) -> list[Claim]:
    """Hold the paper's claims against the data of :func:`compute`."""
    table = tabulate(data).unstack()
    first: Any = table.iloc[0]
    middle: Any = table.median()
    lower = {
        column: median_interval(table[column, SBR] - table[column, LASSO]).high < 0
        for column in ("moved at 2x", "moved at 4x", "error at 1x", "error at 2x", "error at 4x")
    }

    def both(column: str, style: str) -> str:
        return f"{middle[column, SBR]:{style}} against {middle[column, LASSO]:{style}}"

    same = "same over a factor of"
    return [
        Claim(
            "SBR's coefficients settle: they hardly depend on the penalty, where lasso's do.",
            "Around the chosen penalty SBR's are exactly the same while the penalty varies "
            f"{first[same, SBR]:.2f}-fold in the figure (lasso's: {first[same, LASSO]:.2f}-fold), "
            f"{middle[same, SBR]:.2f}-fold in the median of {len(table)} data sets (lasso's: "
            f"{middle[same, LASSO]:.2f}-fold).",
            f"Confirmed if in the median SBR's are the same over a factor of {_SETTLED:g}, and "
            "lasso's are not.",
            judge(middle[same, SBR] >= _SETTLED > middle[same, LASSO]),
        ),
        Claim(
            "SBR's coefficients are much more accurate than lasso's.",
            f"Their median squared error at the chosen penalty is {both('error at 1x', '.3g')}.",
            "Confirmed if it is at most half of lasso's, and lower with 95% confidence (sign test "
            "over data sets).",
            judge(
                lower["error at 1x"]
                and middle["error at 1x", SBR] <= 0.5 * middle["error at 1x", LASSO]
            ),
        ),
        Claim(
            "Both hold on, up to four times the chosen penalty.",
            "From the chosen coefficients they have moved, in the median, by "
            f"{both('moved at 2x', '.0%')} of their norm at twice the penalty and "
            f"{both('moved at 4x', '.0%')} at four times it; squared errors are "
            f"{both('error at 2x', '.3g')} and {both('error at 4x', '.3g')}. The number of SBR's "
            f"variables goes from {middle['variables at 1x', SBR]:g} to "
            f"{middle['variables at 2x', SBR]:g} and {middle['variables at 4x', SBR]:g}.",
            "Confirmed if SBR moves less and errs less at both, with 95% confidence (sign test "
            "over data sets).",
            judge(all(lower[column] for column in lower if column != "error at 1x")),
        ),
    ]
