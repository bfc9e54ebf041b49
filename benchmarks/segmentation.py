"""Exact spike deconvolution against other exact solvers.

One thread, one process, processor time, best of several. The trace decays by .98 a sample and has a
spike in a hundred samples, or none; lam is the same for everyone, and so is the objective reached.
skchange and ruptures get the cost of a segment in closed form, from prefix sums; ruptures runs with
jump=1, without which it is approximate. They run only where they take minutes at most, and if asked
for: python benchmarks/segmentation.py --peers
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import subprocess
import sys
import tempfile
import time
from itertools import pairwise

import numpy as np

from ellzero import segment
from ellzero.datasets import make_spikes

DECAY, LAM = 0.98, 1.0


def timed(function, repeats):
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.process_time()  # everyone has one thread, and the machine may have other work
        result = function()
        best = min(best, time.process_time() - start)
    return best, result


def traces(n):
    return {
        "1% spikes": make_spikes(n, decay=DECAY, rate=0.01, random_state=0)[0],
        "silent": make_spikes(n, decay=DECAY, rate=0.0, random_state=0)[0],
    }


class ClosedForm:
    """1/2 sum (y - c)^2 of the best decaying fit to y[start:end], from sums over all ends."""

    def __init__(self, y):
        n = len(y)
        self.squares = np.concatenate([[0.0], np.cumsum(y**2)])
        self.filtered = np.zeros(n + 1)
        for s in range(n - 1, -1, -1):
            self.filtered[s] = y[s] + DECAY * self.filtered[s + 1]
        self.powers = DECAY ** np.arange(n + 1.0)
        self.precisions = (1 - self.powers**2) / (1 - DECAY**2)

    def __call__(self, start, end):
        length = end - start
        b = self.filtered[start] - self.powers[length] * self.filtered[end]
        return 0.5 * (self.squares[end] - self.squares[start] - b * b / self.precisions[length])


def objective(y, changepoints):
    cost = ClosedForm(y)
    edges = [0, *changepoints, len(y)]
    loss = sum(cost(s, e) for s, e in pairwise(edges))
    return loss + LAM * len(changepoints)


def skchange_pelt(y):
    from skchange.detectors import PELT
    from skchange.interval_scorers import BaseCost

    class DecayCost(BaseCost):
        def precompute(self, X):
            return {"cost": ClosedForm(np.asarray(X)[:, 0])}

        def evaluate(self, cache, interval_specs):
            return cache["cost"](interval_specs[:, 0], interval_specs[:, 1]).reshape(-1, 1)

    column = y.reshape(-1, 1)
    return PELT(DecayCost(), penalty=LAM, min_segment_length=1).fit(column).predict(column)


def ruptures_pelt(y):
    import ruptures

    class DecayCost(ruptures.base.BaseCost):
        model = "decay"
        min_size = 1

        def fit(self, signal):
            self.signal = signal
            self.cost = ClosedForm(signal[:, 0])
            return self

        def error(self, start, end):
            return self.cost(start, end)

    found = ruptures.Pelt(custom_cost=DecayCost(), min_size=1, jump=1).fit(y.reshape(-1, 1))
    return np.array(found.predict(pen=LAM)[:-1])


def solvers():
    print("| n | trace | jumps | functional, s | our PELT / functional | segments |")
    print("|---|---|---|---|---|---|")
    for n in (10**4, 10**5, 10**6):
        for name, y in traces(n).items():
            for jumps in ("free", "positive"):
                options = {"decay": DECAY, "jumps": jumps}
                ours, found = timed(
                    lambda y=y, options=options: segment(y, LAM, **options), 5 if n < 10**6 else 3
                )
                ratio = "-"
                if jumps == "free" and (name != "silent" or n < 10**6):
                    theirs, other = timed(
                        lambda y=y, options=options: segment(y, LAM, solver="pelt", **options),
                        3 if n * (name == "silent") < 10**5 else 1,
                    )
                    assert np.isclose(found.objective, other.objective, rtol=1e-9)
                    ratio = f"{theirs / ours:.1f}"
                print(
                    f"| {n:,} | {name} | {jumps} | {ours:.4f} | {ratio} | {found.n_segments} |",
                    flush=True,
                )


def growth():
    """Time for 10^6 samples over that for 10^5, taken by turns."""
    print("\n| trace | jumps | 10^6 samples over 10^5 |\n|---|---|---|")
    short, long = traces(10**5), traces(10**6)
    for name in short:
        for jumps in ("free", "positive"):
            best = [np.inf, np.inf]
            for _ in range(5):
                for k, y in enumerate((short[name], long[name])):
                    taken, _ = timed(
                        lambda y=y, jumps=jumps: segment(y, LAM, decay=DECAY, jumps=jumps), 1
                    )
                    best[k] = min(best[k], taken)
            print(f"| {name} | {jumps} | {best[1] / best[0]:.1f} |", flush=True)


def peers():
    print("\n| n | trace | peer | peer / functional | its objective over ours |")
    print("|---|---|---|---|---|")
    runs = [
        ("skchange PELT", skchange_pelt, {"1% spikes": (10**4, 10**5), "silent": (10**4,)}),
        ("ruptures PELT", ruptures_pelt, {"1% spikes": (2_000, 10**4), "silent": (2_000,)}),
    ]
    for peer, run, sizes in runs:
        run(traces(200)["1% spikes"])  # compiles
        for name, lengths in sizes.items():
            for n in lengths:
                y = traces(n)[name]
                ours, found = timed(lambda y=y: segment(y, LAM, decay=DECAY), 5)
                theirs, changepoints = timed(lambda y=y, run=run: run(y), 1)
                ratio = objective(y, changepoints) / found.objective
                print(
                    f"| {n:,} | {name} | {peer} | {theirs / ours:,.0f} | {ratio:.9f} |", flush=True
                )


def memory():
    """What the peak of a process (on Linux) rises by over 10^6 samples, the result included."""
    program = """
import sys
import numpy as np
from ellzero import segment

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

y = np.load(sys.argv[1])
segment(y[:10], 1.0, decay=.98, jumps=sys.argv[2])
before = peak()
found = segment(y, 1.0, decay=.98, jumps=sys.argv[2])
print(1024 * (peak() - before))
"""
    print("\n| trace | jumps | bytes a sample at 10^6 |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, y in traces(10**6).items():
            file = os.path.join(folder, "y.npy")
            np.save(file, y)
            for jumps in ("free", "positive"):
                command = [sys.executable, "-c", program, file, jumps]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                print(f"| {name} | {jumps} | {int(done.stdout) / 1e6:.0f} |", flush=True)


if __name__ == "__main__":
    solvers()
    growth()
    memory()
    if "--peers" in sys.argv:
        peers()
