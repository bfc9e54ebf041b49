"""Dask on real processes: the same bits from any number of workers, also if one is killed."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from ellzero import L0Regressor, SufficientStatistics
from ellzero.sources._reading import SourceError

distributed = pytest.importorskip("distributed", reason="distributed is not installed")
da = pytest.importorskip("dask.array", reason="dask is not installed")

ROWS, COLUMNS, PARTS = 2000, 8, 20


def make_block(block_info=None, pause=0.0, killer=None):
    """Return one chunk: rows that its place alone determines, and their response last."""
    (place,) = block_info[None]["chunk-location"][:1]
    time.sleep(pause)
    if killer is not None and place == PARTS // 2 and not os.path.exists(killer):
        with open(killer, "w") as file:
            file.write(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    rng = np.random.default_rng(place)
    X = rng.normal(size=(ROWS // PARTS, COLUMNS)) + 50
    return np.column_stack([X, X[:, 1] - X[:, 5] + rng.normal(size=len(X))])


def lazy_table(**how):
    chunks = ((ROWS // PARTS,) * PARTS, (COLUMNS + 1,))
    table = da.map_blocks(make_block, chunks=chunks, dtype=float, meta=np.empty((0, 0)), **how)
    return table[:, :-1], table[:, -1]


def cluster(workers):
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        memory_limit=0,
        silence_logs=50,
    )


@pytest.fixture(scope="module")
def expected():
    X, y = lazy_table()
    return SufficientStatistics.from_dask(X, y, folds=3)


def same_bits(one, two):
    return all(
        (a.products == b.products).all() and (a.mean == b.mean).all()
        for a, b in zip(one._folds, two._folds, strict=True)
    )


@pytest.mark.parametrize("workers", [1, 3])
def test_bits_do_not_depend_on_the_number_of_workers(expected, workers):
    with cluster(workers) as local, distributed.Client(local):
        assert same_bits(SufficientStatistics.from_dask(*lazy_table(), folds=3), expected)


def test_a_worker_killed_in_the_middle_changes_nothing(expected, tmp_path):
    killer = tmp_path / "killed"
    with cluster(2) as local, distributed.Client(local):
        found = SufficientStatistics.from_dask(*lazy_table(killer=str(killer)), folds=3)
    assert killer.exists()  # so it was
    assert same_bits(found, expected)


def test_without_workers_it_waits_says_so_and_gives_up():
    with cluster(1) as local, distributed.Client(local):
        local.scale(0)
        with (
            pytest.warns(RuntimeWarning, match="the cluster has no workers; waiting up to 1 s"),
            pytest.raises(SourceError, match="has had no workers for 1 s"),
        ):
            SufficientStatistics.from_dask(*lazy_table(), timeout=1.0)


def test_estimators_stream_on_the_cluster(expected):
    with cluster(2) as local, distributed.Client(local):
        model = L0Regressor().fit(*lazy_table())
    assert set(model.support_) >= {1, 5}


SCRIPT = """
    import sys
    sys.path.insert(0, {tests!r})
    import distributed
    from test_cluster import lazy_table
    from ellzero import SufficientStatistics

    with distributed.Client({address!r}):
        print("begun", flush=True)
        SufficientStatistics.from_dask(*lazy_table(pause=0.2), folds=3)
"""


def test_a_killed_client_leaves_a_cluster_that_serves_the_next(expected):
    with cluster(1) as local, distributed.Client(local):
        script = textwrap.dedent(SCRIPT).format(
            tests=os.path.dirname(__file__), address=local.scheduler_address
        )
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as client:
            assert client.stdout.readline() == b"begun\n"
            time.sleep(0.5)
            client.kill()
        assert same_bits(SufficientStatistics.from_dask(*lazy_table(), folds=3), expected)
