"""Moments of blocks, and how they are put together."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ellzero.sources._accumulate import Job, Tree, accumulate, rows_per_block, sum_part
from ellzero.sources._moments import (
    Block,
    Moments,
    NotFiniteError,
    assign_folds,
    block_moments,
    merge,
    rebase,
)


def exact_moments(values, weight=None):
    """Return means and products of deviations, in rational numbers: the slow, obvious way."""
    weight = [1] * len(values) if weight is None else weight
    rows = [[Fraction(float(x)) for x in row] for row in values]
    weight = [Fraction(float(w)) for w in weight]
    total, count = sum(weight), len(rows[0])
    mean = [
        sum(w * row[j] for w, row in zip(weight, rows, strict=True)) / total for j in range(count)
    ]
    products = [
        [
            float(
                sum(
                    w * (row[i] - mean[i]) * (row[j] - mean[j])
                    for w, row in zip(weight, rows, strict=True)
                )
            )
            for j in range(count)
        ]
        for i in range(count)
    ]
    return np.array([float(m) for m in mean]), np.array(products)


def as_block(values, weight=None, *, part=0, start=0, by_rows=True):
    if by_rows:
        return Block(part, start, values[:, :-1], [values[:, -1]], weight)
    return Block(part, start, None, list(np.asfortranarray(values).T), weight)


@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_moments_of_a_block_are_those_of_rational_numbers(by_rows, weighted):
    rng = np.random.default_rng(1)
    values = rng.normal(size=(60, 4)) + np.array([0, 1e8, -3, 1e4])
    weight = rng.integers(0, 4, size=60).astype(float) if weighted else None
    (found,) = block_moments(as_block(values, weight, by_rows=by_rows), values[0], folds=0, seed=0)
    mean, products = exact_moments(values, weight)
    np.testing.assert_allclose(found.mean + values[0], mean, rtol=1e-15)
    scale = np.sqrt(np.multiply.outer(np.diag(products), np.diag(products)))
    made = found.mirrored().products
    assert np.max(np.abs(made - products) / scale) < 1e-15
    assert found.rows == 60
    assert found.weight == (60 if weight is None else weight.sum())
    assert (made == made.T).all()
    assert (found.products == made[np.triu_indices(4)]).all()


@pytest.mark.parametrize("p", [1, 3, 4, 11, 12, 13, 40, 130, 300])
@pytest.mark.parametrize("kind", ["float64", "float32", "integers", "columns", "strided"])
def test_moments_of_any_width_are_those_of_folds_one_by_one(p, kind):
    rng = np.random.default_rng(p)
    n = 700 if p < 100 else 300
    table = np.round(8 * rng.normal(size=(n, p)) + 5)
    table = table.astype({"float32": np.float32, "integers": np.int16}.get(kind, np.float64))
    table = np.repeat(table, 2, axis=1)[:, ::2] if kind == "strided" else table
    y = rng.normal(size=n)
    block = Block(3, 10, table, [y], None)
    if kind == "columns":
        block = Block(3, 10, None, [*np.asfortranarray(table).T, y], None)
    fold = assign_folds(3, 10, n, folds=4, seed=1)
    values = np.column_stack([table, y]).astype(float)
    for f, found in enumerate(block_moments(block, values[0], folds=4, seed=1)):
        own = values[fold == f]
        centred = own - own.mean(axis=0)
        assert found.rows == len(own)
        np.testing.assert_allclose(found.mean + values[0], own.mean(axis=0), rtol=1e-12)
        made = found.mirrored().products
        np.testing.assert_allclose(made, centred.T @ centred, rtol=1e-11, atol=1e-8)
        assert (made == made.T).all()
        assert (found.products == made[np.triu_indices(p + 1)]).all()


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.integers(0, 30), min_size=2, max_size=6),
    far=st.sampled_from([0.0, 1e3, 1e8]),
)
def test_parts_put_together_are_the_whole(seed, sizes, far):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(sum(sizes) + 2, 3)) + far
    shift = values[0]
    (whole,) = block_moments(as_block(values), shift, folds=0, seed=0)
    out = Moments.of_nothing(3)
    begin = 0
    for size in [*sizes, 2]:
        (part,) = block_moments(as_block(values[begin : begin + size]), shift, folds=0, seed=0)
        out = merge(out, part)
        begin += size
    assert out.rows == whole.rows
    assert out.weight == whole.weight
    np.testing.assert_allclose(out.mean, whole.mean, rtol=0, atol=1e-13)
    made, products = out.mirrored().products, whole.mirrored().products
    scale = np.sqrt(np.multiply.outer(np.diag(products), np.diag(products)))
    assert np.max(np.abs(made - products) / scale) < 1e-14


@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_triangles_and_all_products_are_merged_to_the_same_bits(count):
    rng = np.random.default_rng(count)
    one, other = (
        block_moments(as_block(rng.normal(size=(30, count))), np.zeros(count), folds=0, seed=0)[0]
        for _ in range(2)
    )
    whole = merge(one.mirrored(), other.mirrored())
    packed = merge(one, other).mirrored()
    assert (whole.products == packed.products).all()
    assert (whole.mean == packed.mean).all()


def test_a_large_mean_costs_no_digits():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(3000, 3)) + 1e8
    blocks = [as_block(values[a : a + 100], start=a) for a in range(0, 3000, 100)]
    (found,) = accumulate(iter(blocks), Job(values[0], 0, 0), threads=2)
    _, products = exact_moments(values)
    scale = np.sqrt(np.multiply.outer(np.diag(products), np.diag(products)))
    assert np.max(np.abs(found.mirrored().products - products) / scale) < 1e-15


def test_a_first_row_far_from_all_others_costs_no_digits_either():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(1000, 3)) + 1e6
    values[0] = -1e6
    blocks = [as_block(values[a : a + 100], start=a) for a in range(0, 1000, 100)]
    (found,) = accumulate(iter(blocks), Job(values[0], 0, 0), threads=1)
    _, products = exact_moments(values)
    np.testing.assert_allclose(found.mirrored().products, products, rtol=1e-14)


def test_another_shift_changes_nothing_but_what_means_are_counted_from():
    rng = np.random.default_rng(4)
    values = rng.normal(size=(50, 3)) + 1e8
    (one,) = block_moments(as_block(values), values[0], folds=0, seed=0)
    (two,) = block_moments(as_block(values), values[1], folds=0, seed=0)
    moved = rebase(two, values[1], values[0])
    np.testing.assert_allclose(moved.mean, one.mean, atol=1e-14)
    np.testing.assert_allclose(moved.products, one.products, rtol=1e-13)


def test_folds_hang_on_the_place_of_a_row_alone():
    whole = assign_folds(5, 0, 1000, folds=7, seed=3)
    pieces = [assign_folds(5, start, 100, folds=7, seed=3) for start in range(0, 1000, 100)]
    assert (whole == np.concatenate(pieces)).all()
    for other in (
        assign_folds(6, 0, 1000, folds=7, seed=3),
        assign_folds(5, 0, 1000, folds=7, seed=4),
    ):
        assert 0.05 < np.mean(whole == other) < 0.25  # one in seven by chance


@pytest.mark.parametrize("folds", [2, 3, 10])
def test_folds_are_equally_likely_and_independent_of_the_row(folds):
    fold = assign_folds(0, 0, 200_000, folds=folds, seed=1)
    counts = np.bincount(fold, minlength=folds)
    expected = 200_000 / folds
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()
    pairs = np.bincount(fold[:-1] * folds + fold[1:], minlength=folds**2)
    assert (np.abs(pairs - 200_000 / folds**2) < 5 * np.sqrt(200_000 / folds**2)).all()


def test_folds_add_up_to_all_rows():
    rng = np.random.default_rng(5)
    values, weight = rng.normal(size=(500, 4)), rng.uniform(size=500)
    folds = block_moments(as_block(values, weight), values[0], folds=5, seed=0)
    assert len(folds) == 5
    out = Moments.of_nothing(4)
    for fold in folds:
        out = merge(out, fold)
    (whole,) = block_moments(as_block(values, weight), values[0], folds=0, seed=0)
    assert out.rows == 500
    np.testing.assert_allclose(out.products, whole.products, rtol=1e-12)
    which = assign_folds(0, 0, 500, folds=5, seed=0)
    (own,) = block_moments(
        as_block(values[which == 2], weight[which == 2]), values[0], folds=0, seed=0
    )
    np.testing.assert_allclose(folds[2].products, own.products, rtol=1e-12)


@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize(("row", "column"), [(7, 1), (0, 3), (29, 0)])
def test_a_missing_value_is_found(by_rows, row, column):
    values = np.random.default_rng(6).normal(size=(30, 4))
    shift = values[0].copy()
    values[row, column] = np.nan
    with pytest.raises(NotFiniteError) as caught:
        block_moments(as_block(values, part=3, start=100, by_rows=by_rows), shift, folds=4, seed=0)
    assert (caught.value.part, caught.value.row, caught.value.column) == (3, 100 + row, column)


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_bits_do_not_depend_on_threads(threads):
    rng = np.random.default_rng(7)
    values = rng.normal(size=(2000, 6))
    blocks = [
        as_block(values[a : a + 50], part=a // 200, start=a % 200) for a in range(0, 2000, 50)
    ]
    job = Job(values[0], 3, 0)
    one = accumulate(iter(blocks), job, threads=1)
    other = accumulate(iter(blocks), job, threads=threads)
    for a, b in zip(one, other, strict=True):
        assert (a.products == b.products).all()
        assert (a.mean == b.mean).all()


def test_parts_made_elsewhere_make_the_same_tree():
    from ellzero.sources._dask import _grow, _merge

    rng = np.random.default_rng(8)
    values = rng.normal(size=(40 * 30, 3))
    job = Job(values[0], 2, 0)
    parts = [[as_block(values[a : a + 30], part=a // 30)] for a in range(0, len(values), 30)]
    streamed = accumulate((block for part in parts for block in part), job, threads=2)
    grown = _grow(_merge, [sum_part(part, job) for part in parts])
    for a, b in zip(streamed, grown, strict=True):
        assert (a.products == b.products).all()
        assert (a.mean == b.mean).all()


def test_a_tree_holds_few_nodes():
    tree = Tree()
    for _ in range(1000):
        tree.add([Moments(1, 1.0, np.zeros(1), np.zeros((1, 1)))])
    assert sum(node is not None for node, _ in tree.levels) <= 3
    (total,) = tree.total()
    assert total.rows == 1000


def test_an_empty_tree_has_no_total():
    assert Tree().total() is None


def test_an_error_in_a_block_ends_the_pass():
    rng = np.random.default_rng(9)
    values = rng.normal(size=(300, 3))
    values[150, 1] = np.inf
    blocks = (as_block(values[a : a + 30], start=a) for a in range(0, 300, 30))
    with pytest.raises(NotFiniteError):
        accumulate(blocks, Job(np.zeros(3), 0, 0), threads=2)


def test_blocks_are_small_whatever_their_width():
    for columns in (1, 10, 100, 1000, 10_000):
        rows = rows_per_block(columns)
        assert rows % 1024 == 0
        assert rows * columns * 8 <= 2**28
