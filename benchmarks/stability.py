"""Stability: its time, and what it finds beside EBIC.

    python benchmarks/stability.py [--first SEED] [--count N]

Time is that of 50 pairs and 20 sizes over that of one frontier without swaps on half the rows, in
one process, on one thread. What is selected at threshold .9, at the size that EBIC chooses, is set
beside what EBIC chooses itself: true variables found, and false ones.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import time
import warnings
from functools import partial

import numpy as np

from ellzero import L0Regressor, l0_frontier, stability
from ellzero.datasets import make_collinear


def seconds(work, turns):
    taken = []
    for _ in range(turns):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return min(taken)


def speed():
    print("| n x p | one frontier, ms | stability, ms | ratio |\n|---|---|---|---|")
    for n, p in ((120, 100), (300, 200), (1000, 1000), (500, 5000), (20_000, 100)):
        X, y, _ = make_collinear(n, p, random_state=1)
        half = np.random.default_rng(0).permutation(n)[: n // 2]
        X_half, y_half = np.ascontiguousarray(X[half]), y[half]
        one = 1e3 * seconds(partial(l0_frontier, X_half, y_half, max_size=20, swaps=False), 10)
        every = 1e3 * seconds(partial(stability, X, y), 4)
        print(f"| {n} x {p} | {one:.2f} | {every:.0f} | {every / one:.0f} |", flush=True)
    print()


def noisy(n, p, true, noise):
    """Columns correlated in groups; coefficients of one, noise of so many standard deviations."""

    def make(seed):
        rng = np.random.default_rng([n, p, seed])
        X = rng.normal(size=(n, p)) + np.repeat(rng.normal(size=(n, p // 5)), 5, axis=1)
        beta = np.zeros(p)
        beta[rng.choice(p, true, replace=False)] = 1.0
        signal = X @ beta
        return X, signal + noise * signal.std() * rng.normal(size=n), beta

    return make


def quality(first, count):
    designs = {
        "noise, 100 x 20": lambda seed: (
            *np.split(np.random.default_rng(seed).normal(size=(100, 21)), [20], axis=1),
            np.zeros(20),
        ),
        "300 x 200, noise of .5 sd": noisy(300, 200, 10, 0.5),
        "300 x 200, noise of 2 sd": noisy(300, 200, 10, 2.0),
        "100 x 50, noise of 1 sd": noisy(100, 50, 10, 1.0),
        "paper's, 10 dB": lambda seed: make_collinear(120, 100, snr_db=10, random_state=seed),
    }
    print("| design | EBIC: found + false | stability .9 | bound |\n|---|---|---|---|")
    for name, make in designs.items():
        rows = []
        for seed in range(first, first + count):
            X, y, beta = make(seed)
            y = np.ravel(y)
            true = set(np.flatnonzero(beta).tolist())
            by_ebic = set(L0Regressor().fit(X, y).support_.tolist())
            found = stability(X, y)
            stable = set(found.selected(0.9).tolist())
            by_both = [len(part) for s in (by_ebic, stable) for part in (s & true, s - true)]
            rows.append([*by_both, found.bound(0.9)])
        a, b, c, d, bound = np.mean(rows, axis=0)
        print(f"| {name} | {a:.1f} + {b:.2f} | {c:.1f} + {d:.2f} | {bound:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=50, help="data sets per design")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    speed()
    quality(options.first, options.count)


if __name__ == "__main__":
    main()
