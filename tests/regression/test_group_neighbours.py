"""Models one move away from a set of groups, what could stand in, and pictures of the path."""

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pandas as pd
import pytest
from reference.groups import all_models

from ellzero import l0_frontier

LABELS = list("aabcccdefff")


def data(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(LABELS))) + 0.8 * rng.normal(size=(n, 1))
    y = X[:, [0, 1, 2]].sum(axis=1) + 0.5 * X[:, 6] + rng.normal(size=n)
    return X, y


def groups_of(labels):
    names = list(dict.fromkeys(labels))
    return names, [[j for j, label in enumerate(labels) if label == name] for name in names]


def one_move_away(models, here):
    """Every model that differs by one unit in, one out, or both."""
    return [
        model
        for model in models
        if model.units != here.units
        and len(set(model.units) - set(here.units)) <= 1
        and len(set(here.units) - set(model.units)) <= 1
    ]


@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_neighbours_are_all_that_are_one_move_away(ridge):
    X, y = data()
    names, groups = groups_of(LABELS)
    frontier = l0_frontier(X, y, feature_groups=LABELS, ridge=ridge)
    model = frontier.at(size=3)
    models = all_models(X, y, groups, ridge=ridge)
    here = next(m for m in models if [names[u] for u in m.units] == model.groups)
    low, high = frontier.interval(3)
    lam = np.sqrt(low * high)
    table = frontier.neighbours(3, within=1e9, lam=lam)
    expected = sorted(
        m.energy - here.energy + lam * (len(m.units) - len(here.units))
        for m in one_move_away(models, here)
    )
    np.testing.assert_allclose(table["loss"], expected, rtol=1e-7, atol=1e-9)
    default = frontier.neighbours(3)
    assert (default["loss"] <= lam * (1 + 1e-9)).all()
    np.testing.assert_allclose(default["loss"], table["loss"][: len(default)], rtol=1e-9)


def test_neighbours_take_with_them_what_heredity_asks_for():
    rng = np.random.default_rng(1)
    a, b, c = rng.normal(size=(3, 80))
    X = np.column_stack([a, b, c, a * b, a * c])
    names = ["a", "b", "c", "a:b", "a:c"]
    y = a + b + a * b + rng.normal(size=80)
    frontier = l0_frontier(pd.DataFrame(X, columns=names), y, heredity="strong")
    model = frontier.at(size=3)
    assert model.groups == ["a", "b", "a:b"]
    table = frontier.neighbours(3, within=1e9)
    moves = {(row.move, row.enters, row.leaves) for row in table.itertuples()}
    assert ("insert", "a:c, c", "") in moves
    assert ("remove", "", "a, a:b") in moves
    assert ("remove", "", "a:b") in moves
    assert not any(row.enters == "a:c" for row in table.itertuples())
    weak = l0_frontier(pd.DataFrame(X, columns=names), y, heredity="weak").neighbours(1, 1e9)
    assert set(weak.query("move == 'insert'")["enters"]) == {"a", "c", "a:b", "a:c, a", "a:c, c"}


def test_signs_and_limits_are_kept():
    X, y = data(2)
    single = [[j] for j in range(len(LABELS))]
    signed = l0_frontier(X, y, positive=True)
    limited = l0_frontier(X, y, feature_groups=["a", *"bbbb", *"cdefgh"], at_most={"b": 1})
    in_table = {
        signed: all_models(X, y, single, signs=[1] * len(LABELS)),
        limited: all_models(X, y, single, caps=[(range(1, 5), 1)]),
    }
    for frontier, models in in_table.items():
        model = frontier.at(size=5)
        here = next(m for m in models if list(m.units) == model.support.tolist())
        expected = [m.energy for m in one_move_away(models, here)]
        found = frontier.neighbours(5, within=1e9)["energy"]
        np.testing.assert_allclose(np.sort(found), np.sort(expected), rtol=1e-8)
        assert len(expected) < len(one_move_away(all_models(X, y, single), here))


def test_stand_ins_are_the_best_swaps():
    X, y = data(3)
    names, groups = groups_of(LABELS)
    frontier = l0_frontier(X, y, feature_groups=LABELS)
    model = frontier.at(size=2)
    table = frontier.stand_ins(2, count=2)
    models = {m.units: m for m in all_models(X, y, groups)}
    own = tuple(names.index(name) for name in model.groups)
    for leaves, rows in table.groupby("leaves"):
        rest = set(own) - {names.index(leaves)}
        swaps = sorted(
            models[tuple(sorted({*rest, unit}))].energy - models[own].energy
            for unit in set(range(len(names))) - set(own)
        )
        np.testing.assert_allclose(rows["rise"], swaps[:2], rtol=1e-7)
    assert set(table["leaves"]) == set(model.groups)
    assert table["correlation"].abs().le(1).all()


def test_correlation_is_the_canonical_one():
    X, y = data(4)
    table = l0_frontier(X, y, feature_groups=LABELS).stand_ins(1, count=6)
    pairs = {(row.leaves, row.enters): row.correlation for row in table.itertuples()}
    names, groups = groups_of(LABELS)
    Z = X - X.mean(0)
    for (leaves, enters), found in pairs.items():
        A, B = (np.linalg.qr(Z[:, groups[names.index(one)]])[0] for one in (leaves, enters))
        cosine = np.linalg.norm(A.T @ B, 2)
        assert abs(found) == pytest.approx(cosine, rel=1e-8)


def test_the_path_is_drawn_by_groups():
    X, y = data(5)
    frontier = l0_frontier(X, y, feature_groups=LABELS)
    ax = frontier.plot()
    texts = {text.get_text() for text in ax.texts}
    assert {"a", "b"} <= texts
    model = frontier.at(size=1)
    strength = frontier._strengths(model)[0]
    part = X[:, model.support] @ model.coef[model.support]
    assert abs(strength) == pytest.approx(part.std() / y.std(), rel=1e-9)
    assert frontier.plot(standardised=False, max_size=2).get_ylabel() == "coefficient"


def test_what_is_no_size_gets_a_sentence():
    X, y = data(6)
    frontier = l0_frontier(X, y, feature_groups=LABELS, max_size=2)
    with pytest.raises(ValueError, match="size=7 is not one of the sizes known"):
        frontier.neighbours(7)
    with pytest.raises(ValueError, match="count"):
        frontier.stand_ins(1, count=0)
