"""Where the chains of a classifier start: from the best model by a criterion, and from nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._engine import thread_count
from ellzero.regression._losses import Loss, default_ridge, evidence_of
from ellzero.regression._problem import Problem
from ellzero.regression._searches import search_for

__all__ = ["LogitStarts", "make_logit_starts"]

_Floats = NDArray[np.float64]
_MOST = 20


class LogitStarts(NamedTuple):
    """Where chains start, and coefficients near which to take moments."""

    starts: list[_core.LogitStart]
    reference: list[float]  # for columns of unit norm


def make_logit_starts(
    columns: _core.Columns,
    design: _core.Quadratic,
    counts: _Floats,
    share: _Floats,
    *,
    fit_intercept: bool,
    n_chains: int,
) -> LogitStarts:
    """Return one start per chain, and the coefficients of the model that EBIC prefers."""
    loss = Loss.LOGISTIC
    rows = _core.make_rows(columns, design, loss.value, share, None, fit_intercept)
    ridge = default_ridge(loss, design.weight)
    engine = _core.Likelihood(rows, counts, ridge, thread_count())
    nothing = np.empty(0, dtype=np.int64)
    problem = Problem(engine, design, nothing, None, None, ridge, fit_intercept, loss)
    problem = problem._replace(
        deviance=2 * engine.null_energy,
        evidence=evidence_of(loss, share, counts),
        rows=float(counts.sum()),
    )
    search_for(problem, "ebic", None, "frontier", min(_MOST, design.columns))
    solution = engine.solution()
    found = _core.LogitStart()
    found.support = solution.support.tolist()
    found.beta = solution.beta.tolist()
    found.intercept = solution.intercept
    reference = np.zeros(design.columns)
    reference[solution.support] = solution.beta
    starts = [found, _core.LogitStart()]
    return LogitStarts([starts[i % 2] for i in range(n_chains)], reference.tolist())
