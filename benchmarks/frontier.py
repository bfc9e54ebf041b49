"""The best support of every size against L0Learn's engine and abess.

Everyone gets centred y and centred columns of unit norm, and is judged by half the residual sum of
squares after least squares on its support; one thread, one process. For every size from 1 to 25 our
support is compared with the better of the two.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import time

import abess
import fastsparsegams
import numpy as np

from ellzero import l0_frontier

MAX_SIZE = 25
SEEDS = range(20)


def make_problem(seed, n, p, rho, snr):
    """Columns with correlation rho^|i-j|, ten coefficients +-U(.5, 1.5), var(Xb) = snr sigma^2."""
    rng = np.random.default_rng(seed)
    X = np.empty((n, p))
    X[:, 0] = rng.normal(size=n)
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * rng.normal(size=n)
    beta = np.zeros(p)
    beta[rng.choice(p, 10, replace=False)] = rng.uniform(0.5, 1.5, 10) * rng.choice([-1, 1], 10)
    signal = X @ beta
    y = signal + rng.normal(size=n) * np.sqrt(signal.var() / snr)
    X -= X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0), y - y.mean()


def by_ellzero(X, y):
    return l0_frontier(X, y, max_size=MAX_SIZE).supports


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


def main():
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
                    start = time.perf_counter()
                    supports = solver(X, y)
                    seconds[name] += time.perf_counter() - start
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


if __name__ == "__main__":
    main()
