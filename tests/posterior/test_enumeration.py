from zlib import crc32

import numpy as np
import pytest
from fuzz.posteriors import check_enumeration
from reference.spike_slab import log_inverse_gamma, posterior
from reference.subsets import preprocess
from spike_slab_priors import (
    THETAS,
    VARIANCES,
    autoregressive,
    core_prior,
    design_of,
    enumerate_all,
)

N, P = 14, 3


def log_grid(law, low, high, count):
    """Return values and log weights of a trapezoidal rule in the logarithm."""
    if not isinstance(law, tuple):
        return np.array([law]), [0.0]
    x = np.linspace(low, high, count)
    return np.exp(x), log_inverse_gamma(np.exp(x), *law) + x + np.log(x[1] - x[0])


def literal(Z, y, theta, slab="gaussian", noise=1.0, spread=1.0, g=1.0, boom=0.1):
    """Sum to the letter; spread is sigma_beta^2, or its ratio to s2 if that has the prior."""
    k = np.eye
    precisions = {
        "gaussian": lambda Z, tau: tau * k(Z.shape[1]),
        "zellner": lambda Z, tau: Z.T @ Z / g,
        "boom": lambda Z, tau: boom * (0.5 * Z.T @ Z + 0.5 * k(Z.shape[1])),
    }

    def tau_grid(s2):
        if slab != "gaussian":
            return [1.0], [0.0]
        if isinstance(spread, tuple) and spread[0] == "relative":
            values, weights = log_grid(spread[1:], -3.0, 55.0, 250)
            return 1 / np.minimum(values, 1e10), weights  # what lies beyond counts as 1e10
        values, weights = log_grid(spread, -19.0, 25.0, 180)
        return s2 / values, weights

    prior = {"beta_prior": theta} if isinstance(theta, tuple) else {"theta": theta}
    return posterior(
        Z,
        y,
        degrees=N if slab == "boom" else N - 1,
        precision=precisions[slab],
        s2_grid=log_grid(noise, -4.5, 6.0, 80),
        tau_grid=tau_grid,
        **prior,
    )


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("variances", VARIANCES)
def test_equals_the_literal_sum_over_models(theta, variances):
    X, y = autoregressive(N, P, 0.8, seed=1)
    if variances == "gaussian, both learned" and theta == "theta learned":
        X = X[:, :2]  # the literal double integral takes its time
    settings = VARIANCES[variances]
    degrees = N if settings.get("slab") == "boom" else N - 1
    prior = core_prior(X.shape[1], degrees, theta=THETAS[theta], **settings)
    out, masses, _ = enumerate_all(design_of(X, y), prior, 10, 0, 1)
    Z, target = preprocess(X, y)
    inclusion, mean, sd, expected = literal(Z, target, THETAS[theta], **settings)
    np.testing.assert_allclose(out["inclusion"], inclusion, atol=1e-9)
    np.testing.assert_allclose(out["mean"], mean, atol=1e-9 * np.abs(mean).max())
    np.testing.assert_allclose(np.sqrt(out["square"] - out["mean"] ** 2), sd, rtol=1e-9)
    for code, mass in enumerate(masses):
        support = tuple(j for j in range(X.shape[1]) if code >> j & 1)
        assert mass == pytest.approx(expected[support], abs=1e-9)


def test_columns_that_are_always_or_never_in():
    X, y = autoregressive(N, 4, 0.8, seed=2)
    theta = np.array([0.3, 1.0, 0.2, 0.0])
    with np.errstate(divide="ignore"):
        prior = core_prior(4, N - 1, theta=theta, noise=2.0, spread=30.0)
    out, masses, _ = enumerate_all(design_of(X, y), prior, 10, 0, 1)
    Z, target = preprocess(X, y)
    # Probabilities as near to 0 and 1 as makes no difference
    near = np.clip(theta, 1e-14, 1 - 1e-14)
    inclusion, mean, _, _ = literal(Z, target, near, noise=2.0, spread=30.0)
    np.testing.assert_allclose(out["inclusion"], inclusion, atol=1e-9)
    np.testing.assert_allclose(out["mean"], mean, atol=1e-9)
    assert len(masses) == 4


@pytest.mark.parametrize("variances", VARIANCES)
def test_draws_have_the_moments_of_the_posterior(variances):
    X, y = autoregressive(60, 5, 0.5, seed=3)
    settings = VARIANCES[variances]
    prior = core_prior(5, 59, theta=(1.0, 3.0), **settings)
    out, _, _ = enumerate_all(design_of(X, y), prior, 20_000, 1, 2)
    assert len(out["s2"]) == len(out["theta"]) == 20_000
    row = np.repeat(np.arange(20_000), np.diff(out["begins"]))
    beta = np.zeros((20_000, 5))
    beta[row, out["support"]] = out["beta"]
    for draws, expected in (
        ((beta != 0).astype(float), out["inclusion"]),
        (beta, out["mean"]),
        (beta**2, out["square"]),
    ):
        error = draws.std(axis=0) / np.sqrt(20_000)
        assert (np.abs(draws.mean(axis=0) - expected) < 4.5 * error + 1e-12).all()


def test_threads_change_nothing():
    X, y = autoregressive(60, 6, 0.5, seed=4)
    prior = core_prior(6, 59, **VARIANCES["gaussian, both learned"])
    one, two = (enumerate_all(design_of(X, y), prior, 50, 1, threads) for threads in (1, 2))
    for name in one[0]:
        np.testing.assert_array_equal(one[0][name], two[0][name])
    np.testing.assert_array_equal(one[1], two[1])


def test_zellner_leaves_out_models_with_dependent_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3))
    X[:, 2] = X[:, 0] + X[:, 1]
    y = X[:, 0] + 0.1 * rng.standard_normal(20)
    prior = core_prior(3, 19, slab="zellner", noise=1.0, g=20.0)
    out, masses, _ = enumerate_all(design_of(X, y), prior, 10, 0, 1)
    assert masses[7] == 0
    assert masses.sum() == pytest.approx(1)
    assert np.isfinite(out["mean"]).all()


@pytest.mark.parametrize("seed", [20261758, 41002959])
def test_columns_that_all_but_depend_on_each_other_as_far_as_the_prior_goes(seed):
    # Under a relative prior their deviations hang on where it ends; under the other the density
    # still rises steeply there.
    check_enumeration(np.random.default_rng([seed, crc32(b"enumeration")]))
