"""What is learned under each name of a prior, to the letter, and what it says of data."""

import numpy as np
import pandas as pd
import pytest
from reference.spike_slab import log_inverse_gamma, posterior
from reference.subsets import preprocess
from scipy.special import logsumexp
from spike_slab_priors import autoregressive, core_prior, design_of, enumerate_all, run_chains

from ellzero import HorseshoeRegressor, SpikeSlabRegressor

QUICK = {"n_chains": 2, "n_draws": 200, "n_warmup": 100, "random_state": 0}
SCALE_PRIORS = ["selection", "prediction", "zellner-siow"]


def written_out(scale_prior, y, p, *, slab="gaussian", size=None):
    """The priors of the documentation: those of noise, spread and theta."""
    n, total = len(y), np.sum((y - y.mean()) ** 2)
    if size is None:
        size = min(10, p / 2) if scale_prior == "prediction" else min(2, p / 4)
    spread = {
        "selection": (1.0, total / 2 * (2 if slab == "laplace" else 1)),
        "prediction": (1.0, total / (2 * size)),
        "zellner-siow": ("relative", 0.5, n / 2),
    }
    return {
        "noise": (0.005, 0.0025 * total / (n - 1)),
        "spread": spread[scale_prior],
        "theta": (1.0, p / size - 1),
    }


@pytest.mark.parametrize("p", [3, 7, 9])
@pytest.mark.parametrize("scale_prior", SCALE_PRIORS)
def test_enumeration_under_the_priors_of_the_documentation(scale_prior, p):
    X, y = autoregressive(40, p, 0.5, seed=0)
    found = SpikeSlabRegressor(scale_prior=scale_prior, **QUICK).fit(X, y)
    prior = core_prior(p, 39, **written_out(scale_prior, y, p))
    exact, _, _ = enumerate_all(design_of(X, y), prior, 10, 0, 1)
    assert found.solver_ == "enumerate"
    np.testing.assert_allclose(found.inclusion_probabilities_, exact["inclusion"], atol=1e-9)


@pytest.mark.parametrize("p", [5, 30])
@pytest.mark.parametrize("scale_prior", SCALE_PRIORS)
def test_a_laplace_slab_under_the_priors_of_the_documentation(scale_prior, p):
    X, y = autoregressive(60, p, 0.5, seed=0)
    model = SpikeSlabRegressor(
        scale_prior=scale_prior, slab="laplace", random_state=0, n_draws=3000
    ).fit(X, y)
    prior = core_prior(p, 59, slab="laplace", **written_out(scale_prior, y, p, slab="laplace"))
    chains = run_chains(design_of(X, y), prior, [[]] * 16, draws=1000, warmup=200)
    shares = np.array([chain["inclusion"] for chain in chains]) / 1000
    error = np.hypot(shares.std(axis=0) / 4, model.diagnostics_["mcse"].to_numpy()[:p])
    assert (np.abs(shares.mean(axis=0) - model.inclusion_probabilities_) < 4.5 * error).all()


def test_zellner_siow_to_the_letter():
    X, y = autoregressive(14, 2, 0.5, seed=1)
    model = SpikeSlabRegressor(scale_prior="zellner-siow", sigma_e=1.5, **QUICK).fit(X, y)
    Z, target = preprocess(X, y)
    g = np.exp(np.linspace(-3, 55, 400))  # sigma_beta^2 / sigma_e^2
    weights = log_inverse_gamma(g, 0.5, 7.0) + np.log(g) + 58 / 399
    inclusion, mean, sd, _ = posterior(
        Z,
        target,
        degrees=13,
        precision=lambda Z, tau: tau * np.eye(Z.shape[1]),
        s2_grid=([1.5**2], [0.0]),
        # Beyond, no member has any weight
        tau_grid=lambda s2: (1 / np.minimum(g, 1e10), weights),
        beta_prior=(1.0, 3.0),
    )
    norms = np.linalg.norm(X - X.mean(axis=0), axis=0)
    np.testing.assert_allclose(model.inclusion_probabilities_, inclusion, atol=1e-9)
    np.testing.assert_allclose(model.coef_ * norms, mean, atol=1e-8)
    np.testing.assert_allclose(model.coef_sd_ * norms, sd, rtol=1e-7)


@pytest.mark.parametrize("sigma_e", ["learn", 1.5])
def test_evidence_of_zellner_siow(sigma_e):
    # Given values of sigma_beta and sigma_e, weighed by their priors, integrate to it.
    X, y = autoregressive(40, 2, 0.5, seed=2)
    given = {"theta": 0.3, "solver": "enumerate", "n_chains": 1, "n_draws": 1}
    total = np.sum((y - y.mean()) ** 2)
    found = SpikeSlabRegressor(scale_prior="zellner-siow", sigma_e=sigma_e, **given).fit(X, y)
    s2_grid, step = ([1.5**2], [0.0]), 0.45
    if sigma_e == "learn":
        s2 = np.exp(np.arange(-1, 3, 0.25))
        s2_grid = s2, log_inverse_gamma(s2, 0.005, 0.0025 * total / 39) + np.log(s2 * 0.25)
    terms = []
    for s2, s2_weight in zip(*s2_grid, strict=True):
        for ratio in np.exp(np.arange(-3, 22, step)):
            weight = log_inverse_gamma(ratio, 0.5, 20.0) + np.log(ratio * step) + s2_weight
            sigmas = {"sigma_e": np.sqrt(s2), "sigma_beta": np.sqrt(ratio * s2)}
            terms.append(SpikeSlabRegressor(**given, **sigmas).fit(X, y).log_evidence_ + weight)
    assert found.log_evidence_ == pytest.approx(logsumexp(terms), abs=2e-3)


@pytest.mark.parametrize("slab", ["gaussian", "laplace"])
@pytest.mark.parametrize("scale_prior", SCALE_PRIORS)
def test_powers_of_two_change_no_bits(scale_prior, slab):
    X, y = autoregressive(60, 8, 0.6, seed=0)
    factors = 2.0 ** np.array([-40, -3, 0, 1, 5, 17, 30, 60])
    settings = {"scale_prior": scale_prior, "slab": slab, **QUICK}
    for solver in ("gibbs",) if slab == "laplace" else ("gibbs", "enumerate"):
        plain = SpikeSlabRegressor(solver=solver, **settings).fit(X, y)
        scaled = SpikeSlabRegressor(solver=solver, **settings).fit(X * factors, y * 2.0**12)
        bits = [model.inclusion_probabilities_.tobytes() for model in (plain, scaled)]
        assert bits[0] == bits[1]
        np.testing.assert_array_equal(scaled.coef_, plain.coef_ * 2.0**12 / factors)
        assert scaled.sensitivity_.move == plain.sensitivity_.move


@pytest.mark.parametrize("scale_prior", SCALE_PRIORS)
def test_scales_and_shifts_change_nothing(scale_prior):
    X, y = autoregressive(60, 8, 0.6, seed=0)
    factors, shifts = 10.0 ** np.arange(-4, 4), 1e3 * np.array([1, -1, 0.5, 1, 1, -0.3, 1, 0])
    settings = {"scale_prior": scale_prior, "solver": "enumerate", **QUICK}
    plain = SpikeSlabRegressor(**settings).fit(X, y)
    moved = SpikeSlabRegressor(**settings).fit(
        (X + shifts * X.std(axis=0)) * factors, 700 * (y + 1e3 * y.std())
    )
    np.testing.assert_allclose(
        moved.inclusion_probabilities_, plain.inclusion_probabilities_, atol=1e-9
    )
    np.testing.assert_allclose(moved.coef_ * factors / 700, plain.coef_, atol=1e-9)


@pytest.mark.parametrize("prior", [{}, {"slab": "laplace"}, {"scale_prior": "zellner-siow"}])
def test_nothing_is_found_where_there_is_nothing(prior):
    sizes, empty = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((100, 20)), rng.standard_normal(100)
        model = SpikeSlabRegressor(random_state=0, n_draws=300, **prior).fit(X, y)
        sizes.append(model.inclusion_probabilities_.sum())
        empty.append(np.mean(model.draws_.size == 0))
    assert np.mean(sizes) < 0.6
    assert np.mean(empty) > 0.65


@pytest.mark.parametrize("prior", [{}, {"slab": "laplace"}, {"scale_prior": "zellner-siow"}])
def test_a_faint_effect_far_above_the_noise_is_found(prior):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 8))
    y = X[:, 0] + 0.02 * X[:, 1] + 1e-4 * rng.standard_normal(100)
    model = SpikeSlabRegressor(**prior, **QUICK).fit(X, y)
    assert (model.inclusion_probabilities_[:2] > 0.99).all()


@pytest.mark.filterwarnings("ignore:.*has not mixed")  # draws worth few independent ones
@pytest.mark.parametrize("p", [6, 40])
def test_the_horseshoe_expects_what_it_did(p):
    X, y = autoregressive(50, p, 0.5, seed=0)
    default, said = (
        HorseshoeRegressor(expected_size=size, random_state=0).fit(X, y)
        for size in (None, min(10, p / 2))
    )
    np.testing.assert_array_equal(default.coef_, said.coef_)


@pytest.mark.parametrize(
    "prior",
    [
        {},
        {"scale_prior": "zellner-siow"},
        {"slab": "zellner"},
        {"slab": "boom"},
        {"always_include": [0, 3]},
        {"expected_size": 0.3},
        {"expected_size": 5},
    ],
)
def test_sensitivity_where_all_models_are_visited(prior):
    X, y = autoregressive(40, 7, 0.6, seed=3)
    X[:, 5] = 1.0  # constant: it can't be in
    moved = SpikeSlabRegressor(**prior, **QUICK).fit(X, y).sensitivity_
    size = prior.pop("expected_size", 7 / 4)
    assert moved.expected == pytest.approx((size / 2, min(2 * size, (size + 7) / 2)))
    assert moved.ess == np.inf
    models = [SpikeSlabRegressor(expected_size=s, **prior, **QUICK) for s in moved.expected]
    for model, inclusion, expected in zip(models, moved.inclusion, moved.size, strict=True):
        np.testing.assert_allclose(model.fit(X, y).inclusion_probabilities_, inclusion, atol=1e-9)
        assert inclusion.sum() == pytest.approx(expected)
    here = SpikeSlabRegressor(expected_size=size, **prior, **QUICK).fit(X, y)
    moves = [np.abs(each - here.inclusion_probabilities_) for each in moved.inclusion]
    assert moved.move == pytest.approx(np.max(moves))
    assert moved.variable == f"x{np.argmax(np.max(moves, axis=0))}"


@pytest.mark.parametrize(
    "prior",
    [
        {"solver": "gibbs"},
        {"solver": "gibbs", "slab": "laplace"},
        {"solver": "gibbs", "scale_prior": "prediction"},
        {"solver": "gibbs", "scale_prior": "prediction", "slab": "laplace"},
        {"solver": "enumerate", "scale_prior": "prediction"},
        {"solver": "tempered", "always_include": [1]},
    ],
)
def test_sensitivity_by_draws(prior):
    X, y = autoregressive(50, 7, 0.6, seed=3)
    many = {"n_draws": 4000, "random_state": 0}
    moved = SpikeSlabRegressor(**prior, **many).fit(X, y).sensitivity_
    assert 100 < moved.ess < 16_000
    for size, inclusion in zip(moved.expected, moved.inclusion, strict=True):
        model = SpikeSlabRegressor(expected_size=size, **prior, **many).fit(X, y)
        np.testing.assert_allclose(model.inclusion_probabilities_, inclusion, atol=0.03)
    assert moved.move > 0.06  # so that it makes a difference


def test_sensitivity_in_words():
    X, y = autoregressive(50, 12, 0.6, seed=3)
    names = [f"v{j}" for j in range(12)]
    model = SpikeSlabRegressor(random_state=0, solver="gibbs").fit(
        pd.DataFrame(X, columns=names), y
    )
    moved = model.sensitivity_
    low, high = moved.size
    assert str(moved) == (
        f"Had 1 or 4 variables been expected instead of 2: expected size {low:.1f} to {high:.1f}, "
        f"probabilities move by at most {moved.move:.2f} ({moved.variable})."
    )
    assert low < high
    assert moved.variable in names
    assert model.summary().attrs["sensitivity"] == str(moved)
    few = SpikeSlabRegressor(solver="gibbs", n_chains=2, n_draws=40, random_state=0).fit(X, y)
    assert not few.sensitivity_.reliable
    assert str(few.sensitivity_) == (
        "Had 1 or 4 variables been expected instead of 2: these draws do not say (they are worth "
        f"{few.sensitivity_.ess:.0f}, fewer than 100)."
    )
    given = SpikeSlabRegressor(theta=0.2, **QUICK).fit(X, y)
    assert given.sensitivity_ is None
    assert "sensitivity" not in given.summary().attrs
    again = model.fit(X[:, ::-1], y).sensitivity_
    assert again is not moved
