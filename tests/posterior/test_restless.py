"""Columns that hang on others: which they are, and that moves made for them keep the posterior."""

import numpy as np
import pytest
from spike_slab_priors import VARIANCES, core_prior, design_of, enumerate_all, run_chains

# Chains end where their states are kept.
N, CHAINS, WARMUP, DRAWS = 60, 40, 150, 500


def twins(rng, p=9, likeness=0.97):
    """Columns of which the first six are pairs that stand in for each other; two pairs matter."""
    X = rng.standard_normal((N, p))
    X[:, 1:6:2] = likeness * X[:, :6:2] + np.sqrt(1 - likeness**2) * X[:, 1:6:2]
    y = 0.6 * X[:, 0] - 0.5 * X[:, 3] + 0.3 * X[:, 7] + 1.5 * rng.standard_normal(N)
    return design_of(X, y)


@pytest.mark.parametrize("variances", VARIANCES)
def test_moves_for_restless_columns_keep_the_posterior(rng, variances):
    design = twins(rng)
    prior = core_prior(9, N - 1, theta=0.25, **VARIANCES[variances])
    exact, _, _ = enumerate_all(design, prior, 1, 0, 1)
    chains = run_chains(design, prior, [[], [0]] * (CHAINS // 2), draws=DRAWS, warmup=WARMUP)
    assert all(chain["state:coupling"][0] > 0.35 for chain in chains)
    assert all(2 <= chain["state:restless"].size < 9 for chain in chains)
    for name in ("inclusion", "mean", "square"):
        values = np.array([chain[name] for chain in chains]) / DRAWS
        error = values.std(axis=0, ddof=1) / np.sqrt(CHAINS)
        assert (np.abs(values.mean(axis=0) - exact[name]) / error).max() < 4, name


def test_pairs_are_drawn_as_often_as_they_should(rng):
    # What of two columns is in, as the draws themselves say
    design = twins(rng)
    prior = core_prior(9, N - 1, theta=0.25, **VARIANCES["boom, noise learned"])
    drawn, _, _ = enumerate_all(design, prior, 40_000, 0, 1)
    chains = run_chains(design, prior, [[]] * CHAINS, draws=DRAWS, warmup=WARMUP)

    def together(draws):
        rows = np.repeat(np.arange(draws["begins"].size - 1), np.diff(draws["begins"]))
        inside = np.zeros((draws["begins"].size - 1, 9))
        inside[rows, draws["support"]] = 1
        return inside.T @ inside / len(inside)

    found = np.array([together(chain) for chain in chains])
    error = np.hypot(found.std(axis=0, ddof=1) / np.sqrt(CHAINS), 0.5 / np.sqrt(40_000))
    assert (np.abs(found.mean(axis=0) - together(drawn)) / error).max() < 4


def test_columns_that_go_their_own_ways_are_not_restless(rng):
    X = np.linalg.qr(rng.standard_normal((N, 9)))[0]
    design = design_of(X - X.mean(axis=0), X @ np.linspace(0, 8, 9) + rng.standard_normal(N))
    prior = core_prior(9, N - 1, noise=1.0, spread=30.0)
    (chain,) = run_chains(design, prior, [[]], draws=DRAWS, warmup=WARMUP)
    assert 0 <= chain["state:coupling"][0] < 0.35
    assert chain["state:restless"].size == 0


def test_nothing_is_made_of_a_few_states(rng):
    (chain,) = run_chains(twins(rng), core_prior(9, N - 1), [[]], draws=DRAWS, warmup=40)
    assert chain["state:coupling"][0] == -1
    assert chain["state:restless"].size == 0
