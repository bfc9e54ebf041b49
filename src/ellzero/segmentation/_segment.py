"""Exact segmentation of a series: the function."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ellzero._sklearn import StrOptions, check_parameters
from ellzero._warnings import PiecesWarning
from ellzero.segmentation._choose import How, check_correlation, choose_penalties
from ellzero.segmentation._dp import dynamic_programme
from ellzero.segmentation._noise import CORRELATION, NOISE
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

__all__ = ["LAM", "segment", "segment_series"]

LAM = StrOptions({"auto", "bic", "cv"})


def segment(
    y: Any,
    lam: float | str | Sequence[float | str] = "auto",
    *,
    decay: float | Sequence[float] = 1.0,
    jumps: str = "free",
    noise: str | float = "auto",
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

    If the noise on steps is correlated from sample to sample, ``e[t] = phi e[t-1] + innovation``,
    it is

    .. math:: \tfrac12 (1 - \phi^2)(y_0 - c_0)^2
              + \tfrac12 \sum_{t > 0} (y_t - c_t - \phi\,(y_{t-1} - c_{t-1}))^2
              + \mathrm{lam} \sum_{t > 0} I(c_t \ne c_{t-1})

    that is minimised (Romano, Rigaill, Runge and Fearnhead 2022), as exactly; ``noise`` says when.

    Parameters
    ----------
    y : array-like
        A series of numbers; or several, as a list of series or a 2-d array with one series per
        row. NaN is a gap: it costs nothing, and is filled in. No new segment begins in a gap, and
        a series of nothing else is an error.
    lam : float, "auto", "bic" or "cv", default="auto"
        The price of a jump, in squared units of y, or how to choose it. ``"auto"``: so that noise
        alone is given a jump in about 4 of 100 series at most, with heavy tails or without (8 if it
        is correlated up to .8, in 50 samples or more, and its innovations are normal); for steps in
        white normal noise that is ``sigma^2 (3 + 1/2 log n + 12 / n)``. ``"bic"``:
        ``sigma^2 log n``, for white noise. ``"cv"``: odd and even samples are held out in turn as
        gaps. Several series may have one each.
    decay : float, default=1.0
        What the signal is multiplied by from one sample to the next, above 0 and up to 1; see
        :func:`estimate_decay`. Several series may have one each.
    jumps : {"free", "positive"}, default="free"
        Whether jumps may go down: ``"positive"`` asks for ``c[t] >= decay * c[t - 1]`` everywhere.
        c itself may be negative.
    noise : {"auto", "white", "ar1"} or float, default="auto"
        What is supposed of the noise: independent from sample to sample (``"white"``), or
        correlated, with phi estimated (``"ar1"``) or given. ``"auto"`` estimates phi if ``lam`` is
        "auto", and decides by its size; at a ``lam`` that is given it means least squares. phi is
        part of the objective for steps (``decay=1``, ``jumps="free"``, ``solver="functional"``, and
        ``lam`` a number or "auto"). Elsewhere ``"ar1"`` and "auto" raise the price of a jump
        instead, and tell :meth:`Segmentation.locations`.
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

    Warns
    -----
    UserWarning
        If ``lam`` is left to be chosen and the series does not look like pieces: see
        ``cautions`` of :class:`Segmentation`.

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
        {"jumps": [JUMPS], "noise": [NOISE, CORRELATION], "solver": [_SOLVER], "rule": [_RULE]},
        jumps=jumps,
        noise=noise,
        solver=solver,
        rule=rule,
    )
    series, single = read_many(y, sample_weight)
    how = How(jumps == "positive", noise, solver, rule, threads_for(n_jobs))
    found = segment_series(series, lam, decay, how, "segment")
    _warn(found, single)
    return found[0] if single else found


_SOLVER = StrOptions({"functional", "pelt", "dp"})
_RULE = StrOptions({"min", "1se"})


def _warn(found: list[Segmentation], single: bool) -> None:
    """Say which series are not made of pieces, if the price of a jump was left to us."""
    odd = [k for k, one in enumerate(found) if one.chosen_by != "given" and one.cautions]
    if odd:
        name = "" if single else f"y[{odd[0]}]"
        warnings.warn(PiecesWarning(found[odd[0]].cautions, name, len(odd) - 1), stacklevel=3)


def segment_series(
    series: list[Series], lam: Any, decay: Any, how: How, caller: str
) -> list[Segmentation]:
    """Segment checked series."""
    asked = per_series(caller, "lam", lam, [PRICE, LAM], len(series))
    decays = [float(g) for g in per_series(caller, "decay", decay, [DECAY], len(series))]
    check_correlation(asked, decays, how)
    chosen = choose_penalties(series, asked, decays, how)
    prices = [price for price, _ in chosen]
    if how.solver == "dp":
        found = [
            _by_dp(one, price.lam, g, how.positive)
            for one, price, g in zip(series, prices, decays, strict=True)
        ]
    else:
        found = solve_all(
            series,
            [price.lam for price in prices],
            decays,
            how.positive,
            how.solver,
            threads=how.threads,
            phis=[price.phi for price in prices],
        )
    return [
        make_segmentation(
            fit, one, price, g, how.noise, curve, said if isinstance(said, str) else "given"
        )
        for fit, one, g, (price, curve), said in zip(
            found, series, decays, chosen, asked, strict=True
        )
    ]


def _by_dp(series: Series, lam: float, decay: float, positive: bool) -> Fit:
    starts = dynamic_programme(series, lam, decay, positive)
    return fit_segments(series, decay, starts[1:], tidied=True, lam=lam, positive=positive)
