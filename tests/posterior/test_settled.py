"""Flips leave out members that have not moved for a while: what they lead to stays the same."""

import numpy as np
import pytest

from ellzero import SpikeSlabRegressor


@pytest.mark.parametrize("strong", [0, 6])
def test_a_support_has_the_same_odds_whenever_it_is_met(strong):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 13)) + 0.7 * rng.standard_normal((60, 1))
    y = X[:, :strong].sum(axis=1) + rng.standard_normal(60)
    model = SpikeSlabRegressor(
        slab="boom", theta=0.5, solver="gibbs", n_chains=1, n_draws=3000, random_state=0
    ).fit(X, y)
    inside = model.draws_.coef.toarray() != 0
    assert inside[:, :strong].all()  # they settle, after some hundred flips of every stretch
    _, place, counts = np.unique(inside, axis=0, return_inverse=True, return_counts=True)
    assert (counts > 20).any()
    conditional = model._conditional[0]
    for support in np.flatnonzero(counts > 1):
        assert np.ptp(conditional[place.ravel() == support], axis=0).max() < 1e-6
