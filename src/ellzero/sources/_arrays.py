"""Blocks of rows that are arrays, in memory or on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from ellzero.sources._accumulate import rows_per_block
from ellzero.sources._moments import Block
from ellzero.sources._reading import (
    SourceError,
    check_folds,
    check_kind,
    check_weight,
    read_blocks,
)
from ellzero.sources._statistics import SufficientStatistics

__all__ = ["cut_arrays", "names_of", "read_arrays"]


def read_arrays(
    blocks: Iterable[Any],
    names: Sequence[str] | None,
    folds: Any,
    random_state: Any,
    n_jobs: int | None,
) -> SufficientStatistics:
    """See `SufficientStatistics.from_arrays`."""
    n_folds, seed = check_folds(folds, random_state)
    parts = iter(blocks)
    first = next(parts, None)
    if first is None:
        raise SourceError("there are no rows.")
    width = _unpack(0, first)[0].shape[1]
    if names is None:
        names = names_of(_unpack(0, first)[0])
    elif len(names) != width:
        raise ValueError(f"names has {len(names)} entries, but X has {width} columns.")
    twice = [name for name, count in Counter(names or ()).items() if count > 1]
    if twice:
        raise SourceError(f"X has more than one column called {twice[0]!r}.")
    parts = chain([first], parts)
    del first
    return read_blocks(
        _cut_all(parts, width),
        None if names is None else [str(name) for name in names],
        "y",
        "block {}".format,
        folds=n_folds,
        seed=seed,
        n_jobs=n_jobs,
    )


def names_of(X: Any) -> list[str] | None:
    """Return the names of a data frame's columns, if all are strings."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return list(columns)


def _unpack(part: int, item: Any) -> tuple[Any, Any, Any]:
    if not isinstance(item, (tuple, list)) or len(item) not in (2, 3):
        raise TypeError(
            f"block {part} must be a pair (X, y) or a triple (X, y, weight); got "
            f"{type(item).__name__}."
        )
    X = item[0] if hasattr(item[0], "shape") else np.asarray(item[0])
    if len(X.shape) != 2:
        raise SourceError(f"block {part}: X must have two dimensions; it has {len(X.shape)}.")
    return X, item[1], item[2] if len(item) == 3 else None


def _cut_all(parts: Iterator[Any], width: int) -> Iterator[Block]:
    weighted = None
    for part, item in enumerate(parts):
        X, y, weight = _unpack(part, item)
        del item
        if X.shape[1] != width:
            raise SourceError(
                f"block {part} has {X.shape[1]} columns, but block 0 has {width} of them."
            )
        if weighted is None:
            weighted = weight is not None
        if weighted != (weight is not None):
            raise SourceError(f"block {part}: either all blocks have weights or none has.")
        yield from cut_arrays(part, f"block {part}", X, y, weight)


def cut_arrays(part: int, label: str, X: Any, y: Any, weight: Any) -> Iterator[Block]:
    """Cut rows into blocks; what is on disk is read a block at a time."""
    y = y if hasattr(y, "shape") else np.asarray(y)
    rows = X.shape[0]
    for name, other in (("y", y), ("the weights", weight)):
        if other is not None and tuple(np.shape(other)) != (rows,):
            raise SourceError(
                f"{label}: X has {rows} rows, but {name} has the shape {tuple(np.shape(other))}."
            )
    size = rows_per_block(X.shape[1] + 1)
    for start in range(0, rows, size):
        some = slice(start, start + size)
        response = np.asarray(y[some])
        check_kind(label, "y", response.dtype)
        own = None if weight is None else check_weight(label, weight[some])
        table, columns = _take(X, some)
        for values in columns if table is None else [table]:
            check_kind(label, "X", values.dtype)
        yield Block(part, start, table, [*columns, response], own)


def _take(X: Any, some: slice) -> tuple[Any, list[Any]]:
    """Return some rows: as a table, or column by column where that is how they lie."""
    if hasattr(X, "iloc"):
        frame = X.iloc[some]
        return None, [_numbers(frame.iloc[:, j]) for j in range(frame.shape[1])]
    if sparse.issparse(X):
        return X.tocsr()[some].toarray(), []
    table = np.asarray(X[some])
    if table.flags.f_contiguous and not table.flags.c_contiguous:
        return None, list(table.T)
    return table, []


def _numbers(column: Any) -> Any:
    """Return a pandas column as an array; what is missing in it becomes NaN."""
    if getattr(column.dtype, "kind", "O") in "biuf" and not isinstance(column.dtype, np.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return column.to_numpy()
