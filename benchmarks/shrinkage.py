"""Shrinkage: posterior means against log_ndtr, proximal operators against np.where, and the
discrete first-order algorithm against abess and the frontier.

Everything is a ratio measured in one process on one thread, the two sides taking turns; the last
table needs abess: pip install -r benchmarks/requirements.txt.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import time

import numpy as np
from scipy.special import log_ndtr

from ellzero import l0_frontier
from ellzero.datasets import make_collinear
from ellzero.shrinkage import (
    L0,
    L1,
    MCP,
    SCAD,
    BernoulliGaussian,
    BernoulliLaplace,
    EmpiricalTweedie,
    Horseshoe,
    KSparse,
    LeastSquares,
    Lq,
    NormalMixture,
    SpikeSlabLasso,
    discrete_first_order,
    fit_prior,
)

N = 1_000_000


def best_of(functions, turns=9):
    """Least time of each, in turns."""
    least = dict.fromkeys(functions, np.inf)
    for _ in range(turns):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            least[name] = min(least[name], time.perf_counter() - start)
    return least


def posterior_means():
    print(f"posterior_mean of {N:,} points, over scipy.special.log_ndtr\n")
    table_head("prior", "ratio")
    rng = np.random.default_rng(0)
    for spread in (1.0, 3.0, 100.0):
        y = spread * rng.normal(size=N)
        priors = [BernoulliGaussian(0.1, 3.0), BernoulliLaplace(0.1, 3.0)]
        if spread == 3:
            priors += [SpikeSlabLasso(0.1, 0.1, 3.0), NormalMixture([0.9, 0.1], [0.0, 3.0])]
        functions = {"unit": lambda y=y: log_ndtr(y)}
        for prior in priors:
            functions[type(prior).__name__] = lambda p=prior, y=y: p.posterior_mean(y)
        times = best_of(functions)
        for name in list(times)[1:]:
            print(f"| {name}, y ~ N(0, {spread:g}^2) | {times[name] / times['unit']:.2f} |")
    y = 3 * rng.normal(size=10_000)
    times = best_of(
        {"unit": lambda: log_ndtr(y), "horseshoe": lambda: Horseshoe(0.1).posterior_mean(y)}
    )
    print(f"| Horseshoe, 10,000 points | {times['horseshoe'] / times['unit']:.0f} |")


def proximal_operators():
    print(f"\nprox of {N:,} points, over np.where(mask, x, 0.0)\n")
    table_head("penalty", "ratio")
    x = 2 * np.random.default_rng(0).normal(size=N)
    mask = np.abs(x) > 1
    penalties = [L0(1.0), L1(1.0), SCAD(1.0), MCP(1.0), KSparse(1000), Lq(1.0, 0.5), Lq(1.0, 0.3)]
    functions = {"unit": lambda: np.where(mask, x, 0.0)}
    for penalty in penalties:
        functions[repr(penalty)] = lambda p=penalty: p.prox(x, 0.5)
    times = best_of(functions)
    for name in list(times)[1:]:
        print(f"| {name} | {times[name] / times['unit']:.2f} |")


def empirical_bayes():
    print(f"\nEmpirical Bayes on {N:,} observations: seconds, and risk over the Bayes risk\n")
    table_head("what", "data", "noise", "seconds", "risk / Bayes risk", "gap", "binning error")
    rng = np.random.default_rng(0)
    slabs = {
        "bernoulli-gaussian": (rng.normal(size=N), BernoulliGaussian(0.1, 3.0)),
        "bernoulli-laplace": (rng.laplace(size=N) / np.sqrt(2), BernoulliLaplace(0.1, 3.0)),
    }
    for family, (slab, prior) in slabs.items():
        beta = np.where(rng.random(N) < 0.1, 3 * slab, 0.0)
        y = beta + rng.normal(size=N)
        risk = prior.bayes_risk()
        for noise in (1.0, None):
            word = "known" if noise else "estimated"
            start = time.perf_counter()
            fitted = fit_prior(y, family, sigma_e=noise)
            taken = time.perf_counter() - start
            mine = ((fitted.prior.posterior_mean(y, sigma_e=fitted.sigma_e) - beta) ** 2).mean()
            print(f"| fit_prior | {family} | {word} | {taken:.1f} | {mine / risk:.3f} | | |")
            start = time.perf_counter()
            rule = EmpiricalTweedie(noise).fit(y)
            taken = time.perf_counter() - start
            mine = ((rule.posterior_mean(y) - beta) ** 2).mean()
            print(
                f"| EmpiricalTweedie | {family} | {word} | {taken:.1f} | {mine / risk:.3f} "
                f"| {rule.gap_:.1e} | {rule.binning_error_:.1e} |"
            )


def subsets(n=500, p=5000, k=20):
    print(
        f"\nBest subset of size {k}, n={n}, p={p}: 1/2 RSS after a refit, seconds, true columns\n"
    )
    try:
        from abess import LinearRegression
    except ImportError:
        LinearRegression = None
        print("(abess is not installed)\n")
    table_head("design", "method", "1/2 RSS", "seconds", f"true of {k}")
    values = np.r_[-np.arange(1, k // 2 + 1), np.arange(1, k // 2 + 1)]
    for n_factors in (5, 0):
        X, y, beta = make_collinear(n, p, n_factors=n_factors, coefficients=values, random_state=3)
        y = y - y.mean()
        true = set(np.flatnonzero(beta))
        loss = LeastSquares(X, y)

        def first_order(starts, step, loss=loss):
            found = discrete_first_order(loss, k, n_starts=starts, step=step, random_state=0)
            return found.support

        methods = {
            "discrete_first_order, 1 start": lambda: first_order(1, "backtracking"),
            "discrete_first_order, 10 starts": lambda: first_order(10, "backtracking"),
            "as published: steps of 1/L, 1 start": lambda: first_order(1, "lipschitz"),
            "l0_frontier": lambda X=X, y=y: l0_frontier(X, y, max_size=k).at(size=k).support,
        }
        if LinearRegression is not None:
            methods["abess"] = lambda X=X, y=y: np.flatnonzero(
                LinearRegression(support_size=k, fit_intercept=False)
                .fit(X, y, is_normal=False)
                .coef_
            )
        design = f"{n_factors} factors" if n_factors else "independent columns"
        for name, method in methods.items():
            taken = np.inf
            for _ in range(2):
                start = time.perf_counter()
                support = np.asarray(method())
                taken = min(taken, time.perf_counter() - start)
            energy = loss.value(loss.refit(support))
            found = len(true & set(support))
            print(f"| {design} | {name} | {energy:.3f} | {taken:.2f} | {found} |", flush=True)


def table_head(*names):
    print("| " + " | ".join(names) + " |")
    print("|---" * len(names) + "|", flush=True)


if __name__ == "__main__":
    posterior_means()
    proximal_operators()
    empirical_bayes()
    subsets()
