"""The sampler under Student's noise against its own prior: calibration, and Geweke's joint test.

Everything is learned, hyperparameters are numbers and there is no intercept: the priors have to be
proper and free of the data.
"""

import numpy as np
import pytest
from logit_posteriors import logit_start
from scipy import stats
from spike_slab_priors import core_prior
from student_posteriors import degrees_prior, run_student, student_rows

N, P = 15, 5
NOISE, THETA, DEGREES = (4.0, 4.0), (1.0, 2.0), (2.0, 0.3, 1.0)
SPREADS = {"absolute": (4.0, 12.0), "relative": ("relative", 2.0, 8.0)}
WATCHED = ["theta", "s2", "spread", "df", "size", "beta", "sum"]


def fixed_design():
    Z = np.random.default_rng(11).standard_normal((N, P))
    Z[:, 1] = 0.8 * Z[:, 0] + 0.6 * Z[:, 1]
    return Z / np.linalg.norm(Z, axis=0)


def draw_prior(kind, rng):
    """Return theta, s2, sigma_beta^2, df and beta."""
    theta = rng.beta(*THETA)
    s2 = NOISE[1] / rng.gamma(NOISE[0])
    shape, rate = SPREADS[kind][-2:]
    spread = rate / rng.gamma(shape) * (s2 if kind == "relative" else 1)
    df = DEGREES[2] + rng.gamma(DEGREES[0]) / DEGREES[1]
    inside = rng.random(P) < theta
    return theta, s2, spread, df, np.where(inside, np.sqrt(spread) * rng.standard_normal(P), 0.0)


def draw_response(Z, drawn, rng):
    _, s2, _, df, beta = drawn
    return Z @ beta + np.sqrt(s2) * rng.standard_t(df, N)


def make_prior(kind):
    return core_prior(P, N, noise=NOISE, spread=SPREADS[kind], theta=THETA)


def quantities(chain):
    """By name, what is compared: one number a draw."""
    rows = np.repeat(np.arange(len(chain["s2"])), np.diff(chain["begins"]))
    beta = np.zeros((len(chain["s2"]), P))
    beta[rows, chain["support"]] = chain["beta"]
    return {
        "theta": chain["theta"],
        "s2": chain["s2"],
        "spread": chain["slab_variance"],
        "df": chain["noise_df"],
        "size": np.diff(chain["begins"]).astype(float),
        "beta": beta[:, 0],
        "sum": beta.sum(axis=1),
    }


def truth(theta, s2, spread, df, beta):
    size = float(np.count_nonzero(beta))
    return {"theta": theta, "s2": s2, "spread": spread, "df": df, "size": size, "beta": beta[0],
            "sum": beta.sum()}  # fmt: skip


@pytest.mark.parametrize("kind", SPREADS)
def test_simulation_based_calibration(kind):
    rng = np.random.default_rng(5)
    Z, prior, degrees = fixed_design(), make_prior(kind), degrees_prior(DEGREES)
    thinned, simulations = 39, 400
    ranks = {name: [] for name in WATCHED}
    for simulation in range(simulations):
        drawn = draw_prior(kind, rng)
        _, rows = student_rows(Z, draw_response(Z, drawn, rng), intercept=False)
        (chain,) = run_student(
            rows, prior, degrees, seed=simulation, warmup=100, draws=thinned * 10
        )
        found, true = quantities(chain), truth(*drawn)
        for name in ranks:
            draws = found[name][9::10]
            ties = rng.integers(np.count_nonzero(draws == true[name]) + 1)
            ranks[name].append(np.count_nonzero(draws < true[name]) + ties)
    for name, values in ranks.items():
        counts = np.bincount(np.array(values) * 10 // (thinned + 1), minlength=10)
        assert stats.chisquare(counts).pvalue > 1e-4, (name, counts)


@pytest.mark.parametrize("kind", SPREADS)
def test_geweke_joint(kind):
    # Parameters given data and data given parameters, in turn: the parameters follow the prior.
    rng = np.random.default_rng(3)
    Z, prior, degrees = fixed_design(), make_prior(kind), degrees_prior(DEGREES)
    rounds = 12_000
    drawn = draw_prior(kind, rng)
    visited = {name: np.empty(rounds) for name in WATCHED}
    for t in range(rounds):
        _, s2, spread, df, beta = drawn
        _, rows = student_rows(Z, draw_response(Z, drawn, rng), intercept=False)
        prior.noise.value, prior.slab_variance.value, degrees.value = s2, spread, df
        inside = np.flatnonzero(beta)
        start = logit_start(inside.tolist(), beta[inside].tolist())
        (chain,) = run_student(rows, prior, degrees, [start], seed=t, warmup=0, draws=1)
        found = quantities(chain)
        beta = np.zeros(P)
        beta[chain["support"]] = chain["beta"]
        drawn = (*(float(found[name][0]) for name in ("theta", "s2", "spread", "df")), beta)
        for name, values in visited.items():
            values[t] = found[name][0]
    fresh = [truth(*draw_prior(kind, rng)) for _ in range(rounds)]
    for name, values in visited.items():
        expected = np.array([row[name] for row in fresh])
        for power in (1, 2):
            bounded = [np.arctan(x - np.median(expected)) ** power for x in (values, expected)]
            batches = bounded[0].reshape(100, -1).mean(axis=1)
            error = np.hypot(batches.std() / 10, bounded[1].std() / np.sqrt(rounds))
            assert abs(batches.mean() - bounded[1].mean()) < 4 * error, (name, power)
