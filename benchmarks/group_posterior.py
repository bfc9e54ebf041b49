"""The posterior over groups: how wide a slab for wide groups, data with nothing in them, heredity.

    python benchmarks/group_posterior.py slab       one variance per group, or one per column
    python benchmarks/group_posterior.py heredity   strong and weak heredity, and none
    python benchmarks/group_posterior.py time       against as many single columns

The slab was chosen on seeds 0 to 500; these are others. One thread.
"""

import sys
import time
import warnings
from itertools import combinations

import numpy as np
import pandas as pd

from ellzero import SpikeSlabRegressor
from ellzero.posterior._problems import GroupProblem

CHAINS = {"n_chains": 2, "n_draws": 400, "n_warmup": 200, "solver": "gibbs", "random_state": 0}


def noise(seed, n=100, p=20):
    """Groups of 1 to 4 columns, and a y that has nothing to do with them."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(p), rng.integers(1, 5, p))[:p]
    return rng.standard_normal((n, p)), rng.standard_normal(n), labels, []


def factors(seed, n=300, count=20, n_active=4, odd=False):
    """Factors of 2 to 8 levels; every level of the active ones has an effect, or one does."""
    rng = np.random.default_rng(seed)
    active = rng.choice(count, n_active, replace=False)
    y, columns, labels = rng.standard_normal(n), [], []
    for factor in range(count):
        levels = int(rng.integers(2, 9))
        level = rng.integers(0, levels, n)
        columns += [level == one for one in range(1, levels)]
        labels += [factor] * (levels - 1)
        if factor in active:
            effect = 0.35 * rng.standard_normal(levels)
            if odd:
                effect = 1.05 * (np.arange(levels) == rng.integers(levels))
            y = y + effect[level]
    return np.column_stack(columns).astype(float), y, np.array(labels), active


def numbers(seed, n=200, count=40, n_active=4, share=0.1):
    """Groups of 1 to 4 columns; each active one explains a tenth of what the noise does."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(count), rng.integers(1, 5, count))
    X, y = rng.standard_normal((n, labels.size)), rng.standard_normal(n)
    active = rng.choice(count, n_active, replace=False)
    for group in active:
        effect = rng.standard_normal(np.count_nonzero(labels == group))
        y = y + np.sqrt(share) * X[:, labels == group] @ (effect / np.linalg.norm(effect))
    return X, y, labels, active


def judge(case, seeds, shared):
    """Print false and true groups, the Brier score, and probabilities of inactive ones by width."""
    GroupProblem.shared = shared
    rows = []
    for seed in seeds:
        X, y, labels, active = case(seed)
        model = SpikeSlabRegressor(feature_groups=labels, **CHAINS).fit(X, y)
        widths = np.bincount(labels)
        for group, p in enumerate(model.group_probabilities_):
            rows.append((group in active, min(widths[group], 5), p))
    GroupProblem.shared = True
    true, width, p = (np.array(part) for part in zip(*rows, strict=True))
    null = " ".join(
        f"{p[~true & (width == w)].mean():.3f}" for w in range(1, 6) if (~true & (width == w)).any()
    )
    count, who = len(seeds), "group " if shared else "column"
    print(
        f"    per {who}: found {np.sum(true & (p > 0.5)) / count:.2f} of "
        f"{true.sum() / count:.0f}, false {np.sum(~true & (p > 0.5)) / count:.3f}, "
        f"Brier score {np.sum((p - true) ** 2) / count:.3f}; inactive of width 1, 2, .. : {null}"
    )


def slab():
    cases = {
        "noise, 100 x 20": (noise, range(1000, 1400)),
        "factors, every level": (factors, range(1000, 1100)),
        "factors, one odd level": (lambda seed: factors(seed, odd=True), range(1000, 1100)),
        "groups of numbers": (numbers, range(1000, 1100)),
    }
    for name, (case, seeds) in cases.items():
        print(name)
        for shared in (True, False):
            judge(case, seeds, shared)
    false = 0
    for seed in range(1000, 1400):
        X, y, _, _ = noise(seed)
        false += SpikeSlabRegressor(**CHAINS).fit(X, y).support_.size
    print(f"noise, as 20 single columns: false {false / 400:.3f}")


def products(seed, n=200, p=40):
    """Weak main effects and products of them, four of each, among 820."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.standard_normal((n, p)), columns=[f"x{j}" for j in range(p)])
    pairs = {f"{a}:{b}": X[a] * X[b] for a, b in combinations(X, 2)}
    X = pd.concat([X, pd.DataFrame(pairs)], axis=1)
    active = ["x0", "x1", "x2", "x3", "x0:x1", "x1:x2", "x2:x3", "x0:x3"]
    effects = np.repeat([0.25, 0.6], 4) * rng.choice([-1, 1], 8)
    return X, X[active].to_numpy() @ effects + rng.standard_normal(n), active


def heredity():
    for rule in (None, "weak", "strong"):
        found, false, unmixed, seconds = [], [], 0, 0.0
        for seed in range(1000, 1020):
            X, y, active = products(seed)
            model = SpikeSlabRegressor(heredity=rule, random_state=0)
            start = time.perf_counter()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.fit(X, y)
            seconds += time.perf_counter() - start
            unmixed += len(caught)
            names = set(model.get_feature_names_out())
            found.append(len(names & set(active)))
            false.append(len(names - set(active)))
        print(
            f"{rule!s:6}: found {np.mean(found):.2f} of 8, false {np.mean(false):.2f}, warned of "
            f"{unmixed} of 20, {seconds / 20:.1f} s each"
        )


def ratios():
    for n, count, width in ((200, 100, 4), (500, 500, 2), (1000, 200, 5)):
        rng = np.random.default_rng(0)
        labels = np.repeat(np.arange(count), width)
        X = rng.standard_normal((n, labels.size))
        y = X[:, : 8 * width] @ (0.5 * rng.standard_normal(8 * width)) + rng.standard_normal(n)
        seconds = []
        for groups in (labels, None):
            start = time.perf_counter()
            SpikeSlabRegressor(feature_groups=groups, random_state=0).fit(X, y)
            seconds.append(time.perf_counter() - start)
        print(f"n = {n}, {count} groups of {width}: {seconds[0] / seconds[1]:.1f} times columns'")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    {"slab": slab, "heredity": heredity, "time": ratios}[sys.argv[1]]()
