import json

import numpy as np
import pandas as pd
import pytest
from command import ellzero, started
from patience import wait_until

from ellzero import SpikeSlabRegressor


def test_posterior(people, tmp_path):
    result = ellzero(
        "posterior", people, "--target", "score", "--draws", 200, "--chains", 2, "--slab",
        "gaussian", "--solver", "gibbs", "--expected-size", 2, "--json", tmp_path / "p.json",
        "--seed", 1, "--report", tmp_path / "p.html",
    )  # fmt: skip
    assert result.code == 0, result.err
    assert "400 draws" in result.out
    assert str(tmp_path / "p.html") in result.out.replace("\n", "")
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "What matters for score" in page
    assert "By 400 draws of 2 chains" in page
    content = json.loads((tmp_path / "p.json").read_text())
    first = content["variables"][0]
    assert (first["name"], first["inclusion"] > 0.99) == ("age", True)
    assert content["data"]["rows"] == 120
    moved = content["sensitivity"]
    assert (moved["expected_size"], moved["half"], moved["twice"]) == (2, 1, 4)
    assert moved["size_half"] <= moved["size_twice"]
    assert moved["sentence"] in " ".join(result.out.split())


def test_few_columns_are_enumerated(people):
    result = ellzero("posterior", people, "--target", "score", "--drop", "school", "--json", "-")
    assert result.code == 0, result.err
    content = json.loads(result.out)
    assert (content["solver"], content["exact"]) == ("enumerate", True)
    assert "age" in content["models"][0]["variables"]
    assert content["sensitivity"]["ess"] is None  # exact
    assert 0 <= content["sensitivity"]["move"] <= 1


def test_draws_that_are_too_few_to_say(people):
    result = ellzero(
        "posterior", people, "--target", "score", "--draws", 20, "--chains", 2, "--solver", "gibbs",
        "--json", "-",
    )  # fmt: skip
    assert result.code == 0, result.err
    moved = json.loads(result.out)["sensitivity"]
    assert (moved["size_half"], moved["move"], moved["variable"]) == (None, None, None)
    assert "these draws do not say" in moved["sentence"]


def test_scale_prior(people):
    def sizes(name):
        run = ellzero(
            "posterior", people, "--target", "score", "--scale-prior", name, "--json", "-"
        )
        assert run.code == 0, run.err
        return json.loads(run.out)["size"]

    assert sizes("prediction") > sizes("selection")


def test_what_the_prior_cannot_be(people):
    result = ellzero("posterior", people, "--target", "score", "--expected-size", 500)
    assert result.code == 1
    assert "expected_size" in result.err


def test_sets_say_which_of_them_are_in_together(tmp_path):
    rng = np.random.default_rng(2)
    shared, effect = rng.normal(size=(2, 300)) * [[0.5], [1.0]]
    frame = pd.DataFrame({"with": shared + 0.6 * effect, "without": shared - 0.6 * effect})
    frame["effect"] = effect + 0.25 * rng.normal(size=300)
    frame["y"] = 0.5 * effect + rng.normal(size=300)
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = ellzero(
        "posterior", tmp_path / "t.csv", "--target", "y", "--expected-size", 1,
        "--json", tmp_path / "p.json",
    )  # fmt: skip
    assert result.code == 0, result.err
    (found,) = json.loads((tmp_path / "p.json").read_text())["credible_sets"]
    assert sorted(found["variables"]) == ["effect", "with", "without"]
    assert [sorted(group) for group in found["together"]] == [["with", "without"]]
    assert 0 < found["purity"] < 0.9
    assert f"{' and '.join(found['together'][0])} usually together" in result.out


SAVED = ("--draws", 200, "--chains", 2, "--missing", "mean", "--dates", "parts", "--seed", 3)


@pytest.fixture(scope="module")
def model(people, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "average.json"
    result = ellzero("posterior", people, "--target", "score", "--save", path, *SAVED)
    assert result.code == 0, result.err
    assert f"The average over all models is in {path}" in result.out
    assert "Note: --scale-prior prediction usually predicts a little better" in result.err
    return path


def test_the_average_predicts(model, people):
    result = ellzero("predict", model, people)
    assert result.code == 0, result.err
    assert "Note: predictions are the average over all models" in result.err
    assert "the table has 'score' too: root mean squared error" in result.err
    header, *rows = result.out.splitlines()
    truth = pd.read_csv(people)["score"]
    assert header == "prediction"
    assert np.corrcoef(truth, [float(row) for row in rows])[0, 1] > 0.95
    assert ellzero("predict", model, people, "-q").err == ""


def test_intervals_of_the_average(model, people):
    result = ellzero("predict", model, people, "--interval", 0.9)
    assert result.code == 0, result.err
    assert result.out == ellzero("predict", model, people, "--interval", 0.9).out
    header, *rows = result.out.splitlines()
    assert header == "prediction,lower,upper"
    mean, lower, upper = np.array([row.split(",") for row in rows], dtype=float).T
    assert (lower < mean).all()
    assert (mean < upper).all()
    assert len(set((upper - lower).round(9))) > 100  # each row has its own
    truth = pd.read_csv(people)["score"]
    assert 0.85 < np.mean((lower <= truth) & (truth <= upper)) < 1


def test_the_same_command_saves_the_same_bytes(model, people, tmp_path):
    again = tmp_path / "again.json"
    result = ellzero("posterior", people, "--target", "score", "--save", again, *SAVED, "-q")
    assert (result.code, result.out, result.err) == (0, "", "")
    assert again.read_bytes() == model.read_bytes()
    content = json.loads(again.read_text())
    assert (content["version"], content["distances"]) == (4, None)
    assert content["fit"]["draws"] == len(content["draws"]["sizes"]) == 400


def test_rows_that_the_average_can_not_predict(model, people, tmp_path):
    frame = pd.read_csv(people).head(3)
    frame["city"] = ["Rome", "Atlantis", None]
    frame.to_csv(tmp_path / "new.csv", index=False)
    result = ellzero("predict", model, tmp_path / "new.csv", "--interval", 0.5)
    assert (result.code, result.out) == (1, "")
    assert "has not seen: 'Atlantis' in 1 rows. With --lenient such rows" in result.err
    result = ellzero("predict", model, tmp_path / "new.csv", "--interval", 0.5, "--lenient")
    _, first, second, third = result.out.splitlines()
    assert (second, first.count("."), third.count(".")) == (",,", 3, 3)
    assert "'Atlantis' in 1 rows: no prediction there" in result.err


def test_where_the_average_goes(people, tmp_path):
    result = ellzero("posterior", people, "--target", "score", "--save", people)
    assert (result.code, result.out) == (2, "")
    assert "--save is TABLE" in result.err
    result = ellzero("posterior", people, "--target", "score", "--save", "-", "--json", "-")
    assert result.code == 2
    assert "--json and --save can't both be standard output" in result.err
    result = ellzero(
        "posterior", people, "--target", "score", "--slab", "zellner", "--save", "-", *SAVED
    )
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out)["fit"]["slab"] == "zellner"


def test_a_prior_that_is_no_worse_gets_no_advice(people, tmp_path):
    for option in (("--slab", "boom", "--levels"), ("--scale-prior", "prediction")):
        save = tmp_path / "m.json"
        result = ellzero("posterior", people, "--target", "score", *option, "--save", save, *SAVED)
        assert result.code == 0, result.err
        assert "usually predicts" not in result.err


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(rng.normal(size=(150, 3)), columns=["dose", "age", "noise"])
    odds = np.exp(1.6 * frame["dose"] - 0.5)
    frame["back"] = np.where(rng.random(150) < odds / (1 + odds), "yes", "no")
    frame["times"] = rng.integers(1, 4, 150)
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    frame.to_csv(path, index=False)
    return path


def test_a_binary_target(visits, tmp_path):
    asked = ["posterior", visits, "--target", "back", "--drop", "times"]
    result = ellzero(*asked, "--json", tmp_path / "p.json")
    assert result.code == 0, result.err
    assert "all models visited" in result.out
    assert "Coefficients are changes of the log-odds of 'yes'" in result.out
    content = json.loads((tmp_path / "p.json").read_text())
    first = content["variables"][0]
    assert (first["name"], first["inclusion"] > 0.99, content["labels"]) == (
        "dose", True, ["no", "yes"],
    )  # fmt: skip
    assert first["odds_ratio"] == pytest.approx(np.exp(first["coefficient"]))
    drawn = ellzero(*asked, "--solver", "gibbs", "--draws", 100, "--chains", 2)
    assert "200 draws" in drawn.out


def test_weights_of_a_binary_target_are_counts(visits):
    asked = ["posterior", visits, "--target", "back", "--weights", "times"]
    counted = ellzero(*asked, "--frequency", "--json", "-")
    assert counted.code == 0, counted.err
    assert json.loads(counted.out)["variables"][0]["name"] == "dose"
    result = ellzero(*asked)
    assert result.code == 1
    assert "--weights must be whole numbers of them, with --frequency" in result.err


@pytest.mark.parametrize(
    "extra",
    [["--slab", "laplace"], ["--scale-prior", "prediction"], ["--solver", "tempered"],
     ["--noise", "student"], ["--save", "m.json"], ["--flat", "dose"]],
)  # fmt: skip
def test_what_two_classes_do_not_have(visits, extra):
    result = ellzero("posterior", visits, "--target", "back", *extra)
    assert result.code == 2
    assert f"{extra[0]}" in result.err
    assert "is for targets that are numbers" in result.err


def test_two_numbers_by_least_squares(people):
    result = ellzero(
        "posterior", people, "--target", "smoker", "--family", "gaussian", "--json", "-"
    )
    assert result.code == 0, result.err
    assert "labels" not in json.loads(result.out)


def test_categories_of_a_binary_target_are_whole(people):
    asked = ["posterior", people, "--target", "smoker", "--json", "-", "--draws", "100"]
    result = ellzero(*asked)
    assert result.code == 0, result.err
    variables = {variable["name"]: variable for variable in json.loads(result.out)["variables"]}
    assert {"city=Oslo", "city=Rome"} & {f["name"] for f in variables["city"]["features"]}
    by_levels = ellzero(*asked, "--levels")
    names = [variable["name"] for variable in json.loads(by_levels.out)["variables"]]
    assert {"city=Oslo", "city=Rome"} & set(names)
    strong = ellzero(*asked, "--interactions", "--heredity", "strong")
    assert strong.code == 0, strong.err
    refused = ellzero(*asked, "--solver", "enumerate")
    assert refused.code == 1
    assert "--solver enumerate knows single features only: --levels makes them so" in refused.err


def test_flat_columns(people, tmp_path):
    # A category and an identifier, in every model whatever they are worth
    result = ellzero(
        "posterior", people, "--target", "score", "--flat", "city", "--flat", "id", "--drop",
        "school", "--json", tmp_path / "p.json", "--save", tmp_path / "m.json",
    )  # fmt: skip
    assert result.code == 0, result.err
    content = json.loads((tmp_path / "p.json").read_text())
    rows = {row["name"]: row for row in content["variables"]}
    assert rows["city"]["inclusion"] == rows["id"]["inclusion"] == 1
    assert {"city", "id", "age"} <= set(content["models"][0]["variables"])
    assert not {"city", "id"} & {name for s in content["credible_sets"] for name in s["variables"]}
    predicted = ellzero("predict", tmp_path / "m.json", people)
    assert predicted.code == 0, predicted.err
    values = [float(row) for row in predicted.out.splitlines()[1:]]
    assert np.corrcoef(pd.read_csv(people)["score"], values)[0, 1] > 0.95


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--flat", "moon"], "--flat names 'moon', which is not among the features"),
        (["--flat", "planet"], "--flat: column 'planet' can't be used"),
        (["--flat", "age", "--force", "age"], "--flat and --force both name 'age'"),
    ],
)
def test_bad_flat_columns(people, options, message):
    result = ellzero("posterior", people, "--target", "score", *options)
    assert result.code != 0
    assert message in " ".join(result.err.split())


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory):
    """A table of which every eighth row is far out."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.normal(size=(120, 4)), columns=["dose", "age", "weight", "noise"])
    frame["score"] = frame["dose"] - frame["age"] + 0.5 * rng.normal(size=120)
    frame.loc[::8, "score"] += 50 * rng.choice([-1, 1], 15)
    path = tmp_path_factory.mktemp("spoilt") / "spoilt.csv"
    frame.to_csv(path, index=False)
    return path


def test_student_noise(spoilt, tmp_path):
    asked = ["posterior", spoilt, "--target", "score", "--draws", 200, "--chains", 2]
    result = ellzero(*asked, "--noise", "student", "--json", "-")
    assert result.code == 0, result.err
    inclusion = {v["name"]: v["inclusion"] for v in json.loads(result.out)["variables"]}
    assert min(inclusion["dose"], inclusion["age"]) > 0.99
    save = tmp_path / "m.json"
    result = ellzero(*asked, "--noise", "student", "--noise-df", 3, "--save", save)
    assert result.code == 0, result.err
    content = json.loads(save.read_text())
    assert content["fit"]["noise"] == "student"
    assert set(content["draws"]["degrees"]) == {3.0}
    result = ellzero("predict", save, spoilt, "--interval", 0.8)
    assert result.code == 0, result.err
    rows = np.array([[float(cell) for cell in row.split(",")] for row in result.out.split()[1:]])
    truth = pd.read_csv(spoilt)["score"].to_numpy()
    # Fifteen rows are far out; the interval is not for these
    near = np.arange(120) % 8 != 0
    assert 0.75 < np.mean((rows[near, 1] <= truth[near]) & (truth[near] <= rows[near, 2])) <= 1
    assert np.median(rows[:, 2] - rows[:, 1]) < 6


def test_what_student_noise_is_not_for(spoilt, people):
    asked = ["posterior", spoilt, "--target", "score"]
    result = ellzero(*asked, "--noise-df", 3)
    assert (result.code, "--noise-df is for --noise student" in result.err) == (2, True)
    result = ellzero(*asked, "--noise", "student", "--noise-df", 0.5)
    assert (result.code, "--noise-df must be from 1 to 1e6" in result.err) == (2, True)
    result = ellzero(*asked, "--noise", "student", "--flat", "age")
    assert (result.code, "--flat is for --noise gaussian" in result.err) == (2, True)
    result = ellzero("posterior", people, "--target", "score", "--noise", "student")
    assert result.code == 1
    assert "--noise student knows single features only: --levels makes them so" in result.err


def test_a_command_that_is_killed_goes_on(people, tmp_path):
    checkpoint, out = tmp_path / "run", tmp_path / "p.json"
    command = ["posterior", people, "--target", "score", "--solver", "gibbs", "--draws", 2500]
    for _ in range(10):  # it may be done before we notice
        with started(*command, "--checkpoint", checkpoint) as process:
            wait_until(lambda: checkpoint.exists() or process.poll() is not None, "a checkpoint")
            process.kill()
        if checkpoint.exists():
            break
    assert checkpoint.exists()
    # Of other draws
    other = ellzero(*command, "--seed", 5, "--checkpoint", checkpoint)
    assert other.code == 1
    assert "Error: --checkpoint: " in other.err
    assert "belongs to another run, its random_state is another" in other.err
    results = []
    for more in (["--checkpoint", checkpoint], []):
        run = ellzero(*command, "--json", out, *more)
        assert run.code == 0, run.err
        results.append({**json.loads(out.read_text()), "command": ""})
    assert results[0] == results[1]
    assert not checkpoint.exists()


def test_the_fitted_posterior_is_written(people, tmp_path):
    path = tmp_path / "fit.npz"
    run = ellzero("posterior", people, "--target", "score", "--draws", 50, "--fit", path)
    assert run.code == 0, run.err
    assert "fit.npz, for SpikeSlabRegressor.load" in run.out
    loaded = SpikeSlabRegressor.load(path)
    assert loaded.draws_.n_draws == 50
    assert "age" in loaded.summary().index.get_level_values(0)


@pytest.mark.parametrize("option", ["--fit", "--checkpoint"])
def test_files_that_are_none(option, people, tmp_path):
    run = ellzero("posterior", people, "--target", "score", option, "-")
    assert (run.code, f"{option} must name a file" in run.err) == (2, True)
    run = ellzero("posterior", people, "--target", "score", option, tmp_path / "no" / "file")
    assert (run.code, "there is no directory" in run.err) == (2, True)
    run = ellzero("posterior", people, "--target", "score", option, people)
    assert (run.code, "it would be written over" in run.err) == (2, True)
