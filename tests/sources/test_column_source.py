"""Columns that lie elsewhere: the answers of memory, to the bit, or one sentence."""

import subprocess
import sys

import numpy as np
import pytest

from ellzero import L0Classifier, L0Regressor, SpikeSlabRegressor, l0_frontier, stability
from ellzero.sources import ArraySource, ColumnSource, DaskSource

N, P = 60, 700


def make_table(seed=0, n=N, p=P, mean=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + mean
    X[:, 1::3] += X[:, ::3][:, : X[:, 1::3].shape[1]]
    return X, X[:, 3] - X[:, 40] + 0.5 * X[:, 41] + rng.normal(size=n)


class Slices(ColumnSource):
    """The least that a source has to do; blocks are narrow."""

    block_columns = 97

    def __init__(self, X):
        self._X, self.shape = X, X.shape

    @property
    def shape(self):
        return self._shape

    @shape.setter
    def shape(self, shape):
        self._shape = shape

    def block(self, begin, stop):
        return self._X[:, begin:stop]


class Narrow(ArraySource):
    block_columns = 64


def mapped(order):
    def source(X, folder):
        array = np.memmap(folder / "x", dtype=X.dtype, mode="w+", shape=X.shape, order=order)
        array[:] = X
        return Narrow(array)

    return source


def hdf5(X, folder):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=(len(X), 50), compression="gzip")
    return ArraySource(h5py.File(folder / "x.h5")["X"])


def zarr(X, folder):
    package = pytest.importorskip("zarr", reason="zarr is not installed")
    array = package.create_array(folder / "x", shape=X.shape, chunks=(20, 64), dtype=X.dtype)
    array[:] = X
    return ArraySource(array)


def dask(X, folder):
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    return DaskSource(da.from_array(X, chunks=(25, 60)))


SOURCES = {
    "the least": lambda X, folder: Slices(X),
    "mapped, columns": mapped("F"),
    "mapped, rows": mapped("C"),
    "big-endian": lambda X, folder: Narrow(X.astype(X.dtype.newbyteorder(">"))),
    "HDF5": hdf5,
    "zarr": zarr,
    "Dask": dask,
}


def models_of(X, y, **options):
    frontier = l0_frontier(X, y, max_size=6, **options)
    models = [frontier.at(size=k) for k in range(1, 7)]
    return [(m.support.tolist(), m.coef.tolist(), m.intercept) for m in models]


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_source_gives_the_bits_of_the_same_numbers_in_memory(tmp_path, kind, dtype):
    X, y = make_table()
    X = X.astype(dtype)
    assert models_of(SOURCES[kind](X, tmp_path), y) == models_of(X, y)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64, bool])
def test_whole_numbers_are_converted_block_by_block(dtype):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3 if dtype is not bool else 2, size=(N, P)).astype(dtype)
    y = X[:, 3] + X[:, 300] + rng.normal(size=N)
    assert models_of(Narrow(X), y) == models_of(X.astype(float), y)


@pytest.mark.parametrize("intercept", [True, False])
def test_weights_and_means_far_from_zero(intercept):
    X, y = make_table(2, mean=1e6)
    weight = np.random.default_rng(2).random(N) + 0.1
    options = {"sample_weight": weight, "fit_intercept": intercept, "ridge": 0.1}
    assert models_of(Slices(X), y, **options) == models_of(X, y, **options)


@pytest.mark.parametrize("options", [{}, {"solver": "sbr", "lam": 5.0}, {"size": 4}])
def test_estimators_take_sources_and_predict_from_them(options):
    X, y = make_table(3)
    model = L0Regressor(**options).fit(Slices(X), y)
    same = L0Regressor(**options).fit(X, y)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    np.testing.assert_allclose(model.predict(Slices(X)), same.predict(X), rtol=0, atol=1e-13)
    np.testing.assert_array_equal(model.transform(Slices(X)), same.transform(X))
    assert model.n_features_in_ == P
    with pytest.raises(ValueError, match="X has 5 features, but L0Regressor is expecting 700"):
        model.predict(Slices(X[:, :5]))


def test_the_posterior_of_a_source():
    X, y = make_table(6, p=60)
    options = {"random_state": 0, "n_draws": 50, "n_warmup": 20, "n_chains": 2, "solver": "gibbs"}
    fits = [SpikeSlabRegressor(**options).fit(X, y) for X in (X, Slices(X))]
    np.testing.assert_array_equal(*(fit.inclusion_probabilities_ for fit in fits))
    predicted = [
        fit.predict(X, return_std=True) for fit, X in zip(fits, (X, Slices(X)), strict=True)
    ]
    np.testing.assert_allclose(*predicted, rtol=1e-12)


def test_names_of_columns():
    X, y = make_table()
    model = L0Regressor(size=1).fit(Narrow(X, names=[f"gene {j}" for j in range(P)]), y)
    assert model.get_feature_names_out().tolist() == ["gene 40"]
    with pytest.raises(ValueError, match="names has 1 entries, but array has 700 columns"):
        ArraySource(X, names=["a"])


def test_arrays_on_disk_with_many_columns_are_sources_by_themselves(tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    X, y = make_table(4, n=30, p=4100)
    codes = np.memmap(tmp_path / "c", dtype=np.int8, mode="w+", shape=X.shape)
    codes[:] = np.round(3 * X)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=(30, 100))
        assert L0Regressor(size=3).fit(file["X"], y).support_.tolist() == (
            L0Regressor(size=3).fit(X, y).support_.tolist()
        )
    found = L0Regressor(size=3).fit(codes, y).support_
    np.testing.assert_array_equal(
        found, L0Regressor(size=3).fit(np.array(codes, float), y).support_
    )


def test_a_search_takes_few_round_trips():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 6000))
    y = X[:, ::400].sum(axis=1) + rng.normal(size=200)
    source = ArraySource(X)
    l0_frontier(source, y, max_size=20)
    assert source.passes <= 20


class Faulty(Slices):
    """Does something wrong from some pass on."""

    def __init__(self, X, fault, since=1):
        super().__init__(X)
        self._fault, self._since = fault, since

    def block(self, begin, stop):
        values = np.array(super().block(begin, stop))
        return self._fault(values, begin) if self.passes >= self._since else values

    def columns(self, which):
        return self._X[:, which]


def with_nan(values, begin):
    if begin == 2 * 97:
        values[7, 5] = np.nan
    return values


def without_a_number(values, begin):
    if begin == 2 * 97:
        values[:, 5] = np.nan
    return values


@pytest.mark.parametrize("fault", [with_nan, without_a_number])
@pytest.mark.parametrize("since", [1, 2])
def test_what_is_not_finite_is_named(since, fault):
    X, y = make_table()
    sentence = r"X: Faulty.block\(194, 291\) returned NaN or infinity in column 199\."
    with pytest.raises(ValueError, match=sentence):
        l0_frontier(Faulty(X, fault, since), y)


@pytest.mark.parametrize(
    ("fault", "error", "sentence"),
    [
        (lambda x, b: x[:-1], ValueError, r"X: Faulty.block\(0, 97\) .* shape \(59, 97\) .*60, 97"),
        (lambda x, b: x[:, :-1], ValueError, r"shape \(60, 96\) instead of \(60, 97\)"),
        (lambda x, b: x.ravel(), ValueError, r"shape \(5820,\) instead"),
        (lambda x, b: None, ValueError, r"Faulty.block\(0, 97\) returned an array of shape \(\)"),
        (lambda x, b: x.astype(complex), TypeError, "returned complex128, not real numbers"),
        (lambda x, b: x.astype(str), TypeError, "not real numbers"),
        (lambda x, b: [[1], [2, 3]], TypeError, r"Faulty.block\(0, 97\) returned no array"),
    ],
)
@pytest.mark.parametrize("since", [1, 2])
def test_what_a_source_returns_is_checked(fault, error, sentence, since):
    X, y = make_table()
    with pytest.raises(error, match=sentence):
        l0_frontier(Faulty(X, fault, since), y)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda x: x[1:], r"X: Wrong.columns\(\[.*\]\) returned an array of shape"),
        (
            lambda x: np.where(x > 0, x, np.inf),
            r"X: Wrong.columns\(\[.*\]\) returned NaN or infinity",
        ),
    ],
)
def test_columns_are_checked_too(wrong, sentence):
    X, y = make_table()

    class Wrong(Slices):
        def columns(self, which):
            return wrong(self._X[:, which])

    with pytest.raises(ValueError, match=sentence):
        l0_frontier(Wrong(X), y)


@pytest.mark.parametrize("since", [1, 2])
@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt, ZeroDivisionError])
def test_what_a_source_raises_comes_out(kind, since):
    X, y = make_table()

    def fault(values, begin):
        raise kind("the disk is gone")

    source = Faulty(X, fault, since)
    with pytest.raises(kind, match="the disk is gone"):
        l0_frontier(source, y)
    source._since = 1000
    assert models_of(source, y) == models_of(X, y)


@pytest.mark.parametrize("shape", [(0, 5), (5,), (5, 2.5), None])
def test_shapes_that_are_none(shape):
    X, y = make_table()
    source = Slices(X)
    source.shape = shape
    with pytest.raises(ValueError, match=r"X: Slices\.shape must be two positive whole numbers"):
        L0Regressor().fit(source, y)


def test_who_needs_rows_says_so():
    X, y = make_table()
    for work in (
        lambda: L0Classifier().fit(Slices(X), y > 0),
        lambda: l0_frontier(Slices(X), (y > 0) * 1.0, loss="logistic"),
        lambda: stability(Slices(X), y),
    ):
        with pytest.raises(TypeError, match="needs the rows of X in memory, not a Slices"):
            work()
    with pytest.raises(ValueError, match="L0Regressor requires y, but it is None"):
        L0Regressor().fit(Slices(X))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        L0Regressor().fit(Slices(X), y[1:])
    with pytest.raises(ValueError, match="array must be an array of two dimensions; got list"):
        ArraySource([1, 2])


SCRIPT = """
import numpy as np
from ellzero import l0_frontier
from ellzero.sources import ColumnSource

class Waves(ColumnSource):
    shape = (50, 300)

    def block(self, begin, stop):
        return np.sin(np.arange(begin, stop) * np.linspace(0, 1, 50)[:, None])

frontier = l0_frontier(Waves(), np.arange(50) % 7 / 7.0, max_size=2)
"""


def test_nothing_is_said_when_a_script_ends_with_a_source_in_use():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert done.stdout + done.stderr == ""
