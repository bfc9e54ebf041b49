"""All sets of groups, by the core and to the letter."""

import numpy as np
import pytest
from group_priors import enumerate_groups, group_posterior
from reference import group_spike_slab as reference
from reference.spike_slab import log_inverse_gamma
from reference.subsets import preprocess
from spike_slab_priors import (
    THETAS,
    VARIANCES,
    autoregressive,
    core_prior,
    design_of,
    enumerate_all,
)

N = 14
GROUPS = [[0, 3], [1], [2, 4]]
PARENTS = [[], [], [0, 1]]
HEREDITY = {"none": (None, True), "strong": (PARENTS, True), "weak": (PARENTS, False)}
OURS = [name for name in VARIANCES if not name.startswith("boom")]


def log_grid(law, low, high, count):
    """Return values and log weights of a trapezoidal rule in the logarithm."""
    if not isinstance(law, tuple):
        return np.array([law]), [0.0]
    x = np.linspace(low, high, count)
    return np.exp(x), log_inverse_gamma(np.exp(x), *law) + x + np.log(x[1] - x[0])


def literal(Z, y, theta, *, slab="gaussian", noise=1.0, spread=1.0, g=1.0, groups=GROUPS, **rules):
    def tau_grid(s2):
        if slab != "gaussian":
            return [1.0], [0.0]
        if isinstance(spread, tuple) and spread[0] == "relative":
            values, weights = log_grid(spread[1:], -3.0, 55.0, 120)
            return 1 / np.minimum(values, 1e10), weights  # what lies beyond counts as 1e10
        values, weights = log_grid(spread, -19.0, 25.0, 150)
        return s2 / values, weights

    scales = None if slab == "zellner" else np.array([len(group) ** -0.5 for group in groups])
    return reference.posterior(
        Z,
        y,
        groups,
        degrees=N - 1,
        slab=slab,
        s2_grid=log_grid(noise, -4.5, 6.0, 40),
        tau_grid=tau_grid,
        theta=theta,
        g=g,
        scales=scales,
        **rules,
    )


def inside_of(code, count):
    return tuple(bool(code >> unit & 1) for unit in range(count))


@pytest.mark.parametrize("heredity", HEREDITY)
@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("variances", OURS)
def test_equals_the_literal_sum_over_sets(heredity, theta, variances):
    X, y = autoregressive(N, 5, 0.8, seed=1)
    parents, strong = HEREDITY[heredity]
    settings = VARIANCES[variances]
    prior = core_prior(3, N - 1, theta=THETAS[theta], **settings)
    posterior = group_posterior(
        design_of(X, y),
        GROUPS,
        prior,
        parents=parents,
        strong=strong,
        scaled=settings.get("slab") != "zellner",
    )
    out, masses, _ = enumerate_groups(posterior, 5)
    Z, target = preprocess(X, y)
    inclusion, mean, sd, expected, _ = literal(
        Z, target, THETAS[theta], parents=parents, strong=strong, **settings
    )
    np.testing.assert_allclose(out["inclusion"], inclusion, atol=1e-8)
    np.testing.assert_allclose(out["mean"], mean, atol=1e-8 * np.abs(mean).max())
    np.testing.assert_allclose(np.sqrt(out["square"] - out["mean"] ** 2), sd, rtol=1e-8)
    for code, mass in enumerate(masses):
        assert mass == pytest.approx(expected.get(inside_of(code, 3), 0.0), abs=1e-8)


@pytest.mark.parametrize("variances", OURS)
def test_groups_of_one_are_columns(variances):
    X, y = autoregressive(40, 6, 0.7, seed=2)
    for theta in (*THETAS.values(), np.array([0.2, 0.5, 1.0, 0.1, 0.0, 0.4])):
        with np.errstate(divide="ignore"):
            prior = core_prior(6, 39, theta=theta, **VARIANCES[variances])
        design = design_of(X, y)
        columns = enumerate_all(design, prior, 1, 0, 1)
        groups = enumerate_groups(group_posterior(design, [[j] for j in range(6)], prior), 6)
        for name in ("inclusion", "mean", "square"):
            np.testing.assert_allclose(groups[0][name], columns[0][name], rtol=1e-8, atol=1e-14)
        np.testing.assert_allclose(groups[1], columns[1], rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("strong", [True, False])
@pytest.mark.parametrize("theta", [0.3, np.array([0.2, 0.6, 0.4, 0.7, 0.3]), (1.0, 3.0)])
def test_the_prior_is_coins_after_coins(theta, strong):
    # y says nothing: masses are the prior's. Products of products, and one that is always in.
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 5)), np.zeros(30)
    parents = [[], [], [0, 1], [2, 0], [1]]
    prior = core_prior(5, 29, theta=theta, noise=1.0, spread=1e-9)
    odds = list(prior.log_odds)
    odds[1] = np.inf
    prior.log_odds = odds
    posterior = group_posterior(
        design_of(X, y), [[j] for j in range(5)], prior, parents=parents, strong=strong
    )
    _, masses, _ = enumerate_groups(posterior, 5)
    free = [0, 2, 3, 4]
    for code, mass in enumerate(masses):
        inside = [False, True, False, False, False]
        for bit, unit in enumerate(free):
            inside[unit] = bool(code >> bit & 1)
        expected = reference.prior_of(tuple(inside), theta, parents, strong, forced=(1,))
        assert mass == pytest.approx(expected, abs=1e-7)
    assert masses.sum() == pytest.approx(1.0)


def test_zellner_leaves_out_sets_with_dependent_groups():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20, 6))
    X[:, 4] = X[:, 0] - X[:, 2]  # in part of the span of the first two groups
    y = X @ [1, 0, 1, 0, 0, 0.5] + rng.standard_normal(20)
    prior = core_prior(3, 19, slab="zellner", noise=(0.5, 1.0), theta=0.4, g=20.0)
    groups = [[0, 1], [2, 3], [4, 5]]
    posterior = group_posterior(design_of(X, y), groups, prior, scaled=False)
    _, masses, _ = enumerate_groups(posterior, 6)
    assert masses[0b111] == 0
    assert (np.delete(masses, 0b111) > 0).all()


def test_columns_that_depend_on_their_group_change_nothing():
    X, y = autoregressive(30, 4, 0.5, seed=5)
    wide = np.column_stack([X, X[:, 0] - X[:, 1], np.ones(30)])
    prior = core_prior(2, 29, theta=(1.0, 3.0), noise=(0.5, 1.0), spread=(1.0, 30.0))
    narrow = group_posterior(design_of(X, y), [[0, 1], [2, 3]], prior)
    more = core_prior(3, 29, theta=(1.0, 3.0), noise=(0.5, 1.0), spread=(1.0, 30.0))
    full = group_posterior(design_of(wide, y), [[0, 1, 4], [2, 3], [5]], more)
    assert full.widths.tolist() == [2, 2, 0]
    expected, masses, _ = enumerate_groups(narrow, 4)
    out, all_masses, _ = enumerate_groups(full, 6)
    np.testing.assert_allclose(all_masses, masses, atol=1e-10)
    np.testing.assert_allclose(out["inclusion"], [*expected["inclusion"], 0], atol=1e-10)
    np.testing.assert_allclose(out["mean"], [*expected["mean"], 0, 0], atol=1e-9)


@pytest.mark.parametrize("variances", OURS)
def test_draws_have_the_moments_of_the_posterior(variances):
    X, y = autoregressive(60, 5, 0.5, seed=3)
    settings = VARIANCES[variances]
    prior = core_prior(3, 59, theta=(1.0, 3.0), **settings)
    posterior = group_posterior(
        design_of(X, y), GROUPS, prior, parents=PARENTS, scaled=settings.get("slab") != "zellner"
    )
    count = 20_000
    out, _, _ = enumerate_groups(posterior, 5, count, seed=1, threads=2)
    row = np.repeat(np.arange(count), np.diff(out["begins"]))
    beta = np.zeros((count, 5))
    beta[row, out["support"]] = out["beta"]
    units = np.column_stack([(beta[:, group] != 0).all(axis=1) for group in GROUPS])
    for draws, expected in (
        (units.astype(float), out["inclusion"]),
        (beta, out["mean"]),
        (beta**2, out["square"]),
    ):
        error = draws.std(axis=0) / np.sqrt(count)
        assert (np.abs(draws.mean(axis=0) - expected) < 4.5 * error + 1e-12).all()


def test_threads_change_nothing():
    X, y = autoregressive(60, 5, 0.5, seed=4)
    prior = core_prior(3, 59, **VARIANCES["gaussian, both learned"])
    one, two = (
        enumerate_groups(group_posterior(design_of(X, y), GROUPS, prior), 5, 50, 1, threads)
        for threads in (1, 2)
    )
    for name in one[0]:
        np.testing.assert_array_equal(one[0][name], two[0][name])
    np.testing.assert_array_equal(one[1], two[1])
