"""SpikeSlabRegressor over groups, under heredity and with penalty factors."""

import pickle
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from interrupts import interrupted
from reference import group_spike_slab as reference
from reference.subsets import preprocess
from scipy import sparse, stats
from sklearn.base import clone

from ellzero import SpikeSlabRegressor
from ellzero._warnings import DependentColumnWarning
from ellzero.posterior._unit_prior import theta_rate
from ellzero.regression._parents import Parents

LEVELS = np.array([0.0, 0.9, -0.6, 0.4])


def factor_data(n=120, seed=0):
    """A factor of four levels, one of three that does nothing, and two numbers."""
    rng = np.random.default_rng(seed)
    town, colour = rng.integers(0, 4, n), rng.integers(0, 3, n)
    numbers = rng.standard_normal((n, 2))
    y = LEVELS[town] + 0.3 * numbers[:, 0] + rng.standard_normal(n)
    return town, colour, numbers, y


def coded(town, colour, numbers, *, town_out=0, colour_out=0, order=None):
    """Dummies against one level of each factor; -1 leaves no level out."""
    parts = {f"town_{level}": town == level for level in range(4) if level != town_out}
    parts |= {f"colour_{level}": colour == level for level in range(3) if level != colour_out}
    X = pd.DataFrame(parts).astype(float)
    X[["size", "age"]] = numbers
    if order is not None:
        X = X[[X.columns[j] for j in order(len(X.columns))]]
    groups = {name: [c for c in X if c.startswith(name)] for name in ("town", "colour")}
    return X, groups


def products(n=150, seed=0):
    rng = np.random.default_rng(seed)
    mains = rng.standard_normal((n, 4))
    X = pd.DataFrame(mains, columns=list("abcd"))
    for one, two in combinations("abcd", 2):
        X[f"{one}:{two}"] = X[one] * X[two]
    return X, 0.2 * X["a"] + 0.2 * X["b"] + 0.8 * X["a:b"] + rng.standard_normal(n)


@pytest.mark.parametrize("slab", ["gaussian", "zellner"])
@pytest.mark.parametrize("solver", ["enumerate", "gibbs"])
def test_coding_changes_nothing(slab, solver):
    town, colour, numbers, y = factor_data()
    found = []
    for coding in (
        {},
        {"town_out": 2, "colour_out": 1},
        {"town_out": -1, "colour_out": -1},
        {"order": lambda p: list(reversed(range(p)))},
    ):
        X, groups = coded(town, colour, numbers, **coding)
        model = SpikeSlabRegressor(
            feature_groups=groups, slab=slab, solver=solver, random_state=0, n_draws=2000
        ).fit(X, y)
        names = ["town", "colour", "size", "age"]
        mean, sd = model.predict(X, return_std=True)
        found.append((model.group_probabilities_[names].to_numpy(), mean, sd))
    exact = solver == "enumerate"
    for probabilities, mean, sd in found[1:]:
        np.testing.assert_allclose(probabilities, found[0][0], atol=1e-8 if exact else 0.03)
        np.testing.assert_allclose(mean, found[0][1], atol=1e-7 if exact else 0.03)
        np.testing.assert_allclose(sd, found[0][2], rtol=0.05)


def test_equals_the_literal_sum_and_its_evidence():
    town, colour, numbers, y = factor_data(n=40)
    X, groups = coded(town, colour, numbers)
    theta = {"town": 0.3, "colour": 0.4, "size": 0.5, "age": 0.2}
    model = SpikeSlabRegressor(
        feature_groups=groups, theta=theta, sigma_e=1.1, sigma_beta=4.0, solver="enumerate"
    ).fit(X, y)
    Z, target = preprocess(X.to_numpy(), y)
    columns = [[0, 1, 2], [3, 4], [5], [6]]
    inclusion, mean, sd, masses, log_evidence = reference.posterior(
        Z,
        target,
        columns,
        degrees=39,
        slab="gaussian",
        s2_grid=([1.21], [0.0]),
        tau_grid=lambda s2: ([s2 / 16], [0.0]),
        theta=np.array(list(theta.values())),
        scales=np.array([3**-0.5, 2**-0.5, 1, 1]),
    )
    np.testing.assert_allclose(model.group_probabilities_, inclusion, atol=1e-9)
    spread = np.linalg.norm(X - X.mean(), axis=0)
    np.testing.assert_allclose(model.coef_, mean / spread, atol=1e-9)
    np.testing.assert_allclose(model.coef_sd_, sd / spread, rtol=1e-8)
    assert model.log_evidence_ == pytest.approx(log_evidence, abs=1e-8)
    names = list(theta)
    best = max(masses, key=masses.get)
    assert model.models_["groups"][0] == tuple(n for n, i in zip(names, best, strict=True) if i)
    assert model.models_["mass"][0] == pytest.approx(masses[best], abs=1e-9)


@pytest.mark.parametrize("strong", [True, False])
def test_the_evidence_with_theta_learned_under_heredity(strong):
    X, y = products(n=30)
    X = X[["a", "b", "a:b", "c", "d"]]
    model = SpikeSlabRegressor(
        heredity="strong" if strong else "weak",
        slab="zellner",
        g=20.0,
        sigma_e=1.2,
        expected_size=1.5,
        solver="enumerate",
    ).fit(X, y)
    Z, target = preprocess(X.to_numpy(), y.to_numpy())
    parents = [[], [], [0, 1], [], []]
    flat = Parents(np.array([0, 0, 0, 2, 2, 2]), np.array([0, 1]))
    inclusion, _, _, _, log_evidence = reference.posterior(
        Z,
        target,
        [[j] for j in range(5)],
        degrees=29,
        slab="zellner",
        s2_grid=([1.44], [0.0]),
        tau_grid=lambda s2: ([1.0], [0.0]),
        theta=(1.0, theta_rate(1.5, 5, flat, strong)),
        g=20.0,
        parents=parents,
        strong=strong,
    )
    np.testing.assert_allclose(model.group_probabilities_, inclusion, atol=1e-8)
    assert model.log_evidence_ == pytest.approx(log_evidence, abs=1e-8)


@pytest.mark.parametrize("solver", ["enumerate", "gibbs", "tempered"])
def test_groups_of_one_without_rules_have_the_same_bits(solver):
    X, y = products(n=80)
    plain = SpikeSlabRegressor(solver=solver, random_state=3, n_draws=200).fit(X, y)
    groups = SpikeSlabRegressor(
        solver=solver, random_state=3, n_draws=200, feature_groups=list(range(10))
    ).fit(X, y)
    for name in ("inclusion_probabilities_", "coef_", "coef_sd_"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(groups, name))
    np.testing.assert_array_equal(plain.draws_.coef.data, groups.draws_.coef.data)
    np.testing.assert_array_equal(plain.draws_.theta, groups.draws_.theta)
    assert groups.group_probabilities_.index.tolist() == [str(j) for j in range(10)]


@pytest.mark.parametrize("heredity", ["strong", "weak"])
def test_no_draw_breaks_heredity(heredity):
    X, y = products()
    model = SpikeSlabRegressor(heredity=heredity, solver="gibbs", random_state=0).fit(X, y)
    inside = pd.DataFrame(model.draws_.coef.toarray() != 0, columns=X.columns)
    for one, two in combinations("abcd", 2):
        pair = inside[[one, two]]
        has = pair.all(axis=1) if heredity == "strong" else pair.any(axis=1)
        assert not (inside[f"{one}:{two}"] & ~has).any()
    assert "a:b" in model.groups_
    exact = SpikeSlabRegressor(heredity=heredity, solver="enumerate").fit(X, y)
    np.testing.assert_allclose(
        model.inclusion_probabilities_, exact.inclusion_probabilities_, atol=0.03
    )
    for variables in exact.models_["groups"]:
        for name in variables:
            parts = [part in variables for part in name.split(":")]
            assert ":" not in name or (all if heredity == "strong" else any)(parts)


def test_products_of_factors_come_with_their_factors():
    town, colour, numbers, y = factor_data()
    X, groups = coded(town, colour, numbers)
    for one, two in product(groups["town"], groups["colour"]):
        X[f"{one} x {two}"] = X[one] * X[two]
    groups["both"] = [c for c in X if " x " in c]
    parents = {"both": ["town", "colour"]}
    model = SpikeSlabRegressor(
        feature_groups=groups, heredity="strong", parents=parents, random_state=0
    ).fit(X, y)
    for names in model.models_["groups"]:
        assert "both" not in names or {"town", "colour"} <= set(names)
    assert model.groups_ == ["town"]


def test_always_include_brings_the_parents_of_what_it_names():
    X, y = products()
    model = SpikeSlabRegressor(heredity="strong", always_include=["c:d"], random_state=0)
    model.fit(X, y)
    assert (model.group_probabilities_[["c", "d", "c:d"]] == 1).all()
    town, colour, numbers, y = factor_data()
    X, groups = coded(town, colour, numbers)
    model = SpikeSlabRegressor(feature_groups=groups, always_include="colour", random_state=0)
    model.fit(X, y)
    assert model.group_probabilities_["colour"] == 1
    assert all("colour" in names for names in model.models_["groups"])


def test_what_is_always_in_does_not_count_for_theta():
    X, y = products(n=60)
    X = X[["a", "b", "c"]]
    kept = SpikeSlabRegressor(feature_groups=[0, 0, 1], always_include=[2], solver="enumerate")
    kept.fit(X, y)
    # k of one free group: theta ~ Beta(1, 2 / .5 - 1), integrated over one coin
    prior = np.array([1 - 1 / 4, 1 / 4])
    assert stats.beta(1, 3).mean() == pytest.approx(prior[1])
    given = clone(kept).set_params(theta=prior[1]).fit(X, y)
    np.testing.assert_allclose(kept.group_probabilities_, given.group_probabilities_, atol=1e-9)
    assert kept.log_evidence_ == pytest.approx(given.log_evidence_, abs=1e-8)


def test_penalty_factor_multiplies_the_log_odds():
    town, colour, numbers, y = factor_data()
    X, groups = coded(town, colour, numbers)
    factors = {"town": 3.0, "age": 0.5}
    model = SpikeSlabRegressor(
        feature_groups=groups, theta=0.2, penalty_factor=factors, solver="enumerate"
    ).fit(X, y)
    theta = {"town": 1 / (1 + 4**3), "colour": 0.2, "size": 0.2, "age": 1 / (1 + 4**0.5)}
    same = SpikeSlabRegressor(feature_groups=groups, theta=theta, solver="enumerate").fit(X, y)
    np.testing.assert_allclose(model.group_probabilities_, same.group_probabilities_, atol=1e-12)
    # Of single columns it is the code for single columns, with every slab
    X, y = products(n=60)
    model = SpikeSlabRegressor(
        theta=0.2, penalty_factor=[2.0] * 10, slab="laplace", random_state=0, n_draws=50
    ).fit(X, y)
    same = SpikeSlabRegressor(theta=1 / 17, slab="laplace", random_state=0, n_draws=50).fit(X, y)
    np.testing.assert_allclose(
        model.inclusion_probabilities_, same.inclusion_probabilities_, atol=1e-9
    )


@pytest.mark.parametrize("heredity", [None, "strong", "weak"])
def test_sensitivity_is_what_other_expected_sizes_give(heredity):
    X, y = products(n=60, seed=4)
    settings = {"heredity": heredity, "feature_groups": [*range(7), 6, 6, 9]}
    model = SpikeSlabRegressor(solver="enumerate", **settings).fit(X, y)
    half, twice = model.sensitivity_.expected
    for size, inclusion in zip((half, twice), model.sensitivity_.inclusion, strict=True):
        other = SpikeSlabRegressor(solver="enumerate", expected_size=size, **settings).fit(X, y)
        np.testing.assert_allclose(other.group_probabilities_, inclusion, atol=1e-6)
    drawn = SpikeSlabRegressor(solver="gibbs", random_state=0, n_draws=4000, **settings).fit(X, y)
    for inclusion, expected in zip(
        drawn.sensitivity_.inclusion, model.sensitivity_.inclusion, strict=True
    ):
        np.testing.assert_allclose(inclusion, expected, atol=0.05)
    assert "groups been expected" in str(model.sensitivity_)


@pytest.mark.parametrize("strong", [True, False])
def test_as_many_units_as_expected_are_expected(strong):
    parents = [[], [], [], [0, 1], [1, 2], [0]]
    begins = np.concatenate([[0], np.cumsum([len(of) for of in parents])])
    flat = Parents(begins, np.array([j for of in parents for j in of]))
    for size in (0.3, 1.5, 4.0):
        b = theta_rate(size, 6, flat, strong)
        expected = sum(
            sum(inside) * reference.prior_of(inside, (1.0, b), parents, strong)
            for inside in product([False, True], repeat=6)
        )
        assert expected == pytest.approx(size, rel=1e-4)


def test_results_speak_of_groups():
    town, colour, numbers, y = factor_data()
    X, groups = coded(town, colour, numbers)
    model = SpikeSlabRegressor(feature_groups=groups, solver="gibbs", random_state=0).fit(X, y)
    names = ["town", "colour", "size", "age"]
    assert model.group_probabilities_.index.tolist() == names
    np.testing.assert_array_equal(
        model.inclusion_probabilities_, model.group_probabilities_.to_numpy()[[0, 0, 0, 1, 1, 2, 3]]
    )
    assert model.groups_[0] == "town"
    assert {0, 1, 2} <= set(model.support_)
    table = model.summary()
    assert table.index.names == ["group", "variable"]
    assert len(table) == 9
    assert table.loc[("town", ""), "inclusion"] == model.group_probabilities_["town"]
    assert table.loc[("town", "town_1"), "coefficient"] == model.coef_[0]
    assert np.isnan(table.loc[("town", "town_1"), "inclusion"])
    assert table.loc[("size", "size")].notna().all()
    assert table.attrs["solver"] == "gibbs"
    assert model.diagnostics_.index[:4].tolist() == names
    assert model.draws_.size.max() <= 4
    assert model.draws_.groups.shape == (4000, 4)
    assert set(model.jointness(min_inclusion=0.0)["first"]) <= set(names)
    assert model.credible_sets_[0].variables == ["town"]
    assert model.credible_interval().index.tolist() == X.columns.tolist()
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert str(copy.sensitivity_) == str(model.sensitivity_)
    plain = model.set_params(feature_groups=None).fit(X, y)
    assert not hasattr(plain, "groups_")
    assert not hasattr(plain, "group_probabilities_")


def test_weights_and_sparse_columns():
    town, colour, numbers, y = factor_data(n=60)
    X, groups = coded(town, colour, numbers)
    settings = {"feature_groups": groups, "solver": "enumerate"}
    weights = np.arange(60) % 3
    weighted = SpikeSlabRegressor(**settings).fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(60), weights)
    repeated = SpikeSlabRegressor(**settings).fit(X.iloc[rows], y[rows])
    np.testing.assert_allclose(
        weighted.group_probabilities_, repeated.group_probabilities_, atol=1e-8
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-8)
    labels = ["t", "t", "t", "c", "c", "s", "a"]
    thin = SpikeSlabRegressor(feature_groups=labels, solver="enumerate")
    dense = clone(thin).fit(X.to_numpy(), y)
    thin.fit(sparse.csc_array(X.to_numpy()), y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-10)


def test_constant_and_dependent_columns_are_ordinary():
    town, colour, numbers, y = factor_data()
    X, groups = coded(town, colour, numbers, town_out=-1)
    X["constant"] = 1.0
    model = SpikeSlabRegressor(feature_groups=groups, random_state=0).fit(X, y)
    assert model.group_probabilities_["constant"] == 0
    assert np.count_nonzero(model.coef_[:4]) == 3
    X["copy"] = X["size"]
    forced = SpikeSlabRegressor(
        feature_groups=groups, slab="zellner", always_include=["size", "copy"], random_state=0
    )
    with pytest.warns(DependentColumnWarning, match="copy"):
        forced.fit(X, y)


def test_noise_has_no_groups():
    false = 0
    for seed in range(100):
        rng = np.random.default_rng([7, seed])
        labels = np.repeat(np.arange(20), rng.integers(1, 5, 20))[:20]
        X, y = rng.standard_normal((100, 20)), rng.standard_normal(100)
        model = SpikeSlabRegressor(
            feature_groups=labels, random_state=0, n_chains=2, n_draws=300, n_warmup=100
        ).fit(X, y)
        false += len(model.groups_)
    assert false <= 5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"feature_groups": [0, 0]}, "feature_groups has 2 labels, but X has 10 columns"),
        ({"feature_groups": {"g": ["a", "z"]}}, "feature_groups"),
        ({"feature_groups": {"g": []}}, "group 'g' is empty"),
        ({"feature_groups": {"g": ["a"], "h": ["a"]}}, "is in two groups"),
        ({"heredity": "some"}, "heredity must be 'strong', 'weak' or None"),
        ({"parents": {"a": ["b"]}}, "parents needs heredity"),
        ({"heredity": "strong", "parents": {"a": ["z"]}}, "parents names 'z'"),
        ({"heredity": "weak", "always_include": ["a:b"]}, "none of its parents"),
        ({"heredity": "strong", "slab": "laplace"}, "slab='laplace' is for single columns"),
        ({"feature_groups": [0] * 10, "slab": "boom"}, "slab='boom' is for single columns"),
        ({"heredity": "strong", "solver": "tempered"}, "solver='tempered' is for single columns"),
        ({"penalty_factor": [1.0] * 10}, "penalty_factor multiplies the log-odds of a theta"),
        ({"penalty_factor": [1.0], "theta": 0.2}, "penalty_factor has 1 numbers"),
        ({"penalty_factor": {"a": 0}, "theta": 0.2}, "penalty_factor must hold positive numbers"),
        ({"feature_groups": [*[0] * 8, 1, 2], "theta": [0.1, 0.2]}, "there are 3 groups"),
        ({"feature_groups": [*[0] * 8, 1, 2], "theta": {"z": 0.1}}, "theta names"),
        ({"feature_groups": {"g": ["a", "b"]}, "theta": {"a": 0.1, "b": 0.2}}, "two probabilities"),
        ({"feature_groups": {"g": ["a", "b"]}, "theta": {"g": 0.0}, "always_include": "g"}, "is 0"),
        ({"heredity": "strong", "theta": {"a:b": 1.0}}, "name it in always_include"),
        (
            {"feature_groups": [*[0] * 8, 1, 2], "expected_size": 3},
            "less than the number of groups",
        ),
    ],
)
def test_one_sentence_for_each_kind_of_bad_input(settings, message):
    X, y = products(n=40)
    model = SpikeSlabRegressor(n_draws=20, random_state=0, **settings)
    with pytest.raises(ValueError, match=message) as raised:
        model.fit(X, y)
    assert str(raised.value).endswith(".")


def test_too_many_groups_to_enumerate():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 40)), rng.standard_normal(50)
    model = SpikeSlabRegressor(feature_groups=np.repeat(np.arange(20), 2), solver="enumerate")
    with pytest.raises(ValueError, match="takes at most 16 groups with a variance learned, but 20"):
        model.fit(X, y)


@pytest.mark.parametrize("solver", ["gibbs", "enumerate"])
def test_a_keyboard_interrupt_propagates(solver):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 320)), rng.standard_normal(200)
    labels = np.repeat(np.arange(16), 20)
    model = SpikeSlabRegressor(feature_groups=labels, solver=solver, n_draws=100_000, n_jobs=2)
    with interrupted():
        model.fit(X, y)
    assert not hasattr(model, "coef_")
