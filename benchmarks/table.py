"""From a CSV file to a report, beside reading it with pandas and fitting scikit-learn's LassoCV.

python benchmarks/table.py            100,000 rows of 200 columns: ratio of times, start to end
python benchmarks/table.py --memory   a file of 1 GB: peak memory over the size of its numbers

Both sides are processes of their own, start-up included, ten folds each, threads as they like.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

ELLZERO = Path(sys.executable).with_name("ellzero")
LASSO = """
import sys
import pandas as pd
from sklearn.linear_model import LassoCV
from sklearn.preprocessing import StandardScaler
table = pd.read_csv(sys.argv[1])
y = table.pop("y")
LassoCV(cv=10, n_jobs=-1).fit(StandardScaler().fit_transform(table), y)
"""


def make_file(path, n, p, chunk=20_000):
    """Pairs of correlated columns, six decimals; ten of them explain y."""
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(p)] + ["y"]
    with open(path, "wb") as file:
        for begin in range(0, n, chunk):
            m = min(chunk, n - begin)
            X = rng.standard_normal((m, p))
            X[:, 1::2] = 0.7 * (X[:, 0::2] + X[:, 1::2])
            y = X[:, :10] @ np.arange(1, 11) + 5 * rng.standard_normal(m)
            columns = np.round(np.column_stack([X, y]), 6).T
            options = csv.WriteOptions(include_header=begin == 0)
            csv.write_csv(pa.table(dict(zip(names, columns, strict=True))), file, options)


def select_command(path, report):
    """Return what goes from a file to a report."""
    return [ELLZERO, "select", path, "--target", "y", "--report", report, "--quiet"]


def run(command):
    """Return the seconds that a command took and its peak memory in bytes."""
    began = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[0]} failed")
    return time.perf_counter() - began, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path, report = Path(folder) / "table.csv", Path(folder) / "report.html"
        n, p = (560_000, 200) if arguments.memory else (100_000, 200)
        make_file(path, n, p)
        print(f"{n:,} rows, {p + 1} columns, {path.stat().st_size / 1e6:,.0f} MB")
        select = select_command(path, report)
        ways = {"ebic": [*select], "cv": [*select, "--criterion", "cv", "--repeats", "1"]}
        if arguments.memory:
            for name, command in ways.items():
                _, peak = run(command)
                print(
                    f"{name:5} peak memory {peak / (8 * n * (p + 1)):.2f} times the float64 table"
                )
            return
        ways["lasso"] = [sys.executable, "-c", LASSO, path]
        best = dict.fromkeys(ways, np.inf)
        for _ in range(arguments.repeats):
            for name, command in ways.items():
                best[name] = min(best[name], run(command)[0])
        for name in ("ebic", "cv"):
            print(
                f"{name:5} pandas and LassoCV take {best['lasso'] / best[name]:.2f} times as long"
            )
        print({name: f"{seconds:.1f} s" for name, seconds in best.items()})


if __name__ == "__main__":
    main()
