"""Very many sparse columns: what searches cost in passes over X.

A pass is the CPU time of one product ``X.T @ v`` of SciPy, X in compressed columns, on one thread
and in the same process. Columns are as frequent as words are (the j-th most frequent has a share
1 / j of the entries, and none is in more than a third of the rows), or equally frequent. Of y, some
columns explain two thirds.

    python benchmarks/sparse_entries.py             # 50,000 x 500,000, SBR and the frontier
    python benchmarks/sparse_entries.py --cv        # and ten folds
    python benchmarks/sparse_entries.py --growth    # exponents in rows, columns and entries
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import time

import numpy as np
from scipy import sparse

from ellzero import L0Regressor, L0RegressorCV, l0_frontier
from ellzero._engine import make_design, make_engine


def make_words(n, p, entries, seed, *, zipf, true=25, snr=2.0):
    """Return counts of words, a response, and the columns that explain it."""
    rng = np.random.default_rng(seed)
    share = 1 / (np.arange(p) + 2.7) if zipf else np.ones(p)
    expected = np.minimum(entries * share / share.sum(), n / 3)
    expected *= entries / expected.sum()
    count = rng.permutation(np.minimum(rng.poisson(expected), n // 3))
    columns = np.repeat(np.arange(p), count)
    rows = rng.integers(0, n, size=len(columns))
    values = 1.0 + rng.poisson(0.3, size=len(columns))
    X = sparse.csc_array((values, (rows, columns)), shape=(n, p))
    X.sum_duplicates()
    often = np.diff(X.indptr)
    order = np.argsort(-often, kind="stable")[: np.count_nonzero(often)]
    # Words of every frequency, or any columns
    places = np.geomspace(5, len(order) / 50, true) if zipf else rng.choice(len(order), true)
    chosen = order[np.unique(places.astype(int))]
    part = X[:, chosen].toarray()
    effect = rng.uniform(0.5, 1.5, len(chosen)) * rng.choice([-1, 1], len(chosen))
    signal = (part / part.std(axis=0)) @ effect
    return X, signal + rng.normal(size=n) * np.sqrt(signal.var() / snr), chosen


def cpu(function, times=1):
    """Return the median CPU time of some calls, and what the last returned."""
    taken, result = [], None
    for _ in range(times):
        start = time.process_time()
        result = function()
        taken.append(time.process_time() - start)
    return float(np.median(taken)), result


def price(y, p):
    """The lam of a model that knows the noise: sigma^2 log p."""
    return float(y.var() / 3 * np.log(p))


def plain_sbr(X, y, lam):
    """SBR with every column looked at, at every step."""
    engine = make_engine(make_design(X, y, None, True, 1), 0.0, 1)
    engine.sbr(lam, None, 400, None)
    return np.sort(engine.members)


def run(n, p, entries, seed, zipf, true, *, plain, cv):
    X, y, _ = make_words(n, p, entries, seed, zipf=zipf, true=true)
    v = np.random.default_rng(0).normal(size=n)
    lam = price(y, p)
    one, _ = cpu(lambda: X.T @ v, 9)
    sbr, model = cpu(lambda: L0Regressor(lam, solver="sbr", max_size=400).fit(X, y), 3)
    frontier, _ = cpu(lambda: l0_frontier(X, y, max_size=30))
    again, _ = cpu(lambda: X.T @ v, 9)
    unit = (one + again) / 2
    row = [
        f"{n:,} x {p:,}, {X.nnz / 1e6:.1f}M",
        "as words" if zipf else "equal",
        str(seed),
        str(model.support_.size),
        f"{sbr / unit:.0f}",
        f"{frontier / unit:.0f}",
    ]
    if plain:
        before, support = cpu(lambda: plain_sbr(X, y, lam))
        assert (support == model.support_).all()
        row.append(f"{before / unit:.0f}")
    if cv:
        folds = L0RegressorCV(cv=10, n_repeats=1, max_size=30)
        taken, _ = cpu(lambda: folds.fit(X, y))
        row += [f"{taken / unit:.0f}", f"{taken / frontier:.1f}"]
    print("| " + " | ".join(row) + " |", flush=True)
    return {"SBR": sbr, "frontier": frontier}


def head(*names):
    print("| " + " | ".join(names) + " |\n|" + "---|" * len(names))


def growth(seed):
    """Print how times grow when rows, columns and entries are doubled, each by itself."""
    start = (20_000, 100_000, 700_000)
    names = ("n x p, entries", "frequency", "seed", "chosen", "SBR", "frontier")
    head(*names)
    for zipf in (True, False):
        times = {}
        for which in (None, 0, 1, 2):
            size = [side * 2 if place == which else side for place, side in enumerate(start)]
            times[which] = run(*size, seed, zipf, 25, plain=False, cv=False)
        for which, name in enumerate(("rows", "columns", "entries")):
            found = [
                f"{kind} {np.log2(times[which][kind] / times[None][kind]):.2f}"
                for kind in ("SBR", "frontier")
            ]
            print(f"    exponent in {name}: {', '.join(found)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 12])
    parser.add_argument("--true", type=int, default=25, help="columns that explain y")
    parser.add_argument("--plain", action="store_true", help="SBR without screening, too")
    parser.add_argument("--cv", action="store_true", help="ten folds, too")
    parser.add_argument("--growth", action="store_true")
    options = parser.parse_args()
    if options.growth:
        growth(options.seeds[0])
        return
    names = ["n x p, entries", "frequency", "seed", "chosen", "SBR", "frontier"]
    names += ["SBR, all columns"] * options.plain
    names += ["ten folds", "ten folds / frontier"] * options.cv
    head(*names)
    for zipf in (True, False):
        for seed in options.seeds:
            run(50_000, 500_000, 4_300_000, seed, zipf, options.true, plain=options.plain,
                cv=options.cv)  # fmt: skip


if __name__ == "__main__":
    main()
