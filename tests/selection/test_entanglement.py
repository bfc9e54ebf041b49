"""Variables that nearly determine each other, against regressions of each on the others."""

import json

import numpy as np
import pytest

from ellzero.cli._wording import in_options
from ellzero.selection import Settings, prepare, select, summarise
from ellzero.selection._entanglement import Statistics, entangled_sets, variance_inflation
from ellzero.tables import NumberColumn, Table, TextColumn, example_table


def run(columns, **settings):
    made = {
        name: values if isinstance(values, TextColumn) else NumberColumn(name, values * 1.0)
        for name, values in columns.items()
    }
    asked = Settings("y", **settings)
    return select(prepare(Table(made, len(columns["y"]), "t", ""), asked), asked)


def warned(chosen):
    return [warning for warning in chosen.warnings if "entangled" in warning]


def r2_of(X, y, weights=None):
    root = np.ones(len(y)) if weights is None else np.sqrt(weights)
    design = np.column_stack([np.ones(len(y)), X]) * root[:, None]
    beta = np.linalg.lstsq(design, root * y, rcond=None)[0]
    mean = np.average(y, weights=weights)
    return 1 - np.sum((root * y - design @ beta) ** 2) / np.sum((root * (y - mean)) ** 2)


def literal_inflation(X, weights=None):
    others = [np.delete(X, j, axis=1) for j in range(X.shape[1])]
    return np.array([1 / (1 - r2_of(o, X[:, j], weights)) for j, o in enumerate(others)])


def diabetes(**settings):
    asked = Settings("progression", **settings)
    data = prepare(example_table("diabetes"), asked)
    return data, select(data, asked)


def test_variance_inflation_is_that_of_regressions(rng):
    X = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6)) + 5
    np.testing.assert_allclose(
        variance_inflation(np.corrcoef(X, rowvar=False)), literal_inflation(X), rtol=1e-6
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_the_frontier_knows_the_correlations(rng, weighted):
    X = rng.normal(size=(80, 20)) @ (np.eye(20) + 0.3 * rng.normal(size=(20, 20))) * 7 + 100
    weights = rng.integers(1, 5, 80) if weighted else None
    columns = {f"x{j:02}": X[:, j] for j in range(20)}
    settings = {"weights": "w"} if weighted else {}
    if weighted:
        columns["w"] = weights
    y = X @ rng.normal(size=20) + rng.normal(size=80)
    chosen = run({**columns, "y": y}, size=20, **settings)
    its = Statistics(*chosen.frontier._correlations(chosen.model.support))
    np.testing.assert_allclose(
        variance_inflation(its.correlations), literal_inflation(X, weights), rtol=1e-6
    )
    standardised, r2 = its.fit()
    np.testing.assert_allclose(standardised, chosen.model.standardised, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(r2, r2_of(X, y, weights), rtol=1e-9)


def test_two_sets_and_what_is_in_none(rng):
    a, b, c, d, e, f = rng.normal(size=(6, 300))
    X = np.column_stack([a, d, b, a + b + 0.1 * c, e, d + 0.2 * f, c])
    sets = entangled_sets(np.corrcoef(X, rowvar=False), np.full(7, 0.3))
    assert [members.tolist() for members in sets] == [[0, 2, 3, 6], [1, 5]]  # c is the rest of it
    assert entangled_sets(np.corrcoef(X[:, [0, 1, 2, 4, 6]], rowvar=False), np.full(5, 0.3)) == []


@pytest.mark.parametrize("copies", [2, 3, 5, 9])
def test_copies_belong_together(rng, copies):
    """Given the others, none of many copies matters much to another."""
    x, *noise = rng.normal(size=(copies + 1, 500))
    X = np.column_stack([rng.normal(size=500), *(x + 0.2 * extra for extra in noise)])
    (members,) = entangled_sets(np.corrcoef(X, rowvar=False), np.full(copies + 1, 0.3))
    assert members.tolist() == list(range(1, copies + 1))


def test_a_sum_belongs_to_its_parts(rng):
    """The parts' own factors are low; that of the sum is not."""
    parts = rng.normal(size=(300, 10))
    X = np.column_stack([parts, parts.sum(axis=1) + rng.normal(size=300), rng.normal(size=300)])
    inflation = literal_inflation(X)
    assert inflation[10] > 10 > 5 > inflation[:10].max()
    (members,) = entangled_sets(np.corrcoef(X, rowvar=False), np.full(12, 0.3))
    assert members.tolist() == list(range(11))


def test_large_coefficients_alone_are_enough(rng):
    a, b = rng.normal(size=(2, 400))
    X = np.column_stack([a, 0.85 * a + 0.5 * b])
    assert literal_inflation(X).max() < 5
    chosen = run({"a": X[:, 0], "b": X[:, 1], "y": X[:, 0] - X[:, 1]}, size=2)
    assert np.abs(chosen.model.standardised).max() > 1
    (text,) = warned(chosen)
    large = np.abs(chosen.model.standardised).max()
    assert text.startswith("'a', 'b' are entangled")
    assert f"standardised coefficient up to {large:.1f})" in text


def test_a_coefficient_slightly_above_one_is_no_entanglement(rng):
    a, b = rng.normal(size=(2, 400))
    b = 0.3 * a + b
    chosen = run({"a": a, "b": b, "y": a - 0.3 * b}, size=2)
    assert np.abs(chosen.model.standardised).max() > 1
    assert warned(chosen) == []


def test_what_is_said_of_diabetes():
    data, chosen = diabetes(criterion="cv", ridge=0.0)
    (text,) = warned(chosen)
    names = chosen.model.names
    X = np.column_stack([data.table.columns[name].values for name in names])
    assert f"(variance inflation factor up to {literal_inflation(X).max():.0f})" in text
    assert text.startswith("'tc', 'ldl', 'tch', 'ltg' are entangled")
    without = np.delete(X, names.index("ldl"), axis=1)
    assert literal_inflation(without).max() <= 5
    now, then = r2_of(X, data.y), r2_of(without, data.y)
    assert text.endswith(
        f"To leave 'ldl' out of this model ends that and costs {now - then:.2g} of R² on the rows "
        f"fitted ({then:.3f} instead of {now:.3f})."
    )
    # Nothing else that could be left out alone would be cheaper.
    for j in range(len(names)):
        other = np.delete(X, j, axis=1)
        assert literal_inflation(other).max() > 5 or r2_of(other, data.y) <= then + 1e-12
    content = json.loads(json.dumps(summarise(chosen, "ellzero", in_options)))
    assert text in content["warnings"]


def test_models_without_it_are_quiet():
    for settings in ({}, {"size": 5}, {"interactions": True}, {"size": 1}, {"size": 0}):
        assert warned(diabetes(**settings)[1]) == []


def test_a_smaller_model_is_named_with_its_error(rng):
    """Of two copies either will do: the best of one variable is the model without the other."""
    x = rng.normal(size=200)
    copy = x + 0.1 * rng.normal(size=200)
    chosen = run({"x": x, "copy": copy, "y": x + rng.normal(size=200)}, size=2)
    (text,) = warned(chosen)
    one, two = np.sqrt(chosen.score.size_errors[1:3])
    assert "The best smaller model without that, of 1 variable (size=1), costs" in text
    assert in_options(text) == text.replace("size=1", "--size 1")
    assert text.endswith(
        f"; on rows held out, models of that size have a typical error of {one:.4g}, those of "
        f"2 variables {two:.4g}."
    )


def test_what_is_forced_in_stays(rng):
    x, z = rng.normal(size=(2, 200))
    copy = x + 0.1 * rng.normal(size=200)
    columns = {"x": x, "copy": copy, "z": z, "y": x + z + rng.normal(size=200)}
    (text,) = warned(run(columns, size=3, force=("x", "copy")))
    assert text.startswith("'x', 'copy' are entangled")
    assert in_options(text).endswith("--force leaves no model without that.")
    (text,) = warned(run(columns, size=3, force=("copy",)))
    assert " of 2 variables (size=2)" in text


def test_levels_of_a_category_are_quiet(rng):
    codes = rng.choice(12, size=2000, p=[0.3, *[0.7 / 11] * 11]).astype(np.int32)
    levels = [f"l{k}" for k in range(12)]
    y = codes + rng.normal(size=2000)
    chosen = run({"c": TextColumn("c", codes, levels), "y": y}, size=11, levels=True)
    assert warned(chosen) == []


def test_many_of_them():
    """More than can be tried: still a way out, and a sentence that fits a line of a terminal."""
    _, chosen = diabetes(size=60, interactions=True)
    (text,) = warned(chosen)
    assert "and so are those of" in text
    assert "costs" in text
    assert len(text) < 1000


@pytest.mark.parametrize("scale", [1e-140, 1.0, 1e140])
def test_units_do_not_matter(rng, scale):
    x, z = rng.normal(size=(2, 100))
    copy = x + 0.1 * rng.normal(size=100)
    columns = {"x": x, "copy": copy, "z": z, "y": x + z + rng.normal(size=100)}
    plain = warned(run(columns, size=3))
    scaled = {name: (values + 3) * scale for name, values in columns.items()}
    assert [text.split("; on rows")[0] for text in warned(run(scaled, size=3))] == [
        text.split("; on rows")[0] for text in plain
    ]
    assert len(plain) == 1
