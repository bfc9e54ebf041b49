"""Samples that stand alone: the price at which none of them is worth a segment of its own."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ellzero.segmentation._correlated import innovations
from ellzero.segmentation._noise import spread
from ellzero.segmentation._series import Fit, Series, fit_segments

__all__ = ["lone_innovations", "lone_samples"]

_Floats = NDArray[np.float64]

# Segments of so few samples may be noise that strayed.
_SHORT = 2
# What a neighbour that strays the same way may add to a sample that stands alone, in standard
# deviations; with decay, what all samples after it may add.
_MARGIN, _MARGIN_DECAYING = 1.3, 3.0
# The same for an innovation whose level stays; and how long its trace is, in units of
# 1 / (1 - phi) samples.
_MARGIN_LASTING, _TRACE = 1.0, 8.0
# So many innovations are looked at in pairs.
_PAIRED = 30
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


def lone_samples(series: Series, fit: Fit, decay: float, positive: bool, sd: float) -> float:
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
    if series.weights is not None:
        off = off * np.sqrt(series.weights[series.observed])
    ends = np.abs(off[-1:] if positive else off[[0, -1]])
    off = np.maximum(off, 0.0) if positive else np.abs(off)  # only what is high looks like a jump
    tied, largest = _largest_noise(series, off, sd)
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


def lone_innovations(series: Series, fit: Fit, phi: float) -> float:
    """Return the same in noise correlated at phi, for steps.

    Another level for the L samples from i up to j lowers half the squares of the innovations v by

        1/2 (v[i] - phi v[j])^2 / (1 + phi^2 + (L - 1) (1 - phi)^2)

    for two jumps: one sample that is off has j = i + 1, and two innovations that stray to opposite
    sides may be further apart. One jump, of an innovation that lasts to an end of the series L
    samples away, lowers them by ``1/2 v[i]^2 / (1 + L (1 - phi)^2)``.
    """
    # A quarter of the series is long, whatever the noise.
    most = min(_SHORT + int(_TRACE / (1 - phi)), len(series.y) // 4)
    if np.diff(np.concatenate([[0], fit[0], [len(series.y)]])).max() <= most:
        fit = fit_segments(series, 1.0, fit[0][:0], phi=phi)
    left = np.zeros(len(series.y))
    left[series.observed] = _off(series, fit, 1.0, most)
    found = innovations(series, phi, left)
    n = len(found)
    if n < 2:
        return 0.0
    slow = (1 - phi) ** 2
    off = np.abs(found)
    alone = np.abs(found[:-1] - phi * found[1:]) / math.sqrt(1 + phi**2)
    off[:-1] = np.maximum(off[:-1], alone)
    sd = spread(found)
    tied, largest = _largest_noise(series, off, sd)
    noise = np.flatnonzero(off <= largest)
    furthest = np.sort(noise[np.argsort(-np.abs(found[noise]))[:_PAIRED]])
    first, last = np.triu_indices(len(furthest), 1)
    i, j = furthest[first], furthest[last]
    pairs = np.abs(found[i] - phi * found[j]) / np.sqrt(1 + phi**2 + (j - i - 1) * slow)
    to_end = np.minimum(noise, n - 1 - noise)
    lasting = float((off[noise] / np.sqrt(1 + to_end * slow)).max(initial=0.0))
    return max(
        0.5 * (lasting + _MARGIN_LASTING * sd) ** 2,
        (0.5 if tied else 0.25) * (largest + _MARGIN * sd) ** 2,
        0.25 * (float(pairs.max(initial=0.0)) + _MARGIN * sd) ** 2,
    )


def _largest_noise(series: Series, off: _Floats, sd: float) -> tuple[bool, float]:
    """Return whether samples are mostly equal, and how far off the furthest is that may be noise.

    Tails of t with 4 degrees of freedom are noise; what is further off than these reach, or more
    samples than that, is taken at its word.
    """
    off = np.sort(off)[::-1]
    y = series.y[series.observed]
    tied = bool(np.count_nonzero(np.diff(y)) < len(y) / 2)
    real = np.flatnonzero(off > sd * _tails(len(off))) if not tied else np.zeros(0, dtype=int)
    return tied, float(off[min(int(real.max(initial=-1)) + 1, len(off) - 1)])


def _tails(n: int) -> _Floats:
    """Return how far out the largest, second largest, ... of n samples of noise may lie.

    So many samples j lie beyond x with the probability of j or more events where n 6 / x^4 are
    expected, which is about that number to the power j, divided by j!.
    """
    j = np.arange(1, n + 1)
    tails: _Floats = _TAIL * n**0.25 * np.exp(-(math.log(_SELDOM) + gammaln(j + 1)) / (4 * j))
    return np.maximum(tails, _NEAR)


def _off(series: Series, fit: Fit, decay: float, most: int = _SHORT) -> _Floats:
    """Return how far the samples observed are from the signal.

    Segments of at most ``most`` samples don't count as signal: their samples are held against the
    nearer of the long ones before and after. With decay one sample can make a jump that fades at
    once: the first of a segment is held against those before and, as long as they tell, those
    after.
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
        first = starts[1:][lengths[1:] > most]
        before = y[first] - signal[times[first - 1]] * decay ** (times[first] - times[first - 1])
        # What the others of the segment make of its first level, by leaving out the first sample.
        others = decay**2 / (1 - decay**2) * weights[np.minimum(first + 1, len(y) - 1)]
        after = off[first] * (1 + weights[first] / others)
        off[first] = np.where(np.abs(before) <= np.abs(after), before, after)
    short = np.flatnonzero(lengths[segment] <= most)
    long = np.flatnonzero(lengths > most)
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
    return off
