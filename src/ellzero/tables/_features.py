"""Features: the numbers that are made of columns.

A feature is a number column, the indicator of a level of a category, the indicator of a missing
value, or the product of two of these in deviations from their means:

    (a - mean a) (b - mean b)

so that a product is not mistaken for the columns that it is made of. Means also stand for missing
values. They are all that is learned from data: `learn` computes them from some rows, `build` uses
them on any rows, so folds of a cross-validation can have their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ellzero.tables._columns import Column, NumberColumn, TextColumn
from ellzero.tables._read import Table

__all__ = ["Feature", "Features", "power_of_two", "repeated_columns"]

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Feature:
    """One column of the design.

    Attributes
    ----------
    name : str
        As it is shown: ``age``, ``city=Oslo``, ``age (missing)``, ``age:sex``, ``age^2``.
    kind : {"number", "level", "missing", "product"}
        What it is.
    column : str
        The column that it is made of; empty for a product.
    level : str
        For "level".
    factors : tuple of int
        For "product": the places of its two factors among the features.
    """

    name: str
    kind: str
    column: str = ""
    level: str = ""
    factors: tuple[int, ...] = ()


class Features:
    """An ordered set of features; factors come before their products.

    Parameters
    ----------
    features : sequence of Feature
        The features.
    learns : bool
        Whether `build` depends on the means: there are products or missing values.
    """

    def __init__(self, features: Sequence[Feature], learns: bool) -> None:
        self.features = list(features)
        self.learns = learns

    def __len__(self) -> int:
        return len(self.features)

    @property
    def names(self) -> list[str]:
        """The names."""
        return [feature.name for feature in self.features]

    def keep(self, kept: Sequence[int]) -> Features:
        """Return some of the features; factors must be among them, in their places."""
        return Features([self.features[j] for j in kept], self.learns)

    def learn(self, table: Table, rows: _Rows | None, weights: _Floats | None) -> _Floats:
        """Return the mean of each feature that is not a product, over rows where it is known."""
        means = np.zeros(len(self.features))
        for j, feature in enumerate(self.features):
            if feature.kind == "product":
                continue
            values = _values(feature, table.columns[feature.column], rows)
            known = ~np.isnan(values)
            if not known.any():
                continue
            if weights is None:
                means[j] = values[known].mean()
            elif weights[known].any():
                means[j] = np.average(values[known], weights=weights[known])
        return means

    def build(
        self, table: Table, rows: _Rows | None, means: _Floats, *, move: bool = False
    ) -> _Floats:
        """Return the design: one column per feature, in Fortran order.

        ``move`` lets the table read its columns of numbers from the design, as far as they are the
        same, so that both are never in memory whole. The design must not be written to then.
        """
        n = table.n_rows if rows is None else len(rows)
        X = np.empty((n, len(self.features)), order="F")
        for j, feature in enumerate(self.features):
            if feature.kind == "product":
                a, b = feature.factors
                np.multiply(X[:, a] - means[a], X[:, b] - means[b], out=X[:, j])
                continue
            column = table.columns[feature.column]
            X[:, j] = _values(feature, column, rows)
            if self.learns:
                np.copyto(X[:, j], means[j], where=np.isnan(X[:, j]))
            if move and rows is None and isinstance(column, NumberColumn) and not column.n_missing:
                column.values = X[:, j]
        return X


def _values(feature: Feature, column: Column, rows: _Rows | None) -> _Floats:
    """Return a feature that is not a product, NaN where it is not known."""
    if feature.kind == "missing":
        missing = column.missing if rows is None else column.missing[rows]
        indicator: _Floats = np.where(missing, 1.0, 0.0)
        return indicator
    if feature.kind == "level":
        assert isinstance(column, TextColumn)
        code = column.places.get(feature.level, -2)
        codes = column.codes if rows is None else column.codes[rows]
        level: _Floats = np.where(codes < 0, np.nan, np.where(codes == code, 1.0, 0.0))
        return level
    assert isinstance(column, NumberColumn)
    return column.values if rows is None else column.values[rows]


def power_of_two(column: _Floats) -> float:
    """Return a power of two near the largest number of a column: dividing by it costs no digit."""
    largest = float(np.abs(column).max(initial=0.0))
    return math.ldexp(1.0, max(math.frexp(largest)[1] - 1, -1000)) if largest > 0 else 1.0


def repeated_columns(X: _Floats, first: int) -> dict[int, int]:
    """Find columns from ``first`` on that are constant, or an earlier one in other units.

    Returns the place of the earlier one for each, or -1 for constants. Columns are compared by
    their products with two random vectors, and those that agree by their correlation.
    """
    n, p = X.shape
    probes = np.random.default_rng(0).standard_normal((n, 2))
    probes -= probes.mean(axis=0)
    marks = np.empty((p, 2))
    norms = np.empty(p)

    def centre(j: int) -> _Floats:
        column = X[:, j] / power_of_two(X[:, j])
        return np.asarray(column - column.mean())

    for j in range(p):
        centred = centre(j)
        norms[j] = np.linalg.norm(centred)
        scale = np.abs(X[:, j]).max(initial=0.0) / power_of_two(X[:, j])
        dead = norms[j] <= 1e-12 * scale * np.sqrt(n)
        norms[j] = 0.0 if dead else norms[j]
        marks[j] = 0.0 if dead else np.abs(centred @ probes) / norms[j]
    repeats = {j: -1 for j in range(first, p) if norms[j] == 0}
    order = [int(j) for j in np.argsort(marks[:, 0], kind="stable") if norms[j] > 0]
    near = 1e-7 * np.sqrt(n)
    for place, j in enumerate(order):
        for later in range(place + 1, len(order)):
            i = order[later]
            if j in repeats or marks[i, 0] - marks[j, 0] > near:
                break
            early, late = min(i, j), max(i, j)
            if late < first or late in repeats or early in repeats:
                continue
            if abs(marks[i, 1] - marks[j, 1]) > near:
                continue
            cosine = centre(i) @ centre(j) / (norms[i] * norms[j])
            if abs(cosine) > 1 - 1e-12:
                repeats[late] = early
    return repeats
