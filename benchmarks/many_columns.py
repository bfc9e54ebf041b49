"""Very many dense columns: SBR and the frontier of 30 sizes, in passes over X.

A pass is the time of one product ``X.T @ v``, by BLAS, in the same process; processor times, one
thread. Two designs of 500 rows: the paper's collinear one with ten true variables, and columns
correlated as .5^|i-j| with twenty. Then the frontier's growth in p: the slope of log time on log p.

    python benchmarks/many_columns.py [--seed 0]
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import time

import numpy as np

from ellzero import L0Regressor, l0_frontier
from ellzero.datasets import make_collinear

ROWS, MAX_SIZE = 500, 30
COLUMNS = (10_000, 30_000, 100_000)


def collinear(p, seed):
    X, y, beta = make_collinear(ROWS, p, random_state=seed)
    return np.asfortranarray(X), y, float(np.std(y - X @ beta))


def mild(p, seed):
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.normal(size=(p, ROWS)).T)
    for j in range(1, p):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    where = rng.choice(p, 20, replace=False)
    signal = X[:, where] @ rng.choice([-1.0, 1.0], 20)
    sigma = float(np.sqrt(signal.var() / 5))
    return X, signal + sigma * rng.normal(size=ROWS), sigma


def least_time(function, turns):
    taken = []
    for _ in range(turns):
        begin = time.process_time()
        function()
        taken.append(time.process_time() - begin)
    return min(taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args().seed
    print("| design | n x p | SBR, passes | frontier of 30, passes | growth of the frontier |")
    print("|---|---|---|---|---|")
    for make in (collinear, mild):
        seconds = []
        for p in COLUMNS:
            X, y, sigma = make(p, seed)
            v, lam = y - y.mean(), sigma**2 * np.log(p)
            one = least_time(lambda X=X, v=v: X.T @ v, 5)
            model = L0Regressor(lam, solver="sbr")
            sbr = least_time(lambda m=model, X=X, y=y: m.fit(X, y), 2)
            seconds.append(least_time(lambda X=X, y=y: l0_frontier(X, y, max_size=MAX_SIZE), 2))
            slope = np.polyfit(np.log(COLUMNS[: len(seconds)]), np.log(seconds), 1)[0]
            growth = f"{slope:.2f}" if len(seconds) == len(COLUMNS) else ""
            print(
                f"| {make.__name__} | {ROWS} x {p:,} | {sbr / one:.1f} | {seconds[-1] / one:.1f} "
                f"| {growth} |",
                flush=True,
            )


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")  # what is warned of is not the question here
    main()
