"""The default penalty: what it sees in noise, and what it does not miss.

Shares are over a few hundred series at fixed seeds, with room for their standard error: broken
calibration is far outside. The full tables are those of benchmarks/series_defaults.py.
"""

import numpy as np
import pytest
from scipy.signal import lfilter

from ellzero import segment, segment_path
from ellzero.datasets import make_spikes
from ellzero.segmentation._calibrated import price_in_noise


def noise(rng, kind, series, n):
    if kind == "normal":
        return rng.normal(size=(series, n))
    if kind == "t4":
        return rng.standard_t(4, size=(series, n)) / np.sqrt(2)
    innovations = np.sqrt(1 - kind**2) * rng.normal(size=(series, n))
    innovations[:, 0] /= np.sqrt(1 - kind**2)
    return lfilter([1.0], [1.0, -kind], innovations, axis=1)


@pytest.mark.filterwarnings("ignore::ellzero._warnings.PiecesWarning")
@pytest.mark.parametrize("n", [50, 300, 3000])
@pytest.mark.parametrize("kind", ["normal", "t4"])
@pytest.mark.parametrize(
    ("decay", "jumps"), [(1.0, "free"), (1.0, "positive"), (0.95, "free"), (0.95, "positive")]
)
def test_white_noise_has_no_jumps(kind, n, decay, jumps):
    series = 400 if n < 1000 else 150
    rows = noise(np.random.default_rng(n), kind, series, n)
    found = segment(rows, decay=decay, jumps=jumps)
    # 4 in 100, and three standard errors
    most = 0.04 + 3 * np.sqrt(0.04 * 0.96 / series)
    assert np.mean([len(one.changepoints) > 0 for one in found]) <= most


@pytest.mark.filterwarnings("ignore::ellzero._warnings.PiecesWarning")
@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize("phi", [0.5, 0.8])
def test_correlated_noise_has_no_jumps(phi, n):
    rows = noise(np.random.default_rng(1), phi, 200, n)
    share = np.mean([len(one.changepoints) > 0 for one in segment(rows)])
    assert share <= 0.08 + 3 * np.sqrt(0.08 * 0.92 / 200)
    blind = segment(rows, noise="white")
    assert np.mean([len(one.changepoints) > 0 for one in blind]) > 0.8


@pytest.mark.filterwarnings("ignore::ellzero._warnings.PiecesWarning")
def test_a_step_in_correlated_noise():
    """A jump that is missed adds to the correlation, which must not hide it."""
    rows = noise(np.random.default_rng(10), 0.8, 100, 200) + 5.0 * (np.arange(200) >= 100)
    found = segment(rows)
    right = [len(one.changepoints) == 1 and abs(one.changepoints[0] - 100) <= 10 for one in found]
    assert np.mean(right) >= 0.85


@pytest.mark.parametrize("kind", ["normal", "t4"])
def test_a_large_step_is_one_step(kind):
    rng = np.random.default_rng(2)
    rows = noise(rng, kind, 200, 200)
    at = rng.integers(70, 130, 200)
    rows += 5.0 * (np.arange(200) >= at[:, None])
    found = segment(rows, noise="white")
    assert np.mean([len(one.changepoints) == 1 for one in found]) >= 0.9
    close = [np.abs(one.changepoints - t).min() <= 2 for one, t in zip(found, at, strict=True)]
    assert np.mean(close) >= 0.98


@pytest.mark.filterwarnings("ignore::ellzero._warnings.PiecesWarning")
def test_heavy_tails_cost_less_than_a_penalty_for_all_series_would():
    """Of t4 noise, the price of a series depends on how far out its own samples lie."""
    rng = np.random.default_rng(3)
    prices = np.array([one.lam for one in segment(noise(rng, "t4", 200, 400))])
    assert np.quantile(prices, 0.9) > 2 * np.median(prices)


@pytest.mark.filterwarnings("ignore::ellzero._warnings.PiecesWarning")
def test_errors_of_measurement_do_not_hide_the_rest():
    rng = np.random.default_rng(4)
    y = rng.normal(size=500) + 2.0 * ((np.arange(500) >= 200) & (np.arange(500) < 260))
    y[[50, 400]] += 300
    found = segment(y)
    assert np.abs(found.changepoints[:, None] - [200, 260]).min(axis=0).max() <= 8
    assert {50, 51, 400, 401} <= {*found.changepoints.tolist()}


def test_many_jumps_are_not_taken_for_correlation():
    rng = np.random.default_rng(5)
    levels = 20 * rng.normal(size=100)
    found = segment(np.repeat(levels, 10) + rng.normal(size=1000))
    assert len(found.changepoints) >= 90
    assert found.noise.correlation < 0.1
    assert found.noise.sd == pytest.approx(1, rel=0.15)


def test_pieces_of_few_distinct_values():
    levels = np.repeat([0.0, 1.0, 0.0, 3.0], [40, 7, 60, 20])
    assert segment(levels).changepoints.tolist() == [40, 47, 107]
    counts = np.random.default_rng(6).poisson(2 + 8 * (np.arange(300) >= 120)).astype(float)
    found = segment(counts, noise="white")
    assert np.abs(found.changepoints - 120).min() <= 2
    assert segment(np.zeros(100)).n_segments == 1
    rounded = np.round(np.random.default_rng(7).normal(size=400) * 0.3)
    assert segment(rounded).n_segments <= 3


@pytest.mark.parametrize("scale", [1e-140, 2.0**-20, 3e5, 1e140])
def test_scale(scale):
    y = make_spikes(1000, decay=0.95, random_state=1)[0]
    plain, scaled = segment(y, decay=0.95), segment(scale * y, decay=0.95)
    assert scaled.changepoints.tolist() == plain.changepoints.tolist()
    assert scaled.lam / scale / scale == pytest.approx(plain.lam)


def test_weights_are_units():
    """With weights of 4 throughout the same segments come at four times the price."""
    y = np.random.default_rng(8).normal(size=300) + 3.0 * (np.arange(300) > 100)
    plain, heavy = segment(y), segment(y, sample_weight=np.full(300, 4.0))
    assert heavy.changepoints.tolist() == plain.changepoints.tolist()
    assert heavy.lam == pytest.approx(4 * plain.lam)
    light = segment(y, sample_weight=np.full(300, 1e-4))
    assert light.lam == pytest.approx(1e-4 * plain.lam)


def test_a_given_penalty_is_a_given_penalty():
    y = np.random.default_rng(9).normal(size=200) + 3.0 * (np.arange(200) > 80)
    found = segment(y)
    again = segment(y, found.lam)
    assert (found.chosen_by, again.chosen_by) == ("auto", "given")
    np.testing.assert_array_equal(found.signal, again.signal)
    assert segment_path(y).lam_min == pytest.approx(found.lam / 2)


def test_prices_rise_with_length_and_speed():
    lengths = [50, 500, 5000, 50_000]
    for positive in (False, True):
        steps = [price_in_noise(n, 1.0, positive) for n in lengths]
        assert steps == sorted(steps)
        for n in lengths:
            prices = [price_in_noise(n, decay, positive) for decay in (1.0, 0.99, 0.9, 0.5)]
            assert prices == sorted(prices)
        slowest = price_in_noise(1000, 1 - 1e-12, positive)
        assert slowest == pytest.approx(price_in_noise(1000, 1.0, positive))
