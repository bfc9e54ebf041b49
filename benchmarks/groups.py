"""Groups of columns against abess and adelie; heredity; whole factors against their levels.

    python benchmarks/groups.py sizes      the best of each size, and the time, against abess
    python benchmarks/groups.py choice     what EBIC chooses, against abess's and adelie's CV
    python benchmarks/groups.py heredity   what strong heredity finds, and what it costs
    python benchmarks/groups.py factors    whole factors, or one level at a time
    python benchmarks/groups.py classes    sizes and choice for two classes, against abess's

One thread. adelie needs an older numpy, so it runs in a process of its own: ADELIE_PYTHON is a
Python that has it; without one it is left out. Nothing was tuned on these seeds.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import pickle
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from ellzero import L0Classifier, L0ClassifierCV, L0Regressor, L0RegressorCV, l0_frontier

MAX_SIZE = 15
BURST = 3  # calls of which the quickest counts
SEEDS = range(1000, 1020)

ADELIE = """
import pickle, sys
import adelie as ad, numpy as np
with open(sys.argv[1], "rb") as file:
    problems = pickle.load(file)
found = []
for X, y, labels in problems:
    starts = np.flatnonzero(np.r_[True, np.diff(labels) != 0])
    X = np.asfortranarray((X - X.mean(0)) / X.std(0))
    cv = ad.cv_grpnet(X=X, glm=ad.glm.gaussian(y), groups=starts, n_folds=10, seed=0,
                      progress_bar=False, n_threads=1)
    state = cv.fit(X=X, glm=ad.glm.gaussian(y), groups=starts, progress_bar=False, n_threads=1)
    beta = state.betas[-1].toarray().ravel()
    found.append(np.unique(labels[beta != 0]).tolist())
with open(sys.argv[2], "wb") as file:
    pickle.dump(found, file)
"""


def correlated(seed, n, widths, n_active=8, rho=0.5, snr=3.0):
    """Return columns that share a factor, groups of the given widths, some of them active."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(widths)), widths)
    shared = np.sqrt(rho) * rng.standard_normal((n, 1))
    X = shared + np.sqrt(1 - rho) * rng.standard_normal((n, labels.size))
    active = rng.choice(len(widths), n_active, replace=False)
    signal = X @ np.where(np.isin(labels, active), rng.standard_normal(labels.size), 0.0)
    y = signal + signal.std() / np.sqrt(snr) * rng.standard_normal(n)
    return np.asfortranarray(X), y, labels, set(active.tolist())


def dummies(seed, n, n_factors, n_active=8, snr=1.0, odd=False, most=8):
    """Return factors as dummies; of the active ones every level has an effect, or one odd one."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(2, most, n_factors) + (1 if odd else 0)
    columns, labels, coefficients = [], [], []
    active = set(rng.choice(n_factors, n_active, replace=False).tolist())
    for unit, count in enumerate(levels):
        code = rng.integers(0, count, n)
        columns += [code == level for level in range(1, count)]
        labels += [unit] * (count - 1)
        effect = np.zeros(count - 1)
        if unit in active and odd:
            effect[rng.integers(count - 1)] = rng.choice([-1.5, 1.5])
        elif unit in active:
            effect = rng.standard_normal(count - 1)
        coefficients.append(effect)
    X = np.asfortranarray(np.column_stack(columns).astype(float))
    signal = X @ np.concatenate(coefficients)
    y = signal + signal.std() / np.sqrt(snr) * rng.standard_normal(n)
    return X, y, np.array(labels), active


PROBLEMS = {
    "50 x 4, n = 200": lambda seed: correlated(seed, 200, [4] * 50),
    "200 x 4, n = 200": lambda seed: correlated(seed, 200, [4] * 200),
    "100 of 1 to 6, n = 200": lambda seed: correlated(
        seed, 200, np.random.default_rng(seed).integers(1, 7, 100)
    ),
    "100 factors, n = 1000": lambda seed: dummies(seed, 1000, 100),
}


def energy(X, y, columns):
    A = np.column_stack([np.ones(len(y)), X[:, columns]])
    rest = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    return 0.5 * rest @ rest


def quickest(work):
    times = []
    for _ in range(BURST):
        begin = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - begin)
    return min(times), result


def by_abess(X, y, labels, sizes, **options):
    from abess import LinearRegression

    return LinearRegression(support_size=sizes, group=labels, thread=1, **options).fit(X, y)


def groups_of(labels, coef):
    return set(np.unique(labels[coef != 0]).tolist())


def sizes():
    print(f"sizes 1 to {MAX_SIZE}, {len(SEEDS)} seeds")
    print(f"{'problem':24} {'as good':>8} {'better':>8} {'time / abess':>13}")
    for name, make in PROBLEMS.items():
        good = better = count = 0
        ratios = []
        for seed in SEEDS:
            X, y, labels, _ = make(seed)
            ours, frontier = quickest(
                partial(l0_frontier, X, y, feature_groups=labels, max_size=MAX_SIZE)
            )
            theirs, _ = quickest(partial(by_abess, X, y, labels, range(MAX_SIZE + 1)))
            ratios.append(ours / theirs)
            energies = dict(zip(frontier.sizes.tolist(), frontier.energies, strict=True))
            for size in range(1, MAX_SIZE + 1):
                chosen = groups_of(labels, by_abess(X, y, labels, size).coef_)
                other = energy(X, y, np.flatnonzero(np.isin(labels, list(chosen))))
                count += 1
                good += energies[size] <= other * (1 + 1e-9)
                better += energies[size] < other * (1 - 1e-9)
        print(
            f"{name:24} {100 * good / count:7.1f}% {100 * better / count:7.1f}% "
            f"{np.median(ratios):13.2f}",
            flush=True,
        )


def by_adelie(problems):
    python = os.environ.get("ADELIE_PYTHON")
    if not python:
        return None
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder) / "given", Path(folder) / "found"
        given.write_bytes(pickle.dumps([problem[:3] for problem in problems]))
        subprocess.run([python, "-c", ADELIE, str(given), str(found)], check=True)
        return pickle.loads(found.read_bytes())


def choice():
    print(f"groups found of 8, and false ones: means over {len(SEEDS)} seeds")
    names = ("ellzero EBIC", "ellzero CV", "abess EBIC", "adelie CV")
    print(f"{'problem':24} " + " ".join(f"{name:>16}" for name in names))
    for name, make in PROBLEMS.items():
        problems = [make(seed) for seed in SEEDS]
        chosen = {"ebic": [], "cv": [], "abess": []}
        for X, y, labels, _ in problems:
            model = L0Regressor(feature_groups=labels, max_size=MAX_SIZE).fit(X, y)
            chosen["ebic"].append({int(unit) for unit in model.groups_})
            model = L0RegressorCV(feature_groups=labels, n_repeats=1).fit(X, y)
            chosen["cv"].append({int(unit) for unit in model.groups_})
            other = by_abess(X, y, labels, range(MAX_SIZE + 1), ic_type="ebic")
            chosen["abess"].append(groups_of(labels, other.coef_))
        adelie = by_adelie(problems)
        if adelie is not None:
            chosen["adelie"] = [set(found) for found in adelie]
        cells = []
        for found in chosen.values():
            pairs = list(zip(found, (problem[3] for problem in problems), strict=True))
            true = np.mean([len(one & truth) for one, truth in pairs])
            false = np.mean([len(one - truth) for one, truth in pairs])
            cells.append(f"{true:7.1f} + {false:4.1f} f.")
        print(f"{name:24} " + " ".join(f"{cell:>16}" for cell in cells), flush=True)


def heredity():
    ratios, plain_ratios, found = [], [], {"strong": [], "free": []}
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        main = rng.standard_normal((200, 40))
        pairs = [(a, b) for a in range(40) for b in range(a + 1, 40)]
        X = np.asfortranarray(np.column_stack([main, *[main[:, a] * main[:, b] for a, b in pairs]]))
        parents = {40 + place: pair for place, pair in enumerate(pairs)}
        parts = rng.choice(40, 4, replace=False)
        inside = [40 + i for i, (a, b) in enumerate(pairs) if a in parts and b in parts]
        products = rng.choice(inside, 4, replace=False)
        beta = np.zeros(820)
        beta[parts], beta[products] = 0.2 * rng.choice([-1, 1], 4), 0.6
        y = X @ beta + rng.standard_normal(200)
        truth = {*parts.tolist(), *products.tolist()}
        single, plain = quickest(partial(l0_frontier, X, y, max_size=20))
        free, _ = quickest(partial(l0_frontier, X, y, max_size=20, feature_groups=range(820)))
        bound, strong = quickest(
            partial(l0_frontier, X, y, max_size=20, heredity="strong", parents=parents)
        )
        ratios.append(bound / free)
        plain_ratios.append(bound / single)
        found["strong"].append(len(truth & {*strong.at(size=8).support.tolist()}))
        found["free"].append(len(truth & {*plain.at(size=8).support.tolist()}))
    print(
        f"strong heredity, 200 x 820, {len(SEEDS)} seeds: {np.mean(found['strong']):.1f} of 8 "
        f"found at size 8, without it {np.mean(found['free']):.1f}; {np.median(ratios):.1f} times "
        f"the time of the same search without it, {np.median(plain_ratios):.1f} times that of "
        "single columns"
    )


def factors():
    print("EBIC on factors of 2 to 8 levels, n = 300, 30 factors, 4 active; means over seeds")
    print(f"{'truth':18} {'':8} {'found':>6} {'false':>6} {'columns':>8} {'risk':>8}")
    for odd in (False, True):
        rows = {"whole": [], "levels": []}
        for seed in SEEDS:
            X, y, labels, truth = dummies(seed, 600, 30, n_active=4, odd=odd)
            fresh, later = slice(0, 300), slice(300, 600)
            for how, given in (("whole", labels), ("levels", None)):
                model = L0Regressor(feature_groups=given).fit(X[fresh], y[fresh])
                units = set(labels[model.support_].tolist())
                risk = np.mean((y[later] - model.predict(X[later])) ** 2) / y[later].var()
                rows[how].append(
                    (len(units & truth), len(units - truth), model.support_.size, risk)
                )
        for how, values in rows.items():
            found, false, columns, risk = np.mean(values, axis=0)
            name = "one odd level" if odd else "every level active"
            print(f"{name:18} {how:8} {found:6.2f} {false:6.2f} {columns:8.1f} {risk:8.3f}")


def two_classes(make, seed, strength=2.0):
    """Return a problem with a binary response of the same groups, drawn from its log-odds."""
    X, y, labels, active = make(seed)
    A = np.column_stack([np.ones(len(y)), X[:, np.isin(labels, list(active))]])
    signal = A @ np.linalg.lstsq(A, y, rcond=None)[0]
    log_odds = strength * (signal - signal.mean()) / signal.std()
    rng = np.random.default_rng(seed + 10_000)
    return X, (rng.random(len(y)) < 1 / (1 + np.exp(-log_odds))).astype(float), labels, active


CLASSES = {
    "50 x 4, n = 500": lambda seed: correlated(seed, 500, [4] * 50),
    "100 of 1 to 6, n = 500": lambda seed: correlated(
        seed, 500, np.random.default_rng(seed).integers(1, 7, 100)
    ),
    "100 factors, n = 1000": lambda seed: dummies(seed, 1000, 100),
}


def logistic_energy(X, y, groups):
    """Return the least NLL + 1/2 ridge sum of |Z_g b_g|^2, with a ridge of 1 / (100 n)."""
    bases = [np.linalg.qr(X[:, group] - X[:, group].mean(0))[0] for group in groups]
    A = np.column_stack([np.ones(len(y)), *bases])
    tau = np.r_[0.0, np.full(A.shape[1] - 1, 1 / (100 * len(y)))]

    def value(b):
        eta = A @ b
        return np.sum(np.logaddexp(0, eta) - y * eta) + 0.5 * tau @ b**2

    b = np.zeros(A.shape[1])
    b[0] = np.log(y.mean() / (1 - y.mean()))
    for _ in range(100):
        mean = 1 / (1 + np.exp(-A @ b))
        slope = A.T @ (y - mean) - tau * b
        hessian = A.T @ ((mean * (1 - mean))[:, None] * A) + np.diag(tau)
        step = np.linalg.solve(hessian, slope)
        if not slope @ step > 1e-20:
            break
        while not value(b + step) <= value(b):
            step = step / 2
        b = b + step
    return value(b)


def classes():
    from abess import LogisticRegression

    def peer(X, y, labels, sizes, **options):
        return LogisticRegression(support_size=sizes, group=labels, thread=1, **options).fit(X, y)

    print(f"two classes, sizes 1 to {MAX_SIZE}, {len(SEEDS)} seeds; found + false of 8 groups")
    print(
        f"{'problem':24} {'as good':>8} {'better':>8} {'time / abess':>13} {'EBIC':>12} {'CV':>12} "
        f"{'abess EBIC':>12}"
    )
    for name, make in CLASSES.items():
        good = better = count = 0
        ratios, chosen = [], {"ebic": [], "cv": [], "abess": []}
        for seed in SEEDS:
            X, y, labels, truth = two_classes(make, seed)
            columns = [np.flatnonzero(labels == unit) for unit in range(labels.max() + 1)]
            how = {"feature_groups": labels, "max_size": MAX_SIZE}
            ours, frontier = quickest(partial(l0_frontier, X, y, loss="logistic", **how))
            theirs, _ = quickest(partial(peer, X, y, labels, range(MAX_SIZE + 1)))
            ratios.append(ours / theirs)
            energies = dict(zip(frontier.sizes.tolist(), frontier.energies, strict=True))
            for size in range(1, MAX_SIZE + 1):
                found = groups_of(labels, peer(X, y, labels, size).coef_)
                other = logistic_energy(X, y, [columns[unit] for unit in found])
                count += 1
                good += energies[size] <= other * (1 + 1e-7)
                better += energies[size] < other * (1 - 1e-7)
            model = L0Classifier(**how).fit(X, y)
            chosen["ebic"].append(({int(unit) for unit in model.groups_}, truth))
            model = L0ClassifierCV(feature_groups=labels, n_repeats=1).fit(X, y)
            chosen["cv"].append(({int(unit) for unit in model.groups_}, truth))
            other = peer(X, y, labels, range(MAX_SIZE + 1), ic_type="ebic")
            chosen["abess"].append((groups_of(labels, other.coef_), truth))
        cells = [
            f"{np.mean([len(one & of) for one, of in pairs]):5.1f} + "
            f"{np.mean([len(one - of) for one, of in pairs]):4.1f}"
            for pairs in chosen.values()
        ]
        print(
            f"{name:24} {100 * good / count:7.1f}% {100 * better / count:7.1f}% "
            f"{np.median(ratios):13.2f} " + " ".join(f"{cell:>12}" for cell in cells),
            flush=True,
        )


PARTS = {
    "sizes": sizes,
    "choice": choice,
    "heredity": heredity,
    "factors": factors,
    "classes": classes,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
