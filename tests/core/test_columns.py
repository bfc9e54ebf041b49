"""Columns as they lie: their entries, and products Z'V with any V, against numpy."""

import numpy as np
import pytest
from scipy import sparse

from ellzero import Genotypes
from ellzero._engine import chosen_rows, copy_rows, make_columns, make_design_on, make_engine
from ellzero.sources import ArraySource

N, P = 530, 101  # more than two stretches of rows, and panels that are not full


def table(rng, kind=""):
    if "genotypes" in kind:
        return rng.binomial(2, rng.random(P), size=(N, P)).astype(float)
    X = rng.normal(size=(N, P)) * (rng.random((N, P)) < 0.4)
    X += rng.random(P) < 0.1  # some columns have no zeros
    return X


def spaced(X):
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), dtype=X.dtype)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def long_indices(X):
    columns = sparse.csc_array(X)
    columns.indices, columns.indptr = columns.indices.astype("i8"), columns.indptr.astype("i8")
    return columns


class Narrow(ArraySource):
    block_columns = 40


KINDS = {
    "C": lambda X: make_columns(np.ascontiguousarray(X)),
    "F": lambda X: make_columns(np.asfortranarray(X)),
    "strided": lambda X: make_columns(spaced(X)),
    "reversed": lambda X: make_columns(np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]),
    "sparse": lambda X: make_columns(sparse.csc_array(X)),
    "sparse, long indices": lambda X: make_columns(long_indices(X)),
    "source": lambda X: make_columns(Narrow(X)),
    "panels": lambda X: copy_rows(np.vstack([X[::-1], X]), np.arange(2 * N)[: N - 1 : -1][::-1]),
    "panels of columns": lambda X: copy_rows(np.asfortranarray(X), np.arange(N)),
    "chosen rows": lambda X: chosen_rows(np.vstack([X[::-1], X]), np.arange(N, 2 * N)),
    "chosen rows of columns": lambda X: chosen_rows(np.asfortranarray(X), np.arange(N)),
    "genotypes": lambda X: make_columns(Genotypes.from_array(X)),
    "rows of genotypes": lambda X: copy_rows(
        Genotypes.from_array(np.vstack([X[:7], X])), np.arange(7, N + 7)
    ),
}
kinds = pytest.mark.parametrize("kind", KINDS)
types = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@kinds
@types
def test_entries_are_those_of_the_table(rng, kind, dtype):
    X = table(rng, kind).astype(dtype)
    columns = KINDS[kind](X)
    assert (columns.rows, columns.columns) == X.shape
    assert columns.entries == (np.count_nonzero(X) if "sparse" in kind else X.size)
    which = rng.permutation(N)[:40]
    for j in (0, 7, 8, P - 1):
        for row, rows in ((0, N), (0, 1), (250, 12), (N - 3, 3), (17, 0)):
            np.testing.assert_array_equal(columns.read(j, row, rows), X[row : row + rows, j])
        np.testing.assert_array_equal(columns.read_rows(j, which), X[which, j])


@kinds
@types
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("width", [1, 3, 4, 5, 7, 16])
def test_products_with_any_vectors(rng, kind, dtype, weighted, width):
    X = table(rng, kind).astype(dtype)
    # Whatever they are: not the means of X, not columns of it, not centred
    mean, inverse_scale = rng.normal(size=P), rng.normal(size=P)
    root = rng.random(N) * (rng.random(N) < 0.9) if weighted else None
    V = rng.normal(size=(N, width)) + 3
    Z = (X.astype(float) - mean) * inverse_scale * (1 if root is None else root[:, None])
    actual = KINDS[kind](X).products(mean, inverse_scale, root, V, 1)
    np.testing.assert_allclose(actual, V.T @ Z, rtol=0, atol=1e-9)


@kinds
@pytest.mark.parametrize("weighted", [True, False])
def test_bits_of_products_do_not_depend_on_company_or_threads(rng, kind, weighted):
    columns = KINDS[kind](np.tile(table(rng, kind), (1, 30)))  # enough to be shared among threads
    mean, inverse_scale = rng.normal(size=30 * P), rng.normal(size=30 * P)
    root = rng.random(N) if weighted else None
    V = rng.normal(size=(N, 16))
    expected = columns.products(mean, inverse_scale, root, V, 1)
    together = columns.products(mean, inverse_scale, root, V[:, ::-1], 2)
    np.testing.assert_array_equal(together[::-1], expected)
    for first, last in ((0, 1), (1, 5), (5, 11)):
        some = columns.products(mean, inverse_scale, root, V[:, first:last], 1)
        np.testing.assert_array_equal(some, expected[first:last])


@pytest.mark.parametrize("kind", ["C", "F", "strided", "reversed"])
@types
@pytest.mark.parametrize(("rows", "columns"), [(N, P - 31), (99, P), (3, 1), (258, 32)])
def test_bits_of_products_do_not_depend_on_how_many_were_made(rng, kind, dtype, rows, columns):
    """A small X is copied into panels in between."""
    X = KINDS[kind](table(rng)[:rows, :columns].astype(dtype))
    how = rng.normal(size=columns), rng.normal(size=columns), None
    V = rng.normal(size=(rows, 12))
    expected = X.products(*how, V, 1)
    for b in range(12):
        np.testing.assert_array_equal(X.products(*how, V[:, [b]], 1), expected[[b]])
    np.testing.assert_array_equal(X.products(*how, V, 1), expected)


@kinds
@pytest.mark.parametrize("weighted", [True, False])
def test_gram_columns_are_products_with_prepared_columns(rng, kind, weighted):
    X = table(rng, kind)
    columns = KINDS[kind](X)
    weights = rng.random(N) if weighted else None
    design = make_design_on(columns, rng.normal(size=N), weights, True, 1)
    root = np.sqrt(weights) if weighted else None
    Z = (X - design.mean) * design.inverse_scale * (root[:, None] if weighted else 1)
    which = np.array([3, 50, 100, 8, 9])
    products = columns.products(design.mean, design.inverse_scale, root, Z[:, which], 1)
    np.testing.assert_array_equal(make_engine(design, 0.0, 1).gram_columns(which), products)


@kinds
def test_residuals_of_a_fit_are_orthogonal_to_its_columns(rng, kind):
    X, y = table(rng, kind), rng.normal(size=N)
    columns = KINDS[kind](X)
    design = make_design_on(columns, y, None, True, 1)
    engine = make_engine(design, 0.0, 1)
    engine.move_to(np.arange(5))
    found = engine.solution()
    support, coefficients = found.support, found.beta * found.inverse_scale
    residual = y - design.mean_y - (X[:, support] - found.mean) @ coefficients
    (products,) = columns.products(design.mean, design.inverse_scale, None, residual[:, None], 1)
    np.testing.assert_allclose(products[support], 0, atol=1e-12)
    np.testing.assert_allclose(products, engine.c, atol=1e-11)


def test_sizes_that_do_not_fit(rng):
    columns = make_columns(rng.normal(size=(6, 2)))
    mean, scale = np.zeros(2), np.ones(2)
    for message, *wrong in (
        ("per column", np.zeros(3), scale, None, np.ones((6, 1))),
        ("per column", mean, np.ones(1), None, np.ones((6, 1))),
        ("as many rows", mean, scale, np.ones(5), np.ones((6, 1))),
        ("as many rows", mean, scale, None, np.ones((5, 1))),
        ("too many columns", mean, scale, None, np.ones((6, 17))),
    ):
        with pytest.raises(ValueError, match=message):
            columns.products(*wrong, 1)
    for j, row, rows in ((2, 0, 1), (-1, 0, 1), (0, 0, 7), (0, 6, 1), (0, -1, 1)):
        with pytest.raises(ValueError, match="no such"):
            columns.read(j, row, rows)
    with pytest.raises(ValueError, match="as many rows"):
        make_design_on(columns, np.ones(5), None, True, 1)


@types
@pytest.mark.parametrize("p", [1, 9, 300])
def test_rows_where_they_lie_have_the_bits_of_their_copies(rng, dtype, p):
    X = (rng.normal(size=(900, p)) + 3).astype(dtype)
    which = rng.permutation(900)[:600]
    y, weights = rng.normal(size=600), rng.random(600)
    root, V = np.sqrt(weights), rng.normal(size=(600, 16))
    designs = []
    for columns in (chosen_rows(X, which), copy_rows(X, which)):
        design = make_design_on(columns, y, weights, True, 1)
        how = (design.mean, design.inverse_scale, root)
        products = [columns.products(*how, V[:, :width], 1) for width in (1, 2, 3, 16)]
        designs.append((design.mean, design.inverse_scale, design.zy, *products))
    for one, other in zip(*designs, strict=True):
        np.testing.assert_array_equal(one, other)
