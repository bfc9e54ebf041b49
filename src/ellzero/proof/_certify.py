"""From a frontier to a certificate: what is proved about its models, and in which words."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ellzero._certificate import Certificate
from ellzero.proof._prove import Proved, Prover

if TYPE_CHECKING:
    from ellzero.regression._growth import GrowingFrontier

__all__ = ["Certifier", "line_printer"]

# Beyond so many columns the products of all with all take too long.
MAX_COLUMNS = 1200
MAX_COLUMNS_WITH_RIDGE = 6000
# Supports that are enumerated where no bound can be had.
_ENUMERATED = 200_000


class Certifier:
    """Proofs about the models of a frontier, which takes what they find that is better.

    Parameters
    ----------
    growing : GrowingFrontier
        The models, grown as far as they are wanted.
    gap : float
        The share of the objective that a better support may be better by.
    time_limit : float
        In seconds, for all that is asked of it.
    report : callable, default=None
        Called with a line of text about how far it has got, at most once a second.
    """

    def __init__(
        self,
        growing: GrowingFrontier,
        *,
        gap: float,
        time_limit: float,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self._growing, self._gap, self._report = growing, gap, report
        self._begin = time.perf_counter()
        self._limit = time_limit
        self._nodes = 0
        self._interrupted = False
        self._said = self._begin
        self.certificate: Certificate | None = None  # also if it was interrupted
        self.size_bounds: dict[int, float] = {}  # on the energies of sizes
        forced = growing.model(growing.first)[0]
        problem = growing.problem._replace(forced=forced)
        self._most = MAX_COLUMNS_WITH_RIDGE if problem.ridge >= 1e-4 else MAX_COLUMNS
        few = problem.design.columns <= self._most
        self._prover = Prover(problem) if few else None

    def at_price(self, lam: float, max_size: int) -> Certificate:
        """Certify the solution at a price among supports of up to ``max_size`` columns."""
        size = self._growing.hull.size_at(lam)
        if size == self._growing.first:  # nothing pays: nor would it at any price above 1/2 y'y
            lam = min(lam, 4 * self._growing.problem.design.yy)
        if self._prover is None:
            return self._say_too_many()
        if self._prover.unbounded:
            return self._enumerate(lam)
        try:
            found = self._prove(size, lam, max_size)
        except KeyboardInterrupt as stop:
            self._keep(stop, lambda known: self._certify_price(known, lam))
            raise
        self.certificate = self._certify_price(found, lam)
        return self.certificate

    def at_size(self, size: int) -> Certificate:
        """Certify the model of a size."""
        if self._prover is None:
            return self._say_too_many()
        try:
            found = self._prove(size, 0.0, size)
        except KeyboardInterrupt as stop:
            self._keep(stop, lambda known: self._certify_size(known, size))
            raise
        self.certificate = self._certify_size(found, size)
        return self.certificate

    def of_all_sizes(self, max_size: int) -> Certificate:
        """Certify the models of all sizes up to one; objective and bound are those of the last."""
        if self._prover is None:
            return self._say_too_many()
        last: Proved | None = None
        certified: list[int] = []
        for size in range(self._growing.first, max_size + 1):
            try:
                last = self._prove(size, 0.0, size)
            except KeyboardInterrupt as stop:
                self._keep(stop, lambda known: self._certify_sizes(known, certified, max_size))
                raise
            self.size_bounds[size] = max(last.bound, 0.0)
            if last.proved:
                certified.append(size)
        assert last is not None
        self.certificate = self._certify_sizes(last, certified, max_size)
        return self.certificate

    def _prove(self, size: int, lam: float, cap: int, seconds: float = math.inf) -> Proved:
        assert self._prover is not None
        support, energy = self._growing.model(size)
        if not self._growing.problem.design.yy > 0:  # nothing is left to explain
            return Proved(support, 0.0, 0.0, 0.0, True, 0, (), ())
        try:
            found = self._prover.prove(
                support,
                energy,
                lam=lam,
                cap=cap,
                gap=self._gap,
                seconds=min(seconds, max(0.0, self._limit - self._seconds)),
                progress=None if self._report is None else self._progress,
                worth=self._worth(size) if lam == 0 else 0.0,
            )
        except KeyboardInterrupt as stop:
            stop.args = (self._take(stop.args[0], size, lam, cap),)
            raise
        return self._take(found, size, lam, cap)

    def _worth(self, size: int) -> float:
        """Return what one more column is about worth at a size."""
        from ellzero.regression._hull import middle  # which imports this

        hull = self._growing.hull
        ends = hull.interval(size)
        return hull.edge_over(size) if ends is None else middle(*ends)

    def _take(self, found: Proved, size: int, lam: float, cap: int) -> Proved:
        """Offer what was found to the frontier, and return what is known of the model it has.

        That is another one where the frontier leaves columns aside that depend on each other too
        nearly, whose products say nothing sound about the table.
        """
        growing = self._growing
        self._nodes += found.nodes
        growing.offer(found.support)
        if lam > 0:
            size = min(growing.hull.size_at(lam), cap)
        support, energy = growing.model(size)
        n_priced = support.size - growing.first
        objective = energy + (lam * n_priced if n_priced else 0.0)
        tolerance = max(found.tolerance, self._gap * objective)
        if objective > found.objective:  # less is known about what comes near to that
            forced = tuple(growing.model(growing.first)[0].tolist())
            found = found._replace(always_in=forced, always_out=())
        found = found._replace(
            support=support,
            objective=objective,
            bound=min(found.bound, objective),
            tolerance=tolerance,
            proved=found.proved and found.bound >= objective - tolerance,
        )
        added = self._prover.statistics.added if self._prover else 0.0
        return self._without(added, found, cap if lam == 0 else None) if added else found

    def _without(self, added: float, found: Proved, size: int | None) -> Proved:
        """Return what is known of the problem without the ridge that was added to it.

        With b the coefficients of a support of up to ``size`` columns, and mu a lower bound on the
        eigenvalues of their products, |b|^2 <= y'y / mu: the ridge raises no energy by more than
        1/2 added y'y / mu. Among columns that nearly depend on each other, and at a price, where
        supports may have any size, there is no such mu.
        """
        assert self._prover is not None
        mu = 0.0 if size is None else _least_eigenvalue(self._prover.statistics.gram, size)
        raised = 0.5 * added * self._growing.problem.design.yy / mu if mu > 1e-3 else math.inf
        tolerance = max(found.tolerance, 2 * raised) if raised < math.inf else found.tolerance
        return found._replace(
            bound=found.bound - raised,
            tolerance=tolerance,
            proved=found.proved and found.bound - raised >= found.objective - tolerance,
            always_in=tuple(self._growing.model(self._growing.first)[0].tolist()),
            always_out=(),
        )

    def _keep(self, stop: KeyboardInterrupt, certify: Callable[[Proved], Certificate]) -> None:
        """Note what is known at an interruption, which goes on as everywhere."""
        self._interrupted = True
        self.certificate = certify(stop.args[0])
        stop.args = ()

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self._begin

    def _progress(self, nodes: int, bound: float, objective: float) -> None:
        now = time.perf_counter()
        if self._report is not None and now - self._said >= 1:
            self._said = now
            gap = (objective - max(bound, 0.0)) / objective if objective > 0 else 0.0
            self._report(f"{self._nodes + nodes} nodes, gap {gap:.2%} after {self._seconds:.0f} s")

    def _certify_price(self, found: Proved, lam: float) -> Certificate:
        sizes = (int(found.support.size),) if found.proved else ()
        return self._certify(found, "no support is better", sizes)

    def _certify_size(self, found: Proved, size: int) -> Certificate:
        words = f"no support of {size} variable{'s' if size != 1 else ''} is better"
        return self._certify(found, words, (size,) if found.proved else ())

    def _certify_sizes(self, last: Proved, certified: list[int], max_size: int) -> Certificate:
        wanted = max_size + 1 - self._growing.first
        whole = last._replace(proved=len(certified) == wanted, always_in=(), always_out=())
        words = f"no support of up to {max_size} variables is better than the best of its size"
        return self._certify(whole, words, tuple(certified))

    def _certify(self, found: Proved, words: str, sizes: tuple[int, ...]) -> Certificate:
        assert self._prover is not None
        seconds = self._seconds
        bound = max(found.bound, 0.0)  # which no energy is below
        share = (found.objective - bound) / found.objective if found.objective > 0 else 0.0
        if found.proved:
            allowed = f" by more than {self._gap:g} of the objective" if self._gap else ""
            statement = f"{words}{allowed}: proved with {self._nodes} nodes"
        else:
            why = f"stopped after {seconds:.3g} s"
            if seconds < self._limit and not self._interrupted:
                why = "columns depend on each other too nearly for more"
            by = f" by more than {max(share, 0.0001):.2%}" if bound > 0 else ""
            statement = f"{words}{by}: {why}" if by else f"no bound is known: {why}"
            if sizes:
                statement += f"; proved for {_spans(sizes)} variables"
        return Certificate(
            "proof" if found.proved else "gap",
            statement,
            proved=found.proved,
            objective=found.objective,
            bound=bound if bound > 0 or found.proved else None,
            tolerance=found.tolerance,
            nodes=self._nodes,
            seconds=seconds,
            always_in=found.always_in,
            always_out=found.always_out,
            sizes_certified=sizes,
            record=self._prover.record,
        )

    def _enumerate(self, lam: float) -> Certificate:
        """Certify sizes one by one where there is no bound, as far as there are few supports."""
        assert self._prover is not None
        growing, p = self._growing, self._growing.problem.design.columns
        certified: list[int] = []
        size = growing.hull.size_at(lam)
        for k in range(growing.first, growing.last + 1):
            many = math.comb(p - growing.first, k - growing.first) > _ENUMERATED
            if (many and k > growing.first + 1) or self._seconds >= self._limit:
                break
            if not self._prove(k, 0.0, k).proved:
                break
            certified.append(k)
        support, energy = growing.model(size)
        n_priced = support.size - growing.first
        statement = (
            "no bound is known at a price: there are no fewer columns than rows and no ridge, so "
            "that every y is fitted"
        )
        if certified:
            statement += f"; proved for {_spans(tuple(certified))} variables"
        self.certificate = Certificate(
            "gap",
            statement,
            objective=energy + (lam * n_priced if n_priced else 0.0),
            tolerance=0.0,
            nodes=self._nodes,
            seconds=self._seconds,
            sizes_certified=tuple(certified),
            record=self._prover.record,
        )
        return self.certificate

    def _say_too_many(self) -> Certificate:
        p = self._growing.problem.design.columns
        self.certificate = Certificate(
            "gap",
            f"no bound is known: with {p} columns, more than {self._most}, it would take too long",
            tolerance=0.0,
            seconds=self._seconds,
        )
        return self.certificate


def _least_eigenvalue(gram: NDArray[np.float64], size: int) -> float:
    """Return what no eigenvalue of the products of so many columns is below (Gershgorin)."""
    if size < 2:
        return 1.0
    others = np.abs(gram - np.diag(np.diag(gram)))
    most = np.partition(others, max(len(gram) - size + 1, 0), axis=1)[:, -(size - 1) :]
    return 1 - float(most.sum(axis=1).max())


def _spans(sizes: tuple[int, ...]) -> str:
    """Return '0 to 3 and 5'."""
    parts: list[list[int]] = []
    for size in sizes:
        if parts and size == parts[-1][1] + 1:
            parts[-1][1] = size
        else:
            parts.append([size, size])
    words = [f"{a} to {b}" if b > a else f"{a}" for a, b in parts]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def line_printer(who: str, verbose: int) -> Callable[[str], None] | None:
    """Return what prints lines of progress on standard error; None if nobody is listening."""
    if not verbose:
        return None
    return lambda line: print(f"[{who}] {line}", file=sys.stderr)
