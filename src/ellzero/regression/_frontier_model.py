"""One model of a frontier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FrontierModel"]


@dataclass(frozen=True)
class FrontierModel:
    """One model of a frontier.

    Attributes
    ----------
    support : ndarray of int
        Sorted indices of its columns.
    names : list of str
        Their names; ``x<index>`` where columns have none.
    coef : ndarray of shape (p,)
        Coefficients, in units of y per unit of the column; zero outside the support.
    intercept : float
        Intercept, in units of y.
    energy : float
        ``1/2 RSS + 1/2 ridge |b|^2``, in squared units of y.
    rss : float
        Residual sum of squares.
    standardised : ndarray
        For each column of the support: the change of y, in its standard deviations, for one
        standard deviation of the column.
    removal_cost : ndarray
        For each column of the support: by how much the energy would rise without it, the others
        refitted.
    interval : tuple of two floats, or None
        Where it is the solution, as of :meth:`Frontier.interval`.
    """

    support: NDArray[np.int64]
    names: list[str]
    coef: NDArray[np.float64]
    intercept: float
    energy: float
    rss: float
    standardised: NDArray[np.float64]
    removal_cost: NDArray[np.float64]
    interval: tuple[float, float] | None

    @property
    def size(self) -> int:
        """How many variables it has."""
        return int(self.support.size)
