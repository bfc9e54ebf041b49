"""Three solvers against all segmentations, against each other, and the laws they obey."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference.segmentation import brute_force, brute_force_nnls
from sklearn.isotonic import isotonic_regression

from ellzero import segment
from ellzero.datasets import make_spikes

SOLVERS = ("functional", "pelt", "dp")
JUMPS = ("free", "positive")


def recompute(y, c, lam, decay, weights=None):
    """The formula, from the signal alone: (objective, where c_t != decay c_{t-1})."""
    w = np.ones(len(y)) if weights is None else np.asarray(weights)
    loss = 0.5 * np.nansum(w * (np.asarray(y) - c) ** 2)
    with np.errstate(invalid="ignore"):
        breaks = np.flatnonzero(np.abs(c[1:] - decay * c[:-1]) > 1e-12 * np.abs(c).max()) + 1
    return loss + lam * len(breaks), breaks


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
        y[1:][rng.random(n - 1) < 0.25] = np.nan  # the first stays: nothing at all is an error
    weights = None
    if rng.random() < 0.3:
        weights = rng.integers(0, 4, n) if rng.random() < 0.5 else rng.exponential(size=n)
        weights = None if not weights[~np.isnan(y)].any() else weights.astype(float)
    decay = [1.0, 0.5, 0.9, 0.98, rng.uniform(0.5, 1)][rng.integers(5)]
    lam = [0.0, 0.125, 0.5, 1.0, rng.exponential(), 10 ** rng.uniform(-3, 3), 1e9, 1e300]
    return y, float(lam[rng.integers(8)]), float(decay), weights


@pytest.mark.parametrize("jumps", JUMPS)
@pytest.mark.parametrize(("solver", "cases"), [("functional", 3000), ("pelt", 1500), ("dp", 500)])
def test_the_best_of_all_segmentations(solver, cases, jumps, rng):
    for _ in range(cases):
        y, lam, decay, weights = random_case(rng, most=10)
        least, _ = brute_force(y, lam, decay=decay, positive=jumps == "positive", weights=weights)
        found = segment(y, lam, decay=decay, jumps=jumps, solver=solver, sample_weight=weights)
        rounding = 1e-13 * np.nansum(y**2)
        case = (y, lam, decay, weights)
        assert found.objective == pytest.approx(least, rel=1e-9, abs=rounding), case
        if jumps == "positive":
            assert (found.jumps > 0).all(), case


@pytest.mark.parametrize("jumps", JUMPS)
def test_the_best_of_all_segmentations_of_fourteen(jumps, rng):
    for _ in range(60):
        y, lam, decay, _ = random_case(rng, most=4)
        y = np.concatenate([y, rng.integers(-3, 4, 14 - len(y)).astype(float)])
        least, _ = brute_force(y, lam, decay=decay, positive=jumps == "positive")
        found = segment(y, lam, decay=decay, jumps=jumps)
        assert found.objective == pytest.approx(least, rel=1e-9, abs=1e-13 * np.nansum(y**2))


@pytest.mark.parametrize("solver", SOLVERS)
def test_positive_jumps_against_constrained_least_squares(solver, rng):
    for _ in range(25):
        n = int(rng.integers(2, 8))
        y, lam = rng.normal(size=n).cumsum(), float(rng.exponential(0.3)) + 1e-3
        decay = float(rng.uniform(0.5, 1))
        found = segment(y, lam, decay=decay, jumps="positive", solver=solver)
        assert found.objective == pytest.approx(brute_force_nnls(y, lam, decay=decay), rel=1e-9)


def test_the_case_a_peer_gets_wrong():
    for solver in SOLVERS:
        found = segment([1.0, 1.6, 2.9], 0.5, decay=0.9, jumps="positive", solver=solver)
        assert found.changepoints.tolist() == [2]
        assert found.objective == pytest.approx(0.6354, abs=5e-5)


def long_traces():
    rng = np.random.default_rng(3)
    t = np.arange(450.0)
    spiking = make_spikes(450, decay=0.95, rate=0.03, random_state=1)[0]
    gappy = spiking.copy()
    gappy[rng.random(450) < 0.2] = np.nan
    gappy[100:180] = np.nan
    return {
        "silent": 0.3 * rng.normal(size=450),
        "spiking": spiking,
        "gaps": gappy,
        "steps": np.repeat(rng.normal(size=9), 50) + 0.2 * rng.normal(size=450),
        "constant": np.full(450, 3.0),
        "zero": np.zeros(450),
        "rising": 0.01 * t,
        "falling": -0.01 * t,
        "alternating": np.where(t % 2 == 0, 1.0, -1.0),
        "integers": rng.integers(0, 3, 450).astype(float),
        "decaying": 5 * 0.98**t,
        "growing": 1.01**t,
        "impulse": np.where(t == 250, 1.0, 0.0),
    }


@pytest.mark.parametrize("jumps", JUMPS)
@pytest.mark.parametrize("decay", [1.0, 0.98, 0.5])
@pytest.mark.parametrize("name", list(long_traces()))
def test_three_solvers_agree(name, decay, jumps):
    y = long_traces()[name]
    for lam in (0.02, 0.7, 30.0):
        found = [segment(y, lam, decay=decay, jumps=jumps, solver=solver) for solver in SOLVERS]
        for one in found:
            rounding = 1e-12 * np.nansum(y**2) + 1e-300
            assert one.objective == pytest.approx(found[0].objective, rel=1e-9, abs=rounding)
            objective, breaks = recompute(y, one.signal, lam, decay)
            assert objective == pytest.approx(one.objective, rel=1e-9, abs=rounding)
            assert set(breaks) <= set(one.changepoints)


@pytest.mark.parametrize("jumps", JUMPS)
def test_random_longer_series(jumps, rng):
    for _ in range(150):
        y, lam, decay, weights = random_case(rng, most=120)
        found = [
            segment(y, lam, decay=decay, jumps=jumps, solver=solver, sample_weight=weights)
            for solver in SOLVERS
        ]
        for one in found[1:]:
            rounding = 1e-13 * np.nansum(y**2)
            assert one.objective == pytest.approx(found[0].objective, rel=1e-9, abs=rounding)


def test_no_price_and_upward_only_is_isotonic_regression(rng):
    y, weights = rng.normal(size=300) + np.linspace(0, 3, 300), rng.exponential(size=300)
    found = segment(y, 0.0, jumps="positive", sample_weight=weights)
    np.testing.assert_allclose(found.signal, isotonic_regression(y, sample_weight=weights))


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_price_keeps_every_sample(solver, rng):
    y = rng.normal(size=40)
    found = segment(y, 0.0, decay=0.9, solver=solver)
    np.testing.assert_allclose(found.signal, y, rtol=1e-14)
    assert found.objective == pytest.approx(0, abs=1e-25)
    # Where there is no jump none is reported, price or not.
    assert segment([1.0, 1.0, 2.0, 2.0, 2.0], 0.0, solver=solver).changepoints.tolist() == [2]
    spikes = make_spikes(200, decay=0.9, noise=0.0, random_state=0)[2]
    signal = make_spikes(200, decay=0.9, noise=0.0, random_state=0)[1]
    found = segment(signal[np.argmax(spikes > 0) :], 0.0, decay=0.9, solver=solver)
    assert found.n_segments == np.count_nonzero(spikes)


series = arrays(
    np.float64,
    st.integers(1, 40),
    elements=st.floats(-100, 100, allow_subnormal=False).map(lambda x: round(x, 3)),
)
settings_of = {
    "lam": st.floats(0, 1000),
    "decay": st.one_of(st.just(1.0), st.floats(0.3, 1)),
    "jumps": st.sampled_from(JUMPS),
}


@given(y=series, **settings_of)
@settings(max_examples=150)
def test_optimal_among_its_neighbours(y, lam, decay, jumps):
    """The signal is the closed-form fit of its segments, and the objective is the formula."""
    found = segment(y, lam, decay=decay, jumps=jumps)
    starts = [0, *found.changepoints, len(y)]
    scale = float(y @ y) + 1e-300
    for s, e in pairwise(starts):
        shape = decay ** np.arange(e - s)
        level = shape @ y[s:e] / (shape @ shape)
        np.testing.assert_allclose(found.signal[s:e], level * shape, atol=1e-12 * np.sqrt(scale))
    objective, _ = recompute(y, found.signal, lam, decay)
    assert objective <= found.objective * (1 + 1e-12) + 1e-12 * scale
    np.testing.assert_array_equal(
        found.jumps,
        found.signal[found.changepoints] - decay * found.signal[found.changepoints - 1],
    )
    assert found.objective <= segment(y, 1e9, decay=decay).objective * (1 + 1e-9) + 1e-12 * scale


@given(y=series, factor=st.sampled_from([-3.0, 0.37, 1e-150, 1e150, 2.0**-40]), **settings_of)
@settings(max_examples=100)
def test_scale_equivariance(y, factor, lam, decay, jumps):
    if factor < 0 and jumps == "positive":
        factor = -factor
    plain = segment(y, lam, decay=decay, jumps=jumps)
    scaled = segment(factor * y, lam * factor**2, decay=decay, jumps=jumps)
    rounding = 1e-12 * float(y @ y) + 1e-300
    again = scaled.objective / factor / factor
    assert again == pytest.approx(plain.objective, rel=1e-9, abs=rounding)
    assert np.isfinite(scaled.signal).all()


@given(
    y=series, lam=st.floats(0.001, 100), shift=st.floats(-100, 100), jumps=st.sampled_from(JUMPS)
)
def test_a_shift_changes_nothing_without_decay(y, lam, shift, jumps):
    plain, shifted = segment(y, lam, jumps=jumps), segment(y + shift, lam, jumps=jumps)
    assert shifted.objective == pytest.approx(plain.objective, rel=1e-9, abs=1e-9)


@given(y=series, lam=st.floats(0.001, 100))
def test_time_runs_either_way_without_decay(y, lam):
    forward, backward = segment(y, lam), segment(y[::-1], lam)
    assert forward.objective == pytest.approx(backward.objective, rel=1e-9, abs=1e-9)
    upward = segment(y, lam, jumps="positive")
    assert upward.objective >= forward.objective * (1 - 1e-9) - 1e-9
    mirrored = segment(-y[::-1], lam, jumps="positive")
    assert mirrored.objective == pytest.approx(upward.objective, rel=1e-9, abs=1e-9)


@given(y=series, **settings_of)
@settings(max_examples=60)
def test_weights_are_frequencies_and_gaps_weigh_nothing(y, lam, decay, jumps):
    weights = np.arange(len(y)) % 3.0
    if not weights.any():
        return
    options = {"decay": decay, "jumps": jumps}
    weighted = segment(y, lam, sample_weight=weights, **options)
    rounding = 1e-12 * float(y @ y) + 1e-300
    gaps = segment(np.where(weights > 0, y, np.nan), lam, sample_weight=weights, **options)
    assert gaps.objective == pytest.approx(weighted.objective, rel=1e-9, abs=rounding)
    doubled = segment(y, 2 * lam, sample_weight=2 * weights, **options)
    assert doubled.objective == pytest.approx(2 * weighted.objective, rel=1e-9, abs=rounding)
    objective, _ = recompute(y, weighted.signal, lam, decay, weights)
    assert objective <= weighted.objective * (1 + 1e-9) + rounding
    assert not set(weighted.changepoints) & set(np.flatnonzero(weights == 0))
