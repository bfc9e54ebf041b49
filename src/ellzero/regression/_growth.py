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
    intercept: NDArray[np.float64]  # one per model, of centred columns

    def part(self, place: int) -> slice:
        """Where the model is in the arrays of columns."""
        return slice(int(self.begins[place]), int(self.begins[place + 1]))

    def model(self, place: int) -> tuple[NDArray[np.int64], NDArray[np.float64], float]:
        """Return a model's columns, its coefficients of columns of unit norm, its intercept."""
        part = self.part(place)
        return self.support[part], self.beta[part], float(self.intercept[place])

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
        self._offered: dict[int, NDArray[np.int64]] = {}  # better than what the table has
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
        table = Solutions(**{name: getattr(found, name) for name in Solutions._fields})
        return self._with_offered(table) if self._offered else table

    def offer(self, support: NDArray[np.int64]) -> bool:
        """Take a support that is better than the one known of its size; say whether it is."""
        place = support.size - self.last - 1 + len(self._energies)
        if not 0 <= place < len(self._energies):
            return False
        engine = self.problem.engine
        engine.start_at(support)
        if engine.members.size < support.size or not (
            engine.energy < self._energies[place] - self.problem.least_gain
        ):
            return False
        self._offered[support.size] = np.sort(support)
        self._look()
        return True

    @property
    def first(self) -> int:
        """The least size: that of the columns that are always in."""
        return self.last + 1 - len(self._energies)

    def model(self, size: int) -> tuple[NDArray[np.int64], float]:
        """Return the support of a size, sorted, and its energy, refined."""
        self.visit(size)
        found = self.problem.engine.solution()
        return found.support, 0.5 * found.rss + found.ridge_energy

    def visit(self, size: int) -> None:
        """Move the engine to the model of a size."""
        if size in self._offered:
            self.problem.engine.start_at(self._offered[size])
        else:
            self.core.visit(size)

    def _with_offered(self, table: Solutions) -> Solutions:
        """Put the coefficients of supports that were offered in their places."""
        per_column = ("support", "beta", "removal_cost", "inverse_scale", "mean")
        rss, ridge_energy = table.rss.copy(), table.ridge_energy.copy()
        models = []
        for place in range(len(rss)):
            part = table.part(place)
            size = part.stop - part.start
            if size not in self._offered:
                models.append([getattr(table, name)[part] for name in per_column])
                continue
            self.visit(size)
            found = self.problem.engine.solution()
            models.append([getattr(found, name) for name in per_column])
            rss[place], ridge_energy[place] = found.rss, found.ridge_energy
        joined = [np.concatenate(parts) for parts in zip(*models, strict=True)]
        changed = dict(zip(per_column, joined, strict=True))
        return table._replace(rss=rss, ridge_energy=ridge_energy, **changed)

    def _look(self) -> None:
        energies, support = self.core.energies, self.core.largest
        for size, better in list(self._offered.items()):
            place = size - support.size - 1 + len(energies)
            self.problem.engine.start_at(better)
            if self.problem.engine.energy < energies[place] - self.problem.least_gain:
                energies[place] = self.problem.engine.energy
            else:
                del self._offered[size]
        support = self._offered.get(support.size, support)
        self.problem.engine.move_to(support)
        best = self.problem.engine.best_insertions(1)
        self.next_column, self.next_gain = (best[0].unit, best[0].gain) if best else (0, 0.0)
        self.last = support.size
        self._energies = energies
        self._hull = None
