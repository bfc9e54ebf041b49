"""Fits of rows in memory whose products are made before the search."""

import numpy as np
import pytest

from ellzero import L0Regressor, L0RegressorCV, l0_frontier
from ellzero._engine import make_columns, make_design_on
from ellzero.regression import _fold_data
from ellzero.sources import _ready
from ellzero.sources._ready import pays, ready_products


def make_table(seed, n=3000, p=12, *, far=0.0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 1] += 0.9 * X[:, 0]
    y = X[:, :3] @ [1.0, -1.0, 0.5] + noise * rng.normal(size=n)
    return X + far, y


@pytest.fixture
def passes_or_products(monkeypatch):
    """Return a function that does some work by passes over X, and by products made before."""

    def both(work):
        found = []
        for answer in (False, True):
            for module in (_ready, _fold_data):
                monkeypatch.setattr(module, "pays", lambda *_, answer=answer: answer)
            found.append(work())
        return found

    return both


def test_it_pays_for_tall_tables_and_long_searches():
    assert pays(np.empty((200_000, 50)), None, 40)
    assert not pays(np.empty((200_000, 50)), np.ones(200_000), 40)  # weights
    assert not pays(np.empty((200_000, 50)), None, 40, parts=1000)  # products larger than X
    assert not pays(np.empty((20_000, 250)), None, 3)  # a few passes
    assert not pays(np.empty((2000, 100)), None, 40)  # no time at all
    assert not pays(np.empty((20_000, 1000)), None, 40)  # wide


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["float64", "float32", "columns", "strided"])
def test_products_are_those_of_columns(fit_intercept, kind):
    X, y = make_table(0, far=3.0)
    X = {
        "float64": X,
        "float32": X.astype(np.float32),
        "columns": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=1)[:, ::2],
    }[kind]
    (found,) = ready_products(X, y, fit_intercept, 2)
    Z = np.asarray(X, dtype=np.float64)
    Z = Z - Z.mean(axis=0) if fit_intercept else Z
    np.testing.assert_allclose(found, Z.T @ Z, rtol=1e-12, atol=1e-9)
    part_of = np.random.default_rng(1).integers(0, 3, size=len(X))
    for b, products in enumerate(ready_products(X, y, fit_intercept, 2, part_of, 3)):
        own = Z[part_of == b]
        own = own - own.mean(axis=0) if fit_intercept else own
        np.testing.assert_allclose(products, own.T @ own, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_frontiers_are_the_same(passes_or_products, fit_intercept, far):
    X, y = make_table(2, far=far if fit_intercept else 0.0)
    one, two = passes_or_products(lambda: l0_frontier(X, y, fit_intercept=fit_intercept))
    for size in range(13):
        a, b = one.at(size=size), two.at(size=size)
        assert a.support.tolist() == b.support.tolist()
        np.testing.assert_allclose(b.rss, a.rss, rtol=1e-12)
        np.testing.assert_allclose(b.coef, a.coef, rtol=1e-9, atol=1e-12)


def test_an_exact_fit_loses_no_digits(passes_or_products):
    X, y = make_table(3, noise=1e-9)
    one, two = passes_or_products(lambda: L0Regressor(size=3).fit(X, y))
    truth = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    assert one.support_.tolist() == two.support_.tolist() == [0, 1, 2]
    left = [np.sum((y - model.predict(X)) ** 2) for model in (one, two)]
    assert left[1] == pytest.approx(left[0], rel=1e-5)
    np.testing.assert_allclose(two.coef_, one.coef_, rtol=1e-13, atol=0)
    np.testing.assert_allclose(two.coef_[:3], truth[:3], rtol=1e-9)


@pytest.mark.parametrize("ridge", [0.0, "cv"])
def test_cross_validations_are_the_same(passes_or_products, ridge):
    X, y = make_table(4, n=1500)
    one, two = passes_or_products(lambda: L0RegressorCV(n_repeats=2, ridge=ridge).fit(X, y))
    assert one.support_.tolist() == two.support_.tolist()
    np.testing.assert_allclose(two.coef_, one.coef_, rtol=1e-12, atol=1e-14)
    a, b = one.cv_results_, two.cv_results_
    # Where what is saved is one standard error, any factor is as good: rounding takes one
    decided = ~np.isclose(a["se_saved"], a["saved"], rtol=1e-9) | (a["ridge"] == 0)
    assert decided.mean() > 0.9
    for name, values in a.items():
        np.testing.assert_allclose(b[name][decided], values[decided], rtol=1e-9, atol=1e-12)


def test_threads_change_no_bit():
    X, y = make_table(5, n=200_000, p=3)
    one, two = (ready_products(X, y, True, threads)[0] for threads in (1, 3))
    assert (one == two).all()


def test_products_out_of_range_are_not_used(passes_or_products):
    X, y = make_table(6)
    X[:, 4] *= 1e-180  # too small to be squared
    X[:, 5] = 7.0
    one, two = passes_or_products(lambda: l0_frontier(X, y))
    for size in range(11):
        assert one.at(size=size).support.tolist() == two.at(size=size).support.tolist()
    columns = make_columns(X)
    (products,) = ready_products(X, y, True, 1)
    design = make_design_on(columns, y, None, True, 1, products=products)
    expected = make_design_on(columns, y, None, True, 1)
    which = np.arange(12)
    assert (design.cross_products(which) == expected.cross_products(which)).all()
