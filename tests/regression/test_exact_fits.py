"""Data that a few columns, or as many as there are rows, reproduce: it ends, and is the same in any
units."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from ellzero import L0Regressor, L0RegressorCV, l0_frontier
from ellzero.regression._fold_data import Data
from ellzero.regression._fold_paths import FoldSearch
from ellzero.regression._folds import make_folds

SCALES = 10.0 ** np.array([-100, -30, -7, -1, 0, 1, 7, 30, 100])


def leaked(seed, n=22, p=3):
    """Return columns and a response that is one of them."""
    X = np.random.default_rng(seed).standard_normal((n, p))
    return X, X[:, 1]


def random_design(seed):
    """Return more columns than rows, independent, mixed or nearly parallel, and a response."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 30))
    p = int(rng.integers(n, 3 * n))
    X = rng.normal(size=(n, p))
    if seed % 3 == 1:
        X = X @ (np.eye(p) + rng.normal(size=(p, p)))
    elif seed % 3 == 2:
        X = rng.normal(size=(n, 1)) + 0.2 * X
    return X, X[:, :3].sum(axis=1) + rng.normal(size=n)


@pytest.mark.filterwarnings("ignore:.*fit y exactly:UserWarning")
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("solver", ["frontier", "sbr"])
def test_a_leaked_column_is_found_in_any_units(scale, solver):
    for seed in range(5):
        X, y = leaked(seed)
        assert L0Regressor(1e-3 * scale**2, solver=solver).fit(X, y * scale).support_.tolist() == [
            1
        ]
        # A criterion leaves exact fits aside: with the column of the response, nothing is left.
        L0Regressor(solver=solver).fit(X, y * scale)
        assert L0RegressorCV(cv=5, solver=solver).fit(X, y * scale).support_.tolist() == [1]


@pytest.mark.parametrize("shape", [(22, 3), (30, 8), (9, 14), (6, 6)])
def test_models_of_exact_fits_are_the_same_in_any_units(shape):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal(shape)
        y = X[:, :2] @ [1.0, -3.0]
        frontiers = [l0_frontier(X, y * scale) for scale in SCALES]
        first = frontiers[0]
        for other in frontiers[1:]:
            assert other.hull_sizes.tolist() == first.hull_sizes.tolist()
            for mine, yours in zip(first.supports[:3], other.supports[:3], strict=True):
                assert mine.tolist() == yours.tolist()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_saturated_models_are_the_same_in_any_units():
    for seed in range(60):
        X, y = random_design(seed)
        supports = []
        for scale in (1.0, 2.0**20, 1e7, 1e-50):
            frontier = l0_frontier(X, y * scale, max_size=60)
            last = int(frontier.hull_sizes[-1])
            supports.append([s.tolist() for s in frontier.supports[: last + 1]])
        assert all(other == supports[0] for other in supports[1:])


def test_folds_choose_as_the_frontier_does_among_exact_fits():
    for seed in range(60):
        X, y = random_design(seed)
        splits = list(KFold(5).split(X))
        size = min(X.shape[1], 60)
        folds = make_folds(Data(X, y, None, True, 1), splits)
        search = FoldSearch(folds, "frontier", 0.0, np.empty(0, dtype=np.int64), 1, 1)
        paths = search.paths(size, None)
        for (train, test), models, path in zip(splits, search.models, paths, strict=True):
            frontier = l0_frontier(X[train], y[train], max_size=size, swaps=False)
            assert path.sizes.tolist() == frontier.hull_sizes.tolist()
            for place, size_of_model in enumerate(frontier.hull_sizes):
                model = frontier.at(size=int(size_of_model))
                part = slice(*models.begins[size_of_model : size_of_model + 2])
                assert models.support[part].tolist() == model.support.tolist()
                predicted = X[test] @ model.coef + model.intercept
                error = np.mean((y[test] - predicted) ** 2)
                assert path.errors[place] == pytest.approx(error, rel=1e-4)


def test_what_completes_an_exact_fit_is_the_column_least_explained_by_the_others():
    # Without an intercept any second column completes the fit of two rows; x1 nearly repeats x0.
    X = np.array([[1.0, 1.0, 0.3], [0.0, 1e-3, 1.0]])
    y = np.array([3.0, 0.001])
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1]):
        frontier = l0_frontier(X[:, order], y, fit_intercept=False)
        assert sorted(np.array(order)[frontier.supports[2]].tolist()) == [0, 2]
