"""How many of the true variables each method finds, and how many false ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ellzero.paper._checks import check_run
from ellzero.paper._claims import Claim, and_list, judge, mean_interval, share_interval
from ellzero.paper._methods import ELASTIC_NET, LASSO, SBR, SELECTING, SPIKE_SLAB
from ellzero.paper._run_trials import Progress
from ellzero.paper._simulation import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CAPTION", "TITLE", "claims", "compute", "draw", "tabulate"]

TITLE = "Selection of variables"
CAPTION = (
    "The same trials: of the ten true variables, how many were selected (left); of the ninety "
    "others, how many were (right). Spike-and-slab selects what has a posterior inclusion "
    "probability above one half."
)
_TRUE = 10
_FOUR = (LASSO, ELASTIC_NET, SPIKE_SLAB, SBR)
# "Almost all the time": in this share of trials
_ALMOST_ALWAYS = 0.9
# "On par" allows for false selections more numerous by this share.
_ON_PAR = 0.25


def compute(
    trials: int = 1000,
    seed: int = 0,
    *,
    jobs: int | None = None,
    dask: str | None = None,
    trial_file: str | Path | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Select variables in simulated problems by every method that selects.

    The trials of :func:`ellzero.paper.accuracy.compute`. Spike-and-slab selects what has a
    posterior inclusion probability above one half, the others what has a coefficient.

    Parameters
    ----------
    trials : int
        How many problems.
    seed : int
        Seed: the same seed gives the same numbers, however the work is shared out.
    jobs : int or None
        Processes; None for all cores.
    dask : str or None
        Address of a Dask scheduler, whose workers do the work instead.
    trial_file : path or None
        Where every finished trial is written at once; those that are there are not repeated.
    progress : callable or None
        Called with the number of trials done, and of all.

    Returns
    -------
    pandas.DataFrame
        One row per trial and method: how many of the ten ``true`` variables it selected, and how
        many ``false`` ones.

    Examples
    --------
    >>> from ellzero.paper import discoveries
    >>> data = discoveries.compute(trials=2, jobs=1)
    >>> row = data.query("trial == 0 and method == 'SBR'").iloc[0]
    >>> int(row.true), int(row.false)
    (10, 0)
    """
    check_run(trials, seed, jobs)
    path = None if trial_file is None else Path(trial_file)
    data = simulate(trials, seed, jobs=jobs, dask=dask, path=path, progress=progress)
    kept = data.loc[data["method"].isin(SELECTING), ["n", "p", "trial", "method", "true", "false"]]
    return kept.astype({"true": "int64", "false": "int64"}).reset_index(drop=True)


def tabulate(data: pd.DataFrame) -> pd.DataFrame:
    """Summarise the selections of :func:`compute`, one row per method."""
    groups = data.groupby("method", sort=False)
    return pd.DataFrame(
        {
            f"true of {_TRUE}, mean": groups["true"].mean(),
            "all found, share": groups["true"].agg(lambda found: (found == _TRUE).mean()),
            "false, mean": groups["false"].mean(),
            "none false, share": groups["false"].agg(lambda found: (found == 0).mean()),
            "false, largest": groups["false"].max(),
        }
    ).loc[list(SELECTING)]


def draw(data: pd.DataFrame) -> Figure:
    """Draw how many true variables were found (left) and how many false ones (right)."""
    import matplotlib.pyplot as plt

    from ellzero.paper._boxes import draw_boxes, legend_of_colours, name_rows

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
    found = [data.loc[data["method"] == name, "true"].to_numpy() for name in SELECTING]
    start = np.zeros(len(SELECTING))
    colours = plt.get_cmap("cividis")(np.linspace(0.2, 1, 4))
    for place, count in enumerate((_TRUE, _TRUE - 1, _TRUE - 2, None)):
        shares = np.array(
            [np.mean(x == count if count is not None else x < _TRUE - 2) for x in found]
        )
        label = f"{count}" if count is not None else "fewer"
        rows = np.arange(len(SELECTING))
        left.barh(rows, shares, left=start, height=0.6, color=colours[place], label=label)
        start += shares
    name_rows(left, SELECTING)
    left.set(xlim=(0, 1), xlabel="share of trials", title=f"True variables found, of {_TRUE}")
    left.xaxis.set_major_formatter("{x:.0%}")
    left.legend(
        frameon=False, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.16), columnspacing=1
    )
    draw_boxes(right, data, "false", SELECTING)
    n_trials = data["trial"].nunique()
    right.set(
        xlabel=f"false selections, of 90; {n_trials:,} trials",
        title="False selections",
        xlim=(-1, None),
    )
    right.grid(axis="x", color="0.9", lw=0.8)
    right.set_axisbelow(True)
    legend_of_colours(right)
    return figure


def claims(data: pd.DataFrame) -> list[Claim]:
    """Hold the paper's claims against the data of :func:`compute`."""
    true = data.pivot(index="trial", columns="method", values="true")
    false = data.pivot(index="trial", columns="method", values="false")
    counts = {name: mean_interval(false[name]) for name in _FOUR}
    all_found = {name: share_interval(true[name] == _TRUE) for name in _FOUR}
    apart = mean_interval(false[SBR] - false[SPIKE_SLAB])
    fewer_true = mean_interval(true[SBR] - true[SPIKE_SLAB])
    return [
        Claim(
            "Lasso, elastic net, spike-and-slab and SBR all find all ten true variables almost all "
            "the time.",
            "All ten are found in "
            + and_list([f"{all_found[name].estimate:.1%} of trials ({name})" for name in _FOUR])
            + "; on average "
            + and_list([f"{true[name].mean():.2f} ({name})" for name in _FOUR])
            + " are.",
            f"Confirmed if each finds all in {_ALMOST_ALWAYS:.0%} of trials, with 95% confidence.",
            judge(all(found.low >= _ALMOST_ALWAYS for found in all_found.values())),
        ),
        Claim(
            "SBR and spike-and-slab hardly select anything false; lasso and elastic net select far "
            "too much.",
            "On average there are "
            + and_list([f"{counts[name].estimate:.2f} ({name})" for name in _FOUR])
            + " false selections.",
            "Confirmed if the first two make less than one false selection on average, the others "
            "at least ten, with 95% confidence.",
            judge(
                all(counts[name].high < 1 for name in (SBR, SPIKE_SLAB))
                and all(counts[name].low >= 10 for name in (LASSO, ELASTIC_NET))
            ),
        ),
        Claim(
            "SBR and spike-and-slab are on par in keeping false variables out.",
            f"The mean difference in false selections, SBR less spike-and-slab, is {apart}; in "
            f"true ones {fewer_true}.",
            f"Confirmed if the first interval stays below {_ON_PAR:.0%} of spike-and-slab's mean; "
            "better if it is below zero and true selections are not shown to be fewer.",
            judge(
                apart.high <= _ON_PAR * counts[SPIKE_SLAB].estimate,
                better=apart.high < 0 <= fewer_true.high,
            ),
        ),
    ]
