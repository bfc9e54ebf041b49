"""Rows pooled from parts against the same rows in one design."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ellzero import _core
from ellzero._engine import make_design, make_engine


def split(X, y, weights, sizes, intercept):
    ends = np.cumsum(sizes)
    designs = []
    for begin, end in zip(ends - sizes, ends, strict=True):
        part = X[begin:end]
        if sparse.issparse(part):
            part = part.tocsc()
        w = None if weights is None else weights[begin:end].copy()
        designs.append(make_design(part, y[begin:end].copy(), w, intercept, 1))
    return _core.make_parts(designs, 1e9)


def assert_same(pooled, whole, rtol=1e-9):
    for name in ("mean", "inverse_scale", "zy", "yy", "mean_y", "weight"):
        expected = np.asarray(getattr(whole, name))
        scale = np.abs(expected).max(initial=1e-300)
        np.testing.assert_allclose(getattr(pooled, name), expected, rtol=rtol, atol=rtol * scale)
    ours, theirs = make_engine(pooled, 0.0, 1), make_engine(whole, 0.0, 1)
    columns = np.arange(min(pooled.columns, 16))
    np.testing.assert_allclose(
        ours.gram_columns(columns), theirs.gram_columns(columns), rtol=rtol, atol=rtol
    )


@given(
    seed=st.integers(0, 1000),
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=6),
    weighted=st.booleans(),
    intercept=st.booleans(),
    storage=st.sampled_from([np.asarray, np.asfortranarray, sparse.csr_array]),
)
def test_pooled_parts_are_the_rows_together(seed, sizes, weighted, intercept, storage):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    X = rng.normal(size=(n, 8)) * 10.0 ** rng.uniform(-3, 3, size=8) + rng.normal(size=8)
    X[:, 5] = 1.0 if intercept else 0.0
    y = rng.normal(size=n) + 3
    weights = rng.integers(1, 4, size=n).astype(float) if weighted else None
    parts = split(storage(X), y, weights, np.array(sizes), intercept)
    which = rng.permutation(len(sizes))[: rng.integers(1, len(sizes) + 1)]
    rows = np.concatenate([np.arange(n)[sum(sizes[:b]) : sum(sizes[: b + 1])] for b in which])
    w = None if weights is None else weights[rows]
    whole = make_design(np.ascontiguousarray(X[rows]), y[rows], w, intercept, 1)
    if len(rows) > 1 or not intercept:
        assert_same(_core.pooled_design(parts, which.astype(np.int64)), whole, rtol=1e-8)


def test_an_outlier_in_a_part_left_out_leaves_no_trace(rng):
    X, y = rng.normal(size=(100, 10)), rng.normal(size=100)
    X[3], y[3] = 1e6, -1e6
    parts = split(X, y, None, np.full(10, 10), True)
    pooled = _core.pooled_design(parts, np.arange(1, 10))
    assert_same(pooled, make_design(X[10:], y[10:], None, True, 1), rtol=1e-13)


def test_scales_that_can_not_be_squared(rng):
    X, y = rng.normal(size=(40, 3)) * [1e150, 1e-150, 1], rng.normal(size=40)
    parts = split(X, y, None, np.full(4, 10), True)
    whole = make_design(X, y, None, True, 1)
    pooled = _core.pooled_design(parts, np.arange(4))
    assert_same(pooled, whole, rtol=1e-12)
    np.testing.assert_allclose(pooled.inverse_scale, whole.inverse_scale, rtol=1e-12)


def test_refined_coefficients_come_from_the_rows(rng):
    base = rng.normal(size=200)
    X = np.column_stack([base, base + 1e-4 * rng.normal(size=200)])
    y = X @ [1.0, 2.0] + 1e-7 * rng.normal(size=200)
    pooled = _core.pooled_design(split(X, y, None, np.full(4, 50), True), np.arange(4))
    engine = make_engine(pooled, 0.0, 1)
    engine.move_to(np.arange(2))
    solution = engine.solution()
    A = np.column_stack([np.ones(200), X])
    expected, rss, *_ = np.linalg.lstsq(A, y, rcond=None)
    np.testing.assert_allclose(solution[1] * solution[3], expected[1:], rtol=1e-9)
    assert solution[5] == pytest.approx(rss[0], rel=1e-6)


def test_every_pool_shares_the_passes(rng):
    X, y = rng.normal(size=(60, 12)), rng.normal(size=60)
    parts = split(X, y, None, np.full(6, 10), True)
    for left_out in range(6):
        which = np.setdiff1d(np.arange(6), [left_out])
        make_engine(_core.pooled_design(parts, which), 0.0, 1).gram_columns(np.arange(12))
    assert parts.passes == 1
