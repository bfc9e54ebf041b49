"""What cross-validation takes beyond X: the peak of the resident memory, less that before the fit.

Each shape in a process of its own, with ten repeats (the default) and with one. The ratio is to the
bytes of X.

    python benchmarks/cv_memory.py
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

SHAPES = ((100_000, 50), (10_000, 1000), (1000, 10_000))


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure(n, p, repeats):
    from ellzero import L0RegressorCV

    rng = np.random.default_rng(0)
    model = L0RegressorCV(n_repeats=repeats)
    model.fit(rng.normal(size=(60, 8)), rng.normal(size=60))  # whatever is loaded late
    X = rng.normal(size=(n, p))
    y = X[:, :5] @ [1.0, 2.0, 3.0, -1.0, 1.0] + rng.normal(size=n)
    before, over = resident(), threading.Event()
    peak = [before]

    def watch():
        while not over.is_set():
            peak[0] = max(peak[0], resident())
            time.sleep(0.002)

    watcher = threading.Thread(target=watch)
    watcher.start()
    begin = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - begin
    over.set()
    watcher.join()
    print(f"| {n:,} x {p:,} | {repeats} | {(peak[0] - before) / X.nbytes:.2f} | {seconds:.2f} |")


def main():
    if len(sys.argv) > 1:
        return measure(*map(int, sys.argv[1:]))
    print("| n x p | repeats | beyond X, times X | seconds |\n|---|---|---|---|", flush=True)
    for n, p in SHAPES:
        for repeats in (10, 1):
            subprocess.run([sys.executable, __file__, str(n), str(p), str(repeats)], check=True)


if __name__ == "__main__":
    main()
