"""The samplers of the bridge and the horseshoe against their own priors.

Simulation-based calibration, and Geweke's joint test. Everything is learned, hyperparameters are
numbers and there is no intercept: the priors have to be proper and free of the data.
"""

import numpy as np
import pytest
from scipy import stats

from ellzero import _core
from ellzero._engine import make_design

N, P = 12, 4
NOISE, NU, TAU_SCALE = (4.0, 4.0), (4.0, 2.0), 0.5
ALPHAS = (0.4, 1.0)  # where learned
SLAB = (5.0, 1.5)  # degrees of freedom and scale
KINDS = ["bridge", "power", "learned", "horseshoe", "regularised"]


def fixed_design():
    Z = np.random.default_rng(11).standard_normal((N, P))
    Z[:, 1] = 0.8 * Z[:, 0] + 0.6 * Z[:, 1]
    return Z / np.linalg.norm(Z, axis=0)


def design_of(Z, y):
    return make_design(Z, y, None, False, 1)


def make_prior(kind):
    prior = _core.ScaleMixturePrior()
    prior.noise = _core.Variance()
    prior.noise.learned = True
    prior.noise.shape, prior.noise.rate = NOISE
    prior.degrees = N
    prior.is_horseshoe = kind in ("horseshoe", "regularised")
    prior.horseshoe.regularised = kind == "regularised"
    prior.horseshoe.slab_df, prior.horseshoe.slab_scale = SLAB
    prior.bridge.alpha = 1.6 if kind == "power" else 0.5
    prior.bridge.learn_alpha = kind == "learned"
    prior.bridge.least_alpha, prior.bridge.greatest_alpha = ALPHAS
    prior.bridge.nu_shape, prior.bridge.nu_rate = NU
    prior.horseshoe.tau_scale = TAU_SCALE
    return prior


def draw_prior(kind, rng):
    s2 = NOISE[1] / rng.gamma(NOISE[0])
    if kind == "horseshoe":
        tau = TAU_SCALE * np.sqrt(s2) * np.abs(rng.standard_cauchy())
        beta = tau * np.abs(rng.standard_cauchy(P)) * rng.standard_normal(P)
        return {"s2": s2, "tau": tau, "alpha": 0.5, "beta": beta, "slab": 1.0}
    if kind == "regularised":
        tau = TAU_SCALE * np.sqrt(s2) * np.abs(rng.standard_cauchy())
        wide = tau * np.abs(rng.standard_cauchy(P))
        slab = SLAB[0] * SLAB[1] ** 2 / 2 / rng.gamma(SLAB[0] / 2)
        beta = rng.standard_normal(P) / np.sqrt(1 / wide**2 + 1 / slab)
        return {"s2": s2, "tau": tau, "alpha": 0.5, "beta": beta, "slab": np.sqrt(slab)}
    alpha = {"bridge": 0.5, "power": 1.6, "learned": rng.uniform(*ALPHAS)}[kind]
    tau = (rng.gamma(NU[0]) / NU[1]) ** (-1 / alpha)
    size = rng.gamma(1 / alpha, size=P) ** (1 / alpha)
    beta = tau * size * rng.choice([-1, 1], P)
    return {"s2": s2, "tau": tau, "alpha": alpha, "beta": beta, "slab": 1.0}


def draw_response(Z, state, rng):
    return Z @ state["beta"] + np.sqrt(state["s2"]) * rng.standard_normal(N)


def quantities(state):
    """By name, what is compared: one number a draw, of bounded moments."""
    beta = np.asarray(state["beta"])
    out = {
        "s2": np.log(state["s2"]),
        "tau": np.log(state["tau"]),
        "beta": np.arctan(beta[..., 0]),
        "size": np.log(np.abs(beta)).sum(axis=-1),
        "sum": np.arctan(beta.sum(axis=-1)),
    }
    return out | {"alpha": state["alpha"], "slab": np.log(state["slab"])}


def watched(kind):
    names = ["s2", "tau", "beta", "size", "sum"]
    return names + {"learned": ["alpha"], "regularised": ["slab"]}.get(kind, [])


# By products of columns, with and without sweeps over coefficients (for powers up to one), and by
# rows.
WAYS = [
    pytest.param(kind, {"by_rows": by_rows, "sweeps": sweeps}, id=f"{kind}, {name}")
    for kind in KINDS
    for name, by_rows, sweeps in [("columns", False, 0), ("sweeps", False, 2), ("rows", True, 0)]
    if kind != "power" or sweeps == 0
]


@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_simulation_based_calibration(kind, way):
    # Among draws of the posterior given data from the prior, the truth has every rank as often.
    rng = np.random.default_rng(5)
    Z, prior = fixed_design(), make_prior(kind)
    thinned, every, simulations = 39, 12, 400
    ranks = {name: [] for name in watched(kind)}
    for simulation in range(simulations):
        state = draw_prior(kind, rng)
        y = draw_response(Z, state, rng)
        (chain,) = _core.sample_scale_mixture(
            design_of(Z, y), prior, 1, 150, thinned * every, simulation, 1, **way
        )
        found, true = quantities(chain), quantities(state)
        for name, values in ranks.items():
            values.append(np.count_nonzero(found[name][every - 1 :: every] < true[name]))
    for name, values in ranks.items():
        counts = np.bincount(np.array(values) * 10 // (thinned + 1), minlength=10)
        assert stats.chisquare(counts).pvalue > 1e-4, (name, counts)


@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_geweke_joint(kind, way):
    # Parameters given data and data given parameters, in turn: the parameters follow the prior.
    # They start from it again every ten rounds, which leaves batches that are independent.
    rng = np.random.default_rng(3)
    Z, prior = fixed_design(), make_prior(kind)
    rounds, length = 20_000, 10
    visited = {name: np.empty(rounds) for name in watched(kind)}
    for t in range(rounds):
        if t % length == 0:
            state = draw_prior(kind, rng)
        y = draw_response(Z, state, rng)
        (chain,) = _core.sample_scale_mixture(
            design_of(Z, y),
            prior,
            1,
            0,
            1,
            t,
            1,
            np.ascontiguousarray(state["beta"]),
            float(state["s2"]),
            float(state["alpha"]),
            float(state["tau"]),
            **way,
            slab=float(state["slab"]),
        )
        state = {name: chain[name][0] for name in ("beta", "s2", "tau", "alpha", "slab")}
        found = quantities(state)
        for name, values in visited.items():
            values[t] = found[name]
    drawn = [quantities(draw_prior(kind, rng)) for _ in range(rounds)]
    for name, values in visited.items():
        expected = np.array([row[name] for row in drawn])
        for power in (1, 2):
            both = [(x - np.median(expected)) ** power for x in (values, expected)]
            batches = both[0].reshape(-1, length).mean(axis=1)
            error = np.hypot(batches.std() / np.sqrt(len(batches)), both[1].std() / np.sqrt(rounds))
            assert abs(batches.mean() - both[1].mean()) < 4 * error, (name, power)
