"""What holds for every prior in the normal means problem."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from ellzero.shrinkage import (
    BernoulliGaussian,
    BernoulliLaplace,
    Horseshoe,
    NormalMixture,
    SpikeSlabLasso,
)

thetas = st.floats(1e-9, 1 - 1e-9)
scales = st.floats(1e-3, 1e4)
noises = st.floats(1e-2, 1e2)


@st.composite
def priors(draw):
    kind = draw(st.integers(0, 4))
    theta, scale = draw(thetas), draw(scales)
    if kind == 0:
        return BernoulliGaussian(theta, scale)
    if kind == 1:
        return BernoulliLaplace(theta, scale)
    if kind == 2:
        return SpikeSlabLasso(theta, scale / draw(st.floats(1.5, 100)), scale)
    if kind == 3:
        return NormalMixture([1 - theta, theta / 2, theta / 2], [0.0, scale, 2 * scale])
    return Horseshoe(scale)


@given(priors(), st.floats(-1e3, 1e3), noises)
def test_tweedie(prior, y, sigma_e):
    mean, score = prior.posterior_mean(y, sigma_e=sigma_e), prior.score(y, sigma_e=sigma_e)
    assert mean == pytest.approx(y + sigma_e**2 * score, rel=1e-12, abs=1e-12 * abs(y))
    assert abs(mean) <= abs(y)
    assert mean * y >= 0


@given(priors(), st.floats(-30, 30), noises)
def test_derivatives_by_finite_differences(prior, u, sigma_e):
    y, h = u * sigma_e, 1e-4 * sigma_e
    high, low = (prior.log_marginal(y + d, sigma_e=sigma_e) for d in (h, -h))
    error = 1e-6 * (1 + u**2) / sigma_e
    assert (high - low) / (2 * h) == pytest.approx(prior.score(y, sigma_e=sigma_e), abs=error)
    high, low = (prior.posterior_mean(y + d, sigma_e=sigma_e) for d in (h, -h))
    variance = prior.posterior_variance(y, sigma_e=sigma_e)
    slope = sigma_e**2 * (high - low) / (2 * h)
    assert slope == pytest.approx(variance, rel=1e-4, abs=1e-9 * (1 + u**2) * sigma_e**2)


@given(priors(), noises, st.lists(st.floats(-40, 40), min_size=2, max_size=2, unique=True))
def test_the_posterior_mean_increases_and_is_odd(prior, sigma_e, pair):
    y = np.sort(pair) * sigma_e
    mean = prior.posterior_mean(y, sigma_e=sigma_e)
    assert mean[1] >= mean[0]
    np.testing.assert_array_equal(prior.posterior_mean(-y, sigma_e=sigma_e), -mean)
    assert (prior.posterior_variance(y, sigma_e=sigma_e) > 0).all()


@given(priors(), st.floats(-50, 50), noises)
def test_the_penalty_and_its_derivative(prior, u, sigma_e):
    y = u * sigma_e
    z = prior.posterior_mean(y, sigma_e=sigma_e)
    score = prior.score(y, sigma_e=sigma_e)
    derivative = prior.penalty_derivative(z, sigma_e=sigma_e)
    # z is rounded, and where the mean hardly moves, many y share it.
    slack = 4e-15 * abs(z) * sigma_e**2 / prior.posterior_variance(y, sigma_e=sigma_e)
    assert derivative == pytest.approx(-score, rel=1e-10, abs=1e-300 + 2 * slack / sigma_e**2)
    # -log m is the Moreau envelope of the penalty, up to a constant
    envelope = (y - z) ** 2 / (2 * sigma_e**2) + prior.penalty(z, sigma_e=sigma_e)
    drop = prior.log_marginal(0.0, sigma_e=sigma_e) - prior.log_marginal(y, sigma_e=sigma_e)
    assert envelope == pytest.approx(drop, rel=1e-9, abs=1e-11)


@settings(max_examples=40)
@given(priors(), noises)
def test_the_penalty_is_zero_at_zero_and_grows_outwards(prior, sigma_e):
    z = np.r_[0.0, np.geomspace(1e-6, 1e3, 30)] * sigma_e
    penalty = prior.penalty(z, sigma_e=sigma_e)
    assert penalty[0] == 0
    assert (np.diff(penalty) >= 0).all()
    np.testing.assert_array_equal(prior.penalty(-z, sigma_e=sigma_e), penalty)


@settings(max_examples=30)
@given(st.sampled_from([BernoulliGaussian, BernoulliLaplace]), thetas, scales, noises)
def test_units(family, theta, scale, factor):
    y = np.array([-3.0, 0.2, 1.0, 5.0])
    one, other = family(theta, scale), family(theta, scale * factor)
    units = {
        "score": -1,
        "posterior_mean": 1,
        "posterior_variance": 2,
        "inclusion_probability": 0,
        "mode": 1,
        "posterior_mean_inverse": 1,
        "penalty": 0,
        "penalty_derivative": -1,
    }
    for name, power in units.items():
        mine = getattr(other, name)(y * factor, sigma_e=factor)
        np.testing.assert_allclose(mine, getattr(one, name)(y) * factor**power, rtol=1e-9)


@pytest.mark.parametrize(
    "prior",
    [
        BernoulliGaussian(0.2, 2.0),
        BernoulliLaplace(0.2, 2.0),
        SpikeSlabLasso(0.3, 0.2, 3.0),
        NormalMixture([0.3, 0.7], [0.5, 1.5], means=[-1.0, 2.0]),
    ],
)
def test_against_quadrature_over_the_prior(prior):
    """The posterior by its definition, integrating over beta."""

    def slab(b):
        if isinstance(prior, BernoulliGaussian):
            return np.exp(-(b**2) / 8) / math.sqrt(8 * math.pi)
        if isinstance(prior, BernoulliLaplace):
            return laplace(b, 2.0)
        if isinstance(prior, SpikeSlabLasso):
            return (0.7 * laplace(b, 0.2) + 0.3 * laplace(b, 3.0)) / prior.theta
        parts = zip(prior.weights, prior.means, prior.scales, strict=True)
        return sum(
            w * np.exp(-(((b - m) / s) ** 2) / 2) / (s * math.sqrt(2 * math.pi))
            for w, m, s in parts
        )

    def laplace(b, scale):
        return np.exp(-math.sqrt(2) * abs(b) / scale) / (math.sqrt(2) * scale)

    continuous = isinstance(prior, SpikeSlabLasso | NormalMixture)
    theta = getattr(prior, "theta", 1.0)
    for y in (-2.5, 0.3, 1.5):

        def moment(k, y=y):
            def f(b):
                return b**k * slab(b) * np.exp(-((y - b) ** 2) / 2)

            options = {"epsabs": 1e-14, "epsrel": 1e-13}
            value = integrate.quad(f, -12, 0, **options)[0] + integrate.quad(f, 0, 12, **options)[0]
            spike = 0 if continuous or k else (1 - theta) * math.exp(-(y**2) / 2)
            return spike + theta * value

        mean = moment(1) / moment(0)
        assert prior.posterior_mean(y) == pytest.approx(mean, rel=1e-8)
        assert prior.posterior_variance(y) == pytest.approx(
            moment(2) / moment(0) - mean**2, rel=1e-8
        )
        log = math.log(moment(0)) - 0.5 * math.log(2 * math.pi)
        assert prior.log_marginal(y) == pytest.approx(log, rel=1e-8)


def test_the_papers_numbers():
    # ERRATA: the slab's density as printed would give .415302
    assert BernoulliGaussian(0.2, 2.0).posterior_mean(1.5) == pytest.approx(0.258818, abs=5e-7)
    assert BernoulliLaplace(0.2, 2.0).posterior_mean(1.5) == pytest.approx(0.208448, abs=5e-7)


def test_the_spike_slab_lasso_tends_to_bernoulli_laplace():
    y = np.linspace(-8, 8, 33)
    limit = BernoulliLaplace(0.2, 2.0)
    errors = []
    for spike in (1e-1, 1e-2, 1e-3, 1e-4):
        near = SpikeSlabLasso(0.2, spike, 2.0)
        np.testing.assert_allclose(near.mode(y), limit.mode(y), atol=1e-12)
        errors.append(np.abs(near.posterior_mean(y) - limit.posterior_mean(y)).max())
    ratios = np.array(errors[:-1]) / errors[1:]
    np.testing.assert_allclose(ratios[1:], 100, rtol=0.05)  # the spike's variance is what is left


def test_a_mixture_of_normals_can_be_bernoulli_gaussian():
    y = np.linspace(-8, 8, 33)
    one, other = BernoulliGaussian(0.2, 2.0), NormalMixture([0.8, 0.2], [0.0, 2.0])
    for name in (
        "log_marginal",
        "score",
        "posterior_mean",
        "posterior_variance",
        "inclusion_probability",
        "mode",
        "posterior_mean_inverse",
        "penalty",
        "penalty_derivative",
    ):
        np.testing.assert_allclose(getattr(other, name)(y), getattr(one, name)(y), rtol=1e-12)
    assert other.bayes_risk() == pytest.approx(one.bayes_risk(), rel=1e-12)


@pytest.mark.parametrize("prior", [BernoulliGaussian(0.1, 3.0), BernoulliLaplace(0.1, 3.0)])
def test_bayes_risk_against_monte_carlo(prior, rng):
    n = 400_000
    slab = (
        rng.normal(size=n)
        if isinstance(prior, BernoulliGaussian)
        else rng.laplace(size=n) / math.sqrt(2)
    )
    beta = np.where(rng.random(n) < 0.1, 3 * slab, 0.0)
    y = beta + 0.7 * rng.normal(size=n)
    losses = (prior.posterior_mean(y, sigma_e=0.7) - beta) ** 2
    error = losses.std() / math.sqrt(n)
    assert abs(losses.mean() - prior.bayes_risk(sigma_e=0.7)) < 3 * error
    # the paper's form: 1 - I(m), I by Monte Carlo too
    scores = prior.score(y, sigma_e=0.7) ** 2
    risk = 0.49 * (1 - 0.49 * scores.mean())
    assert abs(risk - prior.bayes_risk(sigma_e=0.7)) < 3 * 0.49**2 * scores.std() / math.sqrt(n)


@pytest.mark.parametrize("prior", [BernoulliGaussian(0.1, 3.0), BernoulliLaplace(0.1, 3.0)])
def test_the_joint_mode_by_a_grid(prior):
    alpha = np.linspace(-15, 15, 300_001)
    if isinstance(prior, BernoulliGaussian):
        price = alpha**2 / 18
    else:
        price = math.sqrt(2) * np.abs(alpha) / 3
    for y in (-7.0, -1.0, 0.5, 2.0, 2.5, 3.0, 4.0):
        inside = 0.5 * (y - alpha) ** 2 + price + math.log(9)
        best = alpha[inside.argmin()] if inside.min() < 0.5 * y**2 else 0.0
        assert prior.mode(y) == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("theta", [0.5, 0.9])
def test_any_theta_is_accepted(theta):
    assert BernoulliGaussian(theta, 2.0).mode(1.0) == 0.8
    assert BernoulliLaplace(theta, math.sqrt(2)).mode([0.5, -3.0]).tolist() == [0.0, -2.0]


def test_atoms_have_a_bounded_range():
    prior = NormalMixture([1, 1], [0, 0], means=[-1, 1])
    assert prior.posterior_mean(0.7) == pytest.approx(math.tanh(0.7))
    assert prior.posterior_mean_inverse(0.5) == pytest.approx(math.atanh(0.5))
    assert np.isinf(prior.penalty([-1.0, 1.0, 3.0])).all()
    assert np.isnan(prior.penalty_derivative(2.0))
    assert np.isnan(prior.posterior_mean_inverse(2.0))
    # m(y) is phi(y) cosh(y) up to a constant, and so on
    z, y = 0.5, math.atanh(0.5)
    assert prior.penalty(z) == pytest.approx(z * y - z**2 / 2 - math.log(math.cosh(y)))
    with pytest.raises(ValueError, match="zero has to be inside the range of the posterior mean"):
        NormalMixture([1, 1], [0, 0], means=[1, 2]).penalty(1.5)


def test_shapes():
    prior = BernoulliLaplace(0.1, 1.0)
    y = np.arange(6.0).reshape(2, 3)
    for name in ("posterior_mean", "score", "penalty", "mode", "posterior_mean_inverse"):
        assert getattr(prior, name)(y).shape == (2, 3)
        assert getattr(prior, name)(y[:0]).shape == (0, 3)
        assert np.ndim(getattr(prior, name)(2)) == 0
    assert prior.posterior_mean(y[:, ::-1].T[::2]).shape == (2, 2)
    assert math.copysign(1, prior.score(0.0)) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BernoulliLaplace(1.5, 1.0), "theta must be strictly between 0 and 1; got 1.5"),
        (lambda: BernoulliLaplace(0.1, math.inf), "sigma_beta must be a positive finite number"),
        (lambda: SpikeSlabLasso(0.1, 2.0, 1.0), "sigma_spike must be less than sigma_beta"),
        (lambda: SpikeSlabLasso(0.1, -2.0, 1.0), "sigma_spike must be a positive"),
        (lambda: Horseshoe(0), "tau must be a positive finite number"),
        (lambda: NormalMixture([1, -1], [0, 1]), "weights must be positive"),
        (lambda: NormalMixture([1, 1], [0, -1]), "scales must not be negative"),
        (lambda: NormalMixture([1, 1], [0]), "scales must have one number a component, 2"),
        (lambda: NormalMixture([1], [1], means=[1, 2]), "means must have one number a component"),
        (lambda: NormalMixture([], []), "weights must be a list of numbers"),
        (lambda: NormalMixture(1, 1), "weights must be a list of numbers"),
        (lambda: NormalMixture(["a"], [1]), "weights must hold real numbers"),
        (lambda: BernoulliGaussian(0.1, math.inf).posterior_mean(1), "sigma_beta must be finite"),
        (lambda: BernoulliGaussian(0.1, 1).posterior_mean(1, sigma_e=0), "sigma_e must be a pos"),
        (lambda: BernoulliGaussian(0.1, 1).posterior_mean([1, math.nan]), "y must hold finite"),
        (lambda: BernoulliGaussian(0.1, 1).posterior_mean("a"), "y must hold real numbers"),
        (lambda: BernoulliGaussian(0.1, 1).penalty(math.inf), "z must hold finite numbers"),
        (lambda: BernoulliGaussian(0.1, 1e-9).score(1e300, sigma_e=1e-9), "y is too large"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
