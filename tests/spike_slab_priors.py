"""Priors of the core with any hyperparameters, and small designs to try them on."""

import numpy as np

from ellzero import _core
from ellzero._engine import make_design


def core_prior(p, degrees, *, slab="gaussian", noise=1.0, spread=1.0, theta=0.3, g=1.0, boom=0.1):
    """A variance is a number, or (shape, rate) if it is learned; theta a number or (a, b).

    ``spread=("relative", shape, rate)`` is the prior of the ratio to the variance of the noise.
    """
    prior = _core.SpikeSlabPrior()
    prior.slab = getattr(_core.Slab, slab)
    prior.noise, prior.slab_variance = variance(noise), variance(spread)
    prior.log_odds = [0.0] * p
    if isinstance(theta, tuple):
        prior.learn_theta = True
        prior.theta_a, prior.theta_b = theta
    else:
        prior.log_odds = np.broadcast_to(np.log(theta) - np.log1p(-np.asarray(theta)), p).tolist()
    prior.degrees, prior.g, prior.information = degrees, g, boom
    return prior


def variance(value):
    out = _core.Variance()
    if isinstance(value, tuple):
        out.learned, out.relative = True, value[0] == "relative"
        out.shape, out.rate = value[-2:]
        out.value = out.rate / (out.shape + 1)
    else:
        out.value = value
    return out


def autoregressive(n, p, rho, seed):
    """Columns correlated as rho^|i-j|, three of which matter a little."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    beta = np.zeros(p)
    beta[[p // 6, p // 2, (3 * p) // 4]] = 1.0, -0.8, 0.6
    return X, X @ beta + 1.5 * rng.standard_normal(n)


def design_of(X, y, *, intercept=True):
    return make_design(X, y, None, intercept, 1)


# Every combination of what is learned and what is given; noise and spread are for columns of unit
# norm and about 60 rows.
THETAS = {"theta given": 0.3, "theta learned": (1.0, 3.0)}
VARIANCES = {
    "gaussian, given": {"noise": 2.0, "spread": 30.0},
    "gaussian, slab learned": {"noise": 2.0, "spread": (1.0, 30.0)},
    "gaussian, noise learned": {"noise": (0.5, 1.0), "spread": 30.0},
    "gaussian, both learned": {"noise": (0.5, 1.0), "spread": (1.0, 30.0)},
    "gaussian, relative slab": {"noise": 2.0, "spread": ("relative", 0.5, 7.0)},
    "gaussian, relative slab, noise learned": {
        "noise": (0.5, 1.0),
        "spread": ("relative", 0.5, 7.0),
    },
    "zellner, given": {"slab": "zellner", "noise": 2.0, "g": 60.0},
    "zellner, noise learned": {"slab": "zellner", "noise": (0.5, 1.0), "g": 60.0},
    "boom, given": {"slab": "boom", "noise": 2.0, "boom": 0.01},
    "boom, noise learned": {"slab": "boom", "noise": (0.5, 1.0), "boom": 0.01},
}


def run_chains(
    design,
    prior,
    starts,
    *,
    draws,
    warmup,
    thin=1,
    seed=0,
    tempered=False,
    threads=1,
    modes=(),
    active=(),
    batch=1,
    within=1,
):
    """Between ``modes`` chains exchange sets of columns; most sweeps are over ``active`` ones."""
    schedule = _core.Schedule()
    schedule.warmup, schedule.draws, schedule.thin = warmup, draws, thin
    schedule.tempered, schedule.batch, schedule.within = tempered, batch, within
    zeros = [0.0] * design.columns
    return _core.sample_spike_slab(
        design,
        prior,
        starts,
        zeros,
        seed=seed,
        schedule=schedule,
        threads=threads,
        progress=None,
        modes=[list(mode) for mode in modes],
        active=list(active),
    )


def enumerate_all(design, prior, draws, seed, threads):
    """Return draws and averages, the mass of every support, and the log of the evidence."""
    zeros = [0.0] * design.columns
    found = _core.enumerate_spike_slab(design, prior, zeros, draws, seed, threads)
    return found.draws, found.masses, found.log_evidence
