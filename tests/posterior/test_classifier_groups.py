"""Groups, heredity and penalty factors in the posterior of two classes."""

import numpy as np
import pandas as pd
import pytest
from reference.logit_spike_slab import group_bases, group_posterior
from scipy.special import betaln

from ellzero import SpikeSlabClassifier

LABELS = ["a", "b", "b", "c"]
GROUPS = [[0], [1, 2], [3]]
PARENTS = {"c": ["a", "b"]}


def data(seed=0, n=50):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) + 0.5 * rng.normal(size=(n, 1))
    psi = 0.8 * X[:, 1] - 0.6 * X[:, 2] + 0.5 * X[:, 0]
    return X, (rng.random(n) < 1 / (1 + np.exp(-psi))).astype(int)


def may_be_in(inside, heredity):
    """How many of the three may be in, and whether the set is closed."""
    need = {None: True, "strong": {0, 1} <= set(inside), "weak": bool({0, 1} & set(inside))}
    open_ = need[heredity]
    return 2 + open_, open_ or 2 not in inside


@pytest.mark.parametrize("heredity", [None, "strong", "weak"])
@pytest.mark.parametrize("learned", [False, True])
def test_against_quadrature(heredity, learned):
    X, y = data(1)
    n = len(y)
    spread = (2.0, n / (y.mean() * (1 - y.mean()))) if learned else 4.0 * n
    how = {} if learned else {"theta": 0.3, "sigma_beta": 2 * np.sqrt(n)}
    rules = {} if heredity is None else {"heredity": heredity, "parents": PARENTS}
    model = SpikeSlabClassifier(
        feature_groups=LABELS, random_state=0, n_chains=8, n_draws=1500, **how, **rules
    ).fit(X, y)
    from ellzero.posterior._unit_prior import theta_rate
    from ellzero.regression._units import Structure, resolve_units

    units = resolve_units(Structure(feature_groups=LABELS, **rules), None, 4, None)
    b = theta_rate(0.75, 3, units.parents, units.strong)  # a quarter of three expected

    def log_prior_of(inside):
        k, (m, closed) = len(inside), may_be_in(inside, heredity)
        if not closed:
            return -np.inf
        if learned:
            return betaln(1 + k, b + m - k) - betaln(1, b)
        return k * np.log(0.3) + (m - k) * np.log(0.7)

    masses, fit = group_posterior(
        group_bases(X, GROUPS, np.ones(n)), np.ones(n), y, spread=spread, log_prior_of=log_prior_of
    )
    expected = [sum(mass for units, mass in masses.items() if u in units) for u in range(3)]
    errors = model.probability_errors_[[0, 1, 3]]
    assert np.all(np.abs(model.group_probabilities_ - expected) < 5 * errors + 1e-3)
    found = (X - X.mean(0)) @ model.coef_[0]
    np.testing.assert_allclose(found, fit, atol=0.05)
    drawn = {tuple(names): mass for names, _, mass in model.models_.itertuples(index=False)}
    if heredity is not None:
        assert not any("c" in names and len(names) == 1 for names in drawn)
    if heredity == "strong":
        assert not any("c" in names and len(names) < 3 for names in drawn)


def test_groups_of_one_are_columns():
    X, y = data(2, n=80)
    columns = SpikeSlabClassifier(solver="gibbs", random_state=0, n_draws=3000).fit(X, y)
    groups = SpikeSlabClassifier(feature_groups=list("abcd"), random_state=0, n_draws=3000).fit(
        X, y
    )
    bound = 5 * np.hypot(columns.probability_errors_, groups.probability_errors_) + 1e-3
    distance = np.abs(columns.inclusion_probabilities_ - groups.inclusion_probabilities_)
    assert np.all(distance < bound)
    np.testing.assert_allclose(groups.coef_, columns.coef_, atol=0.03)
    np.testing.assert_allclose(groups.coef_sd_, columns.coef_sd_, atol=0.03)


def test_coding_changes_nothing():
    rng = np.random.default_rng(3)
    code = rng.integers(0, 4, 200)
    y = rng.random(200) < np.array([0.2, 0.8, 0.5, 0.5])[code]
    x = rng.normal(size=200)
    found = []
    for reference in (0, 3, None):
        levels = [level for level in range(4) if level != reference]
        X = np.column_stack([x, *[(code == level).astype(float) for level in levels]])
        labels = ["x"] + ["f"] * len(levels)
        model = SpikeSlabClassifier(feature_groups=labels, random_state=0).fit(X, y)
        found.append((model.group_probabilities_.to_numpy(), model.predict_proba(X)[:, 1]))
    for probabilities, predicted in found[1:]:
        np.testing.assert_allclose(probabilities, found[0][0], atol=0.02)
        np.testing.assert_allclose(predicted, found[0][1], atol=0.02)


def test_results_speak_of_groups():
    X, y = data(4, n=150)
    frame = pd.DataFrame(X, columns=["one", "two", "three", "four"])
    model = SpikeSlabClassifier(feature_groups={"pair": ["two", "three"]}, random_state=0)
    model.fit(frame, np.where(y == 1, "yes", "no"))
    assert "pair" in model.groups_
    assert list(model.group_probabilities_.index) == ["one", "pair", "four"]
    assert model.inclusion_probabilities_[1] == model.inclusion_probabilities_[2]
    assert model.summary().index.names == ["group", "variable"]
    assert "odds_ratio" in model.summary()
    assert "groups" in model.models_
    assert "groups been expected" in str(model.sensitivity_)
    assert model.draws_.groups.shape == (4000, 3)
    assert set(model.draws_.size.ravel()) <= {0, 1, 2, 3}
    assert any("pair" in found.variables for found in model.credible_sets_)
    probability = model.predict_proba(frame)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    again = SpikeSlabClassifier(random_state=0).fit(frame, y)
    assert not hasattr(again, "groups_")


def test_counts_are_repeated_rows_and_threads_change_nothing():
    X, y = data(5, n=30)
    weights = np.random.default_rng(0).integers(0, 3, 30)
    how = {"feature_groups": LABELS, "random_state": 1, "n_draws": 100, "n_warmup": 50}
    counted = SpikeSlabClassifier(**how).fit(X, y, weights)
    repeated = SpikeSlabClassifier(**how, n_jobs=2).fit(
        np.repeat(X, weights, 0), np.repeat(y, weights)
    )
    np.testing.assert_array_equal(counted.coef_, repeated.coef_)
    np.testing.assert_array_equal(counted.draws_.intercept, repeated.draws_.intercept)


@pytest.mark.filterwarnings("ignore:SpikeSlabClassifier")
def test_little_is_found_in_noise():
    labels = np.repeat(np.arange(8), [1, 2, 3, 4, 1, 2, 3, 4])
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(100 + seed)
        X, y = rng.normal(size=(100, 20)), rng.integers(0, 2, 100)
        model = SpikeSlabClassifier(
            feature_groups=labels, random_state=seed, n_chains=2, n_draws=400, n_warmup=200
        ).fit(X, y)
        found += len(model.groups_)
    assert found <= 3


def test_always_in_never_in_and_prices():
    X, y = data(6)
    model = SpikeSlabClassifier(
        feature_groups=LABELS, always_include=["c"], random_state=0, n_draws=200
    ).fit(X, y)
    assert model.group_probabilities_["c"] == 1
    never = SpikeSlabClassifier(
        feature_groups=LABELS, theta={"b": 0.0}, random_state=0, n_draws=200
    ).fit(X, y)
    assert never.group_probabilities_["b"] == 0
    dear = SpikeSlabClassifier(
        feature_groups=LABELS, theta=0.2, penalty_factor={"b": 6}, random_state=0, n_draws=200
    ).fit(X, y)
    plain = SpikeSlabClassifier(feature_groups=LABELS, theta=0.2, random_state=0, n_draws=200).fit(
        X, y
    )
    assert dear.group_probabilities_["b"] < plain.group_probabilities_["b"]


def test_a_constant_group_is_left_out():
    X, y = data(7)
    X = np.column_stack([X, np.ones(len(y)), np.full(len(y), 2.0)])
    labels = [*LABELS, "dead", "dead"]
    model = SpikeSlabClassifier(feature_groups=labels, random_state=0, n_draws=100).fit(X, y)
    assert model.group_probabilities_["dead"] == 0
    with pytest.warns(UserWarning, match="dead"):
        SpikeSlabClassifier(
            feature_groups=labels, always_include=["dead"], random_state=0, n_draws=100
        ).fit(X, y)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"solver": "enumerate"}, "groups have 'gibbs'"),
        ({"penalty_factor": {"b": 2}}, "penalty_factor multiplies the log-odds"),
        ({"expected_size": 3}, "expected_size"),
        ({"theta": {"b": 0.0}, "always_include": ["b"]}, "always_include names 'b'"),
        ({"heredity": "strong"}, "heredity needs columns with names"),
    ],
)
def test_what_can_not_be_asked_of_groups(asked, words):
    X, y = data(8)
    with pytest.raises(ValueError, match=words):
        SpikeSlabClassifier(feature_groups=LABELS, **asked).fit(X, y)
