"""Draws of coefficients given their scales, by products of columns and by rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.subsets import preprocess
from scipy import sparse

from ellzero import _core
from ellzero._engine import make_design


def design_of(X, y, weights=None, centred=True):
    return make_design(X, y, weights, centred, 1)


def make_table(n, p, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, p)), rng.standard_normal(n)
    if p > 2:
        X[:, 1] = X[:, 0] + 1e-2 * X[:, 1]
    return X, y, np.exp(3 * rng.standard_normal(p))


def conditional(X, y, ratio, centred=True):
    """Mean and inverse covariance (times s2), log-determinant and squares, literally."""
    Z, target = preprocess(X, y, intercept=centred)
    A = Z.T @ Z + np.diag(ratio)
    mean = np.linalg.solve(A, Z.T @ target)
    outer = np.eye(len(y)) + Z @ np.diag(1 / ratio) @ Z.T
    squares = target @ np.linalg.solve(outer, target)
    return mean, A, np.linalg.slogdet(outer)[1], squares


@settings(deadline=None)
@given(
    n=st.integers(2, 40),
    p=st.integers(1, 40),
    by_rows=st.booleans(),
    factor=st.sampled_from([1.0, 0.01, 30.0]),
    seed=st.integers(0, 1000),
)
def test_mean_and_density(n, p, by_rows, factor, seed):
    X, y, ratio = make_table(n, p, seed)
    # So little noise that the draw is the mean.
    (beta,), log_determinant, squares = _core.draw_gaussian(
        design_of(X, y), ratio, factor, 1e-30, 1, by_rows, 0
    )
    mean, _, expected_determinant, expected_squares = conditional(X, y, factor * ratio)
    np.testing.assert_allclose(beta, mean, rtol=1e-8, atol=1e-8 * np.abs(mean).max())
    assert log_determinant == pytest.approx(expected_determinant, rel=1e-9, abs=1e-9)
    assert squares == pytest.approx(expected_squares, rel=1e-7, abs=1e-10)


@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize(("n", "p"), [(5, 3), (12, 12), (30, 13), (20, 61)])
def test_covariance(n, p, by_rows):
    X, y, ratio = make_table(n, p, 1)
    count, s2 = 20_000, 2.0
    draws, *_ = _core.draw_gaussian(design_of(X, y), ratio, 1.0, s2, count, by_rows, 0)
    mean, A, *_ = conditional(X, y, ratio)
    white = (draws - mean) @ np.linalg.cholesky(A) / np.sqrt(s2)
    assert np.abs(white.mean(axis=0)).max() < 4.5 / np.sqrt(count)
    assert np.abs(np.cov(white.T) - np.eye(p)).max() < 6.5 / np.sqrt(count)


@pytest.mark.parametrize("by_rows", [False, True])
def test_large_enough_for_every_block(by_rows):
    n, p = (150, 320) if by_rows else (400, 320)
    X, y, ratio = make_table(n, p, 2)
    (beta,), log_determinant, _ = _core.draw_gaussian(
        design_of(X, y), ratio, 1.0, 1e-30, 1, by_rows, 0
    )
    mean, _, expected, _ = conditional(X, y, ratio)
    np.testing.assert_allclose(beta, mean, rtol=1e-7, atol=1e-9)
    assert log_determinant == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("by_rows", [False, True])
def test_sparse_weighted_and_without_an_intercept(by_rows):
    X, y, ratio = make_table(30, 6, 3)
    X = np.where(np.abs(X) < 0.7, 0, X)
    weights = (np.arange(30) % 3).astype(float)
    repeats = weights.astype(int)
    for centred in (True, False):
        expected = conditional(X.repeat(repeats, axis=0), y.repeat(repeats), ratio, centred)[0]
        for table in (sparse.csc_array(X), X):
            design = design_of(table, y, weights, centred)
            (beta,), *_ = _core.draw_gaussian(design, ratio, 1.0, 1e-30, 1, by_rows, 0)
            np.testing.assert_allclose(beta, expected, rtol=1e-8)


@pytest.mark.parametrize("by_rows", [False, True])
def test_ratios_at_both_ends_of_the_numbers(by_rows):
    X, y, _ = make_table(20, 8, 4)
    X[:, 5] = X[:, 4]  # not to be told apart but by the prior
    least = 1e-10 if by_rows else 1e-100
    ratio = np.array([1e100, least, 1e50, 1e-3, 1e-6, 1e-6, 1.0, 1e20])
    draws, *_ = _core.draw_gaussian(design_of(X, y), ratio, 1.0, 1e-4, 2000, by_rows, 0)
    assert np.isfinite(draws).all()
    assert np.abs(draws[:, [0, 2, 7]]).max() < 1e-9
    # Their sum is known, their difference is the prior's: of variance 2 s2 / ratio.
    assert (draws[:, 4] + draws[:, 5]).std() < 0.1
    assert (draws[:, 4] - draws[:, 5]).std() == pytest.approx(np.sqrt(2e-4 / 1e-6), rel=0.1)


def test_constant_columns_have_no_coefficient():
    X, y, ratio = make_table(15, 4, 5)
    X[:, 2] = 3.0
    draws, *_ = _core.draw_gaussian(design_of(X, y), ratio, 1.0, 1.0, 10, False, 0)
    assert (draws[:, 2] == 0).all()
    assert (draws[:, [0, 1, 3]] != 0).all()


def test_rows_that_are_not_at_hand():
    statistics = _core.statistics_quadratic(np.eye(2), np.ones(2), 3.0, np.zeros(2), 0.0, 10.0, 1e9)
    with pytest.raises(ValueError, match="no rows at hand"):
        _core.draw_gaussian(statistics, np.ones(2), 1.0, 1.0, 1, True, 0)
    (beta,), *_ = _core.draw_gaussian(statistics, np.ones(2), 1.0, 1e-30, 1, False, 0)
    np.testing.assert_allclose(beta, 0.5)


def test_by_rows_a_ratio_counts_for_1e_10_at_least():
    X, y, ratio = make_table(20, 5, 6)
    ratio[:2] = 1e-100
    draws, *_ = _core.draw_gaussian(design_of(X, y), ratio, 1.0, 1e-4, 10, True, 0)
    ratio[:2] = 1e-10
    expected, *_ = _core.draw_gaussian(design_of(X, y), ratio, 1.0, 1e-4, 10, True, 0)
    np.testing.assert_array_equal(draws, expected)
