"""Branch and bound on a problem: what it shows about the best support at a price or of a size."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.proof._record import Claim, Record, Statistics

if TYPE_CHECKING:
    from ellzero.regression._problem import Problem

__all__ = ["Proved", "Prover"]

_BLOCK = 8  # Gram columns that are asked for at once
_UNIT = 2.0**-53
# A share of 1/2 y'y: what a complete support's bound is away from its value by rounding, and more.
_ROUNDING = 2e-11
# For columns that depend on each other, so that there is a bound: a share of their norm.
_LEAST_RIDGE = 2.0**-37
_RECORD_BYTES = 256e6
_MOST_DEPENDENT = 10
_WIDE = 250  # columns, beyond which Newton's method takes too long
_BARRIER = 0.15
MAX_NODES_IN_MEMORY = 100_000

Progress = Callable[[int, float, float], None]


class Proved(NamedTuple):
    """What is known about the best support, in the units of the objective."""

    support: NDArray[np.int64]  # the best one known, sorted
    objective: float
    bound: float  # -inf if nothing is known
    tolerance: float
    proved: bool
    nodes: int
    always_in: tuple[int, ...]
    always_out: tuple[int, ...]


class Prover:
    """Proofs about one problem, which share what is known of its columns.

    Where more than ``wide`` columns are free, the ridge alone makes the bound.
    """

    def __init__(self, problem: Problem, wide: int = _WIDE) -> None:
        self._wide = wide
        known = self.statistics = gather(problem, wide)
        self.record = Record(self.statistics)
        p = len(self.statistics.c)
        aside = {*self.statistics.dead.tolist(), *(j for j, _ in self.statistics.copies)}
        left = np.setdiff1d(np.arange(p), self.statistics.forced)
        self._free = np.array([j for j in left.tolist() if j not in aside], dtype=np.int64)
        # Nearly everything depends on something else: whatever is left out, the rest fits y.
        self.unbounded = known.added > 0 and self._corank() > _MOST_DEPENDENT
        self._in_doubt = {i for pair in self.statistics.copies for i in pair}

    def _corank(self) -> int:
        """Return how many columns depend on the others, to within rounding."""
        gram = self.statistics.gram[np.ix_(self._free, self._free)]
        return int(np.count_nonzero(np.linalg.eigvalsh(gram) < 2 * self.statistics.added))

    def prove(
        self,
        support: NDArray[np.int64],
        energy: float,
        *,
        lam: float,
        cap: int,
        gap: float,
        seconds: float,
        progress: Progress | None = None,
        max_nodes: int = -1,
        max_nodes_in_memory: int = MAX_NODES_IN_MEMORY,
        inflate: float = 0.0,
        barrier: float = _BARRIER,
        worth: float = 0.0,
    ) -> Proved:
        """Look for a support that is better than one of a known energy, or show there is none.

        Interrupted, it raises KeyboardInterrupt with what is known as its ``args[0]``. ``inflate``
        is for tests: a share by which the objective is pretended to be worse. ``worth`` is what one
        more column is about worth beyond ``lam``, where the cap keeps it out.
        """
        known, unit = self.statistics, self.statistics.unit
        price = np.full(len(known.c), lam / unit)
        price[known.forced] = 0
        core = _core.Proof(known.gram, known.c, known.half_yy, price, cap, known.floor)
        support = np.sort(np.asarray(support, dtype=np.int64))
        n_priced = int(np.count_nonzero(~np.isin(support, known.forced)))
        objective = energy / unit + (lam / unit * n_priced if n_priced else 0.0)
        here = core.fit(support)
        off = abs(here.value - objective) if math.isfinite(here.value) else 0.0
        # Beyond a part in ten million, what the table says and its products say are two things.
        rounding = min(2 * off, 1e-7 * abs(objective)) + _ROUNDING * known.half_yy
        start = max(here.value, objective) if math.isfinite(here.value) else objective

        def scaled_report(nodes: int, bound: float, best: float) -> None:
            if progress is not None:
                progress(nodes, bound * unit, best * unit)

        interrupt: KeyboardInterrupt | None = None
        try:
            core.run(
                inside=known.forced,
                free=self._free,
                support=support if not inflate else np.array([], dtype=np.int64),
                objective=start * (1 + inflate),
                tolerance=rounding,
                gap=gap,
                seconds=seconds,
                max_nodes=max_nodes,
                max_open=max_nodes_in_memory,
                record_bytes=_RECORD_BYTES,
                barrier=barrier,
                nu=worth / unit,
                wide=self._wide,
                enumerate=self.unbounded,
                progress=None if progress is None else scaled_report,
            )
        except KeyboardInterrupt as stop:
            interrupt = stop
        found = self._conclude(core, lam / unit, cap, gap, support, start, rounding)
        if interrupt is not None:
            raise KeyboardInterrupt(found) from interrupt
        return found

    def _conclude(
        self,
        core: _core.Proof,
        lam: float,
        cap: int,
        gap: float,
        support: NDArray[np.int64],
        start: float,
        rounding: float,
    ) -> Proved:
        known, unit = self.statistics, self.statistics.unit
        objective = core.objective
        better = bool(objective != start)
        if core.support.size and objective < start:
            support = np.sort(core.support.astype(np.int64))
        else:
            objective = start
        tolerance = max(rounding, gap * abs(objective))
        size = known.half_yy + abs(objective)
        # What others find when they check it may differ in the last digits.
        bound = core.bound - 1e-13 * (size + abs(core.bound))
        if math.isnan(bound):
            bound = -math.inf
        proved = bool(bound >= objective - tolerance)
        strict = objective + tolerance + 1e-12 * size
        doubt = self._in_doubt
        # A column that varies with nothing is out, if no support is so good that it can pay for it
        aside = known.dead.tolist() if bound + lam > strict else []
        always_in = [j for j in np.flatnonzero(core.in_margin > strict).tolist() if j not in doubt]
        outside = set(np.flatnonzero(core.out_margin > strict).tolist()) - doubt
        outside = (outside - set(known.dead.tolist())) | set(aside)
        always_out = sorted(outside - set(known.forced.tolist()))
        always_in = sorted((set(always_in) | set(known.forced.tolist())) - set(always_out))
        if not math.isfinite(core.bound) and core.bound < 0:
            always_in, always_out = sorted(known.forced.tolist()), sorted(aside)
        fit = core.fit(support)
        claim = Claim(
            lam,
            cap,
            support,
            fit.b,
            max(objective, fit.value) if math.isfinite(fit.value) else objective,
            bound,
            tolerance,
            proved,
            tuple(always_in),
            tuple(always_out),
        )
        self.record.add(claim, core, leaves=proved and not better)
        return Proved(
            support,
            objective * unit,
            min(bound, objective) * unit,
            tolerance * unit,
            proved,
            core.nodes,
            claim.always_in,
            claim.always_out,
        )


def gather(problem: Problem, wide: int = _WIDE) -> Statistics:
    """Ask for all Gram columns, and put the ridge on the diagonal."""
    design, engine = problem.design, problem.engine
    p = design.columns
    gram = np.empty((p, p))
    for j in range(0, p, _BLOCK):
        which = np.arange(j, min(j + _BLOCK, p), dtype=np.int64)
        gram[j : j + _BLOCK] = engine.gram_columns(which)
    for j in range(p):  # one of two that may differ in their last digit
        gram[j:, j] = gram[j, j:]
    # A power of two changes no digit, and keeps squares within range.
    exponent = -(math.frexp(design.yy)[1] // 2) if design.yy > 0 else 0
    c = np.ldexp(design.zy, exponent)
    dead = np.flatnonzero((design.inverse_scale == 0) & (c == 0) & ~gram.any(axis=1))
    dead = np.setdiff1d(dead, problem.forced)
    copies = _copies(gram, c, problem.forced, dead, problem.ridge)
    gram[np.diag_indices(p)] += problem.ridge
    added = 0.0
    live = np.setdiff1d(np.arange(p), [*dead, *(j for j, _ in copies)]).astype(np.int64)
    if not problem.ridge > 1e-9 and not _is_regular(gram[np.ix_(live, live)]):
        added = _LEAST_RIDGE
        gram[np.diag_indices(p)] += added
        copies = []
    names = None if problem.names is None else [str(name) for name in problem.names]
    return Statistics(
        gram,
        c,
        math.ldexp(design.yy / 2, 2 * exponent),
        exponent,
        np.sort(problem.forced),
        dead,
        copies,
        problem.ridge + added,
        added,
        _floor(problem, p) if p > wide else 0.0,
        problem.intercept,
        names,
    )


def _floor(problem: Problem, p: int) -> float:
    """Return a number f such that G - f I is positive semidefinite; 0 if that is of no use.

    G less the ridge is a matrix of products to within their rounding, whose norm is at most p times
    that of one.
    """
    rounding = 8 * p * (problem.design.weight + 8) * _UNIT
    return max(0.0, problem.ridge * (1 - 1e-9) - rounding)


def _is_regular(gram: NDArray[np.float64]) -> bool:
    m = len(gram)
    shift = 16 * (m + 4) * _UNIT * float(np.trace(gram))
    try:
        np.linalg.cholesky(gram - shift * np.eye(m))
    except np.linalg.LinAlgError:
        return False
    return True


def _copies(
    gram: NDArray[np.float64],
    c: NDArray[np.float64],
    forced: NDArray[np.int64],
    dead: NDArray[np.int64],
    ridge: float,
) -> list[tuple[int, int]]:
    """Return the columns that equal an earlier one up to sign, with that one.

    Their products, equal but for rounding, are made equal. With a ridge there are none: two of them
    are better than one.
    """
    pairs: list[tuple[int, int]] = []
    if ridge > 0:
        return pairs
    kept: list[int] = []
    size = float(np.abs(c).max(initial=0))
    for j in np.setdiff1d(np.arange(len(c)), [*forced, *dead]).astype(int).tolist():
        near = [i for i in kept if abs(gram[i, j]) > 1 - 4 * _UNIT]
        for i in near:
            sign = math.copysign(1.0, gram[i, j])
            off = np.abs(gram[j] - sign * gram[i]).max()
            if off < 16 * _UNIT and abs(c[j] - sign * c[i]) < 16 * _UNIT * size:
                gram[j] = sign * gram[i]
                gram[:, j] = gram[j]
                gram[j, j] = gram[i, i]
                gram[i, j] = gram[j, i] = sign * gram[i, i]
                c[j] = sign * c[i]
                pairs.append((j, i))
                break
        else:
            kept.append(j)
    return pairs
