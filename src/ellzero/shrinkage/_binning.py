"""Many observations represented by a few weighted ones."""

from __future__ import annotations

import numpy as np

from ellzero._normal_means.rule import Floats

__all__ = ["bin_values", "merge_points"]


def bin_values(values: Floats, width: float) -> tuple[Floats, Floats]:
    """Return the means of the values in cells of a width, ascending, and the shares of each cell.

    A cell stands for its values by their mean, so that a function's average changes only to second
    order: by at most ``width^2 / 8`` times its second derivative. A width of zero merges nothing
    but equal values.
    """
    if width == 0:
        points, counts = np.unique(values, return_counts=True)
        return points, counts / len(values)
    return merge_points(values, np.full(len(values), 1 / len(values)), width)


def merge_points(points: Floats, shares: Floats, width: float) -> tuple[Floats, Floats]:
    """Merge the points in cells of a width: their means, ascending, and their total shares."""
    cells, index = np.unique(np.floor(points / width), return_inverse=True)
    base = cells * width
    total = np.bincount(index, shares).astype(np.float64)
    # Of deviations, so that cells far from zero keep their digits; rounding may lead out of a cell.
    means = base + np.bincount(index, shares * (points - base[index])) / total
    return np.clip(means, base, (cells + 1) * width), total
