"""Samplers against their own priors: simulation-based calibration, and Geweke's joint test.

Everything is learned, hyperparameters are numbers and there is no intercept: the priors have to be
proper and free of the data.
"""

import numpy as np
import pytest
from scipy import stats
from spike_slab_priors import core_prior, design_of, run_chains

N, P, G, BOOM = 15, 5, 10.0, 0.2
NOISE, SPREAD, THETA = (4.0, 4.0), (4.0, 12.0), (1.0, 2.0)
# The slab's variance over that of the noise, as Zellner and Siow have it
RELATIVE = ("relative", 0.5, N / 2)
# Any sets will do: exchanges between them have to leave the posterior as it is.
MODES = [[0, 1], [2, 3, 4], [1], [0, 2, 4], []]
# Of the columns' slabs, where they have scales of their own
SCALES = np.array([0.3, 1.0, 3.0, 1.0, 0.5])
PRIORS = [
    "gaussian",
    "gaussian, relative",
    "gaussian, scaled",
    "laplace",
    "laplace, relative",
    "laplace, scaled",
    "zellner",
    "boom",
]


def fixed_design():
    Z = np.random.default_rng(11).standard_normal((N, P))
    Z[:, 1] = 0.8 * Z[:, 0] + 0.6 * Z[:, 1]
    return Z / np.linalg.norm(Z, axis=0)


def draw_prior(Z, slab, rng):
    """Return theta, s2, sigma_beta^2 and beta."""
    slab, _, kind = slab.partition(", ")
    theta = rng.beta(*THETA)
    s2, spread = (rate / rng.gamma(shape) for shape, rate in (NOISE, SPREAD))
    if kind == "relative":
        spread = s2 * RELATIVE[2] / rng.gamma(RELATIVE[1])
    inside = np.flatnonzero(rng.random(P) < theta)
    Z_S, k = Z[:, inside], inside.size
    beta = np.zeros(P)
    if slab == "gaussian":
        beta[inside] = np.sqrt(spread) * rng.standard_normal(k)
    elif slab == "laplace":
        beta[inside] = rng.laplace(scale=np.sqrt(spread / 2), size=k)
    else:
        gram = Z_S.T @ Z_S
        precision = gram / G if slab == "zellner" else BOOM * 0.5 * (gram + np.eye(k))
        root = np.linalg.cholesky(precision)
        beta[inside] = np.sqrt(s2) * np.linalg.solve(root.T, rng.standard_normal(k))
    if kind == "scaled":
        beta *= SCALES
    return theta, s2, spread, beta


def make_prior(slab):
    slab, _, kind = slab.partition(", ")
    spread = RELATIVE if kind == "relative" else SPREAD
    prior = core_prior(P, N, slab=slab, noise=NOISE, spread=spread, theta=THETA, g=G, boom=BOOM)
    if kind == "scaled":
        prior.scales = SCALES.tolist()
    return prior


def quantities(chain):
    """By name, what is compared: one number a draw."""
    rows = np.repeat(np.arange(len(chain["s2"])), np.diff(chain["begins"]))
    beta = np.zeros((len(chain["s2"]), P))
    beta[rows, chain["support"]] = chain["beta"]
    return {
        "theta": chain["theta"],
        "s2": chain["s2"],
        "spread": chain["slab_variance"],
        "size": np.diff(chain["begins"]).astype(float),
        "beta": beta[:, 0],
        "sum": beta.sum(axis=1),
    }


def truth(theta, s2, spread, beta):
    size = float(np.count_nonzero(beta))
    return {"theta": theta, "s2": s2, "spread": spread, "size": size, "beta": beta[0],
            "sum": beta.sum()}  # fmt: skip


def watched(slab):
    names = ["theta", "s2", "size", "beta", "sum"]
    return names if slab in ("zellner", "boom") else [*names, "spread"]


# Every prior plainly; tempered chains and exchanges on one of each slab.
CASES = [
    *((slab, False, []) for slab in PRIORS),
    *((slab, True, []) for slab in ("gaussian", "laplace", "zellner", "boom")),
    *((slab, False, MODES) for slab in ("gaussian, scaled", "laplace, scaled", "zellner", "boom")),
]


@pytest.mark.parametrize(("slab", "tempered", "modes"), CASES)
def test_simulation_based_calibration(slab, tempered, modes):
    # Among draws of the posterior given data from the prior, the truth has every rank as often.
    rng = np.random.default_rng(5)
    Z, prior = fixed_design(), make_prior(slab)
    thinned, simulations = 39, 400
    ranks = {name: [] for name in watched(slab)}
    for simulation in range(simulations):
        drawn = draw_prior(Z, slab, rng)
        y = Z @ drawn[3] + np.sqrt(drawn[1]) * rng.standard_normal(N)
        (chain,) = run_chains(
            design_of(Z, y, intercept=False),
            prior,
            [[]],
            seed=simulation,
            warmup=100,
            draws=thinned * 10,
            tempered=tempered,
            modes=modes,
        )
        found, true = quantities(chain), truth(*drawn)
        for name in ranks:
            draws = found[name][9::10]
            ties = rng.integers(np.count_nonzero(draws == true[name]) + 1)
            ranks[name].append(np.count_nonzero(draws < true[name]) + ties)
    for name, values in ranks.items():
        counts = np.bincount(np.array(values) * 10 // (thinned + 1), minlength=10)
        assert stats.chisquare(counts).pvalue > 1e-4, (name, counts)


@pytest.mark.parametrize("modes", [[], MODES])
@pytest.mark.parametrize("slab", [slab for slab in PRIORS if "laplace" not in slab])
def test_geweke_joint(slab, modes):
    # Parameters given data and data given parameters, in turn: the parameters follow the prior.
    # A Laplace slab's chain carries scales that a start can't hand on: it is calibrated above.
    rng = np.random.default_rng(3)
    Z = fixed_design()
    prior = make_prior(slab)
    rounds = 12_000
    _, s2, spread, beta = draw_prior(Z, slab, rng)
    visited = {name: np.empty(rounds) for name in watched(slab)}
    for t in range(rounds):
        y = Z @ beta + np.sqrt(s2) * rng.standard_normal(N)
        prior.noise.value, prior.slab_variance.value = s2, spread
        (chain,) = run_chains(
            design_of(Z, y, intercept=False),
            prior,
            [np.flatnonzero(beta).tolist()],
            seed=t,
            warmup=0,
            draws=1,
            modes=modes,
        )
        s2, spread = float(chain["s2"][0]), float(chain["slab_variance"][0])
        beta = np.zeros(P)
        beta[chain["support"]] = chain["beta"]
        found = quantities(chain)
        for name, values in visited.items():
            values[t] = found[name][0]
    drawn = [truth(*draw_prior(Z, slab, rng)) for _ in range(rounds)]
    for name, values in visited.items():
        expected = np.array([row[name] for row in drawn])
        for power in (1, 2):
            bounded = [np.arctan(x - np.median(expected)) ** power for x in (values, expected)]
            batches = bounded[0].reshape(100, -1).mean(axis=1)
            error = np.hypot(batches.std() / 10, bounded[1].std() / np.sqrt(rounds))
            assert abs(batches.mean() - bounded[1].mean()) < 4 * error, (name, power)
