"""The classifier's chain against its own prior: calibration by simulation, and Geweke's test.

Everything is learned: theta, the slab's variance, the intercept.
"""

import numpy as np
from logit_posteriors import logit_prior, logit_rows, logit_start, run_logit
from scipy import stats

N, P = 15, 4
SPREAD, THETA, INTERCEPT_SD = (3.0, 20.0), (1.0, 2.0), 1.5
PRIOR = {"theta": THETA, "spread": SPREAD, "intercept_sd": INTERCEPT_SD}
NAMES = ["theta", "spread", "intercept", "size", "beta", "sum"]


def fixed_table():
    X = np.random.default_rng(11).standard_normal((N, P))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    times = np.random.default_rng(12).integers(1, 4, N).astype(float)
    design, _ = logit_rows(X, times, times)
    return X, times, (X - design.mean) * design.inverse_scale


def draw_prior(rng):
    theta, spread = rng.beta(*THETA), SPREAD[1] / rng.gamma(SPREAD[0])
    beta = np.where(rng.random(P) < theta, np.sqrt(spread) * rng.standard_normal(P), 0.0)
    return theta, spread, INTERCEPT_SD * rng.standard_normal(), beta


def respond(Z, times, intercept, beta, rng):
    return rng.binomial(times.astype(int), 1 / (1 + np.exp(-intercept - Z @ beta))).astype(float)


def truth(theta, spread, intercept, beta):
    values = theta, spread, intercept, float(np.count_nonzero(beta)), beta[0], beta.sum()
    return dict(zip(NAMES, values, strict=True))


def dense_beta(chain):
    sizes = np.diff(chain["begins"])
    beta = np.zeros((len(sizes), P))
    beta[np.repeat(np.arange(len(sizes)), sizes), chain["support"]] = chain["beta"]
    return beta


def quantities(chain):
    beta, sizes = dense_beta(chain), np.diff(chain["begins"]).astype(float)
    values = chain["theta"], chain["slab_variance"], chain["intercept"], sizes, beta[:, 0]
    return dict(zip(NAMES, (*values, beta.sum(axis=1)), strict=True))


def test_simulation_based_calibration():
    # Among draws of the posterior given data from the prior, the truth has every rank as often.
    rng = np.random.default_rng(5)
    X, times, Z = fixed_table()
    prior = logit_prior(P, **PRIOR)
    thinned, simulations = 39, 500
    ranks = {name: [] for name in NAMES}
    for simulation in range(simulations):
        drawn = draw_prior(rng)
        _, rows = logit_rows(X, respond(Z, times, *drawn[2:], rng), times)
        (chain,) = run_logit(
            rows, prior, [logit_start()], seed=simulation, warmup=100, draws=thinned * 10
        )
        found, true = quantities(chain), truth(*drawn)
        for name in ranks:
            draws = found[name][9::10]
            ties = rng.integers(np.count_nonzero(draws == true[name]) + 1)
            ranks[name].append(np.count_nonzero(draws < true[name]) + ties)
    for name, values in ranks.items():
        counts = np.bincount(np.array(values) * 10 // (thinned + 1), minlength=10)
        assert stats.chisquare(counts).pvalue > 1e-4, (name, counts)


def test_geweke_joint():
    # Parameters given data and data given parameters, in turn: the parameters follow the prior.
    rng = np.random.default_rng(3)
    X, times, Z = fixed_table()
    prior = logit_prior(P, **PRIOR)
    rounds = 15_000
    _, spread, intercept, beta = draw_prior(rng)
    visited = {name: np.empty(rounds) for name in NAMES}
    for t in range(rounds):
        _, rows = logit_rows(X, respond(Z, times, intercept, beta, rng), times)
        prior.slab_variance.value = spread
        support = np.flatnonzero(beta)
        start = logit_start(support.tolist(), beta[support].tolist(), intercept)
        (chain,) = run_logit(rows, prior, [start], seed=t, warmup=0, draws=1)
        spread, intercept = float(chain["slab_variance"][0]), float(chain["intercept"][0])
        beta = dense_beta(chain)[0]
        found = quantities(chain)
        for name, values in visited.items():
            values[t] = found[name][0]
    drawn = [truth(*draw_prior(rng)) for _ in range(rounds)]
    for name, values in visited.items():
        expected = np.array([row[name] for row in drawn])
        for power in (1, 2):
            bounded = [np.arctan(x - np.median(expected)) ** power for x in (values, expected)]
            batches = bounded[0].reshape(100, -1).mean(axis=1)
            error = np.hypot(batches.std() / 10, bounded[1].std() / np.sqrt(rounds))
            assert abs(batches.mean() - bounded[1].mean()) < 4 * error, (name, power)
