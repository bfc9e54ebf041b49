"""The default penalty: noise alone is seldom taken for a jump."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ellzero.segmentation._correlated import (
    correlation_of_missed_jumps,
    fit_at_correlation,
    settle,
    try_correlations,
)
from ellzero.segmentation._lone import lone_innovations, lone_samples
from ellzero.segmentation._noise import NoiseEstimate, noise_of, noise_of_residuals
from ellzero.segmentation._series import Fit, Series, solve_all

__all__ = ["Price", "calibrated_penalties", "price_in_noise"]

# What pieces leave is white if it is correlated less than this.
_HARDLY = 0.2
# Prices that are tried where noise may be correlated, from that for white noise, 0, to that for as
# much correlation as differences tell, 1.
_BETWEEN = (1.0, 0.75, 0.5)
# With more work than this, some 20 seconds, correlation is in the price of a jump alone, unless it
# is asked for.
_MOST_WORK = 5e6
# What makes up for choosing the best of these: jumps count for so much more.
_CAREFUL = 1.4
# Correlations below both are not looked into: so many standard errors, 1 / sqrt(n) each, and that.
_ERRORS, _SMALL = 2.0, 0.1
# By so much correlation has to raise the log-likelihood to be believed in.
_DOUBT = 1.0
# Jumps that are missed leave a correlation that is estimated to about this factor.
_ROUGHLY = 2.0


def price_in_noise(n: float, decay: float, positive: bool) -> float:
    """Return the penalty that noise alone seldom reaches, in units of its variance.

    On n samples of white normal noise some jump pays at this price in 1 to 4 of 100 series. The
    formulas were fitted to simulated quantiles (``benchmarks/series_defaults.py``). A stretch on
    another level takes two jumps, which is why each costs ``1/2 log n``. What decays takes only
    one, and costs ``log n``; beginnings next to each other share most of a slow decay, and count
    for less. Steps that only go up cannot come back, and their price hardly depends on n. The last
    term makes up for noise that few samples estimate badly.
    """
    log_n = math.log(max(n, 2.0))
    price = 4.7 + 0.15 * log_n if positive else 3.0 + 0.5 * log_n
    if decay < 1:
        pulse = (1.6 if positive else 2.1) + log_n - math.log1p(-0.06 / math.log(decay))
        price = max(price, pulse)
    return price + 12 / max(n, 2.0)


class Price(NamedTuple):
    """What a jump costs, and the correlation of the noise in the objective."""

    lam: float
    phi: float


def calibrated_penalties(
    series: Sequence[Series],
    decays: Sequence[float],
    positive: bool,
    kind: str | float,
    threads: int,
    *,
    coupled: bool = True,
) -> list[Price]:
    """Return the default penalty of each series.

    The noise is first estimated from differences, which needs no signal; at that price the series
    is segmented, and what the pieces leave gives the noise more precisely. If it is correlated, the
    correlation goes into the objective where that can be solved for (steps, up or down, and
    ``coupled``), else into the price alone.
    """
    solve = partial(_fit, series, decays, positive, threads)
    everything = range(len(series))
    if not isinstance(kind, str):
        firsts = [noise_of(one, 1.0, "ar1") for one in series]
        known = fit_at_correlation(series, firsts, float(kind), threads)
        return [_settle(series[k], known[k], float(kind)) for k in everything]
    white = [noise_of(series[k], decays[k], "white") for k in everything]
    first = [_price(series[k], decays[k], positive, white[k]) for k in everything]
    fits = solve(everything, first)
    lone = [lone_samples(series[k], fits[k], decays[k], positive, white[k].sd) for k in everything]
    raised = [k for k in everything if lone[k] > first[k]]
    for k, other in zip(raised, solve(raised, [lone[k] for k in raised]), strict=True):
        fits[k] = other

    def price(k: int, noise: NoiseEstimate) -> float:
        return max(_price(series[k], decays[k], positive, noise), lone[k])

    # Many jumps look like correlation, and correlation like many jumps; and a jump that was missed
    # adds to the correlation, which hides it. So several prices are tried.
    noises = [noise_of(series[k], decays[k], kind) for k in everything]
    correlated: dict[int, Price] = {}
    steps = [k for k in everything if coupled and not positive and decays[k] == 1]
    if kind != "white":
        guesses = {
            k: max(
                noise_of(series[k], 1.0, "ar1"),
                noise_of_residuals(series[k], fits[k], "ar1"),
                key=_by_correlation,
            )
            for k in steps
        }
        if kind == "auto":
            steps = [k for k in steps if _work(series[k], guesses[k]) <= _MOST_WORK]
        unsure = [k for k in steps if _may_be_correlated(series[k], guesses[k], kind)]
        low = [price(k, noise_of_residuals(series[k], fits[k], "white")) for k in unsure]
        whites = dict(zip(unsure, solve(unsure, low), strict=True))
        correlated = _with_correlation(series, guesses, whites, kind, threads)
        fits = [whites.get(k, fits[k]) for k in everything]
    doubtful = [k for k in everything if k not in steps and noises[k].correlation > 0]
    high = [price(k, noises[k]) for k in doubtful]
    low = [price(k, noise_of_residuals(series[k], fits[k], "white")) for k in doubtful]
    tried = [
        solve(doubtful, [a ** (1 - share) * b**share for a, b in zip(low, high, strict=True)])
        for share in _BETWEEN
    ]
    for k, white_fit, *others in zip(doubtful, solve(doubtful, low), *tried, strict=True):
        n = int(np.count_nonzero(series[k].observed))
        jump = price_in_noise(n, decays[k], positive)
        misfits = [_misfit(series[k], other, _CAREFUL * jump, correlated=True) for other in others]
        best = int(np.argmin(misfits))
        white_wins = kind == "auto" and _is_white(series[k], white_fit, jump, misfits[best])
        fits[k] = white_fit if white_wins else others[best]
    left = [
        noise_of_residuals(series[k], fits[k], "white" if k in steps else kind) for k in everything
    ]
    return [correlated.get(k) or Price(price(k, left[k]), 0.0) for k in everything]


def _fit(
    series: Sequence[Series],
    decays: Sequence[float],
    positive: bool,
    threads: int,
    places: Sequence[int],
    prices: Sequence[float],
) -> list[Fit]:
    some, rates = [series[k] for k in places], [decays[k] for k in places]
    return solve_all(some, prices, rates, positive, "functional", threads=threads)


def _work(series: Series, noise: NoiseEstimate) -> float:
    """Return what solving with the correlation in the objective takes, roughly in samples."""
    return np.count_nonzero(series.observed) / max(1 - noise.correlation, 1e-3)


def _may_be_correlated(series: Series, noise: NoiseEstimate, kind: str) -> bool:
    n = max(int(np.count_nonzero(series.observed)), 1)
    least = min(_ERRORS / math.sqrt(n), _SMALL) if kind == "auto" else 0.0
    return noise.sd > 0 and noise.correlation > least


def _by_correlation(noise: NoiseEstimate) -> float:
    return noise.correlation


def _with_correlation(
    series: Sequence[Series],
    guesses: Mapping[int, NoiseEstimate],
    whites: Mapping[int, Fit],
    kind: str,
    threads: int,
) -> dict[int, Price]:
    """Return the prices, and correlations, of those series whose noise is correlated.

    ``whites`` has those for which it may be, as fitted as if it were not.
    """
    places = list(whites)
    found = try_correlations([series[k] for k in places], [guesses[k] for k in places], threads)
    prices = {}
    for k, best in zip(places, found, strict=True):
        n = int(np.count_nonzero(series[k].observed))
        jump = price_in_noise(n, 1.0, False)
        bar = best.misfit + _DOUBT
        if kind == "auto" and _is_white(series[k], whites[k], _CAREFUL * jump, bar):
            continue
        price = _settle(series[k], best.fit)
        beyond = price.phi
        if kind == "auto":
            missed = correlation_of_missed_jumps(series[k], best.fit, price.lam)
            beyond = max(price.phi - _ROUGHLY * missed, 0.0)
            if missed > 0 and 0.5 * n * beyond**2 < _DOUBT:
                continue
        if beyond > 0:
            prices[k] = price
    return prices


def _price(series: Series, decay: float, positive: bool, noise: NoiseEstimate) -> float:
    """Return the price of a jump in a given noise, in squared units of y."""
    n = int(np.count_nonzero(series.observed))
    if n < 2:
        return 0.0
    inflation = noise.inflation(decay)
    # Rounding is noise too, and there may be no other.
    sd = max(noise.sd, 1e-13 * float(np.abs(series.y[series.observed]).max()))
    return inflation * price_in_noise(n / inflation, decay, positive) * sd**2


def _settle(series: Series, fit: Fit, phi: float | None = None) -> Price:
    lam, phi = settle(series, fit, phi)
    return Price(max(lam, lone_innovations(series, fit, phi)), phi)


def _is_white(series: Series, fit: Fit, jump: float, correlated: float) -> bool:
    """Whether white noise with the jumps of a fit explains more than AR(1) noise does."""
    left = noise_of_residuals(series, fit, "ar1").correlation
    return left < _HARDLY and _misfit(series, fit, jump, correlated=False) < correlated


def _misfit(series: Series, fit: Fit, jump: float, *, correlated: bool) -> float:
    """Return minus the log-likelihood, up to a constant, and ``jump`` for every jump."""
    there = series.observed
    n = int(np.count_nonzero(there))
    left = np.where(there, series.y - fit[1], 0.0)
    if series.weights is not None:
        left = left * np.sqrt(series.weights)
    unit = float(np.abs(left).max())
    if unit == 0:
        return -math.inf
    left = left / unit
    squares = float(left @ left)
    if correlated:  # by least squares of each on the one before
        products = float(left[1:] @ left[:-1])
        squares -= products**2 / max(float(left[:-1] @ left[:-1]), 1e-300)
    return n * (math.log(unit) + 0.5 * math.log(max(squares, 1e-300) / n)) + jump * len(fit[0])
