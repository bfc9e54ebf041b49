import json

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


def test_few_columns_are_enumerated(people):
    result = ellzero("posterior", people, "--target", "score", "--drop", "school", "--json", "-")
    assert result.code == 0, result.err
    content = json.loads(result.out)
    assert (content["solver"], content["exact"]) == ("enumerate", True)
    assert "age" in content["models"][0]["variables"]


def test_what_the_prior_cannot_be(people):
    result = ellzero("posterior", people, "--target", "score", "--expected-size", 500)
    assert result.code == 1
    assert "expected_size" in result.err
