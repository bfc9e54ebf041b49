"""The noise of a series: how large, and how correlated."""

import math

import numpy as np
import pytest
from scipy.signal import lfilter

from ellzero import NoiseEstimate, estimate_noise, segment
from ellzero.datasets import make_spikes


def autoregressive(rng, phi, n):
    """Draw stationary AR(1) noise of standard deviation 1."""
    innovations = math.sqrt(1 - phi**2) * rng.normal(size=n)
    innovations[0] /= math.sqrt(1 - phi**2)
    return lfilter([1.0], [1.0, -phi], innovations)


@pytest.mark.parametrize("decay", [0.9, 0.98, 1.0])
def test_spikes_and_steps_hardly_count(decay):
    for seed in range(5):
        y = make_spikes(5000, decay=decay, rate=0.01, noise=0.3, random_state=seed)[0]
        found = estimate_noise(y, decay=decay)
        assert found.sd == pytest.approx(0.3, rel=0.12)
        assert found.correlation < 0.1
        gaps = np.where(np.random.default_rng(seed).random(5000) < 0.1, np.nan, y)
        assert estimate_noise(gaps, decay=decay).sd == pytest.approx(0.3, rel=0.12)
        scaled = estimate_noise(1e150 * y, decay=decay)
        assert scaled.sd == pytest.approx(1e150 * found.sd)
        assert scaled.correlation == pytest.approx(found.correlation)


def test_weights(rng):
    weights = rng.integers(1, 20, 5000).astype(float)
    y = 0.5 * rng.normal(size=5000) / np.sqrt(weights)
    assert estimate_noise(y, sample_weight=weights).sd == pytest.approx(0.5, rel=0.06)
    weights[::7] = 0
    y[::7] = 1e9
    assert estimate_noise(y, sample_weight=weights).sd == pytest.approx(0.5, rel=0.06)


@pytest.mark.parametrize("decay", [1.0, 0.97])
@pytest.mark.parametrize("phi", [0.0, 0.3, 0.6, 0.9])
def test_correlation(rng, phi, decay):
    y = 2 * autoregressive(rng, phi, 20_000)
    spikes = np.where(rng.random(20_000) < 0.001, 8.0, 0.0)
    y += lfilter([1.0], [1.0, -decay], spikes * rng.choice([-1, 1], 20_000))
    found = estimate_noise(y, decay=decay)
    assert isinstance(found, NoiseEstimate)
    assert found.correlation == pytest.approx(phi, abs=0.04)
    assert found.sd == pytest.approx(2, rel=0.2 if phi == 0.9 else 0.1)
    assert estimate_noise(y, decay=decay, noise="white").correlation == 0
    assert found.long_run_sd == pytest.approx(
        found.sd * math.sqrt((1 + found.correlation) / (1 - found.correlation))
    )


@pytest.mark.filterwarnings("ignore::ellzero._warnings.PiecesWarning")
@pytest.mark.parametrize("phi", [0.0, 0.5, 0.8])
def test_residuals_tell_more(rng, phi):
    """Over many series, what is left is estimated with little bias, and closer than at first."""
    first, last = [], []
    for _ in range(60):
        y = autoregressive(rng, phi, 300) + 6.0 * (np.arange(300) > 140)
        first.append(estimate_noise(y, noise="ar1"))
        last.append(segment(y, noise="ar1").noise)
    assert np.mean([one.correlation for one in last]) == pytest.approx(phi, abs=0.05)
    if phi:  # below zero it is cut off, for both
        spread = [np.std([one.correlation for one in some]) for some in (first, last)]
        assert spread[1] < spread[0]


def test_the_variance_of_a_level_that_decays():
    """The inflation is that of the variance of sum_j decay^j e[j], for long series."""
    decay, phi = 0.9, 0.6
    powers = decay ** np.arange(400)
    lags = np.abs(np.subtract.outer(np.arange(400), np.arange(400)))
    ratio = powers @ phi**lags @ powers / (powers @ powers)
    assert NoiseEstimate(1.0, phi).inflation(decay) == pytest.approx(ratio)


def test_data_that_hardly_have_any():
    assert estimate_noise(np.full(50, 3.0)) == (0.0, 0.0)
    counts = np.zeros(100)
    counts[[20, 50, 51]] = 1
    assert 0 < estimate_noise(counts).sd < 0.5
    assert segment(np.full(50, 3.0)).noise == (0.0, 0.0)
    assert segment([1.0, 5.0], 0.5).noise == (0.0, 0.0)
    apart = segment([1.0, np.nan, 1.2, np.nan, 0.9, np.nan, 1.1])
    assert apart.n_segments == 1
    assert apart.noise.sd > 0


def test_bad_input():
    with pytest.raises(ValueError, match="'noise' parameter of estimate_noise must be"):
        estimate_noise([1.0, 2.0, 3.0], noise="pink")
    with pytest.raises(ValueError, match="'decay' parameter of estimate_noise must be"):
        estimate_noise([1.0, 2.0, 3.0], decay=0)
    with pytest.raises(ValueError, match="y must have three samples in a row"):
        estimate_noise([1.0, 2.0])
