"""Ten-fold cross-validation against L0Learn's engine, abess and glmnet, and what it finds.

Sizes up to 40 for everyone who can be told; one thread, one process, ratios. Then, on the paper's
design, what is found, beside the lasso with its own cross-validation.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import time
import warnings

import abess
import fastsparsegams
import numpy as np
from sklearn.linear_model import LassoCV

from ellzero import L0RegressorCV
from ellzero.datasets import make_collinear

try:
    import glmnet
except ImportError:  # it has no wheel for every Python
    glmnet = None

MAX_SIZE = 40
SEEDS = range(100)


def ours(solver="frontier", n_jobs=1):
    model = L0RegressorCV(n_repeats=1, max_size=MAX_SIZE, solver=solver, n_jobs=n_jobs)
    return lambda X, y: model.fit(X, y)


def l0learn(algorithm, **ridges):
    return lambda X, y: fastsparsegams.cvfit(
        np.asfortranarray(X),
        y,
        loss="SquaredError",
        penalty="L0L2" if ridges else "L0",
        **ridges,
        algorithm=algorithm,
        max_support_size=MAX_SIZE,
        num_folds=10,
        intercept=False,
    )


def by_abess(X, y):
    sizes = range(MAX_SIZE + 1)
    return abess.LinearRegression(support_size=sizes, cv=10, fit_intercept=False).fit(
        X, y, is_normal=False
    )


def by_glmnet(X, y):
    return glmnet.ElasticNet(alpha=1, n_splits=10).fit(X, y)


def speed():
    peers = {"L0Learn CD": l0learn("CD"), "L0Learn CDPSI": l0learn("CDPSI"), "abess": by_abess}
    if glmnet is not None:
        peers["glmnet"] = by_glmnet
    print("Ten folds: time of peers over ours\n")
    print("| n x p | ms | SBR, ms | two threads, ms | " + " | ".join(peers) + " |")
    print("|---|---|---|---|" + "---|" * len(peers))
    for n, p in ((120, 100), (300, 200), (1000, 1000), (500, 5000)):
        X, y, _ = make_collinear(n, p, random_state=0)
        X = X - X.mean(axis=0)
        X, y = X / np.linalg.norm(X, axis=0), y - y.mean()
        burst = 3 if n * p > 1e6 else 7
        solvers = {"": ours(), "sbr": ours("sbr"), "two": ours(n_jobs=2), **peers}
        taken = dict.fromkeys(solvers, np.inf)
        for _ in range(burst):
            for name, function in solvers.items():
                taken[name] = min(taken[name], timed(function, X, y))
        own = taken[""]
        print(
            f"| {n} x {p} | {1e3 * own:.1f} | {1e3 * taken['sbr']:.1f} "
            f"| {1e3 * taken['two']:.1f} | "
            + " | ".join(f"{taken[name] / own:.1f}" for name in peers)
            + " |",
            flush=True,
        )


def ridges():
    """What choosing among twelve ridges costs."""
    print("\nTwelve ridges, sizes up to 40: times over that of one, of ours and of L0Learn L0L2\n")
    print("| n x p | one ridge, ms | twelve | ten repeats, ms | twelve | L0Learn / our twelve |")
    print("|---|---|---|---|---|---|")
    solvers = {
        "one": lambda X, y: L0RegressorCV(n_repeats=1).fit(X, y),
        "twelve": lambda X, y: L0RegressorCV(n_repeats=1, ridge="cv").fit(X, y),
        "one, repeated": lambda X, y: L0RegressorCV().fit(X, y),
        "twelve, repeated": lambda X, y: L0RegressorCV(ridge="cv").fit(X, y),
        "L0Learn": l0learn("CD", num_gamma=12, gamma_min=1e-3, gamma_max=25.0),
    }
    for n, p, snr_db in ((300, 200, 20), (300, 200, 3), (500, 5000, 20), (500, 5000, 3)):
        X, y, _ = make_collinear(n, p, snr_db=snr_db, random_state=0)
        taken = dict.fromkeys(solvers, np.inf)
        for _ in range(3):
            for name, function in solvers.items():
                taken[name] = min(taken[name], timed(function, X, y))
        print(
            f"| {n} x {p}, {snr_db} dB | {1e3 * taken['one']:.0f} "
            f"| {taken['twelve'] / taken['one']:.1f} | {1e3 * taken['one, repeated']:.0f} "
            f"| {taken['twelve, repeated'] / taken['one, repeated']:.1f} "
            f"| {taken['L0Learn'] / taken['twelve']:.1f} |",
            flush=True,
        )


def timed(function, X, y):
    start = time.perf_counter()
    function(X, y)
    return time.perf_counter() - start


def accuracy():
    print("\nThe paper's design (120 x 100, 20 dB, ten true variables), medians and means of 100\n")
    print("| | squared error of beta, median | true found | false found |")
    print("|---|---|---|---|")
    models = {
        "frontier, min": L0RegressorCV(),
        "frontier, 1se": L0RegressorCV(rule="1se"),
        "SBR, min": L0RegressorCV(solver="sbr"),
        "lasso": LassoCV(cv=10, max_iter=100_000),
    }
    for name, model in models.items():
        errors, right, wrong = [], [], []
        for seed in SEEDS:
            X, y, beta = make_collinear(120, 100, random_state=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = model.fit(X, y).coef_
            errors.append(((found - beta) ** 2).sum())
            right.append(np.count_nonzero((found != 0) & (beta != 0)))
            wrong.append(np.count_nonzero((found != 0) & (beta == 0)))
        print(
            f"| {name} | {np.median(errors):.3f} | {np.mean(right):.2f} | {np.mean(wrong):.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    speed()
    ridges()
    accuracy()
