"""How L0Regressor looks for its support: SBR or the frontier, at a given lam or along a path."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ellzero import _core
from ellzero._certificate import Certificate
from ellzero._columns import column_name
from ellzero.regression._criteria import information_criterion
from ellzero.regression._growth import GrowingFrontier
from ellzero.regression._hull import middle
from ellzero.regression._problem import Problem

__all__ = ["Search", "search_at", "search_path", "settle_at"]


class Search(NamedTuple):
    """Where a search for a support ended; the engine stands there."""

    lam: float
    n_iter: int
    certificate: Certificate
    warning: str = ""
    category: type[Warning] = UserWarning


def search_at(problem: Problem, solver: str, lam: float, max_size: int) -> Search:
    """Look for the solution at ``lam``; SBR starts from where the engine stands."""
    if solver == "sbr":
        run = problem.engine.sbr(lam, problem.forced_mask, max_size, problem.progress)
        n_iter, more = run.replacements, run.held_back
        if more.unit < 0:
            return Search(lam, n_iter, _certify(problem, swaps=False))
        return _held_back(problem, lam, n_iter, max_size, more.unit, more.gain - lam)
    frontier = GrowingFrontier(problem, swaps=True)
    frontier.cover(lam, max_size)
    return settle_at(frontier, lam, max_size)


def settle_at(frontier: GrowingFrontier, lam: float, max_size: int) -> Search:
    """Move the engine to the solution at ``lam`` of a frontier that was grown to cover it."""
    problem, hull = frontier.problem, frontier.hull
    size, n_iter = hull.size_at(lam), frontier.core.tried
    frontier.core.visit(size)
    if lam >= hull.end:
        return Search(lam, n_iter, _certify(problem, swaps=True))
    rise = frontier.last + 1 - size
    gain = frontier.energy_of(size) - frontier.energy_of(frontier.last) + frontier.next_gain
    return _held_back(problem, lam, n_iter, max_size, frontier.next_column, gain - lam * rise, rise)


def _held_back(
    problem: Problem,
    lam: float,
    n_iter: int,
    max_size: int,
    column: int,
    gain: float,
    rise: int = 1,
) -> Search:
    """Return the end of a search that ``max_size`` kept from a better objective.

    A model of ``rise`` more variables, ``column`` among them, is better by ``gain``.
    """
    name = column_name(column, problem.names)
    certificate = Certificate.of_held_back_search(max_size, name, rise, gain)
    return Search(lam, n_iter, certificate, _stopped(certificate), ConvergenceWarning)


def search_path(problem: Problem, solver: str, criterion: str, max_size: int) -> Search:
    """Choose the model of least criterion among the solutions as lam falls."""
    design = problem.design
    if design.weight < 1:
        raise ValueError(
            f"sample_weight sums to {design.weight:g}, but lam={criterion!r} takes the sum for "
            "the number of rows: rescale it."
        )
    path = _sbr_path(problem, max_size) if solver == "sbr" else _frontier_path(problem, max_size)
    sizes = np.array([support.size for support in path.supports])
    values = information_criterion(
        criterion, np.array(path.rss), sizes, design.weight, design.columns, design.yy
    )
    best = int(np.argmin(values))
    problem.engine.move_to(path.supports[best])
    lam = middle(*path.intervals[best])
    if path.refuted[best] or (
        sizes[best] == max_size and _still_falls(problem, criterion, path, values[best])
    ):
        certificate = Certificate.of_held_back_criterion(
            max_size, criterion, largest=bool(sizes[best] == max_size)
        )
        return Search(lam, path.n_iter, certificate, _stopped(certificate), ConvergenceWarning)
    certificate = _certify(problem, swaps=solver == "frontier", price="lam_")
    certificate = certificate.with_least_criterion(criterion, f"the {len(sizes)} {path.models}")
    warning = _small_rss(criterion, values, sizes, best, design.weight) if design.yy > 0 else ""
    return Search(lam, path.n_iter, certificate, warning)


def _still_falls(problem: Problem, criterion: str, path: _Path, value: float) -> bool:
    """Whether inserting the best variable into the last model lowers the criterion further."""
    design = problem.design
    rss, size = path.rss[-1] - 2 * path.next_gain, path.supports[-1].size + 1
    if size > design.columns:
        return False
    (further,) = information_criterion(
        criterion, np.array([rss]), np.array([size]), design.weight, design.columns, design.yy
    )
    return bool(further < value)


def _certify(problem: Problem, *, swaps: bool, price: str = "") -> Certificate:
    """Certify the support that the engine stands at.

    It says so if columns were left out that depend on the support too nearly, but not exactly.
    """
    remainder = problem.engine.d
    some_aside = np.any((remainder > 1e-13) & (remainder <= _core.SPAN))
    return Certificate.of_search(
        swaps=swaps, price=price, left_aside=_core.SPAN if some_aside else None
    )


def _stopped(certificate: Certificate) -> str:
    return f"L0Regressor {certificate}; a larger max_size may give a better model."


class _Path(NamedTuple):
    supports: list[NDArray[np.int64]]
    rss: list[float]
    intervals: list[tuple[float, float]]  # of lam, in which each is the solution
    refuted: list[bool]  # whether max_size alone makes each a solution: a larger one is better
    n_iter: int
    next_gain: float  # by how much one more variable would lower the energy of the last
    models: str  # what they are, in words


def _sbr_path(problem: Problem, max_size: int) -> _Path:
    path = problem.engine.sbr_path(problem.forced_mask, max_size, problem.progress)
    return _Path(
        [stop.support for stop in path.stops],
        [2 * stop.loss for stop in path.stops],
        [(stop.lam_low, stop.lam_high) for stop in path.stops],
        [*[False] * (len(path.stops) - 1), path.held_back],
        path.replacements,
        path.next_gain,
        "models on the path of SBR",
    )


def _frontier_path(problem: Problem, max_size: int) -> _Path:
    frontier = GrowingFrontier(problem, swaps=True)
    frontier.grow(max_size)
    solutions, hull, known = frontier.solutions(), frontier.hull, frontier.known_hull
    places = known.sizes - known.sizes[0]
    return _Path(
        [solutions.support[solutions.part(place)] for place in places],
        solutions.rss[places].tolist(),
        [hull.interval(int(k)) or known.interval(int(k)) or (0, 0) for k in known.sizes],
        (~np.isin(known.sizes, hull.sizes)).tolist(),
        frontier.core.tried,
        frontier.next_gain,
        "models on the hull of the frontier",
    )


def _small_rss(
    criterion: str, values: NDArray[np.float64], sizes: NDArray[np.int64], best: int, n: float
) -> str:
    """Return a warning if the RSS is too small for a criterion to be trusted; else nothing.

    log(RSS) has no lower bound: the criteria were made for sizes far below n.
    """
    exact = np.isinf(values)
    if exact.any() and sizes[exact].min() <= n / 2:
        return (
            f"{sizes[exact].min()} variables fit y exactly, which {criterion} can't judge; the "
            "model chosen is the best of those that don't: give lam as a number."
        )
    if sizes[best] > n / 2:
        return (
            f"{criterion} chose {sizes[best]} variables for {n:g} rows, where it can't be trusted: "
            "near as many variables as rows, any y is fitted. Set max_size."
        )
    return ""
