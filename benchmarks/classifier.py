"""Logistic regression of every size against L0Learn's engine, abess and FasterRisk.

Supports are judged by the same objective, the negative log-likelihood with a ridge of 1 / (100 n)
for columns of unit norm, refitted by a Newton method of this file's own; one thread, one process.

    python benchmarks/classifier.py             # paths of sizes 1 to 20
    python benchmarks/classifier.py folds       # cross-validation
    python benchmarks/classifier.py large       # 100,000 x 100, and sparse 20,000 x 50,000

FasterRisk wants older packages than ours: FASTERRISK names a Python that has it, else it is left
out. It looks for the sizes 3, 5, 10 and 15.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import abess
import fastsparsegams
import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sparse_problems import covariance

from ellzero import L0Classifier, L0ClassifierCV, l0_frontier

MAX_SIZE = 20
SIMULATED = {
    "500 x 100, rho .5": (500, 100, 0.5),
    "500 x 100, rho .9": (500, 100, 0.9),
    "1000 x 1000, rho .5": (1000, 1000, 0.5),
    "200 x 2000, rho .5": (200, 2000, 0.5),
}
FASTERRISK = """
import sys, numpy as np
from fasterrisk.sparseBeamSearch import sparseLogRegModel
data = np.load(sys.argv[1])
out = {}
for k in data["sizes"]:
    model = sparseLogRegModel(data["X"], data["y"], intercept=True)
    model.get_sparse_sol_via_OMP(k=int(k), parent_size=10, child_size=10)
    out[f"s{k}"] = np.flatnonzero(model.get_beta0_betas()[1])
np.savez(sys.argv[2], **out)
"""


def simulate(n, p, rho, seed):
    """Return ten effects of .5 to 1.5, either sign, on columns of an autoregressive design."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) @ np.linalg.cholesky(covariance(p, rho)).T
    beta = np.zeros(p)
    beta[rng.choice(p, 10, replace=False)] = rng.choice([-1, 1], 10) * rng.uniform(0.5, 1.5, 10)
    return standardise(X), (rng.random(n) < expit(X @ beta)).astype(float)


def standardise(X):
    X = X - X.mean(axis=0)
    return np.asfortranarray(X / X.std(axis=0))


def with_products(X, *, squares):
    i, j = np.triu_indices(X.shape[1], 1)
    return np.hstack([X, X[:, i] * X[:, j], *([X**2] if squares else [])])


def real(name, seed):
    """Return nine tenths of the rows of a real table with all products."""
    if name == "cancer with interactions":
        table = load_breast_cancer()
        X, y = with_products(standardise(table.data), squares=True), table.target
    else:
        table = load_digits()
        used = table.data[:, (table.data != 0).mean(axis=0) > 0.01]
        X, y = with_products(standardise(used), squares=False), table.target % 2
    rows = np.random.default_rng(seed).choice(len(y), int(0.9 * len(y)), replace=False)
    return standardise(X[rows]), y[rows].astype(float)


def problems(seeds):
    for name, (n, p, rho) in SIMULATED.items():
        yield name, [simulate(n, p, rho, seed) for seed in seeds]
    for name in ("cancer with interactions", "digits parity"):
        yield name, [real(name, seed) for seed in seeds]


def by_ellzero(X, y):
    return l0_frontier(X, y, loss="logistic", max_size=MAX_SIZE).supports


def by_l0learn(X, y, algorithm):
    model = fastsparsegams.fit(
        X,
        2 * y - 1,
        loss="Logistic",
        penalty="L0",
        algorithm=algorithm,
        max_support_size=MAX_SIZE,
        num_lambda=100,
    )
    return [np.flatnonzero(column) for column in model.coeff(include_intercept=False).toarray().T]


def by_abess(X, y):
    """Return the support of every size, one call each: a path returns the chosen one only."""
    return [
        np.flatnonzero(abess.LogisticRegression(support_size=k).fit(X, y).coef_)
        for k in range(1, MAX_SIZE + 1)
    ]


def abess_path(X, y):
    abess.LogisticRegression(support_size=range(MAX_SIZE + 1)).fit(X, y)


def by_fasterrisk(X, y):
    python = os.environ.get("FASTERRISK")
    if python is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "given.npz"), Path(folder, "found.npz")
        np.savez(given, X=X, y=2 * y - 1, sizes=[3, 5, 10, 15])
        subprocess.run([python, "-c", FASTERRISK, given, found], check=True, capture_output=True)
        with np.load(found) as file:
            return [file[name] for name in file.files]


def loss_of(X, y, support):
    """Return the least penalised negative log-likelihood on some columns, by Newton's method."""
    n = len(y)
    Z = np.hstack([np.ones((n, 1)), X[:, support] / np.sqrt(n)])
    ridge = np.r_[0.0, np.full(len(support), 1 / (100 * n))]

    def loss(b):
        eta = Z @ b
        return np.sum(np.logaddexp(0, eta) - y * eta) + 0.5 * ridge @ b**2

    b, value = np.zeros(Z.shape[1]), np.inf
    for _ in range(100):
        p = expit(Z @ b)
        down = Z.T @ (y - p) - ridge * b
        step = np.linalg.solve((Z.T * (p * (1 - p))) @ Z + np.diag(ridge + 1e-14), down)
        if down @ step < 1e-11:
            break
        value, length = loss(b), 1.0
        while loss(b + length * step) > value - 1e-4 * length * (down @ step) and length > 1e-9:
            length /= 2
        b = b + length * step
    return loss(b)


def losses(X, y, supports):
    best = {}
    for support in {tuple(support) for support in supports}:
        if 0 < len(support) <= MAX_SIZE:
            loss = loss_of(X, y, list(support))
            best[len(support)] = min(best.get(len(support), np.inf), loss)
    return best


def timed(function, *arguments, **options):
    start = time.perf_counter()
    out = function(*arguments, **options)
    return time.perf_counter() - start, out


def compare(seeds=range(1000, 1005)):
    print("Sizes 1 to 20 against the best of the peers; times of theirs over ours\n")
    print("| problem | as good, % | better, % | L0Learn CD | CDPSI | abess, path | FasterRisk |")
    print("|---|---|---|---|---|---|---|")
    for name, tables in problems(seeds):
        as_good, better, seconds = [], [], np.zeros(5)
        for X, y in tables:
            own, ours = timed(by_ellzero, X, y)
            found = [
                timed(by_l0learn, X, y, "CD"),
                timed(by_l0learn, X, y, "CDPSI"),
                timed(abess_path, X, y),
                timed(by_fasterrisk, X, y),
            ]
            seconds += [own, *(each[0] for each in found)]
            supports = [found[0][1], found[1][1], by_abess(X, y), found[3][1]]
            peers = [losses(X, y, each) for each in supports]
            for size, loss in losses(X, y, ours).items():
                best = min(peer.get(size, np.inf) for peer in peers)
                if np.isfinite(best):
                    as_good.append(loss <= best + 1e-6 * (1 + best))
                    better.append(loss < best - 1e-6 * (1 + best))
        ratios = seconds[1:] / seconds[0]
        risk = f"{ratios[3]:.0f}" if os.environ.get("FASTERRISK") else "-"
        print(
            f"| {name} | {100 * np.mean(as_good):.1f} | {100 * np.mean(better):.1f} "
            f"| {ratios[0]:.2f} | {ratios[1]:.1f} | {ratios[2]:.2f} | {risk} |",
            flush=True,
        )


def folds(seeds=range(1000, 1003)):
    print("\nTen folds, once: times of theirs over ours, up to the size that ours goes to\n")
    print("| problem | L0Learn CD | abess |")
    print("|---|---|---|")
    for name, tables in problems(seeds):
        seconds = np.zeros(3)
        for X, y in tables:
            own, model = timed(L0ClassifierCV(n_repeats=1).fit, X, y)
            largest = model.max_size_
            their, _ = timed(
                fastsparsegams.cvfit,
                X,
                2 * y - 1,
                loss="Logistic",
                penalty="L0",
                num_folds=10,
                max_support_size=largest,
            )
            other, _ = timed(
                abess.LogisticRegression(cv=10, support_size=range(largest + 1)).fit, X, y
            )
            seconds += [own, their, other]
        print(
            f"| {name} | {seconds[1] / seconds[0]:.1f} | {seconds[2] / seconds[0]:.1f} |",
            flush=True,
        )


def large(seeds=range(1000, 1003)):
    print("\nOne model of the size that it chooses, against an l1 fit of about that size\n")
    print("| problem | size | saga's size | our time / saga's | our accuracy | saga's |")
    print("|---|---|---|---|---|---|")
    for name, make in (("100,000 x 100", tall), ("sparse 20,000 x 50,000", text_like)):
        ratios, sizes, theirs, right, others = [], [], [], [], []
        for seed in seeds:
            X, y, X_test, y_test = make(seed)
            own, model = timed(L0Classifier(size=10).fit, X, y)
            strength, l1 = matching(X, y, len(model.support_))
            their, l1 = timed(l1.set_params(C=strength).fit, X, y)
            ratios.append(own / their)
            sizes.append(len(model.support_))
            theirs.append(np.count_nonzero(l1.coef_))
            right.append(model.score(X_test, y_test))
            others.append(l1.score(X_test, y_test))
        print(
            f"| {name} | {np.mean(sizes):.1f} | {np.mean(theirs):.1f} | {np.mean(ratios):.2f} "
            f"| {np.mean(right):.4f} | {np.mean(others):.4f} |",
            flush=True,
        )


def matching(X, y, size):
    """Find how strong an l1 penalty leaves about so many variables."""
    l1 = LogisticRegression(l1_ratio=1.0, solver="saga", tol=1e-4, max_iter=1000)
    low, high = -5.0, 0.0
    quick = LogisticRegression(l1_ratio=1.0, solver="saga", tol=1e-2, max_iter=100)
    for _ in range(9):
        middle = (low + high) / 2
        count = np.count_nonzero(quick.set_params(C=10**middle).fit(X, y).coef_)
        low, high = (middle, high) if count < size else (low, middle)
        if count == size:
            break
    return 10**middle, l1


def tall(seed):
    X, y = simulate(150_000, 100, 0.5, seed)
    return X[:100_000], y[:100_000], X[100_000:], y[100_000:]


def text_like(seed):
    """Return counts of words, a few of which tell the class; words are rare as in texts."""
    rng = np.random.default_rng(seed)
    n, p = 30_000, 50_000
    share = 1 / np.arange(5, p + 5)
    share *= 60 / share.sum()
    counts = rng.poisson(np.minimum(share, 0.5) * n)
    rows = [rng.integers(n, size=count) for count in counts]
    columns = np.repeat(np.arange(p), counts)
    X = sparse.csc_matrix((np.ones(len(columns)), (np.concatenate(rows), columns)), shape=(n, p))
    told = rng.choice(np.arange(20, 400), 10, replace=False)
    eta = X[:, told] @ (rng.choice([-1, 1], 10) * rng.uniform(1.5, 3, 10))
    y = (rng.random(n) < expit(eta - np.median(eta))).astype(float)
    X = X.tocsr()
    return X[:20_000].tocsc(), y[:20_000], X[20_000:], y[20_000:]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    {"folds": folds, "large": large}.get(sys.argv[1] if sys.argv[1:] else "", compare)()
