"""The bridge and the horseshoe against quadrature and against what they tend to."""

import numpy as np
import pytest
from arviz_stats.base import array_stats
from reference.scale_mixture import (
    bayesian_lasso,
    bridge_log_prior,
    grid_moments,
    horseshoe_log_prior,
    regularised_log_prior,
)
from reference.subsets import preprocess

from ellzero import BayesianBridgeRegressor, HorseshoeRegressor, _core
from ellzero._engine import make_design

LONG = {"random_state": 0, "n_draws": 5000}


def small_table(p, seed=0, n=20):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.arange(1, p + 1)
    if p > 1:
        X[:, 1] += 1.5 * X[:, 0]
    y = 1.0 + X[:, 0] + 1.5 * rng.standard_normal(n)
    Z, target = preprocess(X, y)
    return X, y, Z, target, np.linalg.norm(X - X.mean(axis=0), axis=0)


def default_noise(y):
    return 0.005, 0.0025 * np.var(y, ddof=1)


def assert_agrees(model, mean, sd, positive, scale):
    """Means within four Monte Carlo errors."""
    error = model.diagnostics_["mcse"].to_numpy()[: len(mean)] * scale
    assert (error < 0.05 * sd).all()
    np.testing.assert_array_less(np.abs(model.coef_ * scale - mean), 4 * error)
    np.testing.assert_allclose(model.coef_sd_ * scale, sd, rtol=0.05)
    np.testing.assert_allclose((model.draws_.coef > 0).mean(axis=0), positive, atol=0.02)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("alpha", [0.3, 0.5, 1.0, 1.7])
def test_everything_given_against_quadrature(p, alpha):
    X, y, Z, target, scale = small_table(p)
    tau, sigma_e = 0.7, 1.4
    model = BayesianBridgeRegressor(alpha=alpha, tau=tau, sigma_e=sigma_e, **LONG).fit(X, y)
    prior = bridge_log_prior(alpha, nu=tau**-alpha)
    *moments, _ = grid_moments(Z, target, len(y) - 1, prior, sigma_e=sigma_e)
    assert_agrees(model, *moments, scale)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize(("alpha", "nu_prior"), [(0.5, (2.0, 2.0)), (1.0, (0.5, 0.5))])
def test_tau_and_sigma_learned_against_quadrature(p, alpha, nu_prior):
    X, y, Z, target, scale = small_table(p, seed=1)
    model = BayesianBridgeRegressor(alpha=alpha, nu_prior=nu_prior, **LONG).fit(X, y)
    prior = bridge_log_prior(alpha, nu_prior=nu_prior)
    *moments, _ = grid_moments(Z, target, len(y) - 1, prior, noise=default_noise(y))
    assert_agrees(model, *moments, scale)


def test_alpha_learned_against_quadrature():
    X, y, Z, target, scale = small_table(2, seed=2)
    model = BayesianBridgeRegressor(alpha="learn", random_state=0, n_draws=20_000).fit(X, y)
    alphas = np.linspace(0.05, 1, 96)
    found = [
        grid_moments(Z, target, len(y) - 1, bridge_log_prior(a), noise=default_noise(y), points=301)
        for a in alphas
    ]
    evidence = np.array([row[3] for row in found])
    share = np.exp(evidence - evidence.max())
    share /= share.sum()
    mean = share @ np.array([row[0] for row in found])
    square = share @ np.array([row[1] ** 2 + row[0] ** 2 for row in found])
    error = model.diagnostics_["mcse"]
    np.testing.assert_array_less(np.abs(model.coef_ * scale - mean), 4 * error.iloc[:2] * scale)
    np.testing.assert_allclose(model.coef_sd_ * scale, np.sqrt(square - mean**2), rtol=0.05)
    assert abs(model.draws_.alpha.mean() - share @ alphas) < 4 * error["alpha"] + 0.005


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("tau", [0.3, 2.0])
def test_horseshoe_of_given_tau_against_quadrature(p, tau):
    X, y, Z, target, scale = small_table(p)
    model = HorseshoeRegressor(tau=tau, sigma_e=1.4, **LONG).fit(X, y)
    *moments, _ = grid_moments(Z, target, len(y) - 1, horseshoe_log_prior(tau), sigma_e=1.4)
    assert_agrees(model, *moments, scale)


@pytest.mark.parametrize("tau", [0.3, 3.0])
@pytest.mark.parametrize("by_rows", [False, True])
def test_regularised_horseshoe_against_quadrature(tau, by_rows):
    _, _, Z, target, _ = small_table(1)
    target = 2 * target  # an effect that the slab is felt by
    slab_df, slab_scale, sigma_e = 3.0, 2.5, 1.4
    prior = _core.ScaleMixturePrior()
    prior.is_horseshoe = prior.horseshoe.regularised = True
    prior.horseshoe.learn_tau, prior.horseshoe.tau = False, tau
    prior.horseshoe.slab_df, prior.horseshoe.slab_scale = slab_df, slab_scale
    prior.noise.learned, prior.noise.value = False, sigma_e**2
    prior.degrees = len(target)
    design = make_design(Z, target, None, False, 1)
    chains = _core.sample_scale_mixture(design, prior, 4, 200, 8000, 1, 1, by_rows=by_rows)
    beta = np.array([chain["beta"][:, 0] for chain in chains])
    log_prior = regularised_log_prior(tau, slab_df, slab_scale)
    mean, sd, positive, _ = grid_moments(Z, target, len(target), log_prior, sigma_e=sigma_e)
    assert abs(beta.mean() - mean[0]) < 4 * float(array_stats.mcse(beta))
    assert beta.std() == pytest.approx(sd[0], rel=0.05)
    assert (beta > 0).mean() == pytest.approx(positive[0], abs=0.02)


@pytest.mark.filterwarnings("ignore:.*has not mixed")  # draws worth few independent ones
def test_a_slab_bounds_what_the_data_do_not(rng):
    # Only the sum of two equal columns is known: the difference is the prior's.
    X = rng.standard_normal((30, 1)) @ np.ones((1, 2))
    y = 5 * X[:, 0] + 0.1 * rng.standard_normal(30)
    plain, bounded = (
        HorseshoeRegressor(regularised=regularised, slab_df=50.0, **LONG).fit(X, y)
        for regularised in (False, True)
    )
    apart = [np.abs(m.draws_.coef[:, 0] - m.draws_.coef[:, 1]) for m in (plain, bounded)]
    assert np.quantile(apart[1], 0.999) < 0.5 * np.quantile(apart[0], 0.999)
    assert bounded.coef_.sum() == pytest.approx(5, abs=0.1)


def test_horseshoe_with_everything_learned_against_quadrature():
    X, y, Z, target, scale = small_table(1, seed=3)
    model = HorseshoeRegressor(expected_size=0.2, random_state=0, n_draws=20_000).fit(X, y)
    tau_0 = 0.2 / 0.8
    shape, rate = default_noise(y)
    rows = []
    for log_sigma in np.linspace(-1.5, 1.8, 45):
        sigma = np.exp(log_sigma)
        for log_tau in np.linspace(-14, 10, 49):
            tau = np.exp(log_tau)
            x = tau / (tau_0 * sigma)
            mean, sd, _, evidence = grid_moments(
                Z, target, len(y) - 1, horseshoe_log_prior(tau), sigma_e=sigma, points=801
            )
            # Half-Cauchy in log tau; inverse-gamma in log sigma_e.
            weight = np.log(x / (1 + x**2)) - 2 * shape * log_sigma - rate / sigma**2
            rows.append((evidence + weight, mean[0], sd[0] ** 2 + mean[0] ** 2, log_tau, log_sigma))
    weight, mean, square, log_tau, log_sigma = np.array(rows).T
    share = np.exp(weight - weight.max())
    share /= share.sum()
    error = model.diagnostics_["mcse"]
    assert abs(model.coef_[0] * scale[0] - share @ mean) < 4 * error["x0"] * scale[0]
    expected = np.sqrt(share @ square - (share @ mean) ** 2)
    assert model.coef_sd_[0] * scale[0] == pytest.approx(expected, rel=0.05)
    assert np.log(model.draws_.sigma_e).mean() == pytest.approx(share @ log_sigma, abs=0.01)
    assert np.log(model.draws_.tau).mean() == pytest.approx(share @ log_tau, abs=0.12)


def test_power_one_is_the_bayesian_lasso(rng):
    X = rng.standard_normal((40, 6))
    X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
    y = X[:, 0] - 0.5 * X[:, 2] + rng.standard_normal(40)
    tau, sigma_e = 0.8, 1.1
    model = BayesianBridgeRegressor(alpha=1.0, tau=tau, sigma_e=sigma_e, **LONG).fit(X, y)
    Z, target = preprocess(X, y)
    scale = np.linalg.norm(X - X.mean(axis=0), axis=0)
    other = bayesian_lasso(Z, target, tau, sigma_e**2, 8000, rng)
    errors = [array_stats.mcse(other[None, :, j]) for j in range(6)]
    error = np.hypot(errors, model.diagnostics_["mcse"].to_numpy()[:6] * scale)
    np.testing.assert_array_less(np.abs(model.coef_ * scale - other.mean(axis=0)), 4 * error)
    np.testing.assert_allclose(model.coef_sd_ * scale, other.std(axis=0), rtol=0.06)
    quantiles = np.quantile(other, [0.05, 0.95], axis=0)
    interval = model.credible_interval(0.9)
    np.testing.assert_allclose(interval["low"] * scale, quantiles[0], atol=0.15)
    np.testing.assert_allclose(interval["high"] * scale, quantiles[1], atol=0.15)


@pytest.mark.parametrize(("n", "p"), [(30, 6), (20, 70)])
def test_power_two_would_be_ridge(n, p):
    # exp(-(b / tau)^2) is a Gaussian of variance tau^2 / 2. With 70 columns, by rows.
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, p))
    y = X[:, 0] + rng.standard_normal(n)
    tau, sigma_e = 3.0, 1.2
    model = BayesianBridgeRegressor(alpha=1.99999, tau=tau, sigma_e=sigma_e, **LONG).fit(X, y)
    Z, target = preprocess(X, y)
    scale = np.linalg.norm(X - X.mean(axis=0), axis=0)
    inverse = np.linalg.inv(Z.T @ Z + 2 * sigma_e**2 / tau**2 * np.eye(p))
    draws = model.draws_.coef * scale
    white = (draws - inverse @ Z.T @ target) @ np.linalg.cholesky(np.linalg.inv(inverse)) / sigma_e
    count = len(draws)
    assert np.abs(white.mean(axis=0)).max() < 5 / np.sqrt(count)
    assert np.abs(np.cov(white.T) - np.eye(p)).max() < 8 / np.sqrt(count)


@pytest.mark.filterwarnings("ignore:.*has not mixed")  # draws worth few independent ones
def test_few_rows_with_and_without_an_equal_number_of_zero_weight():
    # The two constructions of the Gaussian draw know one posterior.
    rng = np.random.default_rng(2)
    X = rng.standard_normal((25, 70))
    y = 3 * X[:, 0] - 2 * X[:, 1] + 0.5 * rng.standard_normal(25)
    settings = {"random_state": 0, "n_draws": 1500}
    by_rows = BayesianBridgeRegressor(**settings).fit(X, y)
    stacked = np.vstack([X, np.zeros((60, 70))]), np.concatenate([y, np.zeros(60)])
    weights = np.repeat([1.0, 0.0], [25, 60])
    by_columns = BayesianBridgeRegressor(**settings).fit(*stacked, weights)
    error = np.hypot(by_rows.diagnostics_["mcse"], by_columns.diagnostics_["mcse"])
    apart = np.abs(by_rows.coef_ - by_columns.coef_) / error.to_numpy()[:70]
    assert apart.max() < 4.5
    means = [np.log(model.draws_.tau).mean() for model in (by_rows, by_columns)]
    assert means[0] == pytest.approx(means[1], abs=0.15)
