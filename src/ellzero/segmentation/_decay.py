"""How fast the signal decays between jumps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from ellzero._sklearn import StrOptions, check_parameters
from ellzero.segmentation._penalty import bic_penalty
from ellzero.segmentation._series import JUMPS, PRICE, Series, read_one, solve_all, threads_for

__all__ = ["estimate_decay"]

_LAGS = 30
# In logarithms of the rate at which the signal decays, -log(decay).
_SLOWEST, _FASTEST, _STEP = math.log(1e-6), math.log(5.0), 0.5


def estimate_decay(
    y: Any,
    lam: float | str = "bic",
    *,
    jumps: str = "free",
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> float:
    """Estimate the decay of a signal that jumps at times and decays to zero in between.

    The autocovariance of such a signal is multiplied by the decay from each lag to the next, and
    white noise adds nothing to it beyond lag zero: that gives a first guess. The answer is the
    decay at which the least objective of :func:`segment` is least, searched for around the guess.

    Parameters
    ----------
    y : array-like of shape (n,)
        One series; NaN for gaps. A signal that decays to a baseline other than zero needs the
        baseline taken off first.
    lam : float or "bic", default="bic"
        The penalty at which decays are compared.
    jumps : {"free", "positive"}, default="free"
        As for :func:`segment`.
    sample_weight : array-like of shape (n,), default=None
        As for :func:`segment`.
    n_jobs : int, default=None
        As for :func:`segment`.

    Returns
    -------
    float
        Above 0 and up to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from ellzero import estimate_decay
    >>> from ellzero.datasets import make_spikes
    >>> y, _, _ = make_spikes(2000, decay=0.95, noise=0.2, random_state=0)
    >>> round(estimate_decay(y, jumps="positive"), 3)
    0.949
    """
    check_parameters(
        "estimate_decay",
        {"lam": [PRICE, StrOptions({"bic"})], "jumps": [JUMPS]},
        lam=lam,
        jumps=jumps,
    )
    series, threads = read_one(y, sample_weight), threads_for(n_jobs)
    if np.count_nonzero(series.observed) < 4:
        raise ValueError("y must have four samples or more for its decay to be estimated.")
    guess = _rate_from_autocovariance(series)
    price = bic_penalty(series, _decay_at(guess)) if isinstance(lam, str) else float(lam)

    def objectives(decays: list[float]) -> list[float]:
        found = solve_all(
            [series] * len(decays),
            [price] * len(decays),
            decays,
            jumps == "positive",
            "functional",
            threads=threads,
            want_signal=False,
        )
        return [loss + price * len(changepoints) for changepoints, _, _, loss in found]

    rates = np.unique(np.clip(guess + _STEP * np.arange(-8, 9), _SLOWEST, _FASTEST)).tolist()
    tried = objectives([1.0, *(_decay_at(rate) for rate in rates)])
    best = int(np.argmin(tried))
    if best == 0:
        return 1.0
    found = minimize_scalar(
        lambda rate: objectives([_decay_at(rate)])[0],
        bounds=(rates[best - 1] - _STEP, rates[best - 1] + _STEP),
        method="bounded",
        options={"xatol": 1e-3},
    )
    better = found.x if found.fun < tried[best] else rates[best - 1]
    return _decay_at(float(better))


def _decay_at(rate: float) -> float:
    return math.exp(-math.exp(rate))


def _rate_from_autocovariance(series: Series) -> float:
    """Return log(-log(decay)) by least squares of each lag's autocovariance on the one before."""
    there = series.observed
    y = np.where(there, series.y, 0.0)
    y = y / (np.abs(y).max() or 1.0)
    y = np.where(there, y - y[there].mean(), 0.0)
    lags = range(1, min(_LAGS, len(y) - 1) + 1)
    pairs = np.array([np.count_nonzero(there[k:] & there[:-k]) for k in lags])
    sums = np.array([y[k:] @ y[:-k] for k in lags])
    covariance = sums / np.maximum(pairs, 1)
    power = float(covariance[:-1] @ covariance[:-1])
    ratio = float(covariance[:-1] @ covariance[1:]) / power if power > 0 else 0.5
    return math.log(-math.log(min(max(ratio, 0.01), 0.9999)))
