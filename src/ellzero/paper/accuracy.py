"""How accurately eight methods estimate the coefficients, over many simulated trials."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ellzero.paper._checks import check_run
from ellzero.paper._claims import Claim, Interval, and_list, judge, mean_interval, median_interval
from ellzero.paper._methods import (
    FRONTIER,
    LASSO,
    METHODS,
    PAPERS,
    SBR,
    SPIKE_SLAB,
    STEPWISE,
)
from ellzero.paper._run_trials import Progress
from ellzero.paper._simulation import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CAPTION", "TITLE", "claims", "compute", "draw", "tabulate"]

TITLE = "Accuracy of the estimates"
CAPTION = (
    "Squared errors of the coefficients over simulated trials: n = 120 rows, p = 100 collinear "
    "columns, ten of them true, 20 dB. Boxes are quartiles; whiskers reach the last trial within "
    "1.5 times the box, dots are trials beyond."
)
# "As accurately" allows for an error larger by this share, with 95% confidence.
_SIMILAR = 0.25


def compute(
    trials: int = 1000,
    seed: int = 0,
    *,
    jobs: int | None = None,
    dask: str | None = None,
    trial_file: str | Path | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Estimate the coefficients of simulated problems by every method.

    The paper's design: n = 120 rows, p = 100 columns with five common factors, ten true
    coefficients from -5 to 5, a signal-to-noise ratio of 20 dB. Lasso and elastic net are
    scikit-learn's on standardised data, as glmnet has it; lasso, elastic net, SBR, forward stepwise
    and the frontier are tuned by ten-fold cross-validation, all on the same folds; bridge and
    spike-and-slab are posterior means.

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
        Where every finished trial is written at once; those that are there are not repeated. It
        serves :func:`ellzero.paper.discoveries.compute` too.
    progress : callable or None
        Called with the number of trials done, and of all.

    Returns
    -------
    pandas.DataFrame
        One row per trial and method, with the ``squared_error``
        ``|estimate - true coefficients|^2``, and how many ``warnings`` the method gave.

    Examples
    --------
    >>> from ellzero.paper import accuracy
    >>> data = accuracy.compute(trials=2, jobs=1)
    >>> data.query("trial == 0 and method == 'SBR'").squared_error.round(3).item()
    0.136
    """
    check_run(trials, seed, jobs)
    path = None if trial_file is None else Path(trial_file)
    data = simulate(trials, seed, jobs=jobs, dask=dask, path=path, progress=progress)
    return data[["n", "p", "trial", "method", "squared_error", "warnings"]]


def tabulate(data: pd.DataFrame) -> pd.DataFrame:
    """Summarise the squared errors of :func:`compute`, one row per method."""
    errors = data.groupby("method", sort=False)["squared_error"]
    quartiles = errors.quantile(np.array([0.25, 0.5, 0.75])).unstack()
    return pd.DataFrame(
        {
            "median": quartiles[0.5],
            "lower quartile": quartiles[0.25],
            "upper quartile": quartiles[0.75],
            "mean": errors.mean(),
            "standard error": errors.sem(),
        }
    ).loc[list(METHODS)]


def draw(data: pd.DataFrame) -> Figure:
    """Draw boxplots of the squared errors of :func:`compute`, on a logarithmic scale."""
    import matplotlib.pyplot as plt

    from ellzero.paper._boxes import draw_boxes, legend_of_colours

    figure, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
    draw_boxes(ax, data, "squared_error", list(METHODS))
    n_trials = data["trial"].nunique()
    ax.set(xscale="log", xlabel=f"squared error of the coefficients, {n_trials:,} trials")
    ax.grid(axis="x", color="0.9", lw=0.8)
    ax.set_axisbelow(True)
    legend_of_colours(ax)
    return figure


def claims(data: pd.DataFrame) -> list[Claim]:
    """Hold the paper's claims against the data of :func:`compute`."""
    errors = data.pivot(index="trial", columns="method", values="squared_error")
    medians, means = errors.median(), errors.mean()
    lower = (errors[SBR] < errors[SPIKE_SLAB]).mean()
    difference = errors[SBR] - errors[SPIKE_SLAB]
    typical, average = median_interval(difference), mean_interval(difference)
    others = [name for name in PAPERS if name not in (SBR, SPIKE_SLAB)]
    wins = all(
        interval(errors[SBR] - errors[name]).high < 0
        for name in others
        for interval in (median_interval, mean_interval)
    )
    apart = medians[STEPWISE] / medians[FRONTIER]
    beats = [
        median_interval(errors[name] - errors[LASSO]).high < 0 for name in (STEPWISE, FRONTIER)
    ]
    gain = mean_interval(errors[FRONTIER] - errors[SBR])
    return [
        Claim(
            "SBR estimates as accurately as the posterior mean under spike-and-slab.",
            f"The median squared error is {medians[SBR]:.3g} for SBR and "
            f"{medians[SPIKE_SLAB]:.3g} for spike-and-slab; SBR's is the lower in {lower:.0%} of "
            f"trials, and the median difference within a trial is {typical}. The mean is "
            f"{means[SBR]:.3g} against {means[SPIKE_SLAB]:.3g}, their difference {average}: on "
            f"average SBR's error is {_compare(average, means[SPIKE_SLAB])}.",
            f"Confirmed if both intervals stay below {_SIMILAR:.0%} of spike-and-slab's error, "
            "better if both are below zero.",
            judge(
                _as_good(typical, medians[SPIKE_SLAB]) and _as_good(average, means[SPIKE_SLAB]),
                better=max(typical.high, average.high) < 0,
            ),
        ),
        Claim(
            "SBR estimates more accurately than OLS, lasso, elastic net and the Bayesian bridge.",
            f"The median is {medians[SBR]:.3g} for SBR, "
            + and_list([f"{medians[name]:.3g} for {name}" for name in others])
            + f"; the mean {means[SBR]:.3g} against "
            + and_list([f"{means[name]:.3g}" for name in others])
            + ".",
            "Confirmed if SBR's error is lower than each, in the median and on average, with 95% "
            "confidence.",
            judge(wins),
        ),
        Claim(
            "Where noise is low, best subset selection (here: the frontier) and forward stepwise "
            "selection do about equally well, and better than lasso (a finding that the paper "
            "cites).",
            f"Forward stepwise has {apart:.2g} times the median error of the frontier "
            f"({medians[STEPWISE]:.3g} against {medians[FRONTIER]:.3g}); lasso has "
            f"{medians[LASSO]:.3g}."
            + ("" if all(beats) else " Not both are shown to be better than lasso."),
            f"Confirmed if their medians are within {_SIMILAR:.0%} of each other and both are "
            "lower than lasso's, with 95% confidence.",
            judge(all(beats) and abs(apart - 1) <= _SIMILAR),
        ),
        Claim(
            "The frontier, which tries swaps as well, estimates no less accurately than SBR.",
            f"Its median is {medians[FRONTIER]:.3g} against {medians[SBR]:.3g}; the mean "
            f"difference is {gain}.",
            f"Confirmed if the interval stays below {_SIMILAR:.0%} of SBR's mean, better if below "
            "zero.",
            judge(_as_good(gain, means[SBR]), better=gain.high < 0),
            beyond=True,
        ),
    ]


def _as_good(difference: Interval, other: float) -> bool:
    """Return whether an error is, with confidence, at most a little larger than the other."""
    return difference.high <= _SIMILAR * other


def _compare(difference: Interval, other: float) -> str:
    """Say which of two errors is the larger, and whether that is sure."""
    share = difference.estimate / other
    sure = "significantly" if difference.low > 0 or difference.high < 0 else "not significantly"
    return f"{abs(share):.0%} {'larger' if share > 0 else 'smaller'}, {sure}"
