"""The horseshoe and the bridge where columns are many: effective draws per second of processor.

Of the slowest-mixing coefficient, of tau and of sigma_e, at 100 x 1000: five true effects of .4 to
2 standard deviations of the noise, columns independent or autoregressive. Four chains, one thread.
Seeds below 10 were used to choose between samplers, the others are for reports.

    python benchmarks/horseshoe.py [--seeds 10 11] [--draws 1500]
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import time
import warnings

import numpy as np
from arviz_stats.base import array_stats

from ellzero import BayesianBridgeRegressor, HorseshoeRegressor

N, P = 100, 1000
SIZES = np.array([0.4, 0.6, 0.8, 1.2, 2.0])
CORRELATIONS = {"independent": 0.0, "AR(.5)": 0.5, "AR(.9)": 0.9}
MODELS = {
    "horseshoe": HorseshoeRegressor(),
    "regularised horseshoe": HorseshoeRegressor(regularised=True),
    "bridge": BayesianBridgeRegressor(),
}


def make_table(rho, seed):
    """Columns of unit variance, neighbours correlated by rho, and a response."""
    rng = np.random.default_rng([seed, 77])
    X = rng.standard_normal((N, P))
    for j in range(1, P):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    beta = np.zeros(P)
    beta[rng.choice(P, SIZES.size, replace=False)] = rng.choice([-1, 1], SIZES.size) * SIZES
    return X, X @ beta + rng.standard_normal(N)


def effective(draws):
    return float(array_stats.ess(draws, method="bulk"))


def measure(model, X, y):
    """Milliseconds an iteration, and effective draws a second of three things."""
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    draws = model.draws_
    shape = draws.n_chains, draws.n_draws
    each = seconds / (shape[0] * (shape[1] + model.n_warmup))
    coef = draws.coef.reshape(*shape, -1)
    slowest = min(effective(coef[:, :, j]) for j in range(coef.shape[2]))
    total = each * shape[0] * shape[1]
    rest = [effective(values.reshape(shape)) for values in (draws.tau, draws.sigma_e)]
    return 1e3 * each, *(ess / total for ess in (slowest, *rest))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 11])
    parser.add_argument("--draws", type=int, default=1500)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| sampler | design | seed | ms an iteration | slowest coefficient | tau | sigma_e |")
    print("|---|---|---|---|---|---|---|")
    for name, model in MODELS.items():
        for design, rho in CORRELATIONS.items():
            for seed in arguments.seeds:
                X, y = make_table(rho, seed)
                model.set_params(n_draws=arguments.draws, random_state=seed + 1)
                each, *rates = measure(model, X, y)
                row = " | ".join(f"{rate:.1f}" for rate in rates)
                print(f"| {name} | {design} | {seed} | {each:.2f} | {row} |", flush=True)


if __name__ == "__main__":
    main()
