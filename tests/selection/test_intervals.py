"""Intervals of predictions, from rows that the whole choice has not seen."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold

from ellzero import L0Regressor
from ellzero.selection import Settings, load_model, prepare, save_model, select
from ellzero.selection._intervals import make_distances
from ellzero.tables import DataError, NumberColumn, Table


def table_of(X, y):
    columns = {f"x{j}": NumberColumn(f"x{j}", X[:, j].copy()) for j in range(X.shape[1])}
    return Table({**columns, "y": NumberColumn("y", y.copy())}, len(y), "t", "")


def run(X, y, **settings):
    asked = Settings("y", **settings)
    return select(prepare(table_of(X, y), asked), asked)


@given(seed=st.integers(0, 1000), n=st.integers(1, 60), level=st.floats(0.01, 0.99))
def test_the_reach_is_an_order_statistic(seed, n, level):
    errors = np.random.default_rng(seed).normal(size=n)
    place = math.ceil((n + 1) * level - 1e-9)
    expected = np.sort(np.abs(errors))[place - 1] if place <= n else math.inf
    assert make_distances(errors, np.ones(n), float(n)).reach(level) == expected


def test_weights_are_counts_of_rows(rng):
    errors, counts = rng.normal(size=40), rng.integers(0, 4, 40)
    weighted = make_distances(errors, counts.astype(float), float(counts.sum()))
    repeated = np.repeat(errors, counts)
    plain = make_distances(repeated, np.ones(len(repeated)), float(len(repeated)))
    for level in (0.1, 0.5, 0.8, 0.9):
        assert weighted.reach(level) == plain.reach(level)


def test_of_many_rows_a_part_is_kept_and_errs_to_the_wider_side(rng):
    errors = rng.standard_t(3, size=50_000)
    made = make_distances(errors, np.ones(50_000), 50_000.0)
    assert len(made.distances) <= 1_000
    exact = np.sort(np.abs(errors))
    for level in (0.5, 0.9, 0.99, 0.999):
        reach = exact[math.ceil(50_001 * level - 1e-9) - 1]
        assert reach <= made.reach(level) <= 1.05 * reach


def test_they_come_from_the_whole_choice_made_anew(rng):
    X = rng.normal(size=(60, 8))
    y = X[:, 0] + rng.normal(size=60)
    chosen = run(X, y, folds=6, repeats=1)
    errors = np.empty(60)
    for train, test in KFold(6, shuffle=True, random_state=0).split(X):
        errors[test] = y[test] - L0Regressor().fit(X[train], y[train]).predict(X[test])
    reach = np.sort(np.abs(errors))[math.ceil(61 * 0.9) - 1]
    lower, upper = chosen.linear.predict_interval(table_of(X[:3], y[:3]), 0.9)
    np.testing.assert_allclose(upper - lower, 2 * reach, rtol=1e-9)
    np.testing.assert_allclose((upper + lower) / 2, chosen.linear.predict(table_of(X[:3], y[:3])))


@pytest.mark.parametrize("criterion", ["ebic", "cv"])
@pytest.mark.parametrize("interactions", [False, True])
def test_they_are_saved_with_the_model(rng, tmp_path, criterion, interactions):
    X = rng.normal(size=(50, 3))
    chosen = run(X, X[:, 0] + rng.normal(size=50), criterion=criterion, interactions=interactions)
    save_model(chosen.linear, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.distances == chosen.linear.distances
    assert loaded.reach(0.8) > 0


def test_their_coverage():
    """Sixty data sets of 60 rows, heavy-tailed noise: nine tenths of new rows, within .03."""
    covered = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(560, 10))
        y = X[:, 0] + 0.5 * X[:, 1] + rng.standard_t(4, size=560)
        chosen = run(X[:60], y[:60], repeats=2)
        lower, upper = chosen.linear.predict_interval(table_of(X[60:], y[60:]), 0.9)
        covered.append(np.mean((lower <= y[60:]) & (y[60:] <= upper)))
    assert np.mean(covered) == pytest.approx(0.9, abs=0.03)


def test_few_rows_reach_to_infinity(rng):
    chosen = run(rng.normal(size=(8, 2)), rng.normal(size=8))
    assert chosen.linear.reach(0.5) < math.inf
    assert chosen.linear.reach(0.9) == math.inf


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, math.nan])
def test_levels_that_can_not_be(rng, level):
    chosen = run(rng.normal(size=(20, 2)), rng.normal(size=20))
    with pytest.raises(DataError, match="must be between 0 and 1"):
        chosen.linear.reach(level)
