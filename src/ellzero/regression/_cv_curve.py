"""The cross-validated error as a function of lam: piecewise constant, so known exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero.regression._hull import middle

__all__ = ["Curve", "FoldPath", "make_curve"]

_Floats = NDArray[np.float64]


class FoldPath(NamedTuple):
    """The solutions of one fold as lam falls, in terms of the lam of all rows."""

    lambdas: _Floats  # where they change, decreasing
    end: float  # the least lam that something is known about
    sizes: NDArray[np.int64]
    errors: _Floats  # mean squared error on the test rows
    weight: float  # of the test rows


class Curve(NamedTuple):
    """Mean error over folds on intervals of lam, from the largest lam to the smallest."""

    lam_low: _Floats
    lam_high: _Floats
    mean_error: _Floats
    se_error: _Floats
    mean_size: _Floats
    fold_errors: _Floats  # by fold and interval, one repeat after the other
    rounding: float  # errors that differ by less are equal

    def best(self) -> int:
        """Return the interval of least error; if several tie, that of the largest lam."""
        return int(np.flatnonzero(self.mean_error <= self.mean_error.min() + self.rounding)[0])

    def middle(self, place: int) -> float:
        """Return the geometric middle of an interval."""
        return middle(float(self.lam_low[place]), float(self.lam_high[place]))

    def within_one_se(self) -> int:
        """Return the interval of largest lam whose error is within one se of the least."""
        best = self.best()
        bar = self.mean_error[best] + np.nan_to_num(self.se_error[best])  # NaN for one fold
        return int(np.flatnonzero(self.mean_error <= bar)[0])


def make_curve(repeats: list[list[FoldPath]], rounding: float) -> Curve:
    """Average the folds of every repeat on the union of their breakpoints, then the repeats.

    Within a repeat folds count by the weight of their test rows, and the standard error is that of
    a weighted mean of as many errors as there are folds. Repeats judge by the same rows, so they
    are not independent: the standard error is the mean of theirs, not less.
    """
    every = [path for paths in repeats for path in paths]
    end = max(path.end for path in every)
    edges = np.unique(np.concatenate([path.lambdas for path in every]))[::-1]
    edges = np.concatenate([[np.inf], edges[edges > end], [end]])
    low, high = edges[1:], edges[:-1]
    errors, mean, se, size = zip(*[_average(paths, low) for paths in repeats], strict=True)
    known = [each for each, paths in zip(se, repeats, strict=True) if len(paths) > 1]
    se_error = _mean(known) if known else np.full_like(low, np.nan)
    return Curve(low, high, _mean(mean), se_error, _mean(size), np.concatenate(errors), rounding)


def _mean(values: Sequence[_Floats]) -> _Floats:
    """Return the mean; none of its sums overflows."""
    mean: _Floats = np.sum([each / len(values) for each in values], axis=0)
    return mean


def _average(paths: list[FoldPath], low: _Floats) -> tuple[_Floats, _Floats, _Floats, _Floats]:
    """Return the errors of one repeat's folds, their mean, its standard error and the mean size.

    All are for the intervals that end at ``low``.
    """
    # In each fold, an interval lies after as many breakpoints as are at or above its top.
    steps = [np.searchsorted(-path.lambdas, -low, side="left") for path in paths]
    errors = np.array([path.errors[step] for path, step in zip(paths, steps, strict=True)])
    sizes = np.array([path.sizes[step] for path, step in zip(paths, steps, strict=True)])
    share = np.array([path.weight for path in paths])
    share = share / share.sum()
    mean = share @ errors
    finite = np.isfinite(mean)  # predictions may be too large to be squared
    known = np.where(finite, errors, 0.0)
    unit = max(float(known.max()), np.finfo(float).tiny)  # squares of errors may overflow
    variance = share @ ((known - np.where(finite, mean, 0.0)) / unit) ** 2
    se = np.full_like(mean, np.nan)
    if len(paths) > 1:
        se = np.where(finite, unit * np.sqrt(variance / (len(paths) - 1)), np.inf)
    return errors, mean, se, share @ sizes
