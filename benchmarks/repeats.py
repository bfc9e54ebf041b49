"""How much the model that cross-validation chooses depends on how the rows are shuffled.

Every data set is fitted with several random states, for every number of repeats. Agreement is the
share of pairs of random states that choose the same variables; beside it the mean Jaccard index of
their supports (that of two empty ones is 1). Time is that of one thread, as a ratio to one repeat.

    python benchmarks/repeats.py                            the data sets that are reported
    python benchmarks/repeats.py --first 1000     those that the default was chosen on
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import itertools
import time
import warnings

import numpy as np

from ellzero import L0RegressorCV
from ellzero.datasets import load_diabetes_interactions, make_collinear

REPEATS = (1, 3, 5, 10, 20)
RULES = ("min", "1se")


def papers(snr_db):
    return lambda seed: make_collinear(120, 100, snr_db=snr_db, random_state=seed)


def weak(seed):
    """Ten of fifty variables, each about two and a half standard errors from zero."""
    rng = np.random.default_rng(seed)
    X, beta = rng.normal(size=(200, 50)), np.zeros(50)
    beta[:10] = 2.5 / np.sqrt(200)
    return X, X @ beta + rng.normal(size=200), beta


def null(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(100, 20)), rng.normal(size=100), np.zeros(20)


def collinear(seed):
    """Neighbouring columns are correlated at .95, and every tenth counts."""
    rng = np.random.default_rng(seed)
    X, beta = rng.normal(size=(150, 100)), np.zeros(100)
    for j in range(1, 100):
        X[:, j] = 0.95 * X[:, j - 1] + np.sqrt(1 - 0.95**2) * X[:, j]
    beta[5::10] = 1
    return X, X @ beta + 2 * rng.normal(size=150), beta


def diabetes(seed):
    data = load_diabetes_interactions()
    return data.data, data.target, None


DESIGNS = {
    "paper's, 20 dB": papers(20),
    "paper's, 10 dB": papers(10),
    "paper's, 3 dB": papers(3),
    "weak, 200 x 50": weak,
    "null, 100 x 20": null,
    "collinear, 150 x 100": collinear,
    "diabetes, 442 x 64": diabetes,
}


def choices(X, y, beta, n_repeats, random_state):
    """Return the support and its error in the mean of y, by rule, and the seconds of the fit."""
    begin = time.perf_counter()
    model = L0RegressorCV(n_repeats=n_repeats, random_state=random_state).fit(X, y)
    seconds = time.perf_counter() - begin
    supports, losses = {}, {}
    for rule in RULES:
        # The frontier of all rows is the same for both rules; so is the curve.
        chosen = model.frontier_.at(lam=price(model.cv_results_, rule))
        supports[rule] = frozenset(chosen.support.tolist())
        if beta is not None:
            losses[rule] = np.var(X @ (chosen.coef - beta))
    return supports, losses, seconds


def price(results, rule):
    error, se = results["mean_error"], results["se_error"]
    place = int(np.argmin(error))
    if rule == "1se":
        place = int(np.flatnonzero(error <= error[place] + se[place])[0])
    low, high = results["lam_low"][place], results["lam_high"][place]
    if np.isinf(high):
        return 2 * low
    return np.sqrt(low * high) if low > 0 else high / 2


def jaccard(one, two):
    return len(one & two) / len(one | two) if one | two else 1.0


def study(make, seeds, states):
    """Return, by number of repeats and rule, agreement, Jaccard, size and loss; and the times."""
    rows = {(n, rule): [] for n in REPEATS for rule in RULES}
    seconds = dict.fromkeys(REPEATS, 0.0)
    for seed in seeds:
        X, y, beta = make(seed)
        for n in REPEATS:
            found = [choices(X, y, beta, n, state) for state in states]
            seconds[n] += sum(taken for *_, taken in found)
            for rule in RULES:
                supports = [supports[rule] for supports, *_ in found]
                pairs = list(itertools.combinations(supports, 2))
                loss = np.mean([losses.get(rule, np.nan) for _, losses, _ in found])
                rows[n, rule].append(
                    (
                        np.mean([one == two for one, two in pairs]),
                        np.mean([jaccard(*pair) for pair in pairs]),
                        np.mean([len(support) for support in supports]),
                        loss,
                    )
                )
    return {key: np.mean(values, axis=0) for key, values in rows.items()}, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0, help="the first seed and random state")
    parser.add_argument("--count", type=int, default=20, help="how many data sets per design")
    parser.add_argument("--states", type=int, default=6, help="how many random states for each")
    parser.add_argument(
        "--designs", nargs="*", default=list(DESIGNS), help="names, or parts of them"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    heads = [f"{n} repeats" if n > 1 else "1 repeat" for n in REPEATS]
    print(
        "Agreement between random states, % (Jaccard, %); variables; loss over that of one repeat\n"
    )
    print("| design | rule | " + " | ".join(heads) + " |")
    print("|---|---|" + "---|" * len(REPEATS), flush=True)
    for name, make in DESIGNS.items():
        if not any(part in name for part in options.designs):
            continue
        # The one data set that is not simulated has more random states instead.
        count, n_states = (
            (1, 3 * options.states) if make is diabetes else (options.count, options.states)
        )
        seeds = range(options.first, options.first + count)
        table, seconds = study(make, seeds, range(options.first, options.first + n_states))
        for rule in RULES:
            cells = []
            for n in REPEATS:
                same, near, size, loss = table[n, rule]
                ratio = loss / table[1, rule][3] if np.isfinite(loss) else np.nan
                cells.append(
                    f"{100 * same:.0f} ({100 * near:.0f}); {size:.1f}"
                    + (f"; {ratio:.2f}" if np.isfinite(ratio) else "")
                )
            print(f"| {name} | {rule} | " + " | ".join(cells) + " |")
        times = " | ".join(f"{seconds[n] / seconds[1]:.1f}" for n in REPEATS)
        print(f"| | time | {times} |", flush=True)


if __name__ == "__main__":
    main()
