"""Dask's collections: statistics of every partition, put together on the cluster."""

from __future__ import annotations

import contextlib
import math
import time
import warnings
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero._engine import thread_count
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
    width: int  # columns
    first: int  # the first that is not known to be empty
    rows: float  # of the largest; infinite if nobody knows


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
    first = parts.first
    shift, found = _sum_all(parts, first, n_folds, seed, timeout)
    while shift is None:  # a partition without rows, which nobody knew
        first += 1
        if first >= len(parts.tables):
            raise SourceError("there are no rows.")
        row = make_delayed(_first_row)(parts.tables[first], parts.responses[first])
        if _compute(row, timeout) is not None:
            shift, found = _sum_all(parts, first, n_folds, seed, timeout)
    weighted = weights is not None
    return finish(found, shift, parts.names, parts.target, seed=seed, weighted=weighted)


def _sum_all(parts: _Parts, first: int, folds: int, seed: int, timeout: float) -> Any:
    """Return the first row of a partition and all moments, counted from it; None if it has none."""
    from dask.delayed import delayed as make_delayed

    # The leaves wait for the first row on the cluster: it is not asked for before
    shift = make_delayed(_first_row)(parts.tables[first], parts.responses[first])
    pieces = list(zip(parts.tables, parts.responses, parts.weights, strict=True))
    fan, level = Tree.fan(0), 0
    if parts.rows < max(folds, 1) * parts.width and len(pieces) >= fan * _threads():
        # Their products are larger than they are: a task sums as many as make up a node
        starts, level = range(0, len(pieces), fan), 1
        leaves = [
            make_delayed(_sum_run)(begin, pieces[begin : begin + fan], shift, folds, seed)
            for begin in starts
        ]
    else:
        leaves = [
            make_delayed(_sum_run)(part, [own], shift, folds, seed)
            for part, own in enumerate(pieces)
        ]
    root = make_delayed(_with_shift)(shift, _grow(make_delayed(_merge), leaves, level))
    try:
        return _compute(root, timeout)
    except NotFiniteError as error:
        columns = parts.names or [f"x{j}" for j in range(parts.width)]
        label = f"partition {error.part}"
        raise missing_value(error, [*columns, parts.target], label) from None


def _threads() -> int:
    """Return how many tasks the cluster runs at a time; what that is changes no bit."""
    try:
        from distributed import default_client

        return sum(default_client().nthreads().values())
    except (ImportError, ValueError):
        return thread_count()


def _grow(merge: Any, nodes: list[Any], level: int = 0) -> Any:
    """Return the root of the tree that `Tree` makes of parts one after the other.

    The nodes may be of a higher level than parts, which are of level 0.
    """
    while len(nodes) > 1:
        fan = Tree.fan(level)
        groups = [nodes[begin : begin + fan] for begin in range(0, len(nodes), fan)]
        # Few at once in one task; of many, two at a time, which need less room
        nodes = [merge(*group) if level == 0 else reduce(merge, group) for group in groups]
        level += 1
    return nodes[0]


def _merge(*nodes: list[Moments] | None) -> list[Moments] | None:
    """Put nodes together and leave them as they are: a task may be run again."""
    filled = [node for node in nodes if node is not None]
    if len(filled) < 2:
        return filled[0] if filled else None
    room = np.array([fold.products for fold in filled[0]])  # one copy, of large pages
    own = [fold._replace(products=mine) for fold, mine in zip(filled[0], room, strict=True)]
    return reduce(merge_all, filled[1:], own)


def _with_shift(
    shift: _Floats | None, found: list[Moments] | None
) -> tuple[_Floats | None, list[Moments] | None]:
    return shift, found


def _first_row(table: Any, response: Any) -> _Floats | None:
    block = next(cut_arrays(0, "partition 0", table, response, None), None)
    if block is None:
        return None
    row = block.first_row()
    row[~np.isfinite(row)] = 0.0
    return row


def _sum_run(
    begin: int, pieces: list[tuple[Any, Any, Any]], shift: _Floats | None, folds: int, seed: int
) -> list[Moments] | None:
    """Return the moments of some partitions that follow each other."""
    if shift is None:
        return None
    job = Job(shift, folds, seed)
    out: list[Moments] | None = None
    room = None
    for part, (table, response, weight) in enumerate(pieces, begin):
        blocks = cut_arrays(part, f"partition {part}", table, response, weight)
        if out is not None and room is None:
            room = job.make_room()
        found = sum_part(blocks, job, room)
        if found is not None:
            out = merge_all(out, found)
    return out


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
    filled = [part for part, size in enumerate(X.chunks[0]) if size != 0]
    first = filled[0] if filled else len(tables) - 1
    rows = math.inf if any(math.isnan(size) for size in X.chunks[0]) else max(X.chunks[0])
    return _Parts(tables, responses, of_rows, None, "y", X.shape[1], first, rows)


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
        len(columns),
        0,
        math.inf,
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
        from distributed import default_client, wait

        client = default_client()
    except (ImportError, ValueError):  # no cluster: Dask's own threads
        return task.compute()
    future = client.compute(task)
    lost_since: float | None = None
    try:
        while not future.done():
            with contextlib.suppress(TimeoutError):
                wait([future], timeout=0.5)
            if future.done() or client.nthreads():
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
