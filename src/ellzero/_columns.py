"""Columns as users name them: by name, by position, or by a mask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["column_name", "resolve_columns"]


def column_name(j: int, names: Sequence[str] | None) -> str:
    """Return the name of column j, or ``x<j>`` where columns have none."""
    return str(names[j]) if names is not None else f"x{j}"


def resolve_columns(
    argument: str, columns: Any, n_columns: int, names: Sequence[str] | None
) -> NDArray[np.int64]:
    """Turn names, integers or a boolean mask into distinct column indices, in the order given.

    ``argument`` is what the user calls them, for messages.
    """
    if columns is None:
        return np.empty(0, dtype=np.int64)
    if isinstance(columns, str):
        columns = [columns]
    elif isinstance(columns, (set, frozenset)):
        columns = sorted(columns)
    if not isinstance(columns, np.ndarray):
        columns = list(columns) if np.iterable(columns) else [columns]
    values = np.asarray(columns)
    if values.ndim != 1:
        raise ValueError(f"{argument} must be one-dimensional; got {values.ndim} dimensions.")
    if values.size == 0:
        return np.empty(0, dtype=np.int64)
    if values.dtype == bool:
        if values.size != n_columns:
            raise ValueError(
                f"{argument} is a mask of length {values.size}, but X has {n_columns} columns."
            )
        return np.flatnonzero(values).astype(np.int64)
    if all(isinstance(value, str) for value in columns):
        return _from_names(argument, list(columns), names)
    if not np.issubdtype(values.dtype, np.integer):
        raise TypeError(
            f"{argument} must hold column names, integers or a mask; got {list(columns)[:3]!r}."
        )
    outside = values[(values < -n_columns) | (values >= n_columns)]
    if outside.size:
        raise ValueError(f"{argument} names column {outside[0]}, but X has {n_columns} columns.")
    return _distinct(np.where(values < 0, values + n_columns, values))


def _from_names(argument: str, wanted: list[str], names: Sequence[str] | None) -> NDArray[np.int64]:
    if names is None:
        raise ValueError(
            f"{argument} names column {wanted[0]!r}, but the columns of X have no names."
        )
    position = {str(name): j for j, name in enumerate(names)}
    unknown = [name for name in wanted if name not in position]
    if unknown:
        raise ValueError(f"{argument} names column {unknown[0]!r}, which X does not have.")
    return _distinct(np.array([position[name] for name in wanted]))


def _distinct(indices: NDArray[Any]) -> NDArray[np.int64]:
    _, first = np.unique(indices, return_index=True)
    return indices[np.sort(first)].astype(np.int64)
