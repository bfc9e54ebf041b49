import numpy as np
import pandas as pd
import pytest

from ellzero import L0Regressor, L0RegressorCV
from ellzero.datasets import load_diabetes_interactions
from ellzero.selection import Settings, prepare, select, summarise
from ellzero.selection._splits import choose_folds, hold_out
from ellzero.tables import DataError, NumberColumn, Table, TextColumn, example_table


def run(table, **settings):
    asked = Settings(**{"target": "y", **settings})
    return select(prepare(table, asked), asked)


def table_of(**columns):
    made = {}
    for name, values in columns.items():
        if isinstance(values, np.ndarray):
            made[name] = NumberColumn(name, values.astype(float))
        else:
            levels = sorted(set(values))
            codes = np.array([levels.index(v) for v in values], dtype=np.int32)
            made[name] = TextColumn(name, codes, levels)
    return Table(made, len(values), "t", "")


@pytest.mark.parametrize("criterion", ["bic", "ebic", "ric"])
def test_criteria_choose_what_the_estimator_chooses_among_the_papers_columns(criterion):
    chosen = run(
        example_table("diabetes"), target="progression", criterion=criterion, interactions=True
    )
    diabetes = load_diabetes_interactions()
    model = L0Regressor(criterion).fit(diabetes.data, diabetes.target)
    assert sorted(chosen.model.names) == sorted(model.get_feature_names_out())
    assert chosen.lam == pytest.approx(model.lam_)
    np.testing.assert_allclose(chosen.fitted, model.predict(diabetes.data))


@pytest.mark.parametrize(("criterion", "rule"), [("cv", "min"), ("1se", "1se")])
def test_cross_validation_is_the_estimators_where_nothing_is_learned(criterion, rule):
    chosen = run(example_table("diabetes"), target="progression", criterion=criterion)
    table = example_table("diabetes")
    y = table.columns.pop("progression").values
    X = pd.DataFrame({name: column.values for name, column in table.columns.items()})
    model = L0RegressorCV(rule=rule, ridge="cv").fit(X, y)
    assert (chosen.ridge, chosen.frontier.rescaling) == (model.ridge_, model.rescaling_)
    assert chosen.lam == pytest.approx(model.lam_)
    np.testing.assert_allclose(chosen.model.coef, model.coef_)


def test_size_and_lam():
    table = example_table("diabetes")
    chosen = run(table, target="progression", size=8, interactions=True)
    assert chosen.model.size == 8
    assert chosen.lam is None  # the paper's eight are the solution at no price
    chosen = run(example_table("diabetes"), target="progression", lam=5_000.0, interactions=True)
    assert chosen.model.size == 11


def test_weights_are_rescaled_and_counts_are_not(rng):
    X, w = rng.normal(size=(60, 3)), rng.integers(0, 4, 60).astype(float)
    y = X[:, 0] + rng.normal(size=60)

    def table():
        return table_of(**{f"x{j}": X[:, j] for j in range(3)}, y=y, w=w)

    repeated = np.repeat(np.arange(60), w.astype(int))
    counted = run(table(), weights="w", frequency=True, criterion="bic")
    twice = run(
        table_of(**{f"x{j}": X[repeated, j] for j in range(3)}, y=y[repeated]), criterion="bic"
    )
    np.testing.assert_allclose(counted.model.coef, twice.model.coef)
    assert counted.lam == pytest.approx(twice.lam)
    scaled = run(table(), weights="w", criterion="bic")
    times = run(
        table_of(**{f"x{j}": X[:, j] for j in range(3)}, y=y, w=7 * w), weights="w", criterion="bic"
    )
    assert scaled.lam == pytest.approx(times.lam)
    assert scaled.data.weights.sum() == pytest.approx(60)


def test_forced_columns_stay_in(rng):
    colours = rng.choice(["r", "g", "b"], 80).tolist()
    x, z = rng.normal(size=(2, 80))
    table = table_of(c=colours, x=x, z=z, y=5 * x + rng.normal(size=80))
    chosen = run(table, force=("c", "z"), criterion="ebic")
    assert {"z", "x"} < set(chosen.model.names)
    assert sum(name.startswith("c=") for name in chosen.model.names) == 2
    content = summarise(chosen, "")
    assert {v["name"] for v in content["model"]["variables"] if v["forced"]} > {"z"}
    table = table_of(x=x, y=x, k=np.ones(80))
    with pytest.raises(DataError, match="force: column 'k' can't be used: constant"):
        run(table, force=("k",))
    with pytest.raises(DataError, match="force names 'nope', which is not among"):
        run(table_of(x=x, z=z, y=x + z), force=("nope",))


def test_products_that_repeat_a_column_are_left_out(rng):
    a = rng.normal(size=50)
    table = table_of(a=a, b=2 * a + 1, s=np.sign(a), y=a + rng.normal(size=50))
    chosen = run(table, interactions=True, criterion="bic")
    assert chosen.plan.features.names == ["a", "b", "s", "a^2", "a:s"]
    text = " ".join(chosen.notes)
    assert "b^2 (as a^2)" in text
    assert "a:b (as a^2)" in text
    assert "No square of 's'" in text


def test_rows_held_out_are_predicted_by_the_model_alone(rng):
    x = rng.normal(size=200)
    y = 2 * x + rng.normal(size=200)
    chosen = run(table_of(x=x, z=rng.normal(size=200), y=y), test_share=0.25, criterion="bic")
    assert len(chosen.residuals) == 150
    table, truth, _ = chosen.data.held_out
    error = truth - chosen.linear.predict(table)
    assert chosen.held_out["rmse"] == pytest.approx(np.sqrt(np.mean(error**2)))
    assert chosen.held_out["rows"] == 50
    assert 0.6 < chosen.held_out["r2"] < 0.95


def test_splits_respect_groups_and_time(rng):
    groups = rng.integers(0, 12, 100)
    (splits,), words = choose_folds(None, 100, groups, None, 0)
    assert words == "6 folds of whole groups"
    assert all(not set(groups[a]) & set(groups[b]) for a, b in splits)
    times = rng.integers(0, 30, 100).astype(float)
    (splits,), words = choose_folds(5, 100, None, times, 0)
    assert len(splits) == 5
    assert all(times[a].max() < times[b].min() for a, b in splits)
    train, test = hold_out(0.2, 100, None, times, 0)
    assert times[train].max() < times[test].min()
    train, test = hold_out(0.2, 100, groups, None, 0)
    assert not set(groups[train]) & set(groups[test])
    assert 0.2 <= len(test) / 100 < 0.35
    train, test = hold_out(0.2, 100, None, None, 0)
    assert len(test) == 20
    assert sorted([*train, *test]) == list(range(100))
    with pytest.raises(DataError, match="12 folds need at least as many groups"):
        choose_folds(12, 4, np.arange(4), None, 0)
    with pytest.raises(DataError, match="leaves nothing to fit"):
        hold_out(0.9, 2, np.array([0, 0]), None, 0)


def test_the_same_seed_gives_the_same_summary_and_another_does_not():
    def summary(seed):
        table = example_table("diabetes")
        return summarise(run(table, target="progression", seed=seed, posterior=True), "command")

    assert summary(1) == summary(1)
    one, two = summary(1), summary(2)
    assert one["cross_validation"] != two["cross_validation"]
    # Nothing in the model hangs on the seed, but for rounding.
    for name in ("name", "coefficient", "r2_lost"):
        first, second = ([v[name] for v in each["model"]["variables"]] for each in (one, two))
        assert first == (second if name == "name" else pytest.approx(second, rel=1e-9))


def test_the_empty_model(rng):
    table = table_of(x=rng.normal(size=30), y=rng.normal(size=30))
    chosen = run(table, lam=1e9)
    content = summarise(chosen, "")
    assert content["model"]["size"] == 0
    assert content["stand_ins"] == []
    np.testing.assert_allclose(chosen.fitted, chosen.data.y.mean())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"target": "none"}, "no column 'none', which target names; it has 'x', 't', 'y'"),
        ({"target": "t"}, "holds text"),
        ({"weights": "y"}, "can't have two roles"),
        ({"weights": "t"}, "does not hold numbers"),
        ({"weights": "x"}, "must hold numbers from 0 up"),
        ({"time": "t"}, "holds text, not dates"),
        ({"size": 9}, "size=9, but there are"),
        ({"folds": 31}, "31 folds need at least as many rows"),
        ({"test_share": 0.97}, "at least two are needed"),
    ],
)
def test_what_can_be_wrong(rng, settings, words):
    x = rng.normal(size=30)
    with pytest.raises(DataError, match=words):
        run(table_of(x=x, t=["u", "v", "w"] * 10, y=x), **settings)


def test_a_target_that_is_constant_up_to_rounding(rng):
    y = np.full(200, 1e7)
    y[::50] += 20 * np.spacing(1e7)
    columns = {"x": NumberColumn("x", rng.normal(size=200)), "y": NumberColumn("y", y)}
    with pytest.raises(DataError, match="'y' is the same in all rows, up to rounding"):
        prepare(Table(columns, 200, "t", ""), Settings("y"))


@pytest.mark.parametrize("interactions", [False, True])
@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100, 1e140])
def test_a_column_in_any_unit_is_chosen_alike(rng, scale, interactions):
    X = rng.normal(size=(60, 3))
    y = 3 * X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=60)
    asked = {"size": 2, "interactions": interactions}
    plain = run(table_of(a=X[:, 0], b=X[:, 1], c=X[:, 2], y=y), **asked)
    scaled = run(table_of(a=X[:, 0] * scale, b=X[:, 1], c=X[:, 2], y=y), **asked)
    assert scaled.model.names == plain.model.names
    np.testing.assert_allclose(scaled.model.standardised, plain.model.standardised)
    np.testing.assert_allclose(
        scaled.standard_deviations,
        plain.standard_deviations * np.where(plain.model.support, 1, scale),
    )


@pytest.mark.parametrize(
    ("scale", "settings", "words"),
    [
        ({"a": 1e200}, {"interactions": True}, r"product 'a\^2' are too large"),
        ({"a": 1e305}, {}, "'a' has values too large to be computed with"),
        ({"y": 1e200}, {}, "'y' has values too large to be squared"),
        ({"y": 1e308}, {}, "'y' has values too large to be squared"),
        ({"y": 1e-200}, {}, "'y' has values too small to be squared"),
    ],
)
def test_numbers_that_are_too_large_or_too_small(rng, scale, settings, words):
    columns = {name: rng.uniform(-1, 1, size=40) * scale.get(name, 1.0) for name in "aby"}
    with pytest.raises(DataError, match=words):
        run(table_of(**columns), **settings)
