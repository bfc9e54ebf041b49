"""A trace of spikes that decay, with noise."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from sklearn.utils import check_random_state

from ellzero.datasets._collinear import _check_integer


def make_spikes(
    n: int = 1000,
    *,
    decay: float = 0.98,
    rate: float = 0.01,
    noise: float = 0.3,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Make a trace as calcium imaging gives it: ``c[t] = decay * c[t - 1] + spike[t]``, with noise.

    Parameters
    ----------
    n : int
        Samples.
    decay : float
        What the signal is multiplied by from one sample to the next, from 0 to 1.
    rate : float
        Probability of a spike at a sample; 0 for a silent trace. Sizes are uniform from 1 to 2.
    noise : float
        Standard deviation of the noise.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    y : ndarray of shape (n,)
        The signal with noise.
    signal : ndarray of shape (n,)
        c.
    spikes : ndarray of shape (n,)
        Sizes of the spikes, zero where there is none.

    Examples
    --------
    >>> from ellzero.datasets import make_spikes
    >>> y, signal, spikes = make_spikes(random_state=0)
    >>> y.shape, int((spikes > 0).sum())
    ((1000,), 7)
    """
    _check_integer("n", n, least=0)
    for name, value, most in (("decay", decay, 1), ("rate", rate, 1), ("noise", noise, 1e150)):
        if not (isinstance(value, Real) and 0 <= value <= most):
            raise ValueError(f"{name} must be a number from 0 to {most:g}; got {value!r}.")
    rng = check_random_state(random_state)
    spikes = np.where(rng.uniform(size=n) < rate, rng.uniform(1, 2, size=n), 0.0)
    signal: NDArray[np.float64] = lfilter([1.0], [1.0, -float(decay)], spikes)
    return signal + noise * rng.standard_normal(n), signal, spikes
