"""Polya-Gamma draws against theory, and against distribution functions computed otherwise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.logit_spike_slab import (
    draw_polya_gamma,
    polya_gamma_density,
    polya_gamma_mean,
    polya_gamma_variance,
)
from scipy import integrate, stats

from ellzero import _core

COUNT = 40_000


@pytest.mark.parametrize("n", [1, 2, 7, 40, 300])
@pytest.mark.parametrize("z", [0.0, 1e-4, 0.7, 2.0, 3.1, 3.2, 8.0, 50.0, 900.0, -4.0])
def test_moments(n, z):
    draws = _core.draw_polya_gamma(n, z, COUNT, 1)
    mean, variance = polya_gamma_mean(n, abs(z)), polya_gamma_variance(n, abs(z))
    assert abs(draws.mean() - mean) < 4.5 * np.sqrt(variance / COUNT)
    spread = (draws - mean) ** 2
    assert abs(spread.mean() - variance) < 4.5 * spread.std() / np.sqrt(COUNT)


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("z", [0.0, 0.5, 1.5, 3.0, 6.0, 25.0])
def test_against_the_integrated_density(n, z):
    draws = np.sort(_core.draw_polya_gamma(n, z, COUNT, 2))
    at = np.arange(100, COUNT, 200)
    below = [
        integrate.quad(polya_gamma_density, low, high, args=(n, z), epsabs=1e-10)[0]
        for low, high in zip(np.append(0, draws[at][:-1]), draws[at], strict=True)
    ]
    apart = np.abs(np.cumsum(below) - (at + 0.5) / COUNT).max()
    # The probability of 2.2 / sqrt(n) or more is 1.3e-4.
    assert apart < 2.2 / np.sqrt(COUNT)


@pytest.mark.parametrize(("n", "z"), [(1, 0.0), (3, 2.0), (25, 1.0), (60, 7.0)])
def test_against_a_long_sum_of_gammas(n, z):
    rng = np.random.default_rng(0)
    slow = draw_polya_gamma(n, z, 5000, rng)
    assert stats.ks_2samp(_core.draw_polya_gamma(n, z, COUNT, 3), slow).pvalue > 1e-4


@pytest.mark.parametrize(("n", "z"), [(1, 0.0), (1, 2.5), (5, 1.0), (30, 4.0)])
def test_against_another_library(n, z):
    polyagamma = pytest.importorskip("polyagamma", reason="the package polyagamma is optional")
    other = polyagamma.random_polyagamma(n, z, size=COUNT, random_state=np.random.default_rng(1))
    assert stats.ks_2samp(_core.draw_polya_gamma(n, z, COUNT, 4), other).pvalue > 1e-4


@given(st.integers(1, 50), st.floats(0, 1e12))
def test_any_tilt(n, z):
    draws = _core.draw_polya_gamma(n, z, 20, 5)
    assert (draws > 0).all()
    mean, variance = polya_gamma_mean(n, z), polya_gamma_variance(n, z)
    assert abs(draws.mean() - mean) < 8 * np.sqrt(variance / 20) + 1e-12 * mean
