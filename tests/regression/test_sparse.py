"""Very many sparse columns, which are screened, against the same table made dense."""

import numpy as np
import pytest
from scipy import sparse

from ellzero import L0Regressor, L0RegressorCV, _core, l0_frontier

N, P = 300, 20_500


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    X = sparse.random_array((N, P), density=0.0035, rng=rng, format="csc", data_sampler=rng.normal)
    chosen = np.flatnonzero(np.diff(X.indptr) > 3)[[4, 90, 400]]
    y = X[:, chosen] @ np.array([3.0, -2.0, 2.0]) + 0.1 * rng.normal(size=N)
    assert _core.screening_pays(N, P, X.nnz)
    return X, y, X.toarray()


@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_frontiers(table, ridge):
    X, y, dense = table
    screened, plain = (l0_frontier(each, y, ridge=ridge, max_size=6) for each in (X, dense))
    np.testing.assert_allclose(screened.energies, plain.energies, rtol=1e-10)
    for size in range(1, 7):
        one, other = screened.at(size=size), plain.at(size=size)
        assert one.support.tolist() == other.support.tolist()
        np.testing.assert_allclose(one.coef, other.coef, atol=1e-9)
        np.testing.assert_allclose(one.removal_cost, other.removal_cost, rtol=1e-7)
    near = [each.neighbours(3, within=0.5) for each in (screened, plain)]
    assert sorted(near[0]["enters"]) == sorted(near[1]["enters"])
    np.testing.assert_allclose(near[0]["loss"], near[1]["loss"], atol=1e-9)


@pytest.mark.parametrize("solver", ["frontier", "sbr"])
def test_a_price_with_weights_and_a_forced_column(table, solver):
    X, y, dense = table
    forced = int(np.flatnonzero(np.diff(X.indptr) > 4)[-1])
    weight = np.random.default_rng(0).integers(0, 3, size=N).astype(float)
    model = L0Regressor(0.5, solver=solver, ridge=0.01, always_include=[forced], max_size=8)
    screened, plain = (
        L0Regressor(**model.get_params()).fit(each, y, sample_weight=weight) for each in (X, dense)
    )
    assert screened.support_.tolist() == plain.support_.tolist()
    assert forced in screened.support_
    np.testing.assert_allclose(screened.coef_, plain.coef_, atol=1e-9)
    assert str(screened.certificate_) == str(plain.certificate_)
    assert screened.objective_ == pytest.approx(plain.objective_, rel=1e-10)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["frontier", "sbr"])
def test_folds(table, solver):
    X, y, dense = table
    models = [
        L0RegressorCV(cv=4, n_repeats=1, max_size=4, solver=solver, random_state=0).fit(each, y)
        for each in (X, dense)
    ]
    assert models[0].support_.tolist() == models[1].support_.tolist()
    assert models[0].lam_ == pytest.approx(models[1].lam_, rel=1e-8)
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, atol=1e-8)
