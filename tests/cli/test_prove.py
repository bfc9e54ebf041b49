"""Proofs from the command line, and checking them."""

import json

import numpy as np
import pandas as pd
import pytest
from command import ellzero

from ellzero import l0_frontier


@pytest.fixture
def table(tmp_path, rng):
    X = rng.normal(size=(90, 8))
    X[:, 1] += X[:, 0]
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    frame["kind"] = rng.choice(["a", "b", "c"], 90)
    frame["w"] = rng.integers(1, 4, 90)
    frame["y"] = X[:, 0] - X[:, 2] + (frame["kind"] == "b") + rng.normal(scale=0.7, size=90)
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--size", "3"],
        ["--lam", "2"],
        ["--criterion", "cv", "--repeats", "1"],
        ["--interactions", "--ridge", "0.1", "--force", "x5"],
        ["--weights", "w", "--drop", "x7"],
        ["--weights", "w", "--frequency", "--test-share", "0.2"],
    ],
)
def test_a_proof_is_said_saved_and_verified(table, tmp_path, options):
    certificate, report = tmp_path / "c.json", tmp_path / "r.html"
    outputs = ["--certificate", certificate, "--json", tmp_path / "j.json", "--report", report]
    asked = ["select", table, "--target", "y", "--prove", "--no-stability", "--levels"]
    asked += [*options, *outputs]
    result = ellzero(*asked)
    assert result.code == 0, result.err
    assert ": proved with " in result.out
    assert "It is a search, not a proof" not in result.out
    assert "proved with" in report.read_text()
    content = json.loads((tmp_path / "j.json").read_text())
    proof = content["model"]["proof"]
    assert proof["proved"]
    assert proof["gap"] <= 1e-6
    assert set(proof["always_in"]) == {v["name"] for v in content["model"]["variables"]}
    checked = ellzero("verify", certificate, table)
    assert checked.code == 0, checked.err
    assert checked.out.startswith("The certificate holds: ")
    for name in proof["always_in"]:
        assert name in checked.out.splitlines()[-1]


def test_without_a_proof_there_is_none(table, tmp_path):
    ellzero("select", table, "--target", "y", "--no-stability", "--json", tmp_path / "j.json")
    assert json.loads((tmp_path / "j.json").read_text())["model"]["proof"] is None
    result = ellzero("select", table, "--target", "y", "--certificate", tmp_path / "c.json")
    assert result.code == 2
    assert "--certificate needs --prove" in result.err
    result = ellzero("select", table, "--target", "y", "--prove", "inf")
    assert result.code == 2
    assert "--prove must be" in result.err
    result = ellzero("select", "--prove", table, "--target", "y")
    assert result.code == 2
    assert "put TABLE before --prove" in result.err


def test_another_table_or_a_changed_certificate_is_refused(table, tmp_path):
    certificate = tmp_path / "c.json"
    asked = ["select", table, "--target", "y", "--prove", "--no-stability", "--levels"]
    assert ellzero(*asked, "--certificate", certificate).code == 0
    frame = pd.read_csv(table)
    other = tmp_path / "other.csv"
    frame.assign(x0=frame["x0"] + np.arange(90) * 1e-6).to_csv(other, index=False)
    result = ellzero("verify", certificate, other)
    assert result.code == 1
    assert "not those of the table" in result.err
    frame.drop(columns="x3").to_csv(other, index=False)
    result = ellzero("verify", certificate, other)
    assert result.code == 1
    assert "features of the table are not those" in result.err
    content = json.loads(certificate.read_text())

    def refused(words, **changes):
        bad = tmp_path / "bad.json"
        bad.write_text(json.dumps({**content, **changes}))
        result = ellzero("verify", bad, table)
        assert result.code == 1
        assert words in result.err
        assert "unexpected" not in result.err

    proof = content["proofs"][0]
    better = {
        **proof["claim"],
        "objective": (0.9 * float.fromhex(proof["claim"]["objective"])).hex(),
    }
    refused("objective", proofs=[{**proof, "claim": better}])
    refused("missing or out of place", proofs=[{**proof, "tree": None}])
    for names in (3, [3], [[]], True):
        bad = {"problem": {**content["problem"], "names": names}}
        refused("does not say how its columns were made", **bad)
    for key in ("ridge", "exponent", "intercept"):
        left = {name: value for name, value in content["problem"].items() if name != key}
        refused("missing or out of place", problem=left)
    result = ellzero("verify", tmp_path / "none.json", table)
    assert result.code == 1
    assert "none.json can't be read: no such file" in result.err
    for made in ({"settings": {"target": 3}, "drop": []}, {"settings": {}, "drop": []}, {}):
        refused("does not say how its columns were made", table=made)
    for text in ("", "[]", "{}", "nonsense", '{"format": "ellzero certificate", "version": 2}'):
        (tmp_path / "bad.json").write_text(text)
        result = ellzero("verify", tmp_path / "bad.json", table)
        assert result.code == 1
        assert "unexpected" not in result.err


def test_a_certificate_from_python(tmp_path, rng):
    X = pd.DataFrame(rng.normal(size=(60, 5)), columns=list("abcde"))
    y = X["a"] - X["c"] + rng.normal(size=60)
    l0_frontier(X, y).certify(size=2).save(tmp_path / "c.json")
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    result = ellzero("verify", tmp_path / "c.json", tmp_path / "t.csv", "--target", "y")
    assert result.code == 0, result.err
    said = result.out.splitlines()[-1]
    assert said.startswith("Among models of up to 2 variables, none is better by more than ")
    energy = l0_frontier(X, y).at(size=2).energy
    assert said.endswith(f" than a, c: {energy:.6g}.")
    result = ellzero("verify", tmp_path / "c.json", tmp_path / "t.csv")
    assert result.code == 1
    assert "does not name the target" in result.err
    weights = rng.integers(1, 4, 60)
    l0_frontier(X, y, sample_weight=weights).certify(size=2).save(tmp_path / "w.json")
    X.assign(y=y, w=weights).to_csv(tmp_path / "t.csv", index=False)
    asked = ["verify", tmp_path / "w.json", tmp_path / "t.csv", "--target", "y"]
    assert ellzero(*asked, "--weights", "w").code == 0
    with pytest.raises(ValueError, match="no proof to be saved"):
        l0_frontier(X, np.ones(60)).certify(size=0).save(tmp_path / "n.json")
