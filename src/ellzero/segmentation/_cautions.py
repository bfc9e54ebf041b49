"""Signs that a series is not made of pieces, in words: drift, trend, season, errors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter

from ellzero.segmentation._calibrated import price_in_noise
from ellzero.segmentation._correlated import innovations, price_in_correlated_noise
from ellzero.segmentation._noise import noise_of_residuals
from ellzero.segmentation._series import Series

if TYPE_CHECKING:
    from ellzero.segmentation._segmentation import Segmentation

__all__ = ["find_cautions"]

_Floats = NDArray[np.float64]

# Each of these is seen in fewer than 1 of 100 series that are as they should be: see the tests.
_SLOW = 0.5  # a correlation above which noise may be drift,
_FEW = 10  # if a piece has no more than so many independent samples' worth
_CORRELATED = 0.2
_RAISED = 10.0  # times the usual price
_SHORT, _SHARE, _PIECES = 3, 1 / 3, 6
_CHANCE = 1e-4  # of a peak in the spectrum of what has no season
_PERIODS = 4
_NEIGHBOURS = 51  # frequencies that say how high the spectrum is around one


def find_cautions(found: Segmentation) -> list[str]:
    """Return what speaks against pieces, a sentence for each; none if nothing does."""
    observed = ~np.isnan(found.y)
    if found.sample_weight is not None:
        observed &= found.sample_weight > 0
    n = int(np.count_nonzero(observed))
    if n < 20 or not found.noise.sd > 0:
        return []
    said = [_drift(found, n), _correlation(found, n), _lone_samples(found, n)]
    if found.decay == 1:
        said += [_trend(found, observed), _season(found, observed), _short(found)]
    return [sentence for sentence in said if sentence]


def _drift(found: Segmentation, n: int) -> str:
    noise = found.noise
    each = n / noise.inflation() / found.n_segments
    if noise.correlation < _SLOW or each >= _FEW:
        return ""
    return (
        f"What the pieces leave is correlated at {noise.correlation:.2f} from sample to sample, so "
        f"that {n / found.n_segments:,.0f} samples per piece say as much as {each:.1f} independent "
        "ones: a series that drifts looks like this, and jumps cannot be told from drift."
    )


def _correlation(found: Segmentation, n: int) -> str:
    blind = found.chosen_by in ("bic", "cv") or found.noise_kind == "white"
    if not blind or found.chosen_by == "given":
        return ""
    series = Series(found.y, found.sample_weight, None)
    fit = found.changepoints, found.signal, found.jumps, found.loss
    correlation = noise_of_residuals(series, fit, "ar1").correlation
    if correlation <= max(_CORRELATED, 4 / math.sqrt(n)):
        return ""
    return (
        f"What the pieces leave is correlated at {correlation:.2f} from sample to sample, but the "
        'penalty was chosen for noise that is not: some of the jumps may be noise. lam="auto" with '
        'noise="auto" allows for that.'
    )


def _lone_samples(found: Segmentation, n: int) -> str:
    if found.phi > 0:
        usual = (1 - found.phi**2) * price_in_correlated_noise(n, found.phi)
    else:
        inflation = found.noise.inflation(found.decay)
        usual = inflation * price_in_noise(n / inflation, found.decay, False)
    usual *= found.noise.sd**2
    if found.chosen_by != "auto" or found.lam <= _RAISED * usual:
        return ""
    return (
        f"Single samples stand so far out that a jump was made {found.lam / usual:.1f} times as "
        "expensive as it would be without them, so that they are no jumps, and weaker jumps may be "
        "missed: if they are errors of measurement, make them gaps (NaN)."
    )


def _within_pieces(values: _Floats, found: Segmentation, weights: _Floats) -> _Floats:
    """Return values less their mean in each piece."""
    starts = np.concatenate([[0], found.changepoints])
    lengths = np.diff(np.append(starts, len(values)))
    totals = np.maximum(np.add.reduceat(weights, starts), 1e-300)
    means = np.add.reduceat(weights * values, starts) / totals
    inside: _Floats = values - np.repeat(means, lengths)
    return inside


def _slope(time: _Floats, y: _Floats) -> tuple[float, float]:
    """Return a slope by least squares, and by how much it lowers half the squares."""
    squares = float(time @ time)
    if squares == 0:
        return 0.0, 0.0
    slope = float(time @ y) / squares
    return slope, 0.5 * slope**2 * squares


def _trend(found: Segmentation, observed: NDArray[np.bool_]) -> str:
    weights = observed.astype(float)
    if found.sample_weight is not None:
        weights *= found.sample_weight
    series = Series(found.y, found.sample_weight, None)

    def scaled(values: _Floats) -> _Floats:  # as the loss sees them
        return innovations(series, found.phi, values)

    time = np.arange(len(found.y), dtype=float)
    slope, gain = _slope(
        scaled(_within_pieces(time, found, weights)), scaled(found.y - found.signal)
    )
    if gain > found.lam > 0:
        return (
            f"Within the pieces the series {'rises' if slope > 0 else 'falls'}, on average by "
            f"{abs(slope):.3g} a sample, and one slope for all of them would pay better than a "
            "jump: it has a trend, or decays. Subtract the trend first, or use decay."
        )
    if len(found.changepoints) < 2:
        return ""
    ones, y = scaled(np.ones(len(time))), scaled(found.y)
    total = float(ones @ ones)
    across = scaled(time) - ones * float(ones @ scaled(time)) / total
    centred = y - ones * float(ones @ y) / total
    line, gain = _slope(across, centred)
    if 0.5 * float(centred @ centred) - gain + found.lam >= found.objective:
        return ""
    return (
        f"A straight line, {'rising' if line > 0 else 'falling'} by {abs(line):.3g} a sample, fits "
        f"better than these {found.n_segments} pieces: the series has a trend. Subtract it first."
    )


def _season(found: Segmentation, observed: NDArray[np.bool_]) -> str:
    filled = np.where(observed, found.y, found.signal)
    period, peak = _peak(np.diff(filled))
    if not peak:
        return ""
    # Jumps at regular distances have a period too, and pieces fit them; where the pieces follow a
    # wave there is more than one jump in each period.
    follows = len(found.changepoints) > 1.5 * len(filled) / period
    if not follows and not _peak(np.diff(filled - found.signal))[1]:
        return ""
    return (
        f"The series comes and goes with a period of about {period:.3g} samples: it has a season. "
        "Subtract the mean of each phase first."
    )


def _peak(differences: _Floats) -> tuple[float, bool]:
    """Return the period of the highest peak in the spectrum, and whether it is one."""
    n = len(differences)
    spread = float(np.median(np.abs(differences))) or float(np.abs(differences).max())
    if n < 40 or spread == 0:
        return math.inf, False
    cut = np.clip(differences / spread, -6, 6)  # jumps are no part of a season
    power = np.abs(np.fft.rfft((cut - cut.mean()) * np.hanning(n))) ** 2
    power = power[_PERIODS:]
    if not power.max() > 0:  # a ramp without noise
        return math.inf, False
    width = min(_NEIGHBOURS, len(power) // 2)
    around = median_filter(power, width, mode="reflect") / math.log(2)
    # The ordinates of a spectrum without peaks are exponential around its level.
    ratio = power / np.maximum(around, 1e-12 * power.max())
    highest = int(np.argmax(ratio))
    bar = math.log(len(power) / _CHANCE) * 1.5  # the level around a peak is itself estimated
    return n / (highest + _PERIODS), bool(ratio[highest] > bar)


def _short(found: Segmentation) -> str:
    if found.n_segments < _PIECES:
        return ""
    edges = np.concatenate([[0], found.changepoints, [len(found.y)]])
    short = int(np.count_nonzero(np.diff(edges) <= _SHORT))
    if short < _SHARE * found.n_segments:
        return ""
    return (
        f"Of the {found.n_segments:,} pieces {short:,} have {_SHORT} samples or fewer: they follow "
        "something that does not stay constant."
    )
