"""Targets that are binary or counts."""

import csv
import json
import re

import numpy as np
import pandas as pd
import pytest
from command import ellzero


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    """200 patients: whether they came back, how often, and what may have to do with it."""
    rng = np.random.default_rng(8)
    n = 200
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 10, n).round(1),
            "dose": rng.normal(3, 1, n).round(2),
            "ward": rng.choice(["north", "south", "west"], n),
            "noise": rng.normal(size=n).round(3),
        }
    )
    eta = 0.2 * (frame["age"] - 50) - 1.5 * (frame["dose"] - 3)
    frame["back"] = np.where(rng.random(n) < 1 / (1 + np.exp(-eta)), "yes", "no, never")
    frame["visits"] = rng.poisson(np.exp(0.5 + 0.4 * (frame["dose"] - 3)))
    path = tmp_path_factory.mktemp("patients") / "patients.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def chosen(patients):
    folder = patients.parent
    outputs = ["--json", folder / "back.json", "--save", folder / "model.json"]
    outputs += ["--report", folder / "back.html"]
    result = ellzero("select", patients, "--target", "back", "--drop", "visits", *outputs)
    assert result.code == 0, result.err
    return result, json.loads((folder / "back.json").read_text()), folder


def test_a_binary_target_is_classified_and_says_so(chosen):
    result, content, _ = chosen
    assert "the log-odds of yes are modelled, by logistic regression" in result.err
    assert "--family gaussian is least squares" in result.err
    assert re.search(r"\d of 4 variables predict 'back': cross-validated D²", result.out)
    assert "odds ratio per unit" in result.out
    assert "area under the ROC" in result.out
    assert "--posterior" not in result.out
    names = [variable["name"] for variable in content["model"]["variables"]]
    assert {"age", "dose"} <= set(names)
    assert content["family"]["labels"] == ["no, never", "yes"]
    age = next(v for v in content["model"]["variables"] if v["name"] == "age")
    assert age["ratio"] == pytest.approx(np.exp(age["coefficient"]))
    assert age["ratio_per_sd"] == pytest.approx(np.exp(age["coefficient"] * age["sd"]))
    judged = content["cross_validation"]
    assert 0.8 < judged["auc"] < 1
    assert 0 < judged["brier"] < 0.25
    for said, came, _, weight in judged["calibration"]:
        assert 0 <= said <= 1
        assert 0 <= came <= 1
        assert weight > 0
    assert judged["roc"][0] == [0.0, pytest.approx(judged["roc"][0][1])]
    assert judged["roc"][-1] == [1.0, 1.0]


def test_its_report_has_calibration_and_ranks(chosen):
    page = (chosen[2] / "back.html").read_text(encoding="utf-8")
    assert "Do probabilities come true?" in page
    assert "ROC: the share of yes that is found" in page
    assert "<h2>Residuals</h2>" not in page
    assert "R²" not in page


def test_probabilities_are_predicted(chosen, patients):
    result = ellzero("predict", chosen[2] / "model.json", patients)
    header, *rows = csv.reader(result.out.splitlines())
    assert header == ["probability of yes"]
    probability = np.array([float(row[0]) for row in rows])
    assert probability.min() > 0
    assert probability.max() < 1
    truth = pd.read_csv(patients)["back"] == "yes"
    assert probability[truth].mean() > probability[~truth].mean() + 0.3
    loss = -np.log(np.where(truth, probability, 1 - probability)).mean()
    assert f"mean log loss {loss:.5g}" in result.err
    refused = ellzero("predict", chosen[2] / "model.json", patients, "--interval", 0.9)
    assert refused.code == 1
    assert "this model predicts a probability" in refused.err


def test_numbers_of_two_values_are_binary_too(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.normal(size=80)
    y = np.where(rng.random(80) < 1 / (1 + np.exp(-3 * x)), 2, 1)
    path = tmp_path / "t.csv"
    pd.DataFrame({"x": x, "z": rng.normal(size=80), "y": y}).to_csv(path, index=False)
    result = ellzero("select", path, "--target", "y", "--no-stability")
    assert "binary (1 or 2): the log-odds of 2 are modelled" in result.err
    other = ellzero("select", path, "--target", "y", "--no-stability", "--family", "gaussian")
    assert "Least squares is used" in other.err
    assert "cross-validated R²" in other.out


def test_counts_are_offered_a_family(patients):
    asked = ["select", patients, "--target", "visits", "--drop", "back", "--no-stability"]
    result = ellzero(*asked)
    assert "looks like a count" in result.err
    assert "--family poisson models the logarithm of the mean" in result.err
    counted = ellzero(*asked, "--family", "poisson", "--test-share", 0.3, "--criterion", "1se")
    assert counted.code == 0
    assert "rate ratio per unit" in counted.out
    assert "60 rows held out: mean deviance" in counted.out


@pytest.mark.parametrize("extra", [["--interactions"], ["--criterion", "cv"], ["--size", "2"]])
def test_other_ways_of_choosing(patients, extra):
    asked = ["select", patients, "--target", "back", "--drop", "visits", "--no-stability"]
    result = ellzero(*asked, *extra, "--repeats", 1)
    assert result.code == 0, result.err
    assert "predict 'back': cross-validated D²" in result.out


def test_posterior_of_a_binary_target(patients, tmp_path):
    outputs = ["--json", tmp_path / "back.json", "--report", tmp_path / "back.html"]
    asked = ["select", patients, "--target", "back", "--drop", "visits", "--no-stability"]
    result = ellzero(*asked, "--posterior", *outputs)
    assert result.code == 0, result.err
    content = json.loads((tmp_path / "back.json").read_text())["posterior"]
    likely = [row["name"] for row in content["variables"] if row["inclusion"] > 0.9]
    assert likely[0] in ("age", "dose")
    assert content["variables"][0]["odds_ratio"] > 0
    assert content["sigma_e"] is None
    report = (tmp_path / "back.html").read_text()
    assert 'id="posterior"' in report
    assert 'id="averaged"' not in report


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["--prove"], "--prove is not there for a binary target"),
        (["--family", "poisson"], "The target 'back' is binary"),
        (["--family", "gaussian"], "write these as 0 and 1"),
    ],
)
def test_what_is_not_there_for_it(patients, extra, words):
    result = ellzero("select", patients, "--target", "back", *extra)
    assert (result.code, result.out.count("\n")) == (1, 0)
    assert words in result.err


@pytest.mark.parametrize(
    ("target", "family", "words"),
    [
        ("age", "binomial", "--family binomial is for two values, but the target 'age' has"),
        ("ward", "binomial", "is for two values, but the target 'ward' has 3"),
        ("noise", "poisson", "--family poisson is for counts, but the target 'noise' has values"),
    ],
)
def test_families_that_do_not_fit(patients, target, family, words):
    result = ellzero("select", patients, "--target", target, "--family", family)
    assert result.code == 1
    assert words in result.err


def test_one_row_of_a_class(tmp_path):
    path = tmp_path / "t.csv"
    x = np.random.default_rng(0).normal(size=20)
    pd.DataFrame({"x": x, "y": [1] + [0] * 19}).to_csv(path, index=False)
    result = ellzero("select", path, "--target", "y")
    assert result.code == 0, result.err
    result = ellzero("select", path, "--target", "y", "--criterion", "cv")
    assert result.code == 1
    assert "No fold has rows of both kinds" in result.err
