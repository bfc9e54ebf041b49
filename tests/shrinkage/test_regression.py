"""The paper's theorem: Tweedie's formula for regression."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ellzero.shrinkage import BernoulliGaussian, spike_slab_score, tweedie_regression


def every_model(X, y, Sigma, prior):
    """Literally: the score and the posterior mean as sums over all models, each by its own V."""
    p = X.shape[1]
    logs, scores, means = [], [], []
    for gamma in itertools.product([False, True], repeat=p):
        columns = X[:, list(gamma)]
        V = Sigma + prior.sigma_beta**2 * columns @ columns.T
        solved = np.linalg.solve(V, y)
        k = sum(gamma)
        logs.append(
            k * math.log(prior.theta)
            + (p - k) * math.log1p(-prior.theta)
            - 0.5 * np.linalg.slogdet(V)[1]
            - 0.5 * y @ solved
        )
        scores.append(-solved)
        mean = np.zeros(p)
        mean[list(gamma)] = prior.sigma_beta**2 * columns.T @ solved  # E[beta | gamma, y]
        means.append(mean)
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    return weights @ np.array(scores), weights @ np.array(means)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    p = draw(st.integers(1, 7))
    n = p + draw(st.integers(0, 6))
    X = rng.normal(size=(n, p)) + draw(st.sampled_from([0.0, 2.0])) * rng.normal(size=(n, 1))
    kind = draw(st.sampled_from(["number", "vector", "matrix"]))
    if kind == "number":
        Sigma = draw(st.floats(0.05, 5))
        whole = Sigma * np.eye(n)
    elif kind == "vector":
        Sigma = rng.uniform(0.2, 3, size=n)
        whole = np.diag(Sigma)
    else:
        root = rng.normal(size=(n, n))
        Sigma = whole = root @ root.T + 0.3 * np.eye(n)
    beta = np.where(rng.random(p) < 0.5, rng.normal(size=p) * 3, 0)
    y = X @ beta + np.linalg.cholesky(whole) @ rng.normal(size=n)
    prior = BernoulliGaussian(draw(st.floats(0.01, 0.99)), draw(st.floats(0.1, 10)))
    return X, y, Sigma, whole, prior


@settings(max_examples=60)
@given(problems())
def test_tweedie_is_model_averaging(problem):
    X, y, Sigma, whole, prior = problem
    score, mean = every_model(X, y, whole, prior)
    scale = 1 + np.abs(mean).max()
    mine = spike_slab_score(X, y, Sigma, prior)
    np.testing.assert_allclose(mine, score, atol=1e-9 * (1 + np.abs(score).max()))
    # the theorem, with the literal score and with the fast one
    for gradient in (score, mine, lambda v: spike_slab_score(X, v, Sigma, prior)):
        np.testing.assert_allclose(
            tweedie_regression(X, y, Sigma, gradient), mean, atol=1e-9 * scale
        )


@settings(max_examples=40)
@given(problems())
def test_given_the_least_squares_estimate(problem):
    X, y, Sigma, whole, prior = problem
    C = np.linalg.inv(X.T @ np.linalg.solve(whole, X))
    p = X.shape[1]

    # The estimate is a regression of its own: b = beta + N(0, C).
    def score(b):
        return spike_slab_score(np.eye(p), b, (C + C.T) / 2, prior)

    one = tweedie_regression(X, y, Sigma, score, given="least_squares")
    other = tweedie_regression(X, y, Sigma, lambda v: spike_slab_score(X, v, Sigma, prior))
    np.testing.assert_allclose(one, other, atol=1e-7 * (1 + np.abs(other).max()))


def test_the_score_is_the_gradient_of_the_log_marginal():
    rng = np.random.default_rng(0)
    X, y, prior = rng.normal(size=(6, 4)), rng.normal(size=6), BernoulliGaussian(0.3, 1.5)

    def log_marginal(v):
        terms = []
        for gamma in itertools.product([False, True], repeat=4):
            columns = X[:, list(gamma)]
            V = 0.5 * np.eye(6) + 2.25 * columns @ columns.T
            k = sum(gamma)
            log = k * math.log(0.3) + (4 - k) * math.log(0.7) - 0.5 * np.linalg.slogdet(V)[1]
            terms.append(log - 0.5 * v @ np.linalg.solve(V, v))
        return np.logaddexp.reduce(terms)

    score = spike_slab_score(X, y, 0.5, prior)
    for i, unit in enumerate(np.eye(6)):
        slope = (log_marginal(y + 1e-5 * unit) - log_marginal(y - 1e-5 * unit)) / 2e-5
        assert score[i] == pytest.approx(slope, abs=1e-8)


def test_an_orthonormal_design_is_normal_means():
    rng = np.random.default_rng(1)
    X = np.linalg.qr(rng.normal(size=(30, 20)))[0]
    y, prior = 2 * rng.normal(size=30), BernoulliGaussian(0.2, 2.0)
    score = spike_slab_score(X, y, 0.49, prior)
    found = tweedie_regression(X, y, 0.49, score)
    np.testing.assert_allclose(found, prior.posterior_mean(X.T @ y, sigma_e=0.7), atol=1e-12)


def test_one_column_of_normal_means():
    prior = BernoulliGaussian(0.2, 2.0)
    found = spike_slab_score(np.eye(1), [1.5], 1.0, prior)
    assert found[0] == pytest.approx(prior.score(1.5), rel=1e-13)


X, Y, PRIOR = np.eye(3, 2), np.ones(3), BernoulliGaussian(0.1, 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tweedie_regression(np.ones((3, 2)), Y, 1.0, Y), "X must have full column rank"),
        (lambda: tweedie_regression(np.eye(3, 4), Y, 1.0, Y), "X must have full column rank"),
        (lambda: tweedie_regression(np.zeros((3, 2)), Y, 1.0, Y), "X must have full column rank"),
        (lambda: tweedie_regression(X, Y, 0.0, Y), "Sigma must be positive"),
        (lambda: tweedie_regression(X, Y, np.ones((3, 3)), Y), "Sigma must be positive definite"),
        (lambda: tweedie_regression(X, Y, np.triu(np.ones((3, 3))), Y), "Sigma must be symmetric"),
        (lambda: tweedie_regression(X, Y, [1.0, 1.0], Y), "Sigma must be a variance, 3 variances"),
        (lambda: tweedie_regression(X, Y, 1.0, [1.0]), "score must have 3 numbers"),
        (lambda: tweedie_regression(X, Y, 1.0, Y, given="x"), "given must be 'y' or"),
        (lambda: tweedie_regression(X, Y, 1.0, Y, given="least_squares"), "score must have 2 num"),
        (lambda: tweedie_regression(X, Y, 1.0, lambda y: y * np.nan), "score must hold finite"),
        (lambda: spike_slab_score(np.ones((3, 21)), Y, 1.0, PRIOR), "X must have at most 20"),
        (lambda: spike_slab_score(X, Y, 1.0, BernoulliGaussian(0.1, math.inf)), "sigma_beta must"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_prior_of_another_kind():
    with pytest.raises(TypeError, match="prior must be a BernoulliGaussian"):
        spike_slab_score(X, Y, 1.0, 0.1)
