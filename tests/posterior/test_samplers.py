import numpy as np
import pytest
from reference.spike_slab import all_supports, log_density, log_prior
from reference.subsets import preprocess
from spike_slab_priors import (
    THETAS,
    VARIANCES,
    autoregressive,
    core_prior,
    design_of,
    enumerate_all,
    run_chains,
)

N, P, CHAINS, DRAWS = 60, 12, 64, 250


def sample(design, prior, *, chains=CHAINS, draws=DRAWS, warmup=150, **settings):
    starts = [[], [0], [2, 3]] * (chains // 3 + 1)
    return run_chains(design, prior, starts[:chains], draws=draws, warmup=warmup, **settings)


def errors_in_standard_errors(chains, name, expected):
    """How far the average over chains is from what is expected, in its standard errors."""
    values = np.array([chain[name] for chain in chains]) / DRAWS
    error = values.std(axis=0, ddof=1) / np.sqrt(len(chains))
    return np.abs(values.mean(axis=0) - expected) / np.maximum(error, 1e-9 * np.abs(expected))


@pytest.mark.parametrize("tempered", [False, True])
@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("variances", VARIANCES)
@pytest.mark.parametrize("rho", [0.2, 0.9, 0.98])
def test_agrees_with_enumeration(tempered, theta, variances, rho):
    X, y = autoregressive(N, P, rho, seed=0)
    design = design_of(X, y)
    prior = core_prior(P, N - 1, theta=THETAS[theta], **VARIANCES[variances])
    exact, _, _ = enumerate_all(design, prior, 1, 0, 1)
    chains = sample(design, prior, tempered=tempered)
    for name in ("inclusion", "mean", "square"):
        assert errors_in_standard_errors(chains, name, exact[name]).max() < 4, name


@pytest.mark.parametrize("tempered", [False, True])
def test_twins_take_turns(tempered):
    # Exact copies: a chain that only flips would stay with the first that it met.
    X, y = autoregressive(N, 6, 0.3, seed=1)
    X = np.column_stack([X, X[:, 1], X[:, 3] + 1e-7 * X[:, 0]])
    design = design_of(X, y)
    prior = core_prior(8, N - 1, theta=0.05, **VARIANCES["gaussian, both learned"])
    exact, _, _ = enumerate_all(design, prior, 1, 0, 1)
    chains = sample(design, prior, tempered=tempered)
    for name in ("inclusion", "mean", "square"):
        assert errors_in_standard_errors(chains, name, exact[name]).max() < 4, name


@pytest.mark.parametrize("tempered", [False, True])
@pytest.mark.parametrize("slab", ["gaussian", "laplace", "zellner", "boom"])
def test_same_seed_same_draws_whatever_the_threads(slab, tempered):
    X, y = autoregressive(80, 30, 0.9, seed=2)
    prior = core_prior(30, 79, slab=slab, noise=(0.5, 1.0), spread=(1.0, 30.0), theta=(1.0, 5.0))
    settings = {"tempered": tempered, "chains": 3, "draws": 60, "warmup": 30}
    one = sample(design_of(X, y), prior, threads=1, **settings)
    two = sample(design_of(X, y), prior, threads=2, **settings)
    other = sample(design_of(X, y), prior, seed=1, **settings)
    for a, b in zip(one, two, strict=True):
        for name in a:
            np.testing.assert_array_equal(a[name], b[name])
    assert not np.array_equal(one[0]["s2"], one[1]["s2"])
    assert not np.array_equal(one[0]["s2"], other[0]["s2"])


@pytest.mark.parametrize("solver", ["enumerate", "gibbs", "tempered"])
def test_posterior_mean_is_the_one_of_the_theorem(solver):
    # Masreliez: with m the marginal density of y, E[beta | y] = (X'X)^-1 X'(y + s2 grad log m(y))
    X, y = autoregressive(30, 4, 0.7, seed=5)
    Z, target = preprocess(X, y, intercept=False)
    s2, spread = 2.0, 30.0
    weights, slopes = [], []
    for support in all_supports(4):
        Z_S, P_S = Z[:, support], s2 / spread * np.eye(len(support))
        V = s2 * np.eye(30) + spread * Z_S @ Z_S.T
        weights.append(log_prior(support, 4, 0.3, None) + log_density(Z_S, target, 30, s2, P_S))
        slopes.append(-np.linalg.solve(V, target))
    share = np.exp(np.array(weights) - np.max(weights))
    score = share @ np.array(slopes) / share.sum()
    expected = np.linalg.solve(Z.T @ Z, Z.T @ (target + s2 * score))

    design = design_of(X, y, intercept=False)
    prior = core_prior(4, 30, theta=0.3, noise=s2, spread=spread)
    if solver == "enumerate":
        out, _, _ = enumerate_all(design, prior, 1, 0, 1)
        np.testing.assert_allclose(out["mean"], expected, rtol=1e-9)
    else:
        chains = sample(design, prior, tempered=solver == "tempered")
        assert errors_in_standard_errors(chains, "mean", expected).max() < 4


@pytest.mark.parametrize("tempered", [False, True])
def test_thinned_draws_average_what_they_skip(tempered):
    X, y = autoregressive(N, P, 0.9, seed=0)
    design = design_of(X, y)
    prior = core_prior(P, N - 1, **VARIANCES["gaussian, both learned"])
    exact, _, _ = enumerate_all(design, prior, 1, 0, 1)
    chains = sample(design, prior, tempered=tempered, thin=4)
    plain = sample(design, prior, tempered=tempered)
    assert chains[0]["conditional"].shape == (DRAWS, P)
    for name in ("inclusion", "mean", "square"):
        assert errors_in_standard_errors(chains, name, exact[name]).max() < 4, name
    spread = [np.std([c["inclusion"] for c in run], axis=0).mean() for run in (chains, plain)]
    assert spread[0] < 0.75 * spread[1]


def test_refreshed_often_enough():
    # Many flips among nearly collinear columns: rounding must not add up to wrong odds.
    X, y = autoregressive(N, P, 0.999, seed=6)
    design = design_of(X, y)
    prior = core_prior(P, N - 1, theta=0.5, noise=2.0, spread=300.0)
    exact, _, _ = enumerate_all(design, prior, 1, 0, 1)
    chains = sample(design, prior, tempered=False)
    assert errors_in_standard_errors(chains, "inclusion", exact["inclusion"]).max() < 4


@pytest.mark.parametrize("tempered", [False, True])
def test_odds_beyond_all_numbers(tempered):
    # Effects so far above the noise that log-odds are in the thousands; {0, 1} and {2, 3} stand in
    # for each other.
    rng = np.random.default_rng(8)
    X = rng.standard_normal((200, 6))
    X[:, 3] = X[:, 0] + X[:, 1] - X[:, 2] + 0.002 * rng.standard_normal(200)
    y = 10 * (X[:, 0] + X[:, 1]) + X[:, 4] + rng.standard_normal(200)
    design = design_of(X, y)
    prior = core_prior(6, 199, theta=0.2, noise=1.0, spread=1e4)
    exact, _, _ = enumerate_all(design, prior, 1, 0, 1)
    assert 0.05 < exact["inclusion"][0] < 0.95
    modes = [[0, 1, 4], [2, 3, 4]]
    chains = sample(design, prior, tempered=tempered, modes=modes)
    assert errors_in_standard_errors(chains, "inclusion", exact["inclusion"]).max() < 4
