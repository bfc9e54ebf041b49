"""The default penalty: noise alone is seldom taken for a jump."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ellzero.segmentation._noise import NoiseEstimate, noise_of, noise_of_residuals
from ellzero.segmentation._series import Fit, Series, solve_all

__all__ = ["calibrated_penalties", "price_in_noise"]

_Floats = NDArray[np.float64]

# Segments of so few samples may be noise that strayed.
_SHORT = 2
# What a neighbour that strays the same way may add to a sample that stands alone, in standard
# deviations; with decay, what all samples after it may add.
_MARGIN, _MARGIN_DECAYING = 1.3, 3.0
# Of t with 4 degrees of freedom, samples beyond x are about 6 / x^4 of all for large x, and the
# standard deviation that differences tell is 1.31.
_TAIL = 6**0.25 / 1.31
# How often the jth largest sample of such noise may lie further out than is taken for noise.
_SELDOM = 0.003
# No sample within so many standard deviations stands out, however many there are: of rounded data
# the standard deviation says little.
_NEAR = 5.0
# A level that decays is followed back for so many samples.
_REACH = 10
# What pieces leave is white if it is correlated less than this.
_HARDLY = 0.2
# Prices that are tried where noise may be correlated, from that for white noise, 0, to that for as
# much correlation as differences tell, 1.
_BETWEEN = (1.0, 0.75, 0.5)
# What makes up for choosing the best of these: jumps count for so much more.
_CAREFUL = 1.4


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


def calibrated_penalties(
    series: Sequence[Series], decays: Sequence[float], positive: bool, kind: str, threads: int
) -> list[float]:
    """Return the default penalty of each series.

    The noise is first estimated from differences, which needs no signal; at that price the series
    is segmented, and what the pieces leave gives the noise more precisely.
    """

    def fit(places: Sequence[int], prices: Sequence[float]) -> list[Fit]:
        some, rates = [series[k] for k in places], [decays[k] for k in places]
        return solve_all(some, prices, rates, positive, "functional", threads=threads)

    everything = range(len(series))
    white = [noise_of(series[k], decays[k], "white") for k in everything]
    first = [_price(series[k], decays[k], positive, white[k]) for k in everything]
    fits = fit(everything, first)
    lone = [_lone_samples(series[k], fits[k], decays[k], positive, white[k].sd) for k in everything]
    raised = [k for k in everything if lone[k] > first[k]]
    for k, other in zip(raised, fit(raised, [lone[k] for k in raised]), strict=True):
        fits[k] = other

    def price(k: int, noise: NoiseEstimate) -> float:
        return max(_price(series[k], decays[k], positive, noise), lone[k])

    # Many jumps look like correlation, and correlation like many jumps; and a jump that was missed
    # adds to the correlation, which hides it. So several prices are tried.
    noises = [noise_of(series[k], decays[k], kind) for k in everything]
    doubtful = [k for k in everything if noises[k].correlation > 0]
    high = [price(k, noises[k]) for k in doubtful]
    low = [price(k, noise_of_residuals(series[k], fits[k], "white")) for k in doubtful]
    tried = [
        fit(doubtful, [a ** (1 - share) * b**share for a, b in zip(low, high, strict=True)])
        for share in _BETWEEN
    ]
    for k, white_fit, *others in zip(doubtful, fit(doubtful, low), *tried, strict=True):
        n = int(np.count_nonzero(series[k].observed))
        jump = price_in_noise(n, decays[k], positive)
        misfits = [_misfit(series[k], other, _CAREFUL * jump, correlated=True) for other in others]
        best = int(np.argmin(misfits))
        white_wins = kind == "auto" and _is_white(series[k], white_fit, jump, misfits[best])
        fits[k] = white_fit if white_wins else others[best]
    return [price(k, noise_of_residuals(series[k], fits[k], kind)) for k in everything]


def _price(series: Series, decay: float, positive: bool, noise: NoiseEstimate) -> float:
    """Return the price of a jump in a given noise, in squared units of y."""
    n = int(np.count_nonzero(series.observed))
    if n < 2:
        return 0.0
    inflation = noise.inflation(decay)
    # Rounding is noise too, and there may be no other.
    sd = max(noise.sd, 1e-13 * float(np.abs(series.y[series.observed]).max()))
    return inflation * price_in_noise(n / inflation, decay, positive) * sd**2


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


def _lone_samples(series: Series, fit: Fit, decay: float, positive: bool, sd: float) -> float:
    """Return the price at which no sample alone is worth a segment of its own.

    A sample that is off by r lowers half the squares by ``1/2 r^2``, for two jumps or, at an end of
    the series, for one; with decay by ``1/2 (1 - decay^2) r^2`` for one. Noise with heavy tails has
    such samples. Tails as heavy as those of t with 4 degrees of freedom are allowed for: samples
    that are further off, or more of them, than such tails make of the noise are taken at their
    word. Where most samples are equal to the one before (counts, rounded data) there is no saying
    what the noise makes, and two that stand out side by side are allowed for too.
    """
    off = _off(series, fit, decay)
    if len(off) < 2:
        return 0.0
    ends = np.abs(off[-1:] if positive else off[[0, -1]])
    off = np.maximum(off, 0.0) if positive else np.abs(off)  # only what is high looks like a jump
    off = np.sort(off)[::-1]
    y = series.y[series.observed]
    tied = np.count_nonzero(np.diff(y)) < len(y) / 2
    real = np.flatnonzero(off > sd * _tails(len(off))) if not tied else np.zeros(0, dtype=int)
    largest = float(off[min(int(real.max(initial=-1)) + 1, len(off) - 1)])
    margin = _MARGIN * sd
    prices = [0.5 * float(end + margin) ** 2 for end in ends[ends <= largest]]
    if not positive:
        # With decay fewer samples say where the level is.
        share = 0.5 if tied else 0.25
        prices.append(share * (largest + margin * (2.0 if decay < 1 else 1.0)) ** 2)
    if decay < 1:
        # The slower the decay, the more the samples after it have to say.
        alone = largest * math.sqrt(1 - decay**2) + _MARGIN_DECAYING * decay * sd
        prices.append(0.5 * alone**2)
    return max(prices, default=0.0)


def _tails(n: int) -> _Floats:
    """Return how far out the largest, second largest, ... of n samples of noise may lie.

    So many samples j lie beyond x with the probability of j or more events where n 6 / x^4 are
    expected, which is about that number to the power j, divided by j!.
    """
    j = np.arange(1, n + 1)
    tails: _Floats = _TAIL * n**0.25 * np.exp(-(math.log(_SELDOM) + gammaln(j + 1)) / (4 * j))
    return np.maximum(tails, _NEAR)


def _off(series: Series, fit: Fit, decay: float) -> _Floats:
    """Return how far samples are from the signal, in units of weight one.

    Short segments don't count as signal: their samples are held against the nearer of the long
    ones before and after. With decay one sample can make a jump that fades at once: the first
    of a segment is held against those before and, as long as they tell, those after.
    """
    times = np.flatnonzero(series.observed)
    y = series.y[times]
    changepoints, signal = fit[0], fit[1]
    starts = np.concatenate([[0], np.searchsorted(times, changepoints)])
    lengths = np.diff(np.append(starts, len(y)))
    segment = np.repeat(np.arange(len(lengths)), lengths)
    off: _Floats = y - signal[times]
    if 0.5 < decay**2 < 1:
        weights = np.ones(len(y)) if series.weights is None else series.weights[times]
        first = starts[1:][lengths[1:] > _SHORT]
        before = y[first] - signal[times[first - 1]] * decay ** (times[first] - times[first - 1])
        # What the others of the segment make of its first level, by leaving out the first sample.
        others = decay**2 / (1 - decay**2) * weights[np.minimum(first + 1, len(y) - 1)]
        after = off[first] * (1 + weights[first] / others)
        off[first] = np.where(np.abs(before) <= np.abs(after), before, after)
    short = np.flatnonzero(lengths[segment] <= _SHORT)
    long = np.flatnonzero(lengths > _SHORT)
    if short.size and long.size:
        at = np.searchsorted(long, segment[short])
        misses = []
        for neighbour, there in ((at - 1, at > 0), (at, at < len(long))):
            edge = long[np.clip(neighbour, 0, len(long) - 1)]
            # The last sample of the one before, the first of the one after.
            place = np.where(neighbour < at, starts[edge] + lengths[edge] - 1, starts[edge])
            lag = (times[short] - times[place]).astype(float)
            level = signal[times[place]] * decay ** np.maximum(lag, -_REACH)
            misses.append(np.where(there, y[short] - level, np.inf))
        before, after = misses
        off[short] = np.where(np.abs(before) <= np.abs(after), before, after)
    return off if series.weights is None else off * np.sqrt(series.weights[times])
