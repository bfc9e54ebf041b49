"""`ellzero select` on many Parquet files, as a process of its own: peak memory and time.

    python benchmarks/tall_select.py                  10 GB of Parquet through --memory 2GB
    python benchmarks/tall_select.py --size 1GB       less of it
    python benchmarks/tall_select.py --growth         from 10^5 to 10^7 rows: the exponent
    python benchmarks/tall_select.py --kill           1 GB unless told, killed and resumed

Files are made under --folder (the system's temporary folder unless told) and removed at the end. A
category and some missing values are among the columns, so that every kind of pass is gone through.
Times are CPU seconds of the process, all threads, beside wall time.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ellzero.streams import parse_memory

COMMAND = Path(sys.executable).with_name("ellzero")
NUMBERS = 50
ROW_BYTES = 8.0 * (NUMBERS + 1) + 1  # as files have them: random digits can't be compressed
PART_ROWS = 250_000


def make_files(folder, rows, seed=0):
    """Write parts of a quarter of a million rows, or less; return their bytes."""
    size = 0
    for part, begin in enumerate(range(0, rows, PART_ROWS)):
        rng = np.random.default_rng([seed, part])
        n = min(PART_ROWS, rows - begin)
        X = rng.standard_normal((NUMBERS, n))
        city = rng.integers(0, 4, n)
        y = X[0] - X[1] + 0.5 * X[2] + 0.3 * (city == 2) + rng.standard_normal(n)
        X[3, rng.random(n) < 0.01] = np.nan
        names = pa.array(["Bonn", "Oslo", "Rome", "Ulm"])
        columns = {f"v{j}": X[j] for j in range(NUMBERS)}
        columns["city"] = pa.DictionaryArray.from_arrays(pa.array(city, pa.int8()), names)
        path = folder / f"part-{part:05}.parquet"
        pq.write_table(
            pa.table({**columns, "y": y}), path, use_dictionary=["city"], write_page_checksum=True
        )
        size += path.stat().st_size
    return size


def command(folder, memory, *more):
    """Return what is run."""
    asked = ["select", folder / "part-*.parquet", "--target", "y", "--missing", "mean"]
    return [str(word) for word in (COMMAND, *asked, "--memory", memory, *more)]


def run(arguments):
    """Run a command; return its wall time, CPU seconds and peak memory in bytes."""
    began = time.perf_counter()
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(message.decode())
    cpu = used.ru_utime + used.ru_stime
    return time.perf_counter() - began, cpu, used.ru_maxrss * 1024.0


def chosen(path):
    return [variable["name"] for variable in json.loads(path.read_text())["model"]["variables"]]


def through_memory(folder, size, memory):
    rows = int(parse_memory(size) / ROW_BYTES)
    made = make_files(folder, rows)
    out = folder / "out.json"
    wall, cpu, peak = run(command(folder, memory, "--json", out))
    print(f"{rows:,} rows in {made / 1e9:.2f} GB, --memory {memory}")
    print(f"peak {peak / 1e9:.2f} GB; {wall:.0f} s, {cpu:.0f} CPU s; chosen {chosen(out)}")
    print("held" if peak <= parse_memory(memory) else "NOT HELD")


def growth(folder, memory):
    print("      rows    wall s   CPU s   peak GB")
    points = []
    for rows in (100_000, 1_000_000, 10_000_000):
        inner = folder / str(rows)
        inner.mkdir()
        make_files(inner, rows)
        wall, cpu, peak = run(command(inner, memory))
        points.append((rows, wall, cpu))
        print(f"{rows:10,} {wall:9.1f} {cpu:7.1f} {peak / 1e9:9.2f}", flush=True)
        for path in inner.iterdir():
            path.unlink()
    for what, place in (("wall", 1), ("CPU", 2)):
        for one, two in ((points[0], points[-1]), (points[1], points[-1])):
            exponent = math.log(two[place] / one[place]) / math.log(two[0] / one[0])
            print(f"exponent of {what} time from {one[0]:,} to {two[0]:,} rows: {exponent:.3f}")


def killed(folder, size, memory):
    make_files(folder, int(parse_memory(size) / ROW_BYTES))
    expected, out, kept = folder / "all.json", folder / "out.json", folder / "kept.npz"
    wall, _, _ = run(command(folder, memory, "--json", expected))
    arguments = command(folder, memory, "--json", out, "--resume", kept)
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as job:
        time.sleep(0.6 * wall)
        job.send_signal(signal.SIGKILL)
    began = time.perf_counter()
    print("a checkpoint is there" if kept.exists() else "NO CHECKPOINT")
    run(arguments)
    one, two = (json.loads(path.read_text()) for path in (expected, out))
    same = all(one[key] == two[key] for key in one if key != "command")
    rest = time.perf_counter() - began
    print(f"{wall:.0f} s whole; killed after {0.6 * wall:.0f} s, then {rest:.0f} s")
    print("the same bits" if same else "OTHER BITS")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", help="of the files: 10GB unless told, 1GB with --kill")
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--folder", default=None)
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--kill", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        folder = Path(name)
        if asked.growth:
            growth(folder, asked.memory)
        elif asked.kill:
            killed(folder, asked.size or "1GB", asked.memory)
        else:
            through_memory(folder, asked.size or "10GB", asked.memory)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
