"""From a checked table to the compiled engine."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero import _core
from ellzero.genotypes._genotypes import Genotypes
from ellzero.sources._column_source import ColumnSource, Reader
from ellzero.sources._statistics import SufficientStatistics

__all__ = [
    "CACHE_BYTES",
    "chosen_rows",
    "copy_parts",
    "copy_rows",
    "make_columns",
    "make_design",
    "make_design_on",
    "make_engine",
    "make_search_engine",
    "thread_count",
]

# For the Gram columns of a design; those in use are kept even beyond it.
CACHE_BYTES = 1e9


def thread_count() -> int:
    """Return how many threads to use: ``OMP_NUM_THREADS`` if set, else the cores at hand."""
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def make_columns(X: Any) -> _core.Columns:
    """Wrap a checked X without copying it where it can be.

    It is dense or CSC, float64 or float32, or genotypes, or a source.
    """
    if isinstance(X, Genotypes):
        return X._columns()
    if isinstance(X, ColumnSource):
        rows, columns = X.shape
        return _core.source_columns(Reader(X), rows, columns, int(X.block_columns))
    if not sparse.issparse(X):
        return _core.dense_columns(_whole_strides(X))
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    index = np.promote_types(X.indices.dtype, X.indptr.dtype)
    return _core.sparse_columns(
        np.ascontiguousarray(X.data),
        np.ascontiguousarray(X.indices, dtype=index),
        np.ascontiguousarray(X.indptr, dtype=index),
        X.shape[0],
    )


def copy_rows(X: Any, rows: NDArray[np.int64]) -> _core.Columns:
    """Copy some rows of a checked X, dense or genotypes, few of many."""
    if isinstance(X, Genotypes):
        return X._columns_of(rows)
    return _core.panel_columns(_whole_strides(X), rows)


def copy_parts(X: NDArray[np.floating], parts: list[NDArray[np.int64]]) -> list[_core.Columns]:
    """Copy several lists of rows of a dense X."""
    return _core.panels_of(_whole_strides(X), parts)


def chosen_rows(X: NDArray[np.floating], rows: NDArray[np.int64]) -> _core.Columns:
    """Return some rows of a dense X where they lie."""
    return _core.chosen_rows(_whole_strides(X), rows)


def make_design(
    X: Any,
    y: NDArray[np.float64] | None,
    sample_weight: NDArray[np.float64] | None,
    fit_intercept: bool,
    threads: int,
    cache_bytes: float = CACHE_BYTES,
    largest: int = 0,
) -> _core.Quadratic:
    """Prepare checked data, dense or CSC, float64 or float32, without copying it where it can be.

    Statistics of rows are as good as rows; then there is no y. All that is fitted on the design
    shares one cache of Gram columns, of ``cache_bytes``. A search up to a ``largest`` size may find
    all products of columns ready; 0 means that nobody knows how many will be asked for.
    """
    if isinstance(X, SufficientStatistics):
        return X._design(fit_intercept, cache_bytes)
    assert y is not None
    columns = make_columns(X)
    products = None
    if largest > 0:
        from ellzero.sources._ready import pays, ready_products  # which need this file

        if pays(X, sample_weight, largest):
            (products,) = ready_products(X, y, fit_intercept, threads)
    design = make_design_on(
        columns, y, sample_weight, fit_intercept, threads, cache_bytes, products
    )
    if isinstance(X, ColumnSource) and X.checkpoint is not None:
        design.keep_in(os.fspath(X.checkpoint))
    return design


def make_design_on(
    columns: _core.Columns,
    y: NDArray[np.float64],
    sample_weight: NDArray[np.float64] | None,
    fit_intercept: bool,
    threads: int,
    cache_bytes: float = CACHE_BYTES,
    products: NDArray[np.float64] | None = None,
) -> _core.Quadratic:
    """Prepare columns, with the response and weights of their rows.

    Products of deviations of all columns, if they are at hand, save passes over X.
    """
    how = (columns, y, sample_weight, fit_intercept, cache_bytes, threads)
    if products is not None:
        design = _core.row_quadratic(*how, products)
        if _agree(products, design.inverse_scale):
            return design
    return _core.row_quadratic(*how)


def _agree(products: NDArray[np.float64], inverse_scale: NDArray[np.float64]) -> bool:
    """Whether products are those of columns of some norms: far out of range they may not be."""
    if not np.isfinite(products).all():
        return False
    with np.errstate(all="ignore"):
        unit = np.diag(products) * inverse_scale * inverse_scale
    return bool((np.abs(unit - 1)[inverse_scale > 0] <= 1e-12).all())


def _whole_strides(X: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return X, or a copy where its entries do not lie whole numbers of them apart."""
    if not X.flags.aligned or any(stride % X.itemsize for stride in X.strides):
        return np.ascontiguousarray(X)  # a field of a record, say
    return X


def make_engine(
    design: _core.Quadratic, ridge: float | NDArray[np.float64], threads: int
) -> _core.LeastSquares:
    """Put an engine on a design: ``ridge`` is one number, or one per column."""
    per_column = np.array(ridge, dtype=np.float64, ndmin=1)
    return _core.LeastSquares(design, per_column, threads)


def make_search_engine(design: _core.Quadratic, ridge: float, threads: int) -> _core.Engine:
    """Put on a design the engine that searches it quickest."""
    if _core.ScreenedSquares.pays(design):
        return _core.ScreenedSquares(design, np.array([ridge], dtype=np.float64), threads)
    if _core.SiftedSquares.pays(design):
        return _core.SiftedSquares(design, np.array([ridge], dtype=np.float64), threads)
    return make_engine(design, ridge, threads)
