"""Rows that are the same, counted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Counted", "count_rows"]

_Floats = NDArray[np.float64]
# A count of n costs a sampler n draws: more would take longer than anyone waits.
_MOST = 1e6


class Counted(NamedTuple):
    """The distinct rows of a table, in an order that hangs on them alone."""

    X: Any  # dense, or CSC
    counts: _Floats  # how often each was met
    successes: _Floats  # and how often with a response of one


def count_rows(X: Any, y: _Floats, sample_weight: _Floats | None) -> Counted:
    """Merge equal rows and leave out those of no weight.

    Then tables that mean the same, with rows repeated or weighted or in another order, give the
    same draws.
    """
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    broken = weights[weights != np.floor(weights)]
    if broken.size:
        raise ValueError(
            "sample_weight must hold whole numbers: they say how often a row was met; got "
            f"{float(broken[0])!r}."
        )
    if weights.max() > _MOST:
        raise ValueError(f"sample_weight must not exceed {_MOST:g}; got {float(weights.max())!r}.")
    used = np.flatnonzero(weights > 0)
    ones = (y[used] == 1) @ weights[used]
    if ones in (0, weights[used].sum()):
        raise ValueError("y must hold two classes, but all rows of positive weight are of one.")
    first, group = _distinct(X, used)
    n = len(first)
    counts, successes = np.zeros(n), np.zeros(n)
    np.add.at(counts, group, weights[used])
    np.add.at(successes, group, weights[used] * y[used])
    table = X.tocsr()[first].tocsc() if sparse.issparse(X) else np.asfortranarray(X[first])
    return Counted(table, counts, successes)


def _distinct(X: Any, used: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each distinct row is first met, and which of these each row is."""
    if sparse.issparse(X):
        rows = X.tocsr()[used]
        rows.sum_duplicates()
        rows.eliminate_zeros()
        parts = np.split(np.arange(rows.nnz), rows.indptr[1:-1])
        texts = [
            np.ascontiguousarray(rows.indices[part], dtype=np.int64).tobytes()
            + rows.data[part].tobytes()
            for part in parts
        ]
        order = {text: place for place, text in enumerate(sorted(set(texts)))}
        group = np.array([order[text] for text in texts])
        first = np.empty(len(order), dtype=np.int64)
        first[group[::-1]] = used[::-1]
        return first, group
    table = np.ascontiguousarray(X[used]) + X.dtype.type(0)  # minus zero is zero
    keys = table.view(np.dtype((np.void, table.dtype.itemsize * table.shape[1]))).ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return used[first], group.reshape(-1)
