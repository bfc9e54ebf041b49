"""Every optimum between two penalties, among the jumps that are possible there.

Two optima with k and k' jumps tell where their lines ``loss_k + lam k`` meet. There the problem is
solved once more: either nothing lies below, and the breakpoint is exact, or what is found splits
the range in two (CROPS: Haynes, Eckley and Fearnhead 2017).

For free jumps without decay, ranges get easier as they get narrower. The least cost with a jump at
t is

    C_t(lam) = F_t(lam) + lam + B_t(lam),

F_t that of the samples before t and B_t that of t and all after it. Each is a minimum of lines in
lam, so C_t is concave, and between two penalties it lies above its chord. Where the chord is above
the lines of both optima throughout, no optimum in the range jumps at t. The samples between the
jumps that are left are pooled: their mean and their weight tell the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.segmentation._series import Series

__all__ = ["Cut", "Everywhere", "Narrowing", "fill_in", "is_tame"]

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
# Solvers are exact to this share of the penalty: objectives that differ by less are equal.
_TIE = 1e-9
# What sums over all samples are exact to, and then some.
_ROUNDING = 1e-12


class Cut(NamedTuple):
    """A segmentation."""

    changepoints: _Integers
    loss: float

    @property
    def size(self) -> int:
        """How many jumps it has."""
        return len(self.changepoints)

    def objective(self, lam: float) -> float:
        """Return its loss and what its jumps cost."""
        return self.loss + lam * self.size


class Found(NamedTuple):
    """The optimum at a penalty in a range."""

    lam: float
    cut: Cut
    before: (
        _Floats  # least costs of the samples up to each that was looked at, where they are known
    )


class Everywhere(NamedTuple):
    """A range of penalties in which a jump may be anywhere."""

    solve: Callable[[list[float]], list[Cut]]
    first: Cut  # the optimum at the larger end
    last: Cut

    def solve_all(self, ranges: list[Everywhere], lams: list[float]) -> list[Found]:
        """Return the optimum of each range at a penalty in it."""
        nothing = np.empty(0)
        return [Found(lam, cut, nothing) for lam, cut in zip(lams, self.solve(lams), strict=True)]

    def split_all(self, ranges: list[Everywhere], found: list[Found]) -> list[Everywhere]:
        """Return the two ranges that each is made of, given an optimum in between."""
        return [
            half
            for part, (_, cut, _) in zip(ranges, found, strict=True)
            for half in (part._replace(last=cut), part._replace(first=cut))
        ]


class _Pool(NamedTuple):
    """Stretches of samples, in order, between which there may be a jump."""

    times: _Integers  # the first of each
    y: _Floats  # their means
    weights: _Floats
    inside: float  # what all samples cost around the means of their stretches

    def join(self, may_jump: NDArray[np.bool_]) -> _Pool:
        """Return longer ones, with a jump between two of these only where there may be one."""
        begins = np.flatnonzero(np.concatenate([[True], may_jump]))
        lengths = np.diff(begins, append=len(self.y))
        weights = np.add.reduceat(self.weights, begins)
        # Of deviations, which lose no digits where the level is high.
        base = self.y[begins]
        off = self.weights * (self.y - np.repeat(base, lengths))
        y = base + np.add.reduceat(off, begins) / weights
        left = self.y - np.repeat(y, lengths)
        inside = self.inside + float(0.5 * np.sum(self.weights * left**2))
        return _Pool(self.times[begins], y, weights, inside)


class _End(NamedTuple):
    """What is known at one end of a range: the optimum there, and C_t of every possible jump."""

    lam: float
    cut: Cut
    costs: _Floats

    @property
    def objective(self) -> float:
        return self.cut.objective(self.lam)

    @property
    def slack(self) -> float:
        return _TIE * self.lam + _ROUNDING * abs(self.objective)

    def among(self, may_jump: NDArray[np.bool_]) -> _End:
        return self._replace(costs=self.costs[may_jump])


class Narrowing(NamedTuple):
    """A range of penalties, with the jumps that its optima may have."""

    pool: _Pool
    high: _End
    low: _End
    threads: int

    @property
    def first(self) -> Cut:
        """The optimum at the larger end."""
        return self.high.cut

    @property
    def last(self) -> Cut:
        """The optimum at the smaller end."""
        return self.low.cut

    @classmethod
    def between(cls, series: Series, high: float, low: float, threads: int) -> Narrowing:
        """Return the range between two penalties, for a series that is tame."""
        weights = np.ones(len(series.y)) if series.weights is None else series.weights
        times = np.flatnonzero(~np.isnan(series.y) & (weights > 0))
        pool = _Pool(times, series.y[times], weights[times], 0.0)
        found = _solve([pool, pool], [high, low], threads)
        at_high, at_low = _ends([pool, pool], found, threads)
        return cls(pool, at_high, at_low, threads)._narrowed()

    def solve_all(self, ranges: list[Narrowing], lams: list[float]) -> list[Found]:
        """Return the optimum of each range at a penalty in it."""
        return _solve([part.pool for part in ranges], lams, self.threads)

    def split_all(self, ranges: list[Narrowing], found: list[Found]) -> list[Narrowing]:
        """Return the two ranges that each is made of, given an optimum in between."""
        ends = _ends([part.pool for part in ranges], found, self.threads)
        return [
            half._narrowed()
            for part, end in zip(ranges, ends, strict=True)
            for half in (part._replace(low=end), part._replace(high=end))
        ]

    def _narrowed(self) -> Narrowing:
        """Leave out what can't be a jump.

        The optima of the range lie below two lines, each that of one end. The lower of the two less
        a chord is largest where they meet, or at an end.
        """
        high, low = self.high, self.low
        possible = high.costs <= high.objective + high.slack
        possible |= low.costs <= low.objective + low.slack
        if high.lam > low.lam:
            lam = _meeting(self, high.lam, low.lam)
            share = (lam - low.lam) / (high.lam - low.lam)
            chord = share * high.costs + (1 - share) * low.costs
            bar = min(high.cut.objective(lam), low.cut.objective(lam))
            possible |= chord <= bar + max(high.slack, low.slack)
        if possible.all():
            return self
        pool = self.pool.join(possible)
        return Narrowing(pool, high.among(possible), low.among(possible), self.threads)


_Range = TypeVar("_Range", Everywhere, Narrowing)


def is_tame(series: Series) -> bool:
    """Return whether there are samples, and none so large or small that sums would suffer."""
    y = np.abs(series.y[~np.isnan(series.y)])
    weights = np.ones(1) if series.weights is None else series.weights[series.weights > 0]
    sizes = [values for values in (y[y > 0], weights) if values.size]
    some = y.size > 0 and weights.size > 0
    return some and all(v.min() > 1e-60 and v.max() < 1e60 for v in sizes)


def fill_in(whole: _Range, high: float, low: float) -> tuple[list[Cut], list[float]]:
    """Return every optimum between the ends of a range, and the penalties where they change."""
    first, last = whole.first, whole.last
    if last.size <= first.size:
        return [first], []
    settled: list[tuple[float, Cut]] = []
    ranges = [whole]
    while ranges:
        lams = [_meeting(part, high, low) for part in ranges]
        divided: list[tuple[_Range, Found]] = []
        for part, found in zip(ranges, whole.solve_all(ranges, lams), strict=True):
            lam, cut = found.lam, found.cut
            bar = min(part.first.objective(lam), part.last.objective(lam))
            between = part.first.size < cut.size < part.last.size
            if between and cut.objective(lam) < bar - _TIE * lam:
                divided.append((part, found))
            else:
                settled.append((lam, part.last))
        ranges = whole.split_all([part for part, _ in divided], [found for _, found in divided])
    settled.sort(key=lambda each: each[1].size)
    return [first, *(cut for _, cut in settled)], [lam for lam, _ in settled]


def _meeting(part: Everywhere | Narrowing, high: float, low: float) -> float:
    """Return where the lines of a range's two optima meet, within two penalties."""
    first, last = part.first, part.last
    if last.size <= first.size:
        return low
    return min(max((first.loss - last.loss) / (last.size - first.size), low), high)


def _solve(pools: list[_Pool], lams: list[float], threads: int) -> list[Found]:
    """Return the optimum of every pool at a penalty."""
    found = _segment([pool.y for pool in pools], [pool.weights for pool in pools], lams, threads)
    return [
        Found(lam, Cut(pool.times[each.changepoints], pool.inside + each.loss), each.minima)
        for pool, lam, each in zip(pools, lams, found, strict=True)
    ]


def _ends(pools: list[_Pool], found: list[Found], threads: int) -> list[_End]:
    """Return C_t of all jumps that each pool allows, at the penalty that it was solved at."""
    turned = _segment(
        [np.ascontiguousarray(pool.y[::-1]) for pool in pools],
        [np.ascontiguousarray(pool.weights[::-1]) for pool in pools],
        [lam for lam, _, _ in found],
        threads,
    )
    return [
        _End(lam, cut, before[:-1] + after.minima[::-1][1:] + lam + pool.inside)
        for pool, (lam, cut, before), after in zip(pools, found, turned, strict=True)
    ]


def _segment(
    y: list[_Floats], weights: list[_Floats], lams: list[float], threads: int
) -> list[_core.Segmented]:
    return _core.segment(
        list(y),
        list(weights),
        np.array(lams, dtype=np.float64),
        np.ones(len(lams)),
        np.zeros(len(lams)),
        positive=False,
        solver="functional",
        want_signal=False,
        want_minima=True,
        threads=threads,
    )
