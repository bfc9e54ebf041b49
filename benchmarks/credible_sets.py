"""Credible sets where variables are correlated in blocks: what they find, and how surely.

Columns are in blocks of six, correlated at rho within a block; three blocks of ten have one causal
variable each, with a coefficient of plus or minus the effect, and noise of variance one. For
enumeration there are two blocks of six and one causal variable. Found: the share of causal
variables that are in a reported set. Coverage: the share of sets that hold a causal variable. Not
reported: blocks of which some variable is in with probability .95 or more, but none is in a set.

    python benchmarks/credible_sets.py                   the data sets that are reported
    python benchmarks/credible_sets.py --first 1000      those that the rules were chosen on

SuSiE, as in pysusie, stands beside it if that is installed (pip install --no-deps pysusie==0.1.0).
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import warnings

import numpy as np

from ellzero import SpikeSlabRegressor

try:
    import pysusie
except ImportError:
    pysusie = None

RHOS = (0.8, 0.95, 0.995)
BLOCK = 6
N = 200


def make_blocks(seed, rho, n_blocks, n_causal, effect):
    """Return X, y, and the causal columns, each in a block of its own."""
    rng = np.random.default_rng([seed, int(1000 * rho)])
    shared = rng.normal(size=(N, n_blocks, 1))
    own = rng.normal(size=(N, n_blocks, BLOCK))
    X = (np.sqrt(rho) * shared + np.sqrt(1 - rho) * own).reshape(N, -1)
    blocks = rng.choice(n_blocks, n_causal, replace=False)
    causal = blocks * BLOCK + rng.integers(BLOCK, size=n_causal)
    beta = np.zeros(X.shape[1])
    beta[causal] = effect * rng.choice([-1, 1], n_causal)
    return X, X @ beta + rng.normal(size=N), set(causal.tolist())


def by_ellzero(X, y, seed, solver):
    """Return the sets, and the probability that any of a block is in, by block."""
    model = SpikeSlabRegressor(random_state=seed, solver=solver).fit(X, y)
    inside = model.draws_.coef.toarray() != 0
    any_of = inside.reshape(len(inside), -1, BLOCK).any(axis=2).mean(axis=0)
    return [set(found.columns.tolist()) for found in model.credible_sets_], any_of


def by_susie(X, y):
    found = pysusie.susie(X, y, L=10).sets["cs"] or []
    found = found.values() if isinstance(found, dict) else found
    return [set(np.asarray(columns).tolist()) for columns in found]


class Tally:
    def __init__(self):
        self.causal = self.found = self.covering = self.blocks = self.missed = self.data_sets = 0
        self.sizes = []

    def add(self, sets, causal, any_of):
        self.data_sets += 1
        reported = set().union(*sets)
        self.causal += len(causal)
        self.found += len(causal & reported)
        self.covering += sum(bool(columns & causal) for columns in sets)
        self.sizes += [len(columns) for columns in sets]
        for block in np.flatnonzero(any_of >= 0.95):
            self.blocks += 1
            self.missed += not reported & set(range(BLOCK * block, BLOCK * (block + 1)))

    def row(self):
        found = f"{self.found / self.causal:.3f}" if self.causal else "-"
        sets = max(len(self.sizes), 1)
        coverage = f"{self.covering / sets:.3f}" if self.causal else "-"
        size = f"{np.sum(self.sizes) / sets:.2f}"
        per = f"{len(self.sizes) / self.data_sets:.2f}"
        missed = f"{self.missed} of {self.blocks}" if self.blocks else "-"
        return f"{found} | {coverage} | {size} | {per} | {missed}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=4000, help="the first seed")
    parser.add_argument("--count", type=int, default=100, help="how many data sets per row")
    parser.add_argument("--effects", type=float, nargs="*", default=[0.35, 0.5, 1.0])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(options.first, options.first + options.count)
    print("| columns | effect | rho | by | found | coverage | size | sets | not reported |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    designs = [("gibbs", 10, 3, effect) for effect in options.effects]
    designs += [("enumerate", 2, 1, 0.5), ("gibbs", 2, 1, 0.5), ("gibbs", 10, 0, 0.0)]
    for solver, n_blocks, n_causal, effect in designs:
        for rho in RHOS:
            ours, theirs = Tally(), Tally()
            for seed in seeds:
                X, y, causal = make_blocks(seed, rho, n_blocks, n_causal, effect)
                sets, any_of = by_ellzero(X, y, seed, solver)
                ours.add(sets, causal, any_of)
                if pysusie is not None:
                    theirs.add(by_susie(X, y), causal, np.zeros(n_blocks))
            label = f"| {n_blocks * BLOCK} | {effect:g} | {rho:g}"
            print(f"{label} | {solver} | {ours.row()} |", flush=True)
            if pysusie is not None and solver == "gibbs":
                print(f"{label} | SuSiE | {theirs.row()} |", flush=True)


if __name__ == "__main__":
    main()
