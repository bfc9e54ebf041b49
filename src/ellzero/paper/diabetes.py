"""The paper's table of variables selected in the diabetes data, with ours beside it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.linear_model import enet_path

from ellzero.datasets import load_diabetes_interactions
from ellzero.paper._checks import check_run
from ellzero.paper._claims import Claim, and_list, judge
from ellzero.paper._methods import (
    ELASTIC_NET,
    FRONTIER,
    LASSO,
    METHODS,
    SBR,
    SPIKE_SLAB,
    Standardised,
)
from ellzero.paper._run_trials import Progress, one_thread
from ellzero.regression import l0_frontier

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CAPTION", "PAPERS_TABLE", "TITLE", "claims", "compute", "draw", "tabulate"]

TITLE = "The diabetes data"
CAPTION = (
    "442 patients, ten measurements, nine squares and 45 products: 64 columns. What each method "
    "selects in the paper (diamonds), and here (dots, larger the more often) over repeated splits "
    "into ten folds."
)
_SIX = ("sex", "bmi", "map", "hdl", "ltg", "age:sex")
_LASSOS = (*_SIX, "glu", "age^2", "bmi^2", "glu^2", "age:map", "age:ltg", "age:glu", "bmi:map")

# The paper's table: what each method selected
PAPERS_TABLE: dict[str, tuple[str, ...]] = {
    LASSO: _LASSOS,
    ELASTIC_NET: (*_LASSOS, "sex:map"),
    SPIKE_SLAB: _SIX,
    SBR: (*_SIX, "glu^2", "bmi:map"),
}
_SHOWN = (*PAPERS_TABLE, FRONTIER)
_NONE = "-"


def compute(repeats: int = 20, seed: int = 0, *, progress: Progress | None = None) -> pd.DataFrame:
    """Select among the 64 diabetes columns by every method, with several splits into folds.

    What cross-validation chooses depends on how the rows are split, and the paper's split is not
    known. (Spike-and-slab has no folds: it gets as many seeds.)

    Parameters
    ----------
    repeats : int
        How many splits of the rows into ten folds.
    seed : int
        Seed of the splits and of the sampler.
    progress : callable or None
        Called with the number of repeats done, and of all.

    Returns
    -------
    pandas.DataFrame
        A row for every ``repeat``, ``method`` and ``variable`` selected, with its ``coefficient``
        for columns of unit l2 norm, and the ``penalty`` that was chosen: ``lam`` of
        ``1/2 RSS + lam k``, or for lasso and elastic net ``alpha`` of
        ``RSS / (2 n) + alpha (r |b|_1 + (1 - r) / 2 |b|^2)``, r = 1 and 1/2, for columns and a
        response of variance 1.

    Examples
    --------
    >>> from ellzero.paper import diabetes
    >>> data = diabetes.compute(repeats=1)
    >>> data.query("method == 'SBR'").variable.tolist()
    ['sex', 'bmi', 'map', 'hdl', 'ltg', 'glu^2', 'age:sex', 'bmi:map']
    """
    check_run(repeats, seed)
    bunch = load_diabetes_interactions()
    X, y = bunch.data.to_numpy(), bunch.target.to_numpy()
    names = np.array(bunch.feature_names, dtype=object)
    seeds = np.random.SeedSequence(seed).generate_state(repeats) >> 1
    rows = []
    for repeat, chance in enumerate(seeds):
        with one_thread():
            for method in _SHOWN:
                estimate = METHODS[method](X, y, int(chance))
                assert estimate.selected is not None
                rows += [
                    {
                        "repeat": repeat,
                        "method": method,
                        "variable": names[j],
                        "coefficient": float(estimate.coef[j]),
                        "penalty": estimate.penalty,
                    }
                    for j in np.flatnonzero(estimate.selected)
                ]
        if progress is not None:
            progress(repeat + 1, repeats)
    return pd.DataFrame(rows).astype({"penalty": float})


def tabulate(data: pd.DataFrame) -> pd.DataFrame:
    """Tabulate what was selected: the paper's check marks, and in how many repeats ours agree."""
    repeats = data["repeat"].nunique()
    counts = data.groupby(["variable", "method"]).size().unstack(fill_value=0)
    table = pd.DataFrame(index=pd.Index(_variables(data), name="variable"))
    for method in _SHOWN:
        if method in PAPERS_TABLE:
            table[f"{method}, paper"] = [
                "✓" if name in PAPERS_TABLE[method] else _NONE for name in table.index
            ]
        ours = counts.get(method, pd.Series(dtype=int)).reindex(table.index, fill_value=0)
        table[f"{method}, of {repeats}"] = [str(count) if count else _NONE for count in ours]
    return table


def draw(data: pd.DataFrame) -> Figure:
    """Draw the table: the paper's selections, and the share of repeats in which ours agree."""
    import matplotlib.pyplot as plt

    from ellzero.plotting._labels import PALETTE

    variables, repeats = _variables(data), data["repeat"].nunique()
    figure, ax = plt.subplots(figsize=(7.5, 0.3 * len(variables) + 1.5), layout="constrained")
    for place, method in enumerate(_SHOWN):
        counts = data.loc[data["method"] == method, "variable"].value_counts()
        rows = [variables.index(name) for name in counts.index if name in variables]
        sizes = [90 * counts[variables[row]] / repeats for row in rows]
        ax.scatter([place + 0.17] * len(rows), rows, s=sizes, color=PALETTE[0], lw=0)
        papers = [variables.index(name) for name in PAPERS_TABLE.get(method, ())]
        ax.scatter(
            [place - 0.17] * len(papers), papers, s=45, marker="D", fc="none", ec=PALETTE[3], lw=1.3
        )
    handles = [
        ax.scatter([], [], s=45, marker="D", fc="none", ec=PALETTE[3], lw=1.3, label="the paper"),
        ax.scatter([], [], s=90, color=PALETTE[0], lw=0, label=f"here, in all {repeats} repeats"),
        ax.scatter([], [], s=45, color=PALETTE[0], lw=0, label="in half of them"),
    ]
    figure.legend(handles=handles, frameon=False, loc="outside lower center", ncols=3)
    ax.set_xticks(range(len(_SHOWN)), _SHOWN)
    ax.xaxis.tick_top()
    ax.set_yticks(range(len(variables)), variables)
    ax.set(xlim=(-0.5, len(_SHOWN) - 0.5), ylim=(len(variables) - 0.5, -0.5))
    ax.tick_params(length=0)
    ax.grid(axis="y", color="0.92", lw=0.8)
    ax.set_axisbelow(True)
    ax.spines[:].set_visible(False)
    return figure


def claims(data: pd.DataFrame) -> list[Claim]:
    """Hold the paper's claims against the data of :func:`compute`."""
    chosen = {method: _most_common(data, method)[0] for method in _SHOWN}
    sizes = {method: len(chosen[method]) for method in PAPERS_TABLE}
    both = chosen[LASSO] & chosen[ELASTIC_NET]
    return [
        *(_same_set(data, method) for method in (SBR, SPIKE_SLAB, LASSO, ELASTIC_NET)),
        Claim(
            "Lasso and elastic net select most, spike-and-slab least.",
            and_list([f"{method} selects {size}" for method, size in sizes.items()]) + ".",
            "Confirmed if that is the order of the sets selected most often, with SBR in between.",
            judge(sizes[SPIKE_SLAB] < sizes[SBR] < min(sizes[LASSO], sizes[ELASTIC_NET])),
        ),
        Claim(
            "SBR selects all that spike-and-slab does, and nothing that lasso or elastic net leave "
            "out.",
            f"Of spike-and-slab's {sizes[SPIKE_SLAB]} SBR has "
            f"{len(chosen[SBR] & chosen[SPIKE_SLAB])}; of SBR's {sizes[SBR]} both others have "
            f"{len(chosen[SBR] & both)}.",
            "Confirmed if the sets selected most often lie within each other.",
            judge(chosen[SPIKE_SLAB] <= chosen[SBR] <= both),
        ),
        _optimality(data),
    ]


def _optimality(data: pd.DataFrame) -> Claim:
    """Hold SBR's selections against the frontier's at the same prices."""
    bunch = load_diabetes_interactions()
    frontier = l0_frontier(bunch.data, bunch.target)
    mine = data[data["method"] == SBR].groupby("repeat")
    prices = mine["penalty"].first()
    better = []
    for repeat, names in mine["variable"]:
        lam = float(prices[repeat])
        model = frontier.at(lam=lam)
        objective = _half_rss(frozenset(names)) + lam * len(names)
        if model.energy + lam * model.size < objective * (1 - 1e-9):
            better.append((lam, model.size, objective - model.energy - lam * model.size))
    count = len(prices)
    if better:
        lam, size, saved = max(better, key=lambda found: found[2])
        measured = (
            f"In {len(better)} of {count} splits the frontier, which tries swaps as well, has a "
            f"lower objective at SBR's price: at {lam:,.0f}, for one, with {size} variables, by "
            f"{saved:,.0f}."
        )
    else:
        measured = f"In none of {count} splits does the frontier find a better one."
    return Claim(
        "SBR's selection is the solution of the l0 problem at its price.",
        measured,
        "Confirmed if the frontier finds nothing better, at any of SBR's prices.",
        judge(not better),
        beyond=True,
    )


def _half_rss(names: frozenset[str]) -> float:
    bunch = load_diabetes_interactions()
    X, y = bunch.data[_in_order(names)].to_numpy(), bunch.target.to_numpy()
    y = y - y.mean()
    return float(0.5 * ((y - X @ np.linalg.lstsq(X, y, rcond=None)[0]) ** 2).sum())


def _same_set(data: pd.DataFrame, method: str) -> Claim:
    """Compare a method's selections with the paper's, and say what decides where they differ."""
    papers = frozenset(PAPERS_TABLE[method])
    chosen, times = _most_common(data, method)
    repeats, exact = data["repeat"].nunique(), _sets(data, method).count(papers)
    kind = "seeds" if method == SPIKE_SLAB else "splits into folds"
    measured = f"In {exact} of {repeats} {kind} it selects just these."
    if chosen != papers:
        counts = data.loc[data["method"] == method, "variable"].value_counts()
        differ = [
            f"{name} ({'only in the paper' if name in papers else 'not in the paper'}; here in "
            f"{counts.get(name, 0)} of {repeats})"
            for name in _in_order(chosen ^ papers)
        ]
        measured += (
            f" Most often, in {times}, it selects {len(chosen)}, with a difference in "
            f"{and_list(differ)}.{_whereabouts(data, method)}"
        )
    return Claim(
        f"{method} selects {len(papers)} variables: {and_list(_in_order(papers))}.",
        measured,
        "Confirmed if the set selected most often is the paper's.",
        judge(chosen == papers),
    )


def _whereabouts(data: pd.DataFrame, method: str) -> str:
    """Say where on its path a convex method selects what it does in the paper."""
    ratio = {LASSO: 1.0, ELASTIC_NET: 0.5}.get(method)
    if ratio is None:
        return ""
    bunch = load_diabetes_interactions()
    names = np.array(bunch.feature_names)
    table = Standardised(bunch.data.to_numpy(), bunch.target.to_numpy())
    alphas, coefficients, _ = enet_path(
        table.X,
        table.y,
        l1_ratio=ratio,
        alphas=np.geomspace(0.2, 0.02, 1000),
        max_iter=100_000,
        tol=1e-7,
    )
    papers = frozenset(PAPERS_TABLE[method])
    there = [
        float(alpha)
        for alpha, coef in zip(alphas, coefficients.T, strict=True)
        if frozenset(names[coef != 0]) == papers
    ]
    mine = data.loc[data["method"] == method, "penalty"]
    chosen = f"cross-validation chose alphas from {mine.min():.3g} to {mine.max():.3g}"
    if not there:
        return f" No alpha leads to the paper's set; {chosen}."
    return (
        f" The paper's set is that of alphas from {min(there):.3g} to {max(there):.3g}; {chosen}."
    )


def _sets(data: pd.DataFrame, method: str) -> list[frozenset[str]]:
    """Return what a method selected, one set per repeat."""
    mine = data[data["method"] == method].groupby("repeat")["variable"]
    found = {repeat: frozenset(names) for repeat, names in mine}
    return [found.get(repeat, frozenset()) for repeat in sorted(data["repeat"].unique())]


def _most_common(data: pd.DataFrame, method: str) -> tuple[frozenset[str], int]:
    return Counter(_sets(data, method)).most_common(1)[0]


def _in_order(names: frozenset[str]) -> list[str]:
    order = load_diabetes_interactions().feature_names
    return sorted(names, key=order.index)


def _variables(data: pd.DataFrame) -> list[str]:
    """Return the variables to show: the paper's, and what any method selects most often."""
    shown = frozenset().union(*PAPERS_TABLE.values(), *(_most_common(data, m)[0] for m in _SHOWN))
    return _in_order(shown)
