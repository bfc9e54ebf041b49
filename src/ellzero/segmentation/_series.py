"""From what users have to series of floats: checked, NaN where there is a gap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._engine import thread_count
from ellzero._sklearn import Interval, StrOptions, check_parameters

__all__ = [
    "DECAY",
    "JUMPS",
    "PRICE",
    "Fit",
    "Series",
    "check_size",
    "fit_segments",
    "per_series",
    "read_many",
    "read_one",
    "solve_all",
    "threads_for",
]

_Floats = NDArray[np.float64]

# Changepoints, signal, jumps and loss, as the core gives them.
Fit = tuple[NDArray[np.int64], _Floats, _Floats, float]

PRICE = Interval(Real, 0, None, closed="left")
DECAY = Interval(Real, 0, 1, closed="right")
JUMPS = StrOptions({"free", "positive"})


class Series(NamedTuple):
    """One series, ready for the core."""

    y: _Floats
    weights: _Floats | None
    labels: Any  # the index of a pandas Series; None if there is none

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Which samples count."""
        there = ~np.isnan(self.y)
        return there if self.weights is None else there & (self.weights > 0)

    @property
    def sample_count(self) -> float:
        """The number of samples observed: the sum of their weights, if there are any."""
        if self.weights is None:
            return float(np.count_nonzero(~np.isnan(self.y)))
        return float(self.weights[~np.isnan(self.y)].sum())


def _to_floats(values: Any, name: str, n_dimensions: int) -> _Floats:
    """Return float64 in C order; what is masked or missing becomes NaN."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    array: NDArray[Any] = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    if array.dtype.kind not in "biufO":
        raise ValueError(f"{name} must hold real numbers; got {array.dtype}.")
    if array.ndim != n_dimensions:
        raise ValueError(
            f"{name} must have {n_dimensions} dimension{'s' * (n_dimensions > 1)}; "
            f"got {array.ndim}."
        )
    if array.dtype.kind == "O":
        if hasattr(values, "to_numpy") and hasattr(values, "isna"):  # pandas' own missing value
            array = array.copy()
            array[np.asarray(values.isna())] = None
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must hold real numbers.") from None
    floats: _Floats = np.ascontiguousarray(array, dtype=np.float64)
    return floats


def _check_series(y: _Floats, weights: Any, name: str) -> _Floats | None:
    infinite = np.flatnonzero(np.isinf(y))
    if infinite.size:
        raise ValueError(
            f"{name} is infinite at position {infinite[0]}; NaN is what stands for a gap."
        )
    total = float(len(y))
    checked = None
    if weights is not None:
        called = f"sample_weight{name[1:]}"
        checked = weights = _to_floats(weights, called, 1)
        if weights.shape != y.shape:
            raise ValueError(
                f"{called} must have one weight per sample, {len(y)} of them; got {len(weights)}."
            )
        if not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise ValueError(f"{called} must be finite and not negative.")
        if len(y) and not weights.any():
            raise ValueError(f"{called} must not be zero for every sample.")
        with np.errstate(over="ignore"):
            total = float(weights.sum())
    there = ~np.isnan(y)
    if len(y) and not there.any():
        raise ValueError(f"{name} has no sample: all {len(y)} of its values are missing.")
    if len(y) and checked is not None and not (checked[there] > 0).any():
        raise ValueError(f"{name} has no sample: where its weight is not zero, it is missing.")
    check_size(y, total, name)
    return checked


def check_size(y: _Floats, weight: float, name: str) -> None:
    """Refuse what has squares that cannot be summed, ``weight`` the sum of all weights."""
    largest = 0.0 if np.isnan(y).all() else float(np.nanmax(np.abs(y)))
    if largest * math.sqrt(weight) > 1e154:
        raise ValueError(f"{name} is too large for its squares to be summed; rescale it.")


def read_one(y: Any, sample_weight: Any, name: str = "y") -> Series:
    """Check one series."""
    values = _to_floats(y, name, 1)
    labels = y.index if hasattr(y, "to_numpy") and hasattr(y, "index") else None
    return Series(values, _check_series(values, sample_weight, name), labels)


def _rows(y: Any) -> list[Any] | None:
    """Return the series that y is made of; None if it is one series."""
    if isinstance(y, np.ndarray) and y.dtype.kind != "O":
        if y.ndim == 2:
            return list(_to_floats(y, "y", 2))
        return None
    if getattr(y, "ndim", 1) == 2 and hasattr(y, "to_numpy"):
        return list(_to_floats(y, "y", 2))
    if hasattr(y, "shape") and len(y.shape) == 2:  # a data frame of polars, say
        return list(_to_floats(y, "y", 2))
    if isinstance(y, (list, tuple)) or (isinstance(y, np.ndarray) and y.ndim == 1):
        if len(y) and all(np.ndim(part) > 0 or hasattr(part, "to_numpy") for part in y):
            return list(y)
        if any(np.ndim(part) > 0 for part in y):
            raise ValueError("y must be one series of numbers, or a list of series; got a mixture.")
        return None
    if not (hasattr(y, "__array__") or isinstance(y, Sequence)) or isinstance(y, (str, bytes)):
        raise ValueError(f"y must be array-like; got {type(y).__name__}.")
    return None


def read_many(y: Any, sample_weight: Any) -> tuple[list[Series], bool]:
    """Check one series or several; the last that comes back says whether it was one."""
    parts = _rows(y)
    if parts is None:
        return [read_one(y, sample_weight)], True
    weights: list[Any] = [None] * len(parts)
    if sample_weight is not None:
        weights = list(sample_weight)
        if len(weights) != len(parts):
            raise ValueError(
                f"sample_weight must be a list of weights for each of the {len(parts)} series; "
                f"got {len(weights)}."
            )
    return [
        read_one(part, weight, f"y[{k}]")
        for k, (part, weight) in enumerate(zip(parts, weights, strict=True))
    ], False


def per_series(caller: str, name: str, value: Any, constraint: list[Any], count: int) -> list[Any]:
    """Check a parameter that is one value for all series, or one for each; return one for each."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, str) or np.ndim(value) == 0:
        values = [value] * count
        check_parameters(caller, {name: constraint}, **{name: value})
    else:
        values = list(value)
        if len(values) != count:
            raise ValueError(
                f"{name} must be one value, or one for each of the {count} series; "
                f"got {len(values)}."
            )
        for one in values:
            check_parameters(caller, {name: constraint}, **{name: one})
    return values


def threads_for(n_jobs: Any) -> int:
    """Return how many threads to use: the package's own choice for None, all cores for -1."""
    if n_jobs is None:
        return thread_count()
    if not isinstance(n_jobs, Integral) or n_jobs == 0 or n_jobs < -1:
        raise ValueError(
            f"n_jobs must be a positive number of threads, -1 or None; got {n_jobs!r}."
        )
    if n_jobs == -1:
        import os

        return os.cpu_count() or 1
    return int(n_jobs)


def solve_all(
    series: Sequence[Series],
    lams: Sequence[float],
    decays: Sequence[float],
    positive: bool,
    solver: str,
    *,
    threads: int,
    phis: Sequence[float] | None = None,
    want_signal: bool = True,
) -> list[Fit]:
    """Run a compiled solver on every series, in noise correlated at ``phis``, by default none."""
    found = _core.segment(
        [one.y for one in series],
        [one.weights for one in series],
        np.array(lams, dtype=np.float64),
        np.array(decays, dtype=np.float64),
        np.zeros(len(lams)) if phis is None else np.array(phis, dtype=np.float64),
        positive=positive,
        solver=solver,
        want_signal=want_signal,
        want_minima=False,
        threads=threads,
    )
    return [_plain(fit) for fit in found]


def fit_segments(
    series: Series,
    decay: float,
    changepoints: NDArray[np.int64],
    *,
    phi: float = 0.0,
    tidied: bool = False,
    lam: float = 0.0,
    positive: bool = False,
) -> Fit:
    """Fit the segments that begin at given times; ``tidied`` drops jumps not worth ``lam``."""
    changepoints = np.ascontiguousarray(changepoints, dtype=np.int64)
    return _plain(
        _core.fit_segments(
            series.y, series.weights, lam, decay, phi, positive, changepoints, tidied
        )
    )


def _plain(found: _core.Segmented) -> Fit:
    # The same integers, of the type that NumPy prints without naming it.
    return found.changepoints.astype(np.int64), found.signal, found.jumps, found.loss
