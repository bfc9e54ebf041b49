"""The best support of every size against L0Learn's engine and abess.

Everyone gets centred y and centred columns of unit norm, and is judged by half the residual sum of
squares after least squares on its support; one thread, one process. For every size from 1 to 25 our
support is compared with the better of the two. Then how the time grows with p and with the size.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import time

import abess
import fastsparsegams
import numpy as np
from sparse_problems import autoregressive

from ellzero import l0_frontier
from ellzero.datasets import make_collinear

MAX_SIZE = 25
SEEDS = range(20)
BURST = 3  # calls of which the quickest counts, so that nobody pays for another's cold caches


def make_problem(seed, n, p, rho, snr):
    X, y = autoregressive(seed, n, p, rho, snr)
    X -= X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0), y - y.mean()


def by_ellzero(X, y):
    return l0_frontier(X, y, max_size=MAX_SIZE).supports  # the coefficients are there by now


def by_l0learn(X, y):
    model = fastsparsegams.fit(
        np.asfortranarray(X),
        y,
        loss="SquaredError",
        penalty="L0",
        algorithm="CDPSI",
        max_support_size=MAX_SIZE,
        num_lambda=200,
        intercept=False,
    )
    return [np.flatnonzero(column) for column in model.coeff(include_intercept=False).toarray().T]


def by_abess(X, y):
    return [
        np.flatnonzero(
            abess.LinearRegression(support_size=k, fit_intercept=False)
            .fit(X, y, is_normal=False)
            .coef_
        )
        for k in range(1, MAX_SIZE + 1)
    ]


def losses(X, y, supports):
    """Half the residual sum of squares of the best support of every size."""
    best = {}
    for support in supports:
        if 0 < len(support) <= MAX_SIZE:
            residual = y - X[:, support] @ np.linalg.lstsq(X[:, support], y, rcond=None)[0]
            loss = 0.5 * residual @ residual
            best[len(support)] = min(best.get(len(support), np.inf), loss)
    return best


def compare():
    print("Sizes 1 to 25 against the better of two peers\n")
    print("| n x p, rho | as good, % | strictly better, % | L0Learn's time / ours | abess's |")
    print("|---|---|---|---|---|")
    solvers = {"ellzero": by_ellzero, "L0Learn": by_l0learn, "abess": by_abess}
    for n, p, snr in ((120, 100, 3), (100, 500, 5)):
        for rho in (0.5, 0.9):
            as_good, better, seconds = [], [], dict.fromkeys(solvers, 0.0)
            for seed in SEEDS:
                X, y = make_problem(seed, n, p, rho, snr)
                found = {}
                for name, solver in solvers.items():
                    taken = []
                    for _ in range(BURST):
                        start = time.process_time()
                        supports = solver(X, y)
                        taken.append(time.process_time() - start)
                    seconds[name] += min(taken)
                    found[name] = losses(X, y, supports)
                for size, ours in found["ellzero"].items():
                    peers = min(found[name].get(size, np.inf) for name in ("L0Learn", "abess"))
                    if np.isfinite(peers):
                        as_good.append(ours <= peers * (1 + 1e-9))
                        better.append(ours < peers * (1 - 1e-9))
            ratios = [seconds[name] / seconds["ellzero"] for name in ("L0Learn", "abess")]
            print(
                f"| {n} x {p}, {rho} | {100 * np.mean(as_good):.1f} | {100 * np.mean(better):.1f} "
                f"| {ratios[0]:.2f} | {ratios[1]:.1f} |",
                flush=True,
            )


def grow():
    """How long 40 sizes take, against one product X.T @ v for each, and how that grows."""
    print("\nA frontier of 40 sizes on the paper's design\n")
    print("| n x p | ms | 10 sizes | 20 | 80 | 40, over 40 x (X.T @ v) |")
    print("|---|---|---|---|---|---|")
    for n, p in ((120, 100), (300, 200), (1000, 1000), (500, 5000), (1000, 50_000)):
        X, y, _ = make_collinear(n, p, random_state=0)
        X = np.asfortranarray(X)
        burst = range(1 if n * p > 1e7 else 5)
        taken = {}
        for size in (40, 10, 20, 80):
            taken[size] = min(timed(l0_frontier, X, y, max_size=size) for _ in burst)
        product = min(timed(np.dot, X.T, y) for _ in range(5))
        print(
            f"| {n} x {p} | {1e3 * taken[40]:.1f} | {1e3 * taken[10]:.1f} | {1e3 * taken[20]:.1f} "
            f"| {1e3 * taken[80]:.1f} | {taken[40] / (40 * product):.1f} |",
            flush=True,
        )


def timed(function, *arguments, **options):
    start = time.process_time()
    function(*arguments, **options)
    return time.process_time() - start


if __name__ == "__main__":
    compare()
    grow()
