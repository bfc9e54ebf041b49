"""Exchanges between modes: exact whatever the modes are, and they get chains out of traps."""

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
from traps import KINDS, make_traps

from ellzero import SpikeSlabRegressor

CHAINS, DRAWS = 64, 250
# Sets that overlap, one within another, one twice; nothing to do with the data
SETS = [[0, 1], [2, 3, 5], [5, 2, 3], [0, 1, 4], [], [6]]


def in_standard_errors(chains, name, expected):
    values = np.array([chain[name] for chain in chains]) / DRAWS
    error = values.std(axis=0, ddof=1) / np.sqrt(len(chains))
    return np.abs(values.mean(axis=0) - expected) / np.maximum(error, 1e-9 * np.abs(expected))


@pytest.mark.parametrize("tempered", [False, True])
@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("variances", VARIANCES)
def test_any_sets_leave_the_posterior_as_it_is(tempered, theta, variances):
    X, y = autoregressive(60, 8, 0.9, seed=3)
    design = design_of(X, y)
    prior = core_prior(8, 59, theta=THETAS[theta], **VARIANCES[variances])
    exact, _, _ = enumerate_all(design, prior, 1, 0, 1)
    starts = ([[], [0], [2, 3]] * CHAINS)[:CHAINS]
    settings = {"draws": DRAWS, "warmup": 100, "tempered": tempered, "modes": SETS}
    chains = run_chains(design, prior, starts, **settings)
    for name in ("inclusion", "mean", "square"):
        assert in_standard_errors(chains, name, exact[name]).max() < 4, name


def test_columns_that_are_always_or_never_in_stay_so():
    X, y = autoregressive(60, 8, 0.5, seed=4)
    theta = np.array([1.0, 0.3, 0.0, 0.3, 0.3, 0.3, 0.3, 0.3])
    with np.errstate(divide="ignore"):
        prior = core_prior(8, 59, theta=theta, noise=2.0, spread=30.0)
    for chain in run_chains(design_of(X, y), prior, [[], [1]], draws=200, warmup=0, modes=SETS):
        assert (chain["conditional"][:, 0] == 1).all()
        assert (chain["conditional"][:, 2] == 0).all()


def test_a_set_that_depends_on_others_does_not_come_in():
    # Under Zellner's slab dependent columns can't be in together.
    X, y = autoregressive(60, 4, 0.5, seed=5)
    X = np.column_stack([X, X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]])
    design = design_of(X, y)
    prior = core_prior(6, 59, slab="zellner", noise=2.0, g=60.0)
    exact, _, _ = enumerate_all(design, prior, 1, 0, 1)
    settings = {"draws": DRAWS, "warmup": 100, "modes": [[0, 1], [4], [2, 3, 5], [0, 4]]}
    chains = run_chains(design, prior, [[]] * CHAINS, **settings)
    assert in_standard_errors(chains, "inclusion", exact["inclusion"]).max() < 4


@pytest.mark.parametrize("slab", ["gaussian", "laplace", "zellner", "boom"])
def test_same_seed_same_draws_whatever_the_threads(slab):
    X, y = autoregressive(80, 8, 0.9, seed=2)
    prior = core_prior(8, 79, slab=slab, noise=(0.5, 1.0), spread=(1.0, 30.0), theta=(1.0, 5.0))
    one, two = (
        run_chains(
            design_of(X, y), prior, [[], [1], [2]], draws=60, warmup=30, modes=SETS, threads=threads
        )
        for threads in (1, 2)
    )
    for a, b in zip(one, two, strict=True):
        for name in a:
            np.testing.assert_array_equal(a[name], b[name])


@pytest.mark.parametrize("slab", ["gaussian", "zellner", "boom"])
@pytest.mark.parametrize("kind", KINDS)
def test_chains_leave_traps(kind, slab):
    errors = []
    for seed in range(7300, 7304):
        trap = make_traps(seed, 12, [kind])
        exact = SpikeSlabRegressor(solver="enumerate", slab=slab, n_draws=1)
        chains = SpikeSlabRegressor(solver="gibbs", slab=slab, random_state=seed)
        both = [model.fit(trap.X, trap.y).inclusion_probabilities_ for model in (exact, chains)]
        errors.append(np.sqrt(np.mean((both[0] - both[1]) ** 2)))
    assert max(errors) < 0.05
    assert np.sqrt(np.mean(np.square(errors))) < 0.03


@pytest.mark.parametrize("p", [40, 200])
@pytest.mark.parametrize("kind", KINDS)
def test_chains_leave_traps_among_many_columns(kind, p):
    # Columns outside the trap are all but ruled out, so that the models of those inside are all
    # there are: they can be enumerated.
    trap = make_traps(2000, p, [kind])
    inside = trap.columns
    theta = np.full(p, 1e-9)
    theta[inside] = 0.1
    small = SpikeSlabRegressor(solver="enumerate", theta=0.1, n_draws=1)
    exact = small.fit(trap.X[:, inside], trap.y).inclusion_probabilities_
    chains = SpikeSlabRegressor(solver="gibbs", theta=theta, random_state=0)
    found = chains.fit(trap.X, trap.y).inclusion_probabilities_
    assert np.sqrt(np.mean((found[inside] - exact) ** 2)) < 0.03
    assert np.delete(found, inside).max() < 1e-3


@pytest.mark.parametrize("slab", ["gaussian", "zellner"])
@pytest.mark.parametrize("kind", KINDS)
def test_groups_leave_traps(kind, slab):
    # Two of the columns of the trap are in groups, each with a column of noise.
    errors = []
    for seed in range(1100, 1103):
        trap = make_traps(seed, 12, [kind])
        noise = [j for j in range(12) if j not in trap.columns][:2]
        pairs = [*zip(trap.sets[0][0][:2], noise, strict=False)]
        settings = {"slab": slab, "feature_groups": {f"g{i}": [*g] for i, g in enumerate(pairs)}}
        exact = SpikeSlabRegressor(solver="enumerate", n_draws=1, **settings)
        chains = SpikeSlabRegressor(solver="gibbs", random_state=seed, **settings)
        both = [model.fit(trap.X, trap.y).inclusion_probabilities_ for model in (exact, chains)]
        errors.append(np.sqrt(np.mean((both[0] - both[1]) ** 2)))
    assert np.sqrt(np.mean(np.square(errors))) < 0.03
