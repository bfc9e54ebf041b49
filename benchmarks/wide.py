"""Wide data from a source of columns beside the same data in memory.

    python benchmarks/wide.py            a mapped file, 500 and 2,000 x 100,000: round trips, ratios
    python benchmarks/wide.py --kinds    memory-mapped by rows, HDF5, zarr and Dask, 500 x 20,000
    python benchmarks/wide.py --folds    ten folds of 500 x 50,000 under budgets: peak memory
    python benchmarks/wide.py --growth   frontiers of p from 12,500 to 100,000 columns: the exponent

Ratios are of processor time, of interleaved runs in one process; supports are compared each time.
Round trips are passes over all columns, the one that makes means and scales among them. ``--first``
sets the first seed, ``--seeds`` how many. Files are made in a temporary folder.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from ellzero import L0RegressorCV, l0_frontier
from ellzero.sources import ArraySource, DaskSource

SIZES = 30
DESIGNS = ("independent", "correlated .9", "weak signal")


def make_file(path, n, p, seed, design):
    """Write X, column after column, and return y; 15 columns matter."""
    rng = np.random.default_rng([seed, n, p])
    X = np.memmap(path, dtype=np.float64, mode="w+", shape=(n, p), order="F")
    last = 0.0
    for begin in range(0, p, 1000):
        block = rng.standard_normal((min(1000, p - begin), n)).T
        if design.startswith("correlated"):
            for j in range(block.shape[1]):
                last = 0.9 * last + np.sqrt(1 - 0.81) * block[:, j]
                block[:, j] = last
        X[:, begin : begin + block.shape[1]] = block
    which = rng.choice(p, 15, replace=False)
    signal = X[:, which] @ (rng.choice([-1, 1], 15) * (0.5 + rng.random(15)))
    noise = signal.std() / np.sqrt(0.3 if design.startswith("weak") else 3.0)
    X.flush()
    return signal + noise * rng.standard_normal(n)


def mapped(path, n, p):
    return np.memmap(path, dtype=np.float64, mode="r", shape=(n, p), order="F")


def timed(work):
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def frontier(X, y):
    found = l0_frontier(X, y, max_size=SIZES)
    return [found.at(size=k).support.tolist() for k in range(1, SIZES + 1)]


def compare(folder, n, p, seeds, make_source, designs=DESIGNS):
    for design in designs:
        ratios, trips = [], []
        for seed in seeds:
            path = folder / "x"
            y = make_file(path, n, p, seed, design)
            inside = np.asfortranarray(mapped(path, n, p))
            source = make_source(folder, path, n, p)
            in_memory, expected = timed(lambda X=inside, y=y: frontier(X, y))
            elsewhere, found = timed(lambda X=source, y=y: frontier(X, y))
            assert found == expected, "other supports"
            ratios.append(elsewhere / in_memory)
            trips.append(source.passes)
            path.unlink()
        print(
            f"{n} x {p}, {design}: {SIZES} sizes in {min(trips)} to {max(trips)} round trips, "
            f"{statistics.median(ratios):.2f} times the time in memory (at most {max(ratios):.2f})",
            flush=True,
        )


def by_columns(folder, path, n, p):
    return ArraySource(mapped(path, n, p))


def by_rows(folder, path, n, p):
    X = np.memmap(folder / "rows", dtype=np.float64, mode="w+", shape=(n, p))
    X[:] = mapped(path, n, p)
    return ArraySource(X)


def hdf5(folder, path, n, p):
    import h5py

    file = h5py.File(folder / f"{time.time_ns()}.h5", "w")
    return ArraySource(file.create_dataset("X", data=mapped(path, n, p), chunks=(n, 256)))


def zarr(folder, path, n, p):
    import zarr

    array = zarr.create_array(
        folder / "x.zarr", shape=(n, p), chunks=(n, 256), dtype="f8", overwrite=True
    )
    array[:] = mapped(path, n, p)
    return ArraySource(array)


def dask(folder, path, n, p):
    import dask.array as da

    return DaskSource(da.from_array(mapped(path, n, p), chunks=(n, 2000)))


def fold_fit(path, n, p, memory, kind):
    """Fit ten folds in a process of its own; print time, peak memory, and what was chosen."""
    y = np.load(path.with_suffix(".npy"))
    X = mapped(path, n, p)
    source = ArraySource(X) if kind == "source" else np.asfortranarray(X)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    took, model = timed(
        lambda: L0RegressorCV(max_size=20, n_repeats=1, memory=memory).fit(source, y)
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    passes = getattr(source, "passes", 0)
    print(f"{took:.1f} {before:.2f} {peak:.2f} {passes} {model.support_.tolist()} {model.lam_!r}")


def folds(folder, seeds, n=500, p=50_000):
    for seed in seeds:
        path = folder / "x"
        np.save(path.with_suffix(".npy"), make_file(path, n, p, seed, "independent"))
        answers = set()
        for kind, memory in (
            ("memory", ""),
            ("source", ""),
            ("source", "1GB"),
            ("source", "0.75GB"),
        ):
            command = [
                sys.executable,
                __file__,
                "--fold-fit",
                str(path),
                str(n),
                str(p),
                memory,
                kind,
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            took, before, peak, passes, chosen = done.stdout.split(maxsplit=4)
            answers.add(chosen)
            print(
                f"ten folds of {n} x {p} in {kind}, budget {memory or 'none'}: {took} s of CPU, "
                f"{passes} round trips, peak {peak} GB ({before} before)",
                flush=True,
            )
        assert len(answers) == 1, "other choices"


def growth(folder, seeds):
    shapes = (12_500, 25_000, 50_000, 100_000)
    times = []
    for p in shapes:
        took = []
        for seed in seeds:
            path = folder / "x"
            y = make_file(path, 500, p, seed, "independent")
            took.append(
                timed(lambda p=p, y=y, path=path: frontier(by_columns(folder, path, 500, p), y))[0]
            )
        times.append(statistics.median(took))
        print(f"500 x {p}: {times[-1]:.2f} s of CPU", flush=True)
    print(f"exponent in p: {np.polyfit(np.log(shapes), np.log(times), 1)[0]:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kinds", action="store_true")
    parser.add_argument("--folds", action="store_true")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--small", action="store_true", help="500 rows only")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--fold-fit", nargs=5, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.fold_fit:
        path, n, p, memory, kind = arguments.fold_fit
        fold_fit(Path(path), int(n), int(p), memory or None, kind)
        return
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.kinds:
            for make_source in (by_rows, hdf5, zarr, dask):
                print(make_source.__name__)
                try:
                    compare(folder, 500, 20_000, seeds, make_source, DESIGNS[:1])
                except ModuleNotFoundError as error:
                    print(f"left out: {error}")
        elif arguments.folds:
            folds(folder, seeds)
        elif arguments.growth:
            growth(folder, seeds)
        else:
            compare(folder, 500, 100_000, seeds, by_columns)
            if not arguments.small:
                compare(folder, 2000, 100_000, seeds, by_columns)


if __name__ == "__main__":
    main()
