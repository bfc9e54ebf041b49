"""Empirical Bayes: the nonparametric mixture and its certificate, and fitted priors."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ellzero.shrinkage import BernoulliGaussian, BernoulliLaplace, EmpiricalTweedie, fit_prior
from ellzero.shrinkage._binning import bin_values, merge_points


def em(y, grid, iterations):
    """The slow, obvious way to a mixture of unit normals: expectation and maximisation."""
    A = np.exp(-0.5 * (y[:, None] - grid) ** 2) / math.sqrt(2 * math.pi)
    masses = np.full(len(grid), 1 / len(grid))
    for _ in range(iterations):
        masses = masses * (A.T @ (1 / (A @ masses))) / len(y)
    return float(np.log(A @ masses).mean())


def directional_derivative(rule, y, at):
    """D(t): at most one everywhere if and only if the mixture maximises the likelihood."""
    noise = rule.sigma_e_
    density = np.exp(rule.prior_.log_marginal(y, sigma_e=noise))
    kernel = np.exp(-0.5 * ((y[:, None] - at) / noise) ** 2) / (noise * math.sqrt(2 * math.pi))
    return (kernel / density[:, None]).mean(axis=0)


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(2, 120), st.floats(0.1, 10))
def test_the_certificate(seed, n, noise):
    rng = np.random.default_rng(seed)
    beta = rng.choice([0.0, 0.0, 3.0, -6.0, 40.0], size=n) + rng.normal(size=n)
    y = noise * (beta + rng.normal(size=n))
    rule = EmpiricalTweedie(noise, bin_width=0).fit(y)
    assert rule.gap_ <= 1e-6
    assert rule.binning_error_ == 0
    at = np.linspace(y.min() - noise, y.max() + noise, 4001)
    D = directional_derivative(rule, y, at)
    assert D.max() <= 1 + 2e-6
    # On its own centres it is one: no mass could go elsewhere to advantage.
    own = directional_derivative(rule, y, np.asarray(rule.prior_.means))
    heavy = np.asarray(rule.prior_.weights) > 1e-3
    np.testing.assert_allclose(own[heavy], 1, atol=1e-3)


def test_the_gap_bounds_what_any_mixture_gains():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(150) < 0.2, 3 * rng.normal(size=150), 0) + rng.normal(size=150)
    slow = em(y, np.linspace(y.min(), y.max(), 300), 3000)
    rule = EmpiricalTweedie(1.0).fit(y)
    mine = rule.log_likelihood_ / len(y)
    assert slow <= mine + rule.gap_
    assert mine == pytest.approx(slow, abs=2e-4)


def test_cells_cost_next_to_nothing():
    rng = np.random.default_rng(1)
    y = np.where(rng.random(3000) < 0.2, 3 * rng.normal(size=3000), 0) + rng.normal(size=3000)
    exact, cells = (
        EmpiricalTweedie(1.0, bin_width=0).fit(y),
        EmpiricalTweedie(1.0, bin_width=0.01).fit(y),
    )
    assert abs(cells.binning_error_) < 1e-5
    assert cells.log_likelihood_ <= exact.log_likelihood_ + 3000 * exact.gap_
    assert cells.log_likelihood_ == pytest.approx(exact.log_likelihood_, abs=3000 * 1e-5)
    at = np.linspace(-6, 6, 50)
    np.testing.assert_allclose(cells.posterior_mean(at), exact.posterior_mean(at), atol=0.02)


def test_the_risk_comes_close_to_the_oracles():
    rng = np.random.default_rng(2)
    prior, n = BernoulliGaussian(0.1, 3.0), 50_000
    beta = np.where(rng.random(n) < 0.1, 3 * rng.normal(size=n), 0)
    y = beta + rng.normal(size=n)
    for noise in (1.0, None):
        rule = EmpiricalTweedie(noise).fit(y)
        assert rule.sigma_e_ == pytest.approx(1, abs=0.02)
        excess = (
            (rule.posterior_mean(y) - beta) ** 2 - (prior.posterior_mean(y) - beta) ** 2
        ).mean()
        assert abs(excess) < 0.01 * prior.bayes_risk()
        assert (rule.posterior_variance(y[:100]) > 0).all()


def test_outliers_and_ties():
    y = np.r_[np.zeros(50), 1e5, -1e5, 1e5]
    rule = EmpiricalTweedie(1.0).fit(y)
    assert rule.gap_ <= 1e-6
    np.testing.assert_allclose(rule.posterior_mean([0.0, 1e5]), [0.0, 1e5], atol=1e-6)
    assert EmpiricalTweedie(1.0).fit([2.0, 2.0]).posterior_mean(5.0) == pytest.approx(2)


def test_a_wide_range_of_means():
    rng = np.random.default_rng(6)
    beta = rng.uniform(-60, 60, size=6_000)
    y = beta + rng.normal(size=6_000)
    rule = EmpiricalTweedie(1.0, bin_width=0.1, max_rounds=3).fit(y)
    assert rule.bin_width_ == 0.1
    assert abs(rule.binning_error_) < 1e-3
    assert rule.gap_ < 1e-3
    assert ((rule.posterior_mean(y) - beta) ** 2).mean() < 1.05


def test_units():
    rng = np.random.default_rng(3)
    y = np.where(rng.random(500) < 0.2, 4.0, 0) + rng.normal(size=500)
    one, other = EmpiricalTweedie().fit(y), EmpiricalTweedie().fit(1e6 * y)
    assert other.sigma_e_ == pytest.approx(1e6 * one.sigma_e_, rel=1e-6)
    np.testing.assert_allclose(
        other.posterior_mean(1e6 * y), 1e6 * one.posterior_mean(y), rtol=0.01, atol=1e4
    )


@pytest.mark.parametrize(
    ("family", "make"),
    [("bernoulli-gaussian", BernoulliGaussian), ("bernoulli-laplace", BernoulliLaplace)],
)
@pytest.mark.parametrize("known", [True, False])
def test_fit_prior_finds_the_maximum(family, make, known):
    rng = np.random.default_rng(4)
    n = 4000
    slab = rng.normal(size=n) if make is BernoulliGaussian else rng.laplace(size=n) / math.sqrt(2)
    y = 0.3 * (np.where(rng.random(n) < 0.15, 4 * slab, 0) + rng.normal(size=n))
    fitted = fit_prior(y, family, sigma_e=0.3 if known else None)
    prior = fitted.prior
    assert isinstance(prior, make)
    assert prior.theta == pytest.approx(0.15, abs=0.04)
    assert prior.sigma_beta == pytest.approx(1.2, abs=0.25)
    assert fitted.sigma_e == pytest.approx(0.3, abs=0.02)
    best = prior.log_marginal(y, sigma_e=fitted.sigma_e).sum()
    assert fitted.log_likelihood == pytest.approx(best, rel=1e-12)
    for factor in (0.999, 1.001):
        rivals = [
            (make(prior.theta * factor, prior.sigma_beta), fitted.sigma_e),
            (make(prior.theta, prior.sigma_beta * factor), fitted.sigma_e),
        ]
        if not known:
            rivals.append((prior, fitted.sigma_e * factor))
        for rival, noise in rivals:
            assert rival.log_marginal(y, sigma_e=noise).sum() < best
    # The gradient is down to rounding: the cells have left nothing.
    h = 1e-4
    ends = [
        make(prior.theta, prior.sigma_beta * f).log_marginal(y, sigma_e=fitted.sigma_e).sum()
        for f in (1 + h, 1 - h)
    ]
    assert abs(ends[0] - ends[1]) / (2 * h * n) < 1e-6


def test_no_signal():
    y = np.random.default_rng(5).normal(size=2000)
    fitted = fit_prior(y)
    null = -0.5 * (y @ y) / fitted.sigma_e**2 - 2000 * math.log(
        fitted.sigma_e * math.sqrt(2 * math.pi)
    )
    assert fitted.log_likelihood == pytest.approx(null, abs=5)
    total = fitted.sigma_e**2 + fitted.prior.theta * fitted.prior.sigma_beta**2
    assert total == pytest.approx(y.var(), rel=0.02)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=60), st.floats(1e-3, 5))
def test_cells_keep_the_mean_and_the_order(values, width):
    values = np.array(values)
    points, shares = bin_values(values, width)
    assert shares.sum() == pytest.approx(1)
    assert points @ shares == pytest.approx(values.mean(), abs=1e-9)
    # Next to a boundary two cells may have the same mean but for rounding.
    assert (np.diff(points) >= 0).all()
    again, total = merge_points(points, shares, 10 * width)
    assert again @ total == pytest.approx(values.mean(), abs=1e-9)


def test_as_an_estimator():
    rule = EmpiricalTweedie(2.0, tol=1e-5)
    assert clone(rule).get_params() == rule.get_params()
    with pytest.raises(NotFittedError):
        rule.posterior_mean(1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: fit_prior([1.0, 2.0], "gaussian"),
            "family must be one of bernoulli-gaussian, ber",
        ),
        (lambda: fit_prior([1.0]), "y must be a list of two numbers or more"),
        (lambda: fit_prior([0.0, 0.0]), "y must not be zero throughout"),
        (lambda: fit_prior([0.0, 1e-200]), "y must be in other units"),
        (lambda: EmpiricalTweedie(1.0).fit([0.0, 1e20]), "y is too large beside sigma_e"),
        (lambda: fit_prior([1.0, 2.0], sigma_e=0), "sigma_e must be a positive"),
        (lambda: EmpiricalTweedie(-1).fit([1.0, 2.0]), "sigma_e must be a positive"),
        (lambda: EmpiricalTweedie(bin_width=2).fit([1.0, 2.0]), "bin_width must be from 0 to 1"),
        (lambda: EmpiricalTweedie(tol=0).fit([1.0, 2.0]), "tol must be positive"),
        (lambda: EmpiricalTweedie(max_rounds=0).fit([1.0, 2.0]), "max_rounds must be a positive"),
        (lambda: EmpiricalTweedie().fit([[1.0, 2.0]]), "y must be a list of two numbers"),
        (lambda: EmpiricalTweedie().fit([1.0, math.nan]), "y must hold finite numbers"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
