"""Chains and enumeration of a logistic regression against quadrature and each other."""

import numpy as np
import pytest
from logit_posteriors import (
    enumerate_logit,
    logit_prior,
    logit_rows,
    logit_start,
    run_logit,
    simulated,
)
from reference.logit_spike_slab import posterior

CHAINS, DRAWS = 48, 400
PRIORS = {
    "given": {"theta": 0.3, "spread": 60.0},
    "slab learned": {"theta": 0.3, "spread": (2.0, 200.0)},
    "theta learned": {"theta": (1.0, 3.0), "spread": 60.0},
    "both learned": {"theta": (1.0, 3.0), "spread": (2.0, 200.0)},
}


def sample(rows, prior, **settings):
    starts = [logit_start(), logit_start([0], [1.0]), logit_start([1, 2])] * (CHAINS // 3)
    return run_logit(rows, prior, starts, draws=DRAWS, warmup=150, **settings)


def errors_in_standard_errors(chains, name, expected, own=0.0):
    """How far the average over chains is off, in standard errors of it and of what is expected."""
    values = np.array([chain[name] for chain in chains]) / DRAWS
    error = values.std(axis=0, ddof=1) / np.sqrt(len(chains))
    return np.abs(values.mean(axis=0) - expected) / np.hypot(error, own)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("counts", [False, True])
def test_against_quadrature(prior, counts):
    X, successes, times = simulated(40, 3, 0.8, seed=3, counts=counts)
    design, rows = logit_rows(X, successes, times)
    settings = dict(PRIORS[prior])
    core = logit_prior(3, **settings)
    theta = settings.pop("theta")
    settings["beta_prior" if isinstance(theta, tuple) else "theta"] = theta
    Z = (X - design.mean) * design.inverse_scale
    inclusion, coef, intercept, masses = posterior(
        Z, times, successes, intercept_sd=10.0, **settings
    )
    found = enumerate_logit(rows, core)
    # Quadrature itself is good to about 3e-4
    assert np.abs(found.draws["inclusion"] - inclusion).max() < 1e-3
    np.testing.assert_allclose(found.draws["mean"], coef, atol=0.02)
    assert found.draws["intercept_sum"] == pytest.approx(intercept, abs=2e-3)
    for support, mass in masses.items():
        assert found.masses[sum(1 << j for j in support)] == pytest.approx(mass, abs=1e-3)
    chains = sample(rows, core)
    assert errors_in_standard_errors(chains, "inclusion", inclusion, 3e-4).max() < 4
    assert errors_in_standard_errors(chains, "mean", coef, 5e-3).max() < 4
    assert errors_in_standard_errors(chains, "intercept_sum", intercept, 5e-4) < 4


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("rho", [0.2, 0.9, 0.98])
def test_chains_agree_with_enumeration(prior, rho):
    X, successes, _ = simulated(60, 7, rho, seed=0)
    _, rows = logit_rows(X, successes)
    core = logit_prior(7, **PRIORS[prior])
    exact = enumerate_logit(rows, core, tolerance=5e-4)
    assert exact.error.max() <= 5e-4
    chains = sample(rows, core)
    assert errors_in_standard_errors(chains, "inclusion", exact.draws["inclusion"], 5e-4).max() < 4
    for name in ("mean", "square"):
        expected = exact.draws[name]
        own = 0.01 * np.abs(expected) + 1e-3
        assert errors_in_standard_errors(chains, name, expected, own).max() < 4, name


def test_without_an_intercept():
    X, successes, _ = simulated(60, 4, 0.5, seed=1)
    _, rows = logit_rows(X + 0.5, successes, intercept=False)
    core = logit_prior(4, **PRIORS["both learned"])
    exact = enumerate_logit(rows, core)
    chains = sample(rows, core)
    assert errors_in_standard_errors(chains, "inclusion", exact.draws["inclusion"], 5e-4).max() < 4
    assert all((chain["intercept"] == 0).all() for chain in chains)


def test_twins_take_turns():
    # Exact copies: a chain that only flips would stay with the first that it met.
    X, successes, _ = simulated(60, 4, 0.3, seed=1)
    X = np.column_stack([X, X[:, 1], X[:, 3] + 1e-7 * X[:, 0]])
    _, rows = logit_rows(X, successes)
    core = logit_prior(6, theta=0.1, spread=(2.0, 240.0))
    exact = enumerate_logit(rows, core)
    chains = sample(rows, core)
    assert errors_in_standard_errors(chains, "inclusion", exact.draws["inclusion"], 5e-4).max() < 4


def test_errors_of_importance_sampling_are_what_they_say():
    X, successes, _ = simulated(50, 5, 0.8, seed=4)
    _, rows = logit_rows(X, successes)
    core = logit_prior(5, **PRIORS["both learned"])
    runs = [enumerate_logit(rows, core, seed=seed, tolerance=4e-3) for seed in range(60)]
    found = np.array([run.draws["inclusion"] for run in runs])
    said = np.sqrt(np.mean([run.error**2 for run in runs], axis=0))
    assert (np.abs(np.log(found.std(axis=0, ddof=1) / said)) < np.log(1.6)).all()


def test_a_table_that_is_not_kept_gives_the_same_bits():
    X, successes, times = simulated(300, 60, 0.5, seed=2, counts=True)
    core = logit_prior(60, **PRIORS["both learned"])
    kept, made = (
        run_logit(logit_rows(X, successes, times, room=room)[1], core, [logit_start()],
                  draws=30, warmup=10)
        for room in (1e9, 0.0)
    )  # fmt: skip
    for name in kept[0]:
        np.testing.assert_array_equal(kept[0][name], made[0][name])


def test_same_seed_same_draws_whatever_the_threads():
    X, successes, times = simulated(80, 30, 0.9, seed=2, counts=True)
    _, rows = logit_rows(X, successes, times)
    core = logit_prior(30, **PRIORS["both learned"])
    starts = [logit_start()] * 3
    one, two = (run_logit(rows, core, starts, draws=60, warmup=30, threads=t) for t in (1, 2))
    for a, b in zip(one, two, strict=True):
        for name in a:
            np.testing.assert_array_equal(a[name], b[name])
    assert not np.array_equal(one[0]["intercept"], one[1]["intercept"])
    few = logit_rows(X[:, :4], successes, times)[1]
    core = logit_prior(4, **PRIORS["both learned"])
    one, two = (enumerate_logit(few, core, threads=t, draws=50) for t in (1, 3))
    np.testing.assert_array_equal(one.masses, two.masses)
    np.testing.assert_array_equal(one.draws["beta"], two.draws["beta"])
