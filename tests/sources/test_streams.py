"""Estimators on what is not in memory: mapped files, HDF5, Dask."""

import numpy as np
import pytest

from ellzero import L0PoissonRegressor, L0Regressor, L0RegressorCV, SufficientStatistics
from ellzero.sources import _accumulate, _arrays
from ellzero.sources._reading import SourceError


def make_table(seed=0, n=1200, p=10):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 5
    return X, X[:, 2] - X[:, 6] + rng.normal(size=n)


@pytest.fixture
def small_blocks(monkeypatch):
    for module in (_accumulate, _arrays):
        monkeypatch.setattr(module, "rows_per_block", lambda columns: 100)


class OnDisk:
    """An array that is read a stretch at a time, and notes the longest."""

    def __init__(self, values):
        self._values, self.shape, self.ndim = values, values.shape, values.ndim
        self.longest = 0

    def __getitem__(self, some):
        out = self._values[some]
        self.longest = max(self.longest, len(out))
        return out

    def __len__(self):
        return len(self._values)

    def __array__(self, *_, **__):
        pytest.fail("it was read whole")


OnDisk.__module__ = "h5py.fake"


@pytest.mark.usefixtures("small_blocks")
def test_arrays_on_disk_are_never_read_whole():
    X, y = make_table()
    disk, response = OnDisk(X), OnDisk(y)
    model = L0Regressor().fit(disk, response)
    assert disk.longest <= len(X) / 10
    assert response.longest <= len(X) / 10
    np.testing.assert_allclose(model.coef_, L0Regressor().fit(X, y).coef_, rtol=1e-9, atol=1e-12)


def test_hdf5_is_read_in_stretches(tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    X, y = make_table()
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["X"], file["y"] = X, y
        model = L0RegressorCV(cv=5).fit(file["X"], file["y"])
    assert set(model.support_) >= {2, 6}
    assert model.n_repeats_ == 1


def test_a_mapped_file_is_read_in_stretches(tmp_path):
    X, y = make_table()
    mapped = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=X.shape)
    mapped[:] = X
    model = L0Regressor().fit(mapped, y)
    np.testing.assert_allclose(model.coef_, L0Regressor().fit(X, y).coef_, rtol=1e-9, atol=1e-12)
    wide = np.memmap(tmp_path / "w", dtype=float, mode="w+", shape=(20, 50))
    wide[:] = np.random.default_rng(0).normal(size=(20, 50))
    L0Regressor().fit(wide, wide[:, 3] * 2.0)  # read as memory is


def same_bits(one, two):
    return all(
        (a.products == b.products).all() for a, b in zip(one._folds, two._folds, strict=True)
    )


def test_dask_arrays_are_as_in_memory():
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    X, y = make_table()
    for chunks in ((300, 10), (300, 4), ((100, 700, 400), (10,))):
        lazy, response = da.from_array(X, chunks=chunks), da.from_array(y, chunks=500)
        model = L0Regressor().fit(lazy, response)
        expected = L0Regressor().fit(X, y)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9, atol=1e-12)
    weighted = SufficientStatistics.from_dask(lazy, response, da.ones(1200, chunks=7), folds=4)
    assert (weighted.n, weighted.weight, weighted.n_folds) == (1200, 1200, 4)
    folds = L0RegressorCV(cv=4, random_state=3).fit(lazy, y)
    known = SufficientStatistics.from_dask(lazy, response, folds=4, random_state=3)
    assert (folds.coef_ == L0RegressorCV().fit(known).coef_).all()


def test_dask_is_the_same_to_the_bit_as_its_parts_one_after_the_other():
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    X, y = make_table()
    lazy, response = da.from_array(X, chunks=(50, 10)), da.from_array(y, chunks=50)
    parts = [(X[a : a + 50], y[a : a + 50]) for a in range(0, 1200, 50)]
    expected = SufficientStatistics.from_arrays(parts, folds=3)
    import dask

    for scheduler in ("synchronous", "threads"):
        with dask.config.set(scheduler=scheduler):
            found = SufficientStatistics.from_dask(lazy, response, folds=3)
        assert same_bits(found, expected)


def test_no_large_block_of_dask_is_ever_made():
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    X, y = make_table()
    longest = []

    def look(block):
        longest.append(block.size)
        return block

    lazy = da.from_array(X, chunks=(60, 10)).map_blocks(look, dtype=float, meta=np.empty((0, 0)))
    L0Regressor().fit(lazy, da.from_array(y, chunks=60))
    assert max(longest) <= X.size / 10


def test_the_client_holds_no_large_block():
    """On a cluster of another process, nothing larger than a tenth of X comes to the client."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    pytest.importorskip("dask.dataframe", reason="dask's data frames are not installed")
    import tracemalloc

    rows, parts = 50_000, 24
    X = da.random.default_rng(0).normal(size=(rows * parts, 10), chunks=(rows, 10))
    y = X[:, 2] - X[:, 6] + da.random.default_rng(1).normal(size=rows * parts, chunks=rows)
    frame = X.to_dask_dataframe(columns=[f"v{j}" for j in range(10)])
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit=0,
            silence_logs=50,
        ) as local,
        distributed.Client(local),
    ):
        for table, response in ((X, y), (frame, y.to_dask_dataframe(columns="y"))):
            L0Regressor().fit(table.partitions[:1], response.partitions[:1])  # imports
            tracemalloc.start()
            try:
                model = L0Regressor().fit(table, response)
                _, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert set(model.support_) >= {2, 6}
            assert peak < 8 * 10 * rows * parts / 10


def test_tasks_of_several_partitions_change_no_bit(monkeypatch):
    """Where products are larger than rows, a task sums several partitions."""
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    from ellzero.sources import _dask

    X, y = make_table()
    lazy, response = da.from_array(X, chunks=(25, 10)), da.from_array(y, chunks=25)
    found = []
    for threads in (1, 1000):
        monkeypatch.setattr(_dask, "_threads", lambda threads=threads: threads)
        found.append(SufficientStatistics.from_dask(lazy, response, folds=3))
    parts = [(X[a : a + 25], y[a : a + 25]) for a in range(0, 1200, 25)]
    expected = SufficientStatistics.from_arrays(parts, folds=3)
    assert all(same_bits(one, expected) for one in found)


def test_dask_finds_the_first_row_after_empty_partitions():
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    X, y = make_table(n=300)
    kept = da.from_array(X, chunks=(100, 10))[da.from_array(np.arange(300) >= 200, chunks=100)]
    response = da.from_array(y, chunks=100)[da.from_array(np.arange(300) >= 200, chunks=100)]
    found = SufficientStatistics.from_dask(kept, response)
    assert found.n == 100
    np.testing.assert_allclose(found.means()[:-1], X[200:].mean(axis=0), rtol=1e-13)


def test_dask_frames_are_as_in_memory():
    pytest.importorskip("dask.dataframe", reason="dask's data frames are not installed")
    import dask.dataframe as dd
    import pandas as pd

    X, y = make_table()
    frame = pd.DataFrame(X, columns=[f"v{j}" for j in range(10)]).assign(y=y, w=1.0)
    lazy = dd.from_pandas(frame, npartitions=7)
    by_name = SufficientStatistics.from_dask(lazy, "y", "w", folds=2)
    columns = [f"v{j}" for j in range(10)]
    assert (by_name.names, by_name.target) == (columns, "y")
    model = L0Regressor().fit(lazy[columns], lazy["y"])
    assert list(model.feature_names_in_) == columns
    expected = L0Regressor().fit(frame[columns], y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="is not among the columns"):
        SufficientStatistics.from_dask(lazy, "z")
    with pytest.raises(ValueError, match="as many partitions"):
        SufficientStatistics.from_dask(lazy, dd.from_pandas(frame["y"], npartitions=3))


def test_bad_dask_input_gets_one_sentence():
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    X, y = make_table()
    lazy = da.from_array(X, chunks=(300, 10))
    with pytest.raises(ValueError, match="X has 1200 rows, but y has 1199"):
        L0Regressor().fit(lazy, da.from_array(y[:-1], chunks=300))
    with pytest.raises(ValueError, match="y must have one dimension"):
        L0Regressor().fit(lazy, lazy)
    with pytest.raises(ValueError, match="requires y"):
        L0Regressor().fit(lazy)
    with pytest.raises(TypeError, match="needs the rows of X in memory; got Array"):
        L0PoissonRegressor().fit(lazy, y)
    X[700, 3] = np.nan
    with pytest.raises(SourceError, match="partition 2: 'x3' is missing or infinite in row 100"):
        L0Regressor().fit(da.from_array(X, chunks=(300, 10)), y)
    with pytest.raises(SourceError, match="there are no rows"):
        L0Regressor().fit(da.zeros((0, 3)), da.zeros(0))
