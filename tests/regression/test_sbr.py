"""L0Regressor(solver="sbr") against the literal algorithm."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.sbr import objective, sbr
from reference.subsets import best_subsets, preprocess

from ellzero import L0Regressor
from ellzero.datasets import load_diabetes_interactions, make_collinear

PAPERS_EIGHT = ["sex", "bmi", "map", "hdl", "ltg", "glu^2", "age:sex", "bmi:map"]


def problem(seed, n=40, p=25, n_factors=3):
    return make_collinear(n, p, n_factors=n_factors, coefficients=(3, -2, 1, 1), random_state=seed)[
        :2
    ]


@given(
    seed=st.integers(0, 10_000),
    lam=st.floats(1e-3, 1.0),
    ridge=st.sampled_from([0.0, 0.2]),
    intercept=st.booleans(),
    n_factors=st.integers(0, 5),
)
def test_same_support_as_the_literal_algorithm(seed, lam, ridge, intercept, n_factors):
    X, y = problem(seed, n_factors=n_factors)
    y = y + 0.3
    Z, target = preprocess(X, y, intercept=intercept)
    expected, trace = sbr(Z, target, lam, ridge=ridge)
    model = L0Regressor(lam, ridge=ridge, solver="sbr", fit_intercept=intercept).fit(X, y)
    assert model.support_.tolist() == expected
    assert model.n_iter_ == len(trace) - 1
    assert model.objective_ == pytest.approx(trace[-1], rel=1e-9)


@given(
    seed=st.integers(0, 10_000),
    lam=st.floats(1e-3, 1.0),
    start=st.lists(st.integers(0, 24), unique=True, max_size=10),
    forced=st.lists(st.integers(0, 24), unique=True, max_size=4),
)
def test_start_and_always_include(seed, lam, start, forced):
    X, y = problem(seed)
    Z, target = preprocess(X, y)
    expected, trace = sbr(Z, target, lam, start=start, forced=forced)
    model = L0Regressor(lam, solver="sbr", start=start, always_include=forced).fit(X, y)
    assert model.support_.tolist() == expected
    assert set(forced) <= set(model.support_.tolist())
    assert model.objective_ == pytest.approx(trace[-1], rel=1e-9)


@given(seed=st.integers(0, 10_000), lam=st.floats(1e-3, 1.0))
def test_it_stops_where_no_replacement_improves(seed, lam):
    X, y = problem(seed)
    Z, target = preprocess(X, y)
    model = L0Regressor(lam, solver="sbr").fit(X, y)
    chosen = set(model.support_.tolist())
    for i in range(25):
        other = objective(Z, target, sorted(chosen ^ {i}), lam)
        assert other >= model.objective_ - 1e-10
    assert str(model.certificate_) == "no insertion or removal of one variable improves it"


@given(seed=st.integers(0, 10_000), lam=st.floats(1e-3, 1.0))
def test_never_better_than_all_subsets(seed, lam):
    X, y = problem(seed, n=20, p=8)
    Z, target = preprocess(X, y)
    optimum = min(energy + lam * len(s) for energy, s in best_subsets(Z, target))
    assert L0Regressor(lam, solver="sbr").fit(X, y).objective_ >= optimum - 1e-10


@pytest.mark.parametrize("lam", [3_578, 5_000, 7_696])
def test_the_papers_diabetes_variables(lam):
    diabetes = load_diabetes_interactions()
    model = L0Regressor(lam, solver="sbr").fit(diabetes.data, diabetes.target)
    assert model.get_feature_names_out().tolist() == PAPERS_EIGHT


@pytest.mark.parametrize("lam", [3_577, 7_698])
def test_but_only_for_lambda_in_its_interval(lam):
    diabetes = load_diabetes_interactions()
    model = L0Regressor(lam, solver="sbr").fit(diabetes.data, diabetes.target)
    assert model.get_feature_names_out().tolist() != PAPERS_EIGHT
