import json

import numpy as np
import pandas as pd
import pytest
from command import ellzero


def test_posterior(people, tmp_path):
    result = ellzero(
        "posterior", people, "--target", "score", "--draws", 200, "--chains", 2, "--slab",
        "gaussian", "--solver", "gibbs", "--expected-size", 2, "--json", tmp_path / "p.json",
        "--seed", 1,
    )  # fmt: skip
    assert result.code == 0, result.err
    assert "400 draws" in result.out
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
     ["--save", "m.json"]],
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
