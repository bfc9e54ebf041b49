"""Rows that are the same, taken together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.genotypes._genotypes import Genotypes

__all__ = ["merge_equal_rows"]

_ROWS_PER_COLUMN = 4
_MOST_ENTRIES = 10_000_000

_Weights = NDArray[np.float64] | None


def merge_equal_rows(
    X: Any, y: NDArray[np.float64], sample_weight: _Weights
) -> tuple[Any, NDArray[np.float64], _Weights]:
    """Sort the rows, merge those that are equal and leave out those of no weight.

    Then tables that mean the same, with repeated rows or with weights, give the same numbers. With
    few rows a rounding error grows along a chain until the draws have nothing in common. Long
    tables stay as they are: there such an error dies out.
    """
    n, p = X.shape
    if n > _ROWS_PER_COLUMN * p or n * p > _MOST_ENTRIES:
        return X, y, sample_weight
    if isinstance(X, Genotypes):
        X = X.to_array()
    weights = np.ones(n) if sample_weight is None else sample_weight
    groups: dict[bytes, list[int]] = {}
    for i, key in enumerate(_keys(X, y)):
        if weights[i] > 0:
            groups.setdefault(key, []).append(i)
    if not groups:
        return X, y, sample_weight
    order = [groups[key] for key in sorted(groups)]
    first = np.array([rows[0] for rows in order])
    merged = np.array([float(weights[rows].sum()) for rows in order])
    table = X.tocsr()[first].tocsc() if sparse.issparse(X) else np.ascontiguousarray(X[first])
    return table, y[first], None if (merged == 1).all() else merged


def _keys(X: Any, y: NDArray[np.float64]) -> list[bytes]:
    """One string of bytes per row, the same for equal rows."""
    ends = [value.tobytes() for value in y]
    if sparse.issparse(X):
        rows = X.tocsr()
        rows.sum_duplicates()
        parts = np.split(np.arange(rows.nnz), rows.indptr[1:-1])
        return [
            rows.indices[part].tobytes() + rows.data[part].tobytes() + end
            for part, end in zip(parts, ends, strict=True)
        ]
    return [row.tobytes() + end for row, end in zip(X, ends, strict=True)]
