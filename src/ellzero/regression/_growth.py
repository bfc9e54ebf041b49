"""The table of best known supports, as far as it has been grown."""

from __future__ import annotations

import numpy as np

from ellzero import _core
from ellzero.regression._hull import Hull
from ellzero.regression._problem import Problem

__all__ = ["GrowingFrontier"]

# How far the frontier goes beyond the solution at a given lam: what is found on the way back from
# larger models makes the smaller ones better.
_MARGIN = 10


class GrowingFrontier:
    """The best known support of every size up to the one it has been grown to.

    Attributes
    ----------
    core : ellzero._core.Frontier
        The compiled table.
    hull : Hull
        Which size is the solution at which ``lam``.
    last : int
        The largest size known.
    next_column, next_gain : int, float
        The insertion into the largest model that lowers its energy most.
    """

    def __init__(self, problem: Problem, swaps: bool) -> None:
        self.problem = problem
        self.core = _core.Frontier(problem.engine, problem.forced_mask, swaps)
        self._look()

    @property
    def exhausted(self) -> bool:
        """Whether no insertion into the largest model gains anything."""
        return not self.next_gain > self.problem.least_gain

    def grow(self, max_size: int) -> None:
        """Extend the table to ``max_size``, or as far as there are independent columns."""
        self.core.grow(max_size, self.problem.progress)
        self._look()

    def cover(self, lam: float, max_size: int) -> None:
        """Grow until the solution at ``lam`` is known, and some sizes beyond it."""
        while not self.exhausted and self.last < max_size:
            wanted = self.hull.size_at(lam) + _MARGIN
            if wanted <= self.last and lam >= self.hull.end:
                return
            self.grow(min(max(wanted, self.last + 1), max_size))

    def _look(self) -> None:
        models = self.core.models()
        support, energy = models[-1]
        self.problem.engine.move_to(support)
        gains = self.problem.engine.insertion_gains()
        self.next_column = int(gains.argmax())
        self.next_gain = max(0.0, float(gains[self.next_column]))
        self.last = support.size
        self.hull = Hull(
            models[0][0].size,
            np.array([energy for _, energy in models]),
            energy - self.next_gain,
            self.problem.least_gain,
        )
