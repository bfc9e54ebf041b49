"""The components of spike-and-slab priors, in units of the noise."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy.special import erfcx

from ellzero import _core
from ellzero._normal_means.rule import LOG_ROOT_2PI, Floats

__all__ = ["Component", "Evaluation", "Laplace", "Normal", "PointMass"]


class Evaluation(NamedTuple):
    """A component evaluated at each u >= 0."""

    log_gain: Floats
    """``K(u)``, the log of the component's marginal density over the noise's own, phi."""
    log_density: Floats
    """The log of its marginal density. Of this and ``log_gain`` take the smaller: it is exact."""
    mean: Floats
    shrinkage: Floats


class Component(ABC):
    """A symmetric distribution of b, seen through unit normal noise at u >= 0."""

    reach: float
    """How far out the marginal still has any mass."""

    @abstractmethod
    def evaluate(self, u: Floats) -> Evaluation:
        """Return what is needed for weights and means."""

    @abstractmethod
    def variance(self, u: Floats) -> Floats:
        """Return ``Var[b | u]``."""

    @abstractmethod
    def growth(self, u: Floats) -> Floats:
        """Return ``exp(K(u) - K(0)) - 1``, infinite where it overflows."""

    @abstractmethod
    def drop(self, u: Floats) -> Floats:
        """Return ``1 - m(u) / m(0)``."""

    @abstractmethod
    def mode(self, u: Floats) -> tuple[Floats, Floats]:
        """Return the b that minimises ``(u - b)^2 / 2 - log p(b)``, and what it saves over b = 0.

        Constants that don't depend on b are left out of p: the joint mode of the paper.
        """


class PointMass(Component):
    """All at zero."""

    reach = 40.0

    def evaluate(self, u: Floats) -> Evaluation:
        zero = np.zeros_like(u)
        return Evaluation(zero, -0.5 * u**2 - LOG_ROOT_2PI, zero, u)

    def variance(self, u: Floats) -> Floats:
        return np.zeros_like(u)

    def growth(self, u: Floats) -> Floats:
        return np.zeros_like(u)

    def drop(self, u: Floats) -> Floats:
        return -np.expm1(-0.5 * u**2)

    def mode(self, u: Floats) -> tuple[Floats, Floats]:
        return np.zeros_like(u), np.zeros_like(u)


class Normal(Component):
    """``N(0, scale^2)``."""

    def __init__(self, scale: float) -> None:
        self.shrunk = 1 / (1 + scale**2)
        self.kept = scale**2 / (1 + scale**2)
        self.log_width = 0.5 * math.log1p(scale**2)
        self.reach = 40 * math.hypot(1, scale)

    def evaluate(self, u: Floats) -> Evaluation:
        half = 0.5 * u**2
        return Evaluation(
            self.kept * half - self.log_width,
            -self.shrunk * half - (self.log_width + LOG_ROOT_2PI),
            self.kept * u,
            self.shrunk * u,
        )

    def variance(self, u: Floats) -> Floats:
        return np.full_like(u, self.kept)

    def growth(self, u: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.expm1(self.kept * 0.5 * u**2)

    def drop(self, u: Floats) -> Floats:
        return -np.expm1(-self.shrunk * 0.5 * u**2)

    def mode(self, u: Floats) -> tuple[Floats, Floats]:
        return self.kept * u, self.kept * 0.5 * u**2


class Laplace(Component):
    """Double exponential with standard deviation ``scale``: density ``(rate/2) exp(-rate |b|)``.

    The integrals ``I_k(a)``, of ``b^k exp(-a b - b^2 / 2)`` over b > 0, and what they have to do
    with this, are in ``core/laplace_means.hpp``.
    """

    def __init__(self, scale: float) -> None:
        self.rate = math.sqrt(2) / scale
        self.slab = _core.LaplaceMeans(self.rate)
        # Beyond rate + 40 the density falls like exp(-rate u), before like phi.
        self.reach = 40 + 40 / self.rate
        self.unit = max(1.0, self.rate)
        self.moments = _core.mills_sequence(self.rate, 30, self.unit)

    def evaluate(self, u: Floats) -> Evaluation:
        _, total, zeroth, first = self.slab.terms(u)
        log_total = np.log(self.rate / 2 * total)
        beyond = np.maximum(u - self.rate, 0.0)
        # (u - rate)^2 / 2 - u^2 / 2 is rate (rate / 2 - u)
        tail = np.where(beyond > 0, self.rate * (0.5 * self.rate - u), -0.5 * u**2)
        return Evaluation(
            log_total + 0.5 * beyond**2,
            log_total + tail - LOG_ROOT_2PI,
            first / total,
            self.rate * (zeroth / total),
        )

    def variance(self, u: Floats) -> Floats:
        return self.slab.variance(u)

    def _series(self, u: Floats, coefficients: Floats) -> Floats:
        """Sum powers of u^2."""
        square = (u / self.unit) ** 2
        out = np.zeros_like(u)
        for coefficient in coefficients[::-1]:
            out = out * square + coefficient
        return out

    def growth(self, u: Floats) -> Floats:
        scale, total, _, _ = self.slab.terms(u)
        at_zero = 2 * self.moments[0]
        with np.errstate(over="ignore", divide="ignore"):
            out: Floats = (total / scale - at_zero) / at_zero
        near = u < self.slab.series_end
        out[near] = self._growth_nearby(u[near])
        return out

    def _growth_nearby(self, u: Floats) -> Floats:
        even = (self.moments / (self.moments[0] * _factorials(30)))[::2]
        return self._series(u, np.r_[0.0, even[1:]])

    def drop(self, u: Floats) -> Floats:
        # m(u) / m(0) is exp(-u^2 / 2) times one plus the growth.
        _, total, _, _ = self.slab.terms(u)
        beyond = u > self.rate
        tail = np.where(beyond, self.rate * (0.5 * self.rate - u), -0.5 * u**2)
        out: Floats = 1 - np.exp(tail) * (total / (2 * self.moments[0]))
        if self.rate < 0.1:
            out = np.where(beyond, self._drop_of_wide(u), out)
        near = u < self.slab.series_end
        if self.rate > 1:
            # Here the drop is no small part of the noise's own.
            out[near] = -np.expm1(np.log1p(self._growth_nearby(u[near])) - 0.5 * u[near] ** 2)
        else:
            out[near] = self._drop_nearby(u[near])
        return out

    def _drop_nearby(self, u: Floats) -> Floats:
        """Integrate ``rate exp(-v^2 / 2) sum_j v^(2j+1) I_(2j+1) / (2j+1)!`` over I_0."""
        odd = (self.moments / _factorials(30))[1::2]
        noise = (-0.5) ** np.arange(len(odd)) / _factorials(len(odd))
        product = np.convolve(odd, noise)[: len(odd)]
        integral = product / (2 * np.arange(len(odd)) + 2)
        out: Floats = self.rate / self.moments[0] * u**2 * self._series(u, integral)
        return out

    def _drop_of_wide(self, u: Floats) -> Floats:
        """Take the leading terms in the rate together: each alone is far larger than their sum."""
        rate = self.rate
        fall = math.sqrt(2 * math.pi) * math.exp(0.5 * rate**2) * -np.expm1(-rate * u)
        # I_1, I_3, I_5, ... at u and 0. Far out the recurrence loses their digits, but there
        # exp(-u^2 / 2) is next to nothing.
        v = np.minimum(u, 60.0)
        ratio = math.sqrt(math.pi / 2) * erfcx(v / math.sqrt(2))
        at_u = [ratio, 1 - v * ratio]
        at_zero = [math.sqrt(math.pi / 2), 1.0]
        for k in range(1, 11):
            at_u.append(k * at_u[k - 1] - v * at_u[k])
            at_zero.append(k * at_zero[k - 1])
        noise = np.exp(-0.5 * u**2)
        difference = np.zeros_like(u)
        for k in range(1, 12, 2):
            difference += rate**k / math.factorial(k) * (noise * at_u[k] - at_zero[k])
        out: Floats = (fall + 2 * difference) / (2 * self.moments[0])
        return out

    def mode(self, u: Floats) -> tuple[Floats, Floats]:
        kept = np.maximum(u - self.rate, 0.0)
        return kept, 0.5 * kept**2


def _factorials(count: int) -> Floats:
    return np.array([float(math.factorial(k)) for k in range(count)])
