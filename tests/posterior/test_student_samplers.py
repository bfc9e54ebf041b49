"""Chains under Student's noise against sums over models of t densities, and normal noise."""

import numpy as np
import pytest
from logit_posteriors import logit_start
from reference.student_spike_slab import Model, posterior
from spike_slab_priors import autoregressive, core_prior, design_of, enumerate_all
from student_posteriors import degrees_prior, run_student, student_rows

CHAINS, DRAWS = 24, 300
LEARNED = (2.0, 0.1, 1.0)
# What is learned and what is given: noise, slab, degrees of freedom, theta
PRIORS = {
    "given": (1.0, 20.0, 3.0, 0.3),
    "degrees learned": (1.0, 20.0, LEARNED, 0.3),
    "slab learned": (1.0, (1.0, 20.0), 3.0, (1.0, 2.0)),
    "noise learned": ((0.5, 1.0), 20.0, 3.0, 0.3),
    "all learned": ((0.5, 1.0), (1.0, 20.0), LEARNED, (1.0, 2.0)),
    "all learned, relative": ((0.5, 1.0), ("relative", 0.5, 7.0), LEARNED, (1.0, 2.0)),
}


def simulated(n, p, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    return X, 0.3 + 0.9 * X[:, 0] + rng.standard_t(2, n)


def compare(X, y, settings, *, intercept=True, counts=None, seed=0):
    """Return how far the chains' averages are from the sums over models, in standard errors."""
    noise, spread, degrees, theta = settings
    p, times = X.shape[1], np.ones(len(y)) if counts is None else counts
    design, rows = student_rows(X, y, times, intercept=intercept)
    prior = core_prior(p, times.sum() - intercept, noise=noise, spread=spread, theta=theta)
    key = "beta_prior" if isinstance(theta, tuple) else "theta"
    expected = posterior(
        (X - design.mean * intercept) * design.inverse_scale,
        y,
        noise=noise,
        spread=spread,
        degrees=degrees,
        intercept=intercept,
        counts=times,
        **{key: theta},
    )
    chains = run_student(
        rows,
        prior,
        degrees_prior(degrees),
        [logit_start(), logit_start([0], [1.0])] * (CHAINS // 2),
        draws=DRAWS,
        warmup=100,
        seed=seed,
    )
    inclusion, mean, mu, df, own = expected
    found = {
        "inclusion": (inclusion, own + 1e-4),
        "mean": (mean, 0.01 * np.abs(mean) + 1e-3),
        "intercept_sum": (mu, 3e-3),
    }
    distances = {}
    for name, (value, error) in found.items():
        by_chain = np.array([chain[name] for chain in chains]) / DRAWS
        spread_of = by_chain.std(axis=0, ddof=1) / np.sqrt(CHAINS)
        off = np.abs(by_chain.mean(axis=0) - value) / np.hypot(spread_of, error)
        distances[name] = float(np.max(off))
    if isinstance(degrees, tuple):
        drawn = np.array([chain["noise_df"].mean() for chain in chains])
        error = np.hypot(drawn.std(ddof=1) / np.sqrt(CHAINS), 0.01 * df)
        distances["noise_df"] = abs(drawn.mean() - df) / error
    return distances


@pytest.mark.parametrize("prior", PRIORS)
def test_against_sums_over_models(prior):
    X, y = simulated(14, 3, seed=1)
    distances = compare(X, y, PRIORS[prior])
    assert max(distances.values()) < 4, distances


@pytest.mark.parametrize("prior", ["given", "all learned"])
def test_without_an_intercept(prior):
    X, y = simulated(12, 2, seed=2)
    distances = compare(X + 0.5, y, PRIORS[prior], intercept=False)
    assert max(distances.values()) < 4, distances


def test_rows_count_as_often_as_they_weigh():
    # Also where that is not at all, or no whole number of times: t(r)^c.
    X, y = simulated(12, 2, seed=3)
    times = np.array([1.0, 2, 3, 0, 1, 1, 0.5, 1, 2, 1.5, 1, 0])
    distances = compare(X, y, PRIORS["all learned"], counts=times)
    assert max(distances.values()) < 4, distances


def test_an_outlier_or_an_effect():
    # Two rows are far out, and the column is of these two: either may be to blame.
    rng = np.random.default_rng(0)
    n, theta = 20, 5e-4
    X = (np.arange(n) < 2).astype(float)[:, None]
    y = 6.0 * X[:, 0] + np.sqrt(0.5) * rng.standard_normal(n)
    y[2:4] = 5.0, -4.0
    design, rows = student_rows(X, y)
    Z = (X - design.mean) * design.inverse_scale
    given = {"noise": 0.5, "spread": 40.0, "degrees": 2.0, "intercept": True}
    mu, beta = np.linspace(-3, 3, 401), np.linspace(-10, 25, 701)
    points = np.stack(np.meshgrid(mu, beta), axis=-1)
    empty, full = (
        np.exp(Model(Z[:, :k], y, np.ones(n), **given).log_density(at)).sum()
        for k, at in ((0, mu[:, None]), (1, points))
    )
    odds = full * 0.05 / empty * theta / (1 - theta)
    exact = odds / (1 + odds)
    assert 0.1 < exact < 0.9
    prior = core_prior(1, n - 1, noise=0.5, spread=40.0, theta=theta)
    chains = run_student(
        rows, prior, degrees_prior(2.0), [logit_start()] * CHAINS, draws=4000, warmup=200
    )
    shares = np.array([chain["inclusion"][0] for chain in chains]) / 4000
    error = shares.std(ddof=1) / np.sqrt(CHAINS)
    assert error < 0.03
    assert abs(shares.mean() - exact) < 4 * error, (shares.mean(), exact, error)


def test_the_reference_against_a_grid():
    X, y = simulated(9, 2, seed=5)
    Z = X[:, :1] / np.linalg.norm(X[:, 0])
    model = Model(Z, y, np.ones(9), noise=1.0, spread=20.0, degrees=3.0, intercept=True)
    mu, beta = np.meshgrid(np.linspace(-12, 12, 801), np.linspace(-25, 25, 801))
    grid = np.exp(model.log_density(np.stack([mu, beta], axis=-1))).sum() * (24 * 50 / 800**2)
    _, logs = model.sample(40_000, np.random.default_rng(0))
    weights = np.exp(logs)
    assert abs(weights.mean() - grid) < 4 * weights.std() / 200 + 1e-6 * grid


@pytest.mark.parametrize(
    "variances",
    [
        {"noise": 2.0, "spread": 30.0},
        {"noise": (0.5, 1.0), "spread": (1.0, 30.0)},
        {"noise": (0.5, 1.0), "spread": ("relative", 0.5, 7.0)},
    ],
)
def test_many_degrees_of_freedom_are_normal_noise(variances):
    X, y = autoregressive(60, 7, 0.8, seed=0)
    prior = core_prior(7, 59, theta=(1.0, 3.0), **variances)
    exact, _, _ = enumerate_all(design_of(X, y), prior, 10, 0, 1)
    _, rows = student_rows(X, y)
    chains = run_student(
        rows, prior, degrees_prior(1e6), [logit_start()] * CHAINS, draws=DRAWS, warmup=100
    )
    for name in ("inclusion", "mean", "square"):
        by_chain = np.array([chain[name] for chain in chains]) / DRAWS
        error = by_chain.std(axis=0, ddof=1) / np.sqrt(CHAINS)
        assert (np.abs(by_chain.mean(axis=0) - exact[name]) < 4 * error + 1e-9).all(), name


def test_exchanges_between_modes():
    # {0, 1} and {2, 3} explain the same, and hardly any model between them does.
    rng = np.random.default_rng(7)
    X = rng.standard_normal((60, 5))
    X[:, 3] = X[:, 0] + X[:, 1] - X[:, 2] + 0.05 * X[:, 4]
    y = 2 * (X[:, 0] + X[:, 1]) + 0.5 * rng.standard_normal(60)
    prior = core_prior(4, 59, noise=(0.5, 1.0), spread=(1.0, 100.0), theta=0.1)
    exact, _, _ = enumerate_all(design_of(X[:, :4], y), prior, 10, 0, 1)
    assert 0.05 < exact["inclusion"][0] < 0.95
    _, rows = student_rows(X[:, :4], y)
    chains = run_student(
        rows,
        prior,
        degrees_prior(1e6),
        [logit_start([0, 1]), logit_start([2, 3])] * (CHAINS // 2),
        draws=DRAWS,
        warmup=100,
        modes=[[0, 1], [2, 3]],
    )
    shares = np.array([chain["inclusion"] for chain in chains]) / DRAWS
    error = shares.std(axis=0, ddof=1) / np.sqrt(CHAINS)
    assert error.max() < 0.02
    assert (np.abs(shares.mean(axis=0) - exact["inclusion"]) < 4 * error + 1e-9).all()


def test_twins_take_turns():
    X, y = simulated(40, 4, seed=1)
    X = np.column_stack([X, X[:, 0], X[:, 3] + 1e-7 * X[:, 1]])
    _, rows = student_rows(X, y)
    prior = core_prior(6, 39, noise=(0.5, 1.0), spread=(1.0, 40.0), theta=0.1)
    chains = run_student(
        rows, prior, degrees_prior(LEARNED), [logit_start()] * CHAINS, draws=DRAWS, warmup=100
    )
    shares = np.array([chain["inclusion"] for chain in chains]) / DRAWS
    error = shares.std(axis=0, ddof=1) / np.sqrt(CHAINS)
    for one, other in ((0, 4), (3, 5)):
        gap = shares[:, one].mean() - shares[:, other].mean()
        assert abs(gap) < 4 * np.hypot(error[one], error[other])


def test_a_table_that_is_not_kept_gives_the_same_bits():
    X, y = autoregressive(300, 60, 0.5, seed=2)
    prior = core_prior(60, 299, noise=(0.5, 1.0), spread=(1.0, 200.0), theta=(1.0, 20.0))
    kept, made = (
        run_student(student_rows(X, y, room=room)[1], prior, degrees_prior(LEARNED), draws=30,
                    warmup=10)
        for room in (1e9, 0.0)
    )  # fmt: skip
    for name in kept[0]:
        np.testing.assert_array_equal(kept[0][name], made[0][name])


def test_same_seed_same_draws_whatever_the_threads():
    X, y = autoregressive(80, 30, 0.9, seed=2)
    _, rows = student_rows(X, y)
    prior = core_prior(30, 79, noise=(0.5, 1.0), spread=(1.0, 80.0), theta=(1.0, 10.0))
    starts = [logit_start()] * 3
    one, two = (
        run_student(rows, prior, degrees_prior(LEARNED), starts, draws=60, warmup=30, threads=t)
        for t in (1, 2)
    )
    for a, b in zip(one, two, strict=True):
        for name in a:
            np.testing.assert_array_equal(a[name], b[name])
    assert not np.array_equal(one[0]["s2"], one[1]["s2"])
