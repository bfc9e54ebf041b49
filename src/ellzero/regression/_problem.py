"""What every search for a support starts from."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._columns import column_name
from ellzero._engine import (
    make_columns,
    make_design,
    make_design_on,
    make_search_engine,
    thread_count,
)
from ellzero._warnings import DependentColumnWarning
from ellzero.regression._criteria import information_criterion
from ellzero.regression._losses import Loss, evidence_of

__all__ = [
    "DEFAULT_MAX_SIZE",
    "Likelihood",
    "Problem",
    "check_ridges",
    "largest_size",
    "make_likelihood",
    "make_problem",
    "make_problem_on",
    "to_float",
]

DEFAULT_MAX_SIZE = 40


class Problem(NamedTuple):
    """An engine that stands at the forced columns, and what the search has to keep to."""

    engine: _core.Engine
    design: _core.Quadratic
    forced: NDArray[np.int64]  # columns that are in every support
    names: Any  # of the columns; None if they have none
    progress: Callable[[int], None] | None
    ridge: float
    intercept: bool = True
    loss: Loss = Loss.SQUARED
    # Of a likelihood: twice the loss without variables, but for forced ones, and how many rows tell
    deviance: float = 0.0
    evidence: float = 0.0
    rows: float = 0.0  # what those it is fitted on weigh
    caller: str = "L0Regressor"  # for messages

    @property
    def forced_mask(self) -> NDArray[np.bool_] | None:
        """The forced columns as the core wants them."""
        if not self.forced.size:
            return None
        mask = np.zeros(self.design.columns, dtype=bool)
        mask[self.forced] = True
        return mask

    @property
    def weight(self) -> float:
        """What the rows weigh that it is fitted on."""
        return self.rows if self.loss.is_likelihood else self.design.weight

    @property
    def total(self) -> float:
        """Twice the loss without variables: for least squares the sum of squares of y."""
        return self.deviance if self.loss.is_likelihood else self.design.yy

    def criterion(
        self, name: str, rss: Any, size: NDArray[np.int64], n_forced: int
    ) -> NDArray[np.float64]:
        """Return an information criterion of models of some sizes, with twice their loss."""
        return information_criterion(
            name,
            np.asarray(rss, dtype=np.float64),
            size,
            self.weight,
            self.design.columns,
            self.total,
            n_forced,
            self.loss,
            self.evidence if self.loss.is_likelihood else None,
        )

    @property
    def least_gain(self) -> float:
        """What energies differ by through rounding."""
        return self.engine.rounding


def make_problem(
    X: Any,
    y: NDArray[np.float64],
    sample_weight: NDArray[np.float64] | None,
    *,
    fit_intercept: bool,
    ridge: float,
    forced: NDArray[np.int64],
    names: Any,
    progress: Callable[[int], None] | None,
    largest: int = 0,
) -> Problem:
    """Put an engine on checked data and insert the forced columns.

    A warning about these is made out to the caller's caller. The search will be up to a
    ``largest`` size; 0 if nobody knows.
    """
    threads = thread_count()
    design = make_design(X, y, sample_weight, fit_intercept, threads, largest=largest)
    tau = to_float("ridge", ridge)
    problem = make_problem_on(design, tau, forced, names, progress, threads, 4)
    return problem._replace(intercept=fit_intercept)


class Likelihood(NamedTuple):
    """A checked response of a likelihood on the rows of X, whatever their weights."""

    rows: _core.Rows
    design: _core.Quadratic
    y: NDArray[np.float64]
    weight: NDArray[np.float64]
    loss: Loss
    columns: _core.Columns
    fit_intercept: bool
    offset: NDArray[np.float64] | None

    def reweighted(self, weight: NDArray[np.float64]) -> Likelihood:
        """Return the same with other weights, and a design that is made with them."""
        design = make_design_on(self.columns, self.y, weight, self.fit_intercept, thread_count())
        rows = _core.make_rows(
            self.columns, design, self.loss.value, self.y, self.offset, self.fit_intercept
        )
        return self._replace(rows=rows, design=design, weight=weight)

    def problem(
        self,
        ridge: float,
        forced: NDArray[np.int64],
        names: Any,
        progress: Callable[[int], None] | None,
        threads: int,
        *,
        caller: str,
        intercept: bool = True,
        weight: NDArray[np.float64] | None = None,
    ) -> Problem:
        """Put an engine on the rows, which may have other weights, and insert the forced columns.

        A warning about these is made out to the caller's caller.
        """
        weight = self.weight if weight is None else weight
        engine = _core.Likelihood(self.rows, weight, ridge, threads)
        _insert_forced(engine, forced, names, 4)
        problem = Problem(engine, self.design, forced, names, progress, ridge, intercept, self.loss)
        return problem._replace(
            deviance=2 * engine.null_energy,
            evidence=evidence_of(self.loss, self.y, weight),
            rows=float(weight.sum()),
            caller=caller,
        )


def make_likelihood(
    X: Any,
    y: NDArray[np.float64],
    sample_weight: NDArray[np.float64] | None,
    loss: Loss,
    *,
    fit_intercept: bool,
    offset: NDArray[np.float64] | None = None,
) -> Likelihood:
    """Put the likelihood of a checked response on checked data, dense or CSC."""
    columns = make_columns(X)
    design = make_design_on(columns, y, sample_weight, fit_intercept, thread_count())
    rows = _core.make_rows(columns, design, loss.value, y, offset, fit_intercept)
    weight = np.ones_like(y) if sample_weight is None else sample_weight
    return Likelihood(rows, design, y, weight, loss, columns, fit_intercept, offset)


def make_problem_on(
    design: _core.Quadratic,
    ridge: float,
    forced: NDArray[np.int64],
    names: Any,
    progress: Callable[[int], None] | None,
    threads: int,
    stacklevel: int = 3,
) -> Problem:
    """Put an engine on a design and insert the forced columns."""
    engine = make_search_engine(design, ridge, threads)
    _insert_forced(engine, forced, names, stacklevel + 1)
    return Problem(engine, design, forced, names, progress, ridge)


def _insert_forced(
    engine: _core.Engine, forced: NDArray[np.int64], names: Any, stacklevel: int
) -> None:
    if not forced.size:
        return
    engine.move_to(forced)
    left_out = np.setdiff1d(forced, engine.members)
    if left_out.size:
        column = column_name(left_out[0], names)
        warnings.warn(DependentColumnWarning("always_include", column), stacklevel=stacklevel)


def largest_size(
    max_size: int | None, fixed: NDArray[np.int64], n_columns: int, default: int = DEFAULT_MAX_SIZE
) -> int:
    """Return the size not to exceed: by default so many more than the columns that are given."""
    n_fixed = int(np.unique(fixed).size) if fixed.size else 0
    if max_size is None:
        return min(n_columns, n_fixed + default)
    if n_fixed > max_size:
        raise ValueError(
            f"max_size={max_size}, but {n_fixed} columns are to be in the model from the start."
        )
    return min(n_columns, int(max_size))


def check_ridges(ridge: Any) -> list[float]:
    """Return one ridge, or a sequence of them, as a list."""
    values = [ridge] if isinstance(ridge, Real) else list(np.atleast_1d(np.asarray(ridge, object)))
    if not values:
        raise ValueError("ridge must hold at least one number.")
    for value in values:
        is_number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
        if not is_number or not 0 <= float(value) < np.inf:
            raise ValueError(f"ridge must hold numbers from 0; got {value!r}.")
    return [to_float("ridge", value) for value in values]


def to_float(name: str, value: Any) -> float:
    """Turn a real number of any kind into a float."""
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large for a floating-point number.") from None
