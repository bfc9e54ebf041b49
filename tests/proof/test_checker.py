"""The checker rejects what was tampered with."""

import base64
import copy
import json
from pathlib import Path

import numpy as np
import pytest

from ellzero import l0_frontier
from ellzero.datasets import load_diabetes_interactions, make_collinear
from ellzero.proof import _checker


@pytest.fixture(scope="module")
def table():
    X, y, _ = make_collinear(26, 20, snr_db=0, random_state=3)
    return X, y


@pytest.fixture(scope="module")
def saved(table, tmp_path_factory):
    frontier = l0_frontier(*table)
    certificate = frontier.certify(lam=float(np.sqrt(np.prod(frontier.interval(5)))))
    assert certificate.proved
    path = tmp_path_factory.mktemp("proof") / "certificate.json"
    certificate.save(path)
    content = _checker.read(path)
    assert len(content["proofs"][0]["tree"]) > 6
    return content


def steps_of(content):
    return [step for node in content["proofs"][0]["tree"] for step in node["steps"]]


def scaled(text, kind, factor):
    values = np.frombuffer(base64.b64decode(text), f"<{kind}") * np.float32(factor)
    return base64.b64encode(values.astype(f"<{kind}").tobytes()).decode()


def test_a_proof_passes(saved, table):
    verdict = _checker.check(saved)
    assert verdict.proved
    _checker.check_table(saved, *table)


def larger_d(content):
    for step in steps_of(content):
        step["d"] = scaled(step["d"], "f4", 1.5)


def negative_d(content):
    step = steps_of(content)[0]
    step["d"] = scaled(step["d"], "f4", -1)


def zero_d(content):
    step = steps_of(content)[-1]
    step["d"] = scaled(step["d"], "f4", 0)


def other_u(content):
    for step in steps_of(content):
        step["u"] = scaled(step["u"], "f8", 1.1)


def infinite_u(content):
    step = next(step for step in steps_of(content) if step["u"])
    step["u"] = scaled(step["u"], "f8", np.inf)


def missing_leaf(content):
    tree = content["proofs"][0]["tree"]
    del tree[-1]


def missing_tree(content):
    del content["proofs"][0]["tree"][1:]


def no_steps(content):
    for node in content["proofs"][0]["tree"]:
        if node["end"] == "closed":
            node["steps"] = []


def lower_objective(content):
    claim = content["proofs"][0]["claim"]
    claim["objective"] = (float.fromhex(claim["objective"]) * 0.99).hex()


def higher_objective(content):
    claim = content["proofs"][0]["claim"]
    claim["objective"] = (float.fromhex(claim["objective"]) * 1.01).hex()


def higher_bound(content):
    claim = content["proofs"][0]["claim"]
    claim["bound"] = (float.fromhex(claim["bound"]) * 1.001).hex()


def another_support(content):
    claim = content["proofs"][0]["claim"]
    claim["support"] = [j + 1 for j in claim["support"]]


def one_more_fixed(content):
    step = steps_of(content)[0]
    column = next(j for j in step["columns"] if j not in step["fixed_in"] + step["fixed_out"])
    step["fixed_out"].append(column)


def one_more_always_in(content):
    claim = content["proofs"][0]["claim"]
    claim["always_in"].append(next(j for j in range(20) if j not in claim["support"]))


def one_more_always_out(content):
    claim = content["proofs"][0]["claim"]
    claim["always_out"].append(claim["support"][0])


def a_lower_price(content):
    proof = content["proofs"][0]
    proof["lam"] = (float.fromhex(proof["lam"]) * 0.9).hex()


def set_aside(content):
    content["problem"]["dead"].append(content["proofs"][0]["claim"]["support"][0])


def set_aside_as_copy(content):
    support = content["proofs"][0]["claim"]["support"]
    content["problem"]["copies"].append(support[:2])


@pytest.mark.parametrize(
    "tamper",
    [
        larger_d,
        negative_d,
        zero_d,
        other_u,
        infinite_u,
        missing_leaf,
        missing_tree,
        no_steps,
        lower_objective,
        higher_objective,
        higher_bound,
        another_support,
        one_more_fixed,
        one_more_always_in,
        one_more_always_out,
        a_lower_price,
        set_aside,
        set_aside_as_copy,
    ],
)
def test_what_was_tampered_with_is_rejected(saved, tamper):
    content = copy.deepcopy(saved)
    tamper(content)
    with pytest.raises(_checker.CertificateError):
        _checker.check(content)


def test_another_table_is_rejected(saved, table):
    X, y = table
    _checker.check_table(saved, X * 3 + 1, y - 5, np.ones(len(y)))
    with pytest.raises(_checker.CertificateError, match="products of columns with y"):
        _checker.check_table(saved, X, y + np.linspace(0, 1e-6, len(y)))
    with pytest.raises(_checker.CertificateError, match="products of columns are not"):
        _checker.check_table(saved, X + 1e-6 * X**2, y)
    with pytest.raises(_checker.CertificateError, match="about 20 columns"):
        _checker.check_table(saved, X[:, :5], y)


def test_other_files_are_rejected(tmp_path):
    path = tmp_path / "other.json"
    path.write_text("{}")
    with pytest.raises(_checker.CertificateError, match="not a certificate"):
        _checker.read(path)
    path.write_text(json.dumps({"format": "ellzero certificate", "version": 99}))
    with pytest.raises(_checker.CertificateError, match="Version 99"):
        _checker.read(path)


def test_it_imports_numpy_and_the_standard_library_alone():
    source = Path(_checker.__file__).read_text(encoding="utf-8")
    imported = {
        line.split()[1].split(".")[0]
        for line in source.splitlines()
        if line.startswith(("import ", "from "))
    }
    assert imported <= {
        "__future__", "base64", "json", "math", "collections", "fractions", "pathlib", "typing",
        "numpy",
    }  # fmt: skip


def test_diabetes_passes(tmp_path):
    diabetes = load_diabetes_interactions()
    certificate = l0_frontier(diabetes.data, diabetes.target, max_size=6).certify(size=4)
    certificate.save(tmp_path / "certificate.json")
    content = _checker.read(tmp_path / "certificate.json")
    assert _checker.check(content).proved
    _checker.check_table(
        content, np.asarray(diabetes.data, float), np.asarray(diabetes.target, float)
    )
