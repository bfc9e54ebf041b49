r"""What draws of a linear model say of new rows: quantiles of a mixture of normals, or of t.

Given draw d of m, a new observation at x is normal around ``a_d + x'b_d`` with standard deviation
``s_d``. So its distribution is

.. math:: F(y) = \frac1m \sum_d \Phi\left( \frac{y - a_d - x'b_d}{s_d} \right)

(under Student's noise with the t distribution of the draw's degrees of freedom in the place of
:math:`\Phi`), and its quantiles are found where F has a level, not by drawing noise: the same draws
give the same bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln, ndtr, ndtri, stdtr, stdtrit

__all__ = ["mixture_quantile", "predictive_interval", "student_log_density"]

_Floats = NDArray[np.float64]
_BLOCK = 2**16  # numbers worked on at a time, so that they stay in the cache
_DENSITY = 1 / math.sqrt(2 * math.pi)


def predictive_interval(
    X: Any,
    coef: Any,
    intercept: _Floats,
    sd: _Floats,
    level: float,
    df: _Floats | None = None,
) -> tuple[_Floats, _Floats]:
    """Return the equal-tailed interval of a new observation at each row.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, p)
        The rows.
    coef : ndarray or csr_array of shape (m, p)
        Draws of the coefficients.
    intercept, sd : ndarray of shape (m,)
        The intercept of each draw, and the standard deviation of a new observation.
    level : float
        Its probability, between 0 and 1.
    df : ndarray of shape (m,), default=None
        Degrees of freedom of Student's t, of which ``sd`` is the scale; None for normals.

    Returns
    -------
    lower, upper : ndarray of shape (n,)
        NaN where numbers are too large.
    """
    n, tail = X.shape[0], (1 - level) / 2
    lower, upper = np.empty(n), np.empty(n)
    step = max(1, _BLOCK // len(sd))
    for begin in range(0, n, step):
        block = slice(begin, begin + step)
        with np.errstate(over="ignore", invalid="ignore"):
            signal = coef @ X[block].T
            signal = np.asarray(signal.toarray() if sparse.issparse(signal) else signal)
            means = np.ascontiguousarray(signal.T) + intercept
        lower[block] = mixture_quantile(means, sd, tail, df)
        upper[block] = -mixture_quantile(-means, sd, tail, df)  # a small tail has more digits
    return lower, upper


def mixture_quantile(
    means: _Floats, sd: _Floats, level: float, df: _Floats | None = None
) -> _Floats:
    """Return a quantile of each row's mixture of normals, or of t, which all weigh the same.

    By Newton's method between the least and the greatest quantile of a component, with a bisection
    wherever a step leaves the bracket or is not half of the one before.

    Parameters
    ----------
    means : ndarray of shape (n, m)
        Means of the components, by row.
    sd : ndarray of shape (m,)
        Their standard deviations; 0 for all mass in one point.
    level : float
        Between 0 and 1.
    df : ndarray of shape (m,), default=None
        Degrees of freedom of Student's t, of which ``sd`` are the scales; None for normals.

    Returns
    -------
    ndarray of shape (n,)
        NaN where a mean is not finite.
    """
    sd = np.maximum(sd, np.finfo(float).tiny)  # a step is as good as vertical
    per_sd = 1 / sd
    # Whatever overflows is not finite, and looked for
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        far = ndtri(level) if df is None else stdtrit(df, level)
        own = means + far * sd
        low, high = own.min(axis=1), own.max(axis=1)
        width = high - low
        wide = sd if df is None else stdtrit(df, 0.75) / ndtri(0.75) * sd
        spread = np.sqrt(np.mean(wide**2) + means.var(axis=1))
        out = np.clip(means.mean(axis=1) + ndtri(level) * spread, low, high)
        if df is not None and len(sd) >= 500:
            # The distribution of t is slow to compute: a tenth of the draws say where to start.
            tenth = mixture_quantile(means[:, ::10], sd[::10], level, df[::10])
            out = np.clip(tenth, low, high)
        out = np.where(np.isfinite(out), out, low + width / 2)
        out[~np.isfinite(width)] = np.nan
        active = np.flatnonzero(width > 0)
        active = active[np.isfinite(width[active])]
        last = width.copy()
        # F is straight on this scale, |F''| <= max |z| / min sd F', so one step is enough
        near = 1e-7 * sd.min()
        while active.size:
            x = out[active]
            z = (x[:, None] - means[active]) * per_sd
            # Sums along a row: their bits do not depend on how many rows there are
            excess = (ndtr(z) if df is None else stdtr(df, z)).mean(axis=1) - level
            slope = (_density(z, df) * per_sd).mean(axis=1)
            below = np.where(excess < 0, x, low[active])
            above = np.where(excess > 0, x, high[active])
            low[active], high[active] = below, above
            step = -excess / slope
            fine = np.maximum(1e-12 * width[active], 4 * np.spacing(np.abs(x)))
            usable = (x + step >= below) & (x + step <= above) & (2 * np.abs(step) <= last[active])
            # A step may also be short because a narrow component is right here
            usable &= (np.abs(step) > fine) | (np.abs(step) <= near)
            moved = np.where(usable, x + step, below + (above - below) / 2)
            out[active] = moved = np.where(excess == 0, x, moved)
            last[active] = np.abs(moved - x)
            active = active[last[active] > np.where(usable, near, fine)]
    return np.asarray(out)


def _density(z: _Floats, df: _Floats | None) -> _Floats:
    """Return that of the standard normal distribution, or of Student's t."""
    if df is None:
        return np.asarray(np.exp(-0.5 * z * z) * _DENSITY)
    return np.asarray(np.exp(student_log_density(z, df)))


def student_log_density(z: _Floats, df: _Floats) -> _Floats:
    """Return the log-density of Student's t of scale one."""
    constant = gammaln(0.5 * (df + 1)) - gammaln(0.5 * df) - 0.5 * np.log(df * math.pi)
    return np.asarray(constant - 0.5 * (df + 1) * np.log1p(z * z / df))
