"""Steps in correlated noise: against all sets of jumps, and the laws that the optimum obeys."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.correlated_segmentation import best_of_all, fit_jumps, jump_profile
from scipy.signal import lfilter

from ellzero import L0SegmentDenoiser, segment, segment_path
from ellzero._warnings import PiecesWarning
from ellzero.segmentation._correlated import correlation_of_missed_jumps
from ellzero.segmentation._noise import noise_of_residuals
from ellzero.segmentation._series import Series, fit_segments, read_one


def autoregressive(rng, phi, n):
    """Draw stationary AR(1) noise of standard deviation 1."""
    innovations = math.sqrt(1 - phi**2) * rng.normal(size=n)
    innovations[0] /= math.sqrt(1 - phi**2)
    return lfilter([1.0], [1.0, -phi], innovations)


def random_case(rng, most):
    n = int(rng.integers(1, most + 1))
    y = [
        rng.normal(size=n),
        rng.integers(-2, 4, n).astype(float),
        rng.integers(0, 2, n).astype(float),
        np.cumsum(rng.normal(size=n)),
        rng.normal(size=n) + 1e3,
    ][rng.integers(5)]
    if rng.random() < 0.3:
        y[rng.random(n) < 0.3] = np.nan
    if np.isnan(y).all():
        y[0] = 1.0
    weights = None
    if rng.random() < 0.3:
        weights = rng.integers(0, 4, n).astype(float)
        if rng.random() < 0.5 or not weights[~np.isnan(y)].any():
            weights = rng.exponential(size=n)
    phi = [0.5, 0.9, 0.999, 0.1, 1e-6, rng.uniform(0.01, 0.99)][rng.integers(6)]
    lam = [0.0, 0.125, 0.5, 1.0, rng.exponential(), 10 ** rng.uniform(-3, 3), 1e300]
    return y, float(lam[rng.integers(7)]), float(phi), weights


def test_the_best_of_all_sets_of_jumps(rng):
    for _ in range(1500):
        y, lam, phi, weights = random_case(rng, most=9)
        least = best_of_all(y, lam, phi, weights)
        found = segment(y, lam, noise=phi, sample_weight=weights)
        rounding = 1e-12 * np.nansum((1 if weights is None else weights) * y**2)
        case = (y, lam, phi, weights)
        assert found.objective == pytest.approx(least, rel=1e-9, abs=rounding), case
        assert found.phi == phi
        # The levels are those of the model with these jumps.
        loss, levels = fit_jumps(y, phi, found.changepoints, weights)
        assert found.loss == pytest.approx(loss, rel=1e-9, abs=rounding), case
        starts = np.concatenate([[0], found.changepoints])
        scale = np.nanmax(np.abs(y)) * (1 if weights is None else 1e3)
        np.testing.assert_allclose(found.signal[starts], levels, rtol=1e-8, atol=1e-8 * scale)
        table = found.to_frame()
        assert table["loss"].sum() == pytest.approx(found.loss, rel=1e-9, abs=rounding)


@pytest.mark.parametrize("phi", [0.3, 0.8, 0.97])
def test_no_jump_can_be_moved_dropped_or_added(phi, rng):
    """On longer series, where all sets of jumps are too many, none nearby is better."""
    y = autoregressive(rng, phi, 120) + np.repeat([0.0, 3.0, 2.0, -2.0], 30)
    y[50:55] = np.nan
    lam = 3.0 * (1 - phi**2)
    found = segment(y, lam, noise=phi)
    assert found.n_segments > 3
    jumps = found.changepoints.tolist()
    times = np.flatnonzero(~np.isnan(y))[1:].tolist()
    others = [[t for t in jumps if t != gone] for gone in jumps]
    others += [sorted([*some, t]) for some in others for t in times if t not in some]
    others += [sorted([*jumps, t]) for t in times if t not in jumps]
    for other in others:
        objective = fit_jumps(y, phi, other)[0] + lam * len(other)
        assert objective >= found.objective * (1 - 1e-12)


def test_small_correlation_is_nearly_none(rng):
    y = rng.normal(size=500) + 2.0 * (np.arange(500) > 200)
    white, hardly = segment(y, 5.0), segment(y, 5.0, noise=1e-12)
    assert white.changepoints.tolist() == hardly.changepoints.tolist()
    np.testing.assert_allclose(white.signal, hardly.signal, rtol=1e-9)
    assert segment(y, 5.0, noise=0.0).objective == white.objective


@given(seed=st.integers(0, 10_000), phi=st.floats(0.01, 0.98))
@settings(max_examples=30)
def test_laws(seed, phi):
    """Equivariant to shift, scale, direction in time; the price counts jumps down."""
    rng = np.random.default_rng(seed)
    y = autoregressive(rng, phi, 60) + 3.0 * (np.arange(60) > 25)
    prices = [0.3, 1.0, 3.0]
    found = [segment(y, lam, noise=phi) for lam in prices]
    assert all(a.n_segments >= b.n_segments for a, b in pairwise(found))
    one = found[1]
    for other in (
        segment(y + 1e3, 1.0, noise=phi),
        segment(1e3 * y, 1e6, noise=phi),
        segment(y[::-1], 1.0, noise=phi),  # noise without a beginning has no direction
    ):
        assert other.n_segments == one.n_segments
    assert segment(y[::-1], 1.0, noise=phi).objective == pytest.approx(one.objective, rel=1e-9)
    assert segment(-y, 1.0, noise=phi).objective == pytest.approx(one.objective, rel=1e-9)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25)
def test_locations(seed):
    rng = np.random.default_rng(seed)
    phi = float(rng.choice([0.2, 0.6, 0.9]))
    y = autoregressive(rng, phi, 40) + np.repeat([0.0, 3.0, 1.0, 4.0], 10)
    y[rng.random(40) < 0.1] = np.nan
    weights = rng.integers(1, 4, 40).astype(float) if rng.random() < 0.5 else None
    found = segment(y, 1.5 * (1 - phi**2), noise=phi, sample_weight=weights)
    slack = -math.log(1 - math.sqrt(0.8)) * found.noise.sd**2 * (1 - phi**2)
    for k, (low, high) in enumerate(found.locations(0.8)):
        losses = jump_profile(y, phi, found.changepoints, k, weights)
        inside = [t for t, loss in losses.items() if loss <= min(losses.values()) + slack + 1e-9]
        assert (low, high) == (min(inside), max(inside))


def test_the_path_equals_refits(rng):
    y = autoregressive(rng, 0.6, 80) + np.repeat([0.0, 2.0, 1.0, 4.0], 20)
    y[30:34] = np.nan
    path = segment_path(y, 0.05, noise=0.6)
    assert path.phi == 0.6
    assert len(path.lambdas) > 8
    for lam in 10 ** rng.uniform(-1, 2, 20):
        refit, read = segment(y, lam, noise=0.6), path.at(lam=lam)
        assert read.objective == pytest.approx(refit.objective, rel=1e-9)
        assert read.phi == 0.6
        if not np.isclose(path.lambdas, lam, rtol=1e-6).any():
            assert read.changepoints.tolist() == refit.changepoints.tolist()


def test_the_default_finds_the_correlation(rng):
    y = autoregressive(rng, 0.7, 1000) + 3.0 * (np.arange(1000) >= 400)
    found = segment(y)
    assert found.changepoints.tolist() == pytest.approx([400], abs=2)
    assert found.phi == pytest.approx(0.7, abs=0.07)
    assert found.noise.correlation == found.phi
    assert found.noise.sd == pytest.approx(1, abs=0.15)
    again = segment(y, found.lam, noise=found.phi)
    np.testing.assert_array_equal(again.signal, found.signal)
    assert segment(y, found.lam, noise="ar1").phi == found.phi
    assert segment(y, found.lam).phi == 0
    with pytest.warns(PiecesWarning, match="correlated"):
        assert segment(y, noise="white").phi == 0
    path = segment_path(y)
    assert path.phi == found.phi
    assert path.lam_min == pytest.approx(found.lam / 2)
    rows = np.array([y, y[::-1]])
    np.testing.assert_array_equal(L0SegmentDenoiser().fit_transform(rows)[0], found.signal)


@pytest.mark.filterwarnings("ignore::ellzero._warnings.PiecesWarning")
@pytest.mark.parametrize(
    "options", [{"decay": 0.9}, {"jumps": "positive"}, {"solver": "pelt"}, {"lam": "bic"}]
)
def test_elsewhere_correlation_is_in_the_price_alone(options, rng):
    y = autoregressive(rng, 0.7, 300)
    for noise in ("auto", "ar1"):
        assert segment(y, **{"noise": noise, **options}).phi == 0
    with pytest.raises(ValueError, match=r"noise=0\.5, a correlation, is for"):
        segment(y, **{"noise": 0.5, **options})


def test_where_it_would_take_long_correlation_is_in_the_price_alone(rng, monkeypatch):
    y = lfilter([1], [1, -0.8], rng.normal(size=300))
    y[150:] += 12
    whole = segment(y)
    assert whole.phi > 0.5
    monkeypatch.setattr("ellzero.segmentation._calibrated._MOST_WORK", 300.0)
    by_price = segment(y)
    assert by_price.phi == 0
    assert by_price.lam > whole.lam
    assert by_price.changepoints.tolist() == pytest.approx(whole.changepoints.tolist(), abs=10)
    assert segment(y, noise="ar1").phi > 0.5


def test_data_that_hardly_have_any():
    for y in ([], [1.0], [1.0, 1.0], np.full(30, 2.0), np.arange(2.0)):
        for lam in (0.0, 1.0, "auto"):
            found = segment(y, lam, noise=0.5)
            assert found.n_segments <= max(len(y), 0)
            assert np.isfinite(found.objective)
    steps = segment(np.repeat([0.0, 1.0, 5.0], 20), noise=0.5)
    assert steps.changepoints.tolist() == [20, 40]
    for noise in (1.0, -0.1, math.nan):
        with pytest.raises(ValueError, match="'noise' parameter of segment must be"):
            segment([1.0, 2.0], 1.0, noise=noise)


def test_the_same_bits_whatever_the_number_of_threads(rng):
    rows = np.array([autoregressive(rng, 0.6, 300) for _ in range(8)])
    one, many = (segment(rows, noise="ar1", n_jobs=jobs) for jobs in (1, 4))
    for a, b in zip(one, many, strict=True):
        assert a.signal.tobytes() == b.signal.tobytes()


def short_steps(rng, length, phi, n=20_000):
    levels = np.repeat(2 * rng.normal(size=n // length + 1), length)[:n]
    return levels + autoregressive(rng, phi, n)


def test_jumps_too_small_to_be_found_are_no_correlation():
    # They leave a correlation of .01 to .05 in what the pieces leave of white noise.
    for seed in range(3):
        rng = np.random.default_rng(1000 + seed)
        assert segment(short_steps(rng, 63, 0.0)).phi == 0
        # Noise that is correlated beyond that is seen to be.
        assert segment(short_steps(rng, 63, 0.1)).phi == pytest.approx(0.1, abs=0.04)


def test_the_correlation_that_missed_jumps_leave():
    rng = np.random.default_rng(1)
    series = read_one(short_steps(rng, 40, 0.0, n=200_000), None)
    found = segment(series.y, noise="white")
    fit = fit_segments(series, 1.0, found.changepoints)
    left = noise_of_residuals(series, fit, "ar1").correlation
    expected = correlation_of_missed_jumps(series, fit, found.lam)
    assert 0.01 < left / 2 < expected < 2 * left
    # A sample of weight two counts as two.
    double = Series(series.y, np.full(series.y.size, 2.0), None)
    assert correlation_of_missed_jumps(double, fit, 2 * found.lam) == pytest.approx(expected)
    clear = np.repeat([0.0, 9.0, 3.0], 200) + 0.1 * rng.normal(size=600)
    found = segment(clear, noise="white")
    far_apart = read_one(clear, None)
    fit = fit_segments(far_apart, 1.0, found.changepoints)
    assert correlation_of_missed_jumps(far_apart, fit, found.lam) == 0
