"""Where Gram columns come from: layouts, types, sparsity, statistics; and their bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.subsets import preprocess
from scipy import sparse

from ellzero import _core
from ellzero._engine import make_design, make_engine


def random_table(seed, n=530, p=101):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p)))
    X *= rng.random((n, p)) < 0.4
    X += rng.random(p) < 0.1  # some columns have no zeros
    return X, X[:, :5].sum(axis=1) + rng.normal(size=n)


def gram(design, columns, threads=1):
    engine = make_engine(design, 0.0, threads)
    return np.vstack([engine.gram_columns(np.array([j])) for j in columns])


def layouts(X):
    spaced = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    spaced[::2, ::3] = X
    return {
        "C": np.ascontiguousarray(X),
        "F": np.asfortranarray(X),
        "strided": spaced[::2, ::3],
        "reversed": np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
        "read only": _read_only(X),
    }


def _read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_gram_equals_the_literal_product(rng, intercept, weighted):
    X, y = random_table(0)
    weights = rng.random(len(y)) * 3 if weighted else None
    Z, target = preprocess(X, y, weights=weights, intercept=intercept)
    design = make_design(X, y, weights, intercept, 1)
    np.testing.assert_allclose(gram(design, range(101)), Z.T @ Z, atol=1e-13)
    np.testing.assert_allclose(design.zy, Z.T @ target, atol=1e-11)
    assert design.yy == pytest.approx(target @ target, rel=1e-12)


@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "read only"])
@pytest.mark.parametrize("weighted", [True, False])
def test_layout_does_not_change_a_bit(rng, layout, weighted):
    X, y = random_table(1)
    weights = rng.random(len(y)) if weighted else None
    expected = make_design(X, y, weights, True, 1)
    actual = make_design(layouts(X)[layout], y, weights, True, 1)
    np.testing.assert_array_equal(actual.zy, expected.zy)
    np.testing.assert_array_equal(gram(actual, range(20)), gram(expected, range(20)))


@pytest.mark.parametrize("layout", ["C", "F"])
def test_float32_is_summed_in_float64(layout):
    X, y = random_table(2)
    single = layouts(X)[layout].astype(np.float32)
    assert single.dtype == np.float32
    double = single.astype(np.float64)
    np.testing.assert_array_equal(
        gram(make_design(single, y, None, True, 1), range(30)),
        gram(make_design(double, y, None, True, 1), range(30)),
    )


@given(
    seed=st.integers(0, 20),
    intercept=st.booleans(),
    weighted=st.booleans(),
    index=st.sampled_from([np.int32, np.int64]),
    dtype=st.sampled_from([np.float64, np.float32]),
)
def test_sparse_equals_dense(seed, intercept, weighted, index, dtype):
    X, y = random_table(seed, n=60, p=20)
    X = X.astype(dtype)
    weights = np.random.default_rng(seed).integers(0, 3, size=60).astype(float)
    weights = weights if weighted else None
    columns = sparse.csc_array(X)
    columns.indices, columns.indptr = columns.indices.astype(index), columns.indptr.astype(index)
    dense = make_design(X, y, weights, intercept, 1)
    thin = make_design(columns, y, weights, intercept, 1)
    np.testing.assert_allclose(thin.mean, dense.mean, atol=1e-12)
    np.testing.assert_allclose(thin.inverse_scale, dense.inverse_scale, rtol=1e-9)
    np.testing.assert_allclose(thin.zy, dense.zy, atol=1e-9)
    np.testing.assert_allclose(gram(thin, range(20)), gram(dense, range(20)), atol=1e-9)


@given(seed=st.integers(0, 20), weighted=st.booleans())
def test_statistics_equal_rows(seed, weighted):
    X, y = random_table(seed, n=60, p=20)
    weights = np.random.default_rng(seed).integers(0, 3, size=60).astype(float)
    weights = weights if weighted else np.ones(60)
    mean, mean_y = np.average(X, axis=0, weights=weights), np.average(y, weights=weights)
    deviation, deviation_y = X - mean, y - mean_y
    known = _core.statistics_quadratic(
        deviation.T @ (weights[:, None] * deviation),
        deviation.T @ (weights * deviation_y),
        float(weights @ deviation_y**2),
        mean,
        mean_y,
        float(weights.sum()),
        1e9,
    )
    rows = make_design(X, y, weights, True, 1)
    np.testing.assert_allclose(known.zy, rows.zy, atol=1e-9)
    np.testing.assert_allclose(gram(known, range(20)), gram(rows, range(20)), atol=1e-9)
    engines = [make_engine(design, 0.0, 1) for design in (known, rows)]
    for engine in engines:
        engine.sbr(1.0, None, 20, None)
    assert engines[0].members.tolist() == engines[1].members.tolist()
    one, two = (engine.solution() for engine in engines)
    (s, b, rss), (s2, b2, rss2) = ((c.support, c.beta, c.rss) for c in (one, two))
    np.testing.assert_array_equal(s, s2)
    np.testing.assert_allclose(b, b2, atol=1e-8)
    assert rss == pytest.approx(rss2, abs=1e-8)


def sparse_or_not(X, kind):
    return sparse.csc_array(X) if kind == "sparse" else np.asarray(X, order=kind)


@pytest.mark.parametrize("kind", ["C", "F", "sparse"])
@pytest.mark.parametrize("weighted", [True, False])
def test_bits_do_not_depend_on_company_or_eviction(rng, kind, weighted):
    X, y = random_table(3)
    weights = rng.random(len(y)) if weighted else None
    X = sparse_or_not(X, kind)
    design = make_design(X, y, weights, True, 1)
    alone = gram(design, range(101))
    order = rng.permutation(101)
    for width in range(1, 17):
        engine = make_engine(make_design(X, y, weights, True, 1), 0.0, 1)
        for begin in range(0, 101, width):
            block = order[begin : begin + width]
            np.testing.assert_array_equal(engine.gram_columns(block), alone[block])
        assert engine.passes == -(-101 // width)
    engine.drop_unused_columns()
    assert engine.columns_held == 0
    np.testing.assert_array_equal(engine.gram_columns(order[:16]), alone[order[:16]])


def test_looking_ahead_makes_fewer_passes_and_changes_nothing():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(600, 7000))
    y = X[:, ::500].sum(axis=1) + rng.normal(size=600)
    ahead = make_engine(make_design(X, y, None, True, 1), 0.0, 1)
    ahead.sbr(50.0, None, 30, None)
    assert ahead.columns_made >= ahead.members.size == 14
    assert ahead.passes <= 4
    step = make_engine(make_design(X, y, None, True, 1), 0.0, 1)
    for j in ahead.members:
        step.gram_columns(np.array([j]))
    step.sbr(50.0, None, 30, None)
    assert step.passes == 14
    np.testing.assert_array_equal(step.members, ahead.members)
    np.testing.assert_array_equal(step.c, ahead.c)


@pytest.mark.parametrize("kind", ["C", "F", "sparse"])
def test_bits_do_not_depend_on_threads(kind):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(700, 4000)) * (rng.random((700, 4000)) < 0.5)
    y = X[:, ::300].sum(axis=1) + rng.normal(size=700)
    X = sparse_or_not(X, kind)
    one, two = (make_engine(make_design(X, y, None, True, t), 0.0, t) for t in (1, 2))
    for engine in (one, two):
        engine.sbr(5.0, None, 30, None)
    assert one.members.size > 3
    np.testing.assert_array_equal(one.members, two.members)
    np.testing.assert_array_equal(one.c, two.c)
    np.testing.assert_array_equal(one.d, two.d)
    assert one.energy == two.energy


def test_the_cache_keeps_its_bound():
    X, y = random_table(6)
    column_bytes = 8 * 101
    small = make_engine(make_design(X, y, None, True, 1, 20 * column_bytes), 0.0, 1)
    large = make_engine(make_design(X, y, None, True, 1), 0.0, 1)
    rng = np.random.default_rng(0)
    for j in rng.integers(101, size=400):
        for engine in (small, large):
            if engine.members.size < 10 or j in engine.members:
                engine.flip(int(j))
        assert small.columns_held <= 20
    assert small.columns_made > large.columns_made
    np.testing.assert_array_equal(small.c, large.c)
    assert small.energy == large.energy


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("weighted", [True, False])
def test_a_large_mean_costs_no_digits(rng, kind, weighted):
    X = rng.normal(size=(300, 6))
    y = rng.normal(size=300)
    # Shifts that float64 adds to multiples of 2^-20 without rounding
    X = np.round(X * 2**20) / 2**20
    shifted = X + 2.0**27
    weights = rng.random(300) if weighted else None
    near = make_design(X, y, weights, True, 1)
    table = sparse.csc_array(shifted) if kind == "sparse" else shifted
    far = make_design(table, y + 2.0**20, weights, True, 1)
    np.testing.assert_allclose(gram(far, range(6)), gram(near, range(6)), atol=1e-12)
    np.testing.assert_allclose(far.zy, near.zy, atol=1e-9)


def test_sparse_entries_may_be_out_of_order_and_in_several_parts(rng):
    X, y = random_table(7, n=60, p=20)
    halves = sparse.csc_matrix(X)
    twice = sparse.csc_matrix(
        (
            np.repeat(halves.data, 2) / 2,
            np.repeat(halves.indices, 2),
            halves.indptr * 2,
        ),
        shape=X.shape,
    )
    for j in range(20):  # each column backwards
        part = slice(twice.indptr[j], twice.indptr[j + 1])
        twice.indices[part] = twice.indices[part][::-1].copy()
        twice.data[part] = twice.data[part][::-1].copy()
    twice.has_sorted_indices = False
    twice.has_canonical_format = False
    mixed = sparse.csc_matrix(X)
    mixed.indptr = mixed.indptr.astype(np.int64)
    expected = gram(make_design(X, y, None, True, 1), range(20))
    for table in (twice, mixed):
        np.testing.assert_allclose(
            gram(make_design(table, y, None, True, 1), range(20)), expected, atol=1e-12
        )
    assert twice.nnz == 2 * halves.nnz


def test_a_field_of_a_record_as_a_table(rng):
    records = np.zeros(30, dtype=[("a", "i4"), ("x", "f8", (5,))])
    records["x"] = rng.normal(size=(30, 5))
    y = rng.normal(size=30)
    copied = make_design(records["x"].copy(), y, None, True, 1)
    np.testing.assert_array_equal(make_design(records["x"], y, None, True, 1).zy, copied.zy)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_rows_of_no_weight_do_not_matter_whatever_they_hold(rng, kind):
    X, y = random_table(8, n=60, p=5)
    weights = np.r_[np.zeros(20), np.ones(40)]
    X[:20] = 1e200
    expected = make_design(X[20:], y[20:], None, True, 1)
    table = sparse.csc_array(X) if kind == "sparse" else X
    actual = make_design(table, y, weights, True, 1)
    np.testing.assert_allclose(actual.zy, expected.zy, rtol=1e-9)


def test_extreme_scales_in_one_table(rng):
    X = rng.normal(size=(50, 6))
    y = rng.normal(size=50)
    factors = np.array([1e-150, 1e150, 1.0, 1e-290, 1e290, 1e8])
    plain = make_design(X, y, None, True, 1)
    for table in (X * factors, sparse.csc_array(X * factors)):
        scaled = make_design(table, y, None, True, 1)
        np.testing.assert_allclose(gram(scaled, range(6)), gram(plain, range(6)), atol=1e-13)
        np.testing.assert_allclose(scaled.inverse_scale * factors, plain.inverse_scale, rtol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e300 / 3, 1e-320, -7.0])
def test_a_constant_column_is_dead(rng, kind, value):
    X = np.column_stack([np.full(777, value), rng.normal(size=777)])
    table = sparse.csc_array(X) if kind == "sparse" else X
    design = make_design(table, rng.normal(size=777), None, True, 1)
    assert design.inverse_scale[0] == 0
    np.testing.assert_array_equal(gram(design, [0])[0], [0, 0])


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("apart", [1.0, 1e-2, 1e-3, 1e-4, 1e-5])
def test_coefficients_have_the_digits_of_the_data(rng, apart, order, ridge):
    base = rng.normal(size=(300, 1))
    X = np.asarray(np.hstack([base, base, base]) + apart * rng.normal(size=(300, 3)), order=order)
    y = X @ [1.0, -2.0, 1.5] + 0.1 * rng.normal(size=300)
    engine = make_engine(make_design(X, y, None, True, 1), ridge, 1)
    engine.move_to(np.arange(3))
    found = engine.solution()
    # Normal equations in long double: their error is 2000 times smaller
    Z = (X - X.mean(axis=0, dtype=np.longdouble)) * found.inverse_scale
    u = y - y.mean(dtype=np.longdouble)
    G, b = Z.T @ Z + ridge * np.eye(3, dtype=np.longdouble), Z.T @ u
    beta = b / np.diag(G)
    for _ in range(40):  # elimination in doubles, refined
        beta = beta + np.linalg.solve(G.astype(float), (b - G @ beta).astype(float))
    left = u - Z @ beta
    # Without refinement the error would be some hundred times epsilon / apart^2.
    error = (1e-13 + 0.2 * np.finfo(float).eps / apart**2) * float(np.abs(beta).max())
    np.testing.assert_allclose(found.beta, beta.astype(float), rtol=0, atol=error)
    assert found.rss == pytest.approx(float(left @ left), rel=1e-12)
