import numpy as np
import pandas as pd
import pytest
from reference.preprocessing import error_at
from sklearn.model_selection import KFold

from ellzero import L0RegressorCV, l0_frontier
from ellzero.datasets import make_collinear
from ellzero.regression._cross_validation import CrossValidation
from ellzero.regression._fold_data import Data as FoldData
from ellzero.regression._folds import LearnedFolds
from ellzero.selection import PreparedTable
from ellzero.selection._choose import make_fold_data
from ellzero.selection._feature_matrix import FeatureMatrix
from ellzero.tables import NumberColumn, Table, TextColumn, judge_columns, make_plan


def make_table(frame):
    columns = {name: NumberColumn(name, frame[name].to_numpy(float)) for name in frame}
    return Table(columns, len(frame), "t", "")


@pytest.fixture
def frame(rng):
    X = rng.normal(3, 1, (80, 4))
    X[:, 1] += X[:, 0]
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["y"] = X[:, 0] - X[:, 2] + X[:, 0] * X[:, 1] + rng.normal(size=80)
    frame.loc[rng.choice(80, 15, replace=False), "a"] = np.nan
    frame.loc[rng.choice(80, 9, replace=False), "d"] = np.nan
    return frame


def curve_of(table, y, weights, splits, missing="mean", interactions=True, ridge=0.0, forced=()):
    """Return the curve of a table whose folds learn their own means, and the size it came to."""
    plan = make_plan(table, judge_columns(table, {}), missing, interactions)
    features = plan.features
    means = features.learn(table, None, weights)
    forced = np.array(forced, dtype=np.int64)
    X = features.build(table, None, means)
    matrix = FeatureMatrix(X=X, means=means, plan=plan, forced=forced, notes=[])
    data = PreparedTable(table, y, weights, None, None, plan, [], None, len(y))
    _, (folds,) = make_fold_data(matrix, data, [splits])
    assert isinstance(folds, LearnedFolds) == features.learns
    choice = CrossValidation("frontier", [ridge], forced, None, 2, None).choose(folds)
    return choice.curve("min"), choice.max_size


@pytest.mark.parametrize("weighted", [False, True])
def test_everything_learned_is_learned_inside_the_folds(frame, rng, weighted):
    y = frame.pop("y").to_numpy()
    weights = rng.integers(1, 4, 80).astype(float) if weighted else np.ones(80)
    splits = list(KFold(5, shuffle=True, random_state=1).split(y))
    curve, size = curve_of(make_table(frame), y, weights if weighted else None, splits)
    assert size == 14
    low, high = curve.lam_low[1:-1], curve.lam_high[1:-1]
    for place in rng.choice(len(low), 12, replace=False):
        lam = np.sqrt(low[place] * high[place])
        expected = error_at(frame, y, weights, splits, lam, size)
        np.testing.assert_allclose(curve.mean_error[place + 1], expected, rtol=1e-8)


def test_rows_without_weight_count_in_no_fold(frame):
    y = frame.pop("y").to_numpy()
    weights = np.ones(80)
    weights[:20] = 0  # the whole first fold
    splits = list(KFold(4).split(y))
    curve, _ = curve_of(make_table(frame), y, weights, splits)
    assert len(curve.fold_errors) == 3
    kept = [(train[train >= 20] - 20, test - 20) for train, test in splits[1:]]
    alone, _ = curve_of(make_table(frame[20:]), y[20:], None, kept)
    np.testing.assert_allclose(curve.mean_error, alone.mean_error, rtol=1e-9)


def test_folds_without_any_weight_are_an_error(frame):
    y = frame.pop("y").to_numpy()
    weights = np.zeros(80)
    weights[:20] = 1  # one fold has them all
    with pytest.raises(ValueError, match="No fold has rows of positive weight"):
        curve_of(make_table(frame), y, weights, list(KFold(4).split(y)))


def test_folds_that_learn_choose_as_the_estimator_does():
    # The paper's design: products whose means are learned, and the same columns ready-made
    for seed in range(4):
        X, y, _ = make_collinear(120, 30, random_state=seed)
        splits = list(KFold(10, shuffle=True, random_state=0).split(y))
        whole = FoldData(X, y, None, True, 1)

        def make(train, test, whole=whole):
            return whole.rows(train), whole.rows(test)

        learned = LearnedFolds(make, splits, whole.design(), None)
        nothing = np.empty(0, dtype=np.int64)
        choice = CrossValidation("frontier", [0.0], nothing, None, 2, None).choose(learned)
        model = L0RegressorCV(cv=splits).fit(X, y)
        assert choice.max_size == model.max_size_
        assert choice.marks["min"].lam == pytest.approx(model.lam_, rel=1e-9)


def test_with_nothing_to_learn_it_is_the_estimator(rng):
    X = rng.normal(size=(90, 9))
    y = X[:, 0] - X[:, 1] + 0.5 * X[:, 2] + rng.normal(size=90)
    table = make_table(pd.DataFrame(X, columns=[f"x{j}" for j in range(9)]))
    splits = list(KFold(5, shuffle=True, random_state=0).split(y))
    for forced in ([], [4]):
        curve, size = curve_of(table, y, None, splits, "error", False, 0.3, forced)
        model = L0RegressorCV(cv=splits, ridge=0.3, always_include=forced).fit(X, y)
        assert size == model.max_size_ == 9
        np.testing.assert_array_equal(curve.mean_error, model.cv_results_["mean_error"])
        np.testing.assert_array_equal(curve.lam_low, model.cv_results_["lam_low"])
        assert curve.middle(curve.best()) == model.lam_


def test_folds_that_do_not_fit_into_memory_are_made_again(frame, monkeypatch):
    y = frame.pop("y").to_numpy()
    splits = list(KFold(4).split(y))
    kept, _ = curve_of(make_table(frame), y, None, splits)
    monkeypatch.setattr("ellzero.regression._folds._DESIGN_BYTES", 0)
    monkeypatch.setattr("ellzero.regression._cross_validation._FIRST_SIZE", 2)
    again, _ = curve_of(make_table(frame), y, None, splits)
    shared = min(len(kept.mean_error), len(again.mean_error))
    np.testing.assert_allclose(kept.mean_error[:shared], again.mean_error[:shared])


def test_a_level_that_was_never_trained_on_cannot_enter(rng):
    levels = np.array(["u", "v"] * 20, dtype=object)
    levels[0] = "rare"
    names = sorted(set(levels))
    codes = np.array([names.index(level) for level in levels], dtype=np.int32)
    table = make_table(pd.DataFrame({"x": rng.normal(size=40)}))
    table.columns["c"] = TextColumn("c", codes, names)
    features = make_plan(table, judge_columns(table, {}), "error", False).features
    rare = features.names.index("c=rare")
    y = rng.normal(size=40) + 50.0 * (levels == "rare")
    train = np.arange(1, 40)
    means = features.learn(table, train, None)
    assert features.build(table, np.array([0]), means)[0, rare] == 1
    frontier = l0_frontier(features.build(table, train, means), y[train])
    assert all(rare not in support for support in frontier.supports)
