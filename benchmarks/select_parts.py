"""What `ellzero select` spends its time on: features, the fit, judging it, halves of the rows.

    python benchmarks/select_parts.py          tables of several sizes, by processor time
    python benchmarks/select_parts.py --wall   by wall time, with a thread for every core

The fit has the data of ten folds in it. Judging makes the choice anew in each of them; comparing is
what other criteria choose, by cross-validation; halves are those of `stability`. The last column is
these three over the fit by cross-validation, ten folds once.
"""

import os
import sys

if "--wall" not in sys.argv:
    for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[_name] = "1"

import argparse
import time
import warnings

import numpy as np
from cases import measure

from ellzero.datasets import make_collinear
from ellzero.selection import Settings, prepare, select
from ellzero.tables import NumberColumn, Table, TextColumn, example_table

# Which part begins with which words about what is going on; others are of the part before.
PARTS = {
    "Making features": "features",
    "Cutting the rows": "fit",
    "Repeating the choice": "judging",
    "Comparing with a choice": "comparing",
    "Choosing on halves": "halves",
}


def make_numbers(n, p):
    """Return collinear columns, of which ten explain y."""
    X, y, _ = make_collinear(n, p, random_state=0)
    columns = {f"x{j}": NumberColumn(f"x{j}", X[:, j].copy()) for j in range(p)}
    return Table({**columns, "y": NumberColumn("y", y)}, n, "numbers", "")


def make_measured(n):
    """Return what a table of diamonds is like."""
    numbers, levels, y = measure(n)
    columns = {f"m{j}": NumberColumn(f"m{j}", numbers[:, j].copy()) for j in range(6)}
    for j, codes in enumerate(levels):
        names = [f"l{level}" for level in range(codes.max() + 1)]
        columns[f"c{j}"] = TextColumn(f"c{j}", codes.astype(np.int32), names)
    return Table({**columns, "y": NumberColumn("y", y)}, n, "measured", "")


def time_parts(make, clock=time.process_time, **asked):
    """Choose once; return the seconds of every part."""
    settings = Settings(**{"target": "y", "repeats": 1, **asked})
    data = prepare(make(), settings)
    spent = dict.fromkeys(PARTS.values(), 0.0)
    now = ["features", clock()]

    def say(words):
        part = next((part for begin, part in PARTS.items() if words.startswith(begin)), now[0])
        spent[now[0]] += clock() - now[1]
        now[:] = part, clock()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        select(data, settings, say)
    say("")
    return spent


CASES = {
    "diabetes, 442 x 10": (lambda: example_table("diabetes"), {"target": "progression"}),
    "its products, 442 x 64": (
        lambda: example_table("diabetes"), {"target": "progression", "interactions": True}
    ),
    "numbers, 2,000 x 50": (lambda: make_numbers(2_000, 50), {}),
    "numbers, 20,000 x 100": (lambda: make_numbers(20_000, 100), {}),
    "measured, products, 53,940 x 240": (lambda: make_measured(53_940), {"interactions": True}),
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wall", action="store_true")
    parser.add_argument("--only", default="", help="tables whose names have these words in them")
    parser.add_argument("--turns", type=int, default=3)
    asked = parser.parse_args()
    clock = time.perf_counter if asked.wall else time.process_time
    print("| table | criterion | features | fit | judging | comparing | halves | over ten folds |")
    print("|---|---|---|---|---|---|---|---|")
    for name, (make, settings) in CASES.items():
        if asked.only not in name:
            continue
        ten_folds = None
        for criterion in ("cv", "1se", "ebic"):
            turns = [
                time_parts(make, clock, criterion=criterion, **settings) for _ in range(asked.turns)
            ]
            least = {part: min(turn[part] for turn in turns) for part in PARTS.values()}
            ten_folds = ten_folds or least["fit"]
            beyond = sum(least[part] for part in ("judging", "comparing", "halves"))
            seconds = " | ".join(f"{least[part]:.3f}" for part in PARTS.values())
            print(f"| {name} | {criterion} | {seconds} | {beyond / ten_folds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
