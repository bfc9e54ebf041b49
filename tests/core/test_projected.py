"""What some columns leave of the others and of y, against least squares on rows."""

import numpy as np
import pytest
from scipy import sparse

from ellzero import _core
from ellzero._engine import make_design, make_engine

N, P = 40, 9
OUT = np.array([5, 2, 7])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P)) * 10.0 ** rng.integers(-3, 4, P) + rng.standard_normal(P)
    X[:, 0] += X[:, 5]
    X[np.abs(X) < 0.1] = 0
    X[:, 7] = 3 * X[:, 5] - X[:, 2] + 1  # depends on the other two
    X[:, 8] = X[:, 2] - 5  # is in their span
    return X, X @ rng.standard_normal(P) + rng.standard_normal(N), rng.integers(1, 4, N) * 1.0


def least_squares(X, y, weights):
    """Return weighted, centred rows: those taken out, y and the columns less what they explain."""
    root = np.sqrt(weights)[:, None]
    both = np.column_stack([y, X])
    both = (both - np.average(both, axis=0, weights=weights)) * root
    F = both[:, 1 + OUT[:2]]
    norms = np.linalg.norm(both[:, 1:], axis=0)
    left = both - F @ np.linalg.lstsq(F, both, rcond=None)[0]
    return F, left[:, 0], left[:, 1:] / norms, norms


def statistics(X, y, weights):
    """Return a design that has no rows."""
    means = np.average(X, axis=0, weights=weights)
    mean_y = float(np.average(y, weights=weights))
    D, d = (X - means) * np.sqrt(weights)[:, None], (y - mean_y) * np.sqrt(weights)
    return _core.statistics_quadratic(
        D.T @ D, D.T @ d, float(d @ d), means, mean_y, float(weights.sum()), 1e9
    )


@pytest.mark.parametrize("kind", ["dense", "sparse", "statistics"])
def test_is_what_least_squares_leaves(rows, kind):
    X, y, weights = rows
    if kind == "statistics":
        base = statistics(X, y, weights)
    else:
        table = sparse.csc_array(X) if kind == "sparse" else X
        base = make_design(table, y, weights, True, 1)
    left = _core.project(base, OUT, 1e9, 1)
    F, y_left, Z_left, norms = least_squares(X, y, weights)
    shares = np.linalg.norm(Z_left, axis=0)
    assert left.kept.tolist() == [5, 2]
    alive = [0, 1, 3, 4, 6]
    assert np.flatnonzero(left.left).tolist() == alive
    np.testing.assert_allclose(left.left[alive], shares[alive], rtol=1e-9)
    np.testing.assert_allclose(left.inverse_scale[alive], 1 / (norms * shares)[alive], rtol=1e-9)
    assert left.yy == pytest.approx(y_left @ y_left, rel=1e-9)
    unit = np.where(shares > 1e-6, Z_left / np.maximum(shares, 1e-6), 0.0)
    np.testing.assert_allclose(left.zy, unit.T @ y_left, atol=1e-9 * np.sqrt(left.yy))
    gram = make_engine(left, 1.0, 1).gram_columns(np.arange(P))
    np.testing.assert_allclose(gram, unit.T @ unit, atol=1e-9)
    np.testing.assert_allclose(left.cross_products(np.array([3, 0])), gram[[3, 0]][:, [3, 0]])
    beta = np.linalg.lstsq(F, (y - np.average(y, weights=weights)) * np.sqrt(weights), rcond=None)
    np.testing.assert_allclose(left.beta, beta[0] * norms[OUT[:2]], rtol=1e-7)
    inverse = np.linalg.inv((F / norms[OUT[:2]]).T @ (F / norms[OUT[:2]]))
    np.testing.assert_allclose(left.root.T @ left.root, inverse, rtol=1e-9)


def test_residuals_are_of_what_is_left(rows):
    # Nearly dependent columns: coefficients are refined on residuals of the rows
    X, y, weights = rows
    X = X.copy()
    X[:, 1] = X[:, 0] + 1e-4 * X[:, 1]
    left = _core.project(make_design(X, y, weights, True, 1), OUT, 1e9, 1)
    engine = make_engine(left, 0.0, 1)
    engine.move_to(np.array([0, 1, 3]))
    solution = engine.solution()
    _, y_left, Z_left, norms = least_squares(X, y, weights)
    beta, rss, *_ = np.linalg.lstsq(Z_left[:, [0, 1, 3]], y_left, rcond=None)
    np.testing.assert_allclose(
        solution.beta * solution.inverse_scale, beta / norms[[0, 1, 3]], rtol=1e-8
    )
    assert solution.rss == pytest.approx(float(rss[0]), rel=1e-10)


def test_nothing_taken_out_changes_nothing(rows):
    X, y, weights = rows
    base = make_design(X, y, weights, True, 1)
    left = _core.project(base, np.empty(0, dtype=np.int64), 1e9, 1)
    np.testing.assert_array_equal(left.zy, base.zy)
    assert left.yy == base.yy
