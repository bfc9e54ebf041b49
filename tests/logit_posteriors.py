"""Logistic regressions in the core, with any hyperparameters."""

import numpy as np

from ellzero import _core
from ellzero._engine import make_columns, make_design_on


def logit_rows(X, successes, counts=None, *, intercept=True, room=1e9):
    """Return the design, whose mean and scale are those of Z, and the rows."""
    counts = np.ones(len(successes)) if counts is None else np.asarray(counts, dtype=float)
    successes = np.asarray(successes, dtype=float)
    columns = make_columns(X)
    design = make_design_on(columns, successes / counts, counts, intercept, 1)
    rows = _core.make_logit_rows(columns, design, counts, successes, intercept, room)
    return design, rows


def logit_prior(p, *, theta=0.3, spread=50.0, intercept_sd=10.0):
    """Theta is a number or (a, b), the slab's variance a number or (shape, rate)."""
    prior = _core.LogitPrior()
    prior.intercept_precision = intercept_sd**-2
    prior.slab_variance = slab_variance(spread)
    prior.log_odds = [0.0] * p
    if isinstance(theta, tuple):
        prior.learn_theta = True
        prior.theta_a, prior.theta_b = theta
    else:
        prior.log_odds = np.broadcast_to(np.log(theta) - np.log1p(-np.asarray(theta)), p).tolist()
    return prior


def slab_variance(spread):
    out = _core.Variance()
    if isinstance(spread, tuple):
        out.learned = True
        out.shape, out.rate = spread
        out.value = out.rate / (out.shape + 1)
    else:
        out.value = spread
    return out


def logit_start(support=(), beta=(), intercept=0.0):
    start = _core.LogitStart()
    start.support, start.beta, start.intercept = list(support), list(beta), intercept
    return start


def run_logit(rows, prior, starts, *, draws, warmup, thin=1, seed=0, threads=1):
    schedule = _core.Schedule()
    schedule.warmup, schedule.draws, schedule.thin = warmup, draws, thin
    zeros = [0.0] * len(prior.log_odds)
    return _core.sample_logit_spike_slab(
        rows, prior, starts, zeros, seed=seed, schedule=schedule, threads=threads, progress=None
    )


def enumerate_logit(rows, prior, *, draws=10, seed=0, tolerance=2e-4, threads=1):
    zeros = [0.0] * len(prior.log_odds)
    return _core.enumerate_logit_spike_slab(
        rows, prior, zeros, draws=draws, seed=seed, tolerance=tolerance, threads=threads
    )


def simulated(n, p, rho, seed, counts=False):
    """Columns correlated as rho^|i-j|, two or three of which matter; also how often rows are."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    psi = 1.0 * X[:, p // 6] - 0.8 * X[:, p // 2] + 0.6 * X[:, (3 * p) // 4] - 0.3
    times = rng.integers(1, 5, n) if counts else np.ones(n, dtype=int)
    return X, rng.binomial(times, 1 / (1 + np.exp(-psi))).astype(float), times.astype(float)
