"""Decay, and where a penalty comes from."""

import math

import numpy as np
import pytest

from ellzero import PenaltyCurve, estimate_decay, estimate_noise, lam_for_jump, segment
from ellzero.datasets import make_spikes


@pytest.mark.parametrize("jumps", ["free", "positive"])
@pytest.mark.parametrize("decay", [0.8, 0.95, 0.99])
def test_decay_is_recovered(decay, jumps):
    y = make_spikes(4000, decay=decay, rate=0.02, noise=0.2, random_state=1)[0]
    found = estimate_decay(y, jumps=jumps)
    assert -math.log(found) == pytest.approx(-math.log(decay), rel=0.06)
    y[::9] = np.nan
    assert -math.log(estimate_decay(y, jumps=jumps)) == pytest.approx(-math.log(decay), rel=0.08)


def test_decay_of_steps_and_of_nothing(rng):
    steps = np.repeat([1.0, 5.0, 3.0, 8.0], 100) + 0.1 * rng.normal(size=400)
    assert estimate_decay(steps) > 0.9995
    assert estimate_decay(np.zeros(10)) == 1.0
    noise_only = estimate_decay(rng.normal(size=500))
    assert 0 < noise_only <= 1
    with pytest.raises(ValueError, match="y must have four samples or more"):
        estimate_decay([1.0, 2.0, 3.0])


def test_the_decay_found_lowers_the_objective():
    y = make_spikes(2000, decay=0.93, rate=0.02, random_state=5)[0]
    found = estimate_decay(y, 1.0)
    least = segment(y, 1.0, decay=found).objective
    for other in (0.85, 0.9, 0.925, 0.935, 0.96, 1.0):
        assert least <= segment(y, 1.0, decay=other).objective


def white_sd(y, **options):
    return estimate_noise(y, noise="white", **options).sd


def test_bic_is_what_it_says(rng):
    y = rng.normal(size=200)
    assert segment(y, "bic").lam == pytest.approx(white_sd(y) ** 2 * math.log(200))
    y[:50] = np.nan
    assert segment(y, "bic").lam == pytest.approx(white_sd(y) ** 2 * math.log(150))
    weights = np.full(200, 3.0)
    expected = white_sd(y, sample_weight=weights) ** 2 * math.log(450)
    assert segment(y, "bic", sample_weight=weights).lam == pytest.approx(expected)


def test_bic_finds_the_jumps_and_few_others(rng):
    false = 0
    for seed in range(20):
        steps = np.repeat([0.0, 2.0, -1.0, 1.0], 100)
        found = segment(steps + np.random.default_rng(seed).normal(size=400), "bic")
        for true in (100, 200, 300):
            assert np.abs(found.changepoints - true).min() <= 8
        false += len(found.changepoints) - 3
    assert false <= 6


@pytest.mark.parametrize("lam", ["auto", "bic"])
def test_penalties_without_noise(lam):
    _, signal, spikes = make_spikes(500, decay=0.95, rate=0.03, noise=0.0, random_state=0)
    start = int(np.argmax(spikes > 0))
    found = segment(signal[start:], lam, decay=0.95)
    assert found.changepoints.tolist() == (np.flatnonzero(spikes)[1:] - start).tolist()


def reference_cv(y, lam, decay, jumps):
    """Errors with every second sample held out, one after the other."""
    misses = np.full(len(y), np.nan)
    times = np.flatnonzero(~np.isnan(y))
    for part in (times[0::2], times[1::2]):
        training = y.copy()
        training[part] = np.nan
        misses[part] = y[part] - segment(training, lam / 2, decay=decay, jumps=jumps).signal[part]
    squares = misses[times] ** 2
    return squares.mean(), squares.std(ddof=1) / math.sqrt(len(squares))


@pytest.mark.parametrize("jumps", ["free", "positive"])
def test_cross_validation_against_direct_computation(jumps):
    y = make_spikes(401, decay=0.95, rate=0.02, random_state=4)[0]
    y[[3, 40, 41, 42]] = np.nan
    found = segment(y, "cv", decay=0.95, jumps=jumps)
    curve = found.cv
    for place in range(0, len(curve.lam), 7):
        error, se = reference_cv(y, curve.lam[place], 0.95, jumps)
        assert curve.error[place] == pytest.approx(error, rel=1e-9)
        assert curve.se[place] == pytest.approx(se, rel=1e-9)
    assert (np.diff(curve.lam) < 0).all()
    assert found.lam == curve.best
    equal = curve.lam[np.isclose(curve.error, curve.error.min(), rtol=1e-12, atol=0)]
    assert equal.min() <= found.lam <= equal.max()
    sparser = segment(y, "cv", decay=0.95, jumps=jumps, rule="1se")
    place = int(np.argmin(curve.error))
    within = curve.lam[curve.error <= curve.error[place] + curve.se[place]]
    assert sparser.lam == curve.one_se == within.max() >= found.lam
    assert curve.to_frame().shape == (len(curve.lam), 4)


def test_rules_on_a_curve():
    error = np.array([9.0, 4.0, 2.0, 1.0, 1.0, 1.0, 3.0, 1.0])
    curve = PenaltyCurve(np.arange(8.0, 0, -1), error, np.full(8, 1.5), np.arange(8.0))
    assert curve.best == 4.0  # of 5, 4 and 3
    assert curve.one_se == 6.0
    rising = PenaltyCurve(np.array([2.0, 1.0]), np.array([1.0, 2.0]), np.zeros(2), np.zeros(2))
    assert rising.best == rising.one_se == 2.0


def test_cross_validation_with_weights_and_scales(rng):
    y = np.repeat(rng.normal(size=8), 20) + 0.2 * rng.normal(size=160)
    plain = segment(y, "cv")
    same = segment(y, "cv", sample_weight=np.full(160, 2.0))
    assert same.cv.error == pytest.approx(plain.cv.error)
    assert same.lam == pytest.approx(2 * plain.lam)
    for scale in (1e-150, 1e150):
        scaled = segment(scale * y, "cv")
        assert scaled.changepoints.tolist() == plain.changepoints.tolist()
    assert segment(np.ones(9), "cv").n_segments == 1


def test_cross_validation_finds_spikes():
    y, _, spikes = make_spikes(3000, decay=0.95, rate=0.01, noise=0.2, random_state=7)
    found = segment(y, "cv", decay=0.95, jumps="positive", rule="1se")
    true = np.flatnonzero(spikes)
    hits = sum(np.abs(found.changepoints - t).min() <= 2 for t in true)
    assert hits >= 0.8 * len(true)
    assert len(found.changepoints) <= 1.2 * len(true)


def test_the_smallest_jump():
    # Alone and without noise, a spike is found if it is larger, and not if it is smaller.
    lam = lam_for_jump(3.0, noise=0.5, decay=0.9)
    for size, found in ((1.45, 0), (1.55, 1)):
        y = np.r_[np.zeros(50), size * 0.9 ** np.arange(200)]
        assert len(segment(y, lam, decay=0.9, jumps="positive").changepoints) == found
    assert lam_for_jump(2.0, duration=8) == pytest.approx(16.0)
    assert lam_for_jump(2.0, decay=0.5, duration=2) == pytest.approx(0.5 * 4 * 1.25)
    # Every second time, with noise.
    rng = np.random.default_rng(0)
    times = 0
    for _ in range(200):
        y = rng.normal(size=150)
        y[50:] += 6 * 0.8 ** np.arange(100)
        found = segment(y, lam_for_jump(6.0, decay=0.8), decay=0.8, jumps="positive")
        times += bool((np.abs(found.changepoints - 50) <= 1).any())
    assert 70 <= times <= 150
    with pytest.raises(ValueError, match="duration must be given for decay=1"):
        lam_for_jump(3.0)
    with pytest.raises(ValueError, match="size times noise is too large to be squared"):
        lam_for_jump(1e200, decay=0.5)
    with pytest.raises(ValueError, match="'size' parameter of lam_for_jump must be"):
        lam_for_jump(0.0, decay=0.9)
