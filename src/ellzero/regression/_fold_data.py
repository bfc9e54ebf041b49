"""A table whose rows are cut into folds, and what designs of some of its rows are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero import _core
from ellzero._engine import (
    CACHE_BYTES,
    chosen_rows,
    copy_parts,
    copy_rows,
    make_columns,
    make_design,
    make_design_on,
)
from ellzero.genotypes._genotypes import Genotypes
from ellzero.regression._problem import DEFAULT_MAX_SIZE
from ellzero.sources._column_source import ColumnSource
from ellzero.sources._ready import pays, ready_products

__all__ = ["Data"]

_Integers = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Targets = tuple[_Floats, _Floats | None]  # responses and weights
# Below so many numbers it makes no difference.
_LITTLE = 20_000
# Of folds that are made once: columns of X, and rows of a part.
_MANY_COLUMNS, _FEW_ROWS = 500, 24


class Data(NamedTuple):
    """A checked table, dense, CSR, genotypes or a source, and what all fits on its rows share."""

    X: Any
    y: NDArray[np.float64]
    sample_weight: NDArray[np.float64] | None
    fit_intercept: bool
    threads: int
    memory: float | None = None  # bytes for columns of products
    largest: int = DEFAULT_MAX_SIZE  # models that there has to be memory for

    def rows(self, which: _Integers) -> Data:
        """Return the same for some of the rows."""
        y, weight = self._targets(which)
        return self._replace(X=self.X[which], y=y, sample_weight=weight)

    def columns(self) -> _core.Columns:
        """Return the columns of all rows."""
        return make_columns(self.X.tocsc() if sparse.issparse(self.X) else self.X)

    def numbers(self) -> NDArray[np.floating]:
        """Return what is in the table, in any order, but for genotypes, which are small."""
        if isinstance(self.X, Genotypes):
            return np.empty(0)
        return np.asarray(self.X.data if sparse.issparse(self.X) else self.X)

    def columns_of(self, which: _Integers) -> _core.Columns:
        """Return the columns of some of the rows, few of many."""
        if sparse.issparse(self.X):
            return make_columns(self.X[which].tocsc())
        return copy_rows(self.X, which)

    def columns_of_parts(
        self, parts: list[_Integers], products: Sequence[_Floats | None]
    ) -> list[_core.Columns]:
        """Return the columns of parts of the rows, beside products of them if these are ready.

        Few passes are made then, so that it does not pay to copy them.
        """
        if products[0] is not None:
            return [chosen_rows(self.X, rows) for rows in parts]
        if isinstance(self.X, np.ndarray):
            return copy_parts(self.X, parts)
        return [self.columns_of(rows) for rows in parts]

    def columns_left_out(self, which: _Integers) -> _core.Columns:
        """Return the columns of few rows, where they lie if X lies row by row."""
        if isinstance(self.X, np.ndarray) and self.X.flags.c_contiguous:
            return chosen_rows(self.X, which)
        return self.columns_of(which)

    def design(self, columns: _core.Columns | None = None) -> _core.Quadratic:
        """Return the design of all rows, on their columns if these are at hand."""
        columns = self.columns() if columns is None else columns
        return make_design_on(columns, self.y, self.sample_weight, self.fit_intercept, self.threads)

    @property
    def is_screened(self) -> bool:
        """Whether its columns are so many, and sparse, that no products with all are made."""
        if not sparse.issparse(self.X):
            return False
        rows, columns = self.X.shape
        return bool(_core.screening_pays(rows, columns, self.X.nnz))

    def prefers_remainders(self, repeats: int, folds: int) -> bool:
        """Whether folds had better be what is left of all rows, rather than pools of parts.

        Products for all rows serve every repeat, those for every part one of them, and take more
        room. Measured from 50 x 100 to 500 x 50,000 and 20,000 x 400: with ten repeats it takes a
        third to nine tenths of the time, and more only of very tall tables. A single repeat takes
        less of the time where columns are many and parts of a few rows each: a fifth to nine tenths
        of it, measured from 60 x 500 to 250 x 20,000.
        """
        if not isinstance(self.X, np.ndarray) or self.memory is not None:
            return False
        rows, columns = (int(length) for length in self.X.shape)
        if repeats == 1:
            few = columns >= _MANY_COLUMNS and rows <= _FEW_ROWS * folds
            return few or bool(_core.sifting_pays_in_folds(rows, columns))
        return rows * columns >= _LITTLE and 50 * columns >= rows

    @property
    def nbytes(self) -> int:
        """The bytes that a copy of X takes: of genotypes few, of a source none."""
        if isinstance(self.X, (Genotypes, ColumnSource)):
            return 0
        return int(self.X.nbytes if isinstance(self.X, np.ndarray) else self.X.data.nbytes)

    def searchable_design(self) -> _core.Quadratic:
        """Return the design of all rows, with all products made at once where that pays."""
        X = self.X if isinstance(self.X, np.ndarray) else self.X.tocsc()
        return make_design(
            X,
            self.y,
            self.sample_weight,
            self.fit_intercept,
            self.threads,
            largest=DEFAULT_MAX_SIZE,
        )

    def design_on(
        self, columns: _core.Columns, targets: _Targets, products: _Floats | None
    ) -> _core.Quadratic:
        """Return the design of some of the rows, on their columns; products of these save work."""
        return make_design_on(
            columns, *targets, self.fit_intercept, self.threads, CACHE_BYTES, products
        )

    def targets_of_parts(self, order: _Integers, ends: list[int]) -> list[_Targets]:
        """Return responses and weights of parts of the rows, which follow each other in order."""
        y, weight = self._targets(order)
        parts = [slice(begin, end) for begin, end in pairwise([0, *ends])]
        return [(y[part], None if weight is None else weight[part]) for part in parts]

    def source_parts(
        self, rows: list[_Integers]
    ) -> tuple[list[_core.Columns], list[_core.Quadratic], Any]:
        """Return the columns and the designs of parts of the rows of a source, in one pass.

        And what has to be kept for as long as the designs live.
        """
        whole = make_columns(self.X)
        columns = [_core.source_rows(whole, which) for which in rows]
        targets = [self._targets(which) for which in rows]
        y, weights = [y for y, _ in targets], [weight for _, weight in targets]
        # Their own caches are not used: columns of products are kept for all parts together
        how = (self.fit_intercept, math.inf, self.threads)
        designs = _core.source_quadratics(columns, y, weights, *how)
        return columns, designs, (columns, targets)

    def ready_products(self, part_of: _Integers, parts: int) -> Sequence[_Floats | None]:
        """Return the products of all columns of every part, where that pays; else None of each."""
        if not pays(self.X, self.sample_weight, DEFAULT_MAX_SIZE, parts):
            return [None] * parts
        return ready_products(self.X, self.y, self.fit_intercept, self.threads, part_of, parts)

    def most_rows(self, left_out: _Integers, columns: _core.Columns) -> _core.Quadratic:
        """Return the design of all rows but some, on the columns of all.

        Those weigh nothing, so that no row has to be copied.
        """
        weight = np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight.copy()
        weight[left_out] = 0.0
        return make_design_on(columns, self.y, weight, self.fit_intercept, self.threads)

    def held_out(
        self,
        which: _Integers,
        columns: list[_core.Columns],
        part_of: _Integers,
        place: _Integers,
    ) -> _core.HeldOut:
        """Return rows to be judged by; each is in a place in one of several tables."""
        return _core.held_out(columns, part_of, place, *self._targets(which))

    def _targets(self, which: _Integers) -> _Targets:
        weight = None if self.sample_weight is None else self.sample_weight[which]
        return self.y[which], weight
