"""The cross-validated error as a function of lam: piecewise constant, so known exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._core import FoldPath
from ellzero.regression._hull import middle

__all__ = ["Curve", "FoldPath", "Glance", "Look", "glance_at", "make_curve"]

_Floats = NDArray[np.float64]
# So many factors are tried between 1 and the largest, each so many times the one before.
_FACTORS = 9
# Errors by fold and interval that are worked on at a time, and that a look at them may keep.
_AT_A_TIME, _KEPT = 2**19, 2**15


class Curve(NamedTuple):
    """Mean error over folds on intervals of lam, from the largest lam to the smallest."""

    lam_low: _Floats
    lam_high: _Floats
    mean_error: _Floats
    se_error: _Floats
    saved: _Floats  # over the error without variables, but for forced ones
    se_saved: _Floats
    mean_size: _Floats
    rescaling: _Floats  # what coefficients are multiplied by
    fold_errors: _Floats  # by fold and interval, one repeat after the other
    rounding: float  # errors that differ by less are equal

    def best(self, *, cautious: bool = False) -> int:
        """Return the interval of least error; if several tie, that of the largest lam."""
        return self.least(self.value(cautious=cautious))

    def least(self, value: _Floats) -> int:
        """Return the interval of least value; if several tie, that of the largest lam."""
        return int((value <= value.min() + self.rounding).nonzero()[0][0])

    def value(self, *, cautious: bool) -> _Floats:
        """Return the mean error, cautiously with what may be luck in it: see `luck_of`."""
        if not cautious:
            return self.mean_error
        return self.mean_error + luck_of(self.saved, self.se_saved)

    def middle(self, place: int) -> float:
        """Return the geometric middle of an interval."""
        return middle(float(self.lam_low[place]), float(self.lam_high[place]))

    def within_one_se(self, *, cautious: bool = False) -> int:
        """Return the interval of largest lam whose error is within one se of the best one's."""
        best = self.best(cautious=cautious)
        below = self.first_below(self.mean_error[best] + np.nan_to_num(self.se_error[best]))
        return best if below is None else below

    def first_below(self, bar: float) -> int | None:
        """Return the interval of largest lam whose error is at most this; None if there is none."""
        below = self.mean_error <= bar
        place = int(below.argmax())
        return place if below[place] else None


def luck_of(saved: _Floats, se: _Floats) -> _Floats:
    """Return how much of what is saved may be luck: its variance over itself.

    All of it if it is a standard error, next to nothing if it is many; infinite if nothing is
    saved. The least of many errors is often a lucky one.
    """
    se = np.nan_to_num(se)  # NaN for one fold
    ratio = np.divide(se, saved, out=np.full_like(saved, np.inf), where=saved > 0)
    return np.multiply(se, ratio, out=np.zeros_like(saved), where=se != 0)  # se**2 may overflow


def make_curve(
    repeats: list[list[FoldPath]],
    rounding: float,
    *,
    most: float = 1.0,
    cautious: bool = False,
    nothing: Sequence[_Floats] | None = None,
    seen: Look | None = None,
) -> Curve:
    """Average the folds of every repeat on the union of their breakpoints, then the repeats.

    Within a repeat folds count by the weight of their test rows, and the standard error is that of
    a weighted mean of as many errors as there are folds. Repeats judge by the same rows, so they
    are not independent: the standard error is the mean of theirs, not less.

    On every interval coefficients are multiplied by the factor between 1 and ``most`` that makes
    the error least, cautiously. ``nothing`` are, by repeat, the errors that savings are counted
    from; None takes those of the first interval. ``seen`` is what a glance at the only repeat saw.
    """
    every = [path for paths in repeats for path in paths]
    low, high = _core.intervals_of(every) if seen is None else (seen.low, seen.high)
    if nothing is None:
        nothing = [_core.errors_of_nothing(paths) for paths in repeats]
    means: list[tuple[_Floats, ...]] = []
    stretches = _stretches(len(every), len(low))
    fold_errors = np.empty((len(every), len(low))) if len(stretches) > 1 else None
    for stretch in stretches:
        if seen is None:
            found = [_Repeat(paths, low[stretch]) for paths in repeats]
            rescaling = _best_factor(found, nothing, most, cautious)
            errors = [repeat.errors_of(rescaling) for repeat in found]
        else:
            found, rescaling, errors = [seen.repeat], seen.rescaling, [seen.errors]
        if fold_errors is None:
            fold_errors = np.concatenate(errors) if len(errors) > 1 else errors[0]
        else:
            np.concatenate(errors, out=fold_errors[:, stretch])
        means.append(
            (
                *_mean_and_error(found, errors),
                *_mean_and_error(found, errors, nothing),
                _mean([repeat.mean_sizes for repeat in found]),
                rescaling,
            )
        )
    assert fold_errors is not None  # there is one interval at least
    if len(means) > 1:
        means = [tuple(map(np.concatenate, zip(*means, strict=True)))]
    mean, se, saves, se_saved, size, factor = means[0]
    return Curve(low, high, mean, se, saves, se_saved, size, factor, fold_errors, rounding)


def _stretches(folds: int, intervals: int) -> list[slice]:
    """Return intervals that follow each other, as many at a time as stay in a cache."""
    step = max(1, _AT_A_TIME // folds)
    return [slice(start, start + step) for start in range(0, intervals, step)]


class Glance(NamedTuple):
    """The least of a curve, of one repeat, and what it is worth in every fold."""

    error: float
    size: float  # mean over folds
    fold_errors: _Floats
    share: _Floats  # of the folds
    look: Look | None  # at all of the curve, if it is short

    def is_behind(self, other: Glance, errors: float) -> bool:
        """Whether it is worse than another by so many standard errors of the difference."""
        if len(self.share) < 2:
            return False
        difference = self.fold_errors - other.fold_errors
        unit = float(np.abs(difference).max())  # squares of errors may overflow
        if not 0 < unit < np.inf:
            return unit == 0 and self.error > other.error
        deviations = difference / unit
        deviations -= self.share @ deviations
        se = unit * math.sqrt(self.share @ deviations**2 / (len(self.share) - 1))
        return bool(self.error - other.error > errors * se)


class Look(NamedTuple):
    """A curve of one repeat, as far as its least asks for."""

    low: _Floats
    high: _Floats
    repeat: _Repeat
    rescaling: _Floats
    errors: _Floats  # by fold and interval


def glance_at(paths: list[FoldPath], most: float, cautious: bool, nothing: _Floats) -> Glance:
    """Return the least of the curve that these folds alone make."""
    low, high = _core.intervals_of(paths)
    least, found = np.inf, None
    stretches = _stretches(len(paths), len(low))
    for stretch in stretches:
        repeat = _Repeat(paths, low[stretch])
        rescaling = _best_factor([repeat], [nothing], most, cautious)
        errors = repeat.errors_of(rescaling)
        mean = repeat.share @ errors
        known = np.where(np.isnan(mean), np.inf, mean)
        best = int(np.argmin(known))
        if found is None or known[best] < least:
            size = float(repeat.mean_sizes[best])
            least = known[best]
            short = len(stretches) == 1 and errors.size <= _KEPT
            look = Look(low, high, repeat, rescaling, errors) if short else None
            found = Glance(float(mean[best]), size, errors[:, best].copy(), repeat.share, look)
    assert found is not None  # there is one interval at least
    return found


class _Repeat:
    """The folds of one repeat on the intervals that end at ``low``."""

    def __init__(self, paths: list[FoldPath], low: _Floats) -> None:
        self.table = _core.FoldTable(paths, low)
        self.share = self.table.share

    @cached_property
    def mean_sizes(self) -> _Floats:
        """The mean number of variables on every interval."""
        return self.table.mean_sizes

    @cached_property
    def errors(self) -> _Floats:
        """The mean of r^2, by fold and interval."""
        return self.table.errors

    @cached_property
    def along(self) -> _Floats:
        """The mean of r f, by fold and interval."""
        return self.table.along

    @cached_property
    def square(self) -> _Floats:
        """The mean of f^2, by fold and interval."""
        return self.table.square

    def mean_and_error(self, values: _Floats, base: _Floats | None) -> tuple[_Floats, _Floats]:
        """Return the mean over folds, and its se, of values or of how much less than a base."""
        return self.table.mean_and_error(values, base)

    def errors_of(self, rescaling: _Floats) -> _Floats:
        """Return the error of every fold on every interval."""
        more = rescaling - 1
        if not more.any():
            return self.errors
        errors = self.errors - 2 * more * self.along + more**2 * self.square
        return np.maximum(errors, 0.0)  # where the fit is exact, rounding is all that is left


def _best_factor(
    repeats: list[_Repeat], nothing: Sequence[_Floats], most: float, cautious: bool
) -> _Floats:
    """Return the factor of least error, or of least error and luck, on every interval."""
    if most == 1:
        return np.ones_like(repeats[0].mean_sizes)
    tables = [repeat.table for repeat in repeats]
    return _core.best_factors(tables, list(nothing[: len(tables)]), _factors(most), cautious)


@lru_cache(maxsize=64)
def _factors(most: float) -> _Floats:
    factors = np.geomspace(1, most, _FACTORS)
    factors.flags.writeable = False
    return factors


def _mean(values: Sequence[_Floats]) -> _Floats:
    """Return the mean; none of its sums overflows."""
    if len(values) == 1:
        return values[0]
    mean: _Floats = np.sum([each / len(values) for each in values], axis=0)
    return mean


def _mean_and_error(
    repeats: list[_Repeat], errors: list[_Floats], nothing: Sequence[_Floats] | None = None
) -> tuple[_Floats, _Floats]:
    """Return the mean over folds and its standard error, averaged over the repeats.

    Of errors, or of how much less than those of ``nothing`` they are. Those of one fold have no
    standard error.
    """
    bases: Sequence[_Floats | None] = [None] * len(errors) if nothing is None else nothing
    found = [
        repeat.mean_and_error(each, base)
        for repeat, each, base in zip(repeats, errors, bases, strict=False)
    ]
    if len(found) == 1:
        return found[0]
    known = [se for repeat, (_, se) in zip(repeats, found, strict=True) if len(repeat.share) > 1]
    return _mean([mean for mean, _ in found]), _mean(known) if known else found[0][1]
