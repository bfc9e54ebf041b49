"""The same bits in other processes, other threads, and with any number of threads."""

import hashlib
import multiprocessing
import os
import subprocess
import sys
import warnings
from multiprocessing.pool import ThreadPool

import joblib
import numpy as np

from ellzero import (
    BayesianBridgeRegressor,
    HorseshoeRegressor,
    L0Regressor,
    L0RegressorCV,
    SpikeSlabRegressor,
    l0_frontier,
    segment_path,
)
from fuzz import hostile


def fit_bits(seed):
    """Fit something, and return a digest of its numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _fit_bits(seed)


def _fit_bits(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 150)), int(rng.integers(2, 200))
    X = hostile.columns(rng, n, p)
    y = X[:, 0] + X[:, -1] + 10 ** rng.uniform(-3, 0.5) * rng.normal(size=n)
    few = {"n_draws": 30, "n_warmup": 20, "n_chains": 3, "n_jobs": 2, "random_state": 0}
    kind = rng.integers(8)
    if kind == 0:
        parts = [l0_frontier(X, y, max_size=12).energies]
    elif kind == 7:
        path = segment_path(y, 0.2)
        parts = [path.lambdas, path.losses]
    else:
        model = [
            L0Regressor(max_size=12),
            L0RegressorCV(cv=4, max_size=8, n_jobs=2),
            SpikeSlabRegressor(solver="gibbs", **few),
            SpikeSlabRegressor(solver="gibbs", slab="laplace", **few),
            BayesianBridgeRegressor(**few),
            HorseshoeRegressor(**few),
        ][kind - 1].fit(X, y)
        parts = [model.coef_, np.array([model.intercept_])]
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def check_processes(rng):
    """Pools of all kinds, and threads that share the classes."""
    seeds = [int(seed) for seed in rng.integers(0, 2**31, 6)]
    expected = [fit_bits(seed) for seed in seeds]
    with ThreadPool(4) as pool:
        assert pool.map(fit_bits, seeds) == expected, f"threads, seeds {seeds}"
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(fit_bits, seeds) == expected, f"{method}, seeds {seeds}"
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(fit_bits)(seed) for seed in seeds)
    assert found == expected, f"loky, seeds {seeds}"


def check_threads(rng):
    """OMP_NUM_THREADS of 1 and 3."""
    seeds = [int(seed) for seed in rng.integers(0, 2**31, 8)]
    program = f"""
from fuzz.processes import fit_bits
print([fit_bits(seed) for seed in {seeds}])
"""
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    found = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**here, "OMP_NUM_THREADS": str(threads)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in (1, 3)
    ]
    assert found[0] == found[1], f"seeds {seeds}: {found}"
