"""How far predictions are off on rows that neither the choice of a model nor its fit has seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Distances", "make_distances"]

_Floats = NDArray[np.float64]
# So many distances are kept, and all of the largest.
_GRID = 800
_LARGEST = 200


@dataclass(frozen=True)
class Distances:
    """Absolute errors of predictions of rows held out, in increasing order.

    Attributes
    ----------
    rows : float
        How many rows they are from, or what these weigh.
    distances : tuple of float
        Some of them, in units of the target.
    shares : tuple of float
        The share of rows that is at most so far off.
    """

    rows: float
    distances: tuple[float, ...]
    shares: tuple[float, ...]

    def reach(self, level: float) -> float:
        """Return how far an interval reaches to either side of a prediction.

        With n rows this is the distance that is ``ceil((n + 1) level)``-th from below; infinity if
        there are not so many.
        """
        needed = math.ceil((self.rows + 1) * level - 1e-9) / self.rows
        place = int(np.searchsorted(self.shares, needed - 1e-12))
        return self.distances[place] if place < len(self.distances) else math.inf


def make_distances(errors: _Floats, weights: _Floats, rows: float) -> Distances | None:
    """Order errors of predictions; None if there is none.

    Rows that were held out several times have an error, and a part of their weight, for each.
    """
    weighty = weights > 0
    distances, weights = np.abs(errors[weighty]), weights[weighty]
    if not distances.size or not np.isfinite(distances).all():
        return None
    order = np.argsort(distances, kind="stable")
    distances = distances[order]
    shares = np.cumsum(weights[order])
    shares /= shares[-1]
    kept = np.arange(len(distances))
    if len(kept) > _GRID + _LARGEST:  # those between are taken for the next larger one
        kept = np.unique([*np.linspace(0, len(kept) - 1, _GRID).astype(int), *kept[-_LARGEST:]])
    return Distances(rows, tuple(distances[kept].tolist()), tuple(shares[kept].tolist()))
