"""The recursion over all beginnings of the last segment: short, slow, and the one to read."""

from __future__ import annotations

import bisect

import numpy as np
from numpy.typing import NDArray

from ellzero.segmentation._series import Series

__all__ = ["dynamic_programme"]

_Floats = NDArray[np.float64]


def dynamic_programme(
    series: Series, lam: float, decay: float, positive: bool
) -> NDArray[np.int64]:
    """Return where the segments of an optimal segmentation begin, the first included.

    With C(s, t) the loss of the best fit to samples s..t, the least cost of the first t samples is

        F(t) = min over s of F(s - 1) + lam + C(s, t)

    for free jumps. For positive jumps it depends on the last segment too:

        F(s, t) = C(s, t) + lam + min over r of F(r, s - 1)

    where r runs over the segments that end low enough for the jump to s..t to be upward. A jump of
    zero is never optimal, so that every level is the best fit to its own samples.
    """
    times = np.flatnonzero(series.observed)
    if not times.size:
        return times
    y = series.y[times]
    weights = np.ones(len(y)) if series.weights is None else series.weights[times]
    unit = float(np.abs(y).max()) or 1.0
    heaviest = float(weights.max())
    y, weights = y / unit, weights / heaviest
    # No jump can gain more than the squares of all samples.
    price = min(lam / unit / unit / heaviest, float(weights @ y**2))
    solve = _positive if positive else _free
    return times[solve(y, weights, decay ** np.diff(times, prepend=0), price)]


class _Fits:
    """The best fit to samples s..t for every s up to the present t."""

    def __init__(self, n: int) -> None:
        # The loss as a function of the level a at t is (a - level)^2 / (2 variance) + loss.
        self.level, self.variance, self.loss = np.zeros((3, n))
        self.age, self.precision, self.moment = np.zeros((3, n))
        self.t = -1

    def add(self, y: float, weight: float, decay: float) -> None:
        self.t += 1
        old = slice(0, self.t)
        self.level[old] *= decay
        self.variance[old] *= decay**2
        self.age[old] *= decay
        surprise = y - self.level[old]
        shrink = 1 / (1 + weight * self.variance[old])
        self.loss[old] += 0.5 * weight * shrink * surprise**2
        self.level[old] += weight * shrink * self.variance[old] * surprise
        self.variance[old] *= shrink
        self.level[self.t], self.variance[self.t], self.age[self.t] = y, 1 / weight, 1.0
        self.precision[: self.t + 1] += weight * self.age[: self.t + 1] ** 2
        self.moment[: self.t + 1] += weight * self.age[: self.t + 1] * y

    @property
    def first_level(self) -> _Floats:
        """The level at s, where :attr:`level` is that at t."""
        return self.moment[: self.t + 1] / self.precision[: self.t + 1]


def _free(y: _Floats, weights: _Floats, decays: _Floats, lam: float) -> list[int]:
    n = len(y)
    before = np.zeros(n)  # F(s - 1) + lam, nothing for s = 0
    came_from = np.zeros(n, dtype=np.int64)
    fits = _Fits(n)
    for t in range(n):
        fits.add(y[t], weights[t], decays[t])
        cost = fits.loss[: t + 1] + before[: t + 1]
        came_from[t] = cost.argmin()
        before[t + 1 : t + 2] = cost[came_from[t]] + lam
    starts = [int(came_from[n - 1])]
    while starts[-1] > 0:
        starts.append(int(came_from[starts[-1] - 1]))
    return starts[::-1]


def _positive(y: _Floats, weights: _Floats, decays: _Floats, lam: float) -> list[int]:
    n = len(y)
    # By s: the levels at which segments that end at s - 1 arrive, rising; the least F(r, s - 1)
    # among those up to each; and the r of it.
    levels: list[list[float]] = [[-np.inf]]
    costs: list[list[float]] = [[-lam]]
    parents: list[list[int]] = [[-1]]
    came_from: list[list[int]] = []  # by t and s
    fits = _Fits(n)
    for t in range(n):
        fits.add(y[t], weights[t], decays[t])
        first = fits.first_level
        cost = np.full(t + 1, np.inf)
        origin = [-1] * (t + 1)
        for s in range(t + 1):
            stair = bisect.bisect_left(levels[s], first[s]) - 1
            if stair >= 0:
                cost[s] = fits.loss[s] + lam + costs[s][stair]
                origin[s] = parents[s][stair]
        came_from.append(origin)
        if t + 1 < n:
            arrival = fits.level[: t + 1] * decays[t + 1]
            ranked = np.lexsort((cost, arrival))
            lowest = np.minimum.accumulate(cost[ranked])
            new = np.flatnonzero(lowest < np.concatenate([[np.inf], lowest[:-1]]))
            levels.append(arrival[ranked][new].tolist())
            costs.append(lowest[new].tolist())
            parents.append(ranked[new].tolist())
    starts = [int(np.argmin(cost))]
    end = n - 1
    while starts[-1] > 0:
        parent = came_from[end][starts[-1]]
        end = starts[-1] - 1
        starts.append(parent)
    return starts[::-1]
