"""Chains with flat terms against their own priors.

A flat prior can't be drawn from, and need not be: y less what flat columns explain of it does not
depend on their coefficients, and what the posterior says of these moves along with them. So the
truth has every rank as often, whatever numbers the flat coefficients are.
"""

import numpy as np
import pytest
from scipy import stats
from spike_slab_priors import core_prior, design_of, run_chains

from ellzero import _core
from ellzero.posterior._draws import _join
from ellzero.posterior._flat import take_out

N, P, G, BOOM = 16, 4, 10.0, 0.2
NOISE, SPREAD, THETA = (4.0, 4.0), (4.0, 12.0), (1.0, 2.0)
SCALES = np.array([0.3, 1.0, 3.0, 1.0])
FLAT = np.array([P, P + 1])
BETA_FLAT = np.array([3.0, -40.0])


def fixed_design():
    """Columns to choose from, of unit norm, then two flat ones that they are correlated with."""
    Z = np.random.default_rng(21).standard_normal((N, P + 2)) * 2
    Z[:, 1] = 0.8 * Z[:, 0] + 0.6 * Z[:, 1]
    Z[:, 0] += Z[:, P]
    Z[:, 2] += 2 * Z[:, P + 1] - Z[:, P]
    Z = Z - Z.mean(axis=0)
    return Z / np.linalg.norm(Z, axis=0)


def draw_prior(Z, slab, rng):
    theta = rng.beta(*THETA)
    s2, spread = (rate / rng.gamma(shape) for shape, rate in (NOISE, SPREAD))
    inside = np.flatnonzero(rng.random(P) < theta)
    beta = np.zeros(P)
    if slab == "gaussian":
        beta[inside] = np.sqrt(spread) * SCALES[inside] * rng.standard_normal(inside.size)
    elif slab == "laplace":
        beta[inside] = rng.laplace(scale=np.sqrt(spread / 2) * SCALES[inside])
    else:
        left = Z[:, :P] - Z[:, FLAT] @ np.linalg.lstsq(Z[:, FLAT], Z[:, :P], rcond=None)[0]
        gram = left[:, inside].T @ left[:, inside]
        precision = gram / G
        if slab == "boom":
            precision = BOOM * 0.5 * (gram + np.diag(np.diag(gram)))
        root = np.linalg.cholesky(precision)
        beta[inside] = np.sqrt(s2) * np.linalg.solve(root.T, rng.standard_normal(inside.size))
    return theta, s2, spread, beta


def sample(Z, y, slab, rng, start=(), values=None, **schedule):
    """Run a chain on what flat columns leave; return draws with coefficients of all columns."""
    terms = take_out(design_of(Z, y), FLAT, None, fit_intercept=True)
    assert isinstance(terms.design, _core.ProjectedQuadratic)
    prior = core_prior(P + 2, N - 1 - FLAT.size, slab=slab, noise=NOISE, spread=SPREAD,
                       theta=THETA, g=G, boom=BOOM)  # fmt: skip
    if slab in ("gaussian", "laplace"):
        prior.scales = (np.append(SCALES, [1.0, 1.0]) * terms.shares()).tolist()
    if values is not None:
        prior.noise.value, prior.slab_variance.value = values
    (chain,) = run_chains(terms.design, prior, [list(start)], **schedule)
    coef = _join([chain], terms.design.inverse_scale)
    noise = rng.standard_normal((coef.shape[0], terms.rank))
    chain["coef"] = terms.add_draws(coef, np.sqrt([chain["s2"]]), noise).toarray()
    return chain


def quantities(theta, s2, spread, coef):
    """By name, what is compared; of a draw, or of many."""
    return {
        "theta": theta,
        "s2": s2,
        "spread": spread,
        "size": np.count_nonzero(coef[..., :P], axis=-1),
        "beta": coef[..., 0],
        "sum": coef[..., :P].sum(axis=-1),
        "flat": coef[..., P],
        "other flat": coef[..., P + 1],
        "all": coef.sum(axis=-1),
    }


def drawn(chain):
    return quantities(*(chain[name] for name in ("theta", "s2", "slab_variance", "coef")))


@pytest.mark.parametrize(
    ("slab", "tempered"),
    [("gaussian", False), ("gaussian", True), ("laplace", False), ("zellner", False),
     ("boom", False)],
)  # fmt: skip
def test_simulation_based_calibration(slab, tempered):
    rng = np.random.default_rng(6)
    Z = fixed_design()
    thinned, simulations = 39, 300
    ranks = {}
    for simulation in range(simulations):
        theta, s2, spread, beta = draw_prior(Z, slab, rng)
        coef = np.concatenate([beta, BETA_FLAT])
        y = 7.0 + Z @ coef + np.sqrt(s2) * rng.standard_normal(N)
        chain = sample(Z, y, slab, rng, seed=simulation, warmup=100, draws=thinned * 10,
                       tempered=tempered)  # fmt: skip
        found, true = drawn(chain), quantities(theta, s2, spread, coef)
        for name in true:
            draws = found[name][9::10]
            ties = rng.integers(np.count_nonzero(draws == true[name]) + 1)
            ranks.setdefault(name, []).append(np.count_nonzero(draws < true[name]) + ties)
    if slab in ("zellner", "boom"):
        del ranks["spread"]
    for name, values in ranks.items():
        counts = np.bincount(np.array(values) * 10 // (thinned + 1), minlength=10)
        assert stats.chisquare(counts).pvalue > 1e-4, (name, counts)


@pytest.mark.parametrize("slab", ["gaussian", "boom"])
def test_geweke_joint(slab):
    # Parameters given data and data given parameters, in turn. Flat coefficients would walk away:
    # what y has of them is set back each time, which changes nothing of what is left.
    rng = np.random.default_rng(4)
    Z = fixed_design()
    rounds = 3000
    _, s2, spread, beta = draw_prior(Z, slab, rng)
    visited = []
    for t in range(rounds):
        y = Z @ np.concatenate([beta, BETA_FLAT]) + np.sqrt(s2) * rng.standard_normal(N)
        chain = sample(Z, y, slab, rng, start=np.flatnonzero(beta), values=(s2, spread), seed=t,
                       warmup=0, draws=1)  # fmt: skip
        s2, spread = float(chain["s2"][0]), float(chain["slab_variance"][0])
        beta = chain["coef"][0, :P]
        visited.append({name: float(values[0]) for name, values in drawn(chain).items()})
    expected = []
    for _ in range(rounds):
        theta, noise, width, own = draw_prior(Z, slab, rng)
        expected.append(quantities(theta, noise, width, np.concatenate([own, BETA_FLAT])))
    names = ["theta", "s2", "size", "beta", "sum", *(["spread"] if slab == "gaussian" else [])]
    for name in names:
        here, there = (np.array([row[name] for row in rows]) for rows in (visited, expected))
        for power in (1, 2):
            bounded = [np.arctan(x - np.median(there)) ** power for x in (here, there)]
            batches = bounded[0].reshape(60, -1).mean(axis=1)
            error = np.hypot(batches.std() / np.sqrt(60), bounded[1].std() / np.sqrt(rounds))
            assert abs(batches.mean() - bounded[1].mean()) < 4 * error, (name, power)
