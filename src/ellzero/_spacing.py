"""Heights of labels, moved apart so that these do not overlap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

__all__ = ["space_out"]


def space_out(
    heights: NDArray[np.float64], gap: float, low: float, high: float
) -> NDArray[np.float64]:
    """Move heights by the least sum of squares so that they are a gap apart and within bounds.

    The bounds must have room for all of them. Differences ``height - rank * gap`` have to be
    increasing: that is an isotonic regression.
    """
    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(len(heights))
    top = max(high - gap * (len(heights) - 1), low)
    placed = np.empty(len(heights))
    placed[order] = isotonic_regression(heights[order] - steps, y_min=low, y_max=top) + steps
    return placed
