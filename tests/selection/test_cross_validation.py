import numpy as np
import pandas as pd
import pytest
from reference.preprocessing import error_at
from sklearn.model_selection import KFold

from ellzero import L0RegressorCV, l0_frontier
from ellzero.selection._cross_validation import cross_validate
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


@pytest.mark.parametrize("weighted", [False, True])
def test_everything_learned_is_learned_inside_the_folds(frame, rng, weighted):
    y = frame.pop("y").to_numpy()
    weights = rng.integers(1, 4, 80).astype(float) if weighted else np.ones(80)
    table = make_table(frame)
    features = make_plan(table, judge_columns(table, {}), "mean", True).features
    splits = list(KFold(5, shuffle=True, random_state=1).split(y))
    curve, size = cross_validate(
        features,
        table,
        y,
        weights if weighted else None,
        splits,
        ridge=0.0,
        forced=np.empty(0, dtype=np.int64),
    )
    assert size == 14
    low, high = curve.lam_low[1:-1], curve.lam_high[1:-1]
    for place in rng.choice(len(low), 12, replace=False):
        lam = np.sqrt(low[place] * high[place])
        expected = error_at(frame, y, weights, splits, lam, size)
        np.testing.assert_allclose(curve.mean_error[place + 1], expected, rtol=1e-8)


def test_with_nothing_to_learn_it_is_the_estimator(rng):
    # So few columns that both searches find the best of every size
    X = rng.normal(size=(90, 9))
    y = X[:, 0] - X[:, 1] + 0.5 * X[:, 2] + rng.normal(size=90)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(9)])
    table = make_table(frame)
    features = make_plan(table, judge_columns(table, {}), "error", False).features
    assert not features.learns
    splits = list(KFold(5, shuffle=True, random_state=0).split(y))
    for forced in ([], [4]):
        curve, size = cross_validate(
            features, table, y, None, splits, ridge=0.3, forced=np.array(forced, dtype=np.int64)
        )
        model = L0RegressorCV(cv=splits, ridge=0.3, always_include=forced).fit(X, y)
        assert size == model.max_size_ == 9
        np.testing.assert_allclose(curve.mean_error, model.cv_results_["mean_error"])
        np.testing.assert_allclose(curve.lam_low, model.cv_results_["lam_low"])
        np.testing.assert_allclose(curve.middle(curve.best()), model.lam_)


def test_frontiers_that_do_not_fit_into_memory_are_made_again(frame, monkeypatch):
    y = frame.pop("y").to_numpy()
    table = make_table(frame)
    features = make_plan(table, judge_columns(table, {}), "mean", True).features
    splits = list(KFold(4).split(y))
    none = np.empty(0, dtype=np.int64)
    kept, _ = cross_validate(features, table, y, None, splits, ridge=0.0, forced=none)
    monkeypatch.setattr("ellzero.selection._cross_validation._MEMORY", 0)
    monkeypatch.setattr("ellzero.selection._cross_validation._FIRST_SIZE", 2)
    again, _ = cross_validate(features, table, y, None, splits, ridge=0.0, forced=none)
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
