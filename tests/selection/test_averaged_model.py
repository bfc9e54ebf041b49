"""The average over the models of a posterior, as a model that is saved and predicts."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest

from ellzero.selection import (
    Settings,
    _kept_draws,
    _linear_model,
    load_model,
    prepare,
    save_model,
)
from ellzero.selection._feature_matrix import make_feature_matrix
from ellzero.selection._kept_draws import KeptDraws, keep_draws
from ellzero.selection._linear_model import LinearModel
from ellzero.selection._model_file import _checksum
from ellzero.selection._posterior import average_models, fit_posterior
from ellzero.tables import DataError, NumberColumn, Table, read_table

N = 300
QUICK = {"n_chains": 2, "n_draws": 150}


@pytest.fixture
def path(tmp_path, rng):
    """Numbers with gaps, a category with rare levels and gaps, and dates of one country."""
    days = np.datetime64("2015-01-01") + rng.permutation(1400)[:N]
    x, z = rng.normal(1e3, 1, size=(2, N)).round(3)
    place = rng.random(N)
    cities = [
        "Oslo" if p < 0.5 else "Rome" if p < 0.8 else f"Village {i}" for i, p in enumerate(place)
    ]
    rare = np.array([city.startswith("V") for city in cities])
    y = x + 2 * rare + (x - 1e3) * (z - 1e3) + rng.normal(size=N)
    gaps = rng.random((3, N)) < 0.05
    written = [f"{d.day}/{d.month}/{d.year}" for d in days.tolist()]
    columns = [
        np.where(gaps[0], "", x.astype(str)),
        np.where(gaps[1], "", z.astype(str)),
        np.where(gaps[2], "", cities),
        written,
        y.round(4).astype(str),
    ]
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(["x,z,city,day,y", *map(",".join, zip(*columns, strict=True))]))
    return path


def fit(table, parameters=QUICK, **asked):
    """Return the posterior, the features of the rows, and the model that is its average."""
    settings = Settings("y", **asked)
    data = prepare(table, settings)
    matrix = make_feature_matrix(data, settings, lambda words: None)
    posterior = fit_posterior(matrix, data, settings, **parameters)
    X = pd.DataFrame(matrix.X, columns=matrix.names)
    return posterior, X, average_models(posterior, matrix, data, "y")


def again(model, folder):
    save_model(model, folder / "m.json")
    return load_model(folder / "m.json")


@pytest.mark.parametrize(
    "asked",
    [
        {"missing": "mean"},
        {"missing": "indicator", "interactions": True, "dates": "parts"},
        {"missing": "drop", "interactions": True, "rare": 0, "drop": ["city"]},
    ],
)
@pytest.mark.filterwarnings("ignore:Chains of SpikeSlabRegressor")
def test_it_predicts_as_the_posterior_does(path, tmp_path, asked):
    dropped = {"drop": asked.pop("drop")} if "drop" in asked else {}
    posterior, X, model = fit(read_table(path, **dropped), **asked)
    model = again(model, tmp_path)
    new = read_table(path, only=model.columns, text=model.texts, day_first=model.day_first)
    mean, interval, words = model.predict_checked(new, lenient=True, level=0.8)
    known = ~np.isnan(mean)
    assert known.sum() == len(X)
    assert (words == []) == (asked["missing"] != "drop")
    np.testing.assert_allclose(mean[known], posterior.predict(X), rtol=1e-9)
    expected = posterior.predict_interval(X, 0.8)  # all draws are kept: they are few
    np.testing.assert_allclose(np.array(interval)[:, known], expected, rtol=1e-9)
    assert np.isnan(np.array(interval)[:, ~known]).all()


@pytest.fixture
def table(rng):
    X = rng.normal(size=(80, 4))
    columns = {f"x{j}": NumberColumn(f"x{j}", X[:, j].copy()) for j in range(4)}
    y = X[:, 0] + 0.3 * X[:, 1] + rng.normal(size=80)
    return Table({**columns, "y": NumberColumn("y", y)}, 80, "t", "")


EVERY = set(product(["gaussian", "laplace", "zellner", "boom"], ["enumerate", "gibbs", "tempered"]))


@pytest.mark.parametrize(("slab", "solver"), sorted(EVERY - {("laplace", "enumerate")}))
def test_every_slab_and_solver(table, tmp_path, slab, solver):
    posterior, X, model = fit(table, {**QUICK, "slab": slab, "solver": solver})
    assert again(model, tmp_path) == model
    np.testing.assert_allclose(model.predict(table), posterior.predict(X), rtol=1e-9)
    found = model.predict_interval(table, 0.9)
    np.testing.assert_allclose(found, posterior.predict_interval(X, 0.9), rtol=1e-9)
    assert model.facts["slab"] == slab


def test_weights_are_heard(table):
    table.columns["w"] = NumberColumn("w", np.arange(80.0) % 3)
    posterior, X, model = fit(table, weights="w", frequency=True)
    found = model.predict_interval(table, 0.9)
    np.testing.assert_allclose(found, posterior.predict_interval(X, 0.9), rtol=1e-9)


def test_some_of_many_draws_are_kept(table, monkeypatch):
    posterior, X, model = fit(table, {"n_draws": 1000})
    assert len(model.draws.sizes) == 1000
    found, exact = model.predict_interval(table, 0.9), posterior.predict_interval(X, 0.9)
    np.testing.assert_allclose(found, exact, atol=0.05)
    assert keep_draws(posterior) == keep_draws(posterior)
    monkeypatch.setattr(_kept_draws, "_MOST_COEFFICIENTS", 400)
    few = keep_draws(posterior)
    assert 100 < len(few.sizes) < 400
    assert sum(few.sizes) == pytest.approx(400, rel=0.15)
    monkeypatch.setattr(_kept_draws, "_MOST_COEFFICIENTS", 10)
    assert len(keep_draws(posterior).sizes) == 100


def test_rows_are_taken_some_at_a_time(table, monkeypatch):
    _, _, model = fit(table, interactions=True)
    mean, bounds = model.predict(table), model.predict_interval(table, 0.9)
    monkeypatch.setattr(_linear_model, "_BLOCK", 100)
    np.testing.assert_allclose(model.predict(table), mean, rtol=1e-12)
    np.testing.assert_allclose(model.predict_interval(table, 0.9), bounds, rtol=1e-12)


def test_nothing_is_ever_in(table, tmp_path):
    draws = KeptDraws((0, 0), (), (), (1.0, 1.0), (2.0, 2.0))
    model = again(LinearModel("y", 1.0, (), (), (), False, {}, {}, draws=draws), tmp_path)
    assert model.columns == []
    mean, (lower, upper), words = model.predict_checked(table, lenient=False, level=0.9)
    np.testing.assert_array_equal(mean, np.ones(80))
    np.testing.assert_allclose([lower[0], upper[-1]], [1 - 3.2897, 1 + 3.2897], atol=1e-4)
    assert words == []


def test_nothing_may_be_in(table, tmp_path):
    posterior, X, model = fit(table, {**QUICK, "theta": 0.0})
    model = again(model, tmp_path)
    assert model.features == ()
    np.testing.assert_allclose(model.predict(table), posterior.predict(X))
    found = model.predict_interval(table, 0.9)
    np.testing.assert_allclose(found, posterior.predict_interval(X, 0.9))


def test_numbers_that_are_too_large(table):
    _, _, model = fit(table)
    table.columns["x0"].values[[3, 7]] = 1e308
    table.columns["x1"].values[3] = 1e308
    with pytest.raises(DataError, match="the prediction is no finite number in"):
        model.predict_checked(table, lenient=False, level=0.9)
    mean, (lower, _), words = model.predict_checked(table, lenient=True, level=0.9)
    assert np.isnan(mean[3])
    assert np.isnan(lower[3])
    assert len(words) == 1


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, np.nan])
def test_levels_that_can_not_be(table, level):
    _, _, model = fit(table)
    with pytest.raises(DataError, match="must be between 0 and 1"):
        model.predict_interval(table, level)


DRAWS = {
    "sizes": [2, 0, 1],
    "places": [0, 1, 1],
    "coefficients": [1.0, 2.0, 3.0],
    "intercepts": [0.0, 1.0, 2.0],
    "deviations": [1.0, 1.0, 0.0],
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, None),
        ({"more": []}, "draws are incomplete"),
        ({"sizes": 3}, "draws must be lists"),
        ({"sizes": [2, 0, 2]}, "do not fit together"),
        ({"sizes": [4, -1, 0]}, "must be whole numbers"),
        ({"sizes": [2.0, 0, 1]}, "must be whole numbers"),
        ({"sizes": [True, 1, 1]}, "must be whole numbers"),
        ({"sizes": [2, 10**400, 1]}, "do not fit together"),
        ({"sizes": [3]}, "do not fit together"),
        ({"sizes": [], "places": [], "coefficients": []}, "do not fit together"),
        ({"places": [0, 2, 1]}, "must be those of features, in order"),
        ({"places": [1, 0, 1]}, "must be those of features, in order"),
        ({"places": [0, 0, 1]}, "must be those of features, in order"),
        ({"places": [0, -1, 1]}, "must be whole numbers"),
        ({"places": [0, 10**400, 1]}, "must be those of features, in order"),
        ({"places": ["0", 1, 1]}, "must be whole numbers"),
        ({"coefficients": [1.0, 2.0]}, "do not fit together"),
        ({"coefficients": [1.0, "2", 3.0]}, "each of the coefficients of draws must be a number"),
        ({"coefficients": [1.0, 10**400, 3.0]}, "not a valid model"),
        ({"intercepts": [0.0, None, 0.0]}, "each of the intercepts of draws must be a number"),
        ({"intercepts": [0.0]}, "do not fit together"),
        ({"deviations": [1.0, 1.0, -1.0]}, "must not be negative"),
        ({"deviations": [[], 1.0, 1.0]}, "each of the deviations of draws must be a number"),
    ],
)
def test_draws_are_checked(table, tmp_path, change, words):
    _, _, model = fit(table)
    save_model(model, tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text())
    content["features"] = content["features"][:2]
    content["draws"] = {**DRAWS, **change}
    check(tmp_path / "m.json", content, words)


def test_draws_are_no_list_and_stand_alone(table, tmp_path):
    _, _, model = fit(table)
    save_model(model, tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text())
    check(tmp_path / "m.json", {**content, "draws": []}, "draws are incomplete")
    distances = {"rows": 1, "distances": [1], "shares": [1]}
    check(tmp_path / "m.json", {**content, "distances": distances}, "exclude each other")


def check(path, content, words):
    del content["sha256"]
    path.write_text(json.dumps({**content, "sha256": _checksum(content)}))
    if words is None:
        assert load_model(path).draws == KeptDraws(**{k: tuple(v) for k, v in DRAWS.items()})
    else:
        with pytest.raises(DataError, match=words):
            load_model(path)


def test_every_edit_is_noticed(table, tmp_path):
    _, _, model = fit(table)
    path = tmp_path / "m.json"
    save_model(model, path)
    text = path.read_text()
    value = repr(model.draws.deviations[7])
    assert value in text
    path.write_text(text.replace(value, value[:-1], 1))
    with pytest.raises(DataError, match="has been changed since it was saved"):
        load_model(path)
