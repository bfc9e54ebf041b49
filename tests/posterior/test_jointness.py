"""Pairs of variables, against sums over all models and counts of draws."""

import itertools

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from ellzero import SpikeSlabRegressor
from ellzero.posterior._jointness import pairs_from_masses


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.standard_normal((80, 5)), columns=list("abcde"))
    X["b"] = X["a"] + 0.4 * rng.standard_normal(80)
    return X, 0.4 * X["a"] + 0.3 * X["c"] + rng.standard_normal(80)


@pytest.mark.parametrize("n_free", [0, 1, 2, 5, 6])
def test_sums_over_all_models(n_free):
    rng = np.random.default_rng(n_free)
    free, always, p = np.arange(n_free) + 1, np.array([0]), n_free + 2
    masses = rng.dirichlet(np.full(2**n_free, 0.3))
    pairs = pairs_from_masses(masses, free, always, p)
    for i, j in itertools.product(range(p), repeat=2):
        cells = np.zeros((2, 2))
        for code, mass in enumerate(masses):
            inside = {0} | {int(free[b]) for b in range(n_free) if code >> b & 1}
            cells[int(i in inside), int(j in inside)] += mass
        found = [pairs.neither[i, j], pairs.first_only[j, i], pairs.first_only[i, j]]
        expected = [cells[0, 0], cells[0, 1], cells[1, 0]]
        np.testing.assert_allclose([*found, pairs.both[i, j]], [*expected, cells[1, 1]], rtol=1e-12)


def test_exact_by_enumeration(table):
    model = SpikeSlabRegressor(solver="enumerate", theta=0.2, random_state=0).fit(*table)
    pairs = model.jointness(min_inclusion=0, max_variables=None)
    assert len(pairs) == 10
    models = model.models_
    for row in pairs.itertuples():
        one, two = ([name in v for v in models["variables"]] for name in (row.first, row.second))
        one, two, mass = np.array(one), np.array(two), models["mass"].to_numpy()
        cells = [mass[a & b].sum() for a, b in itertools.product((one, ~one), (two, ~two))]
        assert row.both == pytest.approx(cells[0], abs=2e-6)
        assert row.either == pytest.approx(1 - cells[3], abs=2e-6)
        expected = np.log(cells[0] * cells[3] / (cells[1] * cells[2]))
        assert row.log_odds_ratio == pytest.approx(expected, abs=0.02)
    assert (pairs.loc[0, "first"], pairs.loc[0, "second"]) == ("a", "b")
    assert pairs.loc[0, "log_odds_ratio"] < -1
    distance = np.abs(pairs["both"] - pairs["by_chance"])
    assert distance.is_monotonic_decreasing


def test_draws_agree_with_enumeration(table):
    exact = SpikeSlabRegressor(solver="enumerate", theta=0.2, random_state=0).fit(*table)
    drawn = SpikeSlabRegressor(solver="gibbs", theta=0.2, random_state=0, n_draws=5000).fit(*table)
    keys = ["first", "second"]
    one, two = (model.jointness(min_inclusion=0) for model in (exact, drawn))
    # The more probable comes first, and that may differ
    for pairs in (one, two):
        pairs[keys] = np.sort(pairs[keys].to_numpy(dtype=str), axis=1)
    both = one.merge(two, on=keys)
    assert len(both) == 10
    np.testing.assert_allclose(both["both_x"], both["both_y"], atol=0.02)
    np.testing.assert_allclose(both["either_x"], both["either_y"], atol=0.02)
    np.testing.assert_allclose(both["log_odds_ratio_x"], both["log_odds_ratio_y"], atol=0.5)


@pytest.mark.parametrize("solver", ["enumerate", "gibbs"])
def test_what_is_always_in_goes_with_nothing(table, solver):
    X, y = table
    model = SpikeSlabRegressor(solver=solver, always_include=["d"], theta=0.2, random_state=0).fit(
        X, y
    )
    pairs = model.jointness(min_inclusion=0)
    of_d = (pairs["first"] == "d") | (pairs["second"] == "d")
    assert pairs.loc[of_d, "log_odds_ratio"].isna().all()
    np.testing.assert_allclose(pairs.loc[of_d, "both"], pairs.loc[of_d, "by_chance"], atol=1e-12)
    assert np.isfinite(pairs.loc[~of_d, "log_odds_ratio"]).all()


def test_copies_are_never_in_together_in_a_draw(rng):
    # An empty cell of the table is no infinite ratio.
    X = rng.standard_normal((200, 12))
    X[:, 1] = X[:, 0] + 1e-6 * rng.standard_normal(200)
    y = X[:, 0] + rng.standard_normal(200)
    model = SpikeSlabRegressor(solver="gibbs", theta=1e-3, n_draws=200, random_state=0).fit(X, y)
    first = model.jointness().iloc[0]
    assert {first["first"], first["second"]} == {"x0", "x1"}
    assert first["both"] < 0.02
    assert first["either"] == pytest.approx(1)
    assert -30 < first["log_odds_ratio"] < -5


def test_which_variables_are_paired(table):
    model = SpikeSlabRegressor(solver="enumerate", theta=0.2, random_state=0).fit(*table)
    assert len(model.jointness(min_inclusion=0, max_variables=3)) == 3
    likely = model.summary()["inclusion"]
    pairs = model.jointness(min_inclusion=float(likely.iloc[1]))
    assert pairs[["first", "second"]].to_numpy().tolist() == [likely.index[:2].tolist()]
    none = model.jointness(min_inclusion=1.0, max_variables=1)
    assert none.empty
    assert none.columns.tolist() == pairs.columns.tolist()
    with pytest.raises(ValueError, match="min_inclusion must be between 0 and 1; got 2"):
        model.jointness(min_inclusion=2)
    with pytest.raises(ValueError, match="max_variables must be a positive integer; got 0"):
        model.jointness(max_variables=0)


def test_nothing_is_left_of_an_earlier_fit(table):
    X, y = table
    model = SpikeSlabRegressor(solver="enumerate", theta=0.2, random_state=0).fit(X, y)
    model.set_params(solver="gibbs").fit(X[["a", "b"]], y)
    assert len(model.jointness(min_inclusion=0)) == 1


def test_picture(table):
    model = SpikeSlabRegressor(solver="enumerate", theta=0.2, random_state=0).fit(*table)
    ax = model.plot_jointness(max_variables=4)
    ax.figure.canvas.draw()
    names = model.summary().index[:4].tolist()
    assert [label.get_text() for label in ax.get_yticklabels()] == names
    assert len(ax.patches) == 6
    largest = max(ax.patches, key=lambda patch: patch.get_width())
    x, y = largest.get_x() + largest.get_width() / 2, largest.get_y() + largest.get_height() / 2
    assert {names[round(x)], names[round(y)]} == {"a", "b"}
    assert len(model.plot_jointness(max_variables=1).patches) == 0
    plt.close("all")
