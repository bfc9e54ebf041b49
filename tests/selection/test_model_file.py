import json

import numpy as np
import pytest

from ellzero.selection import _model_file, load_model, save_model
from ellzero.selection._linear_model import LinearModel
from ellzero.selection._model_file import _checksum
from ellzero.tables import (
    DataError,
    DateColumn,
    DatePart,
    Feature,
    NumberColumn,
    Pool,
    Table,
    TextColumn,
)


@pytest.fixture
def model():
    return LinearModel(
        target="<y>",
        intercept=0.1 + 0.2,
        features=(
            Feature("x", "number", "x"),
            Feature("c=ü", "level", "c", "ü"),
            Feature("x (missing)", "missing", "x"),
            Feature("x:c=ü", "product", factors=(0, 1)),
        ),
        coefficients=(1 / 3, -2.0, 4.0, 1e-300),
        means=(5.0, 0.25, 0.0, 0.0),
        fills=True,
        levels={"c": ["u", "ü"]},
        facts={"rows": 3},
    )


def test_round_trip(tmp_path, model):
    save_model(model, tmp_path / "m.json")
    assert load_model(tmp_path / "m.json") == model


@pytest.fixture
def rich():
    """A model with pooled levels, and with parts of dates."""
    return LinearModel(
        target="y",
        intercept=1.0,
        features=(
            Feature("c=other", "level", "c", "other"),
            Feature("d year", "number", "d year"),
            Feature("d month=Mar", "level", "d month", "Mar"),
        ),
        coefficients=(10.0, 0.5, 100.0),
        means=(0.0, 0.0, 0.0),
        fills=False,
        levels={"c": ["a", "b", "other"], "d month": ["Jan", "Mar", "other"]},
        facts={},
        pools={"c": Pool("other", ("r", "s")), "d month": Pool("other", ("May",))},
        parts={"d year": DatePart("d", "year"), "d month": DatePart("d", "month", True)},
    )


def test_round_trip_of_pools_and_parts(tmp_path, rich):
    save_model(rich, tmp_path / "m.json")
    assert load_model(tmp_path / "m.json") == rich
    assert rich.columns == ["c", "d"]
    assert rich.texts == ["c"]
    assert rich.day_first == {"d": True}


def rows(levels, dates):
    values = np.array(dates, dtype="datetime64[s]")
    seconds = np.where(np.isnat(values), np.nan, values.astype(np.int64).astype(float))
    names = sorted(set(levels))
    codes = np.array([names.index(level) for level in levels], dtype=np.int32)
    columns = {"c": TextColumn("c", codes, names), "d": DateColumn("d", seconds)}
    return Table(columns, len(levels), "t", "")


def test_rare_and_unseen_levels_are_predicted_as_other(rich):
    table = rows(
        ["a", "r", "new", "other"], ["2000-01-05", "2000-03-05", "2001-05-05", "2002-07-05"]
    )
    words = "column 'c' has levels that the model has not seen: 'new' in 1 rows, taken as 'other'"
    assert rich.pooled_levels(table) == [words]  # of r it knows
    predicted, interval, said = rich.predict_checked(table, lenient=False)
    np.testing.assert_array_equal(predicted, [1001, 1111, 1011.5, 1012])
    assert (interval, said) == (None, [])
    assert table.columns["c"].levels == ["a", "new", "other", "r"]  # it is the caller's
    assert list(table.columns) == ["c", "d"]


def test_without_a_pool_unseen_levels_are_an_error_as_ever(rich, model):
    table = rows(["a", "r"], ["2000-01-05", "NaT"])
    with pytest.raises(DataError, match=r"t: column 'd' has 1 missing values\. With lenient"):
        rich.predict_checked(table, lenient=False)
    alone = LinearModel("y", 0.0, model.features[1:2], (1.0,), (0.0,), False, model.levels, {})
    with pytest.raises(DataError, match="has not seen: 'a', 'r' in 2 rows"):
        alone.predict_checked(table, lenient=False)
    assert alone.pooled_levels(table) == []


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (TextColumn("d", np.zeros(1, dtype=np.int32), ["soon"]), r"now \(such as 'soon'\); dates"),
        (
            TextColumn("d", np.zeros(1, dtype=np.int32), ["1"], "dates, some"),
            r"now \(dates, some\)",
        ),
        (NumberColumn("d", np.ones(1)), r"but does not now; dates are known as 2012-01-31"),
        (DateColumn("d", np.ones(1), calendar=False), "held dates when the model was fitted"),
        (NumberColumn("d", np.full(1, np.nan)), "column 'd' has 1 missing values"),
    ],
)
def test_dates_that_are_none_any_more(rich, column, words):
    table = rows(["a"], ["2000-01-05"])
    table.columns["d"] = column
    with pytest.raises(DataError, match=words):
        rich.predict_checked(table, lenient=False)


def rewrite(path, content):
    content["sha256"] = _checksum({k: v for k, v in content.items() if k != "sha256"})
    path.write_text(json.dumps(content))


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_model_of_an_older_version_is_read(tmp_path, model, version):
    path = tmp_path / "m.json"
    save_model(model, path)
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content.pop("loss") == "squared"
    assert content.pop("labels") is None
    if version < 3:
        assert content.pop("draws") is None
    if version == 1:
        assert content.pop("pools") == content.pop("parts") == {}
        assert content.pop("distances") is None
    content["version"] = version
    rewrite(path, content)
    assert load_model(path) == model
    content[{1: "pools", 2: "draws", 3: "loss"}[version]] = {}
    rewrite(path, content)
    with pytest.raises(DataError, match="fields are not those"):
        load_model(path)


def test_a_model_that_is_too_large_is_not_saved(tmp_path, model, monkeypatch):
    monkeypatch.setattr(_model_file, "_MOST_BYTES", 500)
    with pytest.raises(DataError, match="too many to be saved: leave out columns with drop"):
        save_model(model, tmp_path / "m.json")
    assert not (tmp_path / "m.json").exists()


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["pools"], [], "pools must be a table"),
        (["pools", "c"], {}, "the pooled levels of 'c' are incomplete"),
        (["pools", "c", "rare"], [1], "the pooled levels of 'c' must be texts"),
        (["pools", "c", "level"], "none", "'c' has no level 'none'"),
        (["pools", "q"], {"level": "other", "rare": []}, "'q' has no level 'other'"),
        (["distances"], {}, "distances are incomplete"),
        (["distances"], {"rows": 3, "distances": [], "shares": []}, "distances must be lists"),
        (["distances"], {"rows": 3, "distances": [1, 0], "shares": [0.5, 1]}, "must be in order"),
        (["distances"], {"rows": 0, "distances": [1], "shares": [1]}, "must be in order"),
        (["distances"], {"rows": 3, "distances": ["1"], "shares": [1]}, "a distance must be"),
        (["parts"], None, "parts must be a table"),
        (["parts", "d year"], [], "the date of 'd year' is incomplete"),
        (["parts", "d year", "column"], 1, "the column of a date must be a text"),
        (["parts", "d year", "column"], "d month", "is made of a date"),
        (["parts", "d year", "part"], "hour", "'d year' is no part of a date"),
        (["parts", "d year", "part"], [], "'d year' is no part of a date"),
        (["parts", "d month", "day_first"], "yes", "must be true, false or null"),
    ],
)
def test_pools_and_parts_are_checked(tmp_path, rich, path, value, words):
    file = tmp_path / "m.json"
    save_model(rich, file)
    content = json.loads(file.read_text(encoding="utf-8"))
    change(content, path, value)
    rewrite(file, content)
    with pytest.raises(DataError, match=words):
        load_model(file)


def test_prediction(model):
    table = Table(
        {
            "x": NumberColumn("x", np.array([7.0, np.nan])),
            "c": TextColumn("c", np.array([1, -1], dtype=np.int32), ["u", "ü"]),
        },
        2,
        "t",
        "",
    )
    expected = [
        model.intercept + 7 / 3 - 2 + 1e-300 * 2 * 0.75,
        model.intercept + 5 / 3 - 2 * 0.25 + 4,
    ]
    np.testing.assert_allclose(model.predict(table), expected)


def test_every_cut_is_noticed(tmp_path, model):
    path = tmp_path / "m.json"
    save_model(model, path)
    whole = path.read_bytes()
    for length in range(0, len(whole) - 2, 7):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError, match="not whole JSON"):
            load_model(path)


def test_every_edit_is_noticed(tmp_path, model):
    path = tmp_path / "m.json"
    save_model(model, path)
    text = path.read_text(encoding="utf-8")
    for old, new in (("0.25", "0.26"), ('"level"', '"product"'), ("true", "false"), ("ü", "u")):
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(DataError, match="has been changed since it was saved"):
            load_model(path)
    path.write_text(text.replace("ellzero-model", "other"), encoding="utf-8")
    with pytest.raises(DataError, match="is not a model saved by ellzero"):
        load_model(path)
    path.write_text(text.replace('"version": 4', '"version": 5'), encoding="utf-8")
    with pytest.raises(DataError, match="version 5; this ellzero reads versions 1 to 4"):
        load_model(path)


def change(content, path, value):
    *inner, last = path
    for key in inner:
        content = content[key]
    content[last] = value


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["intercept"], "1", "intercept must be a number"),
        (["intercept"], True, "intercept must be a number"),
        (["intercept"], 10**400, "not a valid model"),
        (["target"], 3, "target must be a text"),
        (["features"], {}, "features must be a list"),
        (["features", 0], [], "feature 0 is incomplete"),
        (["features", 0, "kind"], "code", "'code' is no kind of feature"),
        (["features", 0, "column"], "", "must name its column"),
        (["features", 3, "factors"], [0, 3], "are not features before it"),
        (["features", 3, "factors"], [-1, 0], "are not features before it"),
        (["features", 3, "factors"], [0.0, 1], "factors must be whole numbers"),
        (["features", 1, "level"], "w", "has no such level"),
        (["levels"], [], "levels must be a table"),
        (["levels", "c"], [1], "must be texts"),
        (["fills_missing"], 1, "must be true or false"),
        (["more"], 1, "fields are not those"),
    ],
)
def test_a_stranger_who_knows_the_checksum_still_has_to_send_a_model(
    tmp_path, model, path, value, words
):
    file = tmp_path / "m.json"
    save_model(model, file)
    content = json.loads(file.read_text(encoding="utf-8"))
    change(content, path, value)
    rewrite(file, content)
    with pytest.raises(DataError, match=words):
        load_model(file)


@pytest.mark.parametrize("text", ["[" * 100_000, "NaN", "null", "[]", '{"format": NaN}', "\x00"])
def test_nonsense(tmp_path, text):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(DataError, match=r"not whole JSON|not a model"):
        load_model(tmp_path / "m.json")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["features", 0, "coefficient"], 1e308),
        (["features", 3, "coefficient"], -1e308),
        (["features", 1, "mean"], -1.7e308),
        (["intercept"], 1.7e308),
    ],
)
def test_predictions_that_overflow_are_an_error(tmp_path, model, path, value):
    file = tmp_path / "m.json"
    save_model(model, file)
    content = json.loads(file.read_text(encoding="utf-8"))
    change(content, path, value)
    change(content, ["features", 1, "coefficient"], 1e308)
    rewrite(file, content)
    absurd = load_model(file)
    codes = np.array([1, 0], dtype=np.int32)
    x = NumberColumn("x", np.array([1e8, np.nan]))
    table = Table({"x": x, "c": TextColumn("c", codes, ["u", "ü"])}, 2, "t", "")
    with pytest.raises(DataError, match=r"t: the prediction is no finite number in \d row"):
        absurd.predict_checked(table, lenient=False)
    predicted, _, words = absurd.predict_checked(table, lenient=True)
    assert np.isnan(predicted).any()
    assert len(words) == 1
