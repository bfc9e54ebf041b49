"""Folds that are had of products of parts, against folds that are made of their rows."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from ellzero.regression import _group_halves, _halves
from ellzero.selection import PreparedTable, _choose, _moved_folds, prepare, select
from ellzero.selection._choose import make_fold_data
from ellzero.selection._feature_matrix import make_feature_matrix
from ellzero.selection._moved_folds import MovedFolds
from ellzero.selection._settings import Settings
from ellzero.tables import NumberColumn, Table, TextColumn


def make_table(rng, n=300):
    # Means far from zero, and skewed, so that every fold has other ones
    a, b = np.exp(rng.normal(1, 1, n)), 5 + rng.normal(size=n)
    codes = rng.choice(3, n).astype(np.int32)
    y = a + a * b + (codes == 1) * b + 3 * rng.normal(size=n)
    columns = {"a": NumberColumn("a", a), "b": NumberColumn("b", b), "y": NumberColumn("y", y)}
    columns["c"] = TextColumn("c", codes, ["u", "v", "w"])
    return Table(columns, n, "t", "")


@pytest.fixture
def by_parts(monkeypatch):
    def switch(on):
        for module in (_moved_folds, _group_halves):
            monkeypatch.setattr(module, "pays_by_parts", lambda X, weight: on and weight is None)
        for module in (_moved_folds, _halves):
            monkeypatch.setattr(module, "pays", lambda X, weight, *_: on and weight is None)

    return switch


def folds_of(rng, by_parts, **more):
    settings = Settings(target="y", interactions=True, criterion="1se", **more)
    data = prepare(make_table(rng), settings)
    assert isinstance(data, PreparedTable)
    matrix = make_feature_matrix(data, settings, lambda words: None)
    splits = list(KFold(5, shuffle=True, random_state=0).split(data.y))
    made = []
    for on in (False, True):
        by_parts(on)
        _, (folds,) = make_fold_data(matrix, data, [splits])
        made.append(folds)
    assert [isinstance(folds, MovedFolds) for folds in made] == [False, True]
    return made, matrix


def assert_same(one, other, support, rng):
    """Compare two folds in all that is asked of them."""
    np.testing.assert_array_equal(one.test, other.test)
    one, other = one.fold, other.fold
    assert (one.trained, one.tested) == (other.trained, other.tested)
    for name in ("zy", "inverse_scale", "mean"):
        np.testing.assert_allclose(
            getattr(one.design, name), getattr(other.design, name), rtol=1e-9, atol=1e-9
        )
    beta = rng.normal(size=len(support))
    fits = [(support[:k], beta[:k], 0.0) for k in (len(support), 1, 0)]
    verdicts = one.judge(fits)
    np.testing.assert_allclose(other.judge(fits), verdicts, rtol=1e-9, atol=1e-12)
    # Together they are judged as each is alone.
    assert verdicts[:, 0].tolist() == [one.error(*fit) for fit in fits]
    assert other.judge(fits)[:, 0].tolist() == [other.error(*fit) for fit in fits]
    outcome = other.outcome(support, beta, 0.0)
    np.testing.assert_allclose(outcome, one.outcome(support, beta, 0.0), rtol=1e-9, atol=1e-9)
    assert np.mean(outcome**2) == pytest.approx(verdicts[0, 0], rel=1e-9)


def test_they_are_the_folds_of_their_rows(rng, by_parts):
    (rows, moved), matrix = folds_of(rng, by_parts)
    support = np.arange(matrix.X.shape[1])
    for one, other in zip(rows.one_by_one(), moved.one_by_one(), strict=True):
        assert_same(one, other, support, rng)
        inside = zip(one.inside().one_by_one(), other.inside().one_by_one(), strict=True)
        for a, b in inside:
            # Rows of the inner folds are numbered alike
            assert_same(a, b, support[::2].copy(), rng)


@pytest.mark.parametrize(
    "asked",
    [
        {"interactions": True, "criterion": "1se", "levels": False},
        {"interactions": True, "criterion": "1se", "levels": True},
        {"criterion": "1se"},
        {"criterion": "cv", "levels": True},
        {"criterion": "ebic", "levels": True},
    ],
)
def test_the_choice_is_that_of_rows(rng, by_parts, asked):
    settings = Settings(target="y", repeats=2, folds=5, **asked)
    table = make_table(rng)
    found = []
    for on in (False, True):
        by_parts(on)
        found.append(select(prepare(table, settings), settings))
    one, other = found
    assert one.model.size > 0
    np.testing.assert_array_equal(one.model.support, other.model.support)
    assert one.ridge == other.ridge
    np.testing.assert_allclose(one.model.coef, other.model.coef, rtol=1e-7)
    assert one.score.sizes == other.score.sizes
    assert one.score.error == pytest.approx(other.score.error, rel=1e-7)
    np.testing.assert_allclose(one.score.outcomes, other.score.outcomes, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(
        one.sureness.halves.frequencies, other.sureness.halves.frequencies
    )


def test_what_is_all_but_determined_is_fitted_on_rows(rng, by_parts):
    by_parts(True)
    table = make_table(rng)
    a, b = (table.columns[name].values for name in "ab")
    table.columns["y"] = NumberColumn("y", a * b + 1e-6 * rng.normal(size=len(a)))
    settings = Settings(target="y", interactions=True)
    data = prepare(table, settings)
    matrix = make_feature_matrix(data, settings, lambda words: None)
    splits = list(KFold(5).split(data.y))
    _, (folds,) = make_fold_data(matrix, data, [splits])
    assert not isinstance(folds, MovedFolds)


def test_gaps_and_folds_in_time_need_rows(rng, by_parts):
    by_parts(True)
    table = make_table(rng)
    splits = list(KFold(5).split(np.zeros(300)))
    later = [(np.arange(100), np.arange(100, 200)), (np.arange(200), np.arange(200, 300))]
    for gap, used in ((True, splits), (False, later)):
        if gap:
            table.columns["a"].values[3] = np.nan
        table = Table(dict(table.columns), 300, "t", "")
        settings = Settings(target="y", interactions=True, missing="mean")
        data = prepare(table, settings)
        matrix = make_feature_matrix(data, settings, lambda words: None)
        _, (folds,) = make_fold_data(matrix, data, [used])
        assert not isinstance(folds, MovedFolds)
        table = make_table(rng)


def test_large_tables_are_cut_less_often():
    asked, most = Settings(target="y"), _choose._CV_CELLS
    count = _choose._count_repeats
    assert [count(asked, n, most) for n in (10**5, 2 * 10**6, 5 * 10**6, 10**8)] == [10, 10, 4, 1]
    assert count(Settings(target="y", repeats=7), 10**8, most) == 7
