"""What it costs to make chains anew from their state every 500 iterations.

Prints, for chains that only warm up, the time with boundaries over the time without them: processor
time, the median over pairs run in turn. Run: python benchmarks/chain_boundaries.py [pairs]
"""

import sys
import time

import numpy as np

from ellzero import _core
from ellzero._engine import make_columns, make_design, make_design_on

NEVER = 10**9


def table(n, p, seed):
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.standard_normal((n, p)))
    beta = np.zeros(p)
    beta[: min(10, p)] = 1.0
    return X, X @ beta + 3 * rng.standard_normal(n)


def prior(p, n, slab, learned):
    out = _core.SpikeSlabPrior()
    out.slab = getattr(_core.Slab, slab)
    out.noise.learned = out.slab_variance.learned = learned
    out.noise.shape, out.noise.rate = 0.005, 0.01
    out.slab_variance.shape, out.slab_variance.rate = 1.0, 10.0 * n
    out.noise.value, out.slab_variance.value = 9.0, 1.0 * n
    out.learn_theta, out.theta_a, out.theta_b = True, 1.0, p / 2 - 1
    out.log_odds = [0.0] * p
    out.degrees, out.g, out.information = n - 1.0, float(n), 0.01 / n
    return out


def columns(n, p, slab, learned, tempered=False):
    X, y = table(n, p, 1)
    design, own = make_design(X, y, None, True, 1), prior(p, n, slab, learned)

    def sample(schedule):
        schedule.tempered = tempered
        _core.sample_spike_slab(
            design, own, [[]], [0.0] * p, seed=1, schedule=schedule, threads=1, progress=None
        )

    return sample


def groups(n, count, width):
    X, y = table(n, count * width, 2)
    design, own = make_design(X, y, None, True, 1), prior(count, n, "gaussian", True)
    lists = np.arange(count * width).reshape(count, width).tolist()
    posterior = _core.GroupPosterior(design, lists, True, own, [], True, cache_bytes=1e9)

    def sample(schedule):
        zeros = [0.0] * (count * width)
        posterior.sample([[]], zeros, seed=1, schedule=schedule, threads=1, progress=None)

    return sample


def classes(n, p):
    X, y = table(n, p, 3)
    counts, successes = np.ones(n), (y > 0).astype(float)
    kept = make_columns(X)
    design = make_design_on(kept, successes, counts, True, 1)
    rows = _core.make_logit_rows(kept, design, counts, successes, True, 1e9)
    own = _core.LogitPrior()
    own.intercept_precision, own.log_odds = 0.01, [-3.0] * p
    own.slab_variance.learned, own.slab_variance.shape = True, 2.0
    own.slab_variance.rate = own.slab_variance.value = 4.0 * n

    def sample(schedule):
        _core.sample_logit_spike_slab(
            rows, own, [_core.LogitStart()], [0.0] * p, 1, schedule, threads=1, progress=None
        )

    return sample


CASES = {
    "gaussian, learned, 200 x 50": (columns, (200, 50, "gaussian", True), 20_000),
    "gaussian, learned, 200 x 1000": (columns, (200, 1000, "gaussian", True), 4_000),
    "gaussian, given, 200 x 1000": (columns, (200, 1000, "gaussian", False), 6_000),
    "zellner, 500 x 200": (columns, (500, 200, "zellner", True), 20_000),
    "boom, 500 x 200": (columns, (500, 200, "boom", True), 10_000),
    "laplace, 200 x 100": (columns, (200, 100, "laplace", True), 5_000),
    "tempered, 200 x 1000": (columns, (200, 1000, "gaussian", True, True), 2_000),
    "groups, 40 of 4, n = 300": (groups, (300, 40, 4), 2_000),
    "classes, 200 x 50": (classes, (200, 50), 2_000),
}


def seconds(sample, warmup, thin):
    schedule = _core.Schedule()
    schedule.warmup, schedule.thin = warmup, thin
    begin = time.process_time()
    sample(schedule)
    return time.process_time() - begin


def main():
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    for name, (make, arguments, warmup) in CASES.items():
        sample = make(*arguments)
        seconds(sample, 200, 1)
        ratios = [seconds(sample, warmup, 1) / seconds(sample, warmup, NEVER) for _ in range(pairs)]
        print(f"{name:32s} {np.median(ratios):.3f}", flush=True)


if __name__ == "__main__":
    main()
