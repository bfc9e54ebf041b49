"""What estimators are given that is not in memory, as statistics."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ellzero._memory import too_large
from ellzero.sources._array_source import ArraySource, DaskSource
from ellzero.sources._column_source import ColumnSource
from ellzero.sources._statistics import SufficientStatistics, refuse_statistics

__all__ = ["is_stream", "take_source", "take_statistics"]

# Beyond so many columns their products take more memory than passes over the columns do.
MOST_COLUMNS = 4000


def is_stream(X: Any) -> bool:
    """Whether X lies on disk or on a cluster, and is read a stretch of rows at a time."""
    if isinstance(X, np.memmap):
        return X.ndim == 2 and len(X) > X.shape[1] <= MOST_COLUMNS
    return _package(X) in ("dask", "dask_expr", "h5py", "zarr")


def take_source(caller: str, X: Any, *, accepted: bool) -> ColumnSource | None:
    """Return the source that X is, or is read as; None if it is anything else.

    Arrays on disk with so many columns that their products would not fit are read by columns;
    memory-mapped files of floats that fit into memory are as good as arrays.
    """
    if isinstance(X, ColumnSource):
        if not accepted:
            raise TypeError(f"{caller} needs the rows of X in memory, not a {type(X).__name__}.")
        X.check_shape()
        return X
    shape: tuple[Any, ...] = getattr(X, "shape", ())
    if not accepted or len(shape) != 2 or not shape[1] > MOST_COLUMNS:
        return None
    package = _package(X)
    if isinstance(X, np.memmap):
        floats = X.dtype in (np.float64, np.float32)
        return None if floats and not too_large(X.nbytes) else ArraySource(X)
    if package == "dask" and not hasattr(X, "columns"):
        return DaskSource(X)
    return ArraySource(X) if package in ("h5py", "zarr") else None


def _package(X: Any) -> str:
    return type(X).__module__.split(".")[0]


def take_statistics(
    caller: str,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    accepted: bool = True,
    folds: int = 0,
    random_state: Any = 0,
) -> SufficientStatistics | None:
    """Return the statistics that X is, or is read as; None if it is a table in memory.

    Raises
    ------
    ValueError
        If the caller needs rows, or y is given where the statistics know it.
    """
    if isinstance(X, SufficientStatistics):
        if not accepted:
            refuse_statistics(caller, X)
        for name, value in (("y", y), ("sample_weight", sample_weight)):
            if value is not None:
                raise ValueError(f"{name} must be None: the statistics in place of X know it.")
        return X
    if not is_stream(X):
        return None
    if not accepted:
        if _package(X) == "numpy":
            return None  # a mapped file is read like memory
        raise TypeError(
            f"{caller} needs the rows of X in memory; got {type(X).__name__}: convert it."
        )
    if y is None:
        raise ValueError(f"{caller} requires y, but it is None.")
    # A seed is drawn here alone: fits in memory draw their own
    seed = random_state
    if not isinstance(seed, Integral):
        seed = int(check_random_state(random_state).randint(2**31 - 1))
    if _package(X) in ("dask", "dask_expr"):
        return SufficientStatistics.from_dask(X, y, sample_weight, folds=folds, random_state=seed)
    parts = [(X, y)] if sample_weight is None else [(X, y, sample_weight)]
    return SufficientStatistics.from_arrays(parts, folds=folds, random_state=seed)
