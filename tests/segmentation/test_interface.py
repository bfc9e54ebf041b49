"""What goes into segment and what comes out."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ellzero import L0SegmentDenoiser, Segmentation, estimate_noise, segment, segment_path

Y = [1.0, 1.2, 0.8, 5.1, 4.9, 5.0]


@pytest.mark.parametrize("jumps", ["free", "positive"])
@pytest.mark.parametrize("solver", ["functional", "pelt", "dp"])
def test_very_short_series(solver, jumps):
    options = {"lam": 0.5, "decay": 0.9, "solver": solver, "jumps": jumps}
    none = segment([], **options)
    assert (none.n_segments, none.objective, none.changepoints.size) == (0, 0.0, 0)
    assert none.signal.shape == none.jumps.shape == (0,)
    assert none.to_frame().empty
    one = segment([3.0], **options)
    assert (one.n_segments, one.objective, one.signal.tolist()) == (1, 0.0, [3.0])
    apart = segment([0.0, 9.0], **options)
    assert apart.changepoints.tolist() == [1]
    assert apart.jumps.tolist() == [9.0]
    close = segment([1.0, 0.9], **options)
    assert close.n_segments == 1
    assert close.objective == pytest.approx(0, abs=1e-30)
    with pytest.raises(ValueError, match="y has no sample: all 2 of its values are missing"):
        segment([np.nan, np.nan], **options)
    for lam in ("bic", "auto"):
        assert segment([], lam, solver=solver, jumps=jumps).n_segments == 0
        assert segment([2.0], lam, solver=solver, jumps=jumps).n_segments == 1
        assert segment([np.nan, 2.0], lam, solver=solver, jumps=jumps).n_segments == 1
        with pytest.raises(ValueError, match=r"y\[1\] has no sample"):
            segment([[1.0, 2.0], [np.nan, np.nan]], lam, solver=solver, jumps=jumps)
        with pytest.raises(ValueError, match="where its weight is not zero, it is missing"):
            segment([1.0, np.nan], lam, sample_weight=[0, 1], solver=solver, jumps=jumps)


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        np.array,
        pd.Series,
        pl.Series,
        lambda y: np.array(y, dtype=np.float32),
        lambda y: np.array([y, y]).T[:, 0],
        lambda y: np.array(y)[::-1][::-1],
        lambda y: pd.Series(y, dtype="Float64"),
        lambda y: pd.Series(y, dtype=object),
        lambda y: np.ma.masked_invalid(y),
        lambda y: np.array(y).astype(">f8"),
    ],
)
def test_kinds_of_series(make):
    expected = segment(np.array(Y), 1.0)
    given = make(Y)
    found = segment(given, 1.0)
    assert isinstance(found, Segmentation)
    assert found.changepoints.tolist() == [3]
    np.testing.assert_allclose(found.signal, expected.signal, rtol=1e-6)


def test_missing_values_of_all_kinds_are_gaps():
    expected = segment([1.0, np.nan, 1.0, 5.0], 1.0)
    for y in (
        [1.0, None, 1.0, 5.0],
        pd.Series([1, None, 1, 5], dtype="Int64"),
        pd.Series([1, pd.NA, 1, 5], dtype=object),
        pl.Series([1, None, 1, 5]),
        np.ma.array([1.0, 77.0, 1.0, 5.0], mask=[0, 1, 0, 0]),
    ):
        found = segment(y, 1.0)
        assert found.changepoints.tolist() == expected.changepoints.tolist() == [3]
        assert found.signal.tolist() == [1, 1, 1, 5]
    objects = pd.Series([1, pd.NA, 1, 5], dtype=object)
    segment(objects, 1.0)
    assert objects[1] is pd.NA


def test_integers_and_read_only_arrays():
    y = np.array([0, 0, 7, 7])
    y.flags.writeable = False
    assert segment(y, 1.0).signal.tolist() == [0, 0, 7, 7]
    floats = np.array(Y)
    floats.flags.writeable = False
    found = segment(floats, 1.0, sample_weight=floats)
    assert found.changepoints.tolist() == [3]
    assert segment([True, True, False], 0.1).changepoints.tolist() == [2]


def test_several_series(rng):
    rows = rng.normal(size=(4, 50))
    for several in (
        rows,
        list(rows),
        [row.tolist() for row in rows],
        pd.DataFrame(rows),
        tuple(rows),
    ):
        found = segment(several, 1.0)
        assert isinstance(found, list)
        for one, row in zip(found, rows, strict=True):
            np.testing.assert_array_equal(one.signal, segment(row, 1.0).signal)
    ragged = segment([rows[0], rows[1, :7], np.zeros(0)], 1.0)
    assert [len(one.y) for one in ragged] == [50, 7, 0]
    assert segment(np.zeros((0, 5)), 1.0) == []
    objects = np.empty(2, dtype=object)
    objects[:] = [rows[0], rows[1, :7]]
    assert len(segment(objects, 1.0)) == 2
    lone = segment([rows[0]], 1.0)
    assert isinstance(lone, list)
    assert len(lone) == 1


def test_parameters_of_any_kind_of_number():
    for lam, decay in ((1, 1), (np.float32(1), np.float32(1)), (np.array(1.0), np.array(1.0))):
        assert segment(Y, lam, decay=decay).changepoints.tolist() == [3]


def test_one_penalty_and_decay_a_series(rng):
    rows = rng.normal(size=(3, 40))
    lams, decays = [0.1, "bic", "auto"], [1.0, 0.9, 0.5]
    found = segment(rows, lams, decay=decays, sample_weight=np.ones((3, 40)))
    for one, row, lam, decay in zip(found, rows, lams, decays, strict=True):
        np.testing.assert_array_equal(one.signal, segment(row, lam, decay=decay).signal)
        assert one.decay == decay


def test_the_same_bits_whatever_the_number_of_threads(rng):
    series = [rng.normal(size=int(n)) for n in rng.integers(0, 3000, size=30)]
    series = [y + 3 * (np.arange(len(y)) > 0.6 * len(y)) for y in series]
    for options in ({}, {"decay": 0.95, "jumps": "positive"}, {"lam": "cv", "decay": 0.9}):
        some = series[:6] if "lam" in options else series
        some = [y for y in some if len(y) > 4]
        one, many = (segment(some, n_jobs=jobs, **options) for jobs in (1, 5))
        for a, b in zip(one, many, strict=True):
            assert a.signal.tobytes() == b.signal.tobytes()
            assert (a.lam, a.loss) == (b.lam, b.loss)


def test_gaps_are_filled_and_cost_nothing():
    y = np.array([np.nan, 4.0, np.nan, 1.0, np.nan, np.nan, 9.0, np.nan])
    found = segment(y, 0.1, decay=0.5)
    np.testing.assert_allclose(found.signal, [8, 4, 2, 1, 0.5, 0.25, 9, 4.5])
    assert found.changepoints.tolist() == [6]
    assert found.jumps == pytest.approx([8.875])
    assert found.objective == pytest.approx(0.1)
    # So long a gap that nothing is left of the level before it.
    far = segment(np.r_[3.0, np.full(3000, np.nan), 1e-3, 1e-3 / 2], 1e-9, decay=0.5)
    assert far.changepoints.tolist() == [3001]
    assert np.isfinite(far.signal).all()


def test_table():
    index = pd.date_range("2020-01-01", periods=6, name="day")
    table = segment(pd.Series(Y, index=index), 1.0).to_frame()
    assert table["start"].tolist() == [0, 3]
    assert table["stop"].tolist() == [3, 6]
    assert table["level"].tolist() == pytest.approx([1, 5])
    assert np.isnan(table["jump"][0])
    assert table["jump"][1] == pytest.approx(4)
    weights = np.arange(6.0)
    weighted = segment(Y, 1.0, sample_weight=weights)
    assert weighted.to_frame()["loss"].sum() == pytest.approx(weighted.loss)
    assert table["first"].tolist() == [index[0], index[3]]
    assert table["last"].tolist() == [index[2], index[5]]


def test_results_can_be_copied_and_do_not_follow_the_data():
    y = np.array(Y)
    found = segment(y, 1.0)
    again = pickle.loads(pickle.dumps(found))
    assert again.objective == copy.deepcopy(found).objective == found.objective
    y[:] = 0
    assert found.y.tolist() == Y
    assert repr(found) == "<Segmentation: 2 segments of 6 samples, objective 1.05 at lam=1>"


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([1.0, np.inf, 2.0], {}, "y is infinite at position 1; NaN is what stands for a gap"),
        ([[1.0], [2.0, -np.inf]], {}, r"y\[1\] is infinite at position 1"),
        (["a", "b"], {}, "y must hold real numbers"),
        ([1.0, 2j], {}, "y must hold real numbers; got complex"),
        (np.array(["2020-01-01"], dtype="M8[D]"), {}, "y must hold real numbers; got datetime64"),
        ("abc", {}, "y must be array-like; got str"),
        (None, {}, "y must be array-like; got NoneType"),
        (3.0, {}, "y must be array-like; got float"),
        (np.float64(3), {}, "y must have 1 dimension; got 0"),
        (np.zeros((2, 2, 2)), {}, "y must have 1 dimension; got 3"),
        ([1.0, [2.0]], {}, "y must be one series of numbers, or a list of series; got a mixture"),
        ([1e160, 1.0], {}, "y is too large for its squares to be summed; rescale it"),
        (Y, {"lam": -1.0}, "'lam' parameter of segment must be"),
        (Y, {"lam": np.nan}, "'lam' parameter of segment must be"),
        (Y, {"lam": np.inf}, "'lam' parameter of segment must be"),
        (Y, {"lam": "aic"}, "'lam' parameter of segment must be"),
        (Y, {"lam": None}, "'lam' parameter of segment must be"),
        (Y, {"lam": [1.0, 2.0]}, "lam must be one value, or one for each of the 1 series; got 2"),
        ([Y, Y], {"decay": [1.0, 0.0]}, "'decay' parameter of segment must be"),
        (Y, {"decay": 0.0}, "'decay' parameter of segment must be"),
        (Y, {"decay": 1.1}, "'decay' parameter of segment must be"),
        (Y, {"jumps": "negative"}, "'jumps' parameter of segment must be"),
        (Y, {"noise": "pink"}, "'noise' parameter of segment must be"),
        (Y, {"solver": "fpop"}, "'solver' parameter of segment must be"),
        (Y, {"rule": "max"}, "'rule' parameter of segment must be"),
        (Y, {"n_jobs": 0}, "n_jobs must be a positive number of threads, -1 or None; got 0"),
        (
            Y,
            {"sample_weight": [1.0]},
            "sample_weight must have one weight per sample, 6 of them; got 1",
        ),
        (Y, {"sample_weight": [-1.0] * 6}, "sample_weight must be finite and not negative"),
        (Y, {"sample_weight": [np.nan] * 6}, "sample_weight must be finite and not negative"),
        (Y, {"sample_weight": [0.0] * 6}, "sample_weight must not be zero for every sample"),
        (
            Y,
            {"lam": "bic", "sample_weight": [0.01] * 6},
            'sample_weight sums to 0.06, but lam="bic" takes',
        ),
        ([Y, Y], {"sample_weight": [None]}, "weights for each of the 2 series; got 1"),
        (
            [Y, Y],
            {"sample_weight": [None, [1]]},
            r"sample_weight\[1\] must have one weight per sample",
        ),
        (Y[:3], {"lam": "cv"}, 'lam="cv" needs four samples or more; y has 3'),
    ],
)
def test_bad_input_gets_one_sentence(y, options, message):
    with pytest.raises(ValueError, match=message) as error:
        segment(y, **options)
    assert "\n" not in str(error.value)


def test_bad_input_to_the_others():
    with pytest.raises(ValueError, match="y must have three samples in a row"):
        estimate_noise([1.0, np.nan, 2.0, 3.0])
    with pytest.raises(ValueError, match="y is infinite at position 0"):
        segment_path([np.inf])
    with pytest.raises(ValueError, match="lam_max=1 must not be below lam_min=2"):
        segment_path(Y, 2.0, 1.0)
    with pytest.raises(ValueError, match="y must have 1 dimension; got 2"):
        segment_path([[1.0, 2.0]])
    with pytest.raises(ValueError, match="'decay' parameter of L0SegmentDenoiser must be"):
        L0SegmentDenoiser(decay=0).fit([Y])
