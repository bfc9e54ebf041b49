"""The lower convex hull of the energies: which size is the solution at which price."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ellzero import _core

__all__ = ["Hull", "middle"]


class Hull:
    """The sizes k that minimise ``energy_k + lam k`` for some ``lam``, and where.

    Parameters
    ----------
    first : int
        The least size; the others follow one by one.
    energies : ndarray
        The least energy of each size.
    next_energy : float
        The energy of a support of one more variable than the largest size; the energy of the
        largest size if there is none. Sizes that are worse than it at every price are not on the
        hull.
    floor : float
        What energies differ by through rounding: a size that is not lower by more than this than a
        smaller one is never the solution.

    Attributes
    ----------
    first : int
        As given.
    sizes : ndarray of int
        The sizes on the hull, increasing.
    lambdas : ndarray
        The breakpoints between them, decreasing.
    end : float
        The least ``lam`` that something is known about.
    """

    def __init__(
        self, first: int, energies: NDArray[np.float64], next_energy: float, floor: float
    ) -> None:
        places, self.lambdas, self.end = _core.lower_hull(energies, next_energy, floor)
        self.sizes = places + first
        self.first, self._values = first, energies

    def interval(self, size: int) -> tuple[float, float] | None:
        """Return the interval of ``lam`` in which ``size`` is the solution; None if there is none.

        That of the largest size on the hull ends where a larger one is known to be better.
        """
        place = int(np.searchsorted(self.sizes, size))
        if place == len(self.sizes) or self.sizes[place] != size:
            return None
        high = float(self.lambdas[place - 1]) if place > 0 else math.inf
        low = float(self.lambdas[place]) if place < len(self.lambdas) else self.end
        return low, high

    def size_at(self, lam: float) -> int:
        """Return the size that is the solution at ``lam``, the smaller of two at a breakpoint.

        Below ``end``, where it is not known, the best of the sizes that are.
        """
        if lam < self.end:
            prices = lam * np.arange(len(self._values))
            return self.first + int(np.argmin(self._values + prices))
        return int(self.sizes[np.count_nonzero(self.lambdas > lam)])

    def edge_over(self, size: int) -> float:
        """Return the ``lam`` at which a size off the hull comes closest to being the solution.

        The breakpoint between the sizes of the hull on either side, or the end of the last.
        """
        place = int(np.searchsorted(self.sizes, size))
        return float(self.lambdas[place - 1]) if place < len(self.sizes) else self.end


def middle(low: float, high: float) -> float:
    """Return the geometric middle of an interval, or a point inside where there is none."""
    if math.isinf(high):
        return 2 * low
    if low == 0:
        return high / 2
    return math.sqrt(low) * math.sqrt(high)
