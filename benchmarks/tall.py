"""Statistics of many rows beside reading them and one product of numpy's, and beside Dask's.

    python benchmarks/tall.py            ratios of times, Parquet files of some hundred MB
    python benchmarks/tall.py --growth   from 10^5 to 10^7 rows: the exponent
    python benchmarks/tall.py --memory   4 GB of Parquet: peak memory of a process of its own
    python benchmarks/tall.py --workers  peak memory of a Dask worker, 12 parts and 40
    python benchmarks/tall.py --in-memory  rows in memory, by products made before and by passes
    python benchmarks/tall.py --accuracy errors at means of 10^8 standard deviations

Ratios are medians of interleaved runs in one process, of wall time and of processor time (of all
workers, too); threads as they like.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ellzero import L0Regressor, L0RegressorCV, SufficientStatistics, l0_frontier

SHAPES = ((2_000_000, 50), (500_000, 200), (150_000, 1000))


def make_files(folder, n, p, parts, seed=0):
    for part in range(parts):
        rng = np.random.default_rng([seed, part])
        X = rng.standard_normal((n // parts, p))
        y = X[:, :3] @ [1.0, -1.0, 0.5] + rng.standard_normal(len(X))
        table = pa.table({**{f"v{j}": X[:, j] for j in range(p)}, "y": y})
        pq.write_table(table, folder / f"part-{part:04}.parquet")


def numpy_product(folder):
    """Return X'X of every file, added up: what reading costs, and one product."""
    total = 0.0
    for path in sorted(folder.iterdir()):
        table = pq.read_table(path)
        matrix = np.empty((table.num_rows, table.num_columns), order="F")
        for j, column in enumerate(table.columns):
            matrix[:, j] = column.to_numpy()
        total = total + matrix.T @ matrix
    return total


def timed(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def clocks(work, processor=time.process_time):
    """Return the wall time and the processor time of some work."""
    spent, began = processor(), time.perf_counter()
    work()
    return time.perf_counter() - began, processor() - spent


def ratio_of(runs, clock, side=1):
    """Return the median over runs of one side's time over that of the first."""
    return statistics.median(row[side][clock] / row[0][clock] for row in runs)


def ratios(repeats=5):
    print("ten folds over reading + one X'X of numpy's: wall time, processor time")
    print("      n      p   wall   processor   without folds: wall   processor")
    for n, p in SHAPES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make_files(folder, n, p, 8)
            sides = (
                lambda folder=folder: numpy_product(folder),
                lambda folder=folder: SufficientStatistics.from_parquet(
                    folder, target="y", folds=10
                ),
                lambda folder=folder: SufficientStatistics.from_parquet(folder, target="y"),
            )
            runs = [[clocks(side) for side in sides] for _ in range(repeats + 1)][1:]
        found = [ratio_of(runs, clock, side) for side in (1, 2) for clock in (0, 1)]
        print("{:9,} {:5} {:6.2f} {:11.2f} {:21.2f} {:11.2f}".format(n, p, *found), flush=True)


def against_dask(repeats=7):
    import dask.array as da
    import distributed

    print("ten folds over Dask's own X.T @ X, on the same cluster of two workers")
    print("      n      p   wall   processor")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as own,
        distributed.Client(own) as client,
    ):

        def processor():
            return sum(client.run(time.process_time).values()) + time.process_time()

        for n, p in ((1_000_000, 50), (400_000, 200), (100_000, 1000)):
            rows = n // 16
            X = da.random.default_rng(0).standard_normal((n, p), chunks=(rows, p))
            y = X[:, 0] + da.random.default_rng(1).standard_normal(n, chunks=rows)
            X, y = X.persist(), y.persist()
            distributed.wait([X, y])
            sides = (
                lambda X=X: (X.T @ X).compute(),
                lambda X=X, y=y: SufficientStatistics.from_dask(X, y, folds=10),
            )
            runs = [[clocks(side, processor) for side in sides] for _ in range(repeats + 1)][1:]
            print(f"{n:9,} {p:5} {ratio_of(runs, 0):6.2f} {ratio_of(runs, 1):11.2f}", flush=True)


def peak_of_worker(parts):
    """Return the peak memory of the only worker, in MB, for so many parts."""
    import dask.array as da
    import distributed

    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as own,
        distributed.Client(own) as client,
    ):
        X = da.random.default_rng(0).standard_normal((parts * 20_000, 200), chunks=(20_000, 200))
        SufficientStatistics.from_dask(X, X[:, 0] + X[:, 1], folds=10)
        usage = client.run(lambda: __import__("resource").getrusage(0).ru_maxrss)
        return next(iter(usage.values())) / 1e3


def workers():
    print("peak memory of a worker, chunks of 32 MB that are made when needed")
    for parts in (12, 40):
        print(f"{parts:3} parts: {peak_of_worker(parts):.0f} MB", flush=True)


def in_memory(repeats=5):
    """Compare products made before with passes, on other sizes than the rule was made on."""
    from unittest import mock

    from ellzero.regression import _fold_data
    from ellzero.sources import _ready

    def by_passes(work):
        def never(*_):
            return False

        with mock.patch.object(_ready, "pays", never), mock.patch.object(_fold_data, "pays", never):
            work()

    print("rows in memory: products made before over passes over X, processor time")
    print("      n      p   frontier   cross-validation")
    for n, p in ((60_000, 30), (300_000, 40), (30_000, 150), (40_000, 250), (10_000, 400)):
        rng = np.random.default_rng(1)
        X = rng.standard_normal((n, p))
        y = X[:, :3] @ [1.0, -1.0, 0.5] + rng.standard_normal(n)
        found = []
        for work in (
            lambda X=X, y=y: l0_frontier(X, y),
            lambda X=X, y=y: L0RegressorCV(n_repeats=1).fit(X, y),
        ):
            sides = (lambda work=work: by_passes(work), work)
            runs = [[clocks(side) for side in sides] for _ in range(repeats + 1)][1:]
            found.append(ratio_of(runs, 1))
        print("{:9,} {:5} {:10.2f} {:18.2f}".format(n, p, *found), flush=True)


def growth():
    counts, times = [100_000, 1_000_000, 10_000_000], []
    for n in counts:
        with tempfile.TemporaryDirectory() as name:
            make_files(Path(name), n, 20, max(1, n // 250_000))

            def work(name=name):
                L0RegressorCV().fit(SufficientStatistics.from_parquet(name, target="y", folds=10))

            work()
            times.append(min(timed(work) for _ in range(3)))
        print(f"{n:12,} rows {times[-1]:8.2f} s")
    slope = np.polyfit(np.log(counts), np.log(times), 1)[0]
    print(f"exponent {slope:.3f}; from the last two {np.log10(times[-1] / times[-2]):.3f}")


CHILD = """
import sys
from ellzero import L0RegressorCV, SufficientStatistics
known = SufficientStatistics.from_parquet(sys.argv[1], target="y", folds=10)
print(known, L0RegressorCV().fit(known).support_)
"""


def memory():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder, 2_500_000, 200, 20)
        size = sum(path.stat().st_size for path in folder.iterdir())
        process = subprocess.Popen([sys.executable, "-c", CHILD, name])
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit("it failed")
        print(f"files {size / 1e9:.2f} GB, peak memory {usage.ru_maxrss / 1e6:.2f} GB")


def accuracy():
    from fractions import Fraction

    print("largest error of a product, over the norms of its columns")
    rng = np.random.default_rng(0)
    for far in (0.0, 1e4, 1e8):
        values = rng.standard_normal((5_000, 3)) + far
        rows = [[Fraction(float(x)) for x in row] for row in values]
        means = [sum(row[j] for row in rows) / len(rows) for j in range(3)]
        exact = np.array(
            [
                [
                    float(sum((row[i] - means[i]) * (row[j] - means[j]) for row in rows))
                    for j in range(3)
                ]
                for i in range(3)
            ]
        )
        blocks = [(values[a : a + 100, :2], values[a : a + 100, 2]) for a in range(0, 5000, 100)]
        found = SufficientStatistics.from_arrays(blocks).covariance().to_numpy() * 4999
        raw = values.T @ values - 5000 * np.outer(values.mean(axis=0), values.mean(axis=0))
        scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
        ours, sums = (np.max(np.abs(x - exact) / scale) for x in (found, raw))
        print(f"mean {far:8g} sd: {ours:.1e}, raw sums {sums:.1e}")
    L0Regressor().fit(SufficientStatistics.from_arrays(blocks))


def main():
    parser = argparse.ArgumentParser()
    for name in ("growth", "memory", "accuracy", "workers", "in-memory"):
        parser.add_argument(f"--{name}", action="store_true")
    asked = parser.parse_args()
    if asked.growth:
        growth()
    elif asked.memory:
        memory()
    elif asked.accuracy:
        accuracy()
    elif asked.workers:
        workers()
    elif asked.in_memory:
        in_memory()
    else:
        ratios()
        against_dask()
        in_memory()


if __name__ == "__main__":
    main()
