"""A prior seen through unit normal noise: what every prior has to supply, and what follows.

With ``u = b + e``, ``e ~ N(0, 1)`` and a prior on b, the marginal density of u is

    m(u) = phi(u) exp K(u),    K(u) = log integral exp(u b - b^2 / 2) p(b) db,

phi the standard normal density. So ``K' = E[b | u]`` and ``K'' = Var[b | u]``, and the penalty
whose proximal operator is the posterior mean is ``K*(z) - z^2 / 2``, K* the convex conjugate of K.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LOG_ROOT_2PI", "Floats", "Rule", "Terms"]

Floats = NDArray[np.float64]

LOG_ROOT_2PI = 0.9189385332046727  # log sqrt(2 pi)

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


class Terms(NamedTuple):
    """Two terms that sum to u, each accurate to its own last digits."""

    mean: Floats
    """``E[b | u]``."""
    shrinkage: Floats
    """``u - E[b | u]``, the negative score."""


class Rule(ABC):
    """A prior in units of the noise. All methods take and return one-dimensional arrays."""

    symmetric = True
    """Whether the prior is; then the methods are called with u >= 0 only."""

    low, high = -np.inf, np.inf
    """The open interval of values that the posterior mean takes."""

    @abstractmethod
    def log_density(self, u: Floats) -> Floats:
        """Return the log of the marginal density."""

    @abstractmethod
    def terms(self, u: Floats) -> Terms:
        """Return the posterior mean and the shrinkage."""

    @abstractmethod
    def variance(self, u: Floats) -> Floats:
        """Return the posterior variance, the derivative of the mean."""

    @abstractmethod
    def breaks(self) -> Floats:
        """Return where to cut the line (from 0 if symmetric) to integrate what depends on u.

        Between two of them everything is smooth; beyond the last, nothing is left.
        """

    def penalty(self, u: Floats, origin: float) -> Floats:
        """Return the penalty at the posterior mean of u, zero at the posterior mean of ``origin``.

        ``-(u - z)^2 / 2 - log m(u)`` up to a constant, with z the posterior mean. Near the origin
        that cancels, and the penalty is summed as the integral of ``shrinkage(v) dz(v)``.
        """
        terms, there = self.terms(u), self.terms(np.array([origin]))
        drop = self.log_density(np.array([origin])) - self.log_density(u)
        by_drop = drop - (terms.shrinkage**2 - there.shrinkage**2) / 2
        near = np.abs(u - origin) < 1
        half = (u[near] - origin) / 2
        at = (origin + half[:, None] * (1 + _NODES)).ravel()
        rate = (self.terms(at).shrinkage * self.variance(at)).reshape(-1, len(_NODES))
        out: Floats = by_drop
        out[near] = half * (rate @ _WEIGHTS)
        return out

    def bayes_risk(self) -> float:
        """Return the mean of the posterior variance over the marginal."""
        edges = self.breaks()
        half = np.diff(edges) / 2
        at = (edges[:-1, None] + half[:, None] * (1 + _NODES)).ravel()
        values = np.exp(self.log_density(at)) * self.variance(at)
        total = float(half @ (values.reshape(-1, len(_NODES)) @ _WEIGHTS))
        return 2 * total if self.symmetric else total


def widening_breaks(reach: float) -> Floats:
    """Return cuts of [0, reach]: even where the noise matters, then by a constant factor."""
    even = np.arange(0, 60.5, 0.5)
    if reach <= 60:
        return even[even < reach + 0.5]
    count = int(np.ceil(np.log(reach / 60) / np.log(1.05)))
    return np.concatenate([even, np.geomspace(60, reach, count + 1)[1:]])
