"""The spike-and-slab prior and the paper's proposition."""

import itertools
import math

import numpy as np
import pytest
from reference.subsets import best_subsets, preprocess, solve

from ellzero import BernoulliGaussian, L0Regressor
from ellzero.datasets import make_collinear


def test_lam_and_ridge_are_the_papers():
    prior = BernoulliGaussian(0.1, 3.0)
    assert prior.lam(2.0) == pytest.approx(4 * math.log(9))
    assert prior.ridge(2.0) == pytest.approx(4 / 9)
    assert BernoulliGaussian(0.1, math.inf).ridge(2.0) == 0
    assert BernoulliGaussian(1e-300, 1.0).lam(1.0) == pytest.approx(690.7755, rel=1e-6)


def log_joint(Z, y, gamma, alpha, theta, sigma_beta, sigma_e):
    """The paper's joint posterior of indicators and slab values, up to a constant."""
    residual = y - Z @ (gamma * alpha)
    return (
        -residual @ residual / (2 * sigma_e**2)
        - alpha @ alpha / (2 * sigma_beta**2)
        - math.log((1 - theta) / theta) * gamma.sum()
    )


def test_map_objective_is_the_negative_log_posterior(rng):
    Z, y = preprocess(*make_collinear(30, 6, coefficients=(2, -1), random_state=0)[:2])
    prior, sigma_e = BernoulliGaussian(0.2, 1.5), 0.7
    differences = []
    for gamma in itertools.product([0, 1], repeat=6):
        gamma = np.array(gamma)
        # An unused slab value is at its best at zero.
        alpha = rng.normal(size=6) * gamma
        joint = log_joint(Z, y, gamma, alpha, 0.2, 1.5, sigma_e)
        objective = prior.map_objective(Z, y, gamma * alpha, sigma_e)
        differences.append(-(sigma_e**2) * joint - objective)
    np.testing.assert_allclose(differences, differences[0], atol=1e-12)


def test_l0regressor_minimises_the_map_objective():
    X, y, _ = make_collinear(40, 8, coefficients=(2, -1, 1), random_state=1)
    Z, target = preprocess(X, y)
    prior, sigma_e = BernoulliGaussian(0.1, 2.0), 0.2
    model = L0Regressor(prior.lam(sigma_e), ridge=prior.ridge(sigma_e)).fit(X, y)
    assert prior.map_objective(X, target, model.coef_, sigma_e) == pytest.approx(model.objective_)
    best = min(
        e + prior.lam(sigma_e) * len(s) for e, s in best_subsets(Z, target, prior.ridge(sigma_e))
    )
    assert model.objective_ == pytest.approx(best)


def test_the_map_becomes_the_l0_solution_as_the_slab_grows():
    X, y, _ = make_collinear(40, 8, n_factors=0, coefficients=(2, -1, 1), random_state=2)
    Z, target = preprocess(X, y)
    sigma_e = 0.2
    lam = BernoulliGaussian(0.1, math.inf).lam(sigma_e)
    l0_support = min(best_subsets(Z, target), key=lambda best: best[0] + lam * len(best[1]))[1]
    l0_beta = solve(Z, target, l0_support)[0]
    errors = []
    for sigma_beta in (3.0, 30.0, 300.0, 3000.0):
        prior = BernoulliGaussian(0.1, sigma_beta)
        ridge = prior.ridge(sigma_e)
        _, support = min(
            best_subsets(Z, target, ridge), key=lambda best: best[0] + lam * len(best[1])
        )
        model = L0Regressor(prior.lam(sigma_e), ridge=ridge).fit(X, y)
        assert tuple(model.support_) == support == l0_support
        errors.append(np.abs(model.coef_[list(support)] - l0_beta).max())
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert errors[3] < 1e-5


@pytest.mark.parametrize("theta", [0.5, 0.7])
def test_an_error_for_theta_of_a_half_only_when_lam_is_asked_for(theta):
    prior = BernoulliGaussian(theta, 1.0)
    assert prior.ridge(1.0) == 1
    with pytest.raises(ValueError, match="theta must be below 1/2"):
        prior.lam(1.0)


@pytest.mark.parametrize("theta", [0, 1, -0.1, math.nan, "a", None, 0.1 + 0j])
def test_bad_theta(theta):
    with pytest.raises(ValueError, match="theta must be strictly between 0 and 1"):
        BernoulliGaussian(theta, 1.0)


@pytest.mark.parametrize("sigma_beta", [0, -1, math.nan, "a", None, 10**400])
def test_bad_sigma_beta(sigma_beta):
    with pytest.raises(ValueError, match="sigma_beta must be positive"):
        BernoulliGaussian(0.1, sigma_beta)


@pytest.mark.parametrize("sigma_e", [0, -1, math.nan, math.inf, "a", 1e200])
def test_bad_sigma_e(sigma_e):
    prior = BernoulliGaussian(0.1, 1.0)
    for method in (prior.lam, prior.ridge):
        with pytest.raises(ValueError, match="sigma_e must be a positive finite number"):
            method(sigma_e)


@pytest.mark.parametrize(
    ("X", "y", "beta", "message"),
    [
        (np.ones(3), np.ones(3), np.ones(3), "Expected 2D array"),
        (np.ones((3, 2)), np.ones(2), np.ones(2), "inconsistent numbers of samples"),
        (np.ones((3, 2)), np.ones(3), np.ones(3), "beta must have shape"),
        (np.full((3, 2), np.nan), np.ones(3), np.ones(2), "Input X contains NaN"),
        (np.ones((3, 2)), np.ones(3), [np.nan, 1], "Input beta contains NaN"),
    ],
)
def test_bad_data(X, y, beta, message):
    with pytest.raises(ValueError, match=message):
        BernoulliGaussian(0.1, 1.0).map_objective(X, y, beta, 1.0)
