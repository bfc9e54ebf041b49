"""What other ways of choosing say, and where they disagree."""

import numpy as np
import pytest

from ellzero import L0RegressorCV, stability
from ellzero.selection import Settings, _choose, prepare, select, summarise
from ellzero.tables import NumberColumn, Table, example_table


def run(columns, **settings):
    made = {name: NumberColumn(name, values.astype(float)) for name, values in columns.items()}
    asked = Settings("y", **settings)
    return select(prepare(Table(made, len(columns["y"]), "t", ""), asked), asked)


@pytest.fixture(scope="module")
def diabetes():
    asked = Settings("progression", interactions=True)
    return select(prepare(example_table("diabetes"), asked), asked)


def test_the_table_has_what_each_way_takes(rng):
    X = rng.normal(size=(120, 8))
    y = X[:, 0] + 0.4 * X[:, 1] + 0.2 * X[:, 2] + rng.normal(size=120)
    columns = {f"x{j}": X[:, j] for j in range(8)}
    chosen = run({**columns, "y": y}, posterior=True, repeats=2, seed=3)
    content = summarise(chosen, "")["sureness"]
    rows = {row["name"]: row for row in content["variables"]}
    how = {"ridge": "cv", "n_repeats": 2, "random_state": 3}
    least = L0RegressorCV(**how).fit(X, y)
    small = L0RegressorCV(**how, rule="1se").fit(X, y)
    halves = stability(X, y, random_state=3)
    size = chosen.model.size
    assert {n for n, r in rows.items() if r["chosen"]} == set(chosen.model.names)
    assert {n for n, r in rows.items() if r["least_error"]} == {f"x{j}" for j in least.support_}
    assert {n for n, r in rows.items() if r["one_se"]} == {f"x{j}" for j in small.support_}
    assert (content["size"], content["halves"]) == (size, 100)
    for name, row in rows.items():
        j = int(name[1:])
        assert row["frequency"] == halves.frequencies[size, j]
        assert row["same_sign"] == pytest.approx((1 + abs(halves.signs[size, j])) / 2)
        assert row["inclusion"] == chosen.posterior.inclusion_probabilities_[j]


def make_case(rng, kind):
    """Return a table, and what is asked of it."""
    X = rng.normal(size=(150, 12))
    columns = {f"x{j}": X[:, j] for j in range(12)}
    y = X[:, 0] - 0.5 * X[:, 1] + 0.2 * X[:, 2:5].sum(axis=1) + rng.normal(size=150)
    if kind == "noise":
        y = rng.normal(size=150)
    elif kind == "collinear":
        for j in range(5, 12):
            columns[f"x{j}"] = X[:, j - 5] + 0.1 * X[:, j]
    elif kind == "binomial":
        y = (y > 0).astype(float)
    elif kind == "poisson":
        y = rng.poisson(np.exp(y / 3)).astype(float)
    elif kind == "groups":
        columns["g"] = np.arange(150) // 5
    options = {
        "interactions": {"interactions": True, "heredity": "strong"},
        "groups": {"groups": "g"},
        "size": {"size": 4},
        "ridge": {"ridge": 0.3},
        "largest": {"max_size": 3},
        "binomial": {"family": "binomial"},
        "poisson": {"family": "poisson"},
    }
    return {**columns, "y": y}, options.get(kind, {})


@pytest.mark.parametrize(
    "kind",
    [
        "plain",
        "noise",
        "collinear",
        "interactions",
        "groups",
        "size",
        "ridge",
        "largest",
        "binomial",
        "poisson",
    ],
)
def test_columns_of_criteria_are_what_these_choose(rng, kind):
    columns, options = make_case(rng, kind)
    options = {"stability": False, **options}
    here = run(columns, **options).sureness
    options.pop("size", None)
    for criterion in ("cv", "1se"):
        there = run(columns, **options, criterion=criterion)
        for beside in (here, there.sureness):
            model = beside.least if criterion == "cv" else beside.one_se
            np.testing.assert_array_equal(model.coef, there.model.coef)


def test_folds_are_those_of_the_criterion_where_the_choice_is_judged_by_fewer(rng, monkeypatch):
    """A larger table is cut ten times to choose by, and fewer times to judge a cheap rule by."""
    columns, _ = make_case(rng, "plain")
    monkeypatch.setattr(_choose, "_CELLS", 4e3)
    here = run(columns, stability=False)
    assert here.judged_by == "10 folds at random, 2 times over"
    there = run(columns, stability=False, criterion="cv")
    assert here.folds == there.folds == "10 folds at random, 10 times over"
    np.testing.assert_array_equal(here.sureness.least.coef, there.model.coef)
    once = run(columns, stability=False, repeats=2)
    assert here.score.r2 == once.score.r2


def test_a_sign_that_hangs_on_others_is_told_first(diabetes):
    """EBIC's model has hdl at -1.02, that of least cross-validated error at +6.7."""
    (warning,) = diabetes.warnings
    assert warning.startswith("The sign of 'hdl' hangs on which other variables are in: -1.02 here")
    assert "+6.68 in the model of least cross-validated error" in warning


def test_what_is_shaky_is_named(diabetes):
    (words,) = diabetes.sureness.words()
    assert words.startswith("Chosen here, but on fewer than half of the halves of the rows: 'bmi:")


def test_a_posterior_that_disagrees(rng):
    """A model of six is asked for, where one variable is needed."""
    X = rng.normal(size=(100, 10))
    columns = {f"x{j}": X[:, j] for j in range(10)}
    y = X[:, 0] + rng.normal(size=100)
    chosen = run({**columns, "y": y}, size=6, posterior=True)
    text = " ".join(chosen.sureness.words())
    assert "Chosen here, but less probable than not by the posterior" in text
    assert "'x0'" not in text
    calm = run({"x0": X[:, 0], "x1": X[:, 1], "y": y + X[:, 1]}, posterior=True)
    assert calm.sureness.words() == calm.warnings == []
    none = run({**columns, "y": y}, lam=1e9, posterior=True)
    (words,) = none.sureness.words()  # nothing of halves, on which one has to be chosen
    assert words.startswith("Left out here, but probable by the posterior: 'x0' (1.00)")
    assert "x0" in [row["name"] for row in none.sureness.rows()]


def test_what_is_left_out_but_chosen_on_most_halves(rng):
    """Two that are good together, and one that is better alone, on some rows only."""
    X = rng.normal(size=(80, 3))
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    y = X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=80)
    chosen = run({**columns, "y": y}, force=("c",), size=2)
    words = " ".join(chosen.sureness.words())
    frequency = dict(zip("abc", chosen.sureness.frequencies, strict=True))
    rival = "b" if chosen.model.names == ["a", "c"] else "a"
    assert (frequency[rival] > 0.5) == (f"chosen on most halves of the rows: '{rival}'" in words)


def test_forced_features_are_not_asked_about(rng):
    X = rng.normal(size=(60, 3))
    columns = {"a": X[:, 0], "b": X[:, 1], "noise": X[:, 2]}
    y = X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=60)
    chosen = run({**columns, "y": y}, force=("noise",), posterior=True)
    assert chosen.sureness.words() == []
    row = next(r for r in chosen.sureness.rows() if r["name"] == "noise")
    assert row["forced"]
    assert row["frequency"] == 1


@pytest.mark.parametrize(
    "settings", [{"stability": False}, {"time": "t"}, {"criterion": "cv"}, {"groups": "g"}]
)
def test_with_and_without_halves(rng, settings):
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + rng.normal(size=60)
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    more = {"t": np.arange(60) * 1.5, "g": np.arange(60) % 12}
    chosen = run({**columns, "y": y, **more}, **settings)
    looked = "criterion" in settings or "groups" in settings
    assert (chosen.sureness.halves is not None) == looked
    content = summarise(chosen, "")
    assert content["sureness"]["halves"] == (100 if looked else 0)
    assert content["sureness"]["variables"][0]["name"] == "a"


def test_rows_without_weight_are_in_no_half(rng):
    X = rng.normal(size=(60, 2))
    weights = np.ones(60)
    weights[:40] = 0
    y = X[:, 0] + rng.normal(size=60)
    chosen = run({"a": X[:, 0], "b": X[:, 1], "w": weights, "y": y}, weights="w")
    assert max(half.max() for half in chosen.sureness.halves.halves) == 19
