"""How long proofs take, and against el0ps and Gurobi where these are installed.

Everyone gets centred y and centred columns of unit norm; one process, one thread; runs of one
problem follow each other. Our time includes the frontier. The price is the one that EBIC chooses,
or a part of it. A run that does not end counts as its limit. At the end: how often the frontier
turned out to be the optimum, over all problems that were proved.

    pip install el0ps mpich gurobipy
    python benchmarks/exact.py                    everything, 10 seeds: an hour or two
    python benchmarks/exact.py --seeds 3 --limit 20 --only paper
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import importlib.util
import time
from typing import NamedTuple

import numpy as np
from sparse_problems import autoregressive

from ellzero import l0_frontier
from ellzero.datasets import load_diabetes_interactions, make_collinear


class Run(NamedTuple):
    seconds: float
    proved: bool
    gap: float
    objective: float


def paper(n, p):
    return lambda seed: make_collinear(n, p, random_state=seed)[:2]


def ar(n, p, rho):
    return lambda seed: autoregressive(seed, n, p, rho)


# name, what draws it, ridge, share of EBIC's price, peers
DESIGNS = [
    ("paper 300x200", paper(300, 200), 0.0, 1.0, ()),
    ("paper 120x100", paper(120, 100), 0.0, 1.0, ("gurobi",)),
    ("paper 120x100, a third", paper(120, 100), 0.0, 1 / 3, ()),
    ("AR(.9) 200x100", ar(200, 100, 0.9), 0.0, 1.0, ("gurobi",)),
    ("AR(.9) 200x100, ridge .1", ar(200, 100, 0.9), 0.1, 1.0, ("el0ps",)),
    ("paper 120x100, ridge .1", paper(120, 100), 0.1, 1.0, ("el0ps",)),
    ("paper 300x200, ridge .1", paper(300, 200), 0.1, 1.0, ("el0ps",)),
    ("paper 500x1000, ridge .1", paper(500, 1000), 0.1, 1.0, ("el0ps",)),
    ("AR(.5) 500x1000, ridge .1", ar(500, 1000, 0.5), 0.1, 1.0, ("el0ps",)),
    ("paper 200x5000, ridge .1", paper(200, 5000), 0.1, 1.0, ("el0ps",)),
]


def prepared(X, y):
    X = X - X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0), y - y.mean()


def price_of(X, y, ridge):
    """Return EBIC's own price: the middle of the interval of the model it chooses."""
    frontier = l0_frontier(X, y, max_size=25, ridge=ridge)
    model = frontier.at(criterion="ebic")
    ends = model.interval
    if ends is None:
        return None
    return float(np.sqrt(ends[0] * ends[1]))


def by_ellzero(X, y, lam, ridge, limit, gap):
    start = time.perf_counter()
    frontier = l0_frontier(X, y, max_size=20, ridge=ridge)
    frontier.grow(lam=lam)
    model = frontier.at(lam=lam)
    before = model.energy + lam * model.support.size
    certificate = frontier.certify(lam=lam, time_limit=limit, gap=gap)
    seconds = time.perf_counter() - start
    share = 1.0 if certificate.gap is None else certificate.gap
    run = Run(seconds, certificate.proved, share, certificate.objective)
    optimal = certificate.objective >= before * (1 - 1e-9)
    return run, certificate.nodes, optimal


def by_el0ps(X, y, lam, ridge, limit):
    from el0ps.datafit import Leastsquares
    from el0ps.penalty import L2norm
    from el0ps.solver import BnbSolver

    solver = BnbSolver(relative_gap=1e-6, time_limit=limit, verbose=False)
    start = time.perf_counter()
    result = solver.solve(Leastsquares(y), L2norm(ridge / 2), np.asfortranarray(X), lam)
    seconds = time.perf_counter() - start
    proved = str(result.status).endswith("optimal")
    return Run(seconds, proved, float("nan"), float(result.objective_value))


def by_gurobi(X, y, lam, ridge, limit):
    """As a mixed-integer quadratic program; a column that is out has a coefficient of zero."""
    import gurobipy as gp

    p = X.shape[1]
    gram, c = X.T @ X + ridge * np.eye(p), X.T @ y
    with gp.Env(params={"OutputFlag": 0}) as env, gp.Model(env=env) as model:
        model.Params.Threads, model.Params.TimeLimit, model.Params.MIPGap = 1, limit, 1e-6
        b = model.addMVar(p, lb=-gp.GRB.INFINITY)
        z = model.addMVar(p, vtype=gp.GRB.BINARY)
        for j in range(p):
            model.addGenConstrIndicator(z[j].item(), False, b[j].item() == 0)
        objective = 0.5 * (b @ gram @ b) - c @ b + lam * z.sum()
        model.setObjective(objective)
        model.Params.Cutoff = by_ellzero(X, y, lam, ridge, 0.0, 0.0)[0].objective - y @ y / 2 + 1e-6
        start = time.perf_counter()
        model.optimize()
        seconds = time.perf_counter() - start
        proved = model.Status in (gp.GRB.OPTIMAL, gp.GRB.CUTOFF)
        bound = model.ObjBound + y @ y / 2
        best = model.Params.Cutoff + y @ y / 2
        return Run(seconds, proved, (best - bound) / best, best)


PEERS = {"el0ps": by_el0ps, "gurobi": by_gurobi}
MODULES = {"el0ps": "el0ps", "gurobi": "gurobipy"}


def summary(runs, limit):
    times = [run.seconds if run.proved else max(limit, run.seconds) for run in runs]
    worst = max((run.gap for run in runs if not run.proved), default=0.0)
    return (
        f"{sum(run.proved for run in runs):2d} of {len(runs)} proved, median "
        f"{np.median(times):7.3f} s, worst {max(times):7.3f} s, largest gap {worst:.2%}"
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    limit = arguments.limit
    optimal = total = 0
    for name, draw, ridge, share, peers in DESIGNS:
        if arguments.only not in name:
            continue
        peers = [peer for peer in peers if importlib.util.find_spec(MODULES[peer])]
        ours, nodes, theirs = [], [], {peer: [] for peer in peers}
        for seed in range(arguments.seeds):
            X, y = prepared(*draw(seed))
            lam = price_of(X, y, ridge)
            if lam is None:
                continue
            lam *= share
            run, many, best = by_ellzero(X, y, lam, ridge, limit, 1e-6 if ridge else 0.0)
            ours.append(run)
            nodes.append(many)
            if run.proved:
                total, optimal = total + 1, optimal + best
            for peer in peers:
                if not theirs[peer]:  # compile, outside the clock
                    PEERS[peer](X[:, :20], y, lam, ridge, 5.0)
                theirs[peer].append(PEERS[peer](X, y, lam, ridge, limit))
        print(f"{name:28s} {summary(ours, limit)}, {int(np.median(nodes))} nodes", flush=True)
        for peer, runs in theirs.items():
            mine = np.array([r.seconds if r.proved else limit for r in ours])
            other = np.array([r.seconds if r.proved else limit for r in runs])
            times = f"median ratio to ours {np.median(other / mine):.1f}"
            print(f"{'':6s}{peer:22s} {summary(runs, limit)}, {times}", flush=True)
    if arguments.only in "diabetes":
        diabetes = load_diabetes_interactions()
        for what in ({"max_size": 11}, {"lam": 5_000.0}):
            start = time.perf_counter()
            frontier = l0_frontier(diabetes.data, diabetes.target, max_size=12)
            certificate = frontier.certify(**what, time_limit=limit)
            seconds = time.perf_counter() - start
            print(f"diabetes {what}: {certificate}, {seconds:.2f} s", flush=True)
    print(f"the frontier had the optimum in {optimal} of {total} problems that were proved")


if __name__ == "__main__":
    main()
