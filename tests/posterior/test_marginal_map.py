import numpy as np
import pytest
from reference.spike_slab import all_supports, coefficients, log_density, log_prior
from reference.subsets import preprocess
from sklearn.utils.validation import check_array
from spike_slab_priors import autoregressive

from ellzero import BernoulliGaussian, L0Regressor, marginal_map


@pytest.mark.parametrize("rho", [0.2, 0.9, 0.98])
@pytest.mark.parametrize("theta", [0.05, 0.3, 0.7])
def test_finds_the_best_of_all_models(rho, theta):
    for seed in range(5):
        X, y = autoregressive(40, 9, rho, seed=seed)
        sigma_e, sigma_beta = 1.5, 10.0
        found = marginal_map(X, y, BernoulliGaussian(theta, sigma_beta), sigma_e)
        Z, target = preprocess(X, y)
        values = {}
        for support in all_supports(9):
            P = (sigma_e / sigma_beta) ** 2 * np.eye(len(support))
            values[tuple(support)] = log_prior(support, 9, theta, None) + log_density(
                Z[:, support], target, 39, sigma_e**2, P
            )
        best = max(values, key=values.get)
        assert tuple(found.support) == best
        # Up to a constant, it is the log of p(S | y).
        empty = marginal_map(X, y, BernoulliGaussian(1e-200, sigma_beta), sigma_e)
        assert empty.support.size == 0
        gained = values[best] - values[()]
        assert found.log_posterior - empty.log_posterior == pytest.approx(gained, rel=1e-9)
        P = (sigma_e / sigma_beta) ** 2 * np.eye(len(best))
        beta, _, _ = coefficients(Z[:, best], target, P)
        scale = np.linalg.norm(X - X.mean(axis=0), axis=0)
        np.testing.assert_allclose(found.coef[list(best)], beta / scale[list(best)], rtol=1e-9)
        assert found.intercept == pytest.approx(y.mean() - X.mean(axis=0) @ found.coef)


def test_a_wider_slab_asks_for_more(rng):
    X = rng.standard_normal((50, 4))
    y = 0.6 * X[:, 0] + rng.standard_normal(50)
    sizes = [
        marginal_map(X, y, BernoulliGaussian(0.4, width), 1.0).support.size
        for width in (10.0, 1e2, 1e3, 1e5)
    ]
    assert sizes[0] >= 1
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 0
    prior = BernoulliGaussian(0.4, 1e5)
    joint = L0Regressor(prior.lam(1.0), ridge=prior.ridge(1.0)).fit(X, y)
    assert joint.support_.size >= 1


def test_forced_columns_weights_and_no_intercept(rng):
    X = rng.standard_normal((30, 5))
    y = X[:, 1] + 0.3 * rng.standard_normal(30)
    prior = BernoulliGaussian(0.1, 5.0)
    found = marginal_map(X, y, prior, 0.3, always_include=[4])
    assert {1, 4} <= set(found.support.tolist())
    weights = np.arange(30) % 3
    a = marginal_map(X, y, prior, 0.3, sample_weight=weights, fit_intercept=False)
    b = marginal_map(X.repeat(weights, 0), y.repeat(weights), prior, 0.3, fit_intercept=False)
    np.testing.assert_array_equal(a.support, b.support)
    np.testing.assert_allclose(a.coef, b.coef, rtol=1e-9)
    assert a.intercept == 0


@pytest.mark.parametrize(
    ("prior", "sigma_e", "message"),
    [
        (BernoulliGaussian(0.1, np.inf), 1.0, "sigma_beta must be finite"),
        (BernoulliGaussian(0.1, 1.0), 0.0, "sigma_e must be a number between"),
        (BernoulliGaussian(0.1, 1.0), "learn", "sigma_e must be a number between"),
        (BernoulliGaussian(0.1, 1.0), None, "sigma_e must be a number between"),
        (BernoulliGaussian(0.1, 1e6), 1.0, "sigma_beta=1e[+]06 is too far from sigma_e=1"),
        ((0.1, 1.0), 1.0, "prior"),
    ],
)
def test_bad_input(rng, prior, sigma_e, message):
    X = check_array(rng.standard_normal((10, 3)))
    with pytest.raises(ValueError, match=message):
        marginal_map(X, X[:, 0], prior, sigma_e)
