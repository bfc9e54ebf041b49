"""How long each method takes, with the paper's times beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ellzero.paper._checks import check_run
from ellzero.paper._claims import Claim, judge
from ellzero.paper._methods import BRIDGE, ELASTIC_NET, FRONTIER, LASSO, OLS, SBR, SPIKE_SLAB
from ellzero.paper._run_trials import Progress, run_trials
from ellzero.paper._timers import CV, FIT, POSTERIOR, TIMED, describe_machine, time_method
from ellzero.paper._trial_file import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CAPTION", "PAPERS_SECONDS", "TITLE", "claims", "compute", "draw", "tabulate"]

TITLE = "Time"
CAPTION = (
    "Seconds per problem, one thread: medians (dots) and the range from the 5th to the 95th "
    "percentile. The paper's times are on its authors' machine, with glmnet, their own SBR, and "
    "BoomSpikeSlab; its lasso and SBR seem to be single fits, without folds."
)
_ESS = "effective sample size of 1,000"
_QUICK = (SBR, FRONTIER, SPIKE_SLAB)
_SMALL, _LARGE = ((120, 100), (300, 200)), ((1000, 1000), (2000, 2000))
_MOST_LARGE = 3
# "Almost as fast": at most this many times as long
_ALMOST = 2.0
# An effective sample size that means and probabilities can be read off
_ENOUGH = 400

# Seconds, from the text and the caption of the paper's figure
PAPERS_SECONDS = {
    (LASSO, FIT): {(120, 100): 0.008, (300, 200): 0.024},
    (SBR, FIT): {(120, 100): 0.011, (300, 200): 0.046},
    (SPIKE_SLAB, POSTERIOR): {(120, 100): 10.0, (300, 200): 170.0},
}


def compute(
    trials: int = 200,
    seed: int = 0,
    *,
    quick: bool = False,
    trial_file: str | Path | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Time every method on simulated problems, one thread, one after another.

    The paper's times of lasso and SBR seem to be those of one fit, without folds; here are both.
    One fit of lasso or elastic net is its path of a hundred penalties, of SBR a fit at the price
    that cross-validation chose, of the frontier its forty sizes. The posteriors have four chains of
    1,000 draws after 500.

    Parameters
    ----------
    trials : int
        Problems of 120 x 100 and of 300 x 200; of 1000 x 1000 and 2000 x 2000 at most three each.
    seed : int
        Seed of the problems.
    quick : bool
        Whether to run only SBR, the frontier and spike-and-slab on the two large sizes, one problem
        each. (The bridge takes minutes there.)
    trial_file : path or None
        Where every finished trial is written at once; those that are there are not repeated, and
        those of another machine are an error.
    progress : callable or None
        Called with the number of trials done, and of all.

    Returns
    -------
    pandas.DataFrame
        A row for every problem, ``method`` and ``task`` ("one fit", "ten folds and a fit",
        "posterior"), with ``seconds``, and for posteriors ``ess``, the effective sample size of the
        slowest inclusion probability (spike-and-slab) or coefficient (bridge).

    Examples
    --------
    >>> from ellzero.paper import timing
    >>> sorted(timing.PAPERS_SECONDS["SBR", "one fit"].items())
    [((120, 100), 0.011), ((300, 200), 0.046)]
    """
    check_run(trials, seed)
    tasks: list[Task] = [
        (n, p, trial, name) for n, p in _SMALL for trial in range(trials) for name in TIMED
    ]
    tasks += [
        (n, p, trial, name)
        for n, p in _LARGE
        for trial in range(1 if quick else min(trials, _MOST_LARGE))
        for name in (_QUICK if quick else TIMED)
    ]
    return run_trials(
        "timing",
        time_method,
        tasks,
        seed,
        keys=("n", "p", "trial", "method"),
        jobs=1,
        path=None if trial_file is None else Path(trial_file),
        machine=describe_machine(),
        progress=progress,
    ).astype({"ess": float})


def tabulate(data: pd.DataFrame) -> pd.DataFrame:
    """Tabulate median seconds of :func:`compute`, sizes in columns, the paper's beside them."""
    data = _with_ess(data)
    rows = _rows(data)
    table = pd.DataFrame(index=pd.Index([f"{m}, {t}" for m, t in rows], name="seconds"))
    for n, p in _sizes(data):
        mine = _medians(data, n, p)
        table[f"{n} x {p}"] = [mine.get(row, np.nan) for row in rows]
        papers = [PAPERS_SECONDS.get(row, {}).get((n, p), np.nan) for row in rows]
        if not np.isnan(papers).all():
            table[f"{n} x {p}, paper"] = papers
    return table


def draw(data: pd.DataFrame) -> Figure:
    """Draw the seconds of :func:`compute`: medians, from the 5th to the 95th percentile."""
    import matplotlib.pyplot as plt

    from ellzero.paper._boxes import name_rows

    data = _with_ess(data)
    rows, sizes = _rows(data), _sizes(data)
    figure, ax = plt.subplots(figsize=(9, 0.42 * len(rows) + 1.2), layout="constrained")
    colours = plt.get_cmap("viridis_r")(np.linspace(0.12, 0.95, len(sizes)))
    for place, ((n, p), colour) in enumerate(zip(sizes, colours, strict=True)):
        shift = 0.17 * (place - (len(sizes) - 1) / 2)
        here = data[(data["n"] == n) & (data["p"] == p)].groupby(["method", "task"])["seconds"]
        low, middle, high = (here.quantile(q) for q in (0.05, 0.5, 0.95))
        heights = [rows.index(row) + shift for row in middle.index]
        ax.hlines(heights, low, high, color=colour, lw=2, alpha=0.6)
        ax.plot(middle, heights, "o", color=colour, ms=5, label=f"{n} x {p}")
        told = [
            (PAPERS_SECONDS[row][n, p], rows.index(row) + shift)
            for row in rows
            if (n, p) in PAPERS_SECONDS.get(row, {})
        ]
        if told:
            ax.plot(*zip(*told, strict=True), "D", mfc="none", color=colour, ms=6)
    ax.plot([], [], "D", mfc="none", color="0.3", ms=6, label="the paper's")
    name_rows(ax, [f"{method}, {task}" for method, task in rows])
    ax.set(xscale="log", xlabel="seconds, one thread")
    ax.grid(axis="x", color="0.9", lw=0.8)
    ax.set_axisbelow(True)
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def claims(data: pd.DataFrame) -> list[Claim]:
    """Hold the paper's claims against the data of :func:`compute`."""
    data = _with_ess(data)
    small, middle = (_medians(data, n, p) for n, p in _SMALL)
    ols, sbr, lasso, net = ((name, FIT) for name in (OLS, SBR, LASSO, ELASTIC_NET))
    mean = data.groupby(["n", "p", "method", "task"])["seconds"].mean()
    two_hundred = 200 * mean[300, 200, SBR, FIT]
    slab, ess = (SPIKE_SLAB, POSTERIOR), (SPIKE_SLAB, _ESS)
    told = PAPERS_SECONDS[slab]
    slower = min(times[slab] / times[lasso] for times in (small, middle))
    bridge = (BRIDGE, POSTERIOR)
    found = [
        Claim(
            "One fit of SBR takes about as long as a lasso path: "
            + ", ".join(
                f"{PAPERS_SECONDS[sbr][n, p]} against {PAPERS_SECONDS[lasso][n, p]} s at {n} x {p}"
                for n, p in _SMALL
            )
            + ".",
            f"{_s(small[sbr])} against {_s(small[lasso])} at 120 x 100, {_s(middle[sbr])} against "
            f"{_s(middle[lasso])} at 300 x 200; with ten folds {_s(small[SBR, CV])} against "
            f"{_s(small[LASSO, CV])} and {_s(middle[SBR, CV])} against {_s(middle[LASSO, CV])}.",
            "Confirmed if SBR takes at most twice as long at both sizes, better if less time.",
            judge(
                all(times[sbr] <= 2 * times[lasso] for times in (small, middle)),
                better=all(times[sbr] < times[lasso] for times in (small, middle)),
            ),
        ),
        Claim(
            "SBR finishes 200 trials of 300 x 200 in less than 10 s.",
            f"At {_s(two_hundred / 200)} a fit they take {_s(two_hundred)}.",
            "Confirmed below 10 s, better below 1 s.",
            judge(two_hundred < 10, better=two_hundred < 1),
        ),
        Claim(
            "SBR is almost as fast as OLS.",
            f"{_s(small[sbr])} against {_s(small[ols])} at 120 x 100, {_s(middle[sbr])} against "
            f"{_s(middle[ols])} at 300 x 200.",
            f"Confirmed if it takes at most {_ALMOST:g} times as long at both sizes, better if "
            "less.",
            judge(
                all(times[sbr] <= _ALMOST * times[ols] for times in (small, middle)),
                better=all(times[sbr] < times[ols] for times in (small, middle)),
            ),
        ),
        Claim(
            "So are lasso and elastic net.",
            f"A path of scikit-learn's lasso takes {_s(small[lasso])} and {_s(middle[lasso])}, of "
            f"its elastic net {_s(small[net])} and {_s(middle[net])}.",
            f"Confirmed if each takes at most {_ALMOST:g} times as long as OLS at both sizes.",
            judge(
                all(
                    times[row] <= _ALMOST * times[ols]
                    for times in (small, middle)
                    for row in (lasso, net)
                )
            ),
        ),
        Claim(
            "Sampling the posteriors takes far longer than lasso, and spike-and-slab longest.",
            f"Spike-and-slab takes at least {slower:.2g} times as long as a lasso path; "
            f"{_s(small[slab])} and {_s(middle[slab])} where the bridge takes {_s(small[bridge])} "
            f"and {_s(middle[bridge])}.",
            "Confirmed if spike-and-slab takes at least ten times as long as a lasso path, and "
            "longer than the bridge, at both sizes.",
            judge(slower >= 10 and all(times[slab] > times[bridge] for times in (small, middle))),
        ),
        Claim(
            f"A spike-and-slab posterior takes {told[120, 100]:g} s at 120 x 100 and more than "
            f"{told[300, 200]:g} s at 300 x 200, once 40 minutes.",
            f"{_s(small[slab])} and {_s(middle[slab])} (the longest {_s(_longest(data))}); an "
            f"effective sample size of 1,000 in the slowest inclusion probability takes "
            f"{_s(small.get(ess))} and {_s(middle.get(ess))}.",
            f"Better if both medians are shorter than the paper's, for draws worth {_ENOUGH} "
            "independent ones.",
            judge(
                True,
                better=small[slab] < told[120, 100]
                and middle[slab] < told[300, 200]
                and _least_ess(data, _SMALL) >= _ENOUGH,
            ),
        ),
    ]
    large = {size: _medians(data, *size) for size in _LARGE}
    large = {size: times for size, times in large.items() if slab in times}
    if large:
        found.append(
            Claim(
                "With n and p in the thousands, spike-and-slab can't be computed.",
                "; ".join(
                    f"{n} x {p}: {_s(times[slab])}, and {_s(times.get(ess))} for an effective "
                    "sample size of 1,000"
                    for (n, p), times in large.items()
                )
                + ".",
                f"Confirmed if there are no draws worth {_ENOUGH} independent ones; better if "
                "there are, in less time than the paper's posterior of 300 x 200 took.",
                "confirmed"
                if _least_ess(data, tuple(large)) < _ENOUGH
                else judge(
                    max(times[slab] for times in large.values()) < told[300, 200], better=True
                ),
            )
        )
    return found


def _with_ess(data: pd.DataFrame) -> pd.DataFrame:
    """Add what an effective sample size of 1,000 would take, where there is one."""
    samplers = data.dropna(subset="ess")
    per = 1000 * samplers["seconds"] / samplers["ess"]
    return pd.concat([data, samplers.assign(task=_ESS, seconds=per)], ignore_index=True)


def _rows(data: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the pairs of method and task, in the order of methods."""
    met = set(zip(data["method"], data["task"], strict=True))
    return [(m, t) for m in TIMED for t in (FIT, CV, POSTERIOR, _ESS) if (m, t) in met]


def _sizes(data: pd.DataFrame) -> list[tuple[int, int]]:
    return sorted({(int(n), int(p)) for n, p in zip(data["n"], data["p"], strict=True)})


def _medians(data: pd.DataFrame, n: int, p: int) -> dict[tuple[str, str], float]:
    here = data[(data["n"] == n) & (data["p"] == p)]
    return {
        (method, task): float(
            here.loc[(here["method"] == method) & (here["task"] == task), "seconds"].median()
        )
        for method, task in _rows(here)
    }


def _least_ess(data: pd.DataFrame, sizes: tuple[tuple[int, int], ...]) -> float:
    """Return the least effective sample size of spike-and-slab; 0 if one is not known."""
    draws = data[(data["method"] == SPIKE_SLAB) & (data["task"] == POSTERIOR)]
    here = draws[[size in sizes for size in zip(draws["n"], draws["p"], strict=True)]]
    return float(here["ess"].fillna(0).min())


def _longest(data: pd.DataFrame) -> float:
    here = (data["method"] == SPIKE_SLAB) & (data["task"] == POSTERIOR) & (data["n"] <= 300)
    return float(data.loc[here, "seconds"].max())


def _s(seconds: float | None) -> str:
    if seconds is None:
        return "an unknown time"
    return f"{seconds * 1000:.2g} ms" if seconds < 0.1 else f"{seconds:.2g} s"
