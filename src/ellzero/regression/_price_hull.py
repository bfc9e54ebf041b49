"""Which of some models is the best at which price."""

from __future__ import annotations

import math
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ellzero.regression._hull import middle

__all__ = ["PriceHull", "Sketch"]

_Integers = NDArray[np.int64]


class Priced(Protocol):
    """A set of units, what it costs and what it leaves."""

    @property
    def units(self) -> _Integers:
        """Which, sorted."""

    @property
    def price(self) -> float:
        """What ``lam`` is multiplied by."""

    @property
    def energy(self) -> float:
        """Half of what is left, and of what the ridge adds."""


class Sketch(NamedTuple):
    """A set of units without its fit."""

    units: _Integers
    size: int  # as sizes are counted
    price: float
    energy: float


_Model = TypeVar("_Model", bound=Priced)


class PriceHull(Generic[_Model]):
    """Which model minimises ``energy + lam price`` for which ``lam``.

    Attributes
    ----------
    models : list
        Those on the lower convex hull, by price, increasing.
    lambdas : ndarray
        The breakpoints between them, decreasing.
    end : float
        The least ``lam`` that something is known about.
    """

    def __init__(self, models: list[_Model], floor: float, end: float) -> None:
        kept: list[_Model] = []
        slopes: list[float] = []
        for model in sorted(models, key=lambda one: (one.price, one.energy)):
            if kept and not model.energy < kept[-1].energy - floor:
                continue
            slope = _slope(kept[-1], model) if kept else math.inf
            while slopes and slope >= slopes[-1]:
                kept.pop()
                slopes.pop()
                slope = _slope(kept[-1], model)
            if kept:
                slopes.append(slope)
            kept.append(model)
        while slopes and slopes[-1] <= end:  # what pays only where larger ones pay more
            kept.pop()
            slopes.pop()
        self.models, self.lambdas, self.end = kept, np.array(slopes), end

    def at(self, lam: float) -> _Model:
        """Return the solution at ``lam``, the cheaper of two at a breakpoint."""
        return self.models[int(np.count_nonzero(self.lambdas > lam))]

    def interval(self, model: _Model) -> tuple[float, float] | None:
        """Return the interval of ``lam`` in which a model is the solution; None if in none."""
        for place, one in enumerate(self.models):
            if np.array_equal(one.units, model.units):
                high = float(self.lambdas[place - 1]) if place else math.inf
                last = place == len(self.lambdas)
                return (self.end if last else float(self.lambdas[place])), high
        return None

    def fair_price(self, model: _Model) -> float:
        """Return the middle of a model's interval, or where it comes nearest to having one."""
        found = self.interval(model)
        if found is not None:
            return middle(*found)
        if not self.lambdas.size:
            return self.end
        prices = np.array([one.price for one in self.models])
        energies = np.array([one.energy for one in self.models])
        least = np.min(energies[:, None] + prices[:, None] * self.lambdas, axis=0)
        return float(self.lambdas[np.argmin(model.energy + model.price * self.lambdas - least)])


def _slope(low: Priced, high: Priced) -> float:
    rise = high.price - low.price
    return (low.energy - high.energy) / rise if rise > 0 else math.inf
