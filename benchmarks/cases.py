"""Fits of every kind, by name: what compare.py times and bits.py takes the bits of.

Each case is a function without arguments that fits and returns arrays. Only public names are used,
so that the same cases run on any version of the package.
"""

import warnings

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.model_selection import KFold, LeaveOneOut

from ellzero import (
    BayesianBridgeRegressor,
    BernoulliGaussian,
    HorseshoeRegressor,
    L0Regressor,
    L0RegressorCV,
    SpikeSlabRegressor,
    l0_frontier,
    marginal_map,
    segment,
    segment_path,
)
from ellzero.datasets import load_diabetes_interactions, make_collinear, make_spikes
from ellzero.shrinkage import EmpiricalTweedie

__all__ = ["bits_cases", "make_measurements", "make_steps", "measure", "speed_cases"]


def _designs():
    """Return tables of several kinds, small enough for hundreds of fits."""
    rng = np.random.default_rng(0)
    out = {}
    for seed, (n, p) in enumerate([(120, 100), (60, 30), (40, 90), (300, 12)]):
        out[f"collinear {n}x{p}"] = make_collinear(n, p, random_state=seed)[:2]
    X, y = out["collinear 60x30"]
    out["float32"] = (X.astype(np.float32), y)
    out["rows first"] = (np.ascontiguousarray(X), y)
    out["columns first"] = (np.asfortranarray(X), y)
    thinned = X * (rng.random(X.shape) < 0.3)
    out["sparse"] = (sparse.csc_array(thinned), y)
    out["frame"] = (pd.DataFrame(X, columns=[f"x{j}" for j in range(30)]), y)
    hostile = X.copy()
    hostile[:, 3] = 7.0
    hostile[:, 5] = hostile[:, 4]
    hostile[:, 6] = hostile[:, 4] + 1e-7 * rng.normal(size=60)
    out["hostile"] = (hostile * 10.0 ** rng.integers(-8, 9, size=30) + 5, 1e5 + y)
    binary = rng.integers(0, 2, size=(30, 10)).astype(float)
    out["binary"] = (binary, rng.integers(0, 4, size=30).astype(float))
    diabetes = load_diabetes_interactions()
    out["diabetes"] = (diabetes.data, diabetes.target)
    return out


def _weights(n):
    return np.random.default_rng(n).integers(0, 4, size=n).astype(float)


def _fitted(model):
    names = ("coef_", "intercept_", "support_", "lam_", "objective_", "n_iter_", "max_size_")
    return [getattr(model, name) for name in names if hasattr(model, name)]


def _l0(X, y, weights, **parameters):
    return lambda: _fitted(L0Regressor(**parameters).fit(X, y, weights))


def _cv(X, y, weights, **parameters):
    def run():
        model = L0RegressorCV(**parameters).fit(X, y, weights)
        return [*_fitted(model), *model.cv_results_.values()]

    return run


def _frontier(X, y, weights, **parameters):
    def run():
        found = l0_frontier(X, y, sample_weight=weights, **parameters)
        middle = int(found.sizes[len(found.sizes) // 2])
        tables = [found.stand_ins(middle), found.neighbours(middle)]
        numbers = [table.select_dtypes("number").to_numpy() for table in tables]
        return [found.energies, found.lambdas, found.hull_sizes, *found.supports, *numbers]

    return run


def _posterior(X, y, weights, kind=SpikeSlabRegressor, **parameters):
    def run():
        model = kind(**parameters).fit(X, y, weights)
        draws = [v for v in vars(model.draws_).values() if isinstance(v, np.ndarray)]
        out = [model.coef_, model.intercept_, *draws]
        if hasattr(model, "inclusion_probabilities_"):
            out.append(model.inclusion_probabilities_)
        return out

    return run


def _mode(X, y, weights, **parameters):
    def run():
        sigma_e = 0.3 * float(np.std(y))
        prior = BernoulliGaussian(theta=0.1, sigma_beta=float(np.std(y)) * np.sqrt(len(y)))
        found = marginal_map(X, y, prior, sigma_e, sample_weight=weights, **parameters)
        return [v for v in vars(found).values() if isinstance(v, (np.ndarray, float))]

    return run


def _series():
    rng = np.random.default_rng(5)
    steps = np.repeat(rng.normal(size=20), 25) + 0.2 * rng.normal(size=500)
    gaps = steps.copy()
    gaps[rng.random(500) < 0.1] = np.nan
    spikes = make_spikes(random_state=0)
    return {"steps": steps, "gaps": gaps, "spikes": spikes.y if hasattr(spikes, "y") else spikes[0]}


def bits_cases():
    """Return some hundred small cases of everything that is fitted, by name."""
    cases = {}
    for name, (X, y) in _designs().items():
        n = X.shape[0]
        for weighted in (False, True):
            w = _weights(n) if weighted else None
            tag = f"{name}{', weighted' * weighted}"
            for lam in ("ebic", "bic", 0.02 * float(np.sum((y - y.mean()) ** 2))):
                for solver in ("frontier", "sbr"):
                    cases[f"l0 {lam} {solver}: {tag}"] = _l0(X, y, w, lam=lam, solver=solver)
            cases[f"l0 ridge, forced: {tag}"] = _l0(X, y, w, ridge=0.1, always_include=[1, 4])
            cases[f"l0 no intercept: {tag}"] = _l0(X, y, w, fit_intercept=False)
            cases[f"frontier: {tag}"] = _frontier(X, y, w, max_size=15)
            cases[f"frontier, no swaps: {tag}"] = _frontier(X, y, w, swaps=False, ridge=0.01)
            for solver in ("frontier", "sbr"):
                cases[f"cv {solver}: {tag}"] = _cv(X, y, w, cv=KFold(5), solver=solver, n_jobs=2)
            cases[f"cv 1se, ridges: {tag}"] = _cv(
                X, y, w, cv=KFold(4), rule="1se", ridge=[0.0, 0.1]
            )
            cases[f"cv nested: {tag}"] = _cv(X, y, w, cv=KFold(3), nested=True, max_size=6)
            few = {"n_draws": 40, "n_warmup": 20, "n_chains": 2, "random_state": 1}
            for slab in ("gaussian", "laplace", "zellner", "boom"):
                cases[f"gibbs {slab}: {tag}"] = _posterior(
                    X, y, w, slab=slab, solver="gibbs", **few
                )
            cases[f"tempered: {tag}"] = _posterior(X, y, w, solver="tempered", **few)
            cases[f"mode: {tag}"] = _mode(X, y, w)
            for kind in (BayesianBridgeRegressor, HorseshoeRegressor):
                cases[f"{kind.__name__}: {tag}"] = _posterior(X, y, w, kind, **few)
    X, y = _designs()["binary"]
    cases["enumerate"] = _posterior(X, y, None, solver="enumerate", random_state=0)
    for name, y in _series().items():
        for decay in (1.0, 0.95):
            for jumps in ("free", "positive"):
                cases[f"segment {decay} {jumps}: {name}"] = lambda y=y, d=decay, j=jumps: [
                    (found := segment(y, 0.5, decay=d, jumps=j)).changepoints,
                    found.signal,
                    found.objective,
                ]
        cases[f"segment_path: {name}"] = lambda y=y: [segment_path(y[:300]).lambdas]
    return cases


def measure(n, seed=0):
    """Return six measurements of the same things, three categories, and what they are worth.

    Some measurements are nearly determined by others, and the response multiplies them: what a
    table of diamonds is like.
    """
    rng = np.random.default_rng(seed)
    weight = np.exp(rng.normal(-0.4, 0.6, n)).clip(0.2, 5)
    length = 6.5 * np.cbrt(weight) * (1 + 0.005 * rng.normal(size=n))
    width = length * (1 + 0.004 * rng.normal(size=n))
    depth, table = 61.7 + 1.4 * rng.normal(size=n), 57 + 2 * rng.normal(size=n)
    height = depth / 100 * (length + width) / 2
    numbers = np.column_stack([weight, depth, table, length, width, height]).round(2)
    levels = [rng.choice(k, size=n, p=rng.dirichlet(np.full(k, 5.0))) for k in (5, 7, 8)]
    logs = 1.7 * np.log(weight) + 0.1 * (levels[0] > 0) - 0.06 * levels[1] + 0.08 * levels[2]
    return numbers, levels, np.exp(8.4 + logs + 0.13 * rng.normal(size=n))


def make_measurements(n, seed=0):
    """Return the same as 240 columns, all products of two among them, and the response."""
    numbers, levels, y = measure(n, seed)
    blocks = [numbers[:, [j]] - numbers[:, j].mean() for j in range(6)]
    blocks += [(of[:, None] == np.arange(1, of.max() + 1)).astype(float) for of in levels]
    columns = blocks + [block**2 for block in blocks[:6]]
    for i, one in enumerate(blocks):
        for other in blocks[i + 1 :]:
            columns.append((one[:, :, None] * other[:, None, :]).reshape(n, -1))
    return np.column_stack(columns), y


def make_steps(n, segments, seed=0):
    """Return a series of steps in white noise."""
    rng = np.random.default_rng(seed)
    levels = np.repeat(2 * rng.normal(size=segments), n // segments + 1)[:n]
    return levels + rng.normal(size=n)


def _corners():
    """Return what is slow unless it is taken care of."""
    X, y, beta = make_collinear(120, 100, random_state=0)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(100)])
    lam = float(((y - X @ beta) ** 2).mean() * np.log(100))
    one_out, its_y, _ = make_collinear(200, 80, random_state=0)
    measured, price = make_measurements(3000)
    steps = make_steps(10_000, 160)
    rng = np.random.default_rng(0)
    apart = rng.uniform(-100, 100, 10_000) + rng.normal(size=10_000)
    return {
        "SBR, frame of 120x100": lambda: L0Regressor(lam, solver="sbr").fit(frame, y),
        "ten folds to 240, measurements 3000x240": lambda: L0RegressorCV(
            n_repeats=1, max_size=240
        ).fit(measured, price),
        "leave one out, 200x80": lambda: L0RegressorCV(cv=LeaveOneOut()).fit(one_out, its_y),
        "segment_path, 10,000": lambda: segment_path(steps, noise="white", n_jobs=1),
        "EmpiricalTweedie, 10,000 over 200 sigma": lambda: EmpiricalTweedie(1.0).fit(apart),
    }


def speed_cases():
    """Return the cases whose times are compared, by name."""
    X, y, _ = make_collinear(120, 100, random_state=0)
    large, target, _ = make_collinear(500, 1000, random_state=0)
    wide, response, _ = make_collinear(200, 5000, random_state=0)
    thin = sparse.random_array(
        (2000, 400), density=0.05, rng=np.random.default_rng(0), format="csc"
    )
    thin_y = np.asarray(thin[:, [0]].todense()).ravel() + np.random.default_rng(1).normal(size=2000)
    draws = {"n_draws": 500, "n_warmup": 200, "n_chains": 2, "random_state": 0}
    return {
        "SBR, 120x100": lambda: L0Regressor(0.05, solver="sbr").fit(X, y),
        "SBR, 500x1000": lambda: L0Regressor(0.05, solver="sbr").fit(large, target),
        "SBR, 200x5000": lambda: L0Regressor(0.05, solver="sbr").fit(wide, response),
        "frontier of 40, 120x100": lambda: l0_frontier(X, y),
        "frontier of 20, 500x1000": lambda: l0_frontier(large, target, max_size=20),
        "frontier of 20, 200x5000": lambda: l0_frontier(wide, response, max_size=20),
        "frontier of 20, sparse 2000x400": lambda: l0_frontier(thin, thin_y, max_size=20),
        "ten folds, 120x100": lambda: L0RegressorCV(cv=KFold(10)).fit(X, y),
        "ten folds, 500x1000": lambda: L0RegressorCV(cv=KFold(10), max_size=30).fit(large, target),
        "ten folds of SBR, 120x100": lambda: L0RegressorCV(cv=KFold(10), solver="sbr").fit(X, y),
        "Gibbs, 120x100": lambda: SpikeSlabRegressor(solver="gibbs", **draws).fit(X, y),
        "Gibbs, boom, 120x100": lambda: SpikeSlabRegressor(slab="boom", **draws).fit(X, y),
        "Gibbs, 500x1000": lambda: SpikeSlabRegressor(solver="gibbs", **draws).fit(large, target),
        "tempered, 120x100": lambda: SpikeSlabRegressor(solver="tempered", **draws).fit(X, y),
        "enumeration, 16 columns": lambda: SpikeSlabRegressor().fit(X[:, :16], y),
        "bridge, 120x100": lambda: BayesianBridgeRegressor(**draws).fit(X, y),
        **_corners(),
    }


warnings.simplefilter("ignore")  # what is warned of is not the question here
