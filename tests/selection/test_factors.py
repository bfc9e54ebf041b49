"""Categories that enter whole, and products that need what they are made of."""

import json

import numpy as np
import pytest

from ellzero import L0Regressor
from ellzero.report import make_report
from ellzero.selection import Settings, prepare, select, summarise
from ellzero.selection._factors import make_structure
from ellzero.tables import DataError, NumberColumn, Table, TextColumn

N = 240


def columns_of(rng, order=None, names=("a", "b", "c", "d")):
    """Two categories, of which one matters; order and names of its levels may be others."""
    codes = rng.integers(0, 4, N)
    other = rng.integers(0, 3, N)
    x, z = rng.normal(size=(2, N))
    effect = np.array([0.0, 1.0, -1.0, 0.5])[codes]
    y = effect + x + 0.6 * x * z + 0.5 * rng.normal(size=N)
    order = list(range(4)) if order is None else order
    places = np.argsort(order)[codes].astype(np.int32)
    columns = {
        "place": TextColumn("place", places, [names[k] for k in order]),
        "kind": TextColumn("kind", other.astype(np.int32), ["k", "l", "m"]),
        "x": NumberColumn("x", x),
        "z": NumberColumn("z", z),
        "y": NumberColumn("y", y),
    }
    return Table(columns, N, "t.csv", "0" * 64)


def run(seed=0, order=None, names=("a", "b", "c", "d"), **asked):
    settings = Settings("y", **asked)
    table = columns_of(np.random.default_rng(seed), order, names)
    return select(prepare(table, settings), settings)


def test_a_category_is_one_variable():
    chosen = run()
    assert chosen.model.groups == ["place", "x"]
    assert chosen.model.size == 2
    assert chosen.model.df.tolist() == [3, 1]
    content = summarise(chosen, "")
    place = next(v for v in content["model"]["variables"] if v["name"] == "place")
    assert place["coefficient"] is None
    assert place["df"] == 3
    assert [f["name"].partition("=")[0] for f in place["features"]] == ["place"] * 3
    assert place["reference"] == chosen.plan.references["place"]
    assert content["data"]["variables"] == 4
    assert content["data"]["features"] == 7
    json.dumps(content, allow_nan=False)
    # The size of what its levels add, in standard deviations of the target
    columns = [j for j, f in enumerate(chosen.plan.features.features) if f.column == "place"]
    X = chosen.plan.features.build(chosen.data.table, None, np.zeros(7))
    part = X[:, columns] @ chosen.model.coef[columns]
    assert place["standardised"] == pytest.approx(part.std() / chosen.data.y.std(), rel=1e-9)


def test_the_estimator_finds_the_same():
    chosen = run()
    X = chosen.plan.features.build(chosen.data.table, None, np.zeros(7))
    labels = [f.column for f in chosen.plan.features.features]
    same = L0Regressor(feature_groups=labels).fit(X, chosen.data.y)
    np.testing.assert_allclose(chosen.model.coef, same.coef_, rtol=1e-9)
    lost = {v["name"]: v["r2_lost"] for v in summarise(chosen, "")["model"]["variables"]}
    rows = same.summary()["r2_lost"].dropna()
    assert {group: value for (group, _), value in rows.items()} == pytest.approx(lost)


def test_the_reference_and_the_order_of_levels_do_not_matter():
    first = run()
    others = [run(order=[2, 0, 3, 1]), run(names=("zz", "b", "a", "d"), order=[3, 1, 0, 2])]
    for other in others:
        np.testing.assert_allclose(other.fitted, first.fitted, atol=1e-9)
        assert other.model.groups == first.model.groups
        assert other.score.error == pytest.approx(first.score.error, rel=1e-9)
        assert summarise(other, "")["model"]["variables"][0]["r2_lost"] == pytest.approx(
            summarise(first, "")["model"]["variables"][0]["r2_lost"], rel=1e-9
        )


def test_levels_can_enter_one_by_one():
    chosen = run(levels=True)
    assert chosen.model.size == chosen.model.support.size
    assert len(chosen.variables) == 7
    content = summarise(chosen, "")
    assert content["data"]["variables"] == content["data"]["features"] == 7
    assert all(not v["features"] for v in content["model"]["variables"])


def test_sizes_count_variables():
    assert run(size=3).model.size == 3
    with pytest.raises(DataError, match="size=5, but there are 4 variables"):
        run(size=5)
    forced = run(size=2, force=("kind",))
    assert "kind" in forced.model.groups
    assert [v["name"] for v in forced.sureness.rows() if v["forced"]] == ["kind"]
    with pytest.raises(DataError, match="size=0, but force names 1 variable"):
        run(size=0, force=("kind=l",))


@pytest.mark.parametrize("heredity", ["strong", "weak"])
def test_products_need_what_they_are_made_of(heredity):
    chosen = run(interactions=True, heredity=heredity, seed=1)
    assert "x:z" in chosen.model.groups
    parents = {"x:z": ("x", "z"), "place:x": ("place", "x"), "x^2": ("x",), "z^2": ("z",)}
    need = all if heredity == "strong" else any
    for step in summarise(chosen, "")["path"]:
        names = {v["name"] for v in step["variables"]}
        for product, of in parents.items():
            assert product not in names or need(parent in names for parent in of)
    # In the user's own names, categories whole
    assert {"place:kind", "place:x", "kind:z"} <= set(chosen.variables.names)
    by_levels = run(interactions=True, heredity=heredity, levels=True, size=4)
    assert by_levels.model.size == 4


def test_heredity_is_about_products():
    with pytest.raises(DataError, match="heredity is about products: it needs interactions"):
        run(heredity="strong")


@pytest.mark.parametrize("criterion", ["cv", "1se", "bic", "ric"])
def test_every_rule_knows_categories(criterion):
    chosen = run(criterion=criterion, folds=4, repeats=2)
    assert {"place", "x"} <= set(chosen.model.groups)
    assert chosen.score.r2 > 0.5
    assert chosen.sureness.one_se is not None
    assert (chosen.curve is not None) == (criterion in ("cv", "1se"))


def test_a_price_of_a_variable():
    whole = run(lam=5.0)
    assert whole.lam == 5.0
    low, high = whole.model.interval
    assert low <= 5 <= high


def test_nothing_in_noise():
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(20):
        codes = rng.integers(0, 8, 100).astype(np.int32)
        columns = {
            "c": TextColumn("c", codes, list("abcdefgh")),
            "d": TextColumn("d", rng.permutation(codes), list("abcdefgh")),
            "x": NumberColumn("x", rng.normal(size=100)),
            "y": NumberColumn("y", rng.normal(size=100)),
        }
        settings = Settings("y", stability=False, folds=3, repeats=1, rare=0)
        found += select(prepare(Table(columns, 100, "t", "0"), settings), settings).model.size
    assert found <= 2


def test_what_others_say_is_by_variable():
    rows = run().sureness.rows()
    place = next(row for row in rows if row["name"] == "place")
    assert place["frequency"] == 1
    assert np.isnan(place["same_sign"])
    assert next(row for row in rows if row["name"] == "x")["same_sign"] == 1


def test_products_are_named_after_their_columns():
    table = columns_of(np.random.default_rng(0))
    settings = Settings("y", interactions=True)
    features = prepare(table, settings).plan.features.features
    structure = make_structure(features, settings)
    assert {"place", "kind", "x", "z", "x^2", "place:kind", "place:x"} <= set(
        structure.feature_groups
    )
    assert len(structure.feature_groups) == len(features)


def test_names_that_look_like_others_stay_apart():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 60).astype(np.int32)
    columns = {
        "a": TextColumn("a", codes, ["u", "v", "w"]),
        "b": NumberColumn("b", rng.normal(size=60)),
        "a:b": NumberColumn("a:b", rng.normal(size=60)),
        "y": NumberColumn("y", rng.normal(size=60)),
    }
    settings = Settings("y", interactions=True, heredity="strong")
    chosen = select(prepare(Table(columns, 60, "t", "0"), settings), settings)
    names = chosen.variables.names
    assert len(set(names)) == len(names)
    assert "a:b" in names
    assert "a:b (all)" in names


def test_the_report_has_levels_under_their_category():
    chosen = run(interactions=True)
    page = make_report(chosen, summarise(chosen, ""))
    assert '<tr class="part"><td class="name">place=' in page
    assert "A category is one variable, in or out whole" in page
