r"""What a model is worth before the data: p(S).

Every unit that may be in (all of them, or under heredity those that have their parents) is in with
probability theta, given or integrated out under Beta(a, b):

.. math:: p(S) = \prod_{i \in S} \theta_i \prod_{i \notin S} (1 - \theta_i)
          \quad\text{or}\quad p(S) = B(a + k, b + m - k) / B(a, b)

for k units in of the m that may be. Units that are always in, or never, are no part of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from ellzero.posterior._unit_prior import count_candidates, parents_first
from ellzero.regression._parents import Parents

__all__ = ["ModelPrior"]

_Integers = NDArray[np.int64]


@dataclass(frozen=True)
class ModelPrior:
    """The prior over sets of units; ``theta``, by unit, is None where it is Beta(a, b)."""

    count: int  # of units
    free: _Integers  # units that may go either way
    always: _Integers  # units that are in every model
    forced: _Integers  # these, and such as were to be in but could not
    theta: NDArray[np.float64] | None
    a: float
    b: float
    parents: Parents | None
    strong: bool

    def draw(self, rng: np.random.Generator) -> tuple[float | None, _Integers]:
        """Draw theta, None where it is given, and a model: a coin for every unit that may be in."""
        theta = float(rng.beta(self.a, self.b)) if self.theta is None else None
        own = self.theta if self.theta is not None else np.full(self.count, theta)
        inside = np.zeros(self.count, dtype=bool)
        inside[self.free] = rng.random(self.free.size) < own[self.free]
        if self.parents is not None:
            counts = inside.copy()
            counts[self.forced] = True
            is_free = np.zeros(self.count, dtype=bool)
            is_free[self.free] = True
            for unit in parents_first(self.count, self.parents):
                of = self.parents.of(unit)
                if is_free[unit] and of.size:
                    has = counts[of].all() if self.strong else counts[of].any()
                    counts[unit] = inside[unit] = inside[unit] and bool(has)
        inside[self.always] = True
        return theta, np.flatnonzero(inside)

    def log_prior(self, supports: list[_Integers]) -> NDArray[np.float64]:
        """Return log p(S) of some models."""
        is_free = np.zeros(self.count, dtype=bool)
        is_free[self.free] = True
        inside = [support[is_free[support]] for support in supports]
        if self.theta is None:
            k = np.array([len(own) for own in inside])
            m = self._candidates(supports)
            return np.asarray(betaln(self.a + k, self.b + m - k) - betaln(self.a, self.b))
        with np.errstate(divide="ignore"):
            in_, out = np.log(self.theta), np.log1p(-self.theta)
        if self.parents is None:
            rest = float(out[self.free].sum())
            return np.array([rest + float((in_[own] - out[own]).sum()) for own in inside])
        return self._log_coins(supports, in_, out)

    def _contains(self, supports: list[_Integers]) -> Callable[[int], NDArray[np.bool_]]:
        table = np.zeros((len(supports), self.count), dtype=bool)
        for row, support in zip(table, supports, strict=True):
            row[support] = True
        table[:, self.forced] = True
        return lambda unit: table[:, unit]

    def _candidates(self, supports: list[_Integers]) -> _Integers:
        if self.parents is None:
            return np.full(len(supports), self.free.size)
        contains = self._contains(supports)
        return count_candidates(contains, len(supports), self.free, self.parents, self.strong)

    def _log_coins(
        self,
        supports: list[_Integers],
        log_in: NDArray[np.float64],
        log_out: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Sum over the units that may be in, those that have their parents."""
        contains = self._contains(supports)
        total = np.zeros(len(supports))
        for unit in self.free.tolist():
            one = np.array([unit])
            may = count_candidates(contains, len(supports), one, self.parents, self.strong) > 0
            total += np.where(contains(unit), log_in[unit], np.where(may, log_out[unit], 0.0))
        return total
