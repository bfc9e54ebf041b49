import json

import numpy as np
import pytest

from ellzero.selection import load_model, save_model
from ellzero.selection._linear_model import LinearModel
from ellzero.selection._model_file import _checksum
from ellzero.tables import DataError, Feature, NumberColumn, Table, TextColumn


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
    path.write_text(text.replace('"version": 1', '"version": 2'), encoding="utf-8")
    with pytest.raises(DataError, match="version 2; this ellzero reads version 1"):
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
    content["sha256"] = _checksum({k: v for k, v in content.items() if k != "sha256"})
    file.write_text(json.dumps(content))
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
    content["sha256"] = _checksum({k: v for k, v in content.items() if k != "sha256"})
    file.write_text(json.dumps(content))
    absurd = load_model(file)
    codes = np.array([1, 0], dtype=np.int32)
    x = NumberColumn("x", np.array([1e8, np.nan]))
    table = Table({"x": x, "c": TextColumn("c", codes, ["u", "ü"])}, 2, "t", "")
    with pytest.raises(DataError, match=r"t: the prediction is no finite number in \d row"):
        absurd.predict_checked(table, lenient=False)
    predicted, words = absurd.predict_checked(table, lenient=True)
    assert np.isnan(predicted).any()
    assert len(words) == 1
