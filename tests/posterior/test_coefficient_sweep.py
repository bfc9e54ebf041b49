"""Coefficients drawn one by one with their scales integrated out, against sums over a grid."""

import numpy as np
import pytest
from reference.scale_mixture import bridge_log_prior, grid_moments, horseshoe_log_prior

from ellzero import BayesianBridgeRegressor, _core
from ellzero._engine import make_design

DRAWS = 20_000


def grid_distribution(m, t, alpha):
    """Points, close together where the density is not smooth, and its distribution function."""
    near = np.geomspace(1e-6 * min(t, 1.0), abs(m) + 9, 20_001)
    around = abs(m) + np.linspace(-9, 9, 20_001)
    sizes = np.unique(np.concatenate([[0.0], near, around[around > 0]]))
    points = np.concatenate([-sizes[::-1], sizes])
    log_density = -0.5 * (points - m) ** 2 - (np.abs(points) / t) ** alpha
    density = np.exp(log_density - log_density.max())
    mass = np.concatenate([[0], np.cumsum(np.diff(points) * (density[1:] + density[:-1]) / 2)])
    return points, mass / mass[-1]


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("t", [1e-7, 5e-5, 0.02, 0.5, 40.0])
@pytest.mark.parametrize("m", [0.0, 0.4, -3.0, 12.0, 37.0, -150.0])
def test_coefficient_of_the_bridge(m, t, alpha):
    points, distribution = grid_distribution(m, t, alpha)
    drawn = np.sort(_core.draw_bridge_coefficient(m, t, alpha, DRAWS, 1))
    expected = np.interp(drawn, points, distribution)
    distance = np.abs(expected - (np.arange(DRAWS) + 0.5) / DRAWS).max()
    assert distance * np.sqrt(DRAWS) < 2.2  # Kolmogorov: 1.2e-4, if the grid were exact


def test_numbers_far_apart():
    for m in (0.0, 1e-200, 1e8):
        for t in (1e-250, 1e-20, 1e20, 1e250):
            drawn = _core.draw_bridge_coefficient(m, t, 0.5, 100, 1)
            assert np.isfinite(drawn).all(), (m, t)


@pytest.mark.parametrize("kind", ["bridge", "horseshoe"])
def test_sweeps_leave_the_posterior_as_it_is(kind):
    rng = np.random.default_rng(4)
    Z = rng.standard_normal((20, 2))
    Z[:, 1] += Z[:, 0]
    Z /= np.linalg.norm(Z, axis=0)
    y = 2 * Z[:, 0] + 0.7 * rng.standard_normal(20)
    tau, sigma = 0.6, 0.7
    prior = _core.ScaleMixturePrior()
    prior.is_horseshoe, prior.degrees = kind == "horseshoe", 20.0
    prior.noise.value = sigma**2
    prior.bridge.learn_tau = prior.horseshoe.learn_tau = False
    prior.bridge.tau = prior.horseshoe.tau = tau
    log_prior = (
        horseshoe_log_prior(tau) if kind == "horseshoe" else bridge_log_prior(0.5, nu=tau**-0.5)
    )
    mean, sd, positive, _ = grid_moments(Z, y, 20, log_prior, sigma_e=sigma)
    design = make_design(Z, y, None, False, 1)
    (chain,) = _core.sample_scale_mixture(
        design, prior, 1, 200, 20_000, 3, 1, by_rows=False, sweeps=2
    )
    beta = chain["beta"]
    assert np.abs(beta.mean(axis=0) - mean).max() < 0.04 * sd.max()
    np.testing.assert_allclose(beta.std(axis=0), sd, rtol=0.05)
    np.testing.assert_allclose((beta > 0).mean(axis=0), positive, atol=0.02)


def test_many_columns_have_the_same_posterior_with_and_without_sweeps(rng):
    p = 420
    X = rng.standard_normal((430, p)) + rng.standard_normal((430, 1))
    y = X[:, 0] - X[:, 1] + rng.standard_normal(430)
    own = {"sigma_e": 1.0, "tau": 0.05, "n_chains": 2, "n_warmup": 50, "n_draws": 300}
    usual = BayesianBridgeRegressor(**own, random_state=0).fit(X, y)
    other = BayesianBridgeRegressor(**own, random_state=1).fit(X[:, ::-1], y)
    error = np.hypot(usual.coef_sd_, other.coef_sd_[::-1]) / np.sqrt(100)
    assert (np.abs(usual.coef_ - other.coef_[::-1]) < 6 * error).all()
