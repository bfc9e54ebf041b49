"""How L0Regressor looks for its support: at a given lam or size, or by a criterion."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ellzero import _core
from ellzero._certificate import Certificate
from ellzero._columns import column_name
from ellzero.proof._certify import Certifier
from ellzero.regression._criteria import trusted_size
from ellzero.regression._growth import MARGIN, GrowingFrontier
from ellzero.regression._hull import middle
from ellzero.regression._problem import DEFAULT_MAX_SIZE, Problem, largest_size, to_float

__all__ = [
    "Effort",
    "Search",
    "check_size",
    "search_at",
    "search_for",
    "search_path",
    "search_size",
    "settle_at",
]


class Search(NamedTuple):
    """Where a search for a support ended; the engine stands there."""

    lam: float
    n_iter: int
    certificate: Certificate
    warning: str = ""
    category: type[Warning] = UserWarning


class Effort(NamedTuple):
    """What a proof may leave open, what it may take, and who hears of it."""

    gap: float
    time_limit: float
    report: Callable[[str], None] | None

    def certifier(self, frontier: GrowingFrontier) -> Certifier:
        """Return what proves something about the models of a frontier."""
        return Certifier(frontier, gap=self.gap, time_limit=self.time_limit, report=self.report)


def check_size(
    lam: Any, size: int, solver: str, max_size: int | None, n_forced: int, n_columns: int
) -> None:
    """Raise if a size can't be asked for, by the parameters of an estimator."""
    if not isinstance(lam, str) or lam != "ebic":
        raise ValueError("size and lam exclude each other: leave lam at its default.")
    if solver == "sbr":
        raise ValueError('size needs solver="frontier": SBR passes over sizes.')
    if size < n_forced:
        raise ValueError(f"size={size}, but always_include names {n_forced} columns.")
    if size > n_columns:
        raise ValueError(f"size={size}, but X has {n_columns} columns.")
    if max_size is not None and size > max_size:
        raise ValueError(f"size={size} is more than max_size={max_size}.")


def search_for(
    problem: Problem,
    lam: Any,
    size: int | None,
    solver: str,
    max_size: int | None,
    start: NDArray[np.int64] | None = None,
    effort: Effort | None = None,
) -> Search:
    """Look for what an estimator was asked for: a size, a criterion's choice, or a price.

    At a price SBR starts from ``start``, with the forced columns.
    """
    if size is not None:
        return search_size(problem, int(size), effort)
    p, forced = problem.design.columns, problem.forced
    fixed = forced if start is None else np.concatenate([forced, start])
    if isinstance(lam, str):
        trusted = min(trusted_size(problem.weight, p), DEFAULT_MAX_SIZE)
        most = largest_size(max_size, fixed, p, trusted)
        return search_path(problem, solver, lam, most, effort)
    if start is not None and start.size:
        problem.engine.move_to(np.concatenate([forced, np.setdiff1d(start, forced)]))
    most = largest_size(max_size, fixed, p)
    return search_at(problem, solver, to_float("lam", lam), most, effort)


def search_at(
    problem: Problem, solver: str, lam: float, max_size: int, effort: Effort | None = None
) -> Search:
    """Look for the solution at ``lam``; SBR starts from where the engine stands.

    With an effort to prove it, the certificate says how far that came.
    """
    if solver == "sbr":
        run = problem.engine.sbr(lam, problem.forced_mask, max_size, problem.progress)
        n_iter, more = run.replacements, run.held_back
        if more.unit < 0:
            return Search(lam, n_iter, _certify(problem, swaps=False))
        return _held_back(problem, lam, n_iter, max_size, more.unit, more.gain - lam)
    frontier = GrowingFrontier(problem, swaps=True)
    frontier.cover(lam, max_size)
    if effort is None:
        return settle_at(frontier, lam, max_size)
    # Where max_size holds nothing back, a proof among all sizes says more.
    free = lam >= frontier.hull.end
    most = problem.design.columns if free else max_size
    certificate = effort.certifier(frontier).at_price(lam, most)
    search = settle_at(frontier, lam, max_size)
    if not free:
        certificate = certificate.with_limit(max_size)
    return search._replace(certificate=certificate)


def settle_at(frontier: GrowingFrontier, lam: float, max_size: int) -> Search:
    """Move the engine to the solution at ``lam`` of a frontier that was grown to cover it."""
    problem, hull = frontier.problem, frontier.hull
    size, n_iter = hull.size_at(lam), frontier.core.tried
    frontier.visit(size)
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
    return Search(lam, n_iter, certificate, _stopped(problem, certificate), ConvergenceWarning)


def search_size(problem: Problem, size: int, effort: Effort | None = None) -> Search:
    """Look for the best model of a size; with an effort, prove it."""
    frontier = GrowingFrontier(problem, swaps=True)
    frontier.grow(min(problem.design.columns, size + MARGIN))
    if size > frontier.last:
        raise ValueError(f"size={size}, but only {frontier.last} columns are linearly independent.")
    proof = None if effort is None else effort.certifier(frontier).at_size(size)
    frontier.visit(size)
    interval = frontier.hull.interval(size)
    lam = math.nan if interval is None else middle(*interval)
    certificate = _certify_size(problem).with_size(size) if proof is None else proof
    return Search(lam, frontier.core.tried, certificate)


def search_path(
    problem: Problem, solver: str, criterion: str, max_size: int, effort: Effort | None = None
) -> Search:
    """Choose the model of least criterion, of every size or along the path of SBR.

    With an effort, every size is proved first, as far as that goes.
    """
    design = problem.design
    if problem.weight < 1:
        raise ValueError(
            f"sample_weight sums to {problem.weight:g}, but lam={criterion!r} takes the sum for "
            "the number of rows: rescale it."
        )
    proof: Certificate | None = None
    bounds: dict[int, float] = {}
    if solver == "sbr":
        path = _sbr_path(problem, max_size)
    else:
        frontier = GrowingFrontier(problem, swaps=True)
        frontier.grow(max_size)
        if effort is not None:
            certifier = effort.certifier(frontier)
            proof, bounds = certifier.of_all_sizes(frontier.last), certifier.size_bounds
        path = _frontier_path(frontier)
    sizes = np.array([support.size for support in path.supports])
    n_forced = int(sizes[0])

    def value_of(rss: list[float], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
        return problem.criterion(criterion, rss, sizes, n_forced)

    values = value_of(path.rss, sizes)
    best = int(np.argmin(values))
    problem.engine.move_to(path.supports[best])
    one_more = sizes[-1:] + 1
    falls = one_more[0] <= design.columns and bool(
        value_of([path.rss[-1] - 2 * path.next_gain], one_more)[0] < values[best]
    )
    interval = path.intervals[best]
    lam = math.nan if interval is None else middle(*interval)
    largest = bool(sizes[best] == max_size)
    energy_bound = bounds.get(int(sizes[best]))
    n_priced = int(sizes[best]) - n_forced
    if (falls and largest) or (path.refuted[best] and (falls or solver == "sbr")):
        certificate = Certificate.of_held_back_criterion(max_size, criterion, largest=largest)
        if proof is not None:
            certificate = _with_price(proof, energy_bound, lam, n_priced).with_limit(max_size)
        warning = _stopped(problem, certificate)
        return Search(lam, path.n_iter, certificate, warning, ConvergenceWarning)
    if interval is None or path.refuted[best]:
        lam, certificate = math.nan, _certify_size(problem, off_hull=True)
    else:
        certificate = _certify(problem, swaps=solver != "sbr", price="lam_")
    if proof is not None:
        certificate = _with_price(proof, energy_bound, lam, n_priced)
    certificate = certificate.with_least_criterion(criterion, path.models)
    warning = (
        _small_rss(criterion, values, sizes, best, problem.weight) if problem.total > 0 else ""
    )
    return Search(lam, path.n_iter, certificate, warning)


def _with_price(
    proof: Certificate, energy_bound: float | None, lam: float, n_priced: int
) -> Certificate:
    """Return the proof of all sizes with the bound on the objective of the one chosen."""
    if energy_bound is None:
        return proof.with_bound(None)
    return proof.with_bound(energy_bound + (0.0 if math.isnan(lam) else lam * n_priced))


def _certify(problem: Problem, *, swaps: bool, price: str = "") -> Certificate:
    """Certify the support that the engine stands at.

    It says so if columns were left out that depend on the support too nearly, but not exactly.
    """
    return Certificate.of_search(swaps=swaps, price=price, left_aside=_left_aside(problem))


def _certify_size(problem: Problem, *, off_hull: bool = False) -> Certificate:
    """Certify the support that the engine stands at among those of its size."""
    return Certificate.of_size_search(off_hull=off_hull, left_aside=_left_aside(problem))


def _left_aside(problem: Problem) -> float | None:
    return _core.SPAN if problem.engine.nearly_dependent(1e-13) else None


def _stopped(problem: Problem, certificate: Certificate) -> str:
    return f"{problem.caller} {certificate}; a larger max_size may give a better model."


class _Path(NamedTuple):
    supports: list[NDArray[np.int64]]
    rss: list[float]
    intervals: list[tuple[float, float] | None]  # of lam, in which each is the solution
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
        f"the {len(path.stops)} models on the path of SBR",
    )


def _frontier_path(frontier: GrowingFrontier) -> _Path:
    solutions, hull, known = frontier.solutions(), frontier.hull, frontier.known_hull
    sizes = np.diff(solutions.begins)
    return _Path(
        [solutions.support[solutions.part(place)] for place in range(len(sizes))],
        solutions.rss.tolist(),
        [hull.interval(int(k)) or known.interval(int(k)) for k in sizes],
        (np.isin(sizes, known.sizes) & ~np.isin(sizes, hull.sizes)).tolist(),
        frontier.core.tried,
        frontier.next_gain,
        f"the best models known of {sizes[0]} to {sizes[-1]} variables",
    )


def _small_rss(
    criterion: str, values: NDArray[np.float64], sizes: NDArray[np.int64], best: int, n: float
) -> str:
    """Return a warning if the RSS is too small for a criterion to be trusted; else nothing.

    log(RSS) has no lower bound: the criteria were made for sizes far below n.
    """
    exact = np.isinf(values) & (criterion != "ebic")  # which takes the smallest of them
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
