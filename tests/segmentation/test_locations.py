"""Where a jump could as well be."""

import math

import numpy as np
import pytest
from reference.segmentation import jump_profile

from ellzero import segment


def reference_locations(found, level):
    """Move every jump by hand, the others held fixed."""
    slack = -math.log(1 - math.sqrt(level)) * found.noise.sd**2
    slack *= found.noise.inflation(found.decay)
    edges = [0, *found.changepoints.tolist(), len(found.y)]
    intervals = []
    for before, after in zip(edges[:-2], edges[2:], strict=True):
        losses = jump_profile(found.y, before, after, found.sample_weight, found.decay)
        least = min(losses.values())
        inside = [t for t, loss in losses.items() if loss <= least + slack * (1 + 1e-9) + 1e-12]
        intervals.append([min(inside), max(inside)])
    return np.array(intervals).reshape(-1, 2)


@pytest.mark.parametrize("decay", [1.0, 0.9, 0.5])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_against_direct_computation(decay, gaps, weighted):
    rng = np.random.default_rng(1)
    y = rng.normal(size=40) + np.repeat([0.0, 2.0, -1.0, 3.0], 10)
    if gaps:
        y[rng.random(40) < 0.2] = np.nan
    weights = rng.integers(1, 4, 40).astype(float) if weighted else None
    found = segment(y, 2.0, decay=decay, sample_weight=weights)
    assert len(found.changepoints) >= 2
    for level in (0.5, 0.95):
        places = found.locations(level)
        np.testing.assert_array_equal(places, reference_locations(found, level))
        assert (places[:, 0] <= found.changepoints).all()
        assert (found.changepoints <= places[:, 1]).all()


def test_scales_offsets_and_nothing():
    rng = np.random.default_rng(2)
    y = rng.normal(size=100) + 1.5 * (np.arange(100) >= 60)
    expected = segment(y).locations()
    for scale, offset in ((1e-140, 0.0), (1e140, 0.0), (1.0, 1e6)):
        found = segment(scale * y + offset)
        np.testing.assert_array_equal(found.locations(), expected)
    assert segment(rng.normal(size=50), 100.0).locations().shape == (0, 2)
    assert segment([]).locations().shape == (0, 2)
    exact = segment(np.repeat([0.0, 1.0], 20))
    assert exact.locations().tolist() == [[20, 20]]
    with pytest.raises(ValueError, match="'level' parameter of locations must be"):
        exact.locations(1.0)


@pytest.mark.parametrize(("size", "width"), [(1.0, 30), (3.0, 4)])
def test_coverage(size, width):
    """Steps in the middle of 200 samples: at least as often right as it says."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(400, 200)) + size * (np.arange(200) >= 90)
    found = [one for one in segment(rows) if len(one.changepoints) == 1]
    assert len(found) > 300
    places = np.array([one.locations()[0] for one in found])
    # 95 in 100, less three standard errors
    assert np.mean((places[:, 0] <= 90) & (places[:, 1] >= 90)) >= 0.95 - 0.035
    assert np.mean(places[:, 1] - places[:, 0]) < width
    narrow = np.array([one.locations(0.5)[0] for one in found])
    assert (narrow[:, 0] >= places[:, 0]).all()
    assert (narrow[:, 1] <= places[:, 1]).all()


def test_correlated_noise_makes_them_wider():
    rng = np.random.default_rng(4)
    e = rng.normal(size=400)
    for t in range(1, 400):
        e[t] += 0.7 * e[t - 1]
    y = e + 6.0 * (np.arange(400) >= 200)
    wide, narrow = segment(y, 50.0), segment(y, 50.0, noise="white")
    assert wide.noise.correlation > 0.5
    assert narrow.noise.correlation == 0
    assert np.ptp(wide.locations()) >= np.ptp(narrow.locations())
