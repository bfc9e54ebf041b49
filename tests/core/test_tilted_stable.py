"""Draws of latent scales against distribution functions computed otherwise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.stable import cdf_by_fourier, cdf_by_talbot, cdf_untilted
from scipy import integrate, special, stats

from ellzero import _core

COUNT = 20_000
LOG_1E300 = 300 * np.log(10)


def assert_follows(draws, cdf, points=400):
    """Kolmogorov and Smirnov, with the distribution function computed at a share of the draws."""
    draws = np.sort(draws)
    at = np.arange(len(draws) // points // 2, len(draws), len(draws) // points)
    apart = np.abs(cdf(draws[at]) - (at + 0.5) / len(draws)).max()
    # The probability of 2.2 / sqrt(n) or more is 1.3e-4.
    assert apart < 2.2 / np.sqrt(len(draws)), apart * np.sqrt(len(draws))


@pytest.mark.parametrize("a", [0.025, 0.05, 0.25, 0.5, 0.75])
@pytest.mark.parametrize("g", [0.01, 0.3, 0.99, 1.01, 2.0, 5.0, 20.0])
def test_against_the_inverted_laplace_transform(a, g):
    log_tilt = np.log(g) / a
    draws = _core.draw_tilted_stable(a, log_tilt, COUNT, 1)
    assert_follows(np.exp(draws + log_tilt), lambda x: cdf_by_talbot(x, a, g))


@pytest.mark.parametrize(
    ("a", "g"),
    [
        (0.025, 1e5),
        (0.25, 300.0),
        (0.5, 1e4),
        (0.9, 1.01),
        (0.9, 30.0),
        (0.995, 1.01),
        (0.995, 3.0),
        (0.995, 1e4),
        (0.99995, 50.0),
    ],
)
def test_narrow_ones_against_the_inverted_fourier_transform(a, g):
    log_tilt = np.log(g) / a
    draws = np.exp(_core.draw_tilted_stable(a, log_tilt, COUNT, 2) + log_tilt)
    z = (draws - a * g) / np.sqrt(a * (1 - a) * g)
    assert_follows(z, lambda x: cdf_by_fourier(x, a, g))


@pytest.mark.parametrize(
    ("a", "log_tilt"),
    [(a, -np.inf) for a in (0.025, 0.25, 0.5, 0.75, 0.95, 0.995)]
    + [(a, -LOG_1E300) for a in (0.25, 0.5, 0.995)],
)
def test_without_a_tilt_worth_the_name(a, log_tilt):
    draws = _core.draw_tilted_stable(a, log_tilt, COUNT, 3)
    assert_follows(draws, lambda log_x: cdf_untilted(log_x, a))


@pytest.mark.parametrize("log_tilt", np.log([1e-12, 1e-3, 0.2, 1.0, 40.0, 1e6]))
def test_index_one_half_is_inverse_gaussian(log_tilt):
    draws = np.exp(_core.draw_tilted_stable(0.5, log_tilt, COUNT, 4))
    mean, shape = 0.5 * np.exp(-0.5 * log_tilt), 0.5
    assert_follows(draws, stats.invgauss(mean / shape, scale=shape).cdf)


@pytest.mark.parametrize("a", [0.025, 0.05])
def test_a_tilt_of_1e300_is_normal_where_digits_allow(a):
    g = np.exp(a * LOG_1E300)
    draws = _core.draw_tilted_stable(a, LOG_1E300, COUNT, 5)
    relative = np.expm1(draws - (np.log(a) - (1 - a) * LOG_1E300))
    assert_follows(relative / np.sqrt((1 - a) / (a * g)), stats.norm.cdf)


@given(st.floats(1e-3, 1 - 1e-6), st.floats(-LOG_1E300, LOG_1E300))
def test_every_index_and_tilt(a, log_tilt):
    draws = _core.draw_tilted_stable(a, log_tilt, 50, 6)
    assert np.isfinite(draws).all()
    g = np.exp(a * log_tilt)
    if g > 1e6 * (1 - a) / a:  # a law of large numbers
        expected = np.log(a) - (1 - a) * log_tilt
        error = 6 * np.sqrt((1 - a) / (a * g)) + 1e-12 * abs(expected) + 1e-12
        np.testing.assert_allclose(draws, expected, atol=error)


@pytest.mark.parametrize("x", [1e-300, 1e-12, 1e-3, 0.3, 0.99, 1.01, 4.0, 1e5])
def test_local_precisions_of_a_horseshoe(x):
    draws = _core.draw_horseshoe_precision(x, COUNT, 7)
    # exp(-x u) / (1 + u) integrates to exp(x) (E1(x) - E1(x (1 + u))).
    if x < 1:
        share = lambda u: 1 - special.exp1(x * (1 + u)) / special.exp1(x)  # noqa: E731
    else:
        scaled = lambda z: np.exp(np.vectorize(_core.log_scaled_e1)(z))  # noqa: E731
        share = lambda u: 1 - np.exp(-x * u) * scaled(x * (1 + u)) / scaled(x)  # noqa: E731
    assert_follows(draws, share)


@given(st.floats(-300, 300))
def test_exponential_integral(exponent):
    x = 10.0**exponent
    found = _core.log_scaled_e1(x)
    if x < 500:
        assert found == pytest.approx(x + np.log(special.exp1(x)), rel=1e-12, abs=1e-13)
    else:
        assert found == pytest.approx(-np.log(x + 1 - 1 / (x + 3)), rel=1e-12)


def test_oracles_agree():
    # Where both can do it, so that neither is trusted alone.
    a, g = 0.75, 20.0
    z = np.linspace(-2, 3, 7)
    by_talbot = cdf_by_talbot(a * g + z * np.sqrt(a * (1 - a) * g), a, g)
    np.testing.assert_allclose(cdf_by_fourier(z, a, g), by_talbot, atol=1e-5)
    density = stats.levy(scale=0.5).pdf
    x = np.array([0.1, 1.0, 7.0])
    np.testing.assert_allclose(
        cdf_untilted(np.log(x), 0.5), [integrate.quad(density, 0, at)[0] for at in x], atol=1e-8
    )
