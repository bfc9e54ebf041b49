"""Where lines and their labels go: far ones do not stretch an axis, and labels do not overlap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

__all__ = ["limit_axis", "space_out"]


def limit_axis(peaks: NDArray[np.float64], shown: float = 0.0) -> float:
    """Return how far from zero an axis reaches, given how far each line does.

    All the way, unless a few lines would make the others flat: then three times as far as three
    quarters of them, or as ``shown`` if that is further.
    """
    far = float(peaks.max(initial=0.0))
    limit = max(3 * float(np.quantile(peaks, 0.75)), shown) if peaks.size else 0.0
    return limit if 0 < 2 * limit < far else far


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
