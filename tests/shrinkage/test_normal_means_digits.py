"""Every number of the normal means problem against mpmath, over the whole range promised."""

import mpmath as mp
import numpy as np
import pytest
from reference import normal_means as ref

from ellzero.shrinkage import (
    BernoulliGaussian,
    BernoulliLaplace,
    Horseshoe,
    NormalMixture,
    SpikeSlabLasso,
)

THETAS = (1e-12, 1e-3, 0.2, 0.9, 1 - 1e-9)
RATIOS = (1e-3, 0.1, 0.7, 2.0, 30.0, 1e6)
OBSERVATIONS = (1e-9, 1e-3, 0.29, 0.5, 1.0, 2.0, 4.7, 7.5, 9.0, 12.0, 20.0, 150.0, 1e4)


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(60):
        yield


def relative(got, want):
    return float(abs(mp.mpf(float(got)) - want) / abs(want))


def check(prior, gain, observations, tolerance, origin=0, sigma_e=1.0):
    """Compare all methods at the observations, given in units of the noise."""
    u = np.array(observations)
    y, noise = u * sigma_e, mp.mpf(sigma_e)
    mean = prior.posterior_mean(y, sigma_e=sigma_e)
    got = {
        "mean": mean / sigma_e,
        "score": prior.score(y, sigma_e=sigma_e) * sigma_e,
        "variance": prior.posterior_variance(y, sigma_e=sigma_e) / sigma_e**2,
        "inverse": prior.posterior_mean_inverse(mean, sigma_e=sigma_e) / sigma_e,
        "penalty": prior.penalty(mean, sigma_e=sigma_e),
        "penalty_derivative": prior.penalty_derivative(mean, sigma_e=sigma_e) * sigma_e,
    }
    log_marginal = prior.log_marginal(y, sigma_e=sigma_e)
    for i, value in enumerate(y):
        v = mp.mpf(float(value)) / noise
        exact = gain(v)
        log = ref.log_marginal(gain, v) - mp.log(noise)
        assert abs(log_marginal[i] - log) <= tolerance * max(1, abs(log))
        # The u of the rounded mean, by one step of Newton's method from almost there.
        inverse = v + (mp.mpf(float(mean[i])) / noise - exact.mean) / exact.variance
        want = {
            "mean": exact.mean,
            "score": exact.mean - v,
            "variance": exact.variance,
            "inverse": inverse,
            "penalty": ref.penalty(gain, inverse, origin),
            "penalty_derivative": inverse - gain(inverse).mean,
        }
        for name, exactly in want.items():
            assert relative(got[name][i], exactly) < tolerance, (prior, name, float(v))


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("ratio", RATIOS)
def test_bernoulli_gaussian(theta, ratio):
    gain = ref.bernoulli_gaussian(mp.mpf(theta), mp.mpf(ratio))
    prior = BernoulliGaussian(theta, ratio)
    check(prior, gain, OBSERVATIONS, 1e-13)
    for u in OBSERVATIONS:
        assert relative(prior.inclusion_probability(u), gain(mp.mpf(u)).inclusion) < 1e-13


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("ratio", RATIOS)
def test_bernoulli_laplace(theta, ratio):
    gain = ref.bernoulli_laplace(mp.mpf(theta), mp.mpf(ratio))
    prior = BernoulliLaplace(theta, ratio)
    some = OBSERVATIONS[::2]
    check(prior, gain, some, 1e-12)
    for u in some:
        assert relative(prior.inclusion_probability(u), gain(mp.mpf(u)).inclusion) < 1e-12


@pytest.mark.parametrize(
    ("theta", "spike", "slab"),
    [(1e-12, 1e-3, 1e6), (0.2, 0.1, 2.0), (0.5, 10.0, 11.0), (0.999, 1e-3, 0.01)],
)
def test_spike_slab_lasso(theta, spike, slab):
    gain = ref.spike_slab_lasso(mp.mpf(theta), mp.mpf(spike), mp.mpf(slab))
    check(SpikeSlabLasso(theta, spike, slab), gain, OBSERVATIONS[::2], 1e-12)


def test_a_wide_laplace_alone():
    # The slab is all there is, and penalties are tiny differences.
    gain = ref.bernoulli_laplace(1 - mp.mpf(2) ** -53, mp.mpf(1e4))
    check(BernoulliLaplace(1 - 2.0**-53, 1e4), gain, (0.01, 0.29, 0.31, 1, 5, 30), 1e-11)


@pytest.mark.parametrize(
    ("weights", "centres", "scales"),
    [
        ((0.5, 0.25, 0.25), (0.0, 0.0, 0.0), (0.0, 1e-3, 1e6)),
        ((0.5, 0.5), (0.0, 0.0), (1.0, 1.0000001)),
        ((1.0,), (0.0,), (1e6,)),
        ((0.5, 0.5), (-1.0, 2.0), (0.0, 1.0)),
    ],
)
def test_mixtures_of_normals(weights, centres, scales):
    parts = [[mp.mpf(v) for v in values] for values in (weights, centres, scales)]
    gain, origin = ref.normal_mixture(*parts), mp.mpf(0)
    for _ in range(8):  # the u of posterior mean zero, by Newton's method
        origin -= gain(origin).mean / gain(origin).variance
    prior = NormalMixture(weights, scales, means=centres)
    # Where there is a mean other than zero, nothing is relative to a small u.
    observations = (-1e4, -5.0, -0.3, *OBSERVATIONS[3:]) if any(centres) else OBSERVATIONS
    check(prior, gain, observations, 1e-12, origin)


@pytest.mark.parametrize("tau", [1e-3, 0.3, 1e6])
def test_horseshoe(tau):
    with mp.workdps(22):
        gain = ref.horseshoe(mp.mpf(tau))
        prior = Horseshoe(tau)
        for u in (1e-3, 3.0, 8.0, 1e4):
            exact = gain(mp.mpf(u))
            assert relative(prior.posterior_mean(u), exact.mean) < 1e-12
            assert relative(-prior.score(u), u - exact.mean) < 1e-12
            assert relative(prior.posterior_variance(u), exact.variance) < 1e-12
            log = exact.value - mp.mpf(u) ** 2 / 2 - mp.log(2 * mp.pi) / 2
            assert abs(prior.log_marginal(u) - log) < 1e-12 * max(1, abs(log))
            mean = prior.posterior_mean(u)
            assert prior.posterior_mean_inverse(mean) == pytest.approx(u, rel=1e-12)
        at = mp.mpf(3.0)
        want = ref.penalty(gain, at)
        assert relative(prior.penalty(float(gain(at).mean)), want) < 1e-10


@pytest.mark.parametrize("sigma_e", [1e-8, 0.3, 1e7])
def test_the_noise_is_a_unit(sigma_e):
    for prior, gain in (
        (BernoulliGaussian(0.1, 2 * sigma_e), ref.bernoulli_gaussian(mp.mpf(0.1), mp.mpf(2))),
        (BernoulliLaplace(0.1, 2 * sigma_e), ref.bernoulli_laplace(mp.mpf(0.1), mp.mpf(2))),
    ):
        check(prior, gain, (0.5, 3.0, 8.0), 1e-12, sigma_e=sigma_e)


@pytest.mark.parametrize(
    ("family", "gain", "theta", "ratio"),
    [
        *(
            (BernoulliGaussian, ref.bernoulli_gaussian, t, r)
            for t in (1e-12, 0.2)
            for r in (1e-3, 1.0, 1e6)
        ),
        (BernoulliLaplace, ref.bernoulli_laplace, 1e-12, 1e-3),
        (BernoulliLaplace, ref.bernoulli_laplace, 0.2, 1.0),
    ],
)
def test_bayes_risk(family, gain, theta, ratio):
    with mp.workdps(20):
        exactly = gain(mp.mpf(theta), mp.mpf(ratio))

        def integrand(u):
            return exactly(u).variance * mp.exp(ref.log_marginal(exactly, u))

        cuts = [*range(0, 13, 2), 24, 40]
        if ratio > 1:
            cuts += [40 * 2.0**j for j in range(1, 22)]
        risk = 2 * mp.quad(integrand, cuts, maxdegree=4)
    assert family(theta, ratio).bayes_risk() == pytest.approx(float(risk), rel=1e-10)
    assert family(theta, 3 * ratio).bayes_risk(sigma_e=3.0) == pytest.approx(9 * float(risk))
