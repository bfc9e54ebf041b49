"""How L0Regressor looks for its support: SBR or the frontier, at a given lam or along a path."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ellzero import _core
from ellzero._columns import column_name
from ellzero.regression._criteria import information_criterion
from ellzero.regression._growth import GrowingFrontier
from ellzero.regression._hull import middle
from ellzero.regression._problem import Problem

__all__ = ["Search", "search_at", "search_path"]

_NO_FLIP = "no insertion or removal of one variable improves it"
_NO_SWAP = "no insertion, removal or swap improves it"


class Search(NamedTuple):
    """Where a search for a support ended; the engine stands there."""

    lam: float
    n_iter: int
    certificate: str
    warning: str = ""
    category: type[Warning] = UserWarning


def search_at(problem: Problem, solver: str, lam: float, max_size: int) -> Search:
    """Look for the solution at ``lam``; SBR starts from where the engine stands."""
    if solver == "sbr":
        certificate = _NO_FLIP
        n_iter, held_back, gain, _, _ = problem.engine.sbr(
            lam, problem.forced_mask, max_size, problem.progress
        )
    else:
        certificate, held_back, gain = _NO_SWAP, -1, 0.0
        frontier = GrowingFrontier(problem, swaps=True)
        frontier.cover(lam, max_size)
        if lam < frontier.hull.end:
            held_back, gain = frontier.next_column, frontier.next_gain
        n_iter = frontier.core.tried
        frontier.core.visit(frontier.hull.size_at(lam))
    if held_back < 0:
        return Search(lam, n_iter, certificate + _left_aside(problem))
    certificate = (
        f"stopped at max_size={max_size}: inserting {column_name(held_back, problem.names)!r} "
        f"would lower the objective by {gain - lam:.6g}"
    )
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
    if sizes[best] == max_size and _still_falls(problem, criterion, path, values[best]):
        certificate = f"stopped at max_size={max_size}, where {criterion} was still least"
        return Search(lam, path.n_iter, certificate, _stopped(certificate), ConvergenceWarning)
    certificate = f"{criterion} is least among the {len(sizes)} {path.description} at lam_"
    certificate += _left_aside(problem)
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


def _left_aside(problem: Problem) -> str:
    """Say so if columns were left out that depend on the support too nearly, but not exactly."""
    remainder = problem.engine.d
    if not np.any((remainder > 1e-13) & (remainder <= _core.SPAN)):
        return ""
    return f" (columns that depend on it to within {_core.SPAN:g} left aside)"


def _stopped(certificate: str) -> str:
    return f"L0Regressor {certificate}; a larger max_size may give a better model."


class _Path(NamedTuple):
    supports: list[NDArray[np.int64]]
    rss: list[float]
    intervals: list[tuple[float, float]]  # of lam, in which each is the solution
    n_iter: int
    next_gain: float  # by how much one more variable would lower the energy of the last
    description: str


def _sbr_path(problem: Problem, max_size: int) -> _Path:
    stops, n_iter = problem.engine.sbr_path(problem.forced_mask, max_size, problem.progress)
    return _Path(
        [stop[0] for stop in stops],
        [2 * (energy - ridge_energy) for _, energy, ridge_energy, _, _ in stops],
        [(low, high) for _, _, _, low, high in stops],
        n_iter,
        stops[-1][3],
        f"models on the path of SBR; {_NO_FLIP}",
    )


def _frontier_path(problem: Problem, max_size: int) -> _Path:
    frontier = GrowingFrontier(problem, swaps=True)
    frontier.grow(max_size)
    solutions = frontier.solutions()
    on_hull = frontier.hull.sizes - frontier.hull.sizes[0]
    return _Path(
        [solutions.support[solutions.part(place)] for place in on_hull],
        solutions.rss[on_hull].tolist(),
        [frontier.hull.interval(int(size)) or (0, 0) for size in frontier.hull.sizes],
        frontier.core.tried,
        frontier.next_gain,
        f"models on the hull of the frontier; {_NO_SWAP}",
    )


def _small_rss(
    criterion: str, values: NDArray[np.float64], sizes: NDArray[np.int64], best: int, n: float
) -> str:
    """Say so where log(RSS) has no bottom: the criteria were made for sizes far below n."""
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
