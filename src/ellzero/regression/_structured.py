"""Frontiers and fits over groups of columns under rules: what estimators call."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ellzero._certificate import Certificate
from ellzero._engine import make_design, thread_count
from ellzero.regression._group_criterion import least_criterion
from ellzero.regression._group_frontier import GroupFrontier
from ellzero.regression._group_search import GroupSearch, UnitModel
from ellzero.regression._growth import MARGIN
from ellzero.regression._hull import middle
from ellzero.regression._losses import Loss, default_ridge
from ellzero.regression._problem import check_ridges, make_likelihood
from ellzero.regression._separation import warn_of_separated_groups
from ellzero.regression._units import Units

__all__ = [
    "GroupChoice",
    "GroupData",
    "check_group_parameters",
    "choose_groups",
    "group_frontiers",
    "make_search",
    "warn_of",
]

MOVES = "no insertion, removal or swap that keeps the rules improves it"
# Likelihoods refit the moves that promise most, not all.
MOVES_TRIED = "no insertion, removal or swap that keeps the rules was found to improve it"


class GroupData(NamedTuple):
    """Checked data, and the names of its columns."""

    X: Any
    y: NDArray[np.float64]
    sample_weight: NDArray[np.float64] | None
    fit_intercept: bool
    names: Any
    loss: Loss = Loss.SQUARED
    offset: NDArray[np.float64] | None = None

    def search(
        self,
        units: Units,
        ridge: float,
        threads: int,
        *,
        swaps: bool,
        progress: Callable[[int], None] | None = None,
    ) -> GroupSearch:
        """Put a search on them."""
        how: dict[str, Any] = {"swaps": swaps, "progress": progress}
        if not self.loss.is_likelihood:
            design = make_design(self.X, self.y, self.sample_weight, self.fit_intercept, threads)
            return GroupSearch(design, units, ridge, threads, **how)
        likelihood = make_likelihood(
            self.X,
            self.y,
            self.sample_weight,
            self.loss,
            fit_intercept=self.fit_intercept,
            offset=self.offset,
        )
        return GroupSearch(likelihood.design, units, ridge, threads, **how, likelihood=likelihood)


class GroupChoice(NamedTuple):
    """A model that was chosen, and what is known of it."""

    model: UnitModel
    lam: float
    certificate: Certificate
    warning: str = ""


def make_search(
    data: GroupData,
    units: Units,
    ridge: float,
    *,
    swaps: bool = True,
    progress: Callable[[int], None] | None = None,
    stacklevel: int = 4,
) -> GroupSearch:
    """Put a search on data; a warning about it is made out to the caller's caller's caller."""
    search = data.search(units, ridge, thread_count(), swaps=swaps, progress=progress)
    if search.warning is not None:
        warnings.warn(search.warning, stacklevel=stacklevel)
    return search


def group_frontiers(
    data: GroupData,
    units: Units,
    ridge: Any,
    max_size: int | None,
    *,
    swaps: bool,
    progress: Callable[[int], None] | None,
) -> GroupFrontier | list[GroupFrontier]:
    """Return the frontier over units, or one for each of several ridges."""
    found = []
    if ridge is None:
        n = math.nan  # of least squares nobody asks for it; y may be None, of statistics
        if data.loss.is_likelihood:
            n = float(data.y.size if data.sample_weight is None else data.sample_weight.sum())
        ridge = default_ridge(data.loss, n)
    for value in check_ridges(ridge):
        search = make_search(data, units, value, swaps=swaps, progress=progress)
        size = search.default_size(criterion=False) if max_size is None else int(max_size)
        check_room(search, size)
        search.grow(size)
        if not value:
            warn_of_separated_groups(search, search.models(), 4)
        found.append(GroupFrontier(search, data.names))
    return found[0] if isinstance(ridge, Real) else found


def check_group_parameters(solver: str, lam: Any = "ebic", size: int | None = None) -> None:
    """Refuse what is not there for groups, or not together."""
    if solver != "frontier":
        raise ValueError(
            f"solver={solver!r} knows single columns only: groups, heredity, prices, signs and "
            'limits need solver="frontier".'
        )
    if size is not None and (not isinstance(lam, str) or lam != "ebic"):
        raise ValueError("size and lam exclude each other: leave lam at its default.")


def check_room(search: GroupSearch, max_size: int) -> None:
    """Refuse a size that has no room for the units that are always in."""
    if search.least > max_size:
        what = "columns" if search.units.by_columns else "groups"
        raise ValueError(
            f"max_size={max_size}, but {search.least} {what} are to be in the model from the start."
        )


def choose_groups(
    search: GroupSearch,
    *,
    lam: float | str,
    size: int | None,
    max_size: int | None,
    caller: str = "L0Regressor",
) -> GroupChoice:
    """Choose a model at a price, of a size, or by a criterion; the caller is for messages."""
    limit = max_size
    if limit is None:
        limit = search.default_size(criterion=isinstance(lam, str) and size is None)
    check_room(search, limit)
    if size is not None:
        return _of_size(search, size)
    choice = (
        _of_least_criterion(search, lam, limit, given=max_size is not None)
        if isinstance(lam, str)
        else _at_price(search, lam, limit)
    )
    if not choice.warning:
        return choice
    return choice._replace(warning=f"{caller} {choice.warning}")


def _moves(search: GroupSearch) -> str:
    return MOVES_TRIED if search.loss.is_likelihood else MOVES


def _of_size(search: GroupSearch, size: int) -> GroupChoice:
    search.grow(size + MARGIN)
    for model in search.models():
        if model.size == size:
            interval = search.hull().interval(model)
            lam = math.nan if interval is None else middle(*interval)
            what = "columns" if search.units.by_columns else "groups"
            certificate = Certificate(
                "swaps", _moves(search), f"it is the best model of {size} {what} that was found"
            )
            return GroupChoice(model, lam, certificate)
    known = ", ".join(str(model.size) for model in search.models())
    raise ValueError(f"size={size}, but the sizes that have a model worth its size are {known}.")


def _at_price(search: GroupSearch, lam: float, max_size: int) -> GroupChoice:
    search.cover(lam, max_size)
    hull = search.hull()
    if lam >= hull.end:
        return GroupChoice(hull.at(lam), lam, Certificate("swaps", _moves(search)))
    models = [*search.models(), *hull.models]
    model = min(models, key=lambda one: one.energy + lam * one.price)
    unit, gain = search.next_unit()
    certificate = Certificate.of_held_back_search(
        max_size, search.units.names[unit], search.last + 1 - model.size, gain
    )
    return GroupChoice(model, lam, certificate, _stopped(certificate))


def _of_least_criterion(
    search: GroupSearch, criterion: str, max_size: int, *, given: bool
) -> GroupChoice:
    if search.design.weight < 1:
        raise ValueError(
            f"sample_weight sums to {search.design.weight:g}, but lam={criterion!r} takes the sum "
            "for the number of rows: rescale it."
        )
    search.grow(max_size)
    best = least_criterion(search, criterion, max_size if given else None)
    interval = search.hull().interval(best)
    lam = math.nan if interval is None else middle(*interval)
    if best.size >= search.last and search.last < search.largest:
        certificate = Certificate.of_held_back_criterion(max_size, criterion, largest=True)
        return GroupChoice(best, lam, certificate, _stopped(certificate))
    certificate = Certificate("swaps", _moves(search)).with_least_criterion(
        criterion,
        f"the best models known of up to {search.last} groups, and of as many columns",
    )
    return GroupChoice(best, lam, certificate)


def _stopped(certificate: Certificate) -> str:
    return f"{certificate}; a larger max_size may give a better model."


def warn_of(choice: GroupChoice, stacklevel: int = 4) -> None:
    """Warn the caller's caller's caller of what kept the search from a better model."""
    if choice.warning:
        warnings.warn(choice.warning, ConvergenceWarning, stacklevel=stacklevel)
