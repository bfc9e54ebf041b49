"""Flat terms and scales of slabs beside groups and under heredity."""

import numpy as np
import pandas as pd
import pytest
from reference import group_spike_slab as reference

from ellzero import SpikeSlabRegressor
from ellzero.posterior._unit_prior import theta_rate
from ellzero.regression._parents import Parents

N = 40
GROUPS = {"town": ["t1", "t2", "t3"], "block": ["b1", "b2"]}


@pytest.fixture(scope="module")
def table():
    """A factor, blocks that it is not balanced over, a trend, and two numbers."""
    rng = np.random.default_rng(2)
    block = rng.integers(0, 3, N)
    town = (block + rng.integers(0, 3, N)) % 4
    X = pd.DataFrame({f"t{level}": (town == level) * 1.0 for level in (1, 2, 3)})
    X["b1"], X["b2"] = (block == 1) * 1.0, (block == 2) * 1.0
    X["trend"] = np.arange(N) / 10
    X["size"] = rng.standard_normal(N) + 0.2 * X["trend"]
    X["age"] = rng.standard_normal(N)
    y = 2.0 * block + X["trend"] + np.array([0.0, 0.9, -0.6, 0.4])[town] + 0.5 * X["size"]
    return X, y + rng.standard_normal(N)


def left_of(X, y, flat):
    """Return y and the other columns less what the flat ones and the intercept explain of them."""
    F = np.column_stack([np.ones(len(y)), X[flat]])
    both = np.column_stack([y, X.drop(columns=flat)])
    return both - F @ np.linalg.lstsq(F, both, rcond=None)[0], F


def share_left(X, group, F):
    """Return the root of what is left of the squares of an orthonormal basis of a group."""
    Q, _ = np.linalg.qr(X[group] - X[group].mean())
    left = Q - F @ np.linalg.lstsq(F, Q, rcond=None)[0]
    return np.sqrt(np.sum(left**2) / len(group))


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("slab", ["gaussian", "zellner"])
def test_equals_the_literal_sum(table, slab, scaled):
    X, y = table
    flat = ["b1", "b2", "trend"]
    given = {"sigma_beta": 4.0} if slab == "gaussian" else {"g": 30.0}
    if scaled and slab == "gaussian":
        given["slab_scale"] = {"town": 3.0, "age": 0.5}
    theta = {"town": 0.3, "size": 0.5, "age": 0.2}
    model = SpikeSlabRegressor(
        feature_groups=GROUPS, flat=["block", "trend"], slab=slab, theta=theta, sigma_e=1.1,
        random_state=0, **given,
    ).fit(X, y)  # fmt: skip
    both, F = left_of(X, y, flat)
    names = [["t1", "t2", "t3"], ["size"], ["age"]]
    scales = np.array([share_left(X, group, F) for group in names]) / [3**0.5, 1, 1]
    if scaled:
        scales *= [3.0, 1.0, 0.5]
    inclusion, mean, sd, masses, log_evidence = reference.posterior(
        both[:, 1:],
        both[:, 0],
        [[0, 1, 2], [3], [4]],
        degrees=N - 4,
        slab=slab,
        g=30.0,
        s2_grid=([1.21], [0.0]),
        tau_grid=lambda s2: ([s2 / 16], [0.0]),
        theta=np.array(list(theta.values())),
        scales=scales if slab == "gaussian" else None,
    )
    found = model.group_probabilities_
    np.testing.assert_allclose(found[["town", "size", "age"]], inclusion, atol=1e-9)
    assert found["block"] == found["trend"] == 1
    chosen = [X.columns.get_loc(name) for group in names for name in group]
    np.testing.assert_allclose(model.coef_[chosen], mean, atol=1e-9)
    np.testing.assert_allclose(model.coef_sd_[chosen], sd, rtol=1e-8)
    assert model.log_evidence_ == pytest.approx(log_evidence, abs=1e-8)
    beta = np.linalg.lstsq(F, y - X.iloc[:, chosen] @ mean, rcond=None)[0]
    np.testing.assert_allclose(model.coef_[[3, 4, 5]], beta[1:], rtol=1e-8)
    assert model.intercept_ == pytest.approx(beta[0])
    best = max(masses, key=masses.get)
    expected = {name for name, i in zip(("town", "size", "age"), best, strict=True) if i}
    assert set(model.models_["groups"][0]) == expected | {"block", "trend"}


def test_groups_of_one_column_are_columns(table):
    X, y = table
    settings = {"flat": ["b1", "trend"], "slab_scale": {"size": 2.0}, "random_state": 0}
    names = ["b1", "trend", "size", "age", "t1"]
    columns = SpikeSlabRegressor(**settings).fit(X[names], y)
    # Heredity that binds nobody, for a parent that is flat
    grouped = SpikeSlabRegressor(
        heredity="strong", parents={"age": ["trend"]}, expected_size=0.75, **settings
    ).fit(X[names], y)
    np.testing.assert_allclose(
        grouped.inclusion_probabilities_, columns.inclusion_probabilities_, rtol=1e-7
    )
    np.testing.assert_allclose(grouped.coef_, columns.coef_, rtol=1e-6)
    assert grouped.log_evidence_ == pytest.approx(columns.log_evidence_, abs=1e-7)


def test_coding_of_flat_factors_and_of_others_changes_nothing(table):
    X, y = table
    other = X.copy()
    other["b1"] = 1 - X["b1"] - X["b2"]
    other["t2"] = 1 - X["t1"] - X["t2"] - X["t3"]
    found = []
    for coded in (X, other):
        model = SpikeSlabRegressor(feature_groups=GROUPS, flat="block", random_state=0)
        model.fit(coded, y)
        assert model.solver_ == "enumerate"
        found.append((model.group_probabilities_.to_numpy(), model.predict(coded)))
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-8)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-7)


def test_chains_agree_with_all_sets(table):
    X, y = table
    settings = {"feature_groups": GROUPS, "flat": ["b1", "trend"], "slab_scale": {"town": 0.5}}
    exact = SpikeSlabRegressor(random_state=0, **settings).fit(X, y)
    chains = SpikeSlabRegressor(solver="gibbs", n_draws=3000, random_state=1, **settings)
    chains.fit(X, y)
    np.testing.assert_allclose(chains.group_probabilities_, exact.group_probabilities_, atol=0.03)
    np.testing.assert_allclose(chains.coef_, exact.coef_, atol=0.05)
    np.testing.assert_allclose(chains.coef_sd_, exact.coef_sd_, rtol=0.1)


@pytest.mark.parametrize("strong", [True, False])
def test_flat_parents_are_there(strong):
    rng = np.random.default_rng(0)
    mains = pd.DataFrame(rng.standard_normal((30, 3)), columns=list("abc"))
    for one, two in ("ab", "ac", "bc"):
        mains[f"{one}:{two}"] = mains[one] * mains[two]
    y = mains["a"] + 0.5 * mains["a:b"] + rng.standard_normal(30)
    model = SpikeSlabRegressor(
        heredity="strong" if strong else "weak",
        flat=["a"],
        slab="zellner",
        g=20.0,
        sigma_e=1.2,
        expected_size=1.5,
        random_state=0,
    ).fit(mains, y)
    both, _ = left_of(mains, y, ["a"])
    # Of b, c, a:b, a:c, b:c
    parents = [[], [], [0], [1], [0, 1]] if strong else [[], [], [], [], [0, 1]]
    by_unit = Parents(np.array([0, 0, 0, 0, 2, 4, 6]), np.array([0, 1, 0, 2, 1, 2]))
    b = theta_rate(1.5, 6, by_unit, strong, np.array([0]))
    inclusion, _, _, _, log_evidence = reference.posterior(
        both[:, 1:],
        both[:, 0],
        [[j] for j in range(5)],
        degrees=28,
        slab="zellner",
        g=20.0,
        s2_grid=([1.44], [0.0]),
        tau_grid=lambda s2: ([1.0], [0.0]),
        theta=(1.0, b),
        parents=parents,
        strong=strong,
    )
    np.testing.assert_allclose(model.inclusion_probabilities_[1:], inclusion, atol=1e-8)
    assert model.log_evidence_ == pytest.approx(log_evidence, abs=1e-7)
    sets = [[i >> unit & 1 == 1 for unit in range(5)] for i in range(32)]
    expected = sum(
        sum(inside) * reference.prior_of(inside, (1.0, b), parents, strong) for inside in sets
    )
    assert expected == pytest.approx(1.5, abs=1e-6)
    assert model.sensitivity_.expected == (0.75, 3.0)
    assert "a" in model.models_["groups"][0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"flat": ["a:b"]}, "flat names 'a:b', which needs its parents"),
        ({"flat": ["a"], "always_include": ["a"]}, "flat and always_include both name 'a'"),
    ],
)
def test_flat_products_need_their_parents(parameters, message):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((30, 3)), columns=["a", "b", "a:b"])
    with pytest.raises(ValueError, match=message):
        SpikeSlabRegressor(heredity="strong", **parameters).fit(X, X["a"] + X["b"])


def test_flat_products_with_their_parents():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((30, 4)), columns=["a", "b", "a:b", "c"])
    y = X["a"] + rng.standard_normal(30)
    for rest in ({"flat": ["a", "b", "a:b"]}, {"flat": ["a:b"], "always_include": ["a", "b"]}):
        model = SpikeSlabRegressor(heredity="strong", random_state=0, **rest).fit(X, y)
        assert (model.inclusion_probabilities_[:3] == 1).all()
    model = SpikeSlabRegressor(
        heredity="strong", random_state=0, flat=["a"], always_include=["a:b"]
    ).fit(X, y)
    assert (model.inclusion_probabilities_[:3] == 1).all()
