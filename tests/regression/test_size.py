"""L0Regressor(size=k): the best model of a size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.subsets import best_subsets, preprocess
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ellzero import L0Regressor, l0_frontier
from ellzero.datasets import make_collinear


@given(
    seed=st.integers(0, 1000),
    ridge=st.sampled_from([0.0, 0.3]),
    forced=st.sampled_from([(), (2,), (0, 4)]),
)
def test_the_best_of_all_subsets_of_a_size(seed, ridge, forced):
    rng = np.random.default_rng(seed)
    X = 0.5 * rng.normal(size=(30, 1)) + rng.normal(size=(30, 6))
    y = X[:, 0] - X[:, 3] + rng.normal(size=30)
    Z, target = preprocess(X, y)
    frontier = l0_frontier(X, y, ridge=ridge, always_include=forced, max_size=6)
    for energy, support in best_subsets(Z, target, ridge, forced):
        size = len(support)
        model = L0Regressor(size=size, ridge=ridge, always_include=forced).fit(X, y)
        assert model.support_.tolist() == list(support)
        assert model.objective_ == pytest.approx(energy)
        interval = frontier.interval(size)
        assert np.isnan(model.lam_) == (interval is None)
        assert interval is None or interval[0] <= model.lam_ <= interval[1]
        assert str(model.certificate_).startswith(
            f"it is the best model of {size} variables that was found; no swap improves it"
        )


def test_it_can_be_searched_for_in_a_pipeline():
    X, y, _ = make_collinear(120, 20, coefficients=(3, -2, 2), random_state=1)
    pipe = make_pipeline(StandardScaler(), L0Regressor(size=1))
    search = GridSearchCV(pipe, {"l0regressor__size": [0, 1, 2, 3, 4]}, cv=5).fit(X, y)
    assert search.best_params_["l0regressor__size"] in (3, 4)
    assert search.best_estimator_[-1].support_.size == search.best_params_["l0regressor__size"]


def test_sample_weight_are_counts_of_rows(rng):
    X, y = rng.normal(size=(30, 5)), rng.normal(size=30)
    counts = rng.integers(0, 3, size=30)
    weighted = L0Regressor(size=2).fit(X, y, sample_weight=counts)
    repeated = L0Regressor(size=2).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 2, "lam": 1.0}, "size and lam exclude each other"),
        ({"size": 2, "lam": "bic"}, "size and lam exclude each other"),
        ({"size": 2, "solver": "sbr"}, 'size needs solver="frontier"'),
        ({"size": 7}, "size=7, but X has 6 columns"),
        ({"size": 5}, "size=5, but only 4 columns are linearly independent"),
        ({"size": 1, "always_include": [0, 1]}, "size=1, but always_include names 2 columns"),
        ({"size": 3, "max_size": 2}, "size=3 is more than max_size=2"),
        ({"size": -1}, "'size' parameter of L0Regressor must be"),
        ({"size": 1.5}, "'size' parameter of L0Regressor must be"),
    ],
)
def test_sizes_that_can_not_be(arguments, message, rng):
    X = rng.normal(size=(20, 6))
    X[:, 4], X[:, 5] = X[:, 0] + X[:, 1], 1.0
    with pytest.raises(ValueError, match=message):
        L0Regressor(**arguments).fit(X, rng.normal(size=20))
