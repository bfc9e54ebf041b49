"""The bridge and the horseshoe: seconds for an effective sample size of 1,000.

In the slowest-mixing coefficient, on the paper's design and on a wide one; one chain, one thread,
one process. Beside them the package bayesbridge, if it is installed. Its source on PyPI needs an
older Cython: pip install "cython<3" setuptools wheel, then pip install --no-build-isolation
bayesbridge. It samples under a prior of its own, so that effective sample sizes are of two
posteriors: the time of an iteration is given too.

With --square the bridge at 2000 x 2000 alone: two chains, two threads, and what a minute yields.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import importlib.util
import time
import warnings

import numpy as np
from arviz_stats.base import array_stats

from ellzero import BayesianBridgeRegressor, HorseshoeRegressor
from ellzero.datasets import make_collinear

SEEDS = range(3)
ESS = 1000
REPETITIONS = 3
WARMUP = 500
SIZES = {(120, 100): 20_000, (300, 200): 20_000, (100, 1000): 10_000}

PEER = "bayesbridge, .5"
OURS = {
    "bridge, .5": BayesianBridgeRegressor(),
    "bridge, 1": BayesianBridgeRegressor(alpha=1.0),
    "bridge, learned": BayesianBridgeRegressor(alpha="learn"),
    "horseshoe": HorseshoeRegressor(),
}


def slowest(draws):
    """Least effective sample size of the columns of a (draw, column) array."""
    return min(float(array_stats.ess(column[None], method="mean")) for column in draws.T)


def ours(model, X, y, n_draws):
    """Seconds an iteration, and iterations an effective draw."""
    model.set_params(n_chains=1, n_warmup=WARMUP, n_draws=n_draws, random_state=0).fit(X, y)
    draws = model.draws_.coef
    few = max(100, n_draws // 20)
    model.set_params(n_draws=few, n_warmup=0)
    seconds = min(_time(lambda: model.fit(X, y)) for _ in range(REPETITIONS)) / few
    return seconds, n_draws / slowest(draws)


def theirs(X, y, n_draws):
    from bayesbridge import BayesBridge, RegressionCoefPrior, RegressionModel

    Z = X - X.mean(axis=0)
    Z /= np.linalg.norm(Z, axis=0)
    sampler = BayesBridge(
        RegressionModel(y - y.mean(), Z, family="linear"),
        RegressionCoefPrior(bridge_exponent=0.5),
    )
    start = time.perf_counter()
    samples, _ = sampler.gibbs(
        n_iter=n_draws + WARMUP, n_burnin=WARMUP, coef_sampler_type="cholesky", seed=1
    )
    seconds = (time.perf_counter() - start) / (n_draws + WARMUP)
    return seconds, n_draws / slowest(samples["coef"][1:].T)


def _time(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def square(seeds, n_draws, n_warmup):
    """Print effective sample sizes at 2000 x 2000, and what they would be after a minute."""
    print("| seed | seconds | of processor | slowest coefficient | tau | sigma_e | in a minute |")
    print("|---|---|---|---|---|---|---|")
    for seed in seeds:
        X, y, _ = make_collinear(2000, 2000, random_state=seed)
        model = BayesianBridgeRegressor(
            n_chains=2, n_draws=n_draws, n_warmup=n_warmup, random_state=seed, n_jobs=2
        )
        processor = time.process_time()
        seconds = _time(lambda model=model, X=X, y=y: model.fit(X, y))
        processor = time.process_time() - processor
        draws = model.draws_
        shape = draws.n_chains, draws.n_draws
        found = [
            min(float(array_stats.ess(column.reshape(shape))) for column in values.T)
            for values in (draws.coef, draws.tau.reshape(-1, 1), draws.sigma_e.reshape(-1, 1))
        ]
        warm = seconds * n_warmup / (n_warmup + n_draws)
        minute = min(found) * (60 - warm) / (seconds - warm)
        row = " | ".join(f"{value:.0f}" for value in (*found, minute))
        print(f"| {seed} | {seconds:.1f} | {processor:.1f} | {row} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--square", action="store_true")
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 11])
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--warmup", type=int, default=100)
    arguments = parser.parse_args()
    if arguments.square:
        warnings.simplefilter("ignore")
        return square(arguments.seeds, arguments.draws, arguments.warmup)
    has_peer = importlib.util.find_spec("bayesbridge") is not None
    if not has_peer:
        print("bayesbridge is not installed.\n")
    warnings.simplefilter("ignore")
    print("| n x p | sampler | ms an iteration | iterations a draw | seconds for an ESS of 1,000 |")
    print("|---|---|---|---|---|")
    for (n, p), n_draws in SIZES.items():
        found = {}
        for seed in SEEDS:
            X, y, _ = make_collinear(n, p, random_state=seed)
            for name, model in OURS.items():
                found.setdefault(name, []).append(ours(model, X, y, n_draws))
            if has_peer:
                found.setdefault(PEER, []).append(theirs(X, y, 2000))
        for name, values in found.items():
            each, per_draw = np.median(np.array(values), axis=0)
            total = np.median([a * b for a, b in values]) * ESS
            print(
                f"| {n} x {p} | {name} | {1e3 * each:.3f} | {per_draw:.1f} | {total:.3f} |",
                flush=True,
            )
        if PEER in found:
            pairs = [np.array(found[name]) for name in (PEER, "bridge, .5")]
            iteration = np.median(pairs[0][:, 0] / pairs[1][:, 0])
            effective = np.median(pairs[0].prod(axis=1) / pairs[1].prod(axis=1))
            print(
                f"| {n} x {p} | bayesbridge / ours | {iteration:.0f} times | | "
                f"{effective:.0f} times |",
                flush=True,
            )


if __name__ == "__main__":
    main()
