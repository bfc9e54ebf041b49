"""Ranges of penalties in which most samples can't be jumps, against solving on all samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ellzero import _core, segment, segment_path
from ellzero.segmentation import _path
from ellzero.segmentation._ranges import Narrowing, is_tame
from ellzero.segmentation._series import read_one


@given(
    seed=st.integers(0, 10_000),
    size=st.integers(1, 300),
    weighted=st.booleans(),
    kind=st.sampled_from(["steps", "walk", "integers", "offset"]),
)
@settings(max_examples=80, deadline=None)
def test_the_same_path_as_on_all_samples(seed, size, weighted, kind):
    rng = np.random.default_rng(seed)
    y = np.repeat(3 * rng.normal(size=20), 15)[:size] + rng.normal(size=size)
    if kind == "walk":
        y = y.cumsum()
    elif kind == "integers":
        y = np.round(y)  # many ties
    elif kind == "offset":
        y = y + 1e7
    y[1:][rng.random(size - 1) < 0.1] = np.nan
    weights = np.r_[1, rng.integers(0, 4, size - 1)].astype(float) if weighted else None
    options = {"lam_min": 0.3, "noise": "white", "sample_weight": weights}
    quick = segment_path(y, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_path, "is_tame", lambda series: False)
        plain = segment_path(y, **options)
    for lam in [*(plain.lambdas[:-1] * plain.lambdas[1:]) ** 0.5, 0.3, 0.31, 5.0]:
        one, other = (_objective(path, lam) for path in (quick, plain))
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9)
    if kind in ("steps", "walk"):  # without ties there is one answer
        assert quick.n_segments.tolist() == plain.n_segments.tolist()
        np.testing.assert_allclose(quick.lambdas, plain.lambdas, rtol=1e-7)
        np.testing.assert_allclose(quick.losses, plain.losses, rtol=1e-9)
        for one, other in zip(quick.changepoints, plain.changepoints, strict=True):
            np.testing.assert_array_equal(one, other)


def _objective(path, lam):
    place = np.count_nonzero(path.lambdas > lam)
    return path.losses[place] + lam * (path.n_segments[place] - 1)


def test_what_is_left_out_is_no_jump_of_any_optimum(rng):
    y = np.repeat(2 * rng.normal(size=12), 25) + rng.normal(size=300)
    series = read_one(y, None)
    part = Narrowing.between(series, 6.0, 3.0, 1)
    assert len(part.pool.y) < 150
    possible = set(part.pool.times.tolist())
    for lam in np.linspace(3, 6, 13):
        assert set(segment(y, lam, noise="white").changepoints.tolist()) <= possible
    # A pool keeps the weight, the mean and the energy of its samples.
    ends = np.append(part.pool.times[1:], 300)
    pieces = [y[a:b] for a, b in zip(part.pool.times, ends, strict=True)]
    np.testing.assert_allclose(part.pool.y, [piece.mean() for piece in pieces])
    np.testing.assert_allclose(part.pool.weights, [len(piece) for piece in pieces])
    inside = 0.5 * sum(((piece - piece.mean()) ** 2).sum() for piece in pieces)
    assert part.pool.inside == pytest.approx(inside)


def test_minima_are_the_objectives_of_beginnings(rng):
    y = rng.normal(size=60).cumsum()
    weights = rng.uniform(0.5, 2, 60)
    found = _core.segment(
        [y],
        [weights],
        np.array([1.5]),
        np.ones(1),
        np.zeros(1),
        False,
        "functional",
        False,
        True,
        1,
    )[0]
    for end in range(1, 61):
        some = segment(y[:end], 1.5, sample_weight=weights[:end], noise="white")
        assert found.minima[end - 1] == pytest.approx(some.objective, rel=1e-9, abs=1e-9)


def test_what_is_not_tame_goes_the_plain_way(rng):
    y = rng.normal(size=30).cumsum()
    assert is_tame(read_one(y, None))
    assert not is_tame(read_one(1e70 * y, None))
    assert not is_tame(read_one(y, np.where(np.arange(30) < 3, 1e-90, 1.0)))
    assert not is_tame(read_one([], None))
    one, other = segment_path(y, 0.3), segment_path(1e70 * y, 0.3 * 1e140)
    np.testing.assert_allclose(one.lambdas * 1e140, other.lambdas, rtol=1e-9)
