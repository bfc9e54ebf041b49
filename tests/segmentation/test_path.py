"""segment_path against refits, and against the definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ellzero import segment, segment_path
from ellzero.datasets import make_spikes


@given(
    seed=st.integers(0, 10_000),
    decay=st.sampled_from([1.0, 0.95, 0.6]),
    jumps=st.sampled_from(["free", "positive"]),
    integers=st.booleans(),
    solver=st.sampled_from(["functional", "pelt"]),
)
@settings(max_examples=60)
def test_the_path_equals_refits(seed, decay, jumps, integers, solver):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=40).cumsum()
    if integers:
        y = np.round(y)
    y[rng.random(40) < 0.1] = np.nan
    weights = rng.integers(0, 3, 40).astype(float) + (rng.random() < 0.5)
    options = {"decay": decay, "jumps": jumps, "sample_weight": weights}
    path = segment_path(y, 0.01, solver=solver, **options)
    assert (np.diff(path.n_segments) > 0).all()
    assert (np.diff(path.lambdas) < 0).all()
    assert (np.diff(path.losses) < 0).all()
    assert path.n_segments[0] == 1
    for lam in 10 ** rng.uniform(-2, 3, 12):
        refit, read = segment(y, lam, **options), path.at(lam=lam)
        assert read.objective == pytest.approx(refit.objective, rel=1e-9)
        if not np.isclose(path.lambdas, lam, rtol=1e-6).any():
            assert read.n_segments == refit.n_segments
        assert read.lam == lam


def test_breakpoints_are_where_two_are_equal():
    y = make_spikes(600, decay=0.95, rate=0.03, random_state=3)[0]
    path = segment_path(y, decay=0.95, jumps="positive")
    assert len(path.lambdas) > 5
    for place, lam in enumerate(path.lambdas):
        left, right = (path.losses[k] + lam * (path.n_segments[k] - 1) for k in (place, place + 1))
        assert left == pytest.approx(right, rel=1e-12)
        assert path.at(lam=lam).n_segments == path.n_segments[place]  # of two, the fewer
        assert path.at(lam=lam * (1 - 1e-9)).n_segments == path.n_segments[place + 1]
    for place, size in enumerate(path.n_segments):
        found = path.at(segments=int(size))
        low, high = path.interval(place)
        assert low < found.lam < high
        assert found.changepoints.tolist() == path.changepoints[place].tolist()
    table = path.to_frame()
    assert table["lam_high"][0] == np.inf
    assert table["lam_low"].iloc[-1] == path.lam_min
    assert table["n_segments"].tolist() == path.n_segments.tolist()


def test_a_range():
    y = make_spikes(400, decay=0.9, rate=0.05, random_state=1)[0]
    path = segment_path(y, 0.5, 2.0, decay=0.9)
    whole = segment_path(y, 0.1, decay=0.9)
    inside = whole.lambdas[(whole.lambdas > 0.5) & (whole.lambdas < 2.0)]
    assert inside.size
    np.testing.assert_allclose(path.lambdas, inside, rtol=1e-9)
    assert path.interval(0)[1] == 2.0
    with pytest.raises(ValueError, match=r"lam must be a number between 0.5 and 2, the range"):
        path.at(lam=0.1)
    with pytest.raises(ValueError, match="the nearest are"):
        path.at(segments=1)
    with pytest.raises(ValueError, match=r"more may lie below lam_min=0\.5"):
        path.at(segments=400)
    with pytest.raises(ValueError, match="just one of lam and segments"):
        path.at()
    assert repr(path).startswith(f"<SegmentationPath: {len(path.n_segments)} segmentations of 400")


def test_degenerate_paths():
    for y in ([], [1.0], [np.nan, 3.0], [2.0, 2.0, 2.0]):
        path = segment_path(y)
        assert path.n_segments.tolist() == [1] or len(y) == 0
        assert path.lambdas.size == 0
        assert path.at(lam=1.0).changepoints.size == 0
    all_of_it = segment_path([0.0, 1.0, 3.0], 0.0)
    assert all_of_it.n_segments.tolist() == [1, 2, 3]
    assert all_of_it.at(lam=0.0).signal.tolist() == [0.0, 1.0, 3.0]


def test_the_same_path_whatever_the_number_of_threads(rng):
    y = rng.normal(size=500).cumsum()
    one, many = (segment_path(y, 0.3, n_jobs=jobs) for jobs in (1, 4))
    assert one.lambdas.tobytes() == many.lambdas.tobytes()
