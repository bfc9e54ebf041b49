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

__all__ = ["Data", "Fold", "make_folds"]

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

    def design(self) -> _core.Design:
        """Return the design of all rows."""
        X = self.X if isinstance(self.X, np.ndarray) else self.X.tocsc()
        return make_design(X, self.y, self.sample_weight, self.fit_intercept, self.threads)


class Fold(NamedTuple):
    """What is fitted on, and the rows that it is judged by."""

    design: _core.Design
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


def make_folds(
    data: Data, splits: list[tuple[_Integers, _Integers]]
) -> tuple[list[Fold], _core.Design]:
    """Return the folds and the design of all rows.

    Rows that are in the training sets of the same folds make up a part. If parts are few, the
    statistics of each are computed once and added up for every fold that trains on it.
    """
    if not isinstance(data.X, np.ndarray):
        data = data._replace(X=data.X.tocsr())
    n = len(data.y)
    member = np.zeros((n, len(splits)), dtype=bool)
    for f, (train, _) in enumerate(splits):
        member[train, f] = True
    patterns, part_of = np.unique(member, axis=0, return_inverse=True)
    distinct = all(len(np.unique(train)) == len(train) for train, _ in splits)
    tests = [data.rows(test) for _, test in splits]
    weights = [
        float(len(test.y)) if test.sample_weight is None else float(test.sample_weight.sum())
        for test in tests
    ]
    parts = None
    if len(patterns) <= _MOST_PARTS and distinct:
        part_of = part_of.reshape(-1)  # some versions of numpy keep the axis
        rows = [np.flatnonzero(part_of == b) for b in range(len(patterns))]
        # Where the numbers of a part alone are too small to be squared, whole folds may be fine.
        with contextlib.suppress(ValueError):
            parts = _core.make_parts([data.rows(r).design() for r in rows], _CACHE_BYTES)
    if parts is None:
        designs = [data.rows(train).design() for train, _ in splits]
        whole = data.design()
    else:
        designs = [
            _core.pooled_design(parts, np.flatnonzero(patterns[:, f])) for f in range(len(splits))
        ]
        whole = _core.pooled_design(parts, np.arange(len(patterns)))
    folds = [
        Fold(design, test, weight)
        for design, test, weight in zip(designs, tests, weights, strict=True)
    ]
    return folds, whole
