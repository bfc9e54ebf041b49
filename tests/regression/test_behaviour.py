"""What L0Regressor does with odd data, bad input and the habits of scikit-learn's users."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from estimator_checks import assert_passes_every_check
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ellzero import L0Regressor
from ellzero.datasets import make_collinear

LAMS = [0.0, 0.1, 1e6, "bic", "ebic", "ric"]


def assert_sound(model, X):
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_)
    assert np.isfinite(model.objective_)
    assert np.isfinite(model.lam_)
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.summary().to_numpy()).all()
    assert np.flatnonzero(model.coef_).tolist() == model.support_.tolist()


def degenerate_tables():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6))
    y = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=30)
    wide = rng.normal(size=(8, 200))
    scales = np.array([1e-150, 1e150, 1.0, 1e-150, 1e150, 1.0])
    return {
        "constant columns": (np.column_stack([np.ones(30), X, np.full(30, 0.1)]), y),
        "every column constant": (np.ones((30, 3)), y),
        "every column zero": (np.zeros((30, 3)), y),
        "duplicates": (np.hstack([X, X, X[:, :2]]), y),
        "dependent": (np.hstack([X, X @ rng.normal(size=(6, 4))]), y),
        "wide": (wide, wide[:, 0] + 0.1 * rng.normal(size=8)),
        "one row": (X[:1], y[:1]),
        "two rows": (X[:2], y[:2]),
        "one column": (X[:, :1], y),
        "constant y": (X, np.full(30, 0.3)),
        "zero y": (X, np.zeros(30)),
        "huge y": (X, y * 1e150),
        "tiny y": (X, y * 1e-140),
        "scales": (X * scales, y),
        "means": (X + 1e8, y + 1e8),
        "integers": (rng.integers(-5, 5, size=(30, 6)), rng.integers(-5, 5, size=30)),
        "booleans": (rng.random((30, 6)) < 0.5, y),
        "float32": (X.astype(np.float32), y.astype(np.float32)),
        "strided": (np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3], y),
        "fortran": (np.asfortranarray(X), y),
    }


@pytest.mark.filterwarnings("ignore:.*fit y exactly:UserWarning")
@pytest.mark.filterwarnings("ignore:.*can't be trusted:UserWarning")
@pytest.mark.filterwarnings("ignore:.*stopped at max_size:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("lam", LAMS)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("name", degenerate_tables())
def test_no_nan_comes_out(name, lam, intercept, ridge):
    X, y = degenerate_tables()[name]
    if isinstance(lam, float) and name in ("huge y", "tiny y"):
        lam *= 1e300 if name == "huge y" else 1e-280
    model = L0Regressor(lam, fit_intercept=intercept, ridge=ridge).fit(X, y)
    assert_sound(model, X)


@pytest.mark.parametrize("name", ["constant columns", "duplicates", "dependent", "wide", "scales"])
def test_sparse_input_as_odd_as_that(name):
    X, y = degenerate_tables()[name]
    model = L0Regressor(0.1).fit(sparse.csr_array(X), y)
    assert_sound(model, sparse.csr_array(X))
    assert model.support_.tolist() == L0Regressor(0.1).fit(X, y).support_.tolist()


def test_the_first_of_equal_columns_is_taken(rng):
    X = rng.normal(size=(50, 60))
    y = 2 * X[:, 7] + 0.1 * rng.normal(size=50)
    for position in (3, 30, 59):
        twins = X.copy()
        twins[:, position] = X[:, 7]
        assert L0Regressor(1.0).fit(twins, y).support_.tolist() == [min(7, position)]


def test_scales_and_means_do_not_change_the_choice():
    X, y = degenerate_tables()["integers"]
    X, y = X.astype(float), y.astype(float)
    plain = L0Regressor(1.0).fit(X, y)
    assert 0 < plain.support_.size < 6
    factors = np.array([1e-150, 1e150, 1.0, 1e-100, 1e100, 1.0])
    scaled = L0Regressor(1.0).fit(X * factors, y)
    np.testing.assert_allclose(scaled.coef_ * factors, plain.coef_, rtol=1e-12)
    shifted = L0Regressor(1.0).fit(X + 1e8, y)
    np.testing.assert_allclose(shifted.coef_, plain.coef_, rtol=1e-9)


def test_lam_zero_takes_what_helps(rng):
    X, y = rng.normal(size=(20, 5)), rng.normal(size=20)
    model = L0Regressor(0.0).fit(X, y)
    ols = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, ols.coef_, rtol=1e-9)
    saturated = L0Regressor(0.0).fit(rng.normal(size=(8, 30)), rng.normal(size=8))
    assert saturated.support_.size == 7
    assert saturated.objective_ == pytest.approx(0, abs=1e-12)


def test_max_size_is_kept_said_and_warned_of():
    X, y, _ = make_collinear(random_state=0)
    with pytest.warns(ConvergenceWarning, match="stopped at max_size=3"):
        model = L0Regressor(1e-3, max_size=3).fit(X, y)
    assert model.support_.size == 3
    assert "would lower the objective by" in str(model.certificate_)
    with pytest.warns(ConvergenceWarning, match="stopped at max_size=40"):
        assert L0Regressor(0.0).fit(X, y).support_.size == 40
    with pytest.warns(ConvergenceWarning, match="where ebic was still least"):
        assert L0Regressor(max_size=2).fit(X, y).support_.size == 2
    assert L0Regressor(1e9, max_size=0).fit(X, y).support_.size == 0


def test_near_the_rank_a_criterion_warns(rng):
    X, y = rng.normal(size=(10, 50)), rng.normal(size=10)
    with pytest.warns(UserWarning, match="rows, where it can't be trusted"):
        assert L0Regressor("ric", max_size=50).fit(X, y).support_.size < 10
    assert L0Regressor("ric").fit(X, y).support_.size <= 3  # 10 / (log 50 log log 16)


@pytest.mark.parametrize(
    ("always_include", "expected"),
    [
        (["c"], [2]),
        ("c", [2]),
        ([2], [2]),
        ([-1], [3]),
        (np.array([False, False, True, False]), [2]),
        ([False, True, True, False], [1, 2]),
        ({"b", "d"}, [1, 3]),
        (["b", "b"], [1]),
        (pd.Index(["a", "d"]), [0, 3]),
        (np.array(["a", "d"]), [0, 3]),
        (np.array([-1], dtype=np.int8), [3]),
        (np.array([1], dtype=np.uint8), [1]),
        (np.array([True, False, False, True], dtype=object), [0, 3]),
        (range(2), [0, 1]),
        ([], []),
    ],
)
def test_always_include_by_name_number_or_mask(rng, always_include, expected):
    X = pd.DataFrame(rng.normal(size=(30, 4)), columns=list("abcd"))
    model = L0Regressor(1e9, always_include=always_include).fit(X, rng.normal(size=30))
    assert model.support_.tolist() == expected


def test_always_include_of_a_dependent_column_warns(rng):
    X = rng.normal(size=(30, 3))
    X[:, 2] = X[:, 0]
    y = rng.normal(size=30)
    with pytest.warns(UserWarning, match="always_include: column 'x2' is constant or depends"):
        model = L0Regressor(1e9, always_include=[0, 2]).fit(X, y)
    assert model.support_.tolist() == [0]


def nan_at(X, i, j, value=np.nan):
    X = X.astype(float)
    X[i, j] = value
    return X


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"lam": -1}, ValueError, "'lam' parameter of L0Regressor must be"),
        ({"lam": np.nan}, ValueError, "'lam' parameter of L0Regressor must be"),
        ({"lam": "aic"}, ValueError, "'lam' parameter of L0Regressor must be"),
        ({"lam": None}, ValueError, "'lam' parameter of L0Regressor must be"),
        ({"ridge": -0.1}, ValueError, "'ridge' parameter"),
        ({"ridge": np.nan}, ValueError, "'ridge' parameter"),
        ({"ridge": np.inf}, ValueError, "'ridge' parameter"),
        ({"solver": "magic"}, ValueError, "'solver' parameter"),
        ({"max_size": -1}, ValueError, "'max_size' parameter"),
        ({"max_size": 2.5}, ValueError, "'max_size' parameter"),
        ({"fit_intercept": "yes"}, ValueError, "'fit_intercept' parameter"),
        ({"always_include": ["z"]}, ValueError, "always_include names column 'z', which X does"),
        ({"always_include": [4]}, ValueError, "always_include names column 4, but X has 4"),
        ({"always_include": [-5]}, ValueError, "always_include names column -5, but X has 4"),
        ({"always_include": [0.5]}, TypeError, "always_include must hold column names, integers"),
        ({"always_include": [[0, 1]]}, ValueError, "always_include must be one-dimensional"),
        ({"always_include": [True, False]}, ValueError, "always_include is a mask of length 2"),
        ({"always_include": ["a", 1]}, TypeError, "always_include must hold column names"),
        ({"always_include": {"a", 1}}, TypeError, "always_include must hold column names"),
        ({"always_include": [[0], [1, 2]]}, ValueError, "always_include must be one-dimensional"),
        ({"lam": 10**400}, ValueError, "lam is too large"),
        ({"ridge": 10**400}, ValueError, "ridge is too large"),
        ({"start": ["z"], "lam": 1.0}, ValueError, "start names column 'z'"),
        ({"start": ["a"], "solver": "sbr"}, ValueError, "start needs a number for lam"),
        ({"start": ["a"], "lam": 1.0}, ValueError, "start needs solver=.sbr.: the frontier has"),
        (
            {"always_include": ["a", "b"], "max_size": 1},
            ValueError,
            "max_size=1, but 2 columns are to be in the model",
        ),
    ],
)
def test_bad_parameters(rng, parameters, error, message):
    X = pd.DataFrame(rng.normal(size=(10, 4)), columns=list("abcd"))
    with pytest.raises(error, match=message):
        L0Regressor(**parameters).fit(X, rng.normal(size=10))


@pytest.mark.parametrize(
    ("X", "y", "weights", "message"),
    [
        (nan_at(np.eye(4), 0, 0), np.arange(4.0), None, "Input X contains NaN"),
        (nan_at(np.eye(4), 0, 0, np.inf), np.arange(4.0), None, "Input X contains infinity"),
        (np.eye(4), [1, 2, np.nan, 3], None, "Input y contains NaN"),
        (np.eye(4), [1, 2, np.inf, 3], None, "Input y contains infinity"),
        (np.eye(4), np.arange(3.0), None, "inconsistent numbers of samples"),
        (np.arange(4.0), np.arange(4.0), None, "Expected 2D array"),
        (np.empty((0, 3)), np.empty(0), None, "0 sample"),
        (np.empty((3, 0)), np.arange(3.0), None, "0 feature"),
        (np.eye(4), list("abcd"), None, "y must hold numbers; entry 0 is 'a'"),
        (np.eye(4), np.arange(4.0), [1, 1, 1], "sample_weight.shape == "),
        (np.eye(4), np.arange(4.0), [1, -1, 1, 1], "[Nn]egative values"),
        (np.eye(4), np.arange(4.0), [1, np.nan, 1, 1], "NaN"),
        (np.eye(4), np.arange(4.0), [0, 0, 0, 0], "zero"),
        (np.eye(4), np.arange(4.0) * 1e200, None, "y: .* too large"),
        (
            np.eye(4),
            np.arange(4.0) * 1e-158,
            None,
            "y: .* too small",
        ),
        (
            np.eye(4),
            np.arange(4.0) * 1e-200,
            None,
            "y: .* too small",
        ),
        (np.eye(4), np.arange(4.0), [1e308] * 4, "sample_weight is too large"),
        (np.eye(4), np.arange(4.0), [1e-3] * 4, "sample_weight sums to 0.004"),
        (np.eye(4) * 1e308, np.arange(4.0), None, "X: the values of column 0 are too large"),
        (np.eye(4) * 1j, np.arange(4.0), None, "Complex data not supported"),
    ],
)
def test_bad_data(X, y, weights, message):
    with pytest.raises(ValueError, match=message):
        L0Regressor().fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    "odd", [["u"] * 20, pd.date_range("2020", periods=20), ["1", "2"] * 9 + ["3", "x"]]
)
def test_a_column_that_is_not_numeric_is_named(rng, odd):
    X = pd.DataFrame({"a": rng.normal(size=20), "odd one": odd, "b": rng.normal(size=20)})
    with pytest.raises(ValueError, match="X: column 'odd one' does not hold numbers"):
        L0Regressor().fit(X, rng.normal(size=20))
    with pytest.raises(ValueError, match="column 's' does not hold numbers"):
        L0Regressor().fit(pl.DataFrame({"a": [1.0, 2.0], "s": ["u", "v"]}), [1.0, 2.0])


def test_names_on_columns_without_names(rng):
    with pytest.raises(ValueError, match="names column 'a', but the columns of X have no names"):
        L0Regressor(always_include=["a"]).fit(rng.normal(size=(10, 2)), rng.normal(size=10))


def test_input_is_left_alone(rng):
    X, y = rng.normal(size=(30, 5)), rng.normal(size=30)
    weights = rng.random(30)
    copies = X.copy(), y.copy(), weights.copy()
    L0Regressor().fit(X, y, sample_weight=weights)
    for array, copy in zip((X, y, weights), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_data_frames(rng):
    X, y, _ = make_collinear(random_state=1)
    expected = L0Regressor().fit(X, y)
    names = [f"v{j}" for j in range(100)]
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = L0Regressor().fit(frame, y)
        assert model.feature_names_in_.tolist() == names
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        chosen = [names[j] for j in expected.support_]
        assert model.get_feature_names_out().tolist() == chosen
        assert set(model.summary().index) == set(chosen)
    output = L0Regressor().set_output(transform="pandas").fit(pd.DataFrame(X, columns=names), y)
    assert output.transform(pd.DataFrame(X, columns=names)).columns.tolist() == chosen


def test_it_selects():
    X, y, _ = make_collinear(random_state=2)
    model = L0Regressor().fit(X, y)
    np.testing.assert_array_equal(model.get_support(indices=True), model.support_)
    np.testing.assert_array_equal(model.transform(X), X[:, model.support_])
    np.testing.assert_array_equal(
        model.inverse_transform(model.transform(X))[:, model.support_], X[:, model.support_]
    )
    empty = L0Regressor(1e9).fit(X, y)
    assert empty.transform(X).shape == (120, 0)
    assert empty.transform(sparse.csr_array(X)).shape == (120, 0)
    assert empty.summary().empty


def test_summary_is_what_it_says():
    X, y, _ = make_collinear(random_state=3)
    X = X * np.linspace(1, 50, 100) + 3
    model = L0Regressor(0.05).fit(X, y)
    table = model.summary()
    assert table["removal_cost"].is_monotonic_decreasing
    assert (table["removal_cost"] > model.lam_).all()
    for j in model.support_:
        row = table.loc[f"x{j}"]
        rest = model.support_[model.support_ != j]
        without = LinearRegression().fit(X[:, rest], y)
        rss = ((y - without.predict(X[:, rest])) ** 2).sum()
        energy = model.objective_ - model.lam_ * model.support_.size
        assert row["removal_cost"] == pytest.approx(rss / 2 - energy, rel=1e-6)
        assert row["r2_lost"] == pytest.approx(
            model.score(X, y) - without.score(X[:, rest], y), rel=1e-6
        )
        assert row["standardised"] == pytest.approx(model.coef_[j] * X[:, j].std() / y.std())


def test_pipeline_grid_search_clone_and_pickle():
    X, y, _ = make_collinear(random_state=4)
    pipeline = make_pipeline(StandardScaler(), L0Regressor(), LinearRegression()).fit(X, y)
    assert pipeline.score(X, y) > 0.9
    search = GridSearchCV(L0Regressor(), {"lam": [0.01, 0.1, "ebic"]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    model = L0Regressor(0.1, always_include=[0]).fit(X, y)
    assert not hasattr(clone(model), "coef_")
    revived = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(revived.predict(X), model.predict(X))
    pd.testing.assert_frame_equal(revived.summary(), model.summary())


def test_same_answer_every_time_and_whatever_the_threads(monkeypatch):
    X, y, _ = make_collinear(500, 3000, random_state=5)
    models = []
    for threads in ("1", "2", "3", ""):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        models.append(L0Regressor().fit(X, y))
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        assert model.objective_ == models[0].objective_


def test_progress_goes_to_standard_error(monkeypatch, capsys):
    ticks = iter(np.arange(0, 1000, 0.6))
    monkeypatch.setattr("ellzero._progress.time.perf_counter", lambda: next(ticks))
    X, y, _ = make_collinear(random_state=6)
    L0Regressor(verbose=1).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "[L0Regressor] 2 variables after" in captured.err


@pytest.mark.parametrize(
    "estimator",
    [
        "L0Regressor()",
        "L0Regressor(lam=0.5, ridge=0.1)",
        "L0Regressor('bic')",
        "L0Regressor(solver='sbr')",
    ],
)
def test_scikit_learns_own_checks(estimator):
    assert_passes_every_check(estimator)
