"""Long series, where pieces crowd and rounding adds up."""

import numpy as np
import pytest
from interrupts import interrupted

from ellzero import segment
from ellzero.datasets import make_spikes

N = 100_000


@pytest.mark.parametrize("jumps", ["free", "positive"])
@pytest.mark.parametrize("decay", [0.5, 0.98, 0.9999, 1.0])
def test_silent_traces(decay, jumps):
    y = 0.3 * np.random.default_rng(0).normal(size=N)
    found = segment(y, 2.0, decay=decay, jumps=jumps)
    assert found.n_segments == 1
    shape = decay ** np.arange(N)
    level = shape @ y / (shape @ shape)
    assert found.objective == pytest.approx(0.5 * np.sum((y - level * shape) ** 2), rel=1e-12)
    # The same far from noise.
    for constant in (0.0, 1.0):
        assert segment(np.full(N, constant), 2.0, jumps=jumps).n_segments == 1


def test_long_silence_between_spikes_and_pelt():
    """Long enough for every candidate to have decayed to nothing many times over."""
    y = 0.3 * np.random.default_rng(1).normal(size=12_000)
    y[6000:] += 5 * 0.9 ** np.arange(6000)
    for lam in (0.3, 1.0):
        fast, slow = (segment(y, lam, decay=0.9, solver=s) for s in ("functional", "pelt"))
        assert fast.objective == pytest.approx(slow.objective, rel=1e-10)
        assert fast.changepoints.tolist() == slow.changepoints.tolist()
        assert 6000 in fast.changepoints


@pytest.mark.parametrize("jumps", ["free", "positive"])
def test_a_long_spiking_trace_is_exact(jumps):
    """Cutting at a spike that is surely found splits the problem in two."""
    y = make_spikes(N, decay=0.95, rate=0.005, noise=0.1, random_state=0)[0]
    y[N // 2 :] += 50 * 0.95 ** np.arange(N // 2)
    whole = segment(y, 0.2, decay=0.95, jumps=jumps)
    first, second = (segment(h, 0.2, decay=0.95, jumps=jumps) for h in np.split(y, 2))
    assert N // 2 in whole.changepoints
    assert whole.objective == pytest.approx(first.objective + 0.2 + second.objective, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("jumps", ["free", "positive"])
def test_scales(scale, jumps):
    y = make_spikes(20_000, decay=0.98, random_state=2)[0]
    plain = segment(y, 1.0, decay=0.98, jumps=jumps)
    scaled = segment(scale * y, scale**2, decay=0.98, jumps=jumps)
    assert scaled.changepoints.tolist() == plain.changepoints.tolist()
    assert scaled.objective / scale / scale == pytest.approx(plain.objective, rel=1e-12)
    chosen = segment(scale * y, "bic", decay=0.98, jumps=jumps)
    assert chosen.n_segments == segment(y, "bic", decay=0.98, jumps=jumps).n_segments


def test_levels_that_a_rising_series_leaves_behind():
    """They are dropped if the series goes on rising, and needed if it falls for good."""
    rng = np.random.default_rng(0)
    rising = np.linspace(0, 40, 500) + 0.1 * rng.normal(size=500)
    for tail in (0, 20, 150, 500):
        y = np.r_[rising, np.full(tail, -3.0) + 0.1 * rng.normal(size=tail)]
        for decay in (1.0, 0.999):
            fast, slow = (
                segment(y, 0.5, decay=decay, jumps="positive", solver=solver)
                for solver in ("functional", "pelt")
            )
            assert fast.objective == pytest.approx(slow.objective, rel=1e-12)
    whole = segment(np.linspace(0, 100, N), 0.0, jumps="positive")
    assert whole.n_segments == N


def test_an_offset_costs_no_digits():
    y = np.random.default_rng(0).normal(size=20_000) + np.repeat([0.0, 3.0], 10_000)
    plain, shifted = segment(y, 10.0), segment(y + 1e6, 10.0)
    assert shifted.changepoints.tolist() == plain.changepoints.tolist()
    assert shifted.objective == pytest.approx(plain.objective, rel=1e-9)


def test_ties_in_plenty():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 3000).astype(float)
    for lam in (0.25, 0.5, 1.0):
        for jumps in ("free", "positive"):
            found = [segment(y[:800], lam, solver=s, jumps=jumps) for s in ("functional", "pelt")]
            assert found[0].objective == pytest.approx(found[1].objective, rel=1e-12)


@pytest.mark.parametrize("series", [1, 8])
def test_a_keyboard_interrupt_stops_it(series):
    y = 0.3 * np.random.default_rng(0).normal(size=200_000)
    with interrupted():
        segment([y[:100]] + [y] * series, 5.0, decay=0.98, solver="pelt", n_jobs=2)
    assert segment(y[:1000], 5.0).n_segments == 1


def test_a_keyboard_interrupt_while_only_others_work():
    y = 0.3 * np.random.default_rng(0).normal(size=200_000)
    with interrupted():
        segment([y, y[:10]], 5.0, decay=0.98, solver="pelt", n_jobs=2)
