"""What every penalty offers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from ellzero._normal_means.prior import check_positive, check_values
from ellzero._normal_means.rule import Floats

__all__ = ["Penalty", "check_price"]


def check_price(name: str, value: float) -> float:
    """Return a number that is not negative as a float, or raise ValueError."""
    if not (isinstance(value, Real) and 0 <= value < 1e150):
        raise ValueError(f"{name} must be a finite number, not negative; got {value!r}.")
    return float(value)


class Penalty(ABC):
    r"""A penalty f on a vector, and what proximal methods need of it.

    .. math:: \mathrm{prox}(x) = \arg\min_z f(z) + \tfrac{1}{2\,\mathrm{step}} \|z - x\|^2,
              \qquad e(x) = \min_z f(z) + \tfrac{1}{2\,\mathrm{step}} \|z - x\|^2

    e is the Moreau envelope. Where the penalty is not convex the minimiser may not be unique; each
    class says which one is returned. Penalties can be called (``penalty(x)`` is its value) and have
    ``prox(x, step)``, which is what pyproximal's solvers ask of an operator.
    """

    convex = False
    """Whether the penalty is: then accelerated methods are lawful."""

    @property
    def max_step(self) -> float:
        """The largest step that the proximal operator is offered for."""
        return math.inf

    @abstractmethod
    def _value(self, x: Floats) -> float:
        """Return the value at a checked array."""

    @abstractmethod
    def _prox(self, x: Floats, step: float) -> Floats:
        """Return the proximal point of a checked array, of its shape."""

    def _check(self, x: ArrayLike) -> Floats:
        return check_values("x", x)

    def value(self, x: ArrayLike) -> float:
        """Value of the penalty, infinite where it forbids x.

        Parameters
        ----------
        x : array-like
            Coefficients.

        Returns
        -------
        float
            The sum over all coefficients or groups.
        """
        return self._value(self._check(x))

    def __call__(self, x: ArrayLike) -> float:
        """Value of the penalty, under the name that pyproximal uses."""
        return self.value(x)

    def prox(self, x: ArrayLike, step: float = 1.0) -> Floats:
        """Proximal operator: minimise ``penalty(z) + |z - x|^2 / (2 step)`` over z.

        Parameters
        ----------
        x : array-like
            Where to take it.
        step : float
            Positive; the step of a proximal gradient method, its ``1/L``.

        Returns
        -------
        ndarray
            The minimiser, of the shape of x.
        """
        values = self._check(x)
        return self._prox(values, check_positive("step", step))

    def moreau_envelope(self, x: ArrayLike, step: float = 1.0) -> float:
        """Moreau envelope: the least value of ``penalty(z) + |z - x|^2 / (2 step)`` over z.

        Parameters
        ----------
        x : array-like
            Where to take it.
        step : float
            Positive.

        Returns
        -------
        float
            At most the penalty's value.
        """
        values, point = self._check(x), self.prox(x, step)
        return self._value(point) + float(np.sum((values - point) ** 2)) / (2 * step)

    def envelope_gradient(self, x: ArrayLike, step: float = 1.0) -> Floats:
        """Gradient of the Moreau envelope, ``(x - prox(x)) / step``, where it has one.

        Parameters
        ----------
        x : array-like
            Where to take it.
        step : float
            Positive.

        Returns
        -------
        ndarray
            Of the shape of x.
        """
        values = self._check(x)
        out: Floats = (values - self.prox(values, step)) / step
        return out
