"""Branch and bound against all supports, and its certificates against the checker.

Started at the optimum, a part that is closed wrongly can't be seen: so the incumbent is made worse.
"""

import json
import warnings

import numpy as np
from reference.proofs import best_in, energies_of_all, exact_energy

from ellzero import l0_frontier
from ellzero.proof import _checker
from ellzero.proof._prove import Prover


class Case:
    """A small problem, often nearly collinear, at a price or at a size."""

    def __init__(self, rng, most_columns=9):
        p = int(rng.integers(1, most_columns + 1))
        n = int(rng.integers(max(2, p - 1), 2 * p + 6))
        X = rng.normal(size=(n, p))
        self.well_conditioned = True
        if rng.random() < 0.5:
            for j in range(1, p):
                if rng.random() < 0.4:
                    self.well_conditioned = False
                    other = X[:, rng.integers(j)] * rng.choice([-1, 1])
                    X[:, j] = other + 10 ** rng.uniform(-6, 0) * rng.normal(size=n)
        if rng.random() < 0.1 and p > 1:
            X[:, p - 1] = X[:, 0]
        if rng.random() < 0.05:
            X[:, 0] = 1
        b = np.where(rng.random(p) < 0.5, rng.normal(size=p), 0) * 10 ** rng.uniform(-1, 2)
        y = (X @ b + rng.normal(size=n)) * 10.0 ** rng.integers(-60, 60)
        ridge = 0.0 if rng.random() < 0.5 else float(10 ** rng.uniform(-6, 1))
        forced = [int(rng.integers(p))] if rng.random() < 0.15 else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.frontier = l0_frontier(X, y, ridge=ridge, always_include=forced)
        self.problem = self.frontier._growing.problem._replace(forced=self.frontier.supports[0])
        self.wide = int(rng.integers(4)) if rng.random() < 0.3 else 250
        self.prover = Prover(self.problem, self.wide)
        known = self.prover.statistics
        if rng.random() < 0.5:
            sizes = self.frontier.sizes
            self.lam, self.cap = 0.0, int(rng.integers(sizes[0], sizes[-1] + 1))
            self.model = self.frontier.at(size=self.cap)
        else:
            self.lam = float(known.half_yy * known.unit * 10 ** rng.uniform(-4, 0))
            self.cap = p
            self.frontier.grow(lam=self.lam)
            self.model = self.frontier.at(lam=self.lam)
        self.price = np.full(p, self.lam / known.unit)
        self.price[known.forced] = 0

    def prove(self, **options):
        """Prove it anew; the record is that of the last time."""
        self.prover = Prover(self.problem, self.wide)
        return self.prover.prove(
            self.model.support,
            self.model.energy,
            lam=self.lam,
            cap=self.cap,
            gap=0.0,
            seconds=60.0,
            worth=float(self.model.energy) / 10,
            **options,
        )


def exact_best(case, energies, below):
    """The least value of all supports that have about that much or less, in fractions."""
    known, best = case.prover.statistics, np.inf
    for mask, energy in energies.items():
        support = [j for j in range(len(known.c)) if mask >> j & 1]
        if len(support) > case.cap or not set(known.forced.tolist()) <= set(support):
            continue
        price = case.price[support].sum()
        if energy + price < below:
            exact = exact_energy(known.gram, known.c, known.half_yy, support)
            best = best if exact is None else min(best, float(exact) + price)
    return best


def check_proof(rng):
    """The bound is none too high, what is always in or out is, and the checker agrees."""
    case = Case(rng)
    kind = rng.integers(3)
    options = {"max_nodes_in_memory": int(rng.choice([2, 100_000]))}
    if kind == 0:
        options["inflate"] = 0.2
    elif kind == 1:
        options["max_nodes"] = int(rng.integers(1, 8))
    found = case.prove(barrier=float(rng.choice([0.05, 0.2, 1.0])), **options)
    known = case.prover.statistics
    energies = energies_of_all(known.gram, known.c, known.half_yy)
    p = len(known.c)
    forced = known.forced.tolist()
    free = [j for j in range(p) if j not in forced]
    best = best_in(energies, case.price, case.cap, forced, free)
    bound, objective = found.bound / known.unit, found.objective / known.unit
    tolerance = found.tolerance / known.unit
    slack = 1e-10 * known.half_yy + 1e-9 * best
    if bound > best + slack:  # or is that rounding of the energies?
        best = exact_best(case, energies, below=bound + 1e-4 * known.half_yy)
    assert bound <= best + slack, f"bound {bound!r}, but a support has {best!r}"
    if found.proved:
        assert objective <= best + tolerance + slack, f"{objective!r}, but there is {best!r}"
    for mask, energy in energies.items():
        support = [j for j in range(p) if mask >> j & 1]
        if len(support) > case.cap or not set(forced) <= set(support):
            continue
        value = energy + case.price[support].sum()
        if not value <= objective + tolerance - slack:
            continue
        wrong = set(found.always_in) - set(support) | set(found.always_out) & set(support)
        if wrong:
            exact = exact_energy(known.gram, known.c, known.half_yy, support)
            assert exact is None, f"{wrong} are not always in or out: {support} has {value!r}"
    _checker.check(json.loads(json.dumps(case.prover.record.content())))
