"""Columns as users name them: by name, by position, or by a mask."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
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
    columns = list(columns)
    if any(np.ndim(column) for column in columns):
        raise ValueError(f"{argument} must be one-dimensional; got {columns[:3]!r}.")
    if all(isinstance(column, (bool, np.bool_)) for column in columns):
        if columns and len(columns) != n_columns:
            raise ValueError(
                f"{argument} is a mask of length {len(columns)}, but X has {n_columns} columns."
            )
        return np.flatnonzero(columns).astype(np.int64)
    if all(isinstance(column, str) for column in columns):
        return _from_names(argument, columns, names)
    if not all(isinstance(column, Integral) for column in columns):
        raise TypeError(
            f"{argument} must hold column names, integers or a mask; got {columns[:3]!r}."
        )
    outside = [column for column in columns if not -n_columns <= column < n_columns]
    if outside:
        raise ValueError(f"{argument} names column {outside[0]}, but X has {n_columns} columns.")
    return _distinct([int(column) % n_columns for column in columns])


def _from_names(argument: str, wanted: list[str], names: Sequence[str] | None) -> NDArray[np.int64]:
    if names is None:
        raise ValueError(
            f"{argument} names column {wanted[0]!r}, but the columns of X have no names."
        )
    position = {str(name): j for j, name in enumerate(names)}
    unknown = [name for name in wanted if name not in position]
    if unknown:
        raise ValueError(f"{argument} names column {unknown[0]!r}, which X does not have.")
    return _distinct([position[name] for name in wanted])


def _distinct(indices: list[int]) -> NDArray[np.int64]:
    return np.array(list(dict.fromkeys(indices)), dtype=np.int64)
