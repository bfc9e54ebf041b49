"""Exact segmentation of a series: the function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ellzero._sklearn import StrOptions, check_parameters
from ellzero.segmentation._cross_validation import PenaltyCurve, cross_validate
from ellzero.segmentation._dp import dynamic_programme
from ellzero.segmentation._penalty import bic_penalty
from ellzero.segmentation._segmentation import Segmentation, make_segmentation
from ellzero.segmentation._series import (
    DECAY,
    JUMPS,
    PRICE,
    Fit,
    Series,
    fit_segments,
    per_series,
    read_many,
    solve_all,
    threads_for,
)

__all__ = ["choose_penalty", "segment", "segment_series"]


def segment(
    y: Any,
    lam: float | str | Sequence[float | str] = "bic",
    *,
    decay: float | Sequence[float] = 1.0,
    jumps: str = "free",
    solver: str = "functional",
    sample_weight: Any = None,
    rule: str = "min",
    n_jobs: int | None = None,
) -> Any:
    r"""Find changepoints or spikes, exactly.

    The result minimises

    .. math:: \tfrac12 \sum_t w_t (y_t - c_t)^2
              + \mathrm{lam} \sum_{t > 0} I(c_t \ne \mathrm{decay}\; c_{t-1})

    over all signals c (Jewell and Witten 2018; Polson and Sun). With ``decay=1`` the signal is
    piecewise constant and its jumps are changepoints; with ``decay < 1`` it decays between jumps,
    as the fluorescence of calcium does between spikes. This is the global optimum, up to rounding
    and a part in 10^10 of ``lam``.

    Parameters
    ----------
    y : array-like
        A series of numbers; or several, as a list of series or a 2-d array with one series per
        row. NaN is a gap: it costs nothing, and is filled in. No new segment begins in a gap.
    lam : float, "bic" or "cv", default="bic"
        The price of a jump, in squared units of y, or how to choose it. ``"bic"``:
        ``sigma^2 log n`` with sigma from :func:`estimate_noise`. ``"cv"``: odd and even samples are
        held out in turn as gaps. Several series may have one each.
    decay : float, default=1.0
        What the signal is multiplied by from one sample to the next, above 0 and up to 1; see
        :func:`estimate_decay`. Several series may have one each.
    jumps : {"free", "positive"}, default="free"
        Whether jumps may go down: ``"positive"`` asks for ``c[t] >= decay * c[t - 1]`` everywhere.
        c itself may be negative.
    solver : {"functional", "pelt", "dp"}, default="functional"
        All are exact. Functional pruning takes time close to proportional to n; pruning by
        inequality (PELT) keeps more candidates, many more when there are few jumps or they have to
        be positive; ``"dp"`` tries all beginnings of the last segment, and is there to be read.
    sample_weight : array-like of the shape of y, default=None
        Weights of the samples, as frequencies; zero is a gap. A list of them for a list of series.
    rule : {"min", "1se"}, default="min"
        For ``lam="cv"``: the penalty of the least error, or the largest within one standard error
        of it.
    n_jobs : int, default=None
        How many series are solved at a time. By default as many as ``OMP_NUM_THREADS`` says, else
        as there are cores; -1 for all cores. It does not change the result.

    Returns
    -------
    Segmentation, or list of Segmentation
        A list for several series.

    Examples
    --------
    >>> import numpy as np
    >>> from ellzero import segment
    >>> found = segment([1.0, 1.2, 0.8, 5.1, 4.9, 5.0], lam=1.0)
    >>> found.changepoints
    array([3])
    >>> found.signal
    array([1., 1., 1., 5., 5., 5.])

    Spikes that decay by a tenth per sample:

    >>> y = [1.0, 1.6, 2.9, np.nan, 2.3]
    >>> spikes = segment(y, lam=0.5, decay=0.9, jumps="positive")
    >>> spikes.changepoints, spikes.jumps.round(2), round(spikes.objective, 4)
    (array([2]), array([1.78]), 0.6361)
    """
    check_parameters(
        "segment",
        {"jumps": [JUMPS], "solver": [_SOLVER], "rule": [_RULE]},
        jumps=jumps,
        solver=solver,
        rule=rule,
    )
    series, single = read_many(y, sample_weight)
    threads = threads_for(n_jobs)
    found = segment_series(
        series, lam, decay, jumps == "positive", solver, rule, threads, "segment"
    )
    return found[0] if single else found


_SOLVER = StrOptions({"functional", "pelt", "dp"})
_RULE = StrOptions({"min", "1se"})


def choose_penalty(
    series: Series, lam: Any, decay: float, positive: bool, solver: str, rule: str, threads: int
) -> tuple[float, PenaltyCurve | None]:
    """Turn what the user said into a number, and the curve it was read off, if there is one."""
    if lam == "bic":
        return bic_penalty(series), None
    if lam == "cv":
        curve = cross_validate(
            series, decay, positive, "functional" if solver == "dp" else solver, threads
        )
        return (curve.best if rule == "min" else curve.one_se), curve
    return float(lam), None


def segment_series(
    series: list[Series],
    lam: Any,
    decay: Any,
    positive: bool,
    solver: str,
    rule: str,
    threads: int,
    caller: str,
) -> list[Segmentation]:
    """Segment checked series."""
    asked = per_series(caller, "lam", lam, [PRICE, StrOptions({"bic", "cv"})], len(series))
    decays = [float(g) for g in per_series(caller, "decay", decay, [DECAY], len(series))]
    chosen = [
        choose_penalty(one, price, g, positive, solver, rule, threads)
        for one, price, g in zip(series, asked, decays, strict=True)
    ]
    lams = [price for price, _ in chosen]
    if solver == "dp":
        found = [
            _by_dp(one, price, g, positive)
            for one, price, g in zip(series, lams, decays, strict=True)
        ]
    else:
        found = solve_all(series, lams, decays, positive, solver, threads=threads)
    return [
        make_segmentation(fit, one, price, g, curve)
        for fit, one, g, (price, curve) in zip(found, series, decays, chosen, strict=True)
    ]


def _by_dp(series: Series, lam: float, decay: float, positive: bool) -> Fit:
    starts = dynamic_programme(series, lam, decay, positive)
    return fit_segments(series, decay, starts[1:], tidied=True, lam=lam, positive=positive)
