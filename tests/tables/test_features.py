import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellzero.tables import (
    DataError,
    DateColumn,
    NumberColumn,
    Table,
    TextColumn,
    judge_columns,
    make_plan,
    write_aside,
)
from ellzero.tables._features import repeated_columns


def table_of(**columns):
    made = {}
    for name, values in columns.items():
        if isinstance(values[0], str) or values[0] is None:
            levels = sorted({v for v in values if v is not None})
            codes = [-1 if v is None else levels.index(v) for v in values]
            made[name] = TextColumn(name, np.array(codes, dtype=np.int32), levels)
        else:
            made[name] = NumberColumn(name, np.array(values, dtype=float))
    return Table(made, len(next(iter(columns.values()))), "t", "")


def plan_of(table, missing="error", interactions=False, **judging):
    return make_plan(table, judge_columns(table, {}, rare=1, **judging), missing, interactions)


def test_levels_and_their_reference():
    table = table_of(c=["u", "v", "v", "w"], x=[1.5, 2, 3, 4])
    plan = plan_of(table)
    assert plan.features.names == ["c=u", "c=w", "x"]
    assert plan.references == {"c": "v"}
    X = plan.features.build(table, None, np.zeros(3))
    assert X.flags.f_contiguous
    np.testing.assert_array_equal(X, [[1, 0, 1.5], [0, 0, 2], [0, 0, 3], [0, 1, 4]])


def test_products_are_of_deviations_from_the_means_of_the_rows_learned_from():
    rng = np.random.default_rng(0)
    a, b, z = rng.normal(5, 1, 30), rng.normal(-3, 2, 30), rng.integers(0, 2, 30).astype(float)
    table = table_of(a=a, b=b, z=z)
    plan = plan_of(table, interactions=True)
    assert plan.features.names == ["a", "b", "z", "a^2", "b^2", "a:b", "a:z", "b:z"]
    assert "No square of 'z'" in plan.notes[0]
    rows = np.arange(10)
    weights = rng.integers(1, 4, 10).astype(float)
    means = plan.features.learn(table, rows, weights)
    np.testing.assert_allclose(means[0], np.average(a[:10], weights=weights))
    X = plan.features.build(table, None, means)
    np.testing.assert_allclose(X[:, 5], (a - means[0]) * (b - means[1]))
    np.testing.assert_allclose(X[:, 3], (a - means[0]) ** 2)


def test_no_products_of_levels_of_one_category():
    table = table_of(c=["u", "v", "v", "w"] * 3, d=["p", "q", "q"] * 4)
    names = plan_of(table, interactions=True).features.names
    assert names == ["c=u", "c=w", "d=p", "c=u:d=p", "c=w:d=p"]


def test_missing_values_become_means_and_indicators():
    table = table_of(x=[1.0, np.nan, 4.0, 1.0], c=["u", None, "v", "u"], z=[1.5, 2.5, 4.5, 8.0])
    plan = plan_of(table, "indicator")
    assert plan.features.names == ["x", "c=v", "z", "x (missing)", "c (missing)"]
    means = plan.features.learn(table, None, None)
    X = plan.features.build(table, None, means)
    np.testing.assert_allclose(X[1], [2, 1 / 3, 2.5, 1, 1])
    assert plan.features.learns
    assert not plan_of(table_of(x=[1.0, 2.0], y=[2.0, 5.0]), "mean").features.learns


def test_weights_are_counts_for_means():
    table = table_of(x=[1.0, np.nan, 4.0])
    features = plan_of(table, "mean").features
    assert features.learn(table, None, np.array([3.0, 1.0, 1.0]))[0] == 7 / 4
    assert features.learn(table, np.array([1]), None)[0] == 0  # nothing is known of it


def test_numbers_that_are_moved_are_in_memory_once():
    table = table_of(a=[1.0, 2.0, 4.0], b=[1.0, np.nan, 3.0], c=["u", "v", "w"])
    before = {name: table.columns[name].values.copy() for name in "ab"}
    features = plan_of(table, "mean", categorical=["c"]).features
    means = features.learn(table, None, None)
    X = features.build(table, None, means, move=True)
    assert np.shares_memory(table.columns["a"].values, X)
    assert not np.shares_memory(table.columns["b"].values, X)  # X has the mean in its gap
    for name, values in before.items():
        np.testing.assert_array_equal(table.columns[name].values, values)
    np.testing.assert_array_equal(features.build(table, None, means), X)


def test_names_are_made_unique():
    table = table_of(**{"a": [1.0, 2, 4], "b": [3.0, 1, 7], "a:b": [1.0, 5, 2]})
    assert plan_of(table, interactions=True).features.names.count("a:b") == 1
    assert "a:b (2)" in plan_of(table, interactions=True).features.names


def test_what_columns_are_taken_for():
    n = 40
    rng = np.random.default_rng(1)
    table = table_of(
        row=np.arange(n) + 7.0,
        patient_id=rng.permutation(n) * 3.0,
        income=rng.permutation(n) * 3.0,
        fixed=np.full(n, 2.0),
        nothing=np.full(n, np.nan),
        name=[f"n{i}" for i in range(n)],
        same=["s"] * n,
        comma=[f"{i},5" for i in range(n // 2)] * 2,
        x=rng.normal(size=n),
    )
    table.columns["day"] = DateColumn("day", np.arange(n) * 86_400.0)
    remarks = {r.name: r for r in judge_columns(table, {"x": "target"})}
    assert "identifier" in remarks["row"].details
    assert "identifier" in remarks["patient_id"].details
    assert remarks["income"].use == "predictor"
    assert remarks["fixed"].details == remarks["same"].details == "constant"
    assert "no values" in remarks["nothing"].details
    assert "identifier" in remarks["name"].details
    assert remarks["comma"].details == (
        "text of 20 levels, all of fewer than 5 rows: numbers with a decimal comma? (decimal=',')"
    )
    assert remarks["x"].use == "target"
    undated = TextColumn("t", np.arange(n, dtype=np.int32), [f"{i}" for i in range(n)], "dates?")
    (remark,) = judge_columns(Table({"t": undated}, n, "t", ""), {})
    assert (remark.use, remark.details) == ("left out", "text: dates?")
    assert remarks["day"].kind == "date"
    assert "name it in time to order rows" in remarks["day"].details
    kept = judge_columns(table, {}, keep=["row"], categorical=["name"], rare=1)
    kept = {r.name: r for r in kept}
    assert kept["row"].use == kept["name"].use == "predictor"
    with pytest.raises(DataError, match="which keep names"):
        judge_columns(table, {}, keep=["none"])
    with pytest.raises(DataError, match="holds dates"):
        judge_columns(table, {}, categorical=["day"])


def test_too_many_levels_are_used_only_if_asked_for():
    table = table_of(c=[f"l{i % 150}" for i in range(300)], x=np.arange(300) % 7)
    (remark, _) = judge_columns(table, {}, rare=1)
    assert remark.details == "text of 150 levels: name it in categorical to use it"
    assert len(plan_of(table, categorical=["c"]).features) == 150


def test_nothing_to_choose_from():
    with pytest.raises(DataError, match=r"choose from \('k' left out\); 'k' is constant\.$"):
        plan_of(table_of(k=[1.0, 1.0]))
    with pytest.raises(
        DataError, match=r"from \('k', 's' left out\); 'k' is constant; 's' is an id"
    ):
        plan_of(table_of(k=[1.0, 1.0], s=["Smith", "Jones"]))


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(5, 30))
def test_repeats_are_those_that_correlate_perfectly(seed, p, n):
    rng = np.random.default_rng(seed)
    base = rng.integers(-2, 3, (n, p)).astype(float)
    extra = base[:, rng.integers(0, p, p)] * rng.choice([-2.0, 0.5, 3.0], p) + rng.integers(0, 9, p)
    extra[:, rng.random(p) < 0.3] += rng.integers(0, 2, n)[:, None]
    extra[:, rng.random(p) < 0.2] = 4.0
    X = np.asfortranarray(np.column_stack([base, extra]))
    found = repeated_columns(X, p)

    def same(i, j):
        a, b = X[:, i] - X[:, i].mean(), X[:, j] - X[:, j].mean()
        return abs(a @ b) > (1 - 1e-9) * np.linalg.norm(a) * np.linalg.norm(b)

    constant = [j for j in range(2 * p) if np.ptp(X[:, j]) == 0]
    for j in range(p, 2 * p):
        expected = j in constant or any(same(i, j) for i in range(j) if i not in constant)
        assert (j in found) == expected
        if found.get(j, -1) >= 0:
            assert same(found[j], j)
            assert found[j] < j


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def fail(*_):
    raise OSError(28, "The disk is full")


def test_writing_keeps_what_was_there_if_it_fails(tmp_path, monkeypatch):
    path = tmp_path / "out.txt"
    write_aside(path, "first")
    path.chmod(0o640)
    write_aside(path, "second")
    assert path.read_text() == "second"
    assert path.stat().st_mode & 0o777 == 0o640
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(DataError, match="full"):
            write_aside(path, "third")
    assert path.read_text() == "second"
    write_aside(path, "a byte that is no letter: \udc80")
    assert path.read_text() == "a byte that is no letter: \\udc80"
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]
    with pytest.raises(DataError, match="is a directory"):
        write_aside(tmp_path, "x")
    full = type(path)("/dev/full")
    if full.exists():
        with pytest.raises(DataError, match="no space left"):
            write_aside(full, "x")
