"""Columns that are nearly combinations of others: it must end, and the answer must make sense."""

import numpy as np
import pytest
from reference.subsets import energy, preprocess
from sklearn.preprocessing import PolynomialFeatures

from ellzero import L0Regressor

CRITERIA = ["bic", "ebic", "ric"]


def near_copies(seed, distance, n=30, p=12, sources=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, sources))[:, rng.integers(sources, size=p)]
    return X + distance * rng.normal(size=(n, p)), rng.normal(size=n)


def assert_coherent(model, X, y):
    """What the model says of itself is what least squares says of its support."""
    Z, target = preprocess(X, y)
    best = energy(Z, target, model.support_)
    rss = ((y - model.predict(X)) ** 2).sum()
    assert rss / 2 == pytest.approx(best, rel=1e-6, abs=1e-9 * (target @ target))
    price = model.lam_ * model.support_.size
    assert model.objective_ == pytest.approx(best + price, rel=1e-6)


@pytest.mark.filterwarnings("ignore:.*can't be trusted:UserWarning")
@pytest.mark.parametrize("distance", 10.0 ** -np.arange(1, 9))
@pytest.mark.parametrize("lam", [0.0, 1e-4, 1e-2, *CRITERIA])
def test_near_copies(distance, lam):
    for seed in range(25):
        X, y = near_copies(seed, distance)
        assert_coherent(L0Regressor(lam).fit(X, y), X, y)


@pytest.mark.parametrize("lam", [0.0, 1e-6, *CRITERIA])
def test_polynomials(lam):
    x = np.linspace(0, 1, 100)[:, None]
    X = PolynomialFeatures(8, include_bias=False).fit_transform(x)
    for seed in range(20):
        y = np.sin(6 * x[:, 0]) + 0.1 * np.random.default_rng(seed).normal(size=100)
        assert_coherent(L0Regressor(lam).fit(X, y), X, y)


def test_of_equals_the_first_wins_even_if_rounding_says_otherwise():
    rng = np.random.default_rng(0)
    for _ in range(200):
        X = rng.integers(0, 2, size=(12, 6)).astype(float)
        y = rng.integers(-3, 4, size=12).astype(float)
        X[:, 4] = 1 - X[:, 1]  # gains exactly as much, in exact arithmetic
        model = L0Regressor(1e-9, max_size=6).fit(X, y)
        assert 4 not in model.support_
