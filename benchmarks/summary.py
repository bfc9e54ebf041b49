"""All ratios in one table: how many times as fast as another program that does the same.

Every row in a process of its own, one thread, processor times; the two sides take turns, and the
least time of each counts. A row whose other side is not installed says so. README.md says how to
read it.

    python benchmarks/summary.py [--only WORDS]
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import importlib.util
import itertools
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from cases import make_measurements, make_steps
from select_parts import make_measured, make_numbers, time_parts
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold
from sklearn.preprocessing import StandardScaler
from table import LASSO, make_file, select_command

from ellzero import L0Regressor, L0RegressorCV, l0_frontier, segment, segment_path
from ellzero.datasets import make_collinear
from ellzero.shrinkage import EmpiricalTweedie

TURNS = 5  # at least, and as many as two seconds hold: of short fits five say little


def standardised(n, p):
    X, y, _ = make_collinear(n, p, random_state=0)
    X = X - X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0), y - y.mean()


def cross_validation(n, p, most=None):
    """Ten folds against coordinate descent, up to a size, or as far as each goes by itself."""
    import fastsparsegams

    X, y = standardised(n, p)
    theirs = {"loss": "SquaredError", "penalty": "L0", "algorithm": "CD", "intercept": False}
    if most is not None:
        theirs["max_support_size"] = most
    wide = np.asfortranarray(X)
    return (
        lambda: L0RegressorCV(n_repeats=1, max_size=most).fit(X, y),
        lambda: fastsparsegams.cvfit(wide, y, **theirs, num_folds=10),
    )


def frontier(n, p):
    """Sizes up to 25 against coordinate descent with swaps."""
    import fastsparsegams

    X, y = standardised(n, p)
    theirs = {"loss": "SquaredError", "penalty": "L0", "algorithm": "CDPSI", "intercept": False}
    wide = np.asfortranarray(X)
    return (
        lambda: l0_frontier(X, y, max_size=25),
        lambda: fastsparsegams.fit(wide, y, **theirs, max_support_size=25, num_lambda=200),
    )


def small_frame():
    X, y, beta = make_collinear(120, 100, random_state=0)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(100)])
    lam = float(((y - X @ beta) ** 2).mean() * np.log(100))

    def repeat(function):
        return lambda: [function() for _ in range(20)]

    return (
        repeat(lambda: L0Regressor(lam, solver="sbr").fit(frame, y)),
        repeat(lambda: np.linalg.lstsq(X, y, rcond=None)),
    )


def measurements(n, max_size):
    X, y = make_measurements(n)
    Z = StandardScaler().fit_transform(X)
    return (
        lambda: L0RegressorCV(n_repeats=1, rule="1se", max_size=max_size).fit(X, y),
        lambda: LassoCV(cv=10).fit(Z, y),
    )


def leave_one_out():
    X, y, _ = make_collinear(500, 200, random_state=0)
    return (
        lambda: L0RegressorCV(cv=LeaveOneOut()).fit(X, y),
        lambda: L0RegressorCV(cv=KFold(10, shuffle=True, random_state=0)).fit(X, y),
    )


def repeated_folds():
    X, y, _ = make_collinear(2000, 500, random_state=0)
    ten = [KFold(10, shuffle=True, random_state=seed) for seed in range(5)]
    return (
        lambda: L0RegressorCV(cv=RepeatedKFold(n_splits=10, n_repeats=5, random_state=0)).fit(X, y),
        lambda: [L0RegressorCV(cv=cv).fit(X, y) for cv in ten],
    )


def path():
    y = make_steps(100_000, 1600)
    found = segment_path(y, noise="white", n_jobs=1)
    lams = found.lambdas[:: max(1, len(found.lambdas) // 20)]
    return (
        lambda: segment_path(y, noise="white", n_jobs=1),
        lambda: [segment(y, float(lam), noise="white") for lam in lams],
    )


def mixture():
    rng = np.random.default_rng(0)
    y = rng.uniform(-1000, 1000, 100_000) + rng.normal(size=100_000)
    return lambda: EmpiricalTweedie(1.0).fit(y), None


def judged():
    """What select does beyond the fit, unless told otherwise, beside a fit with ten folds."""

    def beyond():
        spent = time_parts(lambda: make_numbers(20_000, 100))
        return spent["judging"] + spent["comparing"] + spent["halves"]

    return beyond, lambda: time_parts(lambda: make_numbers(20_000, 100), criterion="cv")["fit"]


def measured(n):
    X, y = make_measurements(n)
    Z = StandardScaler().fit_transform(X)

    def whole():
        asked = {"interactions": True, "criterion": "1se", "repeats": None}
        return sum(time_parts(lambda: make_measured(n), **asked).values())

    return whole, lambda: LassoCV(cv=10).fit(Z, y)


def report():
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "table.csv"
    make_file(path, 100_000, 200)

    def run(command, folder=folder):  # which is kept as long as this is
        subprocess.run([str(word) for word in command], check=True)

    return (
        lambda: run(select_command(path, Path(folder.name) / "report.html")),
        lambda: run([sys.executable, "-c", LASSO, path]),
    )


def start(*command):
    def run():
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)

    return lambda: (run, lambda: subprocess.run([sys.executable, "-c", "import numpy"], check=True))


L0LEARN = "fastsparsegams"
# What is timed, what it is held against, what that needs, what is asked, what makes both
ROWS = [
    *(
        (f"CV to {most or 'its end'}, {n} x {p}", "L0Learn CD", L0LEARN, asked,
         lambda n=n, p=p, most=most: cross_validation(n, p, most))
        for most in (40, None)
        for n, p, asked in ((120, 100, 5), (300, 200, 5), (500, 5000, 4))
    ),
    ("frontier of 25, 100 x 500", "L0Learn CDPSI", L0LEARN, 3, lambda: frontier(100, 500)),
    ("SBR, frame of 120 x 100", "numpy lstsq", None, 2, small_frame),
    *(
        (f"CV to {most or 'its end'}, 53,940 x 240", "LassoCV", None, 1,
         lambda most=most: measurements(53_940, most))
        for most in (40, 240, None)
    ),
    ("select, judging and halves, 20,000 x 100", "its ten folds", None, 1 / 3, judged),
    ("select --interactions, 1se, 53,940 x 240", "LassoCV", None, 1, lambda: measured(53_940)),
    ("CSV, 100,000 x 200, to report", "pandas and LassoCV", None, None, report),
    ("leave one out, 500 x 200", "its ten folds", None, 1 / 30, leave_one_out),
    ("RepeatedKFold, 5 x 10, 2000 x 500", "ten folds, five times", None, 1, repeated_folds),
    ("segment_path, 10^5 samples", "20 of its segmentations", None, None, path),
    ("EmpiricalTweedie, 10^5 over 2,000 sigma", "", None, None, mixture),
    ("import ellzero", "import numpy", None, None, start("-c", "import ellzero")),
    ("ellzero --help", "import numpy", None, None,
     start("-c", "import sys; sys.argv = ['ellzero', '-h']; from ellzero.cli import main; main()")),
]  # fmt: skip


def processor_time():
    """Return the processor time of this process and of those that it has waited for."""
    uses = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses)


def least_times(functions):
    """Return the least time of each, in turns; fewer of them where one takes seconds.

    A function that returns a number has measured its time itself.
    """
    least = [np.inf] * len(functions)
    begin = time.perf_counter()
    enough, end = begin + 2, begin + 60
    for turn in itertools.count():
        if turn >= TURNS and time.perf_counter() > enough:
            break
        for place, function in enumerate(functions):
            start = processor_time()
            own = function()
            taken = own if isinstance(own, float) else processor_time() - start
            least[place] = min(least[place], taken)
        if turn and time.perf_counter() > end:
            break
    return least


def measure(row):
    """Return what the table says of a row."""
    name, peer, needs, asked, make = row
    wanted = "" if asked is None else f"{asked:.2g}"
    if needs is not None and importlib.util.find_spec(needs) is None:
        return f"| {name} | {peer} | | skipped: {needs} is not installed | {wanted} |"
    functions = [function for function in make() if function is not None]
    taken = least_times(functions)
    ratio = f"{taken[1] / taken[0]:.3g}" if len(taken) > 1 else ""
    return f"| {name} | {peer} | {taken[0]:.4g} | {ratio} | {wanted} |"


def measure_apart(number):
    """Measure a row in a process of its own, several times if that dies: L0Learn's port may."""
    for _ in range(5):
        command = [sys.executable, __file__, "--row", str(number)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode >= 0:
            done.check_returncode()
            return done.stdout.strip()
    return f"| {ROWS[number][0]} | {ROWS[number][1]} | | died of signal {-done.returncode} | |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose names have these words in them")
    parser.add_argument("--row", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.row is not None:
        print(measure(ROWS[asked.row]))
        return
    print("| what | against | seconds | times as fast | asked |\n|---|---|---|---|---|")
    for number, row in enumerate(ROWS):
        if asked.only in row[0]:
            print(measure_apart(number), flush=True)


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")  # what is warned of is not the question here
    main()
