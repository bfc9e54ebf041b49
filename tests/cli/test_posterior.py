import json

import numpy as np
import pandas as pd
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
