"""How often intervals of predictions hold what is predicted, on new rows.

    python benchmarks/intervals.py [--first SEED] [--splits N]

Each split is a data set of its own: a model is chosen by ellzero select's default on n rows, and
its intervals are held against 1,000 new rows. Beside the coverage the mean width, over that of an
interval that knows the true model and the noise.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse

import numpy as np
from scipy import stats

from ellzero.selection import Settings, prepare, select
from ellzero.tables import NumberColumn, Table

NOISE = {"normal": stats.norm(), "t with 3 degrees of freedom": stats.t(3)}


def table_of(X, y):
    columns = {f"x{j}": NumberColumn(f"x{j}", X[:, j].copy()) for j in range(X.shape[1])}
    return Table({**columns, "y": NumberColumn("y", y.copy())}, len(y), "t", "")


def coverage(n, p, noise, level, seed):
    """Return the share of new rows in their intervals, and the width over the best possible."""
    rng = np.random.default_rng([n, p, seed])
    beta = np.zeros(p)
    beta[: p // 4] = rng.uniform(0.2, 1, p // 4)

    def draw(rows):
        X = rng.normal(size=(rows, p))
        return X, X @ beta + noise.rvs(rows, random_state=rng)

    asked = Settings("y", seed=seed)
    chosen = select(prepare(table_of(*draw(n)), asked), asked)
    X, y = draw(1000)
    lower, upper = chosen.linear.predict_interval(table_of(X, y), level)
    best = 2 * noise.ppf((1 + level) / 2)
    return np.mean((lower <= y) & (y <= upper)), np.mean(upper - lower) / best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--splits", type=int, default=100)
    options = parser.parse_args()
    levels = (0.8, 0.9, 0.95)
    print("Mean coverage ± its standard error; mean width over that of the true model\n")
    print("| n x p, noise | " + " | ".join(f"{level:.0%}" for level in levels) + " |")
    print("|---|" + "---|" * len(levels))
    for n, p in ((60, 20), (150, 20), (500, 20), (60, 100), (150, 100)):
        for name, noise in NOISE.items():
            cells = []
            for level in levels:
                seeds = range(options.first, options.first + options.splits)
                found = np.array([coverage(n, p, noise, level, seed) for seed in seeds])
                covered, width = found.mean(axis=0)
                error = found[:, 0].std(ddof=1) / np.sqrt(len(found))
                cells.append(f"{covered:.3f} ± {error:.3f}; {width:.2f}")
            print(f"| {n} x {p}, {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
