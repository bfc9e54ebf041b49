"""Chains whose sweeps are over some columns, the others once in a while: the same posterior."""

import warnings

import numpy as np
import pytest
from spike_slab_priors import (
    THETAS,
    VARIANCES,
    autoregressive,
    core_prior,
    design_of,
    enumerate_all,
    run_chains,
)

from ellzero import SpikeSlabRegressor
from ellzero.posterior import _active

N, P, CHAINS, DRAWS = 60, 12, 64, 120
STARTS = ([[], [0], [2, 3]] * CHAINS)[:CHAINS]
# One that matters is among them, another is not.
ACTIVE = [1, 2, 3, 5, 9]


def sample(design, prior, active=ACTIVE, **settings):
    how = {"draws": DRAWS, "warmup": 150, "batch": 3, "within": 2, **settings}
    return run_chains(design, prior, STARTS, active=active, **how)


def distance(chains, name, expected, others=None):
    """How far the average over chains is from what is expected, in its standard errors."""
    values = np.array([chain[name] for chain in chains]) / DRAWS
    variance = values.var(axis=0, ddof=1) / len(chains)
    if others is not None:
        other = np.array([chain[name] for chain in others]) / DRAWS
        expected = other.mean(axis=0)
        variance = variance + other.var(axis=0, ddof=1) / len(others)
    error = np.maximum(np.sqrt(variance), 1e-9 * np.abs(expected) + 1e-300)
    return (np.abs(values.mean(axis=0) - expected) / error).max()


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("variances", VARIANCES)
def test_agrees_with_enumeration(theta, variances):
    X, y = autoregressive(N, P, 0.9, seed=0)
    design = design_of(X, y)
    prior = core_prior(P, N - 1, theta=THETAS[theta], **VARIANCES[variances])
    exact, _, _ = enumerate_all(design, prior, 1, 0, 1)
    chains = sample(design, prior)
    for name in ("inclusion", "mean", "square"):
        assert distance(chains, name, exact[name]) < 4.5, name


def test_draws_agree_with_enumeration():
    X, y = autoregressive(N, P, 0.9, seed=0)
    design = design_of(X, y)
    prior = core_prior(P, N - 1, theta=(1.0, 3.0), **VARIANCES["gaussian, both learned"])
    exact, _, _ = enumerate_all(design, prior, 1, 0, 1)
    chains = sample(design, prior)
    seen = [{"seen": np.bincount(chain["support"], minlength=P)} for chain in chains]
    assert distance(seen, "seen", exact["inclusion"]) < 4.5


@pytest.mark.parametrize("case", ["always and never in", "scales", "modes", "thinned"])
def test_what_else_there_may_be(case):
    X, y = autoregressive(N, P, 0.9, seed=3)
    design, settings = design_of(X, y), {}
    prior = core_prior(P, N - 1, theta=(1.0, 3.0), **VARIANCES["gaussian, both learned"])
    if case == "always and never in":
        log_odds = np.zeros(P)
        log_odds[[2, 7]], log_odds[[5, 8]] = np.inf, -np.inf
        prior.log_odds = log_odds.tolist()
    elif case == "scales":
        prior.scales = np.geomspace(0.3, 3.0, P).tolist()
    elif case == "modes":
        settings["modes"] = [[1, 5], [2, 9], [1, 2, 3], [0, 7], [4, 6]]
    else:
        settings["thin"] = 2
    exact, _, _ = enumerate_all(design, prior, 1, 0, 1)
    chains = sample(design, prior, **settings)
    for name in ("inclusion", "mean", "square"):
        assert distance(chains, name, exact[name]) < 4.5, name


def test_laplace_slabs_agree_with_sweeps_over_all():
    X, y = autoregressive(N, P, 0.9, seed=0)
    prior = core_prior(
        P, N - 1, slab="laplace", theta=(1.0, 3.0), noise=(0.5, 1.0), spread=(1.0, 60.0)
    )
    chains = sample(design_of(X, y), prior)
    plain = sample(design_of(X, y), prior, active=[], batch=1, within=1)
    for name in ("inclusion", "mean", "square"):
        assert distance(chains, name, None, plain) < 4.5, name


def test_a_row_is_the_average_of_a_batch():
    X, y = autoregressive(N, P, 0.9, seed=0)
    prior = core_prior(P, N - 1, **VARIANCES["gaussian, both learned"])
    (chain,) = sample(design_of(X, y), prior, draws=10)[:1]
    rows = chain["conditional"]
    assert rows.shape == (4, P)  # three batches of three draws, and one of one
    np.testing.assert_allclose(
        np.average(rows, axis=0, weights=[3, 3, 3, 1]) * 10, chain["inclusion"], rtol=1e-5
    )


def test_threads_change_nothing():
    X, y = autoregressive(N, 30, 0.9, seed=2)
    prior = core_prior(30, N - 1, noise=(0.5, 1.0), spread=(1.0, 30.0), theta=(1.0, 5.0))
    one, two = (sample(design_of(X, y), prior, threads=threads) for threads in (1, 2))
    for a, b in zip(one, two, strict=True):
        for name in a:
            np.testing.assert_array_equal(a[name], b[name])


def test_the_regressor_chooses_columns_where_there_are_many(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 300))
    X[:, 5] += X[:, 4]
    y = 1.5 * X[:, 4] - X[:, 200] + 0.8 * rng.standard_normal(80)
    plain = SpikeSlabRegressor(random_state=0).fit(X, y)
    monkeypatch.setattr(_active, "_FEW", 200)
    monkeypatch.setattr(_active, "_COUNT", 20)
    monkeypatch.setattr(_active, "_PER_DRAW", 50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it has mixed
        model = SpikeSlabRegressor(random_state=0).fit(X, y)
    assert model._conditional.shape == (4, 167, 300)  # a batch is of six draws
    np.testing.assert_allclose(
        model.inclusion_probabilities_, plain.inclusion_probabilities_, atol=0.015
    )
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=0.01)
    assert model.probability_errors_.max() < 0.01
    half = SpikeSlabRegressor(n_draws=503, random_state=0).fit(X, y)
    half.extend(497, X, y)
    np.testing.assert_array_equal(half.inclusion_probabilities_, model.inclusion_probabilities_)
    np.testing.assert_array_equal(half._conditional, model._conditional)
