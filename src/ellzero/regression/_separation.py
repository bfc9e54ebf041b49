"""Classes that some columns tell apart without error: likelihoods have no maximum there."""

from __future__ import annotations

import warnings

import numpy as np

from ellzero import _core
from ellzero._columns import column_name
from ellzero._warnings import SeparationWarning
from ellzero.regression._group_search import GroupSearch, UnitModel
from ellzero.regression._growth import GrowingFrontier
from ellzero.regression._problem import Problem

__all__ = [
    "is_separated",
    "warn_of_separated_groups",
    "warn_of_separation",
    "warn_where_it_stands",
]

# Where a fit runs off, some row's log-odds differ from those without variables by more than this,
# and the likelihood is so flat that a coefficient's standard error, per standard deviation of its
# column, is more than so many times what one row would give it without variables. Both are
# relative: rates in other units are not separated by that.
_FAR, _FLAT = 12.0, 50.0


def is_separated(problem: Problem) -> bool:
    """Whether the fit where the engine stands runs off to infinity, for want of a ridge."""
    engine = problem.engine
    if not isinstance(engine, _core.Likelihood) or problem.ridge or not engine.members.size:
        return False
    return _runs_off(engine, problem.design.weight)


def _runs_off(engine: _core.Likelihood | _core.GroupLikelihood, weight: float) -> bool:
    flat = engine.largest_error > _FLAT * np.sqrt(weight)
    return bool(flat and engine.farthest > _FAR)


def warn_where_it_stands(problem: Problem, stacklevel: int) -> None:
    """Warn if that is so, and name the columns."""
    if is_separated(problem):
        names = [column_name(int(j), problem.names) for j in problem.engine.members]
        warnings.warn(SeparationWarning(names), stacklevel=stacklevel)


def warn_of_separation(frontier: GrowingFrontier) -> None:
    """Warn, on behalf of the caller's caller, of the smallest model for which that is so."""
    for size in range(frontier.first, frontier.last + 1):
        frontier.visit(size)
        if is_separated(frontier.problem):
            warn_where_it_stands(frontier.problem, 4)
            return


def warn_of_separated_groups(search: GroupSearch, models: list[UnitModel], stacklevel: int) -> None:
    """Warn of the first of some models of groups for which that is so."""
    engine = search.engine
    if search.ridge or not isinstance(engine, _core.GroupLikelihood):
        return
    for model in models:
        if not model.units.size:
            continue
        engine.move_to(model.units)
        if _runs_off(engine, search.design.weight):
            names = [search.units.names[unit] for unit in model.units]
            warnings.warn(SeparationWarning(names), stacklevel=stacklevel)
            return
