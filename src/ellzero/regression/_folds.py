"""The training rows of every fold, as designs that share their passes over X."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._engine import make_design, make_engine
from ellzero.regression._problem import Problem

__all__ = ["Data", "Fold", "Folds", "make_folds"]

_Integers = NDArray[np.int64]
# More parts than this and adding them up costs more than passes over X of the folds' own.
_MOST_PARTS = 32
_CACHE_BYTES = 1e9


class Data(NamedTuple):
    """A checked table, and what is common to all fits on its rows."""

    X: Any
    y: NDArray[np.float64]
    sample_weight: NDArray[np.float64] | None
    fit_intercept: bool
    threads: int

    def rows(self, which: _Integers) -> Data:
        """Return the same for some of the rows."""
        weight = None if self.sample_weight is None else self.sample_weight[which]
        return self._replace(X=self.X[which], y=self.y[which], sample_weight=weight)

    def part(self, which: _Integers) -> _core.Design:
        """Return the design of some of the rows, made for being one of several."""
        if not isinstance(self.X, np.ndarray):
            return self.rows(which).design()
        X = self.X
        if not X.flags.aligned or any(stride % X.itemsize for stride in X.strides):
            X = np.ascontiguousarray(X)
        weight = None if self.sample_weight is None else self.sample_weight[which]
        return _core.panel_design(
            X, which, self.y[which], weight, self.fit_intercept, self.threads
        )

    def design(self) -> _core.Design:
        """Return the design of all rows."""
        X = self.X if isinstance(self.X, np.ndarray) else self.X.tocsc()
        return make_design(X, self.y, self.sample_weight, self.fit_intercept, self.threads)


class Fold(NamedTuple):
    """What is fitted on, and the rows that it is judged by."""

    design: _core.Design
    held_out: _core.HeldOut
    test: Data
    test_weight: float

    def problem(
        self,
        ridge: float,
        forced: _Integers,
        names: Any,
        progress: Callable[[int], None] | None,
        threads: int,
    ) -> Problem:
        """Put an engine on the training rows and insert the forced columns."""
        engine = make_engine(self.design, ridge, threads)
        engine.move_to(forced)
        return Problem(engine, self.design, forced, names, progress)

    def errors(
        self, supports: list[_Integers], coefs: list[NDArray[np.float64]], intercepts: Any
    ) -> NDArray[np.float64]:
        """Return the mean squared error of each model on the test rows, in squared units of y."""
        columns = np.unique(np.concatenate(supports)) if supports else np.empty(0, np.int64)
        table = np.zeros((len(supports), len(columns)))
        for row, support, coef in zip(table, supports, coefs, strict=True):
            row[np.searchsorted(columns, support)] = coef
        X = self.test.X[:, columns]
        X = X if isinstance(X, np.ndarray) else X.toarray()
        # einsum, since the bits of a BLAS product depend on its number of threads
        residual = self.test.y - intercepts[:, None] - np.einsum("mj,ij->mi", table, X)
        errors: NDArray[np.float64] = np.average(
            residual**2, axis=1, weights=self.test.sample_weight
        )
        return errors


class Folds(NamedTuple):
    """All folds, and all rows."""

    folds: list[Fold]
    parts: _core.Parts | None  # what their designs are pools of
    whole: _core.Design


def make_folds(data: Data, splits: list[tuple[_Integers, _Integers]]) -> Folds:
    """Return the folds and the design of all rows.

    Rows that are in the training sets of the same folds make up a part. If parts are few, the
    statistics of each are computed once and added up for every fold that trains on it.
    """
    if not isinstance(data.X, np.ndarray):
        data = data._replace(X=data.X.tocsr())
    n = len(data.y)
    member = np.zeros((len(splits), n), dtype=bool)
    for mask, (train, _) in zip(member, splits, strict=True):
        mask[train] = True
    part_of, patterns = _distinct_columns(member)
    distinct = all(
        np.count_nonzero(mask) == len(train)
        for mask, (train, _) in zip(member, splits, strict=True)
    )
    parts, tables, place = None, [], np.arange(n)
    if len(patterns) <= _MOST_PARTS and distinct:
        # Where the numbers of a part alone are too small to be squared, whole folds may be fine.
        with contextlib.suppress(ValueError):
            rows = [np.flatnonzero(part_of == b) for b in range(len(patterns))]
            tables = [data.part(r) for r in rows]
            parts = _core.make_parts(tables, _CACHE_BYTES)
            for r in rows:
                place[r] = np.arange(len(r))
    if parts is None:
        designs = [data.rows(train).design() for train, _ in splits]
        whole = data.design()
        tables, part_of, place = [whole], np.zeros(n, dtype=np.int64), np.arange(n)
    else:
        designs = [
            _core.pooled_design(parts, np.flatnonzero(trained_on)) for trained_on in patterns.T
        ]
        whole = _core.pooled_design(parts, np.arange(len(patterns)))
    folds = []
    for design, (_, test) in zip(designs, splits, strict=True):
        held_out = _core.held_out(tables, part_of[test], place[test])
        folds.append(Fold(design, held_out, data.rows(test), held_out.weight))
    return Folds(folds, parts, whole)


def _distinct_columns(table: NDArray[np.bool_]) -> tuple[_Integers, NDArray[np.bool_]]:
    """Number the distinct columns: return the number of each, and those numbered, a row each."""
    packed = np.ascontiguousarray(np.packbits(table, axis=0).T)
    keys = packed.view([("", packed.dtype, (packed.shape[1],))]).reshape(-1)
    _, first, number = np.unique(
        keys.view(f"V{packed.shape[1]}"), return_index=True, return_inverse=True
    )
    return number.reshape(-1), table[:, first].T
