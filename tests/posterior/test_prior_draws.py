"""Draws from priors, against the distributions that the documentation names."""

from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import pytest
from reference.group_spike_slab import prior_of
from scipy import integrate, sparse, stats

from ellzero import (
    BayesianBridgeRegressor,
    HorseshoeRegressor,
    SpikeSlabClassifier,
    SpikeSlabRegressor,
)

N, P = 30, 5
LEAST = 1e-4  # of the p-values of tests with fixed seeds


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P))
    X[:, 1] += X[:, 0]
    return pd.DataFrame(X, columns=list("abcde")), X[:, 0] + rng.standard_normal(N) + 3


def unit_coef(draws, X):
    """Coefficients for centred columns of unit norm."""
    coef = draws.coef if isinstance(draws.coef, np.ndarray) else draws.coef.toarray()
    return coef * np.linalg.norm(X - X.mean(), axis=0)


def test_theta_and_size(table):
    draws = SpikeSlabRegressor(expected_size=2).sample_prior(*table, 4000, random_state=0)
    assert stats.kstest(draws.theta[0], stats.beta(1, P / 2 - 1).cdf).pvalue > LEAST
    expected = 4000 * stats.betabinom(P, 1, P / 2 - 1).pmf(np.arange(P + 1))
    counts = np.bincount(draws.size[0], minlength=P + 1)
    assert stats.chisquare(counts, expected).pvalue > LEAST
    theta = [0.0, 0.2, 0.5, 0.9, 1.0]
    given = SpikeSlabRegressor(theta=theta).sample_prior(*table, 4000, random_state=0)
    assert given.theta is None
    share = np.diff(given.coef.tocsc().indptr) / 4000
    np.testing.assert_allclose(share, theta, atol=0.03)


@pytest.mark.parametrize("heredity", ["strong", "weak"])
@pytest.mark.parametrize("theta", [0.4, "learn"])
def test_models_under_heredity(table, heredity, theta):
    parents = {"c": ["a", "b"], "d": ["c"]}
    model = SpikeSlabRegressor(heredity=heredity, parents=parents, theta=theta, expected_size=1.5)
    model.set_params(always_include=["e"] if heredity == "weak" else None)
    draws = model.sample_prior(*table, 5000, random_state=1)
    law = 0.4
    if theta == "learn":
        fit = model.set_params(n_draws=5).fit(*table)
        law = (1.0, fit._model_prior.b)
    seen = Counter(map(tuple, draws.groups.toarray() > 0))
    forced = (4,) if heredity == "weak" else ()
    of = [[], [], [0, 1], [2], []]
    sets = list(product([False, True], repeat=P))
    expected = 5000 * np.array([prior_of(s, law, of, heredity == "strong", forced) for s in sets])
    counts = np.array([seen[own] for own in sets])
    assert counts[expected == 0].sum() == 0
    bins = np.where(expected < 10, int(np.argmax(expected)), np.arange(len(sets)))
    observed, wanted = np.bincount(bins, counts), np.bincount(bins, expected)
    used = wanted > 0
    assert stats.chisquare(observed[used], wanted[used]).pvalue > LEAST


@pytest.mark.parametrize(
    ("settings", "law"),
    [
        ({}, lambda y: stats.invgamma(1, scale=y @ y / 2)),
        ({"scale_prior": "prediction"}, lambda y: stats.invgamma(1, scale=y @ y / 2 / 2.5)),
        ({"slab": "laplace"}, lambda y: stats.invgamma(1, scale=y @ y)),
        (
            {"scale_prior": "zellner-siow"},
            lambda y: stats.invgamma(0.5, scale=N / 2 * (y @ y / (N - 1) / 2)),
        ),
    ],
)
def test_slab(table, settings, law):
    X, y = table
    draws = SpikeSlabRegressor(theta=0.5, **settings).sample_prior(X, y, 3000, random_state=2)
    centred = y - y.mean()
    assert stats.kstest(draws.sigma_beta[0] ** 2, law(centred).cdf).pvalue > LEAST
    coef = unit_coef(draws, X) / draws.sigma_beta.reshape(-1, 1)
    kind = stats.laplace(scale=np.sqrt(0.5)) if "slab" in settings else stats.norm
    assert stats.kstest(coef[coef != 0], kind.cdf).pvalue > LEAST
    np.testing.assert_allclose(draws.sigma_e, centred.std(ddof=1) / np.sqrt(2))


@pytest.mark.parametrize("slab", ["zellner", "boom"])
@pytest.mark.parametrize("weights", [None, np.arange(N) % 3])
def test_slabs_with_a_gram_matrix(table, slab, weights):
    X, y = table
    model = SpikeSlabRegressor(theta=0.5, slab=slab, sigma_e=2.0)
    draws = model.sample_prior(X, y, 2000, sample_weight=weights, random_state=3)
    rows = np.repeat(np.arange(N), np.ones(N, int) if weights is None else weights)
    centred = X.to_numpy() - X.to_numpy()[rows].mean(axis=0)
    norms = np.linalg.norm(centred[rows], axis=0)
    Z, n = (centred / norms)[rows], len(rows)
    levels = []
    for row in draws.coef.toarray() * norms:
        inside = np.flatnonzero(row)
        gram = Z[:, inside].T @ Z[:, inside]
        precision = gram / n if slab == "zellner" else 0.01 / n * (gram + np.eye(len(inside))) / 2
        if inside.size:
            levels.append((row[inside] @ precision @ row[inside] / 4, inside.size))
    assert stats.kstest(stats.chi2.cdf(*np.transpose(levels)), "uniform").pvalue > LEAST


@pytest.mark.parametrize("kind", [SpikeSlabRegressor, SpikeSlabClassifier])
def test_groups_share_the_variance_of_one(table, kind):
    X, y = table
    X = X.assign(f=X["a"] + X["b"])  # depends on others of its group
    y = y if kind is SpikeSlabRegressor else (y > 3).astype(int)
    groups = {"one": ["a", "b", "f", "c"]}
    model = kind(feature_groups=groups, theta=0.5, sigma_beta=3.0)
    draws = model.sample_prior(X, y, 3000, random_state=4)
    assert draws.groups.shape == (3000, 3)
    inside = draws.groups.toarray()[:, 0] > 0
    own = draws.coef.toarray()[:, [0, 1, 2, 5]] @ (X - X.mean())[["a", "b", "c", "f"]].to_numpy().T
    levels = stats.chi2(3).cdf((own[inside] ** 2).sum(axis=1) * 3 / 9)
    assert stats.kstest(levels, "uniform").pvalue > LEAST


def test_scales_and_flat_terms(table):
    X, y = table
    settings = {"slab_scale": {"b": 5.0}, "flat": ["a"], "theta": 0.5, "sigma_beta": 2.0}
    draws = SpikeSlabRegressor(**settings).sample_prior(X, y, 3000, random_state=11)
    coef = unit_coef(draws, X)
    for column, scale in ((1, 10.0), (2, 2.0)):
        values = coef[:, column][coef[:, column] != 0]
        assert abs(values.size - 1500) < 120
        assert stats.kstest(values / scale, "norm").pvalue > LEAST
    # What is left of y after the others is fitted by the flat column and the intercept
    raw = draws.coef.toarray()
    left = y - raw[:5, 1:] @ X.to_numpy()[:, 1:].T
    for i in range(5):
        slope = np.polyfit(X["a"], left[i], 1)[0]
        assert raw[i, 0] == pytest.approx(slope, rel=1e-6)


def test_bridge(table):
    X, y = table
    model = BayesianBridgeRegressor(alpha="learn", nu_prior=(2.0, 3.0))
    draws = model.sample_prior(X, y, 2000, random_state=5)
    alpha, tau = draws.alpha[0], draws.tau[0]
    assert stats.kstest(alpha, stats.uniform(0.01, 0.99).cdf).pvalue > LEAST
    keep = alpha > 0.1  # below, numbers overflow
    nu = tau[keep] ** -alpha[keep]
    assert stats.kstest(nu, stats.gamma(2, scale=1 / 3).cdf).pvalue > LEAST
    ratio = np.abs(unit_coef(draws, X)[keep] / tau[keep, None]) ** alpha[keep, None]
    levels = stats.gamma(1 / alpha[keep, None]).cdf(ratio)
    assert stats.kstest(levels.ravel(), "uniform").pvalue > LEAST
    assert stats.binomtest(int((draws.coef[:, 0] > 0).sum()), 2000).pvalue > LEAST
    given = BayesianBridgeRegressor(tau=2.0).sample_prior(X, y, 10, random_state=0)
    assert given.tau is None
    assert given.alpha is None


def test_horseshoe(table):
    X, y = table
    draws = HorseshoeRegressor(expected_size=1, sigma_e=1.5).sample_prior(
        X, y, 4000, random_state=6
    )
    ratio = draws.tau[0] / (1.5 / (P - 1))
    assert stats.kstest(ratio, stats.halfcauchy.cdf).pvalue > LEAST
    coef = np.abs(unit_coef(draws, X) / draws.tau.reshape(-1, 1))

    def below(x):
        return integrate.quad(
            lambda s: stats.halfcauchy.pdf(s) * (2 * stats.norm.cdf(x / s) - 1), 0, np.inf
        )[0]

    for x in (0.1, 1.0, 5.0):
        assert (coef < x).mean() == pytest.approx(below(x), abs=0.015)


def test_regularised_horseshoe(table):
    X, y = table
    model = HorseshoeRegressor(regularised=True, slab_df=3.0, slab_scale=2.0, sigma_e=1.5)
    draws = model.sample_prior(X, y, 4000, random_state=7)
    assert stats.kstest(3 * 4 / draws.slab[0] ** 2, stats.chi2(3).cdf).pvalue > LEAST
    # Wherever lambda is large the coefficient is the slab's.
    coef = unit_coef(draws, X)
    far = np.abs(coef / draws.slab.reshape(-1, 1))
    for x in (0.5, 2.0):
        assert (far > x).mean() < 2 * stats.norm.sf(x)
    wide = HorseshoeRegressor(tau=1e6, regularised=True, slab_scale=2.0, sigma_e=1.5)
    draws = wide.sample_prior(X, y, 4000, random_state=8)
    white = unit_coef(draws, X)[:, 0] / draws.slab[0]
    assert stats.kstest(white, "norm").pvalue > LEAST


def test_classifier(table):
    X, y = table
    labels = np.where(y > 3, "yes", "no")
    model = SpikeSlabClassifier(expected_size=2)
    draws = model.sample_prior(X, labels, 3000, random_state=7)
    assert stats.kstest(draws.theta[0], stats.beta(1, P / 2 - 1).cdf).pvalue > LEAST
    share = (y > 3).mean()
    law = stats.invgamma(2, scale=N / (share * (1 - share)))
    assert stats.kstest(draws.sigma_beta[0] ** 2, law.cdf).pvalue > LEAST
    at_mean = draws.intercept[0] + draws.coef @ X.mean().to_numpy()
    assert stats.kstest(at_mean, stats.norm(scale=10).cdf).pvalue > LEAST
    drawn = model.sample_prior_predictive(X, labels, 3000, random_state=7)
    assert set(np.unique(drawn)) == {0, 1}
    linear = draws.coef @ X.to_numpy().T + draws.intercept.reshape(-1, 1)
    linear = linear.toarray() if sparse.issparse(linear) else linear
    assert drawn.mean() == pytest.approx((1 / (1 + np.exp(-linear))).mean(), abs=0.02)


def test_responses_are_around_the_draws(table):
    X, y = table
    for model in (SpikeSlabRegressor(), HorseshoeRegressor(), SpikeSlabRegressor(slab="boom")):
        draws = model.sample_prior(X, y, 300, random_state=8)
        drawn = model.sample_prior_predictive(X, y, 300, random_state=8)
        assert drawn.shape == (300, N)
        coef = draws.coef if isinstance(draws.coef, np.ndarray) else draws.coef.toarray()
        linear = coef @ X.to_numpy().T + draws.intercept.reshape(-1, 1)
        off = (drawn - linear) / draws.sigma_e.reshape(-1, 1)
        assert stats.kstest(off[np.abs(linear).max(axis=1) < 1e8].ravel(), "norm").pvalue > LEAST
        assert not hasattr(model, "n_features_in_")
        np.testing.assert_array_equal(
            drawn, model.sample_prior_predictive(X, y, 300, random_state=8)
        )
        np.testing.assert_allclose(linear.mean(axis=1)[:5], y.mean(), rtol=1e-6)


def test_fits_to_data_from_the_prior_are_calibrated(table):
    # Simulation-based: among draws given data from the prior, the truth has every rank as often
    X, y = table
    rng = np.random.default_rng(9)
    settings = {"expected_size": 2.0, "sigma_e": 1.0, "sigma_beta": 3.0}
    simulations, kept = 300, 39
    prior = SpikeSlabRegressor(**settings).sample_prior(X, y, simulations, random_state=10)
    new = SpikeSlabRegressor(**settings).sample_prior_predictive(X, y, simulations, random_state=10)
    coef = prior.coef.toarray()
    ranks = {"theta": [], "size": [], "first": [], "sum": []}
    for i in range(simulations):
        fit = SpikeSlabRegressor(**settings, n_chains=1, n_draws=kept, random_state=i)
        draws = fit.fit(X, new[i]).draws_
        pairs = {
            "theta": (draws.theta[0], prior.theta[0, i]),
            "size": (draws.size[0], prior.size[0, i]),
            "first": (draws.coef.toarray()[:, 0], coef[i, 0]),
            "sum": (draws.coef.toarray().sum(axis=1), coef[i].sum()),
        }
        for name, (values, true) in pairs.items():
            ties = rng.integers(np.count_nonzero(values == true) + 1)
            ranks[name].append(np.count_nonzero(values < true) + ties)
    for name, values in ranks.items():
        counts = np.bincount(np.array(values) * 10 // (kept + 1), minlength=10)
        assert stats.chisquare(counts).pvalue > LEAST, (name, counts)


def test_sparse_columns_and_no_intercept(table):
    X, y = table
    model = SpikeSlabRegressor(fit_intercept=False, slab="zellner", theta=0.5)
    one = model.sample_prior_predictive(X.to_numpy(), y, 20, random_state=0)
    two = model.sample_prior_predictive(sparse.csc_array(X.to_numpy()), y, 20, random_state=0)
    np.testing.assert_allclose(one, two)
    assert (model.sample_prior(X, y, 20, random_state=0).intercept == 0).all()


def test_what_is_refused(table):
    X, y = table
    with pytest.raises(ValueError, match="n_draws must be a positive integer; got 0"):
        SpikeSlabRegressor().sample_prior(X, y, 0)
    twins = np.column_stack([X["a"], X["a"]])
    with pytest.raises(ValueError, match="have no density under slab='zellner'"):
        SpikeSlabRegressor(slab="zellner", theta=1.0).sample_prior(twins, y, 2)
    with pytest.raises(ValueError, match="sigma_beta"):
        SpikeSlabRegressor(sigma_beta=-1.0).sample_prior(X, y)
