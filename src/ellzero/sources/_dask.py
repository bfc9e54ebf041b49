"""Dask's collections: statistics of every partition, put together on the cluster."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero.sources._accumulate import Job, Tree, merge_all, sum_part
from ellzero.sources._arrays import cut_arrays
from ellzero.sources._moments import Moments, NotFiniteError
from ellzero.sources._reading import SourceError, check_folds, finish, missing_value
from ellzero.sources._statistics import SufficientStatistics

__all__ = ["read_dask"]

_Floats = NDArray[np.float64]


class _Parts(NamedTuple):
    """What is read of every partition, each a task of its own."""

    tables: list[Any]
    responses: list[Any]
    weights: list[Any]
    names: list[str] | None
    target: str


def read_dask(
    X: Any, y: Any, weights: Any, folds: Any, random_state: Any, timeout: float = 300.0
) -> SufficientStatistics:
    """See `SufficientStatistics.from_dask`."""
    try:
        from dask.delayed import delayed as make_delayed
    except ImportError:
        raise ImportError("from_dask needs the package dask: pip install ellzero[dask].") from None
    n_folds, seed = check_folds(folds, random_state)
    parts = _take_apart(X, y, weights)
    shift = None
    for table, response in zip(parts.tables, parts.responses, strict=True):
        shift = _compute(make_delayed(_first_row)(table, response), timeout)
        if shift is not None:
            break
    if shift is None:
        raise SourceError("there are no rows.")
    job = Job(shift, n_folds, seed)
    leaves = [
        make_delayed(_sum_partition)(part, *pieces, job)
        for part, pieces in enumerate(
            zip(parts.tables, parts.responses, parts.weights, strict=True)
        )
    ]
    names = parts.names
    try:
        found = _compute(_grow(make_delayed(_merge), leaves), timeout)
    except NotFiniteError as error:
        columns = names or [f"x{j}" for j in range(len(shift) - 1)]
        label = f"partition {error.part}"
        raise missing_value(error, [*columns, parts.target], label) from None
    weighted = weights is not None
    return finish(found, shift, names, parts.target, seed=seed, weighted=weighted)


def _grow(merge: Any, nodes: list[Any]) -> Any:
    """Return the root of the tree that `Tree` makes of parts one after the other."""
    while len(nodes) > 1:
        grown = []
        for begin in range(0, len(nodes), Tree.FAN):
            node = nodes[begin]
            for other in nodes[begin + 1 : begin + Tree.FAN]:
                node = merge(node, other)
            grown.append(node)
        nodes = grown
    return nodes[0]


def _merge(one: list[Moments] | None, other: list[Moments] | None) -> list[Moments] | None:
    """Put two nodes together and leave both as they are: a task may be run again."""
    if one is None or other is None:
        return other if one is None else one
    own = [fold._replace(products=fold.products.copy()) for fold in one]
    return merge_all(own, other)


def _first_row(table: Any, response: Any) -> _Floats | None:
    block = next(cut_arrays(0, "partition 0", table, response, None), None)
    if block is None:
        return None
    row = block.first_row()
    row[~np.isfinite(row)] = 0.0
    return row


def _sum_partition(
    part: int, table: Any, response: Any, weight: Any, job: Job
) -> list[Moments] | None:
    return sum_part(cut_arrays(part, f"partition {part}", table, response, weight), job)


def _take_apart(X: Any, y: Any, weights: Any) -> _Parts:
    if hasattr(X, "to_delayed") and hasattr(X, "npartitions") and hasattr(X, "columns"):
        return _take_frame_apart(X, y, weights)
    if getattr(X, "ndim", None) != 2:
        raise ValueError("X must be a Dask array of two dimensions or a Dask data frame.")
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    tables = X.to_delayed()[:, 0].tolist()
    responses = _rows_like(X.chunks[0], y, "y")
    of_rows = (
        [None] * len(tables) if weights is None else _rows_like(X.chunks[0], weights, "weights")
    )
    return _Parts(tables, responses, of_rows, None, "y")


def _rows_like(chunks: tuple[float, ...], values: Any, name: str) -> list[Any]:
    """Return the chunks of one array, cut as the rows of X are."""
    import dask.array as da

    if hasattr(values, "to_dask_array"):
        values = values.to_dask_array()
    if not isinstance(values, da.Array):
        if any(math.isnan(size) for size in chunks):
            raise TypeError(f"{name} must be a Dask array, as X is; got {type(values).__name__}.")
        values = da.from_array(np.asarray(values), chunks=(chunks,))
    if values.ndim != 1:
        raise ValueError(f"{name} must have one dimension; it has {values.ndim}.")
    known = not any(math.isnan(size) for size in (*chunks, *values.chunks[0]))
    if known and sum(values.chunks[0]) != sum(chunks):
        raise ValueError(f"X has {sum(chunks)} rows, but {name} has {sum(values.chunks[0])}.")
    if known and values.chunks[0] != tuple(chunks):
        values = values.rechunk((tuple(chunks),))
    if len(values.chunks[0]) != len(chunks):
        raise ValueError(f"{name} must be in as many chunks as the rows of X: {len(chunks)}.")
    return list(values.to_delayed().tolist())


def _take_frame_apart(X: Any, y: Any, weights: Any) -> _Parts:
    columns = list(X.columns)
    target = "y"
    for name, value in (("y", y), ("weights", weights)):
        if isinstance(value, str) and value not in columns:
            raise ValueError(f"{name}={value!r} is not among the columns of X.")
    if isinstance(y, str):
        target, y = y, X[y]
    elif getattr(y, "name", None) is not None:
        target = str(y.name)
    if isinstance(weights, str):
        columns.remove(weights)
        weights = X[weights]
    columns = [name for name in columns if name != target]
    names = columns if all(isinstance(name, str) for name in columns) else None
    tables = list(X[columns].to_delayed())
    return _Parts(
        tables,
        _partitions_like(len(tables), y, "y"),
        [None] * len(tables)
        if weights is None
        else _partitions_like(len(tables), weights, "weights"),
        names,
        target,
    )


def _partitions_like(count: int, values: Any, name: str) -> list[Any]:
    if not hasattr(values, "to_delayed"):
        raise TypeError(f"{name} must be a Dask collection, as X is; got {type(values).__name__}.")
    made: Sequence[Any] = np.ravel(np.array(values.to_delayed(), dtype=object)).tolist()
    if len(made) != count:
        raise ValueError(f"{name} must be in as many partitions as X: {count}, not {len(made)}.")
    return list(made)


def _compute(task: Any, timeout: float) -> Any:
    """Compute one task where the collection lives; give up if all workers stay away."""
    try:
        from distributed import default_client

        client = default_client()
    except (ImportError, ValueError):  # no cluster: Dask's own threads
        return task.compute()
    future = client.compute(task)
    lost_since: float | None = None
    try:
        while not future.done():
            time.sleep(0.02 if lost_since is None else 0.5)
            if client.nthreads():
                lost_since = None
                continue
            now = time.monotonic()
            if lost_since is None:
                lost_since = now
                warnings.warn(
                    f"the cluster has no workers; waiting up to {timeout:g} s for one.",
                    RuntimeWarning,
                    stacklevel=4,
                )
            if now - lost_since > timeout:
                raise SourceError(
                    f"the cluster has had no workers for {timeout:g} s; nothing was computed."
                )
        return future.result()
    finally:
        future.cancel()
