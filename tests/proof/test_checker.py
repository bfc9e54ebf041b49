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


def copies_of_themselves(content):  # counted from the end
    content["problem"]["copies"] = [[j, j - 20] for j in range(5)]


def out_from_the_end(content):
    claim = content["proofs"][0]["claim"]
    claim["always_out"].append(claim["support"][0] - 20)


def infinite_tolerance(content):
    content["proofs"][0]["claim"]["tolerance"] = "inf"


def negative_tolerance(content):
    content["proofs"][0]["claim"].update(tolerance="-0x1p0", proved=False)


def no_proofs(content):
    content["proofs"] = []


def products_that_are_no_text(content):
    content["problem"]["c"] = "abc"


def coefficients_that_are_no_numbers(content):
    claim = content["proofs"][0]["claim"]
    claim["b"] = scaled(claim["b"], "f8", np.nan)


def too_small(content):  # squares are 0
    problem = content["problem"]
    problem["half_yy"] = "0x1p-900"
    problem["c"] = scaled(problem["c"], "f8", 0)


@pytest.mark.parametrize(
    "tamper",
    [
        copies_of_themselves,
        out_from_the_end,
        infinite_tolerance,
        negative_tolerance,
        no_proofs,
        products_that_are_no_text,
        coefficients_that_are_no_numbers,
        too_small,
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


def rescaled(content, power):
    """The same proof for y times a power of two."""
    for holder, *keys in [
        (content["problem"], "half_yy"),
        (content["proofs"][0], "lam"),
        (content["proofs"][0]["claim"], "objective", "bound", "tolerance"),
    ]:
        for key in keys:
            holder[key] = (float.fromhex(holder[key]) * 4.0**power).hex()
    arrays = [(content["problem"], "c"), (content["proofs"][0]["claim"], "b")]
    arrays += [(step, key) for step in steps_of(content) for key in ("u", "u_low")]
    for holder, key in arrays:
        holder[key] = scaled(holder[key], "f8", 2.0**power)
    content["problem"]["exponent"] += power


def test_a_scale_does_not_hide_another_y(saved, table):
    X, y = table
    for power, exponent in [(-60, None), (0, 20_000), (0, 10**30), (0, float("nan")), (0, "x")]:
        content = copy.deepcopy(saved)
        rescaled(content, power)
        _checker.check(content)
        if exponent is not None:
            content["problem"]["exponent"] = exponent
        with pytest.raises(_checker.CertificateError):
            _checker.check_table(content, X, y[::-1])


@pytest.mark.parametrize("ridge", ["nan", "inf", "-0x1p0", "0x1p60", "0x1p9999", None])
def test_a_ridge_does_not_hide_another_table(saved, table, ridge):
    content = copy.deepcopy(saved)
    content["problem"]["ridge"] = ridge
    with pytest.raises(_checker.CertificateError):
        _checker.check_table(content, table[0] ** 3, table[1])


def test_columns_that_are_not_empty_are_not_left_out(table):
    X, y = table
    emptied = X.copy()
    emptied[:, :4] = 0
    content = l0_frontier(emptied, y).certify(size=1).record.content()
    _checker.check(content)
    _checker.check_table(content, emptied, y)
    with pytest.raises(_checker.CertificateError, match="not empty in the table"):
        _checker.check_table(content, X, y)


def test_an_empty_column_may_be_in_what_is_not_ruled_out():
    X, y, _ = make_collinear(26, 20, snr_db=0, random_state=3)
    X[:, 7] = 0
    frontier = l0_frontier(X, y)
    lam = float(np.sqrt(np.prod(frontier.interval(5))))
    content = frontier.certify(lam=lam, gap=0.2).record.content()
    claim = content["proofs"][0]["claim"]
    assert float.fromhex(claim["bound"]) < float.fromhex(claim["objective"])
    assert claim["always_out"] == []
    _checker.check(content)
    claim["always_out"] = [7]
    with pytest.raises(_checker.CertificateError, match="empty column"):
        _checker.check(content)


def test_without_an_intercept(table):
    X, y = table
    content = l0_frontier(X + 1, y, fit_intercept=False).certify(size=1).record.content()
    assert content["problem"]["intercept"] is False
    _checker.check_table(content, X + 1, y)


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
