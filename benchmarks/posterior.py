"""The spike-and-slab posterior against BayesBoom, Scott's own sampler, and at larger sizes.

Under the same prior, on the paper's design: seconds for an effective sample size of 1,000 in the
slowest-mixing indicator, and their ratio; one thread, one process. Then how long everything learned
takes where the paper says "intractable", with the largest Monte Carlo error of an inclusion
probability. ``--wide``: the last alone, with more columns and on more data.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import contextlib
import io
import resource
import sys
import time

import numpy as np
import pandas as pd
from arviz_stats.base import array_stats

from ellzero import SpikeSlabRegressor
from ellzero.datasets import make_collinear
from ellzero.posterior._diagnostics import probability_errors

SEEDS = range(5)
ESS = 1000


def slowest(indicators):
    """Effective sample size of the slowest-mixing column of a (chain, draw, column) array.

    Columns that are in, or out, in all but 1% of draws say little about mixing.
    """
    share = indicators.mean(axis=(0, 1))
    moving = np.flatnonzero((share > 0.01) & (share < 0.99))
    return min(array_stats.ess(indicators[:, :, j], method="mean") for j in moving)


def ours(X, y, solver, n_draws):
    model = SpikeSlabRegressor(
        slab="boom", theta=0.5, solver=solver, n_chains=1, n_draws=n_draws, random_state=0
    )
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    indicators = (model.draws_.coef.toarray() != 0)[None].astype(float)
    return seconds * ESS / slowest(indicators), model.inclusion_probabilities_


def bayesboom(X, y, n_draws, warmup=200):
    from BayesBoom.spikeslab import lm_spike  # only where it is compared with

    names = [f"x{j}" for j in range(X.shape[1])]
    table = pd.DataFrame(X, columns=names).assign(y=y)
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        model = lm_spike(
            "y ~ " + " + ".join(names),
            niter=n_draws + warmup,
            data=table,
            prior_inclusion_probabilities=np.full(len(names) + 1, 0.5),
            seed=1,
        )
    seconds = time.perf_counter() - start
    draws = np.asarray(model._coefficient_draws.todense())[warmup:, 1:]
    indicators = (draws != 0)[None].astype(float)
    return seconds * ESS / slowest(indicators), indicators.mean(axis=(0, 1))


def against_bayesboom():
    print("Seconds for an effective sample size of 1,000 in the slowest indicator, same prior\n")
    print(
        "| n x p | seed | Gibbs | tempered | BayesBoom | BayesBoom / Gibbs | largest difference |"
    )
    print("|---|---|---|---|---|---|---|")
    for n, p in ((120, 100), (300, 200)):
        ratios = []
        for seed in SEEDS:
            X, y, _ = make_collinear(n, p, random_state=seed)
            gibbs, inclusion = ours(X, y, "gibbs", 10_000)
            tempered, _ = ours(X, y, "tempered", 2_000)
            boom, theirs = bayesboom(X, y, 3_000)
            ratios.append(boom / gibbs)
            print(
                f"| {n} x {p} | {seed} | {gibbs:.3f} | {tempered:.3f} | {boom:.2f} "
                f"| {ratios[-1]:.0f} | {np.abs(inclusion - theirs).max():.3f} |",
                flush=True,
            )
        print(f"| {n} x {p} | median | | | | {np.median(ratios):.0f} | |", flush=True)


def large(sizes, seeds):
    print("\nEverything learned, four chains on two threads, defaults\n")
    print("| n x p | seed | seconds | of processor | largest Monte Carlo error | peak, GB |")
    print("|---|---|---|---|---|---|")
    for n, p in sizes:
        for seed in seeds:
            X, y, _ = make_collinear(n, p, random_state=seed)
            start, used = time.perf_counter(), time.process_time()
            model = SpikeSlabRegressor(random_state=0, n_jobs=2).fit(X, y)
            seconds, used = time.perf_counter() - start, time.process_time() - used
            # The library takes half a millisecond a variable: those that move most are enough.
            moving = np.argsort(-model._conditional.std(axis=(0, 1)))[:200]
            errors = probability_errors(model._conditional[:, :, moving])
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
            print(
                f"| {n} x {p} | {seed} | {seconds:.1f} | {used:.1f} | {errors.max():.4f} "
                f"| {peak:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    if "--wide" in sys.argv:
        large([(500, 1000), (500, 10_000)], range(10, 15))
        large([(1000, 100_000)], [10])
    else:
        against_bayesboom()
        large([(1000, 1000), (2000, 2000), (500, 10_000)], [0])
