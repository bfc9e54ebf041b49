"""SBR against lstsq, and wide fits against one product with X per variable.

Everything is a ratio measured in one process on one thread, the two sides taking turns.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import subprocess
import sys
import time

import numpy as np
import pandas as pd
from sklearn.utils.validation import validate_data

from ellzero import L0Regressor
from ellzero._engine import make_design, make_engine
from ellzero.datasets import make_collinear

BLOCK = 16  # the most Gram columns made in one pass


def take_turns(functions, seconds, burst=5):
    """Time of each in seconds: the median over turns of the best of a burst of calls.

    Turns, so that whatever else the machine does falls on all; bursts, so that each works on warm
    caches.
    """
    times = {name: [] for name in functions}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(next(iter(times.values()))) < 3:
        for name, function in functions.items():
            taken = []
            for _ in range(burst):
                start = time.perf_counter()
                function()
                taken.append(time.perf_counter() - start)
            times[name].append(min(taken))
    return {name: float(np.median(taken)) for name, taken in times.items()}


def price(X, y, beta):
    """The lam of a model that knows the noise: sigma^2 log p."""
    return float(((y - X @ beta) ** 2).mean() * np.log(X.shape[1]))


def fit_engine(X, y, lam, max_size=400):
    engine = make_engine(make_design(X, y, None, True, 1), 0.0, 1)
    engine.sbr(lam, None, max_size, None)
    engine.solution()
    return engine


def small():
    print("One SBR fit against numpy.linalg.lstsq (how many times faster), C-order input\n")
    table_head("n x p", "engine", "ndarray", "DataFrame", "(ndarray - engine) / validate_data")
    for n, p in ((120, 100), (300, 200), (1000, 1000)):
        X, y, beta = make_collinear(n, p, random_state=3)
        lam = price(X, y, beta)
        frame, model = (
            pd.DataFrame(X, columns=[f"x{j}" for j in range(p)]),
            L0Regressor(lam, solver="sbr"),
        )
        fits = {
            "engine": lambda X=X, y=y, lam=lam: fit_engine(X, y, lam),
            "ndarray": lambda m=model, X=X, y=y: m.fit(X, y),
            "frame": lambda m=model, X=frame, y=y: m.fit(X, y),
        }
        t = take_turns({"lstsq": lambda X=X, y=y: np.linalg.lstsq(X, y, rcond=None), **fits}, 3)
        validate = {"validate": lambda m=model, X=X, y=y: validate_data(m, X, y, y_numeric=True)}
        # What the estimator adds is a matter of Python, so one call at a time.
        u = take_turns({**fits, **validate}, 3, burst=1)
        extra = (u["ndarray"] - u["engine"]) / u["validate"]
        print(
            f"| {n} x {p} | {t['lstsq'] / t['engine']:.1f} | {t['lstsq'] / t['ndarray']:.1f} "
            f"| {t['lstsq'] / t['frame']:.1f} | {extra:.2f} |",
            flush=True,
        )


def wide_problem(n, p, k, n_factors):
    values = np.r_[-np.arange(1, k // 2 + 1), np.arange(1, k // 2 + 1)]
    return make_collinear(n, p, n_factors=n_factors, coefficients=values, random_state=3)


def wide(sizes):
    print("\nWide tables: L0Regressor.fit over (variables entered) x (time of one X.T @ v)\n")
    table_head("design", "order", "entered", "passes", "fit", "engine alone", "float32 / float64")
    for n, p, k in sizes:
        for n_factors in (0, 5):
            X, y, beta = wide_problem(n, p, k, n_factors)
            lam = price(X, y, beta)
            for order in "CF":
                table = np.asarray(X, order=order)
                single = np.asarray(X, order=order, dtype=np.float32)
                model = L0Regressor(lam, solver="sbr", max_size=400)
                engine = fit_engine(table, y, lam)
                entered = len(distinct_entered(table, y, lam))
                t = take_turns(
                    {
                        "product": lambda X=table, y=y: X.T @ y,
                        "fit": lambda m=model, X=table, y=y: m.fit(X, y),
                        "engine": lambda X=table, y=y, lam=lam: fit_engine(X, y, lam),
                        "single": lambda X=single, y=y, lam=lam: fit_engine(X, y, lam),
                    },
                    seconds=3,
                    burst=2,
                )
                unit = entered * t["product"]
                print(
                    f"| {n} x {p}, k={k}, {n_factors} factors | {order} | {entered} "
                    f"| {engine.passes} | {t['fit'] / unit:.2f} | {t['engine'] / unit:.2f} "
                    f"| {t['single'] / t['engine']:.2f} |",
                    flush=True,
                )


def distinct_entered(X, y, lam):
    """The variables that were in the support at some time of a run."""
    engine = make_engine(make_design(X, y, None, True, 1), 0.0, 1)
    seen = set()
    for size in range(1, 400):
        held_back = engine.sbr(lam, None, size, None).held_back.unit
        seen |= set(engine.members.tolist())
        if held_back < 0:
            return seen
    return seen


def memory(n, p, k, order):
    """Print the peak memory of a fit beyond X; to be run in a process of its own."""
    X, y, beta = wide_problem(n, p, k, 5)
    X = np.asarray(X, order=order)
    lam = price(X, y, beta)
    L0Regressor(1.0).fit(X[:50, :50], y[:50])  # what the first fit of a process loads
    before = from_status("VmRSS")
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")  # the peak is counted anew from here
    L0Regressor(lam, solver="sbr", max_size=400).fit(X, y)
    used = from_status("VmHWM") - before
    entered = len(distinct_entered(X, y, lam))
    allowance = 1.3 * 8 * p * entered + 8 * p * BLOCK
    print(f"| {n} x {p}, k={k} | {order} | {entered} | {used / 1e6:.1f} | {allowance / 1e6:.1f} |")


def from_status(field):
    """Return a number of bytes that Linux keeps on this process."""
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith(field))
    return int(line.split()[1]) * 1024


def memories(sizes):
    print(
        f"\nPeak memory of a fit beyond X, MB"
        f" (allowance: 1.3 x 8 x p x entered + a block of {BLOCK})\n"
    )
    table_head("design", "order", "entered", "used", "allowance")
    for n, p, k in sizes:
        for order in "CF":
            shape = [str(v) for v in (n, p, k)]
            subprocess.run([sys.executable, __file__, "--memory", *shape, order], check=True)


def table_head(*names):
    print("| " + " | ".join(names) + " |")
    print("|---" * len(names) + "|", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    SIZES = ((1000, 10_000, 20), (2000, 50_000, 50))
    if options.memory:
        *shape, layout = options.memory
        memory(*map(int, shape), layout)
    else:
        small()
        wide(SIZES)
        memories(SIZES)
