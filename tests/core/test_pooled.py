"""Rows pooled from parts against the same rows in one design."""

import numpy as np
import pytest
from designs import assert_same
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ellzero import _core
from ellzero._engine import copy_rows, make_design, make_design_on, make_engine


def pool(parts, which, cache_bytes=1e9):
    return _core.pooled_quadratic(parts, np.asarray(which, dtype=np.int64), cache_bytes)


def make_part(X, rows, y, weights, intercept, threads):
    return make_design_on(copy_rows(X, rows), y, weights, intercept, threads)


def split(X, y, weights, sizes, intercept, at_once=False):
    ends = np.cumsum(sizes)
    designs = []
    for begin, end in zip(ends - sizes, ends, strict=True):
        part = X[begin:end]
        if sparse.issparse(part):
            part = part.tocsc()
        w = None if weights is None else weights[begin:end].copy()
        designs.append(make_design(part, y[begin:end].copy(), w, intercept, 1))
    return _core.make_parts(designs, 1e9, None, at_once)


@given(
    seed=st.integers(0, 1000),
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=6),
    weighted=st.booleans(),
    intercept=st.booleans(),
    storage=st.sampled_from([np.asarray, np.asfortranarray, sparse.csr_array]),
    p=st.sampled_from([6, 8, 12, 13, 31]),
    at_once=st.booleans(),
)
def test_pooled_parts_are_the_rows_together(seed, sizes, weighted, intercept, storage, p, at_once):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-3, 3, size=p) + rng.normal(size=p)
    X[:, 5] = 1.0 if intercept else 0.0
    y = rng.normal(size=n) + 3
    weights = rng.integers(1, 4, size=n).astype(float) if weighted else None
    parts = split(storage(X), y, weights, np.array(sizes), intercept, at_once)
    which = rng.permutation(len(sizes))[: rng.integers(1, len(sizes) + 1)]
    rows = np.concatenate([np.arange(n)[sum(sizes[:b]) : sum(sizes[: b + 1])] for b in which])
    w = None if weights is None else weights[rows]
    whole = make_design(np.ascontiguousarray(X[rows]), y[rows], w, intercept, 1)
    if len(rows) > 1 or not intercept:
        assert_same(pool(parts, which), whole, rtol=1e-8)


@pytest.mark.parametrize("at_once", [False, True])
def test_an_outlier_in_a_part_left_out_leaves_no_trace(rng, at_once):
    X, y = rng.normal(size=(100, 10)), rng.normal(size=100)
    X[3], y[3] = 1e6, -1e6
    parts = split(X, y, None, np.full(10, 10), True, at_once)
    pooled = pool(parts, np.arange(1, 10))
    assert_same(pooled, make_design(X[10:], y[10:], None, True, 1), rtol=1e-13)


@pytest.mark.parametrize("at_once", [False, True])
def test_scales_that_can_not_be_squared(rng, at_once):
    X, y = rng.normal(size=(40, 3)) * [1e150, 1e-150, 1], rng.normal(size=40)
    parts = split(X, y, None, np.full(4, 10), True, at_once)
    whole = make_design(X, y, None, True, 1)
    pooled = pool(parts, np.arange(4))
    assert_same(pooled, whole, rtol=1e-12)
    np.testing.assert_allclose(pooled.inverse_scale, whole.inverse_scale, rtol=1e-12)


def test_refined_coefficients_come_from_the_rows(rng):
    base = rng.normal(size=200)
    X = np.column_stack([base, base + 1e-4 * rng.normal(size=200)])
    y = X @ [1.0, 2.0] + 1e-7 * rng.normal(size=200)
    pooled = pool(split(X, y, None, np.full(4, 50), True), np.arange(4))
    engine = make_engine(pooled, 0.0, 1)
    engine.move_to(np.arange(2))
    solution = engine.solution()
    A = np.column_stack([np.ones(200), X])
    expected, rss, *_ = np.linalg.lstsq(A, y, rcond=None)
    np.testing.assert_allclose(solution.beta * solution.inverse_scale, expected[1:], rtol=1e-9)
    assert solution.rss == pytest.approx(rss[0], rel=1e-6)


def test_every_pool_shares_the_passes(rng):
    X, y = rng.normal(size=(60, 12)), rng.normal(size=60)
    parts = split(X, y, None, np.full(6, 10), True)
    for left_out in range(6):
        which = np.setdiff1d(np.arange(6), [left_out])
        make_engine(pool(parts, which), 0.0, 1).gram_columns(np.arange(12))
    assert parts.passes == 1


@pytest.mark.parametrize("p", [5, 24, 100])
def test_bits_of_a_pool_made_at_once_do_not_depend_on_the_others(rng, p):
    X, y = rng.normal(size=(400, p)), rng.normal(size=400)
    sizes, columns = np.array([300, 10, 40, 50]), np.arange(min(p, 16))
    which = [1, 0, 3]
    alone = make_engine(pool(split(X, y, None, sizes, True, True), which), 0.0, 1)
    parts = split(X, y, None, sizes, True, True)
    # One that is gone before any is made, and one that is made with it.
    pool(parts, [2])
    pools = [pool(parts, [0, 1, 2, 3]), pool(parts, which)]
    found = [make_engine(each, 0.0, 2).gram_columns(columns) for each in pools]
    assert parts.passes == 1
    np.testing.assert_array_equal(found[1], alone.gram_columns(columns))
    later = make_engine(pool(parts, [3, 2]), 0.0, 1).gram_columns(columns)
    one_by_one = pool(split(X, y, None, sizes, True), [3, 2])
    expected = make_engine(one_by_one, 0.0, 1).gram_columns(columns)
    np.testing.assert_allclose(later, expected, rtol=1e-13, atol=1e-14)


@given(
    seed=st.integers(0, 1000),
    n=st.integers(2, 600),
    p=st.integers(1, 30),
    weighted=st.booleans(),
    intercept=st.booleans(),
    dtype=st.sampled_from([np.float64, np.float32]),
)
def test_rows_in_panels_are_the_rows(seed, n, p, weighted, intercept, dtype):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-3, 3, size=p) + 3 * rng.normal(size=p)
    X = X.astype(dtype)
    rows = rng.permutation(n)[: rng.integers(2, n + 1)]
    y = rng.normal(size=len(rows)) + 3
    weights = rng.integers(1, 4, size=len(rows)).astype(float) if weighted else None
    part = make_part(X, rows, y, weights, intercept, 1)
    whole = make_design(np.ascontiguousarray(X[rows]), y, weights, intercept, 1)
    assert_same(part, whole, rtol=1e-10)


def test_bits_of_panels_do_not_depend_on_layout_block_or_threads(rng):
    X, y, rows = rng.normal(size=(300, 37)), rng.normal(size=300), np.arange(300)
    part = make_part(X, rows, y, None, True, 1)
    expected = make_engine(part, 0.0, 1).gram_columns(np.arange(16))
    turned = make_part(np.asfortranarray(X), rows, y, None, True, 2)
    np.testing.assert_array_equal(make_engine(turned, 0.0, 2).gram_columns(np.arange(16)), expected)
    for width in (1, 2, 3, 4, 5, 7):
        part = make_part(X, rows, y, None, True, 1)
        some = make_engine(part, 0.0, 1).gram_columns(np.arange(width))
        np.testing.assert_array_equal(some, expected[:width])


def test_columns_of_panels_that_can_not_be_squared(rng):
    X, y = rng.normal(size=(40, 9)) * [1e150, 1e-150, 1, 1, 1, 1, 1, 1, 1e-160], rng.normal(size=40)
    X[:, 4], X[:, 5] = 0, 7
    part = make_part(X, np.arange(40), y, None, True, 1)
    assert_same(part, make_design(X, y, None, True, 1), rtol=1e-12)
    assert (part.inverse_scale[[4, 5]] == 0).all()


def test_an_error_on_rows_held_out(rng):
    X, y = rng.normal(size=(30, 4)) + 1e8, rng.normal(size=30)
    w = rng.random(30)
    columns = [copy_rows(X, rows) for rows in np.split(np.arange(30), 3)]
    rows = np.array([25, 1, 9])
    where = np.array([2, 0, 0]), np.array([5, 1, 9])
    held_out = _core.held_out(columns, *where, y[rows], w[rows])
    design = make_design(X, y, w, True, 1)
    support, beta = np.array([1, 3]), np.array([0.5, -2.0])
    Z = (X[np.ix_(rows, support)] - design.mean[support]) * design.inverse_scale[support]
    expected = np.average((y[rows] - design.mean_y - Z @ beta) ** 2, weights=w[rows])
    assert held_out.error(design, support, beta) == pytest.approx(expected, rel=1e-12)
    assert held_out.weight == pytest.approx(w[rows].sum())


def test_columns_dropped_for_others_of_the_same_call_are_not_lost(rng):
    n, p = 60, 90
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    designs = [
        make_design(X[rows].copy(), y[rows].copy(), None, True, 1)
        for rows in (slice(0, 20), slice(20, 40), slice(40, 60))
    ]
    which = np.arange(3)
    whole = make_engine(pool(_core.make_parts(designs, 1e9), which), 0.0, 1)
    # Room for one pass of sixteen columns, and no engine keeps any
    tight = make_engine(pool(_core.make_parts(designs, 0.0), which, 0.0), 0.0, 1)
    for _ in range(40):
        asked = rng.permutation(p)[: rng.integers(1, 17)]
        np.testing.assert_array_equal(tight.gram_columns(asked), whole.gram_columns(asked))
