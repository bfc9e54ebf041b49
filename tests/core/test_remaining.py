"""All rows but some, by what is taken away, against the rows that stay in a design of their own."""

import numpy as np
import pytest
from designs import assert_same
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ellzero import _core
from ellzero._engine import chosen_rows, copy_rows, make_columns, make_design_on, make_engine


def make_all(X, y, weights=None, intercept=True):
    X = X.tocsc() if sparse.issparse(X) else X
    columns = make_columns(X)
    whole = make_design_on(columns, y, weights, intercept, 1)
    return _core.all_rows(whole, columns, y, weights, intercept, 1)


def remaining(everything, X, left_out):
    left_out = np.asarray(left_out, dtype=np.int64)
    columns = make_columns(X[left_out].tocsc()) if sparse.issparse(X) else copy_rows(X, left_out)
    return _core.remaining_quadratic(everything, columns, left_out, 1e9)


def alone(X, y, weights, intercept, left_out):
    stay = np.setdiff1d(np.arange(len(y)), left_out)
    columns = make_columns(np.ascontiguousarray(X[stay]))
    w = None if weights is None else weights[stay]
    return make_design_on(columns, y[stay], w, intercept, 1)


@given(
    seed=st.integers(0, 1000),
    n=st.integers(12, 700),
    share=st.floats(0.0, 0.5),
    weighted=st.booleans(),
    intercept=st.booleans(),
    storage=st.sampled_from([np.asarray, np.asfortranarray, sparse.csr_array]),
)
def test_what_is_left_is_a_design_of_the_rows_that_stay(
    seed, n, share, weighted, intercept, storage
):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8)) * 10.0 ** rng.uniform(-3, 3, size=8) + rng.normal(size=8)
    X[:, 5] = 1.0 if intercept else 0.0
    y = rng.normal(size=n) + 3
    weights = rng.integers(0, 4, size=n).astype(float) if weighted else None
    left_out = np.sort(rng.permutation(n)[: max(1, int(share * n))])
    made = remaining(make_all(storage(X), y, weights, intercept), storage(X), left_out)
    if made is None:  # nine tenths of something would go
        assert n < 100
        return
    expected = alone(X, y, weights, intercept, left_out)
    assert_same(made, expected, rtol=1e-13)
    which = np.array([7, 0, 2])
    np.testing.assert_allclose(
        made.cross_products(which), expected.cross_products(which), rtol=0, atol=1e-13
    )


@pytest.mark.parametrize("mean", [1e3, 1e6, 1e9])
def test_means_far_from_zero_cost_their_own_digits_alone(mean, rng):
    """Deviations are known to the rounding of the mean, in a design of all rows too."""
    X, y = rng.normal(size=(300, 6)) + mean, rng.normal(size=300) - mean
    for left_out in ([4], np.arange(100)):
        made = remaining(make_all(X, y), X, left_out)
        stay = np.setdiff1d(np.arange(300), left_out)
        Z, target = (each[stay].astype(np.longdouble) for each in (X, y))
        Z, target = Z - Z.mean(axis=0), target - target.mean()
        Z /= np.sqrt((Z**2).sum(axis=0))
        rounding = 1e-14 + 2e-17 * mean
        np.testing.assert_allclose(made.zy, (target @ Z).astype(float), rtol=0, atol=20 * rounding)
        np.testing.assert_allclose(made.yy, float(target @ target), rtol=rounding)
        gram = make_engine(made, 0.0, 1).gram_columns(np.arange(6))
        np.testing.assert_allclose(gram, (Z.T @ Z).astype(float), rtol=0, atol=rounding)


@pytest.mark.parametrize("what", ["a column", "the response", "the weight", "a lone level"])
def test_where_little_is_left_nothing_is_taken_away(what, rng):
    X, y, weights = rng.normal(size=(60, 4)), rng.normal(size=60), np.ones(60)
    if what == "a column":
        X[7, 2] = 1e4
    elif what == "the response":
        y[7] = 1e4
    elif what == "the weight":
        weights[7] = 1e3
    else:
        X[:, 2] = np.arange(60) == 7
    everything = make_all(X, y, weights)
    assert remaining(everything, X, [7]) is None
    made = remaining(everything, X, [8])
    assert_same(made, alone(X, y, weights, True, [8]), rtol=1e-12)


def test_refined_coefficients_come_from_the_rows_that_stay(rng):
    base = rng.normal(size=200)
    X = np.column_stack([base, base + 1e-4 * rng.normal(size=200)])
    y = X @ [1.0, 2.0] + 1e-7 * rng.normal(size=200)
    y[3] += 3
    weights = rng.integers(1, 3, 200).astype(float)
    engine = make_engine(remaining(make_all(X, y, weights), X, [3, 50]), 0.0, 1)
    engine.move_to(np.arange(2))
    solution = engine.solution()
    stay = np.setdiff1d(np.arange(200), [3, 50])
    root = np.sqrt(weights[stay])
    A = np.column_stack([np.ones(198), X[stay]]) * root[:, None]
    expected, rss, *_ = np.linalg.lstsq(A, y[stay] * root, rcond=None)
    np.testing.assert_allclose(solution.beta * solution.inverse_scale, expected[1:], rtol=1e-9)
    assert solution.rss == pytest.approx(rss[0], rel=1e-6)


def test_folds_share_the_passes_over_all_rows(rng):
    X, y = rng.normal(size=(60, 12)), rng.normal(size=60)
    columns = make_columns(X)
    whole = make_design_on(columns, y, None, True, 1)
    everything = _core.all_rows(whole, columns, y, None, True, 1)
    for row in range(60):
        make_engine(remaining(everything, X, [row]), 0.0, 1).gram_columns(np.arange(12))
    assert whole.passes == 1


def test_rows_left_out_may_stay_where_they_lie(rng):
    X, y, weights = rng.normal(size=(700, 150)), rng.normal(size=700), rng.random(700)
    everything = make_all(X, y, weights)
    which = np.sort(rng.permutation(700)[:300])
    made = [
        _core.remaining_quadratic(everything, columns(X, which), which, 1e9)
        for columns in (copy_rows, chosen_rows)
    ]
    assert_same(*made, rtol=0)


def test_folds_in_step_want_their_columns_together(rng):
    X, y = rng.normal(size=(80, 900)), rng.normal(size=80)
    columns = make_columns(X)
    whole = make_design_on(columns, y, None, True, 1)
    everything = _core.all_rows(whole, columns, y, None, True, 1)
    parts = np.array_split(np.arange(80), 8)
    designs = [remaining(everything, X, left_out) for left_out in parts]
    nowhere = np.zeros(10, dtype=np.int64)
    held_out = [_core.held_out([columns], nowhere, part, y[part], None) for part in parts]
    nothing = np.empty(0, dtype=np.int64)
    folds = _core.Folds(designs, held_out, everything, False, 0.0, nothing, 1, 1)
    folds.search(10, None)
    asked = sum(design.columns_made for design in designs)
    assert 10 <= whole.passes < whole.columns_made < asked
