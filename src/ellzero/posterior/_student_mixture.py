"""Mixtures of Student or normal distributions: their moments and quantiles, by row."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

__all__ = ["StudentMixture"]

_Floats = NDArray[np.float64]
_MOST_STEPS = 200  # bisections alone would take some sixty


class StudentMixture:
    """A mixture for each row, of components with the same weights and degrees of freedom.

    Parameters
    ----------
    weight : ndarray of shape (m,)
        Weights of the components, with a sum of one.
    location, scale : ndarray of shape (n, m)
        Where they are, and how wide; a scale of zero has all its mass in one point.
    degrees : float
        Degrees of freedom; infinite for normal distributions.
    """

    def __init__(self, weight: _Floats, location: _Floats, scale: _Floats, degrees: float) -> None:
        self.weight, self.location, self.scale, self.degrees = weight, location, scale, degrees

    def mean(self) -> _Floats:
        """Return the mean of each row."""
        return np.asarray(self.location @ self.weight)

    def sd(self) -> _Floats:
        """Return the standard deviation of each row; infinite for two degrees of freedom."""
        between = (self.location - self.mean()[:, None]) ** 2 @ self.weight
        within = self.scale**2 @ self.weight
        if self.degrees <= 2:
            return np.where(within > 0, np.inf, np.sqrt(between))
        inflation = 1.0 if math.isinf(self.degrees) else self.degrees / (self.degrees - 2)
        return np.asarray(np.sqrt(between + inflation * within))

    def interval(self, level: float) -> tuple[_Floats, _Floats]:
        """Return the equal-tailed interval of each row."""
        tail = (1 - level) / 2
        mirrored = StudentMixture(self.weight, -self.location, self.scale, self.degrees)
        return self.quantile(tail), -mirrored.quantile(tail)  # a small tail has more digits

    def quantile(self, level: float) -> _Floats:
        """Return a quantile of each row.

        By Newton's method between the least and the greatest quantile of a component, and by
        bisection where a step leaves them or is not half of the one before.
        """
        ends = self.location + self._standard_quantile(level) * self.scale
        low, high = ends.min(axis=1), ends.max(axis=1)
        out, last = low + (high - low) / 2, high - low
        active = np.flatnonzero(high > low)
        for _ in range(_MOST_STEPS):
            if not active.size:
                break
            x, location = out[active], self.location[active]
            scale = np.maximum(self.scale[active], np.finfo(float).tiny)
            near = 1e-10 * np.maximum(scale.min(axis=1), np.abs(x))
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                z = (x[:, None] - location) / scale
                excess = self._distribution(z) @ self.weight - level
                step = -excess / ((self._density(z) / scale) @ self.weight)
            low[active] = below = np.where(excess < 0, x, low[active])
            high[active] = above = np.where(excess > 0, x, high[active])
            # Once near, a step of Newton's is exact but for rounding, and need not be half
            usable = (2 * np.abs(step) <= last[active]) | (np.abs(step) <= near)
            usable &= (x + step >= below) & (x + step <= above)
            moved = np.where(usable, x + step, below + (above - below) / 2)
            out[active] = moved = np.where(excess == 0, x, moved)
            last[active] = np.abs(moved - x)
            active = active[last[active] > np.where(usable, near, 4 * np.spacing(np.abs(x)))]
        return np.asarray(out)

    def _standard_quantile(self, level: float) -> float:
        return float(ndtri(level) if math.isinf(self.degrees) else stdtrit(self.degrees, level))

    def _distribution(self, z: _Floats) -> _Floats:
        return np.asarray(ndtr(z) if math.isinf(self.degrees) else stdtr(self.degrees, z))

    def _density(self, z: _Floats) -> _Floats:
        if math.isinf(self.degrees):
            return np.asarray(np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi))
        half = 0.5 * self.degrees
        constant = math.exp(math.lgamma(half + 0.5) - math.lgamma(half))
        constant /= math.sqrt(math.pi * self.degrees)
        return np.asarray(constant * (1 + z * z / self.degrees) ** (-half - 0.5))
