"""Modes: local tops of a table of all models, and all the sets that stand in for each other."""

import numpy as np
import pytest
from spike_slab_priors import VARIANCES, core_prior, design_of, enumerate_all
from traps import KINDS, make_traps

from ellzero import BernoulliGaussian, SpikeSlabRegressor, _core, marginal_map
from ellzero.posterior._modes import find_modes


def masses(design, prior):
    """By bits, the log of every model's mass."""
    with np.errstate(divide="ignore"):
        return np.log(enumerate_all(design, prior, 1, 0, 1)[1])


def tops(table, p):
    """Models that no flip and no swap makes more probable."""
    found = set()
    for code, value in enumerate(table):
        flips = [code ^ (1 << j) for j in range(p)]
        inside = [j for j in range(p) if code >> j & 1]
        outside = [j for j in range(p) if not code >> j & 1]
        swaps = [code ^ (1 << i) ^ (1 << j) for i in inside for j in outside]
        if all(table[other] <= value + 1e-9 for other in flips + swaps):
            found.add(code)
    return found


@pytest.mark.parametrize(
    "variances", ["gaussian, given", "zellner, given", "boom, given", "zellner, noise learned"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_modes_are_tops_of_the_table(kind, variances):
    trap = make_traps(50, 9, [kind])
    design = design_of(trap.X, trap.y / trap.y.std())
    prior = core_prior(9, len(trap.y) - 1, theta=0.2, **{**VARIANCES[variances], "spread": 100.0})
    if isinstance(VARIANCES[variances]["noise"], float):
        prior.noise.value = 0.1
    table = masses(design, prior)
    known = tops(table, 9)
    modes = find_modes(design, prior, [[]], 1)
    codes = [sum(1 << int(j) for j in mode.support) for mode in modes]
    assert set(codes) <= known
    assert len(set(codes)) == len(codes)
    # Those of any account are all there, with their heights, the highest first.
    assert {code for code in known if table[code] > table.max() - 4} <= set(codes)
    heights = np.array([mode.log_posterior for mode in modes])
    assert (np.diff(heights) <= 0).all()
    np.testing.assert_allclose(heights - heights[0], table[codes] - table[codes[0]], atol=1e-6)


def test_limits_are_kept():
    trap = make_traps(51, 12, ["chain of pairs"])
    design = design_of(trap.X, trap.y)
    prior = core_prior(12, len(trap.y) - 1, slab="zellner", noise=(0.5, 1.0), g=len(trap.y))

    def search(climbs=100, depth=8.0, modes=24):
        settings = {"climbs": climbs, "depth": depth, "modes": modes, "threads": 1}
        return _core.search_modes(design, prior, [[]], **settings)

    found = search()
    assert len(found) >= 3
    assert len(search(climbs=0)) == 1
    assert len(search(modes=2)) == 2
    assert len(search(depth=found[0].log_posterior - found[1].log_posterior + 1e-6)) == 2


def test_ordinary_data_have_one_mode(rng):
    # Chains have nothing to exchange then.
    X = rng.standard_normal((100, 12))
    y = X[:, 0] - X[:, 3] + rng.standard_normal(100)
    design = design_of(X, y)
    prior = core_prior(12, 99, slab="zellner", noise=(0.5, 1.0), g=100.0)
    assert [mode.support.tolist() for mode in find_modes(design, prior, [[]], 1)] == [[0, 3]]


def test_marginal_map_is_not_trapped():
    missed = []
    for seed in range(40):
        p = (12, 14, 16)[seed % 3]
        trap = make_traps(3000 + seed, p)
        rng = np.random.default_rng(seed)
        theta, spread = rng.uniform(0.02, 0.3), trap.y.std() * np.sqrt(len(trap.y))
        sigma_e = trap.y.std() * np.exp(rng.uniform(-2.5, -0.5))
        exact = SpikeSlabRegressor(
            theta=theta, sigma_beta=spread, sigma_e=sigma_e, solver="enumerate", n_draws=1
        ).fit(trap.X, trap.y)
        found = marginal_map(trap.X, trap.y, BernoulliGaussian(theta, spread), sigma_e)
        best = exact.models_["variables"][0]
        if {f"x{j}" for j in found.support} != set(best):
            missed.append(seed)
    assert not missed
