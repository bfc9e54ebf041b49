"""Marginal likelihoods, odds and the evidence, against densities of y on grids of variances."""

import numpy as np
import pytest
from model_kinds import KINDS, make_data, slab_shape, variances
from reference.marginal_likelihood import log_marginal
from reference.subsets import preprocess
from scipy.special import logsumexp

from ellzero import SpikeSlabRegressor

QUICK = {"n_chains": 2, "n_draws": 50, "random_state": 0}


@pytest.mark.parametrize("kind", KINDS)
def test_marginal_likelihood_is_the_density_of_y(kind):
    X, y = make_data()
    n = len(y)
    model = SpikeSlabRegressor(theta=0.4, solver="enumerate", **KINDS[kind], **QUICK).fit(X, y)
    Z, target = preprocess(X.to_numpy(), y)
    degrees = n if kind.startswith("boom") else n - 1  # its intercept has a prior too
    grid = variances(kind, y)
    table = model.models_.head(6)
    for variables, found in zip(table["variables"], table["log_marginal"], strict=True):
        Z_S = Z[:, [list(X).index(name) for name in variables]]
        expected = log_marginal(Z_S, target, degrees, slab_shape(Z_S, kind, n), grid)
        assert found == pytest.approx(expected, abs=1e-5), variables


PRIORS = {
    "theta learned": {},
    "by column": {"theta": [0.1, 0.5, 0.9, 0.3, 0.0]},
    "always in": {"always_include": ["c"]},
    "prices": {"theta": 0.4, "penalty_factor": {"a": 2.0, "b": 0.5}},
    "groups": {"feature_groups": {"one": ["a", "d"], "two": ["b", "e"]}},
    "groups, zellner": {"feature_groups": {"one": ["a", "d"]}, "slab": "zellner"},
    "groups, always": {"feature_groups": {"one": ["a", "d"]}, "always_include": ["one"]},
    "strong": {"heredity": "strong", "parents": {"c": ["a", "b"], "d": ["a"]}},
    "scales": {"slab_scale": {"a": 3.0, "c": 0.5}},
    "flat": {"flat": ["a"]},
    "flat, theta given": {"flat": ["a", "d"], "theta": 0.3},
    "flat, scales, groups": {
        "flat": ["c"],
        "feature_groups": {"one": ["a", "d"]},
        "slab_scale": {"b": 2.0},
    },
    "flat, strong": {"flat": ["a"], "heredity": "strong", "parents": {"c": ["a", "b"]}},
    "weak, given": {"heredity": "weak", "parents": {"c": ["a", "b"]}, "theta": 0.3},
}


@pytest.mark.parametrize("kind", ["both learned", "given"])
@pytest.mark.parametrize("prior", PRIORS)
def test_posterior_of_every_model_is_likelihood_times_prior(prior, kind):
    # p(S | y) p(y) = p(y | S) p(S), where the core has the left-hand side from its own walk
    X, y = make_data(seed=1)
    settings = {**KINDS[kind], **PRIORS[prior]}
    if settings.get("slab") == "zellner":
        settings.pop("sigma_beta", None)
    model = SpikeSlabRegressor(solver="enumerate", **settings, **QUICK).fit(X, y)
    table = model.models_
    left = np.log(table["mass"]) + model.log_evidence_
    right = table["log_marginal"] + np.log(table["prior"])
    np.testing.assert_allclose(left, right, atol=1e-6)
    np.testing.assert_allclose(table["renormalised"], table["mass"], atol=1e-5)
    assert model.log_evidence_error_ == 0


def test_odds_are_against_the_most_probable_model():
    X, y = make_data(seed=2)
    table = SpikeSlabRegressor(**QUICK).fit(X, y).models_
    first = table.iloc[0]
    assert first[["bayes_factor", "prior_odds", "posterior_odds"]].tolist() == [1, 1, 1]
    np.testing.assert_allclose(table["posterior_odds"], table["bayes_factor"] * table["prior_odds"])
    np.testing.assert_allclose(table["posterior_odds"], table["mass"] / first["mass"], rtol=1e-6)
    np.testing.assert_allclose(table["prior_odds"], table["prior"] / first["prior"])


def test_marginal_likelihoods_compare_fits_on_the_same_rows():
    # A model's likelihood is that of the fit in which it is the only one
    X, y = make_data(seed=3)
    given = {"sigma_e": 1.3, "sigma_beta": 6.0, **QUICK}
    table = SpikeSlabRegressor(theta=0.3, **given).fit(X, y).models_
    for i in range(3):
        names = list(table["variables"][i])
        alone = SpikeSlabRegressor(theta=0.0, always_include=names, **given)
        alone.set_params(theta={name: float(name in names) for name in X}, always_include=None)
        assert alone.fit(X, y).log_evidence_ == pytest.approx(table["log_marginal"][i], abs=1e-9)


def test_a_factor_with_a_column_too_many():
    # The dummies of all levels depend on each other: the core leaves out the last
    rng = np.random.default_rng(4)
    level = rng.integers(0, 3, size=60)
    dummies = (level[:, None] == np.arange(3)).astype(float)
    X = np.column_stack([dummies, rng.standard_normal((60, 2))])
    y = np.array([0.0, 0.8, -0.8])[level] + rng.standard_normal(60)
    groups = {"level": [0, 1, 2]}
    model = SpikeSlabRegressor(feature_groups=groups, solver="enumerate", **QUICK).fit(X, y)
    table = model.models_
    left = np.log(table["mass"]) + model.log_evidence_
    np.testing.assert_allclose(left, table["log_marginal"] + np.log(table["prior"]), atol=1e-6)


def test_there_is_none_for_a_laplace_slab():
    X, y = make_data()
    model = SpikeSlabRegressor(slab="laplace", **QUICK).fit(X, y)
    assert model.models_["log_marginal"].isna().all()
    assert model.models_["prior"].gt(0).all()
    assert not hasattr(model, "log_evidence_")
    with pytest.raises(AttributeError, match="closed form"):
        model.log_evidence_error_  # noqa: B018


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"slab": "zellner", "theta": 0.3},
        {"slab": "boom"},
        {"scale_prior": "zellner-siow"},
        {"feature_groups": {"one": ["a", "d", "e"]}, "sigma_e": 1.3},
        {"heredity": "weak", "parents": {"c": ["a", "b"]}},
        {"solver": "tempered"},
        {"flat": ["a"], "slab_scale": {"b": 2.0}},
    ],
)
def test_evidence_from_draws(settings):
    # Against all models; errors are of the size that they say
    scores = []
    for seed in range(4):
        X, y = make_data(p=8, seed=100 + seed, noise=2.0)
        exact = SpikeSlabRegressor(**{**settings, "solver": "enumerate"}, **QUICK).fit(X, y)
        chains = {"solver": "gibbs", **settings, "random_state": seed, "n_draws": 500}
        model = SpikeSlabRegressor(**chains).fit(X, y)
        assert 0 < model.log_evidence_error_ < 0.2
        scores.append((model.log_evidence_ - exact.log_evidence_) / model.log_evidence_error_)
    assert np.abs(scores).max() < 4, scores
    assert np.sqrt(np.mean(np.square(scores))) < 2.5, scores


def test_evidence_of_one_chain_and_of_too_few_draws():
    X, y = make_data(p=9, seed=7)
    exact = SpikeSlabRegressor(solver="enumerate", **QUICK).fit(X, y).log_evidence_
    one = SpikeSlabRegressor(solver="gibbs", n_chains=1, random_state=0).fit(X, y)
    assert abs(one.log_evidence_ - exact) < 5 * one.log_evidence_error_
    few = SpikeSlabRegressor(solver="gibbs", n_chains=1, n_draws=10, random_state=0).fit(X, y)
    with pytest.raises(AttributeError, match="draws of one half of the chains"):
        few.log_evidence_  # noqa: B018
    assert not hasattr(few, "log_evidence_error_")


def test_likelihoods_stop_at_a_thousand_models():
    rng = np.random.default_rng(8)
    X, y = rng.standard_normal((30, 60)), rng.standard_normal(30)
    model = SpikeSlabRegressor(theta=0.2, sigma_e=1.0, sigma_beta=1.0, random_state=0).fit(X, y)
    table = model.models_
    assert len(table) > 1000
    assert table["log_marginal"][:1000].notna().all()
    assert table["log_marginal"][1000:].isna().all()
    assert table["renormalised"].sum() == pytest.approx(1)


def test_masses_from_draws_and_likelihoods_agree():
    X, y = make_data(p=9, seed=9, noise=2.0)
    model = SpikeSlabRegressor(solver="gibbs", random_state=0, n_draws=3000).fit(X, y)
    top = model.models_.head(5)
    share = logsumexp(top["log_marginal"] + np.log(top["prior"])) - model.log_evidence_
    assert np.exp(share) == pytest.approx(top["mass"].sum(), abs=0.03)
