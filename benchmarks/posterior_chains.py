"""Parts of posterior_quality.py: what chains say of traps, and how well they know their errors.

In a trap two or more sets of columns explain the same thing (tests/traps.py), so that flips and
swaps do not get from one to the other.
"""

import contextlib
import sys
import time
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
from arviz_stats.base import array_stats

from ellzero import BernoulliGaussian, SpikeSlabRegressor, marginal_map
from ellzero._warnings import MixingWarning

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from traps import KINDS, make_traps

SLABS = ("gaussian", "laplace", "zellner", "boom", "gaussian, given")
REFERENCE_DRAWS = 20_000


class _Mode:
    def __init__(self, support):
        self.support = np.array(sorted(support), dtype=np.int64)


def known_modes(sets):
    """Replace the search for modes by sets that are known, by trap; by nothing without any."""
    modes = []
    if sets:
        first = [own[0] for own in sets]
        choices = [first]
        for t, own in enumerate(sets):
            choices += [[*first[:t], other, *first[t + 1 :]] for other in own[1:]]
        modes = [_Mode([j for own in choice for j in own]) for choice in choices]
    return mock.patch("ellzero.posterior._starts.find_modes", return_value=modes)


def prior_of(slab, trap):
    if slab != "gaussian, given":
        return {"slab": slab}
    n, p = trap.X.shape
    rest = np.linalg.lstsq(trap.X[:, trap.columns], trap.y - trap.y.mean(), rcond=None)[1]
    spread = trap.y.std() * np.sqrt(n)
    return {"sigma_e": np.sqrt(rest.sum() / n), "sigma_beta": spread, "theta": 2 / p}


def fit(trap, slab, seed, **settings):
    """Return probabilities of the columns that matter, processor seconds, and whether it warned."""
    model = SpikeSlabRegressor(random_state=seed, **prior_of(slab, trap), **settings)
    begin = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(trap.X, trap.y)
    taken = time.process_time() - begin
    warned = any(issubclass(item.category, MixingWarning) for item in caught)
    return model.inclusion_probabilities_[trap.columns], taken, warned


def truth(trap, slab):
    """Return what there is: all models at p = 12, else long chains that know the traps."""
    if trap.X.shape[1] <= 12 and slab != "laplace":
        return fit(trap, slab, 0, solver="enumerate", n_draws=1)[0]
    with known_modes(trap.sets):
        return fit(trap, slab, 0, solver="gibbs", n_draws=REFERENCE_DRAWS)[0]


def traps(first, count, sizes=(12, 40, 200, 1000), slabs=SLABS):
    """Error of the inclusion probabilities of columns that matter, in traps."""
    ways = {
        "gibbs": ({"solver": "gibbs"}, contextlib.nullcontext),
        "tempered": ({"solver": "tempered"}, contextlib.nullcontext),
        "gibbs, no exchanges": ({"solver": "gibbs"}, lambda: known_modes([])),
        "tempered, no exchanges": ({"solver": "tempered"}, lambda: known_modes([])),
    }
    print(f"Traps: rms error of the probabilities of columns that matter, default draws, {count}")
    print("data sets of random kinds; runs off by .1 or more, those of them that did not warn; all")
    print(f"that warned; processor seconds. Against all models at p = 12, else {REFERENCE_DRAWS}")
    print("draws of each of four chains that know the sets. Asked: .03 with exchanges\n")
    print("| p | slab | " + " | ".join(ways) + " |")
    print("|" + "---|" * (len(ways) + 2))
    for p in sizes:
        for slab in slabs:
            found = {way: [] for way in ways}
            for seed in range(first, first + count):
                kinds = [KINDS[seed % 4]] if p <= 12 else None
                trap = make_traps(seed, p, kinds)
                exact = truth(trap, slab)
                for way, (settings, context) in ways.items():
                    with context():
                        inclusion, taken, warned = fit(trap, slab, seed, **settings)
                    off = inclusion - exact
                    found[way].append((np.mean(off**2), np.abs(off).max() > 0.1, warned, taken))
            cells = []
            for own in found.values():
                square, wrong, warned, taken = np.array(own, dtype=float).T
                silent = ((wrong > 0) & (warned == 0)).sum()
                cells.append(f"{np.sqrt(square.mean()):.3f}; {wrong.sum():.0f}, {silent}; "
                             f"{warned.sum():.0f}; {taken.mean():.2f} s")  # fmt: skip
            print(f"| {p} | {slab} | " + " | ".join(cells) + " |", flush=True)
    print()


def modes(first, count):
    """How often marginal_map misses the most probable model, at p from 12 to 20."""
    found = {"now": 0, "climbs from the frontier only": 0}
    for seed in range(first, first + count):
        p = (12, 16, 20)[seed % 3]
        trap, rng = make_traps(seed, p), np.random.default_rng(seed)
        spread, theta = trap.y.std() * np.sqrt(len(trap.y)), rng.uniform(0.02, 0.3)
        sigma_e = trap.y.std() * np.exp(rng.uniform(-2.5, -0.5))
        exact = SpikeSlabRegressor(
            theta=theta, sigma_beta=spread, sigma_e=sigma_e, solver="enumerate", n_draws=1
        ).fit(trap.X, trap.y)
        best = set(exact.models_["variables"][0])
        with mock.patch("ellzero.posterior._modes._CLIMBS", 0):
            before = marginal_map(trap.X, trap.y, BernoulliGaussian(theta, spread), sigma_e)
        now = marginal_map(trap.X, trap.y, BernoulliGaussian(theta, spread), sigma_e)
        for way, model in zip(found, (now, before), strict=True):
            found[way] += {f"x{j}" for j in model.support} != best
    print(f"Modes: how many of {count} traps marginal_map misses; asked: none\n")
    for way, missed in found.items():
        print(f"- {way}: {missed}")
    print()


def small_problem(seed):
    """Return data of up to eleven columns: correlated ones, and in a quarter of cases a trap."""
    rng = np.random.default_rng([77, seed])
    if seed % 4 == 3:
        trap = make_traps(seed, int(rng.integers(9, 12)))
        return trap.X, trap.y
    n, p, rho = int(rng.integers(25, 120)), int(rng.integers(5, 12)), rng.uniform(0, 0.97)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    beta = np.where(rng.random(p) < 0.3, rng.normal(scale=rng.uniform(0.2, 1.5), size=p), 0)
    return X, X @ beta + rng.standard_normal(n)


PRIORS = ({}, {"slab": "zellner"}, {"slab": "boom"}, {"scale_prior": "zellner-siow"},
          {"scale_prior": "prediction"})  # fmt: skip


def errors(first, count):
    """What inclusion probabilities are off by, in units of their Monte Carlo errors."""
    print(f"Errors: off from all models, in Monte Carlo errors, {count} data sets of up to eleven")
    print("columns; plain: without what no draw has met. Asked: like N(0, 1), or less\n")
    print("| solver | probability | error | how many | rms | above 2, % | above 3, % | most |")
    print("|---|---|---|---|---|---|---|---|")
    for solver in ("gibbs", "tempered"):
        rows = []
        for seed in range(first, first + count):
            X, y = small_problem(seed)
            prior = PRIORS[seed % len(PRIORS)]
            exact = SpikeSlabRegressor(solver="enumerate", n_draws=1, **prior).fit(X, y)
            model = SpikeSlabRegressor(solver=solver, random_state=seed, **prior).fit(X, y)
            series = model._conditional.astype(float).transpose(2, 0, 1)
            plain = [array_stats.mcse(own) for own in series]
            truth = exact.inclusion_probabilities_
            rows.append(np.array([truth, model.inclusion_probabilities_ - truth, plain,
                                  model.probability_errors_]))  # fmt: skip
        truth, off, plain, full = np.concatenate(rows, axis=1)
        middle = (truth > 0.02) & (truth < 0.98)
        for share, of in ((".02 to .98", middle), ("beyond", ~middle)):
            for name, error in (("plain", np.maximum(plain, 1e-7)), ("ours", full)):
                z = np.abs(off / error)[of]
                print(f"| {solver} | {share} | {name} | {z.size} | {np.sqrt(np.mean(z**2)):.2f} | "
                      f"{100 * np.mean(z > 2):.1f} | {100 * np.mean(z > 3):.1f} | "
                      f"{z.max():.1f} |", flush=True)  # fmt: skip
    print()


def ordinary_problem(seed):
    rng = np.random.default_rng([31, seed])
    n, p = int(rng.choice([50, 100, 200, 500])), int(rng.choice([15, 30, 60, 200]))
    X, rho = rng.standard_normal((n, p)), rng.choice([0, 0.3, 0.6, 0.9])
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    beta, k = np.zeros(p), int(rng.integers(0, 8))
    beta[rng.choice(p, k, replace=False)] = rng.normal(size=k)
    return X, X @ beta + rng.uniform(0.5, 3) * rng.standard_normal(n)


def false_warnings(first, count):
    """How often ordinary data warn."""
    print(f"Warnings: of {count} ordinary data sets with chains of default length; asked: few\n")
    for prior in (*PRIORS, {"slab": "laplace"}):
        said = []
        for seed in range(first, first + count):
            X, y = ordinary_problem(seed)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                SpikeSlabRegressor(solver="gibbs", random_state=seed, **prior).fit(X, y)
            said += [str(item.message) for item in caught]
        print(f"- {prior or 'default'}: {len(said)} {said[:1] or ''}", flush=True)
    print()
