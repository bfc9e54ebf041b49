"""The table of best known supports, as far as it has been grown."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.regression._hull import Hull
from ellzero.regression._problem import Problem

__all__ = ["MARGIN", "GrowingFrontier", "Solutions"]

# How far the frontier goes beyond the solution at a given lam, or the size asked for: what is found
# on the way back from larger models makes the smaller ones better.
MARGIN = 10


class Solutions(NamedTuple):
    """The coefficients of every model, the smallest first, one model after the other."""

    begins: NDArray[np.int64]  # where each begins in the arrays that follow, and the end
    support: NDArray[np.int64]
    beta: NDArray[np.float64]  # for columns of unit norm
    removal_cost: NDArray[np.float64]
    inverse_scale: NDArray[np.float64]
    mean: NDArray[np.float64]
    rss: NDArray[np.float64]  # one per model
    ridge_energy: NDArray[np.float64]  # one per model

    def part(self, place: int) -> slice:
        """Where the model is in the arrays of columns."""
        return slice(int(self.begins[place]), int(self.begins[place + 1]))

    def rescaled(self, factor: float, yy: float) -> Solutions:
        """Return the same with all coefficients multiplied by a factor.

        With f the fit and r = y - f, r'f is ridge |beta|^2: the gradient is zero at the solution.
        """
        if factor == 1:
            return self
        along = 2 * self.ridge_energy
        square = np.maximum(yy - self.rss - 2 * along, 0.0)
        rss = self.rss - 2 * (factor - 1) * along + (factor - 1) ** 2 * square
        return self._replace(beta=factor * self.beta, rss=np.maximum(rss, 0.0))


class GrowingFrontier:
    """The best known support of every size up to the one it has been grown to.

    Attributes
    ----------
    core : ellzero._core.Frontier
        The compiled table.
    last : int
        The largest size known.
    next_column, next_gain : int, float
        The insertion into the largest model that lowers its energy most.
    """

    def __init__(self, problem: Problem, swaps: bool) -> None:
        self.problem = problem
        self.core = _core.Frontier(problem.engine, problem.forced_mask, swaps)
        self._hull: Hull | None = None
        self.last = 0
        self._look()

    @property
    def exhausted(self) -> bool:
        """Whether no insertion into the largest model gains anything."""
        return not self.next_gain > self.problem.least_gain

    @property
    def hull(self) -> Hull:
        """Which size is the solution at which ``lam``."""
        if self._hull is None:
            self._hull = self.hull_of(self._energies)
        return self._hull

    @property
    def known_hull(self) -> Hull:
        """The same among the sizes known, whatever one more variable would gain."""
        return Hull(self.hull.first, self._energies, self._energies[-1], self.problem.least_gain)

    def hull_of(self, energies: NDArray[np.float64]) -> Hull:
        """Return the hull of the energies of all sizes, better known than to the core."""
        next_energy = float(energies[-1]) - self.next_gain
        first = self.last + 1 - len(energies)
        return Hull(first, energies, next_energy, self.problem.least_gain)

    def energy_of(self, size: int) -> float:
        """Return the energy of the model of a size."""
        return float(self._energies[size - self.last - 1])

    def grow(self, max_size: int, neighbour: GrowingFrontier | None = None) -> None:
        """Extend the table to ``max_size``, or as far as there are independent columns.

        The models of a neighbour, the same data with another ridge, are tried too.
        """
        near = None if neighbour is None else neighbour.core
        self.core.grow(max_size, self.problem.progress, near)
        self._look()
        if self.last < max_size:  # what can still be inserted is too near to dependence
            self.next_gain, self._hull = 0.0, None

    def cover(self, lam: float, max_size: int) -> None:
        """Grow until the solution at ``lam`` is known, and some sizes beyond it."""
        while not self.exhausted and self.last < max_size:
            wanted = self.hull.size_at(lam) + MARGIN
            if wanted <= self.last and lam >= self.hull.end:
                return
            self.grow(min(max(wanted, self.last + 1), max_size))

    def solutions(self) -> Solutions:
        """Return the coefficients of every model, refined."""
        found = self.core.solutions()
        return Solutions(**{name: getattr(found, name) for name in Solutions._fields})

    def _look(self) -> None:
        models = self.core.models()
        support = models[-1].support
        self.problem.engine.move_to(support)
        gains = self.problem.engine.insertion_gains()
        self.next_column = int(gains.argmax())
        self.next_gain = max(0.0, float(gains[self.next_column]))
        self.last = support.size
        self._energies = np.array([model.energy for model in models])
        self._hull = None
