"""What no solver's answer may depend on: units, order, weights or copies, storage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ellzero import L0Regressor
from ellzero.datasets import make_collinear

SOLVERS = ["frontier", "sbr"]


def problem(seed):
    return make_collinear(40, 25, n_factors=3, coefficients=(3, -2, 1, 1), random_state=seed)[:2]


@given(
    solver=st.sampled_from(SOLVERS),
    seed=st.integers(0, 1000),
    lam=st.floats(1e-3, 1.0),
    scales=st.lists(st.floats(-6, 6), min_size=25, max_size=25),
    shuffle=st.randoms(use_true_random=False),
)
def test_equivariance(solver, seed, lam, scales, shuffle):
    X, y = problem(seed)
    factors = 10.0 ** np.array(scales)
    order = list(range(25))
    shuffle.shuffle(order)
    plain = L0Regressor(lam, solver=solver).fit(X, y)
    moved = L0Regressor(lam, solver=solver).fit((X * factors + 1)[:, order], y - 5)
    np.testing.assert_allclose(moved.coef_, (plain.coef_ / factors)[order], rtol=1e-6, atol=1e-9)
    assert moved.objective_ == pytest.approx(plain.objective_, rel=1e-8)
    tenfold = L0Regressor(100 * lam, solver=solver).fit(X, 10 * y)
    np.testing.assert_allclose(tenfold.coef_, 10 * plain.coef_, rtol=1e-8)


@given(
    solver=st.sampled_from(SOLVERS),
    seed=st.integers(0, 1000),
    lam=st.sampled_from([0.05, "bic", "ebic", "ric"]),
)
def test_a_row_of_weight_two_is_the_row_twice(solver, seed, lam):
    X, y = problem(seed)
    weights = np.random.default_rng(seed).integers(1, 4, size=len(y))
    weights[:3] = 0
    weighted = L0Regressor(lam, solver=solver, max_size=25).fit(X, y, sample_weight=weights)
    repeated = L0Regressor(lam, solver=solver, max_size=25).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    assert weighted.support_.tolist() == repeated.support_.tolist()
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)
    assert weighted.lam_ == pytest.approx(repeated.lam_, rel=1e-9)
    np.testing.assert_allclose(weighted.summary(), repeated.summary(), rtol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("lam", [0.05, "ebic"])
@pytest.mark.parametrize("intercept", [True, False])
def test_sparse_equals_dense(solver, lam, intercept, rng):
    X, y = problem(3)
    X = np.where(rng.random(X.shape) < 0.5, X, 0)
    dense = L0Regressor(lam, solver=solver, fit_intercept=intercept).fit(X, y)
    for container in (sparse.csc_array, sparse.csr_matrix, sparse.coo_array):
        model = L0Regressor(lam, solver=solver, fit_intercept=intercept).fit(container(X), y)
        np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-9)
        np.testing.assert_allclose(model.predict(container(X)), dense.predict(X), rtol=1e-9)


def test_coefficients_are_those_of_least_squares(rng):
    X, y = problem(6)
    X = X * 7 + 100
    model = L0Regressor(0.05).fit(X, y)
    A = np.column_stack([np.ones(len(y)), X[:, model.support_]])
    expected = np.linalg.lstsq(A, y, rcond=None)[0]
    assert model.intercept_ == pytest.approx(expected[0], rel=1e-8)
    np.testing.assert_allclose(model.coef_[model.support_], expected[1:], rtol=1e-8)
    np.testing.assert_allclose(model.predict(X), A @ expected, rtol=1e-9)
    assert model.score(X, y) > 0.9


def test_digits_survive_collinearity(rng):
    # Normal equations alone would leave about 16 - 2 * 4 digits.
    n = 200
    base = rng.normal(size=n)
    X = np.column_stack([base, base + 1e-4 * rng.normal(size=n)])
    y = X @ [1.0, 2.0] + 1e-7 * rng.normal(size=n)
    model = L0Regressor(0.0, fit_intercept=False).fit(X, y)
    expected = np.linalg.lstsq(X, y, rcond=None)[0]
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-10)
