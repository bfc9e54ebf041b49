"""The spike-and-slab posterior of two classes: effective draws per second, and at larger sizes.

At 200 x 100, one chain in one thread: effective draws per second of the slowest-mixing indicator.
millipede (Jankowiak 2023), if it is installed (from its repository, with torch), is measured beside
it under a prior of the same expected size; else the ratio is to 10 effective draws per second, what
it made on such tables where a product of the table with as many vectors took what is printed.

At 1000 x 500 and 500 x 5000, four chains in two threads with everything learned: how long they
take by the clock, and as half of the processor's time, which other work on the machine disturbs
less; the largest Monte Carlo error of an inclusion probability, and the time to bring that to .01.

Columns are correlated as rho^|i-j|; five of them matter.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import sys
import time
import warnings

import numpy as np
from arviz_stats.base import array_stats
from sklearn.exceptions import ConvergenceWarning

from ellzero import SpikeSlabClassifier

SEEDS = range(5)
EFFECTS = {0.17: 1.0, 0.2: 0.5, 0.5: -1.0, 0.75: 0.7, 0.9: -0.4}
MILLIPEDE = 10.0  # effective draws per second


def simulate(n, p, rho, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    psi = sum(effect * X[:, int(place * p)] for place, effect in EFFECTS.items())
    return X, (rng.random(n) < 1 / (1 + np.exp(-psi))).astype(int)


def slowest(indicators):
    """Effective sample size of the slowest-mixing column of a (chain, draw, column) array.

    Columns that are in, or out, in all but 1% of draws say little about mixing.
    """
    share = indicators.mean(axis=(0, 1))
    moving = np.flatnonzero((share > 0.01) & (share < 0.99))
    return min(array_stats.ess(indicators[:, :, j], method="mean") for j in moving)


def fit(X, y, **settings):
    model = SpikeSlabClassifier(random_state=0, **settings)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    return model, time.perf_counter() - start


def millipede_rate(X, y, n_draws=2000):
    """Effective draws per second, weights and all; None if it is not installed."""
    try:
        import torch
        from millipede import BernoulliLikelihoodVariableSelector
    except ImportError:
        return None
    import pandas as pd

    table = pd.DataFrame(X).assign(y=y)
    torch.manual_seed(0)
    selector = BernoulliLikelihoodVariableSelector(table, "y", S=2.0, precision="double")
    start = time.perf_counter()
    selector.run(T=n_draws, T_burnin=500, verbosity=None, seed=0)
    seconds = time.perf_counter() - start
    weights = np.asarray(selector.samples.weight)
    kept = np.asarray(selector.samples.add_prob) * weights[:, None] / weights.mean()
    return (
        min(array_stats.ess(kept[None, :, j], method="mean") for j in range(X.shape[1])) / seconds
    )


def against_millipede():
    X = np.random.default_rng(0).standard_normal((200, 100))
    start = time.perf_counter()
    for _ in range(1000):
        X.T @ X
    product = (time.perf_counter() - start) / 1000
    print(f"200 x 100; a product of the table with 100 vectors takes {1e6 * product:.0f} us here\n")
    print("| rho | seed | seconds | effective draws per second | millipede | ratio |")
    print("|---|---|---|---|---|---|")
    for rho in (0.5, 0.9):
        ratios = []
        for seed in SEEDS:
            X, y = simulate(200, 100, rho, seed)
            model, seconds = fit(X, y, n_chains=1, n_draws=10_000)
            rate = slowest((model.draws_.coef.toarray() != 0)[None].astype(float)) / seconds
            measured = millipede_rate(X, y)
            other = MILLIPEDE if measured is None else measured
            ratios.append(rate / other)
            said = f"{other:.1f}" + (" (not installed)" if measured is None else "")
            print(f"| {rho} | {seed} | {seconds:.2f} | {rate:.0f} | {said} | {ratios[-1]:.0f} |")
        print(f"| {rho} | median | | | | {np.median(ratios):.0f} |", flush=True)


def larger(n, p, n_draws, seeds):
    for rho in (0.5, 0.9):
        for seed in seeds:
            X, y = simulate(n, p, rho, seed)
            start = time.process_time()
            model, seconds = fit(X, y, n_draws=n_draws, n_jobs=2)
            busy = 0.5 * (time.process_time() - start)
            error = model.probability_errors_.max()
            needed = busy * (error / 0.01) ** 2
            r_hat = model.diagnostics_["r_hat"].iloc[:p].max()
            print(
                f"| {n} x {p} | {rho} | {seed} | {seconds:.1f} | {busy:.1f} | "
                f"{model.draws_.size.mean():.1f} | {error:.4f} | {needed:.1f} | {r_hat:.3f} |",
                flush=True,
            )


def main():
    against_millipede()
    print("\nEverything learned, four chains in two threads\n")
    print("| n x p | rho | seed | seconds | busy | size | largest error | busy for .01 | R-hat |")
    print("|---|---|---|---|---|---|---|---|---|")
    larger(1000, 500, 2000, range(3))
    larger(500, 5000, 1000, range(2))


if __name__ == "__main__":
    sys.exit(main())
