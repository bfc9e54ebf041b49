"""Where a penalty comes from: a criterion, or the smallest jump that matters."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from ellzero._sklearn import Interval, check_parameters
from ellzero.segmentation._noise import noise_of
from ellzero.segmentation._series import DECAY, Series

__all__ = ["bic_penalty", "lam_for_jump"]


def bic_penalty(series: Series, decay: float) -> float:
    """Return ``sigma^2 log n``, sigma that of white noise.

    BIC charges ``1/2 sigma^2 log n`` per parameter on the scale of half the squares, and a jump has
    two: where and how large.
    """
    n = series.sample_count
    if series.weights is not None and n < 1 and not np.isnan(series.y).all():
        raise ValueError(
            f'sample_weight sums to {n:g}, but lam="bic" takes the sum for the number of samples.'
        )
    if n <= 1:
        return 0.0
    # Rounding is noise too, and there may be no other.
    rounding = 1e-13 * float(np.nanmax(np.abs(series.y)))
    return max(noise_of(series, decay, "white").sd, rounding) ** 2 * math.log(n)


def lam_for_jump(
    size: float, *, noise: float = 1.0, decay: float = 1.0, duration: float | None = None
) -> float:
    """Return the penalty at which a jump of a given size just pays.

    A jump that lasts for d samples before the next lowers ``1/2 sum (y - c)^2`` by

        1/2 jump^2 (1 + decay^2 + decay^4 + ... + decay^(2 d - 2))

    if the signal before it is known and there is no noise. With ``lam`` equal to that, larger jumps
    are found and smaller ones are not; with noise, one of just this size is found every second
    time. Noise alone looks like such a jump where it exceeds ``sqrt(2 lam) / noise`` standard
    deviations: see the page on segmentation for how often that is.

    Parameters
    ----------
    size : float
        The smallest jump to find, in units of the noise.
    noise : float, default=1.0
        Standard deviation of the noise, in the units of y: see :func:`estimate_noise`.
    decay : float, default=1.0
        As for :func:`segment`.
    duration : float, default=None
        How many samples the jump lasts. By default as long as it takes to decay; must be given for
        ``decay=1``, where a jump never does.

    Returns
    -------
    float
        ``lam`` for :func:`segment`, in squared units of y.

    Examples
    --------
    Spikes of three standard deviations that decay by two percent per sample:

    >>> from ellzero import lam_for_jump
    >>> round(lam_for_jump(3.0, noise=0.1, decay=0.98), 3)
    1.136

    Steps of one standard deviation that last for 50 samples:

    >>> lam_for_jump(1.0, duration=50)
    25.0
    """
    above_zero = Interval(Real, 0, None, closed="neither")
    check_parameters(
        "lam_for_jump",
        {
            "size": [above_zero],
            "noise": [above_zero],
            "decay": [DECAY],
            "duration": [Interval(Real, 1, None, closed="left"), None],
        },
        size=size,
        noise=noise,
        decay=decay,
        duration=duration,
    )
    if duration is None:
        if decay == 1:
            raise ValueError("duration must be given for decay=1: such a jump lasts for ever.")
        duration = math.inf
    if size * noise > 1e150:
        raise ValueError("size times noise is too large to be squared; rescale y.")
    samples = duration if decay == 1 else (1 - decay ** (2 * duration)) / (1 - decay**2)
    return float(0.5 * (size * noise) ** 2 * samples)
