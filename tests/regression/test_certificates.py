"""What is said of a solution is so: every insertion, removal and swap is refitted."""

import warnings

import numpy as np
import pytest
from reference.subsets import energy, preprocess

from ellzero import L0Regressor, L0RegressorCV


def binary_design(seed):
    """Return few rows and columns of zeros and ones: gains tie, and rise with the size."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(6, 14)), int(rng.integers(3, 10))
    X = rng.integers(0, 2, size=(n, p)).astype(float)
    return X, rng.integers(0, 3, size=n).astype(float)


def normal_design(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(6, 20)), int(rng.integers(3, 12))
    X = rng.normal(size=(n, 1)) + rng.normal(size=(n, p))
    return X, X[:, 0] - X[:, 1] + rng.normal(size=n)


def neighbours(support, p, swaps):
    """Yield the supports that are one insertion, removal or swap away."""
    inside = set(support.tolist())
    outside = set(range(p)) - inside
    for j in outside:
        yield [*inside, j]
    for r in inside:
        yield [*(inside - {r})]
        if swaps:
            for j in outside:
                yield [*(inside - {r}), j]


def assert_locally_optimal(model, X, y, swaps):
    Z, target = preprocess(X, y)
    total = target @ target
    priced = not np.isnan(model.lam_)
    lam = model.lam_ if priced else 0.0
    here = energy(Z, target, model.support_) + lam * len(model.support_)
    for other in neighbours(model.support_, X.shape[1], swaps):
        if not priced and len(other) != len(model.support_):
            continue  # of a model that is the solution at no price, swaps alone are spoken of
        there = energy(Z, target, other) + lam * len(other)
        assert there >= here - 1e-9 * total, (model.support_, other)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("design", [binary_design, normal_design])
@pytest.mark.parametrize("solver", ["frontier", "sbr"])
@pytest.mark.parametrize("max_size", [None, 2, 4])
def test_a_claim_that_nothing_improves_it(design, solver, max_size):
    claims = 0
    for seed in range(120):
        X, y = design(seed)
        if max_size is not None and max_size > X.shape[1]:
            continue
        for lam in ("ebic", "bic", "ric", 0.05):
            model = L0Regressor(lam, solver=solver, max_size=max_size).fit(X, y)
            if "improves it" in str(model.certificate_):
                claims += 1
                assert_locally_optimal(model, X, y, swaps=solver == "frontier")
            else:
                assert "stopped at max_size" in str(model.certificate_)
    assert claims > 50


@pytest.mark.parametrize("solver", ["frontier", "sbr"])
@pytest.mark.parametrize("max_size", [None, 2])
def test_a_claim_of_cross_validation(solver, max_size):
    claims = 0
    for seed in range(60):
        X, y = normal_design(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = L0RegressorCV(cv=3, solver=solver, max_size=max_size).fit(X, y)
        if "improves it" in str(model.certificate_):
            claims += 1
            assert_locally_optimal(model, X, y, swaps=solver == "frontier")
    assert claims > 20
