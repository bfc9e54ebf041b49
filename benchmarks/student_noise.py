"""Student's noise by default: in data with nothing in them, with outliers, and what it costs.

    python benchmarks/student_noise.py                       everything: some 15 minutes
    python benchmarks/student_noise.py null found            parts of it; also: intervals, cost
    python benchmarks/student_noise.py --first 100000        other data sets

Noise is normal, Student's t of 3 and of 1.5 degrees, or normal with a tenth of the rows ten times
as far out. Student's is scaled to the quartiles of the standard normal distribution. Normal noise
is assumed beside Student's.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import time
import warnings

import numpy as np
from posterior_quality import mass_of_empty, print_table
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from ellzero import SpikeSlabRegressor

KINDS = ["normal", "t3", "t1.5", "contaminated"]
ASSUMED = ["gaussian", "student"]
QUARTILE = stats.norm.ppf(0.75)


def draw_noise(kind, size, rng):
    if kind == "normal":
        return rng.normal(size=size)
    if kind == "contaminated":
        far = rng.random(size) < 0.1
        return rng.normal(size=size) * np.where(far, 10.0, 1.0)
    df = float(kind[1:])
    return rng.standard_t(df, size) * QUARTILE / stats.t.ppf(0.75, df)


def fit(X, y, assumed, seed, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SpikeSlabRegressor(noise=assumed, random_state=seed, **settings).fit(X, y)


def null(first, count):
    print(f"Nothing matters, 100 x 20, {count} data sets: expected size, P(empty), false above one")
    print("half per data set. Asked of Student's noise: P(empty) .70, false .05\n")
    rows = []
    for kind in KINDS:
        cells = []
        for assumed in ASSUMED:
            found = []
            for seed in range(first, first + count):
                rng = np.random.default_rng([1, seed])
                X, y = rng.normal(size=(100, 20)), draw_noise(kind, 100, rng)
                model = fit(X, y, assumed, seed, n_draws=500)
                inclusion = model.inclusion_probabilities_
                found.append((inclusion.sum(), mass_of_empty(model), (inclusion > 0.5).sum()))
            size, empty, false = np.mean(found, axis=0)
            error = np.std(found, axis=0) / np.sqrt(count)
            cells.append(f"{size:.2f}, {empty:.2f}, {false:.2f} (± {error[2]:.2f})")
        rows.append([kind, *cells])
    print_table(["noise", *(f"{a} assumed" for a in ASSUMED)], rows)


def found(first, count):
    print(
        f"Four of 20 columns matter by .5, 100 rows, {count} data sets: true ones above one half,"
    )
    print("of 4; false ones; root mean squared error of the coefficients\n")
    beta = np.zeros(20)
    beta[[2, 7, 11, 16]] = 0.5, -0.5, 0.5, -0.5
    rows = []
    for kind in KINDS:
        cells = []
        for assumed in ASSUMED:
            results = []
            for seed in range(first, first + count):
                rng = np.random.default_rng([2, seed])
                X = rng.normal(size=(100, 20))
                y = X @ beta + draw_noise(kind, 100, rng)
                model = fit(X, y, assumed, seed, n_draws=500)
                inside = model.inclusion_probabilities_ > 0.5
                error = np.sum((model.coef_ - beta) ** 2)
                results.append((inside[beta != 0].sum(), inside[beta == 0].sum(), error))
            true, false, error = np.mean(results, axis=0)
            cells.append(f"{true:.2f}, {false:.2f}, {np.sqrt(error / 20):.3f}")
        rows.append([kind, *cells])
    print_table(["noise", *(f"{a} assumed" for a in ASSUMED)], rows)


def intervals(first, count):
    print(
        f"The same, intervals of 100 new rows, {count} data sets: share of rows inside 50%, 95% and"
    )
    print("99% intervals, median width of the 95% ones\n")
    beta = np.zeros(20)
    beta[[2, 7, 11, 16]] = 0.5, -0.5, 0.5, -0.5
    rows = []
    for kind in KINDS:
        cells = []
        for assumed in ASSUMED:
            inside, widths = [], []
            for seed in range(first, first + count):
                rng = np.random.default_rng([3, seed])
                X = rng.normal(size=(200, 20))
                y = X @ beta + draw_noise(kind, 200, rng)
                model = fit(X[:100], y[:100], assumed, seed, n_draws=200)
                own = []
                for level in (0.5, 0.95, 0.99):
                    lower, upper = model.predict_interval(X[100:], level)
                    own.append(np.mean((lower <= y[100:]) & (y[100:] <= upper)))
                    if level == 0.95:
                        widths.append(np.median(upper - lower))
                inside.append(own)
            shares = ", ".join(f"{value:.3f}" for value in np.mean(inside, axis=0))
            cells.append(f"{shares}; {np.median(widths):.1f}")
        rows.append([kind, *cells])
    print_table(["noise", *(f"{a} assumed" for a in ASSUMED)], rows)


def cost(first, count):
    print(
        "Processor milliseconds per iteration of a chain, and effective draws per processor second:"
    )
    print("the worst inclusion probability above .01, sigma_e, noise_df; t3 noise\n")
    rows = []
    for n, p in ((100, 20), (1000, 50), (200, 1000), (20_000, 100)):
        beta = np.zeros(p)
        beta[np.linspace(0, p - 1, 5).astype(int)] = 0.7
        cells = []
        for assumed in ASSUMED:
            rng = np.random.default_rng([4, first])
            X = rng.normal(size=(n, p))
            y = X @ beta + draw_noise("t3", n, rng)
            draws = 300 if n * p > 1e6 else 1000
            draws *= 20 if assumed == "gaussian" else 1  # which is quick
            settings = {"n_chains": 2, "n_warmup": 200, "solver": "gibbs"}
            fit(X, y, assumed, first, n_draws=1, **settings)  # what is done once per process
            begin = time.process_time()
            fit(X, y, assumed, first, n_draws=1, **{**settings, "n_warmup": 1})
            apart = time.process_time()
            model = fit(X, y, assumed, first, n_draws=draws, **settings)
            spent = (time.process_time() - apart) - (apart - begin)
            table = model.diagnostics_
            likely = model.inclusion_probabilities_ > 0.01
            unsure = table[:p][likely & (table["mcse"][:p].to_numpy() > 1e-6)]
            names = [name for name in ("sigma_e", "noise_df") if name in table.index]
            sizes = [unsure["ess_bulk"].min(), *table.loc[names, "ess_bulk"]]
            per_second = ", ".join(f"{size / spent:.0f}" for size in sizes)
            cells.append(f"{1e3 * spent / (2 * (200 + draws)):.3f} ms; {per_second}")
        rows.append([f"{n} x {p}", *cells])
    print_table(["n x p", *(f"{a} assumed" for a in ASSUMED)], rows)


PARTS = {"null": null, "found": found, "intervals": intervals, "cost": cost}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    asked = parser.parse_args()
    for part in asked.parts or PARTS:
        PARTS[part](asked.first, asked.count)
